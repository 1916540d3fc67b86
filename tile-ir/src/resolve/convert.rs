//! The conversions that the language makes by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Resolver;
use super::counter::as_value;
use super::types::{Class, Openness, Ty};
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::kernel::{
    ElemType, Expr, ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, Type, eval_index_binary,
    print_expr,
};
use crate::op::{BinaryOp, UnaryOp};
use crate::span::SpanId;

/// What becomes of the leaves of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// They stay as they are.
    None,
    /// Integers become indices: index positions, loop bounds, comparisons with
    /// an index.
    ToIndex,
    /// Elements become their accumulator's type: `acc ⊕= e`.
    Widen(ElemType),
}

/// Applies `conversion` to a leaf.
pub(super) fn convert(cx: &mut Resolver, id: ExprId, conversion: Conversion) -> ExprId {
    match conversion {
        Conversion::None => id,
        Conversion::ToIndex => to_index(cx, id),
        Conversion::Widen(target) => widen(cx, id, target),
    }
}

fn to_index(cx: &mut Resolver, id: ExprId) -> ExprId {
    let ty = cx.type_of(id);
    if let Ty::Known(known) = ty
        && Class::of(&cx.kernel, known) == Class::Integer
    {
        return match known_integer(&cx.kernel, id, known) {
            Some(value) => {
                let span = cx.kernel.exprs[id].span;
                cx.push(ExprKind::Literal(Literal::Int(value)), Ty::INDEX, span)
            }
            None => push_cast(cx, id, Type::Index),
        };
    }
    if cx.infer.unify(&cx.kernel, ty, Ty::INDEX).is_none() {
        let text = print_expr(&cx.kernel, id);
        let found = describe(cx, ty);
        let diagnostic = Diagnostic::error(
            Code::TypeMismatch,
            cx.kernel.exprs[id].span,
            format!("an index is needed here, and `{text}` is {found}"),
        );
        let castable = ty != Ty::BOOL;
        cx.diags.push(if castable {
            diagnostic.help(format!("convert it: `{} as index`", as_operand(&cx.kernel, id)))
        } else {
            diagnostic
        });
        return cx.push_poison(cx.kernel.exprs[id].span);
    }
    id
}

/// The value of an integer expression of literals, as a constant's: it is an index like
/// one written in numbers. `None` where a step leaves the type.
fn known_integer(kernel: &Kernel, id: ExprId, ty: Type) -> Option<i128> {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return None };
    let (least, greatest) = dtype.integer_range()?;
    let value = match &kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => *value,
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            known_integer(kernel, *operand, ty)?.checked_neg()?
        }
        ExprKind::Binary { op, lhs, rhs } => {
            let [lhs, rhs] = [lhs, rhs].map(|side| known_integer(kernel, *side, ty));
            // Counts of shifts are taken modulo the width, which is 8 at least.
            if matches!(op, BinaryOp::Shl | BinaryOp::Shr) && rhs? >= 8 {
                return None;
            }
            eval_index_binary(*op, lhs?, rhs?)?
        }
        ExprKind::Literal(Literal::Bool(_) | Literal::Float(_) | Literal::Named(_))
        | ExprKind::Unary { op: UnaryOp::Not, .. }
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Cast(_)
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => return None,
    };
    (least..=greatest).contains(&value).then_some(value)
}

fn widen(cx: &mut Resolver, id: ExprId, target: ElemType) -> ExprId {
    let widened = Type::Scalar(target);
    match cx.type_of(id) {
        Ty::Known(Type::Scalar(elem)) if elem != target && accumulator_of(elem) == Some(target) => {
            push_cast(cx, id, widened)
        }
        ty => {
            if cx.infer.unify(&cx.kernel, ty, Ty::Known(widened)).is_none() {
                if let Some(value) = as_value(cx, id, Ty::Known(widened)) {
                    return value;
                }
                report_mismatch(cx, id, Ty::Known(widened), "the accumulator");
                return cx.push_poison(cx.kernel.exprs[id].span);
            }
            id
        }
    }
}

fn accumulator_of(elem: ElemType) -> Option<ElemType> {
    match elem {
        ElemType::Concrete(DType::Bool) => None,
        ElemType::Concrete(dtype) => Some(ElemType::Concrete(dtype.accumulator())),
        ElemType::Param(param) => Some(ElemType::Acc(param)),
        ElemType::Acc(_) => Some(elem),
    }
}

/// Makes `id` of type `ty`, or reports that it is not; `place` is what needs it
/// ("`x`", "the condition").
pub(super) fn expect_type(cx: &mut Resolver, id: ExprId, ty: Ty, place: &str) -> ExprId {
    let found = cx.type_of(id);
    if cx.infer.unify(&cx.kernel, found, ty).is_none() {
        if let Some(value) = as_value(cx, id, ty) {
            return value;
        }
        report_mismatch(cx, id, ty, place);
        return cx.push_poison(cx.kernel.exprs[id].span);
    }
    id
}

/// Makes `id` storable in an array of `elem`: of its type, or an accumulator of
/// it, which is rounded.
pub(super) fn expect_stored(cx: &mut Resolver, id: ExprId, elem: ElemType, place: &str) -> ExprId {
    let rounds = match (cx.type_of(id), elem) {
        (Ty::Known(Type::Scalar(ElemType::Acc(acc))), ElemType::Param(param)) => acc == param,
        (
            Ty::Known(Type::Scalar(ElemType::Concrete(DType::F32))),
            ElemType::Concrete(DType::F16 | DType::BF16),
        ) => has_accumulator(&cx.kernel, id),
        _ => false,
    };
    if rounds {
        return push_cast(cx, id, Type::Scalar(elem));
    }
    expect_type(cx, id, Ty::scalar(elem), place)
}

/// Whether an accumulator stands in the expression.
fn has_accumulator(kernel: &Kernel, id: ExprId) -> bool {
    let kind = &kernel.exprs[id].kind;
    match kind {
        ExprKind::Var(var) => kernel.vars[*var].accumulator,
        ExprKind::Cast(_) => false,
        ExprKind::Literal(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => {
            kind.operands().into_iter().any(|operand| has_accumulator(kernel, operand))
        }
    }
}

/// A conversion that the text does not show: it has its operand's span.
pub(super) fn push_cast(cx: &mut Resolver, id: ExprId, ty: Type) -> ExprId {
    let span = cx.kernel.exprs[id].span;
    cx.push(ExprKind::Cast(id), Ty::Known(ty), span)
}

/// Says that `id` is not of the type that `place` needs.
fn report_mismatch(cx: &mut Resolver, id: ExprId, needed: Ty, place: &str) {
    let found = cx.type_of(id);
    let (needed_text, found_text) = (describe(cx, needed), describe(cx, found));
    let diagnostic = Diagnostic::error(
        Code::TypeMismatch,
        cx.kernel.exprs[id].span,
        format!("{place} is {needed_text}, and this is {found_text}"),
    );
    let diagnostic = match cast_help(cx, id, found, needed) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    };
    cx.diags.push(diagnostic);
}

/// How to write the conversion of `id` from `found` to `needed`, where there is one.
pub(super) fn cast_help(cx: &Resolver, id: ExprId, found: Ty, needed: Ty) -> Option<String> {
    let Ty::Known(target) = needed else { return None };
    let (from, to) = match found {
        Ty::Known(found) => (Class::of(&cx.kernel, found), Class::of(&cx.kernel, target)),
        Ty::Infer(_) => {
            // A literal that does not fit the type parameter's bound.
            let Type::Scalar(ElemType::Param(param)) = target else { return None };
            let (name, bound) =
                (&cx.kernel.type_params[param].name, cx.kernel.type_params[param].bound);
            let float = cx.infer.openness(found) == Some(Openness::Float);
            let better = if float { "Float" } else { "Number" };
            return Some(format!(
                "`{name}: {bound}` need not be able to hold it; bound it: `{name}: {better}`"
            ));
        }
        Ty::Poison => return None,
    };
    if !from.is_number() || !to.is_number() {
        return None;
    }
    Some(format!("convert it: `{} as {}`", as_operand(&cx.kernel, id), describe_plain(cx, needed)))
}

/// What to write where a number meets a literal of another kind, or a `bool`.
fn open_help(cx: &Resolver, (id, ty): (ExprId, Ty), (_, other): (ExprId, Ty)) -> Option<String> {
    let Ty::Known(known) = ty else { return None };
    match Class::of(&cx.kernel, known) {
        Class::Bool => {
            let text = print_expr(&cx.kernel, id);
            Some(format!("a number that it decides is `if {text} {{ 1 }} else {{ 0 }}`"))
        }
        Class::Integer | Class::Index if cx.infer.openness(other) == Some(Openness::Float) => {
            Some(format!("convert it: `{} as f32`", as_operand(&cx.kernel, id)))
        }
        Class::Integer | Class::Index | Class::Float | Class::Number | Class::Element => None,
    }
}

/// The expression's text, in parentheses where `as` would take only a part of it.
pub(super) fn as_operand(kernel: &Kernel, id: ExprId) -> String {
    let text = print_expr(kernel, id);
    let is_compound = match &kernel.exprs[id].kind {
        ExprKind::Binary { op, .. } => !op.is_function(),
        ExprKind::Select { .. } | ExprKind::Compare { .. } | ExprKind::Logic { .. } => true,
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Cast(_)
        | ExprKind::Uniform(_)
        | ExprKind::Math { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => false,
    };
    if is_compound { format!("({text})") } else { text }
}

/// Two operands of an operator, the one of them that is made of counters as a value of
/// the other's type.
pub(super) fn with_counters(cx: &mut Resolver, [lhs, rhs]: [ExprId; 2]) -> [ExprId; 2] {
    let (left, right) = (cx.type_of(lhs), cx.type_of(rhs));
    if left == Ty::INDEX {
        [as_value(cx, lhs, right).unwrap_or(lhs), rhs]
    } else {
        let value = as_value(cx, rhs, left);
        [lhs, value.unwrap_or(rhs)]
    }
}

/// Two operands of an operator, made of one type; reports where they are not.
pub(super) fn unify_operands(
    cx: &mut Resolver,
    lhs: ExprId,
    rhs: ExprId,
    operator: &str,
    span: SpanId,
) -> Ty {
    let (left, right) = (cx.type_of(lhs), cx.type_of(rhs));
    if let Some(ty) = cx.infer.unify(&cx.kernel, left, right) {
        return ty;
    }
    let message = format!(
        "{operator} needs two values of one type; these are {} and {}",
        describe(cx, left),
        describe(cx, right)
    );
    let (left_span, right_span) = (cx.kernel.exprs[lhs].span, cx.kernel.exprs[rhs].span);
    let mut diagnostic = Diagnostic::error(Code::TypeMismatch, span, message)
        .label(left_span, format!("this is {}", describe(cx, left)))
        .label(right_span, format!("this is {}", describe(cx, right)));
    // An index is converted to a float's type, an integer to an index, an
    // element to the wider type.
    let is_integer =
        |ty| matches!(ty, Ty::Known(known) if Class::of(&cx.kernel, known) == Class::Integer);
    let help = match (left, right) {
        (Ty::Known(Type::Index), _) if is_integer(right) => cast_help(cx, rhs, right, left),
        (_, Ty::Known(Type::Index)) if is_integer(left) => cast_help(cx, lhs, left, right),
        (Ty::Known(Type::Index), _) => {
            cast_help(cx, lhs, left, right).or_else(|| open_help(cx, (lhs, left), (rhs, right)))
        }
        (
            Ty::Known(Type::Scalar(ElemType::Param(_))),
            Ty::Known(Type::Scalar(ElemType::Acc(_))),
        ) => cast_help(cx, lhs, left, right),
        _ => cast_help(cx, rhs, right, left)
            .or_else(|| cast_help(cx, lhs, left, right))
            .or_else(|| open_help(cx, (lhs, left), (rhs, right)))
            .or_else(|| open_help(cx, (rhs, right), (lhs, left))),
    };
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    cx.diags.push(diagnostic);
    Ty::Poison
}

/// A type in the user's words, with its article or code marks.
pub(super) fn describe(cx: &Resolver, ty: Ty) -> String {
    match cx.infer.resolve(ty) {
        Ty::Known(Type::Index) => "an `index`".to_owned(),
        Ty::Known(_) => format!("`{}`", describe_plain(cx, ty)),
        Ty::Infer(_) | Ty::Poison => describe_plain(cx, ty),
    }
}

fn describe_plain(cx: &Resolver, ty: Ty) -> String {
    match cx.infer.resolve(ty) {
        Ty::Known(known) => cx.kernel.type_name(known),
        open => match cx.infer.openness(open) {
            Some(Openness::Integer) => "an integer".to_owned(),
            Some(Openness::Float) => "a floating-point number".to_owned(),
            Some(Openness::Any) | None => "of unknown type".to_owned(),
        },
    }
}

/// An integer or an index made of integer type `ty` where it is of another one: a
/// shift's count, which is taken modulo the width either way. What is shifted may be a
/// literal whose type is found out later: the count says nothing of it.
pub(super) fn integer_as(cx: &mut Resolver, id: ExprId, ty: Ty) -> ExprId {
    let Ty::Known(from) = cx.type_of(id) else { return id };
    let class = |ty| Class::of(&cx.kernel, ty);
    if !matches!(class(from), Class::Integer | Class::Index) {
        return id;
    }
    let converts = match ty {
        Ty::Known(to) => from != to && class(to) == Class::Integer,
        Ty::Infer(_) => cx.infer.openness(ty) == Some(Openness::Integer),
        Ty::Poison => false,
    };
    let span = cx.kernel.exprs[id].span;
    if converts { cx.push(ExprKind::Cast(id), ty, span) } else { id }
}

/// Takes out the conversions of shifts' counts that were of the type already that the shifted
/// value turned out to be of.
pub(super) fn settle_counts(kernel: &mut Kernel) {
    let own = |(id, expr): (ExprId, &Expr)| {
        let ExprKind::Cast(operand) = expr.kind else { return None };
        let of = &kernel.exprs[operand];
        (of.ty == expr.ty && of.span == expr.span).then_some((id, operand))
    };
    let own: BTreeMap<ExprId, ExprId> = kernel.exprs.iter().filter_map(own).collect();
    let mut replaced = BTreeSet::new();
    let mut settle = |count: &mut ExprId| {
        if let Some(operand) = own.get(count) {
            replaced.insert(*count);
            *count = *operand;
        }
    };
    for (_, expr) in kernel.exprs.iter_mut() {
        if let ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, rhs, .. } = &mut expr.kind {
            settle(rhs);
        }
    }
    settle_updates(&mut kernel.body, &mut settle);
    for id in replaced {
        // Nothing evaluates it any more.
        kernel.exprs[id].kind = ExprKind::Literal(Literal::Int(0));
    }
}

/// The same in the statements that shift a variable or an element.
fn settle_updates(stmts: &mut [Stmt], settle: &mut dyn FnMut(&mut ExprId)) {
    for stmt in stmts {
        if let StmtKind::Update { op: BinaryOp::Shl | BinaryOp::Shr, value, .. } = &mut stmt.kind {
            settle(value);
        }
        stmt.kind.bodies_mut().into_iter().for_each(|body| settle_updates(body, settle));
    }
}
