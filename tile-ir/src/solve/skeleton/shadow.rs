//! Who has used an element since the last barrier.

use super::hash::Map;
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

/// Elements of an array of which each has its place in a table: the system clears the
/// parts of it that are used.
const MAX_DENSE: usize = 1 << 20;

/// The elements of one array.
#[derive(Debug)]
pub(super) struct Shadow {
    scope: Scope,
    /// Of the elements that have been used.
    cells: Vec<Cell>,
    places: Places,
    /// Whether warps have barriers of their own.
    orders_warps: bool,
}

/// By element, the number of its cell, from 1; 0 of those that nobody has used.
#[derive(Debug)]
enum Places {
    Dense(Vec<u32>),
    /// Of an array that is too large to have a place for each.
    Sparse(Map<u128, u32>),
}

impl Shadow {
    /// An array of `len` elements, none used yet; `None` for more than anybody
    /// counts.
    pub(super) fn new(scope: Scope, len: Option<usize>, orders_warps: bool) -> Self {
        let places = match len.filter(|len| *len <= MAX_DENSE) {
            Some(len) => Places::Dense(vec![0; len]),
            None => Places::Sparse(Map::default()),
        };
        Self { scope, cells: Vec::new(), places, orders_warps }
    }

    /// The cell of an element; `None` outside of the array.
    fn cell(&mut self, flat: u128) -> Option<&mut Cell> {
        let place = match &mut self.places {
            Places::Dense(places) => places.get_mut(usize::try_from(flat).ok()?)?,
            Places::Sparse(places) => places.entry(flat).or_default(),
        };
        if *place == 0 {
            self.cells.push(Cell::default());
            *place = u32::try_from(self.cells.len()).ok()?;
        }
        self.cells.get_mut(*place as usize - 1)
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
        let orders_warps = self.orders_warps;
        let Some(cell) = self.cell(flat) else { return [None; 3] };
        if cell.interval != interval {
            *cell = Cell { interval, ..Cell::default() };
        }
        let differs = |other: &Mark| other.differs(&mark, scope);
        let of_two = |marks: &[Option<Mark>; 2]| match marks {
            [Some(first), _] if differs(first) => Some(*first),
            [_, Some(second)] if differs(second) => Some(*second),
            [_, _] => None,
        };
        let mut found = [cell.writer.filter(differs), None, None];
        if kind.conflicts(AccessKind::Read) {
            found[1] = of_two(&cell.readers);
        }
        if kind.conflicts(AccessKind::Atomic) {
            found[2] = of_two(&cell.updaters);
        }
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
