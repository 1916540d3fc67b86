//! Tiles of which no element is ever negative, by what is stored in them.
//!
//! A tile is one if only such values are stored in it: numbers, counts, elements of such
//! tiles, and sums of them. All are taken to be, until one is seen that need not. Sums are
//! taken not to leave the range of their type, as counters are ([`super::super::slots::slot`]).

use std::collections::BTreeSet;

use super::integers::{is_integer, range_of};
use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId, Type, VarId,
    VarKind,
};
use crate::op::{AtomicOp, BinaryOp, MathFn};

/// What holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Var(VarId),
    Tile(TileId),
}

/// What a holder gets.
enum Given {
    Value(ExprId),
    /// An element of an array.
    Element(ArrayRef),
    Anything,
}

/// The tiles of `kernel` of which no element is ever negative.
pub(in super::super) fn natural_tiles(kernel: &Kernel) -> BTreeSet<TileId> {
    let mut given = Vec::new();
    collect(&kernel.body, &mut given);
    let vars = kernel.vars.iter().filter(|(_, var)| match var.kind {
        VarKind::Let { .. } => is_integer(var.ty),
        // Of loops the bounds are not looked at.
        VarKind::Loop | VarKind::Scalar(_) => range_of(var.ty).is_some_and(|(min, _)| min == 0),
        VarKind::TileParam(_) | VarKind::Dim | VarKind::Grid | VarKind::Block | VarKind::Each => {
            true
        }
    });
    let tiles = kernel.tiles.iter().filter(|(_, tile)| is_integer(Type::Scalar(tile.elem)));
    let mut natural: BTreeSet<Holder> = vars
        .map(|(var, _)| Holder::Var(var))
        .chain(tiles.map(|(tile, _)| Holder::Tile(tile)))
        .collect();
    loop {
        let is_kept = |(holder, given): &(Holder, Given)| match given {
            Given::Value(value) => is_natural(kernel, *value, &natural),
            Given::Element(ArrayRef::Tile(tile)) => natural.contains(&Holder::Tile(*tile)),
            Given::Element(ArrayRef::Tensor(_)) | Given::Anything => has_no_sign(kernel, *holder),
        };
        let lost: Vec<Holder> = given
            .iter()
            .filter(|given| natural.contains(&given.0) && !is_kept(given))
            .map(|(holder, _)| *holder)
            .collect();
        if lost.is_empty() {
            break;
        }
        lost.iter().for_each(|holder| {
            natural.remove(holder);
        });
    }
    let tile = |holder| match holder {
        Holder::Tile(tile) => Some(tile),
        Holder::Var(_) => None,
    };
    natural.into_iter().filter_map(tile).collect()
}

/// Whether a value is never negative, whatever variables and tiles hold.
pub(in super::super) fn is_plainly_natural(kernel: &Kernel, value: ExprId) -> bool {
    is_natural(kernel, value, &BTreeSet::new())
}

fn has_no_sign(kernel: &Kernel, holder: Holder) -> bool {
    let ty = match holder {
        Holder::Var(var) => kernel.vars[var].ty,
        Holder::Tile(tile) => Type::Scalar(kernel.tiles[tile].elem),
    };
    range_of(ty).is_some_and(|(min, _)| min == 0)
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
        ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Min, lhs, rhs } => is(*lhs) && is(*rhs),
        ExprKind::Binary { op: BinaryOp::Max | BinaryOp::And, lhs, rhs } => is(*lhs) || is(*rhs),
        ExprKind::Select { then, otherwise, .. } => is(*then) && is(*otherwise),
        ExprKind::Uniform(operand) => is(*operand),
        // Few bits fit into any type of 32 and more.
        ExprKind::Cast(operand) => {
            let from = &kernel.exprs[*operand];
            let is_wide = range_of(expr.ty).is_some_and(|(_, max)| max >= i32::MAX.into());
            let is_short = range_of(from.ty).is_some_and(|(_, max)| max <= u16::MAX.into());
            from.ty == Type::BOOL
                || is_wide && (is_count(kernel, *operand) || is_short && is(*operand))
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

/// What holders get in statements.
fn collect(stmts: &[Stmt], out: &mut Vec<(Holder, Given)>) {
    let cell = |array: ArrayRef| match array {
        ArrayRef::Tile(tile) => Some(Holder::Tile(tile)),
        ArrayRef::Tensor(_) => None,
    };
    for stmt in stmts {
        let given = match &stmt.kind {
            StmtKind::Let { var, init } => init.map(|init| (Holder::Var(*var), Given::Value(init))),
            StmtKind::Assign { var, value } => Some((Holder::Var(*var), Given::Value(*value))),
            StmtKind::LetArray { tile, init } => {
                init.map(|init| (Holder::Tile(*tile), Given::Value(init)))
            }
            StmtKind::Store { access, value } => {
                cell(access.array).map(|tile| (tile, Given::Value(*value)))
            }
            StmtKind::Update { place, op, value } => {
                let holder = match place {
                    Place::Var(var) => Some(Holder::Var(*var)),
                    Place::Element(access) => cell(access.array),
                };
                let value = match op {
                    BinaryOp::Add | BinaryOp::Min => Given::Value(*value),
                    _ => Given::Anything,
                };
                holder.map(|holder| (holder, value))
            }
            StmtKind::Atomic { access, op, value, old, .. } => {
                out.extend(old.map(|old| (Holder::Var(old), Given::Element(access.array))));
                let value = match op {
                    AtomicOp::Add | AtomicOp::Min | AtomicOp::Swap | AtomicOp::CompareExchange => {
                        Given::Value(*value)
                    }
                    AtomicOp::Sub
                    | AtomicOp::And
                    | AtomicOp::Or
                    | AtomicOp::Xor
                    | AtomicOp::Max => Given::Anything,
                };
                cell(access.array).map(|tile| (tile, value))
            }
            StmtKind::Exchange { var, op, value, .. } => {
                let value = match op {
                    ExchangeOp::Scan { .. }
                    | ExchangeOp::Reduce(Reduction::Sum)
                    | ExchangeOp::WarpReduce(Reduction::Sum)
                    | ExchangeOp::Shuffle(_) => Given::Value(*value),
                    ExchangeOp::Reduce(_) | ExchangeOp::WarpReduce(_) | ExchangeOp::Ballot => {
                        Given::Anything
                    }
                };
                Some((Holder::Var(*var), value))
            }
            StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        };
        out.extend(given);
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, out));
    }
}
