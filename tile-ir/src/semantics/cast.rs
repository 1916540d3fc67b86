//! Conversions between scalar types: Rust's `as`, with one rounding wherever
//! a floating-point value is made.

use half::{bf16, f16};

/// A conversion that the language has.
///
/// Integers wrap to the narrower type; floats to integers truncate and saturate,
/// NaN gives 0; to a float the nearest value is taken, ties to even; `bool` to
/// an integer is 0 or 1. Nothing but `bool` converts to `bool`, and `bool` does
/// not convert to a float.
pub trait CastTo<T> {
    /// The value in the other type.
    fn cast(self) -> T;
}

/// Implements conversions that `as` makes with one rounding.
macro_rules! cast_by_as {
    ($($from:ident => $($to:ident)+;)+) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        }
    )+)+};
}

cast_by_as! {
    bool => bool i8 u8 i16 u16 i32 u32 i64 u64;
    i8 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    u8 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    i16 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    u16 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    i32 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    u32 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    i64 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    u64 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    f32 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
    f64 => i8 u8 i16 u16 i32 u32 i64 u64 f32 f64;
}

/// Implements conversions from a 16-bit float, which `f32` holds exactly.
macro_rules! cast_from_short_float {
    ($($from:ident => $($to:ident)+;)+) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self.to_f32().cast() }
        }
    )+)+};
}

cast_from_short_float! {
    f16 => i8 u8 i16 u16 i32 u32 i64 u64 bf16 f32 f64;
    bf16 => i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64;
}

/// Implements conversions to a 16-bit float from types that `f32` holds exactly.
macro_rules! cast_to_short_float {
    ($($to:ident <= $($from:ident)+;)+) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { $to::from_f32(f32::from(self)) }
        }
    )+)+};
}

cast_to_short_float! {
    f16 <= i8 u8 i16 u16 f32;
    bf16 <= i8 u8 i16 u16 f32;
}

/// Implements conversions to a 16-bit float from wider types: by way of the
/// `f32` rounded to odd, since two roundings to nearest are not one.
macro_rules! cast_to_short_float_by_odd {
    ($($from:ident: $odd:expr;)+) => {$(
        impl CastTo<f16> for $from {
            #[inline(always)]
            fn cast(self) -> f16 { f16::from_f32($odd(self)) }
        }

        impl CastTo<bf16> for $from {
            #[inline(always)]
            fn cast(self) -> bf16 { bf16::from_f32($odd(self)) }
        }
    )+};
}

cast_to_short_float_by_odd! {
    f64: odd_f32_of_f64;
    i32: |value: i32| odd_f32_of_integer(value < 0, u64::from(value.unsigned_abs()));
    u32: |value: u32| odd_f32_of_integer(false, u64::from(value));
    i64: |value: i64| odd_f32_of_integer(value < 0, value.unsigned_abs());
    u64: |value: u64| odd_f32_of_integer(false, value);
}

impl CastTo<f16> for f16 {
    #[inline(always)]
    fn cast(self) -> f16 {
        self
    }
}

impl CastTo<bf16> for bf16 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        self
    }
}

/// The `f32` next to `value` towards zero, its last bit set where it is not
/// `value` itself. Rounding that to 16 bits is rounding `value`: it has two
/// bits more than they have, and the last bit says whether anything is below.
fn odd_f32_of_f64(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() {
        return nearest;
    }
    let away = back.abs() > value.abs();
    let towards_zero = if away { nearest.to_bits() - 1 } else { nearest.to_bits() };
    f32::from_bits(towards_zero | 1)
}

/// The same for an integer, given by sign and magnitude.
fn odd_f32_of_integer(negative: bool, magnitude: u64) -> f32 {
    let surplus = (u64::BITS - magnitude.leading_zeros()).saturating_sub(f32::MANTISSA_DIGITS);
    let kept = magnitude >> surplus;
    let sticky = u64::from(kept << surplus != magnitude);
    let rounded = ((kept | sticky) << surplus) as f32;
    if negative { -rounded } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 16-bit float nearest to `value` by search over all of them.
    fn nearest(value: f64, decode: impl Fn(u16) -> f64) -> u16 {
        let limit = (0..0x7fff).find(|&bits| decode(bits).is_infinite()).unwrap_or(0x7fff);
        let infinity_from = 2.0 * decode(limit - 1) - decode(limit - 2);
        let largest_kept = (decode(limit - 1) + infinity_from) / 2.0;
        let magnitude = value.abs();
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        if magnitude >= largest_kept {
            return sign | limit;
        }
        let best = (0..limit).min_by(|&a, &b| {
            let distances = [a, b].map(|bits| (decode(bits) - magnitude).abs());
            distances[0].total_cmp(&distances[1]).then((a & 1).cmp(&(b & 1)))
        });
        sign | best.unwrap_or(0)
    }

    #[test]
    fn to_16_bits_rounds_once() {
        let just_above_tie = 1.0 + 1.0 / 2048.0 + 1.0 / f64::from(1u32 << 30);
        let values = [
            just_above_tie,
            -just_above_tie,
            1.0 + 1.0 / 2048.0,
            1.0 + 3.0 / 2048.0,
            1.0 + 1.0 / 256.0 + 1e-12,
            1.0 + 1.0 / 256.0,
            1.0 + 3.0 / 256.0,
            6e-8,
            2.98e-8,
            2.99e-8,
            65519.999,
            65520.0,
            3.3895313892515355e38,
            3.39617752923046e38,
            0.0,
            -0.0,
        ];
        for value in values {
            let half: f16 = value.cast();
            assert_eq!(half.to_bits(), nearest(value, |bits| f16::from_bits(bits).to_f64()));
            let brain: bf16 = value.cast();
            assert_eq!(brain.to_bits(), nearest(value, |bits| bf16::from_bits(bits).to_f64()));
        }
        // 2^40 + 2^32 lies half-way between two bf16; one more decides, and an
        // f32 rounded to nearest would lose that one.
        let above_tie: bf16 = ((1i64 << 40) + (1i64 << 32) + 1).cast();
        assert_eq!(above_tie.to_f64(), (1u64 << 40) as f64 + (1u64 << 33) as f64);
        let tie: bf16 = (-((1i64 << 40) + (1i64 << 32))).cast();
        assert_eq!(tie.to_f64(), -((1u64 << 40) as f64));
        let largest: bf16 = u64::MAX.cast();
        assert_eq!(largest.to_f64(), 18446744073709551616.0);
    }
}
