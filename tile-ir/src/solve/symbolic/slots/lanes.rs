//! Where in an array the cells lie that a counter deals out.
//!
//! `q[slot]` and `q[r, slot]` lie along an axis, the other indices being those of the counter's own
//! cell, `n[r]`, if it has several. `q[r * 64 + slot]` lies in a row of 64 cells of one axis: if
//! `slot` is one of `0..64` where it is stored, then the cell at `c` is that of slot `c - 64 * r` of
//! `n[r]`, and of no other one, for the one `r` for which that is one of `0..64`.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};

/// The cells of one counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// Which index is the slot, or has it.
    pub(super) axis: usize,
    /// How long the rows are that lie behind one another on that axis.
    row: Option<Poly>,
}

impl Lane {
    /// The lane along an axis.
    pub(super) fn along(axis: usize) -> Self {
        Self { axis, row: None }
    }

    /// The lane of a store at these indices by who has the old value `old` of the counter in
    /// `cell`.
    pub(super) fn of(
        indices: &[Poly],
        axis: usize,
        (old, cell): (Unknown, &[Poly]),
    ) -> Option<Self> {
        let rest = indices[axis].sub(&Poly::unknown(old));
        if rest == Poly::default() {
            return Some(Self::along(axis));
        }
        let ([_], [number]) = (indices, cell) else { return None };
        let length = match number.as_constant() {
            Some(1) => rest,
            Some(_) => return None,
            None => number.unknowns().find_map(|unknown| {
                let factor = number.cofactor(unknown).as_constant()?;
                let length = rest.cofactor(unknown).scaled(factor);
                (factor.abs() == 1 && rest == length.mul(number)).then_some(length)
            })?,
        };
        (!length.is_lost() && !length.mentions(old)).then_some(Self { axis, row: Some(length) })
    }

    /// Whether it is a row of several on one axis.
    pub(super) fn is_row(&self) -> bool {
        self.row.is_some()
    }

    /// The slot of the counter in `cell` whose place is at these indices; `None` where it is another
    /// counter's.
    pub(super) fn slot_at(&self, indices: &[Poly], cell: &[Poly]) -> Option<Poly> {
        match &self.row {
            None => {
                let mut rest = indices.to_vec();
                let slot = rest.remove(self.axis);
                (rest.is_empty() || rest == cell).then_some(slot)
            }
            Some(length) => {
                let ([at], [number]) = (indices, cell) else { return None };
                let slot = at.sub(&length.mul(number));
                (!slot.is_lost()).then_some(slot)
            }
        }
    }

    /// Where a slot is one that the row has, of a lane that is one.
    pub(super) fn has(&self, slot: &Poly) -> Formula {
        self.row.as_ref().map_or(Formula::True, |length| Formula::within(slot, length))
    }

    /// Where it is none of these.
    pub(super) fn lacks(&self, slot: &Poly) -> Formula {
        let beyond =
            |length: &Poly| Formula::lt(slot, &Poly::default()).or(Formula::le(length, slot));
        self.row.as_ref().map_or(Formula::False, beyond)
    }
}
