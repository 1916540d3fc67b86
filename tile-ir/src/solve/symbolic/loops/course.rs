//! How a loop goes: what ends it, and where it has no iteration of a number.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Symbols;
use super::super::walk::Walk;
use crate::kernel::{LoopRange, VarId};

/// Where a loop has no iteration of a number, if it goes up in equal steps.
pub(super) fn beyond(
    range: &LoopRange,
    bounds: &[Poly],
    (number, symbols): (Unknown, &Symbols),
) -> Option<Formula> {
    let LoopRange::Between { .. } = range else { return None };
    let is_positive = |step: &Poly| symbols.low(step).is_some_and(|least| least > 0);
    let (start, end, step) = match bounds {
        [start, end] => (start, end, Poly::constant(1)),
        [start, end, step] if is_positive(step) => (start, end, step.clone()),
        _ => return None,
    };
    let value = start.add(&Poly::unknown(number).mul(&step));
    (!value.is_lost() && !end.is_lost()).then(|| Formula::le(end, &value))
}

/// How a loop goes.
#[derive(Clone, Copy)]
pub(super) struct Course<'c> {
    /// No iteration begins where one of these jumps of the block has been made.
    pub(super) ends: &'c BTreeSet<VarId>,
    /// No iteration of a work-item begins where one of its variables is set, of a `while`.
    pub(super) clear: &'c BTreeSet<VarId>,
    /// Whether nothing else ends it.
    pub(super) ends_alone: bool,
    /// Whether the first iteration has the number 0.
    pub(super) is_whole: bool,
    /// Of a `while`, where it runs no iteration.
    pub(super) empty: Option<&'c Formula>,
    /// At the end of an iteration: whether there is no other one.
    pub(super) is_last: &'c dyn Fn(&mut Walk<'_>) -> Formula,
}
