//! Follows the statements.

use super::Flow;
use super::state::{State, Written};
use super::writes::counts_from_0;
use crate::check::assigned::assigned_in;
use crate::check::poly::Poly;
use crate::check::strided::Strided;
use crate::kernel::{Axis, ExprId, ExprKind, Literal, LoopRange, Place, Stmt, StmtKind, VarId};
use crate::span::SpanId;

impl Flow<'_> {
    pub(super) fn walk(&mut self, stmts: &[Stmt], state: &mut State) {
        for stmt in stmts {
            self.walk_stmt(stmt, state);
        }
    }

    fn walk_stmt(&mut self, stmt: &Stmt, state: &mut State) {
        self.walk_kind(stmt, state);
        self.follow_elections(stmt, state);
        self.write_whole(stmt, state);
    }

    fn walk_kind(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let Some(init) = init else {
                    // In a loop it is a fresh variable each time.
                    state.assigned.remove(var);
                    state.maybe_assigned.remove(var);
                    state.forget_conditional(*var);
                    self.bounds.forget(*var);
                    self.numbers.forget(*var);
                    return;
                };
                self.read(*init, state);
                state.assigned.insert(*var);
                self.set_value(*var, *init);
            }
            StmtKind::LetArray { tile, init } => {
                self.read_all(init.as_slice(), state);
                let written = Written { whole: init.is_some(), ..Written::default() };
                state.tiles.insert(*tile, written);
            }
            StmtKind::Assign { var, value } => {
                self.read(*value, state);
                self.check_once(*var, stmt.span, state);
                state.assigned.insert(*var);
                state.maybe_assigned.insert(*var);
                self.change_conditional(&[*var], state);
                self.firsts.remove(var);
                self.set_value(*var, *value);
            }
            StmtKind::Store { access, value } => {
                self.read_all(&access.indices, state);
                self.read(*value, state);
                self.write(access, state);
            }
            StmtKind::Update { place: Place::Var(var), value, .. } => {
                self.read(*value, state);
                self.read_var(*var, stmt.span, state);
                self.change_conditional(&[*var], state);
                self.bounds.forget(*var);
                self.numbers.forget(*var);
                self.firsts.remove(var);
            }
            StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.read_all(&access.indices, state);
                self.read(*value, state);
                self.read_access(access, state);
            }
            StmtKind::Exchange { var, value, lane, .. } => {
                self.read(*value, state);
                lane.iter().for_each(|lane| self.read(*lane, state));
                state.assigned.insert(*var);
                self.bounds.forget(*var);
                self.numbers.forget(*var);
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                self.read_all(&access.indices, state);
                self.read_all(expected.as_slice(), state);
                self.read(*value, state);
                match stmt.kind.set_element() {
                    Some(access) => self.write(access, state),
                    None => self.read_access(access, state),
                }
                if let Some(old) = *old {
                    state.assigned.insert(old);
                    self.bounds.forget(old);
                    self.numbers.forget(old);
                }
                self.update_flag(access, *old, state);
            }
            StmtKind::Each { axes, body, .. } => self.walk_each(axes, body, state),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                self.walk_loop(*var, range, (stmt.head, body), state);
            }
            StmtKind::While { cond, body } => {
                if let Some(found) = Strided::of(self.kernel, *cond, body) {
                    let start = self.bounds.poly(found.bounds.0);
                    self.starts.insert(stmt.head, start);
                }
                let is_entered = self.is_sure(*cond);
                self.forget_all(body);
                self.forget_flags(body, state);
                self.forget_elections(body, &mut state.elections);
                self.change_conditional(&assigned_in(body), state);
                self.read(*cond, state);
                let mut inside = state.clone();
                self.enter_conditional(*cond, true, &mut inside);
                self.walk_divided(*cond, body, &mut inside);
                state.maybe_assigned.extend(inside.maybe_assigned.iter().copied());
                self.forget_all(body);
                match is_entered {
                    true => *state = inside,
                    false => drop(self.by_condition.insert(stmt.head)),
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                self.read(*cond, state);
                if let Some(holds) = self.folds.get(*cond) {
                    return self.walk(if holds { then } else { otherwise }, state);
                }
                let before = state.elections.clone();
                let elected = self.elected_under(*cond, [then, otherwise], &before);
                let mut other = state.clone();
                self.enter_elected(*cond, true, state);
                self.enter_elected(*cond, false, &mut other);
                self.enter_conditional(*cond, true, state);
                self.enter_conditional(*cond, false, &mut other);
                self.walk_divided(*cond, then, state);
                self.walk_divided(*cond, otherwise, &mut other);
                self.forget_all(then);
                self.forget_all(otherwise);
                let arms: [&[Stmt]; 2] = [then, otherwise];
                let by_arm = self.assigned_by_arm(*cond, arms, (state, &other));
                state.join(other);
                state.conditional.extend(by_arm);
                self.complete_conditional(state);
                self.write_picked(*cond, then, state);
                self.write_of_first(*cond, [then, otherwise], state);
                self.write_of_elected(*cond, [then, otherwise], (&before, state));
                state.elections.set(elected);
            }
            StmtKind::Assume { cond } => self.read(*cond, state),
            StmtKind::Distinct { values, .. } => {
                values.iter().for_each(|value| self.read(*value, state));
            }
            StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
    }

    fn set_value(&mut self, var: VarId, value: ExprId) {
        self.set_number(var, value);
        let is_number = matches!(self.kernel.exprs[value].kind, ExprKind::Literal(Literal::Int(_)));
        if is_number || self.bounds.is_index(value) {
            let value = self.bounds.poly(value);
            self.bounds.set(var, value);
        } else if self.bounds.is_set(var) {
            self.bounds.forget(var);
        }
    }

    fn forget_all(&mut self, stmts: &[Stmt]) {
        for var in assigned_in(stmts) {
            self.bounds.forget(var);
            self.numbers.forget(var);
            self.firsts.remove(&var);
        }
    }

    /// Statements that a condition or a bound decides on.
    fn walk_divided(&mut self, cond: ExprId, stmts: &[Stmt], state: &mut State) {
        let outer = self.divergent;
        self.divergent |= !self.uniform.is_uniform_value(cond);
        self.walk(stmts, state);
        self.divergent = outer;
    }

    fn walk_each(&mut self, axes: &[Axis], body: &[Stmt], state: &mut State) {
        let (divergent, in_each) = (self.divergent, self.in_each);
        (self.divergent, self.in_each) = (false, true);
        self.bounds.enter(axes);
        self.forget_flags(body, state);
        self.forget_elections(body, &mut state.elections);
        self.change_conditional(&assigned_in(body), state);
        let mut inside = state.clone();
        self.walk(body, &mut inside);
        (self.divergent, self.in_each) = (divergent, in_each);
    }

    fn walk_loop(
        &mut self,
        var: VarId,
        range: &LoopRange,
        (head, body): (SpanId, &[Stmt]),
        state: &mut State,
    ) {
        self.read_all(&range.exprs(), state);
        let length = self.length(range);
        if let Some(length) = &length
            && counts_from_0(self.kernel, range)
        {
            self.bounds.enter_counter(var, length.clone());
        }
        self.forget_all(body);
        self.forget_flags(body, state);
        self.forget_elections(body, &mut state.elections);
        self.change_conditional(&assigned_in(body), state);
        let mut inside = state.clone();
        inside.maybe_assigned.extend(assigned_in(body));
        let outer = self.divergent;
        let bounds = range.exprs();
        self.divergent |= !bounds.into_iter().all(|bound| self.uniform.is_uniform_value(bound));
        self.walk(body, &mut inside);
        self.divergent = outer;
        self.forget_all(body);
        inside.end_var(var);
        state.maybe_assigned.extend(inside.maybe_assigned.iter().copied());
        if length.is_some_and(|length| self.bounds.is_positive(&length)) {
            *state = inside;
        } else {
            self.maybe_empty.insert(head);
        }
    }

    /// What is at least 1 where a loop runs at all; of step 1, how often it runs.
    fn length(&mut self, range: &LoopRange) -> Option<Poly> {
        match *range {
            LoopRange::Between { start, end, step, .. } => {
                let is_upward = |step: ExprId| {
                    let kind = &self.kernel.exprs[step].kind;
                    matches!(kind, ExprKind::Literal(Literal::Int(step)) if *step > 0)
                };
                step.is_none_or(is_upward).then(|| {
                    let start = self.bounds.poly(start);
                    self.bounds.poly(end).sub(&start)
                })
            }
            LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                Some(self.bounds.poly(n).sub(&Poly::constant(1)))
            }
        }
    }
}
