//! Loops that are seen to have no end: what they double has wrapped
//! ([`crate::solve::doubling`]). A launch that runs one has no result.

use super::{Frame, Machine, Stop};
use crate::arena::EntityId as _;
use crate::kernel::VarId;
use crate::solve::doubling::range;

impl Machine<'_> {
    /// Of what a loop only doubles as it runs: what is a power of two before it.
    pub(super) fn strides(&self, rising: &[VarId], frame: &Frame) -> Vec<VarId> {
        let is_power = |var: &&VarId| {
            let is_known = frame[var.index()].is_known();
            is_known && self.positive(**var, frame).is_some_and(|value| value.count_ones() == 1)
        };
        rising.iter().filter(is_power).copied().collect()
    }

    /// Ends a run in which one of these has wrapped where the loop begins an iteration.
    pub(super) fn need_end(&self, strides: &[VarId], frame: &Frame) -> Result<(), Stop> {
        let has_wrapped = strides.iter().any(|var| self.positive(*var, frame).is_none());
        if has_wrapped { Err(Stop::Excluded) } else { Ok(()) }
    }

    /// A variable's value, if it is above 0.
    fn positive(&self, var: VarId, frame: &Frame) -> Option<i128> {
        let (_, max) = range(self.kernel, var)?;
        let value = i128::from(frame[var.index()].as_index() as u64);
        (1..=max).contains(&value).then_some(value)
    }
}
