//! What variables and tiles get in a kernel's text.
//!
//! Of all that is put into a variable, or into some cell of a tile, it may be asked whether it has
//! a property, where what it is made of has it. All that hold values are taken to have it, until
//! one gets a value that need not.

use std::collections::BTreeSet;

use super::{ArrayRef, ExprId, Kernel, Place, Stmt, StmtKind, TileId, VarId};
use crate::exchange::{ExchangeOp, Reduction};
use crate::op::{AtomicOp, BinaryOp};

/// What holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    Var(VarId),
    Tile(TileId),
}

impl Holder {
    /// The holder that an array is; a tensor is none.
    pub(crate) fn of_array(array: ArrayRef) -> Option<Self> {
        match array {
            ArrayRef::Tile(tile) => Some(Self::Tile(tile)),
            ArrayRef::Tensor(_) => None,
        }
    }

    fn tile(self) -> Option<TileId> {
        match self {
            Self::Tile(tile) => Some(tile),
            Self::Var(_) => None,
        }
    }
}

/// What a holder gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given {
    Value(ExprId),
    /// An element of an array.
    Element(ArrayRef),
    Anything,
}

/// The operators by which a holder that has a property gets a value that has it, if its operand
/// does: others give anything.
#[derive(Clone, Copy)]
pub(crate) struct Keeping {
    pub(crate) update: fn(BinaryOp) -> bool,
    pub(crate) atomic: fn(AtomicOp) -> bool,
}

/// What all holders of a kernel get, those of loops' counters left out. Sums and shuffles of a
/// value are given as that value.
pub(crate) fn given(kernel: &Kernel, keeping: Keeping) -> Vec<(Holder, Given)> {
    let mut out = Vec::new();
    collect(&kernel.body, keeping, &mut out);
    out
}

/// The tiles among those of `holders` that are left when all are taken out, one after the other,
/// that get something which is not kept by those that are left.
pub(crate) fn kept_tiles(
    given: &[(Holder, Given)],
    mut holders: BTreeSet<Holder>,
    is_kept: impl Fn(&(Holder, Given), &BTreeSet<Holder>) -> bool,
) -> BTreeSet<TileId> {
    loop {
        let lost: Vec<Holder> = given
            .iter()
            .filter(|of| holders.contains(&of.0) && !is_kept(of, &holders))
            .map(|(holder, _)| *holder)
            .collect();
        if lost.is_empty() {
            return holders.into_iter().filter_map(Holder::tile).collect();
        }
        lost.iter().for_each(|holder| {
            holders.remove(holder);
        });
    }
}

fn collect(stmts: &[Stmt], keeping: Keeping, out: &mut Vec<(Holder, Given)>) {
    let operand = |is_kept, value| if is_kept { Given::Value(value) } else { Given::Anything };
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
                holder.map(|holder| (holder, operand((keeping.update)(*op), *value)))
            }
            StmtKind::Atomic { access, op, value, old, .. } => {
                out.extend(old.map(|old| (Holder::Var(old), Given::Element(access.array))));
                let value = operand((keeping.atomic)(*op), *value);
                Holder::of_array(access.array).map(|holder| (holder, value))
            }
            StmtKind::Exchange { var, op, value, .. } => {
                Some((Holder::Var(*var), operand(passes_on(*op), *value)))
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
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, keeping, out));
    }
}

/// Whether an exchange gives one of the values put in, or a sum of them.
fn passes_on(op: ExchangeOp) -> bool {
    match op {
        ExchangeOp::Scan { .. }
        | ExchangeOp::Reduce(Reduction::Sum)
        | ExchangeOp::WarpReduce(Reduction::Sum)
        | ExchangeOp::Shuffle(_) => true,
        ExchangeOp::Reduce(_) | ExchangeOp::WarpReduce(_) | ExchangeOp::Ballot => false,
    }
}
