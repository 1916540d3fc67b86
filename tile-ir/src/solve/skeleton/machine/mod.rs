//! Running a skeleton at concrete sizes.
//!
//! Statements without a barrier or a cooperative loop inside are run work-item
//! by work-item, or warp by warp in step where something inside concerns a warp;
//! the others by the whole block in step. The order of work-items
//! within an interval shows nowhere: values that they exchange through memory
//! are made up ([`super::data`]), or what was stored, which is found in another
//! order only where there is a race ([`super::plan`]).

mod access;
mod alike;
mod amounts;
mod doubt;
mod elements;
mod late;
mod memory;
mod open;
mod path;
mod reach;
mod rising;
mod settle;
mod sparse;
mod together;
mod told;
mod trips;
mod worker;

use std::collections::{BTreeMap, BTreeSet};

use super::amounts::Amounts;
use super::data::{Pool, of_float, of_integer};
use super::doubts::Doubts;
use super::fill::Fill;
use super::joint::Given;
use super::late::LateAt;
use super::plan::Plan;
use super::shadow::{Mark, Scope, Shadow};
use super::sizes::Sizes;
use super::terms::{Origin, Terms};
use super::types::Types;
use super::value::Value;
use super::wild::Log;
use super::window::{Touched, Windows};
use super::witness::{Context, Points};
use crate::arena::EntityId as _;
use crate::check::WrittenTensors;
use crate::check::interval::Range;
use crate::exchange::{Group, WARP_ITEMS};
use crate::kernel::{ArrayRef, Axis, ExprId, Kernel, Source, VarId, VarKind, eval_index};

use super::Findings;
use memory::Memory;
pub(super) use path::Path;
pub(super) use reach::{binary as made_of, leavers};

/// The values of all variables, for one worker.
pub(super) type Frame = Vec<Value>;

/// Most elements of an array, and work-items of a block, that are run.
const MAX_CELLS: i64 = 1 << 20;
const MAX_ITEMS: i64 = 4096;
/// Stands for an extent of any size: an index that is as large is not followed.
pub(super) const ANY_EXTENT: i64 = 1 << 20;
/// An extent beyond all indices of a run.
pub(super) const NO_EXTENT: i64 = 1 << 40;
/// Iterations of a loop that loaded data ends: where only it matters which cells are
/// read unwritten, as many as a tile has cells, but no more than the second.
const MAX_DATA_TRIPS: usize = 8;
const MAX_DATA_FILLS: usize = 256;

/// Work-items of a warp.
const WARP: usize = WARP_ITEMS as usize;

/// Work-items that do things together.
#[derive(Clone, Copy, Debug)]
struct Team {
    group: Group,
    /// The number of its first work-item.
    first: usize,
}

/// Which blocks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks<'b> {
    /// The first two along each axis, and the last.
    Sample,
    /// All, and both arms of every condition on loaded data.
    All,
    /// Those at these coordinates along each axis; where there are none, as of a sample.
    Asked(&'b [BTreeSet<i64>]),
    /// Those at these coordinates.
    At(&'b [Vec<i64>]),
}

impl Blocks<'_> {
    /// Coordinates along the axis of this number, of so many blocks.
    fn along(self, axis: usize, extent: i64) -> Result<BTreeSet<i64>, Stop> {
        let sample = [0, 1, extent - 1].into_iter();
        let existing = |at: &i64| (0..extent).contains(at);
        match self {
            Self::Sample => Ok(sample.filter(existing).collect()),
            Self::Asked(all) => {
                let asked = all.get(axis).into_iter().flatten().copied();
                Ok(sample.chain(asked).filter(existing).collect())
            }
            Self::All if extent > MAX_ITEMS => Err(Stop::Budget),
            Self::All | Self::At(_) => Ok((0..extent).collect()),
        }
    }
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The budget is used up, or an array is too large.
    Budget,
    /// An assumption does not hold at these sizes, or a loop never ends.
    Excluded,
    /// Work-items part ways around a collective statement; another rule says so.
    Divergent,
    /// Loaded data decides what the block does, and all that it may do is asked for.
    Data,
    /// Every cell is written, and no more is asked of this block.
    Filled,
}

/// One run.
pub(super) struct Machine<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) plan: &'a Plan<'a>,
    pub(super) sizes: &'a Sizes,
    pub(super) types: Types,
    pub(super) pool: &'a Pool,
    /// What the launch gives of which nothing is made up.
    pub(super) given: Option<&'a Given>,
    pub(super) findings: &'a mut Findings,
    pub(super) seed: u32,
    fuel: &'a mut u32,
    /// Whether both arms of conditions on loaded data are run.
    pub(super) both: bool,
    /// What is decided of loops and conditions of the block's that are open; `None`
    /// where no run goes on beyond them.
    path: Option<&'a mut Path>,
    /// Whether what a path has in common with the one before is not entered again.
    skips: bool,
    /// Whether of long loops the first rounds and the last ones are run, where that can be.
    is_sparse: bool,
    /// The numbers near which rounds of theirs are run, too.
    sparse_at: BTreeSet<i64>,
    /// Where atomics update one after the other what is 0 at first: the old value that decides.
    pub(super) counting: Option<Source>,
    /// What some update has found is made up.
    pub(super) is_guessed: bool,
    /// Whether a block is run until it updates anything in another interval than this, its first.
    is_cut: bool,
    first_update: Option<u32>,
    /// Whether it is told apart of what loaded elements values are made.
    pub(super) shares: bool,
    /// Whether of the work-items the last one comes first.
    is_backwards: bool,
    /// Iterations of a loop that loaded data ends.
    data_trips: usize,
    /// Whether it is known that nothing collides, so that who reads a cell matters to nobody.
    pub(super) only_fills: bool,
    /// The comparisons that may come out either way.
    pub(super) doubts: Option<&'a Doubts>,
    /// The numbers that are taken for any that they may come to.
    pub(super) late: Option<&'a LateAt<'a>>,
    /// Whether some number has been taken for another one though no data decide it, so that
    /// what follows may be no run of the kernel.
    pub(super) is_made_up: bool,
    /// Whether a difference has wrapped that numbers are made of that launches bound.
    pub(super) has_lessened: bool,
    /// Whether no more is asked of a block than which cells it reads unwritten.
    pub(super) until_filled: bool,
    /// Cells of tiles under watch that this block has not written yet; none where one has
    /// been read.
    pub(super) left: Option<usize>,
    /// What the one array under watch is touched at, where that is asked.
    pub(super) touched: Option<&'a mut Windows>,
    of_block: Touched,
    written: WrittenTensors,
    /// By array (tensors first): extents, and the tables of those under watch.
    pub(super) extents: Vec<Vec<i64>>,
    shadows: Vec<Vec<Shadow>>,
    /// By array, where a load's value can matter: its accesses.
    logs: Vec<Log>,
    /// What tiles hold that are followed.
    memory: Memory,
    /// By array: the cells of a tile under watch.
    pub(super) fills: Vec<Option<Fill>>,
    /// Every iteration of a loop so far; the first stands for none.
    pub(super) contexts: Vec<Context>,
    /// Every run of a cooperative loop so far.
    pub(super) points: Vec<Points<'a>>,
    /// Coordinates of the blocks that were run.
    pub(super) blocks: Vec<Vec<i64>>,
    pub(super) block_extents: Vec<i64>,
    next_worker: u32,
    /// By expression: its value, where sizes alone decide it.
    pub(super) fixed: Vec<Option<Value>>,
    pub(super) now: Mark,
    /// What open values have in common.
    pub(super) terms: Terms,
    /// What loaded data makes, where that is followed: values have its numbers for terms.
    pub(super) amounts: Option<Amounts>,
    /// Between which numbers variables lie that the text sets to numbers, where that matters.
    assigned: BTreeMap<VarId, Range>,
    /// The conditions on loaded data around what is run.
    guards: Vec<reach::Guard>,
    /// By warp: its barriers so far.
    epochs: Vec<u32>,
    interval: u32,
}

impl<'a> Machine<'a> {
    /// A run of `plan` at `sizes` that takes what it costs off `fuel`.
    pub(super) fn new(
        kernel: &'a Kernel,
        plan: &'a Plan<'a>,
        sizes: &'a Sizes,
        pool: &'a Pool,
        findings: &'a mut Findings,
        fuel: &'a mut u32,
    ) -> Self {
        Self {
            kernel,
            plan,
            sizes,
            types: Types::of(kernel),
            pool,
            given: None,
            findings,
            seed: sizes.seed,
            fuel,
            both: false,
            path: None,
            skips: false,
            is_sparse: false,
            sparse_at: BTreeSet::new(),
            counting: None,
            is_guessed: false,
            is_cut: false,
            first_update: None,
            shares: false,
            is_backwards: false,
            data_trips: MAX_DATA_TRIPS,
            only_fills: false,
            doubts: None,
            late: None,
            is_made_up: false,
            has_lessened: false,
            until_filled: false,
            left: None,
            touched: None,
            of_block: Touched::default(),
            written: WrittenTensors::of(kernel),
            extents: Vec::new(),
            shadows: Vec::new(),
            logs: Vec::new(),
            memory: Memory::default(),
            fills: Vec::new(),
            contexts: vec![Context::default()],
            points: Vec::new(),
            blocks: Vec::new(),
            block_extents: Vec::new(),
            next_worker: 0,
            fixed: Vec::new(),
            now: Mark::default(),
            terms: Terms::default(),
            amounts: None,
            assigned: BTreeMap::new(),
            guards: Vec::new(),
            epochs: Vec::new(),
            interval: 1,
        }
    }

    /// The same run, with type parameters bound so.
    pub(super) fn with_types(self, types: &Types) -> Self {
        Self { types: types.clone(), ..self }
    }

    /// The same run, in which this is given.
    pub(super) fn given(self, given: Option<&'a Given>) -> Self {
        Self { given, ..self }
    }

    /// The same run along a path.
    pub(super) fn along(self, path: &'a mut Path) -> Self {
        Self { path: Some(path), ..self }
    }

    /// The same run, one of several of which only together is asked what collides between
    /// barriers.
    pub(super) fn skipping(self, skips: bool) -> Self {
        Self { skips, ..self }
    }

    /// The same run, in which atomics update what is 0 at first; `old` is the value that
    /// decides about what is found. The work-items come in order, or the last one first.
    pub(super) fn counting(self, old: Source, is_backwards: bool) -> Self {
        Self { counting: Some(old), is_backwards, ..self }
    }

    /// The same run, in which each block comes as far as to updates after the barrier behind its
    /// first ones, before any goes on: it is looked at no further.
    pub(super) fn until_second_updates(self, is_cut: bool) -> Self {
        Self { is_cut, ..self }
    }

    /// The same run, in which values are known to be one where they are made of the same
    /// loaded elements.
    pub(super) fn by_elements(self) -> Self {
        Self { shares: true, ..self }
    }

    /// The same run, of which it is known that nothing collides.
    pub(super) fn for_fills(self, is_proved: bool) -> Self {
        Self { only_fills: is_proved, ..self }
    }

    /// The same run, of which nothing else may be asked than which cells are read unwritten.
    pub(super) fn until_filled(self, is_all: bool) -> Self {
        Self { until_filled: is_all, ..self }
    }

    /// Whether what is done here is known from the path before.
    fn is_repeated(&self) -> bool {
        let is_repeated = |path: &&mut Path| path.is_repeated(self.interval);
        self.skips && self.path.as_ref().is_some_and(is_repeated)
    }

    /// The same run, of which `windows` take what the array under watch is touched at.
    pub(super) fn noting(self, windows: &'a mut Windows) -> Self {
        Self { touched: Some(windows), ..self }
    }

    /// Runs the blocks that matter.
    pub(super) fn run(mut self, which: Blocks<'_>) -> Result<(), Stop> {
        self.both = which == Blocks::All;
        self.set_up_arrays()?;
        let base = self.base_frame();
        self.fix(&base)?;
        let (kernel, sizes) = (self.kernel, self.sizes);
        let mut blocks: Vec<Vec<i64>> = vec![Vec::new()];
        for (number, axis) in kernel.grid.iter().enumerate() {
            if matches!(which, Blocks::At(_)) {
                break;
            }
            let along = if sizes.open.contains(&axis.var) {
                BTreeSet::from([0])
            } else {
                which.along(number, self.size(axis.extent).ok_or(Stop::Budget)?)?
            };
            blocks = blocks
                .iter()
                .flat_map(|block| along.iter().map(|at| [block.as_slice(), &[*at]].concat()))
                .collect();
        }
        if let Blocks::At(given) = which {
            blocks = self.existing(given)?;
        }
        if !self.plan.depends_on_block() {
            // How many there are is no matter, where all sizes are run: there is one.
            if which == Blocks::All {
                blocks = vec![vec![0; kernel.grid.len()]];
            }
            blocks.truncate(1);
        }
        let axes = kernel.block.as_deref().unwrap_or_default();
        let extents: Option<Vec<i64>> = axes.iter().map(|axis| self.size(axis.extent)).collect();
        self.block_extents = extents.ok_or(Stop::Budget)?;
        let items = count(&self.block_extents, MAX_ITEMS)?;
        for (number, block) in blocks.into_iter().enumerate() {
            let mut frame = base.clone();
            for (axis, at) in kernel.grid.iter().zip(&block) {
                frame[axis.var.index()] = self.open(Value::index(*at), axis.var);
            }
            self.blocks.push(block);
            self.renew_fills();
            self.renew_memory();
            self.first_update = None;
            self.now.block = number as u32;
            self.now.context = 0;
            self.next_worker = items as u32;
            let mut frames = vec![frame; items];
            for (item, frame) in frames.iter_mut().enumerate() {
                place(axes, &self.block_extents, item, frame);
            }
            let plan = self.plan;
            let team = Team { group: Group::Block, first: 0 };
            match self.together(&plan.body, &mut frames, team) {
                Ok(()) | Err(Stop::Filled) => self.end_interval(),
                Err(stop) => {
                    if stop == Stop::Budget && self.only_fills {
                        self.keep_unwritten();
                    }
                    return Err(stop);
                }
            }
        }
        self.note_filled();
        if let Some(windows) = &mut self.touched {
            windows.add(std::mem::take(&mut self.of_block), &self.terms);
        }
        // Every block has tiles of its own.
        for slot in 0..kernel.tensors.len().min(self.logs.len()) {
            for pair in self.logs[slot].end_grid(self.amounts.as_ref()) {
                self.leave_open(Scope::Grid, pair);
            }
        }
        Ok(())
    }

    /// Those of the `given` blocks that the grid has.
    fn existing(&self, given: &[Vec<i64>]) -> Result<Vec<Vec<i64>>, Stop> {
        let axes = self.kernel.grid.iter();
        let extents: Option<Vec<i64>> = axes.map(|axis| self.size(axis.extent)).collect();
        let extents = extents.ok_or(Stop::Budget)?;
        let mut blocks = given.to_vec();
        blocks.dedup();
        blocks.retain(|block| block.iter().zip(&extents).all(|(at, n)| (0..*n).contains(at)));
        Ok(blocks)
    }

    /// An update whose old value matters is made.
    fn note_update(&mut self) -> Result<(), Stop> {
        let first = *self.first_update.get_or_insert(self.interval);
        if self.is_cut && first < self.interval { Err(Stop::Filled) } else { Ok(()) }
    }

    /// Separates what was done from what follows.
    pub(super) fn end_interval(&mut self) {
        self.end_fills();
        self.interval += 1;
        for slot in 0..self.logs.len() {
            let (undecided, met) = self.logs[slot].end_interval(self.amounts.as_ref());
            undecided.into_iter().for_each(|pair| self.leave_open(Scope::Block, pair));
            met.into_iter().for_each(|met| self.keep_example(met));
        }
    }

    fn set_up_arrays(&mut self) -> Result<(), Stop> {
        let kernel = self.kernel;
        let tensors = kernel.tensors.ids().map(ArrayRef::Tensor);
        for array in tensors.chain(kernel.tiles.ids().map(ArrayRef::Tile)) {
            let extents: Option<Vec<i64>> =
                kernel.extents(array).iter().map(|extent| self.size(*extent)).collect();
            let extents = extents.ok_or(Stop::Budget)?;
            let mut shadows = Vec::new();
            let mut fill = None;
            let is_local = kernel.is_local(array);
            if self.plan.sites.iter().any(|site| site.array == array) {
                let len = count(&extents, MAX_CELLS).ok();
                if !is_local {
                    shadows.push(Shadow::new(Scope::Block, len, self.plan.orders_warps));
                }
                match array {
                    ArrayRef::Tensor(_) => shadows.push(Shadow::new(Scope::Grid, len, false)),
                    ArrayRef::Tile(_) if is_local => fill = len.and_then(|len| self.own_fill(len)),
                    ArrayRef::Tile(_) => {
                        let len = len.ok_or(Stop::Budget)?;
                        fill = Some(Fill::new(len));
                        if self.only_fills {
                            self.data_trips = self.data_trips.max(len.min(MAX_DATA_FILLS));
                        }
                    }
                }
            }
            self.fills.push(fill);
            self.extents.push(extents);
            self.shadows.push(shadows);
        }
        if (self.plan.uses_data || !self.sizes.open.is_empty()) && !self.only_fills {
            self.logs.resize_with(self.extents.len(), Log::default);
        }
        Ok(())
    }

    /// The cells of an array of each work-item's own; `None` where there are no work-items, or
    /// too many cells.
    fn own_fill(&mut self, len: usize) -> Option<Fill> {
        let axes = self.kernel.block.as_ref()?;
        let extents: Option<Vec<i64>> = axes.iter().map(|axis| self.size(axis.extent)).collect();
        let items = count(&extents?, MAX_ITEMS).ok()?;
        ((items + 1).checked_mul(len)? <= MAX_CELLS as usize).then(|| {
            if self.only_fills {
                self.data_trips = self.data_trips.max(len.min(MAX_DATA_FILLS));
            }
            Fill::of_each(items, len)
        })
    }

    fn base_frame(&self) -> Frame {
        let values = self.kernel.vars.iter().map(|(id, var)| {
            let value = self.sizes.values[id.index()].unwrap_or(0);
            let value = match var.kind {
                VarKind::Scalar(_) => {
                    let dtype = self.types.of_type(var.ty);
                    let real = self.given.and_then(|given| given.scalars.get(&id));
                    Value::scalar(match real {
                        Some(real) => of_float(*real, dtype),
                        None => of_integer(value, dtype),
                    })
                }
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => Value::index(value),
            };
            self.open(value, id)
        });
        let mut frame: Frame = values.collect();
        frame.resize(self.plan.locals.variables(), Value::default());
        frame
    }

    /// The value of a variable of the launch or the grid, which may be left open.
    fn open(&self, value: Value, var: VarId) -> Value {
        match self.sizes.source(var) {
            Some(source) => {
                let term = match &self.amounts {
                    Some(amounts) => amounts.launched(var),
                    None => self.terms.of(Origin::Var(var)),
                };
                value.tainted(Some(source)).with_term(term)
            }
            None => value,
        }
    }

    /// The value of an expression over tile parameters and dimensions.
    fn size(&self, expr: ExprId) -> Option<i64> {
        let var = |var: VarId| self.sizes.values[var.index()].map(i128::from);
        eval_index(self.kernel, expr, &var).and_then(|value| i64::try_from(value).ok())
    }

    /// Goes on as this work-item.
    pub(super) fn set_worker(&mut self, item: usize) {
        self.now.worker = item as u32;
        self.now.warp = Some((item / WARP) as u32);
        self.now.epoch = self.epochs.get(item / WARP).copied().unwrap_or(0);
    }

    /// Separates what a warp did from what it does next.
    fn end_warp_interval(&mut self, warp: usize) {
        if self.epochs.len() <= warp {
            self.epochs.resize(warp + 1, 0);
        }
        self.epochs[warp] += 1;
    }

    /// Barriers so far.
    pub(super) fn interval(&self) -> u32 {
        self.interval
    }

    pub(super) fn is_written(&self, array: ArrayRef) -> bool {
        match array {
            ArrayRef::Tensor(tensor) => self.written.contains(tensor),
            ArrayRef::Tile(_) => true,
        }
    }
}

/// Sets the axes' variables to the `number`-th point of their domain.
fn place(axes: &[Axis], extents: &[i64], mut number: usize, frame: &mut Frame) {
    for (axis, extent) in axes.iter().zip(extents).rev() {
        let extent = (*extent).max(1) as usize;
        frame[axis.var.index()] = Value::index((number % extent) as i64);
        number /= extent;
    }
}

/// The number of points of a domain.
fn count(extents: &[i64], most: i64) -> Result<usize, Stop> {
    let points =
        extents.iter().try_fold(1i64, |product, extent| product.checked_mul((*extent).max(0)));
    let points = points.filter(|points| *points <= most).ok_or(Stop::Budget)?;
    usize::try_from(points).map_err(|_| Stop::Budget)
}
