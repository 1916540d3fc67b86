//! Place: where each element of a tile lies, and where each tile.
//!
//! A tile is stored along the axis, and its rows padded by the fewest elements or
//! permuted by the fewest bits, that give the fewest wavefronts, by counting the
//! addresses of warps ([`crate::analyze::banks`]).
//!
//! Tiles that are never in use together lie in the same place
//! ([`crate::program::may_share`]). Where there are such, and beyond the shared
//! memory that every block has, all tiles are parts of one array that is given at
//! launch; else each is an array of its own.

use super::LowerError;
use crate::analyze::banks::tile_wavefronts;
use crate::config::{Config, TilePadding};
use crate::device::DeviceProperties;
use crate::program::{
    MAX_ACCESS_BYTES, ProgramKernel, SharedMemory, Swizzle, Tile, TileId, TileLayout, TileSpace,
    may_share,
};

/// Most elements of padding that are tried, in bytes.
const MAX_PAD_BYTES: u32 = 16;
/// Bytes that lie side by side in the banks.
const ROW_OF_BANKS_BYTES: u32 = 128;

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
    let is_shared = has_shared_places(kernel);
    kernel.shared_memory = match u32::try_from(end_bytes) {
        Ok(bytes) if is_shared || bytes > device.shared_bytes_per_block => {
            SharedMemory::Dynamic { bytes }
        }
        _ => SharedMemory::Static,
    };
    Ok(())
}

fn arrange(kernel: &mut ProgramKernel, padding: TilePadding) {
    let is_open = |tile: &Tile| tile.space == TileSpace::Shared && !tile.is_arranged;
    let open = kernel.tiles.iter().filter(|(_, tile)| is_open(tile));
    let tiles: Vec<TileId> = open.map(|(id, _)| id).collect();
    for id in tiles {
        let extents = kernel.tiles[id].extents.clone();
        let candidates = match padding {
            TilePadding::Elems(elems) => vec![TileLayout::padded(&extents, elems)],
            TilePadding::Counted => padded(&extents, kernel.tiles[id].dtype.size_bytes()),
            TilePadding::Swizzled => swizzled(&extents, kernel.tiles[id].dtype.size_bytes()),
        };
        let layout = fewest_wavefronts(kernel, id, candidates);
        let tile = &mut kernel.tiles[id];
        tile.layout = layout;
        // Every buffer of a tile begins aligned.
        let aligned = (MAX_ACCESS_BYTES / tile.dtype.size_bytes()).max(1);
        tile.layout.size_elems = tile.layout.size_elems.next_multiple_of(aligned);
    }
}

/// Gives each tile the first place that none of the tiles placed before it needs
/// while it is in use; returns where the last one ends.
fn allocate(kernel: &mut ProgramKernel) -> u64 {
    let mut placed: Vec<(TileId, u64, u64)> = Vec::new();
    let shared = kernel.tiles.iter().filter(|(_, tile)| tile.space == TileSpace::Shared);
    let tiles: Vec<(TileId, u64)> = shared.map(|(id, tile)| (id, tile.size_bytes())).collect();
    for (id, bytes) in tiles {
        let mut begin = 0;
        let mut others = placed.clone();
        others.retain(|(other, ..)| !may_share(kernel, *other, id));
        others.sort_by_key(|(_, begin, _)| *begin);
        for (_, other_begin, other_end) in others {
            if other_begin < begin + bytes && begin < other_end {
                begin = other_end.next_multiple_of(MAX_ACCESS_BYTES.into());
            }
        }
        kernel.tiles[id].offset_bytes = u32::try_from(begin).unwrap_or(u32::MAX);
        placed.push((id, begin, begin + bytes));
    }
    let end = placed.iter().map(|(_, _, end)| *end).max().unwrap_or(0);
    end.next_multiple_of(MAX_ACCESS_BYTES.into())
}

/// Bytes of all shared tiles, had each a place of its own.
pub(super) fn shared_bytes(kernel: &ProgramKernel) -> u64 {
    let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
    shared.map(Tile::size_bytes).sum()
}

/// Whether two tiles lie in one place.
fn has_shared_places(kernel: &ProgramKernel) -> bool {
    let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
    let mut places: Vec<(u64, u64)> = shared
        .map(|tile| {
            (u64::from(tile.offset_bytes), u64::from(tile.offset_bytes) + tile.size_bytes())
        })
        .collect();
    places.sort_unstable();
    places.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// The layout with the fewest wavefronts, the first of several.
fn fewest_wavefronts(
    kernel: &mut ProgramKernel,
    tile: TileId,
    candidates: Vec<TileLayout>,
) -> TileLayout {
    if let [only] = candidates.as_slice() {
        return only.clone();
    }
    let count = |kernel: &mut ProgramKernel, layout: &TileLayout| {
        kernel.tiles[tile].layout = layout.clone();
        tile_wavefronts(kernel, tile)
    };
    let counted = candidates.into_iter().map(|layout| (count(kernel, &layout), layout));
    let best = counted.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map_or_else(|| kernel.tiles[tile].layout.clone(), |(_, layout)| layout)
}

/// Layouts with pads, the smallest pad first, then the rows as written.
fn padded(extents: &[u32], size_bytes: u32) -> Vec<TileLayout> {
    if extents.len() < 2 {
        return vec![TileLayout::row_major(extents)];
    }
    let pads = 0..=(MAX_PAD_BYTES / size_bytes);
    let along =
        |pad| (0..extents.len()).rev().map(move |fastest| TileLayout::along(extents, fastest, pad));
    pads.flat_map(along).collect()
}

/// Layouts without pads, those without a swizzle first, then those of the fewest
/// bits. A swizzle keeps units of neighbouring elements together, so that they may
/// be one access, and permutes the units of one row of banks by the lowest bits of
/// the row's number.
fn swizzled(extents: &[u32], size_bytes: u32) -> Vec<TileLayout> {
    if extents.len() < 2 {
        return vec![TileLayout::row_major(extents)];
    }
    let axes = || (0..extents.len()).rev();
    let mut layouts: Vec<TileLayout> =
        axes().map(|fastest| TileLayout::along(extents, fastest, 0)).collect();
    let units = (MAX_ACCESS_BYTES / size_bytes).ilog2();
    let banks = (ROW_OF_BANKS_BYTES / size_bytes).ilog2();
    for bits in 1..=banks {
        for fastest in axes() {
            for shift in (0..=units.min(banks - bits)).rev() {
                let row = extents[fastest].next_power_of_two().ilog2();
                let source = row.max(shift + bits);
                let mut layout = TileLayout::along(extents, fastest, 0);
                layout.swizzle = Some(Swizzle { bits, shift, source });
                // What is permuted stays within the tile.
                layout.size_elems = layout.size_elems.next_multiple_of(1 << (shift + bits));
                layouts.push(layout);
            }
        }
    }
    layouts
}
