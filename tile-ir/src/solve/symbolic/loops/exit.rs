//! The variables that remember a `break`, `continue` or `return` of the whole
//! block: code under their negation is not run by those who left.
//!
//! So it is with a variable of the text that a `while` asks, `while !done { … }`: it is
//! set, and the block leaves the loop.
//!
//! A jump that only some work-items take says nothing of where the others are,
//! so its variable is one like any other.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Uniformity;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, VarId};
use crate::op::{LogicOp, UnaryOp};
use crate::syntax::Jump;

/// The variables that are followed, with what sets them.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Exits {
    jumps: BTreeMap<VarId, Jump>,
    /// Of these, the ones that are set on no path but those that left.
    clear: BTreeSet<VarId>,
}

impl Exits {
    /// Those of `kernel` that all work-items set together, and that are only
    /// ever declared as `false` and set to `true`.
    pub(in super::super) fn of(kernel: &Kernel, uniformity: &Uniformity) -> Self {
        let flags = kernel.exits.iter().filter_map(|exit| Some((exit.flag?, exit.jump)));
        let mut jumps: BTreeMap<VarId, Jump> = flags.collect();
        let mut asked = BTreeSet::new();
        collect_asked(kernel, &kernel.body, &mut asked);
        for flag in asked {
            jumps.entry(flag).or_insert(Jump::Break);
        }
        for (id, expr) in kernel.exprs.iter() {
            if let ExprKind::Var(var) = expr.kind
                && !uniformity.is_uniform_value(id)
            {
                jumps.remove(&var);
            }
        }
        retain_plain(kernel, &kernel.body, &mut jumps);
        Self { jumps, clear: BTreeSet::new() }
    }

    /// A variable is declared: as `false`, if it is one of these.
    pub(in super::super) fn declare(&mut self, var: VarId) {
        if self.jumps.contains_key(&var) {
            self.clear.insert(var);
        }
    }

    /// The variables of which `cond` asks that none be set, and whether it asks
    /// nothing else.
    pub(in super::super) fn skipping(
        &self,
        kernel: &Kernel,
        cond: ExprId,
    ) -> (BTreeSet<VarId>, bool) {
        match &kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                let (mut flags, first) = self.skipping(kernel, *lhs);
                let (more, second) = self.skipping(kernel, *rhs);
                flags.extend(more);
                (flags, first && second)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => match kernel.exprs[*operand].kind {
                ExprKind::Var(var) if self.clear.contains(&var) => (BTreeSet::from([var]), true),
                _ => (BTreeSet::new(), false),
            },
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { op: UnaryOp::Neg, .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { op: LogicOp::Or, .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => (BTreeSet::new(), false),
        }
    }

    /// Whether each of these is set on no path but those that left.
    pub(in super::super) fn are_clear(&self, flags: &BTreeSet<VarId>) -> bool {
        flags.is_subset(&self.clear)
    }

    /// What sets `var`.
    pub(in super::super) fn jump(&self, var: VarId) -> Option<Jump> {
        self.jumps.get(&var).copied()
    }

    /// From here on these may be set on any path.
    pub(in super::super) fn forget(&mut self, vars: &BTreeSet<VarId>) {
        self.clear.retain(|var| !vars.contains(var));
    }
}

/// The variables of which the conditions of `while`s ask that they be not set.
fn collect_asked(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeSet<VarId>) {
    for stmt in stmts {
        if let StmtKind::While { cond, .. } = stmt.kind {
            let mut open = vec![cond];
            while let Some(expr) = open.pop() {
                match kernel.exprs[expr].kind {
                    ExprKind::Logic { op: LogicOp::And, lhs, rhs } => open.extend([lhs, rhs]),
                    ExprKind::Unary { op: UnaryOp::Not, operand } => {
                        if let ExprKind::Var(var) = kernel.exprs[operand].kind {
                            out.insert(var);
                        }
                    }
                    _ => {}
                }
            }
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_asked(kernel, body, out));
    }
}

/// Takes out of `jumps` what has another value than `false` first, or is
/// assigned something other than `true`.
fn retain_plain(kernel: &Kernel, stmts: &[Stmt], jumps: &mut BTreeMap<VarId, Jump>) {
    let is =
        |expr: &ExprId, value| kernel.exprs[*expr].kind == ExprKind::Literal(Literal::Bool(value));
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Let { var, init } if !init.as_ref().is_some_and(|init| is(init, false)) => {
                jumps.remove(var);
            }
            StmtKind::Assign { var, value } if !is(value, true) => {
                jumps.remove(var);
            }
            StmtKind::Update { place: Place::Var(var), .. } => {
                jumps.remove(var);
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Update { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        stmt.kind.bodies().into_iter().for_each(|body| retain_plain(kernel, body, jumps));
    }
}
