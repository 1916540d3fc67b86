//! A kernel at concrete sizes, work-item by work-item, straight from its text:
//! every access with who made it and after how many barriers. It shares nothing
//! with the engines that it judges.

use std::collections::{BTreeMap, HashMap, HashSet};

use tile_ir::kernel::{
    Access, ArrayRef, Axis, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind,
    Type, VarId,
};
use tile_ir::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};

/// Steps of one work-item, and blocks of one launch, that are run.
const MAX_STEPS: u32 = 20_000;
const MAX_BLOCKS: usize = 48;

/// What a launch fixes: tile parameters, dimensions, scalars, and what loads give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    pub(crate) values: BTreeMap<VarId, i64>,
    pub(crate) seed: u64,
}

/// What is seen of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Two workers meet in an element; in words.
    Race(String),
    /// None do, but somebody reads a cell of a tile that nobody has written.
    Unwritten(String),
    /// Neither.
    Clean,
    /// A tile is left, or it takes too long.
    Unfit,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i64),
    Bool(bool),
    Float,
}

impl Value {
    fn int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
            Self::Float => 0,
        }
    }

    fn is_true(self) -> bool {
        self == Self::Bool(true)
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Atomic,
}

impl Kind {
    /// Whether two accesses in any order may make a difference.
    fn conflicts(self, other: Self) -> bool {
        self != other || self == Self::Write
    }
}

/// An access that was made.
#[derive(Clone, Debug)]
struct Event {
    block: usize,
    worker: u64,
    interval: u32,
    kind: Kind,
}

/// Why a work-item stops.
struct Unfit;

type Step<T> = Result<T, Unfit>;

/// Runs all work-items of a launch and compares each pair of accesses.
pub(crate) fn run(kernel: &Kernel, launch: &Launch) -> Outcome {
    let mut machine = Machine {
        kernel,
        launch,
        vars: HashMap::new(),
        events: HashMap::new(),
        own: HashSet::new(),
        reads: Vec::new(),
        block: 0,
        worker: 0,
        interval: 0,
        points: 0,
        steps: 0,
    };
    match machine.launch() {
        Ok(()) => machine.compare(),
        Err(Unfit) => Outcome::Unfit,
    }
}

struct Machine<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    vars: HashMap<VarId, Value>,
    events: HashMap<(ArrayRef, Vec<i64>), Vec<Event>>,
    /// The cells that the present block's workers have written, by worker.
    own: HashSet<(u64, ArrayRef, Vec<i64>)>,
    /// Reads of cells that the reader has not written.
    reads: Vec<(ArrayRef, Vec<i64>, Event)>,
    block: usize,
    worker: u64,
    interval: u32,
    /// Points of cooperative loops that were run in this block.
    points: u64,
    steps: u32,
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
            for (worker, item) in self.points_of(axes)?.into_iter().enumerate() {
                self.vars.clear();
                for (axis, at) in kernel.grid.iter().zip(&block).chain(axes.iter().zip(&item)) {
                    self.vars.insert(axis.var, Value::Int(*at));
                }
                (self.worker, self.interval, self.steps) = (worker as u64, 0, 0);
                self.stmts(&kernel.body)?;
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
                        one.interval == other.interval && one.worker != other.worker
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
        let unwritten = self.reads.iter().find(|(array, element, read)| {
            let events = self.events.get(&(*array, element.clone()));
            !events.into_iter().flatten().any(|event| {
                let is_before = event.block == read.block && event.interval < read.interval;
                is_before && event.kind != Kind::Read
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
            StmtKind::Store { access, value } => self.write(access, *value, &[Kind::Write])?,
            StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.write(access, *value, &[Kind::Read, Kind::Write])?;
            }
            StmtKind::Atomic { access, value, old: None, expected: None, .. } => {
                self.write(access, *value, &[Kind::Atomic])?;
            }
            StmtKind::Atomic { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::WarpBarrier => {
                return Err(Unfit);
            }
            StmtKind::Each { axes, body, .. } => self.each(axes, body)?,
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
            // Of what is assumed nothing is run.
            StmtKind::Assume { .. } => {}
            StmtKind::Barrier => self.interval += 1,
        }
        Ok(())
    }

    /// The first work-item runs all points, each in a name of its own.
    fn each(&mut self, axes: &[Axis], body: &[Stmt]) -> Step<()> {
        if self.worker != 0 {
            return Ok(());
        }
        for point in self.points_of(axes)? {
            for (axis, at) in axes.iter().zip(&point) {
                self.vars.insert(axis.var, Value::Int(*at));
            }
            self.points += 1;
            self.worker = (1 << 32) + self.points;
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

    fn write(&mut self, access: &Access, value: ExprId, kinds: &[Kind]) -> Step<()> {
        let indices = self.indices(&access.indices)?;
        self.eval(value)?;
        kinds.iter().try_for_each(|kind| self.enter(access.array, &indices, *kind))
    }

    fn indices(&mut self, indices: &[ExprId]) -> Step<Vec<i64>> {
        indices.iter().map(|index| Ok(self.eval(*index)?.int())).collect()
    }

    fn enter(&mut self, array: ArrayRef, indices: &[i64], kind: Kind) -> Step<()> {
        if !self.is_inside(array, indices)? {
            return match array {
                ArrayRef::Tensor(_) => Ok(()),
                ArrayRef::Tile(_) => Err(Unfit),
            };
        }
        let (block, worker, interval) = (self.block, self.worker, self.interval);
        let events = self.events.entry((array, indices.to_vec())).or_default();
        let event = Event { block, worker, interval, kind };
        if matches!(array, ArrayRef::Tile(_)) {
            let own = (worker, array, indices.to_vec());
            if kind != Kind::Write && !self.own.contains(&own) {
                self.reads.push((array, indices.to_vec(), event.clone()));
            }
            if kind != Kind::Read {
                self.own.insert(own);
            }
        }
        let known = |known: &Event| {
            (known.block, known.worker, known.interval, known.kind)
                == (block, worker, interval, kind)
        };
        if !events.iter().any(known) {
            events.push(event);
        }
        Ok(())
    }

    fn is_inside(&mut self, array: ArrayRef, indices: &[i64]) -> Step<bool> {
        let kernel = self.kernel;
        for (extent, index) in kernel.extents(array).iter().zip(indices) {
            if !(0..self.eval(*extent)?.int()).contains(index) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn eval(&mut self, id: ExprId) -> Step<Value> {
        let kernel = self.kernel;
        let expr = &kernel.exprs[id];
        Ok(match &expr.kind {
            ExprKind::Literal(Literal::Int(value)) => match i64::try_from(*value) {
                Ok(value) if expr.ty == Type::Index || is_i32(expr.ty) => Value::Int(value),
                Ok(_) | Err(_) => Value::Float,
            },
            ExprKind::Literal(Literal::Bool(value)) => Value::Bool(*value),
            ExprKind::Literal(Literal::Float(_) | Literal::Named(_)) => Value::Float,
            ExprKind::Var(var) => match self.launch.values.get(var) {
                Some(value) => Value::Int(*value),
                None => self.vars.get(var).copied().unwrap_or(Value::Float),
            },
            ExprKind::Load(access) => {
                let indices = self.indices(&access.indices)?;
                self.enter(access.array, &indices, Kind::Read)?;
                if !is_i32(expr.ty) {
                    Value::Float
                } else if self.is_inside(access.array, &indices)? {
                    let mut hash = self.launch.seed;
                    for index in &indices {
                        hash = (hash ^ *index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
                    }
                    Value::Int((hash % 5) as i64)
                } else {
                    Value::Int(0)
                }
            }
            ExprKind::Unary { op, operand } => match (op, self.eval(*operand)?) {
                (UnaryOp::Neg, Value::Int(value)) => wrapped(-i128::from(value), expr.ty),
                (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
                (UnaryOp::Neg | UnaryOp::Not, _) => Value::Float,
            },
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs)?, self.eval(*rhs)?);
                binary(*op, lhs, rhs, expr.ty)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (a, b) = (self.eval(*lhs)?.int(), self.eval(*rhs)?.int());
                Value::Bool(match op {
                    CompareOp::Lt => a < b,
                    CompareOp::Le => a <= b,
                    CompareOp::Gt => a > b,
                    CompareOp::Ge => a >= b,
                    CompareOp::Eq => a == b,
                    CompareOp::Ne => a != b,
                })
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let lhs = self.eval(*lhs)?;
                let decided = lhs.is_true() == (*op == LogicOp::Or);
                if decided { lhs } else { self.eval(*rhs)? }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let arm = if self.eval(*cond)?.is_true() { then } else { otherwise };
                self.eval(*arm)?
            }
            ExprKind::Cast(operand) => match self.eval(*operand)? {
                Value::Int(value) => wrapped(value.into(), expr.ty),
                Value::Bool(_) | Value::Float => Value::Float,
            },
            ExprKind::Uniform(operand) => self.eval(*operand)?,
            ExprKind::Math { .. } => Value::Float,
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (self.eval(*extent)?.int(), self.eval(*tile)?.int());
                Value::Int(if tile > 0 { (extent + tile - 1).div_euclid(tile).max(0) } else { 0 })
            }
            ExprKind::InBounds { tensor, indices } => {
                let indices = self.indices(indices)?;
                Value::Bool(self.is_inside(ArrayRef::Tensor(*tensor), &indices)?)
            }
        })
    }
}

fn is_i32(ty: Type) -> bool {
    use tile_ir::dtype::DType;
    use tile_ir::kernel::ElemType;
    ty == Type::Scalar(ElemType::Concrete(DType::I32))
}

fn wrapped(value: i128, ty: Type) -> Value {
    if is_i32(ty) {
        Value::Int((value as i32).into())
    } else if ty == Type::Index {
        Value::Int(value as i64)
    } else {
        Value::Float
    }
}

fn binary(op: BinaryOp, lhs: Value, rhs: Value, ty: Type) -> Value {
    let (Value::Int(a), Value::Int(b)) = (lhs, rhs) else { return Value::Float };
    let (a, b) = (i128::from(a), i128::from(b));
    let width = if is_i32(ty) { 32 } else { 64 };
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0 => 0,
        BinaryOp::Rem if b == 0 => 0,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << b.rem_euclid(width),
        BinaryOp::Shr => a >> b.rem_euclid(width),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => {
            return Value::Float;
        }
    };
    wrapped(value, ty)
}
