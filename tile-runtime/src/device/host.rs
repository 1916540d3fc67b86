//! The CPU as a device with properties, so that configurations are chosen for
//! it as for any other.
//!
//! A core stands for an SM that holds one block at a time. Its "threads" are
//! lanes of vector operations, so a block may have as many as on a GPU; its
//! "shared memory" is what stays in a core's nearest caches. Peaks are of the
//! order of one present core, not measured.

use tile_ir::device::DeviceProperties;

/// Lanes that a block may have: as on CUDA devices, so that a configuration for
/// one is one for the other.
const MAX_THREADS: u32 = 1024;
const REGISTERS: u32 = 65_536;
/// Within the second-level cache of present cores.
const TILE_BYTES: u32 = 96 << 10;
const CLOCK_HZ: f64 = 3.0e9;
/// Two 256-bit multiply-adds per clock.
const F32_FMA_PER_CLOCK: u32 = 16;
const MEMORY_BYTES_PER_S: f64 = 30.0e9;

/// Properties of this machine's CPU.
pub(super) fn properties() -> DeviceProperties {
    let cores = u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX);
    DeviceProperties {
        name: format!("CPU, {cores} {}", if cores == 1 { "thread" } else { "threads" }),
        compute_capability: (0, 0),
        sms: cores,
        warp_size: 32,
        max_threads_per_block: MAX_THREADS,
        max_threads_per_sm: MAX_THREADS,
        max_blocks_per_sm: 1,
        registers_per_sm: REGISTERS,
        registers_per_block: REGISTERS,
        max_registers_per_thread: 255,
        shared_bytes_per_block: TILE_BYTES,
        shared_bytes_per_block_optin: TILE_BYTES,
        shared_bytes_per_sm: TILE_BYTES,
        shared_bytes_reserved_per_block: 0,
        l2_bytes: 1 << 20,
        l2_bytes_per_clock: None,
        memory_bytes: memory_bytes(),
        memory_bytes_per_s: MEMORY_BYTES_PER_S,
        clock_hz: CLOCK_HZ,
        f32_fma_per_clock_per_sm: F32_FMA_PER_CLOCK,
        f64_fma_per_clock_per_sm: F32_FMA_PER_CLOCK / 2,
    }
}

/// The machine's memory in bytes, 0 where the system does not say.
fn memory_bytes() -> u64 {
    meminfo("MemTotal:").unwrap_or(0)
}

/// Bytes of the host's memory that a program can have without others being swapped
/// out; nothing where the system does not say.
pub(super) fn free_bytes() -> Option<u64> {
    meminfo("MemAvailable:")
}

/// A field of `/proc/meminfo`, in bytes.
fn meminfo(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(field))?;
    // In units of 1024 bytes.
    rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}
