//! Numbers of 32 bits that a launch alone bounds.
//!
//! `let at = row * width + column;` of `i32` wraps where an image is large enough. In CUDA C
//! that is no program at all; here a launch in which it may happen is refused, and the proof
//! takes such a number for what it is without wrapping.
//!
//! Such a number is a sum or product of scalar parameters, dimensions, tile sizes,
//! coordinates and counters between bounds that are such numbers, be it that the loop counts
//! by hand ([`Stepped`]), the smaller and the larger of such, and it is used as an index, as a bound, as a divisor or in a comparison, or is a
//! part of such a sum; by way of a variable too. What is made of dimensions and tile sizes
//! alone is such a number wherever it is. What is hashed, masked or divided first is not: there
//! wrapping may be meant. Nor is a difference of unsigned numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::interval::{FAR, Range, left_by, masked, range_of};
use super::stepped::{Course, End, Step, Stepped, Trips, Way};
use crate::dtype::DType;
use crate::kernel::{
    Axis, ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, Type,
    VarId, VarKind, eval_index, immutable_lets, var_uses_in,
};
use crate::op::{BinaryOp, UnaryOp};

/// Largest number by which something is multiplied that is then divided, as sizes are.
const MAX_PLAIN_FACTOR: i128 = 1 << 12;

/// The numbers of a kernel that a launch alone bounds.
#[derive(Clone, Debug)]
pub struct Exact {
    /// What must not leave its type.
    exprs: BTreeSet<ExprId>,
    /// The variables that must not, with a use of each.
    vars: BTreeMap<VarId, ExprId>,
    sources: Sources,
}

/// What the kernel's variables are.
#[derive(Clone, Debug)]
struct Sources {
    lets: BTreeMap<VarId, ExprId>,
    axes: BTreeMap<VarId, ExprId>,
    /// Start and end of what counters count.
    counters: BTreeMap<VarId, (ExprId, ExprId)>,
    /// What other variables are set to, but for those that are hashed.
    set: BTreeMap<VarId, Vec<ExprId>>,
    /// Those of them that loops count by hand.
    stepped: Stepped,
}

impl Exact {
    /// Reads a kernel.
    pub fn of(kernel: &Kernel) -> Self {
        let lets = immutable_lets(&kernel.body, kernel);
        let set = set_vars(kernel);
        let (axes, counters, stepped) = (BTreeMap::new(), BTreeMap::new(), Stepped::of(kernel));
        let mut sources = Sources { lets, axes, counters, set, stepped };
        sources.add_axes(&kernel.grid);
        sources.add_axes(kernel.block.as_deref().unwrap_or_default());
        let (mut places, mut compared) = (Vec::new(), Vec::new());
        sources.visit(&kernel.body, &mut places);
        for expr in kernel.exprs.values() {
            match &expr.kind {
                ExprKind::Load(access) => places.extend(&access.indices),
                ExprKind::Compare { lhs, rhs, .. } => compared.extend([lhs, rhs]),
                ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, rhs, .. } => {
                    places.push(*rhs);
                }
                _ => {}
            }
        }
        let is_size = |id: &ExprId| sources.is_size(kernel, *id);
        let exprs = kernel.exprs.ids().filter(is_size).collect();
        let mut exact = Self { exprs, vars: BTreeMap::new(), sources };
        let mut seen = BTreeSet::new();
        // What is only compared may go on to wrap on purpose, as random numbers do.
        for (mut open, by_variables) in [(places, true), (compared, false)] {
            while let Some(expr) = open.pop() {
                if seen.insert(expr) {
                    exact.visit(kernel, (expr, by_variables), &mut open);
                }
            }
        }
        exact
    }

    /// Notes a part of a sum, if it is such a number; adds its own parts to `open`, and
    /// `by_variables` what variables are set to that are assigned again.
    fn visit(
        &mut self,
        kernel: &Kernel,
        (expr, by_variables): (ExprId, bool),
        open: &mut Vec<ExprId>,
    ) {
        let node = &kernel.exprs[expr];
        if let ExprKind::Var(var) = node.kind {
            open.extend(self.sources.lets.get(&var));
            open.extend(self.sources.set.get(&var).filter(|_| by_variables).into_iter().flatten());
            open.extend(self.sources.stepped.at(expr, var).into_iter().flat_map(limits));
            if by_variables && let Some(course) = self.sources.summed(kernel, var) {
                open.extend(course.limits());
                self.vars.entry(var).or_insert(expr);
            }
        } else if let Some(parts) = self.sources.parts(kernel, expr) {
            open.extend(parts);
            if node.ty != Type::Index && self.sources.is_bounded(kernel, expr) {
                self.exprs.insert(expr);
            }
        }
    }

    /// Whether an expression is such a number.
    pub(crate) fn contains(&self, expr: ExprId) -> bool {
        self.exprs.contains(&expr)
    }

    /// Whether a variable never leaves its type in a launch.
    pub(crate) fn keeps(&self, var: VarId) -> bool {
        self.vars.contains_key(&var)
    }

    /// The first number that may leave its type in a launch in which the variables of the
    /// launch have these values: with its type, and how far it goes.
    pub fn leaves(
        &self,
        kernel: &Kernel,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<(ExprId, DType, Range)> {
        let of_exprs = self.exprs.iter().map(|expr| (*expr, None));
        let of_vars = self.vars.iter().map(|(var, expr)| (*expr, Some(*var)));
        of_exprs.chain(of_vars).find_map(|(expr, var)| {
            let Type::Scalar(ElemType::Concrete(dtype)) = kernel.exprs[expr].ty else {
                return None;
            };
            let (low, high) = match var {
                Some(var) => self.sources.range_of_all(kernel, var, value)?,
                None => self.sources.range(kernel, expr, value)?,
            };
            let (min, max) = dtype.integer_range()?;
            (low < min || max < high).then_some((expr, dtype, (low, high)))
        })
    }

    /// Whether there is no such number.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty() && self.vars.is_empty()
    }

    /// Whether scalar parameters say how large some of them are.
    pub fn asks_scalars(&self, kernel: &Kernel) -> bool {
        let vars = self.vars.values();
        self.exprs.iter().chain(vars).any(|expr| self.sources.asks_scalars(kernel, *expr))
    }
}

/// Integers that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// An index.
    Whole,
    /// 32 bits with a sign.
    Signed,
    /// 32 bits without one.
    Unsigned,
}

impl Width {
    fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::Index => Some(Self::Whole),
            Type::Scalar(ElemType::Concrete(DType::I32)) => Some(Self::Signed),
            Type::Scalar(ElemType::Concrete(DType::U32)) => Some(Self::Unsigned),
            Type::Scalar(_) => None,
        }
    }
}

impl Sources {
    fn add_axes(&mut self, axes: &[Axis]) {
        self.axes.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
    }

    /// Adds the variables of statements; collects their indices and bounds.
    fn visit(&mut self, stmts: &[Stmt], open: &mut Vec<ExprId>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, .. }
                | StmtKind::Atomic { access, .. }
                | StmtKind::Update { place: Place::Element(access), .. } => {
                    open.extend(&access.indices);
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    open.extend(range.exprs());
                    if let LoopRange::Between { start, end, .. } = range {
                        self.counters.insert(*var, (*start, *end));
                    }
                }
                StmtKind::Each { axes, .. } => self.add_axes(axes),
                StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Update { place: Place::Var(_), .. }
                | StmtKind::Exchange { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, open));
        }
    }

    /// Whether a launch bounds an expression, each part of which may only wrap by mistake.
    fn is_bounded(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let node = &kernel.exprs[expr];
        let is_bounded = |part| self.is_bounded(kernel, part);
        let Some(width) = Width::of(node.ty) else { return false };
        match node.kind {
            ExprKind::Literal(Literal::Int(_)) => true,
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => true,
                VarKind::Grid | VarKind::Block | VarKind::Each => self.axes.contains_key(&var),
                VarKind::Loop => {
                    let range = self.counters.get(&var);
                    range.is_some_and(|(start, end)| is_bounded(*start) && is_bounded(*end))
                }
                VarKind::Let { .. } => {
                    let is_counted =
                        || self.is_counted(kernel, expr, var) || self.summed(kernel, var).is_some();
                    self.lets.get(&var).map_or_else(is_counted, |init| is_bounded(*init))
                }
            },
            ExprKind::Binary { op: BinaryOp::Mul, .. } if self.hashes(kernel, expr) => false,
            ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => is_bounded(rhs),
            _ if masked(kernel, expr).is_some() => true,
            // Of a number below 0 an unsigned one is made on purpose.
            ExprKind::Cast(of) => match (Width::of(kernel.exprs[of].ty), width) {
                (Some(_), Width::Whole) | (Some(Width::Whole), Width::Signed) => is_bounded(of),
                (Some(Width::Whole), Width::Unsigned) => {
                    is_bounded(of) && !self.subtracts(kernel, of)
                }
                (Some(Width::Signed | Width::Unsigned) | None, _) => false,
            },
            ExprKind::Binary { op: BinaryOp::Sub, .. } | ExprKind::Unary { .. }
                if width == Width::Unsigned =>
            {
                false
            }
            _ => self.parts(kernel, expr).is_some_and(|parts| parts.into_iter().all(is_bounded)),
        }
    }

    /// Whether a number of 32 bits is made of dimensions and tile sizes alone: by those nobody
    /// hashes.
    fn is_size(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let node = &kernel.exprs[expr];
        node.ty != Type::Index
            && self.parts(kernel, expr).is_some()
            && self.is_of_sizes(kernel, expr)
            && self.is_bounded(kernel, expr)
    }

    fn is_of_sizes(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_of_sizes = |part: &ExprId| self.is_of_sizes(kernel, *part);
        match kernel.exprs[expr].kind {
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim | VarKind::TileParam(_) => true,
                VarKind::Let { .. } => self.lets.get(&var).is_some_and(is_of_sizes),
                _ => false,
            },
            ExprKind::Literal(_) => true,
            _ => self.parts(kernel, expr).is_some_and(|parts| parts.iter().all(is_of_sizes)),
        }
    }

    /// Whether scalar parameters say how large a bounded expression is.
    fn asks_scalars(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let asks = |part: &ExprId| self.asks_scalars(kernel, *part);
        match kernel.exprs[expr].kind {
            ExprKind::Var(var) => {
                let counted = self.counters.get(&var);
                matches!(kernel.vars[var].kind, VarKind::Scalar(_))
                    || self.lets.get(&var).is_some_and(asks)
                    || counted.is_some_and(|(start, end)| asks(start) || asks(end))
                    || self.stepped.at(expr, var).is_some_and(|by| limits(by).iter().any(asks))
                    || self.stepped.course(var).is_some_and(|of| of.limits().iter().any(asks))
            }
            ref other => other.operands().iter().any(asks),
        }
    }

    /// Whether a bounded expression is made by subtracting.
    fn subtracts(&self, kernel: &Kernel, expr: ExprId) -> bool {
        match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Sub, .. }
            | ExprKind::Unary { op: UnaryOp::Neg, .. } => true,
            ExprKind::Literal(Literal::Int(value)) => value < 0,
            ExprKind::Var(var) => {
                let start = self.counters.get(&var).map(|(start, _)| start);
                let of = self.lets.get(&var).or(start);
                let starts = self.stepped.at(expr, var).map(|(_, course)| &course.starts);
                let mut of = of.into_iter().chain(starts.into_iter().flatten());
                of.any(|of| self.subtracts(kernel, *of))
            }
            ref other => other.operands().iter().any(|of| self.subtracts(kernel, *of)),
        }
    }

    /// The least and the greatest value of an expression; `None` where it is never asked
    /// for, as in a loop that does not run.
    fn range(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let range = |expr| self.range(kernel, expr, value);
        if let Some(masked) = masked(kernel, expr) {
            return Some(masked);
        }
        match kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(number)) => Some((number, number)),
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => {
                    Some(value(var).map_or(FAR, |value| (value, value)))
                }
                VarKind::Grid | VarKind::Block | VarKind::Each => {
                    match eval_index(kernel, *self.axes.get(&var)?, value) {
                        Some(extent) => (extent > 0).then_some((0, extent - 1)),
                        None => Some(FAR),
                    }
                }
                VarKind::Loop => {
                    let (start, end) = self.counters.get(&var)?;
                    let (first, last) = (range(*start)?.0, range(*end)?.1.saturating_sub(1));
                    (first <= last).then_some((first, last))
                }
                VarKind::Let { .. } => match self.lets.get(&var) {
                    Some(init) => range(*init),
                    None if self.is_counted(kernel, expr, var) => {
                        self.counted(kernel, (expr, var), value)
                    }
                    None => self.range_of_all(kernel, var, value),
                },
            },
            ExprKind::Cast(of) => range(of),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                Some(range_of(BinaryOp::Sub, (0, 0), range(operand)?))
            }
            ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => {
                let is_signed = Width::of(kernel.exprs[expr].ty) != Some(Width::Unsigned);
                Some(left_by(range(rhs)?, is_signed))
            }
            ExprKind::Binary { op, lhs, rhs } => Some(range_of(op, range(lhs)?, range(rhs)?)),
            ExprKind::Select { then, otherwise, .. } => match (range(then), range(otherwise)) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            },
            ref other => {
                debug_assert!(parts(other).is_none(), "a bounded expression is made of parts");
                None
            }
        }
    }

    /// Whether a loop counts a variable by hand at one of its uses, between bounds.
    fn is_counted(&self, kernel: &Kernel, expr: ExprId, var: VarId) -> bool {
        let counted = self.stepped.at(expr, var);
        let is_bounded = |part: ExprId| self.is_bounded(kernel, part);
        counted.is_some_and(|counted| limits(counted).into_iter().all(is_bounded))
    }

    /// How a variable is summed up of bounded steps, as often as loops with bounds are run.
    fn summed(&self, kernel: &Kernel, var: VarId) -> Option<&Course> {
        let course = self.stepped.course(var)?;
        let is_whole = match Width::of(kernel.vars[var].ty)? {
            Width::Unsigned => course.goes(Way::Up),
            Width::Signed | Width::Whole => true,
        };
        let is_bounded = |part: ExprId| self.is_bounded(kernel, part);
        (is_whole && course.limits().into_iter().all(is_bounded)).then_some(course)
    }

    /// How far such a variable goes.
    fn range_of_all(
        &self,
        kernel: &Kernel,
        var: VarId,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let course = self.stepped.course(var)?;
        let starts = course.starts.iter().filter_map(|expr| self.range(kernel, *expr, value));
        let from = starts.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        let sum = |from: Range, step: &Step| {
            let Some(by) = self.range(kernel, step.by, value) else { return from };
            let by = match step.way {
                Way::Up => by,
                Way::Down => (by.1.saturating_neg(), by.0.saturating_neg()),
            };
            let loops = step.loops.iter().flatten();
            let times = loops.fold(1, |times: i128, trips| {
                times.saturating_mul(self.times(kernel, trips, value))
            });
            let (least, most) =
                (by.0.min(0).saturating_mul(times), by.1.max(0).saturating_mul(times));
            (from.0.saturating_add(least), from.1.saturating_add(most))
        };
        Some(course.steps.iter().fold(from, sum))
    }

    /// How often a loop is run at most.
    fn times(&self, kernel: &Kernel, trips: &Trips, value: &dyn Fn(VarId) -> Option<i128>) -> i128 {
        let range = |expr: ExprId| self.range(kernel, expr, value);
        match *trips {
            Trips::Halved => i128::from(u64::BITS),
            Trips::Counted { start, end, step } => {
                let (Some(start), Some(end)) = (range(start), range(end)) else { return 0 };
                let room = end.1.saturating_sub(start.0).max(0);
                let by = step.and_then(range).map_or(1, |step| step.0.max(1));
                room.saturating_add(by - 1) / by
            }
            Trips::Stepped { var, end, by } => {
                let starts = self.stepped.starts(var).iter();
                let (Some(bound), Some(by)) = (range(end.bound), range(by)) else { return 0 };
                let ends = starts.filter_map(|start| range(*start));
                let room = ends.map(|start| match end.way {
                    Way::Up => bound.1.saturating_sub(start.0),
                    Way::Down => start.1.saturating_sub(bound.0),
                });
                match room.max() {
                    None => 0,
                    Some(_) if by.0 < 1 => i128::MAX,
                    Some(room) if room < 0 => 0,
                    Some(room) => room / by.0 + 1,
                }
            }
        }
    }

    /// The same of a use of a variable that a loop counts by hand.
    fn counted(
        &self,
        kernel: &Kernel,
        (expr, var): (ExprId, VarId),
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let (end, course) = self.stepped.at(expr, var)?;
        let range = |expr: &ExprId| self.range(kernel, *expr, value);
        let starts = || course.starts.iter().filter_map(range);
        let bound = range(&end.bound)?;
        let beside = i128::from(!end.met);
        let (low, high) = match end.way {
            Way::Up => (starts().map(|start| start.0).min()?, bound.1.saturating_sub(beside)),
            Way::Down => (bound.0.saturating_add(beside), starts().map(|start| start.1).max()?),
        };
        let (least, most) =
            kernel.vars[var].ty.integer_range().unwrap_or((i64::MIN.into(), i64::MAX.into()));
        let goes_on = |step: Range| {
            let is_inside = match end.way {
                Way::Up => high.saturating_add(step.1) <= most,
                Way::Down => least <= low.saturating_sub(step.1),
            };
            step.0 >= 0 && is_inside
        };
        let mut steps = course.steps.iter().filter_map(|step| range(&step.by));
        let keeps_on = steps.all(goes_on);
        (low <= high).then_some(if keeps_on { (low, high) } else { FAR })
    }

    /// What a bounded expression is made of. What is divided counts, but not what is multiplied
    /// by a large number before, as random numbers are.
    fn parts(&self, kernel: &Kernel, expr: ExprId) -> Option<Vec<ExprId>> {
        match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } => {
                (!self.is_random(kernel, lhs)).then(|| vec![lhs, rhs])
            }
            ref kind => parts(kind),
        }
    }

    /// Whether a number is multiplied as random numbers are.
    fn is_random(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_large = |part: ExprId| match kernel.exprs[part].kind {
            ExprKind::Literal(Literal::Int(value)) => value.abs() > MAX_PLAIN_FACTOR,
            _ => false,
        };
        self.is_made(kernel, expr, &|expr| match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => is_large(lhs) || is_large(rhs),
            _ => false,
        })
    }

    /// Whether what is left of bits or of a division is multiplied in that way.
    fn hashes(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_rest = |expr: ExprId| {
            let kind = &kernel.exprs[expr].kind;
            let is_left = matches!(kind, ExprKind::Binary { op: BinaryOp::Rem, .. });
            is_left || masked(kernel, expr).is_some()
        };
        self.is_random(kernel, expr) && self.is_made(kernel, expr, &is_rest)
    }

    /// Whether some part of an expression is such, by way of variables too.
    fn is_made(&self, kernel: &Kernel, expr: ExprId, is: &dyn Fn(ExprId) -> bool) -> bool {
        let kind = &kernel.exprs[expr].kind;
        let is_made = |part: &ExprId| self.is_made(kernel, *part, is);
        is(expr)
            || match kind {
                ExprKind::Var(var) => self.lets.get(var).is_some_and(is_made),
                _ => kind.operands().iter().any(is_made),
            }
    }
}

/// What decides how far a variable goes that a loop counts by hand.
fn limits((end, course): (End, &Course)) -> Vec<ExprId> {
    let steps = course.steps.iter().map(|step| step.by);
    course.starts.iter().copied().chain(steps).chain([end.bound]).collect()
}

/// What a bounded expression is made of: the parts of a sum or product, those of which one is
/// taken, what is converted.
fn parts(kind: &ExprKind) -> Option<Vec<ExprId>> {
    match *kind {
        ExprKind::Binary { op, lhs, rhs } => is_made_by(op).then(|| vec![lhs, rhs]),
        ExprKind::Cast(of) => Some(vec![of]),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => Some(vec![operand]),
        ExprKind::Select { then, otherwise, .. } => Some(vec![then, otherwise]),
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => None,
    }
}

/// Whether bounded expressions are made by an operator.
fn is_made_by(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max)
}

/// By variable that is assigned to, what it is set to; not of those that are changed by other
/// operators than bounded expressions are made of.
fn set_vars(kernel: &Kernel) -> BTreeMap<VarId, Vec<ExprId>> {
    let mut set: BTreeMap<VarId, Vec<ExprId>> = BTreeMap::new();
    let mut hashed = BTreeSet::new();
    let mut open: Vec<&Stmt> = kernel.body.iter().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                set.entry(*var).or_default().push(*value);
                if is_hashed(kernel, *value, *var) {
                    hashed.insert(*var);
                }
            }
            StmtKind::Update { place: Place::Var(var), op, .. } if !is_made_by(*op) => {
                hashed.insert(*var);
            }
            _ => {}
        }
        open.extend(stmt.kind.bodies().into_iter().flatten());
    }
    let is_mutable = |var: &VarId| kernel.vars[*var].kind == VarKind::Let { mutable: true };
    set.retain(|var, _| is_mutable(var) && !hashed.contains(var));
    set
}

/// Whether a variable is in what other operators make part of a value.
fn is_hashed(kernel: &Kernel, value: ExprId, var: VarId) -> bool {
    let kind = &kernel.exprs[value].kind;
    match parts(kind) {
        Some(parts) => parts.into_iter().any(|part| is_hashed(kernel, part, var)),
        None => kind.operands().into_iter().any(|part| var_uses_in(kernel, part, var) > 0),
    }
}
