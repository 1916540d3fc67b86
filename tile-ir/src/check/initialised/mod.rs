//! TK0501: a variable or a tile that may be read before it is written.
//!
//! A variable must have been assigned on every path to its use, or on all that conditions leave
//! open ([`conditional`]). A tile's cell
//! must have been written on every path; that it was is shown by one of:
//!
//! 1. a statement before it writes the whole tile, or all of it that is read anywhere
//!    ([`ends`]): a `load`, an `each`, all work-items together, or loops within these or
//!    shared out among them, whose indices run over the tile's extents;
//! 2. so does a statement whose cells, computed at every point, are all of the tile's
//!    ([`cover`]);
//! 3. the same work-item (or the same point of an `each`) has written an element
//!    with equal indices;
//! 4. one work-item, picked by `if tx == 0`, has written the cell or, with the
//!    others of its row, the whole tile;
//! 5. every work-item has written a cell of its own, and there are as many, or who has counted
//!    has, and the cell is below their number; or the conditions around a store and around the
//!    read say that somebody has written it ([`super::taken`]);
//! 6. whoever comes first to a flag has written it ([`first`]), or the work-item that a cell names
//!    ([`elected`]).
//!
//! Loops may run zero times, unless their trip count is provably at least 1.
//! What none of these shows is decided by running the kernel's skeleton at small
//! sizes ([`crate::solve::skeleton`]), and at those at which comparisons say something
//! new: a read of a cell that nobody has written is the finding. Without such a read the
//! tile is accepted: a part that is left out is left out at one of these sizes too, in one
//! of the blocks that a comparison may ask for. That is so as long as numbers go on evenly from
//! round to round and from size to size; what comes to its cell late, as `s[k / 100000]` and the
//! bits of a counter do, is taken for any number that it may be
//! ([`crate::solve::skeleton`], `late`). So it is with a local array, of which each
//! work-item has cells of its own, and with data: values that loads may give say how far
//! a tile is filled and read, the same value of the same element, and all elements alike.
//! A condition on data goes both ways: where no data that is run takes a comparison both
//! ways, and the ranges of its sides do not say which way it goes, either is possible, for
//! each value by itself. So it is with a condition of several comparisons, and with what
//! scalars, dimensions and coordinates of blocks decide.
//! What stands around a read and around the writes of its tile is made to come together, where
//! sizes, scalars, blocks and elements do that ([`crate::solve::skeleton`], `joint`). A number
//! that a loop makes of data is taken for the one that is asked for, as one that a comparison has
//! not shown yet; of what a loop makes of scalars more of these are run.
//! A place that is made of loaded data itself, as `s[ind[i]]`, may be any; so may one that
//! data chooses, where all that is written is so whatever data is.
//! Where no run comes to its end, it is an error.
//! That the write and the read are ordered is the business of the race rules.
//!
//! A `let` without `mut` that gets its value later gets it once (TK0105).

mod conditional;
mod cover;
mod elected;
mod ends;
mod entered;
mod first;
mod reads;
mod report;
mod state;
mod stmts;
mod writes;

use std::collections::{BTreeMap, BTreeSet};

use self::cover::{Cover, Domain};
use self::ends::Ends;
use self::entered::Numbers;
use self::state::State;
use super::fold::Folds;
use super::poly::{Bounds, Poly};
use super::taken::Taken;
use super::uniform::{Uniformity, WrittenTensors};
use crate::diag::Diagnostics;
use crate::kernel::{ArrayRef, ExprId, Kernel, TileId, VarId, immutable_lets};
use crate::solve::skeleton::Fills;
use crate::span::SpanId;

/// What is known of a kernel, or found out once.
pub(super) struct Facts<'a> {
    uniform: &'a Uniformity,
    folds: &'a Folds,
    taken: Taken<'a>,
}

impl<'a> Facts<'a> {
    /// Of a kernel.
    pub(super) fn of(kernel: &'a Kernel, uniform: &'a Uniformity, folds: &'a Folds) -> Self {
        Self { uniform, folds, taken: Taken::of(kernel, uniform) }
    }
}

/// The tiles of which the text does not show that whatever is read has been written.
pub(super) fn unfilled(kernel: &Kernel, facts: &Facts<'_>) -> BTreeSet<TileId> {
    let mut diags = Diagnostics::new();
    check_initialised(kernel, facts, &Fills::default(), &BTreeSet::new(), &mut diags).tiles
}

/// What may be read before it is written.
#[derive(Default)]
pub(super) struct Reported {
    /// The tiles, and those that are stray.
    pub(super) tiles: BTreeSet<TileId>,
    /// Whether variables are, too.
    pub(super) has_vars: bool,
    /// The places of the reads that no run has been asked about.
    pub(super) unshown: BTreeSet<SpanId>,
}

/// Reports every variable and tile that may be read before it is written; not the
/// tiles that are `stray`: where an access leaves a tile, that comes first.
pub(super) fn check_initialised(
    kernel: &Kernel,
    facts: &Facts<'_>,
    fills: &Fills,
    stray: &BTreeSet<ArrayRef>,
    diags: &mut Diagnostics,
) -> Reported {
    let mut cx = Flow {
        kernel,
        uniform: facts.uniform,
        folds: facts.folds,
        fills,
        taken: &facts.taken,
        written: WrittenTensors::of(kernel),
        lets: immutable_lets(&kernel.body, kernel),
        steps: BTreeMap::new(),
        covers: Vec::new(),
        ends: ends::of(kernel),
        bounds: Bounds::new(kernel),
        divergent: false,
        in_each: false,
        maybe_empty: BTreeSet::new(),
        by_condition: BTreeSet::new(),
        flags: first::flags(kernel),
        firsts: BTreeMap::new(),
        numbers: Numbers::default(),
        starts: BTreeMap::new(),
        reported_tiles: kernel
            .tiles
            .ids()
            .filter(|tile| stray.contains(&ArrayRef::Tile(*tile)))
            .collect(),
        reported_vars: BTreeSet::new(),
        unshown: BTreeSet::new(),
        diags,
    };
    cx.walk(&kernel.body, &mut State::default());
    let has_vars = !cx.reported_vars.is_empty();
    Reported { tiles: cx.reported_tiles, has_vars, unshown: cx.unshown }
}

struct Flow<'a> {
    kernel: &'a Kernel,
    uniform: &'a Uniformity,
    folds: &'a Folds,
    /// What running the kernel at small sizes has shown.
    fills: &'a Fills,
    taken: &'a Taken<'a>,
    /// The tensors that the kernel stores to.
    written: WrittenTensors,
    lets: BTreeMap<VarId, ExprId>,
    /// How counters that go in steps do, while the loop is looked at.
    steps: BTreeMap<VarId, Domain>,
    /// Stores that may fill their tiles.
    covers: Vec<Cover>,
    /// How far tiles are read.
    ends: Ends,
    bounds: Bounds<'a>,
    /// Whether only some of the work-items (or points) may be here.
    divergent: bool,
    in_each: bool,
    /// The keywords of loops that may run zero times.
    maybe_empty: BTreeSet<SpanId>,
    /// The keywords of `while` loops.
    by_condition: BTreeSet<SpanId>,
    /// The tiles of one cell to which work-items may come first, with what they find.
    flags: BTreeMap<TileId, i128>,
    /// The old values of which one is certain to be this number.
    firsts: BTreeMap<VarId, i128>,
    /// What variables were set to last.
    numbers: Numbers,
    /// By keyword, with what value a `while` loop's counter comes to it.
    starts: BTreeMap<SpanId, Poly>,
    reported_tiles: BTreeSet<TileId>,
    reported_vars: BTreeSet<VarId>,
    /// The reads that are reported and that no run has been asked about.
    unshown: BTreeSet<SpanId>,
    diags: &'a mut Diagnostics,
}
