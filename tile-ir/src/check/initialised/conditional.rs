//! Variables that have a value where a condition holds.
//!
//! `let mut d: f32; if t < n { d = a[t]; } barrier; if t < n { b[t] = d; }`: who reads `d` has
//! come by where it was assigned, since what the condition asks has not changed in between. So
//! a path without a value is none that anybody takes. So it is where one of several conditions
//! always holds.

use std::collections::BTreeSet;

use super::Flow;
use super::state::State;
use crate::check::assigned::assigned_in;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Stmt, Type, VarId};
use crate::op::{CompareOp, LogicOp, UnaryOp};

/// Most conditions of one variable of which it is asked whether one always holds.
const MAX_CASES: usize = 6;

/// A variable has a value where a condition holds, or where it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conditional {
    var: VarId,
    cond: ExprId,
    holds: bool,
}

impl State {
    /// Of facts on either path, those that hold whichever was taken.
    pub(super) fn join_conditional(&mut self, other: &Self) {
        let holds_in = |state: &Self, fact: &Conditional| {
            state.conditional.contains(fact) || state.assigned.contains(&fact.var)
        };
        let all = self.conditional.union(&other.conditional).copied();
        self.conditional =
            all.filter(|fact| holds_in(self, fact) && holds_in(other, fact)).collect();
    }

    /// A variable is declared anew, without a value.
    pub(super) fn forget_conditional(&mut self, var: VarId) {
        self.conditional.retain(|fact| fact.var != var);
    }
}

impl Flow<'_> {
    /// Of variables that one arm of an `if` assigns: they have a value where its condition says
    /// so, as long as that does not change.
    pub(super) fn assigned_by_arm(
        &self,
        cond: ExprId,
        arms: [&[Stmt]; 2],
        (then, otherwise): (&State, &State),
    ) -> Vec<Conditional> {
        let changed: Vec<VarId> = arms.into_iter().flat_map(assigned_in).collect();
        if !self.is_lasting(cond) || self.mentions_any(cond, &changed) {
            return Vec::new();
        }
        let fact = |holds| move |var: &VarId| Conditional { var: *var, cond, holds };
        let by_then = then.assigned.difference(&otherwise.assigned).map(fact(true));
        let by_otherwise = otherwise.assigned.difference(&then.assigned).map(fact(false));
        by_then.chain(by_otherwise).collect()
    }

    /// Takes for assigned what is so where a condition holds, or does not hold.
    pub(super) fn enter_conditional(&self, cond: ExprId, holds: bool, state: &mut State) {
        let mut known = Vec::new();
        self.collect_parts(cond, holds, &mut known);
        let is_met = |fact: &&Conditional| self.follows(fact.cond, fact.holds, &known);
        let met: BTreeSet<VarId> =
            state.conditional.iter().filter(is_met).map(|fact| fact.var).collect();
        state.assigned.extend(met);
    }

    /// What conditions ask of these variables is another question from here on.
    pub(super) fn change_conditional(&self, vars: &[VarId], state: &mut State) {
        state.conditional.retain(|fact| !self.mentions_any(fact.cond, vars));
    }

    /// Takes for assigned what is so under conditions of which one always holds: `x < n` and
    /// `x >= n`.
    pub(super) fn complete_conditional(&self, state: &mut State) {
        let vars: BTreeSet<VarId> = state.conditional.iter().map(|fact| fact.var).collect();
        for var in vars {
            let facts = state.conditional.iter().filter(|fact| fact.var == var);
            let none: Vec<_> = facts.map(|fact| (fact.cond, !fact.holds)).collect();
            if (2..=MAX_CASES).contains(&none.len()) && self.is_contradiction(none, &[]) {
                state.assigned.insert(var);
                state.forget_conditional(var);
            }
        }
    }

    /// Whether conditions cannot come out as they are said to where the known ones do.
    fn is_contradiction(&self, mut open: Vec<(ExprId, bool)>, known: &[(ExprId, bool)]) -> bool {
        let Some((cond, holds)) = open.pop() else { return false };
        match &self.kernel.exprs[cond].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                open.push((*operand, !holds));
                self.is_contradiction(open, known)
            }
            ExprKind::Logic { op, lhs, rhs } if (*op == LogicOp::And) == holds => {
                open.extend([(*lhs, holds), (*rhs, holds)]);
                self.is_contradiction(open, known)
            }
            ExprKind::Logic { lhs, rhs, .. } => [lhs, rhs].into_iter().all(|part| {
                let mut open = open.clone();
                open.push((*part, holds));
                self.is_contradiction(open, known)
            }),
            _ => {
                self.follows(cond, !holds, known) || {
                    let known: Vec<_> = known.iter().copied().chain([(cond, holds)]).collect();
                    self.is_contradiction(open, &known)
                }
            }
        }
    }

    /// The conditions that hold, or do not, where one does.
    fn collect_parts(&self, cond: ExprId, holds: bool, out: &mut Vec<(ExprId, bool)>) {
        out.push((cond, holds));
        match &self.kernel.exprs[cond].kind {
            ExprKind::Logic { op, lhs, rhs } if (*op == LogicOp::And) == holds => {
                self.collect_parts(*lhs, holds, out);
                self.collect_parts(*rhs, holds, out);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.collect_parts(*operand, !holds, out);
            }
            _ => {}
        }
    }

    /// Whether a condition holds, or does not, where all these are as they are said to be.
    fn follows(&self, cond: ExprId, holds: bool, known: &[(ExprId, bool)]) -> bool {
        let is_known = known.iter().any(|(other, as_said)| {
            if *as_said == holds {
                self.kernel.is_same(*other, cond) || self.are_compared(*other, cond, |op| op)
            } else {
                self.are_compared(*other, cond, CompareOp::negated)
            }
        });
        is_known
            || match &self.kernel.exprs[cond].kind {
                ExprKind::Logic { op, lhs, rhs } => {
                    let (lhs, rhs) =
                        (self.follows(*lhs, holds, known), self.follows(*rhs, holds, known));
                    if (*op == LogicOp::And) == holds { lhs && rhs } else { lhs || rhs }
                }
                ExprKind::Unary { op: UnaryOp::Not, operand } => {
                    self.follows(*operand, !holds, known)
                }
                _ => false,
            }
    }

    /// Whether two comparisons of the same integers are related as `related` says, in whichever
    /// order the sides are written.
    fn are_compared(
        &self,
        one: ExprId,
        other: ExprId,
        related: impl FnOnce(CompareOp) -> CompareOp,
    ) -> bool {
        let exprs = &self.kernel.exprs;
        let (ExprKind::Compare { op: first, lhs, rhs }, ExprKind::Compare { op, lhs: a, rhs: b }) =
            (&exprs[one].kind, &exprs[other].kind)
        else {
            return false;
        };
        let is_integer = exprs[*lhs].ty == Type::Index || exprs[*lhs].ty.integer_range().is_some();
        let is_same = |a: ExprId, b: ExprId| self.kernel.is_same(a, b);
        let wanted = related(*first);
        let straight = *op == wanted && is_same(*lhs, *a) && is_same(*rhs, *b);
        let mirrored = *op == wanted.mirrored() && is_same(*lhs, *b) && is_same(*rhs, *a);
        is_integer && (straight || mirrored)
    }

    /// Whether a condition is decided by variables and by tensors that nobody writes.
    fn is_lasting(&self, cond: ExprId) -> bool {
        let kind = &self.kernel.exprs[cond].kind;
        let lasts = match kind {
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tensor(tensor) => !self.written.contains(tensor),
                ArrayRef::Tile(_) => false,
            },
            _ => true,
        };
        lasts && kind.operands().into_iter().all(|part| self.is_lasting(part))
    }

    fn mentions_any(&self, expr: ExprId, vars: &[VarId]) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        matches!(kind, ExprKind::Var(var) if vars.contains(var))
            || kind.operands().into_iter().any(|part| self.mentions_any(part, vars))
    }
}
