//! TK0202: where a default pad may and may not go.

use expect_test::{Expect, expect};

use crate::support;

/// Errors of a body over vectors.
#[track_caller]
fn body(body: &str, expected: Expect) {
    expected.assert_eq(&errors(&vectors(body)));
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(errors(&vectors(body)), "");
}

fn errors(text: &str) -> String {
    let mut found = support::check_families(text, &["TK02"]);
    let warnings = found.find("warning[").unwrap_or(found.len());
    found.truncate(warnings);
    found
}

fn vectors(body: &str) -> String {
    format!(
        "fn f<T: Number>(n: i32, alpha: f32, a: &Tensor<f32, [N]>, b: &Tensor<f32, [N]>, w: &Tensor<f32, [M]>, z: &Tensor<i32, [N]>, t: &Tensor<T, [N]>, c: &mut Tensor<f32, [N]>, d: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{{ let i = bx * TN + tx;
{body}
}}"
    )
}

/// A tiled product of some kind: what is shared by its variants.
fn product(elem: &str, pad: &str, init: &str, step: &str) -> String {
    format!(
        "fn f<T: {elem}>({pad} a: &Tensor<T, [M, K]>, {pad} b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where tile: (TM, TN, TK), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
{{
shared a_s: [T; TM, TK];
shared b_s: [T; TK, TN];
{init}
phase p in tiles(K, TK) {{
load a_s[i, k] = a[by * TM + i, p * TK + k];
load b_s[k, j] = b[p * TK + k, bx * TN + j];
barrier;
for k in 0..TK {{ {step} }}
barrier;
}}
c[by * TM + ty, bx * TN + tx] = acc;
}}"
    )
}

#[test]
fn dropped_with_the_write() {
    accept("c[i] = a[i] + b[i];");
    accept("c[i] = exp(a[i]) / b[i];");
    accept("c[i] = alpha * a[i] + c[i];");
    accept("c[i] += exp(a[i]);");
    accept("let mut v = a[i]; v = max(v, 1.0); c[i] = v;");
    accept("if a[i] > 0.0 { c[i] = 1.0; }");
    accept("let j = z[i]; c[i] = if j > 3 { 1.0 } else { 2.0 };");
    accept("c[i - 1] = a[i - 1];");
    accept("d[i] = if t[i] < t[i] { t[i] } else { 1 };");
    accept("let v = a[bx * TN + tx]; c[tx + TN * bx] = v;");
    accept("shared s: [f32; TN]; s[tx] = a[i]; barrier; c[i] = s[0];");
}

#[test]
fn inside_by_range_or_condition() {
    accept("if i > 0 && i + 1 < n && n <= 4 { c[i] = 1.0; }");
    accept("c[i] = if i >= 1 { a[i - 1] } else { 1.0 };");
    accept("c[i] = if in_bounds(a[i - 1]) { exp(a[i - 1]) } else { 1.0 };");
    accept("for k in 0..M { c[i] = max(c[i], w[k]); }");
    accept("if i > 0 { c[i] = a[i - 1]; }");
    accept("let v = a[i - 1]; if i >= 1 { c[i] = v; }");
    accept("if !(i < 1 || i > 7) { c[i] = a[i - 1]; }");
    accept("if i != 0 { c[i] = a[i] + a[i - 1]; }");
    accept("if 0 == i { c[i] = 1.0; } else { c[i] = a[i - 1]; }");
    assert_ne!(errors(&vectors("if i != 1 { c[i] = a[i - 1]; }")), "");
    assert_ne!(errors(&vectors("if i - 1 != 0 { c[i] = a[i - 1]; }")), "");
}

#[test]
fn identity_of_a_sum() {
    accept(
        "let mut sum = 0.0; for p in tiles(M, 4) { for k in 0..4 { sum += w[p * 4 + k]; } } c[i] = sum;",
    );
    accept(
        "let mut sum = 0.0; for p in tiles(M, 4) { for k in 0..4 { sum = sum + w[p * 4 + k] * 2.0; } } c[i] = sum;",
    );
    accept(
        "let mut sum = 0; for p in tiles(N, 4) { for k in 0..4 { sum += z[p * 4 + k] * n; } } c[i] = sum as f32;",
    );
    accept(
        "let mut sum = 0.0; for p in tiles(N, 4) { for k in 0..4 { let e = a[p * 4 + k] - b[p * 4 + k]; sum += e * e; } } c[i] = sum;",
    );
    accept("let mut sum = 0.0; for k in 0..n { sum -= abs(a[k]); } c[i] = sum;");
}

#[test]
fn usual_kernels() {
    let sum = "let mut acc: Acc<T> = 0;";
    assert_eq!(errors(&product("Number", "", sum, "acc += a_s[ty, k] * b_s[k, tx];")), "");
    let distance = "let e = a_s[ty, k] - b_s[k, tx]; acc += e * e;";
    assert_eq!(errors(&product("Number", "", sum, distance)), "");
    let infinite = product(
        "Float",
        "#[pad = T::INFINITY]",
        "let mut acc: T = T::INFINITY;",
        "acc = min(acc, a_s[ty, k] + b_s[k, tx]);",
    );
    assert_eq!(errors(&infinite), "");
    let transpose = "fn f<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
        where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        {
            shared s: [T; TR, TC];
            load s[i, j] = a[by * TR + i, bx * TC + j];
            barrier;
            each (j, i) in (TC, TR) { b[bx * TC + j, by * TR + i] = s[i, j]; }
        }";
    assert_eq!(errors(transpose), "");
    let batched =
        "fn f<T: Number>(a: &Tensor<T, [B, K]>, b: &Tensor<T, [B, K]>, c: &mut Tensor<T, [B]>)
        where tile: (TK), grid: (z in B), block: (one in 1),
        {
            shared s: [T; TK];
            let mut acc: Acc<T> = 0;
            phase p in tiles(K, TK) {
                load s[k] = a[z, p * TK + k];
                barrier;
                for k in 0..TK { acc += s[k] * b[z, p * TK + k]; }
                barrier;
            }
            c[z] = acc;
        }";
    assert_eq!(errors(batched), "");
}

#[test]
fn stencils_say_their_pad() {
    body(
        "c[i] = a[i - 1] + a[i] + a[i + 1];",
        expect![[r#"
        error[TK0202]: `a[i - 1]` is 0 outside of `a`, which can change a result
          at 4:8
          at 4:1: the result is stored here
          note: `i - 1` may be negative
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i - 1])`
        error[TK0202]: `a[i + 1]` is 0 outside of `a`, which can change a result
          at 4:26
          at 4:1: the result is stored here
          note: `i + 1` may be `N` or more
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i + 1])`
    "#]],
    );
    let stencil = |pad: &str| {
        format!(
            "fn f({pad} a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{{ shared s: [f32; TN + 2];
load s[j] = a[bx * TN + j - 1];
barrier;
c[bx * TN + tx] = s[tx] + s[tx + 2]; }}"
        )
    };
    assert_eq!(errors(&stencil("#[pad = 0]")), "");
    expect![[r#"
        error[TK0202]: `a[bx * TN + j - 1]` is 0 outside of `a`, which can change a result
          at 4:13
          at 6:1: the result is stored here
          note: `bx * TN + j - 1` may be negative
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[bx * TN + j - 1])`
    "#]]
    .assert_eq(&errors(&stencil("")));
}

#[test]
fn minima_and_maxima() {
    let min_plus = |bound: &str, init: &str| {
        product(bound, "", init, "acc = min(acc, a_s[ty, k] + b_s[k, tx]);")
    };
    expect![[r#"
        error[TK0202]: `a[by * TM + i, p * TK + k]` is 0 outside of `a`, which can change a result
          at 8:18
          at 14:1: the result is stored here
          note: `p * TK + k` may be `K` or more
          help: say what is outside: `#[pad = T::INFINITY] a: …`, or ask `in_bounds(a[by * TM + i, p * TK + k])`
        error[TK0202]: `b[p * TK + k, bx * TN + j]` is 0 outside of `b`, which can change a result
          at 9:18
          at 14:1: the result is stored here
          note: `p * TK + k` may be `K` or more
          help: say what is outside: `#[pad = T::INFINITY] b: …`, or ask `in_bounds(b[p * TK + k, bx * TN + j])`
    "#]].assert_eq(&errors(&min_plus("Float", "let mut acc: T = T::INFINITY;")));
    expect![[r#"
        error[TK0202]: `a[by * TM + i, p * TK + k]` is 0 outside of `a`, which can change a result
          at 8:18
          at 14:1: the result is stored here
          note: `p * TK + k` may be `K` or more
          help: leave it out where `in_bounds(a[by * TM + i, p * TK + k])` does not hold
        error[TK0202]: `b[p * TK + k, bx * TN + j]` is 0 outside of `b`, which can change a result
          at 9:18
          at 14:1: the result is stored here
          note: `p * TK + k` may be `K` or more
          help: leave it out where `in_bounds(b[p * TK + k, bx * TN + j])` does not hold
    "#]]
    .assert_eq(&errors(&min_plus("Number", "let mut acc: T = T::MAX;")));
    body(
        "let mut m = w[0]; for k in 0..n { m = max(m, w[k]); } c[i] = m;",
        expect![[r#"
            error[TK0202]: `w[0]` is 0 outside of `w`, which can change a result
              at 4:13
              at 4:55: the result is stored here
              note: `0` may be `M` or more
              help: say what is outside: `#[pad = f32::NEG_INFINITY] w: …`, or ask `in_bounds(w[0])`
            error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
              at 4:46
              at 4:55: the result is stored here
              note: `k` may be `M` or more
              help: say what is outside: `#[pad = f32::NEG_INFINITY] w: …`, or ask `in_bounds(w[k])`
        "#]],
    );
}

#[test]
fn changed_results() {
    body(
        "c[i] = a[i + 1];",
        expect![[r#"
        error[TK0202]: `a[i + 1]` is 0 outside of `a`, which can change a result
          at 4:8
          at 4:1: the result is stored here
          note: `i + 1` may be `N` or more
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i + 1])`
    "#]],
    );
    body(
        "c[i] = w[i];",
        expect![[r#"
        error[TK0202]: `w[i]` is 0 outside of `w`, which can change a result
          at 4:8
          at 4:1: the result is stored here
          note: `i` may be `M` or more
          help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[i])`
    "#]],
    );
    body(
        "c[0] = a[i];",
        expect![[r#"
        error[TK0202]: `a[i]` is 0 outside of `a`, which can change a result
          at 4:8
          at 4:1: the result is stored here
          note: `i` may be `N` or more
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i])`
    "#]],
    );
    body(
        "c[i + 1] = a[i - 1]; if n > 2 { c[i] = a[i - 1]; }",
        expect![[r#"
        error[TK0202]: `a[i - 1]` is 0 outside of `a`, which can change a result
          at 4:12
          at 4:1: the result is stored here
          note: `i - 1` may be negative
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i - 1])`
        error[TK0202]: `a[i - 1]` is 0 outside of `a`, which can change a result
          at 4:40
          at 4:33: the result is stored here
          note: `i - 1` may be negative
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i - 1])`
    "#]],
    );
    body(
        "c[z[i]] = 1.0;",
        expect![[r#"
        error[TK0202]: `z[i]` is 0 outside of `z`, which can change a result
          at 4:3
          at 4:1: the result is stored here
          note: `i` may be `N` or more
          help: say what is outside: `#[pad = 0] z: …`, or ask `in_bounds(z[i])`
    "#]],
    );
    body(
        "let mut sum = 0.0; for k in 0..n { sum += exp(w[k]); } c[i] = sum;",
        expect![[r#"
        error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
          at 4:47
          at 4:56: the result is stored here
          note: `k` may be `M` or more
          help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[k])`
    "#]],
    );
    body(
        "let mut sum = 0.0; for k in 0..n { sum += w[k] * alpha; } c[i] = sum;",
        expect![[r#"
        error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
          at 4:43
          at 4:59: the result is stored here
          note: `k` may be `M` or more
          note: 0 times `alpha` is NaN where `alpha` is infinite or NaN
          help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[k])`
    "#]],
    );
    body(
        "let mut sum = 1.0; for k in 0..n { sum *= w[k]; } c[i] = sum;",
        expect![[r#"
        error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
          at 4:43
          at 4:51: the result is stored here
          note: `k` may be `M` or more
          help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[k])`
    "#]],
    );
    body(
        "let mut sum = 0.0; for k in 0..n { if w[k] >= 0.0 { sum += 1.0; } } c[i] = sum;",
        expect![[r#"
            error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
              at 4:39
              at 4:69: the result is stored here
              note: `k` may be `M` or more
              help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[k])`
        "#]],
    );
    body(
        "let mut last = 0.0; for k in 0..n { c[i] = last; last = w[k]; }",
        expect![[r#"
        error[TK0202]: `w[k]` is 0 outside of `w`, which can change a result
          at 4:57
          at 4:37: the result is stored here
          note: `k` may be `M` or more
          help: say what is outside: `#[pad = 0] w: …`, or ask `in_bounds(w[k])`
    "#]],
    );
    body(
        "shared s: [f32; TN]; s[tx] = a[i]; barrier; c[i] = s[TN - 1];",
        expect![[r#"
        error[TK0202]: `a[i]` is 0 outside of `a`, which can change a result
          at 4:30
          at 4:45: the result is stored here
          note: `i` may be `N` or more
          help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[i])`
    "#]],
    );
    body(
        "shared s: [f32; TN]; s[tx] = 0.0; barrier; phase p in tiles(N, TN) { c[p * TN + tx] = s[tx]; barrier; load s[j] = a[p * TN + j]; barrier; }",
        expect![[r#"
            error[TK0202]: `a[p * TN + j]` is 0 outside of `a`, which can change a result
              at 4:115
              at 4:70: the result is stored here
              note: `p * TN + j` may be `N` or more
              help: say what is outside: `#[pad = 0] a: …`, or ask `in_bounds(a[p * TN + j])`
        "#]],
    );
}

#[test]
fn counters_that_begin_elsewhere_than_at_0() {
    accept("let mut m = 0.0; for k in (tx..N).step_by(TN) { m = max(m, a[k]); } c[i] = m;");
    accept("let mut m = 0.0; for k in (i..N).rev() { m = max(m, exp(a[k])); } c[i] = m;");
    let text = errors(&vectors(
        "let mut m = 0.0; for k in (tx - 1..N).step_by(TN) { m = max(m, exp(a[k])); } c[i] = m;",
    ));
    assert!(text.contains("`k` may be negative"), "{text}");
}

#[test]
fn of_elements_of_any_type_no_pad_is_offered() {
    let gather =
        "fn f<T: Element>(a: &Tensor<T, [V]>, ids: &Tensor<i32, [N]>, c: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    let i = bx * TN + tx;
    c[i] = a[ids[i]];
}";
    let found = errors(gather);
    assert!(
        found.contains("help: leave it out where `in_bounds(a[ids[i]])` does not hold"),
        "{found}"
    );
    let mended = "if in_bounds(a[ids[i]]) { c[i] = a[ids[i]]; }";
    assert_eq!(errors(&gather.replace("c[i] = a[ids[i]];", mended)), "");
}
