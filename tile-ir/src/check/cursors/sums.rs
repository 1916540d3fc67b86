//! Arrays whose cells hold counts, and sums of these.
//!
//! All that is stored in such an array is made of small numbers by `+` alone, by way of variables,
//! of other such arrays, and of what the work-items of a block add up together. So a cell holds
//! what has been counted, be it by several, and nothing that data says.

use std::collections::BTreeSet;

use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId, Type, VarId,
};
use crate::op::{AtomicOp, BinaryOp};

/// The most that is counted at once.
const MAX_STEP: i128 = 1 << 20;

/// What holds counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Var(VarId),
    Tile(TileId),
}

impl Holder {
    fn of_array(array: ArrayRef) -> Option<Self> {
        match array {
            ArrayRef::Tile(tile) => Some(Self::Tile(tile)),
            ArrayRef::Tensor(_) => None,
        }
    }
}

/// What a holder gets.
enum Given {
    Value(ExprId),
    /// What a tile's cells hold.
    Cell(ArrayRef),
    Anything,
}

/// The arrays of a kernel that hold counts alone.
pub(super) fn arrays_of_counts(kernel: &Kernel) -> BTreeSet<TileId> {
    let mut given = Vec::new();
    collect(&kernel.body, &mut given);
    let mut counts: BTreeSet<Holder> = given.iter().map(|(holder, _)| *holder).collect();
    loop {
        let holds = |given: &Given| match given {
            Given::Value(value) => is_count(kernel, *value, &counts),
            Given::Cell(array) => {
                Holder::of_array(*array).is_some_and(|holder| counts.contains(&holder))
            }
            Given::Anything => false,
        };
        let others =
            given.iter().filter(|(holder, given)| counts.contains(holder) && !holds(given));
        let lost: Vec<Holder> = others.map(|(holder, _)| *holder).collect();
        if lost.is_empty() {
            break;
        }
        lost.iter().for_each(|holder| {
            counts.remove(holder);
        });
    }
    let tile = |holder| match holder {
        Holder::Tile(tile) => Some(tile),
        Holder::Var(_) => None,
    };
    counts.into_iter().filter_map(tile).filter(|tile| has_counts(kernel, *tile)).collect()
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

/// What holders get in statements.
fn collect(stmts: &[Stmt], out: &mut Vec<(Holder, Given)>) {
    for stmt in stmts {
        let given = match &stmt.kind {
            StmtKind::Let { var, init } => init.map(|init| (Holder::Var(*var), Given::Value(init))),
            StmtKind::Assign { var, value } => Some((Holder::Var(*var), Given::Value(*value))),
            StmtKind::LetArray { tile, init } => {
                init.map(|init| (Holder::Tile(*tile), Given::Value(init)))
            }
            StmtKind::Store { access, value } => {
                Holder::of_array(access.array).map(|holder| (holder, Given::Value(*value)))
            }
            StmtKind::Update { place, op, value } => {
                let holder = match place {
                    Place::Var(var) => Some(Holder::Var(*var)),
                    Place::Element(access) => Holder::of_array(access.array),
                };
                let value =
                    if *op == BinaryOp::Add { Given::Value(*value) } else { Given::Anything };
                holder.map(|holder| (holder, value))
            }
            StmtKind::Atomic { access, op, value, old, .. } => {
                out.extend(old.map(|old| (Holder::Var(old), Given::Cell(access.array))));
                let value =
                    if *op == AtomicOp::Add { Given::Value(*value) } else { Given::Anything };
                Holder::of_array(access.array).map(|holder| (holder, value))
            }
            StmtKind::Exchange { var, op, value, .. } => {
                Some((Holder::Var(*var), exchanged(*op, *value)))
            }
            StmtKind::Phase { var, .. } | StmtKind::For { var, .. } => {
                Some((Holder::Var(*var), Given::Anything))
            }
            StmtKind::Each { .. }
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

/// What an exchange of a value gives.
fn exchanged(op: ExchangeOp, value: ExprId) -> Given {
    match op {
        ExchangeOp::Scan { .. }
        | ExchangeOp::Reduce(Reduction::Sum)
        | ExchangeOp::WarpReduce(Reduction::Sum)
        | ExchangeOp::Shuffle(_) => Given::Value(value),
        ExchangeOp::Reduce(_) | ExchangeOp::WarpReduce(_) | ExchangeOp::Ballot => Given::Anything,
    }
}
