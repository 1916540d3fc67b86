//! Types as written.

use super::types::{Class, Ty};
use super::{Resolver, function, suggest};
use crate::diag::{Code, Diagnostic};
use crate::dtype::{Bound, DType};
use crate::kernel::{ElemType, Type, TypeParamId};
use crate::syntax::{Name, TypeExpr, TypeExprKind};

/// The type of a `let` or a cast; poison where it was reported.
pub(super) fn resolve_type(cx: &mut Resolver, ty: &TypeExpr) -> Ty {
    match &ty.kind {
        TypeExprKind::Name(name) if name.text == "index" => Ty::INDEX,
        TypeExprKind::Name(name) if function::type_argument(cx, &name.text).is_some() => {
            function::type_argument(cx, &name.text).unwrap_or(Ty::Poison)
        }
        TypeExprKind::Name(name) => named_elem(cx, name).map_or(Ty::Poison, Ty::scalar),
        TypeExprKind::Acc(name) => accumulator(cx, name).map_or(Ty::Poison, Ty::scalar),
    }
}

/// The type before the `::` of a constant.
pub(super) fn elem_of_path(cx: &mut Resolver, ty: &TypeExpr) -> Option<ElemType> {
    match &ty.kind {
        TypeExprKind::Name(name) => named_elem(cx, name),
        TypeExprKind::Acc(name) => accumulator(cx, name),
    }
}

/// A type as it was written.
pub(super) fn written(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeExprKind::Name(name) => name.text.clone(),
        TypeExprKind::Acc(name) => format!("Acc<{}>", name.text),
    }
}

/// The type of an array's elements or a parameter; `what` names it in messages.
/// `None` where it was reported.
pub(super) fn resolve_elem(cx: &mut Resolver, ty: &TypeExpr, what: &str) -> Option<ElemType> {
    match resolve_type(cx, ty) {
        Ty::Known(Type::Scalar(elem)) => Some(elem),
        Ty::Known(Type::Index) => {
            let diagnostic = Diagnostic::error(
                Code::TypeMismatch,
                ty.span,
                format!("{what} cannot be of type `index`, which has no size of its own"),
            );
            cx.diags.push(diagnostic.help("take `i32` or `i64`"));
            None
        }
        Ty::Infer(_) | Ty::Poison => None,
    }
}

/// The type parameter of that name.
pub(super) fn find_type_param(cx: &Resolver, name: &str) -> Option<TypeParamId> {
    cx.kernel.type_params.iter().find(|(_, param)| param.name == name).map(|(id, _)| id)
}

/// A scalar type or type parameter by name.
pub(super) fn named_elem(cx: &mut Resolver, name: &Name) -> Option<ElemType> {
    if let Some(ty) = function::type_argument(cx, &name.text) {
        return argument_elem(cx, name, ty);
    }
    // A kernel's type parameters are unknown to the functions that it calls.
    if let Some(param) = find_type_param(cx, &name.text).filter(|_| cx.frames.is_empty()) {
        return Some(ElemType::Param(param));
    }
    if let Some(dtype) = DType::from_name(&name.text) {
        return Some(ElemType::Concrete(dtype));
    }
    let mut diagnostic = Diagnostic::error(
        Code::UnknownName,
        name.span,
        format!("there is no type `{}`", name.text),
    );
    let params = cx.kernel.type_params.values().map(|param| param.name.as_str());
    let known = params.chain(DType::ALL.iter().map(|dtype| dtype.name())).chain(["index"]);
    if let Some(help) = instead_of(&name.text) {
        diagnostic = diagnostic.help(help);
    } else if let Some(near) = suggest::nearest(&name.text, known) {
        diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
    } else {
        let names = DType::ALL.map(DType::name).join("`, `");
        diagnostic = diagnostic.help(format!("the types are `{names}` and `index`"));
    }
    cx.diags.push(diagnostic);
    None
}

/// The scalar type that a function's type parameter stands for.
fn argument_elem(cx: &mut Resolver, name: &Name, ty: Ty) -> Option<ElemType> {
    match ty {
        Ty::Known(Type::Scalar(elem)) => Some(elem),
        // Reported with the call.
        Ty::Known(Type::Index) | Ty::Poison => None,
        Ty::Infer(_) => {
            let message = format!("nothing says yet which type `{}` is in this call", name.text);
            let mut diagnostic = Diagnostic::error(Code::TypeMismatch, name.span, message);
            if let Some(call) = function::call_of(cx) {
                diagnostic = diagnostic.label(call, "the call is here");
            }
            cx.diags.push(diagnostic.help("give the argument a type: `1.0f32`"));
            None
        }
    }
}

/// `Acc<name>`.
fn accumulator(cx: &mut Resolver, name: &Name) -> Option<ElemType> {
    let elem = named_elem(cx, name)?;
    if !Class::of(&cx.kernel, Type::Scalar(elem)).is_number() {
        let is_param = matches!(elem, ElemType::Param(_));
        let why =
            if is_param { format!(", and `{}` may be `bool`", name.text) } else { String::new() };
        let message = format!("`Acc<{}>` needs numbers{why}", name.text);
        let diagnostic = Diagnostic::error(Code::UnsupportedOperation, name.span, message);
        cx.diags.push(if is_param {
            diagnostic.help(format!("bound it: `{}: {}`", name.text, Bound::Number))
        } else {
            diagnostic
        });
        return None;
    }
    Some(match elem {
        ElemType::Concrete(dtype) => ElemType::Concrete(dtype.accumulator()),
        ElemType::Param(param) => ElemType::Acc(param),
        ElemType::Acc(_) => elem,
    })
}

/// What to write instead of a type that Rust or C has.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "usize" | "isize" | "size_t" => {
            "positions and extents have type `index`; a parameter is an `i32` or an `i64`"
        }
        "float" => "it is `f32`",
        "double" => "it is `f64`",
        "half" | "__half" => "it is `f16`",
        "bfloat16" | "__nv_bfloat16" => "it is `bf16`",
        "int" => "it is `i32`",
        "uint" | "unsigned" => "it is `u32`",
        "long" => "it is `i64`",
        "char" => "a character is the number that stands for it: `u8`, or `u32`",
        "i128" | "u128" => "the widest integers are `i64` and `u64`",
        "str" | "String" | "Vec" | "Option" => {
            "a kernel computes with numbers only: `f32`, `i32`, `bool`, …"
        }
        _ => return None,
    })
}
