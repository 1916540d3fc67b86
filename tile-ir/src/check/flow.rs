//! Flow-sensitive taint: which values differ between work-items at each point
//! of the body, why, and which collective statements stand in control flow that
//! differs.
//!
//! The state is, for each variable, why its value differs ([`Cause`]), if it
//! does. Assignments replace it, so a variable reused for a common value is
//! common again; arms of an `if` join by union; loops run to a fixpoint.
//! An assignment in divergent control flow taints, whatever the value: some
//! work-items made it and some did not.

use super::uniform::{WrittenTensors, range_exprs};
use super::warp::{Aligned, Known, Warps, is_one_warp};
use crate::arena::EntityId;
use crate::exchange::{ExchangeOp, Group, Shuffle};
use crate::kernel::{
    Access, ArrayRef, EachOrigin, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind,
    VarId, VarKind,
};
use crate::span::SpanId;

/// Says of a condition that it has one value for all work-items at every
/// admissible size, and which.
pub(crate) type Fold<'a> = &'a dyn Fn(ExprId) -> Option<bool>;

/// Why a value differs between work-items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It depends on an axis of the block domain or of an `each`, named here.
    Axis(VarId, SpanId),
    /// It depends on this load: of a tile, or of a tensor that the kernel writes
    /// or at an index that differs.
    Load(ExprId),
    /// It depends on this variable, which an atomic update has given the value
    /// before it.
    Old(VarId),
    /// A variable was assigned here, where control flow differs.
    Control(VarId, SpanId),
    /// It depends on this variable, of which an exchange, here, gives each
    /// work-item a value of its own.
    Exchange(VarId, SpanId),
}

/// The kinds of collective statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    /// `barrier;`
    Barrier,
    /// `load …;`
    Load,
    /// `each … { … }`
    Each,
    /// `phase … { … }`
    Phase,
    /// `reduce_sum(e)` and the like.
    Exchange(ExchangeOp),
    /// `uniform(…)`
    Uniform,
    /// `warp_barrier;`
    WarpBarrier,
}

impl Collective {
    /// Whose work-items run it together.
    pub(crate) const fn group(self) -> Group {
        match self {
            Self::Barrier | Self::Load | Self::Each | Self::Phase | Self::Uniform => Group::Block,
            Self::Exchange(op) => op.group(),
            Self::WarpBarrier => Group::Warp,
        }
    }
}

/// The expression on which control flow differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// The condition of an `if`, as a statement or a value, or the left side of
    /// `&&` or `||`.
    If(ExprId),
    /// The condition of a `while`.
    While(ExprId),
    /// A bound of a `for` or `phase`.
    Bound(ExprId),
    /// The statement is inside an `each`, whose points run apart.
    Each(SpanId),
}

/// A collective statement in divergent control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divergent {
    /// What stands there.
    pub(crate) collective: Collective,
    /// Its keyword.
    pub(crate) head: SpanId,
    /// The innermost expression on which control flow differs.
    pub(crate) branch: Branch,
    /// Why that differs; `None` for [`Branch::Each`].
    pub(crate) cause: Option<Cause>,
}

/// A use, inside an `each`, of a variable that differs between work-items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrivateUse {
    /// The variable.
    pub(crate) var: VarId,
    /// The use.
    pub(crate) span: SpanId,
}

/// A `uniform(…)` of what differs between work-items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotUniform {
    /// What stands in the parentheses.
    pub(crate) operand: ExprId,
    /// Why it differs.
    pub(crate) cause: Cause,
}

/// What the analysis finds.
pub(crate) struct Flow {
    /// Per expression: whether its value is the same for all work-items.
    pub(crate) values: Vec<bool>,
    /// Collective statements in divergent control flow, in program order.
    pub(crate) divergent: Vec<Divergent>,
    /// Uses of work-items' values in cooperative loops, in program order.
    pub(crate) private_uses: Vec<PrivateUse>,
    /// Values that are not what `uniform` says, in program order.
    pub(crate) not_uniform: Vec<NotUniform>,
}

/// Analyses a kernel's body: which values differ within a block, or only within
/// its warps, and which statements that the work-items of such a group run
/// together stand where they part.
pub(crate) fn analyse(kernel: &Kernel, fold: Fold<'_>, group: Group) -> Flow {
    analysed(kernel, fold, (group, false))
}

/// The same within warps, where it is asked what the counters of loops that each work-item
/// begins at its own place, and what steps from there, are for the lanes of a warp.
pub(crate) fn analyse_lanes(kernel: &Kernel, fold: Fold<'_>) -> Flow {
    analysed(kernel, fold, (Group::Warp, true))
}

fn analysed(kernel: &Kernel, fold: Fold<'_>, (group, asks_lanes): (Group, bool)) -> Flow {
    let is_of_warp = group == Group::Warp;
    let warps = (is_of_warp || is_one_warp(kernel)).then(|| Warps::of(kernel));
    let mut walker = Walker {
        kernel,
        written: WrittenTensors::of(kernel),
        fold,
        group,
        state: initial_state(kernel, warps.as_ref().filter(|_| is_of_warp)),
        flow: Flow {
            values: vec![true; kernel.exprs.len()],
            divergent: Vec::new(),
            private_uses: Vec::new(),
            not_uniform: Vec::new(),
        },
        in_each: None,
        control: None,
        is_agreed: false,
        warps,
        asks_lanes,
    };
    walker.stmts(&kernel.body, None);
    walker.flow
}

fn initial_state(kernel: &Kernel, warps: Option<&Warps<'_>>) -> State {
    let causes = kernel
        .vars
        .iter()
        .map(|(id, var)| match var.kind {
            VarKind::Block if warps.is_some_and(|warps| warps.agree_on_axis(id)) => None,
            VarKind::Block | VarKind::Each => Some(Cause::Axis(id, var.span)),
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Loop
            | VarKind::Let { .. } => None,
        })
        .collect();
    let aligned =
        kernel.vars.ids().map(|var| warps.and_then(|warps| warps.aligned_axis(var))).collect();
    State { causes, aligned }
}

/// What is known of variables.
#[derive(Clone)]
struct State {
    /// Why the value differs, if it does.
    causes: Vec<Option<Cause>>,
    /// What the value is for the lanes of a warp, where that is asked for.
    aligned: Vec<Option<Aligned>>,
}

impl State {
    /// What is known where one of two states holds.
    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.causes.iter_mut().zip(&other.causes) {
            *mine = mine.or(*theirs);
        }
        for (mine, theirs) in self.aligned.iter_mut().zip(&other.aligned) {
            *mine = Aligned::either(*mine, *theirs);
        }
    }

    /// Whether as much differs as in another state.
    fn is_as(&self, other: &Self) -> bool {
        let mut both = self.causes.iter().zip(&other.causes);
        both.all(|(now, was)| now.is_some() == was.is_some()) && self.aligned == other.aligned
    }
}

/// What is known of a loop's counter.
#[derive(Clone, Copy)]
struct Counter {
    /// Why it differs, if it does.
    cause: Option<Cause>,
    /// What it is for the lanes of a warp.
    aligned: Option<Aligned>,
}

/// Where control flow differs, and why.
type Control = Option<(Branch, Option<Cause>)>;

struct Walker<'a> {
    kernel: &'a Kernel,
    written: WrittenTensors,
    fold: Fold<'a>,
    /// Within which work-items may differ.
    group: Group,
    /// What a warp agrees on, where they are a warp's: of a block that is one, too.
    warps: Option<Warps<'a>>,
    /// Whether it is asked what values are for the lanes of a warp.
    asks_lanes: bool,
    state: State,
    flow: Flow,
    /// Variables that may be used in the `each` around, if there is one.
    in_each: Option<Vec<bool>>,
    /// Control flow around the present expression.
    control: Control,
    /// Whether the present expression stands in `uniform(…)`.
    is_agreed: bool,
}

impl Walker<'_> {
    /// Why `expr` differs between work-items, if it does; records the answer for
    /// it and its operands.
    fn expr(&mut self, expr: ExprId) -> Option<Cause> {
        let kernel = self.kernel;
        let span = kernel.exprs[expr].span;
        let cause = match &kernel.exprs[expr].kind {
            ExprKind::Literal(_) => None,
            ExprKind::Var(var) => self.var(*var, span),
            ExprKind::Load(access) => self.load(expr, access),
            ExprKind::Unary { operand, .. } | ExprKind::Cast(operand) => self.expr(*operand),
            ExprKind::Binary { lhs, rhs, .. } | ExprKind::Compare { lhs, rhs, .. } => {
                self.exprs(&[*lhs, *rhs])
            }
            ExprKind::Logic { lhs, rhs, .. } => self.decided(*lhs, &[*rhs]),
            ExprKind::Select { cond, then, otherwise } => self.decided(*cond, &[*then, *otherwise]),
            ExprKind::Uniform(operand) => {
                self.uniform(*operand, span);
                None
            }
            ExprKind::Math { arg, .. } => self.expr(*arg),
            ExprKind::Tiles { extent, tile } => self.exprs(&[*extent, *tile]),
            ExprKind::InBounds { indices, .. } => self.exprs(indices),
        };
        let is_agreed = || {
            let warps = self.warps.as_ref().filter(|_| self.group == Group::Warp);
            warps.is_some_and(|warps| warps.agree_on(expr)) || self.agree_by_lanes(expr)
        };
        let cause = cause.filter(|_| (self.fold)(expr).is_none() && !is_agreed());
        if cause.is_some() {
            self.flow.values[expr.index()] = false;
        }
        cause
    }

    /// Expressions of which `cond` decides whether they are evaluated.
    fn decided(&mut self, cond: ExprId, exprs: &[ExprId]) -> Option<Cause> {
        let cause = self.expr(cond);
        let outer = self.control;
        self.control = narrow(outer, cause, Branch::If(cond));
        let rest = self.exprs(exprs);
        self.control = outer;
        cause.or(rest)
    }

    fn uniform(&mut self, operand: ExprId, span: SpanId) {
        self.collective(Collective::Uniform, span, self.control);
        let outer = std::mem::replace(&mut self.is_agreed, true);
        let cause = self.expr(operand);
        self.is_agreed = outer;
        if let Some(cause) = cause
            && !self.flow.not_uniform.iter().any(|known| known.operand == operand)
        {
            self.flow.not_uniform.push(NotUniform { operand, cause });
        }
    }

    fn exprs(&mut self, exprs: &[ExprId]) -> Option<Cause> {
        let mut first = None;
        for expr in exprs {
            let cause = self.expr(*expr);
            first = first.or(cause);
        }
        first
    }

    fn var(&mut self, var: VarId, span: SpanId) -> Option<Cause> {
        let cause = self.state.causes[var.index()];
        if let Some(own) = &self.in_each
            && !own[var.index()]
            && cause.is_some()
        {
            let used = PrivateUse { var, span };
            if !self.flow.private_uses.contains(&used) {
                self.flow.private_uses.push(used);
            }
        }
        match cause {
            Some(Cause::Axis(axis, _)) if axis == var => Some(Cause::Axis(axis, span)),
            other => other,
        }
    }

    fn load(&mut self, load: ExprId, access: &Access) -> Option<Cause> {
        let cause = self.exprs(&access.indices);
        if self.is_agreed && !self.kernel.is_local(access.array) {
            return cause;
        }
        let differs = match access.array {
            ArrayRef::Tile(_) => true,
            ArrayRef::Tensor(tensor) => self.written.contains(tensor) || cause.is_some(),
        };
        differs.then_some(Cause::Load(load))
    }

    fn assign(&mut self, var: VarId, cause: Option<Cause>, span: SpanId, control: Control) {
        let control = control.map(|_| Cause::Control(var, span));
        self.state.causes[var.index()] = cause.or(control);
        self.state.aligned[var.index()] = None;
    }

    /// What a value is for the lanes of a warp.
    fn aligned(&self, value: ExprId) -> Option<Aligned> {
        self.known(|warps, known| warps.aligned(value, known))
    }

    /// Notes what a variable, which has been assigned, is for the lanes of a warp.
    fn align(&mut self, var: VarId, aligned: Option<Aligned>, control: Control) {
        self.state.aligned[var.index()] = aligned.filter(|_| control.is_none());
    }

    /// Whether a warp agrees on an expression, by its lanes.
    fn agree_by_lanes(&self, expr: ExprId) -> bool {
        let asked = self.known(|warps, known| Some(warps.agree_by_lanes(expr, known)));
        asked.unwrap_or(false)
    }

    /// What the lanes of a warp are asked, if they are.
    fn known<T>(&self, ask: impl FnOnce(&Warps<'_>, &Known<'_>) -> Option<T>) -> Option<T> {
        let warps = self.warps.as_ref().filter(|_| self.asks_lanes)?;
        let var = |var: VarId| self.state.aligned[var.index()];
        let is_agreed = |expr: ExprId| self.flow.values[expr.index()];
        ask(warps, &Known { var: &var, is_agreed: &is_agreed })
    }

    fn collective(&mut self, collective: Collective, head: SpanId, control: Control) {
        let Some((branch, cause)) = control else { return };
        if collective.group() != self.group {
            return;
        }
        let found = Divergent { collective, head, branch, cause };
        if !self.flow.divergent.iter().any(|known| known.head == head) {
            self.flow.divergent.push(found);
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], control: Control) {
        for stmt in stmts {
            self.stmt(stmt, control);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, control: Control) {
        self.control = control;
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let cause = init.and_then(|init| self.expr(init));
                self.declare(*var);
                let aligned = init.and_then(|init| self.aligned(init));
                self.assign(*var, cause, stmt.span, control);
                self.align(*var, aligned, control);
            }
            StmtKind::LetArray { init, .. } => {
                self.exprs(init.as_slice());
            }
            StmtKind::Assign { var, value } => {
                let cause = self.expr(*value);
                let aligned = self.aligned(*value);
                self.assign(*var, cause, stmt.span, control);
                self.align(*var, aligned, control);
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                let cause = self.var(*var, stmt.span);
                let cause = cause.or(self.expr(*value));
                let update = (*var, *op, *value);
                let aligned = self.known(|warps, known| warps.aligned_update(update, known));
                self.assign(*var, cause, stmt.span, control);
                self.align(*var, aligned, control);
            }
            StmtKind::Update { place: Place::Element(access), value, .. }
            | StmtKind::Store { access, value } => {
                self.exprs(&access.indices);
                self.expr(*value);
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                self.exprs(&access.indices);
                self.exprs(expected.as_slice());
                self.expr(*value);
                if let Some(old) = *old {
                    self.declare(old);
                    self.assign(old, Some(Cause::Old(old)), stmt.span, control);
                }
            }
            StmtKind::Exchange { var, op, value, lane } => {
                let cause = self.expr(*value);
                lane.iter().for_each(|lane| {
                    self.expr(*lane);
                });
                self.collective(Collective::Exchange(*op), stmt.head, control);
                self.declare(*var);
                let agrees = cause.is_none() && matches!(op, ExchangeOp::Shuffle(_))
                    || op.is_uniform(self.group)
                    || self.warps.is_some() && op.is_uniform(Group::Warp)
                    || self.is_of_one_lane(*op, *lane);
                let own = Some(Cause::Exchange(*var, stmt.span));
                self.state.causes[var.index()] = if agrees { None } else { own };
                self.state.aligned[var.index()] = None;
            }
            StmtKind::WarpBarrier => {
                self.collective(Collective::WarpBarrier, stmt.head, control);
            }
            StmtKind::Assume { cond } => {
                self.expr(*cond);
            }
            StmtKind::Distinct { values, .. } => {
                self.exprs(values);
            }
            StmtKind::Barrier => self.collective(Collective::Barrier, stmt.head, control),
            StmtKind::Each { axes, body, origin } => {
                let collective = match origin {
                    EachOrigin::Each => Collective::Each,
                    EachOrigin::Load => Collective::Load,
                };
                self.collective(collective, stmt.head, control);
                for axis in axes {
                    self.expr(axis.extent);
                }
                let outer = self.in_each.take();
                let mut own = vec![false; self.kernel.vars.len()];
                for axis in axes {
                    own[axis.var.index()] = true;
                }
                self.in_each = Some(own);
                self.stmts(body, Some((Branch::Each(stmt.head), None)));
                self.in_each = outer;
            }
            StmtKind::Phase { var, range, body } => {
                let (inner, counter) = self.bounds(range, control);
                self.collective(Collective::Phase, stmt.head, inner);
                self.counted((*var, counter), body, stmt.span, inner);
            }
            StmtKind::For { var, range, body } => {
                let (inner, counter) = self.bounds(range, control);
                self.counted((*var, counter), body, stmt.span, inner);
            }
            StmtKind::While { cond, body } => self.fixpoint(|walker| {
                walker.control = control;
                let cause = walker.expr(*cond);
                let inner = narrow(control, cause, Branch::While(*cond));
                if let Some((branch, _)) = inner.filter(|_| cause.is_some()) {
                    walker.control = Some((branch, cause));
                    walker.expr(*cond);
                }
                walker.stmts(body, inner);
                // The last evaluation of the condition sees the body's values.
                walker.control = control;
                walker.expr(*cond);
            }),
            StmtKind::If { cond, then, otherwise } => {
                let cause = self.expr(*cond);
                let inner = narrow(control, cause, Branch::If(*cond));
                let before = self.state.clone();
                self.stmts(then, inner);
                let after_then = std::mem::replace(&mut self.state, before);
                self.stmts(otherwise, inner);
                self.state.join(&after_then);
            }
        }
    }

    /// Whether an exchange gives the work-items of a group the value of one lane, which
    /// every warp has.
    fn is_of_one_lane(&self, op: ExchangeOp, lane: Option<ExprId>) -> bool {
        let has = |lane: ExprId| self.warps.as_ref().is_some_and(|warps| warps.all_have(lane));
        op == ExchangeOp::Shuffle(Shuffle::At) && lane.is_some_and(has)
    }

    /// Control flow in a counted loop, and what is known of its counter.
    fn bounds(&mut self, range: &LoopRange, control: Control) -> (Control, Counter) {
        let (mut inner, mut first) = (control, None);
        for bound in range_exprs(range) {
            let cause = self.expr(bound);
            first = first.or(cause);
            if inner == control {
                inner = narrow(control, cause, Branch::Bound(bound));
            }
        }
        // Where each begins at its own place they may run as many rounds.
        if let Some(aligned) = self.known(|warps, known| warps.aligned_rounds(range, known)) {
            return (control, Counter { cause: first, aligned: Some(aligned) });
        }
        let cause = inner.and_then(|(_, cause)| cause);
        let aligned = self.known(|warps, known| warps.aligned_counter(range, known));
        (inner, Counter { cause, aligned })
    }

    fn counted(
        &mut self,
        (var, counter): (VarId, Counter),
        body: &[Stmt],
        span: SpanId,
        inner: Control,
    ) {
        self.declare(var);
        self.fixpoint(|walker| {
            walker.assign(var, counter.cause, span, inner);
            walker.align(var, counter.aligned, inner);
            walker.stmts(body, inner);
        });
    }

    /// Runs `body` until the state at its start no longer grows. The state
    /// afterwards is that of zero or more iterations.
    fn fixpoint(&mut self, mut body: impl FnMut(&mut Self)) {
        loop {
            let before = self.state.clone();
            body(self);
            self.state.join(&before);
            if self.state.is_as(&before) {
                return;
            }
        }
    }

    /// A variable declared inside an `each` is the point's own.
    fn declare(&mut self, var: VarId) {
        if let Some(own) = &mut self.in_each {
            own[var.index()] = true;
        }
    }
}

fn narrow(control: Control, cause: Option<Cause>, branch: Branch) -> Control {
    if cause.is_some() { Some((branch, cause)) } else { control }
}
