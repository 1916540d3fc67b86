//! Variables that are one number for the whole launch, once a loop is over.
//!
//! `let mut p = 1; while p < n { p *= 2; }` computes the same in every work-item of every
//! block, of which a block's uniformity does not speak: `bx` is one value for a block, too.
//! What a variable is assigned depends on numbers of the launch, if all that is assigned to
//! it, and all that decides whether and how often, is made of literals, dimensions, scalars,
//! tile parameters, elements of tensors that are never written, and such variables. After a
//! loop that stands in no other one, all have run the same iterations; in the middle of a
//! loop two blocks need not be in the same one, so nothing is said there.
//!
//! Variables are taken for such until an assignment is seen that is not
//! ([`crate::check::uniformity`] does likewise).

use std::collections::BTreeSet;

use super::poly::Unknown;
use super::walk::{Value, Walk};
use crate::check::{WrittenTensors, is_uniform, range_exprs};
use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, VarKind, any_subexpr};

impl Walk<'_> {
    /// Notes that what a variable is after a loop is one number of the launch, if it is so:
    /// of its unknowns those from `from` on, which are of the loop.
    pub(super) fn note_launched(&mut self, var: VarId, value: &Value, from: Unknown) {
        if !self.loops.is_empty() || self.is_in_point() {
            return;
        }
        let Value::Int(value) = value else { return };
        let kernel = self.kernel;
        if self.launched.get_or_init(|| launched(kernel)).contains(&var) {
            let of_loop = value.unknowns().filter(|unknown| *unknown >= from);
            of_loop.for_each(|unknown| self.symbols.set_launch(unknown));
        }
    }
}

/// The variables that depend on numbers of the launch alone.
fn launched(kernel: &Kernel) -> BTreeSet<VarId> {
    let is_open = |var: &VarId| match kernel.vars[*var].kind {
        VarKind::Block | VarKind::Each | VarKind::Grid => false,
        VarKind::Dim
        | VarKind::TileParam(_)
        | VarKind::Scalar(_)
        | VarKind::Loop
        | VarKind::Let { .. } => true,
    };
    let mut search = Search {
        kernel,
        written: WrittenTensors::of(kernel),
        vars: kernel.vars.ids().filter(is_open).collect(),
    };
    loop {
        let before = search.vars.len();
        search.visit(&kernel.body, true);
        if search.vars.len() == before {
            return search.vars;
        }
    }
}

/// The variables that are left.
struct Search<'a> {
    kernel: &'a Kernel,
    written: WrittenTensors,
    vars: BTreeSet<VarId>,
}

impl Search<'_> {
    fn is_launched(&self, expr: ExprId) -> bool {
        // What a block agrees on another one need not have.
        let mut is_of_block = |kind: &ExprKind| matches!(kind, ExprKind::Uniform(_));
        !any_subexpr(self.kernel, expr, &mut is_of_block)
            && is_uniform(self.kernel, &self.written, (expr, false), &|var| {
                self.vars.contains(&var)
            })
    }

    fn assign(&mut self, var: VarId, is_launched: bool) {
        if !is_launched {
            self.vars.remove(&var);
        }
    }

    /// Visits statements that all work-items come to equally often, or not.
    fn visit(&mut self, stmts: &[Stmt], control: bool) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init } => {
                    self.assign(*var, control && init.is_none_or(|init| self.is_launched(init)));
                }
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.assign(*var, control && self.is_launched(*value));
                }
                StmtKind::Exchange { var, .. } => self.assign(*var, false),
                StmtKind::Atomic { old, .. } => {
                    old.iter().for_each(|old| self.assign(*old, false));
                }
                StmtKind::Each { body, .. } => self.visit(body, false),
                StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                    let inner = control && range_exprs(range).all(|expr| self.is_launched(expr));
                    self.assign(*var, inner);
                    self.visit(body, inner);
                }
                StmtKind::While { cond, body } => {
                    let inner = control && self.is_launched(*cond);
                    self.visit(body, inner);
                }
                StmtKind::If { cond, then, otherwise } => {
                    let inner = control && self.is_launched(*cond);
                    self.visit(then, inner);
                    self.visit(otherwise, inner);
                }
                StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Store { .. }
                | StmtKind::Assume { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
        }
    }
}
