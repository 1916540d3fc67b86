//! What a kernel costs in a configuration: an analytical model of one block.
//!
//! The model counts, for one block, arithmetic, memory traffic, shared-memory
//! wavefronts, issue slots and code by walking the kernel's text with its trip
//! counts, and asks how many blocks an SM holds at once. It ranks
//! configurations; it does not predict times to the percent. Where a trip count
//! is unknown (it depends on loaded data), it takes a round number.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `sizes` | extents, trips, and how indices follow coordinates |
//! | `count` | what one block does |
//! | `access` | what one access of it moves |
//! | `exchange` | what a reduction or scan over the block takes |
//! | `time` | registers, resident blocks, cycles |
//!
//! # Source
//!
//! Sectors of 32 bytes, lines of 128, 32 banks of 4 bytes, 4 schedulers per SM: CUDA
//! C++ Programming Guide, "Compute Capabilities", and Best Practices Guide,
//! "Coalesced Access to Global Memory". Latencies are of the order measured on
//! H100-class devices (global under load about 800 cycles, shared about 30, a
//! barrier about 30). Constants with "measured" in their documentation were fitted
//! to some 1700 configurations of ten kernels on an H200.

mod access;
mod count;
mod exchange;
mod sizes;
mod time;

use self::count::count;
use self::sizes::Sizes;
pub(crate) use self::sizes::UNKNOWN_TRIPS;
use super::Config;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::{may_have_fills, share_out_fills};
use crate::kernel::Kernel;
use crate::part::parted;
use crate::slice::sliced;

/// Bytes of a sector, the unit of global-memory traffic.
const SECTOR_BYTES: f64 = 32.0;
/// Bytes of a line, the unit in which an instruction's addresses are looked up.
const LINE_BYTES: f64 = 128.0;
/// Beyond this estimate a configuration spills or leaves too few warps.
pub const MAX_REGISTERS: f64 = 240.0;

/// The cost of a kernel under a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of blocks.
    pub blocks: f64,
    /// Blocks that one SM holds at once; 0 where not even one fits.
    pub blocks_per_sm: u32,
    /// Shared memory of a block in bytes: what lowering gives it at the most. Padding that
    /// lowering leaves away where it does not fit is not counted; tiles that are never in
    /// use together are, each.
    pub shared_bytes: u64,
    /// That of it which tiles take: the same however work-items lie on threads.
    pub tile_bytes: u64,
    /// Registers of a thread.
    pub registers: f64,
    /// Instructions of the longest stretch that is written out, in bytes: of the
    /// largest loop that stays one, or of all there is outside of such.
    pub code_bytes: f64,
    /// Arithmetic operations of the whole launch; a multiply-add is one.
    pub arithmetic: f64,
    /// Global traffic of the whole launch in whole sectors, in bytes.
    pub global_bytes: f64,
    /// Expected time of the launch in seconds.
    pub seconds: f64,
}

/// Estimates the cost of a configuration.
///
/// `types` binds the type parameters, `dims` holds the dimensions in the order
/// of the kernel's variables of kind [`crate::kernel::VarKind::Dim`].
pub fn estimate(
    kernel: &Kernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
    config: &Config,
) -> Estimate {
    // As lowering does.
    let shared_out = may_have_fills(kernel).then(|| share_out_fills(kernel));
    let kernel = shared_out.as_ref().unwrap_or(kernel);
    let parted = parted(kernel, config);
    let (kernel, config) = parted.as_ref().map_or((kernel, config), |(k, c)| (k, c));
    let sliced = sliced(kernel, types, config);
    let (kernel, config) = sliced.as_ref().map_or((kernel, config), |(k, c)| (k, c));
    let sizes = Sizes::new(kernel, types, dims, config);
    time::finish(device, &sizes, &count(&sizes))
}
