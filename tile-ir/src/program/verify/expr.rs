//! Types of expressions, as [`crate::program::ExprKind`] says of each form. All
//! expressions are verified, also those that no statement evaluates.

use super::{Place, Verifier};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::program::{Access, ExprId, ExprKind, IndexWidth, Literal, Target, Ty};

/// Bytes of the widest memory instruction.
const MAX_VECTOR_BYTES: u32 = 16;

pub(super) fn verify_types(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    for (id, expr) in kernel.exprs.iter() {
        cx.place = Place::Expr(id);
        verify_expr(cx, &expr.kind, expr.ty);
    }
}

fn verify_expr(cx: &mut Verifier<'_>, kind: &ExprKind, ty: Ty) {
    let kernel = cx.kernel;
    match kind {
        ExprKind::Literal(literal) => {
            cx.require(literal_fits(*literal, ty), || format!("it cannot be of type {ty}"));
        }
        ExprKind::Var(var) => require_own(cx, ty, kernel.vars[*var].ty),
        ExprKind::Arg(arg) => require_own(cx, ty, kernel.args[*arg].ty),
        ExprKind::Coord { .. } => require_own(cx, ty, Ty::INDEX32),
        ExprKind::Fragment(fragment) => require_own(cx, ty, kernel.fragments[*fragment].ty),
        ExprKind::Load(access) => {
            verify_access(cx, access);
            require_own(cx, ty, Ty::Scalar(cx.kernel.element_type(access.target)));
            verify_read(cx, access);
        }
        ExprKind::Unary { op, operand } => {
            cx.require_type(*operand, ty, "the operand");
            let has = match op {
                UnaryOp::Neg => has_arithmetic(ty),
                UnaryOp::Not => ty == Ty::BOOL || has_bits(ty),
            };
            cx.require(has, || format!("{ty} has no `{}`", op.symbol()));
        }
        ExprKind::Binary { op, lhs, rhs } => {
            cx.require_type(*lhs, ty, "an operand");
            cx.require_type(*rhs, ty, "an operand");
            cx.require(has_binary(*op, ty), || format!("{ty} has no `{op}`"));
        }
        ExprKind::Fma { a, b, c } => {
            for operand in [a, b, c] {
                cx.require_type(*operand, ty, "an operand");
            }
            let has = matches!(ty, Ty::Scalar(DType::F32 | DType::F64));
            cx.require(has, || format!("{ty} has no `fma`"));
        }
        ExprKind::Compare { op, lhs, rhs } => {
            let operands = cx.ty(*lhs);
            cx.require_type(*rhs, operands, "the right side");
            let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
            cx.require(!ordered || has_arithmetic(operands), || format!("{operands} has no order"));
            require_own(cx, ty, Ty::BOOL);
        }
        ExprKind::Logic { lhs, rhs, .. } => {
            cx.require_type(*lhs, Ty::BOOL, "an operand");
            cx.require_type(*rhs, Ty::BOOL, "an operand");
            require_own(cx, ty, Ty::BOOL);
        }
        ExprKind::Select { cond, then, otherwise } => {
            cx.require_type(*cond, Ty::BOOL, "the condition");
            cx.require_type(*then, ty, "one of the values");
            cx.require_type(*otherwise, ty, "one of the values");
        }
        ExprKind::Cast(operand) => {
            let from = cx.ty(*operand);
            cx.require(has_cast(from, ty), || {
                format!("there is no conversion from {from} to {ty}")
            });
        }
        ExprKind::Math { func, arg } => {
            cx.require_type(*arg, ty, "the argument");
            let is_float = matches!(ty, Ty::Scalar(dtype) if dtype.is_float());
            let has = match func {
                _ if func.is_float_only() => is_float,
                _ if func.is_integer_only() => has_bits(ty),
                _ => has_arithmetic(ty) && (!ty.is_index() || func.is_of_indices()),
            };
            cx.require(has, || format!("{ty} has no `{}`", func.name()));
        }
        ExprKind::CeilDiv { n, d } => {
            cx.require_type(*n, ty, "what is divided");
            cx.require_type(*d, ty, "the divisor");
            cx.require(ty.is_index(), || format!("it counts tiles and is {ty}"));
            if let ExprKind::Literal(Literal::Int(value)) = cx.expr(*d).kind {
                cx.require(value > 0, || format!("the divisor {value} is not positive"));
            }
        }
        ExprKind::InBounds { indices, .. } => {
            for index in indices {
                cx.require_index(*index, "an index");
            }
            require_own(cx, ty, Ty::BOOL);
        }
    }
}

fn require_own(cx: &mut Verifier<'_>, ty: Ty, needed: Ty) {
    cx.require(ty == needed, || format!("it is of type {ty} and should be {needed}"));
}

/// What holds of each access, also of one that writes.
pub(super) fn verify_access(cx: &mut Verifier<'_>, access: &Access) {
    for &index in &access.indices {
        cx.require_index(index, "an index");
    }
    let n_buffers = match access.target {
        Target::Buffer(_) => 1,
        Target::Tile(id) => cx.kernel.tiles[id].buffers,
    };
    match access.slot {
        None => cx.require(n_buffers == 1, || format!("it chooses none of {n_buffers} buffers")),
        Some(slot) => {
            cx.require(n_buffers > 1, || "it chooses among buffers where there is one".to_owned());
            cx.require_index(slot, "the choice of a buffer");
            if let ExprKind::Literal(Literal::Int(value)) = cx.expr(slot).kind {
                let exists = (0..i128::from(n_buffers)).contains(&value);
                cx.require(exists, || format!("it chooses buffer {value} of {n_buffers}"));
            }
        }
    }
    let dtype = cx.kernel.element_type(access.target);
    if let Some(pad) = access.pad {
        cx.require_type(pad, Ty::Scalar(dtype), "the pad");
    }
    let width = u32::from(access.width);
    let is_vector = width.is_power_of_two() && width * dtype.size_bytes() <= MAX_VECTOR_BYTES;
    cx.require(is_vector, || format!("no memory instruction moves {width} elements of {dtype}"));
    verify_constant_indices(cx, access);
}

/// An index that is a number is inside, or guarded.
fn verify_constant_indices(cx: &mut Verifier<'_>, access: &Access) {
    for (axis, (&index, guard)) in access.indices.iter().zip(&access.guards).enumerate() {
        let ExprKind::Literal(Literal::Int(value)) = cx.expr(index).kind else { continue };
        cx.require(guard.lower || value >= 0, || {
            format!("its index {value} along axis {axis} is not inside")
        });
        if let Target::Tile(id) = access.target {
            let extent = cx.kernel.tiles[id].extents[axis];
            cx.require(guard.upper || value < i128::from(extent), || {
                format!("its index {value} along axis {axis} is not below {extent}")
            });
        }
    }
}

/// A read has a value where its comparisons fail, and only there.
pub(super) fn verify_read(cx: &mut Verifier<'_>, access: &Access) {
    match (access.is_guarded(), access.pad) {
        (true, None) => cx.fault("a read with comparisons has no pad"),
        (false, Some(pad)) => {
            cx.require_that(false, pad, || {
                "the pad of a read without comparisons, is never read".to_owned()
            });
        }
        (true, Some(_)) | (false, None) => {}
    }
}

fn has_arithmetic(ty: Ty) -> bool {
    ty != Ty::BOOL
}

fn has_bits(ty: Ty) -> bool {
    matches!(ty, Ty::Scalar(dtype) if dtype.is_integer())
}

fn has_binary(op: BinaryOp, ty: Ty) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max => has_arithmetic(ty),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            ty.is_index() || ty == Ty::BOOL || has_bits(ty)
        }
        BinaryOp::Shl | BinaryOp::Shr => ty.is_index() || has_bits(ty),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => {
            matches!(ty, Ty::Scalar(dtype) if dtype.is_float())
        }
    }
}

fn has_cast(from: Ty, to: Ty) -> bool {
    from == to
        || (has_arithmetic(from) && has_arithmetic(to))
        || (from == Ty::BOOL && (to.is_index() || has_bits(to)))
}

fn literal_fits(literal: Literal, ty: Ty) -> bool {
    match (literal, ty) {
        (Literal::Bool(_), _) => ty == Ty::BOOL,
        (Literal::Int(value), Ty::Index(IndexWidth::Bits32)) => i32::try_from(value).is_ok(),
        (Literal::Int(value), Ty::Index(IndexWidth::Bits64)) => i64::try_from(value).is_ok(),
        (Literal::Int(value), Ty::Scalar(dtype)) => {
            dtype.integer_range().is_some_and(|(min, max)| (min..=max).contains(&value))
        }
        (Literal::Float(value), Ty::Scalar(dtype)) => dtype.is_float() && is_exact(value, dtype),
        (Literal::Float(_), Ty::Index(_)) => false,
    }
}

/// Whether a type holds a value as it is; any NaN is held.
fn is_exact(value: f64, dtype: DType) -> bool {
    dtype.nearest(value) == value || value.is_nan()
}

/// The expressions that evaluating `id` evaluates, itself included, each once.
pub(super) fn evaluated(cx: &Verifier<'_>, id: ExprId) -> Vec<ExprId> {
    let mut found = vec![false; id.index() + 1];
    let mut open = vec![id];
    let mut list = Vec::new();
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut found[next.index()], true) {
            list.push(next);
            cx.expr(next).kind.for_each_operand(&mut |operand| open.push(operand));
        }
    }
    list
}
