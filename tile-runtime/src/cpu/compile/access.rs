//! Accesses to arrays.

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::op::AtomicOp;
use tile_ir::program::{self, AxisGuard, BufferId, ExprId, Target, TileSpace, VarId};

use super::emitter::{Emitter, Value, lane_bytes};
use crate::cpu::CpuError;
use crate::cpu::code::{Access, AccessAxis, Affine, ArrayPlace, Index, Instr, Pad, Slot, Width};
use crate::cpu::vector;
use crate::cpu::watch::Doing;

/// An access with what must be given back once it has been emitted.
struct Prepared {
    access: usize,
    /// Whether all lanes access the same element.
    uniform: bool,
    owned: Vec<Slot>,
}

impl Emitter<'_, '_> {
    fn array_of(&self, target: Target) -> Result<usize, CpuError> {
        let (position, end) = match target {
            Target::Buffer(id) => (id.index(), self.unit.n_buffers),
            Target::Tile(id) => {
                (self.unit.n_buffers + id.index(), self.unit.n_buffers + self.kernel.tiles.len())
            }
        };
        if position >= end {
            return Err(self.malformed(format!("an access to {target:?}, which there is not")));
        }
        Ok(position)
    }

    /// Makes code for the indices of an access.
    fn prepare_access(
        &mut self,
        target: Target,
        indices: &[ExprId],
        guards: &[AxisGuard],
        slot: Option<ExprId>,
        masked: bool,
    ) -> Result<Prepared, CpuError> {
        let array = self.array_of(target)?;
        let described = &self.unit.arrays[array];
        let n_axes = match &described.place {
            ArrayPlace::Buffer { extents, .. } => extents.len(),
            ArrayPlace::Tile { extents, .. } => extents.len() - 1,
        };
        let is_tile = matches!(described.place, ArrayPlace::Tile { .. });
        if indices.len() != n_axes || guards.len() != n_axes || (slot.is_some() && !is_tile) {
            let name = described.name.clone();
            return Err(self.malformed(format!("an access to `{name}` of another rank than its")));
        }
        let mut axes = Vec::new();
        let mut owned = Vec::new();
        let mut uniform = true;
        let choices = slot.iter().map(|slot| (slot, &AxisGuard::NONE));
        for (&index, &guard) in indices.iter().zip(guards).chain(choices) {
            let value = self.eval_as(index, DType::I64)?;
            uniform &= value.is_uniform();
            let index = match value {
                Value::Affine(affine) => Index::Affine(affine),
                Value::Uniform(register) => Index::Affine(Affine::register(register)),
                Value::Lanes { slot, owned: is_owned } => {
                    if is_owned {
                        owned.push(slot);
                    }
                    Index::Lanes(slot)
                }
            };
            axes.push(AccessAxis { index, guard });
        }
        if let Some(item) = self.own_copy(target)? {
            uniform = false;
            axes.push(AccessAxis { index: Index::Affine(item), guard: AxisGuard::NONE });
        }
        let access = self.push_access(array, axes, masked || !uniform);
        Ok(Prepared { access, uniform, owned })
    }

    /// An access to an array, by the lanes that take part if it is `masked`.
    fn push_access(&mut self, array: usize, axes: Vec<AccessAxis>, masked: bool) -> usize {
        let mask = self.lane.as_ref().and_then(|lane| lane.mask).filter(|_| masked);
        let elem_bytes = lane_bytes(self.unit.arrays[array].dtype);
        self.unit.accesses.push(Access { array, axes, mask, elem_bytes });
        self.unit.accesses.len() - 1
    }

    /// Reads the items' values of a fragment that is kept in an array, given the
    /// items' axes that are those of the array.
    pub(super) fn read_kept(
        &mut self,
        array: usize,
        axes: &[usize],
        hint: Option<Slot>,
    ) -> Result<Value, CpuError> {
        let access = self.push_access(array, coordinates(axes), true);
        let (dst, owned) = self.result_slot(self.unit.arrays[array].dtype, hint);
        self.push(Instr::Load { width: Width::Chunk, dst, access, pad: Pad::Zero });
        Ok(Value::Lanes { slot: dst, owned })
    }

    /// Sets the items' values of a fragment that is kept in an array, likewise.
    pub(super) fn write_kept(
        &mut self,
        array: usize,
        axes: &[usize],
        value: Value,
    ) -> Result<(), CpuError> {
        let dtype = self.unit.arrays[array].dtype;
        let access = self.push_access(array, coordinates(axes), true);
        let (src, is_owned) = self.lanes(value, dtype)?;
        self.push(Instr::Store { src, access });
        if is_owned {
            self.give_register(src, dtype);
        }
        Ok(())
    }

    /// Of an array of which each item has a copy: the number of the present item.
    fn own_copy(&self, target: Target) -> Result<Option<Affine>, CpuError> {
        let Target::Tile(id) = target else { return Ok(None) };
        let TileSpace::Local(domain) = self.kernel.tiles[id].space else { return Ok(None) };
        let Some(lane) = self.lane.as_ref().filter(|lane| lane.domain == domain) else {
            let name = &self.kernel.tiles[id].name;
            return Err(self.malformed(format!("an access to `{name}` outside of its items")));
        };
        let mut coefs = vec![0; lane.extents.len()];
        let mut below = 1i64;
        for (coef, &extent) in coefs.iter_mut().zip(&lane.extents).rev() {
            *coef = below;
            below *= i64::try_from(extent).unwrap_or(i64::MAX);
        }
        // An axis of one point is always at 0.
        while coefs.last().is_some_and(|_| lane.extents[coefs.len() - 1] <= 1) {
            coefs.pop();
        }
        Ok(Some(Affine { constant: 0, base: None, coefs }))
    }

    /// Writes a register that nothing else reads. Where the last operation has made it,
    /// that may write the elements itself.
    fn store_result(&mut self, src: Slot, access: usize) {
        // Where a jump goes past the last operation, another may have made it.
        let is_only = self.landed < self.code.len();
        let last = self.code.pop_if(|last| is_only && last.makes(src));
        let mut map = match last {
            Some(map) if self.may_write(&map, access) => map,
            other => {
                self.code.extend(other);
                self.push(Instr::Store { src, access });
                return;
            }
        };
        let place = self.unit.fresh_place(access);
        self.push(Instr::Aim { place, spare: src, access });
        map.put_at(Slot::Found(place));
        self.push(map);
        self.push(Instr::Settle { place, spare: src, access });
    }

    /// Whether an operation may put its result at the elements of an access: what it
    /// reads in place is none of them, or for each lane the same.
    fn may_write(&self, map: &Instr, access: usize) -> bool {
        let written = &self.unit.accesses[access];
        let indices =
            |access: &Access| access.axes.iter().map(|axis| axis.index.clone()).collect::<Vec<_>>();
        let is_apart = |slot: &Slot| match *slot {
            Slot::Found(place) => {
                let read = &self.unit.accesses[self.unit.places[place]];
                read.array != written.array || indices(read) == indices(written)
            }
            Slot::Uniform(_) | Slot::Vector(_) | Slot::Fragment { .. } => true,
        };
        written.mask.is_none() && map.operands().iter().all(is_apart)
    }

    fn give_all(&mut self, owned: Vec<Slot>) {
        for slot in owned {
            self.give_register(slot, DType::I64);
        }
    }

    /// Reads an element. A read that is the same for all lanes is made once, by
    /// whichever lanes take part. `is_counted` where it is none that the statement has
    /// made already.
    pub(super) fn load(
        &mut self,
        access: &program::Access,
        dtype: DType,
        hint: Option<Slot>,
        is_counted: bool,
    ) -> Result<Value, CpuError> {
        let array = self.array_of(access.target)?;
        if self.unit.arrays[array].dtype != dtype {
            let name = self.unit.arrays[array].name.clone();
            return Err(self.malformed(format!("a load of `{name}` as {dtype}")));
        }
        let pad = match access.pad.filter(|_| access.is_guarded()) {
            Some(pad) => Some(self.eval_pad(pad, dtype)?),
            None => None,
        };
        let prepared = self.prepare_access(
            access.target,
            &access.indices,
            &access.guards,
            access.slot,
            false,
        )?;
        let access = prepared.access;
        if prepared.uniform && pad.as_ref().is_none_or(Value::is_uniform) {
            self.touch(Doing::Read, access, (Width::One, is_counted));
            let pad = pad.map(|pad| self.uniform(&pad)).transpose()?;
            let dst = match hint {
                Some(Slot::Uniform(register)) => register,
                Some(Slot::Vector(_) | Slot::Fragment { .. } | Slot::Found(_)) | None => {
                    self.unit.fresh_uniform()
                }
            };
            let pad = pad.map_or(Pad::Zero, Pad::Value);
            self.push(Instr::Load { width: Width::One, dst: Slot::Uniform(dst), access, pad });
            return Ok(Value::Uniform(dst));
        }
        let (dst, owned, pad) = match pad {
            Some(pad) if !pad.is_uniform() => {
                let dst = self.take_register(dtype);
                self.move_to(pad, dtype, dst)?;
                (dst, true, Pad::Keep)
            }
            pad => {
                let pad = pad.map(|pad| self.uniform(&pad)).transpose()?;
                let (dst, owned) = self.result_slot(dtype, hint);
                (dst, owned, pad.map_or(Pad::Zero, Pad::Value))
            }
        };
        self.touch(Doing::Read, access, (Width::Chunk, is_counted));
        self.push(Instr::Load { width: Width::Chunk, dst, access, pad });
        self.give_all(prepared.owned);
        Ok(Value::Lanes { slot: dst, owned })
    }

    /// Writes a value of `dtype` to an element, and ends the value's use.
    pub(super) fn store(
        &mut self,
        access: &program::Access,
        value: Value,
        dtype: DType,
    ) -> Result<(), CpuError> {
        let prepared = self.prepare_write(access, dtype)?;
        let (src, is_owned) = self.lanes(value, dtype)?;
        self.touch(Doing::Write, prepared.access, (Width::Chunk, true));
        if is_owned && !self.is_watched() {
            self.store_result(src, prepared.access);
            self.give_register(src, dtype);
        } else {
            self.push(Instr::Store { src, access: prepared.access });
            if is_owned {
                self.give_register(src, dtype);
            }
        }
        self.give_all(prepared.owned);
        Ok(())
    }

    /// Updates an element with values of `dtype`, and ends their use; declares
    /// `old` with the value before.
    pub(super) fn update_atomically(
        &mut self,
        access: &program::Access,
        op: AtomicOp,
        (expected, value): (Option<Value>, Value),
        old: Option<VarId>,
        dtype: DType,
    ) -> Result<(), CpuError> {
        let f = vector::atomic(op, dtype);
        let f = f.ok_or_else(|| self.malformed(format!("{op} of {dtype}")))?;
        if expected.is_some() != op.has_expected() {
            return Err(self.malformed(format!("{op} with another number of operands")));
        }
        let old = old.map(|old| self.declare_varying(old)).transpose()?;
        if let (Some(old), Some(pad)) = (old, access.pad.filter(|_| access.is_guarded())) {
            let pad = self.eval_pad(pad, dtype)?;
            self.move_to(pad, dtype, old)?;
        }
        let prepared = self.prepare_write(access, dtype)?;
        let (src, is_owned) = self.lanes(value, dtype)?;
        let expected = expected.map(|expected| self.lanes(expected, dtype)).transpose()?;
        self.touch(Doing::Update, prepared.access, (Width::Chunk, true));
        self.push(Instr::Atomic {
            src,
            expected: expected.map(|(slot, _)| slot),
            old,
            access: prepared.access,
            f,
        });
        let owned = [(src, is_owned)].into_iter().chain(expected);
        for (slot, _) in owned.filter(|(_, is_owned)| *is_owned) {
            self.give_register(slot, dtype);
        }
        self.give_all(prepared.owned);
        Ok(())
    }

    /// Makes code for the place of an element that a value of `dtype` goes to.
    fn prepare_write(
        &mut self,
        access: &program::Access,
        dtype: DType,
    ) -> Result<Prepared, CpuError> {
        let array = self.array_of(access.target)?;
        let described = &self.unit.arrays[array];
        let name = described.name.clone();
        if described.dtype != dtype {
            return Err(self.malformed(format!("a store of {dtype} to `{name}`")));
        }
        if matches!(described.place, ArrayPlace::Buffer { written: false, .. }) {
            return Err(self.malformed(format!("a store to `{name}`, declared as never written")));
        }
        self.prepare_access(access.target, &access.indices, &access.guards, access.slot, true)
    }

    /// Whether an element is inside a buffer's shape.
    pub(super) fn in_bounds(
        &mut self,
        buffer: BufferId,
        indices: &[ExprId],
        hint: Option<Slot>,
    ) -> Result<Value, CpuError> {
        let guards = vec![AxisGuard::BOTH; indices.len()];
        let target = Target::Buffer(buffer);
        let prepared = self.prepare_access(target, indices, &guards, None, false)?;
        let access = prepared.access;
        if prepared.uniform {
            let dst = self.unit.fresh_uniform();
            self.push(Instr::InBounds { width: Width::One, dst: Slot::Uniform(dst), access });
            return Ok(Value::Uniform(dst));
        }
        let (dst, owned) = self.result_slot(DType::Bool, hint);
        self.push(Instr::InBounds { width: Width::Chunk, dst, access });
        self.give_all(prepared.owned);
        Ok(Value::Lanes { slot: dst, owned })
    }
}

/// The element whose indices are the items' coordinates along these axes.
fn coordinates(axes: &[usize]) -> Vec<AccessAxis> {
    let index = |&axis: &usize| Index::Affine(Affine::coordinate(axis));
    axes.iter().map(|axis| AccessAxis { index: index(axis), guard: AxisGuard::NONE }).collect()
}
