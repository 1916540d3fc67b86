//! Masks and shifts by numbers of the launch: `i & (stride - 1)`, `1 << level`.
//!
//! - Of `x & m` the bits are among those of both. So it is between 0 and `x` where `x` is not
//!   negative, whatever `m` is, and any number of its type where neither is known not to be.
//! - `x >> s` is between `x` and 0, or -1, whatever `s` is: counts begin again from 0 at the
//!   type's width, and are not negative.
//! - `x << s` is `x` times a power of two, as long as `s` is below the type's width: a launch in
//!   which it may not be is refused. So only counts are followed of which each launch has one.
//! - `x - (x & m)` and `x - x % m` are between 0 and `x` where `x` is not negative: so they are
//!   bounded without a sign too, where other differences may wrap on purpose.
//!
//! Each holds of what `x` is in its type, so `x` must not wrap, and is asked for itself. What is
//! multiplied in such a type and masked then may be a hash: it is not followed.

use std::collections::BTreeSet;

use super::multiples::{is_fixed, meant};
use super::sources::Sources;
use crate::check::interval::{FAR, Range, literal, range_of};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Type, VarKind};
use crate::op::BinaryOp;

/// Of how many parts a number may be made that is masked or shifted: places are made of few, and
/// hashes of many.
const MAX_PARTS: usize = 64;

impl Sources {
    /// What decides how far a number goes that a mask or a shift makes, by no literal.
    pub(super) fn parts_of_bits(&self, kernel: &Kernel, expr: ExprId) -> Option<Vec<ExprId>> {
        let ExprKind::Binary { op, lhs, rhs } = kernel.exprs[expr].kind else { return None };
        let is_plain = |part: &ExprId| !self.multiplies(kernel, *part);
        let is_literal = |part| literal(kernel, part).is_some();
        match op {
            BinaryOp::And if !is_literal(lhs) && !is_literal(rhs) => {
                let parts: Vec<ExprId> = [lhs, rhs].into_iter().filter(is_plain).collect();
                (!parts.is_empty()).then_some(parts)
            }
            BinaryOp::Shl if !is_literal(rhs) => {
                (is_plain(&lhs) && self.is_given(kernel, rhs)).then(|| vec![lhs, rhs])
            }
            BinaryOp::Shr if !is_literal(rhs) => is_plain(&lhs).then(|| vec![lhs]),
            _ => None,
        }
    }

    /// Whether a mask or a shift to the right makes a number, by no literal: of what may be below
    /// 0 that is no operation on indices, so the proof is not to take it for one.
    pub(super) fn takes_bits(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_taking = matches!(
            kernel.exprs[expr].kind,
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Shr, .. }
        );
        is_taking && self.parts_of_bits(kernel, expr).is_some()
    }

    /// Whether each launch has one value of a number: a sum of scalar parameters and literals.
    fn is_given(&self, kernel: &Kernel, expr: ExprId) -> bool {
        match kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(_)) => true,
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Scalar(_) => true,
                _ => self.lets.get(&var).is_some_and(|init| self.is_given(kernel, *init)),
            },
            ExprKind::Cast(of) => self.is_given(kernel, of),
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, lhs, rhs } => {
                self.is_given(kernel, lhs) && self.is_given(kernel, rhs)
            }
            _ => false,
        }
    }

    /// Whether numbers of a type that wraps are multiplied on the way to a number.
    fn multiplies(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let (mut open, mut seen) = (vec![expr], BTreeSet::new());
        while let Some(part) = open.pop().filter(|_| seen.len() < MAX_PARTS) {
            if !seen.insert(part) {
                continue;
            }
            let node = &kernel.exprs[part];
            match node.kind {
                ExprKind::Binary { op: BinaryOp::Mul, .. } if node.ty != Type::Index => {
                    return true;
                }
                ExprKind::Var(var) => open.extend(self.lets.get(&var)),
                ref kind => open.extend(kind.operands()),
            }
        }
        seen.len() >= MAX_PARTS
    }

    /// How far such a number goes; `None` of others. `of` says how far a bounded part does.
    pub(super) fn range_of_bits(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        of: &dyn Fn(ExprId) -> Option<Range>,
    ) -> Option<Range> {
        let node = &kernel.exprs[expr];
        let ExprKind::Binary { op, lhs, rhs } = node.kind else { return None };
        let (min, max) = node.ty.integer_range().unwrap_or((i64::MIN.into(), i64::MAX.into()));
        match op {
            BinaryOp::And => {
                let bounded = self.parts_of_bits(kernel, expr)?;
                let bounded = bounded.into_iter().filter(|part| self.is_bounded(kernel, *part));
                let natural = bounded.filter_map(of).filter(|(low, _)| *low >= 0);
                let most = natural.map(|(_, high)| high).min();
                Some(most.map_or((min, max), |most| (0, most)))
            }
            BinaryOp::Shl => {
                let width = (max - min).count_ones();
                let counted = |count: i128| u32::try_from(count).ok().filter(|by| *by < width);
                let (of, (least, most)) = (of(lhs)?, of(rhs)?);
                let counts = counted(least).zip(counted(most));
                let powers = counts.map(|(least, most)| (1 << least, 1 << most));
                Some(powers.map_or(FAR, |powers| range_of(BinaryOp::Mul, of, powers)))
            }
            BinaryOp::Shr => {
                let (low, high) = of(lhs)?;
                Some((low.min(0), high.max(0)))
            }
            _ => None,
        }
    }

    /// Of what a rest is taken away that a mask or a division leaves of it, `x - (x & m)`.
    pub(super) fn rounded_down(&self, kernel: &Kernel, expr: ExprId) -> Option<ExprId> {
        let ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } = kernel.exprs[expr].kind else {
            return None;
        };
        let is_whole = |of: ExprId| {
            is_fixed(kernel, lhs) && kernel.is_same_by(lhs, of, &|part| meant(kernel, self, part))
        };
        let is_rest = match kernel.exprs[meant(kernel, self, rhs)].kind {
            ExprKind::Binary { op: BinaryOp::And, lhs: one, rhs: other } => {
                is_whole(one) || is_whole(other)
            }
            ExprKind::Binary { op: BinaryOp::Rem, lhs: of, .. } => is_whole(of),
            _ => false,
        };
        is_rest.then_some(lhs)
    }
}
