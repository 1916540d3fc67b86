//! Accesses, as they are made.

use super::super::plan::SiteId;
use super::super::shadow::{Mark, Scope};
use super::super::value::Value;
use super::{ANY_EXTENT, Frame, Machine, Stop};
use crate::arena::EntityId as _;
use crate::kernel::{AccessKind, ArrayRef, ExprId};

impl Machine<'_> {
    /// Who is at it, and when: block, worker, iteration.
    pub(in super::super) fn moment(&self) -> [u32; 3] {
        [self.now.block, self.now.worker, self.now.context]
    }

    /// Position of an element in its array; `None` where it is outside.
    pub(in super::super) fn flat(&self, array: ArrayRef, indices: &[Value]) -> Option<u128> {
        let mut flat = 0;
        for (extent, index) in self.extents[self.slot(array)].iter().zip(indices) {
            let index = index.as_index();
            if index < 0 || index >= *extent {
                return None;
            }
            flat = flat * *extent as u128 + index as u128;
        }
        Some(flat)
    }

    pub(in super::super) fn slot(&self, array: ArrayRef) -> usize {
        match array {
            ArrayRef::Tensor(id) => id.index(),
            ArrayRef::Tile(id) => self.kernel.tensors.len() + id.index(),
        }
    }

    /// Enters an access. Outside a tensor's shape nothing is accessed, nor
    /// outside a tile's, which is a finding.
    pub(in super::super) fn enter(
        &mut self,
        id: SiteId,
        indices: &[Value],
        text: (&Frame, &[ExprId]),
    ) -> Result<(), Stop> {
        if self.is_repeated() {
            return Ok(());
        }
        self.burn()?;
        let site = self.plan.sites[id as usize];
        let mark = Mark { site: id, ..self.now };
        let slot = self.slot(site.array);
        let spot = self.spot(indices);
        if self.touched.is_some() {
            self.note_touched(indices, spot.as_ref(), site.kind);
        }
        if let Some(log) = self.logs.get_mut(slot)
            && !self.kernel.is_local(site.array)
        {
            log.enter(indices, (mark, site.kind), spot);
        }
        let fills = if self.plan.swaps.contains(&id) { AccessKind::Write } else { site.kind };
        self.enter_fill(slot, (indices, text), fills, mark);
        if indices.iter().any(|index| !index.is_known()) {
            self.note_stray(mark, indices);
            return Ok(());
        }
        let Some(flat) = self.flat(site.array, indices) else {
            let extents = self.extents[slot].iter().zip(indices);
            if extents
                .clone()
                .any(|(extent, index)| *extent == ANY_EXTENT && index.as_index() >= ANY_EXTENT)
            {
                return Err(Stop::Budget);
            }
            self.note_stray(mark, indices);
            return Ok(());
        };
        let mut shadows = std::mem::take(&mut self.shadows[slot]);
        for shadow in &mut shadows {
            let interval = match shadow.scope() {
                Scope::Block => self.interval,
                Scope::Grid => 1,
            };
            for other in shadow.enter(flat, interval, mark, site.kind).into_iter().flatten() {
                self.collide(shadow.scope(), indices, other, mark);
            }
        }
        self.shadows[slot] = shadows;
        Ok(())
    }
}
