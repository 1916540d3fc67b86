//! Counts what a program does, without running it.
//!
//! The statements of a lowered program are gone through a warp at a time, all 32
//! lanes at once. Of values only those are computed that decide addresses, guards
//! and conditions: integers that follow from the block, the thread, counters and
//! launch arguments. So for every access in the text it is known which lanes make
//! it, and where.
//!
//! # What is counted
//!
//! - A *request* is one warp's execution of one access; the registers of a vector
//!   access make one together. Where no lane's guards hold there is none. An
//!   expression that stands in a statement several times is evaluated once.
//! - *Elements* are what the lanes ask for; *sectors* and *wavefronts* what that
//!   takes ([`crate::analyze::sectors`], [`crate::analyze::banks`]), beside what as
//!   many different bytes would take at the least.
//! - *Operations* of a scalar type: two of a fused multiply-add, one of every other
//!   operator or function that computes a number from numbers. Index arithmetic,
//!   comparisons, choices, conversions and changes of sign are none.
//!
//! What NVRTC makes of equal loads in different statements is not known here.
//!
//! # What is not gone through
//!
//! Blocks and iterations that differ from others in nothing that counts are
//! represented by these (`repeat`); counts are those of all of them, exactly.
//! Where that cannot be shown, or [`Limits::max_steps`] is spent, they are sampled
//! and [`KernelCounts::is_exact`] is false.
//!
//! # What depends on data
//!
//! Scalar arguments of which no value is known ([`Known`]) are data. Of a condition on loaded values both arms are counted for all lanes. A loop
//! whose length is not known is counted as 16 iterations, as the model that
//! chooses configurations does. A lane's access at a loaded index counts as a sector
//! of its own, and without bank conflicts. Each is counted as unknown, too.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `plan` | what there is to count, and which values decide it |
//! | `machine`, `exprs`, `plain` | statements, expressions, and those that count alike for all items |
//! | `loops`, `repeat`, `period`, `steady` | loops and the grid, and what may be left out of them |
//! | `eval`, `value`, `domain` | integers in the lanes of a warp |
//! | `touch`, `pattern` | one access, and what it takes |

mod domain;
mod eval;
mod exprs;
mod loops;
mod machine;
mod pattern;
mod period;
mod plain;
mod plan;
mod repeat;
mod steady;
mod tally;
mod touch;
mod value;

use std::collections::BTreeMap;

use self::machine::Machine;
use self::plan::Plan;
pub use self::plan::ops_of;
use self::tally::{BRANCH_COLUMNS, BranchColumn, Column, SITE_COLUMNS, Tally};
use crate::dtype::DType;
use crate::kernel::{AccessKind, ScalarId, VarId};
use crate::program::{ArgSource, BufferSpace, ProgramKernel, Target};
use crate::span::SpanId;
use crate::value::{ArgValue, ScalarValue};

/// How much work may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Statements that are gone through, each for a warp and a register; what is left
    /// then is sampled.
    pub max_steps: u64,
    /// Whether every block and iteration is gone through.
    pub is_full: bool,
}

impl Limits {
    /// For a compiler that is waited for: tens of milliseconds where nothing is optimised.
    pub const BRIEF: Self = Self { max_steps: 20_000, is_full: false };
}

impl Default for Limits {
    /// A second's work or so, of representative blocks and iterations.
    fn default() -> Self {
        Self { max_steps: 4_000_000, is_full: false }
    }
}

/// Where the elements of an access are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Global memory.
    Global,
    /// Shared memory.
    Shared,
    /// Constant memory.
    Constant,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Touches {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// It updates atomically.
    Updates,
}

/// What the warps of a launch do at one access of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteCounts {
    /// The array.
    pub target: Target,
    /// Its name.
    pub array: String,
    /// Where it lies.
    pub space: Space,
    /// What is done.
    pub touches: Touches,
    /// Where it stands in the user's source.
    pub span: SpanId,
    /// The number of its statement, in the order of the text.
    pub statement: usize,
    /// Elements between what neighbouring lanes access, the first time that two of them
    /// do; `None` where it depends on data.
    pub lane_stride: Option<i64>,
    /// Bytes of an element.
    pub elem_bytes: u32,
    /// Elements of one thread's access.
    pub width: u32,
    /// Whether it makes comparisons first.
    pub is_guarded: bool,
    /// Whether it is part of an asynchronous copy.
    pub is_async: bool,
    /// Requests of warps.
    pub requests: u64,
    /// Elements asked for, of all lanes.
    pub elems: u64,
    /// Sectors of 32 bytes that global requests move.
    pub sectors: u64,
    /// Sectors that as many different bytes of each request take at the least.
    pub ideal_sectors: u64,
    /// Wavefronts that shared requests take.
    pub wavefronts: u64,
    /// Wavefronts that they take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Requests whose addresses depend on data.
    pub unknown_requests: u64,
}

impl SiteCounts {
    /// Bytes asked for, of all lanes.
    pub fn bytes(&self) -> u64 {
        self.elems.saturating_mul(self.elem_bytes.into())
    }
}

/// What the warps of a launch do at one condition or loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCounts {
    /// Where it stands in the user's source.
    pub span: SpanId,
    /// Times that a warp comes to it; to a loop whose lanes run differently long, in
    /// each iteration.
    pub warps: u64,
    /// Times that some of its lanes go one way and some the other.
    pub split: u64,
    /// Times that the outcome, or the number of iterations, depends on data.
    pub unknown: u64,
}

/// What one kernel of a program does in one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Its name.
    pub name: String,
    /// Blocks along each axis of the grid, outermost first.
    pub grid: Vec<u64>,
    /// Threads per block.
    pub threads: u32,
    /// Its accesses to memory, in the order of the text.
    pub sites: Vec<SiteCounts>,
    /// Its conditions and loops, in the order of the text.
    pub branches: Vec<BranchCounts>,
    /// Operations by the type of their results; types without any left out.
    pub ops: BTreeMap<DType, u64>,
    /// Barriers of all blocks.
    pub barriers: u64,
    /// Shuffles and ballots of warps.
    pub exchanges: u64,
    /// Whether every block and iteration was gone through or stood for by one that
    /// is shown to count alike.
    pub is_exact: bool,
}

impl KernelCounts {
    /// Blocks of the launch.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |product, extent| product.saturating_mul(*extent))
    }

    /// Floating-point operations.
    pub fn flops(&self) -> u64 {
        self.float_ops().map(|(_, n)| n).sum()
    }

    /// Operations of each floating-point type.
    pub fn float_ops(&self) -> impl Iterator<Item = (DType, u64)> {
        let ops = self.ops.iter().map(|(dtype, n)| (*dtype, *n));
        ops.filter(|(dtype, _)| dtype.is_float())
    }

    /// The accesses to a space.
    pub fn of(&self, space: Space) -> impl Iterator<Item = &SiteCounts> {
        self.sites.iter().filter(move |site| site.space == space)
    }

    /// Bytes that all threads ask of a space.
    pub fn bytes(&self, space: Space) -> u64 {
        self.of(space).map(SiteCounts::bytes).sum()
    }
}

/// What is known of a launch's arguments. Tensors are row-major without gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The dimensions.
    pub dims: &'a [(VarId, u64)],
    /// Scalars. Of those that are not here nothing is known: they count as data.
    pub scalars: &'a [(ScalarId, ScalarValue)],
}

impl Known<'_> {
    fn dim(&self, wanted: VarId) -> Option<i64> {
        let (_, dim) = self.dims.iter().find(|(var, _)| *var == wanted)?;
        i64::try_from(*dim).ok()
    }

    /// The value of a scalar that is an integer or a condition.
    fn integer(&self, wanted: ScalarId) -> Option<i64> {
        let (_, value) = self.scalars.iter().find(|(scalar, _)| *scalar == wanted)?;
        (!value.dtype.is_float()).then(|| eval::number(*value)).flatten()
    }
}

/// Why a launch cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    /// A number of the launch depends on more than its dimensions.
    #[error("the launch of `{kernel}` depends on more than its dimensions")]
    Unknown {
        /// The kernel.
        kernel: String,
    },
}

/// Counts one launch of a kernel with these arguments.
///
/// # Errors
///
/// Where a dimension is not known, or the program is one of views.
pub fn count_kernel(
    kernel: &ProgramKernel,
    known: Known<'_>,
    limits: Limits,
) -> Result<KernelCounts, CountError> {
    count_some(kernel, known, limits, Detail::All)
}

/// How much of the accesses is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of all accesses.
    All,
    /// How many elements each asks for, and how far apart neighbouring lanes are.
    Elems,
    /// How far apart the neighbouring lanes of a block's first warp are, in its first
    /// items; nothing else is what it is in the whole launch.
    Strides,
    /// Accesses to this array only.
    Of(Target),
    /// Accesses to this space only.
    In(Space),
    /// No accesses.
    NoAccesses,
}

impl Detail {
    /// Whether accesses to an array are not counted at all.
    fn leaves_out(self, kernel: &ProgramKernel, target: Target) -> bool {
        match self {
            Self::All | Self::Elems | Self::Strides => false,
            Self::Of(wanted) => wanted != target,
            Self::In(wanted) => wanted != space_of(kernel, target),
            Self::NoAccesses => true,
        }
    }
}

/// Where an array is.
fn space_of(kernel: &ProgramKernel, target: Target) -> Space {
    match target {
        Target::Buffer(id) => match kernel.buffers[id].space {
            BufferSpace::Global => Space::Global,
            BufferSpace::Constant { .. } => Space::Constant,
        },
        Target::Tile(_) => Space::Shared,
    }
}

/// As [`count_kernel`], in less time where less is asked.
pub(super) fn count_some(
    kernel: &ProgramKernel,
    known: Known<'_>,
    limits: Limits,
    detail: Detail,
) -> Result<KernelCounts, CountError> {
    let unknown = || CountError::Unknown { kernel: kernel.name.clone() };
    let args = arguments(kernel, known).ok_or_else(unknown)?;
    let on_host = |id| kernel.eval_on_host(id, &args.values);
    let mut shapes = Vec::new();
    for buffer in kernel.buffers.values() {
        let of = |ids: &[crate::program::ExprId]| -> Option<Vec<i64>> {
            ids.iter().map(|&id| on_host(id)).collect()
        };
        shapes.push(of(&buffer.extents).zip(of(&buffer.strides)).ok_or_else(unknown)?);
    }
    let grid = kernel.grid_extents(&args.values).ok_or_else(unknown)?;
    let plan = Plan::new(kernel);
    let mut machine = Machine::new(&plan, args.known, shapes, limits, detail);
    machine.grid(&grid, 0);
    Ok(counts(&plan, grid, &machine.tally, &machine.lane_strides))
}

/// Launch arguments: as the host computes with them, and as far as they are known.
pub(super) struct Arguments {
    pub(super) values: Vec<ArgValue>,
    known: Vec<Option<i64>>,
}

pub(super) fn arguments(kernel: &ProgramKernel, known: Known<'_>) -> Option<Arguments> {
    let mut arguments = Arguments { values: Vec::new(), known: Vec::new() };
    for arg in kernel.args.values() {
        let (value, number) = match arg.source {
            ArgSource::Dim(var) => {
                let dim = known.dim(var)?;
                (ArgValue::Index(dim), Some(dim))
            }
            ArgSource::Scalar(id) => {
                // No extent depends on it.
                let unused = ScalarValue { dtype: arg.ty.storage(), bits: 0 };
                (ArgValue::Scalar(unused), known.integer(id))
            }
            // Of views, which have their own counts.
            ArgSource::Stride { .. } => return None,
        };
        arguments.values.push(value);
        arguments.known.push(number);
    }
    Some(arguments)
}

fn counts(plan: &Plan<'_>, grid: Vec<u64>, tally: &Tally, strides: &[Option<i64>]) -> KernelCounts {
    let kernel = plan.kernel;
    let sites = plan.sites.iter().enumerate().map(|(number, site)| {
        let cell = |column: Column| tally.cells[number * SITE_COLUMNS + column as usize];
        let array = match site.access.target {
            Target::Buffer(id) => kernel.buffers[id].name.clone(),
            Target::Tile(id) => kernel.tiles[id].name.clone(),
        };
        SiteCounts {
            target: site.access.target,
            array,
            space: space_of(kernel, site.access.target),
            touches: match site.kind {
                AccessKind::Read => Touches::Reads,
                AccessKind::Write => Touches::Writes,
                AccessKind::Atomic => Touches::Updates,
            },
            span: site.span,
            statement: site.statement,
            lane_stride: strides[number],
            elem_bytes: kernel.element_type(site.access.target).size_bytes(),
            width: u32::from(site.access.width.max(1)),
            is_guarded: site.access.is_guarded(),
            is_async: site.is_async,
            requests: cell(Column::Requests),
            elems: cell(Column::Elems),
            sectors: cell(Column::Sectors),
            ideal_sectors: cell(Column::IdealSectors),
            wavefronts: cell(Column::Wavefronts),
            ideal_wavefronts: cell(Column::IdealWavefronts),
            unknown_requests: cell(Column::Unknown),
        }
    });
    let branches = plan.branches.iter().enumerate().map(|(number, span)| {
        let first = plan.first_branch() + number * BRANCH_COLUMNS;
        let cell = |column: BranchColumn| tally.cells[first + column as usize];
        BranchCounts {
            span: *span,
            warps: cell(BranchColumn::Warps),
            split: cell(BranchColumn::Split),
            unknown: cell(BranchColumn::Unknown),
        }
    });
    let ops = DType::ALL.iter().zip(&tally.cells[plan.first_op()..]);
    KernelCounts {
        name: kernel.name.clone(),
        grid,
        threads: kernel.threads,
        sites: sites.collect(),
        branches: branches.collect(),
        ops: ops.filter(|(_, n)| **n > 0).map(|(dtype, n)| (*dtype, *n)).collect(),
        barriers: tally.cells[plan.first_total()],
        exchanges: tally.cells[plan.first_total() + 1],
        is_exact: tally.is_exact,
    }
}
