//! TK0501 and TK0502: read before written, never read.

use expect_test::{Expect, expect};

use crate::support;

/// Errors of a body among some parameters, a grid and a block.
#[track_caller]
fn body(body: &str, expected: Expect) {
    let found = support::check_families(&with_block(body), &["TK01", "TK05"]);
    let warnings = found.find("warning[").unwrap_or(found.len());
    expected.assert_eq(&found[..warnings]);
}

fn with_block(body: &str) -> String {
    format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TM in 2..=64, TN in 4..=256), grid: (bx in tiles(N, TN)), block: (ty in TM, tx in TN),\n{{ shared s: [f32; TM, TN]; shared r: [f32; TN];\nlet i = bx * TN + tx;\n{body}\n}}"
    )
}

/// Findings of a body that is accepted.
#[track_caller]
fn warnings(body: &str, expected: Expect) {
    expected.assert_eq(&support::check_families(&with_block(body), &["TK01", "TK05"]));
}

/// Accepts a body, warnings apart.
#[track_caller]
fn accept(body: &str) {
    let found = support::check_families(&with_block(body), &["TK01", "TK05"]);
    assert!(!found.contains("error["), "{found}");
}

#[test]
fn tiles_that_are_written_first() {
    accept("load s[i, j] = x[j]; barrier; c[i] = s[0, tx];");
    accept("each (b, a) in (TN, TM) { s[a, b] = 1.0; } barrier; c[i] = s[0, tx];");
    accept("s[ty, tx] = 1.0; barrier; c[i] = s[0, tx];");
    accept("s[ty, tx] = 1.0; s[ty, tx] += 2.0; c[i] = s[ty, tx];");
    accept("r[tx] = 1.0; barrier; c[i] = r[0];");
    accept("for k in 0..TN { s[ty, k] = 1.0; } barrier; c[i] = s[0, tx];");
    accept("for k in 0..4 { load s[i, j] = x[j]; } barrier; c[i] = s[0, tx];");
    accept("phase p in tiles(N, TN) { load r[j] = x[p * TN + j]; barrier; c[i] = r[0]; barrier; }");
    // Where there is a block, its loop over the same dimension runs.
    accept("phase p in tiles(N, TN) { load r[j] = x[p * TN + j]; barrier; } c[i] = r[0];");
    accept("phase p in tiles(TN, 4) { load r[j] = x[p * TN + j]; barrier; } c[i] = r[0];");
    accept("if n > 2 { load r[j] = 0.0; } else { load r[j] = 1.0; } barrier; c[i] = r[0];");
    accept("if tx < 3 { r[tx] = 1.0; c[i] = r[tx]; }");
    accept("let j = tx; r[j] = 1.0; c[i] = r[tx];");
    accept("if tx == 0 { s[ty, 0] = 1.0; s[ty, 0] += 1.0; }\nload s[a, b] = 0.0; c[i] = s[0, 0];");
    accept("shared one: [f32; 1]; if ty == 0 && tx == 0 { one[0] = 1.0; } barrier; c[i] = one[0];");
    accept("if tx == 0 && ty == 0 { r[1] = 1.0; } barrier; c[i] = r[1];");
    accept("shared rows: [f32; TM]; if tx == 0 { rows[ty] = 1.0; } barrier; c[i] = rows[0];");
    accept(
        "shared wide: [f32; 4 * TN]; for k in 0..4 { wide[k * TN + tx] = 1.0; } barrier; c[i] = wide[0];",
    );
    accept(
        "shared wide: [f32; TN * 4]; for k in 0..4 { wide[tx * 4 + k] = 1.0; } barrier; c[i] = wide[0];",
    );
    accept(
        "r[tx] = x[i]; barrier;
        for st in halving(TN) { if tx < st { r[tx] += r[tx + st]; } barrier; }
        if tx == 0 { c[bx] = r[0]; }",
    );
}

#[test]
fn tiles_that_are_not() {
    body(
        "c[i] = s[ty, tx];",
        expect![[r#"
            error[TK0501]: `s` is read and never written
              at 4:8
              at 2:10: it is declared here
        "#]],
    );
    body(
        "c[i] = s[ty, tx]; load s[a, b] = 1.0;",
        expect![[r#"
            error[TK0501]: `s[ty, tx]` may be read before it is written
              at 4:8
              at 4:24: `s` is written only here
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `s[0, 0]`, which nobody has written
              help: fill it first: `load s[…] = …;`
        "#]],
    );
    body(
        "for k in 0..n { load r[j] = x[j]; barrier; }\nc[i] = r[0];",
        expect![[r#"
            error[TK0501]: `r[0]` may be read before it is written
              at 5:8
              at 4:22: `r` is written here
              at 4:1: this loop may run zero times
              note: with n = 0, TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `r[0]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "if n > 2 { load r[j] = 0.0; }\nc[i] = r[0];",
        expect![[r#"
            error[TK0501]: `r[0]` may be read before it is written
              at 5:8
              at 4:17: `r` is written here, under a condition
              note: with n = 2, TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `r[0]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "if tx < 3 { r[tx] = 1.0; }\nbarrier; c[i] = r[tx];",
        expect![[r#"
            error[TK0501]: `r[tx]` may be read before it is written
              at 5:17
              at 4:13: `r` is written here, under a condition
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 3) reads `r[3]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "r[tx] = 1.0; barrier; c[i] = s[ty, tx];",
        expect![[r#"
            error[TK0501]: `s` is read and never written
              at 4:30
              at 2:10: it is declared here
        "#]],
    );
    body(
        "s[ty, 0] = 1.0; barrier; c[i] = s[ty, 1];",
        expect![[r#"
            error[TK0501]: `s[ty, 1]` may be read before it is written
              at 4:33
              at 4:1: this was not shown to write every cell of `s`
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `s[0, 1]`, which nobody has written
              help: fill it first: `load s[…] = …;`
        "#]],
    );
    body(
        "s[0, tx] = 1.0; barrier; c[i] = s[ty, tx];",
        expect![[r#"
            error[TK0501]: `s[ty, tx]` may be read before it is written
              at 4:33
              at 4:1: this was not shown to write every cell of `s`
              note: with TM = 2, TN = 4, work-item (ty = 1, tx = 0) reads `s[1, 0]`, which nobody has written
              help: fill it first: `load s[…] = …;`
        "#]],
    );
    body(
        "r[tx] += 1.0; c[i] = r[tx];",
        expect![[r#"
            error[TK0501]: `r` is read and never written
              at 4:1
              at 2:35: it is declared here
        "#]],
    );
    body(
        "if tx == TN { r[0] = 1.0; }\nbarrier; c[i] = r[0];",
        expect![[r#"
            error[TK0501]: `r[0]` may be read before it is written
              at 5:17
              at 4:15: `r` is written here, under a condition
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `r[0]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "if tx == 0 { r[0] = 1.0; }\nbarrier; c[i] = r[1];",
        expect![[r#"
            error[TK0501]: `r[1]` may be read before it is written
              at 5:17
              at 4:14: `r` is written here, under a condition
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `r[1]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "shared wide: [f32; TN + 2]; wide[tx] = 1.0; barrier; c[i] = wide[tx + 1];",
        expect![[r#"
            error[TK0501]: `wide[tx + 1]` may be read before it is written
              at 4:61
              at 4:29: this was not shown to write every cell of `wide`
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 3) reads `wide[4]`, which nobody has written
              help: fill it first: `load wide[…] = …;`
        "#]],
    );
    body(
        "for k in 0..4 { r[k] = 1.0; }\nbarrier; c[i] = r[tx];",
        expect![[r#"
            error[TK0501]: `r[tx]` may be read before it is written
              at 5:17
              at 4:17: this was not shown to write every cell of `r`
              note: with TM = 2, TN = 5, work-item (ty = 0, tx = 4) reads `r[4]`, which nobody has written
              help: fill it first: `load r[…] = …;`
        "#]],
    );
    body(
        "shared wide: [f32; 2 * TN]; let mut j = tx; wide[j] = 1.0; j += 1; c[i] = wide[j];",
        expect![[r#"
            error[TK0501]: `wide[j]` may be read before it is written
              at 4:75
              at 4:45: this was not shown to write every cell of `wide`
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 3) reads `wide[4]`, which nobody has written
              help: fill it first: `load wide[…] = …;`
        "#]],
    );
    body(
        "each (a, b) in (TM, TN) { if a < b { s[a, b] = 1.0; } }\nbarrier; c[i] = s[ty, tx];",
        expect![[r#"
            error[TK0501]: `s[ty, tx]` may be read before it is written
              at 5:17
              at 4:38: `s` is written here, under a condition
              note: with TM = 2, TN = 4, work-item (ty = 0, tx = 0) reads `s[0, 0]`, which nobody has written
              help: fill it first: `load s[…] = …;`
        "#]],
    );
}

#[test]
fn variables() {
    accept("let y; if tx < 3 { y = 1.0; } else { y = 2.0; } c[i] = y;");
    accept("let mut y: f32; y = 1.0; y += 1.0; c[i] = y;");
    accept("for k in 0..4 { let y; y = 1.0; c[i] = y; }");
    body(
        "let y: f32; c[i] = y;",
        expect![[r#"
            error[TK0501]: `y` has no value yet
              at 4:20
              at 4:5: `y` is declared here without a value
        "#]],
    );
    body(
        "let y: f32; if tx < 3 { y = 1.0; } c[i] = y;",
        expect![[r#"
            error[TK0501]: `y` has no value on some path to here
              at 4:43
              at 4:5: `y` is declared here without a value
        "#]],
    );
    body(
        "let mut y: f32; y += 1.0; c[i] = y;",
        expect![[r#"
            error[TK0501]: `y` has no value yet
              at 4:17
              at 4:9: `y` is declared here without a value
        "#]],
    );
    body(
        "let mut y: f32; for k in 0..n { y = 1.0; } c[i] = y;",
        expect![[r#"
            error[TK0501]: `y` has no value on some path to here
              at 4:51
              at 4:9: `y` is declared here without a value
        "#]],
    );
    body(
        "let y: f32; y = 1.0; y = 2.0; c[i] = y;",
        expect![[r#"
            error[TK0105]: `y` is not `mut` and may have a value already
              at 4:22
              at 4:5: `y` is declared here
              help: declare it as `let mut y`
        "#]],
    );
    body(
        "let y: f32; for k in 0..4 { y = 1.0; c[i] = y; }",
        expect![[r#"
            error[TK0105]: `y` is not `mut` and may have a value already
              at 4:29
              at 4:5: `y` is declared here
              help: declare it as `let mut y`
        "#]],
    );
}

#[test]
fn never_read() {
    warnings(
        "load s[a, b] = 1.0; let y = 1.0; let _z = 2.0; let mut w = 1.0; w += 1.0; c[i] = 1.0;",
        expect![[r#"
            warning[TK0502]: the tile `s` is written and never read
              at 2:10
              help: remove it: it takes shared memory from the block
            warning[TK0502]: the tile `r` is never used
              at 2:35
              help: remove it: it takes shared memory from the block
            warning[TK0502]: the variable `y` is never read
              at 4:25
              help: remove it, or name it `_y`
            warning[TK0502]: the variable `w` is never read
              at 4:56
              help: remove it, or name it `_w`
        "#]],
    );
}

#[test]
fn cells_that_data_picks() {
    body(
        "if tx > 0 { r[tx] = 1.0; } barrier;\nc[i] = r[x[i] as i32];",
        expect![[r#"
        error[TK0501]: `r[x[i] as i32]` may be read before it is written
          at 5:8
          at 4:13: `r` is written here, under a condition
          note: with N = 8, TM = 2, TN = 4, work-item (ty = 0, tx = 0) may read `r[0]`, of which nothing shows that it was written
          help: fill it first: `load r[…] = …;`
    "#]],
    );
    body(
        "r[x[i] as i32] = 1.0; barrier;\nc[i] = r[tx];",
        expect![[r#"
        error[TK0501]: `r[tx]` may be read before it is written
          at 5:8
          at 4:1: this was not shown to write every cell of `r`
          note: with N = 8, TM = 2, TN = 4, work-item (ty = 0, tx = 0) may read `r[0]`, of which nothing shows that it was written
          help: fill it first: `load r[…] = …;`
    "#]],
    );
}

/// Where nothing but a number that may wrap keeps it from being seen that a cell was written, the
/// number is told, and no example that is none.
#[test]
fn a_number_that_may_wrap() {
    let window = |ty: &str| {
        format!(
            "fn f(#[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] w: &Tensor<i32, [M]>, c: &mut Tensor<f32, [N]>)
            where grid: (b in tiles(N, 256)), block: (t in 256),
            {{
                shared s: [f32; 256];
                let num = N as {ty};
                let first = w[b] as {ty};
                if first + t as {ty} < num {{ s[t] = x[first + t as {ty}]; }}
                barrier;
                let mut sum = 0.0f32;
                for i in first..min(num, first + 256) {{ sum += s[i - first]; }}
                if b * 256 + t < N {{ c[b * 256 + t] = sum; }}
            }}"
        )
    };
    let found = support::check_families(&window("i32"), &["TK05"]);
    assert!(found.contains("may wrap in its type; if it did not, the cell would be"), "{found}");
    assert!(!found.contains("of which nothing shows"), "{found}");
    let found = support::check_families(&window("index"), &["TK05"]);
    assert!(!found.contains("error["), "{found}");
}
