//! What all lists of a kernel share: uniform registers, arrays, fragments.

use std::collections::{HashMap, HashSet};

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::program::{
    Assumption, Domain, Fragment, FragmentId, ProgramKernel, SharedMemory, Tile, TileLayout,
    TileSpace,
};
use tile_ir::span::SpanId;

use super::emitter::{lane_bytes, lane_type};
use super::facts::ExprFacts;
use crate::cpu::CpuError;
use crate::cpu::code::{
    Access, Array, ArrayPlace, LaneProgram, MAX_AXES, Place, Slot, TileKind, Uniform,
};
use crate::cpu::watch::{Agents, Meeting, Mode, Operation, Site};

/// Tables that grow while a kernel is compiled.
pub(super) struct Unit {
    /// How the kernel is to be run.
    pub(super) mode: Mode,
    /// The uniform registers at first.
    pub(super) uniforms: Vec<u64>,
    /// The register of each launch argument, by id.
    pub(super) args: Vec<Uniform>,
    /// Registers that statements assign more than once.
    pub(super) variables: HashSet<Uniform>,
    /// Buffers, then tiles.
    pub(super) arrays: Vec<Array>,
    /// How many of them are buffers.
    pub(super) n_buffers: usize,
    /// Accesses so far.
    pub(super) accesses: Vec<Access>,
    /// Assumptions so far.
    pub(super) assumptions: Vec<(Assumption, SpanId)>,
    /// Touched elements so far, in checked mode.
    pub(super) sites: Vec<Site>,
    /// Operations that are looked at so far.
    pub(super) operations: Vec<Operation>,
    /// Counted conditions so far.
    pub(super) branches: Vec<SpanId>,
    /// Counted operations so far.
    pub(super) counted_ops: Vec<(DType, u64)>,
    /// Where work-items meet so far.
    pub(super) meetings: Vec<Meeting>,
    /// Of fragments that were asked for: flags of which items have set them.
    pub(super) set_flags: HashMap<FragmentId, Slot>,
    /// Who runs the bodies of `Items` so far.
    pub(super) agents: Vec<Agents>,
    /// How many agents they are.
    pub(super) n_agents: u32,
    /// Bodies of `Items` so far.
    pub(super) programs: Vec<LaneProgram>,
    /// The access of each place where lanes are found.
    pub(super) places: Vec<usize>,
    /// Size of the vector registers so far.
    pub(super) vector_bytes: usize,
    /// Size of the fragments.
    pub(super) fragment_bytes: usize,
    /// Size of the tiles.
    pub(super) tile_bytes: usize,
    /// Facts about the kernel's expressions.
    pub(super) facts: ExprFacts,
    fragments: Vec<Kept>,
    constants: HashMap<u64, Uniform>,
    constant_registers: HashSet<Uniform>,
}

/// Where the values of a fragment are.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    /// One after the other, in the order of the items.
    InOrder(Slot),
    /// In an array with the domain's axes: items of another domain read it too.
    InArray(usize),
}

/// Distance between separately placed arrays, so that rows of none share a
/// cache line.
const ALIGN_BYTES: usize = 64;

impl Unit {
    /// The tables of a kernel: arguments, fragments; no arrays yet.
    pub(super) fn new(kernel: &ProgramKernel, mode: Mode) -> Result<Self, CpuError> {
        let mut unit = Self {
            mode,
            uniforms: Vec::new(),
            args: Vec::new(),
            variables: HashSet::new(),
            arrays: Vec::new(),
            n_buffers: 0,
            accesses: Vec::new(),
            assumptions: Vec::new(),
            sites: Vec::new(),
            operations: Vec::new(),
            branches: Vec::new(),
            counted_ops: Vec::new(),
            meetings: Vec::new(),
            set_flags: HashMap::new(),
            agents: Vec::new(),
            n_agents: 1,
            programs: Vec::new(),
            places: Vec::new(),
            vector_bytes: 0,
            fragment_bytes: 0,
            tile_bytes: 0,
            facts: ExprFacts::new(kernel, mode.watch.is_some()),
            fragments: Vec::new(),
            constants: HashMap::new(),
            constant_registers: HashSet::new(),
        };
        unit.args = kernel.args.values().map(|_| unit.fresh_uniform()).collect();
        unit.place_fragments(kernel)?;
        Ok(unit)
    }

    /// A place for the elements of an access.
    pub(super) fn fresh_place(&mut self, access: usize) -> Place {
        self.places.push(access);
        self.places.len() - 1
    }

    /// A register of its own.
    pub(super) fn fresh_uniform(&mut self) -> Uniform {
        let uniform = u32::try_from(self.uniforms.len()).unwrap_or(u32::MAX);
        self.uniforms.push(0);
        uniform
    }

    /// The register that holds `bits`.
    pub(super) fn constant(&mut self, bits: u64) -> Uniform {
        if let Some(&uniform) = self.constants.get(&bits) {
            return uniform;
        }
        let uniform = self.fresh_uniform();
        self.uniforms[uniform as usize] = bits;
        self.constants.insert(bits, uniform);
        self.constant_registers.insert(uniform);
        uniform
    }

    /// Whether a register holds a constant.
    pub(super) fn is_constant(&self, uniform: Uniform) -> bool {
        self.constant_registers.contains(&uniform)
    }

    /// Where a fragment lies.
    pub(super) fn fragment(&self, id: FragmentId) -> Option<Kept> {
        self.fragments.get(id.index()).copied()
    }

    /// Places the fragments; those of projections are arrays after the tiles.
    fn place_fragments(&mut self, kernel: &ProgramKernel) -> Result<(), CpuError> {
        let mut n_arrays = kernel.buffers.len() + kernel.tiles.len();
        for (id, fragment) in kernel.fragments.iter() {
            if is_projected(kernel, fragment) {
                self.fragments.push(Kept::InArray(n_arrays));
                n_arrays += 1;
                continue;
            }
            let bytes = lane_bytes(lane_type(fragment.ty));
            let size = kernel.domains.get(fragment.domain).and_then(|domain| {
                let items = usize::try_from(domain.n_items()).ok()?;
                items.checked_mul(bytes)?.checked_next_multiple_of(ALIGN_BYTES)
            });
            let end = size.and_then(|size| self.fragment_bytes.checked_add(size));
            let (Some(end), true) = (end, end.is_some_and(|end| isize::try_from(end).is_ok()))
            else {
                return Err(malformed(kernel, format!("fragment {id} does not fit in memory")));
            };
            let slot = Slot::Fragment { offset_bytes: self.fragment_bytes, lane_bytes: bytes };
            self.fragments.push(Kept::InOrder(slot));
            self.fragment_bytes = end;
        }
        Ok(())
    }

    /// Flags of which items have set a fragment; nothing where that is not asked, or the
    /// fragment is none of single items.
    pub(super) fn set_flags_of(&mut self, id: FragmentId, kernel: &ProgramKernel) -> Option<Slot> {
        if !self.mode.watch.is_some_and(|watch| watch.unset) {
            return None;
        }
        if let Some(&slot) = self.set_flags.get(&id) {
            return Some(slot);
        }
        let domain = kernel.domains.get(kernel.fragments.get(id)?.domain)?;
        let n_items = usize::try_from(domain.n_items()).ok()?;
        let slot = Slot::Fragment { offset_bytes: self.fragment_bytes, lane_bytes: 1 };
        self.fragment_bytes += n_items.next_multiple_of(ALIGN_BYTES);
        self.set_flags.insert(id, slot);
        Some(slot)
    }

    /// Places the tiles: where the program says, or one after the other.
    pub(super) fn place_tiles(&mut self, kernel: &ProgramKernel) -> Result<(), CpuError> {
        let mut end_bytes = 0usize;
        // Behind all that the program places: the arrays of items.
        let mut locals_end_bytes = match kernel.shared_memory {
            SharedMemory::Static => kernel.tiles.values().try_fold(0usize, |end, tile| {
                let size_bytes = usize::try_from(tile.size_bytes()).ok()?;
                end.checked_add(size_bytes)?.checked_next_multiple_of(ALIGN_BYTES)
            }),
            SharedMemory::Dynamic { bytes } => Some(bytes as usize),
        };
        for tile in kernel.tiles.values() {
            check_tile(tile)
                .map_err(|rule| malformed(kernel, format!("tile `{}`: {rule}", tile.name)))?;
            let size_bytes = usize::try_from(tile.size_bytes()).unwrap_or(usize::MAX);
            if let TileSpace::Local(domain) = tile.space {
                let n_items = kernel.domains.get(domain).map_or(0, Domain::n_items);
                let place = locals_end_bytes.and_then(|end| {
                    let begin = end.checked_next_multiple_of(ALIGN_BYTES)?;
                    let size = size_bytes.checked_mul(usize::try_from(n_items).ok()?)?;
                    Some((begin, begin.checked_add(size)?))
                });
                let fits = place.filter(|(_, end)| isize::try_from(*end).is_ok());
                let Some((offset_bytes, end)) = fits else {
                    let rule = format!("the arrays `{}` do not fit in memory", tile.name);
                    return Err(malformed(kernel, rule));
                };
                locals_end_bytes = Some(end);
                self.arrays.push(local_array(tile, offset_bytes, n_items));
                continue;
            }
            let offset_bytes = match kernel.shared_memory {
                SharedMemory::Static => end_bytes.next_multiple_of(ALIGN_BYTES),
                SharedMemory::Dynamic { .. } => tile.offset_bytes as usize,
            };
            let tile_end = offset_bytes.checked_add(size_bytes);
            let limit_bytes = match kernel.shared_memory {
                SharedMemory::Static => isize::MAX as usize,
                SharedMemory::Dynamic { bytes } => bytes as usize,
            };
            let inside = tile_end.filter(|&end| end <= limit_bytes);
            let aligned = offset_bytes.is_multiple_of(tile.dtype.size_bytes() as usize);
            let (Some(tile_end), true) = (inside, aligned) else {
                let rule = format!("tile `{}` is placed outside shared memory", tile.name);
                return Err(malformed(kernel, rule));
            };
            end_bytes = end_bytes.max(tile_end);
            self.arrays.push(Array {
                name: tile.name.clone(),
                dtype: tile.dtype,
                place: ArrayPlace::Tile {
                    offset_bytes,
                    extents: with_buffers(&tile.extents, tile.buffers),
                    strides: with_buffers(&tile.layout.strides, tile.layout.size_elems),
                    swizzle: tile.layout.swizzle,
                    kind: TileKind::Shared,
                },
            });
        }
        let has_locals = kernel.tiles.values().any(|tile| tile.space != TileSpace::Shared);
        let locals_end_bytes = locals_end_bytes.filter(|_| has_locals);
        self.tile_bytes = end_bytes.max(locals_end_bytes.unwrap_or(0));
        Ok(())
    }

    /// Places the arrays of the projections' fragments after the tiles.
    pub(super) fn place_kept_arrays(&mut self, kernel: &ProgramKernel) -> Result<(), CpuError> {
        for fragment in kernel.fragments.values() {
            if !is_projected(kernel, fragment) {
                continue;
            }
            let dtype = lane_type(fragment.ty);
            let extents = kernel.domains[fragment.domain].extents();
            let layout = TileLayout::row_major(&extents);
            let offset_bytes = self.tile_bytes.next_multiple_of(ALIGN_BYTES);
            let size_bytes = (layout.size_elems as usize).checked_mul(lane_bytes(dtype));
            let end = size_bytes.and_then(|size| offset_bytes.checked_add(size));
            self.tile_bytes = end.ok_or_else(|| {
                malformed(kernel, format!("fragment `{}` does not fit in memory", fragment.name))
            })?;
            self.arrays.push(Array {
                name: fragment.name.clone(),
                dtype,
                place: ArrayPlace::Tile {
                    offset_bytes,
                    extents: with_buffers(&extents, 1),
                    strides: with_buffers(&layout.strides, layout.size_elems),
                    swizzle: None,
                    kind: TileKind::Kept,
                },
            });
        }
        Ok(())
    }
}

/// A tile's extents or strides, and those of the axis of its buffers.
fn with_buffers(values: &[u32], last: u32) -> Vec<i64> {
    values.iter().chain([&last]).map(|&value| i64::from(value)).collect()
}

/// Whether a fragment is one of a projection's items.
fn is_projected(kernel: &ProgramKernel, fragment: &Fragment) -> bool {
    kernel.domains.get(fragment.domain).is_some_and(|domain| domain.projection.is_some())
}

/// The arrays of a domain's items: one with a buffer for each item.
fn local_array(tile: &Tile, offset_bytes: usize, n_items: u64) -> Array {
    let with_items = |values: &[u32], last: i64| {
        values.iter().map(|&value| i64::from(value)).chain([last]).collect()
    };
    Array {
        name: tile.name.clone(),
        dtype: tile.dtype,
        place: ArrayPlace::Tile {
            offset_bytes,
            extents: with_items(&tile.extents, i64::try_from(n_items).unwrap_or(i64::MAX)),
            strides: with_items(&tile.layout.strides, i64::from(tile.layout.size_elems)),
            swizzle: None,
            kind: TileKind::Local,
        },
    }
}

/// Checks that no element of a tile lies outside it.
fn check_tile(tile: &Tile) -> Result<(), String> {
    let layout = &tile.layout;
    if layout.strides.len() != tile.extents.len() {
        return Err("it has as many strides as axes".into());
    }
    if tile.extents.len() + 1 > MAX_AXES {
        return Err(format!("it has at most {} axes", MAX_AXES - 1));
    }
    if tile.extents.contains(&0) {
        return Ok(());
    }
    let axes = layout.strides.iter().zip(&tile.extents);
    let last: u64 = axes.map(|(&stride, &extent)| u64::from(stride) * u64::from(extent - 1)).sum();
    let reach = match layout.swizzle {
        None => last,
        Some(swizzle) => {
            if swizzle.bits > 31 || swizzle.shift > 31 || swizzle.source > 31 {
                return Err("its swizzle reads and changes bits of the offset".into());
            }
            // The bits that are changed are set at worst.
            last | (((1u64 << swizzle.bits) - 1) << swizzle.shift)
        }
    };
    if reach >= u64::from(layout.size_elems) {
        let size = layout.size_elems;
        return Err(format!("its elements reach offset {reach}, its size is {size}"));
    }
    Ok(())
}

/// A broken rule of a kernel.
pub(super) fn malformed(kernel: &ProgramKernel, rule: impl Into<String>) -> CpuError {
    CpuError::Malformed { kernel: kernel.name.clone(), rule: rule.into() }
}
