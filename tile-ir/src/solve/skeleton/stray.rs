//! Accesses that leave their tile.

use super::Party;
use super::machine::Machine;
use super::plan::Site;
use super::shadow::Mark;
use super::value::Value;
use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, Source, VarId};

/// An access to a tile with an index outside its extents, by example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stray {
    /// The access.
    pub(crate) site: Site,
    /// Its indices.
    pub(crate) element: Vec<i64>,
    /// The first axis that is left, and its extent.
    pub(crate) axis: (usize, i64),
    /// Who makes it.
    pub(crate) party: Party,
    /// What from memory decides whether it is made.
    pub(crate) cause: Option<Source>,
    /// Tile parameters, dimensions and scalars that matter.
    pub(crate) sizes: Vec<(VarId, i64)>,
}

/// What an index is not beyond, but where a number that is doubled again and again has left
/// its 32 or 64 bits: in no launch that is meant. Lowering guards it all the same.
const FARTHEST: u64 = 1 << 31;

/// What is so little below 2^32 is a number below 0, `t as u32 - 1` of the first work-item.
const BELOW: std::ops::Range<i64> = (1 << 32) - (1 << 16)..1 << 32;

impl Machine<'_> {
    /// Keeps the first access of each site that leaves its tile, along an axis whose index
    /// is not of loaded data, in what is a run of the kernel.
    pub(super) fn note_stray(&mut self, mark: Mark, indices: &[Value]) {
        let site = self.plan.sites[mark.site as usize];
        let ArrayRef::Tile(tile) = site.array else { return };
        if self.is_made_up || self.findings.strays.iter().any(|stray| stray.site.span == site.span)
        {
            return;
        }
        let extents = &self.extents[self.kernel.tensors.len() + tile.index()];
        let left = indices.iter().zip(extents).position(|(index, extent)| {
            let at = index.as_index();
            let is_meant = at.unsigned_abs() < FARTHEST || BELOW.contains(&at);
            index.is_known() && !(0..*extent).contains(&at) && is_meant
        });
        let Some(axis) = left else { return };
        let stray = Stray {
            site,
            element: indices.iter().map(|index| index.as_index()).collect(),
            axis: (axis, extents[axis]),
            party: self.party(mark),
            cause: mark.cause,
            sizes: self.plan.project(self.sizes),
        };
        self.findings.strays.push(stray);
    }
}
