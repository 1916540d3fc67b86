//! Arrays whose cells hold counts, and sums of these.
//!
//! All that is stored in such an array is made of small numbers by `+` alone, by way of variables,
//! of other such arrays, and of what the work-items of a block add up together. So a cell holds
//! what has been counted, be it by several, and nothing that data says.

use std::collections::BTreeSet;

use crate::kernel::{
    ExprId, ExprKind, Given, Holder, Keeping, Kernel, Literal, TileId, Type, given, kept_tiles,
};
use crate::op::{AtomicOp, BinaryOp};

/// The most that is counted at once.
const MAX_STEP: i128 = 1 << 20;

/// The arrays of a kernel that hold counts alone.
pub(super) fn arrays_of_counts(kernel: &Kernel) -> BTreeSet<TileId> {
    let keeping = Keeping { update: |op| op == BinaryOp::Add, atomic: |op| op == AtomicOp::Add };
    let given = given(kernel, keeping);
    let holders = given.iter().map(|(holder, _)| *holder).collect();
    let holds = |(_, given): &(Holder, Given), counts: &BTreeSet<Holder>| match given {
        Given::Value(value) => is_count(kernel, *value, counts),
        Given::Element(array) => {
            Holder::of_array(*array).is_some_and(|holder| counts.contains(&holder))
        }
        Given::Anything => false,
    };
    let tiles = kept_tiles(&given, holders, holds).into_iter();
    tiles.filter(|tile| has_counts(kernel, *tile)).collect()
}

/// Whether a type has room for counts.
fn is_wide(kernel: &Kernel, expr: ExprId) -> bool {
    let ty = kernel.exprs[expr].ty;
    ty == Type::Index || holds_counts(ty)
}

fn holds_counts(ty: Type) -> bool {
    ty.integer_range().is_some_and(|(_, max)| max >= i32::MAX.into())
}

/// Whether a tile's type has room for counts, and can be updated atomically.
fn has_counts(kernel: &Kernel, tile: TileId) -> bool {
    let elem = kernel.tiles[tile].elem;
    holds_counts(Type::Scalar(elem)) && kernel.has_atomic(AtomicOp::Add, elem)
}

/// Whether a value is a count, if what holds counts is known.
fn is_count(kernel: &Kernel, value: ExprId, counts: &BTreeSet<Holder>) -> bool {
    let is = |value: ExprId| is_count(kernel, value, counts);
    if is_step(kernel, value) {
        return true;
    }
    match &kernel.exprs[value].kind {
        ExprKind::Var(var) => counts.contains(&Holder::Var(*var)),
        ExprKind::Load(access) => {
            Holder::of_array(access.array).is_some_and(|holder| counts.contains(&holder))
        }
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => is(*lhs) && is(*rhs),
        ExprKind::Select { then, otherwise, .. } => is(*then) && is(*otherwise),
        ExprKind::Uniform(operand) => is(*operand),
        ExprKind::Cast(operand) => is_wide(kernel, value) && is(*operand),
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

/// Whether a value is a small number that is not negative, whatever data says.
pub(super) fn is_step(kernel: &Kernel, value: ExprId) -> bool {
    let is = |value: ExprId| is_step(kernel, value);
    match &kernel.exprs[value].kind {
        ExprKind::Literal(Literal::Int(number)) => (0..=MAX_STEP).contains(number),
        ExprKind::Select { then, otherwise, .. } => is(*then) && is(*otherwise),
        ExprKind::Uniform(operand) => is(*operand),
        ExprKind::Cast(operand) => {
            is_wide(kernel, value) && (kernel.exprs[*operand].ty == Type::BOOL || is(*operand))
        }
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Math { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => false,
    }
}
