//! Sums over all cells of a tile, as the work-item has them that has come to the end of a scan.
//!
//! Of sums that have in each cell what was counted there, the last cell's is the sum of all; of
//! others it is with that. So is what the work-item of the last cell has from the scan that it has
//! stored there, and what a work-item behind that one has: `if lane == 31 { let old = atomic n[0] +=
//! v; base[0] = old; }` of an inclusive `v` takes as many places as all have counted.
//!
//! # What it rests on
//!
//! - It is the sum for who is here, which the conditions around say: the work-item's number, or the
//!   cell that is read.
//! - The sums are those of a scan ([`super::prefix`]), in the same iterations of the loops around,
//!   or are stored as such later in these.
//! - What others add beyond the last cell makes the sum no less.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::walk::Walk;
use super::prefix::Read;
use crate::exchange::WARP_ITEMS;

/// What a work-item has from a scan that need not have been stored yet.
#[derive(Clone, Debug)]
pub(in super::super) struct Ended {
    /// The sum, as its block has it.
    total: Unknown,
    /// What each work-item adds.
    of: Poly,
    /// The number of the last one whose value is in the sum.
    last: Poly,
    loops: Vec<LoopId>,
}

/// The last lane of a warp.
const LAST_LANE: i128 = WARP_ITEMS as i128 - 1;

impl Walk<'_> {
    /// The scan of which a value is the sum over all cells, for who is here: as it is read in the
    /// last one.
    pub(super) fn scan_ended(&self, value: &Poly) -> Option<usize> {
        let reads = value.unknowns().filter_map(|of| Some((of, self.prefixes.reads.get(&of)?)));
        let mut ended = reads.filter(|(sum, read)| self.is_end(value, *sum, read));
        ended.next().map(|(_, read)| read.scan)
    }

    fn is_end(&self, value: &Poly, sum: Unknown, read: &Read) -> bool {
        let scan = &self.prefixes.scans[read.scan];
        let is_here = scan.loops == self.loops && scan.unless.is_empty() && !scan.is_backward;
        let sum = Poly::unknown(sum);
        let all = if scan.is_inclusive { sum } else { sum.add(&read.count) };
        let (Some(at), [from, end]) = (read.at.alone(), &scan.cells) else { return false };
        is_here
            && !scan.is_from_nothing
            && self.is_never(&Formula::le(end, from))
            && self.is_one_here(value, &all)
            && self.is_one_here(at, &end.plus(-1))
    }

    /// The same, where it is what the work-item that is here has from a scan that was stored.
    pub(super) fn scan_ended_by(&mut self, value: &Poly) -> Option<usize> {
        if let Some(scan) = self.scan_ended(value) {
            return Some(scan);
        }
        let (of, last) = self.added_up_to_here(value)?;
        let mut scans = (0..self.prefixes.scans.len()).rev();
        scans.find(|scan| self.has_added_all(*scan, (&of, &last), &self.loops))
    }

    /// As all of the block know it, the sum of what all work-items up to the one that is here have
    /// added in a scan of the block, or of the first warp.
    pub(super) fn total_up_to_here(&mut self, value: &Poly) -> Option<Poly> {
        let (of, last) = self.added_up_to_here(value)?;
        let total = self.symbol(Sharing::Block, Some(0), None);
        let loops = self.loops.clone();
        self.prefixes.ended.push(Ended { total, of, last, loops });
        Some(Poly::unknown(total))
    }

    /// What each work-item adds in a scan, and the number of the one that is here, where that has
    /// such a sum.
    fn added_up_to_here(&mut self, value: &Poly) -> Option<(Poly, Poly)> {
        let item = self.picked_item()?;
        let exact = self.before_any_wrapping(value).unwrap_or_else(|| value.clone());
        if let Some(all) = self.added_by_first_warp(&exact) {
            return self.is_one_here(value, &exact).then(|| (all, Poly::constant(LAST_LANE)));
        }
        let (of, is_inclusive) = self.scan_of_block(&exact)?;
        let (number, _) = self.number_of_items()?;
        let last = number.replace(&|unknown| item.get(&unknown).cloned());
        let is_sum = is_inclusive && self.is_one_here(value, &exact);
        (is_sum && self.is_agreed(&last)).then_some((of, last))
    }

    /// Notes of sums up to a work-item that they are over all cells of a scan.
    pub(super) fn note_ended(&mut self, scan: usize) {
        let is_over_all = |of: &&Ended| self.has_added_all(scan, (&of.of, &of.last), &of.loops);
        let ended = self.prefixes.ended.iter().filter(is_over_all);
        let totals: Vec<Unknown> = ended.map(|ended| ended.total).collect();
        totals.into_iter().for_each(|total| self.note_total(total, scan));
    }

    /// Whether what all up to this work-item have added is all that was counted in a scan's cells.
    fn has_added_all(&self, scan: usize, (of, last): (&Poly, &Poly), loops: &[LoopId]) -> bool {
        let scan = &self.prefixes.scans[scan];
        let is_it = scan.added.as_ref() == Some(of) && scan.loops == loops;
        is_it && self.is_never(&Formula::lt(&last.plus(1), &scan.cells[1]))
    }
}
