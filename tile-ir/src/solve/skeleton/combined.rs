//! Sizes at which a condition of several comparisons has an outcome that it has at no others.
//!
//! `if A < 700 || B > 5 || C < 900 { … }` is passed by where three numbers are so at once, two
//! of them large and one small. Of each dimension and scalar the values that are usual, those
//! at which a comparison turns, and those next to the condition's literals are put together in
//! all ways, as far as that are not too many, until each condition has both outcomes.

use std::collections::BTreeSet;

use super::sizes::Sizes;
use super::thresholds::Comparisons;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, VarId, VarKind};

/// Most combinations that are tried.
const MAX_TRIED: usize = 1 << 11;

/// Most values of one size.
const MAX_VALUES: usize = 12;

/// The conditions of several comparisons, and the outcomes that they have had.
pub(super) struct Conditions<'a> {
    comparisons: &'a Comparisons<'a>,
    all: Vec<(ExprId, [bool; 2])>,
}

impl<'a> Conditions<'a> {
    pub(super) fn of(comparisons: &'a Comparisons<'a>) -> Self {
        let kernel = comparisons.plain.kernel;
        let mut all = BTreeSet::new();
        collect(&kernel.body, &mut all);
        all.extend(kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Select { cond, .. } => Some(cond),
            _ => None,
        }));
        all.retain(|cond| matches!(kernel.exprs[*cond].kind, ExprKind::Logic { .. }));
        Self { comparisons, all: all.into_iter().map(|cond| (cond, [false; 2])).collect() }
    }

    /// Notes the outcomes at some sizes; says whether one is new.
    pub(super) fn note(&mut self, sizes: &Sizes) -> bool {
        let mut is_new = false;
        for (cond, had) in self.all.iter_mut().filter(|(_, had)| *had != [true; 2]) {
            if let Some(holds) = self.comparisons.value(*cond, sizes) {
                is_new |= !std::mem::replace(&mut had[usize::from(holds != 0)], true);
            }
        }
        is_new
    }

    /// Sizes at which conditions have the outcomes that are left; `set` are the values at which
    /// comparisons turn, `bases` usual sizes.
    pub(super) fn sought(&mut self, bases: &[Sizes], set: &[(VarId, i64)]) -> Vec<Sizes> {
        let Some(first) = bases.first() else { return Vec::new() };
        // What data decides has no outcome by sizes.
        let is_known = |cond: ExprId| self.comparisons.value(cond, first).is_some();
        self.all.retain(|(cond, had)| *had != [true; 2] && is_known(*cond));
        if self.all.is_empty() {
            return Vec::new();
        }
        let values = self.values(bases, set);
        let all = values.iter().fold(1, |all: usize, (_, of)| all.saturating_mul(of.len()));
        let mut found = Vec::new();
        for mut number in 0..all.min(MAX_TRIED) {
            let mut sizes = first.clone();
            for (var, of) in &values {
                sizes.values[var.index()] = Some(of[number % of.len()]);
                number /= of.len();
            }
            if self.note(&sizes) {
                found.push(sizes);
            }
        }
        found
    }

    /// Of the sizes that the conditions left name, the values that are put together.
    fn values(&self, bases: &[Sizes], set: &[(VarId, i64)]) -> Vec<(VarId, Vec<i64>)> {
        let kernel = self.comparisons.plain.kernel;
        let (mut vars, mut literals) = (BTreeSet::new(), BTreeSet::new());
        for (cond, _) in &self.all {
            named(self.comparisons, *cond, (&mut vars, &mut literals));
        }
        let near: BTreeSet<i64> =
            literals.iter().flat_map(|of| [*of, of.saturating_add(1)]).collect();
        let is_size =
            |var: &VarId| matches!(kernel.vars[*var].kind, VarKind::Dim | VarKind::Scalar(_));
        let of_var = |var: VarId| {
            let turns = set.iter().filter(|(other, _)| *other == var).map(|(_, value)| *value);
            let usual = bases.iter().filter_map(|base| base.values[var.index()]);
            let near = near.iter().copied().filter(|value| *value > 0);
            let mut all: Vec<i64> = Vec::new();
            for value in turns.chain(near).chain(usual) {
                if !all.contains(&value) && all.len() < MAX_VALUES {
                    all.push(value);
                }
            }
            (var, all)
        };
        let values = vars.into_iter().filter(is_size).map(of_var);
        values.filter(|(_, of)| !of.is_empty()).collect()
    }
}

/// Adds the conditions of statements.
fn collect(stmts: &[Stmt], out: &mut BTreeSet<ExprId>) {
    for stmt in stmts {
        if let StmtKind::If { cond, .. } = stmt.kind {
            out.insert(cond);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, out));
    }
}

/// Adds the variables and the literals that an expression names.
fn named(
    comparisons: &Comparisons<'_>,
    expr: ExprId,
    (vars, literals): (&mut BTreeSet<VarId>, &mut BTreeSet<i64>),
) {
    let plain = &comparisons.plain;
    let kernel: &Kernel = plain.kernel;
    let kind = &kernel.exprs[expr].kind;
    let of = match kind {
        ExprKind::Literal(Literal::Int(value)) => {
            literals.extend(i64::try_from(*value));
            None
        }
        ExprKind::Var(var) => {
            vars.insert(*var);
            plain.lets.get(var).copied().or_else(|| comparisons.end(*var))
        }
        _ => None,
    };
    for part in kind.operands().into_iter().chain(of) {
        named(comparisons, part, (&mut *vars, &mut *literals));
    }
}
