//! Which sizes to run.
//!
//! Small ones first, so that a witness is small. Tile parameters take values that
//! relate to each other in every way (smaller, equal, greater), odd and even,
//! and one above every literal of the kernel, so that `tx < 16` goes both ways.
//! Dimensions are chosen for the trips that they stand for: none, one, two,
//! three with a ragged last one, more; along the grid at least two blocks.

use std::collections::BTreeSet;

use super::data::{FIRST_EQUAL_SEED, FIRST_FREE_SEED, Pool};
use super::literals::largest_literal;
use super::machine::NO_EXTENT;
use super::pieces::{Pieces, Profile, Roles};
use super::tile_sizes::{candidates, is_extent, tile_sizes};
use crate::arena::EntityId as _;
use crate::config::{check_tiles, complete_tiles};
use crate::kernel::{ElemType, Kernel, Source, TileDomain, Type, VarId, VarKind};

/// How many times the literals the sizes go that are run one after the other, at least and at most.
const EACH_ABOVE: i64 = 8;
const MIN_EACH: i64 = 64;
const MAX_EACH: i64 = 1024;
/// Up to which value each of one is run with each of another.
const EACH_OF_TWO: i64 = 32;
/// The largest power of two of which it is run what it is, and what is next to it.
const MOST_POWER: u32 = 12;
/// Blocks of a large launch, along each axis of the grid, and scalars of one.
const FAR: i64 = 1 << 17;
/// The same, where what is left of a division is looked for.
const FARTHER: i64 = 1 << 24;
/// Different scalars, and different data alone, that are tried at the same sizes.
const SEEDS: u32 = 9;
const DATA_SEEDS: u32 = 6;
const MAX_DATA_SEEDS: u32 = 14;
/// Those that are tried where it matters most.
const OTHER_SEEDS: std::ops::Range<u32> = FIRST_FREE_SEED..FIRST_FREE_SEED + 24;

/// A value for everything that a launch fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// By variable: dimensions, tile parameters and scalars.
    pub(super) values: Vec<Option<i64>>,
    /// What loads give is made from this.
    pub(super) seed: u32,
    /// Those of which the value is one of many, and says nothing: what is computed
    /// from them is taken as loaded data is.
    pub(super) open: BTreeSet<VarId>,
}

impl Sizes {
    /// The values of the tile parameters.
    pub(super) fn tiles(&self, kernel: &Kernel) -> Vec<Option<i64>> {
        kernel.tile_params.values().map(|param| self.values[param.var.index()]).collect()
    }

    /// Takes dimensions that nothing but extents are made of for larger than any index.
    pub(super) fn widen(&mut self, extents: &[VarId]) {
        for var in extents {
            self.values[var.index()] = Some(NO_EXTENT);
        }
    }

    /// What decides a variable's value, if it may be any.
    pub(super) fn source(&self, var: VarId) -> Option<Source> {
        self.open.contains(&var).then_some(Source::Launch(var))
    }
}

/// The sizes to run, in order; each is made when it is asked for, as most often few
/// are.
pub(super) struct Choice<'a> {
    kernel: &'a Kernel,
    pool: &'a Pool,
    roles: Roles,
    tiles: Vec<Vec<u32>>,
}

impl<'a> Choice<'a> {
    pub(super) fn of(kernel: &'a Kernel, pool: &'a Pool) -> Self {
        Self { kernel, pool, roles: Roles::of(kernel), tiles: tile_sizes(kernel) }
    }

    /// How many choices of tile sizes there are.
    pub(super) fn n_tiles(&self) -> usize {
        self.tiles.len()
    }

    /// All of them; where `uses_data` says that no loaded value matters, and there is
    /// no scalar, only the first of those that differ in these.
    pub(super) fn sizes(&self, uses_data: bool) -> impl Iterator<Item = Sizes> {
        let seeds = match (self.kernel.scalars.is_empty(), uses_data) {
            (false, _) => SEEDS,
            (true, true) => self.pool.seeds().clamp(DATA_SEEDS, MAX_DATA_SEEDS),
            (true, false) => 1,
        };
        let profiles = |tiles| Profile::ALL.iter().map(move |profile| (tiles, *profile));
        let pairs = self.tiles.iter().flat_map(profiles);
        pairs.flat_map(move |(tiles, profile)| {
            (0..seeds).map(move |seed| self.sizes_of(tiles, profile, seed))
        })
    }

    /// Sizes at which scalars are as long as many work-items.
    pub(super) fn with_long_scalars(&self) -> impl Iterator<Item = Sizes> {
        self.tiles.iter().map(|tiles| self.sizes_of(tiles, Profile::ALL[0], SEEDS))
    }

    /// Sizes with more blocks than any literal says.
    pub(super) fn with_many_blocks(&self) -> impl Iterator<Item = Sizes> {
        let profile = Profile::even(Pieces::Many, Pieces::Whole(2));
        self.tiles.iter().map(move |tiles| self.sizes_of(tiles, profile, 0))
    }

    /// Sizes at which loops go beyond any literal, with data that is the same everywhere where
    /// `uses_data` says that it matters.
    pub(super) fn with_long_loops(&self, uses_data: bool) -> impl Iterator<Item = Sizes> {
        let profile = Profile::even(Pieces::Whole(2), Pieces::Beyond);
        let count = if uses_data { usize::MAX } else { 1 };
        let seeds = self.pool.equal_seeds().take(count);
        let tiles = self.tiles.iter();
        tiles.flat_map(move |tiles| {
            seeds.clone().map(move |seed| {
                let own = seed % FIRST_EQUAL_SEED;
                let mut sizes = self.sizes_of(tiles, profile, if uses_data { own } else { 0 });
                sizes.seed = if uses_data { seed } else { 0 };
                sizes
            })
        })
    }

    /// Sizes with as many blocks as a launch may well have, and scalars as large: what a far
    /// block does no near one may do.
    pub(super) fn with_far_blocks(&self) -> Vec<Sizes> {
        let kernel = self.kernel;
        let Some(tiles) = self.tiles.first() else { return Vec::new() };
        let mut tiles = tiles.clone();
        for (id, param) in kernel.tile_params.iter() {
            if self.roles.grid[param.var.index()] && !is_extent(kernel, param.var) {
                let most = candidates(&param.domain, TileDomain::MAX).last().copied();
                tiles[id.index()] = most.unwrap_or(tiles[id.index()]);
            }
        }
        if check_tiles(kernel, &tiles).is_err() {
            return Vec::new();
        }
        let of_blocks =
            |count| self.sizes_of(&tiles, Profile::even(Pieces::Whole(count), Pieces::Whole(2)), 0);
        let far = of_blocks(FAR);
        let near = self.sizes_of(&tiles, Profile::ALL[0], 0);
        let is_integer = |ty: Type| !is_float(ty);
        let scalars = kernel
            .vars
            .iter()
            .filter(|(_, var)| matches!(var.kind, VarKind::Scalar(_)) && is_integer(var.ty));
        let scalars: Vec<(VarId, Type)> = scalars.map(|(id, var)| (id, var.ty)).collect();
        let with_scalars = |mut sizes: Sizes| {
            for (var, ty) in &scalars {
                let most = ty.integer_range().map_or(FAR, |(_, most)| FAR.min(most as i64));
                sizes.values[var.index()] = Some(most);
            }
            sizes
        };
        let mut all = vec![far.clone()];
        if !scalars.is_empty() {
            all.extend([with_scalars(near), with_scalars(far)]);
        }
        all.push(of_blocks(FARTHER));
        all
    }

    /// Sizes at which every scalar is larger than any coordinate that a literal bounds.
    pub(super) fn with_large_scalars(&self) -> impl Iterator<Item = Sizes> {
        let large = largest_literal(self.kernel) + 1;
        let scalars = self.kernel.vars.iter();
        let scalars: Vec<(VarId, Type)> = scalars
            .filter(|(_, var)| matches!(var.kind, VarKind::Scalar(_)))
            .map(|(id, var)| (id, var.ty))
            .collect();
        let tiles = self.tiles.iter().filter(|_| !self.kernel.scalars.is_empty());
        tiles.map(move |tiles| {
            let mut sizes = self.sizes_of(tiles, Profile::ALL[0], 0);
            for (id, ty) in &scalars {
                sizes.values[id.index()] = Some(natural(large, *ty));
            }
            sizes
        })
    }

    /// Few sizes with data of which one element has nothing to do with the next, so many
    /// different ones of each.
    pub(super) fn with_mixed_data(&self, seeds: u32) -> impl Iterator<Item = Sizes> {
        let profiles = [Profile::ALL[0], Profile::ALL[4]];
        (FIRST_FREE_SEED..FIRST_FREE_SEED + seeds).flat_map(move |seed| {
            let tiles = self.tiles.iter();
            tiles.flat_map(move |tiles| {
                profiles.into_iter().map(move |profile| self.sizes_of(tiles, profile, seed))
            })
        })
    }

    /// Usual sizes at each choice of tile sizes.
    pub(super) fn sizes_of_each_tile(&self) -> impl Iterator<Item = Sizes> {
        self.tiles.iter().map(|tiles| self.sizes_of(tiles, Profile::ALL[0], FIRST_FREE_SEED))
    }

    /// Sizes of which these are given; `None` where they are not admissible.
    pub(super) fn sizes_with(&self, given: &[(VarId, i64)], seed: u32) -> Option<Sizes> {
        self.sizes_near(self.tiles.first()?, given, seed)
    }

    /// The same, the others as they are in some sizes of tiles.
    fn sizes_near(&self, usual: &[u32], given: &[(VarId, i64)], seed: u32) -> Option<Sizes> {
        let kernel = self.kernel;
        let value = |var: VarId| given.iter().find(|(other, _)| *other == var).map(|(_, v)| *v);
        let own = kernel
            .tile_params
            .iter()
            .filter(|(_, param)| !matches!(param.domain, TileDomain::Equal(_)));
        let tiles = own.map(|(id, param)| {
            let value = match value(param.var) {
                Some(value) => u32::try_from(value).ok()?,
                None => *usual.get(id.index())?,
            };
            Some((id, value))
        });
        let tiles = complete_tiles(kernel, &tiles.collect::<Option<Vec<_>>>()?).ok()?;
        let mut sizes = self.sizes_of(&tiles, Profile::ALL[0], seed);
        for (var, value) in given {
            if !matches!(kernel.vars[*var].kind, VarKind::TileParam(_)) {
                sizes.values[var.index()] = Some(*value);
            }
        }
        Some(sizes)
    }

    /// Each value of these tile parameters, dimensions and scalars, with some sizes of the others;
    /// the smallest first.
    pub(super) fn with_each(&self, vars: &BTreeSet<VarId>) -> impl Iterator<Item = Sizes> {
        let literals = largest_literal(self.kernel) + 1;
        let most = literals.saturating_mul(EACH_ABOVE).clamp(MIN_EACH, MAX_EACH);
        let mut all: Vec<(VarId, i64)> = vars
            .iter()
            .flat_map(|var| self.values_to(*var, most).chain(self.powers_above(*var, most)))
            .collect();
        all.sort_by_key(|one| extent_of(&[*one]));
        all.into_iter().flat_map(|one| {
            let all = self.tiles.iter().filter_map(|usual| self.sizes_near(usual, &[one], 0));
            let mut all: Vec<Sizes> = all.collect();
            all.sort_by(|one, other| one.values.cmp(&other.values));
            all.dedup();
            all
        })
    }

    /// Each two of few values of these; the smallest first.
    pub(super) fn with_each_two(&self, vars: &BTreeSet<VarId>) -> impl Iterator<Item = Sizes> {
        let of_two = vars.iter().enumerate().flat_map(|(nth, var)| {
            let others = vars.iter().skip(nth + 1);
            let pairs = others.flat_map(|other| {
                let both = self.values_to(*var, EACH_OF_TWO);
                both.flat_map(|one| {
                    self.values_to(*other, EACH_OF_TWO).map(move |other| [one, other])
                })
            });
            pairs.collect::<Vec<_>>()
        });
        let mut of_two: Vec<[(VarId, i64); 2]> = of_two.collect();
        of_two.sort_by_key(|given| extent_of(given));
        of_two.into_iter().filter_map(|given| self.sizes_with(&given, 0))
    }

    /// The values of a tile parameter, a dimension or a scalar up to some.
    fn values_to(&self, var: VarId, most: i64) -> impl Iterator<Item = (VarId, i64)> {
        let values: Box<dyn Iterator<Item = u32>> = match self.kernel.vars[var].kind {
            VarKind::TileParam(param) => self.kernel.tile_params[param].domain.values(),
            _ => Box::new(1..),
        };
        let values = values.map(i64::from).take_while(move |value| *value <= most);
        values.map(move |value| (var, value))
    }

    /// Values of a scalar or a dimension at which its digits change, above some.
    fn powers_above(&self, var: VarId, least: i64) -> impl Iterator<Item = (VarId, i64)> {
        let is_size = matches!(self.kernel.vars[var].kind, VarKind::Scalar(_) | VarKind::Dim);
        let powers = (1..=MOST_POWER).map(|power| 1 << power).filter(move |_| is_size);
        let around = powers.flat_map(|power| [power - 1, power, power + 1]);
        around.filter(move |value| *value > least).map(move |value| (var, value))
    }

    /// The sizes again, by other data than [`Self::sizes`] has; the smallest first.
    pub(super) fn with_other_data(&self) -> impl Iterator<Item = Sizes> {
        let profiles = |tiles| Profile::ALL.iter().map(move |profile| (tiles, *profile));
        let size = |tiles: &&Vec<u32>| tiles.iter().map(|size| u64::from(*size)).sum::<u64>();
        let smallest = self.tiles.iter().min_by_key(size).filter(|_| self.tiles.len() > 1);
        let of =
            move |seed, (tiles, profile): (&Vec<u32>, Profile)| self.sizes_of(tiles, profile, seed);
        let first = OTHER_SEEDS.flat_map(move |seed| {
            smallest.into_iter().flat_map(profiles).map(move |pair| of(seed, pair))
        });
        let all = OTHER_SEEDS.flat_map(move |seed| {
            self.tiles.iter().flat_map(profiles).map(move |pair| of(seed, pair))
        });
        first.chain(all)
    }

    /// The first sizes, with data that is the same everywhere.
    pub(super) fn with_equal_data(&self) -> impl Iterator<Item = Sizes> {
        let first = self.sizes(false).next();
        self.pool.equal_seeds().filter_map(move |seed| Some(Sizes { seed, ..first.clone()? }))
    }

    fn sizes_of(&self, tiles: &[u32], profile: Profile, seed: u32) -> Sizes {
        let values = self.kernel.vars.iter().map(|(id, var)| match var.kind {
            VarKind::TileParam(param) => tiles.get(param.index()).copied().map(i64::from),
            VarKind::Dim => Some(self.roles.dim(self.kernel, id, tiles, profile)),
            VarKind::Scalar(scalar) => {
                Some(natural(self.pool.scalar(scalar.index(), seed, is_float(var.ty)), var.ty))
            }
            VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => None,
        });
        Sizes { values: values.collect(), seed, open: BTreeSet::new() }
    }
}

/// The product of values: about how much is run of them.
fn extent_of(given: &[(VarId, i64)]) -> i64 {
    given.iter().fold(1, |product, (_, value)| product.saturating_mul(*value))
}

/// A scalar's value: one below 0 is, of a type that has none, the last one of its range.
fn natural(value: i64, ty: Type) -> i64 {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return value };
    match dtype.integer_range() {
        Some((0, max)) if value < 0 => i64::try_from(max).unwrap_or(i64::MAX),
        Some(_) | None => value,
    }
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::Scalar(ElemType::Concrete(dtype)) if dtype.is_float())
}
