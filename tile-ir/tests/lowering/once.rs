//! Which accesses are marked as touching their elements once in a launch.

use tile_ir::program::print_program;

use crate::support::{Case, add, matmul, transpose};

/// The buffers with a marked access, reads (`a`) and writes (`b =`), in the order of
/// the text.
fn marked(case: Case) -> Vec<String> {
    let text = print_program(&Case { stream: true, ..case }.program());
    let mut found = Vec::new();
    for line in text.lines() {
        let place = line.find(" = ").unwrap_or(line.len());
        for (at, _) in line.match_indices(".once[") {
            let name: String = line[..at]
                .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
                .next_back()
                .and_then(|name| name.split('.').next())
                .unwrap_or_default()
                .to_owned();
            let name = if at < place { format!("{name} =") } else { name };
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

fn of_text(text: &'static str, tiles: Vec<(&'static str, u32)>, axes: Vec<u32>) -> Vec<String> {
    let threads = axes.iter().product::<u32>().max(32);
    marked(Case { text, tiles, axes, threads, ..add() })
}

#[test]
fn what_every_block_touches_alone() {
    assert_eq!(marked(add()), ["c =", "a", "b"]);
    assert_eq!(marked(transpose()), ["a", "b ="]);
}

/// Each element of the factors is read by a row or a column of blocks.
#[test]
fn operands_are_read_again() {
    assert_eq!(marked(matmul()), ["c ="]);
}

#[test]
fn vectors_and_interior_blocks_keep_the_mark() {
    let wide = Case { copy_bytes: 16, divisor: 4, split_edges: true, ..transpose() };
    let text = print_program(&Case { stream: true, threads: 64, ..wide }.program());
    assert_eq!(text.matches("a.x4.once[").count(), 2, "{text}");
    assert_eq!(text.matches("b.x4.once[").count(), 2, "{text}");
}

#[test]
fn nothing_is_marked_unasked() {
    let text = print_program(&transpose().program());
    assert!(!text.contains(".once"), "{text}");
}

/// The rows that two blocks both read.
#[test]
fn a_halo_is_read_again() {
    let text = "
    pub fn blur<T: Number>(#[pad = 0] x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN + 2];
        load s[i] = x[bx * TN + i - 1];
        barrier;
        y[bx * TN + tx] = s[tx] + s[tx + 1] + s[tx + 2];
    }";
    assert_eq!(of_text(text, vec![("TN", 64)], vec![64]), ["y ="]);
}

#[test]
fn what_stands_twice_in_the_text_is_touched_again() {
    let text = "
    pub fn scaled<T: Number>(f: T, x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = f * y[i] + x[i];
    }";
    assert_eq!(of_text(text, vec![("TN", 64)], vec![64]), ["x"]);
}

/// A loop whose counter the index does not tell, one that it does, and one whose
/// steps it folds onto each other.
#[test]
fn loops_repeat_what_their_counters_do_not_tell_apart() {
    let text = "
    pub fn rows<T: Number>(
        a: &Tensor<T, [R, C]>,
        weights: &Tensor<T, [C]>,
        windows: &Tensor<T, [R, C]>,
        sums: &mut Tensor<T, [R]>,
    )
    where tile: (TR), grid: (by in tiles(R, TR)), block: (ty in TR),
    {
        let mut sum: T = 0;
        for j in 0..C {
            sum += a[by * TR + ty, j] * weights[j];
            for k in 0..3 {
                sum += windows[by * TR + ty, j + k];
            }
        }
        sums[by * TR + ty] = sum;
    }";
    assert_eq!(of_text(text, vec![("TR", 64)], vec![64]), ["a", "sums ="]);
}
