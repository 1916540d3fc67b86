//! The functions of lanes, as types: each names one operation of
//! [`tile_ir::semantics`], so that [`super::apply`] can be monomorphised for it.

use std::marker::PhantomData;

use tile_ir::semantics::{
    BitOps, CastTo, CountOps, FloatOps, FusedOps, NumberOps, ShiftOps, ceil_div as ceil_div_of,
};

use super::apply::{Map1, Map2, Map3};
use super::lane::{Flag, Lane};
use crate::cpu::loops;

/// Defines operations of two operands of one type:
/// `Name(Bound, wide) = method;` makes the type `Name<T>`.
macro_rules! binary_ops {
    ($($name:ident($bound:path, $wide:literal) = $method:ident;)+) => {$(
        #[doc = concat!("Lane-wise `", stringify!($method), "`.")]
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Lane + $bound> Map2 for $name<T> {
            type A = T;
            type B = T;
            type Out = T;
            const WIDE: bool = $wide && T::WIDE;
            #[inline(always)]
            fn apply(a: T, b: T) -> T {
                <T as $bound>::$method(a, b)
            }
        }
    )+};
}

binary_ops! {
    Add(NumberOps, true) = add;
    Sub(NumberOps, true) = sub;
    Mul(NumberOps, true) = mul;
    Rem(NumberOps, false) = rem;
    Min(NumberOps, true) = min;
    Max(NumberOps, true) = max;
    And(BitOps, true) = and;
    Or(BitOps, true) = or;
    Xor(BitOps, true) = xor;
    Shl(ShiftOps, true) = shl;
    Shr(ShiftOps, true) = shr;
    IntDiv(NumberOps, false) = div;
    FloatDiv(NumberOps, true) = div;
    Pow(FloatOps, false) = pow;
    Atan2(FloatOps, false) = atan2;
    Hypot(FloatOps, false) = hypot;
    Copysign(FloatOps, true) = copysign;
}

/// Defines operations of one operand: `Name(Bound, wide) = method;` makes the
/// type `Name<T>`.
macro_rules! unary_ops {
    ($($name:ident($bound:path, $wide:literal) = $method:ident;)+) => {$(
        #[doc = concat!("Lane-wise `", stringify!($method), "`.")]
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Lane + $bound> Map1 for $name<T> {
            type A = T;
            type Out = T;
            const WIDE: bool = $wide && T::WIDE;
            #[inline(always)]
            fn apply(a: T) -> T {
                <T as $bound>::$method(a)
            }
        }
    )+};
}

unary_ops! {
    Neg(NumberOps, true) = neg;
    Abs(NumberOps, true) = abs;
    Not(BitOps, true) = not;
    Sqrt(FloatOps, true) = sqrt;
    Rsqrt(FloatOps, true) = rsqrt;
    Floor(FloatOps, true) = floor;
    Ceil(FloatOps, true) = ceil;
    Exp(FloatOps, false) = exp;
    Log(FloatOps, false) = log;
    Sin(FloatOps, false) = sin;
    Cos(FloatOps, false) = cos;
    Tanh(FloatOps, false) = tanh;
    Signum(NumberOps, true) = signum;
    Exp2(FloatOps, false) = exp2;
    ExpM1(FloatOps, false) = exp_m1;
    Log2(FloatOps, false) = log2;
    Log10(FloatOps, false) = log10;
    Ln1p(FloatOps, false) = ln_1p;
    Tan(FloatOps, false) = tan;
    Asin(FloatOps, false) = asin;
    Acos(FloatOps, false) = acos;
    Atan(FloatOps, false) = atan;
    Sinh(FloatOps, false) = sinh;
    Cosh(FloatOps, false) = cosh;
    Cbrt(FloatOps, false) = cbrt;
    Erf(FloatOps, false) = erf;
    Round(FloatOps, true) = round;
    RoundTiesEven(FloatOps, true) = round_ties_even;
    Trunc(FloatOps, true) = trunc;
    Fract(FloatOps, true) = fract;
    CountOnes(CountOps, true) = count_ones;
    LeadingZeros(CountOps, true) = leading_zeros;
    TrailingZeros(CountOps, true) = trailing_zeros;
    ReverseBits(CountOps, true) = reverse_bits;
}

/// Defines comparisons: `Name = operator;` makes the type `Name<T>`.
macro_rules! comparisons {
    ($($name:ident = $op:tt;)+) => {$(
        #[doc = concat!("Lane-wise `", stringify!($op), "`.")]
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Lane + PartialOrd> Map2 for $name<T> {
            type A = T;
            type B = T;
            type Out = Flag;
            const WIDE: bool = T::WIDE;
            #[inline(always)]
            fn apply(a: T, b: T) -> Flag {
                (a $op b).into()
            }
        }
    )+};
}

comparisons! { Eq = ==; Ne = !=; Lt = <; Le = <=; Gt = >; Ge = >=; }

/// `a * b + c`, rounded once.
pub(super) struct Fma<T>(PhantomData<T>);

impl<T: Lane + FusedOps> Map3 for Fma<T> {
    type A = T;
    type B = T;
    type C = T;
    type Out = T;
    const WIDE: bool = true;
    #[inline(always)]
    fn apply(a: T, b: T, c: T) -> T {
        a.fma(b, c)
    }
}

/// The second operand where the first is set, else the third.
pub(super) struct Select<T>(PhantomData<T>);

impl<T: Lane> Map3 for Select<T> {
    type A = Flag;
    type B = T;
    type C = T;
    type Out = T;
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    fn apply(cond: Flag, then: T, otherwise: T) -> T {
        if cond.is_set() { then } else { otherwise }
    }
}

/// Set where the first operand is and the second is not.
pub(super) struct AndNot;

impl Map2 for AndNot {
    type A = Flag;
    type B = Flag;
    type Out = Flag;
    const WIDE: bool = true;
    #[inline(always)]
    fn apply(a: Flag, b: Flag) -> Flag {
        (a.is_set() & !b.is_set()).into()
    }
}

/// Conversion of number lanes.
pub(super) struct Cast<S, T>(PhantomData<(S, T)>);

impl<S: Lane + CastTo<T>, T: Lane> Map1 for Cast<S, T> {
    type A = S;
    type Out = T;
    const WIDE: bool = S::WIDE && T::WIDE;
    #[inline(always)]
    fn apply(a: S) -> T {
        a.cast()
    }
}

/// Conversion of `bool` lanes.
pub(super) struct CastFlag<T>(PhantomData<T>);

impl<T: Lane> Map1 for CastFlag<T>
where
    bool: CastTo<T>,
{
    type A = Flag;
    type Out = T;
    const WIDE: bool = true;
    #[inline(always)]
    fn apply(a: Flag) -> T {
        a.is_set().cast()
    }
}

/// Defines operations on index lanes from functions of `i64`.
macro_rules! index_ops {
    ($($map:ident $name:ident($($x:ident: $ty:ident),+) = $func:expr;)+) => {$(
        #[doc = concat!("Lane-wise `", stringify!($func), "`.")]
        pub(super) struct $name;

        impl $map for $name {
            $(type $ty = i64;)+
            type Out = i64;
            const WIDE: bool = false;
            #[inline(always)]
            fn apply($($x: i64),+) -> i64 {
                $func($($x),+)
            }
        }
    )+};
}

index_ops! {
    Map2 CeilDiv(n: A, d: B) = ceil_div_of;
    Map3 TripBetween(start: A, end: B, step: C) = loops::trips_between;
    Map1 TripHalving(n: A) = loops::trips_halving;
    Map1 TripDoubling(n: A) = loops::trips_doubling;
    Map3 ValueBetween(start: A, step: B, trip: C) = loops::value_between;
    Map2 ValueHalving(n: A, trip: B) = loops::value_halving;
    Map1 ValueDoubling(trip: A) = loops::value_doubling;
}
