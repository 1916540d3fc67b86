//! The shadow of a tensor that the launch writes: memory that all workers share.
//!
//! Of each element are kept who wrote it last, and of those who read it or updated it
//! atomically two agents of the present interval (*near*) and two of different blocks
//! (*far*). Two blocks are never ordered, and may run at once: writes exchange the cell,
//! so that of two writers one sees the other; a read and a write that miss each other are
//! found by [`TensorShadow::finish`], whichever came first.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::cell::{Cell, Format};
use super::clock::Clock;
use crate::cpu::watch::Doing;

/// Cells that several workers use.
type Cells = Box<[AtomicU64]>;

fn cells(n: usize) -> Cells {
    // SAFETY: all bytes of an atomic integer may be 0.
    unsafe { Box::new_zeroed_slice(n).assume_init() }
}

/// Accesses of one kind among which some do not collide.
#[derive(Debug)]
struct Uses {
    near: [Cells; 2],
    far: [Cells; 2],
}

impl Uses {
    fn new(n_elems: usize) -> Self {
        let two = || [cells(n_elems), cells(n_elems)];
        Self { near: two(), far: two() }
    }

    /// The first that collides with an access of the present agent.
    fn find(&self, at: usize, me: Cell, clock: &Clock) -> Option<Cell> {
        let near = self.near.iter().map(|cells| cells[at].load(Relaxed));
        let far = self.far.iter().map(|cells| cells[at].load(Relaxed));
        near.chain(far).find(|&cell| collides(cell, me, clock))
    }

    fn add(&self, at: usize, me: Cell, clock: &Clock) {
        let [one, two] = self.near.each_ref().map(|cells| &cells[at]);
        let is_replaced = |cell: Cell| {
            !clock.is_of_block(cell) || cell < clock.interval || clock.is_before(cell, me)
        };
        let (first, second) = (one.load(Relaxed), two.load(Relaxed));
        if is_replaced(first) {
            one.store(me, Relaxed);
        } else if is_replaced(second) || (clock.has_warps() && clock.is_one_warp(first, second)) {
            two.store(me, Relaxed);
        }
        for cells in &self.far {
            match cells[at].compare_exchange(0, me, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) if clock.is_of_block(other) => return,
                Err(_) => {}
            }
        }
    }

    fn of_blocks(&self, at: usize) -> impl Iterator<Item = Cell> {
        self.far.iter().map(move |cells| cells[at].load(Relaxed)).filter(|&cell| cell != 0)
    }
}

/// Whether an access is not ordered before the present one.
fn collides(cell: Cell, me: Cell, clock: &Clock) -> bool {
    if cell == 0 {
        return false;
    }
    if !clock.is_of_block(cell) {
        return true;
    }
    !clock.is_spent && cell >= clock.interval && !clock.is_before(cell, me)
}

/// The shadow of a tensor.
#[derive(Debug)]
pub(super) struct TensorShadow {
    written: Cells,
    readers: Option<Uses>,
    updaters: Option<Uses>,
    /// Whether one worker alone runs all blocks.
    is_alone: bool,
}

impl TensorShadow {
    /// Of so many elements, of which some may be read, or updated atomically.
    pub(super) fn new(n_elems: usize, has_reads: bool, has_updates: bool, is_alone: bool) -> Self {
        let uses = |is_there: bool| is_there.then(|| Uses::new(n_elems));
        let (readers, updaters) = (uses(has_reads), uses(has_updates));
        Self { written: cells(n_elems), readers, updaters, is_alone }
    }

    /// Bytes of one of so many elements.
    pub(super) fn bytes(n_elems: usize, has_reads: bool, has_updates: bool) -> usize {
        let n_uses = usize::from(has_reads) + usize::from(has_updates);
        n_elems.saturating_mul((1 + 4 * n_uses) * size_of::<AtomicU64>())
    }

    /// Whether nothing but writes is entered.
    pub(super) fn is_write_only(&self) -> bool {
        self.readers.is_none() && self.updaters.is_none()
    }

    /// Whether somebody has written an element.
    pub(super) fn is_written(&self, at: usize) -> bool {
        self.written[at].load(Relaxed) != 0
    }

    /// Enters writes of `n` elements from `at` on, in equal steps, where nothing but writes
    /// is entered, by one agent after another; calls `tell` with the number of each that
    /// collides, and with what.
    pub(super) fn write_run(
        &self,
        (at, step, n): (usize, isize, usize),
        first: Cell,
        format: Format,
        clock: &Clock,
        mut tell: impl FnMut(usize, Cell),
    ) {
        for lane in 0..n {
            let me = first + lane as u64 * format.step();
            let cell = &self.written[at.wrapping_add_signed(step * lane as isize)];
            let before = if self.is_alone {
                let before = cell.load(Relaxed);
                cell.store(me, Relaxed);
                before
            } else {
                cell.swap(me, Relaxed)
            };
            if before != 0 && collides(before, me, clock) {
                tell(lane, before);
            }
        }
    }

    /// Enters an access to one element; calls `tell` with what it collides with.
    pub(super) fn enter(
        &self,
        doing: Doing,
        at: usize,
        me: Cell,
        clock: &Clock,
        mut tell: impl FnMut(Cell),
    ) {
        let write = match doing {
            Doing::Write if self.is_alone => {
                let before = self.written[at].load(Relaxed);
                self.written[at].store(me, Relaxed);
                before
            }
            Doing::Write => self.written[at].swap(me, Relaxed),
            Doing::Read | Doing::Update => self.written[at].load(Relaxed),
        };
        if collides(write, me, clock) {
            tell(write);
        }
        for (kind, uses) in [(Doing::Read, &self.readers), (Doing::Update, &self.updaters)] {
            let Some(uses) = uses else { continue };
            if doing.conflicts(kind)
                && let Some(cell) = uses.find(at, me, clock)
            {
                tell(cell);
            }
            if doing == kind {
                uses.add(at, me, clock);
            }
        }
    }

    /// Calls `tell` with an element and two accesses of different blocks that collide.
    pub(super) fn finish(
        &self,
        format: Format,
        interval_bits: u32,
        mut tell: impl FnMut(usize, Cell, Cell),
    ) {
        if self.is_write_only() {
            return;
        }
        let block = |cell: Cell| format.time(cell) >> interval_bits;
        for (at, written) in self.written.iter().enumerate() {
            let written = Some(written.load(Relaxed)).filter(|&cell| cell != 0);
            let all = |uses: &Option<Uses>| -> Vec<Cell> {
                uses.iter().flat_map(|uses| uses.of_blocks(at)).collect()
            };
            let (readers, updaters) = (all(&self.readers), all(&self.updaters));
            let of_write = written.iter().flat_map(|write| {
                readers.iter().chain(&updaters).map(move |other| (*other, *write))
            });
            let of_update =
                updaters.iter().flat_map(|update| readers.iter().map(move |read| (*read, *update)));
            let found = of_write.chain(of_update).find(|(a, b)| block(*a) != block(*b));
            if let Some((first, second)) = found {
                tell(at, first, second);
            }
        }
    }
}
