//! Scalar values of the language, as the host passes them.

use crate::dtype::DType;

/// A value of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarValue {
    /// Its type.
    pub dtype: DType,
    /// Its bytes, little-endian, zero-extended to 64 bits.
    pub bits: u64,
}

/// The value of a launch argument ([`crate::program::Arg`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgValue {
    /// Of an index type: a dimension or a stride.
    Index(i64),
    /// Of a scalar type: a scalar parameter.
    Scalar(ScalarValue),
}
