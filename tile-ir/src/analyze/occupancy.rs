//! How many blocks an SM holds at once, and which resource stops one more.
//!
//! These are the occupancy calculator's rules. Warps, registers and shared
//! memory are each handed out in units, so that 65,536 registers are not always
//! room for 65,536 / (threads · registers) blocks:
//!
//! - a block takes whole warps;
//! - a warp takes its registers in units of 256, from one of the SM's four
//!   quarters, which share nothing;
//! - a block takes its shared memory in units of 128 bytes (256 before compute
//!   capability 8.0), together with what the system reserves per block.
//!
//! The SM's whole shared memory is taken to be available: the split between it
//! and the L1 cache follows what the kernel asks for.
//!
//! # Source
//!
//! `cuda_occupancy.h` of the CUDA toolkit; CUDA C++ Programming Guide 13.0,
//! "Hardware Multithreading".

use crate::device::DeviceProperties;

/// Registers are handed to a warp in units of this many.
const REGISTER_UNIT: u32 = 256;

/// Parts of an SM that each have a scheduler and a share of the registers.
const QUARTERS: u32 = 4;

/// A resource of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limiter {
    /// Resident threads, in warps.
    Threads,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
    /// Resident blocks.
    Blocks,
}

impl Limiter {
    /// The resource as a user reads it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Threads => "threads per SM",
            Self::Registers => "registers",
            Self::Shared => "shared memory",
            Self::Blocks => "blocks per SM",
        }
    }
}

/// Resident blocks of one kernel on one SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks resident at once; 0 where not even one fits.
    pub blocks: u32,
    /// Their threads' warps.
    pub warps: u32,
    /// The resource that allows no more; of several, the first in
    /// [`Limiter`]'s order.
    pub limiter: Limiter,
}

impl Occupancy {
    /// Resident warps over the most that an SM of `device` holds, 0 to 1.
    pub fn fraction(&self, device: &DeviceProperties) -> f64 {
        f64::from(self.warps) / f64::from(device.max_threads_per_sm / device.warp_size)
    }
}

/// How many blocks an SM of `device` holds at once.
///
/// # Units
///
/// `threads` per block, `registers_per_thread` in 32-bit registers,
/// `shared_bytes` per block, static and dynamic together. An empty block counts
/// as one thread.
///
/// # Examples
///
/// ```
/// use tile_ir::analyze::occupancy::{Limiter, blocks_per_sm};
/// let h200 = tile_ir::device::known("H200").unwrap();
/// let occupancy = blocks_per_sm(&h200, 256, 128, 0);
/// assert_eq!((occupancy.blocks, occupancy.limiter), (2, Limiter::Registers));
/// ```
pub fn blocks_per_sm(
    device: &DeviceProperties,
    threads: u32,
    registers_per_thread: u32,
    shared_bytes: u32,
) -> Occupancy {
    let warps = threads.max(1).div_ceil(device.warp_size);
    let limits = [
        (by_threads(device, threads, warps), Limiter::Threads),
        (by_registers(device, warps, registers_per_thread), Limiter::Registers),
        (by_shared(device, shared_bytes), Limiter::Shared),
        (device.max_blocks_per_sm, Limiter::Blocks),
    ];
    let (blocks, limiter) = limits.into_iter().min().expect("there are four limits");
    Occupancy { blocks, warps: blocks * warps, limiter }
}

fn by_threads(device: &DeviceProperties, threads: u32, warps: u32) -> u32 {
    if threads > device.max_threads_per_block {
        return 0;
    }
    device.max_threads_per_sm / device.warp_size / warps
}

fn by_registers(device: &DeviceProperties, warps: u32, registers_per_thread: u32) -> u32 {
    if registers_per_thread > device.max_registers_per_thread {
        return 0;
    }
    let per_warp = (registers_per_thread * device.warp_size).next_multiple_of(REGISTER_UNIT);
    // A block is admitted as if it had a whole number of warps per quarter.
    let per_block = per_warp.saturating_mul(warps.next_multiple_of(QUARTERS));
    if per_block > device.registers_per_block {
        return 0;
    }
    match (device.registers_per_sm / QUARTERS).checked_div(per_warp) {
        Some(warps_per_quarter) => warps_per_quarter * QUARTERS / warps,
        None => u32::MAX,
    }
}

fn by_shared(device: &DeviceProperties, shared_bytes: u32) -> u32 {
    if shared_bytes > device.shared_bytes_per_block_optin {
        return 0;
    }
    let unit = if device.compute_capability.0 >= 8 { 128 } else { 256 };
    let taken = (shared_bytes + device.shared_bytes_reserved_per_block).next_multiple_of(unit);
    device.shared_bytes_per_sm.checked_div(taken).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::known;

    #[track_caller]
    fn check(
        device: &str,
        (threads, registers, shared): (u32, u32, u32),
        blocks: u32,
        by: Limiter,
    ) {
        let device = known(device).unwrap();
        let found = blocks_per_sm(&device, threads, registers, shared);
        assert_eq!((found.blocks, found.limiter), (blocks, by));
    }

    /// The textbook's cases for 65,536 registers and 2048 threads: 32 registers
    /// a thread keep an SM full, one more does not, whatever the block size.
    #[test]
    fn registers_of_a_full_sm() {
        check("A100", (512, 31, 0), 4, Limiter::Threads);
        check("A100", (512, 32, 0), 4, Limiter::Threads);
        check("A100", (512, 33, 0), 3, Limiter::Registers);
        let three = blocks_per_sm(&known("A100").unwrap(), 512, 33, 0);
        assert_eq!(three.fraction(&known("A100").unwrap()), 0.75);
    }

    #[test]
    fn small_blocks_are_stopped_by_their_number() {
        check("A100", (32, 16, 0), 32, Limiter::Blocks);
        check("T4", (32, 16, 0), 16, Limiter::Blocks);
        check("RTX 5090", (32, 16, 0), 24, Limiter::Blocks);
    }

    #[test]
    fn a_block_that_does_not_divide_the_sm_leaves_threads_idle() {
        check("A100", (768, 16, 0), 2, Limiter::Threads);
        check("RTX 4090", (1024, 16, 0), 1, Limiter::Threads);
    }

    /// 48 registers make 1536 a warp: 10 warps in each quarter of 16,384, 40 in
    /// all, although 65,536 / 1536 is 42.
    #[test]
    fn a_warp_stays_in_its_quarter() {
        check("RTX 4090", (64, 48, 1792), 20, Limiter::Registers);
    }

    /// 33 registers a thread are 1056 a warp, handed out as 1280.
    #[test]
    fn registers_are_handed_out_in_units() {
        check("A100", (32, 33, 0), 32, Limiter::Blocks);
        check("A100", (64, 33, 0), 24, Limiter::Registers);
    }

    #[test]
    fn shared_memory_counts_with_its_reserve() {
        // 227 KiB and 1 KiB are all of an SM; 113 KiB and 1 KiB are half of it.
        check("H200", (256, 32, 227 << 10), 1, Limiter::Shared);
        check("H200", (256, 32, 113 << 10), 2, Limiter::Shared);
        check("H200", (256, 32, (113 << 10) + 1), 1, Limiter::Shared);
        // Without a reserve: two 32 KiB blocks in 64 KiB.
        check("T4", (128, 32, 32 << 10), 2, Limiter::Shared);
        check("T4", (128, 32, (32 << 10) + 1), 1, Limiter::Shared);
    }

    #[test]
    fn what_does_not_fit_at_all() {
        check("H200", (1025, 16, 0), 0, Limiter::Threads);
        check("H200", (1024, 65, 0), 0, Limiter::Registers);
        check("H200", (32, 256, 0), 0, Limiter::Registers);
        check("H200", (32, 16, (227 << 10) + 1), 0, Limiter::Shared);
        // 255 registers are 8192 a warp: eight warps fit, nine count as twelve.
        check("H200", (256, 255, 0), 1, Limiter::Registers);
        check("H200", (288, 255, 0), 0, Limiter::Registers);
    }

    /// The configurations measured on an H200: 255 registers in 256 threads,
    /// and the one that runs two blocks per SM.
    #[test]
    fn register_blocked_matmul() {
        check("H200", (256, 255, 50 << 10), 1, Limiter::Registers);
        check("H200", (256, 128, 34 << 10), 2, Limiter::Registers);
    }
}
