//! Element types and the bounds a kernel may put on a type parameter.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A scalar type of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DType {
    /// `bool`, one byte in memory, 0 or 1.
    Bool,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// 8-bit two's complement integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit two's complement integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit two's complement integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit two's complement integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
}

impl DType {
    /// Every scalar type.
    pub const ALL: [Self; 13] = [
        Self::Bool,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
    ];

    /// The type of the user's name for it, e.g. `"f32"`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The name in the language, which is Rust's where Rust has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    /// Size of one element in bytes; its alignment is the same.
    pub const fn size_bytes(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Whether it is one of the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Whether it is an integer type (`bool` is not).
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Self::Bool)
    }

    /// Whether it is a signed integer type.
    pub const fn is_signed_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The type that `Acc<T>` stands for: 16-bit floats accumulate in `f32`,
    /// 8- and 16-bit integers in 32 bits, all others in themselves.
    pub const fn accumulator(self) -> Self {
        match self {
            Self::F16 | Self::BF16 => Self::F32,
            Self::I8 | Self::I16 => Self::I32,
            Self::U8 | Self::U16 => Self::U32,
            Self::Bool | Self::F32 | Self::F64 | Self::I32 | Self::U32 | Self::I64 | Self::U64 => {
                self
            }
        }
    }

    /// The nearest value that a floating-point type has, infinity past its largest; of the
    /// other types, the value itself.
    pub(crate) fn nearest(self, value: f64) -> f64 {
        match self {
            Self::F16 => half::f16::from_f64(value).to_f64(),
            Self::BF16 => half::bf16::from_f64(value).to_f64(),
            Self::F32 => f64::from(value as f32),
            Self::F64
            | Self::Bool
            | Self::I8
            | Self::U8
            | Self::I16
            | Self::U16
            | Self::I32
            | Self::U32
            | Self::I64
            | Self::U64 => value,
        }
    }

    /// Smallest and largest value, for integer types.
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I8 => (i8::MIN as i128, i8::MAX as i128),
            Self::U8 => (0, u8::MAX as i128),
            Self::I16 => (i16::MIN as i128, i16::MAX as i128),
            Self::U16 => (0, u16::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::Bool | Self::F16 | Self::BF16 | Self::F32 | Self::F64 => return None,
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a kernel asks of a type parameter. Sealed: the four traits of
/// `tile-runtime` of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// Any scalar type, `bool` included: copy, compare for equality.
    Element,
    /// Any integer or floating-point type: arithmetic and ordering.
    Number,
    /// A floating-point type: `sqrt`, `exp`, … too.
    Float,
    /// An integer type: bit operators and shifts too.
    Integer,
}

impl Bound {
    /// The bound of the user's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Element, Self::Number, Self::Float, Self::Integer]
            .into_iter()
            .find(|bound| bound.name() == name)
    }

    /// The trait's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Element => "Element",
            Self::Number => "Number",
            Self::Float => "Float",
            Self::Integer => "Integer",
        }
    }

    /// Whether `dtype` satisfies the bound.
    pub const fn admits(self, dtype: DType) -> bool {
        match self {
            Self::Element => true,
            Self::Number => !matches!(dtype, DType::Bool),
            Self::Float => dtype.is_float(),
            Self::Integer => dtype.is_integer(),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
