//! TK0401: barriers and cooperative loops in control flow that differs.

use expect_test::{Expect, expect};

use crate::support;

/// Errors of a body among some parameters, a grid and a block.
#[track_caller]
fn body(body: &str, expected: Expect) {
    expected.assert_eq(&errors(body));
}

/// The findings of this rule.
#[track_caller]
fn errors(body: &str) -> String {
    let text = format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] rows: &Tensor<i32, [M]>, c: &mut Tensor<f32, [N]>, #[pad = 0] d: &mut Tensor<i32, [N]>) where tile: (TN, TS in 1..=16, TM = TS * 2), grid: (bx in tiles(N, TN)), block: (ty in TS, tx in TN),\n{{ shared s: [f32; TN]; load s[j] = x[j]; barrier;\nlet i = bx * TN + tx;\n{body}\nc[i] = 1.0; d[i] = 1;\n}}"
    );
    support::check_families(&text, &["TK0401", "TK0004"])
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(errors(body), "", "{body}");
}

#[track_caller]
fn refuse(body: &str) {
    let found = errors(body);
    assert_eq!(found.matches("error[TK0401]").count(), 1, "{body}\n{found}");
}

#[test]
fn conditions() {
    body(
        "if tx < 16 { barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 4:14
              at 4:4: `tx < 16` differs between work-items: it depends on `tx`
              note: with TN = 17, `tx < 16` is true for work-item tx = 0 and false for work-item tx = 16
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "if i < N {\nbarrier;\n}",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 5:1
              at 4:4: `i < N` differs between work-items: it depends on `tx`
              at 3:19: `tx` comes in here
              note: with N = 1, TN = 2, bx = 0, `i < N` is true for work-item tx = 0 and false for work-item tx = 1
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "let near = tx < 3;\nif near || bx == 0 { s[tx] = 1.0; barrier; barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 5:35
              at 5:4: `near || bx == 0` differs between work-items: it depends on `tx`
              at 4:12: `tx` comes in here
              note: with N = 5, TN = 4, bx = 1, `near || bx == 0` is true for work-item tx = 0 and false for work-item tx = 3
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "if x[i] > 0.0 {\nload s[j] = 0.0; }",
        expect![[r#"
        error[TK0401]: not every work-item of the block reaches this `load`
          at 5:1
          at 4:4: `x[i] > 0.0` may differ between work-items: it depends on `x[i]`, and its index differs between work-items
          help: close the `if` before the `load` and, where more of it follows, open it again after it
    "#]],
    );
    body(
        "let mut v = 0.0;\nif i > 3 { v = s[0]; }\nif v > 0.0 { barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 6:14
              at 6:4: `v > 0.0` may differ between work-items: it depends on `s[0]`, and `s` is a tile, which work-items may read at different times
              at 5:16: the value is loaded here
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "if d[i] > 0 { barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 4:15
              at 4:4: `d[i] > 0` may differ between work-items: it depends on `d[i]`, and the kernel may write `d` in between
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "if tx % 2 == 0 { barrier; } else { barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 4:18
              at 4:4: `tx % 2 == 0` differs between work-items: it depends on `tx`
              note: with TN = 2, `tx % 2 == 0` is true for work-item tx = 0 and false for work-item tx = 1
              note: the `barrier;` in the other arm is another one: work-items wait for each other at one and the same `barrier;`
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "if ty * TN + tx == 40 { each (j) in (TN) { c[j] = 1.0; } }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `each`
              at 4:25
              at 4:4: `ty * TN + tx == 40` differs between work-items: it depends on `ty`
              note: with TN = 41, TS = 1, `ty * TN + tx == 40` is false for work-item ty = 0, tx = 0 and true for work-item ty = 0, tx = 40
              help: close the `if` before the `each` and, where more of it follows, open it again after it
        "#]],
    );
    accept("if bx > 0 { barrier; }");
    accept("if n > 2 { barrier; } else { barrier; }");
    accept("if rows[bx] > 2 { load s[j] = 0.0; }");
    accept("if tx < 16 { c[i] = 1.0; } barrier; if tx < 16 { c[i] = 2.0; }");
    refuse("if rows[tx] > 2 { barrier; }");
    accept("if rows[d[0]] > 2 { barrier; }");
    refuse("if rows[d[tx]] > 2 { barrier; }");
    refuse("if bx > 0 { if tx > 0 { barrier; } }");
    refuse("if tx > 0 { if bx > 0 { barrier; } }");
}

#[test]
fn conditions_that_hold_for_the_whole_block() {
    accept("if tx < TN { barrier; }");
    accept("if ty < 16 && tx >= 0 { barrier; }");
    accept("if ty < TM { barrier; }");
    accept("let last = TN - 1; if tx <= last { barrier; }");
    accept("if !(tx >= TN) { barrier; }");
    accept("if ty >= TS || n > 0 { barrier; }");
    accept("for k in 0..4 { if k * TN + tx < 4 * TN { barrier; } }");
    refuse("if ty < 15 { barrier; }");
    refuse("if tx < TN - 1 { barrier; }");
    refuse("if ty < TN { barrier; }");
    refuse("let mut last = TN; last -= 1; if tx < last { barrier; }");
    refuse("let mut m = tx; let y = m; m += 1; if y < m - tx { barrier; }");
}

#[test]
fn loops() {
    body(
        "for k in 0..tx { s[tx] = 1.0; barrier; }",
        expect![[r#"
            error[TK0401]: the work-items of the block do not reach this `barrier;` equally often
              at 4:31
              at 4:13: `tx` is an axis of the block, another number in each work-item
              note: with TN = 2, `tx` is 0 for work-item tx = 0 and 1 for work-item tx = 1
              help: give the loop bounds that are the same for the whole block, and put the work that differs under an `if`
        "#]],
    );
    body(
        "phase p in tiles(tx, 4) { load s[j] = 1.0; barrier; }",
        expect![[r#"
            error[TK0401]: the work-items of the block do not run this `phase` equally often
              at 4:1
              at 4:18: `tiles(tx, 4)` differs between work-items: it depends on `tx`
              note: with TN = 2, `tiles(tx, 4)` is 0 for work-item tx = 0 and 1 for work-item tx = 1
              help: give the phase bounds that are the same for the whole block, and put the work that differs under an `if`
        "#]],
    );
    body(
        "let mut o = tx;\nwhile o > 0 { barrier; o = o / 2; }",
        expect![[r#"
        error[TK0401]: the work-items of the block do not reach this `barrier;` equally often
          at 5:15
          at 5:7: `o > 0` differs between work-items: it depends on `tx`
          at 4:13: `tx` comes in here
          help: let all work-items run the loop equally often, with the `barrier;` in it and the work that differs under an `if`
    "#]],
    );
    body(
        "let mut m = 0;\nfor k in 0..tx { m += 1; }\nfor k in 0..m { barrier; }",
        expect![[r#"
            error[TK0401]: the work-items of the block do not reach this `barrier;` equally often
              at 6:17
              at 6:13: `m` may differ between work-items: it depends on `m`
              at 5:18: `m` is assigned here, not equally often by all work-items
              help: give the loop bounds that are the same for the whole block, and put the work that differs under an `if`
        "#]],
    );
    accept("for k in 0..n { barrier; }");
    accept("for k in rows[bx]..rows[bx + 1] { barrier; }");
    accept("for k in halving(TN) { if tx < k { s[tx] = 1.0; } barrier; }");
    accept("let mut o = TN; while o > 0 { barrier; o = o / 2; }");
    accept("phase p in tiles(N, TN) { load s[j] = x[p * TN + j]; barrier; }");
    accept("for k in 0..tx { c[i] = 1.0; } barrier;");
    accept("for k in 0..d[0] { barrier; }");
    refuse("for k in 0..d[tx] { barrier; }");
    refuse("for k in rows[tx]..rows[tx + 1] { barrier; }");
    refuse("for k in (0..TN).step_by(tx) { barrier; }");
    refuse("for k in halving(tx) { barrier; }");
    refuse("for k in doubling(tx) { barrier; }");
    accept("while s[0] > 0.0 { barrier; }");
    refuse("while s[tx] > 0.0 { barrier; }");
    refuse("while rows[tx] > 0 { barrier; }");
    refuse("for k in 0..tx { for l in 0..4 { barrier; } }");
    refuse("for k in 0..4 { for l in 0..k + tx { barrier; } }");
}

#[test]
fn variables_with_several_values() {
    accept("let mut k = tx; c[k] = 1.0; k = TN; while k > 0 { barrier; k = k / 2; }");
    accept("let mut k = 0; if bx > 1 { k = 4; } for l in 0..k { barrier; }");
    refuse("let mut k = TN; while k > 0 { barrier; k = k / 2; k = k - tx; }");
    refuse("let mut k = 0; if tx > 1 { k = 4; } for l in 0..k { barrier; }");
    refuse("let mut k = 4; for l in 0..tx { k = 2; } if k == 2 { barrier; }");
    refuse("let mut k = 0; let mut l = 0; for r in 0..3 { if k > 0 { barrier; } k = l; l = tx; }");
    body(
        "let mut k = 0;\nif tx > 1 { k = 4; }\nlet m = k + 1;\nif m > 2 { barrier; }",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 7:12
              at 7:4: `m > 2` may differ between work-items: it depends on `k`
              at 5:13: `k` is assigned here, not equally often by all work-items
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
}

#[test]
fn a_let_of_the_block_that_threads_may_not_agree_on() {
    let kernel = |body: &str| {
        let text = format!(
            "fn f(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), {{ shared s: [f32; TN]; load s[j] = x[bx * TN + j]; barrier;\n{body} }}"
        );
        support::check_families(&text, &["TK0004"])
    };
    expect![[r#"
        error[TK0004]: `y` may differ between the threads that share this loop out
          at 2:51
          at 2:5: `y` is declared here and comes from a tile, a written tensor or an atomic update
          help: read the tile inside the loop, or keep the value in a tile and put `barrier;` before the loop
    "#]].assert_eq(&kernel("let y = s[0]; each (j) in (TN) { c[bx * TN + j] = y; }"));
    expect![""]
        .assert_eq(&kernel("let y = x[bx]; each (j) in (TN) { c[bx * TN + j] = y + s[j]; }"));
}

/// Cooperative loops name what the block has one of.
#[test]
fn variables_in_cooperative_loops() {
    accept("barrier; let first = bx * TN; load s[j] = x[first + j];");
    accept("barrier; let y = 1.0; each j in TN { s[j] = y; }");
    accept("barrier; let mut y = 0; for k in 0..n { load s[j] = x[j + y]; barrier; y += 2; }");
    accept("let row = rows[bx]; barrier; load s[j] = x[row as index + j];");
    accept("let all = reduce_sum(x[i]); load s[j] = all;");
    body(
        "barrier; let y = 2 * i; load s[j] = x[y + j];",
        expect![[r#"
            error[TK0004]: `y` belongs to one work-item, which `load` cannot name
              at 4:39
              at 4:25: the whole block shares this `load` out among its threads
              at 4:14: `y` is declared here, and depends on `tx`
              help: use the indices of the `load` itself, tiles, grid axes, loop counters, parameters, or a `let` that is made of the last three
        "#]],
    );
    body(
        "barrier; let y = s[0]; barrier; each j in TN { s[j] = y; }",
        expect![[r#"
            error[TK0004]: `y` belongs to one work-item, which `each` cannot name
              at 4:55
              at 4:33: the whole block shares this `each` out among its threads
              at 4:14: `y` is declared here, and depends on `s[0]`
              help: use the indices of the `each` itself, tiles, grid axes, loop counters, parameters, or a `let` that is made of the last three
        "#]],
    );
    body(
        "barrier; let mut y = tx; y = 0; load s[j] = x[y];",
        expect![[r#"
            error[TK0004]: `y` belongs to one work-item, which `load` cannot name
              at 4:47
              at 4:33: the whole block shares this `load` out among its threads
              at 4:18: `y` is declared here, and depends on `tx`
              help: use the indices of the `load` itself, tiles, grid axes, loop counters, parameters, or a `let` that is made of the last three
        "#]],
    );
}
