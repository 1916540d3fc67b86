//! TK0201: indices that can leave their tile.

use expect_test::{Expect, expect};

use crate::support;

/// The findings of the rule in a body among some parameters and tiles.
fn errors(body: &str) -> String {
    let text = format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] ind: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN, TS in 2..=16, TM = TS * 2), grid: (bx in tiles(N, TN)), block: (ty in TS, tx in TN),\n{{ shared s: [f32; TN]; shared w: [f32; TN + 2]; shared q: [f32; TS, TN]; shared fix: [f32; 64];\nlet i = bx * TN + tx;\n{body}\nc[i] = 1.0;\n}}"
    );
    support::check_families(&text, &["TK0201"])
}

#[track_caller]
fn body(body: &str, expected: Expect) {
    expected.assert_eq(&errors(body));
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(errors(body), "", "{body}");
}

#[track_caller]
fn refuse(body: &str) {
    let found = errors(body);
    assert_eq!(found.matches("error[").count(), 1, "{body}\n{found}");
}

#[test]
fn what_is_said() {
    body(
        "load s[j] = x[j]; barrier; c[i] = s[tx + 1];",
        expect![[r#"
        error[TK0201]: `s[tx + 1]` can be past the last element of the tile `s`
          at 4:35
          at 2:10: `s` has the extents `[TN]`
          note: with TN = 2, TS = 2, work-item (ty = 0, tx = 1) uses `s[2]`; the indices are 0 to 1
          help: make the tile larger, or the index smaller, or put the access under `if tx + 1 < TN { … }`
    "#]],
    );
    body(
        "load s[j] = x[j]; barrier; c[i] = s[tx - 1];",
        expect![[r#"
        error[TK0201]: `s[tx - 1]` can be before the first element of the tile `s`
          at 4:35
          at 2:10: `s` has the extents `[TN]`
          note: with TN = 2, TS = 2, work-item (ty = 0, tx = 0) uses `s[-1]`; the indices are 0 to 1
          help: let the index begin at 0, or put the access under `if tx - 1 >= 0 { … }`
    "#]],
    );
    body(
        "each (a, b) in (TN, TS) { q[a, b] = 1.0; }",
        expect![[r#"
        error[TK0201]: `q[a, b]` can be past the last element of axis 0 of the tile `q`
          at 4:27
          at 2:56: `q` has the extents `[TS, TN]`
          note: with TN = 3, TS = 2, the point (a = 2, b = 0) uses `q[2, 0]`; the indices of axis 0 are 0 to 1
          help: make the tile larger, or the index smaller, or put the access under `if a < TS { … }`
    "#]],
    );
    body(
        "for k in 0..5 { w[tx + k] = 1.0; }",
        expect![[r#"
        error[TK0201]: `w[tx + k]` can be past the last element of the tile `w`
          at 4:17
          at 2:31: `w` has the extents `[TN + 2]`
          note: with TN = 2, TS = 2, work-item (ty = 0, tx = 0) uses `w[4]` at k = 4; the indices are 0 to 3
          help: make the tile larger, or the index smaller, or put the access under `if tx + k < TN + 2 { … }`
    "#]],
    );
    body(
        "load fix[j] = 0.0; barrier; c[i] = fix[tx];",
        expect![[r#"
        error[TK0201]: `fix[tx]` can be past the last element of the tile `fix`
          at 4:36
          at 2:81: `fix` has the extents `[64]`
          note: with TN = 65, TS = 2, work-item (ty = 0, tx = 64) uses `fix[64]`; the indices are 0 to 63
          help: make the tile larger, or the index smaller, or put the access under `if tx < 64 { … }`
    "#]],
    );
    body(
        "if x[i] > 0.0 { s[tx + 1] = 1.0; }",
        expect![[r#"
        error[TK0201]: `s[tx + 1]` can be past the last element of the tile `s`
          at 4:17
          at 2:10: `s` has the extents `[TN]`
          note: with N = 4, TN = 2, TS = 2, work-item (ty = 0, tx = 1) uses `s[2]`; the indices are 0 to 1
          note: the loaded `x[i]` decides whether it comes to that
          help: make the tile larger, or the index smaller, or put the access under `if tx + 1 < TN { … }`
    "#]],
    );
    body(
        "shared r: [f32; TS - 2]; load r[j] = 0.0; barrier; c[i] = r[ty];",
        expect![[r#"
            error[TK0201]: `r[ty]` can be past the last element of the tile `r`
              at 4:59
              at 4:8: `r` has the extents `[TS - 2]`
              note: with TN = 2, TS = 3, work-item (ty = 1, tx = 0) uses `r[1]`; the indices are 0 to 0
              help: make the tile larger, or the index smaller, or put the access under `if ty < TS - 2 { … }`
        "#]],
    );
}

#[test]
fn inside() {
    accept("s[tx] = 1.0; w[tx + 2] = 1.0; q[ty, tx] = 2.0;");
    accept("s[TN - 1 - tx] = 1.0;");
    accept("load w[j] = x[j]; barrier; c[i] = w[tx] + w[tx + 1] + w[tx + 2];");
    accept("if tx > 0 { s[tx - 1] = 1.0; }");
    accept("if tx + 1 < TN { s[tx + 1] = 1.0; }");
    accept("if tx + 1 >= TN { s[0] = 1.0; } else { s[tx + 1] = 1.0; }");
    accept("load s[j] = x[j]; barrier; c[i] = if tx > 0 { s[tx - 1] } else { 0.0 };");
    accept("load s[j] = x[j]; barrier; if tx > 0 && s[tx - 1] > 0.0 { c[i] = 2.0; }");
    accept(
        "load s[j] = x[j]; barrier; for k in halving(TN) { if tx < k { s[tx] += s[tx + k]; } barrier; }",
    );
    accept("for k in 0..TN { s[k] = 1.0; }");
    accept("for k in (0..TN).step_by(3) { s[k] = 1.0; }");
    accept("for k in (0..TN).rev() { s[k] = 1.0; }");
    accept("s[tx % TN] = 1.0;");
    accept("s[(tx + 1) % TN] = 1.0;");
    accept("s[min(tx + 1, TN - 1)] = 1.0;");
    accept("fix[tx % 64] = 1.0; fix[tx & 63] = 1.0;");
    accept("let k = tx + 2; w[k] = 1.0;");
    accept("let mut k = tx; k += 2; w[k] = 1.0;");
    accept("let mut k = TN; while k > 1 { k = k / 2; s[k] = 1.0; }");
    accept("if n >= 0 && n < 64 { fix[n] = 1.0; }");
    accept("for k in 0..N { if k < 64 { fix[k] = 1.0; } }");
}

#[test]
fn outside() {
    refuse("s[TN] = 1.0;");
    refuse("s[tx + ty] = 1.0;");
    refuse("q[tx, ty] = 1.0;");
    refuse("w[tx + 3] = 1.0;");
    refuse("s[0 - 1] = 1.0;");
    refuse("s[tx * 2] = 1.0;");
    refuse("s[i] = 1.0;");
    refuse("s[tx] = 1.0; s[tx + 1] += 1.0;");
    refuse("if tx + 1 <= TN { s[tx + 1] = 1.0; }");
    refuse("for k in 0..TM { q[k, tx] = 1.0; }");
    refuse("load s[j] = x[j]; barrier; for k in halving(TN) { s[tx] += s[tx + k]; barrier; }");
    refuse("let mut k = tx; k += 3; w[k] = 1.0;");
    refuse("let mut k = 0; while k <= TN { s[k] = 1.0; k += 1; }");
    refuse("fix[n] = 1.0;");
    refuse("for k in 0..n { fix[k] = 1.0; }");
    refuse("for k in 0..N { fix[k] = 1.0; }");
    refuse("if tx == 1000 { fix[tx] = 1.0; }");
    refuse(
        "load s[j] = x[j]; barrier; if tx >= 0 || s[tx - 1] > 0.0 { c[i] = 2.0; } if s[tx - 1] > 0.0 { c[i] = 1.0; }",
    );
}

/// Data decides; lowering guards it.
#[test]
fn undecided() {
    accept("s[ind[i]] = 1.0;");
    accept("for k in ind[bx]..ind[bx + 1] { s[k] = 1.0; }");
    accept("let mut top = 0; if x[i] > 0.0 { top = TN; } s[top] = 1.0;");
}
