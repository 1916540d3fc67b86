//! `uniform(…)`: values that the block agrees on because nobody changes them.

use expect_test::expect;

use crate::support;

/// The findings on a kernel around `body`, with `s[tx]` filled and a barrier.
#[track_caller]
fn findings(body: &str) -> String {
    support::check_families(
        &format!(
            "#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ let i = bx * TN + tx; shared s: [i32; TN]; s[tx] = x[i]; barrier;\n{body}\n}}"
        )
        .replacen("#[pad", "fn f(n: i32, #[pad", 1),
        &["TK"],
    )
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(findings(body), "", "{body}");
}

#[track_caller]
fn refuse(body: &str, code: &str) {
    let found = findings(body);
    assert!(found.contains(code), "{body}\n{found}");
    assert_eq!(found.matches("error[").count(), 1, "{body}\n{found}");
}

#[test]
fn it_decides_about_barriers() {
    let around = |cond: &str| {
        format!("if {cond} {{ barrier; s[tx] = 2 * x[i]; barrier; }} c[i] = s[TN - 1 - tx];")
    };
    accept(&around("s[0] > 4"));
    refuse(&around("s[tx] > 4"), "TK0401");
    accept(&around("uniform(s[0] > 4)"));
    accept(&around("uniform(s[0]) > 4"));
    accept(&around("uniform(s[0] + s[TN - 1]) * n > 4"));
    refuse(&around("uniform(s[0]) > s[tx]"), "TK0401");
    // Nobody finds more in a cell than what is in it.
    accept(&around("uniform(s[0]) > s[0]"));
    accept(&format!("let first = uniform(s[0]); {}", around("first > 4")));
    accept(
        "for k in 0..uniform(s[0]) { barrier; s[tx] += k as i32; barrier; } c[i] = s[TN - 1 - tx];",
    );
    accept("while uniform(s[0]) < 40 { barrier; s[tx] += 7; barrier; } c[i] = s[TN - 1 - tx];");
    accept(
        "for k in 0..8 { if uniform(s[0]) > 40 { break; } barrier; s[tx] += s[tx]; barrier; } c[i] = s[TN - 1 - tx];",
    );
}

#[test]
fn nobody_writes_what_it_reads() {
    // Some are still at the loop's condition when others are past the barrier.
    let found = findings("while uniform(s[0]) < 40 { s[tx] += 7; barrier; } c[i] = s[tx];");
    assert!(found.contains("TK0301"), "{found}");
    let found = findings("while uniform(s[0]) < 40 { barrier; s[tx] += 7; } c[i] = s[tx];");
    assert!(found.contains("TK0301"), "{found}");
    let found = findings("if tx == 0 { s[0] = n; } c[i] = uniform(s[0]);");
    assert!(found.contains("TK0301"), "{found}");
    accept("if tx == TN - 1 { s[0] = n; } barrier; c[i] = uniform(s[0]);");
    // An element that stays as it is beside those that change.
    accept("if tx > 0 { s[tx] += 1; } c[i] = uniform(s[0]) + s[tx];");
}

#[test]
fn it_takes_what_names_no_work_item() {
    refuse("c[i] = uniform(s[tx]);", "TK0403");
    refuse("c[i] = uniform(x[bx * TN + tx]);", "TK0403");
    refuse("let y = s[tx / 2]; c[i] = uniform(y);", "TK0403");
    refuse("let own: [i32; 2] = [n; 2]; c[i] = uniform(own[0]);", "TK0403");
    refuse("let mut y = 0; if tx > 3 { y = s[0]; } c[i] = uniform(y);", "TK0403");
    accept("let y = s[0]; c[i] = uniform(y);");
    refuse("let mut k = 0; if tx > 3 { k = 1; } c[i] = uniform(s[0] + k);", "TK0403");
    accept("let k = bx % TN; c[i] = uniform(s[k]);");
    accept("c[i] = uniform(n + s[0]);");
    expect![[r#"
        error[TK0403]: this is not the same for all work-items of the block, as `uniform(…)` says
          at 3:16
          at 3:16: `s[tx]` differs between work-items: it depends on `tx`
          help: keep one value for the block in a tile, `barrier;`, and read that: `uniform(s[0])`
    "#]]
    .assert_eq(&findings("c[i] = uniform(s[tx]);"));
    expect![[r#"
        error[TK0403]: this is not the same for all work-items of the block, as `uniform(…)` says
          at 4:16
          at 4:16: `y` may differ between work-items: it depends on `s[tx / 2]`, and `s` is a tile, which work-items may read at different times
          at 3:9: the value is loaded here
          help: keep one value for the block in a tile, `barrier;`, and read that: `uniform(s[0])`
    "#]]
    .assert_eq(&findings("let y = s[tx / 2];\nc[i] = uniform(y);"));
}

#[test]
fn all_work_items_come_by() {
    refuse("if tx > 3 { c[i] = uniform(s[0]); }", "TK0401");
    refuse("if tx > 3 && uniform(s[0]) > 3 { c[i] = 0; }", "TK0401");
    refuse("c[i] = if s[tx] > 0 { uniform(s[0]) } else { 0 };", "TK0401");
    refuse("for k in 0..tx { c[i] = uniform(s[0]); }", "TK0401");
    accept("if n > 3 && uniform(s[0]) > 3 { c[i] = 0; }");
    refuse(
        "shared t: [i32; TN]; each j in TN { t[j] = uniform(s[0]); } barrier; c[i] = t[tx];",
        "TK0401",
    );
    expect![[r#"
        error[TK0401]: not every work-item of the block reaches this `uniform(…)`
          at 3:14
          at 3:4: `tx > 3` differs between work-items: it depends on `tx`
          note: with TN = 8, `tx > 3` is false for work-item tx = 0 and true for work-item tx = 4
          help: close the `if` before the `uniform(…)` and, where more of it follows, open it again after it
    "#]]
    .assert_eq(&findings("if tx > 3 && uniform(s[0]) > 3 { c[i] = 0; }"));
}

#[test]
fn the_threads_of_a_body_without_a_block() {
    let of = |body: &str| {
        support::check_families(
            &format!(
                "fn f(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)),\n{{ shared s: [i32; TN]; load s[j] = x[bx * TN + j]; barrier;\n{body}\n}}"
            ),
            &["TK"],
        )
    };
    let each = "each j in TN { c[bx * TN + j] = s[j] + first; }";
    assert_eq!(of(&format!("let first = uniform(s[0]); {each}")), "");
    let found = of(&format!("let first = s[0]; {each}"));
    assert!(found.contains("TK0004"), "{found}");
    // Threads that read before or after the one that writes.
    let found = of(&format!("s[0] = 7; let first = uniform(s[0]); {each}"));
    assert!(found.contains("TK0301"), "{found}");
    assert_eq!(of(&format!("s[0] = 7; barrier; let first = uniform(s[0]); {each}")), "");
}
