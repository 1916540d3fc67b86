//! Tiles of which no element is ever negative, by what is stored in them.
//!
//! A tile is one if only such values are stored in it: numbers, counts, elements of such
//! tiles, and sums of them. All are taken to be, until one is seen that need not. Sums of 32 bits
//! and more are taken not to leave the range of their type, as counters are
//! ([`super::super::slots::slot`]); those of fewer do so soon.

use std::collections::BTreeSet;

use super::integers::{is_integer, range_of};
use super::sums_with_own;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Given, Holder, Keeping, Kernel, Literal, Place, StmtKind, TileId,
    Type, VarKind, any_stmt, given, kept_tiles,
};
use crate::op::{AtomicOp, BinaryOp, MathFn};

/// The tiles of `kernel` of which no element is ever negative.
pub(in super::super) fn natural_tiles(kernel: &Kernel) -> BTreeSet<TileId> {
    let keeping = Keeping {
        update: |op| matches!(op, BinaryOp::Add | BinaryOp::Min),
        atomic: |op| match op {
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Swap | AtomicOp::CompareExchange => true,
            AtomicOp::Sub | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Max => false,
        },
    };
    let given = given(kernel, keeping);
    let vars = kernel.vars.iter().filter(|(_, var)| match var.kind {
        VarKind::Let { .. } => is_integer(var.ty),
        // Of loops the bounds are not looked at.
        VarKind::Loop | VarKind::Scalar(_) => range_of(var.ty).is_some_and(|(min, _)| min == 0),
        VarKind::TileParam(_) | VarKind::Dim | VarKind::Grid | VarKind::Block | VarKind::Each => {
            true
        }
    });
    let tiles = kernel.tiles.iter().filter(|(_, tile)| is_integer(Type::Scalar(tile.elem)));
    let holders = vars
        .map(|(var, _)| Holder::Var(var))
        .chain(tiles.map(|(tile, _)| Holder::Tile(tile)))
        .filter(|holder| {
            let is_safe = is_wide(type_of(kernel, *holder)) || has_no_sign(kernel, *holder);
            is_safe || !is_added_to(kernel, *holder)
        })
        .collect();
    let is_kept = |(holder, given): &(Holder, Given), natural: &BTreeSet<Holder>| match given {
        Given::Value(value) => is_natural(kernel, *value, natural),
        Given::Element(ArrayRef::Tile(tile)) => natural.contains(&Holder::Tile(*tile)),
        Given::Element(ArrayRef::Tensor(_)) | Given::Anything => has_no_sign(kernel, *holder),
    };
    kept_tiles(&given, holders, is_kept)
}

/// Whether a value is never negative, whatever variables and tiles hold.
pub(in super::super) fn is_plainly_natural(kernel: &Kernel, value: ExprId) -> bool {
    is_natural(kernel, value, &BTreeSet::new())
}

fn type_of(kernel: &Kernel, holder: Holder) -> Type {
    match holder {
        Holder::Var(var) => kernel.vars[var].ty,
        Holder::Tile(tile) => Type::Scalar(kernel.tiles[tile].elem),
    }
}

fn has_no_sign(kernel: &Kernel, holder: Holder) -> bool {
    range_of(type_of(kernel, holder)).is_some_and(|(min, _)| min == 0)
}

/// Whether sums of a type are taken not to leave its range.
pub(in super::super) fn is_wide(ty: Type) -> bool {
    range_of(ty).is_none_or(|(_, max)| max >= i32::MAX.into())
}

/// Whether something is added to what a holder has, or sums are given to it.
fn is_added_to(kernel: &Kernel, holder: Holder) -> bool {
    let is_it = |array: ArrayRef| Holder::of_array(array) == Some(holder);
    any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Update { place: Place::Var(var), op: BinaryOp::Add, .. } => {
            holder == Holder::Var(*var)
        }
        StmtKind::Update { place: Place::Element(access), op: BinaryOp::Add, .. }
        | StmtKind::Atomic { access, op: AtomicOp::Add, .. } => is_it(access.array),
        StmtKind::Exchange { var, .. } => holder == Holder::Var(*var),
        _ => false,
    })
}

/// Whether a value is never negative, if what `natural` holders hold is not.
fn is_natural(kernel: &Kernel, value: ExprId, natural: &BTreeSet<Holder>) -> bool {
    let is = |value: ExprId| is_natural(kernel, value, natural);
    let expr = &kernel.exprs[value];
    if range_of(expr.ty).is_some_and(|(min, _)| min == 0) {
        return true;
    }
    match &expr.kind {
        ExprKind::Literal(Literal::Int(value)) => *value >= 0,
        ExprKind::Var(var) => natural.contains(&Holder::Var(*var)),
        ExprKind::Load(access) => match access.array {
            ArrayRef::Tile(tile) => natural.contains(&Holder::Tile(tile)),
            ArrayRef::Tensor(_) => false,
        },
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
            is_wide(expr.ty) && is(*lhs) && is(*rhs)
        }
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
            is_wide(expr.ty) && sums_with_own::has_in_it(kernel, (*lhs, *rhs), &is)
        }
        ExprKind::Binary { op: BinaryOp::Min, lhs, rhs } => is(*lhs) && is(*rhs),
        ExprKind::Binary { op: BinaryOp::Max | BinaryOp::And, lhs, rhs } => is(*lhs) || is(*rhs),
        ExprKind::Select { then, otherwise, .. } => is(*then) && is(*otherwise),
        ExprKind::Uniform(operand) => is(*operand),
        // Few bits fit into any type of 32 and more.
        ExprKind::Cast(operand) => {
            let from = &kernel.exprs[*operand];
            let is_short = range_of(from.ty).is_some_and(|(_, max)| max <= u16::MAX.into());
            from.ty == Type::BOOL
                || is_wide(expr.ty) && (is_count(kernel, *operand) || is_short && is(*operand))
        }
        ExprKind::Literal(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Math { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => false,
    }
}

/// Whether a value counts bits.
fn is_count(kernel: &Kernel, value: ExprId) -> bool {
    match kernel.exprs[value].kind {
        ExprKind::Math { func: MathFn::CountOnes, .. } => true,
        ExprKind::Cast(operand) => is_count(kernel, operand),
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => false,
    }
}
