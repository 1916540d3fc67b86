//! What bounded expressions are made of.

use super::sources::Sources;
use crate::check::interval::{masked, rounded};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// Largest number by which something is multiplied that is then divided, as sizes are.
pub(in crate::check) const MAX_PLAIN_FACTOR: i128 = 1 << MAX_PLACES;

/// Most places by which something is shifted to the left that is multiplied so.
const MAX_PLACES: u32 = 12;

impl Sources {
    /// What a bounded expression is made of. What is divided counts, but not what is multiplied
    /// by a large number before, as random numbers are; nor what is rounded down by a mask,
    /// `x & -32`. A shift to the left by few places is a product.
    pub(super) fn parts(&self, kernel: &Kernel, expr: ExprId) -> Option<Vec<ExprId>> {
        match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } => {
                (!self.is_random(kernel, lhs)).then(|| vec![lhs, rhs])
            }
            ExprKind::Binary { op: BinaryOp::Shl, lhs, rhs } => {
                let ExprKind::Literal(Literal::Int(places)) = kernel.exprs[rhs].kind else {
                    return self.parts_of_bits(kernel, expr);
                };
                (0..=i128::from(MAX_PLACES)).contains(&places).then(|| vec![lhs])
            }
            ref kind => match rounded(kernel, expr) {
                Some((of, _)) => (!self.is_random(kernel, of)).then(|| vec![of]),
                None => parts(kind).or_else(|| self.parts_of_bits(kernel, expr)),
            },
        }
    }

    /// Whether a number is multiplied as random numbers are: by a large one. What that one only
    /// rounds is none.
    pub(super) fn is_random(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_large = |part: ExprId, other: ExprId| match kernel.exprs[part].kind {
            ExprKind::Literal(Literal::Int(value)) => {
                value.abs() > MAX_PLAIN_FACTOR && !self.is_divided(kernel, other, value.abs())
            }
            _ => false,
        };
        self.is_made(kernel, expr, &|expr| match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                is_large(lhs, rhs) || is_large(rhs, lhs)
            }
            _ => false,
        })
    }

    /// Whether a number is made of quotients by literals of at least `by`, and of literals:
    /// `x / 8192 + 1` of 8192, by which tiles are numbered that are so long. Multiplied by `by`
    /// each quotient is no further from 0 than what is divided: `|by * (x / d)| <= |x|` where
    /// `by <= |d|`. So the product goes no further than sums of such numbers do.
    fn is_divided(&self, kernel: &Kernel, expr: ExprId, by: i128) -> bool {
        let is_divided = |part: &ExprId| self.is_divided(kernel, *part, by);
        let literal = |part: ExprId| match kernel.exprs[part].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(value),
            _ => None,
        };
        match kernel.exprs[expr].kind {
            ExprKind::Literal(_) => true,
            ExprKind::Var(var) => self.lets.get(&var).is_some_and(is_divided),
            ExprKind::Binary { op: BinaryOp::Div, rhs, .. } => {
                literal(rhs).is_some_and(|divisor| divisor.abs() >= by)
            }
            ExprKind::Binary { op: BinaryOp::Shr, rhs, .. } => {
                let divisor = |places: i128| Some(1_i128 << u32::try_from(places).ok()?.min(64));
                literal(rhs).and_then(divisor).is_some_and(|divisor| divisor >= by)
            }
            ExprKind::Binary { op: BinaryOp::Mul, .. } | ExprKind::Tiles { .. } => false,
            ref kind => parts(kind).is_some_and(|parts| parts.iter().all(is_divided)),
        }
    }

    /// Whether what is left of bits or of a division is multiplied in that way.
    pub(super) fn hashes(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_rest = |expr: ExprId| {
            let kind = &kernel.exprs[expr].kind;
            let is_left = matches!(kind, ExprKind::Binary { op: BinaryOp::Rem, .. });
            is_left || masked(kernel, expr).is_some()
        };
        self.is_random(kernel, expr) && self.is_made(kernel, expr, &is_rest)
    }

    /// Whether some part of an expression is such, by way of variables too.
    pub(super) fn is_made(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        is: &dyn Fn(ExprId) -> bool,
    ) -> bool {
        let kind = &kernel.exprs[expr].kind;
        let is_made = |part: &ExprId| self.is_made(kernel, *part, is);
        is(expr)
            || match kind {
                ExprKind::Var(var) => self.lets.get(var).is_some_and(is_made),
                _ => kind.operands().iter().any(is_made),
            }
    }
}

/// What a bounded expression is made of: the parts of a sum or product, those of which one is
/// taken, what is converted, what is divided and rounded up.
pub(super) fn parts(kind: &ExprKind) -> Option<Vec<ExprId>> {
    match *kind {
        ExprKind::Binary { op, lhs, rhs } => is_made_by(op).then(|| vec![lhs, rhs]),
        ExprKind::Cast(of) => Some(vec![of]),
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Not, operand } => Some(vec![operand]),
        ExprKind::Math { func: MathFn::Abs, arg } => Some(vec![arg]),
        ExprKind::Select { then, otherwise, .. } => Some(vec![then, otherwise]),
        ExprKind::Tiles { extent, tile } => Some(vec![extent, tile]),
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::InBounds { .. } => None,
    }
}

/// Whether bounded expressions are made by an operator.
pub(super) fn is_made_by(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max)
}
