//! What names stand for, in their place.
//!
//! `let early = i < 2; … if early { … }` becomes `let early = i < 2; … if i < 2 { … }`: a variable
//! that is set once is what it was set to wherever nothing has changed of which that is made. So it
//! is with conditions and with other names of a variable wherever they stand, and with integers made
//! of integers where a condition compares them, but for places: an element's index and the same
//! `in_bounds(…)` go on to name alike what is one.
//!
//! # What it rests on
//!
//! - The variables of an expression are not assigned between the `let` and the use, in no turn of a
//!   loop either.
//! - What it reads of an array that the kernel writes is read in the same barrier interval, with no
//!   write of the work-item's own to that array in between. If somebody else writes it there, the
//!   two race, and the `let` keeps its own read: such a kernel is not accepted whichever way it is
//!   written.
//! - The points of a cooperative loop, which work-items share out, go on to ask for the name.
//! - What it takes from all of the block by `uniform(…)` is asked in the same list of statements, by
//!   the same work-items.
//!
//! A name that nobody asks for any more goes, if what it stands for reads nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Stmt, StmtKind, Type, VarId, VarKind, any_stmt,
    any_subexpr, copy_expr, copy_expr_but, reads_memory,
};

/// Most parts of an expression that is written in the place of a name.
const MAX_PARTS: usize = 48;

/// Puts in the place of names what they stand for.
pub(super) fn put_in(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut written = BTreeSet::new();
    any_stmt(&body, &mut |kind| {
        written.extend(kind.written());
        false
    });
    Names { kernel, written, known: BTreeMap::new() }.list(&mut body);
    while leave_out(kernel, &mut body) {}
    kernel.body = body;
}

/// Leaves out the names that nobody asks for and that read nothing; whether there was one.
fn leave_out(kernel: &Kernel, body: &mut Vec<Stmt>) -> bool {
    let mut named = BTreeSet::new();
    any_stmt(body, &mut |kind| {
        for expr in kind.exprs() {
            any_subexpr(kernel, expr, &mut |kind| {
                named.extend(if let ExprKind::Var(var) = kind { Some(*var) } else { None });
                false
            });
        }
        false
    });
    let is_left = |stmt: &Stmt| match stmt.kind {
        StmtKind::Let { var, init: Some(init) } => {
            kernel.vars[var].kind == VarKind::Let { mutable: false }
                && !named.contains(&var)
                && !reads_memory(kernel, init)
        }
        _ => false,
    };
    retain(body, &|stmt| !is_left(stmt))
}

/// Keeps some statements; whether one went.
fn retain(stmts: &mut Vec<Stmt>, is_kept: &dyn Fn(&Stmt) -> bool) -> bool {
    let before = stmts.len();
    stmts.retain(is_kept);
    let mut is_changed = stmts.len() < before;
    for body in stmts.iter_mut().flat_map(|stmt| stmt.kind.bodies_mut()) {
        is_changed |= retain(body, is_kept);
    }
    is_changed
}

/// What is known at a place.
struct Names<'a> {
    kernel: &'a mut Kernel,
    /// The arrays that some statement writes.
    written: BTreeSet<ArrayRef>,
    /// What variables stand for that are set once.
    known: BTreeMap<VarId, ExprId>,
}

impl Names<'_> {
    fn list(&mut self, stmts: &mut [Stmt]) {
        stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if matches!(stmt.kind, StmtKind::While { .. }) {
            // It is asked again behind each turn.
            self.forget(std::slice::from_ref(stmt));
        }
        if !matches!(stmt.kind, StmtKind::Assume { .. } | StmtKind::Distinct { .. }) {
            stmt.kind.exprs_mut().into_iter().for_each(|expr| *expr = self.of(*expr));
        }
        if stmt.kind.is_loop() || matches!(stmt.kind, StmtKind::Each { .. }) {
            self.forget(std::slice::from_ref(stmt));
        }
        let before = self.known.clone();
        let is_shared_out = matches!(stmt.kind, StmtKind::Each { .. });
        for body in stmt.kind.bodies_mut() {
            self.known.retain(|_, init| !is_shared_out && !asks_all(self.kernel, *init));
            self.list(body);
            self.known.clone_from(&before);
        }
        self.forget(std::slice::from_ref(stmt));
        if let StmtKind::Let { var, init: Some(init) } = stmt.kind
            && self.may_stand_for(var, init)
        {
            self.known.insert(var, init);
        }
    }

    /// Whether what a variable is set to may be written in its place.
    fn may_stand_for(&self, var: VarId, init: ExprId) -> bool {
        let ty = self.kernel.vars[var].ty;
        let is_number = || is_of_integers(self.kernel, init) && !reads_memory(self.kernel, init);
        self.kernel.vars[var].kind == VarKind::Let { mutable: false }
            && (ty == Type::BOOL || is_name(self.kernel, init) || is_number())
            && parts(self.kernel, init) <= MAX_PARTS
    }

    /// Forgets what statements change.
    fn forget(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let meets = matches!(
                stmt.kind,
                StmtKind::Barrier
                    | StmtKind::WarpBarrier
                    | StmtKind::Exchange { .. }
                    | StmtKind::Each { .. }
                    | StmtKind::Phase { .. }
            );
            let (var, own) = (stmt.kind.given_var(), stmt.kind.written());
            let (kernel, written) = (&*self.kernel, &self.written);
            self.known.retain(|_, init| {
                !any_subexpr(kernel, *init, &mut |kind| match kind {
                    ExprKind::Var(of) => Some(*of) == var,
                    ExprKind::Load(access) => {
                        Some(access.array) == own || meets && written.contains(&access.array)
                    }
                    _ => false,
                })
            });
            stmt.kind.bodies().into_iter().for_each(|body| self.forget(body));
        }
    }

    /// An expression with what is known in the place of names.
    fn of(&mut self, expr: ExprId) -> ExprId {
        let known = &self.known;
        let knows = |kind: &ExprKind| matches!(kind, ExprKind::Var(var) if known.contains_key(var));
        if !any_subexpr(self.kernel, expr, &mut |kind| knows(kind)) {
            return expr;
        }
        let with = |kernel: &mut Kernel, part| {
            copy_expr_but(kernel, part, &mut |kernel, part| put(kernel, known, part, false))
        };
        copy_expr_but(self.kernel, expr, &mut |kernel, part| {
            if kernel.exprs[part].ty != Type::BOOL {
                return put(kernel, known, part, false);
            }
            Some(copy_expr_but(kernel, part, &mut |kernel, part| match kernel.exprs[part].kind {
                ExprKind::Load(_) | ExprKind::InBounds { .. } => Some(with(kernel, part)),
                _ => put(kernel, known, part, true),
            }))
        })
    }
}

/// What stands for a name, in a condition or elsewhere.
fn put(
    kernel: &mut Kernel,
    known: &BTreeMap<VarId, ExprId>,
    part: ExprId,
    in_condition: bool,
) -> Option<ExprId> {
    let ExprKind::Var(var) = kernel.exprs[part].kind else { return None };
    let init = *known.get(&var)?;
    if !in_condition && !is_name(kernel, init) {
        return None;
    }
    let copy = copy_expr(kernel, init, &mut |_, _| None);
    kernel.exprs[copy].span = kernel.exprs[part].span;
    Some(copy)
}

fn is_name(kernel: &Kernel, expr: ExprId) -> bool {
    matches!(kernel.exprs[expr].kind, ExprKind::Var(_))
}

/// Whether an expression, and what it is made of, are integers.
fn is_of_integers(kernel: &Kernel, expr: ExprId) -> bool {
    let expr = &kernel.exprs[expr];
    (expr.ty == Type::Index || expr.ty.integer_range().is_some())
        && expr.kind.operands().into_iter().all(|part| is_of_integers(kernel, part))
}

fn asks_all(kernel: &Kernel, expr: ExprId) -> bool {
    any_subexpr(kernel, expr, &mut |kind| matches!(kind, ExprKind::Uniform(_)))
}

fn parts(kernel: &Kernel, expr: ExprId) -> usize {
    let mut count = 0;
    any_subexpr(kernel, expr, &mut |_| {
        count += 1;
        false
    });
    count
}
