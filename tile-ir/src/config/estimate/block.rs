//! What is counted of one block.

use std::collections::{BTreeMap, BTreeSet};

use super::least::TileAccess;
use crate::kernel::{ArrayRef, ExprId, TileId};

/// Counts of one block.
#[derive(Default)]
pub(super) struct BlockCost {
    /// Arithmetic operations of all items (a multiply-add is one).
    pub(super) arithmetic: f64,
    /// Global traffic in whole sectors, in bytes.
    pub(super) global_bytes: f64,
    /// The same if L1 held whatever the block has read before.
    pub(super) least_bytes: f64,
    /// The accesses to tiles, where they are asked for.
    pub(super) tile_accesses: Option<Vec<TileAccess>>,
    /// What was read, and what was written, of each tensor.
    pub(super) touched: BTreeMap<(ArrayRef, bool), Touched>,
    /// That of it which is fetched ahead, while something else is computed.
    pub(super) staged_bytes: f64,
    /// Cycles of an SM for lines that warps' requests to global memory touch beyond those
    /// that as many bytes in a row would.
    pub(super) scattered_cycles: f64,
    /// Lines that the threads go along, each by itself.
    pub(super) walked_lines: f64,
    /// Bytes that come again where L1 does not hold those lines.
    pub(super) lost_bytes: f64,
    /// Instructions of all threads that access memory, or compute addresses.
    pub(super) memory_instructions: f64,
    /// Shared-memory requests of one element per lane, of all threads.
    pub(super) shared_requests: f64,
    /// Times that a thread waits for tiles' elements to compute with.
    pub(super) shared_rounds: f64,
    /// Shared memory that exchanges among work-items take.
    pub(super) exchange_bytes: f64,
    /// Barriers.
    pub(super) barriers: f64,
    /// Times that a thread waits for stored data to say where it goes on.
    pub(super) branches: f64,
    /// Points where a global load is waited for, phases with several stages not
    /// counted.
    pub(super) waits: f64,
    /// Iterations of phases that fill tiles ahead of their use.
    pub(super) staged_iterations: f64,
    /// Tiles that they fill.
    pub(super) staged_tiles: BTreeSet<TileId>,
    /// Words of registers that the items' variables take in one thread.
    pub(super) fragment_words: f64,
    /// Registers of a thread that hold operands shared by several items.
    pub(super) operand_words: f64,
    /// Words of values that several of a thread's items read.
    pub(super) kept_words: f64,
    /// Registers of a thread for copies that are under way: their addresses, or what
    /// they have fetched.
    pub(super) copy_words: f64,
    /// Words of values that wait for global memory, and of temporaries.
    pub(super) waiting_words: f64,
    /// Instructions of a thread that stand in the text, those of loops that stay
    /// loops left out.
    pub(super) code: f64,
    /// Instructions of the longest such loop's body.
    pub(super) loop_code: f64,
    /// Bytes that one thread asks of global memory before it waits.
    pub(super) bytes_in_flight: f64,
}

/// What the block has touched of a tensor.
#[derive(Default)]
pub(super) struct Touched {
    /// Bytes that no other block touches.
    pub(super) new_bytes: f64,
    /// The indices of the accesses.
    pub(super) indices: Vec<Vec<ExprId>>,
}
