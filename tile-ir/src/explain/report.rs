//! All that is known of a launch, as data.

use serde::Serialize;

use super::copies::Copies;
use super::count::{BranchCounts, KernelCounts, SiteCounts, Space, Touches};
use super::finding::Finding;
use super::reuse::Reuse;
use super::roofline::Roofline;
use crate::analyze::cliff;
use crate::program::Target;
use crate::span::{SpanId, SpanTable};

/// What a launch costs, and why. `Display` prints it for a terminal, at most 100
/// columns wide.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The types of its type parameters.
    pub types: Vec<String>,
    /// The source file that lines are of, where it is known.
    pub file: Option<String>,
    /// The device's name.
    pub device: String,
    /// The dimensions.
    pub dims: Vec<Dim>,
    /// The scalar arguments whose values are known.
    pub scalars: Vec<Scalar>,
    /// The tile sizes of the configuration.
    pub tiles: Vec<TileSize>,
    /// Blocks along each axis of the grid, outermost first.
    pub grid: Vec<u64>,
    /// Blocks.
    pub blocks: u64,
    /// Threads per block.
    pub threads: u32,
    /// Times that the device's SMs are filled with blocks.
    pub waves: f64,
    /// Whether the counts are exact; else they are sampled.
    pub is_exact: bool,
    /// What is done.
    pub work: Work,
    /// The kernel's variables, tiles and tensors.
    pub variables: Vec<Copies>,
    /// What the tiles save.
    pub reuse: Reuse,
    /// How full an SM is.
    pub occupancy: OccupancyReport,
    /// Which unit is the limit.
    pub roofline: Roofline,
    /// What each access does, in the order of the lines.
    pub accesses: Vec<AccessReport>,
    /// Conditions and loops at which warps split, or whose outcome depends on data.
    pub branches: Vec<BranchReport>,
    /// What the numbers say should be changed.
    pub findings: Vec<Finding>,
}

/// A dimension and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dim {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// A scalar argument and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// Its value, as a literal.
    pub value: String,
}

/// A tile parameter and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TileSize {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u32,
}

/// What a launch does, of all threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Floating-point operations.
    pub flops: u64,
    /// Operations by the type of their results.
    pub ops: Vec<(String, u64)>,
    /// Bytes asked of global memory.
    pub global_bytes: u64,
    /// Bytes of the sectors that this moves.
    pub sector_bytes: u64,
    /// Bytes asked of shared memory.
    pub shared_bytes: u64,
    /// Wavefronts that this takes.
    pub wavefronts: u64,
    /// Barriers of all blocks.
    pub barriers: u64,
    /// Shuffles and ballots of warps.
    pub exchanges: u64,
}

impl Work {
    pub(super) fn of(counts: &KernelCounts) -> Self {
        let sum = |of: &dyn Fn(&SiteCounts) -> u64| counts.sites.iter().map(of).sum::<u64>();
        Self {
            flops: counts.flops(),
            ops: counts.ops.iter().map(|(dtype, n)| (dtype.name().to_owned(), *n)).collect(),
            global_bytes: counts.bytes(Space::Global),
            sector_bytes: sum(&|site| site.sectors) * crate::analyze::sectors::SECTOR_BYTES,
            shared_bytes: counts.bytes(Space::Shared),
            wavefronts: sum(&|site| site.wavefronts),
            barriers: counts.barriers,
            exchanges: counts.exchanges,
        }
    }
}

/// How full an SM is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OccupancyReport {
    /// Blocks that an SM holds at once.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// Warps over the most that an SM holds, 0 to 1.
    pub fraction: f64,
    /// The resource that allows no more.
    pub limiter: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Whether these are estimated; else a compiler has said so.
    pub registers_are_estimated: bool,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The same for each of its threads.
    pub shared_bytes_per_thread: f64,
    /// The least saving that makes room for another block.
    pub up: Option<Step>,
    /// How much more of each resource costs a block.
    pub down: Vec<Step>,
}

/// A change of one resource that changes the number of blocks of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Which resource: registers of a thread, or bytes of a block's shared memory.
    pub resource: String,
    /// By how much.
    pub by: u32,
    /// Blocks of an SM then.
    pub blocks: u32,
}

impl From<cliff::Step> for Step {
    fn from(step: cliff::Step) -> Self {
        let cliff::Step { resource, by, blocks } = step;
        Self { resource: resource.text().to_owned(), by, blocks }
    }
}

/// What the accesses of one place in the source to one array do; lowering may have made
/// several of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessReport {
    /// The line, 1-based.
    pub line: u32,
    /// The array.
    pub array: String,
    /// Where it lies.
    pub space: Space,
    /// What is done.
    pub touches: Touches,
    /// Most elements of one thread's access.
    pub width: u32,
    /// Whether any request makes comparisons first.
    pub is_guarded: bool,
    /// Whether it is a part of asynchronous copies.
    pub is_async: bool,
    /// Requests of warps.
    pub requests: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Sectors that they move.
    pub sectors: u64,
    /// Sectors that as many different bytes of each request take at the least.
    pub ideal_sectors: u64,
    /// Wavefronts that they take.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Requests whose addresses depend on data.
    pub unknown_requests: u64,
    #[serde(skip)]
    pub(super) target: Target,
    #[serde(skip)]
    pub(super) span: SpanId,
}

impl AccessReport {
    /// Bytes asked for over bytes moved, of requests to global memory.
    pub fn efficiency(&self) -> f64 {
        let moved = self.sectors * crate::analyze::sectors::SECTOR_BYTES;
        if moved == 0 { 1.0 } else { (self.bytes as f64 / moved as f64).min(1.0) }
    }
}

/// A condition or a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BranchReport {
    /// The line, 1-based.
    pub line: u32,
    /// Times that a warp comes to it.
    pub warps: u64,
    /// Times that its lanes go both ways.
    pub split: u64,
    /// Times that the outcome depends on data.
    pub unknown: u64,
    #[serde(skip)]
    pub(super) span: SpanId,
}

pub(super) fn accesses(counts: &KernelCounts, spans: &SpanTable) -> Vec<AccessReport> {
    let mut rows: Vec<AccessReport> = Vec::new();
    for site in counts.sites.iter().filter(|site| site.requests > 0) {
        let row = AccessReport {
            line: spans.range(site.span).line,
            array: site.array.clone(),
            space: site.space,
            touches: site.touches,
            width: site.width,
            is_guarded: site.is_guarded,
            is_async: site.is_async,
            requests: site.requests,
            bytes: site.bytes(),
            sectors: site.sectors,
            ideal_sectors: site.ideal_sectors,
            wavefronts: site.wavefronts,
            ideal_wavefronts: site.ideal_wavefronts,
            unknown_requests: site.unknown_requests,
            target: site.target,
            span: site.span,
        };
        let is_same = |known: &&mut AccessReport| {
            let key = |row: &AccessReport| (row.span, row.target, row.touches, row.is_async);
            key(known) == key(&row)
        };
        match rows.iter_mut().find(is_same) {
            None => rows.push(row),
            Some(known) => {
                known.width = known.width.max(row.width);
                known.is_guarded |= row.is_guarded;
                known.requests += row.requests;
                known.bytes += row.bytes;
                known.sectors += row.sectors;
                known.ideal_sectors += row.ideal_sectors;
                known.wavefronts += row.wavefronts;
                known.ideal_wavefronts += row.ideal_wavefronts;
                known.unknown_requests += row.unknown_requests;
            }
        }
    }
    rows.sort_by_key(|row| row.line);
    rows
}

pub(super) fn branches(counts: &KernelCounts, spans: &SpanTable) -> Vec<BranchReport> {
    let mut rows: Vec<BranchReport> = Vec::new();
    let telling = |branch: &&BranchCounts| branch.split > 0 || branch.unknown > 0;
    for branch in counts.branches.iter().filter(telling) {
        let line = spans.range(branch.span).line;
        match rows.iter_mut().find(|known| known.span == branch.span) {
            None => rows.push(BranchReport {
                line,
                warps: branch.warps,
                split: branch.split,
                unknown: branch.unknown,
                span: branch.span,
            }),
            Some(known) => {
                known.warps += branch.warps;
                known.split += branch.split;
                known.unknown += branch.unknown;
            }
        }
    }
    rows.sort_by_key(|row| row.line);
    rows
}
