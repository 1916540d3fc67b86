//! The functions and constants beside the kernels, checked by themselves: for
//! every type that their bounds admit, called or not.
//!
//! A call is taken at its word, the function's signature, so that each mistake is
//! found once, where it stands; that none calls itself is asked before.

use super::convert::{Conversion, expect_type};
use super::expr::resolve_expr;
use super::function::{declare_consts, resolve_const, resolve_let};
use super::types::Ty;
use super::{Resolver, in_order_of_text, type_expr};
use crate::arena::Arena;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::dtype::DType;
use crate::kernel::{Kernel, TypeParam, VarKind};
use crate::span::SpanTable;
use crate::syntax::{
    ConstItem, Expr, ExprKind, FunctionItem, Library, Name, TypeExpr, TypeExprKind,
};

/// Checks the functions and constants of an invocation.
///
/// # Errors
///
/// All mistakes found, at the user's tokens, in the order of the text.
pub fn check_library(library: &Library, spans: &SpanTable) -> Result<(), Diagnostics> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for name in names(library) {
        if super::call::is_built_in(&name.text) {
            let message = format!("`{}` is a function of the language already", name.text);
            found.push(Diagnostic::error(Code::DuplicateName, name.span, message));
        }
    }
    match find_cycle(library) {
        Some(cycle) => found.push(report_cycle(library, &cycle)),
        None => check_items(library, spans, &mut found),
    }
    if found.is_empty() {
        return Ok(());
    }
    let mut diags = Diagnostics::new();
    found.into_iter().for_each(|diagnostic| diags.push(diagnostic));
    Err(in_order_of_text(diags, spans))
}

fn check_items(library: &Library, spans: &SpanTable, found: &mut Vec<Diagnostic>) {
    for function in &library.functions {
        let cx = checker(library, spans, function.name.clone());
        found.extend(check_function(cx, function).into_iter().flatten());
    }
    for (position, item) in library.consts.iter().enumerate() {
        let cx = checker(library, spans, item.name.clone());
        found.extend(check_const(cx, position, item).into_iter().flatten());
    }
}

fn names(library: &Library) -> impl Iterator<Item = &Name> {
    let functions = library.functions.iter().map(|function| &function.name);
    functions.chain(library.consts.iter().map(|item| &item.name))
}

/// A resolver without a kernel.
fn checker(library: &Library, spans: &SpanTable, name: Name) -> Resolver {
    let kernel = Kernel {
        name: name.text,
        docs: Vec::new(),
        type_params: Arena::new(),
        params: Vec::new(),
        tensors: Arena::new(),
        scalars: Arena::new(),
        tile_params: Arena::new(),
        constraints: Vec::new(),
        grid: Vec::new(),
        block: None,
        tiles: Arena::new(),
        vars: Arena::new(),
        exprs: Arena::new(),
        body: Vec::new(),
        exits: Vec::new(),
        promises: Vec::new(),
        spans: spans.clone(),
        span: name.span,
    };
    Resolver { signatures_only: true, ..Resolver::new(kernel, library) }
}

fn check_function(mut cx: Resolver, function: &FunctionItem) -> Option<Diagnostics> {
    declare_type_params(&mut cx, function);
    declare_consts(&mut cx);
    cx.scopes.enter();
    for (position, param) in function.params.iter().enumerate() {
        if function.params[..position].iter().any(|earlier| earlier.name.text == param.name.text) {
            let message = format!("`{}` is declared twice", param.name.text);
            cx.error(Code::DuplicateName, param.name.span, message);
        }
        let ty = value_type(&mut cx, &param.ty, "a function's parameter");
        cx.declare_var(&param.name, ty, VarKind::Let { mutable: false });
    }
    for item in &function.lets {
        let value = resolve_let(&mut cx, item);
        let ty = cx.type_of(value);
        cx.declare_var(&item.name, ty, VarKind::Let { mutable: false });
    }
    let value = resolve_expr(&mut cx, &function.value, Conversion::None);
    let ty = value_type(&mut cx, &function.result, "a function's result");
    expect_type(&mut cx, value, ty, &format!("the result of `{}`", function.name.text));
    cx.finish().err()
}

fn declare_type_params(cx: &mut Resolver, function: &FunctionItem) {
    for param in &function.type_params {
        let name = &param.name;
        if type_expr::find_type_param(cx, &name.text).is_some() {
            let message = format!("the type parameter `{}` is declared twice", name.text);
            cx.error(Code::DuplicateName, name.span, message);
        }
        if DType::from_name(&name.text).is_some() || name.text == "index" {
            let message = format!("`{}` is a type of the language already", name.text);
            cx.error(Code::DuplicateName, name.span, message);
        }
        let is_taken = |ty: &TypeExpr| matches!(&ty.kind, TypeExprKind::Name(written) if written.text == name.text);
        if !function.params.iter().any(|param| is_taken(&param.ty)) {
            let message = format!(
                "no parameter is of the type `{}`, so a call cannot say what it is",
                name.text
            );
            cx.diags.push(
                Diagnostic::error(Code::BadHeader, name.span, message)
                    .help(format!("use it in a parameter: `x: {}`", name.text)),
            );
        }
        cx.kernel.type_params.push(TypeParam {
            name: name.text.clone(),
            bound: param.bound,
            span: name.span,
        });
    }
}

/// The type of a parameter or a result: no `Acc<…>`, which a call could not tell.
fn value_type(cx: &mut Resolver, ty: &TypeExpr, what: &str) -> Ty {
    let TypeExprKind::Acc(name) = &ty.kind else { return type_expr::resolve_type(cx, ty) };
    let message = format!("{what} cannot be of type `Acc<{}>`", name.text);
    cx.diags.push(Diagnostic::error(Code::TypeMismatch, ty.span, message).help(format!(
        "take `{}`: with an accumulator, the function computes in its type",
        name.text
    )));
    Ty::Poison
}

fn check_const(mut cx: Resolver, position: usize, item: &ConstItem) -> Option<Diagnostics> {
    value_type(&mut cx, &item.ty, "a constant");
    resolve_const(&mut cx, position, item.name.span);
    cx.finish().err()
}

/// A way from a function or constant through others back to itself.
fn find_cycle(library: &Library) -> Option<Vec<&Name>> {
    let edges = |name: &str| {
        let mut out = Vec::new();
        if let Some(function) = library.functions.iter().find(|f| f.name.text == name) {
            function.lets.iter().for_each(|item| named_in(&item.value, &mut out));
            named_in(&function.value, &mut out);
        } else if let Some(item) = library.consts.iter().find(|item| item.name.text == name) {
            named_in(&item.value, &mut out);
        }
        out
    };
    let mut done: Vec<&str> = Vec::new();
    for start in names(library) {
        let mut way = vec![(start, edges(&start.text))];
        while let Some((_, rest)) = way.last_mut() {
            let Some(next) = rest.pop() else {
                done.extend(way.pop().map(|(name, _)| name.text.as_str()));
                continue;
            };
            if let Some(at) = way.iter().position(|(name, _)| name.text == next.text) {
                // Named as they are called, the last where it calls the first.
                let calls = way[at..].iter().map(|(name, _)| *name);
                return Some(calls.chain([next]).collect());
            }
            let is_item = names(library).any(|name| name.text == next.text);
            if is_item && !done.contains(&next.text.as_str()) {
                way.push((next, edges(&next.text)));
            }
        }
    }
    None
}

/// The names of functions and values in an expression.
fn named_in<'e>(expr: &'e Expr, out: &mut Vec<&'e Name>) {
    match &expr.kind {
        ExprKind::Name(name) => out.push(name),
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => named_in(operand, out),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logic { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|e| named_in(e, out)),
        ExprKind::Call { func, args } | ExprKind::Method { func, args } => {
            out.push(func);
            args.iter().for_each(|arg| named_in(arg, out));
        }
        ExprKind::Index { indices, .. } => indices.iter().for_each(|index| named_in(index, out)),
        ExprKind::If { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|part| named_in(part, out));
        }
        ExprKind::Block { lets, value } => {
            lets.iter().for_each(|item| named_in(&item.value, out));
            named_in(value, out);
        }
        ExprKind::Literal(_) | ExprKind::Path(_) => {}
    }
}

fn report_cycle(library: &Library, cycle: &[&Name]) -> Diagnostic {
    let way: Vec<String> = cycle.iter().map(|name| format!("`{}`", name.text)).collect();
    let (first, last) = (cycle[0], cycle[cycle.len() - 1]);
    let is_const = library.consts.iter().any(|item| item.name.text == first.text);
    let verb = if is_const { "is made of" } else { "calls" };
    let message = format!("`{}` {verb} itself: {}", first.text, way.join(" → "));
    Diagnostic::error(Code::UnsupportedOperation, last.span, message)
        .note("functions and constants are written out where they are named")
}
