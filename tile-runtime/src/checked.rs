//! What a checked launch tells.
//!
//! [`crate::Options::checked`] runs a kernel on the CPU device as it is written, one
//! work-item a thread, and keeps of each element who touched it. What a sound launch does
//! not do is a [`Finding`], and the launch an error; what is defined and seldom meant is a
//! [`Note`].

mod text;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// What one checked launch of a kernel has shown. Prints as the compiler's messages do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The kernel.
    pub kernel: String,
    /// Its source file.
    pub file: String,
    /// What a sound launch does not do. Each pair of places in the text once.
    pub findings: Vec<Finding>,
    /// What is defined, and seldom meant. Each place once.
    pub notes: Vec<Note>,
    /// What the launch's warps did, where that was asked for
    /// ([`crate::Options::counts`]).
    pub counts: Option<CheckCounts>,
}

impl std::error::Error for CheckReport {}

/// What the warps of a launch did, counted while it ran: of the kernel as it is written,
/// one work-item a thread. The rules are those by which [`crate::Kernel::explain`]
/// foresees it ([`tile_ir::explain::count`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckCounts {
    /// At each access of the text.
    pub accesses: Vec<AccessCount>,
    /// At each condition and loop of the text.
    pub branches: Vec<BranchCount>,
    /// Operations, by the name of their result's type: two of a fused multiply-add, one
    /// of every other that computes a number from numbers.
    pub ops: Vec<(&'static str, u64)>,
    /// Barriers, of all blocks.
    pub barriers: u64,
    /// Whether all warps were counted whole. In blocks of more than 1024 work-items some
    /// are counted in parts.
    pub is_exact: bool,
}

/// What warps do at an access.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessCount {
    /// The line in the source, from 1.
    pub line: u32,
    /// The array.
    pub array: String,
    /// Where it is.
    pub kind: ArrayKind,
    /// What is done.
    pub does: Does,
    /// Requests of warps.
    pub requests: u64,
    /// Elements asked for, of all work-items.
    pub elems: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// Sectors of 32 bytes that requests to global memory move.
    pub sectors: u64,
    /// Sectors that as many different bytes take at the least.
    pub ideal_sectors: u64,
    /// Wavefronts that requests to shared memory take.
    pub wavefronts: u64,
    /// Wavefronts that they take without bank conflicts.
    pub ideal_wavefronts: u64,
}

/// What warps do at a condition or loop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BranchCount {
    /// The line in the source, from 1.
    pub line: u32,
    /// Times that a warp comes to it.
    pub warps: u64,
    /// Times that some of its work-items go one way and some the other.
    pub split: u64,
}

/// A work-item, or the block as a whole, at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckPlace {
    /// The line in the source, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 0, in characters.
    pub column: u32,
    /// The block's coordinates, by name, outermost first.
    pub block: Vec<(String, i64)>,
    /// The work-item's, or those of a point of a cooperative loop; none of what the
    /// block does as a whole.
    pub item: Vec<(String, i64)>,
    /// Barriers of the block before it.
    pub barriers: u32,
}

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Does {
    /// It is read.
    Reads,
    /// It is written.
    Writes,
    /// It is updated by `atomic`.
    Updates,
}

/// Where an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayKind {
    /// A tensor.
    Tensor,
    /// A tile of the block.
    Tile,
}

/// Something that no sound launch does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// Two accesses of one element, at least one of which changes it, and nothing that
    /// orders them.
    Race {
        /// The array.
        array: String,
        /// Where it is.
        kind: ArrayKind,
        /// The first such element's indices.
        element: Vec<i64>,
        /// Who came first.
        first: (Does, CheckPlace),
        /// Who came then.
        second: (Does, CheckPlace),
        /// How many such pairs were seen at these two places.
        count: u64,
    },
    /// A read of an element of a tile that nobody in the block has written.
    Uninitialised {
        /// The tile.
        array: String,
        /// The first such element's indices.
        element: Vec<i64>,
        /// Who reads it.
        place: CheckPlace,
        /// How many such reads there were here.
        count: u64,
    },
    /// An index outside a tile or a local array. The launch ends there.
    Outside {
        /// The array.
        array: String,
        /// The axis.
        axis: usize,
        /// The index.
        index: i64,
        /// The axis's extent.
        extent: i64,
        /// Who uses it.
        place: CheckPlace,
    },
    /// A barrier, a cooperative loop or an exchange to which not all come that it
    /// concerns. The launch ends there.
    Divergence {
        /// Who is there.
        present: CheckPlace,
        /// One who is not: the same one of points of a cooperative loop, which never meet.
        /// `None` where all of the block have come to a cooperative loop or an exchange by a
        /// condition on which work-items need not agree.
        absent: Option<CheckPlace>,
        /// Whether it concerns a warp; else the block.
        is_of_warp: bool,
    },
    /// A variable that is read and has no value.
    Unset {
        /// The variable.
        variable: String,
        /// Who reads it.
        place: CheckPlace,
        /// How many such reads there were here.
        count: u64,
    },
}

/// Something that is defined, and seldom meant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Accesses outside an array: reads gave the pad value, writes did nothing.
    Dropped {
        /// What was to be done.
        does: Does,
        /// The array.
        array: String,
        /// The axis.
        axis: usize,
        /// The first such index.
        index: i64,
        /// The axis's extent.
        extent: i64,
        /// Who used it.
        place: CheckPlace,
        /// How many such accesses there were here.
        count: u64,
    },
    /// An integer operation whose result wrapped.
    Overflow {
        /// The operator.
        operator: Cow<'static, str>,
        /// The type.
        dtype: &'static str,
        /// Who did it first.
        place: CheckPlace,
        /// How often.
        count: u64,
    },
    /// An integer divided by 0, which gave 0.
    DivisionByZero {
        /// The operator.
        operator: Cow<'static, str>,
        /// Who did it first.
        place: CheckPlace,
        /// How often.
        count: u64,
    },
    /// A NaN or an infinity made of finite operands; where that was asked for.
    NotFinite {
        /// The operator or function.
        operator: Cow<'static, str>,
        /// The type.
        dtype: &'static str,
        /// Who did it first.
        place: CheckPlace,
        /// How often.
        count: u64,
    },
    /// Elements of a tensor that the kernel only writes, and that this launch left as
    /// they were.
    LeftOut {
        /// The tensor.
        array: String,
        /// The first such element's indices.
        element: Vec<i64>,
        /// How many there are.
        count: u64,
    },
}

/// Keeps the reports of checked launches that are given it with
/// [`crate::Options::check_log`]. Clones share what they keep.
///
/// # Examples
///
/// ```
/// use tile_runtime::{CheckLog, Device, Note, Options, tiled_kernel};
///
/// tiled_kernel! {
///     /// `x[i] / y[i]`.
///     fn quotient(x: &mut Tensor<i32, [N]>, y: &Tensor<i32, [N]>)
///     where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
///     {
///         let i = bx * TN + tx;
///         x[i] /= y[i];
///     }
/// }
///
/// let device = Device::cpu();
/// let mut x = device.tensor([4], &[1, 2, 3, 4])?;
/// let y = device.tensor([4], &[1, 0, 1, 0])?;
/// let log = CheckLog::new();
/// let options = Options::new().tile("TN", 4).checked(true).check_log(&log);
/// quotient::with(options).launch(&mut x, &y)?;
/// let report = &log.take()[0];
/// let [Note::DivisionByZero { count, .. }] = &report.notes[..] else { panic!("{report}") };
/// assert_eq!((*count, x.to_vec()?), (2, vec![1, 0, 3, 0]));
/// # Ok::<(), tile_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CheckLog(Arc<Mutex<Vec<CheckReport>>>);

impl CheckLog {
    /// Keeps nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was kept since the last call, in the order of the launches.
    pub fn take(&self) -> Vec<CheckReport> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keep(&self, report: CheckReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }
}
