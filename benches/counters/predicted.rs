//! What is compared, of a report.

use serde::Serialize;
use tile_runtime::Report;
use tile_runtime::ir::explain::count::{Space, Touches};
use tile_runtime::ir::explain::report::AccessReport;
use tile_runtime::ir::explain::roofline::Level;

/// What a launch asks of the device; of a report, or counted.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Quantities {
    /// Blocks.
    pub(crate) blocks: f64,
    /// Operations on `f32`, two of a fused multiply-add.
    pub(crate) flops: f64,
    /// Sectors of loads and asynchronous copies from global memory.
    pub(crate) load_sectors: f64,
    /// Sectors of stores to global memory.
    pub(crate) store_sectors: f64,
    /// Wavefronts of loads from shared memory.
    pub(crate) load_wavefronts: f64,
    /// Wavefronts of stores to shared memory, asynchronous copies aside.
    pub(crate) store_wavefronts: f64,
    /// Bytes from and to device memory.
    pub(crate) dram_bytes: f64,
    /// Warps of an SM at the most.
    pub(crate) warps: f64,
}

impl Quantities {
    pub(crate) fn of(report: &Report) -> Self {
        let sum = |space, touches, is_async: Option<bool>, of: fn(&AccessReport) -> u64| {
            let is_of = |access: &&AccessReport| {
                access.space == space
                    && access.touches == touches
                    && is_async.is_none_or(|wanted| wanted == access.is_async)
            };
            report.accesses.iter().filter(is_of).map(of).sum::<u64>() as f64
        };
        let sectors = |access: &AccessReport| access.sectors;
        let wavefronts = |access: &AccessReport| access.wavefronts;
        let dram = report.roofline.roofs.iter().find(|roof| roof.level == Level::Dram);
        Self {
            blocks: report.blocks as f64,
            flops: report.work.flops as f64,
            load_sectors: sum(Space::Global, Touches::Reads, None, sectors),
            store_sectors: sum(Space::Global, Touches::Writes, None, sectors),
            load_wavefronts: sum(Space::Shared, Touches::Reads, None, wavefronts),
            store_wavefronts: sum(Space::Shared, Touches::Writes, Some(false), wavefronts),
            dram_bytes: dram.map_or(0.0, |roof| roof.amount),
            warps: f64::from(report.occupancy.warps),
        }
    }

    /// Each with its name and unit.
    pub(crate) fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("blocks", self.blocks),
            ("f32 operations", self.flops),
            ("global load sectors", self.load_sectors),
            ("global store sectors", self.store_sectors),
            ("shared load wavefronts", self.load_wavefronts),
            ("shared store wavefronts", self.store_wavefronts),
            ("DRAM bytes", self.dram_bytes),
            ("warps an SM", self.warps),
        ]
    }
}
