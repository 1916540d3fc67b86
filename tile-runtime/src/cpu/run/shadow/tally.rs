//! What a checked launch counts: what its warps do at each place of the text.
//!
//! The rules are those of [`tile_ir::explain::count`], which foresees the same numbers: a
//! request is one warp's execution of an access of which some lane is inside, and an
//! expression that stands in a statement several times is counted once.

use tile_ir::analyze::banks::wavefronts_of;
use tile_ir::analyze::sectors::sectors_of;

/// What warps do at an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessTally {
    pub(crate) requests: u64,
    pub(crate) elems: u64,
    pub(crate) sectors: u64,
    pub(crate) ideal_sectors: u64,
    pub(crate) wavefronts: u64,
    pub(crate) ideal_wavefronts: u64,
}

/// What warps do at a condition or loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BranchTally {
    pub(crate) warps: u64,
    pub(crate) split: u64,
}

/// Where an access goes, as far as costs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Global memory.
    Global,
    /// Constant memory.
    Constant,
    /// Shared memory.
    Shared,
}

/// Counts of one worker, or of a launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By site.
    pub(crate) accesses: Vec<AccessTally>,
    /// By branch.
    pub(crate) branches: Vec<BranchTally>,
    /// By counted operation.
    pub(crate) ops: Vec<u64>,
    /// Barriers of all blocks.
    pub(crate) barriers: u64,
    /// Whether some warps were taken apart, so that their requests count as several.
    pub(crate) is_split: bool,
}

impl Tally {
    /// Of so many sites, branches and counted operations.
    pub(super) fn new(n_sites: usize, n_branches: usize, n_ops: usize) -> Self {
        Self {
            accesses: vec![AccessTally::default(); n_sites],
            branches: vec![BranchTally::default(); n_branches],
            ops: vec![0; n_ops],
            ..Self::default()
        }
    }

    /// Adds the requests of `warps` warps to these byte addresses, one for each lane that makes
    /// one, of `elems` elements.
    pub(in crate::cpu::run) fn request(
        &mut self,
        site: usize,
        space: Space,
        addresses: &[Option<i64>],
        elem_bytes: u32,
        (warps, elems): (u64, u64),
    ) {
        let tally = &mut self.accesses[site];
        tally.requests += warps;
        tally.elems += elems;
        match space {
            Space::Global => {
                let addresses: Vec<i64> = addresses.iter().flatten().copied().collect();
                let found = sectors_of(&addresses, elem_bytes);
                tally.sectors += warps * u64::from(found.moved);
                tally.ideal_sectors += warps * u64::from(found.ideal);
            }
            Space::Shared => {
                let byte = |at: &Option<i64>| at.map(|at| at.max(0).unsigned_abs());
                let bytes: Vec<Option<u64>> = addresses.iter().map(byte).collect();
                let found = wavefronts_of(&bytes, elem_bytes);
                tally.wavefronts += warps * u64::from(found.taken);
                tally.ideal_wavefronts += warps * u64::from(found.ideal);
            }
            Space::Constant => {}
        }
    }

    /// Takes over another worker's counts.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, more) in self.accesses.iter_mut().zip(&other.accesses) {
            own.requests += more.requests;
            own.elems += more.elems;
            own.sectors += more.sectors;
            own.ideal_sectors += more.ideal_sectors;
            own.wavefronts += more.wavefronts;
            own.ideal_wavefronts += more.ideal_wavefronts;
        }
        for (own, more) in self.branches.iter_mut().zip(&other.branches) {
            own.warps += more.warps;
            own.split += more.split;
        }
        for (own, more) in self.ops.iter_mut().zip(&other.ops) {
            *own += more;
        }
        self.barriers += other.barriers;
        self.is_split |= other.is_split;
    }
}
