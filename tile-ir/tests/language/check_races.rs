//! TK0301 to TK0304: what races, what does not, and what is left open.

use tile_ir::check::{Verdict, check_kernel};

use crate::support;

/// What the races' rules find in `text`.
fn findings(text: &str) -> String {
    support::check_families(text, &["TK03"])
}

#[track_caller]
fn accept(text: &str) {
    let found = findings(text);
    assert!(found.is_empty(), "{text}\n{found}");
}

/// Rejects for the rules of `codes`, which may each speak more than once.
#[track_caller]
fn reject(text: &str, codes: &[&str]) {
    let found = findings(text);
    let errors = found.lines().filter_map(|line| line.strip_prefix("error["));
    let mut named: Vec<&str> = errors.map(|line| &line[..6]).collect();
    named.dedup();
    assert_eq!(named, codes, "{text}\n{found}");
}

/// A kernel on vectors, one work-item per element, that shares `s`.
fn line(body: &str) -> String {
    format!(
        "fn f<T: Number>(n: i32, #[pad = 0] a: &Tensor<T, [N]>, ind: &Tensor<i32, [N]>, #[pad = 0] c: &mut Tensor<T, [N]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx;
shared s: [T; B];
shared s2: [T; 2, B];
{body}
}}"
    )
}

/// The tiled product, with what stands at its two barriers.
fn product(first: &str, second: &str) -> String {
    format!(
        "fn f<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where tile: (TM, TN, TK), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
{{
shared a_s: [T; TM, TK];
shared b_s: [T; TK, TN];
let mut acc: Acc<T> = 0;
phase p in tiles(K, TK) {{
load a_s[i, k] = a[by * TM + i, p * TK + k];
load b_s[k, j] = b[p * TK + k, bx * TN + j];
{first}
for k in 0..TK {{ acc += a_s[ty, k] * b_s[k, tx]; }}
{second}
}}
c[by * TM + ty, bx * TN + tx] = acc;
}}"
    )
}

#[test]
fn tiled_product() {
    accept(&product("barrier;", "barrier;"));
    reject(&product("", "barrier;"), &["TK0301"]);
    reject(&product("barrier;", ""), &["TK0301"]);
    reject(&product("", ""), &["TK0301"]);
}

/// A kernel on matrices, one work-item per element, that shares `s`.
fn plane(body: &str) -> String {
    format!(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, #[pad = 0] c: &mut Tensor<T, [R, C]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)), block: (ty in TR, tx in TC),
{{ let i = by * TR + ty; let j = bx * TC + tx;
shared s: [T; TR, TC];
shared w: [T; TR + 2, TC + 2];
{body}
}}"
    )
}

/// A kernel without a block domain: cooperative loops alone.
fn loops(body: &str) -> String {
    format!(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, #[pad = 0] c: &mut Tensor<T, [R, C]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
{{ shared s: [T; TR, TC];
{body}
}}"
    )
}

/// A kernel whose blocks sum a piece each, over sizes that are powers of two.
fn reduction(body: &str) -> String {
    format!(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [B]>)
where tile: (W in pow2(32..=256)), grid: (bx in tiles(N, W)), block: (tx in W),
{{ shared s: [T; W];
shared s2: [T; 2, W];
s[tx] = a[bx * W + tx];
{body}
if tx == 0 {{ c[bx] = s[0]; }}
}}"
    )
}

const SHARED: &[&str] = &["TK0301"];
const WITHIN: &[&str] = &["TK0302"];
const BLOCKS: &[&str] = &["TK0303"];
const OPEN: &[&str] = &["TK0304"];

#[test]
fn one_interval() {
    accept(&line("s[tx] = a[i]; c[i] = s[tx];"));
    accept(&line("s[tx] = a[i]; s[tx] += 1; c[i] = s[tx] * s[tx];"));
    accept(&line("s[tx] = a[i]; barrier; c[i] = s[0];"));
    accept(&line("s[tx] = a[i]; barrier; c[i] = s[B - 1 - tx];"));
    reject(&line("s[tx] = a[i]; c[i] = s[0];"), SHARED);
    reject(&line("s[tx] = a[i]; c[i] = s[B - 1 - tx];"), SHARED);
    reject(&line("s[tx] = a[i]; let x = s[(tx + 1) % B]; c[i] = x;"), SHARED);
    reject(&line("s[0] = a[i]; barrier; c[i] = s[0];"), SHARED);
    reject(&line("s[0] = 1; barrier; c[i] = s[0];"), SHARED);
    accept(&line("if tx == 0 { s[0] = a[i]; } barrier; c[i] = s[0];"));
    reject(&line("if tx < 2 { s[0] = a[i]; } barrier; c[i] = s[0];"), SHARED);
}

#[test]
fn one_statement() {
    reject(&line("s[tx] = a[i]; barrier; s[tx] = s[(tx + 1) % B]; c[i] = s[tx];"), SHARED);
    reject(
        &line("s[tx] = a[i]; barrier; if tx + 1 < B { s[tx] = s[tx + 1]; } barrier; c[i] = s[tx];"),
        SHARED,
    );
    accept(&line(
        "s[tx] = a[i]; barrier; let x = s[(tx + 1) % B]; barrier; s[tx] = x; c[i] = s[tx];",
    ));
    reject(&line("s[tx] = a[i]; barrier; s[tx] += s[0]; c[i] = s[tx];"), SHARED);
    reject(&line("s[tx] = 0; barrier; s[tx / 2] += a[i]; barrier; c[i] = s[tx];"), SHARED);
}

#[test]
fn indices_that_are_not_one_to_one() {
    let flat = |index: &str| {
        format!(
            "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, #[pad = 0] c: &mut Tensor<T, [R, C]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)), block: (ty in TR, tx in TC),
{{ shared s: [T; 2 * (TR + TC) * (TR + TC)];
s[{index}] = a[by * TR + ty, bx * TC + tx]; barrier;
c[by * TR + ty, bx * TC + tx] = s[0];
}}"
        )
    };
    accept(&flat("ty * TC + tx"));
    accept(&flat("tx * TR + ty"));
    accept(&flat("ty * (TC + 1) + tx"));
    accept(&flat("2 * (ty * TC + tx) + 1"));
    accept(&flat("ty * TC + (tx + ty) % TC"));
    // This swizzle is not linear: no proof for all sizes, but each of a list is run.
    let swizzled = flat("ty * TC + tx * tx % (2 * TC + 1)");
    reject(&swizzled.replace("(TR, TC), grid", "(TR, TC in [8, 16]), grid"), SHARED);
    accept(
        &flat("ty * ty * TC + tx").replace("(TR, TC), grid", "(TR in [2, 3], TC in [8, 16]), grid"),
    );
    let folded = flat("ty * TC + (tx + ty) % (TC - 1)");
    reject(&folded.replace("(TR, TC), grid", "(TR in [4, 8], TC in [8, 16]), grid"), SHARED);
    reject(&flat("ty + tx"), SHARED);
    reject(&flat("ty * TR + tx"), SHARED);
    reject(&flat("ty * TC + tx / 2"), SHARED);
    reject(&flat("ty * TC"), SHARED);
    reject(&flat("ty * tx"), SHARED);
    reject(&plane("s[ty, 0] = a[i, j]; barrier; c[i, j] = s[ty, 0];"), SHARED);
}

#[test]
fn constants_and_the_block() {
    let sixteen = |body: &str| {
        format!(
            "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, #[pad = 0] c: &mut Tensor<T, [N]>)
where tile: (B in 16..=256 step 16), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx; shared s: [T; B]; s[tx] = a[i]; {body} }}"
        )
    };
    accept(&sixteen("barrier; if tx < 16 { c[i] = s[15 - tx]; }"));
    reject(&sixteen("if tx < 16 { c[i] = s[15 - tx]; }"), SHARED);
    reject(&sixteen("if tx == 12 { c[i] = s[8]; }"), SHARED);
    reject(&sixteen("barrier; if tx >= 16 { s[tx - 16] = a[i]; } c[i] = s[tx];"), SHARED);
    accept(&sixteen("barrier; if tx >= 16 { s[tx - 16] = a[i]; } barrier; c[i] = s[tx];"));
    let literal = "fn f(#[pad = 0] a: &Tensor<f32, [N]>, #[pad = 0] c: &mut Tensor<f32, [N]>)
where tile: (B = 48), grid: (bx in tiles(N, B)), block: (tx in B),
{ shared s: [f32; 64]; s[tx] = a[bx * B + tx]; s[tx + 16] = 0.0; barrier; c[bx * B + tx] = s[tx]; }";
    reject(literal, SHARED);
}

#[test]
fn arms() {
    accept(&line("s[tx] = 0; if n > 3 { s[tx] = a[i]; } else { s[tx] = 1; } c[i] = s[tx];"));
    reject(
        &line("s[tx] = 0; barrier; if tx % 2 == 0 { s[tx] = a[i]; } else { c[i] = s[tx - 1]; }"),
        SHARED,
    );
    accept(&line("s[tx] = 0; barrier; if tx % 2 == 0 { s[tx] = a[i]; } else { c[i] = s[tx]; }"));
    accept(&line("s[tx] = a[i]; if n > 1 { barrier; c[i] = s[0]; } else { c[i] = s[tx]; }"));
    reject(&line("s[tx] = a[i]; if n > 1 { barrier; } c[i] = s[0];"), SHARED);
    reject(&line("s[tx] = a[i]; if n > 1 { barrier; c[i] = s[0]; } else { c[i] = s[0]; }"), SHARED);
    // Both conditions have one value, whatever it is.
    accept(&line(
        "s[tx] = a[i]; barrier; if n > 1 { s[tx] = 0; } if n <= 1 { c[i] = s[0]; } else { c[i] = s[tx]; }",
    ));
}

#[test]
fn around_loops() {
    let turn = |head: &str, rest: &str| line(&format!("s[tx] = 0; barrier; {head} {{ {rest} }}"));
    for head in ["for k in 0..4", "phase p in tiles(N, B)", "for k in (0..n).rev()"] {
        accept(&turn(head, "s[tx] = a[i]; barrier; c[i] = s[0]; barrier;"));
        reject(&turn(head, "s[tx] = a[i]; barrier; c[i] = s[0];"), SHARED);
        reject(&turn(head, "barrier; s[tx] = a[i]; c[i] = s[0];"), SHARED);
        accept(&turn(head, "let x = s[0]; barrier; s[tx] = x; c[i] = x; barrier;"));
        reject(&turn(head, "let x = s[0]; barrier; s[tx] = x; c[i] = x;"), SHARED);
    }
    let whiled = |rest: &str| {
        line(&format!("s[tx] = 0; barrier; let mut k = 4; while k > 0 {{ {rest} k /= 2; }}"))
    };
    accept(&whiled("s[tx] = a[i]; barrier; c[i] = s[0]; barrier;"));
    reject(&whiled("s[tx] = a[i]; barrier; c[i] = s[0];"), SHARED);
    // The inner loop may run not at all.
    reject(
        &line("for k in 0..4 { s[tx] = a[i]; for q in 0..n { barrier; } c[i] = s[0]; barrier; }"),
        SHARED,
    );
    reject(
        &line("for k in 0..4 { for q in 0..2 { s[tx] = a[i]; barrier; c[i] = s[0]; } barrier; }"),
        SHARED,
    );
    accept(&line(
        "for k in 0..4 { for q in 0..2 { s[tx] = a[i]; barrier; c[i] = s[0]; barrier; } }",
    ));
    reject(&line("s[tx] = a[i]; for q in 0..n { barrier; } c[i] = s[0];"), SHARED);
    // Where there is a block at all, this loop runs.
    accept(&line("s[tx] = a[i]; phase p in tiles(N, B) { barrier; } c[i] = s[0];"));
}

#[test]
fn two_buffers() {
    let body = |write: &str, read: &str| {
        line(&format!(
            "phase p in tiles(N, B) {{ s2[{write}, tx] = a[p * B + tx]; barrier; c[i] = s2[{read}, 0]; }}"
        ))
    };
    accept(&body("p % 2", "p % 2"));
    reject(&body("0", "0"), SHARED);
    reject(&body("p % 2", "(p + 1) % 2"), SHARED);
    reject(&body("p / 2 % 2", "p / 2 % 2"), SHARED);
    accept(&line(
        "let mut b = 0; s2[0, tx] = a[i]; s2[1, tx] = 0; for k in 0..6 { barrier; let x = s2[b, 0]; b = 1 - b; s2[b, tx] = x; } c[i] = s2[b, tx];",
    ));
    reject(
        &line(
            "let mut b = 0; s2[0, tx] = a[i]; s2[1, tx] = 0; for k in 0..6 { barrier; let x = s2[b, 0]; s2[b, tx] = x; } c[i] = s2[b, tx];",
        ),
        SHARED,
    );
}

#[test]
fn trees() {
    let step = "if tx < st { s[tx] += s[tx + st]; }";
    accept(&reduction(&format!("for st in halving(W) {{ barrier; {step} }}")));
    accept(&reduction(&format!("barrier; for st in halving(W) {{ {step} barrier; }}")));
    reject(&reduction(&format!("for st in halving(W) {{ {step} barrier; }}")), SHARED);
    reject(&reduction(&format!("barrier; for st in halving(W) {{ {step} }}")), SHARED);
    // Without its condition every work-item takes part in every step.
    let unguarded = "barrier; if tx + st < W { s[tx] += s[tx + st]; }";
    reject(&reduction(&format!("for st in halving(W) {{ {unguarded} }}")), SHARED);
    let interleaved = "barrier; if tx % (2 * st) == 0 { s[tx] += s[tx + st]; }";
    accept(&reduction(&format!("for st in doubling(W) {{ {interleaved} }}")));
    let wrong = "barrier; if tx % st == 0 { if tx + st < W { s[tx] += s[tx + st]; } }";
    reject(&reduction(&format!("for st in doubling(W) {{ {wrong} }}")), SHARED);
    let strided = "barrier; let k = 2 * st * tx; if k + st < W { s[k] += s[k + st]; }";
    accept(&reduction(&format!("for st in doubling(W) {{ {strided} }}")));
    let down = "let mut st = W / 2; while st > 0 { barrier; if tx < st { s[tx] += s[tx + st]; } st /= 2; }";
    accept(&reduction(down));
    reject(&reduction(&down.replace("barrier;", "")), SHARED);
}

#[test]
fn scans() {
    let in_place =
        "for st in doubling(W) { barrier; if tx >= st { s[tx] += s[tx - st]; } } barrier;";
    reject(&reduction(in_place), SHARED);
    let apart = "for st in doubling(W) { barrier; let x = if tx >= st { s[tx - st] } else { 0 }; barrier; s[tx] += x; }";
    accept(&reduction(apart));
    reject(&reduction(&apart.replacen("barrier;", "", 1)), SHARED);
    accept(&reduction(
        "let mut b = 0; s2[0, tx] = s[tx]; s2[1, tx] = 0;
        for st in doubling(W) { barrier; let x = if tx >= st { s2[b, tx - st] } else { 0 }; let y = s2[b, tx]; b = 1 - b; s2[b, tx] = x + y; }",
    ));
}

#[test]
fn cooperative_loops() {
    let copy = "load s[i, j] = a[by * TR + i, bx * TC + j];";
    let turn = "each (j, i) in (TC, TR) { c[by * TR + i, bx * TC + j] = s[i, j]; }";
    accept(&loops(&format!("{copy} barrier; {turn}")));
    reject(&loops(&format!("{copy} {turn}")), SHARED);
    // Which thread runs which point is unspecified, so the same point is no excuse.
    reject(
        &loops(&format!(
            "{copy} each (i, j) in (TR, TC) {{ c[by * TR + i, bx * TC + j] = s[i, j]; }}"
        )),
        SHARED,
    );
    reject(&loops(&format!("{copy} {copy} barrier; {turn}")), SHARED);
    accept(&loops(&format!("{copy} barrier; {copy} barrier; {turn}")));
    reject(
        &loops(&format!("each (i, j) in (TR, TC) {{ s[i, 0] = a[i, j]; }} barrier; {turn}")),
        SHARED,
    );
    reject(&plane(&format!("{copy} c[i, j] = s[ty, tx];")), SHARED);
    accept(&plane(&format!("{copy} barrier; c[i, j] = s[ty, tx];")));
    reject(
        &plane(
            "s[ty, tx] = a[i, j]; each (p, q) in (TR, TC) { s[p, q] += 1; } barrier; c[i, j] = s[ty, tx];",
        ),
        SHARED,
    );
    // A column of a tile that other columns' points read.
    reject(
        &loops(
            "each (p) in (TR) { for q in 0..TC { s[p, q] = a[p, q]; } } each (q) in (TC) { c[by * TR, bx * TC + q] = s[0, q]; }",
        ),
        SHARED,
    );
}

#[test]
fn halos() {
    let fill = "load w[p, q] = a[by * TR + p - 1, bx * TC + q - 1];";
    let sum = "w[ty, tx + 1] + w[ty + 2, tx + 1] + w[ty + 1, tx] + w[ty + 1, tx + 2]";
    accept(&plane(&format!("{fill} barrier; c[i, j] = {sum};")));
    reject(&plane(&format!("{fill} c[i, j] = {sum};")), SHARED);
    reject(&plane(&format!("{fill} barrier; w[ty + 1, tx + 1] = {sum}; c[i, j] = 0;")), SHARED);
    accept(&plane(&format!(
        "{fill} barrier; let x = {sum}; barrier; w[ty + 1, tx + 1] = x; c[i, j] = w[ty + 1, tx + 1];"
    )));
    // A window that slides: its tail moves to its head.
    let slide = |first: &str, second: &str| {
        format!(
            "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, #[pad = 0] c: &mut Tensor<T, [R, C]>)
where tile: (TR, TC), grid: (by in tiles(R, TR)), block: (ty in TR),
{{ shared s: [T; TR, TC + 1]; let i = by * TR + ty; s[ty, 0] = 0;
phase p in tiles(C, TC) {{
load s[r, q + 1] = a[by * TR + r, p * TC + q];
{first}
for q in 0..TC {{ c[i, p * TC + q] = s[ty, q] + s[ty, q + 1]; }}
s[ty, 0] = s[ty, TC];
{second} }} }}"
        )
    };
    let slide = |first: &str, second: &str| {
        slide(first, second).replace(
            "load s[r, q + 1] = a[by * TR + r, p * TC + q];",
            "each (r, q) in (TR, TC) { s[r, q + 1] = a[by * TR + r, p * TC + q]; }",
        )
    };
    accept(&slide("barrier;", "barrier;"));
    reject(&slide("", "barrier;"), SHARED);
    reject(&slide("barrier;", ""), SHARED);
}

#[test]
fn tensors_within_a_block() {
    accept(&line("c[i] = a[i]; c[i] += 1; c[i] = c[i] * c[i];"));
    reject(&line("if tx + 1 < B { c[i] = c[i + 1]; }"), WITHIN);
    accept(&line("let x = if tx + 1 < B { c[i + 1] } else { 0 }; barrier; c[i] = x;"));
    reject(&line("let x = if tx + 1 < B { c[i + 1] } else { 0 }; c[i] = x;"), WITHIN);
    accept(&line("c[i] = a[i]; barrier; let x = c[bx * B]; barrier; c[i] = x;"));
    reject(&line("c[i] = a[i]; let x = c[bx * B]; barrier; c[i] = x;"), WITHIN);
    reject(&line("c[bx * B] = a[i];"), WITHIN);
    accept(&line("if tx == 0 { c[bx * B] = a[i]; }"));
    accept(&plane("let x = c[i, j]; c[i, j] = x + a[i, j];"));
    let square = "fn f<T: Number>(#[pad = 0] c: &mut Tensor<T, [R, C]>)
where tile: (B), grid: (by in tiles(R, B), bx in tiles(C, B)), block: (ty in B, tx in B),
{ shared s: [T; B, B]; s[ty, tx] = c[by * B + ty, bx * B + tx]; barrier; c[by * B + ty, bx * B + tx] = s[tx, ty]; }";
    accept(square);
    reject(&square.replace("barrier;", ""), SHARED);
    let turned =
        square.replace("c[by * B + ty, bx * B + tx] = s", "c[by * B + tx, bx * B + ty] = s");
    accept(&turned);
    // One barrier is missing, for the tile and for the tensor.
    reject(&turned.replace("barrier;", ""), SHARED);
}

#[test]
fn tensors_between_blocks() {
    reject(&line("c[0] = a[i];"), BLOCKS);
    reject(&line("c[tx] = a[i];"), BLOCKS);
    accept(&line("if bx == 0 { c[tx] = a[i]; }"));
    reject(&line("c[i] = c[i + 1];"), BLOCKS);
    reject(&line("let x = c[i + 1]; barrier; c[i] = x;"), BLOCKS);
    reject(&line("c[bx * (B - 1) + tx] = a[i];"), BLOCKS);
    accept(&line("c[2 * i] = a[i]; c[2 * i + 1] = a[i];"));
    reject(&line("c[i] = a[i]; c[i + B] = a[i];"), BLOCKS);
    reject(&plane("c[j, i] = c[i, j];"), BLOCKS);
    reject(&plane("c[i, 0] = a[i, j];"), BLOCKS);
    accept(&plane("if bx == 0 && tx == 0 { c[i, 0] = a[i, j]; }"));
    // Whoever writes outside of the shape writes nothing.
    accept(&line("c[i] = a[i]; c[N + tx] = a[i]; c[0 - 1 - tx] = 0;"));
    accept(&product("barrier;", "barrier;"));
    reject(&product("barrier;", "barrier;").replace("c[by * TM + ty,", "c[ty,"), BLOCKS);
}

#[test]
fn loaded_indices() {
    accept(&line("c[i] = a[ind[i]];"));
    reject(&line("c[ind[i]] = a[i];"), OPEN);
    reject(&line("s[tx] = 0; barrier; s[ind[i]] += a[i]; barrier; c[i] = s[tx];"), OPEN);
    accept(&line("s[tx] = a[i]; barrier; c[i] = s[ind[i]];"));
    reject(&line("s[tx] = a[i]; c[i] = s[ind[i]];"), SHARED);
    accept(&line("if tx == 0 { s[ind[i]] = 1; s[0] = 2; } barrier; c[i] = s[0];"));
    // The known coordinates tell work-items apart.
    accept(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [N, M]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{ let i = bx * B + tx; c[i, ind[i]] = a[i]; }",
    );
    reject(
        "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [N, M]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{ let i = bx * B + tx; c[tx, ind[i]] = a[i]; }",
        OPEN,
    );
}

#[test]
fn loaded_conditions() {
    accept(&line("if ind[i] > 0 { c[i] = a[i]; }"));
    accept(&line("s[tx] = a[i]; barrier; if s[tx] > 0 { c[i] = s[0]; }"));
    reject(&line("s[tx] = a[i]; if ind[i] > 0 { c[i] = s[0]; }"), SHARED);
    reject(&line("if ind[i] == 7 { s[0] = a[i]; } barrier; c[i] = s[tx];"), SHARED);
    accept(&line("for k in 0..ind[i] { c[i] += a[k]; }"));
    reject(
        &line("s[tx] = 0; barrier; for k in 0..ind[i] { s[0] += a[k]; } barrier; c[i] = s[tx];"),
        SHARED,
    );
    // One cell decides for all alike, which no example contradicts and no proof shows.
    reject(
        &line(
            "s[tx] = a[i]; barrier; let x = s[0]; barrier; if x > 0 { s[tx] = 0; } if x <= 0 { c[i] = s[B - 1]; } else { c[i] = s[tx]; }",
        ),
        OPEN,
    );
}

#[test]
fn verdicts() {
    let verdict = |text: &str| match check_kernel(support::resolve(text)) {
        Ok(checked) => Some(checked.kernel.verdict()),
        Err(_) => None,
    };
    // One to one, and not linear.
    let cubes = |sizes: &str| {
        format!(
            "fn f<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
where tile: (B{sizes}), grid: (bx in tiles(N, B)), block: (tx in B),
{{ shared s: [T; B * B * B]; s[tx * tx * tx] = a[bx * B + tx]; c[bx * B + tx] = 0; }}"
        )
    };
    assert_eq!(verdict(&product("barrier;", "barrier;")), Some(Verdict::AllSizes));
    assert_eq!(verdict(&cubes(" in 4..=16 step 4")), Some(Verdict::ListedSizes));
    assert_eq!(verdict(&cubes(" in [4, 8]")), Some(Verdict::ListedSizes));
    assert_eq!(verdict(&cubes("")), None);
}

/// The whole text of a finding, and where the barrier is said to go.
#[test]
fn where_the_barrier_goes() {
    let help = |text: &str| {
        let found = findings(text);
        let help = found.lines().find_map(|line| line.strip_prefix("  help: "));
        help.unwrap_or_default().to_owned()
    };
    assert_eq!(
        help(&product("", "barrier;")),
        "add `barrier;` after line 9 (checked: the kernel then has no race)"
    );
    assert_eq!(
        help(&product("barrier;", "")),
        "add `barrier;` after line 11, as the last statement of `phase p` (checked: the kernel then has no race)"
    );
    // The whole block does not come by between the two.
    assert_eq!(
        help(&line("s[tx] = 0; barrier; if tx < 4 { s[tx] = a[i]; c[i] = s[0]; }")),
        "no place between the two is passed by the whole block: end the condition before the second one, add `barrier;`, and ask again"
    );
    // Both stand on one line.
    assert_eq!(
        help(&line("s[tx] = a[i]; c[i] = s[B - 1 - tx];")),
        "add `barrier;` on line 6, before column 15 (checked: the kernel then has no race)"
    );
    assert_eq!(
        help(&line("for k in 0..n { s[tx] = a[i]; barrier; c[i] += s[B - 1 - tx]; }")),
        "add `barrier;` as the last statement of `for k` (checked: the kernel then has no race)"
    );
    // Blocks keep apart at each of the sizes that there are.
    let turned = "fn f(a: &mut Tensor<f32, [N]>)
where tile: (T in [32, 64]), grid: (b in tiles(N, T)), block: (t in T),
{
    let x = a[min(b * T + T - 1 - t, N - 1)];
    a[b * T + t] = x;
}";
    assert_eq!(help(turned), "add `barrier;` after line 4 (checked: the kernel then has no race)");
    // Nothing shows that they keep apart.
    let triangles = "fn f(#[pad = 0] a: &mut Tensor<f32, [N]>)
where tile: (T in [32, 64, 128]), grid: (b in tiles(N, T)), block: (t in T),
{
    let i = b * T + T - 1 - t;
    let j = b * T + t;
    let x = a[i * (i + 1) / 2];
    a[j * (j + 1) / 2] = x;
}";
    assert_eq!(
        help(triangles),
        "add `barrier;` after line 6 (checked: the two are then in order); it orders no blocks, \
         which may meet there too, for all that is shown"
    );
    // Two barriers are missing, so there are two findings, each with its place.
    let both = findings(&product("", ""));
    assert_eq!(both.matches("error[").count(), 2, "{both}");
    assert!(both.contains("after line 9 (checked"), "{both}");
    assert!(both.contains("after line 11, as the last statement of `phase p` (checked"), "{both}");
}

/// In a loop without barrier an iteration meets what stands before the loop and other
/// iterations: one barrier in the loop mends both, and is one finding.
#[test]
fn a_barrier_in_a_loop_mends_what_is_around() {
    let tree = |inside: &str| {
        line(&format!(
            "s[tx] = a[i];\nfor d in doubling(B) {{\n{inside}\nif tx % (2 * d) == 0 && tx + d < B {{ s[tx] += s[tx + d]; }}\n}}\nbarrier; c[i] = s[0];"
        ))
        .replace("tile: (B)", "tile: (B in [32, 64])")
    };
    accept(&tree("barrier;"));
    let found = findings(&tree(""));
    assert_eq!(found.matches("error[").count(), 1, "{found}");
    assert!(found.contains("as the first statement of `for d`"), "{found}");
    assert!(found.contains("(checked: the kernel then has no race)"), "{found}");
}

#[test]
fn what_is_too_much_to_run_names_the_sizes() {
    let turned = |sizes: &str| {
        line(
            "for k in 0..B {\nbarrier;\ns[((tx * tx + tx) / 2 + k) % B] = a[i];\n}\nbarrier; c[i] = s[tx];",
        )
        .replace("tile: (B)", &format!("tile: (B in {sizes})"))
    };
    accept(&turned("[64, 128]"));
    let found = findings(&turned("[64, 1024]"));
    assert!(found.contains("error[TK0304]"), "{found}");
    assert!(found.contains("those from B = 1024 on were not tried"), "{found}");
}

/// An example that only a number which wraps makes is told with that number, and with what to do
/// about it; one that does not need it is not.
#[test]
fn a_collision_names_the_number_that_wraps() {
    let rows = |at: &str| {
        format!(
            "fn f(out: &mut Tensor<f32, [M]>, n: u32) where grid: (b in 16), block: (t in 32),
            {{ assume(n >= 32); let at = {at}; out[at] = 1.0; }}"
        )
    };
    let found = findings(&rows("(b as u32 - 8) * n + t as u32"));
    assert!(found.contains("error[TK0303]"), "{found}");
    let number = "`(b as u32 - 8) * n + t as u32` on line 2 may wrap in its type; if it did not";
    assert!(found.contains(number), "{found}");
    assert!(found.contains("help: compute it as an `index`"), "{found}");
    accept(&rows("(b as u32 - 8) as index * n as index + t"));
    let found = findings(&rows("(b as u32 - 8) * (n - 1) + t as u32"));
    assert!(found.contains("error[TK0303]") && !found.contains("may wrap"), "{found}");
}
