//! Loops over tiles with a halo: what is aligned moves in vectors.

use tile_ir::program::print_program;

use crate::support::{Case, add};

const BLUR: &str = "
    pub fn blur<T: Number>(#[pad = 0] x: &Tensor<T, [R, C]>, y: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR, TC + 4];
        load s[i, j] = x[by * TR + i, bx * TC + j - 2];
        barrier;
        y[by * TR + ty, bx * TC + tx] = s[ty, tx] + s[ty, tx + 4];
    }";

fn lowered(text: &'static str, case: Case) -> String {
    let tiles = vec![("TR", 8), ("TC", 32)];
    let case = Case { text, tiles, axes: vec![8, 8], threads: 64, run: 4, ..case };
    print_program(&case.program())
}

fn wide() -> Case {
    Case { copy_bytes: 16, divisor: 4, ..add() }
}

#[test]
fn the_aligned_columns_have_a_loop_of_their_own() {
    let text = lowered(BLUR, wide());
    // Two columns before them, 32 of them, two behind.
    assert!(text.contains("i in 8, j in 2)"), "{text}");
    assert!(text.contains("i in 8, j in 32)"), "{text}");
    assert_eq!(text.matches("x.x4[").count(), 1, "{text}");
    assert_eq!(text.matches("= x").count(), 3, "{text}");
}

#[test]
fn rows_that_begin_anywhere_stay_whole() {
    let text = lowered(BLUR, Case { divisor: 1, ..wide() });
    assert_eq!(text.matches("= x").count(), 1, "{text}");
}

#[test]
fn single_elements_stay_whole() {
    let text = lowered(BLUR, Case { copy_bytes: 4, ..wide() });
    assert_eq!(text.matches("= x").count(), 1, "{text}");
}

/// Without a halo every row is aligned from its first column on.
#[test]
fn whole_rows_stay_whole() {
    let text = "
    pub fn copied<T: Number>(#[pad = 0] x: &Tensor<T, [R, C]>, y: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR, TC];
        load s[i, j] = x[by * TR + i, bx * TC + j];
        barrier;
        y[by * TR + ty, bx * TC + tx] = s[TR - 1 - ty, tx];
    }";
    let text = lowered(text, wide());
    assert_eq!(text.matches("= x").count(), 1, "{text}");
    assert!(text.contains("= x.x4["), "{text}");
}
