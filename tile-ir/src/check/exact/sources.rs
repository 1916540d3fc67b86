//! What variables are set to, and which expressions a launch bounds by that.

use std::collections::{BTreeMap, BTreeSet};

use super::floats::whole_of;
use super::held::held;
use super::parts::{is_made_by, parts};
use super::scaled::{Scaled, scaled};
use crate::check::ending::{End, Way};
use crate::check::interval::{Range, literal, masked, rounded};
use crate::check::stepped::{Course, Stepped};
use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, Axis, ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind,
    Type, VarId, VarKind, immutable_lets, var_uses_in,
};
use crate::op::{BinaryOp, UnaryOp};

/// What the kernel's variables are.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) lets: BTreeMap<VarId, ExprId>,
    pub(super) axes: BTreeMap<VarId, ExprId>,
    /// Start and end of what counters count.
    pub(super) counters: BTreeMap<VarId, (ExprId, ExprId)>,
    /// What other variables are set to, but for those that are hashed.
    pub(super) set: BTreeMap<VarId, Vec<ExprId>>,
    /// What elements of local arrays and tiles are set to.
    pub(super) held: BTreeMap<ArrayRef, Vec<ExprId>>,
    /// Those of the variables that loops count by hand.
    pub(super) stepped: Stepped,
    /// By variable of which the text asks it: below what it may be known to be.
    pub(super) limits: BTreeMap<VarId, ExprId>,
    /// The indices that loops multiply.
    pub(super) scaled: BTreeMap<VarId, Scaled>,
}

/// What is to hold of a part of a number for a launch to bound that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beside {
    /// A difference without a sign, or what is converted to one, is not below 0.
    Natural(ExprId),
    /// The variable that the first names is not below 0, and no more than the second.
    Below(ExprId, ExprId),
}

/// Integers that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// An index.
    Whole,
    /// 32 or 64 bits with a sign.
    Signed,
    /// 32 or 64 bits without one.
    Unsigned,
}

impl Width {
    pub(super) fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::Index => Some(Self::Whole),
            Type::Scalar(ElemType::Concrete(DType::I32 | DType::I64)) => Some(Self::Signed),
            Type::Scalar(ElemType::Concrete(DType::U32 | DType::U64)) => Some(Self::Unsigned),
            Type::Scalar(_) => None,
        }
    }
}

impl Sources {
    /// Reads the axes of grid and block, and what variables are set to.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let lets = immutable_lets(&kernel.body, kernel);
        let set = set_vars(kernel);
        let (axes, counters, stepped) = (BTreeMap::new(), BTreeMap::new(), Stepped::of(kernel));
        let (held, scaled) = (held(kernel), scaled(kernel));
        let limits = BTreeMap::new();
        let mut sources = Self { lets, axes, counters, set, held, stepped, limits, scaled };
        sources.add_axes(&kernel.grid);
        sources.add_axes(kernel.block.as_deref().unwrap_or_default());
        sources
    }

    pub(super) fn add_axes(&mut self, axes: &[Axis]) {
        self.axes.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
    }

    /// Adds the variables of statements; collects their indices and bounds.
    pub(super) fn visit(&mut self, stmts: &[Stmt], open: &mut Vec<ExprId>) {
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
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, open));
        }
    }

    /// Whether a launch bounds an expression, each part of which may only wrap by mistake.
    pub(super) fn is_bounded(&self, kernel: &Kernel, expr: ExprId) -> bool {
        self.is_bounded_with(kernel, expr, &mut |_| false)
    }

    /// What is to hold of the parts of an expression for it to be one, if that would do.
    pub(super) fn beside(&self, kernel: &Kernel, expr: ExprId) -> Option<BTreeSet<Beside>> {
        let mut found = BTreeSet::new();
        let is_bounded = self.is_bounded_with(kernel, expr, &mut |beside| {
            found.insert(beside);
            true
        });
        is_bounded.then_some(found)
    }

    /// Whether it is so where that is taken to hold which `takes` says.
    fn is_bounded_with(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        takes: &mut dyn FnMut(Beside) -> bool,
    ) -> bool {
        let node = &kernel.exprs[expr];
        let is_bounded = |part| self.is_bounded(kernel, part);
        let mut is_bounded_with = |part| self.is_bounded_with(kernel, part, takes);
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
                    match (self.limits.get(&var), self.lets.get(&var)) {
                        (Some(limit), _) => takes(Beside::Below(expr, *limit)),
                        (None, Some(init)) => is_bounded_with(*init),
                        (None, None) => is_counted(),
                    }
                }
            },
            ExprKind::Binary { op: BinaryOp::Mul, .. } if self.hashes(kernel, expr) => false,
            // No place is so far away: in 64 bits that makes keys.
            ExprKind::Binary { op: BinaryOp::Mul, .. }
                if is_wide(node.ty) && self.is_random(kernel, expr) =>
            {
                false
            }
            ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => is_bounded(rhs),
            // What little a shift leaves is small, whatever is shifted.
            ExprKind::Binary { op: BinaryOp::Shr, lhs, rhs } => {
                let width = kernel.exprs[expr].ty.integer_range();
                let width = width.map_or(64, |(min, max)| (max - min).count_ones());
                literal(kernel, rhs).is_some_and(|by| by >= i128::from(width / 2))
                    || self.parts_of_bits(kernel, expr).is_some() && is_bounded(lhs)
            }
            _ if masked(kernel, expr).is_some() && rounded(kernel, expr).is_none() => true,
            ExprKind::Cast(_) if whole_of(kernel, expr).is_some() => true,
            // Of a number below 0 an unsigned one is made on purpose, so of a parameter.
            ExprKind::Cast(of) => match (Width::of(kernel.exprs[of].ty), width) {
                (Some(_), Width::Whole) | (Some(Width::Whole), Width::Signed) => {
                    is_bounded_with(of)
                }
                (Some(Width::Whole), Width::Unsigned) => {
                    let is_natural = !self.subtracts(kernel, of);
                    is_bounded(of) && (is_natural || takes(Beside::Natural(expr)))
                }
                (Some(Width::Signed | Width::Unsigned), Width::Signed)
                | (Some(Width::Unsigned), Width::Unsigned) => is_bounded_with(of),
                (Some(Width::Signed), Width::Unsigned) => {
                    let is_natural = !self.subtracts(kernel, of)
                        && (is_wide(node.ty) || !self.is_scalar(kernel, of));
                    is_bounded(of) && (is_natural || takes(Beside::Natural(expr)))
                }
                // Whatever it is, it is small; below 0 it is large without a sign.
                (None, _) => small_range(kernel.exprs[of].ty)
                    .is_some_and(|(least, _)| least >= 0 || width != Width::Unsigned),
            },
            // Bits of one number are enough.
            ExprKind::Binary { op: BinaryOp::And, .. } if self.takes_bits(kernel, expr) => {
                let parts = self.parts_of_bits(kernel, expr);
                parts.is_some_and(|parts| parts.into_iter().any(is_bounded))
            }
            ExprKind::Binary { op: BinaryOp::Sub, .. } | ExprKind::Unary { .. }
                if width == Width::Unsigned
                    && !self.rounds_up(kernel, expr)
                    && self.rounded_down(kernel, expr).is_none() =>
            {
                let parts = difference(kernel, expr).filter(|_| takes(Beside::Natural(expr)));
                parts.is_some_and(|parts| {
                    parts.into_iter().all(|part| self.is_bounded_with(kernel, part, takes))
                })
            }
            _ => {
                let parts = self.parts(kernel, expr);
                parts.is_some_and(|parts| parts.into_iter().all(is_bounded_with))
            }
        }
    }

    /// Whether an expression is a scalar parameter, by a name of its own or by another.
    fn is_scalar(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let ExprKind::Var(var) = kernel.exprs[expr].kind else { return false };
        matches!(kernel.vars[var].kind, VarKind::Scalar(_))
            || self.lets.get(&var).is_some_and(|init| self.is_scalar(kernel, *init))
    }

    /// Whether a number of 32 or 64 bits is made of dimensions and tile sizes alone: by those nobody
    /// hashes.
    pub(super) fn is_size(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let node = &kernel.exprs[expr];
        node.ty != Type::Index
            && self.parts(kernel, expr).is_some()
            && !self.takes_bits(kernel, expr)
            && self.is_of_sizes(kernel, expr)
            && self.is_bounded(kernel, expr)
    }

    pub(super) fn is_of_sizes(&self, kernel: &Kernel, expr: ExprId) -> bool {
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
    pub(super) fn asks_scalars(&self, kernel: &Kernel, expr: ExprId) -> bool {
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
    pub(super) fn subtracts(&self, kernel: &Kernel, expr: ExprId) -> bool {
        match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Sub, .. }
            | ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Not, .. } => true,
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

    /// Whether a loop counts a variable by hand at one of its uses, between bounds.
    pub(super) fn is_counted(&self, kernel: &Kernel, expr: ExprId, var: VarId) -> bool {
        let counted = self.stepped.at(expr, var);
        let is_bounded = |part: ExprId| self.is_bounded(kernel, part);
        // Where a sum has not reached the bound, it must not have wrapped.
        let is_known = |end: &End| {
            (!end.twice || self.stepped.course(var).is_some())
                && (end.bound.sum().is_none() || self.summed(kernel, var).is_some())
        };
        counted.is_some_and(|counted| {
            is_known(counted.0) && limits(counted).into_iter().all(is_bounded)
        })
    }

    /// How a variable is summed up of bounded steps, as often as loops with bounds are run.
    pub(super) fn summed(&self, kernel: &Kernel, var: VarId) -> Option<&Course> {
        let course = self.stepped.course(var)?;
        let is_whole = match Width::of(kernel.vars[var].ty)? {
            Width::Unsigned => course.goes(Way::Up),
            Width::Signed | Width::Whole => true,
        };
        let is_bounded = |part: ExprId| self.is_bounded(kernel, part);
        let mut limits = course.limits().into_iter().chain(course.other_sums(var));
        (is_whole && limits.all(is_bounded)).then_some(course)
    }
}

/// The range of a type of fewer bits than numbers that are followed; of a condition, as a number.
pub(super) fn small_range(ty: Type) -> Option<Range> {
    match Width::of(ty) {
        Some(_) => None,
        None if ty == Type::BOOL => Some((0, 1)),
        None => ty.integer_range(),
    }
}

/// What is subtracted from what, without a sign.
pub(super) fn difference(kernel: &Kernel, expr: ExprId) -> Option<[ExprId; 2]> {
    let is_unsigned = Width::of(kernel.exprs[expr].ty) == Some(Width::Unsigned);
    match kernel.exprs[expr].kind {
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } if is_unsigned => Some([lhs, rhs]),
        _ => None,
    }
}

/// Whether an integer has 64 bits.
fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::Scalar(ElemType::Concrete(DType::I64 | DType::U64)))
}

/// What decides how far a variable goes that a loop counts by hand.
pub(super) fn limits((end, course): (&End, &Course)) -> Vec<ExprId> {
    let steps = course.steps.iter().map(|step| step.by);
    course.starts.iter().copied().chain(steps).chain(end.bound.parts()).collect()
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
