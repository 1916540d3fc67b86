//! The roofline: what a launch asks of each unit, and how long each takes at its peak.
//!
//! # Source
//!
//! Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model
//! for Multicore Architectures", CACM 2009.

use serde::Serialize;

use super::count::{KernelCounts, Known, SiteCounts, Space, Touches, arguments};
use crate::analyze::banks::{BANKS, WORD_BYTES};
use crate::analyze::sectors::SECTOR_BYTES;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::program::{BufferId, ProgramKernel, Target};

/// A unit with a peak rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Level {
    /// Floating-point arithmetic.
    #[serde(rename = "arithmetic")]
    Arithmetic,
    /// Device memory.
    #[serde(rename = "DRAM")]
    Dram,
    /// The L2 cache.
    L2,
    /// Shared memory.
    #[serde(rename = "shared memory")]
    Shared,
}

impl Level {
    /// As a user reads it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::Shared => "shared memory",
        }
    }
}

/// What a launch asks of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Roof {
    /// The unit.
    pub level: Level,
    /// Operations, or bytes.
    pub amount: f64,
    /// Its peak, per second.
    pub per_second: f64,
    /// Seconds at the peak.
    pub seconds: f64,
}

/// Which unit is the limit, and how long that takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roofline {
    /// Floating-point operations of the launch.
    pub flops: u64,
    /// The units: arithmetic first, then memory from the farthest.
    ///
    /// DRAM: each tensor once, or the sectors that are asked of it where those are
    /// fewer. L2: all sectors of global requests. Shared memory: a row of all
    /// banks for each wavefront. A device whose L2 rate is not published has none here.
    ///
    /// The last two are what the program asks for. L1 answers a request for a sector that
    /// it holds, and compilers keep an element in a register that one thread reads twice:
    /// they are no bounds.
    pub roofs: Vec<Roof>,
    /// Arithmetic or device memory, whichever takes longer.
    pub bound_by: Level,
    /// How long it takes: no launch is faster.
    pub bound_seconds: f64,
    /// How long the launch is expected to take.
    pub predicted_seconds: f64,
}

impl Roofline {
    pub(super) fn of(
        device: &DeviceProperties,
        kernel: &ProgramKernel,
        counts: &KernelCounts,
        known: Known<'_>,
        model_seconds: f64,
    ) -> Self {
        let flops = counts.flops();
        let arithmetic_seconds: f64 =
            counts.float_ops().map(|(dtype, n)| n as f64 / peak(device, dtype)).sum();
        let sum = |of: &dyn Fn(&SiteCounts) -> u64| counts.sites.iter().map(of).sum::<u64>();
        let sectors = sum(&|site| site.sectors) * SECTOR_BYTES;
        let wavefronts = sum(&|site| site.wavefronts) * BANKS * WORD_BYTES;
        let roof = |level, amount: f64, per_second: f64| Roof {
            level,
            amount,
            per_second,
            seconds: amount / per_second,
        };
        let mut roofs = vec![Roof {
            level: Level::Arithmetic,
            amount: flops as f64,
            per_second: match flops {
                0 => device.peak_f32_flops(),
                _ => flops as f64 / arithmetic_seconds,
            },
            seconds: arithmetic_seconds,
        }];
        let least = least_bytes(kernel, counts, known) as f64;
        roofs.push(roof(Level::Dram, least, device.memory_bytes_per_s));
        let l2 = device.peak_l2_bytes_per_s();
        roofs.extend(l2.map(|rate| roof(Level::L2, sectors as f64, rate)));
        if wavefronts > 0 {
            let rate = device.peak_shared_bytes_per_s();
            roofs.push(roof(Level::Shared, wavefronts as f64, rate));
        }
        let is_bound = |roof: &&Roof| matches!(roof.level, Level::Arithmetic | Level::Dram);
        let bounds = roofs.iter().filter(is_bound);
        let slowest = bounds.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let (bound_by, bound_seconds) =
            slowest.map_or((Level::Dram, 0.0), |roof| (roof.level, roof.seconds));
        let predicted_seconds = model_seconds.max(bound_seconds);
        Self { flops, roofs, bound_by, bound_seconds, predicted_seconds }
    }

    /// What a launch asks of a unit, where the device's peak is known.
    pub fn roof(&self, level: Level) -> Option<&Roof> {
        self.roofs.iter().find(|roof| roof.level == level)
    }

    /// Floating-point operations per byte of a level's traffic.
    pub fn intensity(&self, level: Level) -> Option<f64> {
        let roof = self.roof(level).filter(|roof| roof.amount > 0.0);
        roof.map(|roof| self.flops as f64 / roof.amount)
    }

    /// Whether device memory is the limit.
    pub fn is_memory_bound(&self) -> bool {
        self.bound_by != Level::Arithmetic
    }
}

/// Floating-point operations per second that a kernel can reach at most which does
/// `intensity` of them for each byte of device memory: the lower of the two roofs.
///
/// # Examples
///
/// The textbook's product on an A100 of 1555 GB/s: 0.25 operations a byte without
/// tiles, 4 with tiles of 16 × 16.
///
/// ```
/// use tile_ir::explain::roofline::attainable_flops;
/// let a100 = tile_ir::device::known("A100").unwrap();
/// assert_eq!((attainable_flops(&a100, 0.25) / 1e9).round(), 389.0);
/// assert_eq!((attainable_flops(&a100, 4.0) / 1e9).round(), 6220.0);
/// ```
pub fn attainable_flops(device: &DeviceProperties, intensity: f64) -> f64 {
    device.peak_f32_flops().min(intensity * device.memory_bytes_per_s)
}

/// Peak rate of a type's floating-point operations; a multiply-add is two. 16-bit floats
/// are computed in `f32`.
fn peak(device: &DeviceProperties, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => device.peak_f64_flops(),
        DType::F16
        | DType::BF16
        | DType::F32
        | DType::Bool
        | DType::I8
        | DType::U8
        | DType::I16
        | DType::U16
        | DType::I32
        | DType::U32
        | DType::I64
        | DType::U64 => device.peak_f32_flops(),
    }
}

/// Bytes that device memory moves at the least: what is read and what is written of
/// each array, once.
fn least_bytes(kernel: &ProgramKernel, counts: &KernelCounts, known: Known<'_>) -> u64 {
    let of = |id: BufferId, writes: bool| {
        let is_it = |site: &&SiteCounts| {
            let does = match site.touches {
                Touches::Reads => !writes,
                Touches::Writes => writes,
                Touches::Updates => true,
            };
            site.target == Target::Buffer(id) && does
        };
        let sectors: u64 = counts.of(Space::Global).filter(is_it).map(|site| site.sectors).sum();
        (sectors * SECTOR_BYTES).min(buffer_bytes(kernel, id, known))
    };
    kernel.buffers.ids().map(|id| of(id, false).saturating_add(of(id, true))).sum()
}

fn buffer_bytes(kernel: &ProgramKernel, id: BufferId, known: Known<'_>) -> u64 {
    let args = arguments(kernel, known).map(|arguments| arguments.values).unwrap_or_default();
    let buffer = &kernel.buffers[id];
    let extents = buffer.extents.iter().map(|&extent| kernel.eval_on_host(extent, &args));
    let elems = extents.fold(1u64, |product, extent| {
        product.saturating_mul(extent.map_or(u64::MAX, |extent| extent.max(0).unsigned_abs()))
    });
    elems.saturating_mul(buffer.dtype.size_bytes().into())
}
