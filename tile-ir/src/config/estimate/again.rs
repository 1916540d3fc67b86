//! What of an access comes from memory, and what from caches because it was read before.

use super::access::Traffic;
use super::count::{Domain, Walk};
use crate::kernel::{Access, ExprId};

/// What bytes count that come from L2, of those that come from memory: an H200's L2 gives
/// some 5.5 TB/s, its memory 4.2.
const CACHED_PART: f64 = 0.75;
/// The same of those of touched sectors that are not wanted, which neighbours want.
const UNWANTED_PART: f64 = 0.5;
/// The same of those that the block has read before, where an SM's blocks read no more than
/// its L1 holds; about so many threads are on an SM.
const NEAR_PART: f64 = 0.1;
const L1_BYTES: f64 = 196_608.0;
const RESIDENT_THREADS: f64 = 2048.0;

impl Walk<'_, '_> {
    /// Of bytes that a block reads or writes of a tensor, what they count that come from
    /// memory: what is new to all blocks; what others have brought to L2; what the block
    /// itself has read before and finds in L1, if it is not too much; and what belongs to
    /// touched sectors and is not wanted.
    pub(super) fn memory_bytes(
        &mut self,
        access: &Access,
        domain: Domain<'_>,
        is_write: bool,
        traffic: Traffic,
    ) -> f64 {
        let (sizes, array) = (self.sizes, access.array);
        let Traffic { wanted, moved } = traffic;
        let of_block = sizes.elems(array) * sizes.elem_bytes(array) / sizes.blocks().max(1.0);
        let (once, seen_part) = match is_write {
            true => (1.0, 0.0),
            false => (1.0 / self.overlap(access, domain), self.seen_part(access, domain)),
        };
        let seen = self.cost.touched.entry((array, is_write)).or_default();
        let new = (of_block - seen.new_bytes).clamp(0.0, moved);
        seen.new_bytes += new;
        seen.indices.push(access.indices.clone());
        let rest = (wanted - new).max(0.0);
        let resident = RESIDENT_THREADS / f64::from(sizes.config.threads);
        let again = rest.min(wanted * (1.0 - once * (1.0 - seen_part)));
        let is_near = wanted * once * resident <= L1_BYTES;
        let bytes_if = |is_near: bool| {
            let near = if is_near { again } else { 0.0 };
            new + NEAR_PART * near
                + CACHED_PART * (rest - near)
                + UNWANTED_PART * (moved - wanted.max(new))
        };
        self.cost.least_bytes += bytes_if(true);
        bytes_if(is_near)
    }

    /// How often the block reads an element in the iterations of its loops, where these
    /// shift what its points read.
    fn overlap(&self, access: &Access, domain: Domain<'_>) -> f64 {
        let of_index = |&index: &ExprId| {
            let points = self.points_along(index, domain);
            let loops = self.loops.iter().filter(|(var, _)| self.sizes.is_unit_stride(index, *var));
            let shifts: f64 = loops.map(|(_, trips)| trips.max(1.0)).product();
            points * shifts / (points + shifts - 1.0)
        };
        access.indices.iter().map(of_index).product()
    }

    /// The part of an access's elements that an access before it has read: all where the
    /// indices are alike, and where they differ by a number, what that leaves in common.
    fn seen_part(&self, access: &Access, domain: Domain<'_>) -> f64 {
        let Some(seen) = self.cost.touched.get(&(access.array, false)) else { return 0.0 };
        let in_common = |one: ExprId, other: ExprId| {
            let apart = self.sizes.distance_of_alike(one, other);
            apart.map_or(0.0, |apart| (1.0 - apart / self.points_along(other, domain)).max(0.0))
        };
        let of_known = |known: &Vec<ExprId>| -> f64 {
            known.iter().zip(&access.indices).map(|(one, other)| in_common(*one, *other)).product()
        };
        seen.indices.iter().map(of_known).fold(0.0, f64::max)
    }

    /// Points of the domain along an index.
    fn points_along(&self, index: ExprId, domain: Domain<'_>) -> f64 {
        let axes = self.axes(domain).iter();
        let along = axes.filter(|(var, _)| self.sizes.is_unit_stride(index, *var));
        along.map(|(_, extent)| extent).product::<f64>().max(1.0)
    }
}
