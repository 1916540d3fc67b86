//! Ranges of index values: what decides whether 32 bits are enough.

use crate::kernel::ceil_div;
use crate::op::BinaryOp;
use crate::program::IndexWidth;

/// All values from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) min: i128,
    pub(super) max: i128,
}

impl Interval {
    /// Every index: 64 bits.
    pub(super) const ALL: Self = Self { min: i64::MIN as i128, max: i64::MAX as i128 };

    pub(super) const fn exactly(value: i128) -> Self {
        Self { min: value, max: value }
    }

    /// The width that holds every value.
    pub(super) fn width(self) -> IndexWidth {
        if self.min >= i128::from(i32::MIN) && self.max <= i128::from(i32::MAX) {
            IndexWidth::Bits32
        } else {
            IndexWidth::Bits64
        }
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn of(values: impl IntoIterator<Item = Option<i128>>) -> Self {
        let mut range: Option<Self> = None;
        for value in values {
            let Some(value) = value.filter(|v| (Self::ALL.min..=Self::ALL.max).contains(v)) else {
                return Self::ALL;
            };
            let point = Self::exactly(value);
            range = Some(range.map_or(point, |range| range.hull(point)));
        }
        range.unwrap_or(Self::ALL)
    }

    pub(super) fn negate(self) -> Self {
        Self::of([self.min.checked_neg(), self.max.checked_neg()])
    }

    pub(super) fn binary(op: BinaryOp, a: Self, b: Self) -> Self {
        let natural = a.min >= 0 && b.min >= 0;
        let corners = |f: fn(i128, i128) -> Option<i128>| {
            Self::of([f(a.min, b.min), f(a.min, b.max), f(a.max, b.min), f(a.max, b.max)])
        };
        match op {
            BinaryOp::Add => corners(i128::checked_add),
            BinaryOp::Sub => corners(i128::checked_sub),
            BinaryOp::Mul => corners(i128::checked_mul),
            // Division by 0 gives 0, and no quotient is larger than its dividend.
            BinaryOp::Div if b.min > 0 => corners(i128::checked_div).hull(Self::exactly(0)),
            BinaryOp::Div => a.hull(a.negate()).hull(Self::exactly(0)),
            BinaryOp::Rem if b.min > 0 => Self {
                min: if a.min < 0 { (1 - b.max).max(a.min) } else { 0 },
                max: if a.max > 0 { (b.max - 1).min(a.max) } else { 0 },
            },
            BinaryOp::Rem => a.hull(a.negate()).hull(Self::exactly(0)),
            BinaryOp::And if natural => Self { min: 0, max: a.max.min(b.max) },
            BinaryOp::Or | BinaryOp::Xor if natural => {
                let most = a.max.max(b.max).unsigned_abs();
                Self { min: 0, max: ((most + 1).next_power_of_two() - 1) as i128 }
            }
            BinaryOp::Shr if natural => Self { min: 0, max: a.max },
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => Self::ALL,
            BinaryOp::Min => Self { min: a.min.min(b.min), max: a.max.min(b.max) },
            BinaryOp::Max => Self { min: a.min.max(b.min), max: a.max.max(b.max) },
        }
    }

    pub(super) fn ceil_div(n: Self, d: Self) -> Self {
        if d.min <= 0 {
            return Self { min: 0, max: n.max.max(0) };
        }
        Self { min: ceil_div(n.min, d.max), max: ceil_div(n.max, d.min) }
    }
}
