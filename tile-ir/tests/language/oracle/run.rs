//! A kernel at concrete sizes, work-item by work-item, straight from its text:
//! every access with who made it and after how many barriers. It shares nothing
//! with the engines that it judges.

use std::collections::{BTreeMap, HashMap, HashSet};

use tile_ir::check::Exact;
use tile_ir::exchange::{Group, WARP_ITEMS};
use tile_ir::kernel::{
    Access, ArrayRef, Axis, ExprId, Kernel, LoopRange, Place, Stmt, StmtKind, Type, VarId,
};
use tile_ir::op::{AtomicOp, BinaryOp};
use tile_ir::span::SpanId;

use super::eval::{Value, binary};
use super::exchange::Given;
use super::stored::{Cell, Change, Moment, Stored};

/// Steps of one work-item, blocks and accesses of one launch, that are run.
const MAX_STEPS: u32 = 20_000;
const MAX_BLOCKS: usize = 48;
const MAX_ACCESSES: u32 = 100_000;

/// How often a launch is run until its work-items give each other the same.
const MAX_PASSES: u32 = 24;

/// The number from which on workers are points of cooperative loops.
const POINTS: u64 = 1 << 32;

/// What a launch fixes: tile parameters, dimensions, scalars, and what loads give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    pub(crate) values: BTreeMap<VarId, i64>,
    pub(crate) seed: u64,
    /// Whether cells hold what the block has stored in them; else what is read there is
    /// made up too.
    pub(crate) keeps: bool,
}

/// What is seen of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Two workers meet in an element; in words.
    Race(String),
    /// None do, but not all of a block, or of a warp, pass the same barriers.
    Parted,
    /// Neither, but somebody reads a cell of a tile that nobody has written.
    Unwritten(String),
    /// None of these.
    Clean,
    /// A tile is left, or it takes too long.
    Unfit,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
    /// An atomic update that stores, whatever was there.
    Swap,
}

impl Kind {
    /// Whether two accesses in any order may make a difference.
    fn conflicts(self, other: Self) -> bool {
        let is_atomic = |kind| matches!(kind, Self::Atomic | Self::Swap);
        !(is_atomic(self) && is_atomic(other)) && (self != other || self == Self::Write)
    }
}

/// An access that was made.
#[derive(Clone, Debug)]
struct Event {
    block: usize,
    worker: u64,
    interval: u32,
    /// The worker's warp, and after how many of its barriers.
    warp: (u64, u32),
    kind: Kind,
}

/// The barriers that a worker has passed so far, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Passed {
    block: Vec<SpanId>,
    warp: Vec<SpanId>,
}

/// Why a work-item stops.
pub(super) struct Unfit;

pub(super) type Step<T> = Result<T, Unfit>;

/// Runs all work-items of a launch and compares each pair of accesses. One that is refused
/// because a number may leave its type is unfit.
pub(crate) fn run(kernel: &Kernel, launch: &Launch) -> Outcome {
    let value = |var| launch.values.get(&var).copied().map(i128::from);
    if Exact::of(kernel).leaves(kernel, &value).is_some() {
        return Outcome::Unfit;
    }
    let (mut given, mut before) = (Given::default(), Stored::default());
    for _ in 0..MAX_PASSES {
        let mut machine = Machine {
            kernel,
            launch,
            vars: HashMap::new(),
            events: HashMap::new(),
            own: HashSet::new(),
            reads: Vec::new(),
            kept: HashMap::new(),
            given,
            made: Given::default(),
            before,
            stored: Stored::default(),
            met: [0; 2],
            passed: Passed::default(),
            is_parted: false,
            block: 0,
            worker: 0,
            interval: 0,
            epoch: 0,
            points: 0,
            steps: 0,
            accesses: 0,
        };
        match machine.launch() {
            Ok(()) if machine.made == machine.given && machine.stored == machine.before => {
                return machine.compare();
            }
            Ok(()) => (given, before) = (machine.made, machine.stored),
            Err(Unfit) => return Outcome::Unfit,
        }
    }
    Outcome::Unfit
}

pub(super) struct Machine<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) launch: &'a Launch,
    pub(super) vars: HashMap<VarId, Value>,
    events: HashMap<(ArrayRef, Vec<i64>), Vec<Event>>,
    /// The cells that the present block's workers have written, by worker.
    own: HashSet<(u64, ArrayRef, Vec<i64>)>,
    /// Reads of cells that the reader has not written.
    reads: Vec<(ArrayRef, Vec<i64>, Event)>,
    /// What the worker's own arrays hold.
    pub(super) kept: HashMap<(ArrayRef, Vec<i64>), Value>,
    /// What operations of several work-items are given in this run, and in the one before.
    pub(super) made: Given,
    pub(super) given: Given,
    /// What is stored in tiles in the run before, and in this one.
    before: Stored,
    stored: Stored,
    /// How many of a block, and of a warp, the work-item has come by.
    pub(super) met: [usize; 2],
    passed: Passed,
    is_parted: bool,
    block: usize,
    worker: u64,
    interval: u32,
    epoch: u32,
    /// Points of cooperative loops that were run in this block.
    points: u64,
    steps: u32,
    accesses: u32,
}

impl Machine<'_> {
    fn launch(&mut self) -> Step<()> {
        let kernel = self.kernel;
        let mut blocks = self.points_of(&kernel.grid)?;
        if blocks.len() > MAX_BLOCKS {
            let last = blocks.pop();
            blocks.truncate(MAX_BLOCKS - 1);
            blocks.extend(last);
        }
        for (number, block) in blocks.into_iter().enumerate() {
            self.block = number;
            self.points = 0;
            self.own.clear();
            let axes = kernel.block.as_deref().unwrap_or_default();
            let mut first: Option<Passed> = None;
            for (worker, item) in self.points_of(axes)?.into_iter().enumerate() {
                self.vars.clear();
                for (axis, at) in kernel.grid.iter().zip(&block).chain(axes.iter().zip(&item)) {
                    self.vars.insert(axis.var, Value::Int(*at));
                }
                self.kept.clear();
                (self.worker, self.interval, self.steps) = (worker as u64, 0, 0);
                self.epoch = 0;
                self.met = [0; 2];
                self.passed = Passed::default();
                self.stmts(&kernel.body)?;
                let is_first_of_warp = worker.is_multiple_of(WARP_ITEMS as usize);
                let first = first.get_or_insert_with(|| self.passed.clone());
                if is_first_of_warp {
                    first.warp.clone_from(&self.passed.warp);
                }
                self.is_parted |= *first != self.passed;
            }
        }
        Ok(())
    }

    fn compare(&self) -> Outcome {
        for ((array, element), events) in &self.events {
            let is_tensor = matches!(array, ArrayRef::Tensor(_));
            for (at, one) in events.iter().enumerate() {
                for other in &events[at + 1..] {
                    let unordered = if one.block == other.block {
                        one.interval == other.interval
                            && one.worker != other.worker
                            && (one.warp.0 != other.warp.0 || one.warp.1 == other.warp.1)
                    } else {
                        is_tensor
                    };
                    if unordered && one.kind.conflicts(other.kind) {
                        let name = self.kernel.array_name(*array);
                        let launch = &self.launch.values;
                        return Outcome::Race(format!(
                            "{name}{element:?}: {one:?} and {other:?} at {launch:?}"
                        ));
                    }
                }
            }
        }
        if self.is_parted {
            return Outcome::Parted;
        }
        let unwritten = self.reads.iter().find(|(array, element, read)| {
            let events = self.events.get(&(*array, element.clone()));
            !events.into_iter().flatten().any(|event| {
                let is_before = event.interval < read.interval
                    || event.interval == read.interval
                        && event.warp.0 == read.warp.0
                        && event.warp.1 < read.warp.1;
                event.block == read.block && is_before && event.kind != Kind::Read
            })
        });
        match unwritten {
            Some((array, element, read)) => {
                let (name, launch) = (self.kernel.array_name(*array), &self.launch.values);
                Outcome::Unwritten(format!("{name}{element:?}: {read:?} at {launch:?}"))
            }
            None => Outcome::Clean,
        }
    }

    /// The points of a domain, the last axis fastest.
    fn points_of(&mut self, axes: &[Axis]) -> Step<Vec<Vec<i64>>> {
        let mut points = vec![Vec::new()];
        for axis in axes {
            let extent = self.eval(axis.extent)?.int();
            if extent.saturating_mul(points.len() as i64) > 4096 {
                return Err(Unfit);
            }
            points = points
                .iter()
                .flat_map(|point: &Vec<i64>| {
                    (0..extent).map(move |at| [point.as_slice(), &[at]].concat())
                })
                .collect();
        }
        Ok(points)
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Step<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Step<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Unfit);
        }
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let value = match init {
                    Some(init) => self.eval(*init)?,
                    None => Value::Float,
                };
                self.vars.insert(*var, value);
            }
            StmtKind::Assign { var, value } => {
                let value = self.eval(*value)?;
                self.vars.insert(*var, value);
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                let value = self.eval(*value)?;
                let old = self.vars.get(var).copied().unwrap_or(Value::Float);
                let new = binary(*op, old, value, self.kernel.vars[*var].ty);
                self.vars.insert(*var, new);
            }
            StmtKind::LetArray { tile, init } => self.let_array(ArrayRef::Tile(*tile), *init)?,
            StmtKind::Store { access, value } if self.kernel.is_local(access.array) => {
                self.keep(access, *value, None)?;
            }
            StmtKind::Update { place: Place::Element(access), op, value }
                if self.kernel.is_local(access.array) =>
            {
                self.keep(access, *value, Some(*op))?;
            }
            StmtKind::Store { access, value } => {
                self.write(access, *value, &[Kind::Write], &|value, _| Change::Is(value))?;
            }
            StmtKind::Update { place: Place::Element(access), op, value } => {
                let kinds = [Kind::Read, Kind::Write];
                self.write(access, *value, &kinds, &|value, ty| Change::By(*op, value, ty))?;
            }
            StmtKind::Atomic { access, op, value, old, expected } => {
                if let Some(old) = old {
                    let found = self.old(access)?;
                    self.vars.insert(*old, found);
                }
                let expected = expected.map(|expected| self.eval(expected)).transpose()?;
                let change = |value, ty| Change::of_atomic(*op, expected, value, ty);
                let kind = if *op == AtomicOp::Swap { Kind::Swap } else { Kind::Atomic };
                self.write(access, *value, &[kind], &change)?;
            }
            StmtKind::Exchange { var, op, value, lane } => {
                self.exchange(*var, *op, (*value, *lane), stmt.span)?;
            }
            StmtKind::WarpBarrier => {
                self.epoch += 1;
                self.pass(Group::Warp, stmt.span);
            }
            StmtKind::Each { axes, body, .. } => self.each(stmt.span, axes, body)?,
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                for value in self.counters(range)? {
                    self.vars.insert(*var, Value::Int(value));
                    self.stmts(body)?;
                }
            }
            StmtKind::While { cond, body } => {
                while self.eval(*cond)?.is_true() {
                    self.stmts(body)?;
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                let arm = if self.eval(*cond)?.is_true() { then } else { otherwise };
                self.stmts(arm)?;
            }
            StmtKind::Assume { cond } => {
                if !self.eval(*cond)?.is_true() {
                    return Err(Unfit);
                }
            }
            // No generated kernel says it.
            StmtKind::Distinct { .. } => return Err(Unfit),
            StmtKind::Barrier => self.pass(Group::Block, stmt.span),
        }
        Ok(())
    }

    /// Comes by what all of a block, or of a warp, come by together.
    pub(super) fn pass(&mut self, group: Group, at: SpanId) {
        match group {
            Group::Block => {
                self.interval += 1;
                self.passed.block.push(at);
            }
            Group::Warp => self.passed.warp.push(at),
        }
    }

    pub(super) fn worker(&self) -> u64 {
        self.worker
    }

    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// The first work-item runs all points, each in a name of its own.
    fn each(&mut self, head: SpanId, axes: &[Axis], body: &[Stmt]) -> Step<()> {
        self.passed.block.push(head);
        if self.worker != 0 {
            return Ok(());
        }
        for point in self.points_of(axes)? {
            for (axis, at) in axes.iter().zip(&point) {
                self.vars.insert(axis.var, Value::Int(*at));
            }
            self.points += 1;
            self.worker = POINTS + self.points;
            let done = self.stmts(body);
            self.worker = 0;
            done?;
        }
        Ok(())
    }

    fn counters(&mut self, range: &LoopRange) -> Step<Vec<i64>> {
        Ok(match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let (start, end) = (self.eval(start)?.int(), self.eval(end)?.int());
                let step = step.map_or(Ok(1), |step| self.eval(step).map(Value::int))?;
                let step = usize::try_from(step).unwrap_or(0);
                if step == 0 {
                    return Ok(Vec::new());
                }
                let mut values: Vec<i64> =
                    (start..end).step_by(step).take(MAX_STEPS as usize).collect();
                if reversed {
                    values.reverse();
                }
                values
            }
            LoopRange::Halving(n) => {
                let n = self.eval(n)?.int();
                std::iter::successors(Some(n / 2), |n| Some(n / 2)).take_while(|n| *n > 0).collect()
            }
            LoopRange::Doubling(n) => {
                let n = self.eval(n)?.int();
                std::iter::successors(Some(1), |d| Some(d * 2)).take_while(|d| *d < n).collect()
            }
        })
    }

    fn write(
        &mut self,
        access: &Access,
        value: ExprId,
        kinds: &[Kind],
        change: &dyn Fn(Value, Type) -> Change,
    ) -> Step<()> {
        let indices = self.indices(&access.indices)?;
        let (new, ty) = (self.eval(value)?, self.kernel.exprs[value].ty);
        kinds.iter().try_for_each(|kind| self.enter(access.array, &indices, *kind))?;
        if self.launch.keeps {
            let now = self.moment();
            self.stored.note(self.cell(access.array, &indices), now, change(new, ty));
        }
        Ok(())
    }

    /// What a cell holds that held `first` when the launch began, where that is kept.
    pub(super) fn held(&self, array: ArrayRef, indices: &[i64], first: Value) -> Value {
        if !self.launch.keeps {
            return first;
        }
        let cell = self.cell(array, indices);
        self.stored.value(&self.before, &cell, &self.moment(), first)
    }

    /// What an atomic update finds: what nobody knows where cells are made up, because
    /// others find what it makes of it.
    fn old(&mut self, access: &Access) -> Step<Value> {
        // What is made of it and stored would be made up elsewhere.
        if !self.launch.keeps {
            return Err(Unfit);
        }
        let indices = self.indices(&access.indices)?;
        match self.is_inside(access.array, &indices)? {
            true => Ok(self.found(access.array, &indices)),
            false => self.pad(access.array),
        }
    }

    fn cell(&self, array: ArrayRef, indices: &[i64]) -> Cell {
        let block = matches!(array, ArrayRef::Tile(_)).then_some(self.block);
        (block, array, indices.to_vec())
    }

    fn moment(&self) -> Moment {
        let (block, worker, interval) = (self.block, self.worker, self.interval);
        // A point of a cooperative loop is of no warp that anybody knows.
        let warp = if worker < POINTS { worker / u64::from(WARP_ITEMS) } else { worker };
        let turn = if self.launch.seed.is_multiple_of(2) { worker } else { !worker };
        Moment { block, interval, warp: (warp, self.epoch), worker, turn }
    }

    /// A fresh array of the worker's own.
    fn let_array(&mut self, array: ArrayRef, init: Option<ExprId>) -> Step<()> {
        self.kept.retain(|(other, _), _| *other != array);
        let Some(init) = init else { return Ok(()) };
        let value = self.eval(init)?;
        let mut elements = vec![Vec::new()];
        for extent in self.indices(self.kernel.extents(array))? {
            let longer = |own: &Vec<i64>| -> Vec<Vec<i64>> {
                (0..extent).map(|at| [own.as_slice(), &[at]].concat()).collect()
            };
            elements = elements.iter().flat_map(longer).collect();
        }
        self.kept.extend(elements.into_iter().map(|element| ((array, element), value)));
        Ok(())
    }

    /// Changes an element of the worker's own array.
    fn keep(&mut self, access: &Access, value: ExprId, op: Option<BinaryOp>) -> Step<()> {
        let element = self.indices(&access.indices)?;
        let (ty, mut new) = (self.kernel.exprs[value].ty, self.eval(value)?);
        if !self.is_inside(access.array, &element)? {
            return Err(Unfit);
        }
        let at = (access.array, element);
        if let Some(op) = op {
            let old = self.kept.get(&at).copied().unwrap_or(Value::Float);
            new = binary(op, old, new, ty);
        }
        self.kept.insert(at, new);
        Ok(())
    }

    pub(super) fn indices(&mut self, indices: &[ExprId]) -> Step<Vec<i64>> {
        indices.iter().map(|index| Ok(self.eval(*index)?.int())).collect()
    }

    pub(super) fn enter(&mut self, array: ArrayRef, indices: &[i64], kind: Kind) -> Step<()> {
        if !self.is_inside(array, indices)? {
            return match array {
                ArrayRef::Tensor(_) => Ok(()),
                ArrayRef::Tile(_) => Err(Unfit),
            };
        }
        if self.kernel.is_local(array) {
            return Ok(());
        }
        self.accesses += 1;
        if self.accesses > MAX_ACCESSES {
            return Err(Unfit);
        }
        let Moment { block, interval, warp, worker, .. } = self.moment();
        let events = self.events.entry((array, indices.to_vec())).or_default();
        let event = Event { block, worker, interval, warp, kind };
        if matches!(array, ArrayRef::Tile(_)) {
            let own = (worker, array, indices.to_vec());
            let needs_value = !matches!(kind, Kind::Write | Kind::Swap);
            if needs_value && !self.own.contains(&own) {
                self.reads.push((array, indices.to_vec(), event.clone()));
            }
            if kind != Kind::Read {
                self.own.insert(own);
            }
        }
        let known = |known: &Event| {
            (known.block, known.worker, known.interval, known.warp, known.kind)
                == (block, worker, interval, warp, kind)
        };
        if !events.iter().any(known) {
            events.push(event);
        }
        Ok(())
    }

    pub(super) fn is_inside(&mut self, array: ArrayRef, indices: &[i64]) -> Step<bool> {
        let kernel = self.kernel;
        for (extent, index) in kernel.extents(array).iter().zip(indices) {
            if !(0..self.eval(*extent)?.int()).contains(index) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
