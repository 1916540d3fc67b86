//! Rounds of a `while` that numbers alone count.
//!
//! `let mut d = 32; while d > 0 { …; mid /= 2; d /= 2; }` has six rounds, of which each leaves one
//! number in `d` and half of what was there in `mid`. Where rounds are walked one by one, so are
//! those, as long as the condition is known to hold; from there on it is any loop.

use super::super::algebra::formula::Formula;
use super::super::tiles::arrays::MAX_WALKED_IN_CASE;
use super::super::walk::Walk;
use crate::kernel::{ExprId, Stmt};

impl Walk<'_> {
    /// Walks the first rounds of a `while`; gives whether there is none beyond them.
    pub(super) fn peeled(&mut self, cond: ExprId, body: &[Stmt]) -> bool {
        if !self.case.walks_rounds || !self.carries_numbers(body) {
            return false;
        }
        let outer = self.walked;
        let room = MAX_WALKED_IN_CASE / outer.max(1);
        for _ in 0..room {
            let asked = self.condition(cond);
            // Either may be weaker than it should be: what never holds says which one it is.
            let is_never = |formula: &Formula| formula.replace(&|_| None) == Formula::False;
            if is_never(&asked.yes) {
                return true;
            }
            if !is_never(&asked.no) {
                return false;
            }
            self.walked = outer * room;
            self.stmts(body);
            self.walked = outer;
        }
        false
    }
}
