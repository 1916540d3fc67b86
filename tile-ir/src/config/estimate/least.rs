//! What a launch costs at the least, before its work-items are laid on threads and before
//! what they do is counted in each layout.
//!
//! A block's arithmetic and what it brings follow from its tiles alone; how often it reads
//! what it has brought, from the number of items that a thread has along each axis. The
//! model of `time` is no less in each of its parts, so what is beaten here is beaten there.

use super::access::{SHARED_OPS, WAVEFRONT_BYTES};
use super::count::count_noting;
use super::sizes::Sizes;
use super::time::{
    BASE_REGISTERS, BLOCK_START_CYCLES, ITERATION_OPS, OVERLAP_LOSS, ROW_OPS, SCHEDULERS,
    SHARED_LOSS, STAGED_LOSS, bytes_per_cycle, resident_blocks, tile_bytes,
};
use crate::config::Config;
use crate::device::DeviceProperties;
use crate::program::MAX_ACCESS_BYTES;

/// What is taken off a time, of it, so that rounding does not bring it above one that is
/// computed in another order.
const ROUNDING: f64 = 1e-9;

/// What the block does with one access to a tile.
#[derive(Clone, Debug)]
pub(super) struct TileAccess {
    /// Bytes if each item made it for itself.
    pub(super) bytes: f64,
    /// Of each axis, whether items along it share what it gives.
    pub(super) is_shared: Vec<bool>,
}

/// What no layout of the same tiles on threads, in the same number of parts, falls below.
#[derive(Clone, Debug)]
pub(in crate::config) struct Least {
    /// Shared memory of a block that its tiles take.
    pub(in crate::config) tile_bytes: u64,
    /// Time of the launch.
    pub(in crate::config) seconds: f64,
    blocks: f64,
    /// Cycles in which an SM's memory traffic of a block is moved.
    memory: f64,
    arithmetic: f64,
    staged_iterations: f64,
    accesses: Vec<TileAccess>,
    /// Work-items of a block along each axis.
    extents: Vec<f64>,
    /// Registers of a work-item that outlive a statement of the whole block.
    item_registers: f64,
}

impl Least {
    /// That of a block of which one layout has been counted.
    pub(super) fn new(device: &DeviceProperties, sizes: &Sizes<'_>) -> Self {
        let block = count_noting(sizes);
        let tile_bytes = tile_bytes(sizes, &block);
        let mut least = Self {
            tile_bytes,
            seconds: 0.0,
            blocks: sizes.blocks(),
            memory: block.least_bytes / bytes_per_cycle(device),
            arithmetic: block.arithmetic,
            staged_iterations: block.staged_iterations,
            accesses: block.tile_accesses.unwrap_or_default(),
            extents: sizes.block.iter().map(|(_, extent)| *extent).collect(),
            item_registers: block.fragment_words / sizes.items_per_thread(),
        };
        let fma = least.arithmetic / fma_rate(device);
        least.seconds = least.launch(device, least.blocks / sms(device), least.wave(fma));
        least
    }

    /// Time of the launch in a layout; nothing where it does not fit an SM. With up to
    /// `slack` times fewer registers than it would take, too.
    pub(in crate::config) fn seconds_in(
        &self,
        device: &DeviceProperties,
        config: &Config,
        slack: f64,
    ) -> Option<f64> {
        let axes = self.extents.iter().zip(&config.block);
        let items: Vec<f64> =
            axes.map(|(extent, axis)| f64::from(axis.items_per_thread(*extent as u32))).collect();
        let registers = BASE_REGISTERS + self.item_registers * items.iter().product::<f64>();
        let resident =
            |registers| resident_blocks(device, config.threads, registers, self.tile_bytes);
        if resident(registers) == 0 {
            return None;
        }
        let most = (self.blocks / sms(device)).ceil().min(f64::from(resident(registers / slack)));
        // Blocks of an SM one after the other, as many at once as it takes the least with.
        let rounds = |at_once: u32| {
            (self.blocks / (f64::from(at_once) * sms(device))).ceil() * f64::from(at_once)
        };
        let rounds = (1..=most as u32).map(rounds).fold(rounds(1), f64::min);
        Some(self.launch(device, rounds, self.wave(self.core(device, config, &items))))
    }

    /// Cycles of an SM's units for a block whose threads have so many items along each axis.
    fn core(&self, device: &DeviceProperties, config: &Config, items: &[f64]) -> f64 {
        let in_a_row = match items {
            [_, .., last] => *last,
            _ => f64::INFINITY,
        };
        let arithmetic = self.arithmetic * (1.0 + ROW_OPS / in_a_row);
        let shared_bytes: f64 = self.accesses.iter().map(|access| access.bytes_with(items)).sum();
        let overhead = SHARED_OPS * shared_bytes / f64::from(MAX_ACCESS_BYTES)
            + self.staged_iterations * ITERATION_OPS * f64::from(config.threads);
        let fma = arithmetic / fma_rate(device);
        let issue = (arithmetic + overhead) / 32.0 / SCHEDULERS;
        let shared = shared_bytes / WAVEFRONT_BYTES / 32.0;
        fma.max(issue).max(shared) + SHARED_LOSS * fma.min(shared)
    }

    /// Cycles of an SM for a block whose computations take so many.
    fn wave(&self, core: f64) -> f64 {
        let lost = if self.staged_iterations > 0.0 { STAGED_LOSS } else { OVERLAP_LOSS };
        core.max(self.memory) + lost * core.min(self.memory)
    }

    /// Seconds of a launch in which an SM runs so many blocks of so many cycles.
    fn launch(&self, device: &DeviceProperties, rounds: f64, cycles: f64) -> f64 {
        let cycles = (rounds * cycles).hypot(self.blocks * BLOCK_START_CYCLES);
        cycles / device.clock_hz * (1.0 - ROUNDING)
    }
}

impl TileAccess {
    fn bytes_with(&self, items: &[f64]) -> f64 {
        let shared = items.iter().zip(&self.is_shared).filter(|(_, is_shared)| **is_shared);
        self.bytes / shared.map(|(items, _)| items).product::<f64>()
    }
}

/// Multiply-adds of an SM in a cycle.
fn fma_rate(device: &DeviceProperties) -> f64 {
    f64::from(device.f32_fma_per_clock_per_sm.max(1))
}

fn sms(device: &DeviceProperties) -> f64 {
    f64::from(device.sms.max(1))
}
