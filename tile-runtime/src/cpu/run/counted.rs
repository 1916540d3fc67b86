//! Operations of a frame that count what warps do.

use super::access::Outside;
use super::frame::Frame;
use super::shadow::Space;
use super::warp::WARP;
use crate::cpu::code::{Access, ArrayPlace, Slot, TileKind, Width};

impl Frame<'_> {
    /// Counts the requests of an access.
    pub(super) fn count_touch(
        &mut self,
        width: Width,
        access: &Access,
        site: usize,
        mask: Option<Slot>,
    ) -> Result<(), Outside> {
        let space = match &self.kernel.arrays[access.array].place {
            ArrayPlace::Buffer { is_constant: false, .. } => Space::Global,
            ArrayPlace::Buffer { is_constant: true, .. } => Space::Constant,
            ArrayPlace::Tile { kind: TileKind::Shared, .. } => Space::Shared,
            // Registers, as far as can be known.
            ArrayPlace::Tile { kind: TileKind::Local | TileKind::Kept, .. } => return Ok(()),
        };
        // Elements are of at most eight bytes.
        let bytes = access.elem_bytes as u32;
        let n = self.resolve_lanes(width, access)?;
        let address = |offset: i64| offset * i64::from(bytes);
        if width == Width::One {
            if !self.addresses.inside[0] {
                return Ok(());
            }
            let addresses = [Some(address(self.addresses.offsets[0]))];
            let groups = self.active_of_warps(mask);
            let warps = groups.iter().filter(|active| **active > 0).count() as u64;
            let request = (warps, groups.iter().sum());
            if let Some(tally) = self.tally() {
                tally.request(site, space, &addresses, bytes, request);
            }
            return Ok(());
        }
        for first in (0..n).step_by(WARP) {
            let lanes = first..(first + WARP).min(n);
            let of_lane = |lane: usize| {
                self.addresses.inside[lane].then(|| address(self.addresses.offsets[lane]))
            };
            let addresses: Vec<Option<i64>> = lanes.map(of_lane).collect();
            let elems = addresses.iter().flatten().count() as u64;
            if elems == 0 {
                continue;
            }
            if let Some(tally) = self.tally() {
                tally.request(site, space, &addresses, bytes, (1, elems));
            }
        }
        Ok(())
    }

    /// Counts an operation of each lane of the mask, or thread of the block.
    pub(super) fn count_op(&mut self, op: usize, mask: Option<Slot>) {
        let lanes: u64 = self.active_of_warps(mask).iter().sum();
        if let Some(tally) = self.tally() {
            tally.ops[op] += lanes;
        }
    }

    /// Counts a condition, of which the flags are the outcome; without them it is the
    /// same for all. `of_some` where only warps count of which it holds for some.
    pub(super) fn count_branch(
        &mut self,
        branch: usize,
        flags: Option<Slot>,
        mask: Option<Slot>,
        of_some: bool,
    ) {
        let active = self.active_of_warps(mask);
        let Some(flags) = flags else {
            let warps = active.iter().filter(|active| **active > 0).count() as u64;
            if let Some(tally) = self.tally() {
                tally.branches[branch].warps += warps;
            }
            return;
        };
        let n = self.chunk.n_lanes();
        let set: Vec<bool> = self.flags(flags, n).iter().map(|flag| flag.is_set()).collect();
        let takes_part: Vec<bool> = match mask {
            None => vec![true; n],
            Some(mask) => self.flags(mask, n).iter().map(|flag| flag.is_set()).collect(),
        };
        let holds = set.iter().zip(&takes_part).map(|(set, takes_part)| *set && *takes_part);
        let holds: Vec<bool> = holds.collect();
        let Some(tally) = self.tally() else { return };
        for (active, holds) in active.iter().zip(holds.chunks(WARP)) {
            let taken = holds.iter().filter(|holds| **holds).count() as u64;
            if *active == 0 || (of_some && taken == 0) {
                continue;
            }
            tally.branches[branch].warps += 1;
            tally.branches[branch].split += u64::from(taken > 0 && taken < *active);
        }
    }

    /// How many lanes of each warp take part: of the chunk, or of the block.
    fn active_of_warps(&mut self, mask: Option<Slot>) -> Vec<u64> {
        let is_within = self.watcher.as_ref().is_some_and(|watcher| watcher.items.is_some());
        let n = if is_within { self.chunk.n_lanes() } else { self.kernel.threads as usize };
        let takes_part: Vec<bool> = match mask.filter(|_| is_within) {
            None => vec![true; n],
            Some(mask) => self.flags(mask, n).iter().map(|flag| flag.is_set()).collect(),
        };
        let active = |warp: &[bool]| warp.iter().filter(|takes_part| **takes_part).count() as u64;
        takes_part.chunks(WARP).map(active).collect()
    }
}
