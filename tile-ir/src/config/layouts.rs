//! The ways to put the work-items of a tile on threads that are tried before anything has
//! been measured.

use super::columns::{has_columns, multiplies_and_adds};
use super::raster::raster_rows;
use super::warps::warp_layout;
use super::{AxisItems, Config, Numerics, TilePadding, block_extents, tile_value};
use crate::device::DeviceProperties;
use crate::kernel::{ExprId, Kernel, Stmt, StmtKind, any_stmt, eval_index};
use crate::part::{can_be_parted, has_tied_depth};
use crate::program::MAX_ACCESS_BYTES;

/// Work-items per thread and axis that are tried.
const ITEMS_PER_AXIS: [u32; 5] = [1, 2, 4, 8, 16];
/// Threads per block that are tried at any rate.
const LEAST_THREADS: u32 = 64;
/// Threads per block of a block domain, where it has so many items: one warp for each of an
/// SM's schedulers. Measured on an H200: of products, softmaxes and stencils none is the
/// fastest on 64 threads.
const LEAST_THREADS_OF_ITEMS: u32 = 128;
/// Threads per block that are tried, the first best among equals.
const THREADS: [u32; 5] = [256, 512, 128, 1024, 64];
/// The narrowest asynchronous copy. Measured on an H200: a ragged product of 4095
/// takes 0.9 of the time that it takes with its elements staged in registers.
const ASYNC_BYTES: u32 = 4;
/// Consecutive items of a thread: 16 bytes of the commonest elements.
const RUN_ITEMS: u32 = 4;
/// Threads of a warp along the last two axes, the first best among equals.
const WARP_TILES: [(u32, u32); 4] = [(8, 4), (4, 8), (2, 16), (16, 2)];
/// Buffers of the tiles that a `phase` fills.
const PHASE_STAGES: u32 = 2;
/// Parts of a phase that are tried beside one.
const PHASE_PARTS: [u32; 4] = [2, 4, 8, 16];
/// Whether a phase's iteration is written out for each stage.
const UNROLL_STAGES: bool = false;
/// Whether copies ahead are predicated. Measured on an H200, f32 products in tiles
/// of 128 x 256 x 16 at 2048, 4096 and 4096 x 1024 x 8192: 48.8, 49.3 and 49.3
/// TFLOP/s with it; 47.5, 48.2 and 47.4 without; with jumps and an iteration for
/// each stage 47.1, 49.8 and 47.4.
const PREDICATE_COPIES: bool = true;
/// Statements of a loop that is written out.
const UNROLLED_STMTS: u32 = 0;
/// Bytes to which cooperative loops align their stores.
const ALIGN_BYTES: u32 = 0;
/// As [`ALIGN_BYTES`], of kernels that are cooperative loops alone: a sector. An H200
/// transposes 8191 x 8193 f16 at 0.93 of a copy's rate with it and
/// [`Config::whole_vectors`], at 0.77 with neither.
const ROW_ALIGN_BYTES: u32 = 32;
/// Whether rows that begin anywhere are loaded in whole vectors.
const WHOLE_VECTORS: bool = false;
/// Whether interior blocks have a text of their own. An H200 adds 2^28 + 1 f32
/// at 4.2 TB/s with it and at 3.1 without.
const SPLIT_EDGES: bool = true;
/// Whether what is touched once passes the caches by.
const STREAM: bool = false;
/// Whether lanes lie in pairs. Measured on an H200, f32 products: of 512 in tiles of 16 x 64
/// 0.0095 ms with it and 0.0105 without, of 4096 in tiles of 128 x 256 x 16 2.85 and 2.79.
const PAIRED_LANES: bool = false;
/// Buffers of the fragments that hold operands.
const FRAGMENT_BUFFERS: u32 = 2;

/// The ways to put a kernel's work-items on threads.
pub(super) struct Layouts<'a> {
    kernel: &'a Kernel,
    device: &'a DeviceProperties,
    /// What is the same in all of them.
    common: Config,
    /// Whether threads go down the columns of their items, where they have such.
    by_columns: bool,
    /// Parts of phases that are tried beside one.
    parts: &'static [u32],
}

impl<'a> Layouts<'a> {
    /// The kernel's fills are shared out already.
    pub(super) fn new(kernel: &'a Kernel, device: &'a DeviceProperties) -> Self {
        let is_phase = |kind: &StmtKind| matches!(kind, StmtKind::Phase { .. });
        let has_phases = any_stmt(&kernel.body, &mut |kind| is_phase(kind));
        let common = Config {
            tiles: Vec::new(),
            threads: 0,
            by_columns: false,
            block: Vec::new(),
            copy_bytes: MAX_ACCESS_BYTES,
            stages: if has_phases { PHASE_STAGES } else { 1 },
            unroll_stages: UNROLL_STAGES,
            unrolled_stmts: UNROLLED_STMTS,
            async_bytes: ASYNC_BYTES,
            predicate_copies: PREDICATE_COPIES,
            min_blocks: 0,
            paired_lanes: PAIRED_LANES,
            phase_parts: 1,
            slices: 1,
            fragment_buffers: FRAGMENT_BUFFERS,
            align_bytes: ALIGN_BYTES,
            whole_vectors: WHOLE_VECTORS,
            split_edges: SPLIT_EDGES,
            padding: TilePadding::Counted,
            stream_loads: STREAM,
            stream_stores: STREAM,
            raster_rows: raster_rows(kernel),
            numerics: Numerics::Exact,
        };
        // Where the phases' depth follows from the block's tile.
        let parts: &[u32] = if has_tied_depth(kernel) { &PHASE_PARTS } else { &[] };
        Self { kernel, device, common, by_columns: !multiplies_and_adds(kernel), parts }
    }

    /// Whether some of them have phases in several parts.
    pub(super) const fn have_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Those of these tile sizes. Each is made when it is asked for.
    pub(super) fn of<'s>(&'s self, tiles: &'s [u32]) -> Box<dyn Iterator<Item = Config> + 's> {
        if self.kernel.block.is_none() {
            return Box::new(self.of_loops(tiles));
        }
        match warp_layout(self.kernel, tiles) {
            Some(items) => Box::new(self.of_warps(tiles, items).into_iter()),
            None => Box::new(self.of_items(tiles)),
        }
    }

    /// Those of a kernel whose threads only share out the cooperative loops.
    fn of_loops<'s>(&'s self, tiles: &'s [u32]) -> impl Iterator<Item = Config> + 's {
        let value = |expr: ExprId| {
            let exact = eval_index(self.kernel, expr, &|var| tile_value(self.kernel, tiles, var));
            u32::try_from(exact.unwrap_or(1)).unwrap_or(1).max(1)
        };
        let most = largest_each(self.kernel, &value);
        let max_threads = self.device.max_threads_per_block;
        let useful = THREADS.into_iter().filter(move |&threads| threads <= max_threads);
        // Such kernels move rows; where these are known to be aligned, the two change nothing.
        let moving = |threads| Config {
            align_bytes: ROW_ALIGN_BYTES,
            whole_vectors: true,
            ..self.config(tiles, threads, Vec::new())
        };
        useful
            .filter(move |&threads| threads == LEAST_THREADS || u64::from(threads) <= most)
            .map(moving)
    }

    /// That of a kernel whose work-items exchange values within warps, if it can run.
    fn of_warps(&self, tiles: &[u32], items: Vec<AxisItems>) -> Option<Config> {
        let threads = items.iter().try_fold(1u32, |all, axis| all.checked_mul(axis.threads));
        let threads = self.whole_warps(threads?)?;
        Some(self.config(tiles, threads, items))
    }

    /// Those of a kernel whose work-items may lie on threads in any way.
    fn of_items<'s>(&'s self, tiles: &'s [u32]) -> impl Iterator<Item = Config> + 's {
        let extents = block_extents(self.kernel, tiles);
        let n_threads =
            |layout: &[u32]| layout.iter().try_fold(1u32, |product, n| product.checked_mul(*n));
        let least = n_threads(&extents).unwrap_or(u32::MAX).min(LEAST_THREADS_OF_ITEMS);
        let all = layouts(&extents);
        let configs = move |layout: Vec<u32>| {
            let threads = n_threads(&layout).filter(|threads| *threads >= least)?;
            let threads = self.whole_warps(threads)?;
            let square = items_on(&extents, &layout);
            // What is not multiplied and added shares little among a warp's threads. Measured
            // on an H200: a blur takes 1.13 ms with warps in order and 1.69 in squares.
            let in_order = self.by_columns.then(|| in_order(&square)).filter(|it| *it != square);
            let orders = [Some(square), in_order].into_iter().flatten();
            Some(orders.map(move |items| self.config(tiles, threads, items)))
        };
        all.filter_map(configs).flatten().flat_map(|config| self.in_parts(config))
    }

    /// Threads of a block that has so many at least, if it can have them.
    fn whole_warps(&self, threads: u32) -> Option<u32> {
        let threads = threads.next_multiple_of(self.device.warp_size.max(1));
        (threads <= self.device.max_threads_per_block).then_some(threads)
    }

    fn config(&self, tiles: &[u32], threads: u32, block: Vec<AxisItems>) -> Config {
        let extents = || block_extents(self.kernel, tiles);
        let by_columns = self.by_columns && has_columns(&block, &extents());
        Config { tiles: tiles.to_vec(), threads, block, by_columns, ..self.common.clone() }
    }

    /// The configuration, and those with its phases in several parts, as far as they can be.
    fn in_parts(&self, config: Config) -> Vec<Config> {
        let others = self.parts.iter().map(|&phase_parts| Config { phase_parts, ..config.clone() });
        let mut all: Vec<Config> =
            others.filter(|config| can_be_parted(self.kernel, config)).collect();
        all.insert(0, config);
        all
    }
}

/// Threads along each axis of a block, in all the ways that are tried.
fn layouts(extents: &[u32]) -> impl Iterator<Item = Vec<u32>> + use<> {
    let of_axis = |&extent: &u32| {
        let mut threads: Vec<u32> =
            ITEMS_PER_AXIS.iter().map(|items| extent.div_ceil(*items)).collect();
        threads.dedup();
        threads
    };
    let axes: Vec<Vec<u32>> = extents.iter().map(of_axis).collect();
    let total: usize = axes.iter().map(Vec::len).product();
    (0..total).map(move |mut number| {
        let digits = axes.iter().rev().map(|values| {
            let value = values[number % values.len()];
            number /= values.len();
            value
        });
        let mut layout: Vec<u32> = digits.collect();
        layout.reverse();
        layout
    })
}

/// Puts the items of each axis on these threads: runs of items that lie next to
/// each other in memory where several fall to a thread, and warps as square as
/// the threads allow, so that they share most of what they read.
fn items_on(extents: &[u32], threads: &[u32]) -> Vec<AxisItems> {
    let mut items: Vec<AxisItems> = extents
        .iter()
        .zip(threads)
        .map(|(&extent, &threads)| {
            let runs = [RUN_ITEMS, RUN_ITEMS / 2];
            let fits = |run: &u32| extent.is_multiple_of(threads * run);
            let run = runs.into_iter().find(fits).unwrap_or(1);
            AxisItems { run, ..AxisItems::strided(threads) }
        })
        .collect();
    if let [.., row, column] = items.as_mut_slice() {
        let fits = |&(lanes, others): &(u32, u32)| {
            row.threads.is_multiple_of(lanes) && column.threads.is_multiple_of(others)
        };
        // A warp reads as many operands as the sides of its items are long.
        let [.., rows, columns] = extents else { return items };
        let [rows, columns] = [rows / row.threads, columns / column.threads];
        let operands = |&(lanes, others): &(u32, u32)| rows * lanes + columns * others;
        let best = WARP_TILES.into_iter().filter(fits).min_by_key(operands);
        if let Some((lanes, others)) = best.filter(|_| row.run * column.run > 1) {
            (row.lanes, column.lanes) = (lanes, others);
        }
    }
    items
}

/// The same items, with each warp's threads in order: one row after the other.
fn in_order(items: &[AxisItems]) -> Vec<AxisItems> {
    items.iter().map(|axis| AxisItems { lanes: 1, ..*axis }).collect()
}

/// Points of the largest cooperative loop.
fn largest_each(kernel: &Kernel, value: &dyn Fn(ExprId) -> u32) -> u64 {
    fn visit(stmts: &[Stmt], value: &dyn Fn(ExprId) -> u32, most: &mut u64) {
        for stmt in stmts {
            if let StmtKind::Each { axes, .. } = &stmt.kind {
                let points = axes.iter().map(|axis| u64::from(value(axis.extent))).product();
                *most = (*most).max(points);
            }
            for body in stmt.kind.bodies() {
                visit(body, value, most);
            }
        }
    }
    let mut most = 1;
    visit(&kernel.body, value, &mut most);
    most
}
