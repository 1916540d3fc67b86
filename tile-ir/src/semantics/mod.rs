//! What the scalar operations give, on values: the reference that every device
//! and every constant folding agrees with.
//!
//! The traits ([`NumberOps`] and its relatives, [`CastTo`]) are the definition,
//! on Rust's own types. [`unary`], [`binary`] and the others apply them to
//! [`ScalarValue`]s, whose type is known at run time only. Where a type does not
//! have an operation they give `None`.
//!
//! An index is an `i64` here.

mod cast;
mod number;

pub use cast::CastTo;
pub use number::{BitOps, CountOps, FloatOps, FusedOps, NumberOps, ShiftOps, ceil_div};

use half::{bf16, f16};

use crate::dtype::DType;
use crate::op::{BinaryOp, CompareOp, MathFn, UnaryOp};
use crate::value::ScalarValue;

/// A Rust type that carries the values of a [`DType`].
pub trait Scalar: Copy + PartialEq + PartialOrd {
    /// The type.
    const DTYPE: DType;
    /// The value of zero-extended bits; upper bits are ignored.
    fn from_bits(bits: u64) -> Self;
    /// The value's bits, zero-extended.
    fn to_bits(self) -> u64;
}

/// Implements [`Scalar`] for the integers, by way of the unsigned type `$raw`.
macro_rules! integer_scalar {
    ($($ty:ident $raw:ident $dtype:ident;)+) => {$(
        impl Scalar for $ty {
            const DTYPE: DType = DType::$dtype;
            fn from_bits(bits: u64) -> Self { bits as $ty }
            fn to_bits(self) -> u64 { u64::from(self as $raw) }
        }
    )+};
}

integer_scalar! {
    i8 u8 I8; u8 u8 U8; i16 u16 I16; u16 u16 U16;
    i32 u32 I32; u32 u32 U32; i64 u64 I64; u64 u64 U64;
}

/// Implements [`Scalar`] for the floats.
macro_rules! float_scalar {
    ($($ty:ident $raw:ident $dtype:ident;)+) => {$(
        impl Scalar for $ty {
            const DTYPE: DType = DType::$dtype;
            fn from_bits(bits: u64) -> Self { $ty::from_bits(bits as $raw) }
            fn to_bits(self) -> u64 { u64::from($ty::to_bits(self)) }
        }
    )+};
}

float_scalar! { f16 u16 F16; bf16 u16 BF16; f32 u32 F32; f64 u64 F64; }

impl Scalar for bool {
    const DTYPE: DType = DType::Bool;
    fn from_bits(bits: u64) -> Self {
        bits & 0xff != 0
    }
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
}

fn value_of<T: Scalar>(value: T) -> ScalarValue {
    ScalarValue { dtype: T::DTYPE, bits: value.to_bits() }
}

/// Calls the generic function `$f::<T>($args)` for the Rust type of a `DType`;
/// an arm for each family of types, so that a family without the operation
/// gives `None`.
macro_rules! by_dtype {
    ($dtype:expr, bool => $bool:expr, int => $int:ident, float => $float:ident, ($($arg:expr),*)) => {
        match $dtype {
            DType::Bool => $bool,
            DType::F16 => $float::<f16>($($arg),*),
            DType::BF16 => $float::<bf16>($($arg),*),
            DType::F32 => $float::<f32>($($arg),*),
            DType::F64 => $float::<f64>($($arg),*),
            DType::I8 => $int::<i8>($($arg),*),
            DType::U8 => $int::<u8>($($arg),*),
            DType::I16 => $int::<i16>($($arg),*),
            DType::U16 => $int::<u16>($($arg),*),
            DType::I32 => $int::<i32>($($arg),*),
            DType::U32 => $int::<u32>($($arg),*),
            DType::I64 => $int::<i64>($($arg),*),
            DType::U64 => $int::<u64>($($arg),*),
        }
    };
}

/// `op operand`.
pub fn unary(op: UnaryOp, operand: ScalarValue) -> Option<ScalarValue> {
    fn of_int<T: Scalar + NumberOps + BitOps>(op: UnaryOp, bits: u64) -> Option<ScalarValue> {
        let operand = T::from_bits(bits);
        Some(value_of(match op {
            UnaryOp::Neg => operand.neg(),
            UnaryOp::Not => operand.not(),
        }))
    }
    fn of_float<T: Scalar + NumberOps>(op: UnaryOp, bits: u64) -> Option<ScalarValue> {
        match op {
            UnaryOp::Neg => Some(value_of(T::from_bits(bits).neg())),
            UnaryOp::Not => None,
        }
    }
    fn of_bool(op: UnaryOp, bits: u64) -> Option<ScalarValue> {
        match op {
            UnaryOp::Neg => None,
            UnaryOp::Not => Some(value_of(!bool::from_bits(bits))),
        }
    }
    let bits = operand.bits;
    by_dtype!(operand.dtype, bool => of_bool(op, bits), int => of_int, float => of_float, (op, bits))
}

/// `lhs op rhs`; `None` where the operands' types differ, too.
pub fn binary(op: BinaryOp, lhs: ScalarValue, rhs: ScalarValue) -> Option<ScalarValue> {
    fn arithmetic<T: NumberOps>(op: BinaryOp, a: T, b: T) -> Option<T> {
        Some(match op {
            BinaryOp::Add => a.add(b),
            BinaryOp::Sub => a.sub(b),
            BinaryOp::Mul => a.mul(b),
            BinaryOp::Div => a.div(b),
            BinaryOp::Rem => a.rem(b),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => return None,
        })
    }
    fn bitwise<T: BitOps>(op: BinaryOp, a: T, b: T) -> Option<T> {
        match op {
            BinaryOp::And => Some(a.and(b)),
            BinaryOp::Or => Some(a.or(b)),
            BinaryOp::Xor => Some(a.xor(b)),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
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
    fn of_int<T: Scalar + NumberOps + BitOps + ShiftOps>(
        op: BinaryOp,
        a: u64,
        b: u64,
    ) -> Option<ScalarValue> {
        let (a, b) = (T::from_bits(a), T::from_bits(b));
        let value = match op {
            BinaryOp::Shl => Some(a.shl(b)),
            BinaryOp::Shr => Some(a.shr(b)),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => arithmetic(op, a, b).or_else(|| bitwise(op, a, b)),
        };
        value.map(value_of)
    }
    fn of_float<T: Scalar + NumberOps + FloatOps>(
        op: BinaryOp,
        a: u64,
        b: u64,
    ) -> Option<ScalarValue> {
        let (a, b) = (T::from_bits(a), T::from_bits(b));
        let value = match op {
            BinaryOp::Pow => Some(a.pow(b)),
            BinaryOp::Atan2 => Some(a.atan2(b)),
            BinaryOp::Hypot => Some(a.hypot(b)),
            BinaryOp::Copysign => Some(a.copysign(b)),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max => arithmetic(op, a, b),
        };
        value.map(value_of)
    }
    fn of_bool(op: BinaryOp, a: u64, b: u64) -> Option<ScalarValue> {
        bitwise(op, bool::from_bits(a), bool::from_bits(b)).map(value_of)
    }
    if lhs.dtype != rhs.dtype {
        return None;
    }
    let (a, b) = (lhs.bits, rhs.bits);
    by_dtype!(lhs.dtype, bool => of_bool(op, a, b), int => of_int, float => of_float, (op, a, b))
}

/// `lhs op rhs`; `None` where the operands' types differ.
pub fn compare(op: CompareOp, lhs: ScalarValue, rhs: ScalarValue) -> Option<bool> {
    fn of<T: Scalar>(op: CompareOp, a: u64, b: u64) -> bool {
        op.holds(T::from_bits(a), T::from_bits(b))
    }
    let (a, b) = (lhs.bits, rhs.bits);
    (lhs.dtype == rhs.dtype).then(
        || by_dtype!(lhs.dtype, bool => of::<bool>(op, a, b), int => of, float => of, (op, a, b)),
    )
}

/// `func(arg)`.
pub fn math(func: MathFn, arg: ScalarValue) -> Option<ScalarValue> {
    fn of_int<T: Scalar + NumberOps + CountOps>(func: MathFn, bits: u64) -> Option<ScalarValue> {
        let arg = T::from_bits(bits);
        Some(value_of(match func {
            MathFn::Abs => arg.abs(),
            MathFn::Signum => arg.signum(),
            MathFn::CountOnes => arg.count_ones(),
            MathFn::LeadingZeros => arg.leading_zeros(),
            MathFn::TrailingZeros => arg.trailing_zeros(),
            MathFn::ReverseBits => arg.reverse_bits(),
            MathFn::Sqrt
            | MathFn::Rsqrt
            | MathFn::Exp
            | MathFn::Log
            | MathFn::Sin
            | MathFn::Cos
            | MathFn::Tanh
            | MathFn::Floor
            | MathFn::Ceil
            | MathFn::Exp2
            | MathFn::ExpM1
            | MathFn::Log2
            | MathFn::Log10
            | MathFn::Ln1p
            | MathFn::Tan
            | MathFn::Asin
            | MathFn::Acos
            | MathFn::Atan
            | MathFn::Sinh
            | MathFn::Cosh
            | MathFn::Cbrt
            | MathFn::Round
            | MathFn::RoundTiesEven
            | MathFn::Trunc
            | MathFn::Fract
            | MathFn::Erf => return None,
        }))
    }
    fn of_float<T: Scalar + NumberOps + FloatOps>(func: MathFn, bits: u64) -> Option<ScalarValue> {
        let arg = T::from_bits(bits);
        Some(value_of(match func {
            MathFn::Abs => arg.abs(),
            MathFn::Sqrt => arg.sqrt(),
            MathFn::Rsqrt => arg.rsqrt(),
            MathFn::Exp => arg.exp(),
            MathFn::Log => arg.log(),
            MathFn::Sin => arg.sin(),
            MathFn::Cos => arg.cos(),
            MathFn::Tanh => arg.tanh(),
            MathFn::Floor => arg.floor(),
            MathFn::Ceil => arg.ceil(),
            MathFn::Signum => arg.signum(),
            MathFn::Exp2 => arg.exp2(),
            MathFn::ExpM1 => arg.exp_m1(),
            MathFn::Log2 => arg.log2(),
            MathFn::Log10 => arg.log10(),
            MathFn::Ln1p => arg.ln_1p(),
            MathFn::Tan => arg.tan(),
            MathFn::Asin => arg.asin(),
            MathFn::Acos => arg.acos(),
            MathFn::Atan => arg.atan(),
            MathFn::Sinh => arg.sinh(),
            MathFn::Cosh => arg.cosh(),
            MathFn::Cbrt => arg.cbrt(),
            MathFn::Round => arg.round(),
            MathFn::RoundTiesEven => arg.round_ties_even(),
            MathFn::Trunc => arg.trunc(),
            MathFn::Fract => arg.fract(),
            MathFn::Erf => arg.erf(),
            MathFn::CountOnes
            | MathFn::LeadingZeros
            | MathFn::TrailingZeros
            | MathFn::ReverseBits => return None,
        }))
    }
    by_dtype!(arg.dtype, bool => None, int => of_int, float => of_float, (func, arg.bits))
}

/// `a * b + c` rounded once; of `f32` and `f64`.
pub fn fma(a: ScalarValue, b: ScalarValue, c: ScalarValue) -> Option<ScalarValue> {
    fn of<T: Scalar + FusedOps>(a: u64, b: u64, c: u64) -> ScalarValue {
        value_of(T::from_bits(a).fma(T::from_bits(b), T::from_bits(c)))
    }
    if a.dtype != b.dtype || a.dtype != c.dtype {
        return None;
    }
    match a.dtype {
        DType::F32 => Some(of::<f32>(a.bits, b.bits, c.bits)),
        DType::F64 => Some(of::<f64>(a.bits, b.bits, c.bits)),
        DType::Bool
        | DType::F16
        | DType::BF16
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64 => None,
    }
}

/// `value as to`.
pub fn cast(value: ScalarValue, to: DType) -> Option<ScalarValue> {
    fn of_number<T>(to: DType, bits: u64) -> Option<ScalarValue>
    where
        T: Scalar + CastTo<f16> + CastTo<bf16> + CastTo<f32> + CastTo<f64> + ToInteger,
    {
        let value = T::from_bits(bits);
        Some(match to {
            DType::F16 => value_of::<f16>(value.cast()),
            DType::BF16 => value_of::<bf16>(value.cast()),
            DType::F32 => value_of::<f32>(value.cast()),
            DType::F64 => value_of::<f64>(value.cast()),
            DType::Bool => return None,
            DType::I8
            | DType::U8
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32
            | DType::I64
            | DType::U64 => return value.to_integer(to),
        })
    }
    let bits = value.bits;
    let of_bool = |bits| {
        let value = bool::from_bits(bits);
        if to == DType::Bool { Some(value_of(value)) } else { value.to_integer(to) }
    };
    by_dtype!(value.dtype, bool => of_bool(bits), int => of_number, float => of_number, (to, bits))
}

/// Conversion to an integer type known at run time.
trait ToInteger {
    /// The value as `to`; `None` where that is no integer type.
    fn to_integer(self, to: DType) -> Option<ScalarValue>;
}

impl<T> ToInteger for T
where
    T: CastTo<i8> + CastTo<u8> + CastTo<i16> + CastTo<u16>,
    T: CastTo<i32> + CastTo<u32> + CastTo<i64> + CastTo<u64>,
{
    fn to_integer(self, to: DType) -> Option<ScalarValue> {
        Some(match to {
            DType::I8 => value_of::<i8>(self.cast()),
            DType::U8 => value_of::<u8>(self.cast()),
            DType::I16 => value_of::<i16>(self.cast()),
            DType::U16 => value_of::<u16>(self.cast()),
            DType::I32 => value_of::<i32>(self.cast()),
            DType::U32 => value_of::<u32>(self.cast()),
            DType::I64 => value_of::<i64>(self.cast()),
            DType::U64 => value_of::<u64>(self.cast()),
            DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => return None,
        })
    }
}
