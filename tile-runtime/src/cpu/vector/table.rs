//! From operators and types to loops.

use half::{bf16, f16};
use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp, MathFn, UnaryOp};
use tile_ir::semantics::{BitOps, CastTo, CountOps, FloatOps, NumberOps, ShiftOps};

use super::apply::{self, Fn1, Fn2, Fn3, fn1, fn2, fn3};
use super::lane::{Flag, Lane};
use super::ops;

/// Calls a generic function for the lane type of a `DType`, one function for
/// each family of types.
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

/// `op a`; `None` where the type does not have it.
pub(crate) fn unary(op: UnaryOp, dtype: DType) -> Option<Fn1> {
    fn of_int<T: Lane + NumberOps + BitOps>(op: UnaryOp) -> Option<Fn1> {
        Some(match op {
            UnaryOp::Neg => fn1::<ops::Neg<T>>(),
            UnaryOp::Not => fn1::<ops::Not<T>>(),
        })
    }
    fn of_float<T: Lane + NumberOps>(op: UnaryOp) -> Option<Fn1> {
        match op {
            UnaryOp::Neg => Some(fn1::<ops::Neg<T>>()),
            UnaryOp::Not => None,
        }
    }
    let of_bool = match op {
        UnaryOp::Neg => None,
        UnaryOp::Not => Some(fn1::<ops::Not<Flag>>()),
    };
    by_dtype!(dtype, bool => of_bool, int => of_int, float => of_float, (op))
}

fn bitwise<T: Lane + BitOps>(op: BinaryOp) -> Option<Fn2> {
    match op {
        BinaryOp::And => Some(fn2::<ops::And<T>>()),
        BinaryOp::Or => Some(fn2::<ops::Or<T>>()),
        BinaryOp::Xor => Some(fn2::<ops::Xor<T>>()),
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

/// `a op b`; `None` where the type does not have it.
pub(crate) fn binary(op: BinaryOp, dtype: DType) -> Option<Fn2> {
    fn of_int<T: Lane + NumberOps + BitOps + ShiftOps>(op: BinaryOp) -> Option<Fn2> {
        Some(match op {
            BinaryOp::Add => fn2::<ops::Add<T>>(),
            BinaryOp::Sub => fn2::<ops::Sub<T>>(),
            BinaryOp::Mul => fn2::<ops::Mul<T>>(),
            BinaryOp::Div => fn2::<ops::IntDiv<T>>(),
            BinaryOp::Rem => fn2::<ops::Rem<T>>(),
            BinaryOp::Shl => fn2::<ops::Shl<T>>(),
            BinaryOp::Shr => fn2::<ops::Shr<T>>(),
            BinaryOp::Min => fn2::<ops::Min<T>>(),
            BinaryOp::Max => fn2::<ops::Max<T>>(),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => return bitwise::<T>(op),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => return None,
        })
    }
    fn of_float<T: Lane + NumberOps + FloatOps>(op: BinaryOp) -> Option<Fn2> {
        Some(match op {
            BinaryOp::Add => fn2::<ops::Add<T>>(),
            BinaryOp::Sub => fn2::<ops::Sub<T>>(),
            BinaryOp::Mul => fn2::<ops::Mul<T>>(),
            BinaryOp::Div => fn2::<ops::FloatDiv<T>>(),
            BinaryOp::Rem => fn2::<ops::Rem<T>>(),
            BinaryOp::Min => fn2::<ops::Min<T>>(),
            BinaryOp::Max => fn2::<ops::Max<T>>(),
            BinaryOp::Pow => fn2::<ops::Pow<T>>(),
            BinaryOp::Atan2 => fn2::<ops::Atan2<T>>(),
            BinaryOp::Hypot => fn2::<ops::Hypot<T>>(),
            BinaryOp::Copysign => fn2::<ops::Copysign<T>>(),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                return None;
            }
        })
    }
    by_dtype!(dtype, bool => bitwise::<Flag>(op), int => of_int, float => of_float, (op))
}

/// `a op b`, flags.
pub(crate) fn compare(op: CompareOp, dtype: DType) -> Fn2 {
    fn of<T: Lane + PartialOrd>(op: CompareOp) -> Fn2 {
        match op {
            CompareOp::Eq => fn2::<ops::Eq<T>>(),
            CompareOp::Ne => fn2::<ops::Ne<T>>(),
            CompareOp::Lt => fn2::<ops::Lt<T>>(),
            CompareOp::Le => fn2::<ops::Le<T>>(),
            CompareOp::Gt => fn2::<ops::Gt<T>>(),
            CompareOp::Ge => fn2::<ops::Ge<T>>(),
        }
    }
    by_dtype!(dtype, bool => of::<Flag>(op), int => of, float => of, (op))
}

/// `func(a)`; `None` where the type does not have it.
pub(crate) fn math(func: MathFn, dtype: DType) -> Option<Fn1> {
    fn of_int<T: Lane + NumberOps + CountOps>(func: MathFn) -> Option<Fn1> {
        Some(match func {
            MathFn::Abs => fn1::<ops::Abs<T>>(),
            MathFn::Signum => fn1::<ops::Signum<T>>(),
            MathFn::CountOnes => fn1::<ops::CountOnes<T>>(),
            MathFn::LeadingZeros => fn1::<ops::LeadingZeros<T>>(),
            MathFn::TrailingZeros => fn1::<ops::TrailingZeros<T>>(),
            MathFn::ReverseBits => fn1::<ops::ReverseBits<T>>(),
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
        })
    }
    fn of_float<T: Lane + NumberOps + FloatOps>(func: MathFn) -> Option<Fn1> {
        Some(match func {
            MathFn::Abs => fn1::<ops::Abs<T>>(),
            MathFn::Sqrt => fn1::<ops::Sqrt<T>>(),
            MathFn::Rsqrt => fn1::<ops::Rsqrt<T>>(),
            MathFn::Exp => fn1::<ops::Exp<T>>(),
            MathFn::Log => fn1::<ops::Log<T>>(),
            MathFn::Sin => fn1::<ops::Sin<T>>(),
            MathFn::Cos => fn1::<ops::Cos<T>>(),
            MathFn::Tanh => fn1::<ops::Tanh<T>>(),
            MathFn::Floor => fn1::<ops::Floor<T>>(),
            MathFn::Ceil => fn1::<ops::Ceil<T>>(),
            MathFn::Signum => fn1::<ops::Signum<T>>(),
            MathFn::Exp2 => fn1::<ops::Exp2<T>>(),
            MathFn::ExpM1 => fn1::<ops::ExpM1<T>>(),
            MathFn::Log2 => fn1::<ops::Log2<T>>(),
            MathFn::Log10 => fn1::<ops::Log10<T>>(),
            MathFn::Ln1p => fn1::<ops::Ln1p<T>>(),
            MathFn::Tan => fn1::<ops::Tan<T>>(),
            MathFn::Asin => fn1::<ops::Asin<T>>(),
            MathFn::Acos => fn1::<ops::Acos<T>>(),
            MathFn::Atan => fn1::<ops::Atan<T>>(),
            MathFn::Sinh => fn1::<ops::Sinh<T>>(),
            MathFn::Cosh => fn1::<ops::Cosh<T>>(),
            MathFn::Cbrt => fn1::<ops::Cbrt<T>>(),
            MathFn::Round => fn1::<ops::Round<T>>(),
            MathFn::RoundTiesEven => fn1::<ops::RoundTiesEven<T>>(),
            MathFn::Trunc => fn1::<ops::Trunc<T>>(),
            MathFn::Fract => fn1::<ops::Fract<T>>(),
            MathFn::Erf => fn1::<ops::Erf<T>>(),
            MathFn::CountOnes
            | MathFn::LeadingZeros
            | MathFn::TrailingZeros
            | MathFn::ReverseBits => return None,
        })
    }
    by_dtype!(dtype, bool => None, int => of_int, float => of_float, (func))
}

/// `a * b + c`; `None` but for `f32` and `f64`.
pub(crate) fn fma(dtype: DType) -> Option<Fn3> {
    match dtype {
        DType::F32 => Some(fn3::<ops::Fma<f32>>()),
        DType::F64 => Some(fn3::<ops::Fma<f64>>()),
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

/// `a as to`; `None` where the language has no such conversion.
pub(crate) fn cast(from: DType, to: DType) -> Option<Fn1> {
    fn of<S>(to: DType) -> Option<Fn1>
    where
        S: Lane + CastTo<f16> + CastTo<bf16> + CastTo<f32> + CastTo<f64>,
        S: CastTo<i8> + CastTo<u8> + CastTo<i16> + CastTo<u16>,
        S: CastTo<i32> + CastTo<u32> + CastTo<i64> + CastTo<u64>,
    {
        Some(match to {
            DType::Bool => return None,
            DType::F16 => fn1::<ops::Cast<S, f16>>(),
            DType::BF16 => fn1::<ops::Cast<S, bf16>>(),
            DType::F32 => fn1::<ops::Cast<S, f32>>(),
            DType::F64 => fn1::<ops::Cast<S, f64>>(),
            DType::I8 => fn1::<ops::Cast<S, i8>>(),
            DType::U8 => fn1::<ops::Cast<S, u8>>(),
            DType::I16 => fn1::<ops::Cast<S, i16>>(),
            DType::U16 => fn1::<ops::Cast<S, u16>>(),
            DType::I32 => fn1::<ops::Cast<S, i32>>(),
            DType::U32 => fn1::<ops::Cast<S, u32>>(),
            DType::I64 => fn1::<ops::Cast<S, i64>>(),
            DType::U64 => fn1::<ops::Cast<S, u64>>(),
        })
    }
    by_dtype!(from, bool => cast_flag(to), int => of, float => of, (to))
}

fn cast_flag(to: DType) -> Option<Fn1> {
    Some(match to {
        DType::Bool => copy(1),
        DType::I8 => fn1::<ops::CastFlag<i8>>(),
        DType::U8 => fn1::<ops::CastFlag<u8>>(),
        DType::I16 => fn1::<ops::CastFlag<i16>>(),
        DType::U16 => fn1::<ops::CastFlag<u16>>(),
        DType::I32 => fn1::<ops::CastFlag<i32>>(),
        DType::U32 => fn1::<ops::CastFlag<u32>>(),
        DType::I64 => fn1::<ops::CastFlag<i64>>(),
        DType::U64 => fn1::<ops::CastFlag<u64>>(),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => return None,
    })
}

/// `cond ? a : b` of lanes of a size in bytes: 1, 2, 4 or 8.
pub(crate) fn select(lane_bytes: usize) -> Fn3 {
    match lane_bytes {
        1 => fn3::<ops::Select<u8>>(),
        2 => fn3::<ops::Select<u16>>(),
        4 => fn3::<ops::Select<u32>>(),
        _ => fn3::<ops::Select<u64>>(),
    }
}

/// All lanes the one lane `a`, of a size in bytes: 1, 2, 4 or 8.
pub(crate) fn splat(lane_bytes: usize) -> Fn1 {
    match lane_bytes {
        1 => apply::splat::<u8>,
        2 => apply::splat::<u16>,
        4 => apply::splat::<u32>,
        _ => apply::splat::<u64>,
    }
}

/// Lanes of a size in bytes as they are: 1, 2, 4 or 8.
pub(crate) fn copy(lane_bytes: usize) -> Fn1 {
    match lane_bytes {
        1 => apply::copy::<u8>,
        2 => apply::copy::<u16>,
        4 => apply::copy::<u32>,
        _ => apply::copy::<u64>,
    }
}

/// `!a` of flags.
pub(crate) fn not_flags() -> Fn1 {
    fn1::<ops::Not<Flag>>()
}

/// `a && b` of flags.
pub(crate) fn and_flags() -> Fn2 {
    fn2::<ops::And<Flag>>()
}

/// `a || b` of flags.
pub(crate) fn or_flags() -> Fn2 {
    fn2::<ops::Or<Flag>>()
}

/// `a && !b` of flags.
pub(crate) fn and_not_flags() -> Fn2 {
    fn2::<ops::AndNot>()
}

/// `ceil(n / d)` of indices.
pub(crate) fn ceil_div() -> Fn2 {
    fn2::<ops::CeilDiv>()
}

/// [`crate::cpu::loops::trips_between`].
pub(crate) fn trips_between() -> Fn3 {
    fn3::<ops::TripBetween>()
}

/// [`crate::cpu::loops::trips_halving`].
pub(crate) fn trips_halving() -> Fn1 {
    fn1::<ops::TripHalving>()
}

/// [`crate::cpu::loops::trips_doubling`].
pub(crate) fn trips_doubling() -> Fn1 {
    fn1::<ops::TripDoubling>()
}

/// [`crate::cpu::loops::value_between`].
pub(crate) fn value_between() -> Fn3 {
    fn3::<ops::ValueBetween>()
}

/// [`crate::cpu::loops::value_halving`].
pub(crate) fn value_halving() -> Fn2 {
    fn2::<ops::ValueHalving>()
}

/// [`crate::cpu::loops::value_doubling`].
pub(crate) fn value_doubling() -> Fn1 {
    fn1::<ops::ValueDoubling>()
}
