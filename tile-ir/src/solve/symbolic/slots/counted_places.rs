//! Whether additions in loops count the places of a list so that work-items have ranks by it
//! ([`super::in_parts`]).
//!
//! Asked is of three places of the list, and of which one counts which: numbers of iterations are
//! put in by the places to which they go, and what is the own element or an element of the list is
//! the element at its place. Where a loop goes by steps of more than one, a place is one of its own
//! only if the division by the step leaves what it leaves of where the loop begins; each such
//! division of a place is made once, so that loops that share a list out go to others each.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::search::system::System;
use super::super::terms::congruent::Array;
use super::super::walk::Walk;
use super::in_parts::Piece;
use crate::kernel::{ArrayRef, ExprKind, Literal};

/// Of how many parts of all effort each question takes one at most.
const PART: u64 = 32;

/// Most ranges of own places that are tried.
const MAX_RANGES: usize = 4;

/// That work-items with own places in a range have counted differently.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// The own place.
    pub(super) place: Poly,
    /// Where the range begins, and where it ends.
    pub(super) low: Poly,
    pub(super) high: Poly,
    /// Which row of the array the list is.
    pub(super) others: Vec<Poly>,
    /// What the work-items must have in common.
    pub(super) common: BTreeSet<Unknown>,
    /// Whether it is one list for a block alone.
    pub(super) is_of_block: bool,
    /// Of elements that are promised to differ: where the own one is, and below which extents that
    /// must be.
    pub(super) inside: Vec<(Poly, Poly)>,
}

/// One of the three places.
type Who = Unknown;

/// The question whether places are counted in an order.
struct Question<'a> {
    walk: &'a Walk<'a>,
    pieces: &'a [&'a Piece],
    /// From here on unknowns are the question's.
    from: Unknown,
    /// Divisions by steps: of what, and by what.
    divisions: RefCell<Vec<(Poly, i128)>>,
    is_distinct: bool,
}

/// Whether a place is counted by another one.
struct Counts {
    once: Vec<Formula>,
    never: Vec<Formula>,
    more: Vec<Formula>,
}

impl Walk<'_> {
    /// Whether work-items have ranks by what these additions count together.
    pub(super) fn ranks_by(&self, pieces: &[&Piece]) -> Option<Ranks> {
        let (first, from) = (pieces.first()?, self.symbols.next());
        let inside = pieces.iter().find_map(|piece| piece.inside.clone());
        let is_distinct = inside.is_some();
        let divisions = RefCell::default();
        let question = Question { walk: self, pieces, from, divisions, is_distinct };
        let common = question.common()?;
        if !question.may_be_order()? {
            return None;
        }
        let (lows, highs) = question.ends();
        let ranges = lows.iter().flat_map(|low| highs.iter().map(move |high| (low, high)));
        let (zero, extent) = (Poly::default(), question.extent());
        let whole = extent.as_ref().map(|extent| (&zero, extent));
        let mut ranges = ranges.take(MAX_RANGES).chain(whole);
        let (low, high) = ranges.find(|range| question.is_order(*range))?;
        let (low, high) = (low.clone(), high.clone());
        let common = common.into_iter().chain(low.unknowns()).chain(high.unknowns()).collect();
        let is_of_block = matches!(first.row.array, Array::Tile(..));
        let (place, inside) = (first.place.clone(), inside.unwrap_or_default());
        let others = first.row.others.clone();
        Some(Ranks { place, low, high, others, common, is_of_block, inside })
    }
}

impl Question<'_> {
    fn place(&self, who: Who) -> Poly {
        Poly::unknown(self.from + who)
    }

    fn element(&self, who: Who) -> Poly {
        Poly::unknown(self.from + 3 + who)
    }

    /// Whether an unknown is an element or a place of the question's.
    fn is_asked(&self, unknown: Unknown) -> bool {
        unknown >= self.from
    }

    /// What is put in where an addition of who is at the place `own` speaks of itself.
    fn own_of(&self, piece: &Piece, own: Who) -> Option<(Unknown, Poly)> {
        self.walk.part_of_place(&piece.place, &self.place(own))
    }

    /// Whether an addition counts a place, for who is at another one: that it does so once, not at
    /// all, or anything else.
    fn counts(&self, n: usize, other: Who, own: Who) -> Option<[Formula; 3]> {
        let piece = self.pieces.get(n)?;
        let (part, by) = self.own_of(piece, own)?;
        let with_own = |unknown: Unknown| match unknown {
            _ if unknown == part => Some(by.clone()),
            _ if piece.read.contains(&unknown) => Some(self.element(own)),
            _ if piece.listed.contains(&unknown) => Some(self.element(other)),
            _ => None,
        };
        let count = Poly::unknown(piece.number);
        let start = piece.along.sub(&count.scaled(piece.step)).replace(&with_own);
        let way = self.place(other).sub(&start);
        let (number, left) = match piece.step {
            1 => (way, Poly::default()),
            -1 => (way.negated(), Poly::default()),
            step => self.divided(&way.scaled(step.signum()), step.abs())?,
        };
        let with = |unknown: Unknown| match unknown {
            _ if unknown == piece.number => Some(number.clone()),
            _ => with_own(unknown),
        };
        let beyond = piece.beyond.replace(&with);
        let comes = [Formula::AtLeast(number.clone()), Formula::AtLeast(beyond.negated().plus(-1))];
        let comes = Formula::All([&comes[..], &[Formula::Zero(left.clone())]].concat());
        let passes = [Formula::AtLeast(number.negated().plus(-1)), Formula::AtLeast(beyond)];
        let passes = Formula::Any(passes.to_vec()).or(Formula::ne(&left, &Poly::default()));
        let [one, none, more] = piece.counts.parts().map(|part| part.replace(&with));
        Some(
            [comes.clone().and(one), passes.or(none), comes.and(more)]
                .map(|of| of.replace(&|_| None)),
        )
    }

    /// The quotient of a value, and by how much the division misses: 0 just where none is left.
    fn divided(&self, value: &Poly, by: i128) -> Option<(Poly, Poly)> {
        // Beside a number, the division of one value tells what is left of it and any number.
        let further = value.constant_term();
        let of = (value.plus(-further), by);
        let mut divisions = self.divisions.borrow_mut();
        let at = divisions.iter().position(|known| *known == of).unwrap_or_else(|| {
            divisions.push(of);
            divisions.len() - 1
        });
        let [quotient, left] = self.parts_of(at);
        let whole = (-further).rem_euclid(by);
        let all = further.checked_add(whole)?;
        Some((quotient.plus(all / by), left.plus(-whole)))
    }

    /// What a division gives, and what it leaves.
    fn parts_of(&self, division: usize) -> [Poly; 2] {
        let at = Unknown::try_from(2 * division).unwrap_or(Unknown::MAX - self.from - 7);
        [0, 1].map(|part| Poly::unknown(self.from + 6 + at + part))
    }

    /// The same of all additions.
    fn all_counts(&self, other: Who, own: Who) -> Option<Counts> {
        let mut all = Counts { once: Vec::new(), never: Vec::new(), more: Vec::new() };
        for n in 0..self.pieces.len() {
            let [one, none, more] = self.counts(n, other, own)?;
            all.more.extend(all.once.iter().map(|before| before.clone().and(one.clone())));
            all.more.push(more);
            all.once.push(one);
            all.never.push(none);
        }
        Some(all)
    }

    /// That a place is not counted.
    fn no(&self, other: Who, own: Who) -> Option<Formula> {
        Some(Formula::All(self.all_counts(other, own)?.never).folded())
    }

    /// What else the additions speak of, which a block must agree on.
    fn common(&self) -> Option<BTreeSet<Unknown>> {
        let mut left = Vec::new();
        for n in 0..self.pieces.len() {
            self.counts(n, 0, 1)?.iter().for_each(|part| part.collect_unknowns(&mut left));
        }
        let common: BTreeSet<Unknown> = left.into_iter().filter(|of| !self.is_asked(*of)).collect();
        common.iter().all(|of| self.walk.is_for_block(*of)).then_some(common)
    }

    /// Where loops begin and end in the list, wherever the own place is: of numbers the least
    /// beginning and the greatest end first.
    fn ends(&self) -> (Vec<Poly>, Vec<Poly>) {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for piece in self.pieces {
            let Some((part, by)) = self.own_of(piece, 0) else { continue };
            let with = |unknown: Unknown| (unknown == part).then(|| by.clone());
            let count = Poly::unknown(piece.number);
            let start = piece.along.sub(&count.scaled(piece.step)).replace(&with);
            let slope = piece.beyond.cofactor(piece.number).as_constant();
            let rest = |slope: i128| {
                let rest = piece.beyond.sub(&count.scaled(slope)).replace(&with);
                rest.scaled(piece.step.abs() / slope)
            };
            let divides = |slope: &i128| *slope > 0 && piece.step.abs() % slope == 0;
            let rest = slope.filter(divides).map_or_else(Poly::lost, rest);
            let (low, high) = match piece.step > 0 {
                true => (start.clone(), start.sub(&rest)),
                false => (start.add(&rest).plus(1), start.plus(1)),
            };
            lows.push(low);
            highs.push(high);
        }
        let is_known = |end: &Poly| {
            !end.is_lost()
                && end.unknowns().all(|of| !self.is_asked(of) && self.walk.is_for_block(of))
        };
        for ends in [&mut lows, &mut highs] {
            ends.retain(is_known);
            ends.sort_by_key(Poly::constant_term);
            ends.dedup();
        }
        highs.reverse();
        (lows, highs)
    }

    /// How many places the list's array has along it.
    fn extent(&self) -> Option<Poly> {
        let row = &self.pieces.first()?.row;
        let array = match row.array {
            Array::Tensor(tensor) => ArrayRef::Tensor(tensor),
            Array::Tile(tile, _) => ArrayRef::Tile(tile),
            Array::Written(..) => return None,
        };
        let extent = self.walk.kernel.extents(array).get(row.axis)?;
        let kernel = self.walk.kernel;
        let extent = match (self.walk.extents_of_arrays.get(extent), &kernel.exprs[*extent].kind) {
            (Some(extent), _) => extent.clone(),
            (None, ExprKind::Literal(Literal::Int(extent))) => Poly::constant(*extent),
            (None, _) => return None,
        };
        let is_known = extent.unknowns().all(|of| self.walk.is_for_block(of));
        (is_known && !extent.is_lost()).then_some(extent)
    }

    /// Whether these never hold together, of places of which these may be one.
    fn is_never(&self, contrary: &[&Formula], may_be_one: &[(Who, Who)]) -> bool {
        let mut system = System::default();
        contrary.iter().for_each(|part| system.assert(part));
        for (one, other) in may_be_one.iter().copied() {
            // At one place is one element.
            let apart = Formula::ne(&self.place(one), &self.place(other));
            let same = Formula::eq(&self.element(one), &self.element(other));
            system.assert(&apart.or(same));
        }
        for (at, (of, by)) in self.divisions.borrow().iter().enumerate() {
            let [quotient, left] = self.parts_of(at);
            system.assert(&Formula::eq(of, &quotient.scaled(*by).add(&left)));
            system.assert(&Formula::within(&left, &Poly::constant(*by)));
        }
        let effort = &self.walk.effort;
        effort.within_part(PART, || system.has_no_solution(effort))
    }

    /// What has to hold of all places: each is counted once at most, and who is counted counts
    /// nobody whom one does not count.
    fn may_be_order(&self) -> Option<bool> {
        let more = self.all_counts(0, 1)?.more;
        let [first, second] = [self.all_counts(2, 0)?.once, self.all_counts(0, 1)?.once];
        let not = self.no(2, 1)?;
        let mut before = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let is_order = more.iter().all(|more| self.is_never(&[more], &[(0, 1)]))
            && before
                .all(|(one, other)| self.is_never(&[one, other, &not], &[(0, 1), (1, 2), (0, 2)]));
        Some(is_order)
    }

    /// Whether of two own places in a range one counts the other, and not the other way round.
    fn is_order(&self, range: (&Poly, &Poly)) -> bool {
        self.is_decided(range).unwrap_or(false)
    }

    fn is_decided(&self, (low, high): (&Poly, &Poly)) -> Option<bool> {
        let within = |who: Who| {
            let place = self.place(who);
            Formula::le(low, &place).and(Formula::lt(&place, high))
        };
        let differ = match self.is_distinct {
            true => Formula::ne(&self.element(0), &self.element(1)),
            false => Formula::True,
        };
        let apart = Formula::lt(&self.place(0), &self.place(1)).and(differ);
        let both = within(0).and(within(1)).and(apart);
        let neither = [self.no(0, 1)?, self.no(1, 0)?];
        if !self.is_never(&[&both, &neither[0], &neither[1]], &[]) {
            return Some(false);
        }
        // Nobody counts itself, or each does.
        let own = self.all_counts(0, 0)?.once;
        if own.iter().all(|yes| self.is_never(&[&within(0), yes], &[])) {
            return Some(true);
        }
        let [first, second] = [self.all_counts(0, 1)?.once, self.all_counts(1, 0)?.once];
        let mut each = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let is_total = self.is_never(&[&within(0), &self.no(0, 0)?], &[])
            && each.all(|(one, other)| self.is_never(&[&both, one, other], &[]));
        Some(is_total)
    }
}
