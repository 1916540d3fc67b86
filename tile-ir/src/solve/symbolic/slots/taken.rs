//! Places that work-items take one by one from counters that were set to prefix sums.
//!
//! A counting sort counts `atomic count[d] += 1`, has the counts scanned into `base`
//! ([`super::super::scans::prefix`]), and then each work-item takes its place, `let at =
//! atomic base[d] += 1`. It lies within the run of its `d`, since each cell is raised by
//! nobody else than those who were counted there: each takes no more from the cell than it has
//! added. So it is where places are taken from behind, `atomic end[d] -= 1` of sums that
//! include what was counted.
//!
//! In loops a work-item takes in a round what it has counted in the round of the same number of
//! another one ([`super::recounted`]).

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::tiles::rows::Cell;
use super::super::walk::Walk;
use super::counters::Way;
use super::recounted::Translation;
use super::takers::Takers;
use crate::kernel::{Access, ArrayRef, Stmt, StmtKind, TileId};
use crate::span::SpanId;

/// An update that raises a cell of a tile.
#[derive(Clone, Debug)]
pub(in super::super) struct Raise {
    pub(in super::super) tile: TileId,
    at: Cell,
    pub(in super::super) span: SpanId,
    pub(in super::super) by: Poly,
    pub(in super::super) loops: Vec<LoopId>,
    /// Hold for each who makes it.
    pub(in super::super) guards: Vec<Formula>,
    /// What holds of a work-item that has not made it.
    pub(in super::super) unmade: Vec<Formula>,
    /// Who makes it, if that is known.
    takers: Option<Takers>,
    /// How many places in the text that set the tile come before it.
    pub(in super::super) n_sets: usize,
}

impl Walk<'_> {
    /// The updates that raise cells of a tile.
    pub(in super::super) fn raises_in(&self, tile: TileId) -> Vec<Raise> {
        self.held.raises.iter().filter(|raise| raise.tile == tile).cloned().collect()
    }

    /// Notes that an update raises a cell.
    pub(in super::super) fn note_raise(&mut self, access: &Access, at: &[Poly], by: &Poly) {
        let ArrayRef::Tile(tile) = access.array else { return };
        let Some(cell) = self.cell_at(tile, at) else { return };
        if !self.recording || self.is_in_point() {
            return;
        }
        let takers = self.takers(at, by);
        let passed = self.passed_by.iter().filter(|passed| **passed != Formula::False);
        self.held.raises.push(Raise {
            tile,
            at: cell,
            span: access.span,
            by: by.clone(),
            loops: self.loops.clone(),
            guards: self.guards.clone(),
            unmade: passed.cloned().collect(),
            takers,
            n_sets: self.counters.n_sets(access.array),
        });
    }

    /// Adds between which sums the old value of an update lies that raises a cell of
    /// prefix sums, or lowers one that has in it what was counted there; `sums` are those that the
    /// tile held before updates.
    pub(in super::super) fn bound_taken(
        &mut self,
        (access, at): (&Access, &[Poly]),
        (old, by, way): (Unknown, &Poly, Way),
        sums: Option<usize>,
    ) {
        let (ArrayRef::Tile(tile), Some(scan)) = (access.array, sums) else { return };
        let Some(at) = self.cell_at(tile, at) else { return };
        let mut updates = BTreeSet::new();
        collect_updates(&self.kernel.body, tile, &mut updates);
        let counted: Vec<SpanId> = self.prefixes.raises(scan).iter().map(|r| r.span).collect();
        updates.retain(|span| !counted.contains(span));
        if updates != BTreeSet::from([access.span]) || self.is_in_point() {
            return;
        }
        let ty = crate::kernel::Type::Scalar(self.kernel.element_type(access.array));
        let Some((sum, count)) = self.prefix_at(scan, &at, (ty, access.span)) else { return };
        let old = (old, Poly::unknown(old));
        let is_of_way = match way {
            Way::Up => !self.prefixes.is_inclusive(scan),
            Way::Down => self.prefixes.has_own(scan),
        };
        let around = self.prefixes.loops(scan);
        if !is_of_way || !self.loops.starts_with(around) {
            return;
        }
        let raises = self.prefixes.raises(scan).iter().enumerate();
        // One text that is walked again takes once more, and who counted once has taken.
        let mut open = raises.filter(|(n, _)| !self.prefixes.taken.contains(&(scan, *n)));
        let made = match self.recording {
            true => open.find(|(_, raise)| self.has_made(raise, (&at, by), around)),
            false => None,
        };
        let made = made.map(|(n, _)| n);
        let is_counted = made.is_some_and(|n| self.prefixes.taken.insert((scan, n)));
        // One that goes down for who was not counted may come to its type's end.
        if way == Way::Down && !is_counted {
            return;
        }
        // The counter has gone on since, by no more than was counted.
        let [since, until] = match way {
            Way::Up => [Formula::le(&sum, &old.1), Formula::le(&old.1.add(by), &sum.add(&count))],
            Way::Down => [Formula::le(&old.1, &sum), Formula::le(&sum.sub(&count), &old.1.sub(by))],
        };
        let mut facts = vec![since];
        facts.extend(is_counted.then_some(until));
        let mut cases = self.prefixes.outside(scan, &at);
        cases.push(Formula::All(facts));
        self.bound_old(old.0, Formula::Any(cases).replace(&|_| None));
    }

    /// Whether who comes by here has made such an update of the cell before: in the same
    /// iterations of the loops `around` both, and of as many loops inside of these in the ones
    /// of the same numbers.
    fn has_made(&self, raise: &Raise, (at, by): (&Cell, &Poly), around: &[LoopId]) -> bool {
        let inner = raise.loops.strip_prefix(around).zip(self.loops.strip_prefix(around));
        let Some((earlier, own)) = inner.filter(|(earlier, own)| earlier.len() == own.len()) else {
            return false;
        };
        let rounds = Translation::of(self, earlier, own);
        let is_same = || {
            let translated = raise.at.coordinates().map(|index| rounds.of_poly(index));
            translated.eq(at.coordinates().map(|index| Some(index.clone())))
                && rounds.of_poly(&raise.by).as_ref() == Some(by)
        };
        // Where a round of these numbers is not made, or not by who comes by.
        let beyond = earlier.iter().map(|id| {
            let earlier = &self.all_loops[id.0];
            if earlier.is_left { None } else { earlier.beyond.clone() }
        });
        let unmade = raise.unmade.iter().cloned().map(Some).chain(beyond);
        let here = Formula::All(self.guards.clone());
        let is_made = |unmade: Option<Formula>| {
            let unmade = unmade.and_then(|unmade| rounds.of_formula(&unmade));
            unmade.is_some_and(|unmade| self.is_never(&here.clone().and(unmade)))
        };
        is_same() && unmade.into_iter().all(is_made)
    }
}

impl Raise {
    /// Who makes it, if that is known.
    pub(in super::super) fn takers(&self) -> Option<&Takers> {
        self.takers.as_ref()
    }
}

/// The places in the text that update a tile.
fn collect_updates(stmts: &[Stmt], tile: TileId, out: &mut BTreeSet<SpanId>) {
    for stmt in stmts {
        if let StmtKind::Atomic { access, .. } = &stmt.kind
            && access.array == ArrayRef::Tile(tile)
        {
            out.insert(access.span);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_updates(body, tile, out));
    }
}
