//! Running a skeleton at concrete sizes.
//!
//! Statements without a barrier or a cooperative loop inside are run work-item
//! by work-item; the others by the whole block in step. The order of work-items
//! within an interval shows nowhere: values that they exchange through memory
//! are made up ([`super::data`]).

use std::collections::BTreeSet;

use super::data::Pool;
use super::eval::{Types, Value};
use super::fill::Fill;
use super::plan::{Node, Plan, SiteId};
use super::shadow::{Mark, Scope, Shadow};
use super::sizes::Sizes;
use super::wild::Log;
use super::witness::{Context, Points};
use crate::arena::EntityId as _;
use crate::check::WrittenTensors;
use crate::kernel::{
    Access, ArrayRef, Axis, ExprId, Kernel, LoopRange, Source, VarId, VarKind, eval_index,
};
use crate::span::SpanId;

use super::Findings;

/// The values of all variables, for one worker.
pub(super) type Frame = Vec<Value>;

/// Most elements of an array, and work-items of a block, that are run.
const MAX_CELLS: i64 = 1 << 20;
const MAX_ITEMS: i64 = 4096;
/// Stands for an extent of any size: an index that is as large is not followed.
pub(super) const ANY_EXTENT: i64 = 1 << 20;
/// Iterations of a loop that loaded data ends.
const MAX_DATA_TRIPS: usize = 8;

/// Counter values of a loop, and what from memory decides how many they are.
type Trips = (Vec<Value>, Option<Source>);

/// Which blocks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// The first two along each axis, and the last.
    Sample,
    /// All, and both arms of every condition on loaded data.
    All,
}

impl Blocks {
    /// Coordinates along an axis of so many blocks.
    fn along(self, extent: i64) -> Result<BTreeSet<i64>, Stop> {
        match self {
            Self::Sample => {
                Ok([0, 1, extent - 1].into_iter().filter(|at| (0..extent).contains(at)).collect())
            }
            Self::All if extent > MAX_ITEMS => Err(Stop::Budget),
            Self::All => Ok((0..extent).collect()),
        }
    }
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The budget is used up, or an array is too large.
    Budget,
    /// An assumption does not hold at these sizes.
    Excluded,
    /// Work-items part ways around a collective statement; another rule says so.
    Divergent,
    /// Loaded data decides what the block does, and all that it may do is asked for.
    Data,
}

/// One run.
pub(super) struct Machine<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) plan: &'a Plan<'a>,
    pub(super) sizes: &'a Sizes,
    pub(super) types: Types,
    pub(super) pool: &'a Pool,
    pub(super) findings: &'a mut Findings,
    pub(super) seed: u32,
    fuel: &'a mut u32,
    /// Whether both arms of conditions on loaded data are run.
    pub(super) both: bool,
    written: WrittenTensors,
    /// By array (tensors first): extents, and the tables of those under watch.
    pub(super) extents: Vec<Vec<i64>>,
    shadows: Vec<Vec<Shadow>>,
    /// By array, where a load's value can matter: its accesses.
    logs: Vec<Log>,
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
    pub(super) now: Mark,
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
            findings,
            seed: sizes.seed,
            fuel,
            both: false,
            written: WrittenTensors::of(kernel),
            extents: Vec::new(),
            shadows: Vec::new(),
            logs: Vec::new(),
            fills: Vec::new(),
            contexts: vec![Context::default()],
            points: Vec::new(),
            blocks: Vec::new(),
            block_extents: Vec::new(),
            next_worker: 0,
            now: Mark { site: 0, worker: 0, block: 0, context: 0, cause: None },
            interval: 1,
        }
    }

    /// Runs the blocks that matter.
    pub(super) fn run(mut self, which: Blocks) -> Result<(), Stop> {
        self.both = which == Blocks::All;
        self.set_up_arrays()?;
        let base = self.base_frame();
        let kernel = self.kernel;
        let mut blocks: Vec<Vec<i64>> = vec![Vec::new()];
        for axis in &kernel.grid {
            let extent = self.size(axis.extent).ok_or(Stop::Budget)?;
            let along = which.along(extent)?;
            blocks = blocks
                .iter()
                .flat_map(|block| along.iter().map(|at| [block.as_slice(), &[*at]].concat()))
                .collect();
        }
        if !self.plan.depends_on_block() {
            blocks.truncate(1);
        }
        let axes = kernel.block.as_deref().unwrap_or_default();
        let extents: Option<Vec<i64>> = axes.iter().map(|axis| self.size(axis.extent)).collect();
        self.block_extents = extents.ok_or(Stop::Budget)?;
        let items = count(&self.block_extents, MAX_ITEMS)?;
        for (number, block) in blocks.into_iter().enumerate() {
            let mut frame = base.clone();
            for (axis, at) in kernel.grid.iter().zip(&block) {
                frame[axis.var.index()] = Value::index(*at);
            }
            self.blocks.push(block);
            self.renew_fills();
            self.now.block = number as u32;
            self.now.context = 0;
            self.next_worker = items as u32;
            let mut frames = vec![frame; items];
            for (item, frame) in frames.iter_mut().enumerate() {
                place(axes, &self.block_extents, item, frame);
            }
            let plan = self.plan;
            self.block(&plan.body, &mut frames)?;
            self.end_interval();
        }
        self.note_filled();
        // Every block has tiles of its own.
        for slot in 0..kernel.tensors.len().min(self.logs.len()) {
            for pair in self.logs[slot].end_grid() {
                self.leave_open(Scope::Grid, pair);
            }
        }
        Ok(())
    }

    /// Separates what was done from what follows.
    pub(super) fn end_interval(&mut self) {
        self.end_fills();
        self.interval += 1;
        for slot in 0..self.logs.len() {
            for pair in self.logs[slot].end_interval() {
                self.leave_open(Scope::Block, pair);
            }
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
            let is_shared = !kernel.is_local(array);
            if is_shared && self.plan.sites.iter().any(|site| site.array == array) {
                let len = count(&extents, MAX_CELLS).ok();
                shadows.push(Shadow::new(Scope::Block, len));
                match array {
                    ArrayRef::Tensor(_) => shadows.push(Shadow::new(Scope::Grid, len)),
                    ArrayRef::Tile(_) => fill = Some(Fill::new(len.ok_or(Stop::Budget)?)),
                }
            }
            self.fills.push(fill);
            self.extents.push(extents);
            self.shadows.push(shadows);
        }
        if self.plan.uses_data {
            self.logs.resize_with(self.extents.len(), Log::default);
        }
        Ok(())
    }

    fn base_frame(&self) -> Frame {
        let values = self.kernel.vars.iter().map(|(id, var)| {
            let value = self.sizes.values[id.index()].unwrap_or(0);
            match var.kind {
                VarKind::Scalar(_) => {
                    Value::scalar(super::data::of_integer(value, self.types.of_type(var.ty)))
                }
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => Value::index(value),
            }
        });
        values.collect()
    }

    /// The value of an expression over tile parameters and dimensions.
    fn size(&self, expr: ExprId) -> Option<i64> {
        let var = |var: VarId| self.sizes.values[var.index()].map(i128::from);
        eval_index(self.kernel, expr, &var).and_then(|value| i64::try_from(value).ok())
    }

    /// Goes on as this work-item.
    pub(super) fn set_worker(&mut self, item: usize) {
        self.now.worker = item as u32;
    }

    /// A load that decides that this point is reached.
    pub(super) fn cause(&self) -> Option<Source> {
        self.now.cause
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

    // The whole block.

    fn block(&mut self, nodes: &'a [Node<'a>], frames: &mut [Frame]) -> Result<(), Stop> {
        let mut rest = nodes;
        while !rest.is_empty() {
            let own = rest.iter().take_while(|node| !node.is_collective()).count();
            let (items, from) = rest.split_at(own);
            if own > 0 {
                for (item, frame) in frames.iter_mut().enumerate() {
                    self.now.worker = item as u32;
                    self.items(items, frame)?;
                }
            }
            let Some((node, after)) = from.split_first() else { break };
            self.collective(node, frames)?;
            rest = after;
        }
        Ok(())
    }

    fn collective(&mut self, node: &'a Node<'a>, frames: &mut [Frame]) -> Result<(), Stop> {
        match node {
            Node::Barrier => {
                self.end_interval();
                Ok(())
            }
            Node::Exchange { var, op, value } => self.exchange(*var, *op, *value, frames),
            Node::Each { axes, body, head } => self.each(axes, body, *head, frames),
            Node::Loop { var, range, body, head, .. } => {
                let trips = self.agree(frames, |machine, frame| machine.trips(frame, range))?;
                let Some((trips, data)) = trips else { return Ok(()) };
                self.need_known(data)?;
                let outer = self.now;
                self.now.cause = self.now.cause.or(data);
                for (trip, value) in trips.into_iter().enumerate() {
                    frames.iter_mut().for_each(|frame| frame[var.index()] = value);
                    self.iterate(outer.context, Some((*var, value.as_index())), *head, trip, true)?;
                    self.block(body, frames)?;
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                Ok(())
            }
            Node::While { cond, body, head, .. } => {
                let outer = self.now;
                for trip in 0.. {
                    let cond = self.agree(frames, |machine, frame| machine.eval(frame, *cond))?;
                    let Some(cond) = cond else { break };
                    self.need_known(cond.data)?;
                    if !cond.is_true() {
                        break;
                    }
                    if cond.data.is_some() && trip == MAX_DATA_TRIPS {
                        break;
                    }
                    self.now.cause = self.now.cause.or(cond.data);
                    self.iterate(outer.context, None, *head, trip, true)?;
                    self.block(body, frames)?;
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                Ok(())
            }
            Node::If { cond, then, otherwise, .. } => {
                let cond = self.agree(frames, |machine, frame| machine.eval(frame, *cond))?;
                let Some(cond) = cond else { return Ok(()) };
                self.need_known(cond.data)?;
                let outer = self.now.cause;
                self.now.cause = self.now.cause.or(cond.data);
                self.block(if cond.is_true() { then } else { otherwise }, frames)?;
                self.now.cause = outer;
                Ok(())
            }
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Touch(_)
            | Node::Access { .. }
            | Node::Assume(_) => Ok(()),
        }
    }

    /// What all work-items agree on; `None` where there is none.
    fn agree<T: PartialEq>(
        &mut self,
        frames: &[Frame],
        mut of: impl FnMut(&mut Self, &Frame) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let mut common = None;
        for (item, frame) in frames.iter().enumerate() {
            self.now.worker = item as u32;
            let own = of(self, frame)?;
            if common.as_ref().is_some_and(|common| *common != own) {
                return Err(Stop::Divergent);
            }
            common = Some(own);
        }
        Ok(common)
    }

    fn each(
        &mut self,
        axes: &'a [Axis],
        body: &'a [Node<'a>],
        head: SpanId,
        frames: &[Frame],
    ) -> Result<(), Stop> {
        let Some(frame) = frames.first() else { return Ok(()) };
        let extents: Option<Vec<i64>> = axes.iter().map(|axis| self.size(axis.extent)).collect();
        let extents = extents.ok_or(Stop::Budget)?;
        let n_points = count(&extents, MAX_CELLS)?;
        let first = self.next_worker;
        self.next_worker = first.saturating_add(n_points as u32);
        let block = self.now.block;
        self.points.push(Points { block, first, extents: extents.clone(), axes, head });
        let mut frame = frame.clone();
        for point in 0..n_points {
            self.now.worker = first + point as u32;
            place(axes, &extents, point, &mut frame);
            self.items(body, &mut frame)?;
        }
        Ok(())
    }

    /// Ends a run of all that may be where loaded data decides what is run.
    fn need_known(&self, data: Option<Source>) -> Result<(), Stop> {
        if self.both && data.is_some() { Err(Stop::Data) } else { Ok(()) }
    }

    // One worker.

    fn items(&mut self, nodes: &'a [Node<'a>], frame: &mut Frame) -> Result<(), Stop> {
        for node in nodes {
            self.item(node, frame)?;
        }
        Ok(())
    }

    fn item(&mut self, node: &'a Node<'a>, frame: &mut Frame) -> Result<(), Stop> {
        match node {
            Node::Set { var, op, value } => {
                let mut result = self.eval(frame, *value)?;
                if let Some(op) = op {
                    let ty = self.kernel.vars[*var].ty;
                    result = self.binary(*op, ty, frame[var.index()], result);
                }
                frame[var.index()] = result.tainted(self.now.cause);
            }
            Node::Old { var, array } => {
                self.burn()?;
                frame[var.index()] = self.old_value(*array, *var).tainted(self.now.cause);
            }
            Node::Touch(expr) => self.touch(frame, *expr)?,
            Node::Assume(cond) => {
                if !self.eval(frame, *cond)?.is_true() {
                    return Err(Stop::Excluded);
                }
            }
            Node::Access { access, site } => {
                let Access { indices, .. } = access;
                let (indices, _) = self.indices(frame, indices)?;
                self.enter(*site, &indices)?;
            }
            Node::Loop { var, range, body, head, .. } => {
                let (trips, data) = self.trips(frame, range)?;
                self.need_known(data)?;
                let outer = self.now;
                self.now.cause = self.now.cause.or(data);
                for (trip, value) in trips.into_iter().enumerate() {
                    frame[var.index()] = value;
                    self.iterate(
                        outer.context,
                        Some((*var, value.as_index())),
                        *head,
                        trip,
                        false,
                    )?;
                    self.items(body, frame)?;
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
            }
            Node::While { cond, body, head, .. } => {
                let outer = self.now;
                for trip in 0.. {
                    let cond = self.eval(frame, *cond)?;
                    self.need_known(cond.data)?;
                    if !cond.is_true() || (cond.data.is_some() && trip == MAX_DATA_TRIPS) {
                        break;
                    }
                    self.now.cause = self.now.cause.or(cond.data);
                    self.iterate(outer.context, None, *head, trip, false)?;
                    self.items(body, frame)?;
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
            }
            Node::If { cond, then, otherwise, assigned, .. } => {
                let cond = self.eval(frame, *cond)?;
                let outer = self.now.cause;
                self.now.cause = self.now.cause.or(cond.data);
                let (run, other) =
                    if cond.is_true() { (then, otherwise) } else { (otherwise, then) };
                if self.both && cond.data.is_some() {
                    self.items(other, &mut frame.clone())?;
                }
                self.items(run, frame)?;
                self.now.cause = outer;
                for var in assigned.iter().filter(|_| cond.data.is_some()) {
                    frame[var.index()] = frame[var.index()].tainted(cond.data);
                }
            }
            Node::Each { .. } | Node::Exchange { .. } | Node::Barrier => {
                return Err(Stop::Divergent);
            }
        }
        Ok(())
    }

    /// Counter values of a loop, and what from memory decides how many they are.
    fn trips(&mut self, frame: &Frame, range: &LoopRange) -> Result<Trips, Stop> {
        let limit = *self.fuel as usize;
        let (first, last, mut values): (Value, Value, Vec<i64>) = match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let (first, last) = (self.eval(frame, start)?, self.eval(frame, end)?);
                let step = match step {
                    Some(step) => self.eval(frame, step)?,
                    None => Value::index(1),
                };
                let by = usize::try_from(step.as_index()).ok().filter(|by| *by > 0);
                let values = by
                    .into_iter()
                    .flat_map(|by| (first.as_index()..last.as_index()).step_by(by).take(limit));
                let mut values: Vec<i64> = values.collect();
                if reversed {
                    values.reverse();
                }
                (first.tainted(step.data), last, values)
            }
            LoopRange::Halving(n) => {
                let n = self.eval(frame, n)?;
                let halves = std::iter::successors(Some(n.as_index() / 2), |half| Some(half / 2));
                (Value::index(0), n, halves.take_while(|half| *half > 0).collect())
            }
            LoopRange::Doubling(n) => {
                let n = self.eval(frame, n)?;
                let doubles = std::iter::successors(Some(1i64), |value| value.checked_mul(2));
                (Value::index(0), n, doubles.take_while(|value| *value < n.as_index()).collect())
            }
        };
        let data = first.data.or(last.data);
        if data.is_some() {
            values.truncate(MAX_DATA_TRIPS);
        }
        // A loop from a known start has a known counter, however far it runs.
        let counter = |value| Value::index(value).tainted(first.data);
        Ok((values.into_iter().map(counter).collect(), data))
    }

    fn iterate(
        &mut self,
        parent: u32,
        counter: Option<(VarId, i64)>,
        head: SpanId,
        trip: usize,
        together: bool,
    ) -> Result<(), Stop> {
        self.burn()?;
        let trip = trip as u32;
        self.now.context = self.contexts.len() as u32;
        self.contexts.push(Context { parent, counter, head: Some(head), trip, together });
        Ok(())
    }

    fn burn(&mut self) -> Result<(), Stop> {
        *self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Budget)?;
        Ok(())
    }

    // Accesses.

    /// Who is at it, and when: block, worker, iteration.
    pub(super) fn moment(&self) -> [u32; 3] {
        [self.now.block, self.now.worker, self.now.context]
    }

    /// Position of an element in its array; `None` where it is outside.
    pub(super) fn flat(&self, array: ArrayRef, indices: &[Value]) -> Option<u128> {
        let mut flat = 0;
        for (extent, index) in self.extents[self.slot(array)].iter().zip(indices) {
            let index = index.as_index();
            if index < 0 || index >= *extent {
                return None;
            }
            flat = flat * *extent as u128 + index as u128;
        }
        Some(flat)
    }

    fn slot(&self, array: ArrayRef) -> usize {
        match array {
            ArrayRef::Tensor(id) => id.index(),
            ArrayRef::Tile(id) => self.kernel.tensors.len() + id.index(),
        }
    }

    /// Enters an access. Outside a tensor's shape nothing is accessed, nor
    /// outside a tile's, which is a finding.
    pub(super) fn enter(&mut self, id: SiteId, indices: &[Value]) -> Result<(), Stop> {
        self.burn()?;
        let site = self.plan.sites[id as usize];
        let mark = Mark { site: id, ..self.now };
        let slot = self.slot(site.array);
        if let Some(log) = self.logs.get_mut(slot)
            && !self.kernel.is_local(site.array)
        {
            log.enter(indices, mark, site.kind);
        }
        self.enter_fill(slot, indices, site.kind, mark);
        if indices.iter().any(|index| index.data.is_some()) {
            return Ok(());
        }
        let Some(flat) = self.flat(site.array, indices) else {
            let extents = self.extents[slot].iter().zip(indices);
            if extents
                .clone()
                .any(|(extent, index)| *extent == ANY_EXTENT && index.as_index() >= ANY_EXTENT)
            {
                return Err(Stop::Budget);
            }
            self.note_stray(mark, indices);
            return Ok(());
        };
        let mut shadows = std::mem::take(&mut self.shadows[slot]);
        for shadow in &mut shadows {
            let interval = match shadow.scope() {
                Scope::Block => self.interval,
                Scope::Grid => 1,
            };
            for other in shadow.enter(flat, interval, mark, site.kind).into_iter().flatten() {
                self.collide(shadow.scope(), indices, other, mark);
            }
        }
        self.shadows[slot] = shadows;
        Ok(())
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
