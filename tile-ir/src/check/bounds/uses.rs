//! Where a kernel's text uses its tiles, and under what.

use crate::check::counted::{Limit, limits_of, limits_of_range};
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind};
use crate::op::LogicOp;

/// An access to a tile, and the conditions that it is made under: of each, what
/// it must be.
pub(super) struct Use<'a> {
    pub(super) access: &'a Access,
    pub(super) conditions: Vec<(ExprId, bool)>,
    pub(super) limits: Vec<Limit>,
    /// The ranges of the loops around, each of which has to have a value.
    pub(super) ranges: Vec<LoopRange>,
}

/// Collects the accesses to tiles.
pub(super) struct Uses<'a> {
    kernel: &'a Kernel,
    conditions: Vec<(ExprId, bool)>,
    limits: Vec<Limit>,
    ranges: Vec<LoopRange>,
    found: Vec<Use<'a>>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Vec<Use<'a>> {
        let mut uses = Self {
            kernel,
            conditions: Vec::new(),
            limits: Vec::new(),
            ranges: Vec::new(),
            found: Vec::new(),
        };
        uses.stmts(&kernel.body);
        uses.found
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Let { init, .. } => init.iter().for_each(|init| self.expr(*init)),
            StmtKind::LetArray { init, .. } => init.iter().for_each(|init| self.expr(*init)),
            StmtKind::Assign { value, .. }
            | StmtKind::Update { place: Place::Var(_), value, .. } => self.expr(*value),
            StmtKind::Store { access, value }
            | StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.written(access, &[*value]);
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                self.written(access, &[expected.as_slice(), &[*value]].concat());
            }
            StmtKind::Exchange { value, lane, .. } => {
                [*value].into_iter().chain(*lane).for_each(|expr| self.expr(expr));
            }
            StmtKind::Each { body, .. } => self.stmts(body),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                range.exprs().into_iter().for_each(|bound| self.expr(bound));
                self.ranges.push(*range);
                self.within(limits_of_range(*var, range), |uses| uses.stmts(body));
                self.ranges.pop();
            }
            StmtKind::While { cond, body } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.stmts(body));
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.stmts(then));
                self.under(*cond, false, |uses| uses.stmts(otherwise));
            }
            // That it holds is no condition: an index that leaves its tile does.
            StmtKind::Assume { cond } => self.expr(*cond),
            StmtKind::Distinct { values, .. } => values.iter().for_each(|value| self.expr(*value)),
            StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
    }

    fn written(&mut self, access: &'a Access, values: &[ExprId]) {
        access.indices.iter().chain(values).for_each(|expr| self.expr(*expr));
        self.access(access);
    }

    fn under(&mut self, cond: ExprId, is: bool, inner: impl FnOnce(&mut Self)) {
        self.conditions.push((cond, is));
        self.within(limits_of(self.kernel, cond), inner);
        self.conditions.pop();
    }

    fn within(&mut self, limits: Vec<Limit>, inner: impl FnOnce(&mut Self)) {
        let outer = self.limits.len();
        self.limits.extend(limits);
        inner(self);
        self.limits.truncate(outer);
    }

    fn expr(&mut self, id: ExprId) {
        let kernel = self.kernel;
        let kind = &kernel.exprs[id].kind;
        match kind {
            ExprKind::Select { cond, then, otherwise } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.expr(*then));
                self.under(*cond, false, |uses| uses.expr(*otherwise));
            }
            ExprKind::Logic { op, lhs, rhs } => {
                self.expr(*lhs);
                self.under(*lhs, *op == LogicOp::And, |uses| uses.expr(*rhs));
            }
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
            | ExprKind::InBounds { .. } => {
                kind.operands().into_iter().for_each(|operand| self.expr(operand));
                if let ExprKind::Load(access) = kind {
                    self.access(access);
                }
            }
        }
    }

    fn access(&mut self, access: &'a Access) {
        if matches!(access.array, ArrayRef::Tile(_)) {
            let (conditions, limits) = (self.conditions.clone(), self.limits.clone());
            self.found.push(Use { access, conditions, limits, ranges: self.ranges.clone() });
        }
    }
}
