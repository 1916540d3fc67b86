//! Reads of variables and tiles.

use super::Flow;
use super::state::State;
use crate::check::poly::Poly;
use crate::diag::{Code, Diagnostic};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, StmtKind, TileId, VarId, VarKind, any_stmt,
};
use crate::op::LogicOp;
use crate::span::SpanId;

impl Flow<'_> {
    pub(super) fn read_all(&mut self, ids: &[ExprId], state: &State) {
        for id in ids {
            self.read(*id, state);
        }
    }

    pub(super) fn read(&mut self, id: ExprId, state: &State) {
        let expr = &self.kernel.exprs[id];
        self.read_operands(&expr.kind, state);
        match &expr.kind {
            ExprKind::Var(var) => self.read_var(*var, expr.span, state),
            ExprKind::Load(access) => self.read_access(access, state),
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }

    /// Reads what an expression is made of: of a choice, and of `a && b`, each part where it is
    /// asked for.
    fn read_operands(&mut self, kind: &ExprKind, state: &State) {
        match kind {
            ExprKind::Select { cond, then, otherwise } => {
                self.read(*cond, state);
                self.read_where(*cond, true, *then, state);
                self.read_where(*cond, false, *otherwise, state);
            }
            ExprKind::Logic { op, lhs, rhs } => {
                self.read(*lhs, state);
                self.read_where(*lhs, *op == LogicOp::And, *rhs, state);
            }
            _ => self.read_all(&kind.operands(), state),
        }
    }

    fn read_where(&mut self, cond: ExprId, holds: bool, part: ExprId, state: &State) {
        if state.conditional.is_empty() {
            return self.read(part, state);
        }
        let mut inside = state.clone();
        self.enter_conditional(cond, holds, &mut inside);
        self.read(part, &inside);
    }

    pub(super) fn read_var(&mut self, var: VarId, span: SpanId, state: &State) {
        let declared = &self.kernel.vars[var];
        let is_let = matches!(declared.kind, VarKind::Let { .. });
        if !is_let || state.assigned.contains(&var) || !self.reported_vars.insert(var) {
            return;
        }
        let name = &declared.name;
        let message = if state.maybe_assigned.contains(&var) {
            format!("`{name}` has no value on some path to here")
        } else {
            format!("`{name}` has no value yet")
        };
        self.diags.push(
            Diagnostic::error(Code::Uninitialised, span, message)
                .label(declared.span, format!("`{name}` is declared here without a value")),
        );
    }

    /// A second value for a `let` that is not `mut`.
    pub(super) fn check_once(&mut self, var: VarId, span: SpanId, state: &State) {
        let declared = &self.kernel.vars[var];
        let once = declared.kind == VarKind::Let { mutable: false };
        if !once || !state.maybe_assigned.contains(&var) || !self.reported_vars.insert(var) {
            return;
        }
        let name = &declared.name;
        let message = format!("`{name}` is not `mut` and may have a value already");
        self.diags.push(
            Diagnostic::error(Code::NotAssignable, span, message)
                .label(declared.span, format!("`{name}` is declared here"))
                .help(format!("declare it as `let mut {name}`")),
        );
    }

    pub(super) fn read_access(&mut self, access: &Access, state: &State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        if let Some(written) = state.tiles.get(&tile) {
            let cell: Vec<Poly> =
                access.indices.iter().map(|index| self.bounds.poly(*index)).collect();
            let fills = |number: &usize| self.covers[*number].fills(self.kernel, &self.lets);
            if written.whole
                || written.own.contains(&cell)
                || written.common.contains(&cell)
                || written.covers.iter().any(fills)
            {
                return;
            }
        }
        let example = self.fills.example(tile, access.span);
        // What nothing writes, no run need show.
        if example.is_none() && self.fills.run.contains(&tile) && is_written(self.kernel, tile) {
            return;
        }
        if self.taken.is_written(tile, access)
            || example.is_some() && self.taken.is_written_within_limits(access)
        {
            return;
        }
        if self.reported_tiles.insert(tile) {
            self.report_tile(tile, access, example);
        }
    }
}

/// Whether something stores to a tile at all.
fn is_written(kernel: &Kernel, tile: TileId) -> bool {
    any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::LetArray { tile: own, init } => *own == tile && init.is_some(),
        _ => kind.set_element().is_some_and(|access| access.array == ArrayRef::Tile(tile)),
    })
}
