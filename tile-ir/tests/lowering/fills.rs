//! Which statements become cooperative loops, which phases go in parts, and how the
//! program then looks.

use expect_test::expect_file;
use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::emit::emit_cuda;
use tile_ir::lower::{Binding, lower};
use tile_ir::program::{IndexWidth, Program};

use crate::support::{Case, device, matmul, n_dims};

/// A product of square matrices whose phase holds `body`.
fn square(before: &str, body: &str) -> Case {
    let text = format!(
        "fn square<T: Number>(#[pad = 0] a: &Tensor<T, [N, N]>, #[pad = 0] b: &Tensor<T, [N, N]>, c: &mut Tensor<T, [N, N]>) \
         where tile: (W), grid: (by in tiles(N, W), bx in tiles(N, W)), block: (ty in W, tx in W), \
         {{ shared a_s: [T; W, W]; shared b_s: [T; W, W]; \
         let row = by * W + ty; let col = bx * W + tx; let mut acc: Acc<T> = 0; {before} \
         phase p in tiles(N, W) {{ {body} }} c[row, col] = acc; }}"
    );
    Case {
        text: Box::leak(text.into_boxed_str()),
        dtype: DType::F32,
        tiles: vec![("W", 64)],
        axes: vec![16, 16],
        threads: 256,
        ..matmul()
    }
}

/// The program in two stages and so many parts.
fn in_parts(case: &Case, phase_parts: u32) -> Program {
    let checked = case.checked();
    let config = Config { phase_parts, stages: 2, ..case.config(&checked) };
    let binding = Binding {
        types: vec![case.dtype],
        index_width: IndexWidth::Bits32,
        dim_divisors: vec![case.divisor; n_dims(&checked)],
        layouts: Vec::new(),
    };
    lower(&checked, &binding, &config, &device()).unwrap_or_else(|error| panic!("{error}"))
}

const FILLS: &str = "a_s[ty, tx] = a[row, p * W + tx]; b_s[ty, tx] = b[p * W + ty, col];";
const COMPUTE: &str = "for k in 0..W { acc += a_s[ty, k] * b_s[k, tx]; }";

/// Whether the phase is pipelined: all of its fills are the block's.
#[track_caller]
fn check_fills(before: &str, body: &str, expected: bool) {
    let program = in_parts(&square(before, body), 1);
    let buffers: Vec<u32> = program.kernels[0].tiles.values().map(|tile| tile.buffers).collect();
    assert_eq!(buffers.iter().all(|&n| n == 2), expected, "{before} {body}: {buffers:?}");
}

#[test]
fn who_brings_an_element_is_no_matter() {
    check_fills("", &format!("{FILLS} barrier; {COMPUTE} barrier;"), true);
    // The corner turned: another order of the coordinates.
    let turned = "a_s[ty, tx] = a[row, p * W + tx]; b_s[tx, ty] = b[bx * W + ty, p * W + tx];";
    check_fills("", &format!("{turned} barrier; {COMPUTE} barrier;"), true);
}

#[test]
fn a_work_items_own_element_is_its_own() {
    // Read before the barrier by whoever wrote it.
    let own = format!("{FILLS} acc += a_s[ty, tx]; barrier; {COMPUTE} barrier;");
    check_fills("", &own, false);
    // Written without a barrier after it was read.
    let late = format!("{FILLS} barrier; {COMPUTE} barrier; acc += a_s[ty, tx];");
    check_fills("", &late, false);
    // A value of the work-item's own.
    let sum =
        format!("{FILLS} barrier; {COMPUTE} barrier;").replace("a[row, p * W + tx]", "acc as T");
    check_fills("", &sum, false);
}

/// Whether the tiles are less deep in four parts.
#[track_caller]
fn check_parts(body: &str, expected: bool) {
    let program = in_parts(&square("", body), 4);
    let elems: u32 =
        program.kernels[0].tiles.values().map(|tile| tile.extents.iter().product::<u32>()).sum();
    let expected = if expected { 2 * 64 * 16 } else { 2 * 64 * 64 };
    assert_eq!(elems, expected, "{body}");
}

#[test]
fn a_phase_brings_less_at_a_time() {
    check_parts(&format!("{FILLS} barrier; {COMPUTE} barrier;"), true);
    let loads = "load a_s[i, k] = a[by * W + i, k + p * W]; \
                 load b_s[k, j] = b[k + W * p, bx * W + j];";
    check_parts(&format!("{loads} barrier; {COMPUTE} barrier;"), true);
}

#[test]
fn other_phases_stay_whole() {
    let whole = |compute: &str| format!("{FILLS} barrier; {compute} barrier;");
    // Another order, another start, the counter or the tile used otherwise.
    for compute in [
        "for k in (0..W).rev() { acc += a_s[ty, k] * b_s[k, tx]; }",
        "for k in 1..W { acc += a_s[ty, k] * b_s[k, tx]; }",
        "for k in 0..W { acc += a_s[ty, k] * b_s[k, tx] * (k as T); }",
        "for k in 0..W { if p * W + k < N { acc += a_s[ty, k] * b_s[k, tx]; } }",
        "for k in 0..W { acc += a_s[k, k] * b_s[k, tx]; }",
        "for k in 0..W { acc += a_s[ty, k] * b_s[(k + 1) % W, tx]; }",
        "for k in 0..W { acc += a_s[ty, k] * b_s[k, tx]; } acc += a_s[ty, 0];",
        "for k in 0..W { acc += a_s[ty, k] * a_s[k, tx] * b_s[k, tx]; }",
    ] {
        check_parts(&whole(compute), false);
    }
    // Elements that do not follow one another from part to part.
    for from in ["p * W + W - 1 - tx", "p + tx * W", "2 * (p * W) + tx", "tx", "p * W + ty"] {
        let body = whole(COMPUTE).replace("a[row, p * W + tx]", &format!("a[row, {from}]"));
        check_parts(&body, false);
    }
}

#[test]
fn the_square_product_in_parts() {
    let case = square("", &format!("{FILLS} barrier; {COMPUTE} barrier;"));
    let source = emit_cuda(&in_parts(&case, 4), None).unwrap_or_else(|error| panic!("{error}"));
    expect_file!["expect/square_in_parts.cu"].assert_eq(&source.text);
}
