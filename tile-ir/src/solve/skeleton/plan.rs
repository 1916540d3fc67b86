//! Cutting a kernel down to its skeleton.

use std::collections::BTreeSet;

use super::machine::ANY_EXTENT;
use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::check::WrittenTensors;
use crate::exchange::ExchangeOp;
use crate::kernel::{
    Access, AccessKind, ArrayRef, Axis, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind,
    VarId, VarKind,
};
use crate::op::BinaryOp;
use crate::span::SpanId;

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
    /// `let var = atomic array[…] …;`: the old value.
    Old { var: VarId, array: ArrayRef },
    /// The loads of an expression whose value does not matter.
    Touch(ExprId),
    /// A read (of `a[i] += e`) or a write; its indices are evaluated anew.
    Access { access: &'a Access, site: SiteId },
    /// A cooperative loop.
    Each { axes: &'a [Axis], body: Vec<Node<'a>>, head: SpanId },
    /// A counted loop; `collective` where a barrier or a cooperative loop is inside.
    Loop { var: VarId, range: LoopRange, body: Vec<Node<'a>>, collective: bool, head: SpanId },
    /// A conditional loop.
    While { cond: ExprId, body: Vec<Node<'a>>, collective: bool, head: SpanId },
    /// A conditional. `assigned` are the variables that an arm may change.
    If {
        cond: ExprId,
        then: Vec<Node<'a>>,
        otherwise: Vec<Node<'a>>,
        collective: bool,
        assigned: Vec<VarId>,
    },
    /// `var` gets a value made of those of all work-items; a barrier.
    Exchange { var: VarId, op: ExchangeOp, value: ExprId },
    /// What holds, at sizes that are run.
    Assume(ExprId),
    /// A barrier.
    Barrier,
}

impl Node<'_> {
    /// Whether the whole block runs it together.
    pub(super) fn is_collective(&self) -> bool {
        match self {
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Touch(_)
            | Node::Access { .. }
            | Node::Assume(_) => false,
            Node::Each { .. } | Node::Exchange { .. } | Node::Barrier => true,
            Node::Loop { collective, .. }
            | Node::While { collective, .. }
            | Node::If { collective, .. } => *collective,
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
    /// By expression: the access that it makes, if it is a load under watch.
    pub(super) loads: Vec<Option<SiteId>>,
    /// By expression: whether a load under watch is in it.
    pub(super) touches: Vec<bool>,
    /// By variable: whether its value matters.
    needed: Vec<bool>,
    watched: Vec<ArrayRef>,
    /// Tile parameters, dimensions and scalars that matter.
    pub(super) used: Vec<VarId>,
    /// Of these, the dimensions that are nothing but the extent of an axis of an
    /// array under watch: they only say what is outside.
    pub(super) extents_alone: Vec<VarId>,
    /// Whether the value of a load matters.
    pub(super) uses_data: bool,
    /// The assumptions that sizes decide, if they count.
    decisive: BTreeSet<ExprId>,
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
        let written = WrittenTensors::of(kernel);
        let tensors = kernel.tensors.ids().filter(|id| written.contains(*id));
        let tensors = tensors.map(ArrayRef::Tensor);
        let arrays = kernel.tiles.ids().map(ArrayRef::Tile).chain(tensors);
        let mut plan = Self {
            kernel,
            body: Vec::new(),
            sites: Vec::new(),
            loads: vec![None; kernel.exprs.len()],
            touches: vec![false; kernel.exprs.len()],
            needed: vec![false; kernel.vars.len()],
            watched: arrays.filter(|array| watch(*array)).collect(),
            used: Vec::new(),
            extents_alone: Vec::new(),
            uses_data: false,
            decisive: assumptions,
        };
        // An operand has a smaller id than its user.
        for (id, expr) in kernel.exprs.iter() {
            let own = matches!(&expr.kind, ExprKind::Load(access) if plan.is_watched(access));
            let inner = expr.kind.operands().iter().any(|operand| plan.touches[operand.index()]);
            plan.touches[id.index()] = own || inner;
        }
        loop {
            let before = plan.needed.clone();
            plan.mark(&kernel.body);
            if plan.needed == before {
                break;
            }
        }
        plan.body = plan.nodes(&kernel.body);
        plan.used = plan.find_used(&|_| true);
        let decisive = plan.find_used(&|extent| !plan.is_dim(extent));
        plan.extents_alone =
            plan.used.iter().copied().filter(|var| !decisive.contains(var)).collect();
        plan
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

    /// The values of `sizes` that can make a difference.
    pub(super) fn project(&self, sizes: &Sizes) -> Vec<(VarId, i64)> {
        let value = |var: &VarId| Some((*var, sizes.values[var.index()]?));
        let used = self.used.iter().filter_map(value);
        used.filter(|(_, value)| *value != ANY_EXTENT).collect()
    }

    /// What tells runs apart.
    pub(super) fn key(&self, sizes: &Sizes) -> (Vec<(VarId, i64)>, u32) {
        (self.project(sizes), if self.uses_data { sizes.seed } else { 0 })
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

    // What matters.

    fn need(&mut self, expr: ExprId) {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Var(var) = kind {
            self.needed[var.index()] = true;
        }
        if matches!(kind, ExprKind::Load(_)) {
            self.uses_data = true;
        }
        if let ExprKind::InBounds { tensor, .. } = kind {
            for extent in &kernel.tensors[*tensor].extents {
                self.need(*extent);
            }
        }
        for operand in kind.operands() {
            self.need(operand);
        }
    }

    /// Marks what the loads under watch in `expr` need.
    fn touch(&mut self, expr: ExprId) {
        if !self.touches[expr.index()] {
            return;
        }
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        match kind {
            ExprKind::Load(access) if self.is_watched(access) => {
                access.indices.iter().for_each(|index| self.need(*index));
            }
            ExprKind::Select { cond, .. } | ExprKind::Logic { lhs: cond, .. } => self.need(*cond),
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
        kind.operands().into_iter().for_each(|operand| self.touch(operand));
    }

    fn mark(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                    self.mark_value(*var, *value);
                }
                StmtKind::Exchange { var, value, .. }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.mark_value(*var, *value);
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    self.mark_written(access, *value);
                }
                StmtKind::Atomic { access, expected, value, old, .. } => {
                    expected.iter().for_each(|expected| self.touch(*expected));
                    self.mark_written(access, *value);
                    self.uses_data |= old.is_some_and(|old| self.needed[old.index()]);
                }
                StmtKind::LetArray { init, .. } => {
                    init.iter().for_each(|init| self.touch(*init));
                }
                StmtKind::Let { init: None, .. } | StmtKind::Barrier => {}
                StmtKind::Assume { cond } => {
                    self.touch(*cond);
                    if self.decides(*cond) {
                        self.need(*cond);
                    }
                }
                StmtKind::Each { axes, body, .. } => {
                    if self.keeps(body) {
                        axes.iter().for_each(|axis| self.need(axis.extent));
                    }
                    self.mark(body);
                }
                StmtKind::Phase { range, body, .. } | StmtKind::For { range, body, .. } => {
                    let keeps = self.keeps(body);
                    for bound in range.exprs() {
                        if keeps { self.need(bound) } else { self.touch(bound) }
                    }
                    self.mark(body);
                }
                StmtKind::While { cond, body } => {
                    if self.keeps(body) || self.touches[cond.index()] {
                        self.need(*cond);
                    }
                    self.mark(body);
                }
                StmtKind::If { cond, then, otherwise } => {
                    if self.keeps(then) || self.keeps(otherwise) {
                        self.need(*cond);
                    }
                    self.touch(*cond);
                    self.mark(then);
                    self.mark(otherwise);
                }
            }
        }
    }

    fn mark_written(&mut self, access: &Access, value: ExprId) {
        access.indices.iter().for_each(|index| self.touch(*index));
        if self.is_watched(access) {
            access.indices.iter().for_each(|index| self.need(*index));
        }
        self.touch(value);
    }

    fn mark_value(&mut self, var: VarId, value: ExprId) {
        if self.needed[var.index()] {
            self.need(value);
        }
        self.touch(value);
    }

    /// Whether something in `stmts` stays in the skeleton.
    fn keeps(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            let own = match &stmt.kind {
                StmtKind::Let { var, init } => {
                    self.needed[var.index()] || init.is_some_and(|init| self.touches[init.index()])
                }
                StmtKind::LetArray { init, .. } => {
                    init.is_some_and(|init| self.touches[init.index()])
                }
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.needed[var.index()] || self.touches[value.index()]
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    self.is_watched(access)
                        || self.touches[value.index()]
                        || access.indices.iter().any(|index| self.touches[index.index()])
                }
                StmtKind::Atomic { access, expected, value, old, .. } => {
                    let mut exprs = access.indices.iter().chain(expected).chain([value]);
                    self.is_watched(access)
                        || old.is_some_and(|old| self.needed[old.index()])
                        || exprs.any(|expr| self.touches[expr.index()])
                }
                StmtKind::Exchange { .. } | StmtKind::Barrier => true,
                StmtKind::Assume { cond } => self.touches[cond.index()] || self.decides(*cond),
                StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                    range.exprs().iter().any(|bound| self.touches[bound.index()])
                }
                StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => {
                    self.touches[cond.index()]
                }
                StmtKind::Each { .. } => false,
            };
            own || stmt.kind.bodies().into_iter().any(|body| self.keeps(body))
        })
    }

    // The skeleton.

    fn nodes(&mut self, stmts: &'a [Stmt]) -> Vec<Node<'a>> {
        let mut nodes = Vec::new();
        for stmt in stmts {
            if self.keeps(std::slice::from_ref(stmt)) {
                self.node(stmt, &mut nodes);
            }
        }
        nodes
    }

    fn node(&mut self, stmt: &'a Stmt, out: &mut Vec<Node<'a>>) {
        match &stmt.kind {
            StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                self.set(*var, None, *value, stmt.span, out);
            }
            StmtKind::Let { init: None, .. } | StmtKind::LetArray { init: None, .. } => {}
            StmtKind::LetArray { init: Some(init), .. } => {
                self.enter_loads(*init, stmt.span);
                out.push(Node::Touch(*init));
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                self.set(*var, Some(*op), *value, stmt.span, out);
            }
            StmtKind::Store { access, value } => self.store(access, *value, false, stmt, out),
            StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.store(access, *value, true, stmt, out);
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                for expected in expected.iter() {
                    self.enter_loads(*expected, stmt.span);
                    if self.touches[expected.index()] {
                        out.push(Node::Touch(*expected));
                    }
                }
                self.store(access, *value, false, stmt, out);
                let needed = old.filter(|old| self.needed[old.index()]);
                out.extend(needed.map(|var| Node::Old { var, array: access.array }));
            }
            StmtKind::Each { axes, body, .. } => {
                let body = self.nodes(body);
                out.push(Node::Each { axes, body, head: stmt.head });
            }
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                range.exprs().into_iter().for_each(|bound| self.enter_loads(bound, stmt.span));
                let body = self.nodes(body);
                let collective = body.iter().any(Node::is_collective);
                let (var, range) = (*var, *range);
                out.push(Node::Loop { var, range, body, collective, head: stmt.head });
            }
            StmtKind::While { cond, body } => {
                self.enter_loads(*cond, stmt.span);
                let body = self.nodes(body);
                let collective = body.iter().any(Node::is_collective);
                out.push(Node::While { cond: *cond, body, collective, head: stmt.head });
            }
            StmtKind::If { cond, then, otherwise } => {
                self.enter_loads(*cond, stmt.span);
                let (then, otherwise) = (self.nodes(then), self.nodes(otherwise));
                if then.is_empty() && otherwise.is_empty() {
                    out.push(Node::Touch(*cond));
                    return;
                }
                let collective = then.iter().chain(&otherwise).any(Node::is_collective);
                let mut assigned = Vec::new();
                then.iter().chain(&otherwise).for_each(|node| assignments(node, &mut assigned));
                out.push(Node::If { cond: *cond, then, otherwise, collective, assigned });
            }
            StmtKind::Exchange { var, op, value } => {
                self.enter_loads(*value, stmt.span);
                if self.needed[var.index()] {
                    out.push(Node::Exchange { var: *var, op: *op, value: *value });
                } else {
                    out.push(Node::Touch(*value));
                    out.push(Node::Barrier);
                }
            }
            StmtKind::Assume { cond } => {
                self.enter_loads(*cond, stmt.span);
                if self.decides(*cond) {
                    out.push(Node::Assume(*cond));
                } else {
                    out.push(Node::Touch(*cond));
                }
            }
            StmtKind::Barrier => out.push(Node::Barrier),
        }
    }

    fn set(
        &mut self,
        var: VarId,
        op: Option<BinaryOp>,
        value: ExprId,
        stmt: SpanId,
        out: &mut Vec<Node<'a>>,
    ) {
        self.enter_loads(value, stmt);
        if self.needed[var.index()] {
            out.push(Node::Set { var, op, value });
        } else {
            out.push(Node::Touch(value));
        }
    }

    fn store(
        &mut self,
        access: &'a Access,
        value: ExprId,
        reads: bool,
        stmt: &Stmt,
        out: &mut Vec<Node<'a>>,
    ) {
        for index in &access.indices {
            self.enter_loads(*index, stmt.span);
        }
        let watched = self.is_watched(access);
        if watched && reads {
            let site = self.site(access, AccessKind::Read, stmt.span);
            out.push(Node::Access { access, site });
        }
        self.enter_loads(value, stmt.span);
        if self.touches[value.index()] {
            out.push(Node::Touch(value));
        }
        if watched {
            let atomic = matches!(stmt.kind, StmtKind::Atomic { .. });
            let kind = if atomic { AccessKind::Atomic } else { AccessKind::Write };
            let site = self.site(access, kind, stmt.span);
            out.push(Node::Access { access, site });
        } else {
            let loads = access.indices.iter().filter(|index| self.touches[index.index()]);
            out.extend(loads.map(|index| Node::Touch(*index)));
        }
    }

    /// Numbers the loads under watch in `expr`, in order of evaluation.
    fn enter_loads(&mut self, expr: ExprId, stmt: SpanId) {
        if !self.touches[expr.index()] {
            return;
        }
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        kind.operands().into_iter().for_each(|operand| self.enter_loads(operand, stmt));
        if let ExprKind::Load(access) = kind
            && self.is_watched(access)
        {
            self.loads[expr.index()] = Some(self.site(access, AccessKind::Read, stmt));
        }
    }

    fn site(&mut self, access: &Access, kind: AccessKind, stmt: SpanId) -> SiteId {
        let id = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        self.sites.push(Site { array: access.array, span: access.span, kind, stmt });
        id
    }
}

/// The variables that `node` may change.
fn assignments(node: &Node<'_>, out: &mut Vec<VarId>) {
    match node {
        Node::Set { var, .. } | Node::Old { var, .. } | Node::Exchange { var, .. } => {
            out.push(*var)
        }
        Node::Touch(_) | Node::Access { .. } | Node::Assume(_) | Node::Barrier => {}
        Node::Each { body, .. } | Node::Loop { body, .. } | Node::While { body, .. } => {
            body.iter().for_each(|inner| assignments(inner, out));
        }
        Node::If { assigned, .. } => out.extend(assigned),
    }
}
