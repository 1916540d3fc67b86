//! How many copies of each variable a launch has, and where they lie.

use serde::Serialize;

use crate::kernel::{Kernel, TileSpace, VarKind};
use crate::program::{ProgramKernel, Tile};
use crate::syntax::TensorSpace;

/// Where a variable of the text lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// Registers: a `let`.
    Register,
    /// Registers, or a thread's local memory: an array by `let`.
    LocalArray,
    /// Shared memory.
    Shared,
    /// Constant memory.
    Constant,
    /// Global memory.
    Global,
}

/// A variable, a tile or a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub home: Home,
    /// How many there are in the launch: of a work-item's, one for each; of a block's, one
    /// for each block.
    pub copies: u64,
    /// Bytes of one, of a tile or a local array.
    pub bytes: Option<u64>,
}

/// The variables of a kernel as it is written, in a launch of so many blocks;
/// `program` is what it becomes first, with an item for each work-item.
pub(super) fn copies(kernel: &Kernel, program: &ProgramKernel, blocks: u64) -> Vec<Copies> {
    let of = |name: &str, home, copies| Copies { name: name.to_owned(), home, copies, bytes: None };
    let items = program.domains[program.block_domain].n_items();
    let of_items = blocks.saturating_mul(items);
    let is_let = |kind: &VarKind| matches!(kind, VarKind::Let { .. });
    let vars = kernel.vars.values().filter(|var| is_let(&var.kind));
    let vars = vars.map(|var| of(&var.name, Home::Register, of_items));
    let tiles = kernel.tiles.values().map(|tile| {
        let bytes_of = |lowered: &Tile| (lowered.name == tile.name).then(|| lowered.size_bytes());
        let bytes = program.tiles.values().find_map(bytes_of);
        let (home, copies) = match tile.space {
            TileSpace::Shared => (Home::Shared, blocks),
            TileSpace::Local { .. } => (Home::LocalArray, of_items),
        };
        Copies { bytes, ..of(&tile.name, home, copies) }
    });
    let tensors = kernel.tensors.values().map(|tensor| match tensor.space {
        TensorSpace::Global => of(&tensor.name, Home::Global, 1),
        TensorSpace::Constant => of(&tensor.name, Home::Constant, 1),
    });
    vars.chain(tiles).chain(tensors).collect()
}
