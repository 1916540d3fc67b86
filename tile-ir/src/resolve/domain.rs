//! Tile parameters and their admissible values.

use super::Resolver;
use super::expr::resolve_index;
use super::header::declare_unique;
use super::scope::{Binding, Naming};
use super::types::Ty;
use crate::arena::EntityId as _;
use crate::diag::{Code, Diagnostic};
use crate::kernel::{TileDomain, TileParam, TileParamId, VarKind};
use crate::op::BinaryOp;
use crate::syntax::{self, Expr, Literal};

/// Declares the tile parameters, in order: a domain may name earlier ones.
pub(super) fn resolve_tile_params(cx: &mut Resolver, params: &[syntax::TileParam]) {
    for (position, param) in params.iter().enumerate() {
        let domain = resolve_domain(cx, &params[position..], &param.domain);
        let id = TileParamId::from_index(cx.kernel.tile_params.len());
        let var = cx.new_var(&param.name, Ty::INDEX, VarKind::TileParam(id));
        cx.kernel.tile_params.push(TileParam {
            name: param.name.text.clone(),
            domain,
            var,
            span: param.name.span,
        });
        declare_unique(cx, &param.name, Binding::Var(var));
    }
}

/// The domain of the first of `params`; the others are not declared yet. What
/// was reported is [`TileDomain::Any`].
fn resolve_domain(
    cx: &mut Resolver,
    params: &[syntax::TileParam],
    domain: &syntax::TileDomain,
) -> TileDomain {
    let resolved = match domain {
        syntax::TileDomain::Any => Some(TileDomain::Any),
        syntax::TileDomain::Range { min, max, step } => {
            resolve_stepped(cx, min, max, step.as_ref())
        }
        syntax::TileDomain::Pow2 { min, max } => resolve_pow2(cx, min, max),
        syntax::TileDomain::List(values) => resolve_list(cx, params, values),
        syntax::TileDomain::Equal(value) => resolve_equal(cx, params, value),
    };
    resolved.unwrap_or(TileDomain::Any)
}

fn resolve_stepped(
    cx: &mut Resolver,
    min_expr: &Expr,
    max_expr: &Expr,
    step: Option<&Expr>,
) -> Option<TileDomain> {
    let min = size(cx, min_expr);
    let max = size(cx, max_expr);
    let step = step.map_or(Some(1), |step| size(cx, step));
    let (min, max, step) = (min?, max?, step?);
    in_order(cx, min, max, max_expr)?;
    Some(TileDomain::Range { min, max, step })
}

fn resolve_pow2(cx: &mut Resolver, min_expr: &Expr, max_expr: &Expr) -> Option<TileDomain> {
    let [min, max] = [min_expr, max_expr].map(|bound| {
        let value = size(cx, bound)?;
        if value.is_power_of_two() {
            return Some(value);
        }
        let message = format!("{value} is not a power of two");
        cx.error(Code::BadHeader, bound.span, message);
        None
    });
    let (min, max) = (min?, max?);
    in_order(cx, min, max, max_expr)?;
    Some(TileDomain::Pow2 { min, max })
}

fn in_order(cx: &mut Resolver, min: u32, max: u32, max_expr: &Expr) -> Option<()> {
    if min <= max {
        return Some(());
    }
    let message = format!("no size is admissible: {max} is less than {min}");
    cx.error(Code::BadHeader, max_expr.span, message);
    None
}

fn resolve_list(
    cx: &mut Resolver,
    params: &[syntax::TileParam],
    values: &[Expr],
) -> Option<TileDomain> {
    if values.is_empty() {
        let name = params.first().map(|param| &param.name)?;
        let message = format!("`{}` has no admissible size", name.text);
        cx.error(Code::BadHeader, name.span, message);
        return None;
    }
    let sizes: Vec<Option<u32>> = values.iter().map(|value| size(cx, value)).collect();
    let mut sizes: Vec<u32> = sizes.into_iter().collect::<Option<_>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Some(TileDomain::List(sizes))
}

fn resolve_equal(
    cx: &mut Resolver,
    params: &[syntax::TileParam],
    value: &Expr,
) -> Option<TileDomain> {
    if let Some(constant) = constant(cx, value)
        && !(1..=i128::from(u32::MAX)).contains(&constant)
    {
        let bound =
            if constant < 1 { "at least 1".to_owned() } else { format!("at most {}", u32::MAX) };
        let message = format!("a tile parameter is {bound}, and this is {constant}");
        cx.error(Code::BadHeader, value.span, message);
        return None;
    }
    if let Some(name) = later_param(params, value) {
        let declared = &params.first()?.name.text;
        cx.diags.push(
            Diagnostic::error(
                Code::BadHeader,
                name.span,
                format!("`{declared}` is tied to `{}`, which is declared after it", name.text),
            )
            .help(format!("declare `{}` first", name.text)),
        );
        return None;
    }
    cx.naming = Naming::TileParams("the size of a tile parameter");
    Some(TileDomain::Equal(resolve_index(cx, value)))
}

/// A name in `expr` of one of `params`.
fn later_param<'e>(params: &[syntax::TileParam], expr: &'e Expr) -> Option<&'e syntax::Name> {
    match &expr.kind {
        syntax::ExprKind::Name(name) => {
            params.iter().any(|param| param.name.text == name.text).then_some(name)
        }
        syntax::ExprKind::Binary { lhs, rhs, .. } => {
            later_param(params, lhs).or_else(|| later_param(params, rhs))
        }
        syntax::ExprKind::Unary { operand, .. } => later_param(params, operand),
        syntax::ExprKind::Call { args, .. } | syntax::ExprKind::Method { args, .. } => {
            args.iter().find_map(|arg| later_param(params, arg))
        }
        syntax::ExprKind::Literal(_)
        | syntax::ExprKind::Path(_)
        | syntax::ExprKind::Index { .. }
        | syntax::ExprKind::Compare { .. }
        | syntax::ExprKind::Logic { .. }
        | syntax::ExprKind::Cast { .. }
        | syntax::ExprKind::If { .. }
        | syntax::ExprKind::Block { .. } => None,
    }
}

/// An admissible size written in numbers; reports what is not one.
fn size(cx: &mut Resolver, expr: &Expr) -> Option<u32> {
    let Some(value) = constant(cx, expr) else {
        cx.error(Code::BadHeader, expr.span, "admissible sizes are written in numbers");
        return None;
    };
    match u32::try_from(value) {
        Ok(value) if value >= 1 => Some(value),
        Ok(_) | Err(_) => {
            let message = format!("a size is at least 1 and below 2^32, and this is {value}");
            cx.error(Code::BadHeader, expr.span, message);
            None
        }
    }
}

/// The value of an expression of integer literals and constants.
pub(super) fn constant(cx: &Resolver, expr: &Expr) -> Option<i128> {
    match &expr.kind {
        syntax::ExprKind::Literal(Literal::Int { value, suffix: None }) => {
            i128::try_from(*value).ok()
        }
        syntax::ExprKind::Unary { op: crate::op::UnaryOp::Neg, operand } => {
            constant(cx, operand)?.checked_neg()
        }
        syntax::ExprKind::Binary { op, lhs, rhs } => {
            let (lhs, rhs) = (constant(cx, lhs)?, constant(cx, rhs)?);
            match op {
                BinaryOp::Add => lhs.checked_add(rhs),
                BinaryOp::Sub => lhs.checked_sub(rhs),
                BinaryOp::Mul => lhs.checked_mul(rhs),
                BinaryOp::Div => lhs.checked_div(rhs),
                BinaryOp::Rem => lhs.checked_rem(rhs),
                BinaryOp::Shl => lhs.checked_mul(1_i128.checked_shl(u32::try_from(rhs).ok()?)?),
                BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shr
                | BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Hypot
                | BinaryOp::Copysign => None,
            }
        }
        syntax::ExprKind::Name(name) => {
            let item = cx.library.consts.iter().find(|item| item.name.text == name.text)?;
            constant(cx, &item.value)
        }
        syntax::ExprKind::Literal(_)
        | syntax::ExprKind::Path(_)
        | syntax::ExprKind::Index { .. }
        | syntax::ExprKind::Unary { .. }
        | syntax::ExprKind::Compare { .. }
        | syntax::ExprKind::Logic { .. }
        | syntax::ExprKind::Cast { .. }
        | syntax::ExprKind::Call { .. }
        | syntax::ExprKind::Method { .. }
        | syntax::ExprKind::If { .. }
        | syntax::ExprKind::Block { .. } => None,
    }
}
