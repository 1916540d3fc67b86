//! Variables that loops count by hand, `while i < n { …; i += s; }`: how far they go.
//!
//! Where a work-item comes by in the loop, before it goes on, such a variable is below the
//! bound, and no less than the least that it is ever set to; the other way round where it is
//! counted down. That rests on steps that are not negative and do not carry it out of its
//! type, which a launch is asked. Elsewhere it is as far from what it is set to as all its
//! steps carry it, `at += plane;` as often as the loops around are run.

use std::collections::{BTreeMap, BTreeSet};

use super::assigned::assigned_in;
use super::ending::{End, Way, ends_of};
use crate::kernel::{
    ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, VarId, VarKind, immutable_lets,
};
use crate::op::BinaryOp;

/// How often a loop is run at most.
#[derive(Clone, Debug)]
pub(super) enum Trips {
    /// As often as its counter has values.
    Counted { start: ExprId, end: ExprId, step: Option<ExprId> },
    /// As often as a number of its type can be halved.
    Halved,
    /// Until a variable that goes on by so much, each time, is at its end.
    Stepped { var: VarId, end: End, by: ExprId },
}

/// By how much a variable is changed at one place.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) way: Way,
    pub(super) by: ExprId,
    /// The loops around, within which the variable lives; `None` where that of one is not
    /// known.
    pub(super) loops: Option<Vec<Trips>>,
}

/// What a variable is set to, and by how much it is changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub(super) starts: Vec<ExprId>,
    pub(super) steps: Vec<Step>,
    /// How many loops are around the place where it is declared.
    depth: usize,
}

impl Course {
    fn step(&mut self, (way, by): (Way, ExprId), loops: &[Option<Trips>]) {
        let loops = loops.get(self.depth..).unwrap_or_default().iter().cloned().collect();
        self.steps.push(Step { way, by, loops });
    }

    /// Whether all its steps go this way.
    pub(super) fn goes(&self, way: Way) -> bool {
        self.steps.iter().all(|step| step.way == way)
    }

    /// What decides how far its steps carry it, in loops that are known.
    pub(super) fn limits(&self) -> Vec<ExprId> {
        let mut limits = self.starts.clone();
        for step in &self.steps {
            limits.push(step.by);
            for trips in step.loops.iter().flatten() {
                match trips {
                    Trips::Counted { start, end, step } => {
                        limits.extend([*start, *end].into_iter().chain(*step));
                    }
                    Trips::Halved => {}
                    Trips::Stepped { end, by, .. } => limits.extend(end.bound.parts().chain([*by])),
                }
            }
        }
        limits
    }

    /// The variables that end loops around its steps, and what they have not reached.
    fn enders(&self) -> impl Iterator<Item = (VarId, &End)> {
        let trips = self.steps.iter().flat_map(|step| step.loops.iter().flatten());
        trips.filter_map(|trips| match trips {
            Trips::Stepped { var, end, .. } => Some((*var, end)),
            Trips::Counted { .. } | Trips::Halved => None,
        })
    }

    /// The sums with other variables that must not wrap, since they end loops around its steps.
    pub(super) fn other_sums(&self, own: VarId) -> impl Iterator<Item = ExprId> {
        let others = self.enders().filter(move |(var, _)| *var != own);
        others.filter_map(|(_, end)| end.bound.sum())
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
        stepped.add_courses(kernel, &kernel.body, (&mut Vec::new(), &mut others));
        stepped.courses.retain(|var, course| {
            let is_mutable = kernel.vars[*var].kind == VarKind::Let { mutable: true };
            is_mutable && !others.contains(var) && !course.steps.is_empty()
        });
        stepped.add_ends(kernel, &kernel.body);
        stepped.leave_out_circles(kernel);
        stepped
    }

    /// At a use of a variable in its loop: what it has not reached, and how it came there.
    pub(super) fn at(&self, expr: ExprId, var: VarId) -> Option<(&End, &Course)> {
        Some((self.ends.get(&expr)?, self.courses.get(&var)?))
    }

    /// How a variable comes to any value that it has, if it is known how often its steps are
    /// made.
    pub(super) fn course(&self, var: VarId) -> Option<&Course> {
        let course = self.courses.get(&var)?;
        let is_known = course.steps.iter().all(|step| step.loops.is_some());
        let ends =
            |(var, end): (VarId, &End)| self.courses.get(&var).is_some_and(|of| of.goes(end.way));
        let are_known = || course.enders().all(ends);
        (is_known && are_known()).then_some(course)
    }

    /// What a variable that ends a loop is set to.
    pub(super) fn starts(&self, var: VarId) -> &[ExprId] {
        self.courses.get(&var).map_or(&[], |course| &course.starts)
    }

    /// Notes what variables are set to, in loops; in `others` those that are changed otherwise.
    fn add_courses(
        &mut self,
        kernel: &Kernel,
        stmts: &[Stmt],
        (loops, others): (&mut Vec<Option<Trips>>, &mut BTreeSet<VarId>),
    ) {
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Let { var, init } => {
                    let course = self.courses.entry(var).or_default();
                    course.starts.extend(init);
                    course.depth = loops.len();
                }
                StmtKind::Assign { var, value } if step_of(kernel, value, var).is_none() => {
                    self.courses.entry(var).or_default().starts.push(value);
                }
                StmtKind::Exchange { var, .. } | StmtKind::Atomic { old: Some(var), .. } => {
                    others.insert(var);
                }
                StmtKind::Update { place: Place::Var(var), .. } | StmtKind::Assign { var, .. } => {
                    match step_in(kernel, stmt) {
                        Some((_, step)) => self.courses.entry(var).or_default().step(step, loops),
                        None => drop(others.insert(var)),
                    }
                }
                _ => {}
            }
            if stmt.kind.is_loop() {
                loops.push(trips(kernel, stmt));
            }
            for body in stmt.kind.bodies() {
                self.add_courses(kernel, body, (&mut *loops, &mut *others));
            }
            if stmt.kind.is_loop() {
                loops.pop();
            }
        }
    }

    /// Notes the uses in loops that ask for a bound.
    fn add_ends(&mut self, kernel: &Kernel, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::While { cond, body, .. } = &stmt.kind {
                for (var, end) in ends_of(kernel, *cond) {
                    if !self.courses.get(&var).is_some_and(|of| of.goes(end.way)) {
                        continue;
                    }
                    let changes = |stmt: &Stmt| assigned_in(std::slice::from_ref(stmt));
                    let own = body.iter().take_while(|stmt| !changes(stmt).contains(&var));
                    own.for_each(|stmt| self.add_uses(kernel, stmt, (var, &end)));
                }
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.add_ends(kernel, body));
        }
    }

    fn add_uses(&mut self, kernel: &Kernel, stmt: &Stmt, (var, end): (VarId, &End)) {
        let mut open = stmt.kind.exprs();
        while let Some(expr) = open.pop() {
            let kind = &kernel.exprs[expr].kind;
            if *kind == ExprKind::Var(var) {
                self.ends.insert(expr, end.clone());
            }
            open.extend(kind.operands());
        }
        let inner = stmt.kind.bodies().into_iter().flatten();
        inner.for_each(|stmt| self.add_uses(kernel, stmt, (var, end)));
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
            course.limits().into_iter().for_each(|expr| add(*var, expr));
            let ending = course.enders().flat_map(|(var, _)| self.starts(var));
            ending.for_each(|expr| add(*var, *expr));
            course.other_sums(*var).for_each(|sum| add(*var, sum));
        }
        for (expr, end) in &self.ends {
            if let ExprKind::Var(var) = kernel.exprs[*expr].kind {
                end.bound.parts().for_each(|part| add(var, part));
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

/// The variable that a statement steps, which way and by how much.
pub(crate) fn step_in(kernel: &Kernel, stmt: &Stmt) -> Option<(VarId, (Way, ExprId))> {
    match stmt.kind {
        StmtKind::Update { place: Place::Var(var), op: BinaryOp::Add, value } => {
            Some((var, (Way::Up, value)))
        }
        StmtKind::Update { place: Place::Var(var), op: BinaryOp::Sub, value } => {
            Some((var, (Way::Down, value)))
        }
        StmtKind::Assign { var, value } => Some((var, step_of(kernel, value, var)?)),
        _ => None,
    }
}

/// How often a loop is run.
fn trips(kernel: &Kernel, stmt: &Stmt) -> Option<Trips> {
    match &stmt.kind {
        StmtKind::For { range, .. } | StmtKind::Phase { range, .. } => match *range {
            LoopRange::Between { start, end, step, .. } => {
                Some(Trips::Counted { start, end, step })
            }
            LoopRange::Halving(_) | LoopRange::Doubling(_) => Some(Trips::Halved),
        },
        StmtKind::While { cond, body, .. } => {
            let mut steps = body.iter().filter_map(|stmt| step_in(kernel, stmt));
            let ends = ends_of(kernel, *cond);
            steps.find_map(|(var, (way, by))| {
                let is_own = |(other, end): &&(VarId, End)| {
                    *other == var && end.way == way && !is_reset(kernel, body, var)
                };
                let own = ends.iter().find(is_own);
                own.map(|(_, end)| Trips::Stepped { var, end: end.clone(), by })
            })
        }
        _ => None,
    }
}

/// Whether statements set a variable to something else than a step on.
fn is_reset(kernel: &Kernel, stmts: &[Stmt], var: VarId) -> bool {
    stmts.iter().any(|stmt| {
        let sets = matches!(&stmt.kind, StmtKind::Assign { var: own, value }
            if *own == var && step_of(kernel, *value, var).is_none());
        sets || stmt.kind.bodies().into_iter().any(|body| is_reset(kernel, body, var))
    })
}
