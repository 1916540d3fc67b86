//! `assume(…)`: what is known of the data, for the race rules and nothing else.

use expect_test::expect;

use crate::support;

/// The findings on a kernel around `body`.
#[track_caller]
fn findings(body: &str) -> String {
    support::check_families(
        &format!(
            "fn f(n: i32, ind: &Tensor<i32, [N]>, #[pad = 0] row: &Tensor<i32, [R]>, #[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [M]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ let i = bx * TN + tx;\n{body}\n}}"
        ),
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
}

#[test]
fn distinct_elements_lead_to_distinct_elements() {
    let scatter = "if i < N { c[ind[i]] = x[i]; }";
    refuse(scatter, "TK0304");
    accept(&format!("assume(distinct(ind)); {scatter}"));
    accept("assume(distinct(ind)); if i < N { let to = ind[i]; c[to] = x[i]; }");
    accept("assume(distinct(ind)); if i < N { c[2 * ind[i]] = x[i]; c[2 * ind[i] + 1] = x[i]; }");
    accept("assume(distinct(ind)); if i >= N { return; } c[ind[i]] += x[i];");
    // Past the end the pad is read, which is one position for all.
    refuse("assume(distinct(ind)); c[ind[i]] = x[i];", "TK0304");
    // Two work-items for each element.
    refuse("assume(distinct(ind)); if i < N { c[ind[i / 2]] = x[i]; }", "TK0302");
    refuse("assume(distinct(ind)); if i < N { c[ind[i] / 2] = x[i]; }", "TK0304");
    refuse("assume(distinct(row)); if i < N { c[ind[i]] = x[i]; }", "TK0304");
    refuse(
        "assume(distinct(ind)); if i + 1 < N { c[ind[i]] = x[i]; c[ind[i + 1]] = 0.0; }",
        "TK03",
    );
}

#[test]
fn conditions_on_loaded_values() {
    let body =
        |assumed: &str| format!("if i < N {{ let k = ind[i]; {assumed} c[4 * i + k] = x[i]; }}");
    refuse(&body(""), "TK0304");
    accept(&body("assume(k >= 0 && k < 4);"));
    refuse(&body("assume(k >= 0 && k <= 4);"), "TK0304");
    refuse(&body("assume(k < 4);"), "TK0304");
    accept("if i < N { assume(ind[i] >= 0 && ind[i] < 4); c[4 * i + ind[i]] = x[i]; }");
    // It holds from where it stands on, and in its list only.
    refuse("if i < N { let k = ind[i]; c[4 * i + k] = x[i]; assume(k >= 0 && k < 4); }", "TK0304");
    refuse(
        "if i < N { let k = ind[i]; if n > 0 { assume(k >= 0 && k < 4); } c[4 * i + k] = x[i]; }",
        "TK0304",
    );
    // The rows of a sparse matrix: each starts where the one before it ends.
    accept(
        "if i < N { let start = ind[i] as index; let end = row[i] as index; assume(start == 8 * i && end <= start + 8); for k in start..end { c[k] = x[i]; } }",
    );
}

#[test]
fn conditions_on_scalars_and_dimensions() {
    let body = |assumed: &str| format!("{assumed} c[i * n] = x[i];");
    refuse(&body(""), "TK03");
    accept(&body("assume(n > 0);"));
    refuse(&body("assume(n >= 0);"), "TK03");
    accept("assume(M <= 1); if i == 0 || M > 1 { c[0] = 1.0; }");
    refuse("assume(M <= 2); if i == 0 || M > 1 { c[0] = 1.0; }", "TK03");
}

#[test]
fn it_counts_for_races_alone() {
    // The index can leave its tile, whatever is assumed.
    let tile = "shared s: [f32; TN]; s[tx] = x[i]; barrier;";
    refuse(&format!("{tile} assume(n == 0); if i < M {{ c[i] = s[tx + n + 1]; }}"), "TK0201");
    refuse(
        &format!("{tile} assume(n == 0); if n > 0 || tx > 3 {{ barrier; }} c[i] = s[0];"),
        "TK0401",
    );
}

#[test]
fn what_cannot_be_assumed() {
    refuse("assume(false); c[0] = 1.0;", "TK0305");
    refuse("assume(1 < 0); c[0] = 1.0;", "TK0305");
    refuse("assume(tx < 0); c[0] = 1.0;", "TK0305");
    refuse("let k = ind[i]; assume(k < 0 && k > 5); c[0] = 1.0;", "TK0305");
    refuse("if n > 5 { assume(n < 5); c[0] = 1.0; }", "TK0305");
    refuse("assume(tx == 0); c[0] = 1.0;", "TK0305");
    refuse("assume(TN == 1 && bx == 0); c[0] = 1.0;", "TK0305");
    expect![[r#"
        error[TK0305]: `tx == 0` is decided by sizes and coordinates, not by data
          at 3:8
          help: constrain the sizes under `tile:`, or write an `if`: `assume` is for loaded values, scalar parameters and dimensions
    "#]]
    .assert_eq(&findings("assume(tx == 0); if i < N { c[i] = 1.0; }"));
    expect![[r#"
        error[TK0305]: `n > 5 && n < 3` never holds here, so it cannot be assumed
          at 3:8
          help: state what is true of the data that the kernel is launched with
    "#]]
    .assert_eq(&findings("assume(n > 5 && n < 3); if i < N { c[i] = 1.0; }"));
}

#[test]
fn what_is_undecided_names_the_load() {
    expect![[r#"
        error[TK0304]: cannot tell whether two work-items use one element of `c`: `ind[i]`, in its index, is loaded
          at 3:12
          note: two loads of `ind[i]` may give the same value
          help: compute the index from the coordinates of the work-item, so that each element has one writer, or update it with `atomic`; if the elements of `ind` are known to differ, say so: `assume(distinct(ind));`
    "#]].assert_eq(&findings("if i < N { c[ind[i]] = x[i]; }"));
}

/// The errors of names and types.
#[track_caller]
fn resolve_errors(body: &str) -> String {
    let text = format!(
        "fn f(n: i32, ind: &Tensor<i32, [N]>, x: &Tensor<f32, [N]>, c: &mut Tensor<i32, [N]>, m: &Tensor<i32, [N, 2]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ let i = bx * TN + tx;\n{body}\n}}"
    );
    let item = support::parse(&text);
    match tile_ir::resolve::resolve_kernel(&item) {
        Ok(_) => panic!("accepted: {body}"),
        Err(diags) => support::render_all(&diags, &item.spans),
    }
}

#[test]
fn forms() {
    let found: Vec<String> = [
        "c[i] = 1; if n > 0 { assume(distinct(ind)); }",
        "c[i] = 1; assume(distinct(x));",
        "c[i] = 1; assume(distinct(c));",
        "c[i] = 1; assume(distinct(ind[i]));",
        "c[i] = 1; assume(distinct(ind) && n > 0);",
        "c[i] = 1; assume(n);",
        "c[i] = 1; assume(sorted(m));",
        "c[i] = 1; assume(sorted(c));",
        "c[i] = if sorted(ind) { 1 } else { 0 };",
    ]
    .iter()
    .map(|body| resolve_errors(body))
    .collect();
    expect![[r#"
        error[TK0001]: `assume(distinct(…))` is about the whole launch and stands in no condition or loop
          at 3:22
          help: move it to the start of the body
        error[TK0004]: `x` does not hold integers
          at 3:27
          at 1:38: `x` is declared here
        error[TK0004]: `c` may be written, so that nothing said of its elements lasts
          at 3:27
          at 1:60: `c` is declared here
        error[TK0004]: `distinct` takes the name of a tensor
          at 3:18
          help: write `assume(distinct(a));`, with a tensor of integers
        error[TK0004]: `distinct(…)` is no value
          at 3:18
          help: it stands alone: `assume(distinct(a));`
        error[TK0102]: the condition is `bool`, and this is `i32`
          at 3:18
        error[TK0004]: `m` has 2 axes, and only one of 1 axis is sorted
          at 3:25
          at 1:86: `m` is declared here
        error[TK0004]: `c` may be written, so that nothing said of its elements lasts
          at 3:25
          at 1:60: `c` is declared here
        error[TK0004]: `sorted(…)` is no value
          at 3:11
          help: it stands alone: `assume(sorted(a));`
    "#]].assert_eq(&found.concat());
}
