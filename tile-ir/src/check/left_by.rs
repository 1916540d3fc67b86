//! Conditions by which work-items leave a loop, assumed at its head for the proof.
//!
//! ```text
//! let mut p = 0;
//! for k in 0..n {
//!     if a[k] > 0 { out[t * 64 + p] = a[k]; p += 1; }
//!     if p >= 64 { break; }
//! }
//! ```
//!
//! Whoever is in a round has come by the `if` since `p` was changed last, and has not left: so `p`
//! is below 64 there, or has not been changed at all. The kernel that is written for the proof says
//! so where a round begins:
//!
//! ```text
//! for k in 0..n { if !stopped { assume(!(p >= 64) || p == 0); … } }
//! ```
//!
//! So it is with `if p == 64 { break; }` where `p` goes on by 1, from below 64, and is asked each
//! time: it is below 64 there.
//!
//! # What it rests on
//!
//! - The condition is of the variable and of what the loop does not change, and reads no memory. It
//!   may stand beside others, of which any one leads out.
//! - On each way through the body the condition is asked after the last change of the variable, and
//!   who finds that it holds leaves.
//! - The variable is declared before the loop, in the same list of statements, and not changed
//!   between: in the first round it is what it was declared with.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::agreed::turns::like;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, Type, VarId, VarKind, any_stmt, any_subexpr,
    copy_expr, eval_index,
};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::syntax::Jump;

/// Conditions that are assumed in one kernel.
const MAX_ASSUMED: usize = 8;

/// The kernel in which loops say by what nobody who is in them has left, if it has one.
pub(super) fn assumed(kernel: &Kernel) -> Option<Kernel> {
    let leaves = |jump: Jump| matches!(jump, Jump::Break | Jump::Return);
    let exits = kernel.exits.iter().filter(|exit| leaves(exit.jump));
    let flags: BTreeSet<VarId> = exits.filter_map(|exit| exit.flag).collect();
    if flags.is_empty() {
        return None;
    }
    let mut out = kernel.clone();
    let mut body = std::mem::take(&mut out.body);
    let mut left = MAX_ASSUMED;
    assume_in(&mut out, &flags, &mut body, &mut left);
    out.body = body;
    (left < MAX_ASSUMED).then_some(out)
}

/// Writes the assumptions into the loops among statements, inner ones first.
fn assume_in(kernel: &mut Kernel, flags: &BTreeSet<VarId>, stmts: &mut [Stmt], left: &mut usize) {
    for at in 0..stmts.len() {
        for body in stmts[at].kind.bodies_mut() {
            assume_in(kernel, flags, body, left);
        }
        let (before, from) = stmts.split_at_mut(at);
        let stmt = &mut from[0];
        let known: Vec<Known> = all_of(kernel, flags, before, stmt);
        for known in known.into_iter().take(*left) {
            *left -= 1;
            let assumption = known.assumption(kernel, stmt);
            if let Some(round) = round_of(&mut stmt.kind) {
                round.insert(0, assumption);
            }
        }
    }
}

/// What is so of a variable wherever a round begins.
struct Known {
    /// The condition by which it is left.
    cond: ExprId,
    /// Below what it stays, if that says more.
    below: Option<ExprId>,
    var: VarId,
    /// What the variable was declared with.
    first: ExprId,
}

impl Known {
    /// The statement that says so.
    fn assumption(&self, kernel: &mut Kernel, of: &Stmt) -> Stmt {
        let own = copy_expr(kernel, self.cond, &mut |_, _| None);
        let stays = match self.below {
            None => like(kernel, own, ExprKind::Unary { op: UnaryOp::Not, operand: own }),
            Some(below) => {
                let rhs = copy_expr(kernel, below, &mut |_, _| None);
                let lhs = like(kernel, rhs, ExprKind::Var(self.var));
                like(kernel, own, ExprKind::Compare { op: CompareOp::Lt, lhs, rhs })
            }
        };
        let rhs = copy_expr(kernel, self.first, &mut |_, _| None);
        let lhs = like(kernel, rhs, ExprKind::Var(self.var));
        let is_first = like(kernel, own, ExprKind::Compare { op: CompareOp::Eq, lhs, rhs });
        kernel.exprs[is_first].ty = Type::BOOL;
        let kind = ExprKind::Logic { op: LogicOp::Or, lhs: stays, rhs: is_first };
        let cond = like(kernel, own, kind);
        Stmt { kind: StmtKind::Assume { cond }, span: of.span, head: of.head }
    }
}

/// What a round of a loop does, for those who have not left.
fn round_of(kind: &mut StmtKind) -> Option<&mut Vec<Stmt>> {
    match kind {
        StmtKind::For { body, .. } => match body.as_mut_slice() {
            [Stmt { kind: StmtKind::If { then, otherwise, .. }, .. }] if otherwise.is_empty() => {
                Some(then)
            }
            _ => None,
        },
        StmtKind::While { body, .. } => Some(body),
        _ => None,
    }
}

/// All that is so at the head of a loop, which stands behind these statements.
fn all_of(kernel: &Kernel, flags: &BTreeSet<VarId>, before: &[Stmt], stmt: &Stmt) -> Vec<Known> {
    let (entered, round) = match &stmt.kind {
        StmtKind::For { body, .. } => match body.as_slice() {
            [Stmt { kind: StmtKind::If { cond, then, otherwise }, .. }] if otherwise.is_empty() => {
                (*cond, then.as_slice())
            }
            _ => return Vec::new(),
        },
        StmtKind::While { cond, body } => (*cond, body.as_slice()),
        _ => return Vec::new(),
    };
    let mut clear = BTreeSet::new();
    collect_clear(kernel, entered, &mut clear);
    let mut out: Vec<Known> = Vec::new();
    for flag in clear.intersection(flags) {
        let leaving = Leaving { kernel, flag: *flag };
        let mut conds = Vec::new();
        leaving.collect_conditions(round, &mut conds);
        for cond in conds {
            let is_new = !out.iter().any(|known| kernel.is_same(known.cond, cond));
            if is_new && let Some(known) = leaving.known(before, round, cond) {
                out.push(known);
            }
        }
    }
    out
}

/// Adds the variables that do not hold where a condition does.
fn collect_clear(kernel: &Kernel, cond: ExprId, out: &mut BTreeSet<VarId>) {
    match kernel.exprs[cond].kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            if let ExprKind::Var(var) = kernel.exprs[operand].kind {
                out.insert(var);
            }
        }
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            [lhs, rhs].into_iter().for_each(|part| collect_clear(kernel, part, out));
        }
        _ => {}
    }
}

/// The variable that says that a work-item has left a loop.
struct Leaving<'k> {
    kernel: &'k Kernel,
    flag: VarId,
}

impl Leaving<'_> {
    /// Whether whoever runs statements to their end has left.
    fn is_left_by(&self, stmts: &[Stmt]) -> bool {
        matches!(stmts.last(), Some(Stmt { kind: StmtKind::Assign { var, value }, .. })
            if *var == self.flag
                && self.kernel.exprs[*value].kind == ExprKind::Literal(Literal::Bool(true)))
    }

    /// Whether a condition holds for nobody who has left.
    fn asks_who_stays(&self, cond: ExprId) -> bool {
        let mut clear = BTreeSet::new();
        collect_clear(self.kernel, cond, &mut clear);
        clear.contains(&self.flag)
    }

    /// The conditions of which each alone leads out.
    fn collect_conditions(&self, stmts: &[Stmt], out: &mut Vec<ExprId>) {
        for stmt in stmts {
            if let StmtKind::If { cond, then, .. } = &stmt.kind
                && self.is_left_by(then)
            {
                self.collect_parts(*cond, out);
            }
            for body in stmt.kind.bodies() {
                self.collect_conditions(body, out);
            }
        }
    }

    fn collect_parts(&self, cond: ExprId, out: &mut Vec<ExprId>) {
        match self.kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::Or, lhs, rhs } => {
                [lhs, rhs].into_iter().for_each(|part| self.collect_parts(part, out));
            }
            _ => out.push(cond),
        }
    }

    /// What is so at the head of a round by a condition, if it is asked on every way.
    fn known(&self, before: &[Stmt], round: &[Stmt], cond: ExprId) -> Option<Known> {
        let kernel = self.kernel;
        let mut named = BTreeSet::new();
        let reads = any_subexpr(kernel, cond, &mut |kind| match kind {
            ExprKind::Var(var) => {
                named.insert(*var);
                false
            }
            ExprKind::Load(_) | ExprKind::InBounds { .. } => true,
            _ => false,
        });
        if reads {
            return None;
        }
        let mut changed = named.iter().filter(|var| changes(round, **var));
        let (Some(var), None) = (changed.next().copied(), changed.next()) else { return None };
        let begun = before.iter().rposition(|stmt| changes(std::slice::from_ref(stmt), var))?;
        let StmtKind::Let { init: Some(first), .. } = before[begun].kind else { return None };
        let is_fixed = |of: VarId| match kernel.vars[of].kind {
            VarKind::Let { mutable } => !mutable,
            VarKind::TileParam(_)
            | VarKind::Dim
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each => true,
            VarKind::Loop => false,
        };
        let is_kept = !any_subexpr(kernel, first, &mut |kind| match kind {
            ExprKind::Var(of) => !is_fixed(*of),
            ExprKind::Load(_) | ExprKind::InBounds { .. } => true,
            _ => false,
        });
        let asked = Asked { leaving: self, cond, var, is_missed: Cell::new(false) };
        if !is_kept || !asked.is_asked(round, true) {
            return None;
        }
        let below = self.counted_up_to(cond, var, first);
        let below = below.filter(|_| !asked.is_missed.get() && steps_by_one(kernel, round, var));
        Some(Known { cond, below, var, first })
    }

    /// With what a condition compares a variable that is declared with less.
    fn counted_up_to(&self, cond: ExprId, var: VarId, first: ExprId) -> Option<ExprId> {
        let exprs = &self.kernel.exprs;
        let ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } = exprs[cond].kind else {
            return None;
        };
        let is_it = |side: ExprId| exprs[side].kind == ExprKind::Var(var);
        let end = match (is_it(lhs), is_it(rhs)) {
            (true, false) => rhs,
            (false, true) => lhs,
            _ => return None,
        };
        let [first, last] = [first, end].map(|of| eval_index(self.kernel, of, &|_| None));
        (first? < last?).then_some(end)
    }
}

/// A condition of one variable by which a loop is left.
struct Asked<'a> {
    leaving: &'a Leaving<'a>,
    cond: ExprId,
    var: VarId,
    /// Whether the variable may be changed twice without being asked about between.
    is_missed: Cell<bool>,
}

impl Asked<'_> {
    /// Whether the condition does not hold of whoever comes to the end of statements and has not
    /// left, if that `was` so where they begin.
    fn is_asked(&self, stmts: &[Stmt], was: bool) -> bool {
        stmts.iter().fold(was, |is_asked, stmt| match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                let leads_out = self.leaving.is_left_by(then);
                let is_found = leads_out && self.is_part(*cond);
                let one = leads_out || self.is_asked(then, is_asked);
                let other = self.leaving.asks_who_stays(*cond)
                    || self.leaving.is_left_by(otherwise)
                    || self.is_asked(otherwise, is_asked || is_found);
                one && other
            }
            kind => {
                let is_changed = changes(std::slice::from_ref(stmt), self.var);
                if is_changed && (!is_asked || kind.is_loop()) {
                    self.is_missed.set(true);
                }
                is_asked && !is_changed
            }
        })
    }

    /// Whether a condition holds wherever this one does.
    fn is_part(&self, cond: ExprId) -> bool {
        let kernel = self.leaving.kernel;
        match kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::Or, lhs, rhs } => self.is_part(lhs) || self.is_part(rhs),
            _ => kernel.is_same(cond, self.cond),
        }
    }
}

/// Whether nothing is done to a variable but that 1 is added.
fn steps_by_one(kernel: &Kernel, stmts: &[Stmt], of: VarId) -> bool {
    let is_one = |value: ExprId| kernel.exprs[value].kind == ExprKind::Literal(Literal::Int(1));
    !any_stmt(stmts, &mut |kind| {
        let is_step =
            matches!(kind, StmtKind::Update { op: BinaryOp::Add, value, .. } if is_one(*value));
        !is_step && kind.given_var() == Some(of)
    })
}

/// Whether statements declare or change a variable.
fn changes(stmts: &[Stmt], of: VarId) -> bool {
    any_stmt(stmts, &mut |kind| kind.given_var() == Some(of))
}
