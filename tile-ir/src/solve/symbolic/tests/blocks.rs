//! Accesses of different blocks, which no barrier orders.

use expect_test::expect;

use super::{proved, unproved};

fn line(body: &str) -> String {
    format!(
        "fn f<E: Number>(n: i32, a: &Tensor<E, [N]>, z: &Tensor<i32, [N]>, c: &mut Tensor<E, [N]>, d: &mut Tensor<E, [N, M]>)
where tile: (T, U), grid: (by in tiles(M, U), bx in tiles(N, T)), block: (ty in U, tx in T), {{
{body}
}}"
    )
}

fn add(body: &str) -> String {
    format!(
        "fn f<E: Number>(n: i32, a: &Tensor<E, [N]>, z: &Tensor<i32, [N]>, c: &mut Tensor<E, [N]>)
where tile: (T), grid: (bx in tiles(N, T)), block: (tx in T), {{
{body}
}}"
    )
}

#[test]
fn own_elements() {
    proved(&add("let i = bx * T + tx; c[i] = a[i] + c[i];"));
    proved(&line("d[bx * T + tx, by * U + ty] += 1;"));
    proved(&add("if bx * T + tx < n { c[bx * T + tx] = 1; }"));
    proved(&add("for j in 0..4 { c[(bx * 4 + j) * T + tx] = 1; }"));
    proved(&add("for j in 0..4 { c[(bx * T + tx) * 4 + j] = 1; }"));
    proved(&add("for j in 0..4 { c[bx * T * 4 + j * T + tx] = 1; }"));
    proved(&add("c[N - 1 - (bx * T + tx)] = 1;"));
    proved(&add("if tx == 0 { c[bx] = 1; }"));
}

#[test]
fn shared_elements() {
    unproved(
        &add("c[tx] = 1;"),
        expect![[r#"
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &add("c[bx] = 1;"),
        expect![[r#"
            c: write 3 / write 3: same interval
        "#]],
    );
    unproved(
        &add("c[bx + tx] = 1;"),
        expect![[r#"
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &add("c[bx * (T - 1) + tx] = 1;"),
        expect![[r#"
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &add("if tx <= T / 2 { c[bx * T / 2 + tx] = 1; }"),
        expect![[r#"
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &line("c[bx * T + tx] = 1;"),
        expect![[r#"
            c: write 3 / write 3: same interval
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &add("c[z[bx * T + tx]] = 1;"),
        expect![[r#"
            c: write 3 / write 3: same interval
            c: write 3 / write 3: between blocks
        "#]],
    );
    // What is one value in a block is not one for all blocks.
    unproved(
        &add("let o = z[bx];\nc[o + tx] = 1;"),
        expect![[r#"
            c: write 4 / write 4: between blocks
        "#]],
    );
}

#[test]
fn reads_of_what_other_blocks_write() {
    unproved(
        &add("let i = bx * T + tx;\nlet x = c[i + 1];\nbarrier;\nc[i] = x;"),
        expect![[r#"
            c: read 4 / write 6: between blocks
        "#]],
    );
    unproved(
        &add("let i = bx * T + tx;\nlet x = c[i + 1];\nc[i] = x;"),
        expect![[r#"
            c: read 4 / write 5: same interval
            c: read 4 / write 5: between blocks
        "#]],
    );
}

#[test]
fn grid_stride_loops() {
    proved(&add("for i in (bx * T + tx..N).step_by(T * tiles(N, T)) { c[i] = a[i]; }"));
    proved(&add(
        "let stride = T * tiles(N, T); let mut i = bx * T + tx; while i < N { c[i] = a[i]; i += stride; }",
    ));
    unproved(
        &add("for i in (bx * T + tx..N).step_by(T * tiles(N, T) - 1) { c[i] = a[i]; }"),
        expect![[r#"
            c: write 3 / write 3: next `i`
            c: write 3 / write 3: between blocks
        "#]],
    );
    unproved(
        &add("for i in (bx * T + tx..N).step_by(T) { c[i] = a[i]; }"),
        expect![[r#"
            c: write 3 / write 3: between blocks
        "#]],
    );
}

#[test]
fn flat_tensors() {
    let flat = |index: &str| {
        format!(
            "fn f<E: Number>(c: &mut Tensor<E, [H * W]>, a: &Tensor<E, [H, W]>)
where tile: (T, U), grid: (by in tiles(H, U), bx in tiles(W, T)), block: (ty in U, tx in T), {{
let y = by * U + ty; let x = bx * T + tx;
if y < H && x < W {{ c[{index}] = a[y, x]; }}
}}"
        )
    };
    proved(&flat("y * W + x"));
    proved(&flat("x * H + y"));
    unproved(
        &flat("y * H + x"),
        expect![[r#"
            c: write 4 / write 4: same interval
            c: write 4 / write 4: between blocks
        "#]],
    );
    // Without the guard the ragged edge runs into the next row.
    unproved(
        &flat("y * W + x").replace(" && x < W", ""),
        expect![[r#"
            c: write 4 / write 4: same interval
            c: write 4 / write 4: between blocks
        "#]],
    );
}

#[test]
fn transposes() {
    let transpose = |barrier: &str, store: &str| {
        format!(
            "fn f<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)), {{
shared s: [T; TR, TC];
load s[i, j] = a[by * TR + i, bx * TC + j];
{barrier}
each (j, i) in (TC, TR) {{ b[{store}] = s[i, j]; }}
}}"
        )
    };
    proved(&transpose("barrier;", "bx * TC + j, by * TR + i"));
    unproved(
        &transpose("", "bx * TC + j, by * TR + i"),
        expect![[r#"
            s: write 4 / read 6: same interval
        "#]],
    );
    unproved(&transpose("barrier;", "by * TC + j, bx * TR + i"), expect![[r#""#]]);
    unproved(
        &transpose("barrier;", "bx * TR + j, by * TC + i"),
        expect![[r#"
            b: write 6 / write 6: between blocks
        "#]],
    );
}

#[test]
fn in_place_transposes_across_blocks() {
    unproved(
        "fn f<T: Element>(a: &mut Tensor<T, [N, N]>)
where tile: (TR), grid: (by in tiles(N, TR), bx in tiles(N, TR)), {
shared s: [T; TR, TR];
load s[i, j] = a[by * TR + i, bx * TR + j];
barrier;
each (j, i) in (TR, TR) { a[bx * TR + j, by * TR + i] = s[i, j]; }
}",
        expect![[r#"
            a: read 4 / write 6: between blocks
        "#]],
    );
}

#[test]
fn stencils_and_convolutions() {
    proved(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
where tile: (TR, TC, H), grid: (by in tiles(R, TR), bx in tiles(C, TC)), block: (ty in TR, tx in TC), {
shared s: [T; TR + 2 * H, TC + 2 * H];
load s[i, j] = a[by * TR + i - H, bx * TC + j - H];
barrier;
let mut sum: T = 0;
for y in 0..2 * H + 1 { for x in 0..2 * H + 1 { sum += s[ty + y, tx + x]; } }
b[by * TR + ty, bx * TC + tx] = sum;
}",
    );
    proved(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, w: &Tensor<T, [9]>, b: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN), {
shared s: [T; TN + 8];
shared w_s: [T; 9];
load s[i] = a[bx * TN + i - 4];
load w_s[i] = w[i];
barrier;
let mut sum: T = 0;
for k in 0..9 { sum += s[tx + k] * w_s[k]; }
b[bx * TN + tx] = sum;
}",
    );
}

#[test]
fn products_in_batches() {
    let product = |out: &str| {
        format!(
            "fn f<T: Number>(a: &Tensor<T, [B, M, K]>, b: &Tensor<T, [B, K, N]>, c: &mut Tensor<T, [B, M, N]>)
where tile: (TM, TN, TK), grid: (bz in B, by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN), {{
shared a_s: [T; TM, TK];
shared b_s: [T; TK, TN];
let mut acc: Acc<T> = 0;
phase p in tiles(K, TK) {{
load a_s[i, k] = a[bz, by * TM + i, p * TK + k];
load b_s[k, j] = b[bz, p * TK + k, bx * TN + j];
barrier;
for k in 0..TK {{ acc += a_s[ty, k] * b_s[k, tx]; }}
barrier;
}}
c[{out}] = acc;
}}"
        )
    };
    proved(&product("bz, by * TM + ty, bx * TN + tx"));
    unproved(
        &product("0, by * TM + ty, bx * TN + tx"),
        expect![[r#"
            c: write 13 / write 13: between blocks
        "#]],
    );
}

#[test]
fn constraints_on_tile_sizes() {
    let kernel = |constraint: &str| {
        format!(
            "fn f(c: &mut Tensor<f32, [N]>)
where tile: (T, W{constraint}), grid: (bx in tiles(N, T)), block: (tx in T), {{
shared s: [f32; T];
if tx / W * W + W <= T {{ if tx % W == 0 {{ for j in 0..W {{ s[tx + j] = 1.0; }} }} }}
c[bx * T + tx] = 1.0;
}}"
        )
    };
    proved(&kernel(""));
    proved(&kernel(", T % W == 0"));
}

#[test]
fn ties_and_derived_sizes() {
    let kernel = |sizes: &str, index: &str| {
        format!(
            "fn f(c: &mut Tensor<f32, [N]>)
where tile: ({sizes}), grid: (bx in tiles(N, U)), block: (tx in U), {{
shared s: [f32; 8192];
s[{index}] = 1.0;
c[bx * U + tx] = 1.0;
}}"
        )
    };
    proved(&kernel("T, U = T", "tx + T"));
    proved(&kernel("T, U = T - 1", "tx * U"));
    proved(&kernel("T in 16..=256 step 16, U = T / 16", "tx * 16"));
    proved(&kernel("T in [64, 96, 160], U = 2 * T", "tx / T * T + tx % T"));
    unproved(
        &kernel("T, U = 2 * T", "tx % T"),
        expect![[r#"
            s: write 4 / write 4: same interval
        "#]],
    );
}

#[test]
fn rows_summed_by_one_item_each() {
    proved(
        "fn f<T: Number>(a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R]>)
where tile: (TR, TC), grid: (by in tiles(R, TR)), block: (ty in TR), {
shared s: [T; TR, TC];
let mut sum: T = 0;
phase p in tiles(C, TC) {
load s[i, j] = a[by * TR + i, p * TC + j];
barrier;
for j in 0..TC { sum += s[ty, j]; }
barrier;
}
sums[by * TR + ty] = sum;
}",
    );
}
