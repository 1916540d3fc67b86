//! Literals and named constants, and whether their types can hold them.

use super::types::{Class, Openness, Ty};
use super::{Resolver, suggest, type_expr};
use crate::diag::{Code, Diagnostic};
use crate::dtype::{Bound, DType};
use crate::kernel::{ElemType, ExprId, ExprKind, Literal, Type, TypeParam};
use crate::op::NamedConst;
use crate::span::SpanId;
use crate::syntax::{self, Name, Path};

/// A literal; `negative` where a `-` stands before it, which belongs to it (so
/// that `-128i8` is in range).
pub(super) fn resolve_literal(
    cx: &mut Resolver,
    literal: &syntax::Literal,
    negative: bool,
    span: SpanId,
) -> ExprId {
    let (value, openness, suffix) = match literal {
        syntax::Literal::Bool(value) => {
            return cx.push(ExprKind::Literal(Literal::Bool(*value)), Ty::BOOL, span);
        }
        syntax::Literal::Int { value, suffix } => {
            // Larger values saturate: no type holds them either.
            let value = i128::try_from(*value).unwrap_or(i128::MAX);
            let value = if negative { -value } else { value };
            (Literal::Int(value), Openness::Integer, suffix)
        }
        syntax::Literal::Float { value, suffix } => {
            let value = if negative { -value } else { *value };
            (Literal::Float(value), Openness::Float, suffix)
        }
    };
    let open = cx.infer.open(openness);
    let ty = match suffix {
        Some(suffix) => suffixed(cx, suffix, open),
        None => open,
    };
    cx.push(ExprKind::Literal(value), ty, span)
}

fn suffixed(cx: &mut Resolver, suffix: &Name, open: Ty) -> Ty {
    let Some(dtype) = DType::from_name(&suffix.text) else {
        cx.error(
            Code::UnknownName,
            suffix.span,
            format!("`{}` is not a type that a literal can have", suffix.text),
        );
        return Ty::Poison;
    };
    let ty = Ty::scalar(ElemType::Concrete(dtype));
    match cx.infer.unify(&cx.kernel, open, ty) {
        Some(ty) => ty,
        None => {
            cx.error(
                Code::TypeMismatch,
                suffix.span,
                format!("a number with a point cannot be of type `{dtype}`"),
            );
            Ty::Poison
        }
    }
}

/// `T::MAX`, `f32::INFINITY`, `Acc<T>::MAX`.
pub(super) fn resolve_path(cx: &mut Resolver, path: &Path, span: SpanId) -> ExprId {
    let Some(elem) = type_expr::elem_of_path(cx, &path.ty) else { return cx.push_poison(span) };
    let name = &path.constant;
    let Some(constant) = NamedConst::from_name(&name.text) else {
        let diagnostic = Diagnostic::error(
            Code::UnknownName,
            name.span,
            format!("`{}` has no constant `{}`", type_expr::written(&path.ty), name.text),
        );
        let known = NamedConst::ALL.map(NamedConst::name);
        let near = suggest::nearest(&name.text, known);
        cx.diags.push(match near {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.note(format!("the constants are {}", known.join(", "))),
        });
        return cx.push_poison(span);
    };
    let class = Class::of(&cx.kernel, Type::Scalar(elem));
    if if constant.is_float_only() { class != Class::Float } else { !class.is_number() } {
        let needed = if constant.is_float_only() { Bound::Float } else { Bound::Number };
        report_missing_constant(cx, path, elem, needed);
        return cx.push_poison(span);
    }
    cx.push(ExprKind::Literal(Literal::Named(constant)), Ty::scalar(elem), span)
}

fn report_missing_constant(cx: &mut Resolver, path: &Path, elem: ElemType, needed: Bound) {
    let (ty, constant) = (type_expr::written(&path.ty), &path.constant.text);
    let diagnostic = match elem {
        ElemType::Param(param) | ElemType::Acc(param) => {
            let TypeParam { name: ty, bound, .. } = &cx.kernel.type_params[param];
            let message = format!("`{ty}: {bound}` need not have `{constant}`");
            Diagnostic::error(Code::UnsupportedOperation, path.constant.span, message)
                .help(format!("bound it: `{ty}: {needed}`"))
        }
        ElemType::Concrete(_) => {
            let message = format!("`{ty}` has no `{constant}`");
            Diagnostic::error(Code::UnsupportedOperation, path.constant.span, message)
        }
    };
    cx.diags.push(diagnostic);
}

/// Reports every literal that its final type cannot hold. Integers of a type
/// parameter must suit all integer types that it may be bound to; a float rounds, of
/// a type parameter to infinity if need be.
pub(super) fn check_ranges(cx: &mut Resolver) {
    let mut faults = Vec::new();
    let mut infinite = Vec::new();
    for ((_, expr), ty) in cx.kernel.exprs.iter().zip(&cx.expr_types) {
        let Some(ty) = cx.infer.settle(*ty) else { continue };
        if let (ExprKind::Literal(Literal::Float(value)), Type::Scalar(ElemType::Concrete(dtype))) =
            (&expr.kind, ty)
            && dtype.is_float()
            && dtype.nearest(*value).is_infinite()
        {
            infinite.push((expr.span, dtype));
        }
        let ExprKind::Literal(Literal::Int(value)) = expr.kind else { continue };
        if let Some(dtype) = tightest(cx, ty, value) {
            faults.push((expr.span, ty, dtype, value));
        }
    }
    for (span, ty, holder, value) in faults {
        let diagnostic = match (ty, holder) {
            (Type::Scalar(ElemType::Param(param) | ElemType::Acc(param)), Holder::DType(dtype)) => {
                let param = &cx.kernel.type_params[param];
                let message = format!(
                    "`{}: {}` may be `{dtype}`, which cannot hold {value}",
                    param.name, param.bound
                );
                Diagnostic::error(Code::LiteralRange, span, message)
            }
            (_, Holder::DType(dtype)) => {
                let (low, high) = dtype.integer_range().unwrap_or_default();
                let message = format!("`{dtype}` cannot hold {value}");
                Diagnostic::error(Code::LiteralRange, span, message)
                    .note(format!("`{dtype}` holds {low} to {high}"))
            }
            (_, Holder::Index) => {
                let message = format!("an index cannot be {value}: it has 64 bits");
                Diagnostic::error(Code::LiteralRange, span, message)
            }
        };
        cx.diags.push(diagnostic);
    }
    for (span, dtype) in infinite {
        let message = format!("`{dtype}` cannot hold this number");
        cx.diags.push(
            Diagnostic::error(Code::LiteralRange, span, message)
                .help(format!("its largest is `{dtype}::MAX`, and beyond is `{dtype}::INFINITY`")),
        );
    }
}

/// What cannot hold a literal.
enum Holder {
    DType(DType),
    Index,
}

/// The first of the types that `ty` may be that cannot hold `value`.
fn tightest(cx: &Resolver, ty: Type, value: i128) -> Option<Holder> {
    let fails =
        |dtype: DType| dtype.integer_range().is_some_and(|(low, high)| value < low || value > high);
    match ty {
        Type::Index => i64::try_from(value).is_err().then_some(Holder::Index),
        Type::Scalar(ElemType::Concrete(dtype)) => fails(dtype).then_some(Holder::DType(dtype)),
        Type::Scalar(ElemType::Param(param)) => {
            let bound = cx.kernel.type_params[param].bound;
            let mut failing = DType::ALL.into_iter().filter(|dtype| bound.admits(*dtype));
            failing.find(|dtype| fails(*dtype)).map(Holder::DType)
        }
        Type::Scalar(ElemType::Acc(param)) => {
            let bound = cx.kernel.type_params[param].bound;
            let admitted = DType::ALL.into_iter().filter(|dtype| bound.admits(*dtype));
            let mut failing = admitted.map(DType::accumulator);
            failing.find(|dtype| fails(*dtype)).map(Holder::DType)
        }
    }
}
