//! Types of values and elements, symbolic in the type parameters.

use serde::{Deserialize, Serialize};

use super::TypeParamId;
use crate::dtype::DType;

/// The type of an array's elements or of a scalar value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ElemType {
    /// A type the text names.
    Concrete(DType),
    /// A type parameter, bound at launch.
    Param(TypeParamId),
    /// `Acc<T>` of a type parameter: [`DType::accumulator`] of what it is bound
    /// to. `Acc<f16>` and the like are already [`ElemType::Concrete`].
    Acc(TypeParamId),
}

impl ElemType {
    /// The concrete type once `types` binds the type parameters, by id.
    /// `None` where a parameter is not bound.
    pub fn bind(self, types: &[DType]) -> Option<DType> {
        use crate::arena::EntityId as _;
        match self {
            Self::Concrete(dtype) => Some(dtype),
            Self::Param(id) => types.get(id.index()).copied(),
            Self::Acc(id) => types.get(id.index()).map(|dtype| dtype.accumulator()),
        }
    }
}

/// The type of an expression or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Type {
    /// An index: signed, exact as in 64 bits.
    Index,
    /// A value of a scalar type; `bool` is [`DType::Bool`].
    Scalar(ElemType),
}

impl Type {
    /// Smallest and largest value of a known integer type other than `index`.
    pub(crate) fn integer_range(self) -> Option<(i128, i128)> {
        match self {
            Self::Scalar(ElemType::Concrete(dtype)) => dtype.integer_range(),
            Self::Scalar(ElemType::Param(_) | ElemType::Acc(_)) | Self::Index => None,
        }
    }

    /// The type of conditions.
    pub const BOOL: Self = Self::Scalar(ElemType::Concrete(DType::Bool));
}
