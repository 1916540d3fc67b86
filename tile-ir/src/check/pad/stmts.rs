//! Follows what statements make of values.

use super::state::{Cells, State};
use super::value::Value;
use super::{Flow, is_exact};
use crate::check::assigned::assigned_in;
use crate::exchange::ExchangeOp;
use crate::kernel::{
    Access, ArrayRef, Axis, ExprId, ExprKind, Literal, LoopRange, Place, Source, Stmt, StmtKind,
    VarId,
};
use crate::op::{AtomicOp, BinaryOp};
use crate::span::SpanId;

/// The most often a loop's body is followed before its state is taken as it is;
/// a state grows with each iteration, so that no dependence is missed that a
/// chain of fewer variables carries.
const MAX_ROUNDS: usize = 8;

impl Flow<'_> {
    pub(super) fn walk(&mut self, stmts: &[Stmt], state: &mut State) {
        for stmt in stmts {
            self.walk_stmt(stmt, state);
        }
    }

    fn walk_stmt(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let value = init.map(|init| self.value(init, state)).unwrap_or_default();
                state.vars.insert(*var, value);
                self.set_index(*var, *init);
            }
            StmtKind::LetArray { tile, init } => {
                // An array of this work-item, or point: nobody else writes it.
                let (index, owners) = (Vec::new(), Vec::new());
                let all = init.map(|init| Cells { index, owners, value: self.value(init, state) });
                state.tiles.insert(*tile, all.into_iter().collect());
            }
            StmtKind::Assign { var, value } => {
                let new = self.assigned(*var, *value, state).with_control(&self.control);
                state.vars.insert(*var, new);
                self.set_index(*var, Some(*value));
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                let new = self.updated(*var, *op, *value, state).with_control(&self.control);
                state.vars.insert(*var, new);
                self.bounds.forget(*var);
            }
            StmtKind::Store { access, value } => {
                let new = self.value(*value, state);
                self.write(access, new, true, state);
            }
            StmtKind::Update { place: Place::Element(access), op, value } => {
                self.update_element(access, *op, *value, state);
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                self.update_atomically(access, (*op, *expected, *value), *old, state);
            }
            StmtKind::Exchange { var, op, value, lane } => {
                let new = self.exchanged(*op, *value, *lane, state);
                state.vars.insert(*var, new);
                self.bounds.forget(*var);
            }
            StmtKind::Each { axes, body, .. } => self.walk_each(axes, body, state),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                self.walk_for(*var, range, (stmt.head, body), state);
            }
            StmtKind::While { cond, body } => {
                let head = (None, stmt.head);
                self.walk_rounds(head, body, state, |cx, state| cx.value(*cond, state));
            }
            StmtKind::If { cond, then, otherwise } => {
                let decides = self.value(*cond, state);
                let mut other = state.clone();
                self.walk_under(*cond, true, &decides, then, state);
                self.walk_under(*cond, false, &decides, otherwise, &mut other);
                self.forget_assigned(then);
                self.forget_assigned(otherwise);
                state.join(&other);
            }
            StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
    }

    fn update_element(&mut self, access: &Access, op: BinaryOp, value: ExprId, state: &mut State) {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let value = self.value(value, state);
        let old = match access.array {
            ArrayRef::Tensor(_) => Value::default(),
            ArrayRef::Tile(_) => self.element(access, state),
        };
        self.write(access, old.update(op, &value, exact), false, state);
    }

    /// What the values of several work-items make together: a 0 leaves their sum
    /// as it is. Reads of others are outside under conditions of their own.
    fn exchanged(
        &mut self,
        op: ExchangeOp,
        value: ExprId,
        lane: Option<ExprId>,
        state: &State,
    ) -> Value {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let own = self.value(value, state).within(&self.bounds, &self.facts);
        let all = match (op.binary(), lane) {
            (Some(binary), _) => Value::default().update(binary, &own, exact),
            (None, Some(lane)) => own.with_control(&self.value(lane, state)),
            (None, None) => own.spoil(),
        };
        let all = all.handed_on();
        let items = self.kernel.block.iter().flatten();
        items.fold(all, |all, axis| all.outlive(axis.var)).with_control(&self.control)
    }

    fn update_atomically(
        &mut self,
        access: &Access,
        (op, expected, value): (AtomicOp, Option<ExprId>, ExprId),
        old: Option<VarId>,
        state: &mut State,
    ) {
        if let Some(old) = old {
            let was = match access.array {
                ArrayRef::Tensor(tensor) => self.padded(Source::Old(old), tensor, access),
                ArrayRef::Tile(_) => self.element(access, state),
            };
            let was = was.with_control(&self.control);
            state.vars.insert(old, was);
            self.bounds.forget(old);
        }
        let Some(op) = op.binary() else {
            let mut new = self.value(value, state);
            if let Some(expected) = expected {
                let decides = self.value(expected, state);
                new = new.with_control(&decides);
            }
            return self.write(access, new, false, state);
        };
        self.update_element(access, op, value, state);
    }

    fn set_index(&mut self, var: VarId, value: Option<ExprId>) {
        match value.filter(|value| self.bounds.is_index(*value)) {
            Some(value) => {
                let value = self.bounds.poly(value);
                self.bounds.set(var, value);
            }
            None => self.bounds.forget(var),
        }
    }

    fn forget_assigned(&mut self, stmts: &[Stmt]) {
        for var in assigned_in(stmts) {
            self.bounds.forget(var);
        }
    }

    /// `x = x + e` is `x += e` too.
    fn assigned(&mut self, var: VarId, value: ExprId, state: &State) -> Value {
        if let ExprKind::Binary { op, lhs, rhs } = self.kernel.exprs[value].kind {
            let is_var = |id: ExprId| self.kernel.exprs[id].kind == ExprKind::Var(var);
            let commutes = matches!(op, BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor);
            if is_var(lhs) {
                return self.updated(var, op, rhs, state);
            }
            if commutes && is_var(rhs) {
                return self.updated(var, op, lhs, state);
            }
        }
        self.value(value, state)
    }

    fn updated(&mut self, var: VarId, op: BinaryOp, value: ExprId, state: &State) -> Value {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let value = self.value(value, state);
        let old = state.vars.get(&var).cloned().unwrap_or_default();
        old.update(op, &value, exact)
    }

    fn walk_under(
        &mut self,
        cond: ExprId,
        holds: bool,
        decides: &Value,
        stmts: &[Stmt],
        state: &mut State,
    ) {
        let outer = self.control.clone();
        let known = self.facts.len();
        // What the whole block decides together, it also writes together.
        let conditional = self.conditional;
        self.conditional |= !self.uniformity.is_uniform_value(cond);
        self.learn(cond, holds);
        self.control = outer.clone().with_control(decides);
        self.walk(stmts, state);
        self.facts.truncate(known);
        self.conditional = conditional;
        self.control = outer;
    }

    fn walk_each(&mut self, axes: &[Axis], body: &[Stmt], state: &mut State) {
        self.bounds.enter(axes);
        let points: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
        let outer = self.points.replace(points.clone());
        self.walk(body, state);
        self.points = outer;
        for var in points {
            // The cells keep their own indices as owners; variables do not.
            for value in state.vars.values_mut() {
                *value = value.outlive(var).handed_on();
            }
        }
    }

    fn walk_for(
        &mut self,
        var: VarId,
        range: &LoopRange,
        (head, body): (SpanId, &[Stmt]),
        state: &mut State,
    ) {
        if let LoopRange::Between { start, end, .. } = *range {
            // A step that is not positive runs nothing.
            let (start, end) = (self.bounds.poly(start), self.bounds.poly(end));
            self.bounds.enter_counter_from(var, &start, end);
        }
        if let LoopRange::Between { start, end, step: None, .. } = *range
            && self.kernel.exprs[start].kind == ExprKind::Literal(Literal::Int(0))
        {
            let end = self.bounds.poly(end);
            self.bounds.enter_counter(var, end);
        }
        let bounds = range.exprs();
        self.walk_rounds((Some(var), head), body, state, |cx, state| {
            let values: Vec<Value> = bounds.iter().map(|bound| cx.value(*bound, state)).collect();
            values.iter().fold(Value::default(), |all, value| all.with_control(value))
        });
    }

    /// Follows a loop's body until nothing changes; `decides` is what its
    /// running depends on.
    fn walk_rounds(
        &mut self,
        (var, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        state: &mut State,
        decides: impl Fn(&mut Self, &State) -> Value,
    ) {
        self.loops.push(head);
        for _ in 0..MAX_ROUNDS {
            self.forget_assigned(body);
            let outer = self.control.clone();
            let decided = decides(self, state);
            self.control = outer.clone().with_control(&decided);
            let mut inside = state.clone();
            self.walk(body, &mut inside);
            self.control = outer;
            if let Some(var) = var {
                inside.outlive(var);
            }
            inside.pass(head);
            let before = state.clone();
            state.join(&inside);
            if *state == before {
                break;
            }
        }
        self.loops.pop();
        self.forget_assigned(body);
    }
}
