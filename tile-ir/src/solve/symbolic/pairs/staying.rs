//! Accesses that stay inside their tile, at all sizes, by what holds where they are made.
//!
//! `if tx < d { s[tx + d] }` with `d` in `halving(256)` is inside: `d` is 128 at most. The
//! same systems say it that say of two accesses that they do not meet; asked of kernels
//! without a race, on whose values facts rest.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::walk::begin::walk;
use super::super::walk::{Site, Walk};
use super::instance::{Builder, Meeting, Side};
use crate::check::Uniformity;
use crate::kernel::{ArrayRef, Kernel};
use crate::span::SpanId;

/// Of how many parts of a kernel's effort one access takes one at most.
const ASKED: u64 = 64;

/// Those of some accesses, by place and array, that stay inside wherever they are made.
pub(crate) fn staying(
    kernel: &Kernel,
    uniformity: &Uniformity,
    asked: &BTreeSet<(SpanId, ArrayRef)>,
) -> BTreeSet<(SpanId, ArrayRef)> {
    let walk = walk(kernel, uniformity);
    let stays = |place: &(SpanId, ArrayRef)| {
        let mut sites = walk.sites.iter().filter(|site| (site.span, site.array) == *place);
        sites.clone().next().is_some() && sites.all(|site| walk.stays_inside(site))
    };
    asked.iter().filter(|place| stays(place)).copied().collect()
}

impl Walk<'_> {
    fn stays_inside(&self, site: &Site) -> bool {
        let mut outside = Vec::new();
        for (index, extent) in site.indices.iter().zip(self.kernel.extents(site.array)) {
            let Some(extent) = self.extents_of_arrays.get(extent) else { return false };
            outside.push(Formula::AtLeast(index.negated().plus(-1)));
            outside.push(Formula::le(extent, index));
        }
        outside.iter().all(|outside| {
            let mut builder = Builder::new(self, Meeting::BetweenBlocks);
            builder.made.extend(site.made.iter().map(|old| (*old, Side::First)));
            site.guards.iter().for_each(|guard| builder.assert(Side::First, guard));
            builder.assert(Side::First, outside);
            let systems = builder.systems();
            self.effort.within_part(ASKED, || {
                systems.iter().all(|system| system.has_no_solution(&self.effort))
            })
        })
    }
}
