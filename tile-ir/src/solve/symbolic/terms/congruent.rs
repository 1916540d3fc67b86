//! What one work-item has read at several places: one value, where they are one place.
//!
//! `if s[t] == 0 && s[k] != 0 { s[t] = 1; }`: work-item `k` reads one element twice, and would
//! have to find 0 and not 0 in it. So it does not come by, and nobody writes what all read.
//!
//! # What it rests on
//!
//! - A tensor that is never written has one value at each place, and one outside.
//! - Of a tile, and of a tensor in one iteration of its loops, it is so until the text writes
//!   it ([`super::super::tiles::reread`]), which a work-item sees as long as no other one
//!   writes the element between its two reads. That would be a race with the first of them, so
//!   the first accesses that race have been decided by reads of which it is true; and each
//!   pair that may be the first is asked for.
//!
//! It is asked where a proof has failed without: each pair of places is three cases. Then it
//! is also asked whether the two iterations exist, of which a proof seldom has need: of
//! `for k in 0..n` with `n <= 1` there is no second one.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::instance::{Builder, Meeting, Side};
use super::super::tiles::reread::Version;
use super::super::walk::{Site, Walk};
use crate::kernel::{TensorId, TileId};

/// Most pairs of reads of one side of which it is a case whether they are of one place.
const MAX_PAIRS: usize = 4;

/// Most reads of one side that are compared.
const MAX_READS: usize = 12;

/// What is read, and as it was when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Array<'a> {
    Tensor(TensorId),
    Tile(TileId, Version),
    /// A tensor that is written, after so many writes in the text, in these loops.
    Written(TensorId, usize, &'a [LoopId]),
}

/// A value that was read.
pub(in super::super) struct Read<'a> {
    pub(in super::super) value: Unknown,
    pub(in super::super) array: Array<'a>,
    pub(in super::super) at: Vec<&'a Poly>,
}

impl Walk<'_> {
    /// Whether two accesses are disjoint since what would have to be read at one place on one
    /// side differs, or since there are no iterations in which they would meet.
    pub(in super::super) fn is_disjoint_for_all_reasons(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        let Some(mut builder) = self.colliding([first, second], meeting) else { return true };
        let has_pairs = |side| !builder.same_reads(side).is_empty();
        let has_loops = !first.loops.is_empty() || !second.loops.is_empty();
        if !has_loops && ![Side::First, Side::Second].into_iter().any(has_pairs) {
            return false;
        }
        builder.mention_rounds([first, second]);
        let systems = builder.comparing_reads().systems();
        systems.iter().all(|system| system.has_no_solution(&self.effort))
    }

    /// Whether numbers are found at once for which two accesses meet, for all these reasons.
    pub(in super::super) fn meets_evidently(&self, pair: [&Site; 2], meeting: Meeting<'_>) -> bool {
        let Some(mut builder) = self.colliding(pair, meeting) else { return false };
        builder.mention_rounds(pair);
        let systems = builder.comparing_reads().systems();
        systems.iter().any(|system| system.has_evident_solution())
    }

    /// Where a value was read, of arrays that keep it.
    pub(in super::super) fn reads_of(&self, value: Unknown) -> impl Iterator<Item = Read<'_>> {
        let element = self.elements.get(&value).map(|element| {
            let array = Array::Tensor(element.tensor);
            Read { value, array, at: element.indices.iter().collect() }
        });
        let of_tiles = self.reread.places_of(value).map(move |((tile, version), at)| Read {
            value,
            array: Array::Tile(tile, version),
            at: at.iter().collect(),
        });
        let of_written = self.agreed_loads.place_of(value);
        let of_written = of_written.map(|(tensor, writes, at, loops)| Read {
            value,
            array: Array::Written(*tensor, *writes, loops),
            at: at.iter().collect(),
        });
        element.into_iter().chain(of_tiles).chain(of_written)
    }
}

impl<'a> Builder<'a> {
    /// The pairs of values that one side has read in one array as it was at one time, and
    /// how far apart the places are, by axis: where it may be one place or two.
    fn same_reads(&self, side: Side) -> Vec<([Unknown; 2], Vec<Poly>)> {
        let walk = self.walk;
        let seen = self.seen.iter().filter(|(_, of)| *of == side);
        let reads: Vec<Read<'a>> =
            seen.flat_map(|(symbol, _)| walk.reads_of(*symbol)).take(MAX_READS).collect();
        let pairs = reads.iter().enumerate().flat_map(|(number, one)| {
            let others = &reads[number + 1..];
            others.iter().filter(|other| other.array == one.array).map(move |other| (one, other))
        });
        let gaps = pairs.map(|(one, other)| {
            let axes = one.at.iter().zip(&other.at);
            ([one.value, other.value], axes.map(|(one, other)| one.sub(other)).collect::<Vec<_>>())
        });
        let may_be_one = |gaps: &[Poly]| {
            gaps.iter().all(|gap| !gap.is_lost() && gap.as_constant().is_none_or(|gap| gap == 0))
        };
        gaps.filter(|(_, gaps)| may_be_one(gaps)).take(MAX_PAIRS).collect()
    }

    /// Adds that what each side reads at one place is one value.
    pub(in super::super) fn join_own_reads(&mut self) {
        for side in [Side::First, Side::Second] {
            for ([one, other], gaps) in self.same_reads(side) {
                let mut cases: Vec<Formula> = Vec::new();
                for gap in gaps.iter().filter(|gap| gap.as_constant().is_none()) {
                    let gap = self.on(side, gap);
                    cases.push(Formula::AtLeast(gap.plus(-1)));
                    cases.push(Formula::AtLeast(gap.negated().plus(-1)));
                }
                let [one, other] = [one, other].map(|of| self.on(side, &Poly::unknown(of)));
                cases.push(Formula::eq(&one, &other));
                self.system.assert(&Formula::Any(cases).replace(&|_| None));
            }
        }
    }
}
