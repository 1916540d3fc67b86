//! Cutting a kernel down to its skeleton.

mod again;
mod alike;
mod apart;
mod asks;
mod build;
mod held;
mod locals;
mod need;
mod plain;
mod rounds;
mod shifts;

use std::collections::{BTreeMap, BTreeSet};

use super::literals::largest_literal;
use super::machine::{ANY_EXTENT, NO_EXTENT, leavers};
use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::check::{Beside, Exact, WrittenTensors};
use crate::exchange::{ExchangeOp, Group};
use crate::kernel::{
    Access, AccessKind, ArrayRef, Axis, ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind,
    TileId, VarId, VarKind, any_subexpr, immutable_lets,
};
use crate::op::BinaryOp;
use crate::span::SpanId;
pub(super) use asks::evaluated;
use held::Held;
pub(super) use held::updated_in_order;
use locals::Locals;
pub(super) use rounds::Rounds;

/// An access in the text, by its position in program order.
pub(crate) type SiteId = u32;

/// An access in the text. `a[i] += e` is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    /// The array.
    pub(crate) array: ArrayRef,
    /// The whole access.
    pub(crate) span: SpanId,
    /// What it does.
    pub(crate) kind: AccessKind,
    /// The statement it stands in.
    pub(crate) stmt: SpanId,
}

/// A statement of a skeleton.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// `var = value;`, or `var op= value;`
    Set { var: VarId, op: Option<BinaryOp>, value: ExprId },
    /// `let var = atomic array[…] …;`: the old value; where it is held, of what element.
    Old { var: VarId, array: ArrayRef, held: Option<&'a Access> },
    /// A local array under watch is declared, with a value in all elements or in none.
    Begin { tile: TileId, is_filled: bool },
    /// A local array that is followed is declared, with this value in all elements.
    Declare { tile: TileId, init: Option<ExprId> },
    /// `array[…] = value;`, or `array[…] op= value;`, of an array that is followed; a write
    /// under watch of one that is not local: it may change what its own indices are made of.
    Element { access: &'a Access, op: Option<BinaryOp>, value: ExprId, site: Option<SiteId> },
    /// The loads of an expression whose value does not matter.
    Touch(ExprId),
    /// A read (of `a[i] += e`) or a write; its indices are evaluated anew.
    Access { access: &'a Access, site: SiteId },
    /// A cooperative loop.
    Each { axes: &'a [Axis], body: Vec<Node<'a>>, head: SpanId },
    /// A counted loop.
    Loop { var: VarId, range: LoopRange, body: Body<'a>, head: SpanId },
    /// A conditional loop; those of `rising` do not wrap in one that ends.
    While { cond: ExprId, body: Body<'a>, head: SpanId, rising: Vec<VarId> },
    /// A conditional.
    If { cond: ExprId, then: Body<'a>, otherwise: Body<'a> },
    /// `var` gets a value made of those of a block's or a warp's work-items. One of
    /// the block is a barrier.
    Exchange { var: VarId, op: ExchangeOp, value: ExprId, lane: Option<ExprId> },
    /// What holds, at sizes that are run.
    Assume(ExprId),
    /// What work-items of which these `inputs` are equal do alike, and leave in `outputs`.
    Alike { node: Box<Node<'a>>, inputs: Vec<VarId>, outputs: Vec<VarId> },
    /// A barrier.
    Barrier,
    /// A barrier of a warp.
    WarpBarrier,
}

/// Statements that are run or not, or again and again.
#[derive(Clone, Debug)]
pub(super) struct Body<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// Of a loop: those that touch other elements in later rounds, where not all do.
    again: Option<Vec<Node<'a>>>,
    /// Of a loop: when rounds do what earlier ones did, where that is known.
    pub(super) rounds: Option<Box<Rounds>>,
    /// Who runs something in it together.
    pub(super) team: Option<Group>,
    /// The variables that it may change.
    pub(super) assigned: Vec<VarId>,
    /// The arrays that it may store to, of those that are followed.
    pub(super) stored: BTreeSet<ArrayRef>,
}

impl<'a> Body<'a> {
    /// What is run in the round of this number, of a loop that a worker runs by itself.
    pub(super) fn round(&self, number: usize) -> &[Node<'a>] {
        match &self.again {
            Some(again) if number > 0 => again,
            _ => &self.nodes,
        }
    }
}

impl Node<'_> {
    /// Whose work-items run it together, if it is not each one's own.
    pub(super) fn team(&self) -> Option<Group> {
        match self {
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Begin { .. }
            | Node::Declare { .. }
            | Node::Element { .. }
            | Node::Touch(_)
            | Node::Access { .. }
            | Node::Assume(_) => None,
            Node::Each { .. } | Node::Barrier => Some(Group::Block),
            Node::Exchange { op, .. } => Some(op.group()),
            Node::WarpBarrier => Some(Group::Warp),
            Node::Loop { body, .. } | Node::While { body, .. } => body.team,
            Node::If { then, otherwise, .. } => then.team.max(otherwise.team),
            Node::Alike { node, .. } => node.team(),
        }
    }
}

/// A skeleton.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    kernel: &'a Kernel,
    /// The body.
    pub(super) body: Vec<Node<'a>>,
    /// All accesses under watch.
    pub(super) sites: Vec<Site>,
    /// The updates among them that store, whatever was there.
    pub(super) swaps: BTreeSet<SiteId>,
    /// By expression: the access that it makes, if it is a load under watch.
    pub(super) loads: Vec<Option<SiteId>>,
    /// By expression: whether a load under watch is in it.
    pub(super) touches: Vec<bool>,
    /// What variables are that are given a value once.
    pub(super) lets: BTreeMap<VarId, ExprId>,
    /// Flags of jumps, by the condition under which they are set.
    pub(super) leavers: BTreeMap<VarId, ExprId>,
    /// Local arrays whose elements are variables.
    pub(super) locals: Locals,
    /// Arrays whose values are followed.
    held: Held,
    /// By variable, elements of local arrays among them: whether its value matters.
    needed: Vec<bool>,
    watched: Vec<ArrayRef>,
    /// Tile parameters, dimensions and scalars that matter.
    pub(super) used: Vec<VarId>,
    /// Of these, the dimensions that are nothing but the extent of an axis of an
    /// array under watch: they only say what is outside.
    pub(super) extents_alone: Vec<VarId>,
    /// Dimensions that say whether a load whose value matters is inside of its tensor.
    edges: Vec<VarId>,
    /// The largest number in the text.
    largest: i64,
    /// Whether the value of a load matters.
    pub(super) uses_data: bool,
    /// The tensors that the kernel writes.
    written: WrittenTensors,
    /// The assumptions that sizes decide, if they count.
    decisive: BTreeSet<ExprId>,
    /// Whether warps have barriers of their own.
    pub(super) orders_warps: bool,
    /// Whether some loop may be seen to have no end.
    pub(super) may_not_end: bool,
    /// Whether what loaded data makes is followed, as amounts.
    pub(super) follows_amounts: bool,
    /// By expression: whether a launch in which it wraps is refused.
    pub(super) exact: Vec<bool>,
    /// By expression: likewise, as long as no difference without a sign has wrapped.
    pub(super) beside: Vec<bool>,
    /// By expression: whether it is such a difference, or what is converted to one.
    pub(super) differences: Vec<bool>,
    /// By variable: likewise.
    pub(super) kept: Vec<bool>,
    /// By expression: whether it is arithmetic of indices alone, which nothing is asked about.
    pub(super) plain: Vec<bool>,
}

impl<'a> Plan<'a> {
    /// The skeleton of what `kernel` does to those of its arrays that it writes
    /// and that `watch` admits.
    pub(super) fn of(kernel: &'a Kernel, watch: &dyn Fn(ArrayRef) -> bool) -> Self {
        Self::under(kernel, BTreeSet::new(), watch)
    }

    /// The same, run only at sizes of which `assumptions` hold.
    pub(super) fn under(
        kernel: &'a Kernel,
        assumptions: BTreeSet<ExprId>,
        watch: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        Self::following(kernel, assumptions, Held::default(), watch)
    }

    /// The same, in which what the kernel itself has stored is found where it is read.
    pub(super) fn storing(
        kernel: &'a Kernel,
        assumptions: BTreeSet<ExprId>,
        watch: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        let written = WrittenTensors::of(kernel);
        let held = Held::all(kernel, &|tensor| written.contains(tensor));
        Self::following(kernel, assumptions, held, watch)
    }

    /// The same, in which so it is with what atomics have made: for a run in which work-items
    /// make their updates one after the other.
    pub(super) fn counting(
        kernel: &'a Kernel,
        assumptions: BTreeSet<ExprId>,
        watch: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        let written = WrittenTensors::of(kernel);
        let held = Held::counting(kernel, &|tensor| written.contains(tensor));
        Self::following(kernel, assumptions, held, watch)
    }

    /// The same, of which nothing is asked but which cells are read unwritten: nothing collides.
    pub(super) fn for_fills(
        kernel: &'a Kernel,
        assumptions: BTreeSet<ExprId>,
        watch: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        Self::following(kernel, assumptions, Held::tiles(kernel), watch).by_first()
    }

    fn following(
        kernel: &'a Kernel,
        assumptions: BTreeSet<ExprId>,
        held: Held,
        watch: &dyn Fn(ArrayRef) -> bool,
    ) -> Self {
        let written = WrittenTensors::of(kernel);
        let tensors = kernel.tensors.ids().filter(|id| written.contains(*id));
        let tensors = tensors.map(ArrayRef::Tensor);
        let arrays = kernel.tiles.ids().map(ArrayRef::Tile).chain(tensors);
        let watched = arrays.filter(|array| watch(*array)).collect();
        let locals = Locals::of(kernel);
        let mut plan = Self {
            kernel,
            body: Vec::new(),
            sites: Vec::new(),
            swaps: BTreeSet::new(),
            loads: vec![None; kernel.exprs.len()],
            touches: vec![false; kernel.exprs.len()],
            needed: vec![false; locals.variables()],
            lets: immutable_lets(&kernel.body, kernel),
            leavers: leavers(kernel),
            locals,
            held,
            watched,
            used: Vec::new(),
            extents_alone: Vec::new(),
            edges: Vec::new(),
            largest: largest_literal(kernel),
            uses_data: false,
            written,
            decisive: assumptions,
            orders_warps: has_warp_barrier(&kernel.body),
            may_not_end: false,
            follows_amounts: false,
            exact: Vec::new(),
            beside: Vec::new(),
            differences: vec![false; kernel.exprs.len()],
            kept: Vec::new(),
            plain: Vec::new(),
        };
        let exact = Exact::of(kernel);
        plan.exact = kernel.exprs.ids().map(|expr| exact.contains(expr)).collect();
        plan.beside = vec![false; kernel.exprs.len()];
        for expr in kernel.exprs.ids() {
            let beside = exact.beside(expr).into_iter().flatten();
            let differences: Option<Vec<ExprId>> = beside.map(difference).collect();
            for of in differences.into_iter().flatten() {
                plan.beside[expr.index()] = true;
                plan.differences[of.index()] = true;
            }
        }
        plan.kept = kernel.vars.ids().map(|var| exact.keeps(var)).collect();
        plan.plain = plain::of(kernel, &plan.exact);
        // An operand has a smaller id than its user.
        for (id, expr) in kernel.exprs.iter() {
            let own = matches!(&expr.kind, ExprKind::Load(access) if plan.is_watched(access));
            let inner = expr.kind.operands().iter().any(|operand| plan.touches[operand.index()]);
            plan.touches[id.index()] = own || inner;
        }
        loop {
            let before = (plan.needed.clone(), plan.held.clone());
            plan.mark(&kernel.body);
            if (&plan.needed, &plan.held) == (&before.0, &before.1) {
                break;
            }
        }
        plan.body = plan.nodes(&kernel.body);
        plan.used = plan.find_used(&|_| true);
        let decisive = plan.find_used(&|extent| !plan.is_dim(extent));
        plan.extents_alone =
            plan.used.iter().copied().filter(|var| !decisive.contains(var)).collect();
        plan.edges = plan.find_edges();
        plan
    }

    /// The same, run with what loaded data makes followed.
    pub(super) fn by_amounts(self) -> Self {
        Self { follows_amounts: true, ..self }
    }

    /// Whether anything under watch is written.
    pub(super) fn writes(&self) -> bool {
        self.sites.iter().any(|site| site.kind.writes())
    }

    /// Whether a block's coordinates matter.
    pub(super) fn depends_on_block(&self) -> bool {
        self.kernel.grid.iter().any(|axis| self.needed[axis.var.index()])
            || self.watched.iter().any(|array| matches!(array, ArrayRef::Tensor(_)))
    }

    /// Whether what an array's elements are matters, and is followed.
    fn needs_elements(&self, array: ArrayRef) -> bool {
        self.locals.all(array).next().is_some_and(|element| self.needs(element))
            || self.holds(array)
    }

    /// Whether what some array holds matters, and is followed.
    pub(super) fn holds_any(&self) -> bool {
        self.held.follows_any()
    }

    /// Whether what an array holds matters, and is followed.
    pub(super) fn holds(&self, array: ArrayRef) -> bool {
        self.held.follows(array)
    }

    /// Whether a variable's value matters.
    pub(super) fn needs(&self, var: VarId) -> bool {
        self.needed[var.index()]
    }

    /// After how many values a counter comes back to what it was, for all that is asked
    /// of it; `None` of one that never does.
    pub(super) fn period(&self, counter: VarId) -> Option<usize> {
        if !self.needs(counter) {
            return Some(1);
        }
        shifts::only_shifts(self.kernel, counter).then_some(shifts::PERIOD)
    }

    /// Whether some launch is refused.
    pub(super) fn refuses(&self) -> bool {
        [&self.exact, &self.beside, &self.kept].into_iter().any(|of| of.contains(&true))
    }

    /// Whether something is counted in `nodes`: a variable becomes more or less by what is
    /// added to it, and begins again nowhere.
    pub(super) fn counts(&self, nodes: &[Node<'_>]) -> bool {
        let (mut counted, mut begun) = (BTreeSet::new(), BTreeSet::new());
        self.collect_counted(nodes, (&mut counted, &mut begun));
        !counted.is_subset(&begun)
    }

    /// Collects the variables that are counted, and those that begin again.
    fn collect_counted(
        &self,
        nodes: &[Node<'_>],
        (counted, begun): (&mut BTreeSet<VarId>, &mut BTreeSet<VarId>),
    ) {
        for node in nodes {
            match node {
                Node::Set { var, op: Some(op), .. } if is_sum(*op) => {
                    counted.insert(*var);
                }
                Node::Set { var, op: None, value } => match self.kernel.exprs[*value].kind {
                    ExprKind::Binary { op, lhs, rhs }
                        if is_sum(op)
                            && [lhs, rhs].iter().any(|operand| {
                                self.kernel.exprs[*operand].kind == ExprKind::Var(*var)
                            }) =>
                    {
                        counted.insert(*var);
                    }
                    _ => {
                        let mut is_var = |kind: &ExprKind| *kind == ExprKind::Var(*var);
                        let begins = !any_subexpr(self.kernel, *value, &mut is_var);
                        begun.extend(begins.then_some(*var));
                    }
                },
                Node::Element { access, op: Some(op), .. } if is_sum(*op) => {
                    counted.extend(self.locals.all(access.array));
                }
                Node::Declare { tile, .. } => {
                    begun.extend(self.locals.all(ArrayRef::Tile(*tile)));
                }
                Node::Loop { body, .. } | Node::While { body, .. } => {
                    self.collect_counted(&body.nodes, (counted, begun));
                }
                Node::If { then, otherwise, .. } => {
                    self.collect_counted(&then.nodes, (counted, begun));
                    self.collect_counted(&otherwise.nodes, (counted, begun));
                }
                Node::Each { body, .. } => self.collect_counted(body, (counted, begun)),
                Node::Alike { node, .. } => {
                    self.collect_counted(std::slice::from_ref(node), (counted, begun));
                }
                Node::Set { .. }
                | Node::Old { .. }
                | Node::Begin { .. }
                | Node::Element { .. }
                | Node::Touch(_)
                | Node::Access { .. }
                | Node::Exchange { .. }
                | Node::Assume(_)
                | Node::Barrier
                | Node::WarpBarrier => {}
            }
        }
    }

    /// The values of `sizes` that can make a difference.
    pub(super) fn project(&self, sizes: &Sizes) -> Vec<(VarId, i64)> {
        let value = |var: &VarId| Some((*var, sizes.values[var.index()]?));
        let used = self.used.iter().filter(|var| !sizes.open.contains(var)).filter_map(value);
        used.filter(|(_, value)| ![ANY_EXTENT, NO_EXTENT].contains(value)).collect()
    }

    /// What tells runs apart.
    pub(super) fn key(&self, sizes: &Sizes) -> (Vec<(VarId, i64)>, u32) {
        let mut values = self.project(sizes);
        let is_large = |var: &VarId| sizes.values[var.index()].is_some_and(|at| at > self.largest);
        values.extend(self.edges.iter().map(|var| (*var, i64::from(is_large(var)))));
        (values, if self.uses_data { sizes.seed } else { 0 })
    }

    /// The dimensions, used nowhere else, of tensors of which elements decide something.
    fn find_edges(&self) -> Vec<VarId> {
        let loaded = self.kernel.exprs.values().filter_map(|expr| match &expr.kind {
            ExprKind::Load(access) if !self.is_watched(access) => Some(access.array),
            _ => None,
        });
        let is_tensor = |array: &ArrayRef| matches!(array, ArrayRef::Tensor(_));
        let arrays = loaded.filter(|array| self.uses_data && is_tensor(array));
        let extents = arrays.flat_map(|array| self.kernel.extents(array));
        let mut edges: Vec<VarId> = extents
            .filter_map(|extent| match self.kernel.exprs[*extent].kind {
                ExprKind::Var(var) if !self.used.contains(&var) => Some(var),
                _ => None,
            })
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn is_dim(&self, expr: ExprId) -> bool {
        let ExprKind::Var(var) = self.kernel.exprs[expr].kind else { return false };
        self.kernel.vars[var].kind == VarKind::Dim
    }

    /// What matters of a launch, with those extents of arrays under watch that
    /// `counts` admits.
    fn find_used(&self, counts: &dyn Fn(ExprId) -> bool) -> Vec<VarId> {
        let block = self.kernel.block.iter().flatten().map(|axis| axis.extent);
        let grid = self.kernel.grid.iter().map(|axis| axis.extent);
        let grid = grid.filter(|_| self.depends_on_block());
        let extents = self.watched.iter().flat_map(|array| self.kernel.extents(*array)).copied();
        let extents = extents.filter(|extent| counts(*extent));
        let mut used = self.needed.clone();
        let mut pending: Vec<ExprId> = block.chain(grid).chain(extents).collect();
        while let Some(expr) = pending.pop() {
            if let ExprKind::Var(var) = self.kernel.exprs[expr].kind {
                used[var.index()] = true;
            }
            pending.extend(self.kernel.exprs[expr].kind.operands());
        }
        let fixed = self.kernel.vars.iter().filter(|(id, var)| {
            let of_launch = match var.kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => true,
                VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => false,
            };
            of_launch && used[id.index()]
        });
        fixed.map(|(id, _)| id).collect()
    }

    /// Whether an assumption counts.
    fn decides(&self, cond: ExprId) -> bool {
        self.decisive.contains(&cond)
    }

    fn is_watched(&self, access: &Access) -> bool {
        self.watched.contains(&access.array)
    }
}

fn is_sum(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub)
}

fn has_warp_barrier(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::WarpBarrier)
            || stmt.kind.bodies().into_iter().any(has_warp_barrier)
    })
}

/// The difference that is not to be below 0; runs do not ask what else is to hold of parts.
fn difference(beside: &Beside) -> Option<ExprId> {
    match beside {
        Beside::Natural(of) => Some(*of),
        Beside::Below(..) => None,
    }
}
