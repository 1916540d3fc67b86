//! Scalar types and constants in C++.

use crate::dtype::DType;
use crate::program::{Literal, Ty};

/// The type that carries values. 16-bit floats are carried as their bits.
pub(super) fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::F16 => "tk_f16",
        DType::BF16 => "tk_bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::I8 => "signed char",
        DType::U8 => "unsigned char",
        DType::I16 => "short",
        DType::U16 => "unsigned short",
        DType::I32 => "int",
        DType::U32 => "unsigned int",
        DType::I64 => "long long",
        DType::U64 => "unsigned long long",
    }
}

/// The unsigned type in which arithmetic wraps: at least 32 bits, since C++
/// computes narrower types in `int`.
pub(super) fn wrapping_type(dtype: DType) -> &'static str {
    match dtype.size_bytes() {
        8 => "unsigned long long",
        _ => "unsigned int",
    }
}

/// Whether values are carried as 16-bit floats.
pub(super) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// A constant, with its exact value.
pub(super) fn literal(literal: Literal, ty: Ty) -> String {
    match (literal, ty) {
        (Literal::Bool(value), _) => value.to_string(),
        (Literal::Int(value), Ty::Index(crate::program::IndexWidth::Bits32)) => value.to_string(),
        (Literal::Int(value), _) => integer(value, ty.storage()),
        (Literal::Float(value), _) => float(value, ty.storage()),
    }
}

fn integer(value: i128, dtype: DType) -> String {
    match dtype {
        DType::I32 if value == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        DType::I64 if value == i128::from(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        DType::I32 => value.to_string(),
        DType::U32 => format!("{value}u"),
        DType::I64 => format!("{value}LL"),
        DType::U64 => format!("{value}ULL"),
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
            format!("({})({value})", type_name(dtype))
        }
        DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => value.to_string(),
    }
}

fn float(value: f64, dtype: DType) -> String {
    match dtype {
        DType::F64 if !value.is_finite() => {
            format!("__longlong_as_double(0x{:016x}LL)", value.to_bits())
        }
        DType::F64 => format!("{value:?}"),
        DType::F16 => format!("tk_f16{{0x{:04x}}}", half::f16::from_f64(value).to_bits()),
        DType::BF16 => format!("tk_bf16{{0x{:04x}}}", half::bf16::from_f64(value).to_bits()),
        _ if !value.is_finite() => {
            format!("__int_as_float(0x{:08x})", (value as f32).to_bits())
        }
        _ => format!("{:?}f", value as f32),
    }
}
