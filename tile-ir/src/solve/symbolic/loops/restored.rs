//! Variables to which every iteration of a loop gives back what they were before it.
//!
//! `while w < 100 { …; w += 128; } w = t;` leaves to the next round what the first one
//! found. Where an assignment in a body has the value of before the loop, the variable is
//! taken to have it at the head of every iteration, until one is seen that need not leave
//! it so: what is true before the first, and after each at whose head it was, is always.
//! What the value is made of is older than the loop, so it is the same number in all of
//! them. Who leaves in the middle has it too, or is not told from who goes on.

use super::super::algebra::poly::Poly;
use super::super::walk::{Value, Walk};
use crate::kernel::{ExprId, Stmt, StmtKind, VarId, reads_memory};

impl Walk<'_> {
    /// Whether some statement assigns `var` what it is now, before the loop.
    pub(in super::super) fn may_restore(
        &mut self,
        var: VarId,
        first: &Poly,
        body: &[Stmt],
    ) -> bool {
        if first.is_lost() || !self.is_followed(var) {
            return false;
        }
        let mut assigned = Vec::new();
        collect_values(body, var, &mut assigned);
        let recording = std::mem::replace(&mut self.recording, false);
        let is_first =
            |value: &ExprId| !reads_memory(self.kernel, *value) && self.index(*value) == *first;
        let found = assigned.iter().any(is_first);
        self.recording = recording;
        found
    }

    /// Whether an iteration that leaves `end` gives a variable back what it was.
    pub(in super::super) fn is_restored(end: Option<&Value>, first: &Poly) -> bool {
        matches!(end, Some(Value::Int(end)) if end == first)
    }
}

/// Collects what statements assign to a variable, at any depth.
fn collect_values(stmts: &[Stmt], var: VarId, out: &mut Vec<ExprId>) {
    for stmt in stmts {
        if let StmtKind::Assign { var: assigned, value } = &stmt.kind
            && *assigned == var
        {
            out.push(*value);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_values(body, var, out));
    }
}
