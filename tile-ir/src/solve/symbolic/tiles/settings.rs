//! Stores in the cells of counters of what is one number for the whole block, and what a counter
//! was set to before it goes on.
//!
//! `for k in (t..256).step_by(64) { n[k] = 0; }`, `load n[k] = 0;` or `if t == 0 { n[0] = T as u32;
//! n[1] = T as u32; }`: whichever of the stores was the last one in a cell, the cell holds that
//! number, and what updates have added or taken since.
//!
//! # What it rests on
//!
//! - The stores that may be of the cell since one that is, or since several of which one is
//!   ([`super::reached`]), are all of this number. They come before in the text, so also in time, or
//!   else race.
//! - Of loops around the update, they are in the outer ones. Whether the inner ones set the cell too,
//!   be it further on in the text, is known when all has been walked
//!   ([`super::super::slots::renewed`]). Of these the outermost one may set the cells of all rounds
//!   but the first.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::slots::takers::Start;
use super::super::walk::{Value, Walk};
use super::reached::Reach;
use crate::kernel::{Access, ArrayRef};

/// Most stores that are looked at.
const MAX_STORES: usize = 8;

/// A store of one number for the whole block.
#[derive(Clone, Debug)]
pub(in super::super) struct Setting {
    pub(in super::super) reach: Reach,
    pub(in super::super) value: Poly,
    /// How many places in the text have set the tile, this one included.
    pub(in super::super) n_sets: usize,
    /// How many have updated it before.
    pub(in super::super) n_updates: usize,
}

impl Walk<'_> {
    /// Notes what is stored in a tile's cell.
    pub(in super::super) fn note_setting(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_counter = self.recording && self.counting.contains(&access.array);
        if !is_counter || !self.is_of_block_alone(value) || at.iter().any(Poly::is_lost) {
            return;
        }
        let axes = self.axes_of_worker();
        let picked = axes.iter().filter_map(|(axis, _)| Some((*axis, self.fixed_at(*axis)?)));
        let setting = Setting {
            reach: Reach {
                at: at.to_vec(),
                picked: picked.collect(),
                axes,
                passed: self.passed_by.clone(),
                loops: self.loops.clone(),
            },
            value: value.clone(),
            n_sets: self.counters.n_sets(access.array),
            n_updates: self.counters.n_updates(access.array),
        };
        self.held.settings.entry(tile).or_default().push(setting);
    }

    /// Whether a value is one number for a block, wherever it is asked for.
    pub(in super::super) fn is_of_block_alone(&self, value: &Poly) -> bool {
        let is_of_grid = |unknown: Unknown| self.grid.iter().any(|(_, axis)| *axis == unknown);
        let is_one = |of: Unknown| is_of_grid(of) || self.is_one_for_launch(of);
        !value.is_lost() && value.unknowns().all(is_one)
    }

    /// What a counter that is updated here was set to.
    pub(in super::super) fn start_of(&mut self, array: ArrayRef, at: &[Poly]) -> Option<Start> {
        let ArrayRef::Tile(tile) = array else { return None };
        if !self.recording || self.is_in_point() {
            return None;
        }
        let settings = self.held.settings.get(&tile)?.clone();
        let (mut depth, mut missed) = (self.loops.len(), Vec::new());
        let mut value: Option<&Poly> = None;
        for n_sets in self.counters.sets_of(array, at).into_iter().take(MAX_STORES) {
            let setting = settings.iter().find(|setting| setting.n_sets == n_sets)?;
            if *value.get_or_insert(&setting.value) != &setting.value {
                return None;
            }
            let both = setting.reach.loops.iter().zip(&self.loops);
            depth = depth.min(both.take_while(|(one, other)| one == other).count());
            let Some(passed) = self.missed_by(&setting.reach, at, &self.loops[..depth]) else {
                continue;
            };
            missed.push(passed);
            if self.is_none_here(&[Formula::All(missed.clone())]) {
                return Some(self.start_from(value?, depth, false));
            }
        }
        let outermost = self.loops.get(depth..depth + 1)?;
        missed.extend(self.first(outermost));
        let is_at_first = self.is_none_here(&[Formula::All(missed)]);
        is_at_first.then_some(self.start_from(value?, depth, true))
    }

    /// That a counter was set to this in so many of the loops around.
    fn start_from(&self, value: &Poly, depth: usize, is_at_first: bool) -> Start {
        let (loops, inner) = self.loops.split_at(depth);
        Start { value: value.clone(), loops: loops.to_vec(), inner: inner.to_vec(), is_at_first }
    }
}
