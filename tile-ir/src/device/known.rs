//! Published properties of NVIDIA devices, for work without the device.
//!
//! A compute capability decides what an SM can hold ([`Architecture`]); a
//! product decides how many SMs there are, their clock and the memory
//! ([`Product`]). Where a product is sold in several forms, the name says which
//! one stands here.

use super::{DeviceProperties, textbook};

/// What a compute capability decides.
///
/// # Source
///
/// CUDA C++ Programming Guide 13.0: `registers_*`, `threads`, `blocks` and
/// `shared_*` from "Compute Capabilities", table "Technical Specifications per
/// Compute Capability"; the opt-in limit and the byte count reserved per block
/// from the sections "Shared Memory" of the same chapter (from 8.0 on the system
/// keeps 1 KiB of each resident block); `*_fma` from "Arithmetic Instructions",
/// table "Throughput of Native Arithmetic Instructions". Equal in all: warps of
/// 32, 1024 threads per block, 65,536 registers per SM and per block, 255 per
/// thread, 48 KiB of shared memory without opting in.
struct Architecture {
    capability: (u32, u32),
    threads_per_sm: u32,
    blocks_per_sm: u32,
    shared_kib_per_sm: u32,
    shared_kib_per_block: u32,
    f32_fma: u32,
    f64_fma: u32,
}

const VOLTA: Architecture = Architecture {
    capability: (7, 0),
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    shared_kib_per_sm: 96,
    shared_kib_per_block: 96,
    f32_fma: 64,
    f64_fma: 32,
};

const TURING: Architecture = Architecture {
    capability: (7, 5),
    threads_per_sm: 1024,
    blocks_per_sm: 16,
    shared_kib_per_sm: 64,
    shared_kib_per_block: 64,
    f32_fma: 64,
    f64_fma: 2,
};

const AMPERE: Architecture = Architecture {
    capability: (8, 0),
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    shared_kib_per_sm: 164,
    shared_kib_per_block: 163,
    f32_fma: 64,
    f64_fma: 32,
};

const AMPERE_86: Architecture = Architecture {
    capability: (8, 6),
    threads_per_sm: 1536,
    blocks_per_sm: 16,
    shared_kib_per_sm: 100,
    shared_kib_per_block: 99,
    f32_fma: 128,
    f64_fma: 2,
};

const ADA: Architecture = Architecture {
    capability: (8, 9),
    threads_per_sm: 1536,
    blocks_per_sm: 24,
    shared_kib_per_sm: 100,
    shared_kib_per_block: 99,
    f32_fma: 128,
    f64_fma: 2,
};

const HOPPER: Architecture = Architecture {
    capability: (9, 0),
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    shared_kib_per_sm: 228,
    shared_kib_per_block: 227,
    f32_fma: 128,
    f64_fma: 64,
};

const BLACKWELL: Architecture = Architecture {
    capability: (10, 0),
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    shared_kib_per_sm: 228,
    shared_kib_per_block: 227,
    f32_fma: 128,
    f64_fma: 64,
};

/// The Blackwell Tuning Guide gives 32 blocks and 128 KiB for 12.0; devices
/// report the Programming Guide's figures, which stand here.
const BLACKWELL_120: Architecture = Architecture {
    capability: (12, 0),
    threads_per_sm: 1536,
    blocks_per_sm: 24,
    shared_kib_per_sm: 100,
    shared_kib_per_block: 99,
    f32_fma: 128,
    f64_fma: 2,
};

/// What a product decides.
struct Product {
    /// The driver's name of the device.
    name: &'static str,
    /// Short names, as people write them.
    aliases: &'static [&'static str],
    architecture: &'static Architecture,
    sms: u32,
    boost_mhz: u32,
    l2_mib: u32,
    /// What L2 gives in a clock, where NVIDIA says so.
    l2_bytes_per_clock: Option<u32>,
    memory_gb: u32,
    bandwidth_gb_per_s: u32,
    /// Published peak `f32` rate outside the tensor cores; the tests hold the
    /// other fields to it.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the tests only"))]
    published_f32_tflops: f64,
}

/// The products, oldest first. A memory size of *n* GB is counted as *n* GiB;
/// what a driver reports is a few per cent less.
///
/// L2: 2048 bytes per clock for V100 and 5120 for A100, "NVIDIA A100 Tensor Core GPU
/// Architecture" (2020), "A100 L2 Cache"; Hopper's has the same two partitions as A100's
/// ("NVIDIA H100 Tensor Core GPU Architecture" 1.04), and is taken to have its rate.
const PRODUCTS: [Product; 13] = [
    // NVIDIA Tesla V100 GPU Architecture (WP-08608-001), table 1, SXM2 form;
    // memory and bandwidth: V100 datasheet, 2020.
    Product {
        name: "Tesla V100-SXM2-32GB",
        aliases: &["V100"],
        architecture: &VOLTA,
        sms: 80,
        boost_mhz: 1530,
        l2_mib: 6,
        l2_bytes_per_clock: Some(2048),
        memory_gb: 32,
        bandwidth_gb_per_s: 900,
        published_f32_tflops: 15.7,
    },
    // NVIDIA Turing GPU Architecture (WP-09183-001), appendix "Turing TU104
    // GPU", table "Tesla T4".
    Product {
        name: "Tesla T4",
        aliases: &["T4"],
        architecture: &TURING,
        sms: 40,
        boost_mhz: 1590,
        l2_mib: 4,
        l2_bytes_per_clock: None,
        memory_gb: 16,
        bandwidth_gb_per_s: 320,
        published_f32_tflops: 8.1,
    },
    // NVIDIA A100 Tensor Core GPU Architecture (2020), table 4.
    Product {
        name: "NVIDIA A100-SXM4-40GB",
        aliases: &["A100", "A100 40GB"],
        architecture: &AMPERE,
        sms: 108,
        boost_mhz: 1410,
        l2_mib: 40,
        l2_bytes_per_clock: Some(5120),
        memory_gb: 40,
        bandwidth_gb_per_s: 1555,
        published_f32_tflops: 19.5,
    },
    // The same; memory and bandwidth: A100 datasheet, 2021, 80 GB SXM column.
    Product {
        name: "NVIDIA A100-SXM4-80GB",
        aliases: &["A100 80GB"],
        architecture: &AMPERE,
        sms: 108,
        boost_mhz: 1410,
        l2_mib: 40,
        l2_bytes_per_clock: Some(5120),
        memory_gb: 80,
        bandwidth_gb_per_s: 2039,
        published_f32_tflops: 19.5,
    },
    // NVIDIA Ampere GA102 GPU Architecture (2020), table 2.
    Product {
        name: "NVIDIA GeForce RTX 3090",
        aliases: &["RTX 3090", "3090"],
        architecture: &AMPERE_86,
        sms: 82,
        boost_mhz: 1695,
        l2_mib: 6,
        l2_bytes_per_clock: None,
        memory_gb: 24,
        bandwidth_gb_per_s: 936,
        published_f32_tflops: 35.6,
    },
    // NVIDIA Ada GPU Architecture 2.02, table 2.
    Product {
        name: "NVIDIA GeForce RTX 4090",
        aliases: &["RTX 4090", "4090"],
        architecture: &ADA,
        sms: 128,
        boost_mhz: 2520,
        l2_mib: 72,
        l2_bytes_per_clock: None,
        memory_gb: 24,
        bandwidth_gb_per_s: 1008,
        published_f32_tflops: 82.6,
    },
    // NVIDIA L4 datasheet, 2023 (7424 cores); L2: Ada GPU Architecture 2.02,
    // full AD104.
    Product {
        name: "NVIDIA L4",
        aliases: &["L4"],
        architecture: &ADA,
        sms: 58,
        boost_mhz: 2040,
        l2_mib: 48,
        l2_bytes_per_clock: None,
        memory_gb: 24,
        bandwidth_gb_per_s: 300,
        published_f32_tflops: 30.3,
    },
    // NVIDIA L40S datasheet, 2023 (18,176 cores); L2: Ada GPU Architecture
    // 2.02, full AD102.
    Product {
        name: "NVIDIA L40S",
        aliases: &["L40S"],
        architecture: &ADA,
        sms: 142,
        boost_mhz: 2520,
        l2_mib: 96,
        l2_bytes_per_clock: None,
        memory_gb: 48,
        bandwidth_gb_per_s: 864,
        published_f32_tflops: 91.6,
    },
    // NVIDIA H100 Tensor Core GPU Architecture 1.04, table 3; bandwidth: H100
    // datasheet, 2023, SXM column.
    Product {
        name: "NVIDIA H100 80GB HBM3",
        aliases: &["H100", "H100 SXM", "H100 SXM5"],
        architecture: &HOPPER,
        sms: 132,
        boost_mhz: 1980,
        l2_mib: 50,
        l2_bytes_per_clock: Some(5120),
        memory_gb: 80,
        bandwidth_gb_per_s: 3350,
        published_f32_tflops: 66.9,
    },
    // The same table, PCIe column.
    Product {
        name: "NVIDIA H100 PCIe",
        aliases: &["H100 PCIe"],
        architecture: &HOPPER,
        sms: 114,
        boost_mhz: 1755,
        l2_mib: 50,
        l2_bytes_per_clock: Some(5120),
        memory_gb: 80,
        bandwidth_gb_per_s: 2039,
        published_f32_tflops: 51.2,
    },
    // NVIDIA H200 datasheet, 2024, SXM column; SMs, clock and L2 as its driver
    // reports them.
    Product {
        name: "NVIDIA H200",
        aliases: &["H200"],
        architecture: &HOPPER,
        sms: 132,
        boost_mhz: 1980,
        l2_mib: 60,
        l2_bytes_per_clock: Some(5120),
        memory_gb: 141,
        bandwidth_gb_per_s: 4800,
        published_f32_tflops: 66.9,
    },
    // NVIDIA HGX B200 datasheet, 2025, per GPU; L2: Blackwell Tuning Guide 13.0,
    // "Increased L2 Capacity"; SMs and clock as its driver reports them.
    Product {
        name: "NVIDIA B200",
        aliases: &["B200"],
        architecture: &BLACKWELL,
        sms: 148,
        boost_mhz: 1965,
        l2_mib: 126,
        l2_bytes_per_clock: None,
        memory_gb: 180,
        bandwidth_gb_per_s: 8000,
        published_f32_tflops: 75.0,
    },
    // NVIDIA RTX Blackwell GPU Architecture 1.1, appendix A, table 3.
    Product {
        name: "NVIDIA GeForce RTX 5090",
        aliases: &["RTX 5090", "5090"],
        architecture: &BLACKWELL_120,
        sms: 170,
        boost_mhz: 2407,
        l2_mib: 96,
        l2_bytes_per_clock: None,
        memory_gb: 32,
        bandwidth_gb_per_s: 1792,
        published_f32_tflops: 104.8,
    },
];

impl Product {
    fn properties(&self) -> DeviceProperties {
        let architecture = self.architecture;
        let reserved = if architecture.capability.0 >= 8 { 1024 } else { 0 };
        DeviceProperties {
            name: self.name.to_owned(),
            compute_capability: architecture.capability,
            sms: self.sms,
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_sm: architecture.threads_per_sm,
            max_blocks_per_sm: architecture.blocks_per_sm,
            registers_per_sm: 65_536,
            registers_per_block: 65_536,
            max_registers_per_thread: 255,
            shared_bytes_per_block: 48 * 1024,
            shared_bytes_per_block_optin: architecture.shared_kib_per_block * 1024,
            shared_bytes_per_sm: architecture.shared_kib_per_sm * 1024,
            shared_bytes_reserved_per_block: reserved,
            l2_bytes: u64::from(self.l2_mib) << 20,
            l2_bytes_per_clock: self.l2_bytes_per_clock,
            memory_bytes: u64::from(self.memory_gb) << 30,
            memory_bytes_per_s: f64::from(self.bandwidth_gb_per_s) * 1e9,
            clock_hz: f64::from(self.boost_mhz) * 1e6,
            f32_fma_per_clock_per_sm: architecture.f32_fma,
            f64_fma_per_clock_per_sm: architecture.f64_fma,
        }
    }

    /// Whether `name` names this product; case, and blanks against hyphens, do
    /// not matter.
    fn answers_to(&self, name: &str) -> bool {
        let wanted = plain(name);
        plain(self.name) == wanted || self.aliases.iter().any(|alias| plain(alias) == wanted)
    }
}

fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_'));
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// The published properties of a device by name.
///
/// The name is the driver's (`NVIDIA GeForce RTX 4090`) or a short one
/// (`RTX 4090`, `H200`, `A100 80GB`), or that of a device which only a textbook
/// has ([`super::textbook()`]); case, blanks, hyphens and underscores do not matter.
///
/// # Examples
///
/// ```
/// let h200 = tile_ir::device::known("h200").unwrap();
/// assert_eq!(h200.sms, 132);
/// assert_eq!(h200.architecture(), "sm_90");
/// ```
pub fn known(name: &str) -> Option<DeviceProperties> {
    let product = PRODUCTS.iter().find(|product| product.answers_to(name));
    let invented = || textbook().into_iter().find(|device| plain(&device.name) == plain(name));
    product.map(Product::properties).or_else(invented)
}

/// The published properties of every known device, oldest first.
pub fn all_known() -> Vec<DeviceProperties> {
    PRODUCTS.iter().map(Product::properties).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_peaks_are_the_published_ones() {
        for product in &PRODUCTS {
            let computed = product.properties().peak_f32_flops() / 1e12;
            let published = product.published_f32_tflops;
            let off = (computed - published).abs() / published;
            assert!(off < 0.01, "{}: {computed} TFLOP/s, published {published}", product.name);
        }
    }

    #[test]
    fn h200() {
        let device = known("H200").unwrap();
        assert_eq!(device.sms, 132);
        assert_eq!(device.shared_bytes_per_block_optin, 232_448);
        assert_eq!(device.shared_bytes_per_sm, 233_472);
        assert_eq!(device.memory_bytes_per_s, 4.8e12);
        assert_eq!((device.peak_f32_flops() / 1e11).round(), 669.0);
        assert_eq!((device.peak_f64_flops() / 1e11).round(), 335.0);
    }

    #[test]
    fn a_block_and_its_reserve_fit_an_sm() {
        for device in all_known() {
            let block = device.shared_bytes_per_block_optin;
            let used = block + device.shared_bytes_reserved_per_block;
            assert_eq!(used, device.shared_bytes_per_sm, "{}", device.name);
        }
    }

    #[test]
    fn names_are_found_in_any_spelling_and_are_unique() {
        let found = |name: &str| known(name).map(|device| device.name);
        assert_eq!(found("nvidia geforce rtx 4090").as_deref(), Some("NVIDIA GeForce RTX 4090"));
        assert_eq!(found("rtx-4090").as_deref(), Some("NVIDIA GeForce RTX 4090"));
        assert_eq!(found("a100_80gb").as_deref(), Some("NVIDIA A100-SXM4-80GB"));
        assert_eq!(found("h100 pcie").as_deref(), Some("NVIDIA H100 PCIe"));
        assert_eq!(found("GTX 280"), None);
        for product in &PRODUCTS {
            for name in product.aliases.iter().chain([&product.name]) {
                let answering = PRODUCTS.iter().filter(|other| other.answers_to(name)).count();
                assert_eq!(answering, 1, "{name}");
            }
        }
    }
}
