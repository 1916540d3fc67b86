//! What a worker executes on: registers, fragments, tiles, arrays.

use tile_ir::dtype::DType;
use tile_ir::value::ScalarValue;

use super::access::{LaneAddresses, Outside, write_coords};
use super::array::{ArrayView, bind_tiles};
use super::chunk::Chunk;
use super::distinct::{SharedTaken, Taken};
use super::memory::Memory;
use super::shadow::Watcher;
use super::warp::{WARP, ballots, shuffle};
use crate::cpu::Order;
use crate::cpu::code::{CompiledKernel, Instr, LaneProgram, Slot, Uniform, UniformRange, Width};
use crate::cpu::loops;
use crate::cpu::vector::Flag;

/// Why execution cannot go on.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// An access left its array.
    Outside(Outside),
    /// Not all are at a place that they come to together.
    Apart,
    /// An assumption does not hold: which, and what is shown of it.
    Assumption(usize, Vec<ScalarValue>),
    /// Two work-items have one number that is said to differ: which assumption, what is shown
    /// of the second, and the coordinates of the first.
    Shared(usize, Vec<ScalarValue>, Vec<ScalarValue>),
}

impl From<Outside> for Fault {
    fn from(outside: Outside) -> Self {
        Self::Outside(outside)
    }
}

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At a position in the list.
    At(usize),
    /// In a lane program, then at the next position.
    Items(usize),
    /// After a barrier, at the next position.
    Barrier(tile_ir::program::Participants),
}

/// A worker's memory, bound to a launch.
#[derive(Debug)]
pub(super) struct Frame<'k> {
    pub(super) kernel: &'k CompiledKernel,
    pub(super) uniforms: Vec<u64>,
    vectors: Memory,
    fragments: Memory,
    tiles: Memory,
    pub(super) arrays: Vec<ArrayView>,
    pub(super) addresses: LaneAddresses,
    pub(super) chunk: Chunk,
    /// Where lanes were found last.
    found: Vec<*mut u8>,
    /// How many `Items` were run.
    n_runs: u64,
    /// Who has which of the numbers that differ within a block, since its last barrier.
    pub(super) in_block: Taken,
    /// The same within the launch, of all workers.
    pub(super) in_grid: Option<&'k SharedTaken>,
    /// In a checked launch, what is looked at.
    pub(super) watcher: Option<Watcher<'k>>,
}

impl<'k> Frame<'k> {
    /// A frame for a launch's arrays, with the registers as given.
    pub(super) fn new(
        kernel: &'k CompiledKernel,
        uniforms: Vec<u64>,
        buffers: &[ArrayView],
    ) -> Self {
        let mut tiles = Memory::new(kernel.tile_bytes);
        let mut arrays = buffers.to_vec();
        arrays.extend(bind_tiles(kernel, tiles.ptr()));
        Self {
            kernel,
            uniforms,
            vectors: Memory::new(kernel.vector_bytes),
            fragments: Memory::new(kernel.fragment_bytes),
            tiles,
            arrays,
            addresses: LaneAddresses::new(),
            chunk: Chunk::ONE,
            found: vec![std::ptr::null_mut(); kernel.n_places],
            n_runs: 0,
            in_block: Taken::new(),
            in_grid: None,
            watcher: None,
        }
    }

    /// A frame that has uniform registers only.
    pub(super) fn of_registers(kernel: &'k CompiledKernel, uniforms: Vec<u64>) -> Self {
        Self {
            kernel,
            uniforms,
            vectors: Memory::new(0),
            fragments: Memory::new(0),
            tiles: Memory::new(0),
            arrays: Vec::new(),
            addresses: LaneAddresses::new(),
            chunk: Chunk::ONE,
            found: Vec::new(),
            n_runs: 0,
            in_block: Taken::new(),
            in_grid: None,
            watcher: None,
        }
    }

    /// Makes tiles and fragments those of a new block. Builds with debug
    /// assertions fill them with a pattern, so that a read of what no one wrote
    /// shows.
    pub(super) fn begin_block(&mut self, block: u64) {
        self.in_block.clear();
        if let Some(watcher) = &mut self.watcher {
            watcher.begin_block(block);
        }
        if self.kernel.mode.watch.is_some_and(|watch| watch.unset) {
            // No flag is set.
            self.fragments.clear();
        } else if cfg!(debug_assertions) {
            self.tiles.poison();
            self.fragments.poison();
        }
    }

    /// A uniform register.
    pub(super) fn uniform(&self, register: Uniform) -> i64 {
        self.uniforms[register as usize].cast_signed()
    }

    /// Sets a uniform register.
    pub(super) fn set_uniform(&mut self, register: Uniform, value: i64) {
        self.uniforms[register as usize] = value.cast_unsigned();
    }

    /// Ends the use of a frame that only computed registers.
    pub(super) fn into_uniforms(self) -> Vec<u64> {
        self.uniforms
    }

    /// The first lane of a slot.
    pub(super) fn ptr(&mut self, slot: Slot) -> *mut u8 {
        match slot {
            Slot::Uniform(register) => {
                debug_assert!((register as usize) < self.uniforms.len());
                self.uniforms.as_mut_ptr().wrapping_add(register as usize).cast()
            }
            Slot::Vector(offset) => {
                debug_assert!(offset < self.kernel.vector_bytes);
                self.vectors.ptr().wrapping_add(offset)
            }
            Slot::Fragment { offset_bytes, lane_bytes } => {
                let offset = offset_bytes + self.chunk.first_item * lane_bytes;
                debug_assert!(offset < self.kernel.fragment_bytes);
                self.fragments.ptr().wrapping_add(offset)
            }
            Slot::Found(place) => {
                debug_assert!(!self.found[place].is_null(), "lanes are found before their use");
                self.found[place]
            }
        }
    }

    fn n_lanes(&self, width: Width) -> usize {
        match width {
            Width::One => 1,
            Width::Chunk | Width::Whole => self.chunk.n_lanes(),
        }
    }

    /// Runs the body of an `Items`.
    pub(super) fn run_items(&mut self, program: usize) -> Result<(), Fault> {
        let program = &self.kernel.programs[program];
        if program.domain.n_items == 0 {
            return Ok(());
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.items = Some(program.agents);
        }
        self.run_chunks(program)?;
        if let Some(watcher) = &mut self.watcher {
            watcher.items = None;
            self.chunk = Chunk::ONE;
        }
        Ok(())
    }

    fn run_chunks(&mut self, program: &'k LaneProgram) -> Result<(), Fault> {
        let kernel = self.kernel;
        // The first chunk is the largest.
        self.chunk = Chunk::at(&program.domain, 0);
        self.run_list(&program.preamble)?;
        if let Order::Shuffled(_) = kernel.mode.order {
            return self.run_shuffled(program);
        }
        let mut item = 0;
        while item < program.domain.n_items {
            self.chunk = Chunk::at(&program.domain, item);
            if !item.is_multiple_of(WARP)
                && let Some(tally) = self.tally()
            {
                tally.is_split = true;
            }
            self.run_list(&program.code)?;
            item += self.chunk.n_lanes();
        }
        Ok(())
    }

    /// Runs the body for one chunk after another in an order drawn anew each time. Each
    /// chunk has one item, or the only chunk has all.
    fn run_shuffled(&mut self, program: &LaneProgram) -> Result<(), Fault> {
        let n_chunks = program.domain.n_items.div_ceil(program.domain.max_lanes());
        self.n_runs += 1;
        let order = self.kernel.mode.order.of(n_chunks as u64, self.n_runs);
        for place in 0..n_chunks {
            let chunk = order.at(place as u64) as usize;
            self.chunk = Chunk::at(&program.domain, chunk * program.domain.max_lanes());
            self.run_list(&program.code)?;
        }
        Ok(())
    }

    /// Runs a list that neither runs `Items` nor waits.
    pub(super) fn run_list(&mut self, list: &[Instr]) -> Result<(), Fault> {
        let mut position = 0;
        while let Some(instr) = list.get(position) {
            position = match self.step(instr, position)? {
                Next::At(next) => next,
                Next::Items(_) | Next::Barrier(_) => position + 1,
            };
        }
        Ok(())
    }

    /// Executes one operation.
    pub(super) fn step(&mut self, instr: &Instr, position: usize) -> Result<Next, Fault> {
        let next = Next::At(position + 1);
        match *instr {
            Instr::Map1 { width, f, dst, a } => {
                let n = self.n_lanes(width);
                let (dst, a) = (self.ptr(dst), self.ptr(a));
                // SAFETY: compilation gave the function slots of its lane types,
                // in registers that hold `n` lanes (one for a splat's source),
                // or where an array holds the `n` elements that were found; two
                // slots are the same or do not overlap; this worker alone uses
                // the registers, and writes the elements: the kernel's race
                // check showed it.
                unsafe { f(dst, a, n) };
            }
            Instr::Map2 { width, f, dst, a, b } => {
                let n = self.n_lanes(width);
                let (dst, a, b) = (self.ptr(dst), self.ptr(a), self.ptr(b));
                // SAFETY: as for `Map1`.
                unsafe { f(dst, a, b, n) };
            }
            Instr::Map3 { width, f, dst, a, b, c } => {
                let n = self.n_lanes(width);
                let (dst, a, b, c) = (self.ptr(dst), self.ptr(a), self.ptr(b), self.ptr(c));
                // SAFETY: as for `Map1`.
                unsafe { f(dst, a, b, c, n) };
            }
            Instr::Coords { dst, ref value } => {
                let n = self.chunk.n_lanes();
                let dst = self.ptr(dst).cast::<i64>();
                // SAFETY: the register holds `n` index lanes, and nothing else
                // refers to it here.
                let lanes = unsafe { std::slice::from_raw_parts_mut(dst, n) };
                write_coords(value, &self.uniforms, &self.chunk, lanes);
            }
            Instr::Load { width, dst, access, pad } => self.load(width, dst, access, pad)?,
            Instr::Find { place, spare, access, pad } => {
                self.found[place] = match self.run_of_elements(access) {
                    Some(ptr) => ptr,
                    None => {
                        self.load(Width::Chunk, spare, access, pad)?;
                        self.ptr(spare)
                    }
                };
            }
            Instr::Aim { place, spare, access } => {
                let elements = self.run_of_elements(access);
                self.found[place] = elements.unwrap_or_else(|| self.ptr(spare));
            }
            Instr::Settle { place, spare, access } => {
                if self.found[place] == self.ptr(spare) {
                    self.store(spare, access)?;
                }
            }
            Instr::Store { src, access } => self.store(src, access)?,
            Instr::Atomic { src, expected, old, access, f } => {
                self.atomic((expected, src), old, access, f)?;
            }
            Instr::InBounds { width, dst, access } => self.in_bounds(width, dst, access)?,
            Instr::Shuffle { dst, src, lanes, lane_bytes } => {
                let n = self.chunk.n_lanes();
                let [dst, src, lanes] = [dst, src, lanes].map(|slot| self.ptr(slot));
                // SAFETY: the registers hold `n` lanes each, of `lane_bytes`, and of
                // eight for the lanes' numbers; the first was taken while the
                // others were in use, so it is none of them; this worker alone
                // uses them.
                unsafe { shuffle(dst, src, lanes.cast(), n, lane_bytes) };
            }
            Instr::Ballot { dst, flags } => {
                let n = self.chunk.n_lanes();
                let bits = ballots(self.flags(flags, n));
                let dst = self.ptr(dst).cast::<u32>();
                for lane in 0..n {
                    // SAFETY: the register holds `n` lanes of `u32`.
                    unsafe { dst.add(lane).write(bits[lane / WARP]) };
                }
            }
            Instr::Jump { target } => return Ok(Next::At(target)),
            Instr::JumpUnless { cond, target } => {
                if !self.flags(Slot::Uniform(cond), 1)[0].is_set() {
                    return Ok(Next::At(target));
                }
            }
            Instr::JumpIfNone { mask, target } => {
                let n = self.chunk.n_lanes();
                if !self.flags(mask, n).iter().any(|flag| flag.is_set()) {
                    return Ok(Next::At(target));
                }
            }
            Instr::LargestOf { dst, lanes, mask } => {
                let largest = self.largest_of(lanes, mask);
                self.set_uniform(dst, largest);
            }
            Instr::LoopEnter { range, trip, trips } => {
                self.set_uniform(trip, 0);
                let count = self.trips(range);
                self.set_uniform(trips, count);
            }
            Instr::LoopNext { range, trip, trips, counter, exit } => {
                let (at, end) = (self.uniform(trip), self.uniform(trips));
                if at >= end {
                    return Ok(Next::At(exit));
                }
                let value = self.counter(range, at, end);
                self.set_uniform(counter, value);
                self.set_uniform(trip, at + 1);
            }
            Instr::Fail { mask, fact, ref shown } => {
                return Err(Fault::Assumption(fact, self.shown(mask, shown)));
            }
            Instr::Differ { mask, fact, ref shown } => self.differ(mask, fact, shown)?,
            Instr::Touch { width, access, site, mask, is_counted } => {
                self.touch(width, access, site, (mask, is_counted))?;
            }
            Instr::Count { op, mask } => self.count_op(op, mask),
            Instr::Branch { branch, flags, mask, of_some } => {
                self.count_branch(branch, flags, mask, of_some);
            }
            Instr::Notice { width, flags, mask, operation } => {
                self.notice(width, flags, mask, operation);
            }
            Instr::Meet { mask, meeting } => self.meet(mask, meeting)?,
            Instr::Items { program } => return Ok(Next::Items(program)),
            Instr::Barrier(participants) => return Ok(Next::Barrier(participants)),
        }
        Ok(next)
    }

    /// Flag lanes.
    pub(super) fn flags(&mut self, slot: Slot, n: usize) -> &[Flag] {
        let ptr = self.ptr(slot).cast::<Flag>();
        // SAFETY: the register holds `n` flags and is not written while borrowed.
        unsafe { std::slice::from_raw_parts(ptr, n) }
    }

    /// The values of the first lane of a mask.
    fn shown(&mut self, mask: Slot, slots: &[(Slot, DType)]) -> Vec<ScalarValue> {
        let lane = self.lanes_of(Some(mask)).first().copied().unwrap_or(0);
        slots.iter().map(|(slot, dtype)| self.lane_value(*slot, *dtype, lane)).collect()
    }

    /// The lanes of a mask.
    pub(super) fn lanes_of(&mut self, mask: Option<Slot>) -> Vec<usize> {
        let n = self.chunk.n_lanes();
        match mask {
            None => (0..n).collect(),
            Some(mask) => {
                let flags = self.flags(mask, n).iter().enumerate();
                flags.filter(|(_, flag)| flag.is_set()).map(|(lane, _)| lane).collect()
            }
        }
    }

    /// The value of a lane, which the chunk has.
    pub(super) fn lane_value(&mut self, slot: Slot, dtype: DType, lane: usize) -> ScalarValue {
        let bytes = dtype.size_bytes() as usize;
        let ptr = self.ptr(slot).wrapping_add(lane * bytes);
        let mut word = [0; 8];
        // SAFETY: the register holds the chunk's lanes of `bytes` bytes each, at most eight,
        // and nothing writes it while they are copied.
        unsafe { std::ptr::copy_nonoverlapping(ptr, word.as_mut_ptr(), bytes) };
        ScalarValue { dtype, bits: u64::from_le_bytes(word) }
    }

    fn largest_of(&mut self, lanes: Slot, mask: Option<Slot>) -> i64 {
        let n = self.chunk.n_lanes();
        let ptr = self.ptr(lanes).cast::<i64>();
        // SAFETY: the register holds `n` index lanes; the mask is another one.
        let lanes = unsafe { std::slice::from_raw_parts(ptr, n) };
        let largest = match mask {
            None => lanes.iter().copied().max(),
            Some(mask) => {
                let flags = self.flags(mask, n).iter().zip(lanes);
                flags.filter(|(flag, _)| flag.is_set()).map(|(_, &lane)| lane).max()
            }
        };
        largest.unwrap_or(0).max(0)
    }

    fn trips(&self, range: UniformRange) -> i64 {
        match range {
            UniformRange::Between { start, end, step, .. } => {
                loops::trips_between(self.uniform(start), self.uniform(end), self.uniform(step))
            }
            UniformRange::Halving(n) => loops::trips_halving(self.uniform(n)),
            UniformRange::Doubling(n) => loops::trips_doubling(self.uniform(n)),
        }
    }

    fn counter(&self, range: UniformRange, trip: i64, trips: i64) -> i64 {
        match range {
            UniformRange::Between { start, step, reversed, .. } => {
                let trip = if reversed { trips - 1 - trip } else { trip };
                loops::value_between(self.uniform(start), self.uniform(step), trip)
            }
            UniformRange::Halving(n) => loops::value_halving(self.uniform(n), trip),
            UniformRange::Doubling(_) => loops::value_doubling(trip),
        }
    }
}
