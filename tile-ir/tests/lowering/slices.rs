//! Which reductions are shared out among slices, and how the program then looks.

use expect_test::expect_file;
use tile_ir::config::{Config, Numerics};
use tile_ir::dtype::DType;
use tile_ir::emit::emit_cuda;
use tile_ir::lower::{Binding, lower};
use tile_ir::program::{IndexWidth, Program};

use crate::support::{Case, device, matmul, n_dims};

/// The program of a case on two slices.
fn on_slices(case: &Case, numerics: Numerics) -> Program {
    let checked = case.checked();
    let config = case.config(&checked);
    let config = Config { slices: 2, threads: 2 * config.threads, numerics, ..config };
    let binding = Binding {
        types: vec![case.dtype],
        index_width: IndexWidth::Bits32,
        dim_divisors: vec![case.divisor; n_dims(&checked)],
        layouts: Vec::new(),
    };
    lower(&checked, &binding, &config, &device()).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the reduction of a body over a row `s` of a tile, updating `acc`, which
/// ends up in `c[i]`, is shared out.
#[track_caller]
fn check(dtype: DType, first: &str, body: &str, numerics: Numerics, expected: bool) {
    let text = format!(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N, K]>, c: &mut Tensor<T, [N]>, d: &mut Tensor<T, [N]>) \
         where tile: (TN, TK), grid: (bx in tiles(N, TN)), block: (tx in TN), \
         {{ shared s: [T; TN, TK]; let i = bx * TN + tx; {first} \
         phase p in tiles(K, TK) {{ load s[j, k] = a[bx * TN + j, p * TK + k]; barrier; {body} barrier; }} \
         d[i] = 1; c[i] = acc as T; }}"
    );
    let case = Case {
        text: Box::leak(text.into_boxed_str()),
        dtype,
        tiles: vec![("TN", 64), ("TK", 16)],
        axes: vec![32],
        threads: 32,
        ..matmul()
    };
    let program = on_slices(&case, numerics);
    let has_parts = program.kernels[0].tiles.values().any(|tile| tile.name == "acc_parts");
    assert_eq!(has_parts, expected, "{dtype} {body} {numerics:?}");
}

const ACC: &str = "let mut acc: Acc<T> = 0;";
const PLAIN: &str = "let mut acc: T = 0;";
const SUM: &str = "for k in 0..TK { acc += s[tx, k]; }";

#[test]
fn sums_of_floats_need_both_licences() {
    use Numerics::{Exact, Reassociated};
    check(DType::F32, ACC, SUM, Reassociated, true);
    check(DType::F32, ACC, SUM, Exact, false);
    check(DType::F32, PLAIN, SUM, Reassociated, false);
}

#[test]
fn some_operations_have_any_order() {
    use Numerics::Exact;
    check(DType::I32, PLAIN, SUM, Exact, true);
    check(DType::F32, PLAIN, "for k in 0..TK { acc = min(acc, s[tx, k]); }", Exact, true);
    check(DType::F32, PLAIN, "for k in 0..TK { acc = s[tx, k].max(acc); }", Exact, true);
    check(DType::I32, PLAIN, "for k in 0..TK { acc -= s[tx, k]; }", Exact, true);
    check(DType::I32, PLAIN, "for k in 0..TK { acc *= s[tx, k]; }", Exact, true);
    check(DType::I32, PLAIN, "for k in 0..TK { let x = s[tx, k]; acc += x * x; }", Exact, true);
}

#[test]
fn what_is_no_such_reduction_stays() {
    use Numerics::Exact;
    let stays = |first, body| check(DType::I32, first, body, Exact, false);
    // The sum decides what is added.
    stays(PLAIN, "for k in 0..TK { acc += s[tx, k] * acc; }");
    stays(PLAIN, "for k in 0..TK { acc = s[tx, k] - acc; }");
    // It is read or changed between.
    stays(PLAIN, "for k in 0..TK { acc += s[tx, k]; } acc = acc * 3;");
    stays(PLAIN, "if p == 2 { acc = 0; } for k in 0..TK { acc += s[tx, k]; }");
    // Two operators.
    stays(PLAIN, "for k in 0..TK { acc += s[tx, k]; acc *= 3; }");
    // Not every iteration adds.
    stays(PLAIN, "for k in 0..TK { if k < tx { acc += s[tx, k]; } }");
    // The iterations are not shared out evenly.
    stays(PLAIN, "for k in 0..TK - 1 { acc += s[tx, k]; }");
    // Each of two work-items would write.
    stays(PLAIN, "d[i] = 2; for k in 0..TK { acc += s[tx, k]; }");
}

#[test]
fn a_loop_without_such_an_accumulator_stays_beside_one() {
    let first = "let mut acc: T = 0; let mut last: T = 0;";
    let body = "for k in 0..TK { acc += s[tx, k]; } for k in 0..TK { last = s[tx, k] - last; }";
    check(DType::I32, first, body, Numerics::Exact, true);
}

#[test]
fn matmul_on_slices() {
    let case = Case { run: 4, copy_bytes: 16, divisor: 64, stages: 2, ..matmul() };
    let case = Case { axes: vec![8, 8], threads: 64, ..case };
    let program = on_slices(&case, Numerics::Reassociated);
    let source = emit_cuda(&program, None).expect("128 threads run everywhere");
    expect_file!["expect/matmul_on_slices.cu"].assert_eq(&source.text);
}
