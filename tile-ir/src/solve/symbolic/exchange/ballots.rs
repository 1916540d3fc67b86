//! Ballots: which lanes of a warp have a flag, and what their number says.
//!
//! The bits of a ballot below a work-item's own lane are as many as the lanes before it
//! that have the flag: their number is a scan over the warp ([`super::super::scans`]), and the
//! number of all bits is its sum. So `ballot(keep)`, of which a work-item counts the bits
//! below its own, gives each one that keeps something a place of its own. The lowest bit
//! is the first lane that has the flag, the highest one is the last.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle, Sharing};
use super::super::scans::{Over, Sum};
use super::super::terms::integers::range_of;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use crate::dtype::DType;
use crate::exchange::{Group, WARP_ITEMS};
use crate::kernel::{ElemType, Type};
use crate::op::{BinaryOp, MathFn};
use crate::span::SpanId;

/// The type of a ballot.
const BITS: Type = Type::Scalar(ElemType::Concrete(DType::U32));

/// A ballot.
#[derive(Clone, Debug)]
struct Ballot {
    /// 1 where the work-item has the flag, else 0.
    of: Poly,
    /// The loops around.
    loops: Vec<LoopId>,
}

/// Which end of a ballot's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Lowest,
    Highest,
}

/// Which of a ballot's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Those of these lanes.
    Of(Over),
    /// All others.
    But(Over),
    /// Those of the lanes before, or all of them in the first lane.
    BeforeOrAll,
}

/// What is known of ballots.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Ballots {
    known: BTreeMap<Unknown, Ballot>,
    /// Of values that are some bits of a ballot: of which ballot, and which bits.
    parts: BTreeMap<Poly, (Unknown, Part)>,
    /// Of values that are the bits that a ballot lacks, below the work-item's own: of
    /// which ballot.
    lacking: BTreeMap<Poly, Unknown>,
    /// Of values that are a ballot whose bits begin with the work-item's own: of which ballot.
    from_own: BTreeMap<Poly, Unknown>,
    counts: BTreeMap<(Unknown, Over), Unknown>,
    ends: BTreeMap<(Unknown, End), Unknown>,
}

impl Walk<'_> {
    /// Notes that `symbol` is a ballot of `flag`.
    pub(in super::super) fn note_ballot(&mut self, symbol: Unknown, flag: Value) {
        let cond = match flag {
            Value::Cond(cond) => cond,
            Value::Int(_) | Value::Other => Cond::unknown(),
        };
        let [yes, no] = [1, 0].map(|value| Value::Int(Poly::constant(value)));
        if let Some(Value::Int(of)) = self.either(&cond, yes, no, false) {
            self.add_ballot(symbol, of);
        }
    }

    /// Notes that `symbol` is one of two ballots, by a condition of which each warp has one
    /// outcome: it is the ballot of the flags that the condition chooses.
    pub(in super::super) fn note_chosen_ballot(
        &mut self,
        symbol: Unknown,
        cond: &Cond,
        (then, otherwise): (&Poly, &Poly),
    ) {
        let own = |walk: &Self, value: &Poly| {
            let ballot = walk.ballots.known.get(&walk.whole_ballot(value)?)?;
            (ballot.loops == walk.loops).then(|| ballot.of.clone())
        };
        let (Some(one), Some(other)) = (own(self, then), own(self, otherwise)) else { return };
        let mut asked = Vec::new();
        [&cond.yes, &cond.no].into_iter().for_each(|outcome| outcome.collect_unknowns(&mut asked));
        let is_exact = cond.yes.is_exact() && cond.no.is_exact();
        if !is_exact || !asked.iter().all(|of| self.is_agreed_by_warp(&Poly::unknown(*of))) {
            return;
        }
        let [one, other] = [one, other].map(Value::Int);
        if let Some(Value::Int(of)) = self.either(cond, one, other, false) {
            self.add_ballot(symbol, of);
        }
    }

    fn add_ballot(&mut self, symbol: Unknown, of: Poly) {
        let bits = Poly::unknown(symbol);
        // Who has the flag has a bit.
        let some = Formula::Zero(of.clone()).or(Formula::lt(&Poly::default(), &bits));
        self.symbols.add_facts(symbol, some);
        self.ballots.known.insert(symbol, Ballot { of, loops: self.loops.clone() });
        self.ballots.parts.insert(bits, (symbol, Part::Of(Over::All)));
    }

    /// Notes that `result` is `lhs & rhs`, where that is a part of a ballot.
    pub(in super::super) fn note_masked(&mut self, lhs: &Poly, rhs: &Poly, result: &Poly) {
        for (ballot, mask) in [(lhs, rhs), (rhs, lhs)] {
            if let Some(symbol) = self.whole_ballot(ballot)
                && let Some(part) = self.lanes_of(mask)
            {
                self.ballots.parts.insert(result.clone(), (symbol, part));
                self.note_if_any(result, (symbol, part));
            }
            let flipped = ballot.negated().plus(u32::MAX.into());
            if let Some(symbol) = self.whole_ballot(&flipped)
                && self.lanes_of(mask) == Some(Part::Of(Over::Before))
            {
                self.ballots.lacking.insert(result.clone(), symbol);
            }
        }
    }

    /// Notes that `result` is a ballot shifted by a number of places that the work-item's
    /// lane tells: what is left of it are the bits of the lanes on one side. To the right by one
    /// more, the own bit is gone, too.
    pub(in super::super) fn note_shifted_bits(
        &mut self,
        op: BinaryOp,
        (lhs, places): (&Poly, &Poly),
        result: &Poly,
    ) {
        if let Some(symbol) = self.ballots.from_own.get(lhs).copied()
            && op == BinaryOp::Shr
            && places.as_constant() == Some(1)
        {
            let part = Part::But(Over::UpTo);
            self.ballots.parts.insert(result.clone(), (symbol, part));
            self.note_if_any(result, (symbol, part));
            return;
        }
        let (Some(symbol), Some(place)) = (self.whole_ballot(lhs), &self.warp_place) else {
            return;
        };
        let lane = &place.lane;
        let is = |of: &Poly| *places == *of || self.is_never(&Formula::ne(places, of));
        let last = i128::from(WARP_ITEMS) - 1;
        let part = match op {
            BinaryOp::Shr if is(lane) => Part::But(Over::Before),
            BinaryOp::Shl if is(&lane.negated().plus(last)) => Part::Of(Over::UpTo),
            // By as many places as there are bits nothing is shifted.
            BinaryOp::Shl if is(&lane.negated().plus(last + 1)) => Part::BeforeOrAll,
            _ => return,
        };
        if op == BinaryOp::Shr {
            self.ballots.from_own.insert(result.clone(), symbol);
        }
        self.ballots.parts.insert(result.clone(), (symbol, part));
        self.note_if_any(result, (symbol, part));
    }

    /// Notes that bits of a ballot are 0 where none is set, and that 1 is one bit.
    fn note_if_any(&mut self, bits: &Poly, (ballot, part): (Unknown, Part)) {
        let (Some(symbol), Some((span, _))) =
            (bits.unknowns().max(), self.symbols.get(ballot).and_then(|ballot| ballot.obstacle))
        else {
            return;
        };
        let Some(Value::Int(count)) = self.ones_of(ballot, part, span) else { return };
        let none = Poly::default();
        let one = Poly::constant(1);
        let are_none = Formula::eq(bits, &none).and(Formula::eq(&count, &none));
        let are_some = Formula::lt(&none, bits).and(Formula::lt(&none, &count));
        let is_one = Formula::ne(bits, &one).or(Formula::eq(&count, &one));
        self.symbols.add_facts(symbol, are_none.or(are_some).and(is_one));
    }

    /// The ballot that a value is.
    fn whole_ballot(&self, value: &Poly) -> Option<Unknown> {
        let (symbol, part) = self.ballots.parts.get(value)?;
        (*part == Part::Of(Over::All)).then_some(*symbol)
    }

    /// Which lanes a mask is of: those before the work-item's own, or up to it, or the others.
    fn lanes_of(&self, mask: &Poly) -> Option<Part> {
        let lane = &self.warp_place.as_ref()?.lane;
        if let [(product, 1)] = mask.plus(1).terms()
            && let [power] = product.as_slice()
            && let Some((Function::Power, exponent, _)) = self.function_of(*power)
            && (exponent == lane || self.is_never(&Formula::ne(exponent, lane)))
        {
            return Some(Part::Of(Over::Before));
        }
        let points = self.points(&[mask, lane])?;
        let is_all = |bits: &dyn Fn(i128) -> i128| {
            let is_one =
                &mut |values: &[i128]| (0..32).contains(&values[1]) && values[0] == bits(values[1]);
            points.all(&[mask, lane], is_one) == Some(true)
        };
        let parts: [(Part, &dyn Fn(i128) -> i128); 4] = [
            (Part::Of(Over::Before), &|lane| (1 << lane) - 1),
            (Part::Of(Over::UpTo), &|lane| (2 << lane) - 1),
            (Part::But(Over::Before), &|lane| (1 << 32) - (1 << lane)),
            (Part::But(Over::UpTo), &|lane| (1 << 32) - (2 << lane)),
        ];
        parts.into_iter().find_map(|(part, bits)| is_all(bits).then_some(part))
    }

    /// A count of bits, or the place of one, where something is known of it.
    pub(in super::super) fn counted_bits(
        &mut self,
        func: MathFn,
        bits: &Poly,
        (span, ty): (SpanId, Type),
    ) -> Option<Value> {
        let (min, max) = range_of(ty)?;
        let found = self.ballots.parts.get(bits).copied();
        match (func, found) {
            (MathFn::CountOnes, Some((ballot, part))) => self.ones_of(ballot, part, span),
            (MathFn::CountOnes, None) if let Some(ballot) = self.ballots.lacking.get(bits) => {
                // Of the lanes before the own those that have no bit.
                let lane = self.warp_place.as_ref()?.lane.clone();
                match self.ones(*ballot, Over::Before, span)? {
                    Value::Int(rank) => Some(Value::Int(lane.sub(&rank))),
                    other @ (Value::Cond(_) | Value::Other) => Some(other),
                }
            }
            (MathFn::TrailingZeros, Some((ballot, Part::Of(Over::All)))) => {
                self.end_of(ballot, End::Lowest, span)
            }
            (MathFn::LeadingZeros, Some((ballot, Part::Of(Over::All)))) => {
                self.end_of(ballot, End::Highest, span)
            }
            (MathFn::CountOnes | MathFn::TrailingZeros | MathFn::LeadingZeros, _) => {
                if let Some(count) = self.known_count(func, bits, ty, span) {
                    return Some(Value::Int(count));
                }
                if bits.is_lost() {
                    return None;
                }
                let width = i128::from((max - min).count_ones());
                Some(Value::Int(self.count_of_bits(func, (bits, width), span)))
            }
            _ => None,
        }
    }

    /// A number of bits, which are so many at most.
    pub(in super::super) fn counted_symbol(
        &mut self,
        sharing: Sharing,
        most: i128,
        span: SpanId,
    ) -> Unknown {
        let symbol = self.symbol(sharing, Some(0), Some((span, Obstacle::Other)));
        let bound = Formula::le(&Poly::unknown(symbol), &Poly::constant(most));
        self.symbols.add_facts(symbol, bound);
        symbol
    }

    /// How many of these bits of a ballot are set.
    fn ones_of(&mut self, ballot: Unknown, part: Part, span: SpanId) -> Option<Value> {
        match part {
            Part::Of(over) => self.ones(ballot, over, span),
            // Up to the own one are those before it, and its own.
            Part::But(Over::UpTo) if self.is_own_ballot(ballot) => {
                let of = self.ballots.known.get(&ballot)?.of.clone();
                match self.ones_of(ballot, Part::But(Over::Before), span)? {
                    Value::Int(from_own) => Some(Value::Int(from_own.sub(&of))),
                    other @ (Value::Cond(_) | Value::Other) => Some(other),
                }
            }
            Part::But(over) => {
                let all = self.ones(ballot, Over::All, span)?;
                let rest = self.ones(ballot, over, span)?;
                match (all, rest) {
                    (Value::Int(all), Value::Int(rest)) => Some(Value::Int(all.sub(&rest))),
                    _ => None,
                }
            }
            Part::BeforeOrAll => {
                let all = self.ones(ballot, Over::All, span)?;
                let before = self.ones(ballot, Over::Before, span)?;
                let lane = self.warp_place.as_ref()?.lane.clone();
                let none = Poly::default();
                let first = Cond { yes: Formula::eq(&lane, &none), no: Formula::ne(&lane, &none) };
                self.either(&first, all, before, false)
            }
        }
    }

    /// Whether a ballot is of the present iterations of the loops around.
    fn is_own_ballot(&self, ballot: Unknown) -> bool {
        self.ballots.known.get(&ballot).is_some_and(|known| known.loops == self.loops)
    }

    /// How many bits of a ballot are set, of all lanes or of those before.
    fn ones(&mut self, ballot: Unknown, over: Over, span: SpanId) -> Option<Value> {
        if let Some(symbol) = self.ballots.counts.get(&(ballot, over)) {
            return Some(Value::Int(Poly::unknown(*symbol)));
        }
        let Ballot { of, loops } = self.ballots.known.get(&ballot)?.clone();
        let symbol = self.counted_symbol(Sharing::Private, WARP_ITEMS.into(), span);
        self.ballots.counts.insert((ballot, over), symbol);
        self.add_sum(symbol, Sum::new(of, Some(1), over, (Group::Warp, loops.clone())));
        if over == Over::All {
            self.note_common_in(symbol, loops);
        }
        for end in [End::Lowest, End::Highest] {
            self.relate_end(ballot, end);
        }
        Some(Value::Int(Poly::unknown(symbol)))
    }

    /// How many zeros stand below a ballot's lowest bit, or above its highest.
    fn end_of(&mut self, ballot: Unknown, end: End, span: SpanId) -> Option<Value> {
        if let Some(symbol) = self.ballots.ends.get(&(ballot, end)) {
            return Some(Value::Int(Poly::unknown(*symbol)));
        }
        let Ballot { of, loops } = self.ballots.known.get(&ballot)?.clone();
        let place = self.warp_place.clone()?;
        let symbol = self.counted_symbol(Sharing::Private, WARP_ITEMS.into(), span);
        self.ballots.ends.insert((ballot, end), symbol);
        self.note_common_in(symbol, loops);
        let at = end.lane(symbol);
        let beside = match end {
            End::Lowest => Formula::le(&at, &place.lane),
            End::Highest => Formula::le(&place.lane, &at),
        };
        let none = Formula::eq(&Poly::unknown(symbol), &Poly::constant(WARP_ITEMS.into()));
        let is_set = Formula::eq(&of, &Poly::constant(1));
        let facts = Formula::All(vec![
            // Its lane is there, and has the flag.
            none.clone().or(place.has(&at)),
            none.clone().or(Formula::lt(&Poly::default(), &Poly::unknown(ballot))),
            Formula::ne(&at, &place.lane).or(is_set),
            // Who has the flag is not beyond it.
            Formula::Zero(of).or(beside),
        ]);
        self.symbols.add_facts(symbol, facts);
        self.relate_end(ballot, end);
        Some(Value::Int(Poly::unknown(symbol)))
    }

    /// Whether `lane` is the last one of those that have a flag.
    pub(in super::super) fn is_highest_of(&self, lane: &Poly, flag: &Poly) -> bool {
        // Without a flag there is no such lane, and nobody is at what the type makes of it.
        let exact = self.before_wrapping(lane, BITS).unwrap_or_else(|| lane.clone());
        self.ballots.ends.iter().any(|((ballot, end), symbol)| {
            *end == End::Highest
                && end.lane(*symbol) == exact
                && self.ballots.known.get(ballot).is_some_and(|known| known.of == *flag)
        })
    }

    /// Adds that none is before the first, and who has the flag and none before is it.
    fn relate_end(&mut self, ballot: Unknown, end: End) {
        let (Some(symbol), Some(rank), Some(place), Some(Ballot { of, .. })) = (
            self.ballots.ends.get(&(ballot, end)).copied().filter(|_| end == End::Lowest),
            self.ballots.counts.get(&(ballot, Over::Before)).copied(),
            self.warp_place.clone(),
            self.ballots.known.get(&ballot).cloned(),
        ) else {
            return;
        };
        let (at, rank) = (end.lane(symbol), Poly::unknown(rank));
        let is_it = Formula::eq(&at, &place.lane);
        let facts =
            Formula::ne(&at, &place.lane).or(Formula::Zero(rank.clone())).and(Formula::Any(vec![
                is_it,
                Formula::Zero(of),
                Formula::lt(&Poly::default(), &rank),
            ]));
        self.symbols.add_facts(symbol, facts);
    }
}

impl End {
    /// The lane, of which `symbol` counts the zeros beside it.
    fn lane(self, symbol: Unknown) -> Poly {
        let zeros = Poly::unknown(symbol);
        match self {
            Self::Lowest => zeros,
            Self::Highest => zeros.negated().plus(i128::from(WARP_ITEMS) - 1),
        }
    }
}
