//! The shadow of a tile: memory of one worker.
//!
//! Of each element are kept who wrote it last, and of the present interval two different
//! agents that read it, and two that updated it atomically: of two, whoever comes is
//! another than one.

use super::cell::{Cell, Format};
use super::clock::Clock;
use crate::cpu::watch::Doing;

/// What an access may be found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Not ordered after an earlier one.
    Race(Cell),
    /// A read of what nobody has written in this block.
    Unwritten,
}

/// Elements of a row that are touched one after another by as many agents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first element.
    pub(super) offset: usize,
    /// From one to the next.
    pub(super) step: isize,
    /// How many.
    pub(super) n: usize,
    /// The first agent's cell.
    pub(super) first: Cell,
}

impl Run {
    fn at(&self, lane: usize) -> usize {
        // Within the tile, as all of them are.
        self.offset.wrapping_add_signed(self.step * lane as isize)
    }
}

/// The shadow of a tile.
#[derive(Debug)]
pub(super) struct TileShadow {
    written: Vec<Cell>,
    readers: [Vec<Cell>; 2],
    /// Empty where nothing is updated atomically.
    updaters: [Vec<Cell>; 2],
}

impl TileShadow {
    /// Of so many elements.
    pub(super) fn new(n_elems: usize, has_updates: bool) -> Self {
        let n_updated = if has_updates { n_elems } else { 0 };
        let cells = |n: usize| [vec![0; n], vec![0; n]];
        Self { written: vec![0; n_elems], readers: cells(n_elems), updaters: cells(n_updated) }
    }

    /// Enters a row; calls `tell` with the number of each access at fault.
    pub(super) fn enter_run(
        &mut self,
        doing: Doing,
        run: Run,
        format: Format,
        clock: &Clock,
        mut tell: impl FnMut(usize, Fault),
    ) {
        let is_row = run.step == 1 && !clock.has_warps() && self.updaters[0].is_empty();
        let is_quiet = is_row
            && match doing {
                Doing::Read => self.reads_nothing_new(run, format, clock),
                Doing::Write => self.writes_alone(run, format, clock),
                Doing::Update => false,
            };
        match (is_quiet, doing) {
            (true, Doing::Write) => {
                let written = &mut self.written[run.offset..run.offset + run.n];
                for (lane, cell) in written.iter_mut().enumerate() {
                    *cell = run.first + lane as u64 * format.step();
                }
            }
            (true, Doing::Read | Doing::Update) => {}
            (false, _) => {
                for lane in 0..run.n {
                    let me = run.first + lane as u64 * format.step();
                    self.enter(doing, run.at(lane), me, clock, |fault| tell(lane, fault));
                }
            }
        }
    }

    /// Whether a row of reads is ordered after all writes, and known already.
    fn reads_nothing_new(&self, run: Run, format: Format, clock: &Clock) -> bool {
        let range = run.offset..run.offset + run.n;
        let [one, two] = &self.readers;
        let (written, one, two) = (&self.written[range.clone()], &one[range.clone()], &two[range]);
        let (block, interval, step) = (clock.block, clock.interval, format.step());
        let mut is_quiet = true;
        let mut me = run.first;
        for lane in 0..run.n {
            let write = written[lane];
            let in_order =
                (write >= block) & ((write < interval) | format.is_same_agent(write, me));
            let is_mine = (one[lane] >= interval) & format.is_same_agent(one[lane], me);
            is_quiet &= in_order & ((two[lane] >= interval) | is_mine);
            me += step;
        }
        is_quiet
    }

    /// Whether a row of writes touches only what no other agent has since the barrier.
    fn writes_alone(&self, run: Run, format: Format, clock: &Clock) -> bool {
        let range = run.offset..run.offset + run.n;
        let [one, two] = &self.readers;
        let (written, one, two) = (&self.written[range.clone()], &one[range.clone()], &two[range]);
        let (interval, step) = (clock.interval, format.step());
        let mut is_quiet = true;
        let mut me = run.first;
        for lane in 0..run.n {
            let is_mine = |cell: Cell| (cell < interval) | format.is_same_agent(cell, me);
            is_quiet &= is_mine(written[lane]) & is_mine(one[lane]) & is_mine(two[lane]);
            me += step;
        }
        is_quiet
    }

    /// Enters an access to one element; calls `tell` with each fault.
    pub(super) fn enter(
        &mut self,
        doing: Doing,
        at: usize,
        me: Cell,
        clock: &Clock,
        mut tell: impl FnMut(Fault),
    ) {
        let collides = |cell: Cell| cell >= clock.interval && !clock.is_before(cell, me);
        let write = self.written[at];
        if doing != Doing::Write && write < clock.block {
            tell(Fault::Unwritten);
        }
        if collides(write) {
            tell(Fault::Race(write));
        }
        if doing != Doing::Read {
            tell_first(self.readers.iter().map(|cells| cells[at]), collides, &mut tell);
        }
        if doing != Doing::Update && !self.updaters[0].is_empty() {
            tell_first(self.updaters.iter().map(|cells| cells[at]), collides, &mut tell);
        }
        match doing {
            Doing::Write => self.written[at] = me,
            Doing::Read => add(&mut self.readers, at, me, clock),
            Doing::Update => add(&mut self.updaters, at, me, clock),
        }
    }
}

fn tell_first(
    cells: impl Iterator<Item = Cell>,
    collides: impl Fn(Cell) -> bool,
    tell: &mut impl FnMut(Fault),
) {
    if let Some(cell) = cells.into_iter().find(|&cell| collides(cell)) {
        tell(Fault::Race(cell));
    }
}

/// Keeps an access among two of different agents; where warps meet, of different warps
/// if there are such, and the latest of each.
fn add(cells: &mut [Vec<Cell>; 2], at: usize, me: Cell, clock: &Clock) {
    let [one, two] = cells.each_mut().map(|cells| &mut cells[at]);
    if *one < clock.interval || clock.is_before(*one, me) {
        *one = me;
        return;
    }
    let is_spare = *two < clock.interval || clock.is_before(*two, me);
    if is_spare || (clock.has_warps() && clock.is_one_warp(*one, *two)) {
        *two = me;
    }
}
