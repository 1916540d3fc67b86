//! Place: where each element of a tile lies, and where each tile.
//!
//! A tile is stored along the axis, and its rows padded by the fewest elements,
//! that give the fewest wavefronts, by counting the addresses of warps
//! ([`crate::analyze::banks`]); tiles are separate arrays while they fit the shared memory that every block has, and
//! one block given at launch beyond that.

use super::LowerError;
use crate::analyze::banks::tile_wavefronts;
use crate::config::{Config, TilePadding};
use crate::device::DeviceProperties;
use crate::program::{ProgramKernel, SharedMemory, TileId, TileLayout, TileSpace};

/// Most elements of padding that are tried, in bytes.
const MAX_PAD_BYTES: u32 = 16;
/// Every tile begins at a multiple of this.
const TILE_ALIGNMENT_BYTES: u64 = 16;

/// Gives each tile its storage order and padding. Assumes that the items are
/// distributed; guarantees that no two elements of a tile share a place.
pub(super) fn arrange_tiles(
    kernel: &mut ProgramKernel,
    config: &Config,
    device: &DeviceProperties,
) {
    arrange(kernel, config.padding);
    let stages = u64::from(config.stages.max(1));
    let fits = allocate(kernel) * stages <= u64::from(device.shared_bytes_per_block_optin);
    if !fits && config.padding == TilePadding::Counted {
        // Conflicts cost less than not fitting.
        arrange(kernel, TilePadding::Elems(0));
    }
}

/// Gives each tile its place in shared memory.
///
/// # Errors
///
/// Where the tiles do not fit a block of `device`.
pub(super) fn allocate_tiles(
    kernel: &mut ProgramKernel,
    device: &DeviceProperties,
) -> Result<(), LowerError> {
    let end_bytes = allocate(kernel);
    if end_bytes > u64::from(device.shared_bytes_per_block_optin) {
        return Err(LowerError::SharedMemory {
            kernel: kernel.name.clone(),
            device: device.name.clone(),
            needed_bytes: end_bytes,
            available_bytes: device.shared_bytes_per_block_optin,
        });
    }
    kernel.shared_memory = match u32::try_from(end_bytes) {
        Ok(bytes) if bytes > device.shared_bytes_per_block => SharedMemory::Dynamic { bytes },
        _ => SharedMemory::Static,
    };
    Ok(())
}

fn arrange(kernel: &mut ProgramKernel, padding: TilePadding) {
    let shared = kernel.tiles.iter().filter(|(_, tile)| tile.space == TileSpace::Shared);
    let tiles: Vec<TileId> = shared.map(|(id, _)| id).collect();
    for id in tiles {
        let layout = match padding {
            TilePadding::Elems(elems) => TileLayout::padded(&kernel.tiles[id].extents, elems),
            TilePadding::Counted => counted_layout(kernel, id),
        };
        let tile = &mut kernel.tiles[id];
        tile.layout = layout;
        // Every buffer of a tile begins aligned.
        let aligned = (TILE_ALIGNMENT_BYTES as u32 / tile.dtype.size_bytes()).max(1);
        tile.layout.size_elems = tile.layout.size_elems.next_multiple_of(aligned);
    }
}

/// Puts the tiles one after the other; returns where the last one ends.
fn allocate(kernel: &mut ProgramKernel) -> u64 {
    let mut end_bytes = 0u64;
    let tiles = kernel.tiles.iter_mut().map(|(_, tile)| tile);
    for tile in tiles.filter(|tile| tile.space == TileSpace::Shared) {
        tile.offset_bytes = u32::try_from(end_bytes).unwrap_or(u32::MAX);
        end_bytes = (end_bytes + tile.size_bytes()).next_multiple_of(TILE_ALIGNMENT_BYTES);
    }
    end_bytes
}

/// The layout with the fewest wavefronts; among equals the smallest pad, then
/// the rows as written.
fn counted_layout(kernel: &mut ProgramKernel, tile: TileId) -> TileLayout {
    let extents = kernel.tiles[tile].extents.clone();
    let mut best = (u64::MAX, TileLayout::row_major(&extents));
    if extents.len() < 2 {
        return best.1;
    }
    let size_bytes = kernel.tiles[tile].dtype.size_bytes();
    for pad in 0..=(MAX_PAD_BYTES / size_bytes) {
        for fastest in (0..extents.len()).rev() {
            let layout = TileLayout::along(&extents, fastest, pad);
            kernel.tiles[tile].layout = layout.clone();
            let wavefronts = tile_wavefronts(kernel, tile);
            if wavefronts < best.0 {
                best = (wavefronts, layout);
            }
        }
    }
    best.1
}
