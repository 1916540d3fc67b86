//! What can go wrong when the CPU device prepares or runs a program.

use tile_ir::dtype::DType;
use tile_ir::span::SpanId;

/// Why a program cannot be prepared or was stopped.
///
/// None of these comes from what a user wrote: [`CpuError::TooManyBlocks`],
/// [`CpuError::OutOfMemory`], [`CpuError::Assumption`] and [`CpuError::Shared`] aside, each is a
/// defect of a lowering pass or of the host's launch code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CpuError {
    /// The program breaks a structural rule.
    #[error("kernel `{kernel}`: {rule}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// What does not hold, with the ids concerned.
        rule: String,
    },
    /// An operator on a type that does not have it.
    #[error("kernel `{kernel}`: `{op}` is not defined on `{dtype}`")]
    UndefinedOp {
        /// The kernel.
        kernel: String,
        /// The operator's sign or name.
        op: &'static str,
        /// The operand's type.
        dtype: DType,
    },
    /// A conversion that the language does not have.
    #[error("kernel `{kernel}`: there is no conversion from `{from}` to `{to}`")]
    UndefinedCast {
        /// The kernel.
        kernel: String,
        /// The operand's type.
        from: DType,
        /// The result's type.
        to: DType,
    },
    /// The launch passes another number of buffers or arguments than declared.
    #[error("kernel `{kernel}` takes {expected} {what}, {given} given")]
    WrongCount {
        /// The kernel.
        kernel: String,
        /// `buffers` or `arguments`.
        what: &'static str,
        /// How many the program declares.
        expected: usize,
        /// How many were passed.
        given: usize,
    },
    /// A launch argument of another type than declared.
    #[error("argument `{arg}` of kernel `{kernel}` is of another type than declared")]
    WrongArgument {
        /// The kernel.
        kernel: String,
        /// The argument.
        arg: String,
    },
    /// A buffer that does not fit its declaration.
    #[error("buffer `{buffer}` of kernel `{kernel}`: {rule}")]
    WrongBuffer {
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// What does not hold.
        rule: String,
    },
    /// More blocks than 64 bits count.
    #[error("the grid of kernel `{kernel}` has more than 2^64 blocks")]
    TooManyBlocks {
        /// The kernel.
        kernel: String,
    },
    /// There is no memory for what a checked launch keeps beside its tensors.
    #[error("a checked launch of kernel `{kernel}` keeps {bytes} bytes beside its tensors")]
    OutOfMemory {
        /// The kernel.
        kernel: String,
        /// Bytes that it takes.
        bytes: usize,
    },
    /// An access without a guard left its array: nothing was touched there.
    #[error(
        "kernel `{kernel}`, block {block}: axis {axis} of `{array}` is indexed by {index}, \
         its extent is {extent}"
    )]
    OutOfRange {
        /// The kernel.
        kernel: String,
        /// The linear number of the block.
        block: u64,
        /// The buffer or tile.
        array: String,
        /// The axis; the number of axes for the choice among a tile's buffers.
        axis: usize,
        /// The index.
        index: i64,
        /// The axis's extent.
        extent: i64,
    },
    /// An assumption of the kernel's author does not hold. Coordinates and values
    /// are of the form `x = 3`.
    #[error("kernel `{kernel}`: `assume({text})` does not hold")]
    Assumption {
        /// The kernel.
        kernel: String,
        /// What was assumed, as it stands in the source.
        text: String,
        /// Its place.
        span: SpanId,
        /// The block's coordinates.
        block: Vec<String>,
        /// The work-item's, or those of a point of a cooperative loop.
        item: Vec<String>,
        /// What the condition is computed from.
        values: Vec<String>,
    },
    /// Two work-items have one number that the kernel's author says to differ.
    #[error("kernel `{kernel}`: `assume({text})` does not hold")]
    Shared {
        /// The kernel.
        kernel: String,
        /// What was assumed, as it stands in the source.
        text: String,
        /// Its place.
        span: SpanId,
        /// The numbers of the first, of which one is the other's too.
        values: Vec<String>,
        /// The two work-items.
        who: Box<[WorkItem; 2]>,
    },
    /// Roles wait for one another at barriers that they do not share.
    #[error(
        "kernel `{kernel}`, block {block}: role `{role}` waits at a barrier that not all reach"
    )]
    BarrierMismatch {
        /// The kernel.
        kernel: String,
        /// The linear number of the block.
        block: u64,
        /// The first role that waits.
        role: String,
    },
}

/// A work-item, by coordinates of the form `x = 3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkItem {
    /// Those of its block.
    pub(crate) block: Vec<String>,
    /// Its own.
    pub(crate) item: Vec<String>,
}
