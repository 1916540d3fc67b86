//! Which loops of work-items become loops of the block.

use tile_ir::program::print_program;

use crate::support::{Case, add};

/// The program of a text over a line of 64 threads with four items in a row each.
fn lowered(body: &str) -> String {
    let text = format!(
        "fn f<T: Number>(r: u32, #[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>) \
         where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN), \
         {{ let i = bx * TN + tx; let mut sum: T = 0; {body} c[i] = sum; }}"
    );
    let case = Case { axes: vec![64], threads: 64, run: 4, split_edges: true, ..add() };
    print_program(&Case { text: text.leak(), tiles: vec![("TN", 256)], ..case }.program())
}

/// How the lines begin that are loops and items, without what is in them.
fn outline(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| line.starts_with("for ") || line.starts_with("items ")).collect()
}

/// Whether a loop stands outside of items, which it has inside.
fn is_of_block(text: &str) -> bool {
    let outline = outline(text);
    let at = outline.iter().position(|line| line.starts_with("for "));
    let line = text.lines().find(|line| line.trim_start().starts_with("for ")).unwrap();
    let is_outside = line.len() - line.trim_start().len() == 4;
    is_outside && outline.get(at.unwrap() + 1).is_some_and(|line| line.starts_with("items "))
}

#[test]
fn every_so_manieth_element_is_taken_together() {
    for range in ["(tx..N).step_by(TN)", "(3 + tx..N).step_by(TN)", "(4 * tx..N).step_by(4 * TN)"] {
        let text = lowered(&format!("for j in {range} {{ sum += a[j]; }}"));
        assert!(is_of_block(&text), "{range}: {text}");
    }
    let text = lowered("for j in (tx..N).step_by(TN) { sum += a[j]; }");
    assert!(text.contains("a.x4["), "away from the end there are vectors: {text}");
    assert!(text.contains("if j < N"), "who is past the end does nothing: {text}");
}

/// All windows have one length: nobody asks whether its own has ended.
#[test]
fn windows_of_one_length_are_walked_together() {
    for range in [
        "i - (r as index)..=i + (r as index)",
        "i..i + (r as index)",
        "i - 1..i + 2 + (r as index)",
    ] {
        let text = lowered(&format!("for j in {range} {{ sum += a[j]; }}"));
        assert!(is_of_block(&text), "{range}: {text}");
        assert!(!text.contains("if j <"), "{range}: {text}");
    }
}

/// A loop inside another, both windows.
#[test]
fn loops_in_loops_are_walked_together() {
    let text = lowered(
        "for j in i - (r as index)..=i + (r as index) { \
         for k in tx..tx + (r as index) { sum += a[j] * a[k]; } }",
    );
    let loops = text.lines().filter(|line| line.trim_start().starts_with("for "));
    let indents: Vec<usize> = loops.map(|line| line.len() - line.trim_start().len()).collect();
    assert_eq!(indents, [4, 8], "{text}");
}

#[test]
fn loops_whose_lengths_differ_stay_the_items_own() {
    for body in [
        // Longest for the first item by a whole block: most would wait.
        "for j in tx..N { sum += a[j]; }",
        "for j in (0..i).step_by(2) { sum += a[j]; }",
        // Where the longest is, nobody knows.
        "for j in (TN - tx..N).step_by(TN) { sum += a[j]; }",
        "for j in (tx % 7..N).step_by(TN) { sum += a[j]; }",
        // Not all come to it.
        "if tx > 3 { for j in (tx..N).step_by(TN) { sum += a[j]; } }",
        // What it begins with has changed since.
        "let mut first = tx; first += 1; for j in (first..N).step_by(TN) { sum += a[j]; }",
        "for j in (0..N - tx).step_by(TN) { sum += a[j]; }",
        // The items meet in it anyway, or in warps.
        "for j in (tx..N).step_by(1 + tx) { sum += a[j]; }",
    ] {
        let text = lowered(body);
        assert!(!is_of_block(&text), "{body}: {text}");
    }
}

/// A loop computes its bounds once: what changes in it is no part of those that are computed
/// in each iteration.
#[test]
fn bounds_that_change_in_the_loop_are_computed_once() {
    for body in [
        "let mut m = tx; for j in m..m + (r as index) { sum += a[j]; m += 1; }",
        "let mut m = tx; for j in (m..N).step_by(TN) { sum += a[j]; m += 1; }",
        "shared s: [u32; TN]; s[tx] = r; \
         for j in s[tx] as index..(s[tx] as index) + (r as index) { sum += a[j]; s[tx] += 1; }",
    ] {
        let text = lowered(body);
        assert!(!is_of_block(&text), "{body}: {text}");
    }
}

/// A name for what has changed since is not what it was made of.
#[test]
fn values_that_are_assigned_are_not_looked_through() {
    let text = lowered(
        "let mut m = tx; let first = m; m += 5; \
         for j in first..m + (r as index) { sum += a[j]; }",
    );
    assert!(!is_of_block(&text), "{text}");
    let text = lowered(
        "let mut m = tx; m += 5; let first = m; \
         for j in first..first + (r as index) { sum += a[j]; }",
    );
    assert!(is_of_block(&text), "{text}");
}
