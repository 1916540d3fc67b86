//! Variables that loops count by hand, `while i < n { …; i += s; }`: how far they go.
//!
//! Where a work-item comes by in the loop, before it goes on, such a variable is below the
//! bound, and no less than the least that it is ever set to; the other way round where it is
//! counted down. That rests on steps that are not negative and do not carry it out of its
//! type, which a launch is asked.

use std::collections::{BTreeMap, BTreeSet};

use super::poly::assigned_in;
use crate::kernel::{
    ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, VarId, VarKind, immutable_lets,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Which way a variable is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Up,
    Down,
}

/// What a variable has not reached, at one of its uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) way: Way,
    pub(super) bound: ExprId,
    /// Whether it may be the bound itself.
    pub(super) met: bool,
}

/// What a variable is set to, and by how much it is changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub(super) starts: Vec<ExprId>,
    pub(super) steps: Vec<ExprId>,
    ways: BTreeSet<Way>,
}

impl Course {
    fn step(&mut self, way: Way, by: ExprId) {
        self.ways.insert(way);
        self.steps.push(by);
    }
}

/// The uses of such variables in their loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Stepped {
    ends: BTreeMap<ExprId, End>,
    courses: BTreeMap<VarId, Course>,
}

impl Stepped {
    /// Reads a kernel.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut stepped = Self::default();
        let mut others = BTreeSet::new();
        stepped.add_courses(kernel, &kernel.body, &mut others);
        stepped.courses.retain(|var, course| {
            let is_mutable = kernel.vars[*var].kind == VarKind::Let { mutable: true };
            is_mutable && !others.contains(var) && course.ways.len() == 1
        });
        stepped.add_ends(kernel, &kernel.body);
        stepped.leave_out_circles(kernel);
        stepped
    }

    /// At a use of a variable in its loop: what it has not reached, and how it came there.
    pub(super) fn at(&self, expr: ExprId, var: VarId) -> Option<(End, &Course)> {
        Some((*self.ends.get(&expr)?, self.courses.get(&var)?))
    }

    /// Notes what variables are set to; in `others` those that are changed otherwise.
    fn add_courses(&mut self, kernel: &Kernel, stmts: &[Stmt], others: &mut BTreeSet<VarId>) {
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Let { var, init: Some(init) } => {
                    self.courses.entry(var).or_default().starts.push(init);
                }
                StmtKind::Assign { var, value } => {
                    let course = self.courses.entry(var).or_default();
                    match step_of(kernel, value, var) {
                        Some((way, by)) => course.step(way, by),
                        None => course.starts.push(value),
                    }
                }
                StmtKind::Update { place: Place::Var(var), op: BinaryOp::Add, value } => {
                    self.courses.entry(var).or_default().step(Way::Up, value);
                }
                StmtKind::Update { place: Place::Var(var), op: BinaryOp::Sub, value } => {
                    self.courses.entry(var).or_default().step(Way::Down, value);
                }
                StmtKind::Update { place: Place::Var(var), .. }
                | StmtKind::Exchange { var, .. }
                | StmtKind::Atomic { old: Some(var), .. } => {
                    others.insert(var);
                }
                _ => {}
            }
            let bodies = stmt.kind.bodies();
            bodies.into_iter().for_each(|body| self.add_courses(kernel, body, others));
        }
    }

    /// Notes the uses in loops that ask for a bound.
    fn add_ends(&mut self, kernel: &Kernel, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::While { cond, body, .. } = &stmt.kind {
                for (var, end) in ends_of(kernel, *cond) {
                    if !self.courses.get(&var).is_some_and(|of| of.ways.contains(&end.way)) {
                        continue;
                    }
                    let changes = |stmt: &Stmt| assigned_in(std::slice::from_ref(stmt));
                    let own = body.iter().take_while(|stmt| !changes(stmt).contains(&var));
                    own.for_each(|stmt| self.add_uses(kernel, stmt, var, end));
                }
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.add_ends(kernel, body));
        }
    }

    fn add_uses(&mut self, kernel: &Kernel, stmt: &Stmt, var: VarId, end: End) {
        let mut open = stmt.kind.exprs();
        while let Some(expr) = open.pop() {
            let kind = &kernel.exprs[expr].kind;
            if *kind == ExprKind::Var(var) {
                self.ends.insert(expr, end);
            }
            open.extend(kind.operands());
        }
        let inner = stmt.kind.bodies().into_iter().flatten();
        inner.for_each(|stmt| self.add_uses(kernel, stmt, var, end));
    }

    /// Keeps no variable whose limits rest on itself.
    fn leave_out_circles(&mut self, kernel: &Kernel) {
        let mut rests = self.rests(kernel);
        loop {
            let before: usize = rests.values().map(BTreeSet::len).sum();
            for var in rests.keys().copied().collect::<Vec<_>>() {
                let of = rests.get(&var).into_iter().flatten();
                let more: BTreeSet<VarId> =
                    of.filter_map(|other| rests.get(other)).flatten().copied().collect();
                rests.entry(var).or_default().extend(more);
            }
            if rests.values().map(BTreeSet::len).sum::<usize>() == before {
                break;
            }
        }
        let is_free = |var: &VarId| !rests.get(var).is_some_and(|of| of.contains(var));
        self.courses.retain(|var, _| is_free(var));
    }

    /// By variable, the variables that its limits name.
    fn rests(&self, kernel: &Kernel) -> BTreeMap<VarId, BTreeSet<VarId>> {
        let mut rests: BTreeMap<VarId, BTreeSet<VarId>> = BTreeMap::new();
        let mut add = |var: VarId, expr: ExprId| {
            let mut open = vec![expr];
            while let Some(expr) = open.pop() {
                let kind = &kernel.exprs[expr].kind;
                if let ExprKind::Var(other) = kind {
                    rests.entry(var).or_default().insert(*other);
                }
                open.extend(kind.operands());
            }
        };
        for (var, course) in &self.courses {
            course.starts.iter().chain(&course.steps).for_each(|expr| add(*var, *expr));
        }
        for (expr, end) in &self.ends {
            if let ExprKind::Var(var) = kernel.exprs[*expr].kind {
                add(var, end.bound);
            }
        }
        immutable_lets(&kernel.body, kernel).into_iter().for_each(|(var, init)| add(var, init));
        let mut open: Vec<&Stmt> = kernel.body.iter().collect();
        while let Some(stmt) = open.pop() {
            if let StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } =
                &stmt.kind
                && let LoopRange::Between { start, end, .. } = range
            {
                [*start, *end].into_iter().for_each(|expr| add(*var, expr));
            }
            open.extend(stmt.kind.bodies().into_iter().flatten());
        }
        rests
    }
}

/// Which way an assignment steps, and by how much: `var + e`, `e + var` or `var - e`.
fn step_of(kernel: &Kernel, value: ExprId, var: VarId) -> Option<(Way, ExprId)> {
    let ExprKind::Binary { op, lhs, rhs } = kernel.exprs[value].kind else { return None };
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    match op {
        BinaryOp::Add if is_var(lhs) => Some((Way::Up, rhs)),
        BinaryOp::Add if is_var(rhs) => Some((Way::Up, lhs)),
        BinaryOp::Sub if is_var(lhs) => Some((Way::Down, rhs)),
        _ => None,
    }
}

/// The variables that have not reached something where a condition holds.
fn ends_of(kernel: &Kernel, cond: ExprId) -> Vec<(VarId, End)> {
    let (lower, upper, met) = match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            return [lhs, rhs].into_iter().flat_map(|part| ends_of(kernel, part)).collect();
        }
        ExprKind::Compare { op: CompareOp::Lt, lhs, rhs } => (lhs, rhs, false),
        ExprKind::Compare { op: CompareOp::Le, lhs, rhs } => (lhs, rhs, true),
        ExprKind::Compare { op: CompareOp::Gt, lhs, rhs } => (rhs, lhs, false),
        ExprKind::Compare { op: CompareOp::Ge, lhs, rhs } => (rhs, lhs, true),
        _ => return Vec::new(),
    };
    let var = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    };
    let below = var(lower).map(|var| (var, End { way: Way::Up, bound: upper, met }));
    let above = var(upper).map(|var| (var, End { way: Way::Down, bound: lower, met }));
    below.into_iter().chain(above).collect()
}
