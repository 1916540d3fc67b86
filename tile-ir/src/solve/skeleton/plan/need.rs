//! What matters: the variables and expressions that reach an index or a guard of
//! an array under watch, and the statements that stay because of it.

use super::Plan;
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Place, Stmt, StmtKind, VarId};

impl Plan<'_> {
    pub(super) fn need(&mut self, expr: ExprId) {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Var(var) = kind {
            self.needed[var.index()] = true;
        }
        if let ExprKind::Load(access) = kind {
            self.uses_data |= !self.locals.follows(access.array);
            self.need_held(access.array);
            for element in self.locals.all(access.array) {
                self.needed[element.index()] = true;
            }
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

    /// What an array holds matters.
    fn need_held(&mut self, array: ArrayRef) {
        if self.held.need(array) {
            // Outside, nothing is stored.
            self.kernel.extents(array).iter().for_each(|extent| self.need(*extent));
        }
    }

    /// Marks what the loads under watch in `expr` need.
    pub(super) fn touch(&mut self, expr: ExprId) {
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

    pub(super) fn mark(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                    self.mark_value(*var, *value);
                }
                StmtKind::Exchange { var, value, lane, .. } => {
                    self.mark_value(*var, *value);
                    lane.iter().for_each(|lane| self.mark_value(*var, *lane));
                }
                StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.mark_value(*var, *value);
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    self.mark_written(access, *value);
                }
                StmtKind::Atomic { access, expected, value, old, .. } => {
                    expected.iter().for_each(|expected| self.touch(*expected));
                    self.mark_written(access, *value);
                    if old.is_some_and(|old| self.needed[old.index()]) {
                        self.uses_data = true;
                        self.need_held(access.array);
                    }
                }
                StmtKind::LetArray { tile, init } => {
                    init.iter().for_each(|init| self.touch(*init));
                    if self.needs_elements(ArrayRef::Tile(*tile)) {
                        init.iter().for_each(|init| self.need(*init));
                    }
                }
                StmtKind::Let { init: None, .. } | StmtKind::Barrier | StmtKind::WarpBarrier => {}
                StmtKind::Assume { cond } => {
                    self.touch(*cond);
                    if self.decides(*cond) {
                        self.need(*cond);
                    }
                }
                StmtKind::Distinct { values, .. } => {
                    values.iter().for_each(|value| self.touch(*value));
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
        let is_followed = self.needs_elements(access.array);
        if self.is_watched(access) || is_followed {
            access.indices.iter().for_each(|index| self.need(*index));
        }
        if is_followed {
            self.need(value);
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
    pub(super) fn keeps(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            let own = match &stmt.kind {
                StmtKind::Let { var, init } => {
                    self.needed[var.index()] || init.is_some_and(|init| self.touches[init.index()])
                }
                StmtKind::LetArray { tile, init } => {
                    self.needs_elements(ArrayRef::Tile(*tile))
                        || self.watched.contains(&ArrayRef::Tile(*tile))
                        || init.is_some_and(|init| self.touches[init.index()])
                }
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.needed[var.index()] || self.touches[value.index()]
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    self.is_watched(access)
                        || self.needs_elements(access.array)
                        || self.touches[value.index()]
                        || access.indices.iter().any(|index| self.touches[index.index()])
                }
                StmtKind::Atomic { access, expected, value, old, .. } => {
                    let mut exprs = access.indices.iter().chain(expected).chain([value]);
                    self.is_watched(access)
                        || self.needs_elements(access.array)
                        || old.is_some_and(|old| self.needed[old.index()])
                        || exprs.any(|expr| self.touches[expr.index()])
                }
                StmtKind::Exchange { .. } | StmtKind::Barrier | StmtKind::WarpBarrier => true,
                StmtKind::Assume { cond } => self.touches[cond.index()] || self.decides(*cond),
                StmtKind::Distinct { values, .. } => {
                    values.iter().any(|value| self.touches[value.index()])
                }
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
}
