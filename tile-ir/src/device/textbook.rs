//! Devices that only a textbook has: what its examples and exercises count with.
//!
//! # Source
//!
//! Hwu, Kirk and El Hajj, "Programming Massively Parallel Processors", 4th edition,
//! 2022, chapter 5: section 5.6 and exercises 9 and 12. What they leave open is an
//! A100's.

use super::DeviceProperties;

/// The textbook's devices:
///
/// - `textbook A100`: section 5.6's, whose 164 KB of shared memory are all for blocks
///   (the system keeps 1 KB of each block on a real one), with 1555 GB/s and 19.5
///   TFLOP/s as in section 5.1;
/// - `textbook SM`: exercise 12's, 2048 threads, 32 blocks, 65,536 registers and 96 KB
///   of shared memory;
/// - `textbook 200 GFLOPS` and `textbook 300 GFLOPS`: exercise 9's, with 100 and 250
///   GB/s.
pub fn textbook() -> Vec<DeviceProperties> {
    vec![
        device("textbook A100", (164, 108), (1.41e9, 64), 1555e9),
        device("textbook SM", (96, 108), (1.41e9, 64), 1555e9),
        device("textbook 200 GFLOPS", (164, 1), (1e9, 100), 100e9),
        device("textbook 300 GFLOPS", (164, 1), (1e9, 150), 250e9),
    ]
}

fn device(
    name: &str,
    (shared_kib, sms): (u32, u32),
    (clock_hz, f32_fma): (f64, u32),
    memory_bytes_per_s: f64,
) -> DeviceProperties {
    DeviceProperties {
        name: name.to_owned(),
        compute_capability: (8, 0),
        sms,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_sm: 2048,
        max_blocks_per_sm: 32,
        registers_per_sm: 65_536,
        registers_per_block: 65_536,
        max_registers_per_thread: 255,
        shared_bytes_per_block: 48 << 10,
        shared_bytes_per_block_optin: shared_kib << 10,
        shared_bytes_per_sm: shared_kib << 10,
        shared_bytes_reserved_per_block: 0,
        l2_bytes: 40 << 20,
        l2_bytes_per_clock: None,
        memory_bytes: 40 << 30,
        memory_bytes_per_s,
        clock_hz,
        f32_fma_per_clock_per_sm: f32_fma,
        f64_fma_per_clock_per_sm: f32_fma / 2,
    }
}

#[cfg(test)]
mod tests {
    use crate::device::known;

    #[test]
    fn peaks_of_the_exercises() {
        for (name, gflops, gb_per_s) in
            [("textbook 200 GFLOPS", 200.0, 100.0), ("textbook 300 GFLOPS", 300.0, 250.0)]
        {
            let device = known(name).unwrap();
            assert_eq!(device.peak_f32_flops(), gflops * 1e9);
            assert_eq!(device.memory_bytes_per_s, gb_per_s * 1e9);
        }
        assert_eq!((known("textbook a100").unwrap().peak_f32_flops() / 1e11).round(), 195.0);
    }
}
