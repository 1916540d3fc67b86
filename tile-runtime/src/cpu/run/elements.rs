//! Operations of a frame on the elements of arrays.

use super::access::{Outside, contiguous, is_by_rows, visit_rows};
use super::chunk::Chunk;
use super::frame::Frame;
use super::transfer::{gather, load_row, scatter, store_row};
use crate::cpu::code::{Access, Index, Pad, Slot, Width};
use crate::cpu::vector::{AtomicFn, Flag};

impl Frame<'_> {
    /// Where the chunk's elements begin, if they lie one after the other.
    #[inline]
    pub(super) fn run_of_elements(&self, access: usize) -> Option<*mut u8> {
        let access = &self.kernel.accesses[access];
        let view = &self.arrays[access.array];
        let offset = contiguous(access, view, &self.uniforms, &self.chunk)?;
        // Of the first of these elements; all are inside the array.
        Some(view.ptr.cast::<u8>().wrapping_offset(offset as isize * access.elem_bytes as isize))
    }

    /// Reads the elements of an access into lanes.
    #[inline]
    pub(super) fn load(
        &mut self,
        width: Width,
        dst: Slot,
        access: usize,
        pad: Pad,
    ) -> Result<(), Outside> {
        match self.kernel.accesses[access].elem_bytes {
            1 => self.load_as::<u8>(width, dst, access, pad),
            2 => self.load_as::<u16>(width, dst, access, pad),
            4 => self.load_as::<u32>(width, dst, access, pad),
            _ => self.load_as::<u64>(width, dst, access, pad),
        }
    }

    fn load_as<E: Copy + Default>(
        &mut self,
        width: Width,
        dst: Slot,
        access: usize,
        pad: Pad,
    ) -> Result<(), Outside> {
        let kernel = self.kernel;
        let access = &kernel.accesses[access];
        let pad = match pad {
            Pad::Zero => Some(E::default()),
            Pad::Keep => None,
            Pad::Value(register) => {
                let ptr = self.ptr(Slot::Uniform(register)).cast::<E>();
                // SAFETY: the register is eight aligned bytes whose first hold
                // an element; every bit pattern is an `E`.
                Some(unsafe { ptr.read() })
            }
        };
        let dst = self.ptr(dst).cast::<E>();
        let array = self.arrays[access.array].ptr.cast::<E>();
        if is_by_rows(access, &self.arrays[access.array]) {
            let one = Chunk::ONE;
            let chunk = if width == Width::One { &one } else { &self.chunk };
            let view = &self.arrays[access.array];
            return visit_rows(access, view, &self.uniforms, chunk, |row| {
                // SAFETY: the array's memory is valid for reads and aligned;
                // the row's lanes inside are its elements; the register holds
                // the chunk's lanes; no register lies in an array.
                unsafe { load_row(&row, array, dst.add(row.first_lane), pad) };
            });
        }
        let n = self.resolve_lanes(width, access)?;
        // SAFETY: as above, by lanes.
        unsafe { gather(&self.addresses, n, array, dst, pad) };
        Ok(())
    }

    /// Writes lanes to the elements of an access.
    #[inline]
    pub(super) fn store(&mut self, src: Slot, access: usize) -> Result<(), Outside> {
        match self.kernel.accesses[access].elem_bytes {
            1 => self.store_as::<u8>(src, access),
            2 => self.store_as::<u16>(src, access),
            4 => self.store_as::<u32>(src, access),
            _ => self.store_as::<u64>(src, access),
        }
    }

    fn store_as<E: Copy>(&mut self, src: Slot, access: usize) -> Result<(), Outside> {
        let kernel = self.kernel;
        let access = &kernel.accesses[access];
        let src = self.ptr(src).cast::<E>();
        let array = self.arrays[access.array].ptr.cast::<E>();
        if is_by_rows(access, &self.arrays[access.array]) {
            let view = &self.arrays[access.array];
            return visit_rows(access, view, &self.uniforms, &self.chunk, |row| {
                // SAFETY: only arrays valid for writes are stored to; the row's
                // lanes inside are its elements; the register holds the chunk's
                // lanes; no register lies in an array. Other blocks write other
                // elements: the kernel's race check showed it.
                unsafe { store_row(&row, array, src.add(row.first_lane)) };
            });
        }
        let n = self.resolve_lanes(Width::Chunk, access)?;
        // SAFETY: as above, by lanes.
        unsafe { scatter(&self.addresses, n, array, src) };
        Ok(())
    }

    /// Updates the elements of an access one after the other, each as one step.
    #[inline]
    pub(super) fn atomic(
        &mut self,
        (expected, src): (Option<Slot>, Slot),
        old: Option<Slot>,
        access: usize,
        f: AtomicFn,
    ) -> Result<(), Outside> {
        let kernel = self.kernel;
        let access = &kernel.accesses[access];
        let src = self.ptr(src).cast_const();
        // Of an operation without one it is not read.
        let expected = expected.map_or(src, |expected| self.ptr(expected).cast_const());
        let old = old.map(|old| self.ptr(old));
        let mut unused = 0u64;
        let array = self.arrays[access.array].ptr;
        let n = self.resolve_lanes(Width::Chunk, access)?;
        let size = access.elem_bytes;
        let lanes = self.addresses.offsets[..n].iter().zip(&self.addresses.inside[..n]);
        for (lane, (&offset, &inside)) in lanes.enumerate() {
            if inside {
                let unused: *mut u8 = (&raw mut unused).cast();
                // SAFETY: the lane is inside, so its offset names an element of
                // the array, which is valid for writes and aligned; the registers
                // hold `n` lanes of its type, and a word holds one. Whoever else
                // uses the element meanwhile does so atomically: the kernel's race
                // check showed it.
                unsafe {
                    let at = array.offset(offset as isize * size as isize);
                    let old = old.map_or(unused, |old| old.add(lane * size));
                    f(at, src.add(lane * size), expected.add(lane * size), old);
                }
            }
        }
        Ok(())
    }

    /// Tells of each lane whether its element is inside.
    #[inline]
    pub(super) fn in_bounds(
        &mut self,
        width: Width,
        dst: Slot,
        access: usize,
    ) -> Result<(), Outside> {
        let kernel = self.kernel;
        let access = &kernel.accesses[access];
        let n = self.resolve_lanes(width, access)?;
        let dst = self.ptr(dst).cast::<Flag>();
        for (lane, &inside) in self.addresses.inside[..n].iter().enumerate() {
            // SAFETY: the register holds `n` flags.
            unsafe { dst.add(lane).write(inside.into()) };
        }
        Ok(())
    }

    /// Computes the addresses of an access lane by lane; how many lanes.
    pub(super) fn resolve_lanes(
        &mut self,
        width: Width,
        access: &Access,
    ) -> Result<usize, Outside> {
        let one = Chunk::ONE;
        let mask = access.mask.map(|mask| self.ptr(mask).cast_const().cast::<Flag>());
        let mut slots = access.axes.iter().filter_map(|axis| match axis.index {
            Index::Lanes(slot) => Some(slot),
            Index::Affine(_) => None,
        });
        let mut pointers = [(Slot::Uniform(0), std::ptr::null::<i64>()); 8];
        for (pointer, slot) in pointers.iter_mut().zip(&mut slots) {
            *pointer = (slot, self.ptr(slot).cast_const().cast());
        }
        let chunk = if width == Width::One { &one } else { &self.chunk };
        let n = chunk.n_lanes();
        // SAFETY: the mask's register holds `n` flags.
        let flag = |lane: usize| mask.is_none_or(|mask| unsafe { mask.add(lane).read() }.is_set());
        let read_lanes = |slot: Slot, lanes: &mut [i64]| {
            let source = pointers.iter().find(|(known, ptr)| *known == slot && !ptr.is_null());
            if let Some((_, source)) = source {
                // SAFETY: the register holds `n` index lanes; the addresses'
                // own memory is another.
                unsafe { std::ptr::copy_nonoverlapping(*source, lanes.as_mut_ptr(), lanes.len()) };
            }
        };
        let view = &self.arrays[access.array];
        self.addresses.resolve(access, view, &self.uniforms, chunk, flag, read_lanes)?;
        Ok(n)
    }
}
