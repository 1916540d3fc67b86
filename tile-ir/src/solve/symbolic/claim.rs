//! Claims: old values that tell who was first at an element.
//!
//! After `atomic flag[k].compare_exchange(0, 1)` the element is not 0, and if all
//! updates of the array leave something else than 0, none finds 0 there again: of all
//! that find it, there is one. So `if was == 0 { … }` is done once for each element.
//!
//! Of two updates of one element one is first. Where it has changed the element, the
//! other one finds what some update of the array has left. An exchange that compares
//! changes it where it finds what it expects; any other update does.
//!
//! It rests on what slots do ([`super::slot`]): both updates are of one element, inside
//! the array, and nothing sets it between the two.

use std::collections::BTreeMap;

use super::formula::Formula;
use super::instance::{Builder, Side};
use super::poly::{Poly, Unknown};
use super::slot::Turn;
use super::walk::{Value, Walk};
use crate::dtype::DType;
use crate::kernel::{ArrayRef, ElemType, Type};
use crate::op::AtomicOp;

/// From one number to another, both included.
type Range = (i128, i128);

/// What is known of an old value.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    turn: Turn,
    /// Where the update changes the element only if this is found.
    expected: Option<Poly>,
}

/// What updates leave in arrays, and who finds it.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    /// By array, of each update the element, and between which numbers it leaves that.
    left: BTreeMap<ArrayRef, Vec<(Vec<Poly>, Range)>>,
    /// By symbol, of those that are old values.
    found: BTreeMap<Unknown, Claim>,
}

impl Claims {
    /// Between which numbers all updates leave an element that two of them are of.
    fn left_in(&self, one: &Turn, other: &Turn) -> Option<Range> {
        let all = self.left.get(&one.array)?;
        let own = all.iter().filter(|(at, _)| one.may_meet(at) && other.may_meet(at));
        own.map(|(_, range)| *range).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

impl Walk<'_> {
    /// What an exchange expects, if it does, of an update that leaves numbers of which
    /// something is known. Notes what it leaves.
    pub(super) fn left(
        &mut self,
        (array, at): (ArrayRef, &[Poly]),
        (op, expected): (AtomicOp, Option<Value>),
        operand: &Value,
    ) -> Option<Option<Poly>> {
        let ty = Type::Scalar(self.kernel.element_type(array));
        let all = super::integers::range_of(ty)?;
        let expected = match expected {
            Some(Value::Int(expected)) if !expected.is_lost() => Some(expected),
            Some(_) => Some(Poly::lost()),
            None => None,
        };
        let range = match operand {
            Value::Int(operand) if !operand.is_lost() => {
                self.range_left((op, expected.as_ref()), operand, all, ty)
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => all,
        };
        if self.recording {
            self.claims.left.entry(array).or_default().push((at.to_vec(), range));
        }
        let is_known = range != all && expected.as_ref().is_none_or(|poly| !poly.is_lost());
        is_known.then_some(expected)
    }

    /// Between which numbers an update leaves an element that it changes.
    fn range_left(
        &self,
        (op, expected): (AtomicOp, Option<&Poly>),
        operand: &Poly,
        all: Range,
        ty: Type,
    ) -> Range {
        let low = operand.as_constant().or_else(|| self.symbols.low(operand)).unwrap_or(all.0);
        let high = operand.as_constant().or_else(|| self.high(operand)).unwrap_or(all.1);
        let (low, high) = (low.max(all.0), high.min(all.1));
        match op {
            AtomicOp::Swap => (low, high),
            AtomicOp::CompareExchange => match expected.and_then(Poly::as_constant) {
                Some(of) if low <= of && of <= high => self.beside(operand, of, (low, high)),
                Some(_) | None => (low, high),
            },
            AtomicOp::Max => (low, all.1),
            AtomicOp::Min => (all.0, high),
            // Bits that are set do not make a number smaller that has no sign.
            AtomicOp::Or if is_unsigned(ty) => (low, all.1),
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => all,
        }
    }

    /// The part of a range beside a number in which a value lies, where it comes by.
    fn beside(&self, value: &Poly, of: i128, (low, high): Range) -> Range {
        let here = Formula::All(self.guards.clone());
        let is_never = |other: Formula| self.is_never(&here.clone().and(other));
        let number = Poly::constant(of);
        if is_never(Formula::le(value, &number)) {
            (of.saturating_add(1), high)
        } else if is_never(Formula::le(&number, value)) {
            (low, of.saturating_sub(1))
        } else {
            (low, high)
        }
    }

    /// Notes that `found` is what an update found.
    pub(super) fn note_claim(&mut self, found: &Poly, turn: Turn, expected: Option<Poly>) {
        for unknown in found.unknowns() {
            let claim = Claim { turn: turn.clone(), expected: expected.clone() };
            self.claims.found.insert(unknown, claim);
        }
    }
}

fn is_unsigned(ty: Type) -> bool {
    matches!(ty, Type::Scalar(ElemType::Concrete(DType::U8 | DType::U16 | DType::U32 | DType::U64)))
}

impl Builder<'_> {
    /// That of what an update found on one side, and what one found on the other, one
    /// is what updates leave.
    pub(super) fn part_claims(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(claim) = walk.claims.found.get(&symbol) else { return };
        self.mention_grid(side);
        let seen: Vec<Unknown> =
            self.seen.iter().filter(|(_, of)| *of != side).map(|(other, _)| *other).collect();
        for other in seen {
            let Some(others) = walk.claims.found.get(&other) else { continue };
            let pair = match side {
                Side::First => [(symbol, claim), (other, others)],
                Side::Second => [(other, others), (symbol, claim)],
            };
            self.part_two_claims(pair);
        }
    }

    fn part_two_claims(&mut self, [(first, one), (second, other)]: [(Unknown, &Claim); 2]) {
        let walk = self.walk;
        let Some(left) = walk.claims.left_in(&one.turn, &other.turn) else { return };
        if !self.claimed.insert((first, second)) {
            return;
        }
        let meeting = self.meeting;
        let mut on = |is_first: bool, poly: &Poly| {
            self.on(if is_first { Side::First } else { Side::Second }, poly)
        };
        let Some(mut cases) = walk.of_two_elements(&one.turn, &other.turn, meeting, &mut on) else {
            return;
        };
        let (low, high) = (Poly::constant(left.0), Poly::constant(left.1));
        for (is_first, claim, found) in [(true, one, first), (false, other, second)] {
            let found = on(is_first, &Poly::unknown(found));
            // It comes later.
            cases.push(Formula::le(&low, &found).and(Formula::le(&found, &high)));
            // It comes before, and changes nothing.
            if let Some(expected) = &claim.expected {
                let expected = on(is_first, expected);
                cases.push(Formula::ne(&found, &expected));
            }
        }
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
