//! Tables: names, extents that the host can compute, the grid, roles, variables
//! and workspaces.

use super::{Place, Verifier};
use crate::arena::EntityId as _;
use crate::exchange::WARP_ITEMS;
use crate::program::{
    ArgSource, BufferSource, BufferSpace, ExprId, ExprKind, IndexWidth, Literal, Raster, Scope, Ty,
};

/// Largest rank of a tensor.
const MAX_AXES: usize = 6;

pub(super) fn verify_tables(cx: &mut Verifier<'_>) {
    verify_launch_numbers(cx);
    verify_buffers(cx);
    verify_grid(cx);
    verify_roles(cx);
    let kernel = cx.kernel;
    for (id, var) in kernel.vars.iter() {
        cx.place = Place::Var(id);
        verify_name(cx, &var.name);
        let is_used_scope = matches!(var.scope, Scope::Block | Scope::Thread);
        cx.require(is_used_scope, || "a variable is of the block or of an item".to_owned());
    }
    for (id, fragment) in kernel.fragments.iter() {
        cx.place = Place::Fragment(id);
        verify_name(cx, &fragment.name);
    }
    let program = cx.program;
    for (id, workspace) in program.workspaces.iter() {
        cx.place = Place::Workspace(id);
        verify_name(cx, &workspace.name);
        cx.require(workspace.size_elems > 0, || "it has no element".to_owned());
    }
}

/// The user's names, and those that passes make, are Rust's identifiers.
fn verify_name(cx: &mut Verifier<'_>, name: &str) {
    let bare = name.strip_prefix("r#").unwrap_or(name);
    let mut letters = bare.chars();
    let starts = letters.next().is_some_and(|letter| letter.is_alphabetic() || letter == '_');
    let is_name = starts && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
    cx.require(is_name, || format!("`{name}` is no identifier"));
}

fn verify_launch_numbers(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    cx.place = Place::Kernel;
    verify_name(cx, &kernel.name);
    cx.require(kernel.threads > 0, || "a block has no thread".to_owned());
    for (id, arg) in kernel.args.iter() {
        cx.place = Place::Arg(id);
        verify_name(cx, &arg.name);
        match arg.source {
            ArgSource::Dim(_) => {
                cx.require(arg.ty.is_index(), || format!("a dimension is {} and no index", arg.ty));
            }
            ArgSource::Scalar(_) => {
                cx.require(!arg.ty.is_index(), || "a scalar parameter is no index".to_owned());
            }
            ArgSource::Stride { tensor, axis, unit } => {
                cx.require(unit > 0, || "a stride is in units of 0 elements".to_owned());
                cx.require(arg.ty.is_index(), || format!("a stride is {} and no index", arg.ty));
                let source = BufferSource::Tensor(tensor);
                let buffer = kernel.buffers.values().find(|buffer| buffer.source == source);
                let exists = buffer.is_some_and(|buffer| (axis as usize) < buffer.extents.len());
                cx.require(exists, || format!("no buffer is of {tensor} with an axis {axis}"));
            }
        }
    }
}

fn verify_buffers(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let constant_bytes = kernel.buffers.values().map(|buffer| match buffer.space {
        BufferSpace::Global => 0,
        BufferSpace::Constant { elems } => u64::from(elems) * u64::from(buffer.dtype.size_bytes()),
    });
    let bytes = constant_bytes.fold(0, u64::saturating_add);
    cx.place = Place::Kernel;
    cx.require(bytes <= BufferSpace::PARAMETER_BYTES, || {
        format!("{bytes} bytes of constants are no parameters of a launch")
    });
    for (id, buffer) in kernel.buffers.iter() {
        cx.place = Place::Buffer(id);
        verify_name(cx, &buffer.name);
        let (n_axes, n_strides) = (buffer.extents.len(), buffer.strides.len());
        cx.require((1..=MAX_AXES).contains(&n_axes), || format!("it has {n_axes} axes"));
        cx.require(n_axes == n_strides, || format!("{n_strides} strides for {n_axes} axes"));
        for &expr in buffer.extents.iter().chain(&buffer.strides) {
            require_host_value(cx, expr);
        }
        if let BufferSpace::Constant { elems } = buffer.space {
            cx.require(!buffer.written, || "it is written in constant memory".to_owned());
            let extents = buffer.extents.iter().map(|&extent| kernel.constant(extent));
            let product = extents.reduce(|product, extent| product?.checked_mul(extent?)).flatten();
            cx.require(elems > 0 && product == Some(elems.into()), || {
                format!("{elems} elements in constant memory are not those of its extents")
            });
        }
        if let BufferSource::Workspace(workspace) = buffer.source {
            let dtype = cx.program.workspaces[workspace].dtype;
            cx.require(dtype == buffer.dtype, || {
                format!("it holds {} in a workspace of {dtype}", buffer.dtype)
            });
        }
    }
}

fn verify_grid(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    for (number, axis) in kernel.grid.iter().enumerate() {
        cx.place = Place::Grid(number);
        require_host_value(cx, axis.extent);
        let var = &kernel.vars[axis.var];
        cx.require(var.scope == Scope::Block, || "its coordinate is not the block's".to_owned());
        cx.require(var.ty.is_index(), || format!("its coordinate is {} and no index", var.ty));
        let is_twice = kernel.grid[..number].iter().any(|other| other.var == axis.var);
        cx.require(!is_twice, || format!("its coordinate `{}` is another axis's too", var.name));
    }
    cx.place = Place::Kernel;
    if let Raster::Grouped { rows } = kernel.raster {
        cx.require(rows > 0, || "a band of the grid has no row".to_owned());
        cx.require(kernel.grid.len() >= 2, || "bands need a grid of two axes".to_owned());
    }
}

/// Role 0 is all warps; the others share them out without overlap.
fn verify_roles(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let n_warps = kernel.threads.div_ceil(WARP_ITEMS);
    let mut taken: Vec<(u32, u32)> = Vec::new();
    cx.place = Place::Kernel;
    cx.require(!kernel.roles.is_empty(), || "there is no role".to_owned());
    for (id, role) in kernel.roles.iter() {
        cx.place = Place::Role(id);
        verify_name(cx, &role.name);
        if id.index() == 0 {
            let is_all = role.first_warp == 0 && role.n_warps.is_none();
            cx.require(is_all, || "role 0 stands for all warps".to_owned());
            continue;
        }
        let first = role.first_warp;
        let end = role.n_warps.map_or(n_warps, |n| first.saturating_add(n));
        cx.require(first < end && end <= n_warps, || {
            format!("warps {first}..{end} of a block of {n_warps}")
        });
        let overlaps = taken.iter().any(|&(begin, past)| first < past && begin < end);
        cx.require(!overlaps, || format!("warps {first}..{end} have another role too"));
        taken.push((first, end));
    }
}

/// An index that the host computes before the launch: over literals and
/// arguments that are indices.
fn require_host_value(cx: &mut Verifier<'_>, id: ExprId) {
    cx.require_index(id, "an extent or stride");
    let is_host = is_host_value(cx, id);
    cx.require_that(is_host, id, || {
        "an extent or stride, cannot be computed by the host".to_owned()
    });
}

fn is_host_value(cx: &Verifier<'_>, id: ExprId) -> bool {
    let of = |id: &ExprId| is_host_value(cx, *id);
    match &cx.expr(id).kind {
        ExprKind::Literal(Literal::Int(_)) => true,
        ExprKind::Arg(arg) => {
            matches!(cx.kernel.args[*arg].ty, Ty::Index(IndexWidth::Bits32 | IndexWidth::Bits64))
        }
        ExprKind::Binary { lhs, rhs, .. } => of(lhs) && of(rhs),
        ExprKind::CeilDiv { n, d } => of(n) && of(d),
        ExprKind::Cast(operand) => of(operand),
        ExprKind::Literal(Literal::Float(_) | Literal::Bool(_))
        | ExprKind::Var(_)
        | ExprKind::Coord { .. }
        | ExprKind::Fragment(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::InBounds { .. } => false,
    }
}
