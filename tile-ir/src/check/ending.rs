//! What a condition says of variables that a loop counts by hand: that they have not reached
//! a bound yet.
//!
//! `j + k < n` says that `j` has not reached `n - k`, as long as the sum does not wrap. That
//! a launch is asked: the sum is compared, so it is one of its numbers where the variable is
//! ([`super::exact`]), and whoever reckons with such a bound sees to it that it is. There is
//! no circle in that: up to the first turn in which the sum would wrap it has not, so that the
//! variable has come no further in that turn than is reckoned, nor has the sum.

use super::interval::{Range, range_of};
use crate::dtype::DType;
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, Type, VarId, VarKind, any_subexpr};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Which way a variable is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Up,
    Down,
}

/// What a variable has not reached, at one of its uses.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) way: Way,
    pub(super) bound: Bound,
    /// Whether it may be the bound itself.
    pub(super) met: bool,
    /// Whether it is twice the variable that has not reached it, as in `i + i < sum`.
    pub(super) twice: bool,
}

impl End {
    /// The bound, where it is the variable by itself that has not reached it.
    pub(crate) fn alone(&self) -> Option<ExprId> {
        (self.bound.beside.is_empty() && !self.twice).then_some(self.bound.of)
    }
}

/// A number, less or more what is added to a variable or taken from it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    of: ExprId,
    beside: Vec<(BinaryOp, ExprId)>,
    /// The sum with the variable, if it is not the variable itself.
    sum: Option<ExprId>,
}

impl Bound {
    /// What it is made of.
    pub(super) fn parts(&self) -> impl Iterator<Item = ExprId> {
        [self.of].into_iter().chain(self.beside.iter().map(|(_, part)| *part))
    }

    /// The sum that must not wrap.
    pub(super) fn sum(&self) -> Option<ExprId> {
        self.sum
    }

    /// How far it goes, by the ranges of its parts.
    pub(super) fn range(&self, range: &dyn Fn(ExprId) -> Option<Range>) -> Option<Range> {
        let mut beside = self.beside.iter();
        beside.try_fold(range(self.of)?, |sum, (op, part)| Some(range_of(*op, sum, range(*part)?)))
    }
}

/// The variables that have not reached something where a condition holds.
pub(crate) fn ends_of(kernel: &Kernel, cond: ExprId) -> Vec<(VarId, End)> {
    let (lower, upper, met) = match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            return [lhs, rhs].into_iter().flat_map(|part| ends_of(kernel, part)).collect();
        }
        ExprKind::Compare { op: CompareOp::Lt, lhs, rhs } => (lhs, rhs, false),
        ExprKind::Compare { op: CompareOp::Le, lhs, rhs } => (lhs, rhs, true),
        ExprKind::Compare { op: CompareOp::Gt, lhs, rhs } => (rhs, lhs, false),
        ExprKind::Compare { op: CompareOp::Ge, lhs, rhs } => (rhs, lhs, true),
        _ => return Vec::new(),
    };
    let side = |own: ExprId, other: ExprId, way: Way| {
        let end = move |bound: Bound, twice| End { way, bound, met, twice };
        let plain = Bound { of: other, beside: Vec::new(), sum: None };
        let half = double(kernel, own).filter(|_| way == Way::Up);
        let half = half.map(|var| (var, end(plain, true)));
        half.into_iter().chain(addends(kernel, own).into_iter().map(move |(var, beside)| {
            let sum = (!beside.is_empty()).then_some(own);
            (var, end(Bound { of: other, beside, sum }, false))
        }))
    };
    side(lower, upper, Way::Up).chain(side(upper, lower, Way::Down)).collect()
}

/// The variable of which an expression is twice.
fn double(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    let ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } = kernel.exprs[expr].kind else {
        return None;
    };
    let var = variable(kernel, lhs)?;
    (variable(kernel, rhs) == Some(var)).then_some(var)
}

fn variable(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}

/// The variables in a sum with what does not change, each with what is done to the other side of a comparison to have
/// the variable alone on this one.
fn addends(kernel: &Kernel, sum: ExprId) -> Vec<(VarId, Vec<(BinaryOp, ExprId)>)> {
    let with = |part: ExprId, (op, other): (BinaryOp, ExprId)| {
        let mut addends = addends(kernel, part);
        if changes(kernel, other) {
            addends.clear();
        }
        addends.iter_mut().for_each(|(_, beside)| beside.push((op, other)));
        addends
    };
    match kernel.exprs[sum].kind {
        ExprKind::Var(var) => vec![(var, Vec::new())],
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
            [with(lhs, (BinaryOp::Sub, rhs)), with(rhs, (BinaryOp::Sub, lhs))].concat()
        }
        // A difference without a sign may wrap on purpose.
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } if has_sign(kernel.exprs[sum].ty) => {
            with(lhs, (BinaryOp::Add, rhs))
        }
        _ => Vec::new(),
    }
}

/// Whether an expression names a variable that is assigned to.
fn changes(kernel: &Kernel, expr: ExprId) -> bool {
    any_subexpr(kernel, expr, &mut |kind| match kind {
        ExprKind::Var(var) => kernel.vars[*var].kind == VarKind::Let { mutable: true },
        _ => false,
    })
}

/// Whether numbers of a type may be below 0, and are followed.
fn has_sign(ty: Type) -> bool {
    matches!(ty, Type::Index | Type::Scalar(ElemType::Concrete(DType::I32 | DType::I64)))
}
