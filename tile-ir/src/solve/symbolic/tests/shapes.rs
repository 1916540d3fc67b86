//! Index shapes within one barrier interval: private cells, rows and columns,
//! flat tiles, halos, `%` and `/`, guards.

use expect_test::expect;

use super::{proved, unproved};

/// A kernel with a block of two axes, `ty` and `tx`; the body starts on line 3.
fn plane(body: &str) -> String {
    format!(
        "fn f<T: Number>(n: i32, a: &Tensor<T, [R, C]>, z: &Tensor<i32, [N]>, c: &mut Tensor<T, [R, C]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)), block: (ty in TR, tx in TC), {{
{body}
c[by * TR + ty, bx * TC + tx] = 0;
}}"
    )
}

/// A kernel with a block of one axis, `tx` in `T`; the body starts on line 3.
fn line(tile: &str, body: &str) -> String {
    format!(
        "fn f<E: Number>(n: i32, m: u32, a: &Tensor<E, [N]>, z: &Tensor<i32, [N]>, c: &mut Tensor<E, [N]>)
where tile: ({tile}), grid: (bx in tiles(N, T)), block: (tx in T), {{
{body}
c[bx * T + tx] = 0;
}}"
    )
}

#[test]
fn private_cells() {
    proved(&plane(
        "shared s: [T; TR, TC]; s[ty, tx] = 1; s[ty, tx] += 1; c[by * TR + ty, bx * TC + tx] = s[ty, tx];",
    ));
    proved(&plane(
        "shared s: [T; TC, TR]; s[tx, ty] = 1; c[by * TR + ty, bx * TC + tx] = s[tx, ty];",
    ));
    proved(&line("T", "shared s: [E; T + 3]; s[tx + 3] = 1; let x = s[tx + 3];"));
    proved(&line("T", "shared s: [E; 2 * T]; s[2 * tx] = 1; let x = s[2 * tx + 1];"));
    proved(&line("T", "shared s: [E; T]; s[T - 1 - tx] = 1; let x = s[T - 1 - tx];"));
}

#[test]
fn one_axis_is_not_enough() {
    unproved(
        &plane("shared s: [T; TC];\ns[tx] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &plane("shared s: [T; TR + TC];\ns[tx + ty] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn neighbours_collide() {
    unproved(
        &line("T", "shared s: [E; T + 1];\ns[tx] = 1;\nlet x = s[tx + 1];"),
        expect![[r#"
            s: write 4 / read 5: same interval
        "#]],
    );
    proved(&line("T", "shared s: [E; T + 1]; s[tx] = 1; barrier; let x = s[tx + 1];"));
}

#[test]
fn flat_tiles() {
    proved(&plane("shared s: [T; TR * TC]; s[ty * TC + tx] = 1;"));
    proved(&plane("shared s: [T; TR * TC]; s[ty + tx * TR] = 1;"));
    proved(&plane("shared s: [T; TR * (TC + 1)]; s[ty * (TC + 1) + tx] = 1;"));
    unproved(
        &plane("shared s: [T; TR * TC];\ns[ty * TR + tx] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &plane("shared s: [T; TR * TC];\ns[ty * (TC - 1) + tx] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn three_radices() {
    let kernel = |index: &str| {
        format!(
            "fn f(c: &mut Tensor<f32, [N]>)
where tile: (A, B, D), block: (z in A, y in B, x in D), {{
shared s: [f32; A * B * D];
s[{index}] = 1;
c[0] = 1;
}}"
        )
    };
    unproved(
        &kernel("(z * B + y) * D + x"),
        expect![[r#"
            c: write 5 / write 5: same interval
        "#]],
    );
    unproved(
        &kernel("(z * D + y) * B + x"),
        expect![[r#"
            s: write 4 / write 4: same interval
            c: write 5 / write 5: same interval
        "#]],
    );
}

#[test]
fn several_cells_each() {
    let coarse = |index: &str| {
        line("T", &format!("shared s: [E; 4 * T];\nfor j in 0..4 {{ s[{index}] = 1; }}"))
    };
    proved(&coarse("j * T + tx"));
    proved(&coarse("4 * tx + j"));
    unproved(
        &coarse("2 * tx + j"),
        expect![[r#"
            s: write 4 / write 4: next `j`
        "#]],
    );
    unproved(
        &coarse("tx + j"),
        expect![[r#"
            s: write 4 / write 4: next `j`
        "#]],
    );
}

#[test]
fn strided_by_the_block() {
    let strided = |range: &str| {
        line("T", &format!("shared s: [E; 1000];\nfor i in ({range}).step_by(T) {{ s[i] = 1; }}"))
    };
    proved(&strided("tx..1000"));
    proved(&line("T", "shared s: [E; 1000]; let mut i = tx; while i < 1000 { s[i] = 1; i += T; }"));
    proved(&line("T", "shared s: [E; 1000]; let mut i = tx; for j in 0..n { s[i] = 1; i += T; }"));
    unproved(
        &strided("2 * tx..1000"),
        expect![[r#"
            s: write 4 / write 4: next `i`
        "#]],
    );
    unproved(
        &line(
            "T",
            "shared s: [E; 1000]; let mut i = tx;\nwhile i < 1000 { s[i] = 1; i += T - 1; }",
        ),
        expect![[r#"
            s: write 4 / write 4: next `while` of 4
        "#]],
    );
}

#[test]
fn remainders_and_quotients() {
    proved(&line("T", "shared s: [E; 4096, 32]; s[tx / 32, tx % 32] = 1;"));
    proved(&line("T", "shared s: [E; 4096]; s[tx / 32 * 33 + tx % 32] = 1;"));
    proved(
        &line("T in pow2(32..=256)", "shared s: [E; 256]; s[tx >> 5 << 5 | 0] = s[0]; ")
            .replace("s[tx >> 5 << 5 | 0] = s[0];", "s[(tx >> 5) * 32 + (tx & 31)] = 1;"),
    );
    proved(&line("T, W", "shared s: [E; T, W]; s[tx / W, tx % W] = 1;"));
    unproved(
        &line("T", "shared s: [E; 32];\ns[tx % 32] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; 4096, 32];\ns[tx / 32, tx % 16] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; 4096];\ns[tx / 2] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn swapped_halves() {
    proved(&line("T", "shared s: [E; 4096]; s[tx ^ 1] = 1;"));
    unproved(
        &line("T", "shared s: [E; 4096];\ns[tx] = 1; let x = s[tx ^ 1];"),
        expect![[r#"
            s: write 4 / read 4: same interval
        "#]],
    );
}

#[test]
fn guards_separate() {
    proved(&line("T", "shared s: [E; T]; if tx == 0 { s[0] = 1; }"));
    proved(&line("T", "shared s: [E; T]; if tx < 1 { s[tx * 2] = 1; s[0] = 2; }"));
    proved(&line("T", "shared s: [E; T]; let h = T / 2; if tx < h { s[tx] += s[tx + h]; }"));
    proved(&line("T", "shared s: [E; T]; if tx % 2 == 0 { s[tx] += s[tx + 1]; }"));
    proved(&line("T", "shared s: [E; T]; if tx % 2 == 0 && tx + 1 < T { s[tx] += s[tx + 1]; }"));
    proved(&line("T", "shared s: [E; T]; let low = tx < T / 2; if low { s[tx] = 1; } else { s[tx - T / 2] = 2; } ").replace("s[tx - T / 2] = 2;", "s[tx] = 2;"));
    proved(&line("T", "shared s: [E; T]; if !(tx > 0 || n > 3) { s[n] = 1; }"));
    unproved(
        &line("T", "shared s: [E; T];\nif tx < 2 { s[0] = 1; }"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; T];\nlet h = T / 2; if tx <= h { s[tx] += s[tx + h]; }"),
        expect![[r#"
            s: read 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; T];\nif tx < T / 2 { s[tx] = 1; } else { s[tx - T / 2] = 2; }"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; T];\nif z[tx] > 0 { s[0] = 1; }"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn chosen_indices() {
    proved(&line("T", "shared s: [E; T + 1]; let i = if tx == 0 { T } else { tx }; s[i] = 1;"));
    proved(&line("T", "shared s: [E; T]; s[min(tx, T - 1)] = 1;"));
    proved(&line("T", "shared s: [E; T]; s[max(tx, 0)] = 1;"));
    proved(&line("T", "shared s: [E; T]; let mut i = tx; if n > 3 { i = T - 1 - tx; } s[i] = 1;"));
    unproved(
        &line("T", "shared s: [E; T];\ns[min(tx, T - 2)] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    unproved(
        &line("T", "shared s: [E; T]; let mut i = tx;\nif z[tx] > 3 { i = T - 1 - tx; } s[i] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn loaded_indices() {
    unproved(
        &line("T", "shared s: [E; T];\ns[z[tx]] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
    // One index for the whole block, at a distance.
    proved(&line("T", "shared s: [E; 4096]; let o = z[bx]; s[tx + o] = 1;"));
    proved(&line("T", "shared s: [E; 4096]; s[tx + n] = 1;"));
    unproved(
        &line("T", "shared s: [E; 4096]; let o = z[tx];\ns[tx + o] = 1;"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn integers_that_wrap() {
    proved(&line("T", "shared s: [E; T]; let i = tx as i32; s[i] = 1;"));
    proved(&line("T", "shared s: [E; 4096]; let i = tx as i32 + n; s[i] = 1;"));
    unproved(
        &line(
            "T",
            "shared s: [E; 4096];\nlet i = tx as i32 * 2147483647; s[i] = 1; let j = (tx * 256) as u8; s[j] = 1;",
        ),
        expect![[r#"
            s: write 4 / write 4: same interval
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn cooperative_loops() {
    proved(&plane(
        "shared s: [T; TR, TC]; load s[i, j] = 1; barrier; each (i, j) in (TR, TC) { s[i, j] += 1; }",
    ));
    proved(&plane("shared s: [T; TR * TC]; each (i, j) in (TR, TC) { s[i * TC + j] = 1; }"));
    unproved(
        &plane("shared s: [T; TR, TC];\nload s[i, j] = 1;\ns[ty, tx] += 1;"),
        expect![[r#"
            s: write 4 / read 5: same interval
            s: write 4 / write 5: same interval
        "#]],
    );
    unproved(
        &plane("shared s: [T; TR, TC];\nload s[i, j] = 1;\nload s[i, j] = 2;"),
        expect![[r#"
            s: write 4 / write 5: same interval
        "#]],
    );
    unproved(
        &plane("shared s: [T; TR, TC];\neach (i, j) in (TR, TC) { s[i, 0] = 1; }"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn a_body_without_block_domain_is_one_worker() {
    let single = |body: &str| {
        format!(
            "fn f(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
where tile: (T), grid: (bx in tiles(N, T)), {{
shared s: [f32; T];
{body}
}}"
        )
    };
    proved(&single(
        "load s[i] = a[bx * T + i]; barrier; s[0] += 1.0; s[0] = s[1]; c[bx * T] = s[0];",
    ));
    unproved(
        &single("load s[i] = a[bx * T + i];\nc[bx * T] = s[0];"),
        expect![[r#"
            s: write 4 / read 5: same interval
        "#]],
    );
}
