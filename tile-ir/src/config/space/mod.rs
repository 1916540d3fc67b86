//! The configurations that a kernel can have on a device: what a tuner searches,
//! and what tests draw from.
//!
//! A [`Space`] has a list of *factors*, one for each choice that a [`Config`]
//! makes, and for each the values that are tried. A configuration is legal where
//! [`check_config`] takes it and its tiles, with their stages, their padding and what
//! slices exchange, fit a block's shared memory: lowering refuses none. Choices that say nothing (a second stage's place where there is one
//! stage) have one value, so that no two configurations of a space are equal.
//!
//! Everything here is enumerated lazily and in a fixed order: the same space and
//! the same seed give the same configurations.

mod factors;
mod known;
mod pairs;
mod seeded;
mod walk;

use std::borrow::Cow;

use self::factors::{Choice, Depths, Factor, WARP_TILES, depths_of, factors};
use self::known::Known;
use self::pairs::Pairs;
use self::seeded::Rng;
use self::walk::Walk;
use super::columns::has_columns;
use super::estimate::Model;
use super::{
    AxisItems, Config, Numerics, TilePadding, block_extents, check_config, complete_tiles,
};
use crate::check::CheckedKernel;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::share_out_fills;
use crate::kernel::{Kernel, TileParamId};
use crate::part::can_be_parted;
use crate::slice::can_be_sliced;

/// A draw that finds nothing new this many times in a row has seen most there is.
const DRAWS_WITHOUT_NEWS: usize = 64;

/// Which values of each choice are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breadth {
    /// Those that can be fast.
    Fast,
    /// Small tile sizes, and beside values that can be fast those that are merely
    /// right: odd numbers, threads without items, the narrowest accesses.
    Odd,
}

/// The legal configurations of a kernel with bound types on a device.
///
/// # Examples
///
/// ```
/// # use tile_ir::{check::CheckedKernel, config::{Breadth, Config, Space}, device::known, dtype::DType};
/// # fn of(kernel: &CheckedKernel) -> Option<()> {
/// let device = known("A100")?;
/// let space = Space::new(kernel, &[DType::F32], &device, Breadth::Fast);
/// let all = space.iter();                                     // lazily, in order
/// let pairs = space.pairwise(1);                              // every pair of values once
/// let some: Vec<Config> = space.random(7).take(200).collect();  // distinct
/// let near = space.neighbours(some.first()?);                 // one choice changed
/// # Some(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Space<'a> {
    kernel: Kernel,
    /// What launches without dimensions cost.
    model: Model<'a>,
    types: &'a [DType],
    device: &'a DeviceProperties,
    factors: Vec<Factor>,
    /// Values of tile parameters that were given, tied ones too.
    given: Vec<(TileParamId, u32)>,
    numerics: Numerics,
}

/// A value for each factor, in the order of the factors.
type Point = Vec<u32>;

impl<'a> Space<'a> {
    /// The space of `kernel` with its type parameters bound to `types`.
    pub fn new(
        kernel: &CheckedKernel,
        types: &'a [DType],
        device: &'a DeviceProperties,
        breadth: Breadth,
    ) -> Self {
        let kernel = share_out_fills(kernel.kernel());
        let factors = factors(&kernel, types, device, breadth);
        let model = Model::of(Cow::Owned(kernel.clone()), types, device, &[]);
        let (given, numerics) = (Vec::new(), Numerics::Exact);
        Self { kernel, model, types, device, factors, given, numerics }
    }

    /// The part of the space with one value of a tile parameter, which may be one
    /// that the space does not try by itself. Empty where the parameter does not
    /// admit it, or is tied to another value.
    #[must_use]
    pub fn with_tile(mut self, param: TileParamId, value: u32) -> Self {
        for factor in &mut self.factors {
            if factor.choice == Choice::Tile(param) {
                factor.values = vec![value];
            }
        }
        self.given.push((param, value));
        self
    }

    /// The space of configurations that may reassociate sums of floats, if
    /// `numerics` says so.
    #[must_use]
    pub fn with_numerics(self, numerics: Numerics) -> Self {
        Self { numerics, ..self }
    }

    /// All configurations, in lexicographic order of the choices.
    pub fn iter(&self) -> impl Iterator<Item = Config> {
        let in_order = |depth: usize, _: &[u32]| self.factors[depth].values.clone();
        Walk::new(self, in_order).filter_map(|point| self.config(&point))
    }

    /// A small set of configurations in which every two values of two choices,
    /// that some legal configuration has together, stand together in one.
    ///
    /// Most faults show at one or two choices; a set that covers all pairs is
    /// larger than one that covers all values by a small factor only. Greedy: each
    /// configuration begins with a pair that is missing and takes in as many
    /// others as it can, so that the first cover most.
    ///
    /// # Source
    ///
    /// D. M. Cohen, S. R. Dalal, M. L. Fredman, G. C. Patton: The AETG System: An
    /// Approach to Testing Based on Combinatorial Design. IEEE Transactions on
    /// Software Engineering 23 (1997).
    pub fn pairwise(&self, seed: u64) -> impl Iterator<Item = Config> {
        Pairs::new(self, Rng::new(seed)).filter_map(|point| self.config(&point))
    }

    /// Random configurations, each once; it ends where the space seems exhausted.
    ///
    /// Choices are drawn one after the other, each evenly among its values; a
    /// value with which no legal configuration is left is drawn anew.
    pub fn random(&self, seed: u64) -> impl Iterator<Item = Config> {
        let mut rng = Rng::new(seed);
        let mut seen = std::collections::BTreeSet::new();
        let mut known = Known::default();
        let draws = std::iter::from_fn(move || {
            for _ in 0..DRAWS_WITHOUT_NEWS {
                let shuffled = |depth: usize, _: &[u32]| {
                    let mut values = self.factors[depth].values.clone();
                    rng.shuffle(&mut values);
                    values
                };
                let point = Walk::knowing(self, shuffled, &mut known).next()?;
                if seen.insert(point.clone()) {
                    return Some(point);
                }
            }
            None
        });
        draws.filter_map(|point| self.config(&point))
    }

    /// The configurations that differ from `config` in one factor: a tile size, the
    /// items per thread along an axis, the number of stages. `config` may have values
    /// that this space does not try; there are none where it is not legal.
    pub fn neighbours(&self, config: &Config) -> Vec<Config> {
        let space = self.with_values_of(config);
        let Some(point) = space.point_of(config) else { return Vec::new() };
        let mut near = Vec::new();
        for (at, factor) in self.factors.iter().enumerate() {
            for &value in factor.values.iter().filter(|&&value| value != point[at]) {
                let mut other = point.clone();
                other[at] = value;
                if space.is_legal(&other) {
                    near.extend(space.config(&other));
                }
            }
        }
        near
    }

    /// What a configuration says to each choice, in the order of the choices, as numbers
    /// that are equal where it says the same.
    pub fn answers(&self, config: &Config) -> Vec<u32> {
        let extents = block_extents(&self.kernel, &config.tiles);
        let answer = |factor: &Factor| {
            let (first, second) = factor.choice.shown_in(config);
            factor.choice.value_of(config, &extents).unwrap_or(first << 16 | second)
        };
        self.factors.iter().map(answer).collect()
    }

    /// The space that has the values of a configuration, too.
    fn with_values_of(&self, config: &Config) -> Self {
        let mut space = self.clone();
        let extents = block_extents(&self.kernel, &config.tiles);
        for Factor { choice, values, .. } in &mut space.factors {
            let own = choice.value_of(config, &extents);
            values.extend(own.filter(|own| !values.contains(own)));
        }
        space
    }

    /// Whether there are sums for a configuration's slices of a block to share out, and
    /// memory for what they exchange.
    pub fn has_slices(&self, config: &Config) -> bool {
        can_be_sliced(&self.kernel, self.types, config) && self.fits(config)
    }

    /// Whether a configuration is of this space.
    pub fn contains(&self, config: &Config) -> bool {
        self.point_of(config).is_some()
    }

    /// The point that stands for a configuration.
    fn point_of(&self, config: &Config) -> Option<Point> {
        let mut point = Vec::new();
        for Factor { choice, values, .. } in &self.factors {
            let found = values.iter().find(|&&value| {
                point.push(value);
                let is_alike = self.admits(&point)
                    && self
                        .config(&point)
                        .is_none_or(|begun| choice.shown_in(&begun) == choice.shown_in(config));
                point.pop();
                is_alike
            });
            point.push(*found?);
        }
        (self.config(&point).as_ref() == Some(config)).then_some(point)
    }

    fn is_legal(&self, point: &[u32]) -> bool {
        let only = |depth: usize, _: &[u32]| vec![point[depth]];
        Walk::new(self, only).next().is_some()
    }

    /// The configuration of the first values, the other choices at their first
    /// value; `None` where the tile sizes are not admissible.
    fn config(&self, values: &[u32]) -> Option<Config> {
        let value = |choice: Choice| {
            let at = self.factors.iter().position(|factor| factor.choice == choice)?;
            values.get(at).or_else(|| self.factors[at].values.first()).copied()
        };
        let sizes: Vec<(TileParamId, u32)> = (self.kernel.tile_params.ids())
            .filter_map(|id| Some((id, value(Choice::Tile(id))?)))
            .collect();
        let tiles = complete_tiles(&self.kernel, &sizes).ok()?;
        let warp = value(Choice::Warp).and_then(|at| WARP_TILES.get(at as usize)).copied();
        let extents = block_extents(&self.kernel, &tiles);
        let mut block: Vec<AxisItems> = extents
            .iter()
            .enumerate()
            .map(|(axis, extent)| AxisItems {
                threads: extent.div_ceil(value(Choice::Items(axis)).unwrap_or(1).max(1)),
                lanes: 1,
                run: value(Choice::Run(axis)).unwrap_or(1),
            })
            .collect();
        if let ([.., row, column], Some((rows, columns))) = (block.as_mut_slice(), warp) {
            (row.lanes, column.lanes) = (rows, columns);
        }
        let of_axes = block.iter().map(|axis| axis.threads).fold(1, u32::saturating_mul);
        let slices = value(Choice::Slices).unwrap_or(1);
        let phase_parts = value(Choice::PhaseParts).unwrap_or(1);
        let of_axes = of_axes.saturating_mul(slices);
        let threads = value(Choice::Threads).unwrap_or(0);
        let flag = |choice| value(choice) != Some(0);
        Some(Config {
            tiles,
            threads: factors::block_threads(&self.kernel, self.device, of_axes, threads),
            block,
            copy_bytes: value(Choice::CopyBytes)?,
            stages: value(Choice::Stages)?,
            unroll_stages: flag(Choice::UnrollStages),
            unrolled_stmts: value(Choice::UnrolledStmts)?,
            async_bytes: value(Choice::AsyncBytes)?,
            predicate_copies: flag(Choice::PredicateCopies),
            min_blocks: value(Choice::MinBlocks)?,
            paired_lanes: flag(Choice::PairedLanes),
            by_columns: flag(Choice::ByColumns),
            phase_parts,
            slices,
            fragment_buffers: value(Choice::FragmentBuffers)?,
            align_bytes: value(Choice::AlignBytes)?,
            whole_vectors: flag(Choice::WholeVectors),
            split_edges: flag(Choice::SplitEdges),
            padding: match value(Choice::Padding)? {
                factors::COUNTED => TilePadding::Counted,
                factors::SWIZZLED => TilePadding::Swizzled,
                elems => TilePadding::Elems(elems),
            },
            stream_loads: value(Choice::Stream)? & 1 != 0,
            stream_stores: value(Choice::Stream)? & 2 != 0,
            raster_rows: value(Choice::RasterRows)?,
            numerics: self.numerics,
        })
    }

    /// Who is to blame where the last of these values does not go with those before it:
    /// another value of one of these factors may do. `None` where it does.
    fn refusal(&self, values: &[u32]) -> Option<Depths> {
        if self.admits(values) {
            return None;
        }
        let (&value, before) = values.split_last()?;
        let at = before.len();
        let Factor { choice, needs, .. } = self.factors[at];
        let is_whole = values.len() == self.factors.len();
        let Some(config) = self.config(values).filter(|_| !is_whole) else { return Some(needs) };
        let is_tile = |choice| matches!(choice, Choice::Tile(_));
        Some(match choice {
            Choice::Slices if !can_be_sliced(&self.kernel, self.types, &config) => {
                depths_of(&self.factors[..at], &is_tile)
            }
            Choice::Items(axis) => {
                let extent =
                    block_extents(&self.kernel, &config.tiles).get(axis).copied().unwrap_or(1);
                if self.is_new(at, value, &|items| extent.div_ceil(items.max(1))) {
                    needs
                } else {
                    factors::sizes_of_axis(&self.kernel, &self.factors[..at], axis)
                }
            }
            Choice::Slices
            | Choice::Tile(_)
            | Choice::PhaseParts
            | Choice::Stages
            | Choice::UnrollStages
            | Choice::AsyncBytes
            | Choice::PredicateCopies
            | Choice::Warp
            | Choice::PairedLanes
            | Choice::ByColumns
            | Choice::Run(_)
            | Choice::Threads
            | Choice::MinBlocks
            | Choice::CopyBytes
            | Choice::FragmentBuffers
            | Choice::AlignBytes
            | Choice::WholeVectors
            | Choice::UnrolledStmts
            | Choice::SplitEdges
            | Choice::Padding
            | Choice::Stream
            | Choice::RasterRows => needs,
        })
    }

    /// Whether the last of these values goes with those before it.
    fn admits(&self, values: &[u32]) -> bool {
        let Some((&value, before)) = values.split_last() else { return true };
        let at = before.len();
        let choice = self.factors[at].choice;
        let is_last_tile =
            !matches!(self.factors.get(at + 1).map(|factor| factor.choice), Some(Choice::Tile(_)));
        let goes_together = match choice {
            Choice::Tile(_) if !is_last_tile => true,
            Choice::FragmentBuffers
            | Choice::AlignBytes
            | Choice::WholeVectors
            | Choice::UnrolledStmts
            | Choice::SplitEdges
            | Choice::Stream
            | Choice::RasterRows
            | Choice::CopyBytes => true,
            Choice::Padding if value == factors::COUNTED => true,
            Choice::Tile(_)
            | Choice::PhaseParts
            | Choice::Stages
            | Choice::Padding
            | Choice::UnrollStages
            | Choice::AsyncBytes
            | Choice::PredicateCopies
            | Choice::Slices
            | Choice::MinBlocks
            | Choice::Items(_)
            | Choice::Warp
            | Choice::PairedLanes
            | Choice::ByColumns
            | Choice::Run(_)
            | Choice::Threads => self
                .config(values)
                .is_some_and(|config| self.goes_together(choice, value, &config, before)),
        };
        let is_whole = values.len() == self.factors.len();
        let checked = || {
            let config = self.config(values);
            config.is_some_and(|config| check_config(&self.kernel, &config, self.device).is_ok())
        };
        goes_together && (!is_whole || checked())
    }

    /// As [`Self::admits`], where `config` is what the values so far give.
    fn goes_together(&self, choice: Choice, value: u32, config: &Config, before: &[u32]) -> bool {
        let most_threads = self.device.max_threads_per_block;
        let at = before.len();
        let is_first = || self.factors[at].values.first() == Some(&value);
        match choice {
            Choice::PhaseParts => value == 1 || can_be_parted(&self.kernel, config),
            Choice::Tile(_) | Choice::Stages => {
                self.given.iter().all(|(id, size)| config.tile(*id) == *size) && self.fits(config)
            }
            Choice::UnrollStages | Choice::AsyncBytes | Choice::PredicateCopies => {
                config.stages > 1 || is_first()
            }
            Choice::Slices => value == 1 || self.has_slices(config),
            Choice::MinBlocks => value * config.threads <= self.device.max_threads_per_sm,
            Choice::Items(axis) => {
                let extent =
                    block_extents(&self.kernel, &config.tiles).get(axis).copied().unwrap_or(1);
                let is_new = self.is_new(at, value, &|items| extent.div_ceil(items.max(1)));
                let axes = config.block.iter().take(axis + 1);
                let threads =
                    axes.map(|axis| axis.threads).fold(config.slices, u32::saturating_mul);
                is_new && threads <= most_threads
            }
            Choice::Warp => {
                config.block.iter().all(|axis| axis.threads.is_multiple_of(axis.lanes.max(1)))
            }
            // Warps that take threads in row-major order have no pairs.
            Choice::PairedLanes => value == 0 || config.block.iter().any(|axis| axis.lanes > 1),
            // Items of one axis have one order.
            Choice::ByColumns => {
                let extents = block_extents(&self.kernel, &config.tiles);
                value == 0 || has_columns(&config.block, &extents)
            }
            Choice::Run(axis) => {
                let items = self.factors.iter().position(|f| f.choice == Choice::Items(axis));
                let items = items.and_then(|at| before.get(at)).copied().unwrap_or(1);
                value == 1 || value <= items
            }
            Choice::Threads => {
                let of_axes = config.block.iter().map(|axis| axis.threads);
                let of_axes = of_axes.fold(config.slices, u32::saturating_mul);
                let given =
                    |value| factors::block_threads(&self.kernel, self.device, of_axes, value);
                self.is_new(at, value, &given)
                    && check_config(&self.kernel, config, self.device).is_ok()
            }
            Choice::Padding => self.fits(config),
            Choice::CopyBytes
            | Choice::FragmentBuffers
            | Choice::AlignBytes
            | Choice::WholeVectors
            | Choice::UnrolledStmts
            | Choice::SplitEdges
            | Choice::Stream
            | Choice::RasterRows => true,
        }
    }

    /// Whether no value before it of a factor says the same.
    fn is_new(&self, at: usize, value: u32, says: &dyn Fn(u32) -> u32) -> bool {
        let mut earlier = self.factors[at].values.iter().take_while(|&&earlier| earlier != value);
        earlier.all(|&earlier| says(earlier) != says(value))
    }

    /// Whether the tiles fit a block's shared memory.
    fn fits(&self, config: &Config) -> bool {
        // What a block takes depends on no dimension; those missing are taken as 1.
        self.model.cost(config).shared_bytes <= u64::from(self.device.shared_bytes_per_block_optin)
    }
}
