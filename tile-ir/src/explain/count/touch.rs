//! One access of one warp: its lanes' addresses, and what they move.

use super::Detail;
use super::machine::Machine;
use super::pattern::{Cost, Memory};
use super::tally::{Column, SITE_COLUMNS};
use super::value::{Mask, Value};
use crate::analyze::banks::{BANKS, WORD_BYTES};
use crate::analyze::sectors::SECTOR_BYTES;
use crate::arena::EntityId as _;
use crate::program::{Access, BufferSpace, SharedMemory, Target};

impl Machine<'_> {
    /// Counts an access by the active lanes. The accesses of a vector's registers
    /// are one, which the first of them makes.
    pub(super) fn touch(&mut self, site: usize, access: &Access) {
        let width = u32::from(access.width.max(1));
        if self.detail.leaves_out(self.plan.kernel, access.target) {
            return;
        }
        let is_of_elems = matches!(self.detail, Detail::Elems | Detail::Strides);
        if is_of_elems && !access.is_guarded() && self.is_looked_at[site] {
            let elems = self.n_active();
            return self.add(site, Column::Elems, elems);
        }
        if !self.register().is_multiple_of(width) {
            return;
        }
        let before = self.active;
        let indices: Vec<Value> = access.indices.iter().map(|&index| self.eval(index)).collect();
        let lanes = self.inside(access, &indices);
        self.tally.note(lanes.into());
        if lanes != 0 {
            self.active = lanes;
            if is_of_elems && self.is_looked_at[site] {
                let elems = self.n_active() * u64::from(width);
                self.add(site, Column::Elems, elems);
            } else {
                let offset = self.offset(access, &indices);
                self.enter(site, access, width, &offset);
                // At an edge the first lanes may be outside, and tell nothing.
                self.is_looked_at[site] = self.lane_strides[site].is_some() || !offset.is_known();
            }
        }
        self.active = before;
    }

    /// The active lanes whose guards hold, as far as these are known.
    fn inside(&mut self, access: &Access, indices: &[Value]) -> Mask {
        let mut lanes = self.active;
        for (axis, (index, guard)) in indices.iter().zip(&access.guards).enumerate() {
            if guard.lower {
                let fits = index.map(|at| Some((at >= 0).into())).mask(lanes);
                lanes = fits.unwrap_or(lanes);
            }
            if guard.upper {
                let extent = self.extent(access.target, axis);
                let fits = index.map(|at| Some((at < extent).into())).mask(lanes);
                lanes = fits.unwrap_or(lanes);
            }
        }
        lanes
    }

    fn extent(&self, target: Target, axis: usize) -> i64 {
        match target {
            Target::Buffer(id) => self.shapes[id.index()].0[axis],
            Target::Tile(id) => self.plan.kernel.tiles[id].extents[axis].into(),
        }
    }

    /// Where the first element lies, in elements from the beginning of a buffer or
    /// of shared memory.
    fn offset(&mut self, access: &Access, indices: &[Value]) -> Value {
        let sum = |offset: Value, index: &Value, stride: i64| {
            let term = index.map(|at| at.checked_mul(stride));
            offset.zip(&term, i64::checked_add)
        };
        match access.target {
            Target::Buffer(id) => {
                let strides = &self.shapes[id.index()].1;
                let pairs = indices.iter().zip(strides);
                pairs.fold(Value::Same(0), |offset, (index, stride)| sum(offset, index, *stride))
            }
            Target::Tile(id) => {
                let tile = &self.plan.kernel.tiles[id];
                let pairs = indices.iter().zip(&tile.layout.strides);
                let plain = pairs.fold(Value::Same(0), |offset, (index, stride)| {
                    sum(offset, index, i64::from(*stride))
                });
                let swizzle = tile.layout.swizzle;
                let placed = plain.map(|at| {
                    let Some(swizzle) = swizzle else { return Some(at) };
                    Some(at ^ ((at >> swizzle.source & ((1 << swizzle.bits) - 1)) << swizzle.shift))
                });
                let slot = access.slot.map_or(Value::Same(0), |slot| self.eval(slot));
                let base = match self.plan.kernel.shared_memory {
                    SharedMemory::Static => 0,
                    SharedMemory::Dynamic { .. } => tile.offset_bytes / tile.dtype.size_bytes(),
                };
                let of_slot = sum(Value::Same(base.into()), &slot, tile.layout.size_elems.into());
                placed.zip(&of_slot, i64::checked_add)
            }
        }
    }

    fn enter(&mut self, site: usize, access: &Access, width: u32, offset: &Value) {
        let elem_bytes = self.plan.kernel.element_type(access.target).size_bytes();
        let size = elem_bytes * width;
        let asked = u64::from(self.active.count_ones()) * u64::from(size);
        let elems = self.n_active() * u64::from(width);
        if self.active & 3 == 3 && self.lane_strides[site].is_none() {
            let pair = offset.lane(0).zip(offset.lane(1));
            self.lane_strides[site] = pair.map(|(first, second)| second - first);
        }
        self.add(site, Column::Requests, self.weight);
        self.add(site, Column::Elems, elems);
        if !offset.is_known() {
            self.add(site, Column::Unknown, self.weight);
        }
        match access.target {
            Target::Buffer(id) => match self.plan.kernel.buffers[id].space {
                BufferSpace::Constant { .. } => {}
                BufferSpace::Global => {
                    let cost = self.cost(site, offset, (elem_bytes, size), Memory::Global);
                    // Each lane somewhere else.
                    let apart = asked / u64::from(size) * u64::from(size).div_ceil(SECTOR_BYTES);
                    let unknown = Cost { taken: apart, ideal: asked.div_ceil(SECTOR_BYTES) };
                    let Cost { taken, ideal } = cost.unwrap_or(unknown);
                    self.add(site, Column::Sectors, taken * self.weight);
                    self.add(site, Column::IdealSectors, ideal * self.weight);
                }
            },
            Target::Tile(_) => {
                let cost = self.cost(site, offset, (elem_bytes, size), Memory::Shared);
                // As if there were no conflict.
                let rows = asked.div_ceil(BANKS * WORD_BYTES);
                let Cost { taken, ideal } = cost.unwrap_or(Cost { taken: rows, ideal: rows });
                self.add(site, Column::Wavefronts, taken * self.weight);
                self.add(site, Column::IdealWavefronts, ideal * self.weight);
            }
        }
    }

    fn cost(
        &mut self,
        site: usize,
        offset: &Value,
        sizes: (u32, u32),
        memory: Memory,
    ) -> Option<Cost> {
        self.patterns[site].cost((self.active, offset), sizes, memory)
    }

    fn add(&mut self, site: usize, column: Column, n: u64) {
        self.tally.cells[site * SITE_COLUMNS + column as usize] += n;
    }
}
