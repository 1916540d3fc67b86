//! The ones of a word, counted by a loop for the proof, where a loop asks for each of its bits.
//!
//! ```text
//! let mut at = scan_sum_exclusive(w.count_ones());
//! for k in 0..32 { if (w >> k) & 1 == 1 { out[at] = k; at += 1; } }
//! ```
//!
//! How many elements the loop stores is a sum of conditions, and so is what the same loop counts.
//! The proof knows the one by the other, but nothing of `count_ones`. So that becomes what a loop
//! of the same rounds and the same condition counts before it:
//!
//! ```text
//! let mut ones = 0;
//! for k in 0..32 { if (w >> k) & 1 == 1 { ones += 1; } }
//! let mut at = scan_sum_exclusive(ones);
//! ```
//!
//! That the loop asks may also be read off a word that it shifts ([`shifted`]), or found by masks:
//! then it is first made to ask for the bits of one word by shifts.
//!
//! # What it rests on
//!
//! - The loop that is put in counts the ones of the very word that `count_ones` is asked of, where
//!   it is asked: the rounds ask for each bit that may be set once, and for none twice ([`asked`]).
//!   The loop that stands in the text gives the form alone; whether its word is still the same,
//!   the proof finds out.
//! - The word is computed before the statement that counts, once, as it was inside of it. Where it
//!   is only computed under a condition, it may read nothing.
//! - The count is at most the number of the word's bits, so it does not leave the word's type.

mod asked;
mod shifted;

use self::asked::{Asked, Count, asked_in};
use super::Exact;
use super::agreed::turns::{like, replace};
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, Var, VarKind,
    copy_expr, reads_memory,
};
use crate::op::{BinaryOp, MathFn};

/// Counts that are written as loops of one statement.
const MAX_COUNTS: usize = 8;

/// The kernel with such counts made by loops, and with each bit asked of one word by a shift; if
/// it has such counts or questions.
pub(super) fn counted(kernel: &Kernel) -> Option<Kernel> {
    let mut out = kernel.clone();
    let mut is_changed = shifted::put_in(&mut out);
    is_changed |= asked::put_shifts(&mut out);
    if kernel.exprs.values().any(|expr| counted_word(&expr.kind).is_some()) {
        let asked = asked_in(&out);
        is_changed |= replace(&mut out, &|kernel, stmt| {
            let counts = counts_in(kernel, &asked, stmt);
            let mut stmts: Vec<Stmt> =
                counts.iter().flat_map(|(at, count)| count.write(kernel, *at, stmt)).collect();
            stmts.push(stmt.clone());
            (!counts.is_empty()).then_some(stmts)
        });
    }
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (is_changed && asks_alike()).then_some(out)
}

/// The word whose ones an expression counts.
fn counted_word(kind: &ExprKind) -> Option<ExprId> {
    match kind {
        ExprKind::Math { func: MathFn::CountOnes, arg } => Some(*arg),
        _ => None,
    }
}

/// The counts that a statement itself makes, the conditions of loops left out.
fn counts_in<'a>(kernel: &Kernel, asked: &'a [Asked], stmt: &Stmt) -> Vec<(ExprId, Count<'a>)> {
    let mut counts = Vec::new();
    if matches!(stmt.kind, StmtKind::While { .. }) {
        return counts;
    }
    let mut open: Vec<(ExprId, bool)> =
        stmt.kind.exprs().into_iter().map(|expr| (expr, true)).collect();
    while let Some((expr, is_certain)) = open.pop() {
        let kind = &kernel.exprs[expr].kind;
        if let Some(word) = counted_word(kind).filter(|_| counts.len() < MAX_COUNTS)
            && (is_certain || !reads_memory(kernel, word))
        {
            let found = asked.iter().find_map(|asked| asked.count(kernel, word));
            counts.extend(found.map(|count| (expr, count)));
        }
        let is_choice = matches!(kind, ExprKind::Select { .. } | ExprKind::Logic { .. });
        open.extend(kind.operands().into_iter().map(|part| (part, is_certain && !is_choice)));
    }
    counts
}

impl Count<'_> {
    /// The loop before a statement, of which the expression `at` becomes what it has counted.
    fn write(&self, kernel: &mut Kernel, at: ExprId, stmt: &Stmt) -> Vec<Stmt> {
        let place = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
        let [word, ones] = [(self.word, false), (at, true)].map(|(of, mutable)| {
            let Expr { ty, span, .. } = kernel.exprs[of];
            let kind = VarKind::Let { mutable };
            let name = if mutable { "ones" } else { "word" }.to_owned();
            kernel.vars.push(Var { name, ty, kind, accumulator: false, span })
        });
        let init = copy_expr(kernel, self.word, &mut |_, _| None);
        let none = like(kernel, at, ExprKind::Literal(Literal::Int(0)));
        let value = like(kernel, at, ExprKind::Literal(Literal::Int(1)));
        let counter = kernel.vars[self.asked.counter].clone();
        let counter = kernel.vars.push(counter);
        let cond = self.condition(kernel, (word, counter));
        let add = StmtKind::Update { place: Place::Var(ones), op: BinaryOp::Add, value };
        let (mut then, mut otherwise) = (vec![place(add)], Vec::new());
        if self.asked.question.holds_of_set != self.of_set {
            std::mem::swap(&mut then, &mut otherwise);
        }
        let body = vec![place(StmtKind::If { cond, then, otherwise })];
        let [start, end] = [self.asked.start, self.asked.end]
            .map(|(bound, number)| like(kernel, bound, ExprKind::Literal(Literal::Int(number))));
        let reversed = self.asked.reversed;
        let range = LoopRange::Between { start, end, step: None, reversed };
        kernel.exprs[at].kind = ExprKind::Var(ones);
        vec![
            place(StmtKind::Let { var: word, init: Some(init) }),
            place(StmtKind::Let { var: ones, init: Some(none) }),
            place(StmtKind::For { var: counter, range, body }),
        ]
    }
}
