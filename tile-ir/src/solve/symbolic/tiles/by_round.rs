//! Cells that rounds of a loop have stored in, of which it is known after the loop what one of them
//! has left there.
//!
//! `for d in 0..4 { let m = ballot(digit == d); if digit == d { rank = …; } if lane == 0 { c[d, w] =
//! m.count_ones(); } }` leaves in each row of cells what a round has counted. Behind the loop a
//! work-item knows of `rank` that some round has set it ([`super::super::loops`]), and
//! so of one cell what that round has stored there. In a cell that is asked for later is that, or it
//! is another one.
//!
//! # What it rests on
//!
//! - Each round stores in the tile once, by one place of the text that is in no loop within, and in
//!   cells in which no other round does: its number is a digit of the index.
//! - The loop makes all of its rounds, and the round is one of them.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;
use super::cells::count_writes;
use super::held::{Content, Held};
use super::rows::Cell;
use crate::kernel::{Access, ArrayRef, Stmt, TileId, Type};

/// What a round that is walked for itself has stored.
#[derive(Clone, Debug)]
pub(in super::super) struct RoundStore {
    tile: TileId,
    held: Held,
    /// The innermost loop around, if no other round of it stores in this cell.
    of: Option<LoopId>,
}

/// What is known of rounds that are walked for themselves.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct RoundStores {
    /// What the one that is walked has stored, if that is asked for.
    pub(in super::super) walked: Option<Vec<RoundStore>>,
    /// What is known when the loop has ended.
    kept: BTreeMap<TileId, Vec<Held>>,
}

impl Walk<'_> {
    /// Notes what a round that is walked for itself stores in a cell.
    pub(super) fn note_stored_in_round(&mut self, access: &Access, at: &[Poly], value: &Poly) {
        let ArrayRef::Tile(tile) = access.array else { return };
        let ty = Type::Scalar(self.kernel.element_type(access.array));
        let is_as_it_is = self.before_wrapping(value, ty).is_none_or(|exact| exact == *value);
        let Some(cell) = self.cell_at(tile, at).filter(|cell| !cell.is_lost()) else { return };
        if value.is_lost() || !is_as_it_is || self.is_in_point() {
            return;
        }
        let unless = self.warp_unless(&cell, value).unwrap_or_else(|| self.passed_by.clone());
        let of = self.loops.last().copied().filter(|id| self.tells_round(at, *id));
        let held = Held { at: cell, value: value.clone(), is_exact: true, unless };
        if let Some(walked) = &mut self.held.rounds.walked {
            walked.push(RoundStore { tile, held, of });
        }
    }

    /// Whether the indices of a cell tell in which round of a loop it is stored in.
    fn tells_round(&self, at: &[Poly], id: LoopId) -> bool {
        let number = self.all_loops[id.0].number;
        at.iter().any(|index| {
            let factor = index.cofactor(number);
            let rest = index.sub(&factor.mul(&Poly::unknown(number)));
            let is_steady = |of: &Poly| {
                self.is_agreed(of) && !of.unknowns().any(|of| self.symbols.is_inside(of, id))
            };
            if rest.is_lost() || rest.mentions(number) || !is_steady(&factor) {
                return false;
            }
            let is_digit = || {
                let none = Formula::lt(&rest, &Poly::default());
                self.is_none_here(&[none, Formula::le(&factor, &rest)])
            };
            factor.as_constant().is_some_and(|factor| factor != 0) && is_steady(&rest) || is_digit()
        })
    }

    /// Notes what a round of a loop with this body has stored, once in its tile.
    pub(in super::super) fn keep_of_round(
        &mut self,
        (id, body): (LoopId, &[Stmt]),
        stores: &[RoundStore],
    ) {
        let mut writes = BTreeMap::new();
        count_writes(body, &mut writes);
        for store in stores {
            let is_once = stores.iter().filter(|other| other.tile == store.tile).count() == 1
                && writes.get(&store.tile) == Some(&1);
            if is_once && store.of == Some(id) {
                let kept = self.held.rounds.kept.entry(store.tile).or_default();
                kept.push(store.held.clone());
            }
        }
    }

    /// The loop has ended of which rounds are known.
    pub(super) fn hold_of_rounds(&mut self) {
        for (tile, held) in std::mem::take(&mut self.held.rounds.kept) {
            self.held.contents.entry(tile).or_insert(Content::Held(held));
        }
    }

    /// What holds of the value of a cell by what is known of another one that a round has stored
    /// in, if that is one of the same row of indices.
    pub(in super::super) fn told_by_round(
        &self,
        (at, value): (&Cell, &Poly),
        held: &Held,
    ) -> Option<Formula> {
        let is_of_round = |of: Unknown| self.is_left_by_loop(of);
        if !held.is_exact || !held.at.coordinates().flat_map(Poly::unknowns).any(is_of_round) {
            return None;
        }
        let both = held.at.coordinates().zip(at.coordinates());
        let mut cases: Vec<Formula> = both.map(|(one, other)| Formula::ne(one, other)).collect();
        cases.extend(held.unless.iter().cloned());
        cases.push(Formula::eq(value, &held.value));
        Some(Formula::Any(cases).replace(&|_| None))
    }
}
