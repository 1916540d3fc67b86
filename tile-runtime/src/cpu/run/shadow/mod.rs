//! The shadow of a checked launch: who touched which element, and what is found by it.
//!
//! # What is ordered
//!
//! Within a block, between two barriers: what one work-item does. Two work-items are not
//! ordered, nor are points of cooperative loops and whoever else, since nothing says which
//! thread runs a point; the block as a whole, where it reads, is none of them. A barrier
//! of warps orders the work-items of a warp. Between blocks nothing is ordered. Atomic
//! updates do not race with one another.

mod cell;
mod clock;
mod log;
mod tally;
mod tensor;
#[cfg(test)]
mod tests;
mod tile;

pub(crate) use log::{Case, Log, Odd, Stray, Who};
pub(crate) use tally::{AccessTally, BranchTally, Space, Tally};

use tile_ir::exchange::{Group, WARP_ITEMS};

use self::cell::{Cell, Format};
use self::clock::Clock;
use self::tensor::TensorShadow;
use self::tile::{Fault, Run, TileShadow};
use super::array::ArrayView;
use crate::cpu::code::{ArrayPlace, CompiledKernel, TileKind};
use crate::cpu::watch::Doing;
use crate::cpu::{CpuBuffer, CpuError};

/// The fewest bits that count the barriers of a block.
const MIN_INTERVAL_BITS: u32 = 4;

/// What all workers of a checked launch share.
#[derive(Debug)]
pub(super) struct SharedShadow {
    format: Format,
    interval_bits: u32,
    /// Work-items in warps that have barriers; none where warps have none.
    n_items: u32,
    /// By array; of those that need one.
    tensors: Vec<Option<TensorShadow>>,
    /// Outputs that are only written, as many elements as they have.
    outputs: Vec<Option<usize>>,
}

impl SharedShadow {
    /// For a launch of so many blocks. `is_alone` where one worker runs them.
    ///
    /// # Errors
    ///
    /// Where there is no memory for it.
    pub(super) fn new(
        kernel: &CompiledKernel,
        buffers: &[CpuBuffer],
        views: &[ArrayView],
        n_blocks: u64,
        is_alone: bool,
    ) -> Result<Self, CpuError> {
        let format = Format::new(kernel.sites.len(), kernel.n_agents);
        let block_bits = u64::BITS - (n_blocks + 1).leading_zeros();
        let interval_bits = format.time_bits().saturating_sub(block_bits);
        // With more blocks than can be told apart tensors have no shadow.
        let has_room = interval_bits >= MIN_INTERVAL_BITS;
        let is_done = |array: usize, doing: Doing| {
            kernel.sites.iter().any(|site| site.array == array && site.doing == doing)
        };
        let mut tensors = Vec::new();
        let mut outputs = Vec::new();
        let mut bytes = 0_usize;
        for (array, (buffer, view)) in buffers.iter().zip(views).enumerate() {
            let has = [Doing::Write, Doing::Read, Doing::Update].map(|doing| is_done(array, doing));
            let [writes, reads, updates] = has;
            // Reads alone, or updates alone, never collide.
            let is_needed = has_room && (writes || (reads && updates));
            let n_elems = buffer.len_elems();
            if is_needed {
                bytes = bytes.saturating_add(TensorShadow::bytes(n_elems, reads, updates));
                check_room(kernel, bytes)?;
            }
            tensors.push(is_needed.then(|| TensorShadow::new(n_elems, reads, updates, is_alone)));
            let is_dense = view.n_elems() == Some(n_elems);
            outputs.push((is_needed && !reads && !updates && is_dense).then_some(n_elems));
        }
        let has_warps = kernel
            .meetings
            .iter()
            .any(|meeting| meeting.group == Group::Warp && meeting.is_barrier);
        // The block is agent 0, its work-items come next.
        let after_items = kernel.agents.get(1).map_or(kernel.n_agents, |agents| agents.base);
        let n_items = if has_warps { after_items.saturating_sub(1) } else { 0 };
        Ok(Self { format, interval_bits, n_items, tensors, outputs })
    }

    /// What is known only at the end; of a launch that was stopped, nothing of what it
    /// did not come to.
    pub(super) fn finish(&self, log: &mut Log, is_whole: bool) {
        let clock = Clock::of_launch(self.format, 0, self.interval_bits);
        let who = |cell: Cell| {
            let (block, interval) = clock.place_of(cell);
            Who { block, agent: self.format.agent(cell), interval }
        };
        let site = |cell| self.format.site(cell);
        for (array, tensor) in self.tensors.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            tensor.finish(self.format, self.interval_bits, |offset, first, second| {
                let both = (site(first), site(second));
                let is_known = log.races.contains_key(&(both.0, both.1, true))
                    || log.races.contains_key(&(both.1, both.0, true));
                if !is_known {
                    let (first, second) = (who(first), who(second));
                    log.race(both, Case { first, second, offset, count: 1 });
                }
            });
            let Some(n_elems) = self.outputs[array].filter(|_| is_whole) else { continue };
            let mut left = (0..n_elems).filter(|&at| !tensor.is_written(at));
            if let Some(first) = left.next() {
                log.left_out.insert(array, (first, left.count() as u64 + 1));
            }
        }
    }
}

/// Reports where the machine has no memory for a shadow of so many bytes.
fn check_room(kernel: &CompiledKernel, bytes: usize) -> Result<(), CpuError> {
    let mut room: Vec<u8> = Vec::new();
    let out_of_memory = |_| CpuError::OutOfMemory { kernel: kernel.name.clone(), bytes };
    room.try_reserve_exact(bytes).map_err(out_of_memory)
}

/// One worker's part of a checked launch.
#[derive(Debug)]
pub(super) struct Watcher<'l> {
    shared: &'l SharedShadow,
    /// By array; of tiles, and of arrays of items.
    tiles: Vec<Option<TileShadow>>,
    clock: Clock,
    tensor_clock: Clock,
    block: u64,
    interval: u32,
    /// The agent of the first item, within `Items`.
    pub(super) items: Option<u32>,
    block_agent: u32,
    log: Log,
}

/// Who touches the elements of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    /// One agent after another, from this one on.
    Each(u32),
    /// Each element all of them: these two among them, or one alone.
    All(u32, Option<u32>),
}

impl<'l> Watcher<'l> {
    /// A worker's part, for arrays that lie so.
    pub(super) fn new(
        kernel: &CompiledKernel,
        shared: &'l SharedShadow,
        arrays: &[ArrayView],
    ) -> Self {
        let tiles =
            kernel.arrays.iter().zip(arrays).enumerate().map(|(array, (described, view))| {
                let has_shadow = match described.place {
                    ArrayPlace::Tile { kind, .. } => kind != TileKind::Kept,
                    ArrayPlace::Buffer { .. } => false,
                };
                let mut sites = kernel.sites.iter().filter(|site| site.array == array).peekable();
                sites.peek()?;
                let has_updates = sites.any(|site| site.doing == Doing::Update);
                has_shadow.then(|| TileShadow::new(view.reach(), has_updates))
            });
        let n_items = shared.n_items;
        let is_counting = kernel.mode.watch.is_some_and(|watch| watch.counts);
        let sizes = (kernel.sites.len(), kernel.branches.len(), kernel.counted_ops.len());
        let tally = is_counting.then(|| Tally::new(sizes.0, sizes.1, sizes.2));
        Self {
            shared,
            tiles: tiles.collect(),
            clock: Clock::of_worker(shared.format, n_items),
            tensor_clock: Clock::of_launch(shared.format, n_items, shared.interval_bits),
            block: 0,
            interval: 0,
            items: None,
            block_agent: kernel.block_agent,
            log: Log { tally, ..Log::default() },
        }
    }

    /// What is counted, if it is.
    pub(super) fn tally(&mut self) -> Option<&mut Tally> {
        self.log.tally.as_mut()
    }

    /// A new block begins.
    pub(super) fn begin_block(&mut self, block: u64) {
        self.block = block;
        self.interval = 0;
        self.clock.begin_block(block);
        self.tensor_clock.begin_block(block);
    }

    /// The block has met.
    pub(super) fn pass_barrier(&mut self) {
        self.interval += 1;
        if let Some(tally) = self.tally() {
            tally.barriers += 1;
        }
        self.clock.pass_barrier();
        self.tensor_clock.pass_barrier();
    }

    /// The warps of these items of the present `Items` have met.
    pub(super) fn pass_warp_barrier(&mut self, items: &[usize]) {
        let warps = || items.iter().map(|item| item / WARP_ITEMS as usize);
        self.clock.pass_warp_barrier(warps());
        self.tensor_clock.pass_warp_barrier(warps());
    }

    /// Ends the work; what was found.
    pub(super) fn into_log(self) -> Log {
        self.log
    }

    /// The agent of an item of the present `Items`, or of the block.
    pub(super) fn agent(&self, item: usize) -> u32 {
        // Items are numbered in 32 bits.
        self.items.map_or(self.block_agent, |base| base + item as u32)
    }

    fn who(&self, agent: u32) -> Who {
        Who { block: self.block, agent, interval: self.interval }
    }

    /// Whether touches of an array's elements are entered at all.
    pub(super) fn has_shadow(&self, array: usize) -> bool {
        let tile = self.tiles.get(array).is_some_and(Option::is_some);
        tile || self.shared.tensors.get(array).is_some_and(Option::is_some)
    }

    /// Enters touches of `n` elements from `offset` on, in equal steps.
    pub(super) fn touch(
        &mut self,
        doing: Doing,
        (site, array): (usize, usize),
        (offset, step, n): (i64, i64, usize),
        by: By,
    ) {
        match by {
            By::Each(first) if step == 0 && n > 1 => {
                // The block's items are fewer than 2^32.
                let last = first + (n - 1) as u32;
                self.touch(doing, (site, array), (offset, 0, 1), By::All(first, Some(last)));
            }
            By::Each(first) => self.touch_run(doing, (site, array), (offset, step, n), first),
            By::All(one, other) => {
                for agent in [Some(one), other].into_iter().flatten() {
                    self.touch_run(doing, (site, array), (offset, step, n.min(1)), agent);
                }
            }
        }
    }

    fn touch_run(
        &mut self,
        doing: Doing,
        (site, array): (usize, usize),
        (offset, step, n): (i64, i64, usize),
        agent: u32,
    ) {
        let format = self.shared.format;
        let (block, interval) = (self.block, self.interval);
        // Of an element inside the array.
        let (offset, step) = (offset as usize, step as isize);
        let me_of = |lane: usize| Who { block, agent: agent + lane as u32, interval };
        if let Some(tile) = self.tiles.get_mut(array).and_then(Option::as_mut) {
            let first = format.cell(self.clock.now, agent, site);
            let run = Run { offset, step, n, first };
            let log = &mut self.log;
            tile.enter_run(doing, run, format, &self.clock, |lane, fault| {
                let second = me_of(lane);
                let offset = offset.wrapping_add_signed(step * lane as isize);
                let case = |first| Case { first, second, offset, count: 1 };
                match fault {
                    Fault::Unwritten => log.read_unwritten(site, case(second)),
                    Fault::Race(cell) => {
                        let first = Who { block, agent: format.agent(cell), interval };
                        log.race((format.site(cell), site), case(first));
                    }
                }
            });
            return;
        }
        let Some(tensor) = self.shared.tensors.get(array).and_then(Option::as_ref) else { return };
        let first = format.cell(self.tensor_clock.now, agent, site);
        let (clock, log) = (&self.tensor_clock, &mut self.log);
        let mut collide = |lane: usize, cell: Cell| {
            let (of_block, barriers) = clock.place_of(cell);
            let interval = if of_block == block { interval } else { barriers };
            let first = Who { block: of_block, agent: format.agent(cell), interval };
            let offset = offset.wrapping_add_signed(step * lane as isize);
            let case = Case { first, second: me_of(lane), offset, count: 1 };
            log.race((format.site(cell), site), case);
        };
        if doing == Doing::Write && tensor.is_write_only() {
            tensor.write_run((offset, step, n), first, format, clock, collide);
            return;
        }
        for lane in 0..n {
            let me = first + lane as u64 * format.step();
            let at = offset.wrapping_add_signed(step * lane as isize);
            tensor.enter(doing, at, me, clock, |cell| collide(lane, cell));
        }
    }

    /// Notes an unguarded index outside its array.
    pub(super) fn leave_array(&mut self, site: usize, agent: u32, (axis, index, extent): Index) {
        let who = self.who(agent);
        self.log.left_array(site, Stray { who, axis, index, extent, count: 1 });
    }

    /// Notes accesses that guards have dropped.
    pub(super) fn drop_access(
        &mut self,
        site: usize,
        agent: u32,
        (axis, index, extent): Index,
        count: u64,
    ) {
        let who = self.who(agent);
        self.log.dropped(site, Stray { who, axis, index, extent, count });
    }

    /// Notes that of two agents one is at a meeting, and the other is not.
    pub(super) fn part(&mut self, meeting: usize, (present, absent): (u32, u32)) {
        let (first, second) = (self.who(present), self.who(absent));
        self.log.parted(meeting, Case { first, second, offset: 0, count: 1 });
    }

    /// Notes an operation.
    pub(super) fn notice(&mut self, operation: usize, agent: u32, count: u64) {
        let who = self.who(agent);
        self.log.noticed(operation, Odd { who, count });
    }
}

/// An axis, an index along it, and its extent.
pub(super) type Index = (usize, i64, i64);
