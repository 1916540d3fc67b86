//! Counters that are lowered in place: a store that leaves in a cell no more than was found there.
//!
//! ```text
//! barrier;
//! if t == 0 { if n[0] > 64 { n[0] = 64; } }
//! barrier;
//! ```
//!
//! What has been taken stays taken. So if all cells of a tile below what a counter holds have been
//! taken ([`super::packed`]), at any time, then so have all below a smaller number, be it stored at
//! any time later.
//!
//! # What it rests on
//!
//! - The number that is stored is no more than one that was found in the same cell, at numbers. The
//!   conditions around the store, or the value itself, are made of what was found, so it was found
//!   before, by this work-item or by one that has told of it.
//! - It is so each time that the walk comes by the store.
//! - That nobody updates the counter while it is read is the business of the race rules, and so is
//!   it that who finds the stored number comes after it.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Obstacle;
use super::super::walk::{Value, Walk};
use crate::kernel::{Access, AccessKind, ArrayRef, ExprKind};

/// Most numbers found in a cell that a stored one is compared with.
const MAX_FOUND: usize = 4;

impl Walk<'_> {
    /// Notes whether a store in a counter's cell leaves there no more than was found before.
    pub(in super::super) fn note_lowering(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let is_counter = matches!(access.array, ArrayRef::Tile(_))
            && !self.kernel.is_local(access.array)
            && self.counting.contains(&access.array);
        // It is asked where the guards' opposites are: of what tiles hold.
        if !is_counter || !self.recording || self.opposites.is_none() {
            return;
        }
        let lowers = match value {
            Value::Int(value) => self.is_found_at_least((access.array, at), value),
            Value::Cond(_) | Value::Other => false,
        };
        self.counters.note_lowering(access.span, lowers);
    }

    /// Whether a value is no more than one that was found in a cell before.
    fn is_found_at_least(&self, (array, at): (ArrayRef, &[Poly]), value: &Poly) -> bool {
        let is_number = at.iter().all(|index| index.as_constant().is_some());
        if value.is_lost() || !is_number || self.is_in_point() {
            return false;
        }
        let asked = self.made_of(value);
        let found = asked.into_iter().filter(|of| self.is_found_in(*of, (array, at)));
        let here = Formula::All(self.guards.clone());
        found.take(MAX_FOUND).any(|found| {
            let is_more = Formula::lt(&Poly::unknown(found), value);
            self.is_never(&here.clone().and(is_more))
        })
    }

    /// What the conditions around are made of, and a value, which may be an extreme or a choice.
    fn made_of(&self, value: &Poly) -> BTreeSet<Unknown> {
        let mut all: Vec<Unknown> = value.unknowns().collect();
        for unknown in value.unknowns() {
            if let Some((_, lhs, rhs)) = self.function_of(unknown) {
                all.extend(lhs.unknowns().chain(rhs.unknowns()));
            }
            if let Some((_, then, otherwise)) = self.choices.get(&unknown) {
                all.extend(then.unknowns().chain(otherwise.unknowns()));
            }
        }
        self.guards.iter().for_each(|guard| guard.collect_unknowns(&mut all));
        all.into_iter().collect()
    }

    /// Whether an unknown is what a read has found in a cell.
    fn is_found_in(&self, unknown: Unknown, (array, at): (ArrayRef, &[Poly])) -> bool {
        let symbol = self.symbols.get(unknown);
        let Some((span, Obstacle::Load)) = symbol.and_then(|symbol| symbol.obstacle) else {
            return false;
        };
        let mut reads = self.kernel.exprs.values().filter_map(|expr| match &expr.kind {
            ExprKind::Load(access) if expr.span == span => Some(access),
            _ => None,
        });
        let Some(read) = reads.next() else { return false };
        if read.array != array || reads.next().is_some() {
            return false;
        }
        let mut sites = self.sites.iter().filter(|site| site.span == read.span).peekable();
        sites.peek().is_some()
            && sites.all(|site| {
                site.array == array && site.kind == AccessKind::Read && site.indices == at
            })
    }
}
