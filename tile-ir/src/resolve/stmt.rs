//! Statements.

use super::convert::{Conversion, describe, expect_stored, expect_type};
use super::expr::{
    element_type, report_bare_array, report_not_assignable, resolve_access, resolve_condition,
    resolve_expr, resolve_index, resolve_shift_count, scalar_of,
};
use super::operate::{Obligation, Operation};
use super::scope::{Binding, resolve_name};
use super::types::{Openness, Ty};
use super::{Resolver, array, assume, counter, each, exchange, jump, type_expr};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{
    Access, ArrayRef, ElemType, ExprId, ExprKind, Literal, LoopRange, Place, Stmt, StmtKind,
    TensorParam, TileSpace, VarId, VarKind,
};
use crate::op::{AtomicOp, BinaryOp};
use crate::span::SpanId;
use crate::syntax::{self, Expr, Name, Old, OldValue, TensorSpace, TypeExpr, TypeExprKind};

/// Lowers a statement list; its names stay in force.
pub(super) fn resolve_stmts(cx: &mut Resolver, stmts: &[syntax::Stmt]) -> Vec<Stmt> {
    let mut out = Vec::new();
    for (position, stmt) in stmts.iter().enumerate() {
        let outer = std::mem::take(&mut cx.hoisted);
        let outer_start = std::mem::replace(&mut cx.statement_start, cx.kernel.exprs.len());
        let rest = &stmts[position + 1..];
        let with_rest = jump::resolve_exit(cx, stmt, rest, &mut out);
        if !with_rest {
            resolve_stmt(cx, stmt, &mut out);
        }
        cx.hoisted = outer;
        cx.statement_start = outer_start;
        if with_rest {
            break;
        }
    }
    out
}

/// Lowers a statement list with a scope of its own.
pub(super) fn resolve_block(cx: &mut Resolver, stmts: &[syntax::Stmt]) -> Vec<Stmt> {
    cx.scopes.enter();
    let out = resolve_stmts(cx, stmts);
    cx.scopes.leave();
    out
}

pub(super) fn resolve_stmt(cx: &mut Resolver, stmt: &syntax::Stmt, out: &mut Vec<Stmt>) {
    let kind = match &stmt.kind {
        syntax::StmtKind::Shared { name, elem, extents } => {
            each::declare_shared(cx, name, elem, extents, stmt.head);
            return;
        }
        syntax::StmtKind::Scope(body) => {
            out.extend(resolve_block(cx, body));
            return;
        }
        syntax::StmtKind::Let { name, mutable, ty, init } => {
            resolve_let(cx, name, *mutable, ty.as_ref(), init.as_ref())
        }
        syntax::StmtKind::LetArray { name, mutable, elem, extents, init } => {
            let position = out.len();
            let (stmt, init) = ((stmt, &mut *out), init.as_ref());
            array::declare_array(cx, (name, *mutable), elem, extents, init, stmt);
            out.splice(position..position, cx.hoisted.drain(..));
            return;
        }
        syntax::StmtKind::Assign { place, value } => resolve_assign(cx, place, value),
        syntax::StmtKind::Update { place, op, value } => {
            resolve_update(cx, place, *op, value, stmt.span)
        }
        syntax::StmtKind::Atomic { old, array, indices, place, op, expected, value } => {
            let operands = (expected.as_ref(), value);
            let target = (array, indices.as_slice(), *place);
            let update = resolve_atomic(cx, target, *op, operands, old.as_ref(), stmt.span);
            match old {
                Some(Old::Assigned(place)) if update.is_some() => {
                    out.append(&mut cx.hoisted);
                    out.extend(update.map(|kind| Stmt { kind, span: stmt.span, head: stmt.head }));
                    assign_old(cx, place)
                }
                _ => update,
            }
        }
        syntax::StmtKind::Load { tile, indices, value } => {
            each::resolve_load_stmt(cx, tile, indices, value, stmt)
        }
        syntax::StmtKind::Each { axes, body } => each::resolve_each(cx, axes, body, stmt.head),
        syntax::StmtKind::Phase { var, range, body } => {
            each::refuse_in_collective(cx, "phase", stmt.head);
            let (var, range, body) = resolve_loop(cx, var, range, body, out);
            Some(StmtKind::Phase { var, range, body })
        }
        syntax::StmtKind::For { var, range, body } => {
            let (var, range, body) = resolve_loop(cx, var, range, body, out);
            Some(StmtKind::For { var, range, body })
        }
        syntax::StmtKind::While { cond, body } => {
            let endless = jump::is_endless(cond);
            if endless {
                jump::require_end(cx, body, stmt.head);
            }
            let condition = resolve_condition(cx, cond);
            let exchanges = std::mem::take(&mut cx.hoisted);
            let (going, body) = jump::resolve_loop_body(cx, body, out);
            let cond = (condition, cond.span);
            let (cond, body) = exchange::make_anew(cx, cond, exchanges, body, (stmt, out));
            let cond = match going {
                Some(going) if endless => going,
                Some(going) => jump::both(cx, going, cond),
                None => cond,
            };
            Some(StmtKind::While { cond, body })
        }
        syntax::StmtKind::If { cond, then, otherwise } => {
            let (cond, then, otherwise) = jump::resolve_if(cx, cond, then, otherwise);
            Some(StmtKind::If { cond, then, otherwise })
        }
        syntax::StmtKind::Barrier => {
            each::refuse_in_collective(cx, "barrier", stmt.head);
            Some(StmtKind::Barrier)
        }
        syntax::StmtKind::Assume(fact) => assume::resolve_assume(cx, fact, stmt.span),
        syntax::StmtKind::WarpBarrier => exchange::resolve_warp_barrier(cx, stmt.head),
        syntax::StmtKind::Jump(what) => jump::resolve_jump(cx, *what, stmt.span),
    };
    out.append(&mut cx.hoisted);
    out.extend(kind.map(|kind| Stmt { kind, span: stmt.span, head: stmt.head }));
}

fn resolve_let(
    cx: &mut Resolver,
    name: &Name,
    mutable: bool,
    written: Option<&TypeExpr>,
    init: Option<&Expr>,
) -> Option<StmtKind> {
    let value = init.map(|init| resolve_expr(cx, init, Conversion::None));
    let ty = match (written, value) {
        (Some(written), _) => type_expr::resolve_type(cx, written),
        (None, Some(value)) => cx.type_of(value),
        (None, None) => cx.infer.open(Openness::Any),
    };
    let value = value.map(|value| expect_type(cx, value, ty, &format!("`{}`", name.text)));
    let accumulator = written.is_some_and(|ty| matches!(ty.kind, TypeExprKind::Acc(_)));
    if let Some(value) = value.filter(|_| !mutable && !accumulator)
        && exchange::take_name(cx, value, name)
    {
        return None;
    }
    let var = cx.declare_var(name, ty, VarKind::Let { mutable });
    cx.kernel.vars[var].accumulator = accumulator;
    if value.is_none() {
        cx.deferred.push(var);
    }
    Some(StmtKind::Let { var, init: value })
}

fn resolve_assign(cx: &mut Resolver, place: &syntax::Place, value: &Expr) -> Option<StmtKind> {
    match place {
        syntax::Place::Name(name) => {
            let Some(var) = resolve_target(cx, name, true) else {
                resolve_expr(cx, value, Conversion::None);
                return None;
            };
            if let Some((op, operand)) = as_extremum_update(cx, var, name, value) {
                let value = resolve_widened(cx, var, operand);
                return Some(StmtKind::Update { place: Place::Var(var), op, value });
            }
            let value = resolve_expr(cx, value, Conversion::None);
            let ty = cx.var_type(var);
            let value = expect_type(cx, value, ty, &format!("`{}`", name.text));
            Some(StmtKind::Assign { var, value })
        }
        syntax::Place::Index { array, indices, span } => {
            let access = resolve_written(cx, array, indices, *span);
            let value = resolve_expr(cx, value, Conversion::None);
            let access = access?;
            let value = match element_type(cx, access.array) {
                Some(elem) => expect_stored(cx, value, elem, &format!("`{}`", array.text)),
                None => value,
            };
            Some(StmtKind::Store { access, value })
        }
    }
}

/// `acc = min(acc, e)` or `acc = acc.max(e)` on an accumulator, which is an
/// update like `acc += e`.
fn as_extremum_update<'e>(
    cx: &Resolver,
    var: VarId,
    name: &Name,
    value: &'e Expr,
) -> Option<(BinaryOp, &'e Expr)> {
    if !cx.kernel.vars[var].accumulator {
        return None;
    }
    let (syntax::ExprKind::Call { func, args } | syntax::ExprKind::Method { func, args }) =
        &value.kind
    else {
        return None;
    };
    let op = match func.text.as_str() {
        "min" => BinaryOp::Min,
        "max" => BinaryOp::Max,
        _ => return None,
    };
    let is_target =
        |expr: &Expr| matches!(&expr.kind, syntax::ExprKind::Name(n) if n.text == name.text);
    match args.as_slice() {
        [first, operand] if is_target(first) => Some((op, operand)),
        [operand, second] if is_target(second) => Some((op, operand)),
        _ => None,
    }
}

/// The right-hand side of an update of variable `var`.
fn resolve_widened(cx: &mut Resolver, var: VarId, value: &Expr) -> ExprId {
    let ty = cx.var_type(var);
    let name = cx.kernel.vars[var].name.clone();
    let conversion = match scalar_of(ty) {
        Some(elem) if cx.kernel.vars[var].accumulator => Conversion::Widen(elem),
        Some(_) | None => Conversion::None,
    };
    let value = resolve_expr(cx, value, conversion);
    expect_type(cx, value, ty, &format!("`{name}`"))
}

fn resolve_update(
    cx: &mut Resolver,
    place: &syntax::Place,
    op: BinaryOp,
    value: &Expr,
    span: SpanId,
) -> Option<StmtKind> {
    let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let (place, value, ty) = match place {
        syntax::Place::Name(name) => {
            let Some(var) = resolve_target(cx, name, false) else {
                resolve_expr(cx, value, Conversion::None);
                return None;
            };
            let ty = cx.var_type(var);
            let value = if is_shift {
                let count = resolve_shift_count(cx, value, ty);
                expect_type(cx, count, ty, "the count")
            } else {
                resolve_widened(cx, var, value)
            };
            (Place::Var(var), value, ty)
        }
        syntax::Place::Index { array, indices, span } => {
            let (access, value, ty) =
                resolve_element_update(cx, (array, indices, *span), value, is_shift);
            (Place::Element(access?), value, ty)
        }
    };
    cx.obligations.push(Obligation { operation: Operation::Binary(op), ty, span });
    Some(StmtKind::Update { place, op, value })
}

/// `let old = atomic c[i] ⊕= e;`
fn resolve_atomic(
    cx: &mut Resolver,
    target: (&Name, &[Expr], SpanId),
    op: AtomicOp,
    (expected, value): (Option<&Expr>, &Expr),
    old: Option<&Old>,
    span: SpanId,
) -> Option<StmtKind> {
    let (access, value, ty) = resolve_element_update(cx, target, value, false);
    if let Some(access) = &access
        && cx.kernel.is_local(access.array)
    {
        let text = &target.0.text;
        let message = format!("`{text}` is one work-item's own: nobody else updates it");
        cx.diags.push(
            Diagnostic::error(Code::UnsupportedOperation, target.2, message)
                .help("leave out `atomic`, or take a tile or a tensor"),
        );
    }
    let place = format!("`{}`", target.0.text);
    let expected = expected.map(|expected| {
        let expected = resolve_expr(cx, expected, Conversion::None);
        expect_type(cx, expected, ty, &place)
    });
    cx.obligations.push(Obligation { operation: Operation::Atomic(op), ty, span });
    let old = old.map(|old| match old {
        Old::Declared(old) => declare_old(cx, old, ty),
        Old::Assigned(place) => name_old(cx, place, ty),
    });
    let access = access.filter(|access| !cx.kernel.is_local(access.array))?;
    Some(StmtKind::Atomic { access, op, expected, value, old })
}

/// `let old = atomic …;`
fn declare_old(cx: &mut Resolver, old: &OldValue, ty: Ty) -> VarId {
    if let Some(written) = &old.ty {
        let declared = type_expr::resolve_type(cx, written);
        if cx.infer.unify(&cx.kernel, declared, ty).is_none() {
            let (found, text) = (describe(cx, ty), describe(cx, declared));
            let message = format!("`{}` is {text}, and the element is {found}", old.name.text);
            cx.error(Code::TypeMismatch, written.span, message);
        }
    }
    cx.declare_var(&old.name, ty, VarKind::Let { mutable: old.mutable })
}

/// What stands for the old value in `at = atomic …;`: no name that can be written.
const OLD_VALUE: &str = "old value";

/// `at = atomic …;`: a variable that [`assign_old`] hands on.
fn name_old(cx: &mut Resolver, place: &syntax::Place, ty: Ty) -> VarId {
    let (syntax::Place::Name(name) | syntax::Place::Index { array: name, .. }) = place;
    let name = Name { text: "old".to_owned(), span: name.span };
    let var = cx.new_var(&name, ty, VarKind::Let { mutable: false });
    cx.scopes.declare(OLD_VALUE, Binding::Var(var));
    var
}

/// The assignment in `at = atomic …;`
fn assign_old(cx: &mut Resolver, place: &syntax::Place) -> Option<StmtKind> {
    let (syntax::Place::Name(name) | syntax::Place::Index { array: name, .. }) = place;
    let old = Name { text: OLD_VALUE.to_owned(), span: name.span };
    let value = Expr { span: name.span, kind: syntax::ExprKind::Name(old) };
    resolve_assign(cx, place, &value)
}

/// The element that an update changes, its operand, and the type of both.
fn resolve_element_update(
    cx: &mut Resolver,
    (array, indices, span): (&Name, &[Expr], SpanId),
    value: &Expr,
    is_shift: bool,
) -> (Option<Access>, ExprId, Ty) {
    let access = resolve_written(cx, array, indices, span);
    let elem = access.as_ref().and_then(|access| element_type(cx, access.array));
    let ty = elem.map_or(Ty::Poison, Ty::scalar);
    let value = match elem {
        _ if is_shift => resolve_shift_count(cx, value, ty),
        Some(elem @ ElemType::Acc(_)) => resolve_expr(cx, value, Conversion::Widen(elem)),
        Some(ElemType::Concrete(_) | ElemType::Param(_)) | None => {
            resolve_expr(cx, value, Conversion::None)
        }
    };
    let value = expect_type(cx, value, ty, &format!("`{}`", array.text));
    (access, value, ty)
}

/// The element that a statement writes; `None` where it was reported.
fn resolve_written(
    cx: &mut Resolver,
    array: &Name,
    indices: &[Expr],
    span: SpanId,
) -> Option<Access> {
    let access = resolve_access(cx, array, indices, span)?;
    if let ArrayRef::Tensor(tensor) = access.array
        && !cx.kernel.tensors[tensor].mutable
    {
        let TensorParam { space, span: declared, .. } = cx.kernel.tensors[tensor];
        let text = &array.text;
        let fault = match space {
            TensorSpace::Global => "is read-only",
            TensorSpace::Constant => "is in constant memory",
        };
        let message = format!("`{text}` {fault} and cannot be written");
        cx.diags.push(
            Diagnostic::error(Code::NotAssignable, array.span, message)
                .label(declared, format!("`{text}` is declared here"))
                .help(format!("declare it as `{text}: &mut Tensor<…>`")),
        );
        return None;
    }
    if let ArrayRef::Tile(tile) = access.array
        && cx.kernel.tiles[tile].space == (TileSpace::Local { mutable: false })
    {
        let (text, declared) = (&array.text, cx.kernel.tiles[tile].span);
        let message = format!("`{text}` is not `mut` and its elements cannot be assigned");
        cx.diags.push(
            Diagnostic::error(Code::NotAssignable, array.span, message)
                .label(declared, format!("`{text}` is declared here"))
                .help(format!("declare it as `let mut {text}`")),
        );
        return None;
    }
    Some(access)
}

/// The variable that a statement changes; `None` where it was reported. A plain
/// assignment (`first`) may give a `let` without value its first one.
fn resolve_target(cx: &mut Resolver, name: &Name, first: bool) -> Option<VarId> {
    let var = match resolve_name(cx, name)? {
        Binding::Var(var) => var,
        Binding::Tensor(tensor) => {
            report_bare_array(cx, name, ArrayRef::Tensor(tensor));
            return None;
        }
        Binding::Tile(tile) => {
            report_bare_array(cx, name, ArrayRef::Tile(tile));
            return None;
        }
        Binding::Const(_) | Binding::Value(_) => {
            let message = format!("`{}` is a constant and cannot be assigned", name.text);
            cx.error(Code::NotAssignable, name.span, message);
            return None;
        }
    };
    let kind = cx.kernel.vars[var].kind;
    let declared = cx.kernel.vars[var].span;
    let VarKind::Let { mutable } = kind else {
        report_not_assignable(cx, name, kind);
        return None;
    };
    let may_be_first = first && cx.deferred.contains(&var);
    if !mutable && !may_be_first {
        let text = &name.text;
        let message = format!("`{text}` is not `mut` and cannot be assigned again");
        cx.diags.push(
            Diagnostic::error(Code::NotAssignable, name.span, message)
                .label(declared, format!("`{text}` is declared here"))
                .help(format!("declare it as `let mut {text}`")),
        );
        return None;
    }
    if each::is_outside_collective(cx, name) {
        each::report_shared_variable(cx, name, declared);
        return None;
    }
    Some(var)
}

fn resolve_loop(
    cx: &mut Resolver,
    name: &Name,
    range: &syntax::Range,
    body: &[syntax::Stmt],
    out: &mut Vec<Stmt>,
) -> (VarId, LoopRange, Vec<Stmt>) {
    let range = resolve_range(cx, range, name.span);
    cx.scopes.enter();
    let var = cx.declare_var(name, Ty::INDEX, VarKind::Loop);
    if let LoopRange::Between { start, end, .. } = &range
        && let Some(counted) = counter::between(cx, *start, *end)
    {
        cx.counters.push((var, counted));
    }
    let (going, mut body) = jump::resolve_loop_body(cx, body, out);
    cx.scopes.leave();
    if let Some(cond) = going {
        let kind = StmtKind::If { cond, then: body, otherwise: Vec::new() };
        body = vec![Stmt { kind, span: name.span, head: name.span }];
    }
    (var, range, body)
}

fn resolve_range(cx: &mut Resolver, range: &syntax::Range, span: SpanId) -> LoopRange {
    match range {
        syntax::Range::Between { start, end, inclusive, step, reversed } => {
            let start = resolve_index(cx, start);
            let mut last = resolve_index(cx, end);
            if *inclusive {
                let one = push_int(cx, 1, end.span);
                let sum = ExprKind::Binary { op: BinaryOp::Add, lhs: last, rhs: one };
                last = cx.push(sum, Ty::INDEX, end.span);
            }
            let step = step.as_ref().map(|step| resolve_index(cx, step));
            LoopRange::Between { start, end: last, step, reversed: *reversed }
        }
        syntax::Range::Tiles { extent, tile, reversed } => {
            let start = push_int(cx, 0, span);
            let (extent_id, tile) = (resolve_index(cx, extent), resolve_index(cx, tile));
            let kind = ExprKind::Tiles { extent: extent_id, tile };
            let end = cx.push(kind, Ty::INDEX, extent.span);
            LoopRange::Between { start, end, step: None, reversed: *reversed }
        }
        syntax::Range::Halving(n) => LoopRange::Halving(resolve_index(cx, n)),
        syntax::Range::Doubling(n) => LoopRange::Doubling(resolve_index(cx, n)),
    }
}

/// An index literal that the text only implies.
fn push_int(cx: &mut Resolver, value: i128, span: SpanId) -> ExprId {
    cx.push(ExprKind::Literal(Literal::Int(value)), Ty::INDEX, span)
}
