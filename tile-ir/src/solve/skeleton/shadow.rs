//! Who has used an element since the last barrier.

use std::collections::HashMap;

use super::plan::SiteId;
use crate::kernel::{AccessKind, Source};

/// Between which workers an order is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scope {
    /// Workers of one block, between two barriers.
    Block,
    /// Workers of two blocks.
    Grid,
}

/// An access that was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The access in the text.
    pub(super) site: SiteId,
    /// Who made it, within its block.
    pub(super) worker: u32,
    /// The warp of a work-item.
    pub(super) warp: Option<u32>,
    /// Barriers of that warp before it.
    pub(super) epoch: u32,
    /// The block, by its number among those that are run.
    pub(super) block: u32,
    /// The loop iterations around.
    pub(super) context: u32,
    /// A load that decided that it was made.
    pub(super) cause: Option<Source>,
}

impl Mark {
    /// Whether the two are of workers that `scope` leaves unordered.
    pub(super) fn differs(&self, other: &Self, scope: Scope) -> bool {
        match scope {
            Scope::Block => self.worker != other.worker && !self.is_apart(other),
            Scope::Grid => self.block != other.block,
        }
    }

    /// Whether barriers of their common warp stand between the two.
    fn is_apart(&self, other: &Self) -> bool {
        self.is_of_warp(other) && self.epoch != other.epoch
    }

    fn is_of_warp(&self, other: &Self) -> bool {
        self.warp.is_some() && self.warp == other.warp
    }
}

/// One element: the last writer, and two readers and two atomic updaters that
/// differ. A third would add nothing: whoever collides differs from one of two.
/// Where warps have barriers of their own, a mark gives way to one of its warp
/// after such a barrier, with which everybody collides that it still could
/// collide with; and of two of one warp one gives way to one of another.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The interval that the marks are of.
    interval: u32,
    writer: Option<Mark>,
    readers: [Option<Mark>; 2],
    updaters: [Option<Mark>; 2],
}

/// Elements of an array with a cell for each: those of larger ones are made as they are
/// used, because clearing a table costs more than a run of few accesses.
const MAX_DENSE: usize = 1 << 14;

/// The elements of one array.
#[derive(Debug)]
pub(super) struct Shadow {
    scope: Scope,
    cells: Cells,
    /// Whether warps have barriers of their own.
    orders_warps: bool,
}

/// Elements by position.
#[derive(Debug)]
enum Cells {
    Dense(Vec<Cell>),
    /// Of an array that is too large to have a cell for each.
    Sparse(HashMap<u128, Cell>),
}

impl Shadow {
    /// An array of `len` elements, none used yet; `None` for more than anybody
    /// counts.
    pub(super) fn new(scope: Scope, len: Option<usize>, orders_warps: bool) -> Self {
        let cells = match len.filter(|len| *len <= MAX_DENSE) {
            Some(len) => Cells::Dense(vec![Cell::default(); len]),
            None => Cells::Sparse(HashMap::new()),
        };
        Self { scope, cells, orders_warps }
    }

    /// Between which workers it looks for collisions.
    pub(super) fn scope(&self) -> Scope {
        self.scope
    }

    /// Enters an access to element `flat` in `interval`, which counts from 1, and
    /// gives earlier ones of that interval that it collides with: one of each
    /// kind.
    pub(super) fn enter(
        &mut self,
        flat: u128,
        interval: u32,
        mark: Mark,
        kind: AccessKind,
    ) -> [Option<Mark>; 3] {
        let scope = self.scope;
        let cell = match &mut self.cells {
            Cells::Dense(cells) => {
                let cell = usize::try_from(flat).ok().and_then(|flat| cells.get_mut(flat));
                let Some(cell) = cell else { return [None; 3] };
                cell
            }
            Cells::Sparse(cells) => cells.entry(flat).or_default(),
        };
        if cell.interval != interval {
            *cell = Cell { interval, ..Cell::default() };
        }
        let differs = |other: &Mark| other.differs(&mark, scope);
        let found = [
            (AccessKind::Write, [cell.writer, None]),
            (AccessKind::Read, cell.readers),
            (AccessKind::Atomic, cell.updaters),
        ]
        .map(|(other, marks)| {
            let mut marks = marks.into_iter().flatten().filter(|_| kind.conflicts(other));
            marks.find(differs)
        });
        let orders_warps = self.orders_warps;
        let two = match kind {
            AccessKind::Write => {
                cell.writer = Some(mark);
                return found;
            }
            AccessKind::Read => &mut cell.readers,
            AccessKind::Atomic => &mut cell.updaters,
        };
        if orders_warps {
            *two = two.map(|old| old.filter(|old| !old.is_apart(&mark)));
            two.sort_by_key(Option::is_none);
        }
        match *two {
            [None, _] => two[0] = Some(mark),
            [Some(first), None] if differs(&first) => two[1] = Some(mark),
            [Some(first), Some(second)]
                if orders_warps && first.is_of_warp(&second) && !first.is_of_warp(&mark) =>
            {
                two[1] = Some(mark);
            }
            [Some(_), _] => {}
        }
        found
    }
}
