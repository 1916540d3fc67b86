//! What was counted: a row of numbers, added and multiplied as one.

/// Numbers of one access site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Requests,
    Elems,
    Sectors,
    IdealSectors,
    Wavefronts,
    IdealWavefronts,
    Unknown,
}

/// Columns of an access site.
pub(super) const SITE_COLUMNS: usize = 7;

/// Numbers of one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchColumn {
    Warps,
    Split,
    Unknown,
}

/// Columns of a branch.
pub(super) const BRANCH_COLUMNS: usize = 3;

/// Counts, with a trace of the outcomes that led to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) cells: Vec<u64>,
    /// A hash of all guards' and conditions' outcomes, in order.
    pub(super) trace: u64,
    /// Whether every iteration was gone through, or stood for by an equal one.
    pub(super) is_exact: bool,
}

impl Tally {
    pub(super) fn new(n_cells: usize) -> Self {
        Self { cells: vec![0; n_cells], trace: 0xcbf2_9ce4_8422_2325, is_exact: true }
    }

    /// Adds the counts of `other`, so many times.
    pub(super) fn add(&mut self, other: &Self, times: u64) {
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell = cell.saturating_add(more.saturating_mul(times));
        }
        self.note(times);
        self.note(other.trace);
        self.is_exact &= other.is_exact;
    }

    /// Enters an outcome into the trace (FNV-1a, a word at a time).
    pub(super) fn note(&mut self, outcome: u64) {
        self.trace = (self.trace ^ outcome).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}
