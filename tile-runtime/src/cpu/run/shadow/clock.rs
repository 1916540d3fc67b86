//! What time it is for a worker, and which accesses its present ones are ordered after.

use tile_ir::exchange::WARP_ITEMS;

use super::cell::{Cell, Format};

/// A worker's time. It goes on at barriers, of the block and of warps.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    format: Format,
    time: u64,
    /// Of memory that blocks share: the bits that count the barriers of a block.
    interval_bits: Option<u32>,
    /// Whether more barriers were passed than these bits count: nothing is said of what
    /// comes after, within the block.
    pub(super) is_spent: bool,
    /// The smallest cell of the present time.
    pub(super) now: Cell,
    /// The smallest cell of the time since the last barrier of the block.
    pub(super) interval: Cell,
    /// The smallest cell of the present block.
    pub(super) block: Cell,
    /// The smallest cell of the next one.
    block_end: Cell,
    /// Of each warp the smallest cell since its last barrier; none where warps have none.
    warps: Vec<Cell>,
    /// Work-items in warps that have barriers: the agents from 1 on.
    n_items: u32,
}

impl Clock {
    /// The clock of a worker's own memory, before the first block, where so many
    /// work-items are in warps that have barriers; none where warps have none.
    pub(super) fn of_worker(format: Format, n_items: u32) -> Self {
        Self {
            format,
            time: 0,
            interval_bits: None,
            is_spent: false,
            now: 0,
            interval: 0,
            block: 0,
            block_end: Cell::MAX,
            warps: vec![0; n_items.div_ceil(WARP_ITEMS) as usize],
            n_items,
        }
    }

    /// The clock of memory that blocks share, where these bits count a block's barriers.
    pub(super) fn of_launch(format: Format, n_items: u32, interval_bits: u32) -> Self {
        Self { interval_bits: Some(interval_bits), ..Self::of_worker(format, n_items) }
    }

    fn tick(&mut self) {
        match self.interval_bits {
            Some(bits) if (self.time + 1) & ((1 << bits) - 1) == 0 => self.is_spent = true,
            Some(_) | None => self.time += 1,
        }
        self.now = self.format.since(self.time);
    }

    /// A new block begins.
    pub(super) fn begin_block(&mut self, block: u64) {
        self.is_spent = false;
        match self.interval_bits {
            Some(bits) => {
                self.time = (block + 1) << bits;
                self.block = self.format.since(self.time);
                self.block_end = self.block + self.format.since(1 << bits);
                self.now = self.block;
                self.interval = self.block;
                self.warps.fill(self.block);
            }
            None => {
                self.pass_barrier();
                self.block = self.now;
            }
        }
    }

    /// Whether an access was made by the present block.
    pub(super) fn is_of_block(&self, cell: Cell) -> bool {
        (self.block..self.block_end).contains(&cell)
    }

    /// Of memory that blocks share: the number of an access's block, and the barriers
    /// before it.
    pub(super) fn place_of(&self, cell: Cell) -> (u64, u32) {
        let bits = self.interval_bits.unwrap_or(0);
        let time = self.format.time(cell);
        // Fewer than 2^32 barriers.
        ((time >> bits).saturating_sub(1), (time & ((1 << bits) - 1)) as u32)
    }

    /// The block has met.
    pub(super) fn pass_barrier(&mut self) {
        self.tick();
        self.interval = self.now;
        self.warps.fill(self.now);
    }

    /// These warps have met, each for itself.
    pub(super) fn pass_warp_barrier(&mut self, warps: impl Iterator<Item = usize>) {
        self.tick();
        for warp in warps {
            if let Some(since) = self.warps.get_mut(warp) {
                *since = self.now;
            }
        }
    }

    /// Whether warps may meet, so that time goes on within an interval.
    pub(super) fn has_warps(&self) -> bool {
        !self.warps.is_empty()
    }

    /// The warp of a work-item, by its agent; the block and points of cooperative loops
    /// are in none.
    pub(super) fn warp_of(&self, agent: u32) -> Option<usize> {
        let item = agent.checked_sub(1).filter(|item| *item < self.n_items)?;
        Some((item / WARP_ITEMS) as usize)
    }

    /// Whether an access of this interval comes before the present one of an agent.
    pub(super) fn is_before(&self, earlier: Cell, me: Cell) -> bool {
        if self.format.is_same_agent(earlier, me) {
            return true;
        }
        let warps = (self.warp_of(self.format.agent(earlier)), self.warp_of(self.format.agent(me)));
        match warps {
            (Some(one), Some(other)) => one == other && earlier < self.warps[other],
            (None, _) | (_, None) => false,
        }
    }

    /// Whether two accesses are of work-items of one warp.
    pub(super) fn is_one_warp(&self, one: Cell, other: Cell) -> bool {
        let warp = |cell| self.warp_of(self.format.agent(cell));
        warp(one).is_some() && warp(one) == warp(other)
    }
}
