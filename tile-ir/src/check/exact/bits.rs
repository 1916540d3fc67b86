//! Masks and shifts by numbers of the launch: `i & (stride - 1)`, `1 << level`.
//!
//! - Of `x & m` the bits are among those of both. So it is between 0 and `x` where `x` is not
//!   negative, whatever `m` is, and any number of its type where neither is known not to be.
//! - `x >> s` is between `x` and 0, or -1, whatever `s` is: counts begin again from 0 at the
//!   type's width, and are not negative.
//! - `x << s` is `x` times a power of two, as long as `s` is below the type's width: a launch in
//!   which it may not be is refused. So only counts are followed of which each launch has one.
//! - `x | y` and `x ^ y` of what is not negative have no bits above the highest of the two. What may
//!   be negative is not followed: of that nothing is known.
//! - `x - (x & m)` and `x - x % m` are between 0 and `x` where `x` is not negative: so they are
//!   bounded without a sign too, where other differences may wrap on purpose.
//!
//! Each holds of what `x` is in its type, so `x` must not wrap, and is asked for itself. What is
//! multiplied in such a type and masked then may be a hash: it is not followed.

use std::collections::BTreeSet;

use super::multiples::{is_fixed, meant};
use super::parts::MAX_PLAIN_FACTOR;
use super::sources::{Sources, Width};
use crate::check::interval::{FAR, Range, literal, range_of};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Type, VarKind};
use crate::op::{BinaryOp, UnaryOp};

/// Of how many parts a number may be made that is masked or shifted: places are made of few, and
/// hashes of many.
const MAX_PARTS: usize = 64;

/// By how few places numbers are shifted to the right to divide them: hashes are shifted further.
const MAX_DIVIDING: i128 = 8;

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
            BinaryOp::Shr => {
                let is_division =
                    literal(kernel, rhs).is_some_and(|by| (0..MAX_DIVIDING).contains(&by));
                let is_followed = is_plain(&lhs) || is_division && !self.is_random(kernel, lhs);
                is_followed.then(|| vec![lhs])
            }
            BinaryOp::Or | BinaryOp::Xor => {
                let are_followed =
                    [lhs, rhs].iter().all(|part| is_plain(part) && self.is_natural(kernel, *part));
                are_followed.then(|| vec![lhs, rhs])
            }
            _ => None,
        }
    }

    /// Whether a number is made bit by bit: of what may be below 0 that is no operation on indices,
    /// so the proof is not to take it for one, and none leaves its type.
    pub(super) fn takes_bits(&self, kernel: &Kernel, expr: ExprId) -> bool {
        match kernel.exprs[expr].kind {
            ExprKind::Binary {
                op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr,
                ..
            } => self.parts_of_bits(kernel, expr).is_some(),
            ExprKind::Unary { op: UnaryOp::Not, .. } => true,
            _ => false,
        }
    }

    /// Whether a number is never below 0, as long as it does not wrap.
    fn is_natural(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let node = &kernel.exprs[expr];
        let is_natural = |part: &ExprId| self.is_natural(kernel, *part);
        if Width::of(node.ty) == Some(Width::Unsigned) {
            return true;
        }
        match node.kind {
            ExprKind::Literal(Literal::Int(value)) => value >= 0,
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each => true,
                VarKind::Loop => {
                    self.counters.get(&var).is_some_and(|(start, _)| is_natural(start))
                }
                VarKind::Let { .. } => self.lets.get(&var).is_some_and(is_natural),
                VarKind::Scalar(_) => false,
            },
            ExprKind::Cast(of) => is_natural(&of),
            ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
                is_natural(&lhs) || is_natural(&rhs)
            }
            ExprKind::Binary { op: BinaryOp::Sub, .. } => false,
            ExprKind::Binary { lhs, rhs, .. } => is_natural(&lhs) && is_natural(&rhs),
            _ => false,
        }
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

    /// Whether numbers of a type that wraps are multiplied on the way to a number, by more than a
    /// small literal.
    pub(super) fn multiplies(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let (mut open, mut seen) = (vec![expr], BTreeSet::new());
        while let Some(part) = open.pop().filter(|_| seen.len() < MAX_PARTS) {
            if !seen.insert(part) {
                continue;
            }
            let node = &kernel.exprs[part];
            match node.kind {
                ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } if node.ty != Type::Index => {
                    let is_small =
                        |part| literal(kernel, part).is_some_and(|by| by.abs() <= MAX_PLAIN_FACTOR);
                    match (is_small(lhs), is_small(rhs)) {
                        (true, _) => open.push(rhs),
                        (_, true) => open.push(lhs),
                        (false, false) => return true,
                    }
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
                let by = literal(kernel, rhs).and_then(|by| u32::try_from(by).ok());
                let known = by.filter(|by| *by < (max - min).count_ones());
                let least = low.min(0);
                Some(known.map_or((least, high.max(0)), |by| (low >> by, high >> by)))
            }
            BinaryOp::Or | BinaryOp::Xor => {
                let (one, other) = (of(lhs)?, of(rhs)?);
                let highest = |most: i128| (1 << (128 - most.leading_zeros())) - 1;
                let is_known = one.0.min(other.0) >= 0 && one.1.max(other.1) <= max;
                Some(if is_known { (0, highest(one.1.max(other.1))) } else { (min, max) })
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
