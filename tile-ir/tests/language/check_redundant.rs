//! TK0402: barriers that order nothing.

use expect_test::{Expect, expect};

use crate::support;

fn with_block(body: &str) -> String {
    format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] ind: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ shared s: [f32; TN]; shared r: [f32; TN];\nlet i = bx * TN + tx;\n{body}\n}}"
    )
}

/// Warnings of a kernel without errors.
#[track_caller]
fn warnings(text: &str) -> String {
    let found = support::check_families(text, &["TK"]);
    assert!(!found.contains("error["), "{found}");
    support::check_families(text, &["TK0402"])
}

#[track_caller]
fn body(body: &str, expected: Expect) {
    expected.assert_eq(&warnings(&with_block(body)));
}

/// Every barrier is needed.
#[track_caller]
fn needed(body: &str) {
    assert_eq!(warnings(&with_block(body)), "", "{body}");
}

/// So many barriers can go.
#[track_caller]
fn spare(count: usize, body: &str) {
    let found = warnings(&with_block(body));
    assert_eq!(found.matches("warning[").count(), count, "{body}\n{found}");
}

#[test]
fn what_is_said() {
    body(
        "let y = x[i];\nbarrier;\nc[i] = y;",
        expect![[r#"
        warning[TK0402]: this `barrier;` orders nothing
          at 5:1
          note: proved for all tile sizes: between the barriers before and after it no work-item uses what another one writes
          help: remove it
    "#]],
    );
    body(
        "load s[j] = x[j];\nbarrier;\nbarrier;\nc[i] = s[TN - 1 - tx];",
        expect![[r#"
        warning[TK0402]: this `barrier;` orders nothing
          at 6:1
          note: proved for all tile sizes: between the barriers before and after it no work-item uses what another one writes
          help: remove it
    "#]],
    );
}

#[test]
fn barriers_that_can_go() {
    spare(1, "s[tx] = x[i]; barrier; c[i] = s[tx];");
    spare(1, "load s[j] = x[j]; barrier; c[i] = s[TN - 1 - tx]; barrier;");
    spare(1, "barrier; load s[j] = x[j]; barrier; c[i] = s[TN - 1 - tx];");
    spare(1, "load s[j] = x[j]; barrier; load r[j] = x[j]; barrier; c[i] = s[0] + r[0];");
    spare(2, "load s[j] = x[j]; barrier; if bx > 0 { barrier; } barrier; c[i] = s[0];");
    spare(1, "if n > 0 { barrier; } c[i] = 1.0;");
    spare(1, "for k in 0..n { s[tx] = x[i]; barrier; c[i] = s[tx]; }");
    // Of two that would each do, one.
    spare(1, "load s[j] = x[j]; barrier; let y = x[i]; barrier; c[i] = s[0] + y;");
}

#[test]
fn barriers_that_are_needed() {
    needed("load s[j] = x[j]; barrier; c[i] = s[tx];");
    needed("load s[j] = x[j]; barrier; c[i] = s[0];");
    needed("s[tx] = x[i]; barrier; c[i] = s[TN - 1 - tx];");
    needed(
        "load s[j] = x[j]; barrier; let y = s[0]; barrier; load s[j] = 2.0 * x[j]; barrier; c[i] = y + s[0];",
    );
    needed(
        "let mut sum = 0.0; phase p in tiles(N, TN) { load s[j] = x[p * TN + j]; barrier; sum += s[0]; barrier; } c[i] = sum;",
    );
    needed(
        "load s[j] = x[j]; barrier; for k in halving(TN) { if tx < k { s[tx] += s[tx + k]; } barrier; } c[i] = s[0];",
    );
    needed("load s[j] = x[j]; if n > 0 { barrier; } else { barrier; } c[i] = s[0];");
    needed("s[tx] = x[i]; barrier; if tx > 0 { c[i] = s[tx - 1]; }");
    needed(
        "load s[j] = x[j]; barrier; for k in 0..2 { c[i] = s[0]; barrier; s[tx] = x[i]; barrier; }",
    );
    // The last iteration's second barrier orders nothing, the others' do.
    needed(
        "load s[j] = x[j]; barrier; for k in 0..n { let y = s[TN - 1 - tx]; barrier; s[tx] = y; barrier; } c[i] = s[0];",
    );
}

/// All sizes were run; that is no proof.
#[test]
fn barriers_under_conditions_that_hold() {
    let text = "fn f(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN in 1..=64), grid: (bx in tiles(N, TN)), block: (tx in TN),
{ shared s: [f32; TN]; let i = bx * TN + tx;
s[tx] = x[i]; if tx < 64 { barrier; } c[i] = s[TN - 1 - tx]; }";
    assert_eq!(warnings(text), "");
}

#[test]
fn products() {
    let product = |middle: &str, end: &str, after: &str| {
        format!(
            "fn f<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where tile: (TM, TN, TK), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
{{ shared a_s: [T; TM, TK]; shared b_s: [T; TK, TN]; let mut acc: Acc<T> = 0;
phase p in tiles(K, TK) {{
    load a_s[i, k] = a[by * TM + i, p * TK + k];
    load b_s[k, j] = b[p * TK + k, bx * TN + j];
    {middle}
    for k in 0..TK {{ acc += a_s[ty, k] * b_s[k, tx]; }}
    {end}
}}
{after} c[by * TM + ty, bx * TN + tx] = acc; }}"
        )
    };
    assert_eq!(warnings(&product("barrier;", "barrier;", "")), "");
    for kernel in [
        product("barrier; barrier;", "barrier;", ""),
        product("barrier;", "barrier; barrier;", ""),
        product("barrier;", "barrier;", "barrier;"),
    ] {
        let found = warnings(&kernel);
        assert_eq!(found.matches("warning[TK0402]").count(), 1, "{found}");
    }
}

#[test]
fn barriers_that_say_whose_places_differ() {
    // Without it the places of all rounds would be said to differ from each other.
    needed(
        "s[tx] = 0.0; barrier;\nfor k in 0..4 { let p = ind[k * TN + tx]; assume(distinct_in_block(p)); if p >= 0 && p < TN as i32 { s[p] = x[k]; }\nbarrier; }\nc[i] = s[tx];",
    );
}
