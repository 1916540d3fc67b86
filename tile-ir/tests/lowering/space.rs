//! The space of configurations: legal, without repetition, the same each time.

use std::collections::{BTreeMap, BTreeSet};

use tile_ir::arena::EntityId as _;
use tile_ir::check::CheckedKernel;
use tile_ir::config::{
    Breadth, Config, Numerics, Space, TilePadding, check_config, default_config,
};
use tile_ir::dtype::DType;
use tile_ir::kernel::TileParamId;

use crate::support::{Case, add, device, matmul, n_dims, transpose};

/// A kernel whose phase is pipelined, and whose space is small enough to be listed.
const CHUNKS: &str = "
pub fn chunks<T: Number>(a: &Tensor<T, [M, K]>, c: &mut Tensor<T, [M, K]>)
where
    tile: (TM in [4, 24], TK = TM),
    grid: (by in tiles(M, TM)),
{
    shared a_s: [T; TM, TK];
    phase p in tiles(K, TK) {
        load a_s[i, k] = a[by * TM + i, p * TK + k];
        barrier;
        each (i, k) in (TM, TK) {
            c[by * TM + i, p * TK + k] = a_s[i, k];
        }
        barrier;
    }
}";

/// One with work-items.
const LINE: &str = "
pub fn line<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
where tile: (TN in [4, 24]), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    c[bx * TN + tx] = a[bx * TN + tx];
}";

/// The same with a tile size that follows from the other.
const TURNED: &str = "
pub fn turned<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
where tile: (TN in [4, 24], TS = TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    shared s: [T; TS];
    s[tx] = a[bx * TN + tx];
    barrier;
    c[bx * TN + tx] = s[TS - 1 - tx];
}";

fn chunks() -> CheckedKernel {
    Case { text: CHUNKS, ..matmul() }.checked()
}

/// A choice's name, which of several of that name, and its value.
type Shown = (&'static str, usize, u64);

/// What a configuration decides, choice by choice.
fn choices(config: &Config) -> Vec<Shown> {
    let Config {
        tiles,
        threads,
        block,
        copy_bytes,
        stages,
        unroll_stages,
        async_bytes,
        predicate_copies,
        min_blocks,
        paired_lanes,
        by_columns,
        phase_parts,
        slices,
        fragment_buffers,
        unrolled_stmts,
        align_bytes,
        whole_vectors,
        split_edges,
        padding,
        stream_loads,
        stream_stores,
        raster_rows,
        numerics,
    } = config;
    let padding = match padding {
        TilePadding::Counted => u64::MAX,
        TilePadding::Swizzled => u64::MAX - 1,
        TilePadding::Elems(elems) => u64::from(*elems),
    };
    let numbers = [
        ("threads", *threads),
        ("copy", *copy_bytes),
        ("stages", *stages),
        ("async", *async_bytes),
        ("blocks", *min_blocks),
        ("parts", *phase_parts),
        ("slices", *slices),
        ("fragments", *fragment_buffers),
        ("unrolled", *unrolled_stmts),
        ("align", *align_bytes),
        ("raster", *raster_rows),
    ];
    let flags = [
        ("unroll", *unroll_stages),
        ("predicate", *predicate_copies),
        ("paired", *paired_lanes),
        ("columns", *by_columns),
        ("whole", *whole_vectors),
        ("split", *split_edges),
        ("stream loads", *stream_loads),
        ("stream stores", *stream_stores),
        ("reassociated", *numerics == Numerics::Reassociated),
    ];
    let mut shown: Vec<Shown> = vec![("padding", 0, padding)];
    shown.extend(numbers.map(|(name, value)| (name, 0, u64::from(value))));
    shown.extend(flags.map(|(name, value)| (name, 0, u64::from(value))));
    shown.extend(tiles.iter().enumerate().map(|(at, tile)| ("tile", at, u64::from(*tile))));
    for (at, axis) in block.iter().enumerate() {
        shown.push(("run", at, axis.run.into()));
        shown.push(("lanes", at, axis.lanes.into()));
    }
    shown
}

/// The pairs of choices that stand together in some configuration.
#[derive(Default)]
struct Together {
    numbers: BTreeMap<Shown, usize>,
    /// Bit b of the a-th where choice a and choice b do.
    with: Vec<u128>,
}

impl Together {
    fn add(&mut self, config: &Config) {
        let numbers: Vec<usize> = choices(config)
            .into_iter()
            .map(|choice| {
                let next = self.numbers.len();
                *self.numbers.entry(choice).or_insert(next)
            })
            .collect();
        assert!(self.numbers.len() <= 128, "there are more values than bits");
        self.with.resize(self.numbers.len(), 0);
        let all = numbers.iter().fold(0u128, |all, &number| all | 1 << number);
        numbers.into_iter().for_each(|number| self.with[number] |= all);
    }

    fn pairs(&self) -> BTreeSet<(Shown, Shown)> {
        let stand = |a: usize, b: usize| self.with[a] >> b & 1 == 1;
        let of_one = |(one, &a): (&Shown, &usize)| {
            let others = self.numbers.iter().filter(move |(_, b)| stand(a, **b));
            others.map(|(other, _)| (*one, *other)).collect::<Vec<_>>()
        };
        self.numbers.iter().flat_map(of_one).collect()
    }
}

#[test]
fn a_space_lists_each_legal_configuration_once() {
    let (kernel, device) = (Case { text: LINE, ..add() }.checked(), device());
    for breadth in [Breadth::Fast, Breadth::Odd] {
        let space = Space::new(&kernel, &[DType::F32], &device, breadth);
        let all: Vec<Config> = space.iter().collect();
        let distinct: BTreeSet<&Config> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(all.iter().all(|config| check_config(kernel.kernel(), config, &device).is_ok()));
        assert!(all.len() > 100, "{}", all.len());
        // An extent of 4 has no 8 items, and 3 make as many threads as 2.
        let of_four = all.iter().filter(|config| config.tiles[0] == 4);
        let of_four: BTreeSet<u32> = of_four.map(|config| config.block[0].threads).collect();
        assert_eq!(of_four.into_iter().collect::<Vec<_>>(), [1, 2, 4]);
    }
}

#[test]
fn pairwise_covers_every_pair_that_there_is() {
    let (kernel, device) = (chunks(), device());
    let space = Space::new(&kernel, &[DType::F32], &device, Breadth::Fast);
    let (mut all, mut covered) = (Together::default(), Together::default());
    space.iter().for_each(|config| all.add(&config));
    let configs: Vec<Config> = space.pairwise(1).collect();
    configs.iter().for_each(|config| covered.add(config));
    let (all, covered) = (all.pairs(), covered.pairs());
    let missing: Vec<_> = all.difference(&covered).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(configs.len() < 100, "{} of {}", configs.len(), space.iter().count());
    assert_eq!(configs, space.pairwise(1).collect::<Vec<_>>(), "the same seed gives the same");
}

#[test]
fn random_configurations_are_distinct_and_repeatable() {
    let device = device();
    for case in [matmul(), transpose(), add()] {
        let kernel = case.checked();
        let types = [case.dtype];
        let space = Space::new(&kernel, &types, &device, Breadth::Odd);
        let some: Vec<Config> = space.random(5).take(200).collect();
        let distinct: BTreeSet<&Config> = some.iter().collect();
        assert_eq!((some.len(), distinct.len()), (200, 200));
        assert!(some.iter().all(|config| check_config(kernel.kernel(), config, &device).is_ok()));
        assert_eq!(some, space.random(5).take(200).collect::<Vec<_>>());
        assert_ne!(some, space.random(6).take(200).collect::<Vec<_>>());
    }
    let kernel = Case { text: LINE, ..add() }.checked();
    let space = Space::new(&kernel, &[DType::F32], &device, Breadth::Fast);
    let narrowed = space.clone().with_tile(TileParamId::from_index(0), 4);
    let n_legal = narrowed.iter().count();
    let drawn = narrowed.random(3).count();
    assert!(drawn <= n_legal && drawn * 2 > n_legal, "{drawn} of {n_legal}");
}

#[test]
fn what_is_chosen_without_measuring_is_of_the_space() {
    let device = device();
    for case in [matmul(), transpose(), add()] {
        let kernel = case.checked();
        let types = [case.dtype];
        let space = Space::new(&kernel, &types, &device, Breadth::Fast);
        for extent in [100, 1024, 4096] {
            let dims = vec![extent; n_dims(&kernel)];
            let config = default_config(&kernel, &types, &device, &dims).unwrap();
            assert!(space.contains(&config), "{config:?}");
        }
    }
}

#[test]
fn neighbours_differ_in_one_choice_and_find_back() {
    let (kernel, device) = (matmul().checked(), device());
    let space = Space::new(&kernel, &[DType::F32], &device, Breadth::Fast);
    let dims = [1024; 3];
    let config = default_config(&kernel, &[DType::F32], &device, &dims).unwrap();
    let near = space.neighbours(&config);
    assert!(near.len() > 20, "{near:?}");
    assert!(!near.contains(&config));
    for other in &near {
        assert!(space.contains(other), "{other:?}");
        assert!(space.neighbours(other).contains(&config), "{other:?}");
    }
    // With a value that the space does not try: its neighbours have it, too.
    let own = Config { copy_bytes: 1, ..config.clone() };
    let near = space.neighbours(&own);
    assert!(!space.contains(&own) && near.len() > 20, "{near:?}");
    assert!(near.iter().any(|other| other.copy_bytes == 1 && other.tiles != own.tiles));
    let illegal = Config { raster_rows: 0, ..config };
    assert!(!space.contains(&illegal) && space.neighbours(&illegal).is_empty());
}

#[test]
fn given_tile_sizes_narrow_a_space() {
    let (kernel, device) = (Case { text: TURNED, ..add() }.checked(), device());
    let [free, tied] = [0, 1].map(TileParamId::from_index);
    let of = |param, value| {
        let space = Space::new(&kernel, &[DType::F32], &device, Breadth::Fast);
        space.with_tile(param, value).iter().count()
    };
    let all = Space::new(&kernel, &[DType::F32], &device, Breadth::Fast).iter().count();
    assert_eq!(of(free, 4) + of(free, 24), all);
    assert_eq!(of(tied, 4), of(free, 4));
    assert_eq!((of(free, 5), of(tied, 5)), (0, 0), "not admissible");
}
