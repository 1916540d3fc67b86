//! What updates leave in elements that they change.
//!
//! Between which numbers it lies, the operand and the conditions around say. Where the
//! operand is one number for the whole launch, as a scalar is, so is what a swap leaves, and
//! `max` and `min` leave no less and no more: whoever has made the update. So it is where
//! the operand is bounded by such a number (`if x < m { atomic best[0].min(x) }`).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::walk::Walk;
use crate::dtype::DType;
use crate::kernel::{ElemType, Type};
use crate::op::AtomicOp;

/// From one number to another, both included.
pub(in super::super) type Range = (i128, i128);

/// What an update leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Left {
    /// Between which numbers it lies.
    range: Range,
    /// How it lies to a number of the launch.
    beside: Option<(Relation, Poly)>,
}

/// How two numbers lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    AtLeast,
    AtMost,
}

impl Left {
    /// Anything between these numbers.
    pub(in super::super) fn any(range: Range) -> Self {
        Self { range, beside: None }
    }

    /// That `found` has been left, where the number of the launch is what `on` makes of it.
    pub(in super::super) fn is(&self, found: &Poly, on: &mut dyn FnMut(&Poly) -> Poly) -> Formula {
        let (low, high) = (Poly::constant(self.range.0), Poly::constant(self.range.1));
        let within = Formula::le(&low, found).and(Formula::le(found, &high));
        let Some((relation, of)) = &self.beside else { return within };
        let of = on(of);
        within.and(match relation {
            Relation::Equal => Formula::eq(found, &of),
            Relation::AtLeast => Formula::le(&of, found),
            Relation::AtMost => Formula::le(found, &of),
        })
    }
}

/// The same of any of several updates, with few parts.
pub(in super::super) fn joined<'a>(all: impl Iterator<Item = &'a Left>) -> Vec<Left> {
    let mut joined: Vec<Left> = Vec::new();
    for left in all {
        let alike = joined.iter_mut().find(|other| other.beside == left.beside);
        match alike {
            Some(Left { range, .. }) => {
                *range = (range.0.min(left.range.0), range.1.max(left.range.1));
            }
            None => joined.push(left.clone()),
        }
    }
    joined
}

impl Walk<'_> {
    /// What an update here leaves in an element that it changes, of which the type has these
    /// numbers.
    pub(in super::super) fn what_is_left(
        &self,
        (op, expected): (AtomicOp, Option<&Poly>),
        operand: &Poly,
        (ty, all): (Type, Range),
    ) -> Left {
        let range = self.range_left((op, expected), operand, all, ty);
        let relation = match op {
            AtomicOp::Swap | AtomicOp::CompareExchange => Some(Relation::Equal),
            AtomicOp::Max => Some(Relation::AtLeast),
            AtomicOp::Or if is_unsigned(ty) => Some(Relation::AtLeast),
            AtomicOp::Min => Some(Relation::AtMost),
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => None,
        };
        let of = match relation {
            _ if operand.as_constant().is_some() => None,
            Some(_) if self.is_launched(operand) => Some(operand.clone()),
            Some(Relation::AtLeast) => self.bound_of_launch(operand, false),
            Some(Relation::AtMost) => self.bound_of_launch(operand, true),
            Some(Relation::Equal) | None => None,
        };
        Left { range, beside: relation.zip(of) }
    }

    fn is_launched(&self, poly: &Poly) -> bool {
        !poly.is_lost() && poly.unknowns().all(|unknown| self.is_one_for_launch(unknown))
    }

    /// The number of the launch that a condition around says to be no less than `value`, or
    /// no more.
    fn bound_of_launch(&self, value: &Poly, is_upper: bool) -> Option<Poly> {
        let mut open: Vec<&Formula> = self.guards.iter().collect();
        while let Some(guard) = open.pop() {
            match guard {
                Formula::All(all) => open.extend(all),
                Formula::AtLeast(room) => {
                    let bound = if is_upper { room.add(value) } else { value.sub(room) };
                    if self.is_launched(&bound) && bound.as_constant().is_none() {
                        return Some(bound);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a symbol is one number for the whole launch.
    pub(in super::super) fn is_one_for_launch(&self, unknown: Unknown) -> bool {
        self.symbols.get(unknown).is_some_and(|symbol| match &symbol.sharing {
            Sharing::Launch => true,
            Sharing::Function(of) => of.iter().all(|other| self.is_one_for_launch(*other)),
            Sharing::Block | Sharing::Iteration(_) | Sharing::Private => false,
        })
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
        let range = (low.max(all.0), high.min(all.1));
        match op {
            AtomicOp::Swap => self.beside_marks(operand, range, all),
            AtomicOp::CompareExchange => match expected.and_then(Poly::as_constant) {
                Some(of) => self.beside(operand, of, range),
                None => range,
            },
            AtomicOp::Max => (self.beside_marks(operand, range, all).0, all.1),
            AtomicOp::Min => (all.0, self.beside_marks(operand, range, all).1),
            // Bits that are set do not make a number smaller that has no sign.
            AtomicOp::Or if is_unsigned(ty) => (self.beside_marks(operand, range, all).0, all.1),
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => all,
        }
    }

    /// The part of a range beside the numbers that stand for nothing: 0, and the ends of the
    /// type.
    fn beside_marks(&self, value: &Poly, range: Range, all: Range) -> Range {
        if value.as_constant().is_some() {
            return range;
        }
        [0, all.0, all.1].into_iter().fold(range, |range, of| self.beside(value, of, range))
    }

    /// The part of a range beside a number in which a value lies, where it comes by.
    fn beside(&self, value: &Poly, of: i128, (low, high): Range) -> Range {
        if !(low <= of && of <= high) {
            return (low, high);
        }
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
}

fn is_unsigned(ty: Type) -> bool {
    matches!(ty, Type::Scalar(ElemType::Concrete(DType::U8 | DType::U16 | DType::U32 | DType::U64)))
}
