//! Arithmetic of each scalar type, as the language defines it.
//!
//! Rust's own types carry the values. The methods are small and always inlined:
//! the CPU device's loops over lanes are made of them.

use half::{bf16, f16};

/// What numbers have. Integers wrap; each floating-point operation is one IEEE
/// operation, 16-bit floats by way of `f32` with one rounding at the end.
pub trait NumberOps: Copy + PartialOrd + Default {
    /// `self + rhs`
    fn add(self, rhs: Self) -> Self;
    /// `self - rhs`
    fn sub(self, rhs: Self) -> Self;
    /// `self * rhs`
    fn mul(self, rhs: Self) -> Self;
    /// `self / rhs`; of integers truncated, 0 where `rhs` is 0.
    fn div(self, rhs: Self) -> Self;
    /// `self % rhs`, with the sign of `self`; of integers 0 where `rhs` is 0.
    fn rem(self, rhs: Self) -> Self;
    /// The smaller; of a NaN and a number the number; -0 is below +0.
    fn min(self, rhs: Self) -> Self;
    /// The larger; of a NaN and a number the number; -0 is below +0.
    fn max(self, rhs: Self) -> Self;
    /// `-self`
    fn neg(self) -> Self;
    /// Absolute value; of the smallest signed integer, itself.
    fn abs(self) -> Self;
    /// 1 or -1 by the sign, of integers 0 of 0; NaN of NaN.
    fn signum(self) -> Self;
}

/// What integers and `bool` have.
pub trait BitOps: Copy {
    /// `self & rhs`
    fn and(self, rhs: Self) -> Self;
    /// `self | rhs`
    fn or(self, rhs: Self) -> Self;
    /// `self ^ rhs`
    fn xor(self, rhs: Self) -> Self;
    /// `!self`
    fn not(self) -> Self;
}

/// What integers have beside [`NumberOps`] and [`BitOps`].
pub trait ShiftOps: Copy {
    /// `self << count`, the count modulo the width.
    fn shl(self, count: Self) -> Self;
    /// `self >> count`, arithmetic for signed types, the count modulo the width.
    fn shr(self, count: Self) -> Self;
}

/// What integers have to count their bits.
pub trait CountOps: Copy {
    /// Number of bits that are 1.
    fn count_ones(self) -> Self;
    /// Number of bits that are 0 before the first 1.
    fn leading_zeros(self) -> Self;
    /// Number of bits that are 0 behind the last 1.
    fn trailing_zeros(self) -> Self;
    /// The bits in the opposite order.
    fn reverse_bits(self) -> Self;
}

/// What floating-point types have beside [`NumberOps`].
pub trait FloatOps: Copy {
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `1 / sqrt(self)`: a rounded root, then a rounded division; 16-bit floats
    /// take both in `f32` and round once more.
    fn rsqrt(self) -> Self;
    /// `e^self`, of the host's library.
    fn exp(self) -> Self;
    /// Natural logarithm, of the host's library.
    fn log(self) -> Self;
    /// Sine, of the host's library.
    fn sin(self) -> Self;
    /// Cosine, of the host's library.
    fn cos(self) -> Self;
    /// Hyperbolic tangent, of the host's library.
    fn tanh(self) -> Self;
    /// Largest integer not above.
    fn floor(self) -> Self;
    /// Smallest integer not below.
    fn ceil(self) -> Self;
    /// `2^self`, of the host's library.
    fn exp2(self) -> Self;
    /// `e^self - 1`, of the host's library.
    fn exp_m1(self) -> Self;
    /// Logarithm to the base 2, of the host's library.
    fn log2(self) -> Self;
    /// Logarithm to the base 10, of the host's library.
    fn log10(self) -> Self;
    /// `log(1 + self)`, of the host's library.
    fn ln_1p(self) -> Self;
    /// Tangent, of the host's library.
    fn tan(self) -> Self;
    /// Arc sine, of the host's library.
    fn asin(self) -> Self;
    /// Arc cosine, of the host's library.
    fn acos(self) -> Self;
    /// Arc tangent, of the host's library.
    fn atan(self) -> Self;
    /// Hyperbolic sine, of the host's library.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine, of the host's library.
    fn cosh(self) -> Self;
    /// Cube root, of the host's library.
    fn cbrt(self) -> Self;
    /// The error function, which the host's library has not.
    fn erf(self) -> Self;
    /// Nearest integer, halves away from 0.
    fn round(self) -> Self;
    /// Nearest integer, halves to the even one.
    fn round_ties_even(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// `self - trunc(self)`.
    fn fract(self) -> Self;
    /// `self` to the power of `rhs`, of the host's library.
    fn pow(self, rhs: Self) -> Self;
    /// The angle of the point (`rhs`, `self`), of the host's library.
    fn atan2(self, rhs: Self) -> Self;
    /// `sqrt(self² + rhs²)`, of the host's library.
    fn hypot(self, rhs: Self) -> Self;
    /// The magnitude of `self` with the sign of `rhs`.
    fn copysign(self, rhs: Self) -> Self;
}

/// What `f32` and `f64` have: the fused multiply-add.
pub trait FusedOps: Copy {
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
}

/// Implements the integer traits; `$abs` and `$signum` are the functions of those
/// names.
macro_rules! integer_ops {
    ($($ty:ty: $abs:expr, $signum:expr;)+) => {$(
        impl NumberOps for $ty {
            #[inline(always)]
            fn add(self, rhs: Self) -> Self { self.wrapping_add(rhs) }
            #[inline(always)]
            fn sub(self, rhs: Self) -> Self { self.wrapping_sub(rhs) }
            #[inline(always)]
            fn mul(self, rhs: Self) -> Self { self.wrapping_mul(rhs) }
            #[inline(always)]
            fn div(self, rhs: Self) -> Self {
                if rhs == 0 { 0 } else { self.wrapping_div(rhs) }
            }
            #[inline(always)]
            fn rem(self, rhs: Self) -> Self {
                if rhs == 0 { 0 } else { self.wrapping_rem(rhs) }
            }
            #[inline(always)]
            fn min(self, rhs: Self) -> Self { Ord::min(self, rhs) }
            #[inline(always)]
            fn max(self, rhs: Self) -> Self { Ord::max(self, rhs) }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> Self { $abs(self) }
            #[inline(always)]
            fn signum(self) -> Self { $signum(self) }
        }

        impl BitOps for $ty {
            #[inline(always)]
            fn and(self, rhs: Self) -> Self { self & rhs }
            #[inline(always)]
            fn or(self, rhs: Self) -> Self { self | rhs }
            #[inline(always)]
            fn xor(self, rhs: Self) -> Self { self ^ rhs }
            #[inline(always)]
            fn not(self) -> Self { !self }
        }

        impl ShiftOps for $ty {
            #[inline(always)]
            fn shl(self, count: Self) -> Self { self.wrapping_shl(count as u32) }
            #[inline(always)]
            fn shr(self, count: Self) -> Self { self.wrapping_shr(count as u32) }
        }

        impl CountOps for $ty {
            #[inline(always)]
            fn count_ones(self) -> Self { self.count_ones() as Self }
            #[inline(always)]
            fn leading_zeros(self) -> Self { self.leading_zeros() as Self }
            #[inline(always)]
            fn trailing_zeros(self) -> Self { self.trailing_zeros() as Self }
            #[inline(always)]
            fn reverse_bits(self) -> Self { self.reverse_bits() }
        }
    )+};
}

integer_ops! {
    i8: i8::wrapping_abs, i8::signum;
    i16: i16::wrapping_abs, i16::signum;
    i32: i32::wrapping_abs, i32::signum;
    i64: i64::wrapping_abs, i64::signum;
    u8: std::convert::identity, |x: u8| Ord::min(x, 1);
    u16: std::convert::identity, |x: u16| Ord::min(x, 1);
    u32: std::convert::identity, |x: u32| Ord::min(x, 1);
    u64: std::convert::identity, |x: u64| Ord::min(x, 1);
}

impl BitOps for bool {
    #[inline(always)]
    fn and(self, rhs: Self) -> Self {
        self & rhs
    }
    #[inline(always)]
    fn or(self, rhs: Self) -> Self {
        self | rhs
    }
    #[inline(always)]
    fn xor(self, rhs: Self) -> Self {
        self ^ rhs
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
}

/// Implements the floating-point traits for a type with IEEE operations of its
/// own. Equal numbers differ at most in the sign of zero, so that the bits of
/// both, joined or intersected, are the smaller or the larger.
macro_rules! float_ops {
    ($($ty:ident)+) => {$(
        impl NumberOps for $ty {
            #[inline(always)]
            fn add(self, rhs: Self) -> Self { self + rhs }
            #[inline(always)]
            fn sub(self, rhs: Self) -> Self { self - rhs }
            #[inline(always)]
            fn mul(self, rhs: Self) -> Self { self * rhs }
            #[inline(always)]
            fn div(self, rhs: Self) -> Self { self / rhs }
            #[inline(always)]
            fn rem(self, rhs: Self) -> Self { self % rhs }
            #[inline(always)]
            fn min(self, rhs: Self) -> Self {
                let equal = $ty::from_bits(self.to_bits() | rhs.to_bits());
                let ordered = if self < rhs { self } else { rhs };
                let number = if rhs.is_nan() { self } else { ordered };
                if self == rhs { equal } else { number }
            }
            #[inline(always)]
            fn max(self, rhs: Self) -> Self {
                let equal = $ty::from_bits(self.to_bits() & rhs.to_bits());
                let ordered = if self > rhs { self } else { rhs };
                let number = if rhs.is_nan() { self } else { ordered };
                if self == rhs { equal } else { number }
            }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn abs(self) -> Self { self.abs() }
            #[inline(always)]
            fn signum(self) -> Self { self.signum() }
        }

        impl FloatOps for $ty {
            #[inline(always)]
            fn sqrt(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn rsqrt(self) -> Self { 1.0 / self.sqrt() }
            #[inline(always)]
            fn exp(self) -> Self { self.exp() }
            #[inline(always)]
            fn log(self) -> Self { self.ln() }
            #[inline(always)]
            fn sin(self) -> Self { self.sin() }
            #[inline(always)]
            fn cos(self) -> Self { self.cos() }
            #[inline(always)]
            fn tanh(self) -> Self { self.tanh() }
            #[inline(always)]
            fn floor(self) -> Self { self.floor() }
            #[inline(always)]
            fn ceil(self) -> Self { self.ceil() }
            #[inline(always)]
            fn exp2(self) -> Self { self.exp2() }
            #[inline(always)]
            fn exp_m1(self) -> Self { self.exp_m1() }
            #[inline(always)]
            fn log2(self) -> Self { self.log2() }
            #[inline(always)]
            fn log10(self) -> Self { self.log10() }
            #[inline(always)]
            fn ln_1p(self) -> Self { self.ln_1p() }
            #[inline(always)]
            fn tan(self) -> Self { self.tan() }
            #[inline(always)]
            fn asin(self) -> Self { self.asin() }
            #[inline(always)]
            fn acos(self) -> Self { self.acos() }
            #[inline(always)]
            fn atan(self) -> Self { self.atan() }
            #[inline(always)]
            fn sinh(self) -> Self { self.sinh() }
            #[inline(always)]
            fn cosh(self) -> Self { self.cosh() }
            #[inline(always)]
            fn cbrt(self) -> Self { self.cbrt() }
            #[inline(always)]
            fn erf(self) -> Self { libm::erf(self as f64) as $ty }
            #[inline(always)]
            fn round(self) -> Self { self.round() }
            #[inline(always)]
            fn round_ties_even(self) -> Self { self.round_ties_even() }
            #[inline(always)]
            fn trunc(self) -> Self { self.trunc() }
            #[inline(always)]
            fn fract(self) -> Self { self.fract() }
            #[inline(always)]
            fn pow(self, rhs: Self) -> Self { self.powf(rhs) }
            #[inline(always)]
            fn atan2(self, rhs: Self) -> Self { self.atan2(rhs) }
            #[inline(always)]
            fn hypot(self, rhs: Self) -> Self { self.hypot(rhs) }
            #[inline(always)]
            fn copysign(self, rhs: Self) -> Self { self.copysign(rhs) }
        }

        impl FusedOps for $ty {
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self { self.mul_add(b, c) }
        }
    )+};
}

float_ops! { f32 f64 }

/// Implements the floating-point traits for a 16-bit type: each operation in
/// `f32`, rounded once.
macro_rules! short_float_ops {
    ($($ty:ident)+) => {$(
        impl NumberOps for $ty {
            #[inline(always)]
            fn add(self, rhs: Self) -> Self { $ty::from_f32(self.to_f32() + rhs.to_f32()) }
            #[inline(always)]
            fn sub(self, rhs: Self) -> Self { $ty::from_f32(self.to_f32() - rhs.to_f32()) }
            #[inline(always)]
            fn mul(self, rhs: Self) -> Self { $ty::from_f32(self.to_f32() * rhs.to_f32()) }
            #[inline(always)]
            fn div(self, rhs: Self) -> Self { $ty::from_f32(self.to_f32() / rhs.to_f32()) }
            #[inline(always)]
            fn rem(self, rhs: Self) -> Self { $ty::from_f32(self.to_f32() % rhs.to_f32()) }
            #[inline(always)]
            fn min(self, rhs: Self) -> Self {
                $ty::from_f32(NumberOps::min(self.to_f32(), rhs.to_f32()))
            }
            #[inline(always)]
            fn max(self, rhs: Self) -> Self {
                $ty::from_f32(NumberOps::max(self.to_f32(), rhs.to_f32()))
            }
            #[inline(always)]
            fn neg(self) -> Self { $ty::from_bits(self.to_bits() ^ 0x8000) }
            #[inline(always)]
            fn abs(self) -> Self { $ty::from_bits(self.to_bits() & 0x7fff) }
            #[inline(always)]
            fn signum(self) -> Self { $ty::from_f32(self.to_f32().signum()) }
        }

        impl FloatOps for $ty {
            #[inline(always)]
            fn sqrt(self) -> Self { $ty::from_f32(self.to_f32().sqrt()) }
            #[inline(always)]
            fn rsqrt(self) -> Self { $ty::from_f32(1.0 / self.to_f32().sqrt()) }
            #[inline(always)]
            fn exp(self) -> Self { $ty::from_f32(self.to_f32().exp()) }
            #[inline(always)]
            fn log(self) -> Self { $ty::from_f32(self.to_f32().ln()) }
            #[inline(always)]
            fn sin(self) -> Self { $ty::from_f32(self.to_f32().sin()) }
            #[inline(always)]
            fn cos(self) -> Self { $ty::from_f32(self.to_f32().cos()) }
            #[inline(always)]
            fn tanh(self) -> Self { $ty::from_f32(self.to_f32().tanh()) }
            #[inline(always)]
            fn floor(self) -> Self { $ty::from_f32(self.to_f32().floor()) }
            #[inline(always)]
            fn ceil(self) -> Self { $ty::from_f32(self.to_f32().ceil()) }
            #[inline(always)]
            fn exp2(self) -> Self { $ty::from_f32(self.to_f32().exp2()) }
            #[inline(always)]
            fn exp_m1(self) -> Self { $ty::from_f32(self.to_f32().exp_m1()) }
            #[inline(always)]
            fn log2(self) -> Self { $ty::from_f32(self.to_f32().log2()) }
            #[inline(always)]
            fn log10(self) -> Self { $ty::from_f32(self.to_f32().log10()) }
            #[inline(always)]
            fn ln_1p(self) -> Self { $ty::from_f32(self.to_f32().ln_1p()) }
            #[inline(always)]
            fn tan(self) -> Self { $ty::from_f32(self.to_f32().tan()) }
            #[inline(always)]
            fn asin(self) -> Self { $ty::from_f32(self.to_f32().asin()) }
            #[inline(always)]
            fn acos(self) -> Self { $ty::from_f32(self.to_f32().acos()) }
            #[inline(always)]
            fn atan(self) -> Self { $ty::from_f32(self.to_f32().atan()) }
            #[inline(always)]
            fn sinh(self) -> Self { $ty::from_f32(self.to_f32().sinh()) }
            #[inline(always)]
            fn cosh(self) -> Self { $ty::from_f32(self.to_f32().cosh()) }
            #[inline(always)]
            fn cbrt(self) -> Self { $ty::from_f32(self.to_f32().cbrt()) }
            #[inline(always)]
            fn erf(self) -> Self { $ty::from_f32(FloatOps::erf(self.to_f32())) }
            #[inline(always)]
            fn round(self) -> Self { $ty::from_f32(self.to_f32().round()) }
            #[inline(always)]
            fn round_ties_even(self) -> Self { $ty::from_f32(self.to_f32().round_ties_even()) }
            #[inline(always)]
            fn trunc(self) -> Self { $ty::from_f32(self.to_f32().trunc()) }
            #[inline(always)]
            fn fract(self) -> Self { $ty::from_f32(self.to_f32().fract()) }
            #[inline(always)]
            fn pow(self, rhs: Self) -> Self {
                $ty::from_f32(self.to_f32().powf(rhs.to_f32()))
            }
            #[inline(always)]
            fn atan2(self, rhs: Self) -> Self {
                $ty::from_f32(self.to_f32().atan2(rhs.to_f32()))
            }
            #[inline(always)]
            fn hypot(self, rhs: Self) -> Self {
                $ty::from_f32(self.to_f32().hypot(rhs.to_f32()))
            }
            #[inline(always)]
            fn copysign(self, rhs: Self) -> Self {
                $ty::from_bits((self.to_bits() & 0x7fff) | (rhs.to_bits() & 0x8000))
            }
        }
    )+};
}

short_float_ops! { f16 bf16 }

/// `ceil(n / d)` of indices; 0 where `n` is negative or `d` is not positive.
#[inline(always)]
pub fn ceil_div(n: i64, d: i64) -> i64 {
    if n <= 0 || d <= 0 { 0 } else { (n - 1) / d + 1 }
}
