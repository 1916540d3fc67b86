//! Accesses in any order, entered into a shadow and looked at one against all others.

use tile_ir::exchange::WARP_ITEMS;

use super::cell::{Cell, Format};
use super::clock::Clock;
use super::tensor::TensorShadow;
use super::tile::{Fault, Run, TileShadow};
use crate::cpu::watch::Doing;

/// Work-items of a block: a warp, and part of another.
const N_ITEMS: u32 = 40;
/// The block, work-items at both ends of both warps, and points of cooperative loops.
const AGENTS: [u32; 9] = [0, 1, 2, 32, 33, 40, 41, 42, 70];
const N_AGENTS: u32 = 80;
const N_SITES: usize = 12;
const N_ELEMS: usize = 3;
const DOINGS: [Doing; 3] = [Doing::Read, Doing::Write, Doing::Update];

/// An access, as whoever keeps all of them knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    block: u64,
    /// Barriers of the block before it.
    interval: u32,
    /// Barriers of its warp before it.
    epoch: u32,
    agent: u32,
    site: usize,
    doing: Doing,
    element: usize,
}

impl Known {
    fn warp(&self) -> Option<u32> {
        (1..=N_ITEMS).contains(&self.agent).then(|| (self.agent - 1) / WARP_ITEMS)
    }

    /// Whether it and a later one use one element, one of them changes it, and nothing
    /// orders them.
    fn races_with(&self, later: &Self) -> bool {
        let is_of_warp = self.warp().is_some() && self.warp() == later.warp();
        let is_ordered = self.block == later.block
            && (self.interval < later.interval
                || self.agent == later.agent
                || (is_of_warp && self.epoch < later.epoch));
        self.element == later.element && self.doing.conflicts(later.doing) && !is_ordered
    }
}

/// Where a block is.
#[derive(Clone, Debug, Default)]
struct Place {
    block: u64,
    interval: u32,
    epochs: [u32; 2],
}

impl Place {
    fn of(block: u64) -> Self {
        Self { block, ..Self::default() }
    }

    fn epoch(&self, agent: u32) -> u32 {
        let warp = agent.checked_sub(1).filter(|item| *item < N_ITEMS);
        warp.map_or(0, |item| self.epochs[(item / WARP_ITEMS) as usize])
    }

    fn access(&self, rng: &mut fastrand::Rng) -> Known {
        let agent = AGENTS[rng.usize(0..AGENTS.len())];
        Known {
            block: self.block,
            interval: self.interval,
            epoch: self.epoch(agent),
            agent,
            site: rng.usize(0..N_SITES),
            doing: DOINGS[rng.usize(0..DOINGS.len())],
            element: rng.usize(0..N_ELEMS),
        }
    }

    /// Some warps meet.
    fn meet(&mut self, clock: &mut Clock, rng: &mut fastrand::Rng) {
        let warps: &[usize] = [&[0][..], &[1], &[0, 1]][rng.usize(0..3)];
        warps.iter().for_each(|&warp| self.epochs[warp] += 1);
        clock.pass_warp_barrier(warps.iter().copied());
    }
}

/// All accesses so far, and the elements of which nothing more is asked: of two that
/// race a shadow keeps one.
#[derive(Default)]
struct History {
    all: Vec<Known>,
    spoilt: [bool; N_ELEMS],
}

impl History {
    /// Compares what a shadow says of an access with all that were before. `must_tell`
    /// unless it may have lost count.
    fn check(&mut self, format: Format, access: Known, told: &[Cell], must_tell: bool) -> bool {
        let racing: Vec<&Known> =
            self.all.iter().filter(|earlier| earlier.races_with(&access)).collect();
        for &cell in told {
            let (agent, site) = (format.agent(cell), format.site(cell));
            let is_one = racing.iter().any(|one| (one.agent, one.site) == (agent, site));
            assert!(is_one, "no race of {access:?} with {agent} at {site}: {:#?}", self.all);
        }
        let races = !racing.is_empty();
        let is_asked = must_tell && !self.spoilt[access.element];
        assert!(!is_asked || told.is_empty() != races, "{access:?} after {:#?}", self.all);
        self.spoilt[access.element] |= races;
        self.all.push(access);
        races && is_asked
    }
}

#[test]
fn a_tile_tells_the_first_race_of_an_element_and_no_other() {
    let format = Format::new(N_SITES, N_AGENTS);
    let mut n_races = 0;
    for seed in 0..3000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let has_warps = rng.bool();
        let mut clock = Clock::of_worker(format, if has_warps { N_ITEMS } else { 0 });
        let mut shadow = TileShadow::new(N_ELEMS, true);
        for block in 0..3 {
            clock.begin_block(block);
            let (mut place, mut history) = (Place::of(block), History::default());
            let mut written = [false; N_ELEMS];
            for _ in 0..rng.usize(5..40) {
                match rng.u8(0..10) {
                    0 => {
                        place.interval += 1;
                        clock.pass_barrier();
                        history.spoilt = [false; N_ELEMS];
                    }
                    1 if has_warps => place.meet(&mut clock, &mut rng),
                    _ => {
                        let access = place.access(&mut rng);
                        let me = format.cell(clock.now, access.agent, access.site);
                        let (mut told, mut unwritten) = (Vec::new(), false);
                        let doing = access.doing;
                        shadow.enter(doing, access.element, me, &clock, |fault| match fault {
                            Fault::Race(cell) => told.push(cell),
                            Fault::Unwritten => unwritten = true,
                        });
                        n_races += u32::from(history.check(format, access, &told, true));
                        let is_new = !written[access.element];
                        assert_eq!(unwritten, doing != Doing::Write && is_new, "{access:?}");
                        written[access.element] |= doing == Doing::Write;
                    }
                }
            }
        }
    }
    assert!(n_races > 1000, "{n_races}");
}

/// Rows of consecutive agents take a short way where nothing is new.
#[test]
fn rows_tell_what_their_elements_do() {
    const N: usize = 8;
    let format = Format::new(N_SITES, N_AGENTS);
    let (mut n_faults, mut n_quiet) = (0, 0);
    for seed in 0..3000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut clock = Clock::of_worker(format, 0);
        let (mut rows, mut single) = (TileShadow::new(N, false), TileShadow::new(N, false));
        clock.begin_block(0);
        for _ in 0..rng.usize(5..30) {
            match rng.u8(0..8) {
                0 => clock.begin_block(0),
                1 | 2 => clock.pass_barrier(),
                _ => {
                    let doing = if rng.bool() { Doing::Read } else { Doing::Write };
                    let (offset, site) = (rng.usize(0..N), rng.usize(0..N_SITES));
                    let n = rng.usize(1..=N - offset);
                    // As often as not each element is its own agent's.
                    let agent = 1 + if rng.bool() { offset } else { rng.usize(0..N) } as u32;
                    let first = format.cell(clock.now, agent, site);
                    let (mut told, mut expected) = (Vec::new(), Vec::new());
                    let run = Run { offset, step: 1, n, first };
                    rows.enter_run(doing, run, format, &clock, |lane, fault| {
                        told.push((lane, fault));
                    });
                    for lane in 0..n {
                        let me = first + lane as u64 * format.step();
                        single.enter(doing, offset + lane, me, &clock, |fault| {
                            expected.push((lane, fault));
                        });
                    }
                    // Of several accesses of one agent either may be told.
                    let of = |faults: &[(usize, Fault)]| -> Vec<(usize, Option<u32>)> {
                        let agent = |fault| match fault {
                            Fault::Race(cell) => Some(format.agent(cell)),
                            Fault::Unwritten => None,
                        };
                        faults.iter().map(|&(lane, fault)| (lane, agent(fault))).collect()
                    };
                    assert_eq!(of(&told), of(&expected), "seed {seed}");
                    n_faults += told.len();
                    n_quiet += usize::from(told.is_empty());
                }
            }
        }
    }
    assert!(n_faults > 1000 && n_quiet > 1000, "{n_faults} and {n_quiet}");
}

/// Blocks on several workers that take turns.
fn tensor_races(n_workers: usize, interval_bits: u32, seeds: u64) -> u32 {
    let format = Format::new(N_SITES, N_AGENTS);
    let mut n_races = 0;
    for seed in 0..seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        let n_items = if rng.bool() { N_ITEMS } else { 0 };
        let shadow = TensorShadow::new(N_ELEMS, true, true, n_workers == 1);
        let mut next_block = 0;
        let mut begin = |clock: &mut Clock| {
            next_block += 1;
            clock.begin_block(next_block - 1);
            Place::of(next_block - 1)
        };
        let mut workers: Vec<(Clock, Place)> = (0..n_workers)
            .map(|_| {
                let mut clock = Clock::of_launch(format, n_items, interval_bits);
                let place = begin(&mut clock);
                (clock, place)
            })
            .collect();
        let mut history = History::default();
        for _ in 0..rng.usize(5..40) {
            let (clock, place) = &mut workers[rng.usize(0..n_workers)];
            match rng.u8(0..20) {
                0 => *place = begin(clock),
                1..=4 => {
                    place.interval += 1;
                    clock.pass_barrier();
                }
                5..=7 if n_items > 0 => place.meet(clock, &mut rng),
                _ => {
                    let access = place.access(&mut rng);
                    let me = format.cell(clock.now, access.agent, access.site);
                    let mut told = Vec::new();
                    let enter = |cell| told.push(cell);
                    shadow.enter(access.doing, access.element, me, clock, enter);
                    let must_tell = !clock.is_spent;
                    n_races += u32::from(history.check(format, access, &told, must_tell));
                }
            }
        }
        shadow.finish(format, interval_bits, |element, one, other| {
            let of = |cell: Cell, known: &&Known| {
                let place =
                    (format.agent(cell), format.site(cell), format.time(cell) >> interval_bits);
                place == (known.agent, known.site, known.block + 1) && known.element == element
            };
            let find =
                |cell| history.all.iter().find(|known| of(cell, known)).expect("it was made");
            let (one, other) = (find(one), find(other));
            assert!(one.block != other.block, "{one:?} and {other:?}");
        });
    }
    n_races
}

#[test]
fn a_tensor_tells_the_first_race_of_an_element_and_no_other() {
    for n_workers in [1, 3] {
        let n_races = tensor_races(n_workers, 20, 2000);
        assert!(n_races > 1000, "{n_races}");
    }
}

/// Of blocks with more barriers than can be counted it may be silent, but never wrong.
#[test]
fn a_tensor_that_has_lost_count_tells_nothing_wrong() {
    let n_races = tensor_races(2, 2, 2000);
    assert!(n_races > 500, "{n_races}");
}
