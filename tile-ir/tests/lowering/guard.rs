//! Which comparisons and conditions are deleted because they always hold, and which
//! indices are seen through.

use tile_ir::program::print_program;

use crate::support::{Case, add};

fn lowered(text: &'static str, case: Case) -> String {
    print_program(&Case { text, tiles: vec![("TN", 256)], ..case }.program())
}

/// 64 threads with four items in a row each.
fn in_runs() -> Case {
    Case { axes: vec![64], threads: 64, run: 4, ..add() }
}

const ASKED: &str = "
    pub fn asked<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if in_bounds(a[bx * TN + tx]) {
            c[bx * TN + tx] = a[bx * TN + tx];
        }
    }";

/// Conditions in a program's text, those of the block's loops not counted.
fn conditions(text: &str) -> usize {
    text.matches("if ").count()
}

#[test]
fn what_is_asked_of_whole_tiles_is_known() {
    assert_eq!(conditions(&lowered(ASKED, Case { divisor: 256, ..in_runs() })), 0);
    assert_eq!(conditions(&lowered(ASKED, in_runs())), 1);
}

/// One condition of the block; in the blocks at the edge the items' own.
#[test]
fn interior_blocks_ask_once_and_move_vectors() {
    let text = lowered(ASKED, Case { split_edges: true, ..in_runs() });
    assert_eq!(conditions(&text), 2, "{text}");
    assert_eq!(text.matches("c.x4[").count(), 1, "{text}");
}

/// What the author compares with the extent is known, and asked, likewise.
#[test]
fn comparisons_with_an_extent_are_the_edge_s() {
    for cond in ["bx * TN + tx < N", "N > i", "i < N && in_bounds(a[i])"] {
        let text = format!(
            "pub fn compared<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
            where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
            {{
                let i = bx * TN + tx;
                if {cond} {{
                    c[i] = a[i];
                }}
            }}"
        );
        let text: &'static str = text.leak();
        assert_eq!(conditions(&lowered(text, Case { divisor: 256, ..in_runs() })), 0, "{cond}");
        let split = lowered(text, Case { split_edges: true, ..in_runs() });
        assert_eq!(conditions(&split), 2, "{split}");
        assert_eq!(split.matches("c.x4[").count(), 1, "{split}");
    }
}

/// What an update needs is read in vectors; the updates are each item's own.
#[test]
fn operands_of_updates_are_read_in_vectors() {
    let text = "
    pub fn counted<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<u32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic c[a[i] as index] += 1;
        }
    }";
    let text = lowered(text, Case { split_edges: true, ..in_runs() });
    assert_eq!(text.matches("a.x4[").count(), 1, "{text}");
    assert!(!text.contains("c.x4["), "{text}");
}

/// A comparison that not all items of a block pass stays, whatever divides the extent.
#[test]
fn comparisons_that_decide_stay() {
    for cond in ["i < N - 1", "i <= N - 2", "i + 1 < N", "tx < 255", "i < N / 2"] {
        let text = format!(
            "pub fn compared<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
            where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
            {{
                let i = bx * TN + tx;
                if {cond} {{
                    c[i] = a[i];
                }}
            }}"
        );
        let text = lowered(text.leak(), Case { divisor: 256, ..in_runs() });
        assert_eq!(conditions(&text), 1, "{cond}: {text}");
    }
}

/// A text of one line of work-items that copies where a condition holds.
fn copied_where(cond: &str) -> &'static str {
    let text = format!(
        "pub fn compared<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {{
            let first = bx * TN;
            let i = first + tx;
            if {cond} {{
                c[i] = a[i];
            }}
        }}"
    );
    text.leak()
}

/// Where items are in the grid most blocks answer for all of theirs.
#[test]
fn blocks_answer_what_the_author_asks_of_places_in_the_grid() {
    for cond in [
        "i > 0 && i < N - 1",
        "i >= 1 && i <= N - 2",
        "0 < i && i + 1 < N",
        "first + tx >= 3 && N > 2 + i",
        "i < N / 2",
        "i >= 5",
        "i < N - i",
    ] {
        let text = lowered(copied_where(cond), Case { split_edges: true, ..in_runs() });
        assert_eq!(conditions(&text), 2, "{cond}: {text}");
        assert_eq!(text.matches("c.x4[").count(), 1, "{cond}: {text}");
    }
}

/// Where they are in the block no block does; nor where values decide.
#[test]
fn what_differs_within_every_block_is_asked_of_each_item() {
    for cond in ["tx < 255", "tx >= 1", "(i & 1) == 0", "i != 7", "a[i] > 0"] {
        let text = lowered(copied_where(cond), Case { split_edges: true, ..in_runs() });
        let in_block = text.lines().filter(|line| line.starts_with("if ")).count();
        assert!(!text.contains("c.x4["), "{cond}: {text}");
        assert!(in_block <= 1, "{cond}: {text}");
    }
}

/// What only the edges read is not asked by the blocks away from them.
#[test]
fn what_edges_alone_read_is_theirs_to_ask() {
    let text = "
    pub fn bordered<T: Number>(k: u32, a: &Tensor<T, [N]>, b: &Tensor<T, [S]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i > 0 {
            c[i] = a[i];
        } else if in_bounds(b[k]) {
            c[i] = b[k];
        }
    }";
    let text = lowered(text, Case { split_edges: true, ..in_runs() });
    let of_block = text.lines().find(|line| line.trim_start().starts_with("if ")).unwrap();
    assert!(of_block.contains("bx * 256") && !of_block.contains('k'), "{of_block}\n{text}");
}

/// Nothing divides the extent: only blocks away from the edge have vectors.
#[test]
fn a_ragged_line_is_moved_in_vectors() {
    let text = "
    pub fn copied<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx];
    }";
    let text = lowered(text, Case { split_edges: true, ..in_runs() });
    assert!(text.contains("c.x4[bx * 256 + tx] = a.x4[bx * 256 + tx];"), "{text}");
    assert!(text.contains("c[bx * 256 + tx < N else"), "{text}");
}

/// The condition says that the index is not negative.
#[test]
fn a_condition_on_a_coordinate_proves_what_it_says() {
    let text = |cond: &str| {
        let text = format!(
            "pub fn shifted<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
            where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
            {{
                if {cond} {{
                    c[bx * TN + tx - 1] = a[bx * TN + tx];
                }}
            }}"
        );
        lowered(text.leak(), Case { divisor: 256, ..in_runs() })
    };
    assert!(text("tx > 0").contains("c[bx * 256 + tx - 1] ="), "{}", text("tx > 0"));
    assert!(text("tx >= 1 && tx < 9").contains("c[bx * 256 + tx - 1] ="));
    assert!(text("tx < 9").contains("c[0 <= bx * 256 + tx - 1 else"), "{}", text("tx < 9"));
}

/// An index that is used on both sides of a barrier is computed on both.
#[test]
fn indices_are_not_kept_across_barriers() {
    let text = "
    pub fn turned<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        let first = bx * TN;
        let i = first + tx;
        s[tx] = a[i];
        s[tx] += 1;
        barrier;
        c[i] = s[TN - 1 - tx];
    }";
    let text = lowered(text, Case { divisor: 256, ..in_runs() });
    assert!(!text.contains("fragment"), "{text}");
    assert_eq!(text.matches(".x4[").count(), 5, "{text}");
}

/// A variable that counts is another number on the other side.
#[test]
fn a_counter_of_the_author_is_kept() {
    let text = "
    pub fn counted<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        let mut i = bx * TN + tx;
        s[tx] = a[i];
        barrier;
        i = i - tx + (TN - 1 - tx);
        barrier;
        c[i] = s[TN - 1 - tx];
    }";
    assert!(lowered(text, in_runs()).contains("fragment"), "{}", lowered(text, in_runs()));
}

/// A kernel of one axis with these statements.
fn along(body: &str) -> &'static str {
    let text = format!(
        "pub fn along<T: Number>(#[pad = 0] x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {{
            let i = bx * TN + tx;
            {body}
        }}"
    );
    text.leak()
}

/// Reads that are compared with an end of their tensor.
fn compared_reads(body: &str) -> usize {
    let text = lowered(along(body), Case { divisor: 1, ..in_runs() });
    let reads = text.lines().filter(|line| line.contains("else 0"));
    reads.map(|line| line.matches("else 0").count()).sum()
}

/// What the author has compared is not compared again, and nothing less is left out.
#[test]
fn reads_under_a_condition_are_compared_where_it_does_not_reach() {
    for before in 0..3 {
        for behind in 0..3 {
            for back in 0..3 {
                for ahead in 0..3 {
                    let cond = format!("i >= {before} && i + {behind} < N");
                    let body = format!("if {cond} {{ y[i] = x[i - {back}] + x[i + {ahead}]; }}");
                    let expected = usize::from(back > before) + usize::from(ahead > behind);
                    assert_eq!(compared_reads(&body), expected, "{body}");
                }
            }
        }
    }
}
/// A condition is known where it holds, of the iteration and of the items that it is of.
#[test]
fn conditions_are_known_where_they_hold() {
    let inside = "i > 0 && i + 1 < N";
    let cases = [
        (format!("if {inside} {{ for w in 0..3 {{ y[i] += x[i + w - 1]; }} }}"), 0),
        (format!("if {inside} {{ for w in 0..4 {{ y[i] += x[i + w - 1]; }} }}"), 1),
        (format!("if {inside} {{ for w in 0..3 {{ y[i] += x[i - w]; }} }}"), 1),
        (format!("let v = x[i - 1]; if {inside} {{ y[i] = v; }}"), 1),
        (format!("if {inside} {{ y[i] = x[i - 1]; }} else if i < N {{ y[i] = x[i + 1]; }}"), 1),
        (format!("if {inside} || i == 0 {{ y[i] = x[i - 1]; }}"), 1),
        (format!("if {inside} {{ y[i] = x[i - 1]; }} if i < N {{ y[i] += x[i - 1]; }}"), 1),
        ("if i < N && i >= 2 { if i + 2 < N { y[i] = x[i - 2] + x[i + 2]; } }".to_owned(), 0),
        ("if i < N { for w in 0..3 { if w <= i { y[i] += x[i - w]; } } }".to_owned(), 0),
        ("if i < N { for w in 0..3 { if w < i { y[i] += x[i - w - 1]; } } }".to_owned(), 0),
        ("if i < N { for w in 0..3 { if w <= i { y[i] += x[i - w - 1]; } } }".to_owned(), 1),
        ("if in_bounds(x[i + 1]) { y[i] = x[i] + x[i + 1]; }".to_owned(), 0),
    ];
    for (body, expected) in cases {
        assert_eq!(compared_reads(&body).min(1), expected, "{body}");
    }
}
