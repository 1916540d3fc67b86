//! Local arrays of few elements at subscripts that are no numbers: `count[x & 3] += 1;`.
//!
//! Of elements that are followed as variables are ([`super::arrays`]) each one goes on if the
//! subscript is its number, and else stays as it is: so a choice says what it is then. What is read
//! at such a subscript is a choice between all of them.
//!
//! # What it rests on
//!
//! - What is counted up or down outside of an array changes none of its elements.
//! - What is read is seen to be inside.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::walk::{Value, Walk};
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, VarId};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Most elements between which a subscript chooses.
const MAX_CHOSEN: i128 = 4;

impl Walk<'_> {
    /// The number of the element at these subscripts, and the elements, if they are few.
    fn chosen_at(&self, access: &Access, at: &[Poly]) -> Option<(Poly, Vec<VarId>)> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        let (first, extents) = self.local_elements.elements_of(tile)?;
        let [extent] = extents else { return None };
        let [number] = at else { return None };
        if number.is_lost() || number.as_constant().is_some() || *extent > MAX_CHOSEN {
            return None;
        }
        let count = usize::try_from(*extent).ok()?;
        let all = first.index()..first.index() + count;
        Some((number.clone(), all.map(VarId::from_index).collect()))
    }

    /// What is held at a subscript that is no number.
    pub(in super::super) fn chosen_element(
        &mut self,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let (number, elements) = self.chosen_at(access, at)?;
        let count = Poly::constant(i128::try_from(elements.len()).ok()?);
        let outside = Formula::lt(&number, &Poly::default()).or(Formula::le(&count, &number));
        if !self.is_never(&outside) {
            return None;
        }
        let mut values = Vec::new();
        for (n, element) in (0_i128..).zip(&elements) {
            let value = self.env.get(element).filter(|value| matches!(value, Value::Int(_)))?;
            values.push((n, value.clone()));
        }
        let (_, last) = values.pop()?;
        values.into_iter().rev().try_fold(last, |rest, (n, value)| {
            self.either(&is_number(&number, n), value, rest, false)
        })
    }

    /// Counts an element up or down at a subscript that is no number; whether that is known of all.
    pub(super) fn count_chosen(
        &mut self,
        (access, at): (&Access, &[Poly]),
        value: &Value,
        (op, span): (BinaryOp, SpanId),
    ) -> bool {
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            return false;
        }
        let Some((number, elements)) = self.chosen_at(access, at) else { return false };
        let mut counted = Vec::new();
        for (n, element) in (0_i128..).zip(&elements) {
            let Some(held @ Value::Int(_)) = self.env.get(element).cloned() else { return false };
            let ty = self.type_of(*element);
            let next = self.operated((op, span), (held.clone(), value.clone()), (ty, ty));
            let cond = is_number(&number, n);
            let Some(next) = next.and_then(|next| self.either(&cond, next, held, false)) else {
                return false;
            };
            counted.push((*element, next));
        }
        self.unsettle(access.array);
        self.env.extend(counted);
        true
    }
}

/// That a subscript is this number.
fn is_number(subscript: &Poly, number: i128) -> Cond {
    let number = Poly::constant(number);
    Cond { yes: Formula::eq(subscript, &number), no: Formula::ne(subscript, &number) }
}
