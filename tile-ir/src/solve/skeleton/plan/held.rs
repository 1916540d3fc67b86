//! Arrays whose integers are followed.
//!
//! `n[t] = cnt[i];` is asked for by others: `for k in 0..n[o] { sum += s[o, k]; }`; so is
//! `to[t] = 7 - t;` by `out[to[(t + 1) % 8]] = …`. Where nothing collides, what a cell holds is
//! what was last stored there, in whatever order work-items run.
//!
//! # Why it may be rested on before that is proved
//!
//! Take the first two accesses, in an order in which a block may make them, that collide. Until
//! then nothing has, so that each work-item has found what the text says, and both stand in the
//! run where they are in that order. So a run that follows what arrays hold finds something in
//! one of the arrays of a kernel with a race: in this one, or in another one that is asked about
//! in the same way. Blocks are run each from the beginning; what they find in tensors is what
//! they have stored, or what was there before the launch.
//!
//! # What is not followed
//!
//! Arrays of which the order of atomic updates decides what they hold, or what the updates find,
//! are followed only where one run is asked for, in which work-items make their updates one after
//! the other. If all updates of an array are minima, or sums, and nobody takes what one has
//! found, their order does not matter. Of
//! tensors the extents are to be numbers or tile sizes in other runs: outside of them nothing is
//! stored.

use std::collections::{BTreeMap, BTreeSet};

use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, ElemType, ExprId, ExprKind, Kernel, Place, StmtKind, TensorId, VarKind, any_stmt,
    any_subexpr,
};
use crate::op::BinaryOp;

/// The arrays that may be followed, and of which of them the values matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Held {
    may_be: BTreeSet<ArrayRef>,
    needed: BTreeSet<ArrayRef>,
}

impl Held {
    /// The tiles among those of [`Self::all`].
    pub(super) fn tiles(kernel: &Kernel) -> Self {
        Self::all(kernel, &|_| false)
    }

    /// The tiles and `written` tensors of integers and flags, of whatever type, that stores change, and updates in
    /// any order.
    pub(super) fn all(kernel: &Kernel, written: &dyn Fn(TensorId) -> bool) -> Self {
        Self::all_but(kernel, &updated_in_order(kernel), &|array| {
            let of_kernel = matches!(array, ArrayRef::Tile(_));
            let is_kept = of_kernel || matches!(array, ArrayRef::Tensor(tensor) if written(tensor));
            is_kept && kernel.extents(array).iter().all(|extent| is_of_tiles(kernel, *extent))
        })
    }

    /// Those, and the ones that atomics update whatever they hold.
    pub(super) fn counting(kernel: &Kernel, written: &dyn Fn(TensorId) -> bool) -> Self {
        let mut exchanged = BTreeSet::new();
        any_stmt(&kernel.body, &mut |stmt| {
            if let StmtKind::Atomic { access, expected: Some(_), .. } = stmt {
                exchanged.insert(access.array);
            }
            false
        });
        // One run has one launch's extents.
        Self::all_but(kernel, &exchanged, &|array| match array {
            ArrayRef::Tile(_) => true,
            ArrayRef::Tensor(tensor) => written(tensor),
        })
    }

    fn all_but(
        kernel: &Kernel,
        updated: &BTreeSet<ArrayRef>,
        is_kept: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        let may_be = |array: &ArrayRef| {
            let is_plain =
                is_integer(kernel, *array) || is_flag(kernel, *array) || is_chosen(kernel, *array);
            is_plain && !kernel.is_local(*array) && !updated.contains(array) && is_kept(*array)
        };
        let tiles = kernel.tiles.ids().map(ArrayRef::Tile);
        let arrays = tiles.chain(kernel.tensors.ids().map(ArrayRef::Tensor));
        Self { may_be: arrays.filter(may_be).collect(), needed: BTreeSet::new() }
    }

    /// An element's value matters; says whether it is followed.
    pub(super) fn need(&mut self, array: ArrayRef) -> bool {
        let is_followed = self.may_be.contains(&array);
        if is_followed {
            self.needed.insert(array);
        }
        is_followed
    }

    /// Whether what an array holds matters, and is followed.
    pub(super) fn follows(&self, array: ArrayRef) -> bool {
        self.needed.contains(&array)
    }

    /// Whether what some array holds matters, and is followed.
    pub(super) fn follows_any(&self) -> bool {
        !self.needed.is_empty()
    }
}

/// The arrays of which the order of atomic updates decides what they hold, or what one finds.
pub(in super::super) fn updated_in_order(kernel: &Kernel) -> BTreeSet<ArrayRef> {
    let mut ordered = BTreeSet::new();
    let mut updates: BTreeMap<ArrayRef, BinaryOp> = BTreeMap::new();
    any_stmt(&kernel.body, &mut |stmt| {
        if let StmtKind::Atomic { access, op, old, .. } = stmt {
            let is_other = op.binary().is_none_or(|op| {
                // What is taken off is a sum too.
                let op = if op == BinaryOp::Sub { BinaryOp::Add } else { op };
                *updates.entry(access.array).or_insert(op) != op
            });
            ordered.extend((is_other || old.is_some()).then_some(access.array));
        }
        false
    });
    ordered
}

fn is_integer(kernel: &Kernel, array: ArrayRef) -> bool {
    matches!(kernel.element_type(array), ElemType::Concrete(dtype) if dtype.is_integer())
}

fn is_flag(kernel: &Kernel, array: ArrayRef) -> bool {
    matches!(kernel.element_type(array), ElemType::Concrete(DType::Bool))
}

/// Whether an array is given literals only: a flag of another type.
fn is_chosen(kernel: &Kernel, array: ArrayRef) -> bool {
    let mut is_given = false;
    let is_other = any_stmt(&kernel.body, &mut |stmt| match stmt {
        StmtKind::Store { access, value } if access.array == array => {
            is_given = true;
            !is_literal_of_any(kernel, *value)
        }
        StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, .. } => access.array == array,
        _ => false,
    });
    is_given && !is_other && matches!(array, ArrayRef::Tile(_))
}

/// Whether an expression is one of some literals.
fn is_literal_of_any(kernel: &Kernel, expr: ExprId) -> bool {
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(_) => true,
        ExprKind::Select { then, otherwise, .. } => {
            is_literal_of_any(kernel, *then) && is_literal_of_any(kernel, *otherwise)
        }
        _ => false,
    }
}

/// Whether an extent is made of numbers and tile sizes.
fn is_of_tiles(kernel: &Kernel, extent: ExprId) -> bool {
    let is_other = &mut |kind: &ExprKind| match kind {
        ExprKind::Var(var) => !matches!(kernel.vars[*var].kind, VarKind::TileParam(_)),
        _ => false,
    };
    !any_subexpr(kernel, extent, is_other)
}
