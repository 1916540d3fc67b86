//! The values that proofs ask for.
//!
//! Of most of what a kernel computes no proof needs more than the accesses in it: a hash,
//! a sum of products, the weights of a filter. Such values are the longest there are, so
//! only those are followed that reach an index, a condition, a bound of a loop, an
//! assumption or an atomic update, by way of variables and of arrays as well.
//!
//! Sound: a value that is not followed is any value, and that of every expression which
//! the walk asks of is followed.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId};

/// The expressions, variables and arrays whose values are followed.
#[derive(Debug, Default)]
pub(in super::super) struct Asked {
    exprs: Vec<bool>,
    vars: Vec<bool>,
    arrays: BTreeSet<ArrayRef>,
}

impl Asked {
    /// Reads a kernel.
    pub(in super::super) fn of(kernel: &Kernel) -> Self {
        let mut values = Values::default();
        values.visit(&kernel.body);
        let computed = values.computed(kernel);
        let mut asked = Self {
            exprs: vec![false; kernel.exprs.len()],
            vars: vec![false; kernel.vars.len()],
            arrays: BTreeSet::new(),
        };
        for expr in kernel.exprs.values() {
            values.roots.extend(asked_inside(&expr.kind));
        }
        for counter in std::mem::take(&mut values.counters) {
            asked.ask_array(counter, &mut values);
        }
        while let Some(expr) = values.roots.pop() {
            asked.ask(kernel, expr, &mut values);
        }
        // What no statement computes, as extents, is followed.
        let asked_or_not = asked.exprs.iter().zip(computed);
        asked.exprs =
            asked_or_not.map(|(is_asked, is_computed)| *is_asked || !is_computed).collect();
        asked
    }

    /// Whether an expression's value is asked for.
    pub(in super::super) fn is_expr(&self, expr: ExprId) -> bool {
        self.exprs.get(expr.index()).is_none_or(|is| *is)
    }

    /// Whether a variable's value is. Those that no text names are followed.
    pub(in super::super) fn is_var(&self, var: VarId) -> bool {
        self.vars.get(var.index()).is_none_or(|is| *is)
    }

    /// Whether what an array holds is.
    pub(in super::super) fn is_array(&self, array: ArrayRef) -> bool {
        self.arrays.contains(&array)
    }

    /// Asks for an expression, and for what decides it.
    fn ask(&mut self, kernel: &Kernel, expr: ExprId, values: &mut Values) {
        if std::mem::replace(&mut self.exprs[expr.index()], true) {
            return;
        }
        let kind = &kernel.exprs[expr].kind;
        values.roots.extend(kind.operands());
        match kind {
            ExprKind::Var(var) => {
                self.vars[var.index()] = true;
                values.roots.extend(values.of_vars.remove(var).unwrap_or_default());
            }
            ExprKind::Load(access) => self.ask_array(access.array, values),
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

    fn ask_array(&mut self, array: ArrayRef, values: &mut Values) {
        self.arrays.insert(array);
        values.roots.extend(values.of_arrays.remove(&array).unwrap_or_default());
    }
}

/// What is asked for inside of an expression whatever becomes of its value: where it
/// reads, and which of its parts are evaluated.
fn asked_inside(kind: &ExprKind) -> Vec<ExprId> {
    match kind {
        ExprKind::Load(_)
        | ExprKind::InBounds { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::Logic { .. } => kind.operands(),
        ExprKind::Select { cond, .. } => vec![*cond],
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Cast(_)
        | ExprKind::Uniform(_)
        | ExprKind::Math { .. } => Vec::new(),
    }
}

/// What variables and arrays are set to, and what is asked for at once.
#[derive(Default)]
struct Values {
    of_vars: BTreeMap<VarId, Vec<ExprId>>,
    of_arrays: BTreeMap<ArrayRef, Vec<ExprId>>,
    counters: Vec<ArrayRef>,
    roots: Vec<ExprId>,
}

impl Values {
    /// By expression, whether it is part of a value that a variable or an array is set to.
    fn computed(&self, kernel: &Kernel) -> Vec<bool> {
        let mut is_computed = vec![false; kernel.exprs.len()];
        let lists = self.of_vars.values().chain(self.of_arrays.values());
        let mut open: Vec<ExprId> = lists.flatten().copied().collect();
        while let Some(expr) = open.pop() {
            if !std::mem::replace(&mut is_computed[expr.index()], true) {
                open.extend(kernel.exprs[expr].kind.operands());
            }
        }
        is_computed
    }

    fn visit(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(&stmt.kind);
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body));
        }
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { var, init } => {
                self.of_vars.entry(*var).or_default().extend(init);
            }
            StmtKind::Assign { var, value }
            | StmtKind::Update { place: Place::Var(var), value, .. } => {
                self.of_vars.entry(*var).or_default().push(*value);
            }
            StmtKind::Exchange { var, value, lane, .. } => {
                self.of_vars.entry(*var).or_default().extend([*value].iter().chain(lane));
            }
            StmtKind::LetArray { tile, init } => {
                self.of_arrays.entry(ArrayRef::Tile(*tile)).or_default().extend(init);
            }
            StmtKind::Store { access, value }
            | StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.of_arrays.entry(access.array).or_default().push(*value);
                self.roots.extend(&access.indices);
            }
            // Where a counter starts and what it is raised by says which slots it gives.
            StmtKind::Atomic { access, .. } => {
                self.counters.push(access.array);
                self.roots.extend(kind.exprs());
            }
            StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. } => self.roots.extend(kind.exprs()),
            StmtKind::Each { .. } | StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
    }
}
