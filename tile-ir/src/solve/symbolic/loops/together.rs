//! Variables that a loop changes side by side.
//!
//! `while r < n && rank < end { …; rank += 1; r += 1; }`, in a loop over windows of which
//! `end` is one after the other: how far either comes in a window is not known, but both come
//! as far, so that `rank - r` is what it was before. Of variables that differ at the end of an
//! iteration by as much as at its head, it is so at the head of each one, and after the last.
//!
//! `while a < n && b < m { if x[a] < y[b] { a += 1; } else { b += 1; } o += 1; }` raises one of two
//! variables in each round: together they are what they were before, and as many as there were
//! rounds. So it is of two to which, whatever a condition says, a round adds one number in all, or
//! between which it adds one number to what they differ by.
//!
//! What they are is taken as it is, wrapped where it may wrap: two values that wrap differ by
//! something else, unless it is known that none does.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Value, Walk};
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
    ) -> Vec<Together> {
        let changed = changed.get(..MAX_VARIABLES).unwrap_or(changed);
        let mut out = Vec::new();
        for (n, one) in changed.iter().enumerate() {
            for other in &changed[..n] {
                let by = one.first.sub(&other.first);
                let at_head = one.head.sub(&other.head);
                let at_end = one.end.sub(&other.end);
                if by.is_lost() || at_end.is_lost() || at_head != at_end {
                    self.note_both(id, one, other);
                    continue;
                }
                self.symbols.add_facts(one.at, Formula::eq(&at_head, &by));
                out.push(Together { pair: [one.var, other.var], by });
            }
        }
        out
    }

    /// Notes by how much each round raises the sum of two variables, or their difference.
    fn note_both(&mut self, id: LoopId, one: &Changed, other: &Changed) {
        let number = Poly::unknown(self.all_loops[id.0].number);
        for sign in [1, -1] {
            let both = |one: &Poly, other: &Poly| one.add(&other.scaled(sign));
            let (first, head) = (both(&one.first, &other.first), both(&one.head, &other.head));
            let added = both(&one.end, &other.end).sub(&head);
            if let Some(by) = self.added_either_way(&added).filter(|_| !first.is_lost()) {
                let known = Formula::eq(&head, &first.add(&number.scaled(by)));
                self.symbols.add_facts(one.at, known);
            }
        }
    }

    /// The number that a value is, be it a choice made of choices by one condition. Of conditions
    /// of which a part is not known it cannot be said that they are one.
    fn added_either_way(&self, value: &Poly) -> Option<i128> {
        if let Some(number) = value.as_constant() {
            return Some(number);
        }
        let parts = |of: Unknown| self.choices.get(&of);
        let (cond, ..) = value.unknowns().find_map(parts)?;
        let arm = |is_then: bool| {
            let chosen = value.replace(&|of| {
                let (_, then, otherwise) = parts(of).filter(|(own, ..)| own == cond)?;
                Some(if is_then { then.clone() } else { otherwise.clone() })
            });
            chosen.as_constant()
        };
        arm(true).filter(|number| arm(false) == Some(*number))
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
