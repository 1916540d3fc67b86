//! Rows of a tensor that threads go along, each by itself.

use super::SECTOR_BYTES;
use super::access::{Traffic, distance};
use super::count::Walk;
use super::sizes::Sizes;
use crate::kernel::{Access, VarId};
use crate::program::MAX_ACCESS_BYTES;

/// Elements along a row that one request of a thread brings, where a loop goes along it: the
/// compiler repeats the loop's body so often, and knows that rows are aligned. Measured: a
/// product of a matrix and a vector by one thread a row takes 0.77 ms with it and 1.62
/// where half of a warp's threads are idle, which keeps the repeated bodies apart.
const WALKED_ELEMS: f64 = 4.0;
/// Items of a thread up to which it does so: the body of a product without a tile, with 128
/// of them, stands in the text once.
const WALKED_ITEMS: f64 = 16.0;
/// Consecutive items of a thread that go along lines of their own where each item has places
/// that follow the one's before: with fewer, lanes share lines. Measured: merges of runs of
/// keys, eight an item, take 17 ms with two items in a row and 64 with four.
const STEPPED_RUN: f64 = 4.0;

/// How an item comes from one of its elements in a row to the next.
#[derive(Clone, Copy)]
pub(super) enum Course {
    /// A loop goes along them.
    Walked,
    /// The item sets its place anew again and again.
    Stepped,
    /// It has its place there and no other.
    Placed,
}

impl Sizes<'_> {
    pub(super) fn course(&self, access: &Access) -> Course {
        match access.indices.last() {
            Some(&last) if self.text.is_walked(last) => Course::Walked,
            Some(&last) if self.text.is_stepped(self.kernel, last) => Course::Stepped,
            Some(_) | None => Course::Placed,
        }
    }

    /// The iterations of a loop along an access's rows whose elements come together.
    pub(super) fn walked_at_once(&self, access: &Access) -> f64 {
        let bytes = self.elem_bytes(access.array);
        let is_of_data = |&last| self.text.origins.is_of_data(last);
        let has_place = !access.indices.last().is_some_and(is_of_data);
        let is_whole = self.busy_threads() == f64::from(self.config.threads);
        let is_short = self.items_per_thread() <= WALKED_ITEMS;
        let is_aligned = || self.rows_are_aligned(access.array, bytes);
        match self.course(access) {
            Course::Walked if has_place && is_whole && is_short && is_aligned() => {
                WALKED_ELEMS.min(f64::from(MAX_ACCESS_BYTES) / bytes)
            }
            Course::Walked | Course::Stepped | Course::Placed => 1.0,
        }
    }
}

impl Walk<'_, '_> {
    /// Notes the lines of a tensor along which the threads go that read it, each by itself and
    /// so many bytes at a time.
    pub(super) fn note_walk(&mut self, access: &Access, step_bytes: f64, traffic: Traffic) {
        let sizes = self.sizes;
        let is_along = |(var, _): &(VarId, f64)| distance(sizes, access, *var).is_some();
        if sizes.block.iter().any(is_along) {
            return;
        }
        let lines = match sizes.course(access) {
            Course::Walked => 1.0,
            Course::Stepped => (sizes.run_of_last_axis() / STEPPED_RUN).min(1.0),
            Course::Placed => return,
        };
        self.cost.walked_lines += lines * sizes.busy_threads();
        let lost = traffic.wanted * SECTOR_BYTES / step_bytes - traffic.moved;
        self.cost.lost_bytes += lost.max(0.0);
    }
}
