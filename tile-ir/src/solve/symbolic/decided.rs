//! Proofs for both outcomes of conditions that the launch decides.
//!
//! `if W == H { … } else { … }` takes one way in all blocks of a launch. So a kernel with
//! such conditions is several, of each of which the condition, or its opposite, is a fact;
//! what is proved of each is proved. Where two sizes are equal, one stands for both.

use std::collections::BTreeMap;

use super::Unproved;
use super::cases::unproved_in_case;
use super::formula::{Cond, Formula};
use super::listed::unproved_in_each;
use super::walk::{Case, Walk};
use crate::check::Uniformity;
use crate::kernel::{
    ExprId, ExprKind, Kernel, StmtKind, VarId, VarKind, any_stmt, immutable_lets, print_expr,
};
use crate::op::CompareOp;

/// Most conditions that are tried both ways.
const MAX_CONDITIONS: usize = 3;

/// How conditions come out.
pub(super) type Decided = BTreeMap<ExprId, bool>;

/// Those of `open` that are not proved whichever way conditions of the launch come out.
pub(crate) fn unproved_either_way(
    kernel: &Kernel,
    uniformity: &Uniformity,
    open: &[Unproved],
) -> Vec<Unproved> {
    let cases = combinations(kernel);
    if open.is_empty() || cases.len() < 2 {
        return open.to_vec();
    }
    // All of them together may take twice the effort of a kernel.
    let part = cases.len() / 2;
    unproved_in_each(&cases, open, &|decided, is_asked| {
        let case = Case { decided: decided.clone(), ..Case::default() };
        unproved_in_case((kernel, uniformity), case, part, is_asked)
    })
}

/// Every way in which the conditions may come out, each of them alike wherever it stands.
fn combinations(kernel: &Kernel) -> Vec<Decided> {
    let mut all = vec![Decided::new()];
    for alike in conditions(kernel).into_values().take(MAX_CONDITIONS) {
        let with = |decided: &Decided, holds: bool| {
            let of_each = alike.iter().map(|cond| (*cond, holds));
            decided.iter().map(|(cond, holds)| (*cond, *holds)).chain(of_each).collect()
        };
        all = all.iter().flat_map(|one| [true, false].map(|holds| with(one, holds))).collect();
    }
    all
}

/// By their text, the comparisons of numbers of the launch that decide what is run or chosen.
fn conditions(kernel: &Kernel) -> BTreeMap<String, Vec<ExprId>> {
    let lets = immutable_lets(&kernel.body, kernel);
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
    let mut found: BTreeMap<String, Vec<ExprId>> = BTreeMap::new();
    while let Some(cond) = open.pop() {
        match kernel.exprs[cond].kind {
            ExprKind::Logic { lhs, rhs, .. } => open.extend([lhs, rhs]),
            ExprKind::Unary { operand, .. } => open.push(operand),
            ExprKind::Var(var) => open.extend(lets.get(&var)),
            ExprKind::Compare { lhs, rhs, .. }
                if [lhs, rhs].iter().all(|side| is_of_launch((kernel, &lets), *side)) =>
            {
                let alike = found.entry(print_expr(kernel, cond)).or_default();
                if !alike.contains(&cond) {
                    alike.push(cond);
                }
            }
            _ => {}
        }
    }
    // What is compared with a number has cases of its own, one for each.
    found.retain(|_, alike| !alike.iter().any(|cond| is_with_number(kernel, *cond)));
    found
}

fn is_with_number(kernel: &Kernel, cond: ExprId) -> bool {
    let operands = kernel.exprs[cond].kind.operands();
    operands.iter().any(|side| matches!(kernel.exprs[*side].kind, ExprKind::Literal(_)))
}

/// Whether an expression is made of numbers of the launch.
fn is_of_launch((kernel, lets): (&Kernel, &BTreeMap<VarId, ExprId>), expr: ExprId) -> bool {
    let kind = &kernel.exprs[expr].kind;
    match kind {
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => true,
            _ => lets.get(var).is_some_and(|init| is_of_launch((kernel, lets), *init)),
        },
        ExprKind::Load(_) | ExprKind::InBounds { .. } | ExprKind::Uniform(_) => false,
        _ => kind.operands().iter().all(|operand| is_of_launch((kernel, lets), *operand)),
    }
}

impl Walk<'_> {
    /// A condition, of which this case may know how it comes out: that is a fact then.
    pub(super) fn decided(&mut self, expr: ExprId, cond: Cond) -> Cond {
        let Some(holds) = self.case.decided.get(&expr) else { return cond };
        let (fact, cond) = match holds {
            true => (cond.yes, Cond { yes: Formula::True, no: Formula::False }),
            false => (cond.no, Cond { yes: Formula::False, no: Formula::True }),
        };
        if !self.constraints.contains(&fact) {
            self.constraints.push(fact);
        }
        cond
    }

    /// Of two sizes or parameters that are equal in this case, one stands for both.
    pub(super) fn unite_equal(&mut self) {
        let kernel = self.kernel;
        let is_equal = |cond: ExprId| match kernel.exprs[cond].kind {
            ExprKind::Compare { op, lhs, rhs } => match (&kernel.exprs[lhs], &kernel.exprs[rhs]) {
                (one, other) if one.ty != other.ty => None,
                (one, other) => match (&one.kind, &other.kind) {
                    (ExprKind::Var(one), ExprKind::Var(other)) => Some((op, [*one, *other])),
                    _ => None,
                },
            },
            _ => None,
        };
        let decided = self.case.decided.iter();
        let equal: Vec<[VarId; 2]> = decided
            .filter_map(|(cond, holds)| Some((is_equal(*cond)?, *holds)))
            .filter(|((op, _), holds)| {
                matches!((op, holds), (CompareOp::Eq, true) | (CompareOp::Ne, false))
            })
            .map(|((_, vars), _)| vars)
            .collect();
        for [one, other] in equal {
            let is_given =
                |var: VarId| matches!(kernel.vars[var].kind, VarKind::Dim | VarKind::Scalar(_));
            if is_given(one)
                && is_given(other)
                && let Some(value) = self.env.get(&one).cloned()
            {
                self.env.insert(other, value);
            }
        }
    }
}
