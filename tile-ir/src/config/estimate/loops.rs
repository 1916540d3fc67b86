//! What a text says of its loops by itself.

use super::follow::Follows;
use super::origins::Origins;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind, VarId, VarKind,
    any_stmt, eval_index,
};

/// The loops of a text, in its order.
#[derive(Clone, Debug)]
pub(super) struct Loops(Vec<TextLoop>);

#[derive(Clone, Debug)]
struct TextLoop {
    counter: VarId,
    /// Where it begins, if the text says.
    start: Option<ExprId>,
    /// Whether it goes on by one, each item for itself.
    has_single_steps: bool,
    /// Whether the text says its bounds, so that lowering writes it out.
    is_short: bool,
    /// The extent of a tensor of one axis that it goes along, where data decide its bounds.
    along: Option<ExprId>,
}

impl Loops {
    /// The loops of a kernel; what they go along is still to be found.
    pub(super) fn new(kernel: &Kernel) -> Self {
        let mut loops = Vec::new();
        any_stmt(&kernel.body, &mut |kind| {
            loops.extend(text_loop(kernel, kind));
            false
        });
        Self(loops)
    }

    /// Finds the tensors that loops between bounds of data go along.
    pub(super) fn find_extents(&mut self, kernel: &Kernel, follows: &Follows, origins: &Origins) {
        for expr in kernel.exprs.values() {
            let ExprKind::Load(Access { array: ArrayRef::Tensor(id), indices, .. }) = &expr.kind
            else {
                continue;
            };
            let (&[index], &[extent]) = (&indices[..], &kernel.tensors[*id].extents[..]) else {
                continue;
            };
            let loops = self.0.iter_mut().filter(|_| origins.is_of_data(index));
            loops
                .filter(|it| follows.is_unit_stride(index, it.counter))
                .for_each(|it| it.along = Some(extent));
        }
    }

    /// The loops' counters.
    pub(super) fn counters(&self) -> impl Iterator<Item = VarId> {
        self.0.iter().map(|it| it.counter)
    }

    /// Those of the loops that go on by one.
    pub(super) fn single_steps(&self) -> impl Iterator<Item = VarId> {
        self.0.iter().filter(|it| it.has_single_steps).map(|it| it.counter)
    }

    /// Where loops begin, by their counters.
    pub(super) fn starts(&self) -> impl Iterator<Item = (VarId, ExprId)> {
        self.0.iter().filter_map(|it| Some((it.counter, it.start?)))
    }

    /// Whether lowering writes a loop out, of whatever tile sizes.
    pub(super) fn is_short(&self, counter: VarId) -> bool {
        self.find(counter).is_some_and(|it| it.is_short)
    }

    /// The extent of the tensor of one axis that a loop goes along, where data decide its
    /// bounds.
    pub(super) fn along(&self, counter: VarId) -> Option<ExprId> {
        self.find(counter)?.along
    }

    fn find(&self, counter: VarId) -> Option<&TextLoop> {
        self.0.iter().find(|it| it.counter == counter)
    }
}

fn text_loop(kernel: &Kernel, kind: &StmtKind) -> Option<TextLoop> {
    let (StmtKind::For { var, range, body } | StmtKind::Phase { var, range, body, .. }) = kind
    else {
        return None;
    };
    let is_phase = matches!(kind, StmtKind::Phase { .. });
    let (start, is_single) = match range {
        LoopRange::Between { start, step, .. } => (Some(*start), step.is_none()),
        LoopRange::Halving(_) | LoopRange::Doubling(_) => (None, false),
    };
    Some(TextLoop {
        counter: *var,
        start,
        has_single_steps: is_single && !is_phase,
        is_short: !is_phase && is_short(kernel, range, body),
        along: None,
    })
}

fn is_short(kernel: &Kernel, range: &LoopRange, body: &[Stmt]) -> bool {
    let is_tile = |id: VarId| matches!(kernel.vars[id].kind, VarKind::TileParam(_));
    // With any sizes: what is known of them is known of all.
    let known = |id: VarId| is_tile(id).then_some(1);
    let is_known = |id: &ExprId| eval_index(kernel, *id, &known).is_some();
    !body.iter().any(Stmt::has_meeting) && range.exprs().iter().all(is_known)
}
