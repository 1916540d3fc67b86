//! Which indices are alike, and how far apart they are.

use super::sizes::Sizes;
use crate::kernel::{Access, ExprId, ExprKind, VarId, VarKind};
use crate::op::BinaryOp;

impl Sizes<'_> {
    /// The part of an access's elements that are also at the indices `known`: all where the
    /// indices are alike, and where they differ by numbers, what that leaves of so many points
    /// along each.
    pub(super) fn in_common(&self, known: &[ExprId], access: &Access, points: &[f64]) -> f64 {
        let pairs = known.iter().zip(&access.indices).zip(points);
        let of_index = |((&one, &other), points): ((&ExprId, &ExprId), &f64)| {
            let apart = self.distance_of_alike(one, other);
            apart.map_or(0.0, |apart| (1.0 - apart / points).max(0.0))
        };
        pairs.map(of_index).product()
    }

    /// Whether two indices take the same values, each in a loop of its own.
    fn runs_alike(&self, one: ExprId, other: ExprId) -> bool {
        use ExprKind::{Binary, Cast, Literal, Tiles, Uniform, Var};
        let alike = |one: &ExprId, other: &ExprId| self.runs_alike(*one, *other);
        match (&self.kernel.exprs[one].kind, &self.kernel.exprs[other].kind) {
            _ if one == other => true,
            (Literal(one), Literal(other)) => one == other,
            (Var(one), Var(other)) => {
                let is_loop = |id: &VarId| self.kernel.vars[*id].kind == VarKind::Loop;
                one == other || (is_loop(one) && is_loop(other))
            }
            (Cast(one), Cast(other)) | (Uniform(one), Uniform(other)) => alike(one, other),
            (Binary { op, lhs, rhs }, Binary { op: other, lhs: left, rhs: right }) => {
                op == other && alike(lhs, left) && alike(rhs, right)
            }
            (Tiles { extent, tile }, Tiles { extent: other, tile: size }) => {
                alike(extent, other) && alike(tile, size)
            }
            // It may be another, or another next time.
            _ => false,
        }
    }

    /// How far apart two indices are that are alike but for the numbers in them; nothing
    /// where they are not.
    fn distance_of_alike(&self, one: ExprId, other: ExprId) -> Option<f64> {
        if let (ExprKind::Literal(_), ExprKind::Literal(_)) =
            (&self.kernel.exprs[one].kind, &self.kernel.exprs[other].kind)
        {
            return Some((self.index(one)? - self.index(other)?).abs());
        }
        let ((one, at), (other, from)) = (self.without_numbers(one), self.without_numbers(other));
        self.runs_alike(one, other).then(|| (at - from).abs())
    }

    /// An index without the numbers that are added to it, and their sum.
    pub(super) fn without_numbers(&self, expr: ExprId) -> (ExprId, f64) {
        let number = |expr: ExprId| match self.kernel.exprs[expr].kind {
            ExprKind::Literal(_) => self.index(expr),
            _ => None,
        };
        if let ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), lhs, rhs } =
            self.kernel.exprs[expr].kind
        {
            if let Some(number) = number(rhs) {
                let (rest, sum) = self.without_numbers(lhs);
                return (rest, if op == BinaryOp::Add { sum + number } else { sum - number });
            }
            if let (BinaryOp::Add, Some(number)) = (op, number(lhs)) {
                let (rest, sum) = self.without_numbers(rhs);
                return (rest, sum + number);
            }
        }
        (expr, 0.0)
    }
}
