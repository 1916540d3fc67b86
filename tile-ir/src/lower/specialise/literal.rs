//! Constants of the bound types.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::kernel;
use crate::op::NamedConst;
use crate::program::Literal;

/// The constant at its type, rounded once; `None` where the type has none.
pub(super) fn literal_of(literal: kernel::Literal, dtype: DType) -> Option<Literal> {
    match literal {
        kernel::Literal::Bool(value) => (dtype == DType::Bool).then_some(Literal::Bool(value)),
        kernel::Literal::Int(value) if dtype == DType::Bool => {
            // The default pad of a `bool` tensor.
            (value == 0).then_some(Literal::Bool(false))
        }
        kernel::Literal::Int(value) if dtype.is_float() => {
            Some(Literal::Float(dtype.nearest(value as f64)))
        }
        kernel::Literal::Int(value) => Some(Literal::Int(value)),
        kernel::Literal::Float(value) => {
            dtype.is_float().then(|| Literal::Float(dtype.nearest(value)))
        }
        kernel::Literal::Named(constant) => named(constant, dtype),
    }
}

fn named(constant: NamedConst, dtype: DType) -> Option<Literal> {
    if let Some((min, max)) = dtype.integer_range() {
        return match constant {
            NamedConst::Min => Some(Literal::Int(min)),
            NamedConst::Max => Some(Literal::Int(max)),
            NamedConst::Infinity | NamedConst::NegInfinity | NamedConst::Nan => None,
        };
    }
    let largest = match dtype {
        DType::F16 => f16::MAX.to_f64(),
        DType::BF16 => bf16::MAX.to_f64(),
        DType::F32 => f64::from(f32::MAX),
        DType::F64 => f64::MAX,
        DType::Bool
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64 => return None,
    };
    Some(Literal::Float(match constant {
        NamedConst::Min => -largest,
        NamedConst::Max => largest,
        NamedConst::Infinity => f64::INFINITY,
        NamedConst::NegInfinity => f64::NEG_INFINITY,
        NamedConst::Nan => f64::NAN,
    }))
}
