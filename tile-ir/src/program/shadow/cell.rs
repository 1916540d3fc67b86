//! Who has used an element.

use crate::exchange::WARP_ITEMS;
use crate::kernel::AccessKind;

/// The thread of an access that all threads of the block make.
pub(super) const ALL_THREADS: u32 = u32::MAX;

/// An access that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The statement, by its number in the text.
    pub(super) stmt: u32,
    /// Within the block; [`ALL_THREADS`] of a statement at block scope.
    pub(super) thread: u32,
    /// The point of the domain.
    pub(super) item: u32,
    /// Which execution of an `Items` it was, counted over the launch.
    pub(super) run: u32,
    /// The block, by its number.
    pub(super) block: u32,
    /// Barriers of the launch before it.
    pub(super) interval: u32,
    /// Barriers of its warp before it.
    pub(super) epoch: u32,
}

impl Mark {
    /// Whether nothing orders two accesses of one block and interval.
    pub(super) fn is_free_of(&self, other: &Self) -> bool {
        if self.thread == ALL_THREADS || other.thread == ALL_THREADS {
            return self.thread != other.thread;
        }
        if self.thread == other.thread {
            return self.run == other.run && self.item != other.item;
        }
        let is_one_warp = self.thread / WARP_ITEMS == other.thread / WARP_ITEMS;
        !(is_one_warp && self.epoch != other.epoch)
    }
}

/// Marks of which others may be free.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    fn add(&mut self, mark: Mark, keeps_all: bool) {
        if keeps_all {
            if !self.0.contains(&mark) {
                self.0.push(mark);
            }
            return;
        }
        // Of two threads, whoever comes is free of one. Of one thread only its
        // latest `Items` counts, and of that two items are enough.
        self.0.retain(|other| other.thread != mark.thread || other.run == mark.run);
        let own = self.0.iter().filter(|other| other.thread == mark.thread);
        let (n_own, is_known) =
            own.fold((0, false), |(n, known), other| (n + 1, known || other.item == mark.item));
        let mut others = self.0.iter().filter(|other| other.thread != mark.thread);
        let is_third = match others.next() {
            Some(one) => others.any(|two| two.thread != one.thread),
            None => false,
        };
        if n_own < 2 && !is_known && !is_third {
            self.0.push(mark);
        }
    }

    fn find(&self, is_wanted: impl Fn(&Mark) -> bool) -> Option<Mark> {
        self.0.iter().copied().find(|mark| is_wanted(mark))
    }
}

/// The uses of an element among which an order is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    writer: Option<Mark>,
    readers: Marks,
    updaters: Marks,
}

impl Uses {
    /// Forgets all, and keeps the room that was for it.
    fn clear(&mut self) {
        self.writer = None;
        self.readers.0.clear();
        self.updaters.0.clear();
    }

    /// Enters an access; gives one of each kind that it collides with.
    fn enter(
        &mut self,
        mark: Mark,
        kind: AccessKind,
        is_free: &dyn Fn(&Mark) -> bool,
        keeps_all: bool,
    ) -> [Option<(AccessKind, Mark)>; 3] {
        let of = |other: AccessKind, found: Option<Mark>| {
            found.filter(|_| kind.conflicts(other)).map(|mark| (other, mark))
        };
        let found = [
            of(AccessKind::Write, self.writer.filter(is_free)),
            of(AccessKind::Read, self.readers.find(is_free)),
            of(AccessKind::Atomic, self.updaters.find(is_free)),
        ];
        match kind {
            AccessKind::Write => self.writer = Some(mark),
            AccessKind::Read => self.readers.add(mark, keeps_all),
            AccessKind::Atomic => self.updaters.add(mark, keeps_all),
        }
        found
    }
}

/// The shadow of an element.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The interval that `within` is of.
    interval: u32,
    /// In the block and interval.
    within: Uses,
    /// In the whole launch, of memory that blocks share.
    across: Uses,
    /// A copy in flight that writes it.
    pub(super) incoming: Option<Mark>,
    /// Copies in flight that read it: one of them, and how many.
    pub(super) outgoing: Option<(Mark, u32)>,
    /// One more than the last block that wrote it.
    pub(super) written_in: u32,
}

/// What an access collides with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collision {
    pub(super) with: Mark,
    pub(super) kind: AccessKind,
    pub(super) between: super::Between,
}

impl Cell {
    /// Enters an access. `is_shared` where other blocks use the memory too.
    pub(super) fn enter(
        &mut self,
        mark: Mark,
        kind: AccessKind,
        is_shared: bool,
        keeps_all: bool,
    ) -> Vec<Collision> {
        use super::Between;
        if self.interval != mark.interval {
            self.interval = mark.interval;
            self.within.clear();
        }
        let mut found = Vec::new();
        if let Some(with) = self.incoming {
            found.push(Collision { with, kind: AccessKind::Write, between: Between::Copy });
        }
        if let Some((with, _)) = self.outgoing.filter(|_| kind != AccessKind::Read) {
            found.push(Collision { with, kind: AccessKind::Read, between: Between::Copy });
        }
        let is_free = |other: &Mark| other.is_free_of(&mark);
        let within = self.within.enter(mark, kind, &is_free, keeps_all);
        let add = |found: &mut Vec<Collision>, all: [Option<(AccessKind, Mark)>; 3], between| {
            let all = all.into_iter().flatten();
            found.extend(all.map(|(kind, with)| Collision { with, kind, between }));
        };
        add(&mut found, within, Between::Threads);
        if is_shared {
            // To `Marks` a block is then what a thread is within one.
            let whole = |mark: Mark| Mark { thread: mark.block, item: 0, run: 0, ..mark };
            let other_block = |other: &Mark| other.block != mark.block;
            let across = self.across.enter(whole(mark), kind, &other_block, false);
            add(&mut found, across, Between::Blocks);
        }
        if kind != AccessKind::Read {
            self.written_in = mark.block + 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(thread: u32, run: u32, item: u32) -> Mark {
        Mark { stmt: 0, thread, item, run, block: 0, interval: 1, epoch: 0 }
    }

    /// Whether a write collides after reads.
    fn collides(reads: &[Mark], write: Mark) -> bool {
        let mut cell = Cell::default();
        for read in reads {
            assert!(cell.enter(*read, AccessKind::Read, false, false).is_empty());
        }
        !cell.enter(write, AccessKind::Write, false, false).is_empty()
    }

    #[test]
    fn two_readers_stand_for_all() {
        let marks: Vec<Mark> = (0..3)
            .flat_map(|thread| {
                (0..2).flat_map(move |run| (0..2).map(move |i| mark(thread, run, i)))
            })
            .collect();
        // Every sequence of three reads in the order in which they can be made,
        // and then a write of the last run or a later one.
        for &one in &marks {
            for &two in marks.iter().filter(|two| two.run >= one.run) {
                for &three in marks.iter().filter(|three| three.run >= two.run) {
                    for &write in marks.iter().filter(|write| write.run >= three.run) {
                        let reads = [one, two, three];
                        let expected = reads.iter().any(|read| read.is_free_of(&write));
                        assert_eq!(collides(&reads, write), expected, "{reads:?} {write:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_barrier_and_the_order_of_a_thread() {
        assert!(!collides(&[mark(0, 0, 0)], mark(0, 0, 0)), "one item");
        assert!(collides(&[mark(0, 0, 0)], mark(0, 0, 1)), "two items of one `Items`");
        assert!(!collides(&[mark(0, 0, 0)], mark(0, 1, 1)), "one `Items` after another");
        assert!(collides(&[mark(0, 0, 0)], mark(1, 1, 0)), "two threads");
        assert!(collides(&[mark(ALL_THREADS, 0, 0)], mark(1, 1, 0)), "the whole block");
        let later = Mark { interval: 2, ..mark(1, 1, 0) };
        assert!(!collides(&[mark(0, 0, 0)], later), "a barrier");
        let next = Mark { epoch: 1, ..mark(1, 0, 1) };
        assert!(!collides(&[mark(0, 0, 0)], next), "a barrier of the warp");
        let other_warp = Mark { epoch: 1, ..mark(33, 0, 33) };
        assert!(collides(&[mark(0, 0, 0)], other_warp), "of another warp");
    }
}
