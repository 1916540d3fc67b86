//! Races by enumeration: a kernel's index skeleton, run at concrete sizes.
//!
//! A *skeleton* is what is left of a kernel when everything is cut away that
//! reaches no index and no guard of an array under watch: loops, conditions,
//! barriers, accesses. At concrete sizes ([`sizes`]) every work-item of a block
//! runs it ([`machine`]), and every access is entered in a table that remembers,
//! for each element, who last wrote and who has read it since the last barrier
//! ([`shadow`]). Two accesses of different workers to one element, one of them a
//! write, are a [`Conflict`]. It is exact for the sizes that were run, whatever
//! the arithmetic, and it names the two workers.
//!
//! # Workers
//!
//! A work-item is a worker. So is each point of a cooperative loop, each time the
//! loop runs: which thread runs which point is unspecified. The body of a kernel
//! without a block domain is one worker outside of its cooperative loops.
//!
//! # Order
//!
//! A barrier separates all that a block does before it from all that it does
//! after it; within an interval nothing is ordered, nor is anything between
//! blocks. Loop-carried conflicts need no thought of their own: the tail of one
//! iteration and the head of the next stand in one interval.
//!
//! # Assumptions
//!
//! Sizes and scalars that an `assume` excludes are not run. One about loaded data
//! excludes nothing here; what is found under a condition on data counts only
//! where no proof rules it out ([`super::symbolic`]).
//!
//! # Loaded data
//!
//! What a kernel has stored itself, in tiles and tensors of integers and flags, it finds
//! there again, where no data decides about it ([`plan`]).
//!
//! All else that a load gives is made up, the same for the same element between two
//! barriers, from values that the kernel compares with ([`data`]). A conflict
//! under a condition on such a value is [possible](Conflict::cause): there is
//! data for which it happens. An index computed from such a value says nothing
//! about which element is meant, so the access is compared with the others by
//! its remaining coordinates ([`wild`]); where all is run, by what they are made of, if
//! need be ([`amounts`]). The old value of an atomic update is
//! such data too, another one each time; that it may be a slot of which there is
//! one alone is for the proof to say ([`super::symbolic`]).

mod amounts;
mod asked;
mod assumed;
mod combined;
mod data;
mod doubting;
mod doubts;
mod equations;
mod eval;
mod exchange;
mod exhaust;
mod fill;
mod further;
mod hash;
mod joint;
mod lacking;
mod large;
mod late;
mod leaving;
mod literals;
mod loads;
mod machine;
mod olds;
mod passes;
mod pieces;
mod plain;
mod plan;
mod preimages;
mod probe;
mod reals;
mod resized;
mod shadow;
mod sizes;
mod spans;
mod spilt;
mod stray;
mod terms;
mod thresholds;
mod tile_sizes;
mod trips_of_digits;
mod turns;
mod types;
mod value;
mod wanted;
mod wild;
mod window;
mod wished;
mod witness;

pub(crate) use exhaust::{Exhaustion, combinations, exhaust};
pub(crate) use fill::{Fills, Unwritten};
pub(crate) use further::{follow, look_far, try_other_data};
pub(crate) use leaving::leaving;
pub(crate) use passes::{enumerate, enumerate_within};
pub(crate) use plan::Site;
pub(crate) use probe::probe;
pub(crate) use shadow::Scope;
pub(crate) use spilt::spilt;
pub(crate) use stray::Stray;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Origins;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, Source, TileId, VarId};
use crate::span::SpanId;
use data::Pool;

/// Accesses and loop iterations that are run for one kernel.
pub(crate) const BUDGET: u32 = 200_000;

/// How long a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort<'a> {
    /// Until half of the budget is used up, or all sizes are run.
    Full,
    /// As long as shows most of what there is.
    Short,
    /// A first look, before anything is proved: of what collides for certain nothing
    /// need be.
    Glance,
    /// Where it is proved already that there is no race: for what else a run shows of
    /// tiles. Of that the text may have shown a part.
    Proved {
        /// Of all tiles but these, that none is read before it is written.
        unfilled: &'a BTreeSet<TileId>,
        /// That every access stays in its tile.
        is_inside: bool,
    },
}

impl Effort<'_> {
    /// Accesses and iterations after which no run is begun.
    pub(crate) fn budget(self) -> u32 {
        match self {
            Self::Full => BUDGET / 2,
            Self::Short => BUDGET / 20,
            Self::Glance => BUDGET / 100,
            Self::Proved { unfilled, .. } if unfilled.is_empty() => BUDGET / 32,
            Self::Proved { .. } => BUDGET / 4,
        }
    }
}

/// Two accesses in the text that nothing orders, at least one a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    /// Between which workers nothing orders them.
    pub(crate) scope: Scope,
    /// The one that stands first in program order.
    pub(crate) first: Site,
    /// The other.
    pub(crate) second: Site,
    /// The loop whose iterations separate the two, if they are not of one.
    pub(crate) carried: Option<SpanId>,
}

impl Pair {
    /// The array.
    pub(crate) fn array(&self) -> ArrayRef {
        self.first.array
    }

    /// The two accesses, in an order of their own.
    pub(crate) fn sites(&self) -> (Site, Site) {
        (self.first.min(self.second), self.first.max(self.second))
    }
}

/// A pair that meets at an element, by example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The accesses.
    pub(crate) pair: Pair,
    /// The element, one index per axis.
    pub(crate) element: Vec<i64>,
    /// Who makes the first access.
    pub(crate) first: Party,
    /// Who makes the second.
    pub(crate) second: Party,
    /// What from memory decides whether it happens.
    pub(crate) cause: Option<Source>,
    /// Tile parameters, dimensions and scalars that matter.
    pub(crate) sizes: Vec<(VarId, i64)>,
}

/// One side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Who makes it.
    pub(crate) worker: Worker,
    /// Coordinates of the worker's block.
    pub(crate) block: Vec<(VarId, i64)>,
    /// Counters of the loops around, outermost first.
    pub(crate) counters: Vec<(VarId, i64)>,
}

/// Who makes an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Worker {
    /// A work-item, by its coordinates in the block domain.
    Item(Vec<(VarId, i64)>),
    /// A point of the cooperative loop whose keyword is at the span.
    Point(SpanId, Vec<(VarId, i64)>),
    /// The body of a kernel without a block domain.
    Body,
}

/// What enumeration finds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Pairs that collide, those at the smallest sizes first.
    pub(crate) conflicts: Vec<Conflict>,
    /// Pairs of which data decides whether they do, and where it comes from.
    pub(crate) open: Vec<(Pair, Source)>,
    /// Of pairs within a block of which data decides: data with which they collide.
    pub(crate) examples: BTreeMap<Pair, Conflict>,
    /// Accesses that leave their tile, one for each place in the text.
    pub(crate) strays: Vec<Stray>,
    /// Reads of tiles' cells that nobody has written.
    pub(crate) fills: Fills,
    /// All pairs, of conflicts and open ones.
    pub(crate) known: BTreeSet<Pair>,
}

impl Findings {
    /// The arrays that collide whatever is loaded.
    pub(crate) fn collided(&self) -> BTreeSet<ArrayRef> {
        self.certain().map(|conflict| conflict.pair.array()).collect()
    }

    fn certain(&self) -> impl Iterator<Item = &Conflict> {
        self.conflicts.iter().filter(|conflict| conflict.cause.is_none())
    }

    /// The pairs of which something is left to say.
    pub(crate) fn reported(&self) -> impl Iterator<Item = &Pair> {
        let open = self.open.iter().map(|(pair, _)| pair);
        self.conflicts.iter().map(|conflict| &conflict.pair).chain(open)
    }

    /// Whether it may be that accesses to some tile collide.
    pub(crate) fn may_collide_in_tiles(&self) -> bool {
        self.known.iter().any(|pair| matches!(pair.array(), ArrayRef::Tile(_)))
    }

    /// Adds what another run has shown of reads before writes.
    pub(crate) fn fill(&mut self, other: Self) {
        self.fills.run.extend(other.fills.run);
        self.fills.unwritten.extend(other.fills.unwritten);
        self.fills.chosen.extend(other.fills.chosen);
    }

    /// Adds what runs at other sizes have found, where collisions are not asked for.
    fn find(&mut self, other: Self) {
        for stray in other.strays {
            if self.strays.iter().all(|known| known.site.span != stray.site.span) {
                self.strays.push(stray);
            }
        }
        self.fills.find(other.fills);
    }

    /// Adds what collides for certain in another run, and was not found in this one.
    pub(crate) fn adopt(&mut self, other: &Self) {
        for conflict in other.certain() {
            if self.known.insert(conflict.pair) {
                self.conflicts.push(conflict.clone());
            }
        }
    }
}

/// The assumptions that sizes decide.
fn assumptions(kernel: &Kernel) -> BTreeSet<ExprId> {
    let origins = Origins::of(kernel);
    let is_load = |kind: &ExprKind| matches!(kind, ExprKind::Load(_));
    let mut assumptions: BTreeSet<ExprId> = origins.assumed.iter().copied().collect();
    assumptions.retain(|cond| !origins.reaches(kernel, *cond, &is_load));
    assumptions
}
