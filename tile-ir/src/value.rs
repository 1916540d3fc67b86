//! Scalar values of the language, as the host passes them.

use std::fmt;

use crate::dtype::DType;
use crate::semantics;

/// A value of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarValue {
    /// Its type.
    pub dtype: DType,
    /// Its bytes, little-endian, zero-extended to 64 bits.
    pub bits: u64,
}

impl fmt::Display for ScalarValue {
    /// As a literal of the language, without its type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let as_type = |dtype| semantics::cast(*self, dtype).map_or(self.bits, |cast| cast.bits);
        match self.dtype {
            DType::Bool => write!(f, "{}", self.bits & 1 == 1),
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
                write!(f, "{:?}", f64::from_bits(as_type(DType::F64)))
            }
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
                write!(f, "{}", as_type(DType::I64).cast_signed())
            }
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                write!(f, "{}", as_type(DType::U64))
            }
        }
    }
}

/// The value of a launch argument ([`crate::program::Arg`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgValue {
    /// Of an index type: a dimension or a stride.
    Index(i64),
    /// Of a scalar type: a scalar parameter.
    Scalar(ScalarValue),
}
