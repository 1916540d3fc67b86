//! Calls of the functions that stand beside a kernel, and constants.
//!
//! A call is replaced by the function's result. An argument is evaluated once:
//! one that the function names several times becomes a variable before the
//! statement, unless it is a name or a literal. Where the call need not be
//! evaluated, what the argument reads is read under the same condition.
//!
//! Arguments, `let`s and results are values, as they are for a `let` in a kernel:
//! a product that crosses one of them is rounded, and feeds no fma
//! ([`rounded`]). So the meaning does not depend on how often a name is used.

use super::convert::{Conversion, convert, expect_type};
use super::expr::resolve_expr;
use super::operate::{Obligation, Operation, check_bound};
use super::scope::{Binding, Naming};
use super::types::{Class, Openness, Ty};
use super::{Resolver, type_expr};
use crate::arena::EntityId as _;
use crate::diag::{Code, Diagnostic};
use crate::kernel::{
    ExprId, ExprKind, Literal, Stmt, StmtKind, Type, VarId, VarKind, any_subexpr, copy_expr,
};
use crate::op::{BinaryOp, UnaryOp};
use crate::span::SpanId;
use crate::syntax::{self, Expr, FunctionItem, FunctionParam, Name, TypeExprKind};

/// How many nodes a statement may have once its functions are written out: later
/// phases walk it recursively.
const MAX_NODES: usize = 4000;

/// What a parameter or `let` of a function stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// An expression; every use but the first is a copy of it.
    Expr {
        /// The expression.
        id: ExprId,
        /// Whether it has been used.
        used: bool,
    },
    /// A variable that holds it.
    Var(VarId),
}

/// A function that is being written out: what its type parameters are.
#[derive(Debug)]
pub(super) struct Frame {
    types: Vec<(String, Ty)>,
    /// Where it is named.
    call: SpanId,
}

/// Position of the function of that name.
pub(super) fn find_function(cx: &Resolver, name: &str) -> Option<usize> {
    cx.library.functions.iter().position(|function| function.name.text == name)
}

/// Where the function around is called.
pub(super) fn call_of(cx: &Resolver) -> Option<SpanId> {
    cx.frames.last().map(|frame| frame.call)
}

/// What a type parameter of the function around is; `None` where there is no
/// such parameter, or no function.
pub(super) fn type_argument(cx: &Resolver, name: &str) -> Option<Ty> {
    let frame = cx.frames.last()?;
    frame.types.iter().find(|(param, _)| param == name).map(|(_, ty)| cx.infer.resolve(*ty))
}

/// Whether a call of function `index` gives an index.
pub(super) fn gives_index(cx: &Resolver, index: usize) -> bool {
    is_named(&cx.library.functions[index].result, "index")
}

/// Whether a constant is an index.
pub(super) fn is_index_const(cx: &Resolver, position: usize) -> bool {
    is_named(&cx.library.consts[position].ty, "index")
}

fn is_named(ty: &syntax::TypeExpr, wanted: &str) -> bool {
    matches!(&ty.kind, TypeExprKind::Name(name) if name.text == wanted)
}

/// Whether the type is a type parameter of `function`.
fn is_param(function: &FunctionItem, ty: &syntax::TypeExpr) -> bool {
    function.type_params.iter().any(|param| is_named(ty, &param.name.text))
}

/// Lowers a call of function `index`.
pub(super) fn resolve_function_call(
    cx: &mut Resolver,
    index: usize,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    let library = cx.library.clone();
    let function = &library.functions[index];
    if !may_be_called(cx, func, function, args) {
        args.iter().for_each(|arg| {
            resolve_expr(cx, arg, Conversion::None);
        });
        return cx.push_poison(span);
    }
    let params = function.type_params.iter();
    let types = params.map(|param| (param.name.text.clone(), cx.infer.open(Openness::Any)));
    let types: Vec<(String, Ty)> = types.collect();
    // Of a generic function in `acc ⊕= e`, the arguments are leaves of `e`.
    let inner = match conversion {
        Conversion::Widen(_) => conversion,
        Conversion::None | Conversion::ToIndex => Conversion::None,
    };
    let mut values = Vec::new();
    for (param, arg) in function.params.iter().zip(args) {
        let conversion = match () {
            () if is_param(function, &param.ty) => inner,
            () if is_named(&param.ty, "index") => Conversion::ToIndex,
            () => Conversion::None,
        };
        let id = resolve_expr(cx, arg, conversion);
        values.push(resolve_argument(cx, (function, param), &types, id));
    }
    let mut admitted = true;
    for (position, (_, ty)) in types.iter().enumerate() {
        if let Ty::Known(known) = cx.infer.resolve(*ty) {
            admitted &= check_bound(cx, (index, position), known, func.span);
            continue;
        }
        let operation = Operation::Satisfies { function: index, param: position };
        cx.obligations.push(Obligation { operation, ty: *ty, span: func.span });
    }
    if !admitted {
        return cx.push_poison(span);
    }
    let result = match cx.signatures_only {
        true => {
            let ty = in_frame(cx, types, span, |cx| type_expr::resolve_type(cx, &function.result));
            cx.push(ExprKind::Literal(Literal::Int(0)), ty, span)
        }
        false => in_frame(cx, types, span, |cx| write_out(cx, function, values, span)),
    };
    match conversion {
        Conversion::Widen(_) if is_param(function, &function.result) => result,
        Conversion::None | Conversion::ToIndex | Conversion::Widen(_) => {
            convert(cx, result, conversion)
        }
    }
}

/// Reports a call where none may stand, and another number of arguments than the
/// function has parameters.
fn may_be_called(cx: &mut Resolver, func: &Name, function: &FunctionItem, args: &[Expr]) -> bool {
    let name = &func.text;
    let (wanted, given) = (function.params.len(), args.len());
    if wanted != given {
        let plural = if wanted == 1 { "" } else { "s" };
        let are = if given == 1 { "is" } else { "are" };
        let message = format!("`{name}` takes {wanted} argument{plural}, and {given} {are} given");
        cx.diags.push(
            Diagnostic::error(Code::UnsupportedOperation, func.span, message)
                .label(function.name.span, format!("`{name}` is declared here")),
        );
        return false;
    }
    if cx.kernel.exprs.len() - cx.statement_start > MAX_NODES {
        let message = "this statement is too long once its functions are written out";
        cx.diags.push(
            Diagnostic::error(Code::Syntax, func.span, message)
                .help(format!("give its parts names before: `let x = {name}(…);`")),
        );
        return false;
    }
    true
}

/// Makes an argument one of its parameter's type.
fn resolve_argument(
    cx: &mut Resolver,
    (function, param): (&FunctionItem, &FunctionParam),
    types: &[(String, Ty)],
    id: ExprId,
) -> ExprId {
    let ty = match types.iter().find(|(name, _)| is_named(&param.ty, name)) {
        Some((_, ty)) => *ty,
        None => {
            let span = cx.kernel.exprs[id].span;
            in_frame(cx, Vec::new(), span, |cx| type_expr::resolve_type(cx, &param.ty))
        }
    };
    let place = format!("`{}` of `{}`", param.name.text, function.name.text);
    expect_type(cx, id, ty, &place)
}

/// Runs `lower` where only the constants are in force, and the types of `types`.
fn in_frame<R>(
    cx: &mut Resolver,
    types: Vec<(String, Ty)>,
    call: SpanId,
    lower: impl FnOnce(&mut Resolver) -> R,
) -> R {
    let outer = std::mem::take(&mut cx.scopes);
    declare_consts(cx);
    cx.scopes.enter();
    cx.frames.push(Frame { types, call });
    let asked = cx.obligations.len();
    let result = lower(cx);
    if !cx.signatures_only {
        // The library's check has answered them, for all types that its bounds admit.
        cx.obligations.truncate(asked);
    }
    cx.frames.pop();
    cx.scopes = outer;
    result
}

/// Brings the constants into force, in a scope of their own.
pub(super) fn declare_consts(cx: &mut Resolver) {
    let library = cx.library.clone();
    cx.scopes.enter();
    for (position, item) in library.consts.iter().enumerate() {
        cx.scopes.declare(&item.name.text, Binding::Const(position));
    }
}

/// The result of `function`, whose arguments are `values`.
fn write_out(
    cx: &mut Resolver,
    function: &FunctionItem,
    values: Vec<ExprId>,
    span: SpanId,
) -> ExprId {
    let before = cx.kernel.exprs.len();
    for (position, (param, id)) in function.params.iter().zip(values).enumerate() {
        let lets = function.lets.iter().map(|item| &item.value);
        let uses = lets.chain([&function.value]).map(|expr| uses_in(expr, &param.name.text));
        let hidden = function.params[position + 1..].iter().any(|p| p.name.text == param.name.text);
        if !hidden {
            bind(cx, &param.name, id, uses.sum());
        }
    }
    bind_lets(cx, &function.lets, &function.value);
    let value = resolve_expr(cx, &function.value, Conversion::None);
    let ty = type_expr::resolve_type(cx, &function.result);
    let place = format!("the result of `{}`", function.name.text);
    let value = expect_type(cx, value, ty, &place);
    stand_at(cx, value, before, span)
}

/// Brings the names of `lets` into force, which `value` uses.
pub(super) fn bind_lets(cx: &mut Resolver, lets: &[syntax::ValueLet], value: &Expr) {
    for (position, item) in lets.iter().enumerate() {
        let id = resolve_let(cx, item);
        let later = lets[position + 1..].iter().map(|item| &item.value);
        let uses = later.chain([value]).map(|expr| uses_in(expr, &item.name.text));
        bind(cx, &item.name, id, uses.sum());
    }
}

/// The value of a function or constant, as what stands at its use. What was there
/// before keeps its place.
fn stand_at(cx: &mut Resolver, id: ExprId, before: usize, span: SpanId) -> ExprId {
    let id = rounded(cx, id);
    if id.index() >= before {
        cx.kernel.exprs[id].span = span;
    }
    id
}

/// The value of a `let` of a function or an arm.
pub(super) fn resolve_let(cx: &mut Resolver, item: &syntax::ValueLet) -> ExprId {
    let value = resolve_expr(cx, &item.value, Conversion::None);
    match &item.ty {
        Some(ty) => {
            let ty = type_expr::resolve_type(cx, ty);
            expect_type(cx, value, ty, &format!("`{}`", item.name.text))
        }
        None => value,
    }
}

/// The value of a constant.
pub(super) fn resolve_const(cx: &mut Resolver, position: usize, span: SpanId) -> ExprId {
    let before = cx.kernel.exprs.len();
    let library = cx.library.clone();
    let item = &library.consts[position];
    let naming = std::mem::replace(&mut cx.naming, Naming::Constants("a constant"));
    let value = in_frame(cx, Vec::new(), span, |cx| {
        let value = resolve_expr(cx, &item.value, Conversion::None);
        let ty = type_expr::resolve_type(cx, &item.ty);
        expect_type(cx, value, ty, &format!("`{}`", item.name.text))
    });
    cx.naming = naming;
    stand_at(cx, value, before, span)
}

/// A use of a function's name for a value.
pub(super) fn resolve_bound(cx: &mut Resolver, position: usize, span: SpanId) -> ExprId {
    match cx.values[position] {
        Value::Expr { id, used: false } => {
            cx.values[position] = Value::Expr { id, used: true };
            id
        }
        Value::Expr { id, used: true } => copy(cx, id),
        Value::Var(var) => {
            let ty = cx.var_type(var);
            cx.push(ExprKind::Var(var), ty, span)
        }
    }
}

/// What is known of the type of a function's name.
pub(super) fn bound_type(cx: &Resolver, position: usize) -> Ty {
    match cx.values[position] {
        Value::Expr { id, .. } => cx.type_of(id),
        Value::Var(var) => cx.var_type(var),
    }
}

/// Gives `name` the value `id`, which the function uses so often.
fn bind(cx: &mut Resolver, name: &Name, id: ExprId, uses: usize) {
    let id = rounded(cx, id);
    let is_short = matches!(cx.kernel.exprs[id].kind, ExprKind::Literal(_) | ExprKind::Var(_));
    let named = (uses > 1 && !is_short && cx.naming == Naming::Body)
        .then(|| name_before(cx, &name.text, id))
        .flatten();
    let value = named.map_or(Value::Expr { id, used: false }, Value::Var);
    cx.scopes.declare(&name.text, Binding::Value(cx.values.len()));
    cx.values.push(value);
}

/// A variable with the value of `id`, declared before the statement; `None`
/// where its type has no value to stand in where `id` is not evaluated.
pub(super) fn name_before(cx: &mut Resolver, name: &str, id: ExprId) -> Option<VarId> {
    let (ty, span) = (cx.type_of(id), cx.kernel.exprs[id].span);
    let mut init = id;
    if any_subexpr(&cx.kernel, id, &mut |kind| matches!(kind, ExprKind::Load(_))) {
        for (cond, holds) in cx.path.clone().into_iter().rev() {
            let zero = zero_of(cx, ty)?;
            let otherwise = cx.push(ExprKind::Literal(zero), ty, span);
            let mut cond = copy(cx, cond);
            if !holds {
                let kind = ExprKind::Unary { op: UnaryOp::Not, operand: cond };
                cond = cx.push(kind, Ty::BOOL, span);
            }
            init = cx.push(ExprKind::Select { cond, then: init, otherwise }, ty, span);
        }
    }
    let name = Name { text: name.to_owned(), span };
    let var = cx.new_var(&name, ty, VarKind::Let { mutable: false });
    let kind = StmtKind::Let { var, init: Some(init) };
    cx.hoisted.push(Stmt { kind, span, head: span });
    Some(var)
}

/// A value of type `ty`, where every type that it may be has one.
fn zero_of(cx: &Resolver, ty: Ty) -> Option<Literal> {
    match cx.infer.resolve(ty) {
        Ty::Known(Type::BOOL) => Some(Literal::Bool(false)),
        Ty::Known(known) => Class::of(&cx.kernel, known).is_number().then_some(Literal::Int(0)),
        Ty::Infer(_) => (cx.infer.openness(ty) != Some(Openness::Any)).then_some(Literal::Int(0)),
        Ty::Poison => None,
    }
}

/// A product as a value of its own: a conversion to the type that it has.
pub(super) fn rounded(cx: &mut Resolver, id: ExprId) -> ExprId {
    if !matches!(cx.kernel.exprs[id].kind, ExprKind::Binary { op: BinaryOp::Mul, .. }) {
        return id;
    }
    let ty = cx.type_of(id);
    let is_exact = match ty {
        Ty::Known(known) => matches!(Class::of(&cx.kernel, known), Class::Index | Class::Integer),
        Ty::Infer(_) => false,
        Ty::Poison => true,
    };
    let span = cx.kernel.exprs[id].span;
    if is_exact { id } else { cx.push(ExprKind::Cast(id), ty, span) }
}

/// A copy of an expression.
pub(super) fn copy(cx: &mut Resolver, id: ExprId) -> ExprId {
    let copied = copy_expr(&mut cx.kernel, id, &mut |_, _| None);
    cx.expr_types.resize(cx.kernel.exprs.len(), Ty::Poison);
    copy_types(cx, id, copied);
    copied
}

fn copy_types(cx: &mut Resolver, from: ExprId, to: ExprId) {
    cx.expr_types[to.index()] = cx.expr_types[from.index()];
    let pairs = [from, to].map(|id| cx.kernel.exprs[id].kind.operands());
    let [from, to] = pairs;
    from.into_iter().zip(to).for_each(|(from, to)| copy_types(cx, from, to));
}

/// How often a name stands in an expression.
pub(super) fn uses_in(expr: &Expr, wanted: &str) -> usize {
    let of = |exprs: &[&Expr]| exprs.iter().map(|expr| uses_in(expr, wanted)).sum();
    match &expr.kind {
        syntax::ExprKind::Name(name) => usize::from(name.text == wanted),
        syntax::ExprKind::Unary { operand, .. } | syntax::ExprKind::Cast { operand, .. } => {
            uses_in(operand, wanted)
        }
        syntax::ExprKind::Binary { lhs, rhs, .. }
        | syntax::ExprKind::Compare { lhs, rhs, .. }
        | syntax::ExprKind::Logic { lhs, rhs, .. } => of(&[lhs, rhs]),
        syntax::ExprKind::Index { indices: args, .. }
        | syntax::ExprKind::Call { args, .. }
        | syntax::ExprKind::Method { args, .. } => args.iter().map(|e| uses_in(e, wanted)).sum(),
        syntax::ExprKind::If { cond, then, otherwise } => of(&[cond, then, otherwise]),
        syntax::ExprKind::Block { lets, value } => {
            let lets = lets.iter().map(|item| uses_in(&item.value, wanted));
            lets.sum::<usize>() + uses_in(value, wanted)
        }
        syntax::ExprKind::Literal(_) | syntax::ExprKind::Path(_) => 0,
    }
}
