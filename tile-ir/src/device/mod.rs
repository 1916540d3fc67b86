//! Properties of devices that decide how a kernel is tiled and how fast it can be.
//!
//! The runtime reads the properties of a present device from its driver. Of
//! devices that are not present, [`known()`] holds the published ones, so that
//! configurations, CUDA text and reports can be made for them.

mod known;
mod textbook;

use crate::analyze::banks::{BANKS, WORD_BYTES};

pub use known::{all_known, known};
pub use textbook::textbook;

/// Limits and peaks of a device.
///
/// Limits are those of the compute capability; peaks are of the product, at its
/// published boost clock.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProperties {
    /// Marketing name, e.g. `NVIDIA H200`.
    pub name: String,
    /// Compute capability, (major, minor).
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// Most threads in one block.
    pub max_threads_per_block: u32,
    /// Most resident threads per SM.
    pub max_threads_per_sm: u32,
    /// Most resident blocks per SM.
    pub max_blocks_per_sm: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// 32-bit registers that one block can have.
    pub registers_per_block: u32,
    /// 32-bit registers that one thread can have.
    pub max_registers_per_thread: u32,
    /// Shared memory that a block gets without opting in, in bytes.
    pub shared_bytes_per_block: u32,
    /// Shared memory that a block can have by opting in, in bytes.
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory per SM, in bytes.
    pub shared_bytes_per_sm: u32,
    /// Shared memory that the system keeps of each resident block, in bytes.
    pub shared_bytes_reserved_per_block: u32,
    /// L2 cache, in bytes.
    pub l2_bytes: u64,
    /// What the L2 cache gives all SMs at most, in bytes per clock of the SMs; `None`
    /// where it is not published.
    pub l2_bytes_per_clock: Option<u32>,
    /// Device memory, in bytes.
    pub memory_bytes: u64,
    /// Peak memory bandwidth, in bytes per second.
    pub memory_bytes_per_s: f64,
    /// Boost clock of the SMs, in hertz.
    pub clock_hz: f64,
    /// `f32` fused multiply-adds per clock and SM.
    pub f32_fma_per_clock_per_sm: u32,
    /// `f64` fused multiply-adds per clock and SM.
    pub f64_fma_per_clock_per_sm: u32,
}

impl DeviceProperties {
    /// Peak `f32` rate in floating-point operations per second (an fma is two).
    pub fn peak_f32_flops(&self) -> f64 {
        2.0 * f64::from(self.f32_fma_per_clock_per_sm) * f64::from(self.sms) * self.clock_hz
    }

    /// Peak `f64` rate in floating-point operations per second (an fma is two).
    pub fn peak_f64_flops(&self) -> f64 {
        2.0 * f64::from(self.f64_fma_per_clock_per_sm) * f64::from(self.sms) * self.clock_hz
    }

    /// Peak rate of shared memory, of all SMs, in bytes per second: in each clock a word
    /// of each bank.
    pub fn peak_shared_bytes_per_s(&self) -> f64 {
        (BANKS * WORD_BYTES) as f64 * f64::from(self.sms) * self.clock_hz
    }

    /// Peak rate of the L2 cache in bytes per second, where it is published.
    pub fn peak_l2_bytes_per_s(&self) -> Option<f64> {
        self.l2_bytes_per_clock.map(|bytes| f64::from(bytes) * self.clock_hz)
    }

    /// Whether threads can copy from global to shared memory asynchronously
    /// (`cp.async`; compute capability 8.0 and later).
    pub fn has_async_copies(&self) -> bool {
        self.compute_capability >= (8, 0)
    }

    /// The architecture's name for NVRTC, e.g. `sm_90`.
    pub fn architecture(&self) -> String {
        let (major, minor) = self.compute_capability;
        format!("sm_{major}{minor}")
    }
}
