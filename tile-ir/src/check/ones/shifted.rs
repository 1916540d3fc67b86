//! Words that a loop shifts by one place in each round.
//!
//! ```text
//! for k in 0..32 { if x & 1 == 1 { … } x >>= 1; }
//! while x != 0 { if x & 1 == 1 { … } x >>= 1; j += 1; }
//! ```
//!
//! In round `k` such a word is what it was before the loop, shifted by `k`. So that stands where
//! the loop names it, and the loop asks for the bits of one word:
//!
//! ```text
//! let word = x;
//! for k in 0..32 { if (word >> k) & 1 == 1 { … } x >>= 1; }
//! for k in 0..32 { if (word >> k) & 1 == 1 { … } if word >> k != 0 { j += 1; } x >>= 1; }
//! ```
//!
//! # What it rests on
//!
//! - Nothing but the loop's last statement changes the word in it, and there are no more rounds
//!   than the word has bits: so no shift by the counter begins again from 0.
//! - A loop that runs while a word without a sign is not 0, and moves it down, has at most as many
//!   rounds as the word has bits. In rounds beyond the last nothing is done: the word is 0 there, so
//!   that its lowest bit is not set, and it stays 0; what else the loop does is asked for.

use crate::check::agreed::turns::{declare, like};
use crate::check::interval::literal;
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, Type, Var, VarId,
    VarKind, any_stmt, applied, copy_expr, eval_index, var_uses_in,
};
use crate::op::{BinaryOp, CompareOp};

/// Writes what is left of such words in each round; whether there is one.
pub(super) fn put_in(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let is_changed = list(kernel, &mut body);
    kernel.body = body;
    is_changed
}

fn list(kernel: &mut Kernel, stmts: &mut Vec<Stmt>) -> bool {
    let mut is_changed = false;
    let mut out: Vec<Stmt> = Vec::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        for body in stmt.kind.bodies_mut() {
            is_changed |= list(kernel, body);
        }
        match Shifting::of(kernel, &stmt) {
            Some(shifting) => {
                let written = shifting.write(kernel, &out, &stmt);
                out.extend(written);
                is_changed = true;
            }
            None => out.push(stmt),
        }
    }
    *stmts = out;
    is_changed
}

/// A loop that shifts a word.
struct Shifting {
    word: VarId,
    op: BinaryOp,
    /// The counter and the bounds, of a counted loop.
    counted: Option<(VarId, LoopRange)>,
    /// What a round does before it shifts, and that.
    before: Vec<Stmt>,
    shift: Stmt,
}

impl Shifting {
    fn of(kernel: &Kernel, stmt: &Stmt) -> Option<Self> {
        let (body, cond, counted) = match &stmt.kind {
            StmtKind::For { var, range, body } => (body, None, Some((*var, *range))),
            StmtKind::While { cond, body } => (body, Some(*cond), None),
            _ => return None,
        };
        if body.iter().any(Stmt::has_meeting) {
            return None;
        }
        let shifts = |stmt: &Stmt| match stmt.kind {
            StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                let (op, by) = applied(kernel, &stmt.kind, var)?;
                let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                (is_shift && literal(kernel, by) == Some(1)).then_some((var, op))
            }
            _ => None,
        };
        let (at, (word, op)) =
            body.iter().enumerate().rev().find_map(|(at, stmt)| Some((at, shifts(stmt)?)))?;
        let mut before = body.clone();
        let shift = before.remove(at);
        // What stands behind it asks for nothing of it.
        let is_free = before[at..].iter().all(|stmt| !names(kernel, stmt, word));
        let is_kept = !before.iter().any(|stmt| sets(stmt, word));
        let (min, max) = kernel.vars[word].ty.integer_range()?;
        let width = i128::from((max - min).count_ones());
        let is_short = match (counted, cond) {
            (Some((_, range)), _) => rounds(kernel, range).is_some_and(|end| end <= width),
            (None, Some(cond)) => {
                let has_names = before.iter().any(|stmt| {
                    matches!(
                        stmt.kind,
                        StmtKind::Let { .. }
                            | StmtKind::LetArray { .. }
                            | StmtKind::Atomic { old: Some(_), .. }
                    )
                });
                min == 0 && op == BinaryOp::Shr && !has_names && asks_any(kernel, cond, word)
            }
            (None, None) => false,
        };
        (is_free && is_kept && is_short).then_some(Self { word, op, counted, before, shift })
    }

    /// The loop, and what stands before it, behind other statements of its list.
    fn write(self, kernel: &mut Kernel, earlier: &[Stmt], stmt: &Stmt) -> Vec<Stmt> {
        let Self { word, op, counted, before, shift } = self;
        let place = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
        let Var { ty, span, ref name, .. } = kernel.vars[word];
        let name = name.clone();
        let kind = VarKind::Let { mutable: false };
        let first = kernel.vars.push(Var { name, ty, kind, accumulator: false, span });
        let init = match begun(kernel, earlier, word) {
            Some(init) => copy_expr(kernel, init, &mut |_, _| None),
            None => kernel.exprs.push(Expr { kind: ExprKind::Var(word), ty, span }),
        };
        let (counter, range, mut body) = match counted {
            Some((counter, range)) => (counter, range, before),
            None => {
                let counter = declare(kernel, word, "round".to_owned(), true);
                let (min, max) = ty.integer_range().unwrap_or_default();
                let [start, end] = [0, (max - min).count_ones().into()].map(|number| {
                    let kind = ExprKind::Literal(Literal::Int(number));
                    kernel.exprs.push(Expr { kind, ty: Type::Index, span })
                });
                let range = LoopRange::Between { start, end, step: None, reversed: false };
                let guarded = |stmt| guarded(kernel, stmt, word);
                (counter, range, before.into_iter().map(guarded).collect())
            }
        };
        put_shifted(kernel, &body, word, &mut |kernel, at| {
            let Expr { span, .. } = kernel.exprs[at];
            let lhs = like(kernel, at, ExprKind::Var(first));
            let kind = ExprKind::Var(counter);
            let by = kernel.exprs.push(Expr { kind, ty: Type::Index, span });
            let rhs = like(kernel, at, ExprKind::Cast(by));
            kernel.exprs[at].kind = ExprKind::Binary { op, lhs, rhs };
        });
        body.push(shift);
        vec![
            place(StmtKind::Let { var: first, init: Some(init) }),
            place(StmtKind::For { var: counter, range, body }),
        ]
    }
}

/// How many rounds a loop has that counts from 0.
fn rounds(kernel: &Kernel, range: LoopRange) -> Option<i128> {
    let LoopRange::Between { start, end, step: None, reversed: false } = range else { return None };
    let is_first = literal(kernel, start) == Some(0);
    is_first.then(|| eval_index(kernel, end, &|_| None))?
}

/// A statement under the condition that a word is not 0, unless it is under one that says so.
fn guarded(kernel: &mut Kernel, stmt: Stmt, word: VarId) -> Stmt {
    if let StmtKind::If { cond, otherwise, .. } = &stmt.kind
        && otherwise.is_empty()
        && asks_lowest(kernel, *cond, word)
    {
        return stmt;
    }
    let Var { ty, span, .. } = kernel.vars[word];
    let lhs = kernel.exprs.push(Expr { kind: ExprKind::Var(word), ty, span });
    let rhs = kernel.exprs.push(Expr { kind: ExprKind::Literal(Literal::Int(0)), ty, span });
    let kind = ExprKind::Compare { op: CompareOp::Ne, lhs, rhs };
    let cond = kernel.exprs.push(Expr { kind, ty: Type::BOOL, span });
    let (span, head) = (stmt.span, stmt.head);
    Stmt { kind: StmtKind::If { cond, then: vec![stmt], otherwise: Vec::new() }, span, head }
}

/// Whether a condition is that some bit of a word without a sign is set.
fn asks_any(kernel: &Kernel, cond: ExprId, word: VarId) -> bool {
    let is_word = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(word);
    match kernel.exprs[cond].kind {
        ExprKind::Compare { op: CompareOp::Ne | CompareOp::Gt, lhs, rhs } => {
            is_word(lhs) && literal(kernel, rhs) == Some(0)
        }
        _ => false,
    }
}

/// Whether a condition is that its lowest bit is.
fn asks_lowest(kernel: &Kernel, cond: ExprId, word: VarId) -> bool {
    let is_word = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(word);
    let is_lowest = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
            is_word(lhs) && literal(kernel, rhs) == Some(1)
        }
        _ => false,
    };
    match kernel.exprs[cond].kind {
        ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } => {
            is_lowest(lhs) && literal(kernel, rhs) == Some(1)
        }
        ExprKind::Compare { op: CompareOp::Ne | CompareOp::Gt, lhs, rhs } => {
            is_lowest(lhs) && literal(kernel, rhs) == Some(0)
        }
        _ => false,
    }
}

/// What a variable was declared as, if that is the last that statements do to it, and a number or
/// the name of one that does not change.
fn begun(kernel: &Kernel, stmts: &[Stmt], var: VarId) -> Option<ExprId> {
    let StmtKind::Let { init: Some(init), .. } = stmts.iter().rfind(|stmt| sets(stmt, var))?.kind
    else {
        return None;
    };
    let is_fixed = match kernel.exprs[init].kind {
        ExprKind::Literal(Literal::Int(_)) => true,
        ExprKind::Var(of) => kernel.vars[of].kind != VarKind::Let { mutable: true },
        _ => false,
    };
    is_fixed.then_some(init)
}

/// Whether a statement, or one inside of it, gives a variable a value.
fn sets(stmt: &Stmt, var: VarId) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| kind.given_var() == Some(var))
}

/// Whether a statement, or one inside of it, names a variable.
fn names(kernel: &Kernel, stmt: &Stmt, var: VarId) -> bool {
    sets(stmt, var)
        || any_stmt(std::slice::from_ref(stmt), &mut |kind| {
            kind.exprs().into_iter().any(|expr| var_uses_in(kernel, expr, var) > 0)
        })
}

/// Changes each use of a variable in statements.
fn put_shifted(
    kernel: &mut Kernel,
    stmts: &[Stmt],
    var: VarId,
    change: &mut dyn FnMut(&mut Kernel, ExprId),
) {
    for stmt in stmts {
        let mut open = stmt.kind.exprs();
        while let Some(expr) = open.pop() {
            match kernel.exprs[expr].kind {
                ExprKind::Var(of) if of == var => change(kernel, expr),
                ref kind => open.extend(kind.operands()),
            }
        }
        stmt.kind.bodies().into_iter().for_each(|body| put_shifted(kernel, body, var, change));
    }
}
