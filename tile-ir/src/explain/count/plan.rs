//! What there is to count in a kernel: its access sites and branches, by the
//! statement that they stand in, and which values decide addresses and conditions.

use std::collections::BTreeMap;

use super::tally::{BRANCH_COLUMNS, SITE_COLUMNS};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::AccessKind;
use crate::program::{
    Access, ExprId, ExprKind, FragmentId, ProgramKernel, Stmt, StmtKind, Target, TileSpace, Ty,
    VarId,
};
use crate::span::SpanId;

/// Which of a statement's accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// The one of this expression.
    Load(ExprId),
    /// What is written.
    Dst,
    /// What a copy reads.
    Src,
}

/// An access of a statement.
#[derive(Clone, Debug)]
pub(super) struct Site<'k> {
    pub(super) access: &'k Access,
    pub(super) kind: AccessKind,
    pub(super) span: SpanId,
    /// The number of its statement.
    pub(super) statement: usize,
    pub(super) is_async: bool,
}

/// A statement, in order of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Statements inside it, it included.
    pub(super) n_stmts: usize,
    pub(super) sites: BTreeMap<Role, usize>,
    pub(super) branch: Option<usize>,
}

pub(super) struct Plan<'k> {
    pub(super) kernel: &'k ProgramKernel,
    pub(super) places: Vec<Place>,
    pub(super) sites: Vec<Site<'k>>,
    /// The statements that choose.
    pub(super) branches: Vec<SpanId>,
    /// Whether an expression holds an access or an operation that is counted.
    pub(super) counted: Vec<bool>,
    /// Whether an address or a condition depends on a variable.
    pub(super) needed_vars: Vec<bool>,
    pub(super) needed_fragments: Vec<bool>,
}

impl<'k> Plan<'k> {
    pub(super) fn new(kernel: &'k ProgramKernel) -> Self {
        let counted = counted(kernel);
        let (needed_vars, needed_fragments) =
            (vec![false; kernel.vars.len()], vec![false; kernel.fragments.len()]);
        let (places, sites, branches) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan =
            Self { kernel, places, sites, branches, counted, needed_vars, needed_fragments };
        plan.number(&kernel.body);
        while plan.need(&kernel.body) {}
        plan
    }

    /// Cells of a tally: those of the sites, of the branches, of the types'
    /// operations, and two more.
    pub(super) fn n_cells(&self) -> usize {
        self.first_total() + 2
    }

    pub(super) fn first_branch(&self) -> usize {
        self.sites.len() * SITE_COLUMNS
    }

    pub(super) fn first_op(&self) -> usize {
        self.first_branch() + self.branches.len() * BRANCH_COLUMNS
    }

    /// Barriers; one further on, exchanges within a warp.
    pub(super) fn first_total(&self) -> usize {
        self.first_op() + DType::ALL.len()
    }

    fn number(&mut self, stmts: &'k [Stmt]) {
        for stmt in stmts {
            let at = self.places.len();
            let mut place = Place::default();
            if let StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. } = stmt.kind {
                place.branch = Some(self.branches.len());
                self.branches.push(stmt.span);
            }
            let mut roots = Vec::new();
            if !matches!(stmt.kind, StmtKind::Assume(_)) {
                stmt.kind.for_each_expr(&mut |expr| roots.push(expr));
            }
            for root in roots {
                self.loads(root, stmt, &mut place);
            }
            let is_async = matches!(stmt.kind, StmtKind::Copy { token: Some(_), .. });
            match &stmt.kind {
                StmtKind::Store { access, .. } => {
                    self.site(&mut place, Role::Dst, access, AccessKind::Write, stmt, false);
                }
                StmtKind::Atomic { access, .. } => {
                    self.site(&mut place, Role::Dst, access, AccessKind::Atomic, stmt, false);
                }
                StmtKind::Copy { dst, src, .. } => {
                    self.site(&mut place, Role::Src, src, AccessKind::Read, stmt, is_async);
                    self.site(&mut place, Role::Dst, dst, AccessKind::Write, stmt, is_async);
                }
                StmtKind::Let { .. }
                | StmtKind::Assign { .. }
                | StmtKind::SetFragment { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Items { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::Shuffle { .. }
                | StmtKind::Ballot { .. }
                | StmtKind::WarpBarrier => {}
            }
            self.places.push(place);
            for body in stmt.kind.bodies() {
                self.number(body);
            }
            self.places[at].n_stmts = self.places.len() - at;
        }
    }

    fn loads(&mut self, expr: ExprId, stmt: &'k Stmt, place: &mut Place) {
        if !self.counted[expr.index()] {
            return;
        }
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Load(access) = kind {
            self.site(place, Role::Load(expr), access, AccessKind::Read, stmt, false);
        }
        kind.for_each_operand(&mut |operand| self.loads(operand, stmt, place));
    }

    fn site(
        &mut self,
        place: &mut Place,
        role: Role,
        access: &'k Access,
        kind: AccessKind,
        stmt: &Stmt,
        is_async: bool,
    ) {
        if !is_memory(self.kernel, access) || place.sites.contains_key(&role) {
            return;
        }
        place.sites.insert(role, self.sites.len());
        let statement = self.places.len();
        self.sites.push(Site { access, kind, span: stmt.span, statement, is_async });
    }

    /// Marks what decides addresses and conditions; whether there was anything new.
    fn need(&mut self, stmts: &'k [Stmt]) -> bool {
        let mut any = false;
        for stmt in stmts {
            let kernel = self.kernel;
            let mut accesses = Vec::new();
            let mut roots: Vec<ExprId> = Vec::new();
            match &stmt.kind {
                StmtKind::Let { var, value: Some(value) } | StmtKind::Assign { var, value } => {
                    roots.extend(self.needed_vars[var.index()].then_some(*value));
                }
                StmtKind::SetFragment { fragment, value } => {
                    roots.extend(self.needed_fragments[fragment.index()].then_some(*value));
                }
                StmtKind::Shuffle { var, value, lane } if self.needed_vars[var.index()] => {
                    roots.extend([*value, *lane]);
                }
                StmtKind::Ballot { var, cond } if self.needed_vars[var.index()] => {
                    roots.push(*cond);
                }
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                    accesses.push(access);
                }
                StmtKind::Copy { dst, src, .. } => accesses.extend([dst, src]),
                StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. } => {
                    stmt.kind.for_each_expr(&mut |expr| roots.push(expr));
                }
                StmtKind::Let { value: None, .. }
                | StmtKind::Shuffle { .. }
                | StmtKind::Ballot { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Items { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::WarpBarrier => {}
            }
            for access in accesses {
                roots.extend(access.slot.iter().chain(&access.indices));
            }
            if !matches!(stmt.kind, StmtKind::Assume(_)) {
                stmt.kind.for_each_expr(&mut |expr| decisions(kernel, expr, &mut roots));
            }
            for root in roots {
                any |= self.need_expr(root);
            }
            for body in stmt.kind.bodies() {
                any |= self.need(body);
            }
        }
        any
    }

    fn need_expr(&mut self, expr: ExprId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let mark = |flag: &mut bool| !std::mem::replace(flag, true);
        let mut any = match kind {
            ExprKind::Var(var) => mark(&mut self.needed_vars[var.index()]),
            ExprKind::Fragment(id) => mark(&mut self.needed_fragments[id.index()]),
            _ => false,
        };
        kind.for_each_operand(&mut |operand| any |= self.need_expr(operand));
        any
    }

    pub(super) fn is_needed(&self, var: VarId) -> bool {
        self.needed_vars[var.index()]
    }

    pub(super) fn is_needed_fragment(&self, id: FragmentId) -> bool {
        self.needed_fragments[id.index()]
    }
}

/// Whether an access is to memory, not to a thread's own registers.
pub(super) fn is_memory(kernel: &ProgramKernel, access: &Access) -> bool {
    match access.target {
        Target::Buffer(_) => true,
        Target::Tile(id) => kernel.tiles[id].space == TileSpace::Shared,
    }
}

/// The conditions and indices inside an expression.
fn decisions(kernel: &ProgramKernel, expr: ExprId, found: &mut Vec<ExprId>) {
    let kind = &kernel.exprs[expr].kind;
    match kind {
        ExprKind::Load(access) => found.extend(access.slot.iter().chain(&access.indices)),
        ExprKind::Select { cond, .. } => found.push(*cond),
        ExprKind::Logic { lhs, .. } => found.push(*lhs),
        _ => {}
    }
    kind.for_each_operand(&mut |operand| decisions(kernel, operand, found));
}

/// Operations of one evaluation of an expression itself: 2 of a fused
/// multiply-add, 1 of every other operation of a scalar type that computes a new
/// number from numbers. Index arithmetic, comparisons, choices, conversions and
/// changes of sign are none.
pub fn ops_of(kernel: &ProgramKernel, expr: ExprId) -> Option<(DType, u64)> {
    let Ty::Scalar(dtype) = kernel.exprs[expr].ty else { return None };
    let n = match &kernel.exprs[expr].kind {
        ExprKind::Fma { .. } => 2,
        ExprKind::Binary { .. } | ExprKind::Math { .. } if dtype != DType::Bool => 1,
        ExprKind::Binary { .. }
        | ExprKind::Math { .. }
        | ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Arg(_)
        | ExprKind::Coord { .. }
        | ExprKind::Fragment(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::CeilDiv { .. }
        | ExprKind::InBounds { .. } => 0,
    };
    (n > 0).then_some((dtype, n))
}

/// For each expression, whether it or one inside it is counted.
fn counted(kernel: &ProgramKernel) -> Vec<bool> {
    let mut counted = vec![false; kernel.exprs.len()];
    // Operands have smaller ids.
    for (id, expr) in kernel.exprs.iter() {
        let mut own = matches!(expr.kind, ExprKind::Load(_)) || ops_of(kernel, id).is_some();
        expr.kind.for_each_operand(&mut |operand| own |= counted[operand.index()]);
        counted[id.index()] = own;
    }
    counted
}
