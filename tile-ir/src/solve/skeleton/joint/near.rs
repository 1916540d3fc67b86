//! Numbers of which an operator makes a number that is looked for.

use super::super::data::Number;
use crate::kernel::Type;
use crate::op::BinaryOp;

/// More than any dimension, or any number of blocks, that is looked at.
pub(super) const MOST: i128 = 1 << 24;

/// The largest of the factors of a number that are looked for.
const MOST_FACTOR: i128 = 64;

/// Numbers near one of which an operator, that one the first operand, may make the target.
pub(super) fn near(op: BinaryOp, (target, other): (Number, Number), now: Number) -> Vec<Number> {
    let (Some(target), Some(other), Some(now)) = (target.whole(), other.whole(), now.whole())
    else {
        return Vec::new();
    };
    let of_rest = |by: i128| match now.checked_rem(by) {
        Some(rest) => [now - rest, (now - rest).saturating_add(by)]
            .map(|first| first.saturating_add(target))
            .to_vec(),
        None => Vec::new(),
    };
    let all = match op {
        BinaryOp::Rem => of_rest(other),
        BinaryOp::And => {
            let highest = other.checked_ilog2().map_or(0, |bit| 1 << bit);
            vec![now & !other | target & other, now | other, now & !other, other, highest]
        }
        // The other operand may follow.
        BinaryOp::Mul if target != 0 => (2..=MOST_FACTOR)
            .filter(|by| target % by == 0)
            .flat_map(|by| [by, target / by])
            .collect(),
        BinaryOp::Or => vec![now & other | target & !other, now & other, target & !other, other],
        _ => Vec::new(),
    };
    all.into_iter().map(Number::Int).collect()
}

/// Whether a type has a number.
pub(super) fn is_of_type(number: Number, ty: Type) -> bool {
    let range = match ty {
        Type::Index => Some((0, MOST)),
        Type::BOOL => Some((0, 1)),
        ty => ty.integer_range(),
    };
    match (range, number.whole()) {
        (Some((least, most)), Some(number)) => least <= number && number <= most,
        (Some(_), None) => false,
        (None, _) => true,
    }
}
