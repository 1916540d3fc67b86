//! How often what a tile holds is read: the traffic that it saves.
//!
//! Counted on the kernel as it is written, one work-item a thread: without the tile,
//! each work-item would ask global memory for every element that it reads from it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::count::{KernelCounts, SiteCounts, Space, Touches};
use crate::program::{ProgramKernel, Target};

/// What the tiles of a kernel save.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reuse {
    /// The tiles that are filled from global memory.
    pub tiles: Vec<TileReuse>,
    /// Floating-point operations of the launch.
    pub flops: u64,
    /// Bytes that all work-items read from global memory.
    pub read_bytes: u64,
    /// Bytes that they would read if each read from global memory what it reads from
    /// tiles.
    pub read_bytes_without_tiles: u64,
    /// Bytes that they write to global memory.
    pub written_bytes: u64,
}

/// One tile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TileReuse {
    /// Its name.
    pub tile: String,
    /// The arrays that it is filled from.
    pub sources: Vec<String>,
    /// Bytes that are asked of global memory to fill it.
    pub loaded_bytes: u64,
    /// Bytes that are stored in it: those, and what stands for elements outside.
    pub stored_bytes: u64,
    /// Bytes that work-items read from it.
    pub read_bytes: u64,
    /// Whether neighbouring lanes read it along another axis than they fill it.
    pub is_turned: bool,
    #[serde(skip)]
    pub(super) span: crate::span::SpanId,
}

impl TileReuse {
    /// How many reads of an element come on each that fills it.
    pub fn factor(&self) -> f64 {
        self.read_bytes as f64 / (self.stored_bytes as f64).max(1.0)
    }

    /// Bytes that those reads would ask of global memory.
    fn bytes_without(&self) -> u64 {
        let product = u128::from(self.loaded_bytes) * u128::from(self.read_bytes);
        u64::try_from(product / u128::from(self.stored_bytes.max(1))).unwrap_or(u64::MAX)
    }
}

impl Reuse {
    /// Floating-point operations per byte read from global memory.
    pub fn intensity(&self) -> f64 {
        self.flops as f64 / (self.read_bytes as f64).max(1.0)
    }

    /// The same if there were no tiles.
    pub fn intensity_without_tiles(&self) -> f64 {
        self.flops as f64 / (self.read_bytes_without_tiles as f64).max(1.0)
    }

    /// By how much the tiles cut what is read from global memory.
    pub fn reduction(&self) -> f64 {
        self.read_bytes_without_tiles as f64 / (self.read_bytes as f64).max(1.0)
    }

    /// From the counts of the kernel as it is written.
    pub fn of(kernel: &ProgramKernel, counts: &KernelCounts) -> Self {
        let mut filled: BTreeMap<Target, TileReuse> = BTreeMap::new();
        let mut strides: BTreeMap<Target, Option<i64>> = BTreeMap::new();
        for write in counts.of(Space::Shared).filter(|site| site.touches == Touches::Writes) {
            let sources: Vec<&SiteCounts> = counts
                .of(Space::Global)
                .filter(|site| site.statement == write.statement && site.touches == Touches::Reads)
                .collect();
            if sources.is_empty() {
                continue;
            }
            let tile = filled.entry(write.target).or_insert_with(|| TileReuse {
                tile: write.array.clone(),
                sources: Vec::new(),
                loaded_bytes: 0,
                stored_bytes: 0,
                read_bytes: 0,
                is_turned: false,
                span: write.span,
            });
            tile.stored_bytes += write.bytes();
            for source in sources {
                tile.loaded_bytes += source.bytes();
                if !tile.sources.contains(&source.array) {
                    tile.sources.push(source.array.clone());
                }
            }
            strides.insert(write.target, write.lane_stride);
        }
        for read in counts.of(Space::Shared).filter(|site| site.touches == Touches::Reads) {
            let Some(tile) = filled.get_mut(&read.target) else { continue };
            tile.read_bytes += read.bytes();
            let filled_along = strides.get(&read.target).copied().flatten();
            tile.is_turned |= match (filled_along, read.lane_stride) {
                (Some(one), Some(other)) => one != other,
                (None, _) | (_, None) => kernel.threads > 1,
            };
        }
        let global = |touches: &[Touches]| -> u64 {
            let sites = counts.of(Space::Global).filter(|site| touches.contains(&site.touches));
            sites.map(SiteCounts::bytes).sum()
        };
        let read_bytes = global(&[Touches::Reads]);
        let written_bytes = global(&[Touches::Writes, Touches::Updates]);
        let tiles: Vec<TileReuse> = filled.into_values().collect();
        let loaded: u64 = tiles.iter().map(|tile| tile.loaded_bytes).sum();
        let without: u64 = tiles.iter().map(TileReuse::bytes_without).sum();
        let read_bytes_without_tiles = read_bytes - loaded.min(read_bytes) + without;
        let flops = counts.flops();
        Self { tiles, flops, read_bytes, read_bytes_without_tiles, written_bytes }
    }
}
