//! What one access of a block moves.

use super::count::{Domain, Points, Times, Walk};
use super::least::TileAccess;
use super::sizes::Sizes;
use super::walked::Course;
use super::{LINE_BYTES, SECTOR_BYTES};
use crate::exchange::WARP_ITEMS;
use crate::kernel::{Access, ArrayRef, VarId};
use crate::program::MAX_ACCESS_BYTES;
use crate::syntax::TensorSpace;

/// Bytes of a short run of neighbouring elements that are as good as lost: short
/// runs open more rows of the memory. A transpose of 8192 x 8192 f32 on an H200
/// reaches 3.3 TB/s where one side of its tiles is 32 bytes long, 3.75 with 128
/// bytes, 4.0 with 256, and no more beyond.
const RUN_OVERHEAD_BYTES: f64 = 16.0;
/// Sectors that cost as much as the two that a run of writes covers in part: memory has
/// to give what they held. Measured: transposes of 8191 x 8193 f32 whose runs of writes
/// are 256 bytes long take 1.1 times as long as those with 512.
const PARTIAL_SECTORS: f64 = 4.0;
/// From this length on a run loses nothing.
const LONG_RUN_BYTES: f64 = 256.0;
/// Bytes of a thread's access to shared memory that take one wavefront of its
/// warp, where lanes share some of them.
pub(super) const WAVEFRONT_BYTES: f64 = 8.0;
/// Instructions of an access to shared memory, most of whose addresses are constants.
pub(super) const SHARED_OPS: f64 = 2.0;
/// Instructions of an access to global memory: address, comparisons, itself.
const GLOBAL_OPS: f64 = 8.0;
/// The same of an asynchronous copy of single elements across a tile's rows, which are as
/// many instructions as elements, each with two addresses. Measured: an f32 product of
/// 4096 whose operands both are stored so takes 3.5 ms, one with one of them 2.8.
const NARROW_OPS: f64 = 12.0;
/// Cycles of an SM for a line that a request writes beyond those that as many bytes
/// in a row would. Measured: a seven-point stencil whose warps write 16 rows of 32
/// bytes takes 3.5 times as long as one whose warps write 512 bytes.
const WRITE_LINE_CYCLES: f64 = 7.0;
/// The same of one that is read: its tag is looked up. Measured: a product of a matrix
/// and a vector whose lanes read rows looks up 335 million in 1.62 ms.
const READ_LINE_CYCLES: f64 = 1.2;
/// The distance of elements, in elements, up to which those in between are worth more
/// than those of another place: channels of a pixel.
const MAX_DISTANCE: f64 = 8.0;
/// Requests of a thread that are under way at once: compilers and registers allow no
/// more.
const MAX_REQUESTS: f64 = 8.0;

/// How the elements of an access lie among a block's threads.
struct Spread {
    /// Elements of one thread.
    per_thread: f64,
    /// Elements of one instruction of a thread.
    width: f64,
    /// Iterations of a loop whose elements one instruction brings.
    walked: f64,
    /// Lines that one instruction of a warp touches beyond what as many bytes in a
    /// row would.
    scattered_lines: f64,
    /// Lanes of a warp that meet in a bank of shared memory.
    conflicts: f64,
}

impl Spread {
    /// Instructions of a thread for one access to each of its elements.
    fn requests_of_thread(&self) -> f64 {
        (self.per_thread / self.width).ceil()
    }
}

impl Walk<'_, '_> {
    pub(super) fn read(&mut self, access: &Access, domain: Domain<'_>, times: Times) {
        self.access(access, domain, times, false);
    }

    pub(super) fn write(&mut self, access: &Access, domain: Domain<'_>, times: Times) {
        self.access(access, domain, times, true);
    }

    fn access(&mut self, access: &Access, domain: Domain<'_>, times: Times, is_write: bool) {
        let sizes = self.sizes;
        let spread = match domain {
            Domain::Block => of_items(sizes, access),
            Domain::Each(points) => of_points(sizes, access, points, self.is_async(times)),
        };
        let fresh = match is_write {
            true => [1.0; 2],
            false => self.fresh_part(access, domain),
        };
        let is_constant = |id| sizes.kernel.tensors[id].space == TensorSpace::Constant;
        match access.array {
            // In registers, or in the first-level cache.
            ArrayRef::Tile(_) if sizes.kernel.is_local(access.array) => {}
            ArrayRef::Tensor(id) if is_constant(id) => {}
            ArrayRef::Tile(_) => self.tile(access, domain, times, &spread, fresh),
            ArrayRef::Tensor(_) => self.tensor(access, domain, times, &spread, fresh, is_write),
        }
    }

    /// Whether what a statement copies goes past the registers.
    fn is_async(&self, times: Times) -> bool {
        times.is_staged && self.sizes.config.async_bytes > 0
    }

    fn tile(
        &mut self,
        access: &Access,
        domain: Domain<'_>,
        times: Times,
        spread: &Spread,
        [fresh, least_fresh]: [f64; 2],
    ) {
        let sizes = self.sizes;
        let bytes = sizes.elem_bytes(access.array);
        let of_thread = fresh * spread.requests_of_thread();
        let requests = of_thread * f64::from(sizes.config.threads) * times.trips;
        self.cost.memory_instructions += SHARED_OPS * requests;
        self.cost.code += of_thread * times.copies;
        let wavefronts = (spread.width * bytes / WAVEFRONT_BYTES).max(1.0) * spread.conflicts;
        self.cost.shared_requests += requests * wavefronts;
        self.note_access(access, domain, least_fresh * times.trips * bytes);
        if matches!(domain, Domain::Each(..)) {
            return;
        }
        let is_shared = spread.per_thread < sizes.items_per_thread();
        if is_shared {
            // Those of the next step are loaded while these are used.
            let ahead = if times.copies > 1.0 { 2.0 } else { 1.0 };
            self.cost.operand_words += ahead * spread.per_thread * (bytes / 4.0).max(1.0);
        }
        let is_ahead = times.copies > 1.0 && sizes.config.fragment_buffers > 1;
        if !is_ahead {
            // Operands of several items fill the registers as they are.
            let at_once = if is_shared { 1.0 } else { times.at_once };
            self.cost.shared_rounds += times.trips / at_once;
        }
    }

    fn tensor(
        &mut self,
        access: &Access,
        domain: Domain<'_>,
        times: Times,
        spread: &Spread,
        fresh: [f64; 2],
        is_write: bool,
    ) {
        let (sizes, is_async) = (self.sizes, self.is_async(times));
        let (bytes, [new, _]) = (sizes.elem_bytes(access.array), fresh);
        let of_thread = new * spread.requests_of_thread();
        let threads = f64::from(sizes.config.threads);
        let requests = of_thread * threads * times.trips / spread.walked;
        if new < 1.0 {
            let words = (bytes / 4.0).max(1.0);
            self.cost.kept_words += new * spread.per_thread * times.copies * words;
        }
        let is_across = matches!(domain, Domain::Each(points) if points.is_across);
        let ops = if is_async && is_across { NARROW_OPS } else { GLOBAL_OPS };
        self.cost.memory_instructions += ops * requests;
        self.cost.code += ops * of_thread * times.copies;
        let of_line = if is_write { WRITE_LINE_CYCLES } else { READ_LINE_CYCLES };
        self.cost.scattered_cycles +=
            of_line * spread.scattered_lines * requests / f64::from(WARP_ITEMS);
        if times.is_staged && matches!(domain, Domain::Each(..)) {
            let words = (spread.per_thread * bytes / 4.0).ceil();
            self.cost.copy_words += if is_async { of_thread } else { words };
        }
        // Asynchronous copies take no registers.
        let most = if is_async { f64::INFINITY } else { MAX_REQUESTS };
        let at_once = (of_thread * times.at_once).min(most) * spread.width;
        let busy = match domain {
            Domain::Block => sizes.busy_threads() / threads,
            Domain::Each(..) => 1.0,
        };
        self.cost.bytes_in_flight +=
            busy * at_once.min(new * spread.per_thread * times.at_once) * bytes;
        let traffic = traffic(sizes, access, self.axes(domain), is_write, times.trips);
        if let (Domain::Block, false) = (domain, is_write) {
            self.note_walk(access, spread.walked * bytes, traffic);
        }
        let moved = self.memory_bytes(access, domain, is_write, traffic, fresh);
        self.cost.global_bytes += moved;
        if times.is_staged {
            self.cost.staged_bytes += moved;
        }
    }

    /// Notes an access to a tile that each point makes with so many bytes.
    fn note_access(&mut self, access: &Access, domain: Domain<'_>, bytes: f64) {
        if self.cost.tile_accesses.is_none() {
            return;
        }
        let bytes = bytes * self.points(domain);
        let is_shared = match domain {
            Domain::Block => {
                let axes = self.sizes.block.iter();
                axes.map(|(var, _)| !touched(self.sizes, access, *var)).collect()
            }
            Domain::Each(..) => Vec::new(),
        };
        let access = TileAccess { bytes, is_shared };
        self.cost.tile_accesses.get_or_insert_default().push(access);
    }

    pub(super) fn axes<'s>(&'s self, domain: Domain<'s>) -> &'s [(VarId, f64)] {
        match domain {
            Domain::Block => &self.sizes.block,
            Domain::Each(points) => points.axes,
        }
    }
}

fn touched(sizes: &Sizes<'_>, access: &Access, var: VarId) -> bool {
    access.indices.iter().any(|&index| sizes.depends(index, var))
}

/// An access by the items of the block domain: each axis as the configuration puts
/// it on threads.
fn of_items(sizes: &Sizes<'_>, access: &Access) -> Spread {
    let per_thread = sizes.items_along(|var| touched(sizes, access, var));
    let bytes = sizes.elem_bytes(access.array);
    let axes = || sizes.block.iter().zip(&sizes.config.block).zip(sizes.lanes.iter().copied());
    if matches!(access.array, ArrayRef::Tile(_)) {
        // It is stored along whichever axis suits.
        let (mut run, mut conflicts) = (1.0, 1.0);
        for ((&(var, _), items), lanes) in axes() {
            if !touched(sizes, access, var) {
                continue;
            }
            match sizes.has_vectors(access, var) {
                true => run = f64::from(items.run).max(run),
                false => conflicts = f64::from(items.run.min(lanes)).max(conflicts),
            }
        }
        let width = run.min(f64::from(MAX_ACCESS_BYTES) / bytes).max(1.0);
        return Spread { per_thread, width, walked: 1.0, scattered_lines: 0.0, conflicts };
    }
    let (mut width, mut row_bytes, mut rows) = (1.0, bytes, 1.0);
    for (((var, _), items), lanes) in axes() {
        if let Some(distance) = distance(sizes, access, *var) {
            let run = f64::from(items.run);
            if distance == 1.0
                && sizes.rows_are_aligned(access.array, bytes)
                && sizes.begin_a_vector(access, *var, run)
            {
                width = run.min(f64::from(MAX_ACCESS_BYTES) / bytes).max(1.0);
            }
            row_bytes = f64::from(lanes) * run * distance * bytes;
        } else if touched(sizes, access, *var) {
            rows *= f64::from(lanes);
        }
    }
    let lines = rows * (row_bytes / LINE_BYTES).ceil().max(1.0);
    let least = (rows * row_bytes).min(width * bytes * f64::from(WARP_ITEMS)) / LINE_BYTES;
    let walked = if width > 1.0 { 1.0 } else { sizes.walked_at_once(access) };
    let scattered_lines = (lines - least.ceil()).max(0.0);
    Spread { per_thread, width, walked, scattered_lines, conflicts: 1.0 }
}

/// An access by the points of a cooperative loop, which runs along what it touches.
fn of_points(sizes: &Sizes<'_>, access: &Access, points: Points<'_>, is_async: bool) -> Spread {
    let n_points: f64 = points.axes.iter().map(|(_, extent)| extent).product();
    let per_thread = (n_points / f64::from(sizes.config.threads)).ceil();
    let bytes = sizes.elem_bytes(access.array);
    let widest = (f64::from(sizes.config.copy_bytes) / bytes).clamp(1.0, per_thread.max(1.0));
    // Across the rows of a tile there are no vectors, and an asynchronous copy has as
    // many neighbours there as here.
    let is_narrow = match access.array {
        ArrayRef::Tensor(_) => {
            !sizes.rows_are_aligned(access.array, bytes) || (is_async && points.is_across)
        }
        ArrayRef::Tile(_) => points.fastest.is_some_and(|var| sizes.is_across(access, var)),
    };
    let width = if is_narrow { 1.0 } else { widest };
    Spread { per_thread, width, walked: 1.0, scattered_lines: 0.0, conflicts: 1.0 }
}

/// Bytes of an access.
#[derive(Clone, Copy)]
pub(super) struct Traffic {
    /// Of elements.
    pub(super) wanted: f64,
    /// Of sectors.
    pub(super) moved: f64,
}

/// Bytes that an access moves, if all points make it so many times.
fn traffic(
    sizes: &Sizes<'_>,
    access: &Access,
    axes: &[(VarId, f64)],
    is_write: bool,
    trips: f64,
) -> Traffic {
    let distinct: f64 = axes
        .iter()
        .filter(|(var, _)| touched(sizes, access, *var))
        .map(|(_, extent)| extent)
        .product();
    let bytes = sizes.elem_bytes(access.array);
    let Run { elems, distance } = run(sizes, access, axes);
    let run_bytes = elems * bytes;
    let mut sectors = (run_bytes * distance / SECTOR_BYTES).ceil();
    if !sizes.rows_are_aligned(access.array, bytes) {
        // A run begins anywhere within a sector.
        sectors += if is_write { 1.0 + PARTIAL_SECTORS } else { 1.0 };
    }
    let mut moved = sectors * SECTOR_BYTES;
    if run_bytes < LONG_RUN_BYTES {
        moved += RUN_OVERHEAD_BYTES;
    }
    let wanted = distinct * bytes * trips;
    Traffic { wanted, moved: wanted * (moved / run_bytes) }
}

/// Elements that lie next to each other, or at a small distance.
struct Run {
    elems: f64,
    /// From one to the next, in elements.
    distance: f64,
}

/// The elements along a tensor's rows that come together: those of the points of an axis;
/// or, where one point goes along a row in a loop, those of a sector, which L1 holds
/// until all are used.
fn run(sizes: &Sizes<'_>, access: &Access, axes: &[(VarId, f64)]) -> Run {
    let of_axis = |&(var, elems): &(VarId, f64)| {
        distance(sizes, access, var).map(|distance| Run { elems, distance })
    };
    let runs = axes.iter().filter_map(of_axis);
    if let Some(run) = runs.min_by(|one, other| one.distance.total_cmp(&other.distance)) {
        return run;
    }
    let elems = match sizes.course(access) {
        Course::Walked | Course::Stepped => SECTOR_BYTES / sizes.elem_bytes(access.array),
        Course::Placed => 1.0,
    };
    Run { elems: elems.max(1.0), distance: 1.0 }
}

/// Elements of a tensor from one to the next along a variable, where they are few.
pub(super) fn distance(sizes: &Sizes<'_>, access: &Access, var: VarId) -> Option<f64> {
    let mut distance = 1.0;
    for (&index, &extent) in access.indices.iter().zip(sizes.kernel.extents(access.array)).rev() {
        if sizes.depends(index, var) {
            return sizes.is_unit_stride(index, var).then_some(distance);
        }
        distance *= sizes.index(extent)?;
        if distance > MAX_DISTANCE {
            return None;
        }
    }
    None
}
