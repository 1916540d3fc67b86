//! What is known of expressions and variables before code is made: which
//! values are the same for all items, and which expressions read memory.

use std::collections::{HashMap, HashSet};

use tile_ir::arena::EntityId as _;
use tile_ir::program::{ExprId, ExprKind, LoopRange, ProgramKernel, Stmt, StmtKind, VarId};

/// Which expressions are evaluated only where they are asked for: those that read
/// memory, they or an operand, and in checked mode all that compute; by id.
pub(super) struct ExprFacts {
    loads: Vec<bool>,
}

impl ExprFacts {
    /// Facts about a kernel's expressions. Operands have smaller ids.
    pub(super) fn new(kernel: &ProgramKernel, is_watched: bool) -> Self {
        let mut facts = Self { loads: Vec::new() };
        for (_, expr) in kernel.exprs.iter() {
            let operands = operands(&expr.kind);
            let loads = matches!(expr.kind, ExprKind::Load(_))
                || (is_watched && !operands.is_empty())
                || operands.iter().any(|&id| facts.loads(id));
            facts.loads.push(loads);
        }
        facts
    }

    /// Whether it is evaluated only where it is asked for.
    pub(super) fn loads(&self, id: ExprId) -> bool {
        self.loads.get(id.index()).copied().unwrap_or(true)
    }
}

/// The operands of an expression, those of its access included.
fn operands(kind: &ExprKind) -> Vec<ExprId> {
    match kind {
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Arg(_)
        | ExprKind::Coord { .. }
        | ExprKind::Fragment(_) => Vec::new(),
        ExprKind::Load(access) => {
            access.indices.iter().copied().chain(access.slot).chain(access.pad).collect()
        }
        ExprKind::Unary { operand, .. } => vec![*operand],
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logic { lhs, rhs, .. } => vec![*lhs, *rhs],
        ExprKind::Fma { a, b, c } => vec![*a, *b, *c],
        ExprKind::Select { cond, then, otherwise } => vec![*cond, *then, *otherwise],
        ExprKind::Cast(operand) => vec![*operand],
        ExprKind::Math { arg, .. } => vec![*arg],
        ExprKind::CeilDiv { n, d } => vec![*n, *d],
        ExprKind::InBounds { indices, .. } => indices.clone(),
    }
}

/// Facts about the variables of one `Items` body.
///
/// A variable is *varying* where its items may hold different values: it is
/// given such a value, or is given one in control flow that items do not take
/// together. All others are uniform and live in one register for all lanes.
#[derive(Default)]
pub(super) struct VarFacts {
    varying: HashSet<VarId>,
    definitions: HashMap<VarId, usize>,
}

impl VarFacts {
    /// Facts about the variables of `body`.
    pub(super) fn new(kernel: &ProgramKernel, body: &[Stmt]) -> Self {
        let mut facts = Self::default();
        facts.count(body);
        while facts.spread(kernel, body, false) {}
        facts
    }

    /// Whether items may hold different values of it.
    pub(super) fn is_varying(&self, var: VarId) -> bool {
        self.varying.contains(&var)
    }

    /// Whether one statement alone gives it a value.
    pub(super) fn has_one_definition(&self, var: VarId) -> bool {
        self.definitions.get(&var) == Some(&1)
    }

    /// Whether items may have different values of an expression.
    pub(super) fn varies(&self, kernel: &ProgramKernel, id: ExprId) -> bool {
        let Some(expr) = kernel.exprs.get(id) else { return true };
        match &expr.kind {
            ExprKind::Var(var) => self.is_varying(*var),
            ExprKind::Coord { .. } | ExprKind::Fragment(_) => true,
            ExprKind::Literal(_)
            | ExprKind::Arg(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Fma { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. }
            | ExprKind::CeilDiv { .. }
            | ExprKind::InBounds { .. } => {
                operands(&expr.kind).iter().any(|&operand| self.varies(kernel, operand))
            }
        }
    }

    fn count(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Let { var, value: Some(_) } | StmtKind::Assign { var, .. } => {
                    *self.definitions.entry(*var).or_default() += 1;
                }
                StmtKind::Shuffle { var, .. } | StmtKind::Ballot { var, .. } => {
                    *self.definitions.entry(*var).or_default() += 1;
                }
                // Declared without a value: assigned from elsewhere than here.
                StmtKind::Let { var, value: None } => {
                    *self.definitions.entry(*var).or_default() += 2;
                }
                StmtKind::For { var, body, .. } => {
                    *self.definitions.entry(*var).or_default() += 1;
                    self.count(body);
                }
                StmtKind::While { body, .. } | StmtKind::Items { body, .. } => self.count(body),
                StmtKind::If { then, otherwise, .. } => {
                    self.count(then);
                    self.count(otherwise);
                }
                StmtKind::Atomic { old, .. } => {
                    old.iter().for_each(|old| *self.definitions.entry(*old).or_default() += 1);
                }
                StmtKind::SetFragment { .. }
                | StmtKind::Store { .. }
                | StmtKind::Copy { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::WarpBarrier => {}
            }
        }
    }

    /// Marks what the statements make varying; whether anything was new.
    fn spread(&mut self, kernel: &ProgramKernel, body: &[Stmt], divergent: bool) -> bool {
        let mut changed = false;
        for stmt in body {
            changed |= match &stmt.kind {
                StmtKind::Let { var, value } => {
                    let varies = value.is_some_and(|value| self.varies(kernel, value));
                    let shared = divergent && !self.has_one_definition(*var);
                    (varies || shared) && self.varying.insert(*var)
                }
                StmtKind::Assign { var, value } => {
                    (divergent || self.varies(kernel, *value)) && self.varying.insert(*var)
                }
                StmtKind::Shuffle { var, .. } | StmtKind::Ballot { var, .. } => {
                    self.varying.insert(*var)
                }
                StmtKind::For { var, range, body, .. } => {
                    let varies = match range {
                        LoopRange::Between { start, end, step, .. } => {
                            [start, end, step].into_iter().any(|&id| self.varies(kernel, id))
                        }
                        LoopRange::Halving(n) | LoopRange::Doubling(n) => self.varies(kernel, *n),
                    };
                    let shared = divergent && !self.has_one_definition(*var);
                    let marked = (varies || shared) && self.varying.insert(*var);
                    marked | self.spread(kernel, body, divergent || varies)
                }
                StmtKind::While { cond, body } => {
                    let varies = self.varies(kernel, *cond);
                    self.spread(kernel, body, divergent || varies)
                }
                StmtKind::If { cond, then, otherwise } => {
                    let divergent = divergent || self.varies(kernel, *cond);
                    self.spread(kernel, then, divergent) | self.spread(kernel, otherwise, divergent)
                }
                StmtKind::Items { body, .. } => self.spread(kernel, body, divergent),
                StmtKind::Atomic { old, .. } => old.is_some_and(|old| self.varying.insert(old)),
                StmtKind::SetFragment { .. }
                | StmtKind::Store { .. }
                | StmtKind::Copy { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::WarpBarrier => false,
            };
        }
        changed
    }
}
