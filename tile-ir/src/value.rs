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

impl ScalarValue {
    /// The same number in another type, rounded where that is a floating-point type;
    /// `None` where an integer type has no such number, or one of the two is `bool`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_ir::dtype::DType;
    /// use tile_ir::value::ScalarValue;
    ///
    /// let number = |value: i64| ScalarValue { dtype: DType::I64, bits: value.cast_unsigned() };
    /// let three = ScalarValue { dtype: DType::U8, bits: 3 };
    /// assert_eq!(number(3).in_type(DType::U8), Some(three));
    /// assert_eq!(number(300).in_type(DType::U8), None);
    /// ```
    pub fn in_type(self, dtype: DType) -> Option<Self> {
        if dtype == self.dtype {
            return Some(self);
        }
        let there = semantics::cast(self, dtype)?;
        // It comes back from another number, too, where only the sign's meaning changes.
        let size = |value| semantics::cast(value, DType::F64);
        let comes_back = || semantics::cast(there, self.dtype) == Some(self);
        let is_kept = || dtype.is_float() || (comes_back() && size(there) == size(self));
        (dtype != DType::Bool && self.dtype != DType::Bool && is_kept()).then_some(there)
    }
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

#[cfg(test)]
mod tests {
    use super::ScalarValue;
    use crate::dtype::DType;

    fn number(value: i64) -> ScalarValue {
        ScalarValue { dtype: DType::I64, bits: value.cast_unsigned() }
    }

    #[test]
    fn integers_hold_a_number_or_do_not() {
        let i8 = |bits| Some(ScalarValue { dtype: DType::I8, bits });
        assert_eq!(number(-1).in_type(DType::I8), i8(0xff));
        assert_eq!(number(127).in_type(DType::I8), i8(127));
        assert_eq!(number(128).in_type(DType::I8), None);
        assert_eq!(number(-1).in_type(DType::U64), None);
        let float = |value: f64| ScalarValue { dtype: DType::F64, bits: value.to_bits() };
        assert_eq!(float(3.0).in_type(DType::U32), number(3).in_type(DType::U32));
        assert_eq!(float(0.5).in_type(DType::U32), None);
        assert_eq!(float(f64::NAN).in_type(DType::I32), None);
    }

    #[test]
    fn floats_round_and_conditions_are_no_numbers() {
        let tenth = ScalarValue { dtype: DType::F64, bits: 0.1f64.to_bits() };
        let rounded = ScalarValue { dtype: DType::F32, bits: 0.1f32.to_bits().into() };
        assert_eq!(tenth.in_type(DType::F32), Some(rounded));
        assert_eq!(number(1).in_type(DType::Bool), None);
        let yes = ScalarValue { dtype: DType::Bool, bits: 1 };
        assert_eq!((yes.in_type(DType::Bool), yes.in_type(DType::I32)), (Some(yes), None));
    }
}
