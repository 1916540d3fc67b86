//! Indices that go up to a number which the kernel itself computes from data: what was
//! counted, reckoned in a tile, or summed up. How large it can be, no run tells. What a tile
//! only holds as it was loaded is data.

use std::collections::{BTreeMap, BTreeSet};

use super::assumed::Origins;
use super::uniform::WrittenTensors;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind, VarId, immutable_lets,
};
use crate::op::CompareOp;

/// A limit that an access is made under: a condition, or what a loop counts to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// This is compared with that.
    Compared(ExprId, ExprId),
    /// The counter of a loop goes from or to this.
    Counted(VarId, ExprId),
}

/// What is computed, and from what.
pub(super) struct Counts<'a> {
    kernel: &'a Kernel,
    origins: Origins,
    written: WrittenTensors,
    /// Tiles in which more is put than data as it was loaded.
    reckoned: BTreeSet<ArrayRef>,
}

impl<'a> Counts<'a> {
    /// Reads a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut reckoned = BTreeSet::new();
        let lets = immutable_lets(&kernel.body, kernel);
        collect_reckoned((kernel, &lets), &kernel.body, &mut reckoned);
        let (origins, written) = (Origins::of(kernel), WrittenTensors::of(kernel));
        Self { kernel, origins, written, reckoned }
    }

    /// Whether one of the limits is such a number, to which an index goes.
    pub(super) fn limit(&self, limits: &[Limit], indices: &[ExprId]) -> bool {
        let vars = |expr: ExprId| self.origins.vars(self.kernel, expr);
        let of_index: BTreeSet<VarId> = indices.iter().flat_map(|index| vars(*index)).collect();
        let meets = |expr: ExprId| !vars(expr).is_disjoint(&of_index);
        limits.iter().any(|limit| match *limit {
            Limit::Compared(lhs, rhs) => {
                self.is_computed(lhs) && meets(rhs) || self.is_computed(rhs) && meets(lhs)
            }
            Limit::Counted(var, bound) => of_index.contains(&var) && self.is_computed(bound),
        })
    }

    fn is_computed(&self, expr: ExprId) -> bool {
        self.origins.reaches(self.kernel, expr, &|kind| match kind {
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tile(_) => self.reckoned.contains(&access.array),
                ArrayRef::Tensor(tensor) => self.written.contains(tensor),
            },
            kind => self.origins.is_exchanged(kind),
        })
    }
}

/// A kernel, and what its variables are that are set once.
type Text<'a> = (&'a Kernel, &'a BTreeMap<VarId, ExprId>);

/// The arrays into which something else is stored than what a tensor or the text says.
fn collect_reckoned(text: Text<'_>, stmts: &[Stmt], out: &mut BTreeSet<ArrayRef>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Store { value, .. } if is_data(text, *value) => {}
            kind => out.extend(kind.written()),
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_reckoned(text, body, out));
    }
}

/// Whether a value is an element of a tensor as it is, or a number.
fn is_data(text: Text<'_>, value: ExprId) -> bool {
    let (kernel, lets) = text;
    match &kernel.exprs[value].kind {
        ExprKind::Literal(_) => true,
        ExprKind::Load(access) => matches!(access.array, ArrayRef::Tensor(_)),
        ExprKind::Cast(of) => is_data(text, *of),
        ExprKind::Select { then, otherwise, .. } => {
            is_data(text, *then) && is_data(text, *otherwise)
        }
        ExprKind::Var(var) => lets.get(var).is_some_and(|value| is_data(text, *value)),
        ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Math { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::InBounds { .. } => false,
    }
}

/// The limits that a condition sets where it holds, or where it does not.
pub(super) fn limits_of(kernel: &Kernel, cond: ExprId) -> Vec<Limit> {
    let mut out = Vec::new();
    let mut open = vec![cond];
    while let Some(id) = open.pop() {
        let kind = &kernel.exprs[id].kind;
        if let ExprKind::Compare { op, lhs, rhs } = kind
            && matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge)
        {
            out.push(Limit::Compared(*lhs, *rhs));
        }
        if matches!(kind, ExprKind::Logic { .. } | ExprKind::Unary { .. } | ExprKind::Uniform(_)) {
            open.extend(kind.operands());
        }
    }
    out
}

/// The limits that a loop sets to its counter.
pub(super) fn limits_of_range(var: VarId, range: &LoopRange) -> Vec<Limit> {
    range.exprs().into_iter().map(|bound| Limit::Counted(var, bound)).collect()
}
