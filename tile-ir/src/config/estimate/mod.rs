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
//! | `text` | what the text says by itself: variables, and |
//! | `loops` | loops |
//! | `follow` | how expressions follow variables |
//! | `origins` | what decides their values, and when it is known |
//! | `sizes` | extents and trips |
//! | `alike` | which indices are alike |
//! | `count` | what one block does |
//! | `block` | the counts of that |
//! | `access` | what one access of it moves |
//! | `walked` | what of that goes along rows, each thread by itself |
//! | `kept` | what of that threads have in registers |
//! | `again` | what of that was read before, and by whom |
//! | `exchange` | what a reduction or scan over the block takes |
//! | `time` | registers, resident blocks, cycles |
//! | `least` | what no layout of the same tiles falls below |
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
mod again;
mod alike;
mod block;
mod count;
mod exchange;
mod follow;
mod kept;
mod least;
mod loops;
mod origins;
mod sizes;
mod text;
mod time;
mod walked;

use std::borrow::Cow;

use self::count::count;
pub(super) use self::least::Least;
use self::sizes::Sizes;
pub(crate) use self::sizes::UNKNOWN_TRIPS;
use self::text::Text;
use super::{Config, tile_value};
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::{may_have_fills, share_out_fills};
use crate::kernel::{Kernel, ScalarId, Tile, TileSpace, eval_index};
use crate::part::parted;
use crate::slice::sliced;
use crate::value::ScalarValue;

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

/// Estimates the cost of a configuration; of many, [`Model::cost`].
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
    Model::new(kernel, types, device, dims).cost(config)
}

/// The model of one launch, which estimates what configurations cost there.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// With its fills shared out, as lowering does.
    kernel: Cow<'a, Kernel>,
    text: Text,
    types: &'a [DType],
    device: &'a DeviceProperties,
    dims: &'a [u64],
    scalars: Vec<(ScalarId, i128)>,
}

impl<'a> Model<'a> {
    /// The model of a kernel at types and dimensions, as for [`estimate()`].
    pub fn new(
        kernel: &'a Kernel,
        types: &'a [DType],
        device: &'a DeviceProperties,
        dims: &'a [u64],
    ) -> Self {
        let kernel = match may_have_fills(kernel) {
            true => Cow::Owned(share_out_fills(kernel)),
            false => Cow::Borrowed(kernel),
        };
        Self::of(kernel, types, device, dims)
    }

    /// The model of a kernel whose fills are shared out.
    pub(super) fn of(
        kernel: Cow<'a, Kernel>,
        types: &'a [DType],
        device: &'a DeviceProperties,
        dims: &'a [u64],
    ) -> Self {
        let text = Text::new(&kernel);
        Self { kernel, text, types, device, dims, scalars: Vec::new() }
    }

    /// The model of a launch with these scalars: loops whose length follows from them are as
    /// long as they say. Without, they are taken to have 16 iterations.
    #[must_use]
    pub fn with_scalars(mut self, scalars: &[(ScalarId, ScalarValue)]) -> Self {
        let integer = |value: ScalarValue| {
            let whole = value.in_type(DType::I64).filter(|_| !value.dtype.is_float());
            whole.map(|value| i128::from(value.bits.cast_signed()))
        };
        let known = scalars.iter().filter_map(|&(id, value)| Some((id, integer(value)?)));
        self.scalars = known.collect();
        self
    }

    /// What the launch costs in a configuration.
    pub fn cost(&self, config: &Config) -> Estimate {
        self.costs(config, |_| None).0
    }

    /// The same, and what it costs if so many blocks are to fit an SM as `packed` says of
    /// the first ([`Config::min_blocks`]).
    pub(super) fn costs(
        &self,
        config: &Config,
        packed: impl FnOnce(&Estimate) -> Option<u32>,
    ) -> (Estimate, Option<(u32, Estimate)>) {
        self.sized(config, |sizes| {
            let block = count(sizes);
            let cost = |min_blocks| time::finish(self.device, sizes, min_blocks, &block);
            let alone = cost(config.min_blocks);
            let packed = packed(&alone).map(|blocks| (blocks, cost(blocks)));
            (alone, packed)
        })
    }

    /// Shared memory of a block that these tile sizes take at the least: each tile once.
    pub(super) fn tile_bytes(&self, tiles: &[u32]) -> u64 {
        let kernel = &*self.kernel;
        let value = |expr| eval_index(kernel, expr, &|var| tile_value(kernel, tiles, var));
        let bytes = |tile: &Tile| -> Option<u64> {
            let elem = u64::from(tile.elem.bind(self.types)?.size_bytes());
            let mut extents = tile.extents.iter().map(|&extent| u64::try_from(value(extent)?).ok());
            extents.try_fold(elem, |bytes, extent| bytes.checked_mul(extent?))
        };
        let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
        // Of one whose extents are not known, nothing.
        shared.map(|tile| bytes(tile).unwrap_or(0)).fold(0, u64::saturating_add)
    }

    /// What no layout of the configuration's tiles on threads falls below.
    pub(super) fn least(&self, config: &Config) -> Least {
        self.sized(config, |sizes| Least::new(self.device, sizes))
    }

    /// Asks something of the launch as it is in a configuration: phases in parts, and
    /// reductions in slices.
    fn sized<R>(&self, config: &Config, ask: impl FnOnce(&Sizes<'_>) -> R) -> R {
        let whole = &*self.kernel;
        let parted = parted(whole, config);
        let (kernel, config) = parted.as_ref().map_or((whole, config), |(k, c)| (k, c));
        let sliced = sliced(kernel, self.types, config);
        let (kernel, config) = sliced.as_ref().map_or((kernel, config), |(k, c)| (k, c));
        let other = (parted.is_some() || sliced.is_some()).then(|| Text::new(kernel));
        let text = other.as_ref().unwrap_or(&self.text);
        ask(&Sizes::new(kernel, text, self.types, self.dims, &self.scalars, config))
    }
}
