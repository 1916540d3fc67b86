//! Types during inference: known, still open, or spoilt by an earlier mistake.
//!
//! Literals and `let`s without a type start open and take the type they are
//! used at. What stays open takes its default at the end ([`InferTable::settle`]).

use crate::dtype::{Bound, DType};
use crate::kernel::{ElemType, Kernel, Type};

/// A type that is not known yet: its slot in the [`InferTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InferId(usize);

/// The type of an expression or variable while types are inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// Known.
    Known(Type),
    /// Open.
    Infer(InferId),
    /// Of something that was reported already; agrees with everything.
    Poison,
}

impl Ty {
    pub(super) const INDEX: Self = Self::Known(Type::Index);
    pub(super) const BOOL: Self = Self::Known(Type::BOOL);

    pub(super) const fn scalar(elem: ElemType) -> Self {
        Self::Known(Type::Scalar(elem))
    }
}

/// What an open type may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Openness {
    /// Anything: a `let` without type and value.
    Any,
    /// A number or an index: an integer literal. `i32` by default.
    Integer,
    /// A floating-point type: a literal with a point. `f32` by default.
    Float,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Open(Openness),
    Bound(Ty),
}

/// The open types and what they have become.
#[derive(Debug, Default)]
pub(super) struct InferTable {
    slots: Vec<Slot>,
}

impl InferTable {
    /// A fresh open type.
    pub(super) fn open(&mut self, openness: Openness) -> Ty {
        self.slots.push(Slot::Open(openness));
        Ty::Infer(InferId(self.slots.len() - 1))
    }

    /// What `ty` is known to be by now.
    pub(super) fn resolve(&self, mut ty: Ty) -> Ty {
        while let Ty::Infer(id) = ty {
            match self.slots[id.0] {
                Slot::Open(_) => return ty,
                Slot::Bound(next) => ty = next,
            }
        }
        ty
    }

    /// How open `ty` is; `None` where it is not.
    pub(super) fn openness(&self, ty: Ty) -> Option<Openness> {
        let Ty::Infer(id) = self.resolve(ty) else { return None };
        match self.slots[id.0] {
            Slot::Open(openness) => Some(openness),
            Slot::Bound(_) => None,
        }
    }

    /// Makes two types one; `None` where they cannot be.
    pub(super) fn unify(&mut self, kernel: &Kernel, a: Ty, b: Ty) -> Option<Ty> {
        match (self.resolve(a), self.resolve(b)) {
            (Ty::Poison, _) | (_, Ty::Poison) => Some(Ty::Poison),
            (Ty::Known(a), Ty::Known(b)) => (a == b).then_some(Ty::Known(a)),
            (Ty::Infer(id), Ty::Known(ty)) | (Ty::Known(ty), Ty::Infer(id)) => {
                let Slot::Open(openness) = self.slots[id.0] else { return None };
                admits(kernel, openness, ty).then(|| {
                    self.slots[id.0] = Slot::Bound(Ty::Known(ty));
                    Ty::Known(ty)
                })
            }
            (Ty::Infer(a), Ty::Infer(b)) => {
                if a != b
                    && let (Slot::Open(first), Slot::Open(second)) =
                        (self.slots[a.0], self.slots[b.0])
                {
                    self.slots[a.0] = Slot::Open(first.max(second));
                    self.slots[b.0] = Slot::Bound(Ty::Infer(a));
                }
                Some(Ty::Infer(a))
            }
        }
    }

    /// Narrows an open type to floating-point types.
    pub(super) fn require_float(&mut self, ty: Ty) {
        if let Ty::Infer(id) = self.resolve(ty) {
            self.slots[id.0] = Slot::Open(Openness::Float);
        }
    }

    /// The final type: open literals take their default. `None` of what was
    /// spoilt, or never given any type.
    pub(super) fn settle(&self, ty: Ty) -> Option<Type> {
        match self.resolve(ty) {
            Ty::Known(ty) => Some(ty),
            Ty::Poison => None,
            Ty::Infer(_) => match self.openness(ty)? {
                Openness::Any => None,
                Openness::Integer => Some(Type::Scalar(ElemType::Concrete(DType::I32))),
                Openness::Float => Some(Type::Scalar(ElemType::Concrete(DType::F32))),
            },
        }
    }
}

/// What operations a type has, whatever its parameters are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An index.
    Index,
    /// `bool`.
    Bool,
    /// An integer type.
    Integer,
    /// A floating-point type.
    Float,
    /// An integer or floating-point type, not known which.
    Number,
    /// Any scalar type, not known which.
    Element,
}

impl Class {
    pub(super) fn of(kernel: &Kernel, ty: Type) -> Self {
        let elem = match ty {
            Type::Index => return Self::Index,
            Type::Scalar(elem) => elem,
        };
        match elem {
            ElemType::Concrete(DType::Bool) => Self::Bool,
            ElemType::Concrete(dtype) if dtype.is_float() => Self::Float,
            ElemType::Concrete(_) => Self::Integer,
            ElemType::Param(id) | ElemType::Acc(id) => match kernel.type_params[id].bound {
                Bound::Element => Self::Element,
                Bound::Number => Self::Number,
                Bound::Float => Self::Float,
                Bound::Integer => Self::Integer,
            },
        }
    }

    /// Whether it has `+ - * / %`, ordering, `min` and `max`.
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Index | Self::Integer | Self::Float | Self::Number)
    }
}

fn admits(kernel: &Kernel, openness: Openness, ty: Type) -> bool {
    let class = Class::of(kernel, ty);
    match openness {
        Openness::Any => true,
        Openness::Integer => class.is_number(),
        Openness::Float => class == Class::Float,
    }
}
