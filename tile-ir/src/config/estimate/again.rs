//! What of an access comes from memory, and what from caches because it was read before.

use super::access::{Traffic, distance};
use super::count::{Domain, Walk};
use crate::kernel::{Access, ExprId, VarId};

/// What bytes count that come from L2, of those that come from memory: an H200's L2 gives
/// some 5.5 TB/s, its memory 4.2.
pub(super) const CACHED_PART: f64 = 0.75;
/// The same of those of touched sectors that are not wanted, which neighbours want.
const UNWANTED_PART: f64 = 0.5;
/// The same of those that the block has read before, where an SM's blocks read no more than
/// its L1 holds; about so many threads are on an SM.
const NEAR_PART: f64 = 0.1;
pub(super) const L1_BYTES: f64 = 196_608.0;
const RESIDENT_THREADS: f64 = 2048.0;

impl Walk<'_, '_> {
    /// Of bytes that a block reads or writes of a tensor, what they count that come from
    /// memory: what is new to all blocks; what others have brought to L2; what the block
    /// itself has read before and finds in L1, if it is not too much; and what belongs to
    /// touched sectors and is not wanted. `fresh` is the part that its threads do not have
    /// in registers, and the least that this is in any layout.
    pub(super) fn memory_bytes(
        &mut self,
        access: &Access,
        domain: Domain<'_>,
        is_write: bool,
        traffic: Traffic,
        fresh: [f64; 2],
    ) -> f64 {
        let (sizes, array) = (self.sizes, access.array);
        let of_block = sizes.elems(array) * sizes.elem_bytes(array) / sizes.blocks().max(1.0);
        let (once, seen_part) = match is_write {
            true => (1.0, 0.0),
            false => (1.0 / self.overlap(access, domain), self.seen_part(access, domain)),
        };
        let seen = self.cost.touched.entry((array, is_write)).or_default();
        let new_of = |moved: f64| (of_block - seen.new_bytes).clamp(0.0, moved);
        let bytes_if = |fresh: f64, is_near: bool| {
            let (wanted, moved) = (fresh * traffic.wanted, fresh * traffic.moved);
            let new = new_of(moved);
            let rest = (wanted - new).max(0.0);
            let unseen = 1.0 - seen_part;
            let first_seen = traffic.wanted * once * unseen;
            let near = if is_near { rest - (first_seen - new).clamp(0.0, rest) } else { 0.0 };
            new + NEAR_PART * near
                + CACHED_PART * (rest - near)
                + UNWANTED_PART * unseen * (moved - wanted.max(new))
        };
        let resident = RESIDENT_THREADS / f64::from(sizes.config.threads);
        let is_near = traffic.wanted * once * resident <= L1_BYTES;
        let [fresh, least_fresh] = fresh;
        let (bytes, least_bytes) = (bytes_if(fresh, is_near), bytes_if(least_fresh, true));
        seen.new_bytes += new_of(fresh * traffic.moved);
        seen.indices.push(access.indices.clone());
        self.cost.least_bytes += least_bytes;
        bytes
    }

    /// How often the block reads an element in the iterations of its loops, where these
    /// shift what its points read.
    fn overlap(&self, access: &Access, domain: Domain<'_>) -> f64 {
        self.met_again(access, &|index| self.points_along(index, domain), |_| true)
    }

    /// The part of an access's elements that an access before it has read: all where the
    /// indices are alike, and where they differ by a number, what that leaves in common.
    fn seen_part(&self, access: &Access, domain: Domain<'_>) -> f64 {
        let Some(seen) = self.cost.touched.get(&(access.array, false)) else { return 0.0 };
        let within = self.within_stretch(access, domain);
        let points_of = |(number, &index): (usize, &ExprId)| match number < within {
            true => self.points_along(index, domain),
            // What lies between two elements has come with them.
            false => f64::INFINITY,
        };
        let points: Vec<f64> = access.indices.iter().enumerate().map(points_of).collect();
        let in_common = seen.indices.iter().map(|it| self.sizes.in_common(it, access, &points));
        in_common.fold(0.0, f64::max)
    }

    /// The number of the first index within what lies between an access's neighbouring
    /// elements, where these are a few elements apart: the channels of a pixel.
    fn within_stretch(&self, access: &Access, domain: Domain<'_>) -> usize {
        let is_near = |(var, _): &&(VarId, f64)| distance(self.sizes, access, *var).is_some();
        let along = self.axes(domain).iter().find(is_near).and_then(|(var, _)| {
            let is_along = |&index: &ExprId| self.sizes.is_unit_stride(index, *var);
            access.indices.iter().rposition(is_along)
        });
        along.map_or(access.indices.len(), |along| along + 1)
    }

    /// Points of the domain along an index.
    fn points_along(&self, index: ExprId, domain: Domain<'_>) -> f64 {
        let axes = self.axes(domain).iter();
        let along = axes.filter(|(var, _)| self.sizes.is_unit_stride(index, *var));
        along.map(|(_, extent)| extent).product::<f64>().max(1.0)
    }
}
