//! The choices of a kernel, and the values of each that are tried.

use super::Breadth;
use crate::config::columns::multiplies_and_adds;
use crate::config::{Config, TilePadding, candidate_values};
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, StmtKind, TileDomain, TileParamId, TileSpace, VarKind,
    any_stmt, concerns_warps,
};
use crate::part::has_tied_depth;

/// The value of [`Choice::Padding`] for [`TilePadding::Counted`].
pub(super) const COUNTED: u32 = u32::MAX;
/// The value of [`Choice::Padding`] for [`TilePadding::Swizzled`].
pub(super) const SWIZZLED: u32 = u32::MAX - 1;
/// Threads of a warp along the last two axes; the first is no tile: warps take
/// threads in row-major order.
pub(super) const WARP_TILES: [(u32, u32); 5] = [(1, 1), (8, 4), (4, 8), (2, 16), (16, 2)];
/// The largest tile size of a [`Breadth::Odd`] space, where smaller ones are
/// admissible: its configurations are run at small shapes.
const SMALL_TILE: u32 = 40;
/// Odd sizes for parameters that admit all.
const ODD_TILES: [u32; 4] = [1, 5, 17, 33];

/// A choice that a configuration makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The value of a tile parameter.
    Tile(TileParamId),
    /// Buffers of the tiles that a phase fills.
    Stages,
    /// 1 where iterations are written out for each stage.
    UnrollStages,
    /// The narrowest asynchronous copy.
    AsyncBytes,
    /// 1 where copies ahead are predicated.
    PredicateCopies,
    /// Parts of a phase.
    PhaseParts,
    /// Groups of threads that share out a reduction.
    Slices,
    /// Items of a thread along an axis of the block domain.
    Items(usize),
    /// Which of [`WARP_TILES`].
    Warp,
    /// 1 where lanes lie in pairs.
    PairedLanes,
    /// 1 where a thread goes down the columns of its items.
    ByColumns,
    /// Consecutive items along an axis of the block domain.
    Run(usize),
    /// Threads: see [`block_threads`].
    Threads,
    /// Blocks of an SM that there are registers for.
    MinBlocks,
    /// Bytes of an access of a cooperative loop.
    CopyBytes,
    /// Buffers of the fragments that hold operands.
    FragmentBuffers,
    /// Statements of a loop that is written out; 0 for all.
    UnrolledStmts,
    /// Bytes to which rows are aligned.
    AlignBytes,
    /// 1 where rows that begin anywhere are loaded in whole vectors.
    WholeVectors,
    /// 1 where interior blocks have a text of their own.
    SplitEdges,
    /// Elements after a row of a tile, or [`COUNTED`] or [`SWIZZLED`].
    Padding,
    /// What passes the caches by of what is touched once: 1 for reads, 2 for writes, or
    /// their sum.
    Stream,
    /// Rows of blocks per band of the grid.
    RasterRows,
}

impl Choice {
    /// What a configuration shows of this choice.
    pub(super) fn shown_in(self, config: &Config) -> (u32, u32) {
        let axis = |axis: usize| config.block.get(axis);
        let shown = match self {
            Self::Tile(id) => config.tile(id),
            Self::Stages => config.stages,
            Self::UnrollStages => u32::from(config.unroll_stages),
            Self::AsyncBytes => config.async_bytes,
            Self::PredicateCopies => u32::from(config.predicate_copies),
            Self::PairedLanes => u32::from(config.paired_lanes),
            Self::ByColumns => u32::from(config.by_columns),
            Self::PhaseParts => config.phase_parts,
            Self::Slices => config.slices,
            Self::MinBlocks => config.min_blocks,
            Self::Items(at) => axis(at).map_or(0, |axis| axis.threads),
            Self::Warp => match config.block.as_slice() {
                [.., row, column] => return (row.lanes, column.lanes),
                _ => 0,
            },
            Self::Run(at) => axis(at).map_or(0, |axis| axis.run),
            Self::Threads => config.threads,
            Self::CopyBytes => config.copy_bytes,
            Self::FragmentBuffers => config.fragment_buffers,
            Self::UnrolledStmts => config.unrolled_stmts,
            Self::AlignBytes => config.align_bytes,
            Self::WholeVectors => u32::from(config.whole_vectors),
            Self::SplitEdges => u32::from(config.split_edges),
            Self::Padding => match config.padding {
                TilePadding::Counted => COUNTED,
                TilePadding::Elems(elems) => elems,
                TilePadding::Swizzled => SWIZZLED,
            },
            Self::Stream => u32::from(config.stream_loads) + 2 * u32::from(config.stream_stores),
            Self::RasterRows => config.raster_rows,
        };
        (shown, 0)
    }
}

impl Choice {
    /// The value that gives a configuration what it shows of this choice, on a block of
    /// these extents; nothing where no value does.
    pub(super) fn value_of(self, config: &Config, extents: &[u32]) -> Option<u32> {
        match self {
            Self::Items(at) => {
                let threads = config.block.get(at)?.threads.max(1);
                Some(extents.get(at)?.div_ceil(threads))
            }
            Self::Warp => {
                let shown = self.shown_in(config);
                let found = WARP_TILES.iter().position(|&tile| tile == shown);
                found.and_then(|at| u32::try_from(at).ok())
            }
            // Those of a block domain follow from its axes.
            Self::Threads => config.block.is_empty().then_some(config.threads),
            Self::Tile(_)
            | Self::Stages
            | Self::UnrollStages
            | Self::AsyncBytes
            | Self::PredicateCopies
            | Self::PhaseParts
            | Self::PairedLanes
            | Self::ByColumns
            | Self::Slices
            | Self::Run(_)
            | Self::MinBlocks
            | Self::CopyBytes
            | Self::FragmentBuffers
            | Self::UnrolledStmts
            | Self::AlignBytes
            | Self::WholeVectors
            | Self::SplitEdges
            | Self::Padding
            | Self::Stream
            | Self::RasterRows => Some(self.shown_in(config).0),
        }
    }
}

/// A choice, and what is tried.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub(super) choice: Choice,
    pub(super) values: Vec<u32>,
    /// The factors that decide, beside it, whether a value is admitted.
    pub(super) needs: Depths,
}

/// A set of factors: bit n of the n-th.
pub(super) type Depths = u128;

/// The factors of a kernel. Those that decide what fits come first, so that an
/// enumeration turns back early.
pub(super) fn factors(
    kernel: &Kernel,
    types: &[DType],
    device: &DeviceProperties,
    breadth: Breadth,
) -> Vec<Factor> {
    let is_odd = breadth == Breadth::Odd;
    let pick = |fast: &[u32], odd: &[u32]| {
        let more = odd.iter().filter(|_| is_odd);
        fast.iter().chain(more).copied().collect::<Vec<u32>>()
    };
    let only_if = |holds: bool, values: Vec<u32>| {
        if holds { values } else { values.into_iter().take(1).collect() }
    };
    let has = |wanted: fn(&StmtKind) -> bool| any_stmt(&kernel.body, &mut |kind| wanted(kind));
    let has_phase = has(|kind| matches!(kind, StmtKind::Phase { .. }));
    let has_loops = has(|kind| matches!(kind, StmtKind::Each { .. }));
    let has_rows =
        kernel.tiles.values().any(|tile| tile.space == TileSpace::Shared && tile.extents.len() > 1);
    let n_axes = kernel.block.as_ref().map_or(0, Vec::len);
    let mut factors = Vec::new();
    let mut push = |choice, values| factors.push(Factor { choice, values, needs: 0 });
    for (id, param) in kernel.tile_params.iter() {
        if !matches!(param.domain, TileDomain::Equal(_)) {
            push(Choice::Tile(id), tile_values(&param.domain, breadth));
        }
    }
    push(Choice::PhaseParts, only_if(has_tied_depth(kernel), pick(&[1, 2, 4, 8, 16], &[3])));
    // One stage leaves the first value of the other two; it is listed first.
    push(Choice::Stages, only_if(has_phase, vec![1, 2, 3, 4]));
    push(Choice::UnrollStages, only_if(has_phase, vec![0, 1]));
    let copies = if device.has_async_copies() { vec![4, 16, 0] } else { vec![4] };
    push(Choice::AsyncBytes, only_if(has_phase, copies));
    push(Choice::PredicateCopies, only_if(has_phase && device.has_async_copies(), vec![1, 0]));
    push(Choice::Slices, only_if(n_axes > 0, pick(&[1, 2, 4], &[3])));
    (0..n_axes).for_each(|axis| push(Choice::Items(axis), pick(&[1, 2, 4, 8, 16], &[3])));
    let warps = (0..WARP_TILES.len() as u32).collect();
    push(Choice::Warp, only_if(n_axes > 1, warps));
    push(Choice::PairedLanes, only_if(n_axes > 1, vec![0, 1]));
    let may_gain = n_axes > 1 && !multiplies_and_adds(kernel);
    push(Choice::ByColumns, only_if(may_gain, vec![0, 1]));
    (0..n_axes).for_each(|axis| push(Choice::Run(axis), pick(&[1, 2, 4, 8], &[3])));
    let threads = if n_axes > 0 {
        pick(&[0], &[1, 2])
    } else {
        let most = device.max_threads_per_block;
        let counts = pick(&[256, 64, 128, 512, 1024], &[1, 32, 80]);
        counts.into_iter().filter(|&count| count <= most).collect()
    };
    push(Choice::Threads, threads);
    push(Choice::MinBlocks, pick(&[0, 2], &[1]));
    let least_bytes = types.iter().map(|dtype| dtype.size_bytes()).min().unwrap_or(1);
    let widths = pick(&[16, 8, 4], &[2, 1]).into_iter();
    let widths = widths.filter(|&bytes| bytes >= least_bytes || bytes >= 4).collect();
    push(Choice::CopyBytes, only_if(has_loops, widths));
    push(Choice::FragmentBuffers, vec![2, 1, 0]);
    let is_loop = |kind: &StmtKind| matches!(kind, StmtKind::Phase { .. } | StmtKind::For { .. });
    push(Choice::UnrolledStmts, only_if(has(is_loop), pick(&[0, 512, 1024, 2048], &[16])));
    push(Choice::AlignBytes, only_if(has(writes_rows), pick(&[0, 32, 128], &[4, 16])));
    push(Choice::WholeVectors, only_if(has_rows && has_loops, vec![0, 1]));
    push(Choice::SplitEdges, vec![1, 0]);
    push(Choice::Padding, only_if(has_rows, pick(&[COUNTED, 0, SWIZZLED], &[1, 3])));
    push(Choice::Stream, pick(&[0, 3], &[1, 2]));
    let has_bands = kernel.grid.len() > 1;
    push(Choice::RasterRows, if has_bands { pick(&[8, 1, 4, 16, 64], &[3]) } else { vec![1] });
    let needs = (0..factors.len()).map(|at| needs(kernel, &factors, at));
    let needs: Vec<Depths> = needs.collect();
    factors.iter_mut().zip(needs).for_each(|(factor, needs)| factor.needs = needs);
    factors
}

/// Of the first factors, those whose choices are wanted.
pub(super) fn depths_of(before: &[Factor], is_wanted: &dyn Fn(Choice) -> bool) -> Depths {
    let wanted = before.iter().enumerate().filter(|(_, factor)| is_wanted(factor.choice));
    wanted.fold(0, |set, (at, _)| set | 1u128.checked_shl(at as u32).unwrap_or(0))
}

/// Of the first factors, the tile sizes that an axis of the block is as long as.
pub(super) fn sizes_of_axis(kernel: &Kernel, before: &[Factor], axis: usize) -> Depths {
    let mut params = Vec::new();
    let axis = kernel.block.iter().flatten().nth(axis);
    axis.into_iter().for_each(|axis| collect_params(kernel, axis.extent, &mut params));
    depths_of(before, &|choice| matches!(choice, Choice::Tile(id) if params.contains(&id)))
}

/// What [`super::Space::admits`] looks at before it takes a value of a factor, where
/// those before it were taken.
fn needs(kernel: &Kernel, factors: &[Factor], at: usize) -> Depths {
    let all = |is_wanted: &dyn Fn(Choice) -> bool| depths_of(&factors[..at], is_wanted);
    let axes = kernel.block.as_deref().unwrap_or_default();
    let mut extents = Vec::new();
    let is_in = |axis: usize, choice: Choice, extents: &[TileParamId]| match choice {
        Choice::Tile(id) => extents.contains(&id),
        Choice::Items(other) => other <= axis,
        Choice::Slices => true,
        Choice::PhaseParts
        | Choice::Stages
        | Choice::UnrollStages
        | Choice::AsyncBytes
        | Choice::PredicateCopies
        | Choice::Warp
        | Choice::PairedLanes
        | Choice::ByColumns
        | Choice::Run(_)
        | Choice::Threads
        | Choice::CopyBytes
        | Choice::FragmentBuffers
        | Choice::AlignBytes
        | Choice::WholeVectors
        | Choice::UnrolledStmts
        | Choice::SplitEdges
        | Choice::Padding
        | Choice::Stream
        | Choice::MinBlocks
        | Choice::RasterRows => false,
    };
    if at + 1 == factors.len() {
        // The whole configuration is checked.
        return all(&|_| true);
    }
    match factors[at].choice {
        Choice::Tile(_) | Choice::PhaseParts => all(&|choice| matches!(choice, Choice::Tile(_))),
        Choice::Stages => all(&|choice| matches!(choice, Choice::Tile(_) | Choice::PhaseParts)),
        Choice::UnrollStages | Choice::AsyncBytes => all(&|choice| choice == Choice::Stages),
        Choice::Items(axis) => {
            let upto = axes.iter().take(axis + 1);
            upto.for_each(|axis| collect_params(kernel, axis.extent, &mut extents));
            all(&|choice| is_in(axis, choice, &extents))
        }
        Choice::Warp => {
            axes.iter().for_each(|axis| collect_params(kernel, axis.extent, &mut extents));
            all(&|choice| is_in(axes.len(), choice, &extents))
        }
        Choice::PredicateCopies => {
            all(&|choice| matches!(choice, Choice::Stages | Choice::AsyncBytes))
        }
        Choice::PairedLanes => all(&|choice| choice == Choice::Warp),
        Choice::ByColumns => {
            axes.iter().for_each(|axis| collect_params(kernel, axis.extent, &mut extents));
            all(&|choice| is_in(axes.len(), choice, &extents))
        }
        Choice::Run(axis) => all(&|choice| choice == Choice::Items(axis)),
        Choice::Slices => {
            let of_tiles = [Choice::PhaseParts, Choice::Stages];
            all(&|choice| matches!(choice, Choice::Tile(_)) || of_tiles.contains(&choice))
        }
        Choice::Threads | Choice::MinBlocks => {
            axes.iter().for_each(|axis| collect_params(kernel, axis.extent, &mut extents));
            let is_of_warps = concerns_warps(&kernel.body);
            all(&|choice| {
                let decides_layout = matches!(choice, Choice::Warp | Choice::Run(_));
                is_in(axes.len(), choice, &extents)
                    || choice == Choice::Threads
                    || (is_of_warps && decides_layout)
            })
        }
        Choice::Padding => {
            let of_tiles = [Choice::PhaseParts, Choice::Stages, Choice::Slices];
            all(&|choice| matches!(choice, Choice::Tile(_)) || of_tiles.contains(&choice))
        }
        Choice::CopyBytes
        | Choice::FragmentBuffers
        | Choice::AlignBytes
        | Choice::WholeVectors
        | Choice::UnrolledStmts
        | Choice::SplitEdges
        | Choice::Stream
        | Choice::RasterRows => 0,
    }
}

/// The free tile parameters that an extent depends on.
fn collect_params(kernel: &Kernel, expr: ExprId, params: &mut Vec<TileParamId>) {
    if let ExprKind::Var(var) = kernel.exprs[expr].kind
        && let VarKind::TileParam(id) = kernel.vars[var].kind
    {
        match &kernel.tile_params[id].domain {
            TileDomain::Equal(tie) => collect_params(kernel, *tie, params),
            TileDomain::Any
            | TileDomain::Range { .. }
            | TileDomain::Pow2 { .. }
            | TileDomain::List(_) => params.push(id),
        }
    }
    let operands = kernel.exprs[expr].kind.operands();
    operands.into_iter().for_each(|operand| collect_params(kernel, operand, params));
}

/// Threads of a block whose axes take `of_axes`. Without a block domain `value`
/// itself. With one: 0 is whole warps; 1 as many as the axes take; 2 a warp more
/// than 0, which has no items of the block domain.
pub(super) fn block_threads(
    kernel: &Kernel,
    device: &DeviceProperties,
    of_axes: u32,
    value: u32,
) -> u32 {
    let warp = device.warp_size.max(1);
    let whole = of_axes.checked_next_multiple_of(warp).unwrap_or(u32::MAX);
    match (kernel.block.is_some(), value) {
        (false, value) => value,
        (true, 1) => of_axes,
        (true, 2) => whole.saturating_add(warp),
        (true, _) => whole,
    }
}

fn tile_values(domain: &TileDomain, breadth: Breadth) -> Vec<u32> {
    let mut values = candidate_values(domain);
    match breadth {
        Breadth::Fast => {}
        Breadth::Odd => {
            match domain {
                TileDomain::Any => values.extend(ODD_TILES),
                TileDomain::Range { min, max, step } => {
                    values.extend(min.checked_add(*step).filter(|value| value <= max));
                }
                TileDomain::Pow2 { .. } | TileDomain::List(_) | TileDomain::Equal(_) => {}
            }
            values.sort_unstable();
            values.dedup();
            let least = values.first().copied().unwrap_or(1);
            values.retain(|&value| value <= SMALL_TILE.max(least));
        }
    }
    values
}

/// Whether it is a cooperative loop that writes to a tensor.
fn writes_rows(kind: &StmtKind) -> bool {
    let is_written = |kind: &StmtKind| match kind {
        StmtKind::Store { access, .. } => matches!(access.array, ArrayRef::Tensor(_)),
        _ => false,
    };
    matches!(kind, StmtKind::Each { body, .. } if body.iter().any(|stmt| is_written(&stmt.kind)))
}
