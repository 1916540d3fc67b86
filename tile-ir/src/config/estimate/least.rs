//! What a block costs at the least, however its work-items lie on threads.

use super::count::BlockCost;
use super::sizes::Sizes;
use super::time::{
    BASE_REGISTERS, BLOCK_START_CYCLES, OVERLAP_LOSS, STAGED_LOSS, bytes_per_cycle, tile_bytes,
};
use crate::config::Config;
use crate::device::DeviceProperties;

/// What is taken off a time, of it, so that rounding does not bring it above one that is
/// computed in another order.
const ROUNDING: f64 = 1e-9;

/// What no layout of the same tiles on threads, in the same number of parts, falls below.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct Least {
    /// Shared memory of a block that its tiles take.
    pub(in crate::config) tile_bytes: u64,
    /// The same with what exchanges take in the layout that was looked at.
    pub(in crate::config) shared_bytes: u64,
    /// Time of the launch.
    pub(in crate::config) seconds: f64,
    /// Work-items of a block.
    items: f64,
    /// Registers of a work-item that outlive a statement of the whole block.
    item_registers: f64,
}

impl Least {
    /// Registers that a thread takes at the least in a layout.
    pub(in crate::config) fn registers_with(&self, config: &Config) -> f64 {
        let threads: f64 = config.block.iter().map(|axis| f64::from(axis.threads)).product();
        BASE_REGISTERS + self.item_registers * (self.items / threads.max(1.0))
    }
}

/// That of a block of which one layout has been counted.
pub(super) fn least(device: &DeviceProperties, sizes: &Sizes<'_>, block: &BlockCost) -> Least {
    let tile_bytes = tile_bytes(sizes, block);
    // Counts that follow from the tiles, at the rates of an SM that is never short of warps.
    let fma = block.arithmetic / f64::from(device.f32_fma_per_clock_per_sm.max(1));
    let memory = block.least_bytes / bytes_per_cycle(device);
    let is_staged = block.staged_iterations > 0.0;
    let lost = if is_staged { STAGED_LOSS } else { OVERLAP_LOSS };
    let of_block = fma.max(memory) + lost * fma.min(memory);
    let blocks = sizes.blocks();
    let cycles = (blocks / f64::from(device.sms.max(1)) * of_block).hypot(blocks * BLOCK_START_CYCLES);
    Least {
        tile_bytes,
        shared_bytes: tile_bytes + block.exchange_bytes as u64,
        seconds: cycles / device.clock_hz * (1.0 - ROUNDING),
        items: sizes.block.iter().map(|(_, extent)| extent).product(),
        item_registers: block.fragment_words / sizes.items_per_thread(),
    }
}
