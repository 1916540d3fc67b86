//! Expressions: order of ids, one user each, types.

use super::Verifier;
use crate::arena::EntityId as _;
use crate::dtype::{Bound, DType};
use crate::kernel::{
    Access, ArrayRef, ElemType, Expr, ExprId, ExprKind, Kernel, Literal, Type, VarId,
};
use crate::op::{BinaryOp, CompareOp, UnaryOp};

/// Ids are in range, operands come before their user and have only one.
pub(super) fn verify_ids(cx: &mut Verifier<'_>) {
    let mut users: Vec<Option<ExprId>> = vec![None; cx.kernel.exprs.len()];
    for (id, expr) in cx.kernel.exprs.iter() {
        let has_type = cx.has_type(expr.ty);
        cx.require(has_type, || format!("{id} is of a type parameter that does not exist"));
        match &expr.kind {
            ExprKind::Var(var) => {
                let exists = cx.has_var(*var);
                cx.require(exists, || format!("{id} names {var}, which does not exist"));
            }
            ExprKind::Load(access) => verify_array(cx, id, access.array),
            ExprKind::InBounds { tensor, .. } => verify_array(cx, id, ArrayRef::Tensor(*tensor)),
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. } => {}
        }
        for operand in expr.kind.operands() {
            if operand.index() >= id.index() {
                cx.fault(format!("{id} has the operand {operand}, which does not come before it"));
            } else if let Some(user) = users[operand.index()].replace(id) {
                cx.fault(format!("{operand} is an operand of {user} and of {id}"));
            }
        }
    }
}

fn verify_array(cx: &mut Verifier<'_>, id: ExprId, array: ArrayRef) {
    let exists = cx.has_array(array);
    cx.require(exists, || format!("{id} names an array that does not exist"));
}

/// Every expression's type follows from its operands', as [`ExprKind`] says.
pub(super) fn verify_types(cx: &mut Verifier<'_>) {
    for (id, expr) in cx.kernel.exprs.iter() {
        verify_type(cx, id, expr);
    }
}

fn verify_type(cx: &mut Verifier<'_>, id: ExprId, expr: &Expr) {
    let ty = expr.ty;
    match &expr.kind {
        ExprKind::Literal(literal) => {
            let fits = literal_fits(cx.kernel, *literal, ty);
            cx.require(fits, || format!("the literal {id} cannot be of its type"));
        }
        ExprKind::Var(var) => {
            let same = cx.var(*var).ty == ty;
            cx.require(same, || format!("{id} is of another type than its variable {var}"));
        }
        ExprKind::Load(access) => {
            verify_access(cx, access);
            let elem = Type::Scalar(cx.kernel.element_type(access.array));
            cx.require(elem == ty, || format!("{id} is of another type than what it loads"));
        }
        ExprKind::InBounds { tensor, indices } => {
            verify_indices(cx, ArrayRef::Tensor(*tensor), indices);
            cx.require(ty == Type::BOOL, || format!("{id} asks, and is not of type bool"));
        }
        ExprKind::Unary { op, operand } => {
            cx.require_type(*operand, ty, "an operand");
            let has = match op {
                UnaryOp::Neg => has_arithmetic(cx.kernel, ty),
                UnaryOp::Not => ty == Type::BOOL || has_bits(cx.kernel, ty),
            };
            cx.require(has, || format!("{id} applies {} to a type without it", op.symbol()));
        }
        ExprKind::Binary { op, lhs, rhs } => {
            cx.require_type(*lhs, ty, "an operand");
            cx.require_type(*rhs, ty, "an operand");
            let has = has_binary(cx.kernel, *op, ty);
            cx.require(has, || format!("{id} applies {op} to a type without it"));
        }
        ExprKind::Compare { op, lhs, rhs } => {
            let operands = cx.expr(*lhs).ty;
            cx.require_type(*rhs, operands, "the right side of a comparison");
            let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
            let has = !ordered || has_arithmetic(cx.kernel, operands);
            cx.require(has, || format!("{id} orders values without an order"));
            cx.require(ty == Type::BOOL, || format!("{id} compares, and is not of type bool"));
        }
        ExprKind::Logic { lhs, rhs, .. } => {
            cx.require_type(*lhs, Type::BOOL, "an operand");
            cx.require_type(*rhs, Type::BOOL, "an operand");
            cx.require(ty == Type::BOOL, || format!("{id} is logic, and not of type bool"));
        }
        ExprKind::Select { cond, then, otherwise } => {
            cx.require_type(*cond, Type::BOOL, "a condition");
            cx.require_type(*then, ty, "one of two values");
            cx.require_type(*otherwise, ty, "one of two values");
        }
        ExprKind::Cast(operand) => {
            let exists = has_cast(cx.kernel, cx.expr(*operand).ty, ty);
            cx.require(exists, || format!("{id} is a conversion that does not exist"));
        }
        ExprKind::Math { func, arg } => {
            cx.require_type(*arg, ty, "an argument");
            let has = match func {
                _ if func.is_float_only() => has_only(cx.kernel, ty, DType::is_float),
                _ if func.is_integer_only() => has_bits(cx.kernel, ty),
                _ => has_arithmetic(cx.kernel, ty) && (ty != Type::Index || func.is_of_indices()),
            };
            cx.require(has, || format!("{id} applies {} to a type without it", func.name()));
        }
        ExprKind::Uniform(operand) => cx.require_type(*operand, ty, "what is the same for all"),
        ExprKind::Tiles { extent, tile } => {
            cx.require_type(*extent, Type::Index, "an extent");
            cx.require_type(*tile, Type::Index, "a tile's extent");
            cx.require(ty == Type::Index, || format!("{id} counts tiles, and is no index"));
        }
    }
}

/// As many indices as the array has axes, each an index.
pub(super) fn verify_access(cx: &mut Verifier<'_>, access: &Access) {
    verify_indices(cx, access.array, &access.indices);
}

fn verify_indices(cx: &mut Verifier<'_>, array: ArrayRef, indices: &[ExprId]) {
    let rank = cx.kernel.extents(array).len();
    let name = cx.kernel.array_name(array);
    cx.require(rank == indices.len(), || {
        format!("`{name}` has {rank} axes and is accessed with {} indices", indices.len())
    });
    for index in indices {
        cx.require_type(*index, Type::Index, "an index");
    }
}

/// The variables in an expression, and whether it reads an array.
pub(super) fn mentions(kernel: &Kernel, id: ExprId) -> (Vec<VarId>, bool) {
    let (mut vars, mut reads) = (Vec::new(), false);
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let kind = &kernel.exprs[id].kind;
        match kind {
            ExprKind::Var(var) => vars.push(*var),
            ExprKind::Load(_) | ExprKind::InBounds { .. } => reads = true,
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. } => {}
        }
        open.extend(kind.operands());
    }
    (vars, reads)
}

/// The arrays that an expression reads.
pub(super) fn loaded_arrays(kernel: &Kernel, id: ExprId) -> Vec<ArrayRef> {
    let mut arrays = Vec::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let kind = &kernel.exprs[id].kind;
        if let ExprKind::Load(access) = kind {
            arrays.push(access.array);
        }
        open.extend(kind.operands());
    }
    arrays
}

/// Whether `test` holds of every type that a scalar `ty` may be bound to.
fn has_only(kernel: &Kernel, ty: Type, test: impl Fn(DType) -> bool) -> bool {
    let admitted = |bound: Bound| DType::ALL.into_iter().filter(move |dtype| bound.admits(*dtype));
    match ty {
        Type::Index => false,
        Type::Scalar(ElemType::Concrete(dtype)) => test(dtype),
        Type::Scalar(ElemType::Param(id)) => admitted(kernel.type_params[id].bound).all(test),
        Type::Scalar(ElemType::Acc(id)) => {
            admitted(kernel.type_params[id].bound).map(DType::accumulator).all(test)
        }
    }
}

fn has_arithmetic(kernel: &Kernel, ty: Type) -> bool {
    ty == Type::Index || has_only(kernel, ty, |dtype| dtype != DType::Bool)
}

fn has_bits(kernel: &Kernel, ty: Type) -> bool {
    has_only(kernel, ty, DType::is_integer)
}

/// Whether values of `ty` have a binary operator.
pub(super) fn has_binary(kernel: &Kernel, op: BinaryOp, ty: Type) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max => has_arithmetic(kernel, ty),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            ty == Type::Index || ty == Type::BOOL || has_bits(kernel, ty)
        }
        BinaryOp::Shl | BinaryOp::Shr => ty == Type::Index || has_bits(kernel, ty),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => {
            has_only(kernel, ty, DType::is_float)
        }
    }
}

fn has_cast(kernel: &Kernel, from: Type, to: Type) -> bool {
    let is_number = |ty| has_arithmetic(kernel, ty);
    from == to
        || (is_number(from) && is_number(to))
        || (from == Type::BOOL && (to == Type::Index || has_bits(kernel, to)))
}

fn literal_fits(kernel: &Kernel, literal: Literal, ty: Type) -> bool {
    let holds = |value: i128| {
        move |dtype: DType| match dtype.integer_range() {
            Some((low, high)) => (low..=high).contains(&value),
            None => dtype.is_float(),
        }
    };
    match literal {
        Literal::Bool(_) => ty == Type::BOOL,
        Literal::Int(value) if ty == Type::Index => i64::try_from(value).is_ok(),
        Literal::Int(value) => has_only(kernel, ty, holds(value)),
        Literal::Float(_) => has_only(kernel, ty, DType::is_float),
        Literal::Named(constant) if constant.is_float_only() => {
            has_only(kernel, ty, DType::is_float)
        }
        Literal::Named(_) => has_only(kernel, ty, |dtype| dtype != DType::Bool),
    }
}
