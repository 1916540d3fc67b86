//! One access of one warp: its lanes' addresses, and what they move.

use super::Detail;
use super::machine::Machine;
use super::tally::{Column, SITE_COLUMNS};
use super::value::{LANES, Mask, Value};
use crate::analyze::banks::wavefronts_of;
use crate::analyze::sectors::{SECTOR_BYTES, sectors_of};
use crate::arena::EntityId as _;
use crate::program::{Access, BufferSpace, SharedMemory, Target};

impl Machine<'_> {
    /// Counts an access by the active lanes. The accesses of a vector's registers
    /// are one, which the first of them makes.
    pub(super) fn touch(&mut self, site: usize, access: &Access) {
        let width = u32::from(access.width.max(1));
        match self.detail {
            Detail::Of(target) if target != access.target => return,
            Detail::Elems if !access.is_guarded() && self.is_looked_at[site] => {
                let elems = self.n_active();
                return self.add(site, Column::Elems, elems);
            }
            Detail::All | Detail::Of(_) | Detail::Elems => {}
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
            if self.detail == Detail::Elems && self.is_looked_at[site] {
                let elems = self.n_active() * u64::from(width);
                self.add(site, Column::Elems, elems);
            } else {
                let offset = self.offset(access, &indices);
                self.is_looked_at[site] = true;
                self.enter(site, access, width, &offset);
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
        let n_lanes = u64::from(self.active.count_ones());
        let elems = self.n_active() * u64::from(width);
        let asked = n_lanes * u64::from(size);
        let of_lane = |lane: usize| Some(offset.lane(lane)? * i64::from(elem_bytes));
        let active = self.active;
        let lanes = (0..LANES).filter(|lane| active >> lane & 1 == 1);
        let addresses: Option<Vec<i64>> = match offset.uniform() {
            Some(_) => of_lane(0).map(|address| vec![address]),
            None => lanes.map(of_lane).collect(),
        };
        let is_known = addresses.is_some();
        if self.active & 3 == 3 && self.lane_strides[site].is_none() {
            let pair = offset.lane(0).zip(offset.lane(1));
            self.lane_strides[site] = pair.map(|(first, second)| second - first);
        }
        self.add(site, Column::Requests, self.weight);
        self.add(site, Column::Elems, elems);
        self.add(site, Column::Unknown, if is_known { 0 } else { self.weight });
        match access.target {
            Target::Buffer(id) => match self.plan.kernel.buffers[id].space {
                BufferSpace::Constant { .. } => {}
                BufferSpace::Global => {
                    let (moved, ideal) = match addresses {
                        Some(addresses) => {
                            let sectors = sectors_of(&addresses, size);
                            (sectors.moved.into(), sectors.ideal.into())
                        }
                        // Each lane somewhere else.
                        None => (
                            n_lanes * u64::from(size).div_ceil(SECTOR_BYTES),
                            asked.div_ceil(SECTOR_BYTES),
                        ),
                    };
                    self.add(site, Column::Sectors, moved * self.weight);
                    self.add(site, Column::IdealSectors, ideal * self.weight);
                }
            },
            Target::Tile(_) => {
                let (taken, ideal) = match addresses {
                    Some(_) => {
                        let address = |lane: usize| {
                            let is_active = active >> lane & 1 == 1;
                            of_lane(lane).filter(|_| is_active).map(|at| at.max(0).unsigned_abs())
                        };
                        let bytes: Vec<Option<u64>> = (0..LANES).map(address).collect();
                        let found = wavefronts_of(&bytes, size);
                        (found.taken.into(), found.ideal.into())
                    }
                    // As if there were no conflict.
                    None => (asked.div_ceil(128), asked.div_ceil(128)),
                };
                self.add(site, Column::Wavefronts, taken * self.weight);
                self.add(site, Column::IdealWavefronts, ideal * self.weight);
            }
        }
    }

    fn add(&mut self, site: usize, column: Column, n: u64) {
        self.tally.cells[site * SITE_COLUMNS + column as usize] += n;
    }
}
