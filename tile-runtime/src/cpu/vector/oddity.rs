//! What is looked for in checked mode, as functions that give flags.

use std::marker::PhantomData;

use half::{bf16, f16};
use tile_ir::dtype::DType;
use tile_ir::op::BinaryOp;

use super::apply::{Fn1, Fn2, Map1, Map2, fn1, fn2};
use super::lane::{Flag, Lane};

/// An integer whose operations may wrap.
trait Wraps: Lane {
    fn add_wraps(self, rhs: Self) -> bool;
    fn sub_wraps(self, rhs: Self) -> bool;
    fn mul_wraps(self, rhs: Self) -> bool;
    /// The one quotient that the type does not hold; nothing of a division by 0.
    fn div_wraps(self, rhs: Self) -> bool;
    fn neg_wraps(self) -> bool;
}

/// `wraps! { i8; u8; }` implements [`Wraps`].
macro_rules! wraps {
    ($($ty:ty;)+) => {$(
        impl Wraps for $ty {
            #[inline(always)]
            fn add_wraps(self, rhs: Self) -> bool {
                self.overflowing_add(rhs).1
            }
            #[inline(always)]
            fn sub_wraps(self, rhs: Self) -> bool {
                self.overflowing_sub(rhs).1
            }
            #[inline(always)]
            fn mul_wraps(self, rhs: Self) -> bool {
                self.overflowing_mul(rhs).1
            }
            #[inline(always)]
            fn div_wraps(self, rhs: Self) -> bool {
                rhs != 0 && self.overflowing_div(rhs).1
            }
            #[inline(always)]
            fn neg_wraps(self) -> bool {
                self.overflowing_neg().1
            }
        }
    )+};
}

wraps! { i8; u8; i16; u16; i32; u32; i64; u64; }

/// `flags_of_two! { Name = method; }` makes the type `Name<T>`.
macro_rules! flags_of_two {
    ($($name:ident = $method:ident;)+) => {$(
        struct $name<T>(PhantomData<T>);

        impl<T: Wraps> Map2 for $name<T> {
            type A = T;
            type B = T;
            type Out = Flag;
            const WIDE: bool = T::WIDE;
            #[inline(always)]
            fn apply(a: T, b: T) -> Flag {
                a.$method(b).into()
            }
        }
    )+};
}

flags_of_two! {
    AddWraps = add_wraps;
    SubWraps = sub_wraps;
    MulWraps = mul_wraps;
    DivWraps = div_wraps;
}

struct NegWraps<T>(PhantomData<T>);

impl<T: Wraps> Map1 for NegWraps<T> {
    type A = T;
    type Out = Flag;
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    fn apply(a: T) -> Flag {
        a.neg_wraps().into()
    }
}

struct IsZero<T>(PhantomData<T>);

impl<T: Lane + PartialEq> Map1 for IsZero<T> {
    type A = T;
    type Out = Flag;
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    fn apply(a: T) -> Flag {
        (a == T::default()).into()
    }
}

/// A float that may be none of the finite numbers.
trait Finite: Lane {
    fn is_finite_number(self) -> bool;
}

/// `finite! { f32; }` implements [`Finite`].
macro_rules! finite {
    ($($ty:ty;)+) => {$(
        impl Finite for $ty {
            #[inline(always)]
            fn is_finite_number(self) -> bool {
                self.is_finite()
            }
        }
    )+};
}

finite! { f16; bf16; f32; f64; }

struct IsFinite<T>(PhantomData<T>);

impl<T: Finite> Map1 for IsFinite<T> {
    type A = T;
    type Out = Flag;
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    fn apply(a: T) -> Flag {
        a.is_finite_number().into()
    }
}

/// `by_integer!(dtype, f)` calls `f::<T>()` for an integer type; `None` for others.
macro_rules! by_integer {
    ($dtype:expr, $f:ident($($arg:expr),*)) => {
        match $dtype {
            DType::I8 => $f::<i8>($($arg),*),
            DType::U8 => $f::<u8>($($arg),*),
            DType::I16 => $f::<i16>($($arg),*),
            DType::U16 => $f::<u16>($($arg),*),
            DType::I32 => $f::<i32>($($arg),*),
            DType::U32 => $f::<u32>($($arg),*),
            DType::I64 => $f::<i64>($($arg),*),
            DType::U64 => $f::<u64>($($arg),*),
            DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => None,
        }
    };
}

/// Flags where `a op b` wraps; `None` where it never does.
pub(crate) fn overflows(op: BinaryOp, dtype: DType) -> Option<Fn2> {
    fn of<T: Wraps>(op: BinaryOp) -> Option<Fn2> {
        match op {
            BinaryOp::Add => Some(fn2::<AddWraps<T>>()),
            BinaryOp::Sub => Some(fn2::<SubWraps<T>>()),
            BinaryOp::Mul => Some(fn2::<MulWraps<T>>()),
            BinaryOp::Div => Some(fn2::<DivWraps<T>>()),
            BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => None,
        }
    }
    by_integer!(dtype, of(op))
}

/// Flags where `-a` wraps; `None` where it never does.
pub(crate) fn neg_overflows(dtype: DType) -> Option<Fn1> {
    fn of<T: Wraps>() -> Option<Fn1> {
        Some(fn1::<NegWraps<T>>())
    }
    by_integer!(dtype, of())
}

/// Flags where integers are 0. Of other types there is no such question: all false.
pub(crate) fn is_zero(dtype: DType) -> Fn1 {
    fn of<T: Lane + PartialEq>() -> Option<Fn1> {
        Some(fn1::<IsZero<T>>())
    }
    by_integer!(dtype, of()).unwrap_or(fn1::<IsZero<Flag>>())
}

/// Flags where floats are finite.
pub(crate) fn is_finite(dtype: DType) -> Fn1 {
    match dtype {
        DType::F16 => fn1::<IsFinite<f16>>(),
        DType::BF16 => fn1::<IsFinite<bf16>>(),
        DType::F64 => fn1::<IsFinite<f64>>(),
        DType::F32
        | DType::Bool
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64 => fn1::<IsFinite<f32>>(),
    }
}
