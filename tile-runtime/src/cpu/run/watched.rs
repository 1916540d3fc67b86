//! Operations of a frame that only checked launches have.

use tile_ir::exchange::Group;

use super::access::{Outside, index_at, is_by_rows, visit_rows};
use super::frame::{Fault, Frame};
use super::shadow::{By, Tally, Watcher};
use super::warp::WARP;
use crate::cpu::code::{Access, Index, Slot, Width};
use crate::cpu::vector::Flag;
use crate::cpu::watch::Lacking;

impl Frame<'_> {
    /// Notes who touches the elements of an access.
    pub(super) fn touch(
        &mut self,
        width: Width,
        access: usize,
        site: usize,
        (mask, is_counted): (Option<Slot>, bool),
    ) -> Result<(), Fault> {
        let kernel = self.kernel;
        let access = &kernel.accesses[access];
        let by_rows = is_by_rows(access, &self.arrays[access.array]);
        let touched = match (width, by_rows) {
            (Width::One, _) => self.touch_one(access, site, mask),
            (Width::Chunk | Width::Whole, true) => self.touch_rows(access, site),
            (Width::Chunk | Width::Whole, false) => self.touch_lanes(access, site),
        };
        let counted = match is_counted && touched.is_ok() {
            true => self.count_touch(width, access, site, mask),
            false => Ok(()),
        };
        touched.and(counted).map_err(|outside| {
            let item = self.chunk.first_item + outside.lane;
            if let Some(watcher) = &mut self.watcher {
                let agent = watcher.agent(item);
                let index = (outside.axis, outside.index, outside.extent);
                watcher.leave_array(site, agent, index);
            }
            Fault::Outside(outside)
        })
    }

    /// What is counted, if it is.
    pub(super) fn tally(&mut self) -> Option<&mut Tally> {
        self.watcher.as_mut().and_then(Watcher::tally)
    }

    fn touch_rows(&mut self, access: &Access, site: usize) -> Result<(), Outside> {
        let Self { arrays, uniforms, chunk, watcher, kernel, .. } = self;
        let Some(watcher) = watcher else { return Ok(()) };
        let (view, doing) = (&arrays[access.array], kernel.sites[site].doing);
        let has_shadow = watcher.has_shadow(access.array);
        let first_agent = watcher.agent(chunk.first_item);
        let mut dropped = None;
        let mut n_dropped = 0;
        visit_rows(access, view, uniforms, chunk, |row| {
            if row.inside.len() < row.n_lanes {
                n_dropped += row.n_lanes - row.inside.len();
                let lane = if row.inside.start > 0 { 0 } else { row.inside.end };
                dropped = dropped.or(Some(row.first_lane + lane));
            }
            if has_shadow && !row.inside.is_empty() {
                let by = By::Each(first_agent + (row.first_lane + row.inside.start) as u32);
                let elements = (row.offset, row.step, row.inside.len());
                watcher.touch(doing, (site, access.array), elements, by);
            }
        })?;
        if let Some(lane) = dropped {
            self.note_dropped(access, site, lane, n_dropped as u64);
        }
        Ok(())
    }

    fn touch_lanes(&mut self, access: &Access, site: usize) -> Result<(), Outside> {
        let n = self.resolve_lanes(Width::Chunk, access)?;
        let mask = access.mask.map(|mask| self.ptr(mask).cast_const().cast::<Flag>());
        // SAFETY: the mask's register holds `n` flags.
        let takes_part =
            |lane: usize| mask.is_none_or(|mask| unsafe { mask.add(lane).read() }.is_set());
        let Self { addresses, chunk, watcher, kernel, .. } = self;
        let Some(watcher) = watcher else { return Ok(()) };
        let doing = kernel.sites[site].doing;
        let has_shadow = watcher.has_shadow(access.array);
        let mut dropped = None;
        let mut n_dropped = 0;
        for lane in 0..n {
            let agent = watcher.agent(chunk.first_item + lane);
            if addresses.inside[lane] {
                if has_shadow {
                    let elements = (addresses.offsets[lane], 0, 1);
                    watcher.touch(doing, (site, access.array), elements, By::Each(agent));
                }
            } else if takes_part(lane) {
                n_dropped += 1;
                dropped = dropped.or(Some(lane));
            }
        }
        if let Some(lane) = dropped {
            self.note_dropped(access, site, lane, n_dropped);
        }
        Ok(())
    }

    /// One element, that all lanes of the mask use, or the block.
    fn touch_one(
        &mut self,
        access: &Access,
        site: usize,
        mask: Option<Slot>,
    ) -> Result<(), Outside> {
        let Some((first, last)) = self.ends_of(mask) else { return Ok(()) };
        self.resolve_lanes(Width::One, access)
            .map_err(|outside| Outside { lane: first, ..outside })?;
        let Self { addresses, chunk, watcher, kernel, .. } = self;
        let Some(watcher) = watcher else { return Ok(()) };
        if !addresses.inside[0] {
            self.note_dropped(access, site, first, 1);
            return Ok(());
        }
        if watcher.has_shadow(access.array) {
            let agent = |lane: usize| watcher.agent(chunk.first_item + lane);
            let (one, other) = (agent(first), agent(last));
            let by = By::All(one, Some(other).filter(|other| *other != one));
            let doing = kernel.sites[site].doing;
            watcher.touch(doing, (site, access.array), (addresses.offsets[0], 0, 1), by);
        }
        Ok(())
    }

    /// The first and the last lane that takes part.
    fn ends_of(&mut self, mask: Option<Slot>) -> Option<(usize, usize)> {
        let is_within = self.watcher.as_ref().is_some_and(|watcher| watcher.items.is_some());
        let n = self.chunk.n_lanes();
        match (is_within, mask) {
            (false, _) => Some((0, 0)),
            (true, None) => Some((0, n - 1)),
            (true, Some(mask)) => {
                let flags = self.flags(mask, n);
                let first = flags.iter().position(|flag| flag.is_set())?;
                let last = flags.iter().rposition(|flag| flag.is_set())?;
                Some((first, last))
            }
        }
    }

    fn note_dropped(&mut self, access: &Access, site: usize, lane: usize, count: u64) {
        let indices = self.indices_at(access, lane);
        let extents = self.arrays[access.array].extents;
        let Some(watcher) = &mut self.watcher else { return };
        let agent = watcher.agent(self.chunk.first_item + lane);
        let mut strays = indices.iter().zip(extents).enumerate();
        let stray = strays.find(|(_, (index, extent))| !(0..*extent).contains(*index));
        if let Some((axis, (&index, extent))) = stray {
            watcher.drop_access(site, agent, (axis, index, extent), count);
        }
    }

    /// Notes the lanes of the mask in which flags are set.
    pub(super) fn notice(
        &mut self,
        width: Width,
        flags: Slot,
        mask: Option<Slot>,
        operation: usize,
    ) {
        let is_within = self.watcher.as_ref().is_some_and(|watcher| watcher.items.is_some());
        let (first, count) = if width == Width::One {
            if !self.flags(flags, 1)[0].is_set() {
                return;
            }
            let Some((first, _)) = self.ends_of(mask) else { return };
            let n = self.chunk.n_lanes();
            let count = match mask {
                _ if !is_within => 1,
                None => n,
                Some(mask) => self.flags(mask, n).iter().filter(|flag| flag.is_set()).count(),
            };
            (first, count)
        } else {
            let n = self.chunk.n_lanes();
            if !self.flags(flags, n).iter().any(|flag| flag.is_set()) {
                return;
            }
            let set: Vec<bool> = self.flags(flags, n).iter().map(|flag| flag.is_set()).collect();
            let takes_part: Vec<bool> = match mask {
                None => vec![true; n],
                Some(mask) => self.flags(mask, n).iter().map(|flag| flag.is_set()).collect(),
            };
            let mut lanes = (0..n).filter(|&lane| set[lane] && takes_part[lane]);
            let Some(first) = lanes.next() else { return };
            (first, lanes.count() + 1)
        };
        let item = self.chunk.first_item + first;
        if let Some(watcher) = &mut self.watcher {
            let agent = watcher.agent(item);
            watcher.notice(operation, agent, count as u64);
        }
    }

    /// Sees whether all that come to a place together are there.
    pub(super) fn meet(&mut self, mask: Option<Slot>, number: usize) -> Result<(), Fault> {
        let meeting = self.kernel.meetings[number];
        let (n, first) = (self.chunk.n_lanes(), self.chunk.first_item);
        let here: Vec<bool> = match mask {
            None => vec![true; n],
            Some(mask) => self.flags(mask, n).iter().map(|flag| flag.is_set()).collect(),
        };
        let Some(watcher) = &mut self.watcher else { return Ok(()) };
        let group_lanes = match meeting.group {
            Group::Warp => WARP,
            Group::Block => n.max(1),
        };
        for (group, flags) in here.chunks(group_lanes).enumerate() {
            let present = flags.iter().position(|flag| *flag);
            let absent = flags.iter().position(|flag| !*flag);
            let absent = match meeting.lacks {
                Lacking::Absent => absent,
                Lacking::Points | Lacking::Agreement => present,
            };
            if let (Some(present), Some(absent)) = (present, absent) {
                let agent = |lane| watcher.agent(first + group * group_lanes + lane);
                let agents = (agent(present), agent(absent));
                watcher.part(number, agents);
                return Err(Fault::Apart);
            }
        }
        match meeting.group {
            _ if !meeting.is_barrier => {}
            Group::Block => watcher.pass_barrier(),
            Group::Warp => {
                let items = (0..n).filter(|&lane| here[lane]).map(|lane| first + lane);
                watcher.pass_warp_barrier(&items.collect::<Vec<_>>());
            }
        }
        Ok(())
    }

    /// The indices of an access in a lane of the chunk.
    fn indices_at(&mut self, access: &Access, lane: usize) -> Vec<i64> {
        let mut indices = Vec::new();
        for axis in &access.axes {
            indices.push(match &axis.index {
                Index::Affine(affine) => index_at(affine, &self.uniforms, &self.chunk, lane),
                Index::Lanes(slot) => {
                    let lanes = self.ptr(*slot).cast_const().cast::<i64>();
                    // SAFETY: the register holds an index for each lane of the chunk.
                    unsafe { lanes.add(lane).read() }
                }
            });
        }
        indices
    }
}
