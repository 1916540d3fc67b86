//! Operators, common to the syntax tree, the kernel and the program.

use std::fmt;

use crate::dtype::DType;
use serde::{Deserialize, Serialize};

/// A binary operator whose result has its operands' type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// `a + b`; integers wrap.
    Add,
    /// `a - b`; integers wrap.
    Sub,
    /// `a * b`; integers wrap.
    Mul,
    /// `a / b`; integers truncate, and `x / 0` is 0.
    Div,
    /// `a % b`; integers truncate (the sign is the dividend's), and `x % 0` is 0.
    Rem,
    /// `a & b`, integers and `bool`.
    And,
    /// `a | b`, integers and `bool`.
    Or,
    /// `a ^ b`, integers and `bool`.
    Xor,
    /// `a << b`; the count is taken modulo the width.
    Shl,
    /// `a >> b`; arithmetic for signed types; the count is taken modulo the width.
    Shr,
    /// The smaller; of a NaN and a number, the number (IEEE 754-2019 minimumNumber).
    Min,
    /// The larger; of a NaN and a number, the number (IEEE 754-2019 maximumNumber).
    Max,
    /// `pow(a, b)`: `a` to the power of `b`. Floats. A library function on each device:
    /// within 4 ulp; 1 for every `a`, a NaN too, where `b` is 0.
    Pow,
    /// `atan2(y, x)`: the angle of the point (x, y), in -π to π. Floats. A library
    /// function on each device: within 4 ulp.
    Atan2,
    /// `hypot(a, b)`: `sqrt(a² + b²)` without overflow on the way. Floats. A library
    /// function on each device: within 4 ulp.
    Hypot,
    /// `copysign(a, b)`: the magnitude of `a` with the sign of `b`, whose sign bit
    /// decides, of zeros and NaNs too. Floats. Exact.
    Copysign,
}

impl BinaryOp {
    /// The operator's sign, or the function's name for `min` and `max`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Min => "min",
            Self::Max => "max",
            Self::Pow => "pow",
            Self::Atan2 => "atan2",
            Self::Hypot => "hypot",
            Self::Copysign => "copysign",
        }
    }

    /// The floating-point function of the user's name for it.
    pub fn from_float_function(name: &str) -> Option<Self> {
        Self::FLOAT_FUNCTIONS.into_iter().find(|op| op.symbol() == name)
    }

    /// The functions of two floating-point numbers.
    pub const FLOAT_FUNCTIONS: [Self; 4] = [Self::Pow, Self::Atan2, Self::Hypot, Self::Copysign];

    /// Whether only floating-point types have it.
    pub const fn is_float_only(self) -> bool {
        matches!(self, Self::Pow | Self::Atan2 | Self::Hypot | Self::Copysign)
    }

    /// Whether every device gives the same bits (all but the library functions).
    pub const fn is_exact(self) -> bool {
        !matches!(self, Self::Pow | Self::Atan2 | Self::Hypot)
    }

    /// Whether it is written as a function, `min(a, b)`, not between operands.
    pub const fn is_function(self) -> bool {
        matches!(
            self,
            Self::Min | Self::Max | Self::Pow | Self::Atan2 | Self::Hypot | Self::Copysign
        )
    }

    /// Whether only integers (and `bool`, but for shifts) have it.
    pub const fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor | Self::Shl | Self::Shr)
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// What an `atomic` statement does to an element, as one step that no other
/// work-item's atomic step on it can divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AtomicOp {
    /// `+=`; integers wrap.
    Add,
    /// `-=`; integers wrap.
    Sub,
    /// `&=`
    And,
    /// `|=`
    Or,
    /// `^=`
    Xor,
    /// `.min(e)`, as [`BinaryOp::Min`].
    Min,
    /// `.max(e)`, as [`BinaryOp::Max`].
    Max,
    /// `.swap(e)`: the operand takes the element's place.
    Swap,
    /// `.compare_exchange(expected, e)`: the operand takes the element's place
    /// where that holds the expected value. Values are compared by their bits.
    CompareExchange,
}

impl AtomicOp {
    /// Every atomic operation.
    pub const ALL: [Self; 9] = [
        Self::Add,
        Self::Sub,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Min,
        Self::Max,
        Self::Swap,
        Self::CompareExchange,
    ];

    /// The operation that is done as one step with `op`, if there is one.
    pub fn from_binary(op: BinaryOp) -> Option<Self> {
        Self::ALL.into_iter().find(|atomic| atomic.binary() == Some(op))
    }

    /// The operation of a method's name.
    pub fn from_method(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|atomic| atomic.method() == Some(name))
    }

    /// What the new value is made with: the old one on the left, the operand on
    /// the right; `None` of an exchange.
    pub const fn binary(self) -> Option<BinaryOp> {
        Some(match self {
            Self::Add => BinaryOp::Add,
            Self::Sub => BinaryOp::Sub,
            Self::And => BinaryOp::And,
            Self::Or => BinaryOp::Or,
            Self::Xor => BinaryOp::Xor,
            Self::Min => BinaryOp::Min,
            Self::Max => BinaryOp::Max,
            Self::Swap | Self::CompareExchange => return None,
        })
    }

    /// The method's name, `None` of what is written as an operator.
    pub const fn method(self) -> Option<&'static str> {
        match self {
            Self::Add | Self::Sub | Self::And | Self::Or | Self::Xor => None,
            Self::Min => Some("min"),
            Self::Max => Some("max"),
            Self::Swap => Some("swap"),
            Self::CompareExchange => Some("compare_exchange"),
        }
    }

    /// Whether it takes an expected value before the operand.
    pub const fn has_expected(self) -> bool {
        matches!(self, Self::CompareExchange)
    }

    /// Whether several such updates of one element leave the same value in
    /// whatever order they are made, where arithmetic is exact.
    pub const fn commutes(self) -> bool {
        self.binary().is_some()
    }

    /// Whether elements of a type can be updated so: types of 32 and 64 bits,
    /// integers alone with the bit operators.
    pub const fn exists_for(self, dtype: DType) -> bool {
        match dtype {
            DType::I32 | DType::U32 | DType::I64 | DType::U64 => true,
            DType::F32 | DType::F64 => !matches!(self, Self::And | Self::Or | Self::Xor),
            DType::Bool
            | DType::F16
            | DType::BF16
            | DType::I8
            | DType::U8
            | DType::I16
            | DType::U16 => false,
        }
    }

    /// The statement as written: `atomic place ⊕= value;`, with an expected value
    /// where the operation takes one.
    pub fn statement(self, place: &str, expected: Option<&str>, value: &str) -> String {
        let operands: Vec<&str> = expected.into_iter().chain([value]).collect();
        match (self.method(), self.binary()) {
            (None, Some(op)) => format!("atomic {place} {op}= {value};"),
            (method, _) => {
                format!("atomic {place}.{}({});", method.unwrap_or_default(), operands.join(", "))
            }
        }
    }
}

impl fmt::Display for AtomicOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.method(), self.binary()) {
            (None, Some(op)) => write!(f, "atomic {op}="),
            (method, _) => write!(f, "atomic {}", method.unwrap_or_default()),
        }
    }
}

/// A comparison; its result is `bool`. Comparisons with a NaN are false, `!=` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CompareOp {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

impl CompareOp {
    /// The operator's sign.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// Whether it holds of two values.
    pub fn holds<T: PartialOrd>(self, lhs: T, rhs: T) -> bool {
        match self {
            Self::Eq => lhs == rhs,
            Self::Ne => lhs != rhs,
            Self::Lt => lhs < rhs,
            Self::Le => lhs <= rhs,
            Self::Gt => lhs > rhs,
            Self::Ge => lhs >= rhs,
        }
    }

    /// What holds of two integers where this one does not.
    pub const fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Ge => Self::Lt,
            Self::Gt => Self::Le,
            Self::Le => Self::Gt,
        }
    }

    /// The same with the sides exchanged: `a < b` is `b > a`.
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Lt => Self::Gt,
            Self::Gt => Self::Lt,
            Self::Le => Self::Ge,
            Self::Ge => Self::Le,
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// `&&` or `||`; the right operand is evaluated only where it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LogicOp {
    /// `a && b`
    And,
    /// `a || b`
    Or,
}

impl LogicOp {
    /// The operator's sign.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// `-a`; integers wrap.
    Neg,
    /// `!a`: logical for `bool`, bitwise for integers.
    Not,
}

impl UnaryOp {
    /// The operator's sign.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Neg => "-",
            Self::Not => "!",
        }
    }
}

/// A mathematical function of one argument; its result has the argument's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MathFn {
    /// Absolute value; of the smallest signed integer, itself (wraps). Exact.
    Abs,
    /// Square root, correctly rounded. Floats.
    Sqrt,
    /// `1 / sqrt(x)`: a correctly rounded square root, then a correctly rounded
    /// division. Floats.
    Rsqrt,
    /// `e^x`. Floats. A library function on each device: within 2 ulp, not the same bits.
    Exp,
    /// Natural logarithm. Floats. A library function on each device: within 2 ulp.
    Log,
    /// Sine. Floats. A library function on each device: within 2 ulp.
    Sin,
    /// Cosine. Floats. A library function on each device: within 2 ulp.
    Cos,
    /// Hyperbolic tangent. Floats. A library function on each device: within 2 ulp.
    Tanh,
    /// Largest integer not above. Floats. Exact.
    Floor,
    /// Smallest integer not below. Floats. Exact.
    Ceil,
    /// `2^x`. Floats. A library function on each device: within 2 ulp.
    Exp2,
    /// `e^x - 1`, good near 0. Floats. A library function on each device: within 2 ulp.
    ExpM1,
    /// Logarithm to the base 2. Floats. A library function on each device: within 2 ulp.
    Log2,
    /// Logarithm to the base 10. Floats. A library function on each device: within 3 ulp.
    Log10,
    /// `log(1 + x)`, good near 0. Floats. A library function on each device: within 2 ulp.
    Ln1p,
    /// Tangent. Floats. A library function on each device: within 4 ulp.
    Tan,
    /// Arc sine. Floats. A library function on each device: within 4 ulp.
    Asin,
    /// Arc cosine. Floats. A library function on each device: within 4 ulp.
    Acos,
    /// Arc tangent. Floats. A library function on each device: within 3 ulp.
    Atan,
    /// Hyperbolic sine. Floats. A library function on each device: within 4 ulp.
    Sinh,
    /// Hyperbolic cosine. Floats. A library function on each device: within 3 ulp.
    Cosh,
    /// Cube root. Floats. A library function on each device: within 2 ulp.
    Cbrt,
    /// Nearest integer, halves away from 0. Floats. Exact.
    Round,
    /// Nearest integer, halves to the even one. Floats. Exact.
    RoundTiesEven,
    /// The integer part. Floats. Exact.
    Trunc,
    /// `x - trunc(x)`, of the sign of `x`; NaN of an infinity. Floats. Exact.
    Fract,
    /// 1 or -1, of the sign of `x`; of a float's zero by its sign bit, of an integer's 0; NaN of a
    /// NaN. Numbers. Exact.
    Signum,
    /// Number of bits that are 1. Integers. Exact.
    CountOnes,
    /// Number of bits that are 0 before the first 1; all of 0. Integers. Exact.
    LeadingZeros,
    /// Number of bits that are 0 behind the last 1; all of 0. Integers. Exact.
    TrailingZeros,
    /// The bits in the opposite order: the lowest becomes the highest. Integers. Exact.
    ReverseBits,
    /// The error function. Floats. A library function on each device: within 2 ulp.
    Erf,
}

impl MathFn {
    /// Every function of one argument.
    pub const ALL: [Self; 32] = [
        Self::Abs,
        Self::Sqrt,
        Self::Rsqrt,
        Self::Exp,
        Self::Log,
        Self::Sin,
        Self::Cos,
        Self::Tanh,
        Self::Floor,
        Self::Ceil,
        Self::Exp2,
        Self::ExpM1,
        Self::Log2,
        Self::Log10,
        Self::Ln1p,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Cbrt,
        Self::Round,
        Self::RoundTiesEven,
        Self::Trunc,
        Self::Fract,
        Self::Signum,
        Self::CountOnes,
        Self::LeadingZeros,
        Self::TrailingZeros,
        Self::ReverseBits,
        Self::Erf,
    ];

    /// The function of the user's name for it: Rust's `ln` is `log`, too.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "ln" { "log" } else { name };
        Self::ALL.into_iter().find(|func| func.name() == name)
    }

    /// The name in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tanh => "tanh",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Exp2 => "exp2",
            Self::ExpM1 => "exp_m1",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Ln1p => "ln_1p",
            Self::Tan => "tan",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Cbrt => "cbrt",
            Self::Round => "round",
            Self::RoundTiesEven => "round_ties_even",
            Self::Trunc => "trunc",
            Self::Fract => "fract",
            Self::Signum => "signum",
            Self::CountOnes => "count_ones",
            Self::LeadingZeros => "leading_zeros",
            Self::TrailingZeros => "trailing_zeros",
            Self::ReverseBits => "reverse_bits",
            Self::Erf => "erf",
        }
    }

    /// Whether only floating-point types have it.
    pub const fn is_float_only(self) -> bool {
        !matches!(self, Self::Abs | Self::Signum) && !self.is_integer_only()
    }

    /// Whether only integer types have it.
    pub const fn is_integer_only(self) -> bool {
        self.is_count() || matches!(self, Self::ReverseBits)
    }

    /// Whether it counts bits.
    pub const fn is_count(self) -> bool {
        matches!(self, Self::CountOnes | Self::LeadingZeros | Self::TrailingZeros)
    }

    /// How many bits it counts of a number that has so many, if it counts bits.
    pub(crate) const fn counted(self, number: i128, width: u32) -> Option<u32> {
        let bits = number & ((1 << width) - 1);
        let zeros = bits.trailing_zeros();
        if matches!(self, Self::CountOnes) {
            Some(bits.count_ones())
        } else if matches!(self, Self::LeadingZeros) {
            Some(bits.leading_zeros() + width - i128::BITS)
        } else if matches!(self, Self::TrailingZeros) {
            Some(if zeros < width { zeros } else { width })
        } else {
            None
        }
    }

    /// Whether indices have it.
    pub const fn is_of_indices(self) -> bool {
        matches!(self, Self::Abs)
    }

    /// Whether every device gives the same bits (all but the library functions).
    pub const fn is_exact(self) -> bool {
        match self {
            Self::Abs
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::RoundTiesEven
            | Self::Trunc
            | Self::Fract
            | Self::Signum
            | Self::CountOnes
            | Self::LeadingZeros
            | Self::TrailingZeros
            | Self::ReverseBits => true,
            Self::Exp
            | Self::Log
            | Self::Sin
            | Self::Cos
            | Self::Tanh
            | Self::Exp2
            | Self::ExpM1
            | Self::Log2
            | Self::Log10
            | Self::Ln1p
            | Self::Tan
            | Self::Asin
            | Self::Acos
            | Self::Atan
            | Self::Sinh
            | Self::Cosh
            | Self::Cbrt
            | Self::Erf => false,
        }
    }
}

/// A named constant of a scalar type, `T::MIN` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NamedConst {
    /// `T::MIN`: the smallest finite value.
    Min,
    /// `T::MAX`: the largest finite value.
    Max,
    /// `T::INFINITY`. Floats.
    Infinity,
    /// `T::NEG_INFINITY`. Floats.
    NegInfinity,
    /// `T::NAN`: the quiet NaN with the smallest payload. Floats.
    Nan,
}

impl NamedConst {
    /// Every named constant.
    pub const ALL: [Self; 5] = [Self::Min, Self::Max, Self::Infinity, Self::NegInfinity, Self::Nan];

    /// The constant of the user's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|constant| constant.name() == name)
    }

    /// The name, as after `T::`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "MIN",
            Self::Max => "MAX",
            Self::Infinity => "INFINITY",
            Self::NegInfinity => "NEG_INFINITY",
            Self::Nan => "NAN",
        }
    }

    /// Whether only floating-point types have it.
    pub const fn is_float_only(self) -> bool {
        !matches!(self, Self::Min | Self::Max)
    }
}
