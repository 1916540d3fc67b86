//! Uniformity: which values all work-items of a block agree on.
//!
//! Two questions are answered, because they differ:
//!
//! - **Value** ([`Uniformity::is_uniform_value`]): wherever work-items evaluate
//!   this expression together, do they get the same result? Flow-sensitive: a
//!   mutable variable may hold a work-item's value first and a common one later.
//!   The divergence rule asks this.
//! - **Storage** ([`Uniformity::is_uniform_var`], [`Uniformity::is_uniform_expr`]):
//!   can the variable live once per block instead of once per work-item, and can
//!   the expression be computed from such variables alone? Flow-insensitive.
//!   Lowering asks this. Storage implies value.
//!
//! # Sources of difference
//!
//! Axes of the block domain and of an `each`; loads of shared tiles; loads of
//! tensors that the kernel writes, or at an index that differs; old values of
//! atomic updates; variables assigned where control flow differs. In `uniform(…)`
//! a load differs only where its index does: the race rules see to it that nobody
//! writes the element in that barrier interval. Dimensions, tile parameters, scalars,
//! grid axes, constants and loads of never-written tensors at a uniform index
//! are the same for the whole block. The counter of a loop is, where its bounds
//! are and the loop itself stands in uniform control flow.
//!
//! Without a block domain the body runs once per block, yet loads of tiles are
//! counted as differing there too: several threads may come to run the body, and
//! only some of them may have seen a store that no barrier separates from it.

use serde::{Deserialize, Serialize};

use super::flow::{self, Fold};
use super::fold::Folds;
use crate::arena::EntityId;
use crate::exchange::Group;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, TensorId, VarId,
    VarKind, any_subexpr,
};

/// What [`uniformity`] finds out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uniformity {
    vars: Vec<bool>,
    exprs: Vec<bool>,
    values: Vec<bool>,
}

impl Uniformity {
    /// Whether `var` can be stored once per block: every value assigned to it is
    /// a [uniform expression](Self::is_uniform_expr), in control flow decided by
    /// uniform expressions.
    pub fn is_uniform_var(&self, var: VarId) -> bool {
        self.vars.get(var.index()).copied().unwrap_or(false)
    }

    /// Whether `expr` reads nothing that differs between work-items: only
    /// [uniform variables](Self::is_uniform_var), constants, and never-written
    /// tensors at uniform indices. It may be computed once for the block.
    pub fn is_uniform_expr(&self, expr: ExprId) -> bool {
        self.exprs.get(expr.index()).copied().unwrap_or(false)
    }

    /// Whether all work-items that evaluate `expr` together get the same value.
    /// True of more than [`Self::is_uniform_expr`]: the value may stand in a
    /// variable that each work-item has of its own.
    pub fn is_uniform_value(&self, expr: ExprId) -> bool {
        self.values.get(expr.index()).copied().unwrap_or(false)
    }
}

/// Analyses a kernel.
pub fn uniformity(kernel: &Kernel) -> Uniformity {
    let folds = Folds::of(kernel);
    uniformity_with(kernel, &|condition| folds.get(condition))
}

/// As [`uniformity`], with conditions that `fold` knows to be the same for all
/// work-items at every admissible size.
pub(crate) fn uniformity_with(kernel: &Kernel, fold: Fold<'_>) -> Uniformity {
    let written = WrittenTensors::of(kernel);
    let vars = common_vars(kernel, &written, (Across::Block, fold));
    let exprs = kernel
        .exprs
        .ids()
        .map(|expr| {
            fold(expr).is_some()
                || is_uniform(kernel, &written, (expr, false), &|v| vars[v.index()])
        })
        .collect();
    let values = flow::analyse(kernel, fold, Group::Block).values;
    Uniformity { vars, exprs, values }
}

/// Variables that all work-items of a launch agree on, by number: what is assigned to each,
/// and all that decides whether and how often, is made of literals, dimensions, scalars, tile
/// parameters, elements of tensors that are never written, and such variables.
pub(crate) fn launched_vars(kernel: &Kernel) -> Vec<bool> {
    common_vars(kernel, &WrittenTensors::of(kernel), (Across::Launch, &|_| None))
}

/// Which work-items have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Across {
    Block,
    Launch,
}

/// The variables that these work-items have in common.
fn common_vars(
    kernel: &Kernel,
    written: &WrittenTensors,
    (across, fold): (Across, Fold<'_>),
) -> Vec<bool> {
    let is_open = |kind: VarKind| match kind {
        VarKind::Block | VarKind::Each => false,
        VarKind::Grid => across == Across::Block,
        VarKind::Dim
        | VarKind::TileParam(_)
        | VarKind::Scalar(_)
        | VarKind::Loop
        | VarKind::Let { .. } => true,
    };
    let mut vars: Vec<bool> = kernel.vars.values().map(|var| is_open(var.kind)).collect();
    // The greatest fixpoint: assume all variables common, strike out until
    // nothing changes. Each round strikes out at least one.
    loop {
        let mut storage = Storage { kernel, written, across, fold, vars, changed: false };
        storage.visit(&kernel.body, true);
        vars = storage.vars;
        if !storage.changed {
            return vars;
        }
    }
}

/// One round of the storage fixpoint.
struct Storage<'a> {
    kernel: &'a Kernel,
    written: &'a WrittenTensors,
    across: Across,
    fold: Fold<'a>,
    vars: Vec<bool>,
    changed: bool,
}

impl Storage<'_> {
    fn expr(&self, expr: ExprId) -> bool {
        // What a block agrees on another one need not have.
        let mut is_of_block = |kind: &ExprKind| matches!(kind, ExprKind::Uniform(_));
        if self.across == Across::Launch && any_subexpr(self.kernel, expr, &mut is_of_block) {
            return false;
        }
        (self.fold)(expr).is_some()
            || is_uniform(self.kernel, self.written, (expr, false), &|var| self.vars[var.index()])
    }

    fn assign(&mut self, var: VarId, uniform: bool) {
        if !uniform && self.vars[var.index()] {
            self.vars[var.index()] = false;
            self.changed = true;
        }
    }

    fn visit(&mut self, stmts: &[Stmt], control: bool) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init } => {
                    let uniform = control && init.is_none_or(|init| self.expr(init));
                    self.assign(*var, uniform);
                }
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    let uniform = control && self.expr(*value);
                    self.assign(*var, uniform);
                }
                // Where control flow differs, another rule has said so.
                StmtKind::Exchange { var, op, .. } => {
                    let is_common = self.across == Across::Block && op.is_uniform(Group::Block);
                    self.assign(*var, is_common);
                }
                StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Store { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
                StmtKind::Atomic { old, .. } => {
                    // Each work-item, and each block, gets another.
                    old.iter().for_each(|old| self.assign(*old, false));
                }
                StmtKind::Each { body, .. } => self.visit(body, false),
                StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                    let uniform = control && range_exprs(range).all(|expr| self.expr(expr));
                    self.assign(*var, uniform);
                    self.visit(body, uniform);
                }
                StmtKind::While { cond, body } => {
                    let uniform = control && self.expr(*cond);
                    self.visit(body, uniform);
                }
                StmtKind::If { cond, then, otherwise } => {
                    let uniform = control && self.expr(*cond);
                    self.visit(then, uniform);
                    self.visit(otherwise, uniform);
                }
            }
        }
    }
}

/// The expressions that decide a loop's iterations.
pub(crate) fn range_exprs(range: &LoopRange) -> impl Iterator<Item = ExprId> + use<> {
    let exprs = match *range {
        LoopRange::Between { start, end, step, .. } => [Some(start), Some(end), step],
        LoopRange::Halving(n) | LoopRange::Doubling(n) => [Some(n), None, None],
    };
    exprs.into_iter().flatten()
}

/// The tensors that a kernel stores to.
#[derive(Debug)]
pub(crate) struct WrittenTensors(Vec<bool>);

impl WrittenTensors {
    /// Collects the tensors that `kernel` stores to.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut written = Self(vec![false; kernel.tensors.len()]);
        written.visit(&kernel.body);
        written
    }

    /// Whether the kernel stores to `tensor`.
    pub(crate) fn contains(&self, tensor: TensorId) -> bool {
        self.0.get(tensor.index()).copied().unwrap_or(true)
    }

    fn visit(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. }
            | StmtKind::Atomic { access, .. } = &stmt.kind
                && let ArrayRef::Tensor(tensor) = access.array
                && let Some(written) = self.0.get_mut(tensor.index())
            {
                *written = true;
            }
            for body in stmt.kind.bodies() {
                self.visit(body);
            }
        }
    }
}

/// Whether `expr` is the same for all work-items, given which variables are, and
/// whether it stands in `uniform(…)`.
pub(crate) fn is_uniform(
    kernel: &Kernel,
    written: &WrittenTensors,
    (expr, is_agreed): (ExprId, bool),
    var_is_uniform: &dyn Fn(VarId) -> bool,
) -> bool {
    let all = |exprs: &[ExprId]| {
        exprs.iter().all(|expr| is_uniform(kernel, written, (*expr, is_agreed), var_is_uniform))
    };
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(_) => true,
        ExprKind::Var(var) => var_is_uniform(*var),
        ExprKind::Load(Access { array, indices, .. }) => match (array, is_agreed) {
            (ArrayRef::Tile(_), true) => !kernel.is_local(*array) && all(indices),
            (ArrayRef::Tensor(_), true) => all(indices),
            (ArrayRef::Tile(_), false) => false,
            (ArrayRef::Tensor(tensor), false) => !written.contains(*tensor) && all(indices),
        },
        ExprKind::Uniform(operand) => is_uniform(kernel, written, (*operand, true), var_is_uniform),
        ExprKind::Unary { operand, .. } => all(&[*operand]),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logic { lhs, rhs, .. } => all(&[*lhs, *rhs]),
        ExprKind::Select { cond, then, otherwise } => all(&[*cond, *then, *otherwise]),
        ExprKind::Cast(operand) => all(&[*operand]),
        ExprKind::Math { arg, .. } => all(&[*arg]),
        ExprKind::Tiles { extent, tile } => all(&[*extent, *tile]),
        ExprKind::InBounds { indices, .. } => all(indices),
    }
}
