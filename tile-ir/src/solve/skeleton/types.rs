//! The types in which a kernel's expressions are evaluated.
//!
//! A type parameter is bound to a type that its bound admits. Where no value of its type decides
//! anything, one is as good as any. But `(t as T) - 64 < 0` holds of an `i32` and not of a `u32`,
//! and `(t as T) as index` is another place where `T` has eight bits: where such values decide
//! which elements are accessed, each type that the bound admits is run.

use crate::dtype::{Bound, DType};
use crate::kernel::{ElemType, Kernel, Type};

/// Most ways to bind type parameters.
const MAX_BINDINGS: usize = 169;

/// The types that type parameters are bound to; an index is [`DType::I64`].
#[derive(Clone, Debug)]
pub(super) struct Types {
    params: Vec<DType>,
}

impl Types {
    /// Binds the type parameters of `kernel`.
    pub(super) fn of(kernel: &Kernel) -> Self {
        Self { params: kernel.type_params.values().map(|param| usual(param.bound)).collect() }
    }

    /// Every way to bind them, the usual one first; `None` where there are too many.
    pub(super) fn all(kernel: &Kernel) -> Option<Vec<Self>> {
        let mut all = vec![Vec::new()];
        for param in kernel.type_params.values() {
            let first = usual(param.bound);
            let is_other = |dtype: &DType| *dtype != first && param.bound.admits(*dtype);
            let others = DType::ALL.into_iter().filter(is_other);
            let types: Vec<DType> = [first].into_iter().chain(others).collect();
            if all.len() * types.len() > MAX_BINDINGS {
                return None;
            }
            all = all
                .iter()
                .flat_map(|given| types.iter().map(|dtype| [given.as_slice(), &[*dtype]].concat()))
                .collect();
        }
        Some(all.into_iter().map(|params| Self { params }).collect())
    }

    pub(super) fn elem(&self, elem: ElemType) -> DType {
        elem.bind(&self.params).unwrap_or(DType::F32)
    }

    pub(super) fn of_type(&self, ty: Type) -> DType {
        match ty {
            Type::Index => DType::I64,
            Type::Scalar(elem) => self.elem(elem),
        }
    }
}

fn usual(bound: Bound) -> DType {
    match bound {
        Bound::Element | Bound::Number | Bound::Float => DType::F32,
        Bound::Integer => DType::I32,
    }
}
