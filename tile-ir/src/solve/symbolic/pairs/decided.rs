//! Proofs for both outcomes of conditions that the launch or the block decides.
//!
//! `if W == H { … } else { … }` takes one way in all blocks of a launch. So a kernel with
//! such conditions is several, of each of which the condition, or its opposite, is a fact, and
//! nobody takes the other way; what is proved of each is proved. Where two sizes are equal, one
//! stands for both. Conditions on a block's coordinates (`if by == 0 { … }`) come out alike for
//! the work-items of one block: so it is with them for what meets within a block.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::walk::{Case, Walk};
use super::super::{Relation, Unproved};
use super::cases::{Patience, Shares, unproved_in_case};
use super::listed::unproved_in_each;
use crate::check::Uniformity;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Stmt, StmtKind, VarId, VarKind, any_stmt, immutable_lets,
};
use crate::op::CompareOp;

/// Most conditions that are tried both ways.
const MAX_CONDITIONS: usize = 3;

/// How conditions come out.
pub(in super::super) type Decided = BTreeMap<ExprId, bool>;

/// What variables are that are given a value once.
type Lets = BTreeMap<VarId, ExprId>;

/// Who has one outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Launch,
    Block,
}

/// Those of `open` that are not proved whichever way conditions of the launch come out, and
/// within blocks those of the block.
pub(in super::super) fn unproved_either_way(
    of: (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    let left = unproved_at(of, (Level::Launch, patience), open);
    let is_between = |found: &Unproved| matches!(found.relation, Relation::BetweenBlocks);
    let (between, within): (Vec<_>, Vec<_>) = left.into_iter().partition(is_between);
    let mut left = unproved_at(of, (Level::Block, patience), &within);
    left.extend(between);
    left
}

fn unproved_at(
    (kernel, uniformity): (&Kernel, &Uniformity),
    (level, patience): (Level, &Patience),
    open: &[Unproved],
) -> Vec<Unproved> {
    let lets = immutable_lets(&kernel.body, kernel);
    let conditions = conditions((kernel, &lets), level);
    // Of the launch alone they have been tried.
    let is_new =
        |cond: &ExprId| level == Level::Launch || !is_of((kernel, &lets), *cond, Level::Launch);
    if open.is_empty() || !conditions.iter().flatten().any(is_new) {
        return open.to_vec();
    }
    let cases = combinations(&conditions);
    // All of them together may take twice the effort of a kernel.
    let shares = Shares::equal(cases.len(), patience);
    unproved_in_each(&cases, open, &shares, &|decided, is_asked| {
        let case = Case { decided: decided.clone(), ..Case::default() };
        unproved_in_case((kernel, uniformity), case, &shares, is_asked)
    })
}

/// Every way in which the conditions may come out, each of them alike wherever it stands.
fn combinations(conditions: &[Vec<ExprId>]) -> Vec<Decided> {
    let mut all = vec![Decided::new()];
    for alike in conditions.iter().take(MAX_CONDITIONS) {
        let with = |decided: &Decided, holds: bool| {
            let of_each = alike.iter().map(|cond| (*cond, holds));
            decided.iter().map(|(cond, holds)| (*cond, *holds)).chain(of_each).collect()
        };
        all = all.iter().flat_map(|one| [true, false].map(|holds| with(one, holds))).collect();
    }
    all
}

/// The comparisons of numbers of a level that decide what is run or chosen, those that are alike
/// together.
fn conditions((kernel, lets): (&Kernel, &Lets), level: Level) -> Vec<Vec<ExprId>> {
    let mut open = Vec::new();
    any_stmt(&kernel.body, &mut |kind| {
        if let StmtKind::If { cond, .. } = kind {
            open.push(*cond);
        }
        false
    });
    let chosen = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Select { cond, .. } => Some(cond),
        _ => None,
    });
    open.extend(chosen);
    let mut found: Vec<Vec<ExprId>> = Vec::new();
    for cond in open.into_iter().rev().flat_map(|cond| comparisons((kernel, lets), cond, level)) {
        match found
            .iter_mut()
            .find(|alike| alike.first().is_some_and(|one| kernel.is_same(*one, cond)))
        {
            Some(alike) if alike.contains(&cond) => {}
            Some(alike) => alike.push(cond),
            None => found.push(vec![cond]),
        }
    }
    found.sort();
    found
}

/// The comparisons of numbers of the launch of which a condition is made.
pub(crate) fn launch_conditions(kernel: &Kernel, lets: &Lets, cond: ExprId) -> Vec<ExprId> {
    comparisons((kernel, lets), cond, Level::Launch)
}

/// The comparisons of numbers of a level of which a condition is made.
fn comparisons((kernel, lets): (&Kernel, &Lets), cond: ExprId, level: Level) -> Vec<ExprId> {
    let (mut open, mut found) = (vec![cond], Vec::new());
    while let Some(cond) = open.pop() {
        match kernel.exprs[cond].kind {
            ExprKind::Logic { lhs, rhs, .. } => open.extend([lhs, rhs]),
            ExprKind::Unary { operand, .. } => open.push(operand),
            ExprKind::Var(var) => open.extend(lets.get(&var)),
            ExprKind::Compare { .. } if is_of((kernel, lets), cond, level) => found.push(cond),
            _ => {}
        }
    }
    found
}

/// Whether an expression is made of numbers of a level.
fn is_of((kernel, lets): (&Kernel, &Lets), expr: ExprId, level: Level) -> bool {
    let kind = &kernel.exprs[expr].kind;
    match kind {
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => true,
            VarKind::Grid => level == Level::Block,
            VarKind::Block | VarKind::Each | VarKind::Loop | VarKind::Let { .. } => {
                lets.get(var).is_some_and(|init| is_of((kernel, lets), *init, level))
            }
        },
        ExprKind::Load(_) | ExprKind::InBounds { .. } | ExprKind::Uniform(_) => false,
        _ => kind.operands().iter().all(|operand| is_of((kernel, lets), *operand, level)),
    }
}

impl Walk<'_> {
    /// A condition, of which this case may know how it comes out: if the launch decides it,
    /// that is a fact everywhere.
    pub(in super::super) fn decided(&mut self, expr: ExprId, cond: Cond) -> Cond {
        let Some(holds) = self.case.decided.get(&expr).copied() else { return cond };
        let fact = if holds { cond.yes } else { cond.no };
        let lets = immutable_lets(&self.kernel.body, self.kernel);
        let is_everywhere = is_of((self.kernel, &lets), expr, Level::Launch);
        if is_everywhere && !self.constraints.contains(&fact) {
            self.constraints.push(fact);
        }
        match holds {
            true => Cond { yes: Formula::True, no: Formula::False },
            false => Cond { yes: Formula::False, no: Formula::True },
        }
    }

    /// Walks the arm of an `if` that all take in this case.
    pub(in super::super) fn one_way(&mut self, (cond, holds): (ExprId, bool), arm: &[Stmt]) {
        let known = self.undecided(cond);
        self.decided(cond, known.clone());
        let fact = if holds { known.yes } else { known.no };
        self.under_one_of((fact, Formula::False), |walk| walk.stmts(arm));
    }

    /// Of two sizes or parameters that are equal in this case, one stands for both.
    pub(in super::super) fn unite_equal(&mut self) {
        let kernel = self.kernel;
        let decided = self.case.decided.iter();
        let equal: Vec<[VarId; 2]> =
            decided.filter_map(|(cond, holds)| equated(kernel, *cond, *holds)).collect();
        for [one, other] in equal {
            if let Some(value) = self.env.get(&one).cloned() {
                self.env.insert(other, value);
            }
        }
    }
}

/// The sizes or parameters of one type that a comparison says to be equal where it holds, or
/// does not.
fn equated(kernel: &Kernel, cond: ExprId, holds: bool) -> Option<[VarId; 2]> {
    let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[cond].kind else { return None };
    let says_equal = matches!((op, holds), (CompareOp::Eq, true) | (CompareOp::Ne, false));
    let var = |side: ExprId| match kernel.exprs[side].kind {
        ExprKind::Var(var) => match kernel.vars[var].kind {
            VarKind::Dim | VarKind::Scalar(_) => Some(var),
            _ => None,
        },
        _ => None,
    };
    let is_alike = kernel.exprs[lhs].ty == kernel.exprs[rhs].ty;
    (says_equal && is_alike).then_some(())?;
    Some([var(lhs)?, var(rhs)?])
}
