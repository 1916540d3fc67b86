//! What work-items count of one list, each by comparing its own element with all others.
//!
//! `for j in 0..n { if s[j] < x || s[j] == x && j < t { rank += 1; } }`, where `x` is `s[t]`: of
//! two work-items the one whose element comes first has counted less, for it counts none that
//! the other does not count, and the other counts its element besides. So each has a rank of
//! its own, whatever the data is. So it is where each counts its own element too, and where an
//! iteration counts in several additions of which one adds something at most.
//!
//! # What it rests on
//!
//! - What decides is asked of elements and their places, and is an order of all of them: of two
//!   one comes first, none comes before itself (or each does), and what comes before one comes
//!   before all that this one comes before. That is proved of the text's own condition, for any
//!   integers; of a tensor whose elements the author says to be distinct, for such as differ at
//!   two places, if the own elements are inside of it.
//! - All go through the whole list, as it was when they have read their own element: a tensor that
//!   is never written, or a tile in one version ([`super::super::tiles::reread`]).
//! - The own element is one of the list, which is a case of the two work-items' meeting.
//! - A count of 32 bits and more does not leave the range of its type, as counters do not
//!   ([`super::slot`]).

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::loops::Carried;
use super::super::pairs::instance::{Builder, Side};
use super::super::scans::prefix::single;
use super::super::search::system::System;
use super::super::terms::congruent::{Array, Read};
use super::super::terms::integers::range_of;
use super::super::tiles::rows::Cell;
use super::super::walk::{Value, Walk};
use crate::kernel::{ArrayRef, Order as Promised, Type};

/// Choices one within the other that say whether something is counted.
const MAX_CHOICES: u32 = 4;

/// Of how many parts of all effort the question takes one at most whether it is an order.
const PART: u64 = 32;

/// What work-items have counted of a list.
#[derive(Clone, Debug)]
pub(in super::super) struct Tally {
    /// The loops around the one that counts.
    around: Vec<LoopId>,
    /// Which number the own element has in the list.
    own: Poly,
    /// How many elements the list has.
    length: Poly,
    /// What the work-items must have in common.
    common: BTreeSet<Unknown>,
    /// Whether it is one list for a block alone.
    is_of_block: bool,
    /// Of elements that are promised to differ where their places in a tensor do: where the own
    /// one is, and below which extent that must be, by axis.
    inside: Vec<(Poly, Poly)>,
}

/// How much an iteration counts.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// That it is one.
    one: Formula,
    /// That it is nothing.
    none: Formula,
    /// That it is anything else.
    more: Formula,
}

impl Counted {
    /// That it is this number.
    pub(super) fn by(number: i128) -> Self {
        let holds = |holds: bool| if holds { Formula::True } else { Formula::False };
        let [one, none] = [number == 1, number == 0].map(holds);
        Self { one, none, more: holds(!matches!(number, 0 | 1)) }
    }

    /// The one where a condition holds, else the other.
    pub(super) fn either(cond: &Cond, then: Self, otherwise: Self) -> Self {
        let both = |then: Formula, otherwise: Formula| {
            cond.yes.clone().and(then).or(cond.no.clone().and(otherwise))
        };
        Self {
            one: both(then.one, otherwise.one),
            none: both(then.none, otherwise.none),
            more: both(then.more, otherwise.more),
        }
    }

    /// Both together.
    fn plus(self, other: Self) -> Self {
        let one = self.one.clone().and(other.none.clone());
        let one = one.or(self.none.clone().and(other.one.clone()));
        let more = self.more.or(other.more).or(self.one.and(other.one));
        Self { one, none: self.none.and(other.none), more }
    }

    /// All that it asks.
    pub(super) fn parts(&self) -> [&Formula; 3] {
        [&self.one, &self.none, &self.more]
    }
}

/// The elements of a list, and the number of one of them in it.
pub(super) struct List<'a> {
    pub(super) read: Read<'a>,
    /// The axis along which the loop goes, and whether it goes on or back.
    pub(super) axis: usize,
    pub(super) is_forward: bool,
}

impl Walk<'_> {
    /// What decides how much iterations of a loop count, which is `at` where one starts: what an
    /// iteration reads, and what each work-item has had before; `None` where not all of it is
    /// known, or the count itself decides.
    pub(super) fn asked_by(
        &self,
        counts: &Counted,
        (id, at): (LoopId, Unknown),
    ) -> Option<[Vec<Unknown>; 2]> {
        let mut asked = Vec::new();
        counts.parts().into_iter().for_each(|part| part.collect_unknowns(&mut asked));
        let asked: BTreeSet<Unknown> = asked.into_iter().collect();
        if !counts.parts().into_iter().all(Formula::is_exact) || asked.contains(&at) {
            return None;
        }
        let number = self.all_loops[id.0].number;
        let (mut inner, mut outer): (Vec<Unknown>, Vec<Unknown>) =
            asked.into_iter().partition(|unknown| self.symbols.is_inside(*unknown, id));
        inner.retain(|unknown| *unknown != number);
        outer.retain(|unknown| !self.is_for_block(*unknown));
        Some([inner, outer])
    }

    /// What a loop has counted in a variable that was `first` before it, `at` where an iteration
    /// starts and `end` after that, if work-items have ranks by that.
    pub(in super::super) fn tally(
        &self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Tally> {
        let is_wide = range_of(ty).is_none_or(|(_, max)| max >= i32::MAX.into());
        if !is_wide || first.is_lost() || end.is_lost() {
            return None;
        }
        let counts = self.counts_in(ty, (&Poly::unknown(at), end), MAX_CHOICES)?;
        let [listed, outer] = self.asked_by(&counts, (id, at))?;
        let number = self.all_loops[id.0].number;
        let list = self.list(id, &listed)?;
        let own: Vec<(Unknown, Poly)> = outer
            .into_iter()
            .filter_map(|unknown| Some((unknown, self.number_of(&list, number, unknown)?)))
            .collect();
        let (_, place) = own.first()?;
        if own.iter().any(|(_, other)| other != place) {
            return None;
        }
        let read: BTreeSet<Unknown> = own.iter().map(|(unknown, _)| *unknown).collect();
        let inside = own.iter().find_map(|(unknown, _)| self.extents_of_distinct(*unknown));
        let is_distinct = inside.is_some();
        let parts = Parts { number, listed: &listed, read: &read, place, is_distinct };
        let order = parts.order(&counts, self)?;
        let mut common = order.common;
        common.extend(first.unknowns());
        let start = list.read.at.iter().flat_map(|at| at.unknowns());
        common.extend(start.filter(|unknown| *unknown != number));
        let is_of_block = matches!(list.read.array, Array::Tile(..));
        let around = self.loops.iter().copied().filter(|other| *other != id).collect();
        let own = place.clone();
        let (length, inside) = (Poly::lost(), inside.unwrap_or_default());
        order.holds.then_some(Tally { around, own, length, common, is_of_block, inside })
    }

    /// Where an element of a tensor is whose elements are promised to differ, and the extents of
    /// that.
    pub(super) fn extents_of_distinct(&self, value: Unknown) -> Option<Vec<(Poly, Poly)>> {
        let element = self.elements.get(&value)?;
        let is_promised = self.kernel.promises.iter().any(|promise| {
            promise.tensor == element.tensor && matches!(promise.order, Promised::Distinct)
        });
        let extents = self.kernel.extents(ArrayRef::Tensor(element.tensor));
        let axes = element.indices.iter().zip(extents);
        let inside = axes.map(|(index, extent)| {
            Some((index.clone(), self.extents_of_arrays.get(extent)?.clone()))
        });
        if is_promised { inside.collect() } else { None }
    }

    /// Notes what variables have counted in a loop over lists of this length.
    pub(in super::super) fn leave_tallies(&mut self, carried: &[Carried], length: &Poly) {
        for Carried { var, tally, .. } in carried {
            if let (Some(tally), Some(Value::Int(value))) = (tally, self.env.get(var))
                && let Some(count) = single(value)
                && !length.is_lost()
            {
                let tally = Tally { length: length.clone(), ..tally.clone() };
                self.tallies.insert(count, tally);
            }
        }
    }

    /// Whether all of a block have one value, in one iteration of the loops around.
    pub(super) fn is_for_block(&self, unknown: Unknown) -> bool {
        self.symbols.get(unknown).is_some_and(|symbol| match &symbol.sharing {
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) => true,
            Sharing::Private => false,
            Sharing::Function(of) => of.iter().all(|other| self.is_for_block(*other)),
        })
    }

    /// How much an iteration counts that begins with `own` and leaves `end`, in a type.
    pub(super) fn counts_in(
        &self,
        ty: Type,
        (own, end): (&Poly, &Poly),
        depth: u32,
    ) -> Option<Counted> {
        let exact = self.before_wrapping(end, ty);
        let end = exact.as_ref().unwrap_or(end);
        let added = end.sub(own);
        if let Some(number) = added.as_constant() {
            return Some(Counted::by(number));
        }
        let depth = depth.checked_sub(1)?;
        let of_choice = |choice: Unknown, own: &Poly| {
            let (cond, then, otherwise) = self.choices.get(&choice)?;
            let then = self.counts_in(ty, (own, then), depth)?;
            let otherwise = self.counts_in(ty, (own, otherwise), depth)?;
            Some(Counted::either(cond, then, otherwise))
        };
        let of_part = |(product, factor): &(Monomial, i128)| match (product.as_slice(), factor) {
            ([choice], 1) => of_choice(*choice, &Poly::default()),
            _ => None,
        };
        let of_sum = || {
            let parts = added.terms().iter().map(of_part);
            parts.reduce(|one, other| Some(one?.plus(other?))).flatten()
        };
        let further = end.constant_term();
        let of_end = || of_choice(single(&end.plus(-further))?, &own.plus(-further));
        of_end().or_else(of_sum)
    }

    /// The list whose elements these are in each iteration of a loop, one after the other.
    fn list(&self, id: LoopId, listed: &[Unknown]) -> Option<List<'_>> {
        let number = self.all_loops[id.0].number;
        let (first, others) = listed.split_first()?;
        let read = self.reads_of(*first).find(|read| {
            let is_it = |other: &Read<'_>| other.array == read.array && other.at == read.at;
            others.iter().all(|unknown| self.reads_of(*unknown).any(|other| is_it(&other)))
        })?;
        if matches!(read.array, Array::Written(..)) {
            return None;
        }
        let mut axes = read.at.iter().enumerate().filter(|(_, at)| at.mentions(number));
        let (axis, at) = axes.next()?;
        let times = at.cofactor(number).as_constant()?;
        let is_fixed = |unknown: Unknown| unknown == number || self.is_for_block(unknown);
        let is_list = axes.next().is_none()
            && matches!(times, 1 | -1)
            && at.is_linear()
            && read.at.iter().all(|at| !at.is_lost() && at.unknowns().all(is_fixed));
        is_list.then_some(List { axis, is_forward: times == 1, read })
    }

    /// The number that a value has in a list of which it is an element.
    fn number_of(&self, list: &List<'_>, number: Unknown, value: Unknown) -> Option<Poly> {
        let own = &self.place_in(list, value)?;
        let at = list.read.at.get(list.axis)?;
        // The list's place is `start + number`, or `start - number`.
        let step = Poly::unknown(number);
        let found = match list.is_forward {
            true => own.sub(&at.sub(&step)),
            false => at.add(&step).sub(own),
        };
        (!found.is_lost()).then_some(found)
    }

    /// The place along a list where a value is its element.
    pub(super) fn place_in(&self, list: &List<'_>, value: Unknown) -> Option<Poly> {
        let own = self.reads_of(value).find(|read| {
            let both = read.at.iter().zip(&list.read.at).enumerate();
            let mut others = both.filter(|(axis, _)| *axis != list.axis);
            read.array == list.read.array && others.all(|(_, (own, at))| own == at)
        });
        let own = own.and_then(|own| own.at.get(list.axis).copied());
        own.or_else(|| self.own_cell_of(list, value)).cloned()
    }

    /// An unknown of the work-item's own by which its place differs, and what it is by the place.
    pub(super) fn part_of_place(&self, own: &Poly, place: &Poly) -> Option<(Unknown, Poly)> {
        let parts = own.terms().iter().filter_map(|(product, factor)| {
            let ([unknown], 1 | -1) = (product.as_slice(), *factor) else { return None };
            let rest = own.sub(&Poly::unknown(*unknown).scaled(*factor));
            let is_part = !self.is_for_block(*unknown) && !rest.mentions(*unknown);
            is_part.then(|| (*unknown, place.sub(&rest).scaled(*factor)))
        });
        parts.max_by_key(|(unknown, _)| *unknown)
    }
}

impl Walk<'_> {
    /// The place along a list in a tile where each work-item has stored this in a cell of its own.
    fn own_cell_of(&self, list: &List<'_>, value: Unknown) -> Option<&Poly> {
        let Array::Tile(tile, version) = list.read.array else { return None };
        let at: Vec<Poly> = list.read.at.iter().map(|at| (*at).clone()).collect();
        let Cell { row, at } = self.cell_at(tile, &at)?;
        let is_along = list.read.at.get(list.axis).is_some_and(|along| **along == at);
        let own = self.own_cell_holding((tile, version), &Poly::unknown(value))?;
        (is_along && own.row == row).then_some(&own.at)
    }
}

/// Of what a condition speaks: the number of an element, the element, the own ones, and which
/// number that has.
struct Parts<'a> {
    number: Unknown,
    listed: &'a [Unknown],
    read: &'a BTreeSet<Unknown>,
    place: &'a Poly,
    /// Whether no two elements of different places are equal.
    is_distinct: bool,
}

/// What is asked of a condition.
struct Order {
    holds: bool,
    /// What else it speaks of.
    common: BTreeSet<Unknown>,
}

impl Parts<'_> {
    /// Whether what is counted puts elements in an order.
    fn order(&self, counts: &Counted, walk: &Walk<'_>) -> Option<Order> {
        // The place of the own element is an unknown of its own, put in for one of its parts.
        let from = walk.symbols.next();
        let own_place = Poly::unknown(from);
        let (part, value) = walk.part_of_place(self.place, &own_place)?;
        let with = |other: Unknown| (other == part).then(|| value.clone());
        let [yes, no, more] = counts.parts().map(|cond| cond.replace(&with));
        let mut left = Vec::new();
        [&yes, &no, &more].into_iter().for_each(|cond| cond.collect_unknowns(&mut left));
        let is_known = |unknown: &Unknown| {
            *unknown == from
                || *unknown == self.number
                || self.listed.contains(unknown)
                || self.read.contains(unknown)
        };
        let common: BTreeSet<Unknown> = left.into_iter().filter(|of| !is_known(of)).collect();
        if common.iter().any(|unknown| !walk.is_for_block(*unknown)) {
            return None;
        }
        // Of the first, the second and the third: the place, and the element.
        let place = |who: Unknown| Poly::unknown(from + 1 + who);
        let element = |who: Unknown| Poly::unknown(from + 4 + who);
        let of = |cond: &Formula, other: Unknown, own: Unknown| {
            cond.replace(&|unknown| match unknown {
                _ if unknown == self.number => Some(place(other)),
                _ if unknown == from => Some(place(own)),
                _ if self.listed.contains(&unknown) => Some(element(other)),
                _ if self.read.contains(&unknown) => Some(element(own)),
                _ => None,
            })
        };
        // At one place is one element.
        let is_one = |one: Unknown, other: Unknown| {
            Formula::ne(&place(one), &place(other)).or(Formula::eq(&element(one), &element(other)))
        };
        let is_never = |contrary: Formula| {
            let mut system = System::default();
            system.assert(&contrary);
            [is_one(0, 1), is_one(1, 2), is_one(0, 2)].iter().for_each(|one| system.assert(one));
            walk.effort.within_part(PART, || system.has_no_solution(&walk.effort))
        };
        // Of two own elements, at two places.
        let neither_first = |cond: &Formula| {
            let differ = match self.is_distinct {
                true => Formula::ne(&element(0), &element(1)),
                false => Formula::True,
            };
            let both = [of(cond, 0, 1), of(cond, 1, 0), differ];
            Formula::All([&both[..], &[Formula::lt(&place(0), &place(1))]].concat())
        };
        let is_strict = is_never(of(&yes, 0, 0)) && is_never(neither_first(&no));
        let is_total = || {
            is_never(of(&no, 0, 0)) && is_never(neither_first(&yes)) && is_never(neither_first(&no))
        };
        let holds = is_never(of(&more, 0, 1))
            && (is_strict || is_total())
            && is_never(Formula::All(vec![of(&yes, 2, 0), of(&yes, 0, 1), of(&no, 2, 1)]));
        Some(Order { holds, common })
    }
}

impl Builder<'_> {
    /// Adds that what two work-items have counted of one list differs.
    pub(in super::super) fn part_tallies(&mut self) {
        let walk = self.walk;
        for (count, tally) in &walk.tallies {
            let is_seen = |side| self.seen.contains(&(*count, side));
            if !is_seen(Side::First) || !is_seen(Side::Second) || !self.is_one_list(tally) {
                continue;
            }
            let [first, second] = [Side::First, Side::Second]
                .map(|side| (self.on(side, &Poly::unknown(*count)), self.on(side, &tally.own)));
            let length = self.on(Side::First, &tally.length);
            let mut cases =
                vec![Formula::eq(&first.1, &second.1), Formula::ne(&first.0, &second.0)];
            for place in [&first.1, &second.1] {
                cases.push(Formula::lt(place, &Poly::default()));
                cases.push(Formula::le(&length, place));
            }
            for case in self.may_be_equal(&tally.inside) {
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
            self.system.assert(&Formula::Any(cases).replace(&|_| None));
        }
    }

    /// The cases in which elements that are promised to differ, at these places below these
    /// extents, may be equal: both are one element, or one of them is outside.
    pub(super) fn may_be_equal(&mut self, places: &[(Poly, Poly)]) -> Vec<Formula> {
        let (mut cases, mut same) = (Vec::new(), Vec::new());
        for (index, extent) in places {
            let both = [Side::First, Side::Second];
            let [left, right] = both.map(|side| (self.on(side, index), self.on(side, extent)));
            same.push(Formula::eq(&left.0, &right.0));
            for (index, extent) in [left, right] {
                cases.push(Formula::lt(&index, &Poly::default()));
                cases.push(Formula::le(&extent, &index));
            }
        }
        match same.len() {
            0 => {}
            1 => cases.append(&mut same),
            _ => cases.push(Formula::All(same)),
        }
        cases
    }

    /// Whether both sides have gone through one list.
    fn is_one_list(&self, tally: &Tally) -> bool {
        let of_block = |shared: &[LoopId]| tally.around.iter().all(|id| shared.contains(id));
        (!tally.is_of_block || self.meeting.shared_loops().is_some_and(of_block))
            && tally
                .length
                .unknowns()
                .chain(tally.common.iter().copied())
                .all(|of| self.is_shared(of))
    }
}

/// What work-items have counted, by the symbol of the count.
pub(in super::super) type Tallies = BTreeMap<Unknown, Tally>;
