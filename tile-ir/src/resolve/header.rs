//! The signature and the header: type parameters, parameters, dimensions, tile
//! parameters, grid and block.

use super::convert::{Conversion, expect_type};
use super::each::{check_axes, check_extents};
use super::expr::{resolve_condition, resolve_expr, resolve_index};
use super::scope::{Binding, Naming};
use super::types::Ty;
use super::{Resolver, domain, type_expr};
use crate::arena::EntityId as _;
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, Axis, Edge, EdgeRule, ElemType, Param, Place, ScalarId, ScalarParam, Stmt, StmtKind,
    TensorId, TensorParam, TypeParam, VarKind,
};
use crate::span::SpanId;
use crate::syntax::{
    self, EdgeAttr, Expr, KernelItem, Name, ParamKind, TensorSpace, TypeExpr, TypeExprKind,
};

/// Lowers everything before the body; leaves its names in force.
pub(super) fn resolve_header(cx: &mut Resolver, item: &KernelItem) {
    cx.scopes.enter();
    resolve_type_params(cx, item);
    declare_scalars(cx, &item.params);
    declare_dims(cx, item);
    domain::resolve_tile_params(cx, &item.tiles);
    resolve_params(cx, &item.params);
    require_plain_dims(cx, item);
    cx.naming = Naming::TileParams("a condition on tile sizes");
    for constraint in &item.constraints {
        let cond = resolve_condition(cx, &constraint.cond);
        cx.kernel.constraints.push(cond);
    }
    resolve_domains(cx, item);
}

fn resolve_type_params(cx: &mut Resolver, item: &KernelItem) {
    for param in &item.type_params {
        let name = &param.name;
        if type_expr::find_type_param(cx, &name.text).is_some() {
            let message = format!("the type parameter `{}` is declared twice", name.text);
            cx.error(Code::DuplicateName, name.span, message);
            continue;
        }
        if DType::from_name(&name.text).is_some() || name.text == "index" {
            let message = format!("`{}` is a type of the language already", name.text);
            cx.error(Code::DuplicateName, name.span, message);
        }
        cx.kernel.type_params.push(TypeParam {
            name: name.text.clone(),
            bound: param.bound,
            span: name.span,
        });
        if !item.params.iter().any(|other| mentions_type(&other.kind, &name.text)) {
            cx.diags.push(
                Diagnostic::error(
                    Code::BadHeader,
                    name.span,
                    format!(
                        "no parameter is of the type `{}`, so a launch cannot say what it is",
                        name.text
                    ),
                )
                .help(format!("use it in a parameter: `&Tensor<{}, [N]>`", name.text)),
            );
        }
    }
}

fn mentions_type(kind: &ParamKind, name: &str) -> bool {
    let (ParamKind::Tensor { elem: ty, .. } | ParamKind::Scalar { ty }) = kind;
    matches!(&ty.kind, TypeExprKind::Name(written) if written.text == name)
}

/// Brings a name of the header into force; reports one that is taken.
pub(super) fn declare_unique(cx: &mut Resolver, name: &Name, binding: Binding) {
    if let Some((earlier, _)) = cx.scopes.lookup(&name.text) {
        let declared = match earlier {
            Binding::Var(var) => cx.kernel.vars[var].span,
            Binding::Tensor(tensor) => cx.kernel.tensors[tensor].span,
            Binding::Tile(tile) => cx.kernel.tiles[tile].span,
            Binding::Const(position) => cx.library.consts[position].name.span,
            // No name of a function is in force in a header.
            Binding::Value(_) => name.span,
        };
        let mut places = [declared, name.span];
        places.sort_by_key(|span| {
            let range = cx.kernel.spans.range(*span);
            (range.line, range.column)
        });
        let [first, second] = places;
        cx.diags.push(
            Diagnostic::error(
                Code::DuplicateName,
                second,
                format!("`{}` is declared twice", name.text),
            )
            .label(first, "the first declaration is here"),
        );
        cx.ambiguous.push(name.text.clone());
        return;
    }
    cx.scopes.declare(&name.text, binding);
}

/// Declares the dimensions: all names in the parameters' extents that are not
/// tile parameters.
fn declare_dims(cx: &mut Resolver, item: &KernelItem) {
    let mut names = Vec::new();
    for param in &item.params {
        if let ParamKind::Tensor { extents, .. } = &param.kind {
            extents.iter().for_each(|extent| names_in(extent, &mut names));
        }
    }
    for name in names {
        let is_tile_param = item.tiles.iter().any(|param| param.name.text == name.text);
        if !is_tile_param && cx.scopes.lookup(&name.text).is_none() {
            cx.declare_var(name, Ty::INDEX, VarKind::Dim);
        }
    }
}

/// The plain names in an expression, in order.
fn names_in<'e>(expr: &'e Expr, out: &mut Vec<&'e Name>) {
    match &expr.kind {
        syntax::ExprKind::Name(name) => out.push(name),
        syntax::ExprKind::Unary { operand, .. } | syntax::ExprKind::Cast { operand, .. } => {
            names_in(operand, out);
        }
        syntax::ExprKind::Binary { lhs, rhs, .. }
        | syntax::ExprKind::Compare { lhs, rhs, .. }
        | syntax::ExprKind::Logic { lhs, rhs, .. } => {
            names_in(lhs, out);
            names_in(rhs, out);
        }
        syntax::ExprKind::Call { args, .. }
        | syntax::ExprKind::Method { args, .. }
        | syntax::ExprKind::Index { indices: args, .. } => {
            args.iter().for_each(|arg| names_in(arg, out));
        }
        syntax::ExprKind::If { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|part| names_in(part, out));
        }
        syntax::ExprKind::Block { lets, value } => {
            lets.iter().for_each(|item| names_in(&item.value, out));
            names_in(value, out);
        }
        syntax::ExprKind::Literal(_) | syntax::ExprKind::Path(_) => {}
    }
}

/// Declares the scalar parameters, before the extents, which may not name them:
/// so the message can say what they are.
fn declare_scalars(cx: &mut Resolver, params: &[syntax::Param]) {
    for param in params {
        if let ParamKind::Scalar { ty } = &param.kind {
            declare_scalar(cx, &param.name, ty);
        }
    }
}

fn declare_scalar(cx: &mut Resolver, name: &Name, ty: &TypeExpr) {
    let elem = param_elem(cx, ty, "a parameter");
    let id = ScalarId::from_index(cx.kernel.scalars.len());
    let ty = elem.map_or(Ty::Poison, Ty::scalar);
    let var = cx.new_var(name, ty, VarKind::Scalar(id));
    cx.kernel.scalars.push(ScalarParam {
        name: name.text.clone(),
        elem: elem.unwrap_or(ElemType::Concrete(DType::Bool)),
        var,
        span: name.span,
    });
    declare_unique(cx, name, Binding::Var(var));
}

fn resolve_params(cx: &mut Resolver, params: &[syntax::Param]) {
    let mut scalars = cx.kernel.scalars.ids();
    for param in params {
        let resolved = match &param.kind {
            ParamKind::Tensor { space, mutable, elem, extents } => {
                let reference = (*space, *mutable);
                Some(Param::Tensor(resolve_tensor(cx, param, reference, elem, extents)))
            }
            ParamKind::Scalar { .. } => {
                if let Some(EdgeAttr::Pad { span, .. } | EdgeAttr::Rule { span, .. }) = &param.edge
                {
                    let message = format!("`{}` is a scalar, which has no edge", param.name.text);
                    cx.error(Code::BadHeader, *span, message);
                }
                scalars.next().map(Param::Scalar)
            }
        };
        cx.kernel.params.extend(resolved);
    }
}

fn resolve_tensor(
    cx: &mut Resolver,
    param: &syntax::Param,
    (space, mutable): (TensorSpace, bool),
    elem: &TypeExpr,
    extents: &[Expr],
) -> TensorId {
    let elem = param_elem(cx, elem, "a tensor's elements");
    cx.naming = Naming::Dims("the extents of a tensor");
    let extents: Vec<_> = extents.iter().map(|extent| resolve_index(cx, extent)).collect();
    check_axes(cx, &param.name, extents.len());
    let edge = resolve_edge(cx, param, elem);
    let tensor = cx.kernel.tensors.push(TensorParam {
        name: param.name.text.clone(),
        space,
        mutable,
        elem: elem.unwrap_or(ElemType::Concrete(DType::Bool)),
        extents,
        edge,
        span: param.name.span,
    });
    if elem.is_none() {
        cx.poisoned.push(ArrayRef::Tensor(tensor));
    }
    declare_unique(cx, &param.name, Binding::Tensor(tensor));
    tensor
}

/// The type of a parameter, which the host passes: no `Acc<…>`.
fn param_elem(cx: &mut Resolver, ty: &TypeExpr, what: &str) -> Option<ElemType> {
    if let TypeExprKind::Acc(name) = &ty.kind {
        cx.diags.push(
            Diagnostic::error(
                Code::TypeMismatch,
                ty.span,
                format!(
                    "{what} cannot be of type `Acc<{}>`, which is for sums inside a kernel",
                    name.text
                ),
            )
            .help(format!("take `{}`", name.text)),
        );
        return None;
    }
    type_expr::resolve_elem(cx, ty, what)
}

fn resolve_edge(cx: &mut Resolver, param: &syntax::Param, elem: Option<ElemType>) -> Edge {
    match &param.edge {
        None => Edge::DefaultPad,
        Some(EdgeAttr::Rule { name, .. }) => {
            if let Some(rule) = EdgeRule::from_name(&name.text) {
                return Edge::Rule(rule);
            }
            let message = format!("there is no edge rule `{}`", name.text);
            cx.diags.push(
                Diagnostic::error(Code::UnknownName, name.span, message)
                    .help("the rules are `clamp`, `wrap` and `reflect`; a value is `#[pad = …]`"),
            );
            Edge::DefaultPad
        }
        Some(EdgeAttr::Pad { value, .. }) if is_rule(cx, value) => Edge::DefaultPad,
        Some(EdgeAttr::Pad { value, .. }) => {
            cx.naming = Naming::Constants("a pad value");
            let value = resolve_expr(cx, value, Conversion::None);
            let place = format!("an element of `{}`", param.name.text);
            let ty = elem.map_or(Ty::Poison, Ty::scalar);
            Edge::Pad(expect_type(cx, value, ty, &place))
        }
    }
}

/// Whether what stands for a pad value is the name of a rule, which is reported.
fn is_rule(cx: &mut Resolver, value: &syntax::Expr) -> bool {
    let syntax::ExprKind::Name(name) = &value.kind else { return false };
    let is_rule = EdgeRule::from_name(&name.text).is_some();
    if !is_rule || cx.scopes.lookup(&name.text).is_some() {
        return false;
    }
    let message = format!("`{}` is a rule for what lies outside, and no value", name.text);
    cx.diags.push(
        Diagnostic::error(Code::UnknownName, name.span, message)
            .help(format!("write `#[edge({})]`", name.text)),
    );
    true
}

/// Reports each dimension that stands plain in no tensor parameter.
fn require_plain_dims(cx: &mut Resolver, item: &KernelItem) {
    let is_plain = |name: &str| {
        item.params.iter().any(|param| match &param.kind {
            ParamKind::Tensor { extents, .. } => extents.iter().any(
                |extent| matches!(&extent.kind, syntax::ExprKind::Name(plain) if plain.text == name),
            ),
            ParamKind::Scalar { .. } => false,
        })
    };
    let dims = cx.kernel.vars.values().filter(|var| var.kind == VarKind::Dim);
    let unbound: Vec<(String, SpanId)> =
        dims.filter(|dim| !is_plain(&dim.name)).map(|dim| (dim.name.clone(), dim.span)).collect();
    for (name, span) in unbound {
        cx.diags.push(
            Diagnostic::error(
                Code::BadHeader,
                span,
                format!("the dimension `{name}` stands plain in no parameter, so a launch cannot say what it is"),
            )
            .help(format!("name it alone in some tensor: `[{name}]`")),
        );
    }
}

/// The most axes that a grid or a block may have.
const MAX_DOMAIN_AXES: usize = 3;

/// Reports the first axis of a domain for which there is no room.
fn check_domain<'n>(
    cx: &mut Resolver,
    what: &str,
    mut axes: impl ExactSizeIterator<Item = &'n Name>,
    help: &str,
) {
    let count = axes.len();
    if let Some(axis) = axes.nth(MAX_DOMAIN_AXES) {
        let message = format!("a {what} has at most {MAX_DOMAIN_AXES} axes; this one has {count}");
        cx.diags.push(Diagnostic::error(Code::BadHeader, axis.span, message).help(help.to_owned()));
    }
}

fn resolve_domains(cx: &mut Resolver, item: &KernelItem) {
    check_domain(
        cx,
        "grid",
        item.grid.iter().map(|axis| &axis.name),
        "let one axis run over two: `g in B * C`, and in the body `g / C` and `g % C`",
    );
    check_domain(
        cx,
        "block",
        item.block.iter().map(|axis| &axis.name),
        "let one axis run over two: `t in 4 * 8`, and in the body `t / 8` and `t % 8`",
    );
    cx.naming = Naming::Dims("the extents of the grid");
    let grid: Vec<_> = item.grid.iter().map(|axis| resolve_index(cx, &axis.extent)).collect();
    cx.naming = Naming::TileParams("the extents of the block");
    let block: Vec<_> = item.block.iter().map(|axis| resolve_index(cx, &axis.extent)).collect();
    for (axis, extent) in item.grid.iter().zip(grid) {
        let var = cx.new_var(&axis.name, Ty::INDEX, VarKind::Grid);
        declare_unique(cx, &axis.name, Binding::Var(var));
        cx.kernel.grid.push(Axis { var, extent });
    }
    let mut axes = Vec::new();
    for (axis, extent) in item.block.iter().zip(block) {
        check_extents(cx, &axis.name, &[extent]);
        let var = cx.new_var(&axis.name, Ty::INDEX, VarKind::Block);
        declare_unique(cx, &axis.name, Binding::Var(var));
        axes.push(Axis { var, extent });
    }
    cx.kernel.block = (!axes.is_empty()).then_some(axes);
}

/// Reports a kernel that writes no tensor. Where other mistakes were found, a
/// write may be among them.
pub(super) fn require_output(cx: &mut Resolver, item: &KernelItem) {
    if cx.diags.has_errors() || cx.kernel.body.iter().any(writes_tensor) {
        return;
    }
    let diagnostic = Diagnostic::error(
        Code::NoOutput,
        item.name.span,
        format!("`{}` writes no tensor, so it has no result", item.name.text),
    );
    cx.diags.push(match cx.kernel.tensors.values().find(|tensor| tensor.mutable) {
        Some(output) => {
            diagnostic.label(output.span, format!("`{}` could be written", output.name))
        }
        None => diagnostic.help("declare its output as `&mut Tensor<…>` and write it"),
    });
}

fn writes_tensor(stmt: &Stmt) -> bool {
    let written = match &stmt.kind {
        StmtKind::Store { access, .. }
        | StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, .. } => Some(access.array),
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Update { place: Place::Var(_), .. }
        | StmtKind::Exchange { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => None,
    };
    matches!(written, Some(ArrayRef::Tensor(_)))
        || stmt.kind.bodies().into_iter().flatten().any(writes_tensor)
}
