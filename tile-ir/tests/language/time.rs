//! What the macro's part in a kernel costs: the user pays it at each build, and
//! mostly in an unoptimised one:
//!
//! ```sh
//! cargo test -p tile-ir --config profile.dev.opt-level=0 --test language time -- --nocapture
//! ```

use std::time::{Duration, Instant};

use tile_ir::check::check_kernel;
use tile_ir::config::default_config;
use tile_ir::device::known;
use tile_ir::dtype::DType;
use tile_ir::explain::count::Limits;
use tile_ir::explain::{Question, Rule, findings};
use tile_ir::kernel::VarKind;
use tile_ir::resolve::resolve_kernel;

use crate::judged::{judge, spent};

/// The limit for one kernel, from its text to its verdict.
const LIMIT: Duration = Duration::from_millis(20);

/// How often each is judged.
const RUNS: u32 = 16;

/// Textbook kernels.
const KERNELS: [(&str, &str); 3] = [
    (
        "matmul",
        "fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where
    tile: (TM, TN, TK),
    grid: (by in tiles(M, TM), bx in tiles(N, TN)),
    block: (ty in TM, tx in TN),
{
    shared a_s: [T; TM, TK];
    shared b_s: [T; TK, TN];
    let mut acc: Acc<T> = 0;
    phase p in tiles(K, TK) {
        load a_s[i, k] = a[by * TM + i, p * TK + k];
        load b_s[k, j] = b[p * TK + k, bx * TN + j];
        barrier;
        for k in 0..TK {
            acc += a_s[ty, k] * b_s[k, tx];
        }
        barrier;
    }
    c[by * TM + ty, bx * TN + tx] = acc;
}",
    ),
    (
        "transpose",
        "fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
{
    shared s: [T; TR, TC];
    load s[i, j] = a[by * TR + i, bx * TC + j];
    barrier;
    each (j, i) in (TC, TR) {
        b[bx * TC + j, by * TR + i] = s[i, j];
    }
}",
    ),
    (
        "reduction",
        "fn reduction(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
where grid: (bx in tiles(N, 256)), block: (tx in 256),
{
    shared s: [f32; 256];
    s[tx] = a[bx * 256 + tx];
    for d in halving(256) {
        barrier;
        if tx < d {
            s[tx] += s[tx + d];
        }
    }
    if tx == 0 {
        c[bx] = s[0];
    }
}",
    ),
];

/// From text to verdict, on average: the system's clock of a thread is coarse.
fn judged_in(text: &str) -> Duration {
    let since = Instant::now();
    let before = spent(since);
    for _ in 0..RUNS {
        let item = tile_syntax::parse_kernel_text(text).expect("in the language");
        let kernel = resolve_kernel(&item).expect("names and types are right");
        assert!(check_kernel(kernel).is_ok(), "{text}");
    }
    spent(since).saturating_sub(before) / RUNS
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what is wanted")]
fn textbook_kernels_are_judged_at_once() {
    for (name, text) in KERNELS {
        let took = judged_in(text);
        println!("{name}: {took:?}");
        assert!(took < LIMIT, "{name} took {took:?}");
    }
}

/// The limit for what `#[deny(bank_conflicts, …)]` adds to that, the choice of tile sizes
/// included.
const DENIAL_LIMIT: Duration = Duration::from_millis(50);

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what is wanted")]
fn launches_of_textbook_kernels_are_denied_at_once() {
    let mut slow = Vec::new();
    for (name, text) in KERNELS {
        let item = tile_syntax::parse_kernel_text(text).expect("in the language");
        let kernel = resolve_kernel(&item).expect("names and types are right");
        let kernel = check_kernel(kernel).unwrap_or_else(|found| panic!("{found:?}")).kernel;
        let types = vec![DType::F32; kernel.kernel().type_params.len()];
        let is_dim = |kind: VarKind| kind == VarKind::Dim;
        let n_dims = kernel.kernel().vars.values().filter(|var| is_dim(var.kind)).count();
        let dims = vec![4096; n_dims];
        let once = || {
            let since = Instant::now();
            let before = spent(since);
            let device = known("H200").expect("the device is in the table");
            let config = default_config(&kernel, &types, &device, &dims);
            let config = config.expect("it fits");
            let chosen = spent(since);
            let question = Question {
                kernel: &kernel,
                types: &types,
                dims: &dims,
                scalars: &[],
                device: &device,
                config: &config,
                registers: None,
                limits: Limits::BRIEF,
                rules: &[Rule::BankConflicts],
            };
            findings(&question).unwrap_or_else(|error| panic!("{error}"));
            [chosen.saturating_sub(before), spent(since).saturating_sub(chosen)]
        };
        let best = (0..5).map(|_| once()).min_by_key(|[one, other]| *one + *other);
        let [choosing, explaining] = best.expect("there are some");
        println!("{name}: {choosing:?} to choose, {explaining:?} to explain");
        slow.extend((choosing + explaining >= DENIAL_LIMIT).then_some(name));
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// The limit for any kernel of the suite: the longest takes 1.3 s on a slow machine that is idle,
/// and twice as long on one that is busy.
const LONGEST: Duration = Duration::from_secs(3);

/// The part of the time for all kernels, one of so many, that one may take where that is more:
/// of a machine that is slow or has other work the one tells as much as the other.
const PART_OF_ALL: u32 = 150;

/// How often one that seems to take longer is judged again: what else the machine does
/// shows in a figure too.
const SECOND_TRIES: u32 = 4;

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what is wanted")]
fn no_kernel_of_the_suite_takes_long() {
    let once = |text: &str| judge(text).kernel().map(|kernel| kernel.took);
    let mut all = Vec::new();
    for (at, text, judged) in crate::suite::all_judged() {
        let Some(kernel) = judged.kernel() else { continue };
        let tries = if kernel.took > LONGEST { SECOND_TRIES } else { 0 };
        let took = (0..tries).filter_map(|_| once(text)).fold(kernel.took, Duration::min);
        all.push((took, at));
    }
    all.sort_by(|one, other| other.cmp(one));
    let total: Duration = all.iter().map(|(took, _)| *took).sum();
    println!("{} kernels in {total:?}; the longest:", all.len());
    all.iter().take(20).for_each(|(took, at)| println!("{at}: {took:?}"));
    let limit = LONGEST.max(total / PART_OF_ALL);
    let slow: Vec<_> = all.iter().filter(|(took, _)| *took > limit).collect();
    assert!(slow.is_empty(), "{slow:?}");
}
