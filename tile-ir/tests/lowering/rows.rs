//! Rows that begin anywhere: stored in whole sectors, loaded in whole vectors, and
//! where neither may be done.

use tile_ir::dtype::DType;
use tile_ir::program::print_program;

use crate::support::{Case, transpose};

/// The text of a kernel of the names and tiles of a transpose.
fn lowered(text: &str, case: Case) -> String {
    // The cases of a test are few, and a case wants a text that lives on.
    let text: &'static str = text.to_owned().leak();
    let tiles = vec![("TR", 32), ("TC", 64)];
    print_program(&Case { text, tiles, copy_bytes: 16, split_edges: true, ..case }.program())
}

fn with_body(body: &str) -> String {
    format!(
        "pub fn moved(#[pad = 0] a: &Tensor<i32, [R, C]>, #[pad = 0] w: &Tensor<i32, [R]>, b: &mut Tensor<i32, [C, R]>)
        where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        {{
            shared s: [i32; TR, TC];
            {body}
        }}"
    )
}

const LOAD: &str = "load s[i, j] = a[by * TR + i, bx * TC + j]; barrier;";
const STORE: &str = "each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[i, j]; }";

fn case() -> Case {
    Case { dtype: DType::I32, ..transpose() }
}

fn reaching(body: &str) -> String {
    lowered(&with_body(body), Case { align_bytes: 32, ..case() })
}

fn in_vectors(body: &str) -> String {
    lowered(&with_body(body), Case { whole_vectors: true, ..case() })
}

/// Rows of the tile with those of the next block's first sector.
const LONGER: &str = "shared s: [i32; 40, 64]";

#[test]
fn a_block_stores_what_begins_in_it() {
    let text = reaching(&format!("{LOAD} {STORE}"));
    assert!(text.contains(LONGER), "{text}");
    assert!(text.contains("b.x4.aligned8["), "{text}");
    assert!(text.contains("if by == 0"), "{text}");
}

#[test]
fn what_is_read_beside_the_tile_moves_along() {
    let scaled = "each (j, i) in (TC, TR) {
        let row = by * TR + i;
        b[bx * TC + j, row] = s[i, j] * w[row];
    }";
    let text = reaching(&format!("{LOAD} {scaled}"));
    assert!(text.contains(LONGER), "{text}");
}

#[test]
fn elements_that_depend_on_their_block_stay() {
    for store in [
        "each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[i, j] + by as i32; }",
        "each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[i, j] + i as i32; }",
        "each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[i, j] * w[i]; }",
        "each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[TR - 1 - i, j]; }",
    ] {
        let text = reaching(&format!("{LOAD} {store}"));
        assert!(!text.contains(LONGER), "{text}");
        // The ends of rows are stored by themselves then.
        assert!(text.contains("let end"), "{text}");
    }
    for load in [
        "load s[i, j] = a[by * TR + i, bx * TC + j] + by as i32; barrier;",
        "load s[i, j] = a[by * TR + i, bx * TC + j] * w[i]; barrier;",
        "load s[i, j] = a[by * TR + TR - 1 - i, bx * TC + j]; barrier;",
    ] {
        let text = reaching(&format!("{load} {STORE}"));
        assert!(!text.contains(LONGER), "{text}");
    }
}

#[test]
fn a_tile_with_another_use_keeps_its_length() {
    for between in [
        "each (i, j) in (TR, TC) { s[i, j] = s[i, j] + 1; } barrier;",
        "each (i) in (TR) { s[i, 0] = 7; } barrier;",
    ] {
        let text = reaching(&format!("{LOAD} {between} {STORE}"));
        assert!(!text.contains(LONGER), "{text}");
    }
}

#[test]
fn a_grid_that_leaves_something_out_stores_no_more() {
    let text = with_body(&format!("{LOAD} {STORE}"));
    let half = text.replace("by in tiles(R, TR)", "by in tiles(R / 2, TR)");
    let text = lowered(&half, Case { align_bytes: 32, ..case() });
    assert!(!text.contains(LONGER), "{text}");
}

/// Columns of the tile with what of vectors falls beside its rows.
const WIDER: &str = "shared s: [i32; 32, 75] by [77, 1]";

#[test]
fn rows_come_in_whole_vectors() {
    let text = in_vectors(&format!("{LOAD} {STORE}"));
    assert!(text.contains(WIDER), "{text}");
    assert!(text.contains("s.x4.aligned4["), "{text}");
    assert!(text.contains("a.x4.aligned4["), "{text}");
}

#[test]
fn indices_may_have_names() {
    let load = "each (i, j) in (TR, TC) {
        let row = by * TR + i;
        let column = bx * TC + j;
        s[i, j] = a[row, column];
    } barrier;";
    let text = in_vectors(&format!("{load} {STORE}"));
    assert!(text.contains(WIDER), "{text}");
    assert!(text.contains("a.x4.aligned4["), "{text}");
}

#[test]
fn what_is_not_moved_as_it_is_comes_by_the_element() {
    for load in [
        // Beside the row there may be no element of `w`, or one that is no number.
        "load s[i, j] = a[by * TR + i, bx * TC + j] + 1; barrier;",
        "load s[i, j] = a[by * TR + i, bx * TC + TC - 1 - j]; barrier;",
        "load s[i, j] = a[by * TR + j, bx * TC + i]; barrier;",
        "load s[i, j] = a[by * TR + i, bx * TC + j]; barrier; s[0, 0] = 3; barrier;",
    ] {
        let text = in_vectors(&format!("{load} {STORE}"));
        assert!(!text.contains(WIDER), "{text}");
    }
}

#[test]
fn aligned_rows_are_left_alone() {
    let text = with_body(&format!("{LOAD} {STORE}"));
    let aligned = Case { divisor: 8, ..case() };
    let both = Case { align_bytes: 32, whole_vectors: true, ..aligned.clone() };
    assert_eq!(lowered(&text, both), lowered(&text, aligned));
}
