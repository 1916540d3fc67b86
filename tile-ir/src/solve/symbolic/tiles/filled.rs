//! Tiles that work-items fill by several stores, or under conditions: halos, whose cells at the
//! border one work-item fills beside its own.
//!
//! After `if i < N { s[t + 1] = a[i]; if i > 0 && t == 0 { s[0] = a[i - 1]; } }` a work-item with
//! `0 < i < N` finds `a[i - 1]` in `s[t]`, until somebody writes the tile again: either
//! work-item `t - 1` has stored it, or there is none, and the other store has.
//!
//! Of each store there is one work-item that can have made it in a given cell
//! ([`super::tabled`]), here also one that the conditions around pick, or that numbers tell of
//! which places are made ([`super::storer`]). A cell holds what one of
//! these stores gives if who reads it knows
//!
//! - that one of them has been made there, and
//! - that no other one has been made there with another value.
//!
//! Then it is of no matter which was the last. Of a store of one of two values, as in
//! `s[t] = if i < N { a[i] } else { 0 };`, each value is a store of its own.
//!
//! # What it rests on
//!
//! - The stores follow each other in the text, and nothing else writes the tile between them.
//!   All of the block run the same iterations of the loops around, and nobody leaves them; who
//!   reads a cell does so in the same ones.
//! - What a store gives is a formula of the coordinates, of what the block agrees on, and of
//!   elements of tensors that are never written. It has a value for any integers, so also for
//!   coordinates that no work-item has.
//! - What is found holds for those who come by, so it is found anew at each place.
//! - Who reads what another one stores has a barrier in between, or it is a race: the first one
//!   of a kernel is found by the pair of the store and that read.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::reread::Version;
use super::storer::Storer;
use super::tabled::not_within;
use crate::kernel::{Access, ArrayRef, ExprId, TileId};
use crate::span::SpanId;

/// Most stores of a tile that are told apart.
const MAX_STORES: usize = 4;

/// A store that one work-item at most makes in a cell.
#[derive(Clone, Debug)]
struct Fill {
    /// The axes of who stores, with their extents.
    axes: Vec<(Unknown, Poly, Storer)>,
    /// The cell.
    at: Vec<Poly>,
    value: Poly,
    /// Where the store is made.
    guards: Vec<Cond>,
}

/// The stores that have filled tiles.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Fills(BTreeMap<TileId, (Version, Vec<Fill>)>);

/// A store at a cell, as who reads the cell sees it.
struct Seen {
    /// Whether it has been made there.
    is_made: Cond,
    value: Option<Poly>,
}

impl Walk<'_> {
    /// Notes what has been stored in a tile's cell, where it tells who has.
    pub(in super::super) fn note_filled(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_single = self.recording && self.walked == 1 && self.are_of_whole_block(&self.loops);
        if !is_single || self.kernel.is_local(access.array) {
            return;
        }
        let fills = self.fills((at, access.span), value);
        let (before, now) = (self.version_before_last(tile), self.version(tile));
        if fills.is_empty() {
            return;
        }
        let (version, known) = self.held.fills.0.entry(tile).or_default();
        if Some(*version) != before {
            known.clear();
        }
        *version = now;
        known.extend(fills);
    }

    /// A store, if one work-item at most makes it in a cell: one of each value that conditions
    /// choose between.
    fn fills(&mut self, place: (&[Poly], SpanId), value: &Poly) -> Vec<Fill> {
        let Some(whole) = self.fill(place, value) else { return Vec::new() };
        let mut fills = vec![whole];
        while fills.len() < MAX_STORES {
            let chosen = |fill: &Fill| single(&fill.value).and_then(|of| self.choices.get(&of));
            let Some(at) = fills.iter().position(|fill| chosen(fill).is_some()) else { break };
            let whole = fills.remove(at);
            let Some((cond, then, otherwise)) = chosen(&whole).cloned() else { break };
            for (cond, value) in [(cond.clone(), then), (cond.negated(), otherwise)] {
                let guards = whole.guards.iter().cloned().chain([cond]).collect();
                fills.push(Fill { guards, value, ..whole.clone() });
            }
        }
        fills
    }

    fn fill(&mut self, (at, span): (&[Poly], SpanId), value: &Poly) -> Option<Fill> {
        if value.is_lost() || at.iter().any(Poly::is_lost) {
            return None;
        }
        let worker = self.axes_of_worker();
        let storers = self.storers(at, &worker, span)?;
        let axes = worker.into_iter().zip(storers);
        let axes: Vec<_> = axes.map(|((axis, extent), of)| (axis, extent, of)).collect();
        if axes.is_empty() {
            return None;
        }
        let guards = self.guards.iter().zip(&self.passed_by);
        let guards = guards.map(|(yes, no)| Cond { yes: yes.clone(), no: no.clone() }).collect();
        Some(Fill { axes, at: at.to_vec(), value: value.clone(), guards })
    }

    /// Whether all work-items of a block have one value, also of loops that have ended.
    pub(in super::super) fn is_agreed_now(&self, value: &Poly) -> bool {
        self.is_agreed(value) && !value.unknowns().any(|unknown| self.is_left_by_loop(unknown))
    }

    /// What a cell of a tile holds that was filled by stores of one formula.
    pub(in super::super) fn filled(&mut self, tile: TileId, at: &[Poly]) -> Option<Value> {
        let now = self.version(tile);
        let (_, fills) = self.held.fills.0.get(&tile).filter(|(version, _)| *version == now)?;
        if !self.recording || fills.len() > MAX_STORES || at.iter().any(Poly::is_lost) {
            return None;
        }
        let seen: Vec<Seen> = fills.clone().iter().map(|fill| self.seen(fill, at)).collect();
        let extents: Vec<ExprId> = self.kernel.extents(ArrayRef::Tile(tile)).to_vec();
        let extents: Vec<Poly> = extents.into_iter().map(|extent| self.index(extent)).collect();
        let mut outside = at.iter().zip(&extents).flat_map(|(at, extent)| not_within(at, extent));
        let is_unmade = Formula::All(seen.iter().map(|seen| seen.is_made.no.clone()).collect());
        if !self.is_none_here(&[is_unmade.folded()]) || !outside.all(|of| self.is_none_here(&[of]))
        {
            return None;
        }
        let values = (0..seen.len()).filter_map(|of| Some((of, seen[of].value.as_ref()?)));
        let mut values = values.filter(|(of, value)| {
            let others = seen.iter().enumerate().filter(|(other, _)| other != of);
            others.into_iter().all(|(_, other)| self.agrees(other, value))
        });
        match values.next() {
            Some((_, value)) => Some(Value::Int(value.clone())),
            None => self.chosen_of(seen),
        }
    }

    /// The same of stores of which one is made, but it is not known here which one.
    fn chosen_of(&mut self, mut seen: Vec<Seen>) -> Option<Value> {
        for (at, one) in seen.iter().enumerate() {
            let both = |other: &Seen| one.is_made.yes.clone().and(other.is_made.yes.clone());
            if !seen[..at].iter().all(|other| self.is_none_here(&[both(other)])) {
                return None;
            }
        }
        let mut value = Value::Int(seen.pop()?.value?);
        for store in seen.into_iter().rev() {
            value = self.either(&store.is_made, Value::Int(store.value?), value, false)?;
        }
        Some(value)
    }

    /// Whether no work-item stores in a cell by the store here, at this place.
    pub(super) fn is_stored_by_nobody(
        &mut self,
        (at, span): (&[Poly], SpanId),
        cell: &[Poly],
    ) -> bool {
        let Some(fill) = self.fill((at, span), &Poly::default()) else { return false };
        let is_made = self.seen(&fill, cell).is_made.yes;
        self.is_never(&is_made)
    }

    /// Whether a store has not been made with another value than this, as who comes by knows.
    fn agrees(&self, store: &Seen, value: &Poly) -> bool {
        let differs = match &store.value {
            Some(own) => self.differ(own, value),
            None => Formula::Unknown,
        };
        differs == Formula::False || self.is_none_here(&[store.is_made.yes.clone().and(differs)])
    }

    /// A store as who reads a cell sees it.
    fn seen(&mut self, fill: &Fill, at: &[Poly]) -> Seen {
        let mut who = BTreeMap::new();
        let mut is_made = Cond { yes: Formula::True, no: Formula::False };
        for (axis, extent, place) in &fill.axes {
            let place = self.storer_at(place, at);
            let [below, beyond] = not_within(&place, extent);
            let (yes, no) = (Formula::within(&place, extent), below.or(beyond));
            is_made = is_made.and(Cond { yes, no });
            who.insert(*axis, place);
        }
        for (own, index) in fill.at.iter().zip(at) {
            let own = self.relayed_to_reader(own, &who, false).unwrap_or_else(Poly::lost);
            is_made =
                is_made.and(Cond { yes: Formula::eq(&own, index), no: Formula::ne(&own, index) });
        }
        for guard in &fill.guards {
            is_made = is_made.and(Cond {
                yes: self.condition_for_reader(&guard.yes, &who),
                no: self.condition_for_reader(&guard.no, &who),
            });
        }
        let is_made =
            Cond { yes: is_made.yes.replace(&|_| None), no: is_made.no.replace(&|_| None) };
        Seen { is_made, value: self.relayed_to_reader(&fill.value, &who, false) }
    }

    /// That two values differ: of two elements of a tensor their places must.
    fn differ(&self, one: &Poly, other: &Poly) -> Formula {
        let gap = one.sub(other);
        let places = match gap.terms() {
            [(first, factor), (second, opposite)] if *factor == -opposite => {
                let element = |of: &[Unknown]| match of {
                    [of] => self.elements.get(of),
                    _ => None,
                };
                element(first.as_slice()).zip(element(second.as_slice()))
            }
            _ => None,
        };
        match places {
            Some((first, second)) if first.tensor == second.tensor => {
                let places = first.indices.iter().zip(&second.indices);
                Formula::Any(places.map(|(first, second)| self.differ(first, second)).collect())
                    .folded()
            }
            _ => Formula::ne(one, other).replace(&|_| None),
        }
    }
}
