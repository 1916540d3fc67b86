//! Numbers that the references compute with, apart from everything the kernels
//! are made of.

use std::fmt;

use tile_runtime::Number;

/// An element type with a reference arithmetic of its own.
pub trait Reference: Number + Copy + PartialEq + fmt::Debug + Send + Sync {
    /// A sum of products, known better than the type can say it.
    type Sum: Default + Copy + fmt::Debug;

    /// A random value: floats in -1 to 1, integers over their whole range.
    fn random(rng: &mut fastrand::Rng) -> Self;

    /// A random whole number from -4 to 4: sums of up to 2²⁰ products of two of
    /// them are exact in every type of 32 bits or more, in whatever order.
    fn random_whole(rng: &mut fastrand::Rng) -> Self;

    /// The value as a whole number; `None` where it is none, or is too large to
    /// be one that is known exactly.
    fn to_whole(self) -> Option<i64>;

    /// A value that a correct kernel has to overwrite.
    fn poison() -> Self;

    /// `sum += a * b`.
    fn add_product(sum: &mut Self::Sum, a: Self, b: Self);

    /// `sum *= factor`.
    fn scale(sum: &mut Self::Sum, factor: Self);

    /// Whether `self` is within what rounding each operation once allows.
    fn agrees_with(self, sum: &Self::Sum) -> bool;

    /// `a * b + c` with one rounding.
    fn fused(a: Self, b: Self, c: Self) -> Self;

    /// The value 0.
    fn zero() -> Self;

    /// The value 1.
    fn one() -> Self;
}

/// A floating-point sum in twice the precision of `f64`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatSum {
    /// The sum's leading part.
    high: f64,
    /// What `high` leaves out.
    low: f64,
    /// The sum of the terms' magnitudes.
    magnitude: f64,
    /// How many operations on the way rounded.
    roundings: u32,
}

impl FloatSum {
    /// Adds a product without error in the leading 106 bits: the product's and
    /// the sum's rounding errors are computed exactly and kept (Ogita, Rump and
    /// Oishi, "Accurate Sum and Dot Product", 2005, algorithm 5.3).
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let sum = self.high + product;
        let shifted = sum - self.high;
        let sum_error = (self.high - (sum - shifted)) + (product - shifted);
        self.high = sum;
        self.low += product_error + sum_error;
        self.magnitude += product.abs();
        self.roundings += 1;
    }

    fn scale(&mut self, factor: f64) {
        let high = self.high * factor;
        self.low = self.low * factor + self.high.mul_add(factor, -high);
        self.high = high;
        self.magnitude *= factor.abs();
        self.roundings += 1;
    }

    /// The sum, rounded once to `f64`.
    pub fn value(&self) -> f64 {
        self.high + self.low
    }

    /// The most that a sum of these terms can be off if each operation rounds
    /// once with unit roundoff `unit`, in any order: γₙ = n·u / (1 − n·u) times
    /// the sum of the magnitudes (Higham, "Accuracy and Stability of Numerical
    /// Algorithms", 2002, section 3.1). A product that is not fused, and the
    /// final store, add two.
    fn error_bound(&self, unit: f64) -> f64 {
        let n = f64::from(self.roundings + 2) * unit;
        n / (1.0 - n) * self.magnitude
    }
}

macro_rules! float_reference {
    ($type:ty) => {
        impl Reference for $type {
            type Sum = FloatSum;

            fn random(rng: &mut fastrand::Rng) -> Self {
                (rng.f64() * 2.0 - 1.0) as $type
            }

            fn random_whole(rng: &mut fastrand::Rng) -> Self {
                <$type>::from(rng.i8(-4..=4))
            }

            fn to_whole(self) -> Option<i64> {
                let exact = self.trunc() == self && self.abs() < 16_777_216.0;
                exact.then_some(self as i64)
            }

            fn poison() -> Self {
                <$type>::NAN
            }

            fn add_product(sum: &mut FloatSum, a: Self, b: Self) {
                sum.add_product(f64::from(a), f64::from(b));
            }

            fn scale(sum: &mut FloatSum, factor: Self) {
                sum.scale(f64::from(factor));
            }

            fn agrees_with(self, sum: &FloatSum) -> bool {
                let unit = f64::from(<$type>::EPSILON) / 2.0;
                (f64::from(self) - sum.high - sum.low).abs() <= sum.error_bound(unit)
            }

            fn fused(a: Self, b: Self, c: Self) -> Self {
                a.mul_add(b, c)
            }

            fn zero() -> Self {
                0.0
            }

            fn one() -> Self {
                1.0
            }
        }
    };
}

float_reference!(f32);
float_reference!(f64);

macro_rules! integer_reference {
    ($type:ident, $poison:literal) => {
        impl Reference for $type {
            type Sum = $type;

            fn random(rng: &mut fastrand::Rng) -> Self {
                rng.$type(..)
            }

            fn random_whole(rng: &mut fastrand::Rng) -> Self {
                rng.$type(-4..=4)
            }

            fn to_whole(self) -> Option<i64> {
                Some(i64::from(self))
            }

            fn poison() -> Self {
                $poison
            }

            fn add_product(sum: &mut $type, a: Self, b: Self) {
                *sum = sum.wrapping_add(a.wrapping_mul(b));
            }

            fn scale(sum: &mut $type, factor: Self) {
                *sum = sum.wrapping_mul(factor);
            }

            fn agrees_with(self, sum: &$type) -> bool {
                self == *sum
            }

            fn fused(a: Self, b: Self, c: Self) -> Self {
                a.wrapping_mul(b).wrapping_add(c)
            }

            fn zero() -> Self {
                0
            }

            fn one() -> Self {
                1
            }
        }
    };
}

integer_reference!(i8, 0x5a);
integer_reference!(i32, 0x5a5a_5a5a);

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(products: &[(f64, f64)]) -> FloatSum {
        let mut sum = FloatSum::default();
        products.iter().for_each(|&(a, b)| sum.add_product(a, b));
        sum
    }

    #[test]
    fn what_cancels_is_not_lost() {
        let sum = sum_of(&[(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0)]);
        assert_eq!(sum.value(), 1.0);
    }

    #[test]
    fn one_wrong_last_bit_is_allowed_and_a_wrong_term_is_not() {
        let sum = sum_of(&[(1.0, 1.0), (0.5, 0.5)]);
        assert!(1.25f32.agrees_with(&sum));
        assert!(1.25f32.next_up().agrees_with(&sum));
        assert!(!1.2501f32.agrees_with(&sum));
        assert!(!f32::NAN.agrees_with(&sum));
    }

    #[test]
    fn integers_wrap_and_must_be_equal() {
        let mut sum = i32::MAX;
        i32::add_product(&mut sum, 1, 1);
        assert!(i32::MIN.agrees_with(&sum));
        assert!(!i32::MAX.agrees_with(&sum));
    }
}
