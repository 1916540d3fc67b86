//! Variables that a loop changes side by side.
//!
//! `while r < n && rank < end { …; rank += 1; r += 1; }`, in a loop over windows of which
//! `end` is one after the other: how far either comes in a window is not known, but both come
//! as far, so that `rank - r` is what it was before. Of variables that differ at the end of an
//! iteration by as much as at its head, it is so at the head of each one, and after the last.
//!
//! `while a < n && b < m { if x[a] < y[b] { a += 1; } else { b += 1; } o += 1; }` raises one of two
//! variables in each round: together they are what they were before, and as many as there were
//! rounds ([`super::raised`]).
//!
//! What they are is taken as it is, wrapped where it may wrap: two values that wrap differ by
//! something else, unless it is known that none does.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Value, Walk};
use super::raised::Raised;
use crate::kernel::VarId;

/// Most variables of one loop that are compared with each other.
const MAX_VARIABLES: usize = 8;

/// A variable that a loop changes: before the loop, at the head of an iteration, and at its
/// end.
pub(in super::super) struct Changed {
    pub(in super::super) var: VarId,
    pub(in super::super) first: Poly,
    pub(in super::super) head: Poly,
    /// Its symbol at the head.
    pub(in super::super) at: Unknown,
    pub(in super::super) end: Poly,
}

/// Two variables, and by how much they differ.
pub(in super::super) struct Together {
    pair: [VarId; 2],
    by: Poly,
}

impl Walk<'_> {
    /// Notes which of the variables that a loop changes keep their distance, and which go on by
    /// one number together.
    pub(in super::super) fn note_together(
        &mut self,
        id: LoopId,
        changed: &[Changed],
        goes_on: Option<&Formula>,
    ) -> (Vec<Together>, Vec<Raised>) {
        let changed = changed.get(..MAX_VARIABLES).unwrap_or(changed);
        let (mut out, mut raised) = (Vec::new(), Vec::new());
        for (n, one) in changed.iter().enumerate() {
            for other in &changed[..n] {
                let by = one.first.sub(&other.first);
                let at_head = one.head.sub(&other.head);
                let at_end = one.end.sub(&other.end);
                if by.is_lost() || at_end.is_lost() || at_head != at_end {
                    raised.extend(self.note_both(id, [one, other], goes_on));
                    continue;
                }
                self.symbols.add_facts(one.at, Formula::eq(&at_head, &by));
                out.push(Together { pair: [one.var, other.var], by });
            }
        }
        (out, raised)
    }

    /// Adds that they keep it to the end.
    pub(in super::super) fn leave_together(&mut self, together: &[Together]) {
        for Together { pair, by } in together {
            let values = pair.map(|var| match self.env.get(&var) {
                Some(Value::Int(value)) => value.clone(),
                Some(Value::Cond(_) | Value::Other) | None => Poly::lost(),
            });
            let apart = values[0].sub(&values[1]);
            if apart.is_lost() {
                continue;
            }
            if let Some(symbol) = values[0].unknowns().max() {
                self.symbols.add_facts(symbol, Formula::eq(&apart, by));
            }
        }
    }
}
