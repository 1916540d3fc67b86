//! Which loops of a kernel are reductions whose iterations can be shared out.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::uniformity;
use crate::config::{Config, Numerics, tile_value};
use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Type, VarId, VarKind,
    eval_index, var_uses_in,
};
use crate::op::BinaryOp;

/// The reductions of a kernel.
#[derive(Debug)]
pub(super) struct Found {
    /// Each loop, by its counter.
    pub(super) loops: BTreeMap<VarId, Iterations>,
    /// What they update, and by which operator parts are combined.
    pub(super) accumulators: BTreeMap<VarId, BinaryOp>,
    /// The statement of the body in which the last of the loops stands.
    pub(super) last: usize,
}

/// The values of a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iterations {
    pub(super) start: i128,
    pub(super) step: i128,
    pub(super) n: i128,
}

/// A loop that may be shared out.
struct Candidate {
    iterations: Iterations,
    /// The statement of the body in which it stands.
    top: usize,
    updates: Vec<Update>,
}

/// `var ⊕= e`, or `var = var ⊕ e`
#[derive(Clone, Copy)]
struct Update {
    var: VarId,
    op: BinaryOp,
    /// `e`
    term: ExprId,
}

/// The reductions that can be shared out among `config.slices` slices; `None`
/// where there are none.
pub(super) fn find_reductions(kernel: &Kernel, types: &[DType], config: &Config) -> Option<Found> {
    kernel.block.as_ref().filter(|axes| !axes.is_empty())?;
    let mut search = Search { kernel, config, candidates: BTreeMap::new() };
    for (top, stmt) in kernel.body.iter().enumerate() {
        search.candidates_in(stmt, top);
    }
    let mut candidates = search.candidates;
    let uniform = uniformity(kernel);
    loop {
        let last = candidates.values().map(|candidate| candidate.top).max()?;
        let operators = operators(&candidates);
        let bad: BTreeSet<VarId> = candidates
            .values()
            .flat_map(|candidate| &candidate.updates)
            .map(|update| update.var)
            .filter(|var| {
                let op = operators.get(var).copied().flatten();
                let is_free = op.is_some_and(|op| is_any_order(kernel, types, config, *var, op));
                !is_free
                    || uniform.is_uniform_var(*var)
                    || !is_declared_before(kernel, *var, last)
                    || is_used_otherwise(kernel, *var, last, &candidates)
            })
            .collect();
        if bad.is_empty() {
            let accumulators =
                operators.into_iter().filter_map(|(var, op)| Some((var, op?))).collect();
            let loops = candidates.iter().map(|(var, found)| (*var, found.iterations)).collect();
            let found = Found { loops, accumulators, last };
            return may_run_in_slices(kernel, last).then_some(found);
        }
        candidates.retain(|_, candidate| {
            candidate.updates.iter().all(|update| !bad.contains(&update.var))
        });
    }
}

struct Search<'a> {
    kernel: &'a Kernel,
    config: &'a Config,
    candidates: BTreeMap<VarId, Candidate>,
}

impl Search<'_> {
    fn candidates_in(&mut self, stmt: &Stmt, top: usize) {
        if let StmtKind::For { var, range, body } = &stmt.kind
            && let Some(iterations) = self.iterations(range)
            && let Some(updates) = updates_of(self.kernel, body)
        {
            self.candidates.insert(*var, Candidate { iterations, top, updates });
            return;
        }
        // A cooperative loop's variables are its points'.
        if !matches!(stmt.kind, StmtKind::Each { .. }) {
            for body in stmt.kind.bodies() {
                body.iter().for_each(|stmt| self.candidates_in(stmt, top));
            }
        }
    }

    /// The iterations of a loop, where their number is known and each slice gets
    /// as many.
    fn iterations(&self, range: &LoopRange) -> Option<Iterations> {
        let LoopRange::Between { start, end, step, reversed: false } = *range else { return None };
        let value = |id: ExprId| {
            let var = |var| tile_value(self.kernel, &self.config.tiles, var);
            eval_index(self.kernel, id, &var)
        };
        let (start, end) = (value(start)?, value(end)?);
        let step = step.map_or(Some(1), value).filter(|step| *step > 0)?;
        let n = crate::kernel::ceil_div(end.checked_sub(start)?, step);
        let is_shared_out = n > 0 && n % i128::from(self.config.slices) == 0;
        is_shared_out.then_some(Iterations { start, step, n })
    }
}

/// The updates of a body that does nothing else.
fn updates_of(kernel: &Kernel, body: &[Stmt]) -> Option<Vec<Update>> {
    let mut updates = Vec::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Let { init: Some(_), .. } => {}
            StmtKind::Update { place: Place::Var(var), op, value } => {
                let op = if *op == BinaryOp::Sub { BinaryOp::Add } else { *op };
                updates.push(Update { var: *var, op, term: *value });
            }
            StmtKind::Assign { var, value } => updates.push(assigned_update(kernel, *var, *value)?),
            _ => return None,
        }
    }
    (!updates.is_empty()).then_some(updates)
}

/// `var = var ⊕ e`, or `var = e ⊕ var`.
fn assigned_update(kernel: &Kernel, var: VarId, value: ExprId) -> Option<Update> {
    let ExprKind::Binary { op, lhs, rhs } = kernel.exprs[value].kind else { return None };
    let is_own = |id: ExprId| kernel.exprs[id].kind == ExprKind::Var(var);
    match (is_own(lhs), is_own(rhs)) {
        (true, false) => Some(Update { var, op, term: rhs }),
        (false, true) => Some(Update { var, op, term: lhs }),
        (true, true) | (false, false) => None,
    }
}

/// The operator of each updated variable, `None` where there are several.
fn operators(candidates: &BTreeMap<VarId, Candidate>) -> BTreeMap<VarId, Option<BinaryOp>> {
    let mut operators = BTreeMap::new();
    for update in candidates.values().flat_map(|candidate| &candidate.updates) {
        let known = operators.entry(update.var).or_insert(Some(update.op));
        if *known != Some(update.op) {
            *known = None;
        }
    }
    operators
}

/// Whether the terms that update a variable may come in any order.
fn is_any_order(
    kernel: &Kernel,
    types: &[DType],
    config: &Config,
    var: VarId,
    op: BinaryOp,
) -> bool {
    let variable = &kernel.vars[var];
    let Type::Scalar(elem) = variable.ty else { return false };
    let Some(dtype) = elem.bind(types) else { return false };
    let may_reassociate = variable.accumulator && config.numerics == Numerics::Reassociated;
    match op {
        BinaryOp::Min | BinaryOp::Max => dtype != DType::Bool,
        BinaryOp::Add | BinaryOp::Mul => !dtype.is_float() || may_reassociate,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !dtype.is_float() && dtype != DType::Bool,
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => false,
    }
}

/// Whether a variable is a `let` at the top of the body, before the statement of
/// this number.
fn is_declared_before(kernel: &Kernel, var: VarId, last: usize) -> bool {
    matches!(kernel.vars[var].kind, VarKind::Let { .. })
        && kernel.body[..last].iter().any(|stmt| match &stmt.kind {
            StmtKind::Let { var: declared, init: Some(_) } => *declared == var,
            _ => false,
        })
}

/// Whether anything but the candidates' updates names a variable, from its
/// declaration to the statement of number `last`.
fn is_used_otherwise(
    kernel: &Kernel,
    var: VarId,
    last: usize,
    candidates: &BTreeMap<VarId, Candidate>,
) -> bool {
    let updates = || candidates.values().flat_map(|candidate| &candidate.updates);
    // What it adds may not depend on the sum.
    if updates().any(|update| var_uses_in(kernel, update.term, var) > 0) {
        return true;
    }
    let of_stmts = kernel.body[..=last].iter().map(|stmt| uses(kernel, stmt, var));
    let of_updates = updates().filter(|update| update.var == var).count();
    of_stmts.sum::<usize>() != of_updates
}

/// How often a statement names a variable, apart from its declaration; an update
/// of it counts once.
fn uses(kernel: &Kernel, stmt: &Stmt, var: VarId) -> usize {
    let inside: usize =
        stmt.kind.bodies().into_iter().flatten().map(|stmt| uses(kernel, stmt, var)).sum();
    let of_value = |id: ExprId| var_uses_in(kernel, id, var);
    let own = match &stmt.kind {
        StmtKind::Assign { var: target, value } => {
            let is_update = *target == var && assigned_update(kernel, var, *value).is_some();
            of_value(*value) + usize::from(*target == var && !is_update)
        }
        StmtKind::Update { place: Place::Var(target), value, .. } => {
            of_value(*value) + usize::from(*target == var)
        }
        kind => kind.exprs().into_iter().map(of_value).sum(),
    };
    own + inside
}

/// Whether the work-items of all slices may come by the body up to the statement
/// of number `last`, and those of the first go on alone.
fn may_run_in_slices(kernel: &Kernel, last: usize) -> bool {
    let (before, after) = kernel.body.split_at(last + 1);
    before.iter().all(|stmt| may_be_repeated(kernel, stmt)) && !after.iter().any(Stmt::has_meeting)
}

/// Whether a statement does the same if several work-items of the same
/// coordinates run it.
fn may_be_repeated(kernel: &Kernel, stmt: &Stmt) -> bool {
    let is_local = |array: ArrayRef| kernel.is_local(array);
    match &stmt.kind {
        StmtKind::Store { access, .. } | StmtKind::Update { place: Place::Element(access), .. } => {
            is_local(access.array)
        }
        StmtKind::Atomic { .. } | StmtKind::Exchange { .. } | StmtKind::WarpBarrier => false,
        StmtKind::Each { .. }
        | StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Update { place: Place::Var(_), .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier => true,
        StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. } => {
            stmt.kind.bodies().into_iter().flatten().all(|stmt| may_be_repeated(kernel, stmt))
        }
    }
}
