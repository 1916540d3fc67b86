//! What a checked launch has found, with the numbers turned into coordinates.

use std::collections::BTreeMap;

use tile_ir::dtype::DType;
use tile_ir::program::DomainId;
use tile_ir::span::SpanId;

use super::code::CompiledKernel;
use super::run::{AccessTally, BranchTally, Case, Log, Stray, Tally, Who, block_coords};
use super::watch::{Lacking, Meeting, Operation, Site};

/// Someone, and when.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    /// The block's coordinates.
    pub(crate) block: Vec<i64>,
    /// The item's number, row-major, and whose; nothing of the block as a whole.
    pub(crate) item: Option<(DomainId, u32)>,
    /// Barriers of the block before it.
    pub(crate) interval: u32,
}

/// A race, or a read of what nobody has written.
#[derive(Clone, Debug)]
pub(crate) struct FoundCase {
    /// The places in the text, in the order of execution; one of a read.
    pub(crate) sites: Vec<(Site, Actor)>,
    /// The array's name.
    pub(crate) array: String,
    /// The element's indices.
    pub(crate) element: Vec<i64>,
    /// How many cases there were.
    pub(crate) count: u64,
}

/// An index outside its array.
#[derive(Clone, Debug)]
pub(crate) struct FoundStray {
    /// Its place in the text.
    pub(crate) site: Site,
    /// Who.
    pub(crate) actor: Actor,
    /// The array's name.
    pub(crate) array: String,
    /// The axis.
    pub(crate) axis: usize,
    /// The index.
    pub(crate) index: i64,
    /// The extent.
    pub(crate) extent: i64,
    /// How many accesses were outside.
    pub(crate) count: u64,
}

/// An operation that was noticed.
#[derive(Clone, Debug)]
pub(crate) struct FoundOdd {
    /// The operation.
    pub(crate) operation: Operation,
    /// Who did it first.
    pub(crate) actor: Actor,
    /// How often it was done.
    pub(crate) count: u64,
}

/// A place to which some work-items come, and some do not.
#[derive(Clone, Debug)]
pub(crate) struct FoundParting {
    /// The place.
    pub(crate) meeting: Meeting,
    /// Who is there.
    pub(crate) present: Actor,
    /// Who is not, of those that should be.
    pub(crate) absent: Option<Actor>,
}

/// Elements of an output that nobody has written.
#[derive(Clone, Debug)]
pub(crate) struct FoundGap {
    /// The tensor's name.
    pub(crate) array: String,
    /// The first element's indices.
    pub(crate) element: Vec<i64>,
    /// How many there are.
    pub(crate) count: u64,
}

/// What the warps of a launch did.
#[derive(Clone, Debug)]
pub(crate) struct FoundCounts {
    /// At each access: its place, the array's name, bytes of an element, counts.
    pub(crate) accesses: Vec<(Site, String, u32, AccessTally)>,
    /// At each condition and loop.
    pub(crate) branches: Vec<(SpanId, BranchTally)>,
    /// Operations, by the types of their results.
    pub(crate) ops: BTreeMap<DType, u64>,
    /// Barriers of all blocks.
    pub(crate) barriers: u64,
    /// Whether no warp was taken apart.
    pub(crate) is_exact: bool,
}

fn counts(kernel: &CompiledKernel, tally: &Tally) -> FoundCounts {
    let sites = kernel.sites.iter().zip(&tally.accesses).map(|(site, counts)| {
        let array = &kernel.arrays[site.array];
        (*site, array.name.clone(), array.dtype.size_bytes(), *counts)
    });
    let mut ops = BTreeMap::new();
    for ((dtype, n), times) in kernel.counted_ops.iter().zip(&tally.ops) {
        *ops.entry(*dtype).or_insert(0) += n * times;
    }
    ops.retain(|_, n| *n > 0);
    FoundCounts {
        accesses: sites.collect(),
        branches: kernel.branches.iter().copied().zip(tally.branches.iter().copied()).collect(),
        ops,
        barriers: tally.barriers,
        is_exact: !tally.is_split,
    }
}

/// What a checked launch has found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Accesses that nothing orders.
    pub(crate) races: Vec<FoundCase>,
    /// Reads of elements of tiles that nobody in the block has written.
    pub(crate) unwritten: Vec<FoundCase>,
    /// Unguarded indices outside their array.
    pub(crate) outside: Vec<FoundStray>,
    /// Accesses that their guards have dropped.
    pub(crate) dropped: Vec<FoundStray>,
    /// Meetings to which some do not come.
    pub(crate) parted: Vec<FoundParting>,
    /// Operations.
    pub(crate) odd: Vec<FoundOdd>,
    /// Outputs with gaps.
    pub(crate) gaps: Vec<FoundGap>,
    /// What warps did, where that was asked for.
    pub(crate) counts: Option<FoundCounts>,
}

/// How arrays lie: extents and strides in elements, by array.
pub(super) type Shapes = Vec<(Vec<i64>, Vec<i64>)>;

/// Turns a log into what can be told.
pub(super) fn describe(kernel: &CompiledKernel, grid: &[i64], shapes: &Shapes, log: Log) -> Found {
    let telling = Telling { kernel, grid, shapes };
    let Log { races, unwritten, outside, hidden, odd, parted, left_out, tally } = log;
    Found {
        counts: tally.map(|tally| counts(kernel, &tally)),
        races: races
            .iter()
            .map(|(&(one, other, _), case)| {
                telling.case(&[(one, case.first), (other, case.second)], case)
            })
            .collect(),
        unwritten: unwritten
            .iter()
            .map(|(&site, case)| telling.case(&[(site, case.second)], case))
            .collect(),
        outside: outside.iter().map(|(&site, stray)| telling.stray(site, stray)).collect(),
        dropped: hidden.iter().map(|(&site, stray)| telling.stray(site, stray)).collect(),
        odd: odd
            .iter()
            .map(|(&operation, odd)| FoundOdd {
                operation: kernel.operations[operation].clone(),
                actor: telling.actor(odd.who),
                count: odd.count,
            })
            .collect(),
        parted: parted
            .iter()
            .map(|(&meeting, case)| FoundParting {
                meeting: kernel.meetings[meeting],
                present: telling.actor(case.first),
                absent: (kernel.meetings[meeting].lacks != Lacking::Agreement)
                    .then(|| telling.actor(case.second)),
            })
            .collect(),
        gaps: left_out
            .iter()
            .map(|(&array, &(first, count))| FoundGap {
                array: kernel.arrays[array].name.clone(),
                element: telling.element(array, first),
                count,
            })
            .collect(),
    }
}

struct Telling<'a> {
    kernel: &'a CompiledKernel,
    grid: &'a [i64],
    shapes: &'a Shapes,
}

impl Telling<'_> {
    fn case(&self, sites: &[(usize, Who)], case: &Case) -> FoundCase {
        let array = sites.first().map_or(0, |(site, _)| self.kernel.sites[*site].array);
        let at = |&(site, who): &(usize, Who)| (self.kernel.sites[site], self.actor(who));
        FoundCase {
            sites: sites.iter().map(at).collect(),
            array: self.kernel.arrays[array].name.clone(),
            element: self.element(array, case.offset),
            count: case.count,
        }
    }

    fn stray(&self, number: usize, stray: &Stray) -> FoundStray {
        let site = self.kernel.sites[number];
        let Stray { who, axis, index, extent, count } = *stray;
        let array = self.kernel.arrays[site.array].name.clone();
        FoundStray { site, actor: self.actor(who), array, axis, index, extent, count }
    }

    fn actor(&self, who: Who) -> Actor {
        let mut block = Vec::new();
        block_coords(self.kernel.raster, self.grid, who.block, &mut block);
        let agents = self.kernel.agents.iter().rev();
        let range = agents.into_iter().find(|agents| agents.base <= who.agent);
        let item = range.map(|agents| (agents.domain, who.agent - agents.base));
        Actor { block, item: item.filter(|_| who.agent > 0), interval: who.interval }
    }

    /// The indices of an element: along the axes of the largest strides first.
    fn element(&self, array: usize, offset: usize) -> Vec<i64> {
        let Some((extents, strides)) = self.shapes.get(array) else { return Vec::new() };
        let mut axes: Vec<usize> = (0..extents.len()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
        let mut rest = i64::try_from(offset).unwrap_or(i64::MAX);
        let mut indices = vec![0; extents.len()];
        for axis in axes {
            if strides[axis] > 0 && extents[axis] > 1 {
                indices[axis] = rest / strides[axis];
                rest %= strides[axis];
            }
        }
        indices
    }
}
