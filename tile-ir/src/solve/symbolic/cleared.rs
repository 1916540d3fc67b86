//! Tiles of counters whose cells have all been set to 0, by one store or by several that follow
//! each other.
//!
//! `for k in (t..256).step_by(64) { count[k] = 0; }` clears 256 cells: the cell is a number that
//! the work-item and the iteration make ([`super::numbered`]), so each number is one of theirs, and
//! the conditions around hold for whose number a cell has. What was counted before is gone.
//!
//! # What it rests on
//!
//! - Nothing else sets the tile between the stores, or after them, and nothing updates it between
//!   them.
//! - The stores are in the loops around who asks, and maybe in more: these make numbers, or their
//!   first iteration stores.
//! - Coordinates of the block that a cell does not name are those that the conditions around pick,
//!   or 0.
//! - That the stores come before the updates in time is the business of the race rules.

use std::collections::BTreeMap;

use super::formula::Formula;
use super::numbered::Number;
use super::poly::{Poly, Unknown};
use super::symbol::{LoopId, Sharing};
use super::walk::{Value, Walk};
use crate::kernel::{Access, ArrayRef, TileId};

/// A store of 0.
#[derive(Clone, Debug)]
pub(super) struct Clearing {
    at: Vec<Poly>,
    /// The coordinates of who stores, with how many there are of each.
    axes: Vec<(Unknown, Poly)>,
    /// Of those, the ones that the conditions around pick.
    picked: BTreeMap<Unknown, Poly>,
    /// Where one of these holds, it is not made.
    passed: Vec<Formula>,
    loops: Vec<LoopId>,
    /// How many places in the text have set the tile, this one included.
    n_sets: usize,
    /// How many have updated it before.
    n_updates: usize,
}

impl Walk<'_> {
    /// Notes that 0 is stored in a tile's cell.
    pub(super) fn note_cleared(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_counter = self.recording && self.counting.contains(&access.array);
        if !is_counter || *value != Poly::default() || at.iter().any(Poly::is_lost) {
            return;
        }
        let axes = self.axes_of_worker();
        let picked = axes.iter().filter_map(|(axis, _)| Some((*axis, self.fixed_at(*axis)?)));
        let clearing = Clearing {
            at: at.to_vec(),
            picked: picked.collect(),
            axes,
            passed: self.passed_by.clone(),
            loops: self.loops.clone(),
            n_sets: self.counters.n_sets(access.array),
            n_updates: self.counters.n_updates(access.array),
        };
        self.held.cleared.entry(tile).or_default().push(clearing);
    }

    /// How many places in the text had updated a tile when all of its cells were set to 0, in this
    /// iteration of the loops around, where `n_sets` places have set it since the beginning.
    pub(super) fn cleared_before(&mut self, tile: TileId, n_sets: usize) -> Option<usize> {
        let all = self.held.cleared.get(&tile)?.clone();
        let last = all.iter().rposition(|clearing| clearing.n_sets == n_sets)?;
        let n_updates = all[last].n_updates;
        let extents = self.extents(ArrayRef::Tile(tile));
        let cell: Vec<Poly> = extents
            .iter()
            .map(|extent| {
                let symbol = self.symbol(Sharing::Private, Some(0), None);
                self.symbols.add_facts(symbol, Formula::lt(&Poly::unknown(symbol), extent));
                Poly::unknown(symbol)
            })
            .collect();
        let mut left = Vec::new();
        for (n, clearing) in all[..=last].iter().rev().enumerate() {
            if clearing.n_sets + n != n_sets || clearing.n_updates != n_updates {
                break;
            }
            let Some(passed) = self.left_by(clearing, &cell) else { break };
            left.push(passed);
            if self.is_none_here(&[Formula::All(left.clone())]) {
                return Some(n_updates);
            }
        }
        None
    }

    /// Where a store has not been made in a cell.
    fn left_by(&self, clearing: &Clearing, cell: &[Poly]) -> Option<Formula> {
        let inner = clearing.loops.strip_prefix(self.loops.as_slice())?;
        let axes = clearing.axes.iter().map(|(axis, count)| (*axis, Some(count.clone())));
        let rounds = inner.iter().map(|id| {
            let of = &self.all_loops[id.0];
            (of.number, of.length.clone().filter(|_| of.is_whole))
        });
        let coordinates: Vec<(Unknown, Option<Poly>)> = axes.chain(rounds).collect();
        let base = |index: &Poly| index.constant_term();
        let numbers = clearing.at.iter().map(|index| {
            let number = Number::of(&index.plus(-base(index)), &coordinates)?;
            Some((number, base(index)))
        });
        let numbers: Vec<(Number, i128)> = numbers.collect::<Option<_>>()?;
        let cell: Vec<Poly> =
            cell.iter().zip(&numbers).map(|(at, (_, base))| at.plus(-base)).collect();
        let named = |of: Unknown| {
            clearing.at.iter().filter(|index| index.unknowns().any(|own| own == of)).count()
        };
        if coordinates.iter().any(|(of, _)| named(*of) > 1) {
            return None;
        }
        // Who it is of those that the cell does not name.
        let others = |of: Unknown| {
            let is_free = named(of) == 0 && coordinates.iter().any(|(own, _)| *own == of);
            is_free.then(|| clearing.picked.get(&of).cloned().unwrap_or_default())
        };
        let is_told = |of: Unknown| {
            let is_inside = || inner.iter().any(|id| self.symbols.is_inside(of, *id));
            cell.iter().any(|at| at.unknowns().any(|own| own == of))
                || !self.is_private(of) && !is_inside()
        };
        let is_told = |value: &Poly| !value.is_lost() && value.unknowns().all(is_told);
        let outside = numbers.iter().zip(&cell).map(|((number, _), at)| {
            let beyond = number.count.as_ref().map(|count| Formula::le(count, at));
            beyond.into_iter().fold(Formula::lt(at, &Poly::default()), Formula::or)
        });
        let mut left: Vec<Formula> = outside.collect();
        for passed in &clearing.passed {
            let mut passed = passed.clone();
            for ((number, _), at) in numbers.iter().zip(&cell) {
                passed = number.condition_at(&passed, at, &|_, _, _| true)?;
            }
            let passed = passed.replace(&others);
            left.push(passed.is_made_of(&is_told).then_some(passed)?);
        }
        Some(Formula::Any(left).folded())
    }
}
