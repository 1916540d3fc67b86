//! Choices that take the larger of two values, or the smaller: `if x < 0 { -x } else { 0 }`
//! as images are clipped. They are no less than either, which saves asking case by case.
//! And choices between values that a number parts, as `n + 1` and `n`: between the two.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;

/// What bounds the `value` that is `then` where a condition holds, and `otherwise` where not.
pub(in super::super) fn bounds(
    cond: &Cond,
    (then, otherwise): (&Poly, &Poly),
    value: &Poly,
) -> Formula {
    if is_larger(cond, then, otherwise) {
        Formula::le(then, value).and(Formula::le(otherwise, value))
    } else if is_larger(cond, otherwise, then) {
        Formula::le(value, then).and(Formula::le(value, otherwise))
    } else {
        match then.sub(otherwise).as_constant() {
            Some(0..) => Formula::le(otherwise, value).and(Formula::le(value, then)),
            Some(_) => Formula::le(then, value).and(Formula::le(value, otherwise)),
            None => Formula::True,
        }
    }
}

/// Whether the condition says that `one` is the larger, and its opposite that it is not.
pub(in super::super) fn is_larger(cond: &Cond, one: &Poly, other: &Poly) -> bool {
    let says = |part: &Formula, large: &Poly, small: &Poly| {
        *part == Formula::le(small, large) || *part == Formula::lt(small, large)
    };
    says(&cond.yes, one, other) && says(&cond.no, other, one)
}
