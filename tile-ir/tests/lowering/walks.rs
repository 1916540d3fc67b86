//! What the text says of arguments where work-items go along rows.

use tile_ir::emit::emit_cuda;

use crate::support::{Case, matmul};

fn text(body: &str, divisor: u32) -> String {
    let text = format!(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, #[pad = 0] x: &Tensor<T, [C]>, y: &mut Tensor<T, [R]>) \
         where tile: (TR), grid: (by in tiles(R, TR)), block: (ty in TR), \
         {{ let row = by * TR + ty; let mut acc: Acc<T> = 0; {body} y[row] = acc; }}"
    );
    let text = Box::leak(text.into_boxed_str());
    let case =
        Case { text, tiles: vec![("TR", 64)], axes: vec![64], threads: 64, divisor, ..matmul() };
    emit_cuda(&case.program(), None).unwrap_or_else(|error| panic!("{error}")).text
}

const WALK: &str = "for j in 0..C { acc += a[row, j] * x[j]; }";
const ALIGNED: &str = "a = (const float*)__builtin_assume_aligned(a, 16);";
const MULTIPLE: &str = "C &= -16; // a multiple of 16";

#[test]
fn rows_that_are_walked_are_known_to_be_aligned() {
    let text = text(WALK, 16);
    assert!(text.contains(ALIGNED) && text.contains(MULTIPLE), "{text}");
    assert!(text.contains("    int C\n"), "{text}");
}

#[test]
fn nothing_is_said_that_is_not_known() {
    let text = text(WALK, 1);
    assert!(text.contains(ALIGNED) && !text.contains("&= -"), "{text}");
}

#[test]
fn others_need_no_facts() {
    for body in [
        "acc += a[row, 0] * x[0];",
        "for j in 0..8 { acc += a[row, j] * x[j]; }",
        "shared s: [T; TR]; phase p in tiles(C, TR) { load s[i] = x[p * TR + i]; barrier; \
         for k in 0..TR { acc += s[k]; } barrier; }",
    ] {
        let text = text(body, 16);
        assert!(!text.contains("__builtin_assume_aligned") && !text.contains("&= -"), "{text}");
    }
}
