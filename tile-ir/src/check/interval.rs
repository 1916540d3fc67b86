//! How far numbers go that operators make of others.

use crate::kernel::{ExprId, ExprKind, Kernel, Literal, eval_index_binary};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// The least and the greatest value of a number in a launch.
pub type Range = (i128, i128);

/// That of a number of which nothing is known.
pub(crate) const FAR: Range = (i128::MIN, i128::MAX);

/// What an operator makes of any two numbers of two ranges, where it is the largest and the
/// least of the ends; of a division also where the divisor may be 0.
pub(crate) fn range_of(op: BinaryOp, one: Range, other: Range) -> Range {
    if op == BinaryOp::Div && other.0 <= 0 {
        // No number is further from 0 for being divided.
        let most = one.0.saturating_abs().max(one.1.saturating_abs());
        let is_natural = one.0 >= 0 && other.0 >= 0;
        return (if is_natural { 0 } else { most.saturating_neg() }, most);
    }
    let ends = [(one.0, other.0), (one.0, other.1), (one.1, other.0), (one.1, other.1)];
    let ends: Option<Vec<i128>> =
        ends.into_iter().map(|(lhs, rhs)| eval_index_binary(op, lhs, rhs)).collect();
    let range = ends.and_then(|ends| Some((*ends.iter().min()?, *ends.iter().max()?)));
    range.unwrap_or(FAR)
}

/// What a division by these numbers leaves, whatever is divided.
pub(crate) fn left_by(divisor: Range, is_signed: bool) -> Range {
    let most = divisor.0.saturating_abs().max(divisor.1.saturating_abs());
    let most = most.saturating_sub(1).max(0);
    (if is_signed { most.saturating_neg() } else { 0 }, most)
}

/// How many bits a function counts of any number of a range, of so many bits; `None` of one that
/// counts none.
pub(crate) fn counted(func: MathFn, of: Option<Range>, width: u32) -> Option<Range> {
    let count = |number: i128| func.counted(number, width).map(i128::from);
    let whole = (count(0)?.min(0), i128::from(width));
    match of {
        Some((low, high)) if low == high => Some((count(low)?, count(low)?)),
        Some((low @ 0.., high)) if func == MathFn::LeadingZeros => {
            Some((count(high)?, count(low)?))
        }
        Some((0.., high)) if func == MathFn::CountOnes => {
            Some((0, i128::from(128 - high.leading_zeros())))
        }
        Some((1.., high)) if func == MathFn::TrailingZeros => Some((0, high.ilog2().into())),
        _ => Some(whole),
    }
}

/// The range of an integer of which a literal says which bits are kept: of `x & 31` and
/// `x >> 5`, whatever `x` is.
pub(crate) fn masked(kernel: &Kernel, expr: ExprId) -> Option<Range> {
    let ExprKind::Binary { op, lhs, rhs } = kernel.exprs[expr].kind else { return None };
    let literal = |part: ExprId| literal(kernel, part).filter(|value| *value >= 0);
    match op {
        BinaryOp::And => Some((0, literal(lhs).or(literal(rhs))?)),
        BinaryOp::Shr => {
            let (min, max) = kernel.exprs[expr].ty.integer_range()?;
            let by = u32::try_from(literal(rhs)?).ok().filter(|by| *by < 32)?;
            Some((min >> by, max >> by))
        }
        _ => None,
    }
}

/// What a mask rounds down to whole units of a power of two, and that unit: of `x & -32` and,
/// without a sign, `x & 0xffffffe0`.
pub(crate) fn rounded(kernel: &Kernel, expr: ExprId) -> Option<(ExprId, i128)> {
    let ExprKind::Binary { op: BinaryOp::And, lhs, rhs } = kernel.exprs[expr].kind else {
        return None;
    };
    let (least, most) = kernel.exprs[expr].ty.integer_range()?;
    let with_mask = |of: ExprId, mask: ExprId| Some((of, literal(kernel, mask)?));
    let (of, mask) = with_mask(lhs, rhs).or(with_mask(rhs, lhs))?;
    let unit = if least < 0 { -mask } else { most + 1 - mask };
    let is_unit = |unit: &i128| *unit > 1 && *unit <= 1 << 16 && unit.count_ones() == 1;
    Some(unit).filter(is_unit).map(|unit| (of, unit))
}

/// The integer that an expression is, written out, be it with all its bits flipped: `!31`.
pub(crate) fn literal(kernel: &Kernel, expr: ExprId) -> Option<i128> {
    match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            let (least, most) = kernel.exprs[expr].ty.integer_range()?;
            literal(kernel, operand).map(|value| least + most - value)
        }
        _ => None,
    }
}
