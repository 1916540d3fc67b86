//! Local arrays: what is declared, who has them, what the checks find.

use expect_test::expect;
use tile_ir::diag::Diagnostics;
use tile_ir::kernel::print_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::support;

fn line(body: &str) -> String {
    format!(
        "fn f(#[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
where tile: (B, F = 4), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx;
{body}
c[i] = a[i];
}}"
    )
}

/// The errors of the checks on `body`.
fn errors(body: &str) -> String {
    let found = support::check_families(&line(body), &["TK"]);
    let start = found.find("error[").unwrap_or(found.len());
    let end = found.find("warning[").filter(|end| *end > start).unwrap_or(found.len());
    found[start..end].to_owned()
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(errors(body), "", "{}", line(body));
}

#[track_caller]
fn reject(body: &str, code: &str) {
    let found = errors(body);
    assert!(found.starts_with(&format!("error[{code}]")), "{}\n{found}", line(body));
}

/// The errors of resolving `body`.
fn unresolved(body: &str) -> String {
    let item = support::parse(&line(body));
    let found: Diagnostics = resolve_kernel(&item).expect_err("a mistake");
    support::render_all(&found, &item.spans)
}

#[test]
fn private_arrays_do_not_race() {
    accept("let mut x: [i32; 4] = [0; 4]; x[0] = a[i]; x[1] += x[0]; c[i] = x[1];");
    accept("let mut x: [i32; F, 2] = [1; F, 2]; x[3, 1] = a[i]; c[i] = x[3, 1];");
    accept("let x: [i32; 3] = [1, 2, a[i]]; c[i] = x[2];");
    accept("let x: [i32; 2, 2] = [[1, 2], [3, a[i]],]; c[i] = x[1, 0];");
    accept("let x: [i32; 2, 1, 2] = [[[1, 2]], [[3, a[i]]]]; c[i] = x[1, 0, 1];");
    accept(
        "each k in B { let mut x: [i32; 2] = [0; 2]; x[0] = k as i32; c[bx * B + k] = x[0]; } barrier;",
    );
    // Which element it is says nothing of other work-items.
    accept("let mut x: [i32; 4] = [0; 4]; if a[i] >= 0 && a[i] < 4 { x[a[i]] = 1; } c[i] = x[0];");
}

#[test]
fn indices_stay_inside() {
    reject("let mut x: [i32; 4] = [0; 4]; x[4] = 1; c[i] = x[0];", "TK0201");
    reject("let mut x: [i32; F] = [0; F]; for k in 0..F { c[i] = x[k + 1]; }", "TK0201");
    reject("let x: [i32; 4] = [0; 4]; c[i] = x[tx];", "TK0201");
    expect![[r#"
        error[TK0201]: `x[k + 1]` can be past the last element of the array `x`
          at 4:54
          at 4:9: `x` has the extents `[F]`
          note: with F = 4, work-item (tx = 0) uses `x[4]` at k = 3; the indices are 0 to 3
          help: make the array larger, or the index smaller, or put the access under `if k + 1 < F { … }`
    "#]]
    .assert_eq(&errors("let mut x: [i32; F] = [0; F]; for k in 0..F { c[i] = x[k + 1]; }"));
}

#[test]
fn elements_are_written_before_they_are_read() {
    accept("let mut x: [i32; 4]; for k in 0..4 { x[k] = 1; } c[i] = x[2];");
    accept("let mut x: [i32; 4]; x[2] = 1; c[i] = x[2];");
    accept("if tx == 0 { let mut x: [i32; 4]; for k in 0..4 { x[k] = 1; } c[i] = x[2]; }");
    reject("let mut x: [i32; 4]; x[2] = 1; c[i] = x[1];", "TK0501");
    accept("let mut x: [i32; 4]; for k in 0..3 { x[k] = 1; } c[i] = x[2];");
    reject("let mut x: [i32; 4]; for k in 0..3 { x[k] = 1; } c[i] = x[3];", "TK0501");
    // Others fill arrays of their own.
    reject("let mut x: [i32; B]; x[tx] = 1; for k in 0..B { c[i] = x[k]; }", "TK0501");
    reject(
        "let mut x: [i32; 4]; if tx == 0 { for k in 0..4 { x[k] = 1; } } c[i] = x[2];",
        "TK0501",
    );
    // Each time it is another array.
    reject("for p in 0..2 { let mut x: [i32; 1]; if p == 1 { c[i] = x[0]; } x[0] = 1; }", "TK0501");
}

#[test]
fn what_they_hold_differs_between_work_items() {
    let with = |stored: &str| {
        format!("let mut x: [i32; 2] = [0; 2]; x[0] = {stored}; if x[0] == 0 {{ barrier; }}")
    };
    reject(&with("tx as i32"), "TK0401");
    reject(&with("a[i]"), "TK0401");
    // What all have stored is the same, whoever looks.
    accept("let x: [i32; 2] = [0; 2]; if x[0] == 0 { barrier; } c[i] = x[0];");
}

#[test]
fn declarations() {
    let cases = [
        "let x: [i32; 4] = [0; 4]; x[0] = 1;",
        "let x: [i32; 4] = [0; 3];",
        "let x: [i32; 4] = [1, 2];",
        "let x: [i32; 2, 2] = [1, 2, 3, 4];",
        "let x: [i32; 2, 2] = [[1, 2, 3], [4, 5, 6]];",
        "let x: [i32; F] = [1, 2];",
        "let x: [i32; 4] = [0.5; 4];",
        "let x: [i32; tx] = [0; tx];",
        "let mut x: [i32; 4] = [0; 4]; atomic x[0] += 1;",
        "let mut x: [i32; 4] = [0; 4]; load x[k] = 1;",
        "let mut x: [i32; 4] = [0; 4]; each k in 4 { c[k] = x[k]; }",
        "let x: [i32; 4] = [0; 4]; c[i] = x;",
        "{ let x: [i32; 4] = [0; 4]; } c[i] = x[0];",
    ];
    let found: Vec<String> =
        cases.iter().map(|case| format!("{case}\n{}", unresolved(case))).collect();
    expect![[r#"
        let x: [i32; 4] = [0; 4]; x[0] = 1;
        error[TK0105]: `x` is not `mut` and its elements cannot be assigned
          at 4:27
          at 4:5: `x` is declared here
          help: declare it as `let mut x`

        let x: [i32; 4] = [0; 3];
        error[TK0102]: `x` has the extents `[4]`, not `[3]`
          at 4:19

        let x: [i32; 4] = [1, 2];
        error[TK0102]: `x` has 4 elements, and 2 are given
          at 4:19
          help: all elements alike are written `[e; N]`

        let x: [i32; 2, 2] = [1, 2, 3, 4];
        error[TK0102]: `x` has 2 by 2 elements, and 4 are given
          at 4:22
          help: each row has its own brackets, `[[a, b], [c, d]]`

        let x: [i32; 2, 2] = [[1, 2, 3], [4, 5, 6]];
        error[TK0102]: `x` has 2 by 2 elements, and 2 by 3 are given
          at 4:22
          help: all elements alike are written `[e; N]`

        let x: [i32; F] = [1, 2];
        error[TK0102]: how many elements `x` has is not a number in the text
          at 4:19
          help: all elements alike are written `[e; N]`

        let x: [i32; 4] = [0.5; 4];
        error[TK0102]: `x` is `i32`, and this is a floating-point number
          at 4:20

        let x: [i32; tx] = [0; tx];
        error[TK0004]: `tx` is an axis of the block; the extents of an array can only be made of tile parameters and literals
          at 4:14
        error[TK0004]: `tx` is an axis of the block; the extents of an array can only be made of tile parameters and literals
          at 4:24

        let mut x: [i32; 4] = [0; 4]; atomic x[0] += 1;
        error[TK0103]: `x` is one work-item's own: nobody else updates it
          at 4:38
          help: leave out `atomic`, or take a tile or a tensor

        let mut x: [i32; 4] = [0; 4]; load x[k] = 1;
        error[TK0004]: `x` is one work-item's array; `load` fills a shared tile
          at 4:36
          help: fill it in a loop of the work-item's own, or declare it as `shared`

        let mut x: [i32; 4] = [0; 4]; each k in 4 { c[k] = x[k]; }
        error[TK0004]: the array `x` belongs to one work-item, which `each` cannot name
          at 4:52
          at 4:31: the whole block shares this `each` out among its threads
          help: declare `x` inside of the `each`, or as a tile: `shared x: …;`

        let x: [i32; 4] = [0; 4]; c[i] = x;
        error[TK0004]: `x` is an array, which has no value of its own
          at 4:34
          help: name an element: `x[i]`

        { let x: [i32; 4] = [0; 4]; } c[i] = x[0];
        error[TK0002]: `x` is not declared here
          at 4:38
    "#]].assert_eq(&found.join("\n"));
}

#[test]
fn printed_as_written() {
    let text = line("let mut x: [i32; F, 2] = [a[i] + 1; F, 2]; x[0, 1] = 3; let y: [i32; 1];");
    let printed = print_kernel(&support::resolve(&text));
    for stmt in ["    let mut x: [i32; F, 2] = [a[i] + 1; F, 2];", "    let y: [i32; 1];"] {
        assert!(printed.contains(stmt), "{printed}");
    }
}
