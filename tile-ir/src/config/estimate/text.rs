//! What a kernel's text says by itself, the same for all its configurations.

use std::collections::BTreeMap;

use super::follow::Follows;
use super::loops::Loops;
use super::origins::Origins;
use crate::kernel::{
    Access, ArrayRef, Axis, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, VarKind,
    immutable_lets, var_uses_in,
};

/// What the model asks of a text.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Definitions of the `let`s that are never assigned again.
    pub(super) lets: BTreeMap<VarId, ExprId>,
    /// How expressions follow variables.
    pub(super) follows: Follows,
    /// Where expressions' values come from.
    pub(super) origins: Origins,
    /// The variables that items declare.
    pub(super) variables: BTreeMap<VarId, Variable>,
    /// Its loops.
    pub(super) loops: Loops,
    /// Of each cooperative loop, by the variable of its first axis, the axis along which it
    /// runs: that of the unit stride of the global memory that it touches.
    fastest: BTreeMap<VarId, VarId>,
}

/// A variable that each item of the block has for itself.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Whether it outlives a statement of the whole block.
    pub(super) is_fragment: bool,
    /// Whether its first value comes from global memory.
    pub(super) waits: bool,
    /// The loads in its first value.
    pub(super) loads: Vec<ExprId>,
}

impl Text {
    pub(super) fn new(kernel: &Kernel) -> Self {
        let lets = immutable_lets(&kernel.body, kernel);
        let mut loops = Loops::new(kernel);
        let mut sources = lets.clone();
        sources.extend(loops.starts());
        let follows = Follows::new(kernel, &sources);
        let origins = Origins::new(kernel, &sources, &loops);
        loops.find_extents(kernel, &follows, &origins);
        let mut variables = BTreeMap::new();
        list_variables(kernel, &kernel.body, &mut variables);
        let mut fastest = BTreeMap::new();
        list_fastest(kernel, &follows, &kernel.body, &mut fastest);
        Self { lets, follows, origins, loops, variables, fastest }
    }

    /// Whether a loop goes along an index one by one.
    pub(super) fn is_walked(&self, index: ExprId) -> bool {
        self.loops.counters().any(|var| self.follows.is_unit_stride(index, var))
    }

    /// The same of a loop that goes on by one, so that the index begins anywhere.
    pub(super) fn is_shifted(&self, index: ExprId) -> bool {
        self.loops.single_steps().any(|var| self.follows.is_unit_stride(index, var))
    }

    /// Whether an index is a variable that the item sets anew again and again.
    pub(super) fn is_stepped(&self, kernel: &Kernel, index: ExprId) -> bool {
        let ExprKind::Var(var) = kernel.exprs[index].kind else { return false };
        let is_let = matches!(kernel.vars[var].kind, VarKind::Let { .. });
        is_let && !self.lets.contains_key(&var)
    }

    /// The axis along which a cooperative loop runs, of whose axes `first` is the first.
    pub(super) fn fastest(&self, first: VarId) -> Option<VarId> {
        self.fastest.get(&first).copied()
    }
}

fn list_variables(kernel: &Kernel, stmts: &[Stmt], found: &mut BTreeMap<VarId, Variable>) {
    for (at, stmt) in stmts.iter().enumerate() {
        if let StmtKind::Let { var, init } = stmt.kind {
            found.insert(var, variable(kernel, var, init, &stmts[at + 1..]));
        }
        stmt.kind.bodies().into_iter().for_each(|body| list_variables(kernel, body, found));
    }
}

fn list_fastest(
    kernel: &Kernel,
    follows: &Follows,
    stmts: &[Stmt],
    found: &mut BTreeMap<VarId, VarId>,
) {
    for stmt in stmts {
        if let StmtKind::Each { axes, body, .. } = &stmt.kind
            && let (Some(first), Some(var)) = (axes.first(), fastest(kernel, follows, body, axes))
        {
            found.insert(first.var, var);
        }
        stmt.kind.bodies().into_iter().for_each(|body| list_fastest(kernel, follows, body, found));
    }
}

fn fastest(kernel: &Kernel, follows: &Follows, body: &[Stmt], axes: &[Axis]) -> Option<VarId> {
    let mut accesses = Vec::new();
    for stmt in body {
        if let StmtKind::Store { access, .. } = &stmt.kind {
            accesses.push(access);
        }
        let mut loads = Vec::new();
        stmt.kind.exprs().into_iter().for_each(|id| loads_in(kernel, id, &mut loads));
        accesses.extend(loads.into_iter().filter_map(|id| access_of(kernel, id)));
    }
    let of_tensors =
        accesses.into_iter().filter(|access| matches!(access.array, ArrayRef::Tensor(_)));
    let mut lasts = of_tensors.filter_map(|access| access.indices.last());
    lasts.find_map(|&last| {
        let axis = axes.iter().find(|axis| follows.is_unit_stride(last, axis.var));
        axis.map(|axis| axis.var)
    })
}

fn variable(kernel: &Kernel, var: VarId, init: Option<ExprId>, rest: &[Stmt]) -> Variable {
    let next = rest.iter().position(outlasts_items).unwrap_or(rest.len());
    let mut loads = Vec::new();
    init.iter().for_each(|id| loads_in(kernel, *id, &mut loads));
    let of_tensor = |id: &ExprId| {
        matches!(access_of(kernel, *id), Some(Access { array: ArrayRef::Tensor(_), .. }))
    };
    Variable {
        is_fragment: rest[next..].iter().any(|stmt| names(kernel, stmt, var)),
        waits: loads.iter().any(of_tensor),
        loads,
    }
}

/// Whether a statement, or one inside it, reads or sets a variable.
fn names(kernel: &Kernel, stmt: &Stmt, var: VarId) -> bool {
    let is_target = match &stmt.kind {
        StmtKind::Assign { var: target, .. }
        | StmtKind::Update { place: Place::Var(target), .. } => *target == var,
        _ => false,
    };
    is_target
        || stmt.kind.exprs().into_iter().any(|id| var_uses_in(kernel, id, var) > 0)
        || stmt.kind.bodies().into_iter().flatten().any(|stmt| names(kernel, stmt, var))
}

/// Whether the block's items end before a statement, so that what they keep takes
/// registers of their own.
fn outlasts_items(stmt: &Stmt) -> bool {
    stmt.has_meeting() || matches!(stmt.kind, StmtKind::Phase { .. } | StmtKind::For { .. })
}

/// What a load reads; of an expression that is none, nothing.
pub(super) fn access_of(kernel: &Kernel, id: ExprId) -> Option<&Access> {
    match &kernel.exprs[id].kind {
        ExprKind::Load(access) => Some(access),
        _ => None,
    }
}

/// The loads in an expression, of one that is guarded at an edge the guarded ones.
pub(super) fn loads_in(kernel: &Kernel, id: ExprId, found: &mut Vec<ExprId>) {
    let kind = &kernel.exprs[id].kind;
    if let ExprKind::Load(_) = kind {
        found.push(id);
    }
    if let ExprKind::Select { then, .. } = kind
        && kernel.read_at_edge(id).is_some()
    {
        return loads_in(kernel, *then, found);
    }
    kind.operands().into_iter().for_each(|id| loads_in(kernel, id, found));
}
