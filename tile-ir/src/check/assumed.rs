//! TK0305: an `assume` that never holds, which would prove anything, and one that
//! nothing of a launch decides, which is no fact about it.
//!
//! An assumption is taken at its word by the race rules, and by nothing else: no
//! other check and no pass of lowering reads it. That it can hold is shown where
//! constants, sizes and the conditions around it decide ([`crate::solve::symbolic`]);
//! whether it does is for the CPU device to see.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::Folds;
use super::uniform::Uniformity;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, VarKind, print_expr,
};
use crate::solve::symbolic::impossible;

/// Reports the assumptions of a kernel that cannot be meant.
pub(super) fn check_assumptions(
    kernel: &Kernel,
    uniformity: &Uniformity,
    folds: &Folds,
    diags: &mut Diagnostics,
) {
    let origins = Origins::of(kernel);
    check_distinct(kernel, uniformity, &origins, diags);
    if origins.assumed.is_empty() {
        return;
    }
    let never = impossible(kernel, uniformity);
    for &cond in &origins.assumed {
        let span = kernel.exprs[cond].span;
        let text = print_expr(kernel, cond);
        if folds.get(cond) == Some(false) || never.contains(&cond) {
            let message = format!("`{text}` never holds here, so it cannot be assumed");
            diags.push(
                Diagnostic::error(Code::BadAssumption, span, message)
                    .help("state what is true of the data that the kernel is launched with"),
            );
        } else if !origins.rests_on(kernel, cond, &|kind| is_of_launch(kernel, kind)) {
            let message = format!("`{text}` is decided by sizes and coordinates, not by data");
            diags.push(Diagnostic::error(Code::BadAssumption, span, message).help(
                "constrain the sizes under `tile:`, or write an `if`: `assume` is for loaded \
                     values, scalar parameters and dimensions",
            ));
        }
    }
}

/// Reports numbers that are said to differ and do not, or of which it is no fact about data.
fn check_distinct(
    kernel: &Kernel,
    uniformity: &Uniformity,
    origins: &Origins,
    diags: &mut Diagnostics,
) {
    for &value in &origins.distinct {
        let (span, text) = (kernel.exprs[value].span, print_expr(kernel, value));
        let (fault, help) = if uniformity.is_uniform_value(value) {
            ("is the same for all work-items of a block", "say it of the place of each work-item")
        } else if !origins.is_open(kernel, value) {
            (
                "is decided by sizes and coordinates, not by data",
                "what coordinates decide is proved or refused as it stands: `assume` is for places \
                 that loaded values decide",
            )
        } else {
            continue;
        };
        let message = format!("`{text}` {fault}, so that this cannot be assumed of it");
        diags.push(Diagnostic::error(Code::BadAssumption, span, message).help(help));
    }
}

/// Whether the data, the scalars or the dimensions of a launch come in here.
fn is_of_launch(kernel: &Kernel, kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Load(_) | ExprKind::InBounds { .. } => true,
        ExprKind::Var(var) => {
            matches!(kernel.vars[*var].kind, VarKind::Dim | VarKind::Scalar(_))
        }
        ExprKind::Literal(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::Tiles { .. } => false,
    }
}

/// The assumptions of a kernel, and what variables are set to.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// The conditions, in program order.
    pub(crate) assumed: Vec<ExprId>,
    /// The numbers that are said to differ.
    distinct: Vec<ExprId>,
    values: Vec<(VarId, ExprId)>,
    /// What decides whether variables are set to something, or how often.
    deciders: Vec<(VarId, ExprId)>,
    /// Variables that hold old values of atomic updates, with the array of each.
    old: BTreeMap<VarId, ArrayRef>,
    /// Variables that hold what work-items get of each other.
    exchanged: BTreeSet<VarId>,
}

impl Origins {
    /// Reads a kernel.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut origins = Self::default();
        origins.visit(&kernel.body, &mut Vec::new());
        origins
    }

    fn visit(&mut self, stmts: &[Stmt], around: &mut Vec<ExprId>) {
        for stmt in stmts {
            let before = self.values.len();
            match &stmt.kind {
                StmtKind::Assume { cond } => self.assumed.push(*cond),
                StmtKind::Distinct { values, .. } => self.distinct.extend(values),
                StmtKind::Let { var, init: Some(value) }
                | StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.values.push((*var, *value));
                }
                StmtKind::Exchange { var, value, lane, .. } => {
                    self.values.extend([*value].into_iter().chain(*lane).map(|id| (*var, id)));
                    self.exchanged.insert(*var);
                }
                StmtKind::Atomic { old, access, .. } => {
                    self.old.extend(old.map(|old| (old, access.array)));
                }
                StmtKind::Let { init: None, .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Store { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            let set = self.values[before..].iter().map(|(var, _)| *var);
            let decided = set.flat_map(|var| around.iter().map(move |cond| (var, *cond)));
            self.deciders.extend(decided);
            let outer = around.len();
            if let StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. } = &stmt.kind
            {
                around.extend(stmt.kind.exprs());
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, around));
            around.truncate(outer);
        }
    }

    /// Whether something that `test` admits is in `expr`, or in what its variables are set to, or
    /// in what decides whether they are.
    fn rests_on(&self, kernel: &Kernel, expr: ExprId, test: &dyn Fn(&ExprKind) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if self.reaches(kernel, expr, test) {
                return true;
            }
            let new: Vec<VarId> =
                self.vars(kernel, expr).into_iter().filter(|var| seen.insert(*var)).collect();
            let deciders = self.deciders.iter().filter(|(var, _)| new.contains(var));
            open.extend(deciders.map(|(_, cond)| *cond));
        }
        false
    }

    /// Whether something that `test` admits is in `expr`, or in what its variables
    /// are set to; so is the old value of an atomic update, whatever it admits.
    pub(crate) fn reaches(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        test: &dyn Fn(&ExprKind) -> bool,
    ) -> bool {
        let is_old =
            |kind: &ExprKind| matches!(kind, ExprKind::Var(var) if self.old.contains_key(var));
        self.find(kernel, expr, &mut |kind| is_old(kind) || test(kind))
    }

    /// Whether more than sizes and coordinates decides a number.
    pub(crate) fn is_open(&self, kernel: &Kernel, value: ExprId) -> bool {
        self.reaches(kernel, value, &|kind| match kind {
            // Whatever decides which of its values it has.
            ExprKind::Var(var) if kernel.vars[*var].kind == (VarKind::Let { mutable: true }) => {
                true
            }
            _ => is_of_launch(kernel, kind),
        })
    }

    /// The array of which a variable holds the old value of an atomic update.
    pub(crate) fn updated(&self, old: VarId) -> Option<ArrayRef> {
        self.old.get(&old).copied()
    }

    /// Whether this is a variable that holds what work-items get of each other.
    pub(crate) fn is_exchanged(&self, kind: &ExprKind) -> bool {
        matches!(kind, ExprKind::Var(var) if self.exchanged.contains(var))
    }

    /// The variables in `expr`, and in what those are set to.
    pub(crate) fn vars(&self, kernel: &Kernel, expr: ExprId) -> BTreeSet<VarId> {
        let mut vars = BTreeSet::new();
        self.find(kernel, expr, &mut |kind| {
            if let ExprKind::Var(var) = kind {
                vars.insert(*var);
            }
            false
        });
        vars
    }

    /// Whether something in `expr`, or in what its variables are set to, is it.
    fn find(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        is_it: &mut dyn FnMut(&ExprKind) -> bool,
    ) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![expr];
        while let Some(id) = open.pop() {
            let kind = &kernel.exprs[id].kind;
            if is_it(kind) {
                return true;
            }
            if let ExprKind::Var(var) = kind
                && seen.insert(*var)
            {
                let values = self.values.iter().filter(|(of, _)| of == var);
                open.extend(values.map(|(_, value)| *value));
            }
            open.extend(kind.operands());
        }
        false
    }
}
