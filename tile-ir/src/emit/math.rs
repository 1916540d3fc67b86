//! Functions in C++: the names that NVRTC knows without headers.

use super::Writer;
use super::expr::Strength;
use super::types::{is_half, type_name, wrapping_type};
use crate::dtype::DType;
use crate::op::{BinaryOp, MathFn};
use crate::program::{ExprId, Ty};

impl Writer<'_> {
    pub(super) fn math(&self, func: MathFn, arg: ExprId, ty: Ty) -> String {
        let dtype = ty.storage();
        if !dtype.is_float() {
            return self.integer_math(func, arg, dtype);
        }
        let x = match is_half(dtype) {
            true => self.computable(arg, Strength::Atom),
            false => self.whole(arg),
        };
        let value = float_math(func, &x, dtype == DType::F64);
        if is_half(dtype) { format!("{}_of({value})", type_name(dtype)) } else { value }
    }

    /// Functions of an integer or index.
    fn integer_math(&self, func: MathFn, arg: ExprId, dtype: DType) -> String {
        let name = type_name(dtype);
        let text = self.operand(arg, Strength::Atom);
        let wide = dtype.size_bytes() == 8;
        // The bits alone: a narrow number has no others.
        let bits = match dtype.size_bytes() {
            1 => format!("(unsigned int)(unsigned char){text}"),
            2 => format!("(unsigned int)(unsigned short){text}"),
            4 => format!("(unsigned int){text}"),
            _ => format!("(unsigned long long){text}"),
        };
        let (suffix, spare) = if wide { ("ll", 0) } else { ("", 32 - dtype.size_bytes() * 8) };
        match func {
            MathFn::Signum => format!("tk_signum({})", self.whole(arg)),
            MathFn::CountOnes => format!("({name})__popc{suffix}({bits})"),
            MathFn::LeadingZeros if spare > 0 => {
                format!("({name})(__clz((int)({bits})) - {spare})")
            }
            MathFn::LeadingZeros if wide => format!("({name})__clzll((long long)({bits}))"),
            MathFn::LeadingZeros => format!("({name})__clz((int)({bits}))"),
            // A bit beyond the number ends the count.
            MathFn::TrailingZeros if spare > 0 => {
                let end = 1_u32 << (dtype.size_bytes() * 8);
                format!("({name})__clz((int)__brev(({bits}) | {end}u))")
            }
            MathFn::TrailingZeros if wide => {
                format!("({name})__clzll((long long)__brevll({bits}))")
            }
            MathFn::TrailingZeros => format!("({name})__clz((int)__brev({bits}))"),
            MathFn::ReverseBits if spare > 0 => format!("({name})(__brev({bits}) >> {spare})"),
            MathFn::ReverseBits => format!("({name})__brev{suffix}({bits})"),
            // The smallest number wraps.
            MathFn::Abs if dtype.is_signed_integer() => {
                let wrap = wrapping_type(dtype);
                format!("({text} < 0 ? ({name})(({wrap})0 - ({wrap}){text}) : {text})")
            }
            // Of floats alone, but for the first.
            MathFn::Abs
            | MathFn::Sqrt
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
            | MathFn::Erf => text,
        }
    }

    /// Functions of two floats that are not 16-bit ones.
    pub(super) fn math_of_two(
        &self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        dtype: DType,
    ) -> String {
        let suffix = if dtype == DType::F64 { "" } else { "f" };
        format!("{op}{suffix}({}, {})", self.whole(lhs), self.whole(rhs))
    }
}

fn float_math(func: MathFn, x: &str, double: bool) -> String {
    let (sqrt, divide) = if double { ("__dsqrt_rn", "1.0 / ") } else { ("__fsqrt_rn", "1.0f / ") };
    let suffix = if double { "" } else { "f" };
    let name = match func {
        MathFn::Sqrt => return format!("{sqrt}({x})"),
        MathFn::Rsqrt => return format!("({divide}{sqrt}({x}))"),
        MathFn::Fract | MathFn::Signum => return format!("tk_{}({x})", func.name()),
        MathFn::Abs => "fabs",
        MathFn::ExpM1 => "expm1",
        MathFn::Ln1p => "log1p",
        MathFn::RoundTiesEven => "rint",
        MathFn::Exp
        | MathFn::Log
        | MathFn::Sin
        | MathFn::Cos
        | MathFn::Tanh
        | MathFn::Floor
        | MathFn::Ceil
        | MathFn::Exp2
        | MathFn::Log2
        | MathFn::Log10
        | MathFn::Tan
        | MathFn::Asin
        | MathFn::Acos
        | MathFn::Atan
        | MathFn::Sinh
        | MathFn::Cosh
        | MathFn::Cbrt
        | MathFn::Round
        | MathFn::Trunc
        | MathFn::Erf
        // Of integers alone.
        | MathFn::CountOnes
        | MathFn::LeadingZeros
        | MathFn::TrailingZeros
        | MathFn::ReverseBits => func.name(),
    };
    format!("{name}{suffix}({x})")
}
