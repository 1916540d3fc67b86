//! Which sizes to run.
//!
//! Small ones first, so that a witness is small. Tile parameters take values that
//! relate to each other in every way (smaller, equal, greater), odd and even,
//! and one above every literal of the kernel, so that `tx < 16` goes both ways.
//! Dimensions are chosen for the trips that they stand for: none, one, two,
//! three with a ragged last one, more; along the grid at least two blocks.

use std::collections::BTreeSet;

use super::data::{FIRST_EQUAL_SEED, FIRST_FREE_SEED, Pool};
use super::machine::NO_EXTENT;
use crate::arena::EntityId as _;
use crate::config::{check_tiles, complete_tiles, tied_tiles, tile_value};
use crate::kernel::{
    ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, Source, Stmt, StmtKind, TileDomain,
    TileParam, TileParamId, Type, VarId, VarKind, eval_index,
};
use crate::op::BinaryOp;

/// Most combinations of tile sizes that are looked at, and that are run.
const MAX_CANDIDATES: usize = 4096;
const MAX_COMBINATIONS: usize = 12;
/// Largest literal above which a tile parameter is raised.
const MAX_LITERAL: i64 = 256;
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

/// Whether a tile parameter is more than a number of blocks: an extent of a block or a tile is
/// made of it.
fn is_extent(kernel: &Kernel, param: VarId) -> bool {
    let block = kernel.block.iter().flatten().map(|axis| axis.extent);
    let tiles = kernel.tiles.values().flat_map(|tile| tile.extents.iter().copied());
    let mut is_named = false;
    block.chain(tiles).for_each(|extent| {
        variables(kernel, extent, &mut |var| is_named |= var == param);
    });
    is_named
}

// Tile parameters.

/// Admissible combinations that differ in kind, cheap ones first.
fn tile_sizes(kernel: &Kernel) -> Vec<Vec<u32>> {
    let above = largest_literal(kernel) as u32 + 1;
    let mut axes: Vec<(TileParamId, Vec<u32>)> = Vec::new();
    for (id, param) in kernel.tile_params.iter() {
        let values = candidates(&param.domain, above);
        if !values.is_empty() {
            axes.push((id, values));
        }
    }
    let total = |axes: &[(TileParamId, Vec<u32>)]| -> usize {
        axes.iter().fold(1, |product, (_, values)| product.saturating_mul(values.len()))
    };
    while total(&axes) > MAX_CANDIDATES {
        let Some((_, longest)) = axes.iter_mut().max_by_key(|(_, values)| values.len()) else {
            break;
        };
        longest.pop();
    }
    let mut combinations: Vec<Vec<u32>> = (0..total(&axes))
        .filter_map(|mut number| {
            let digits = axes.iter().map(|(id, values)| {
                let value = values[number % values.len()];
                number /= values.len();
                (*id, value)
            });
            tied_tiles(kernel, &digits.collect::<Vec<_>>()).ok()
        })
        .collect();
    combinations.sort_by_key(|tiles| {
        let ones = tiles.iter().filter(|tile| **tile == 1).count();
        (ones, tiles.iter().fold(1u64, |product, tile| product.saturating_mul((*tile).into())))
    });
    // Few that are all there is are all run.
    let is_open = |param: &TileParam| param.domain == TileDomain::Any;
    let are_all =
        combinations.len() <= MAX_COMBINATIONS && !kernel.tile_params.values().any(is_open);
    let mut facts = BTreeSet::new();
    let mut chosen: Vec<Vec<u32>> = Vec::new();
    for tiles in combinations {
        let new: Vec<_> = facts_of(&tiles, above).filter(|fact| !facts.contains(fact)).collect();
        let shows_more = are_all || !new.is_empty() || tiles.is_empty();
        if shows_more && check_tiles(kernel, &tiles).is_ok() {
            facts.extend(new);
            chosen.push(tiles);
        }
        if chosen.len() == MAX_COMBINATIONS {
            break;
        }
    }
    chosen
}

/// What a combination shows: how each parameter relates to each other one, and
/// of which kind each is.
fn facts_of(tiles: &[u32], above: u32) -> impl Iterator<Item = (usize, usize, u32)> {
    // Odd or even; how small; whether above the literals, and a power of two.
    let kinds = tiles.iter().enumerate().flat_map(move |(index, &tile)| {
        let high = 2 * u32::from(tile >= above) + u32::from(tile > 2 && tile.is_power_of_two());
        [tile % 2, 2 + tile.min(4), 8 + high].map(|kind| (index, index, kind))
    });
    let relations = tiles.iter().enumerate().flat_map(move |(index, tile)| {
        let others = tiles.iter().enumerate().skip(index + 1);
        others.map(move |(other, size)| {
            let relation = u32::from(tile < size) + 2 * u32::from(tile > size);
            (index, other, relation)
        })
    });
    kinds.chain(relations)
}

/// Values of a domain to try, rising; a tied parameter has none of its own.
fn candidates(domain: &TileDomain, above: u32) -> Vec<u32> {
    // Where none is above, the largest.
    let first_above = |values: Vec<u32>| {
        let first = values.iter().find(|value| **value >= above);
        first.or(values.last()).copied()
    };
    let mut values: Vec<u32> = match domain {
        TileDomain::Any => (1..=5).chain([8, above]).collect(),
        TileDomain::Range { min, max, step } => {
            let step = (*step).max(1);
            let last = max - (max - min) % step;
            let first = min.saturating_add(above.saturating_sub(*min).div_ceil(step) * step);
            let few = domain.values().take(3);
            few.chain([first.clamp(*min, last), last]).collect()
        }
        TileDomain::Pow2 { .. } => {
            let all: Vec<u32> = domain.values().collect();
            let first = first_above(all.clone());
            let last = all.last().copied();
            all.into_iter().take(3).chain(first).chain(last).collect()
        }
        TileDomain::List(values) => values.clone(),
        TileDomain::Equal(_) => Vec::new(),
    };
    values.sort_unstable();
    values.dedup();
    values
}

/// The largest literal that an index is likely to meet.
pub(super) fn largest_literal(kernel: &Kernel) -> i64 {
    literals(kernel).max().unwrap_or(0)
}

/// The literals that an index is likely to meet: naturals which are not large.
pub(super) fn literals(kernel: &Kernel) -> impl Iterator<Item = i64> {
    literals_to(kernel, MAX_LITERAL)
}

/// The literals that are naturals up to a number.
pub(super) fn literals_to(kernel: &Kernel, most: i64) -> impl Iterator<Item = i64> {
    let literals = kernel.exprs.values().filter_map(|expr| {
        let ExprKind::Literal(Literal::Int(value)) = expr.kind else { return None };
        i64::try_from(value).ok()
    });
    literals.filter(move |value| (0..=most).contains(value))
}

// Dimensions.

/// How many pieces the dimensions of the grid and of loops are cut into.
#[derive(Clone, Copy, Debug)]
struct Profile {
    grid: Pieces,
    loops: Pieces,
    /// Whether dimensions that are only extents leave room.
    roomy: bool,
    /// Whether every second dimension is a piece longer than the others: the odd ones in
    /// the order of the text, or the even ones.
    uneven: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Pieces {
    Whole(i64),
    /// One less than so many whole ones.
    Short(i64),
    /// One more.
    Long(i64),
    /// So many whole ones that all literals of the text are inside.
    Beyond,
    /// More whole ones than any literal of the text says, and one's length besides.
    Many,
    /// So few that no piece is whole, of each dimension another number: from so many on up,
    /// by its place among the variables.
    Rising(i64),
    /// The same down.
    Falling(i64),
}

impl Pieces {
    fn of(self, unit: i64, largest: i64, dim: VarId) -> i64 {
        match self {
            Self::Rising(n) => n + dim.index() as i64 % 5,
            Self::Falling(n) => n - dim.index() as i64 % 5,
            Self::Beyond => (largest / unit + 2).saturating_mul(unit),
            Self::Many => largest.saturating_add(unit).saturating_add(2).saturating_mul(unit),
            Self::Whole(n) => unit.saturating_mul(n),
            Self::Short(n) if unit == 1 => n,
            Self::Short(n) => unit.saturating_mul(n) - 1,
            Self::Long(n) => unit.saturating_mul(n).saturating_add(1),
        }
    }
}

impl Profile {
    const fn even(grid: Pieces, loops: Pieces) -> Self {
        Self { grid, loops, roomy: true, uneven: None }
    }

    const ALL: [Self; 11] = [
        Self::even(Pieces::Whole(2), Pieces::Whole(2)),
        Self::even(Pieces::Whole(2), Pieces::Whole(0)),
        Self::even(Pieces::Rising(3), Pieces::Rising(3)),
        Self::even(Pieces::Falling(7), Pieces::Falling(7)),
        Self::even(Pieces::Short(2), Pieces::Short(1)),
        Self::even(Pieces::Short(3), Pieces::Short(3)),
        Self::even(Pieces::Whole(2), Pieces::Whole(1)),
        Self { roomy: false, ..Self::even(Pieces::Long(1), Pieces::Long(5)) },
        Self { uneven: Some(1), ..Self::even(Pieces::Short(2), Pieces::Long(3)) },
        Self { uneven: Some(0), ..Self::even(Pieces::Short(2), Pieces::Long(3)) },
        Self::even(Pieces::Beyond, Pieces::Whole(2)),
    ];
}

/// What each variable, if a dimension, is used for.
struct Roles {
    grid: Vec<bool>,
    loops: Vec<bool>,
    /// `tiles(n, t)` around a dimension, or `n / t` in an extent or a bound: `t`; of a
    /// loop that ends by it, its step.
    units: Vec<(VarId, ExprId)>,
    /// The largest literal that an index is likely to meet.
    largest: i64,
}

impl Roles {
    fn of(kernel: &Kernel) -> Self {
        let none = vec![false; kernel.vars.len()];
        let largest = largest_literal(kernel);
        let mut roles = Self { grid: none.clone(), loops: none, units: Vec::new(), largest };
        for axis in &kernel.grid {
            variables(kernel, axis.extent, &mut |var| roles.grid[var.index()] = true);
            roles.divided(kernel, axis.extent);
        }
        roles.visit(kernel, &kernel.body);
        for expr in kernel.exprs.values() {
            if let ExprKind::Tiles { extent, tile } = expr.kind {
                variables(kernel, extent, &mut |var| roles.units.push((var, tile)));
            }
        }
        roles
    }

    fn visit(&mut self, kernel: &Kernel, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Phase { range, .. } | StmtKind::For { range, .. } = &stmt.kind {
                for bound in range.exprs() {
                    variables(kernel, bound, &mut |var| self.loops[var.index()] = true);
                    self.divided(kernel, bound);
                }
                if let LoopRange::Between { end, step: Some(step), .. } = *range {
                    variables(kernel, end, &mut |var| self.units.push((var, step)));
                }
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(kernel, body));
        }
    }

    /// Takes the divisors in `expr` for units of what they divide.
    fn divided(&mut self, kernel: &Kernel, expr: ExprId) {
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } = *kind {
            variables(kernel, lhs, &mut |var| self.units.push((var, rhs)));
        }
        kind.operands().into_iter().for_each(|operand| self.divided(kernel, operand));
    }

    fn dim(&self, kernel: &Kernel, dim: VarId, tiles: &[u32], profile: Profile) -> i64 {
        let value = |expr| eval_index(kernel, expr, &|var| tile_value(kernel, tiles, var));
        let units = self.units.iter().filter(|(var, _)| *var == dim);
        let units = units.filter_map(|(_, tile)| i64::try_from(value(*tile)?).ok());
        let unit = units.max().unwrap_or(1).max(1);
        // Of the dimensions every second one, in the order of the text.
        let longer = if profile.uneven == Some(dim.index() % 2) { unit } else { 0 };
        let usual = match (self.grid[dim.index()], self.loops[dim.index()]) {
            (true, _) => profile.grid.of(unit, self.largest, dim),
            (false, true) => profile.loops.of(unit, self.largest, dim),
            (false, false) if !profile.roomy => 3,
            (false, false) => room(kernel, dim),
        };
        usual.saturating_add(longer)
    }
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

/// An extent that a tensor of so many axes can have in a table of fair size.
fn room(kernel: &Kernel, dim: VarId) -> i64 {
    let ranks = kernel.tensors.values().filter_map(|tensor| {
        let mut uses = false;
        let mut seen = |var| uses |= var == dim;
        tensor.extents.iter().for_each(|extent| variables(kernel, *extent, &mut seen));
        uses.then_some(tensor.extents.len())
    });
    match ranks.max().unwrap_or(1) {
        0 | 1 => 1024,
        2 => 32,
        _ => 8,
    }
}

fn variables(kernel: &Kernel, expr: ExprId, found: &mut dyn FnMut(VarId)) {
    if let ExprKind::Var(var) = kernel.exprs[expr].kind {
        found(var);
    }
    for operand in kernel.exprs[expr].kind.operands() {
        variables(kernel, operand, found);
    }
}
