//! Exchanges among work-items: where they may stand, what they order, and what
//! is known of their results.

use expect_test::{Expect, expect};
use tile_ir::kernel::print_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::support;

fn with_block(body: &str) -> String {
    format!(
        "fn f<T: Number, E: Element>(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, #[pad = 0] k: &Tensor<i32, [N]>, t: &Tensor<T, [N]>, e: &Tensor<E, [N]>, c: &mut Tensor<f32, [N]>, d: &mut Tensor<i32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ shared s: [f32; TN];\nlet i = bx * TN + tx;\n{body}\n}}"
    )
}

/// What is said of a kernel: by the resolver, or else by the checks.
fn findings(text: &str) -> String {
    let item = support::parse(text);
    match resolve_kernel(&item) {
        Ok(_) => support::check_families(text, &["TK01", "TK02", "TK03", "TK04", "TK0501"]),
        Err(diags) => support::render_all(&diags, &item.spans),
    }
}

#[track_caller]
fn body(body: &str, expected: Expect) {
    expected.assert_eq(&findings(&with_block(body)));
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(findings(&with_block(body)), "", "{body}");
}

#[track_caller]
fn refuse(code: &str, body: &str) {
    let found = findings(&with_block(body));
    assert_eq!(found.matches("error[").count(), 1, "{body}\n{found}");
    assert!(found.contains(&format!("error[{code}]")), "{body}\n{found}");
}

/// The statements of a body, as they are after names are resolved.
#[track_caller]
fn printed(body: &str, expected: Expect) {
    let text = print_kernel(&support::resolve(&with_block(body)));
    let first = text.find("    let i:").unwrap_or(0);
    expected.assert_eq(&text[first..]);
}

#[test]
fn statements_of_their_own() {
    printed(
        "let total = reduce_sum(x[i]);
let scaled = x[i] / reduce_max(x[i] + scan_sum(x[i]));
c[i] = total + scaled;
if any(x[i] > 0.0) { d[i] = 1; } else if all(k[i] == 0) { d[i] = reduce_min(k[i]); }
for j in 0..reduce_max(k[i]) { c[i] = 0.0; }
while any(k[i] > n) { d[i] = 0; }",
        expect![[r#"
                let i: index = bx * TN + tx;
                let total: f32 = reduce_sum(x[i]);
                let scan_sum: f32 = scan_sum(x[i]);
                let reduce_max: f32 = reduce_max(x[i] + scan_sum);
                let scaled: f32 = x[i] / reduce_max;
                c[i] = total + scaled;
                let any: bool = any(x[i] > 0.0);
                if any {
                    d[i] = 1;
                } else {
                    let all: bool = all(k[i] == 0);
                    if all {
                        let reduce_min: i32 = reduce_min(k[i]);
                        d[i] = reduce_min;
                    }
                }
                let reduce_max_2: i32 = reduce_max(k[i]);
                for j in 0..reduce_max_2 as index {
                    c[i] = 0.0;
                }
                let mut done: bool = false;
                while !done {
                    let any_2: bool = any(k[i] > n);
                    if any_2 {
                        d[i] = 0;
                    } else {
                        done = true;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn divergence() {
    body(
        "let mut y = 0.0;\nif x[i] > 0.0 {\ny = reduce_sum(x[i]);\n}\nc[i] = y;",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `reduce_sum`
              at 6:5
              at 5:4: `x[i] > 0.0` may differ between work-items: it depends on `x[i]`, and its index differs between work-items
              help: close the `if` before the `reduce_sum` and, where more of it follows, open it again after it
        "#]],
    );
    body(
        "let rank = scan_sum(k[i]);\nif rank > 3 {\nbarrier;\n}\nc[i] = 1.0;",
        expect![[r#"
            error[TK0401]: not every work-item of the block reaches this `barrier;`
              at 6:1
              at 5:4: `rank > 3` differs between work-items: it depends on `rank`
              at 4:12: `rank` gets a value of its own in each work-item here
              help: close the `if` before the `barrier;` and, where more of it follows, open it again after it
        "#]],
    );
    refuse("TK0401", "for j in 0..tx { c[i] = reduce_sum(x[i]); }");
    refuse("TK0401", "load s[j] = reduce_sum(x[j]); barrier; c[i] = s[tx];");
    refuse("TK0401", "if x[i] > 0.0 && any(k[i] > 0) { c[i] = 1.0; }");
    refuse("TK0401", "c[i] = if n > 0 { reduce_sum(x[i]) } else { 0.0 };");
    refuse("TK0401", "while any(k[i] > tx as i32) && tx < 3 { d[i] = 1; }");
    refuse("TK0401", "if i >= N { return; } c[i] = reduce_sum(x[i]);");
    accept("if n > 3 { return; } c[i] = reduce_sum(x[i]);");
    accept("let total = reduce_sum(x[i]); if i >= N { return; } c[i] = total;");
    accept("for j in 0..n { if any(k[i] > n) { break; } d[i] = 1; }");
    accept("if all(k[i] == 0) { return; } d[i] = reduce_max(k[i]);");
    accept(
        "while any(k[i] > n) { if reduce_sum(k[i]) == 7 { continue; } if n == 2 { break; } d[i] = 1; }",
    );
    // The results of reductions are the block's.
    accept("if any(x[i] > 0.0) { s[tx] = x[i]; barrier; c[i] = s[TN - 1 - tx]; }");
    accept(
        "s[tx] = x[i]; for j in 0..reduce_max(k[i]) { s[tx] = x[i]; barrier; c[i] = s[TN - 1 - tx]; barrier; s[tx] = 1.0; }",
    );
    accept("let mut m = reduce_max(k[i]); m += 1; if m > 3 { c[i] = reduce_sum(x[i]); }");
    accept("if any(x[i] > 0.0) && n > 0 { c[i] = 1.0; }");
}

#[test]
fn what_is_ordered() {
    // The operand is read before, what follows comes after.
    accept("s[tx] = x[i]; let total = reduce_sum(x[i]); c[i] = total + s[TN - 1 - tx];");
    refuse("TK0301", "s[tx] = x[i]; c[i] = reduce_sum(s[TN - 1 - tx]);");
    accept(
        "load s[j] = x[j]; barrier; let total = reduce_sum(s[TN - 1 - tx]); s[tx] = total; c[i] = s[tx];",
    );
    accept(
        "let mut v = x[i]; for j in 0..n { s[tx] = v; v = scan_sum(v); v += s[TN - 1 - tx]; barrier; } c[i] = v;",
    );
    refuse(
        "TK0301",
        "let mut v = x[i]; for j in 0..n { s[tx] = v; v = scan_sum(v); v += s[TN - 1 - tx]; } c[i] = v;",
    );
    body(
        "s[tx] = x[i];\nlet total = reduce_sum(x[i]);\nbarrier;\nc[i] = total + s[TN - 1 - tx];",
        expect![[r#"
            warning[TK0402]: this `barrier;` orders nothing
              at 6:1
              note: proved for all tile sizes: between the barriers before and after it no work-item uses what another one writes
              help: remove it
        "#]],
    );
}

#[test]
fn pads() {
    let with = |body: &str| with_block(body).replace("#[pad = 0] ", "");
    let errors = |body: &str| findings(&with(body)).matches("error[TK0202]").count();
    assert_eq!(errors("c[i] = reduce_sum(x[i]);"), 0);
    assert_eq!(errors("c[i] = scan_sum(x[i] * x[i]);"), 0);
    assert_eq!(errors("c[i] = reduce_sum(x[i] + 1.0);"), 1);
    assert_eq!(errors("c[i] = reduce_max(x[i]);"), 1);
    assert_eq!(errors("c[i] = reduce_max(if in_bounds(x[i]) { x[i] } else { f32::MIN });"), 0);
    assert_eq!(errors("if all(x[i] > 0.0) { c[i] = 1.0; }"), 1);
    assert_eq!(errors("if any(in_bounds(x[i]) && x[i] > 0.0) { c[i] = 1.0; }"), 0);
    assert_eq!(errors("if all(!in_bounds(x[i]) || x[i] > 0.0) { c[i] = 1.0; }"), 0);
    assert_eq!(errors("if all(in_bounds(x[i]) || x[i] > 0.0) { c[i] = 1.0; }"), 1);
    // Another work-item's read may be outside where this one's store is not.
    assert_eq!(errors("c[i] = reduce_min(x[i]);"), 1);
}

#[test]
fn types() {
    body(
        "c[i] = reduce_sum(e[i]) as f32;",
        expect![[r#"
        error[TK0103]: `E: Element` need not have `reduce_sum`
          at 4:8
          help: bound it: `E: Number`
        error[TK0103]: `E` cannot be converted to `f32`
          at 4:8
          note: `E: Element` may be `bool`
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "d[i] = reduce_sum(tx) as i32;",
        expect![[r#"
        error[TK0103]: `index` has no `reduce_sum`
          at 4:8
          help: convert to an integer type with `as` first
    "#]],
    );
    refuse("TK0102", "if any(k[i]) { d[i] = 1; }");
    refuse("TK0103", "d[i] = reduce_sum(x[i] > 0.0) as i32;");
    refuse("TK0103", "c[i] = reduce_sum(x[i], x[i]);");
    accept("d[i] = reduce_sum((x[i] > 0.0) as i32);");
}

#[test]
fn places() {
    let without = |body: &str| {
        let text = with_block(body).replace(", block: (tx in TN)", "");
        findings(&text.replace("let i = bx * TN + tx;", "let i = bx;"))
    };
    expect![[r#"
        error[TK0103]: `reduce_sum` is what work-items do together, and `f` has no `block`
          at 4:8
          help: give the kernel work-items: `block: (tx in TN)`
    "#]]
    .assert_eq(&without("c[i] = reduce_sum(x[i]);"));
    refuse("TK0004", "shared r: [f32; any(true) as index]; c[i] = 1.0;");
}

#[test]
fn unused() {
    let text = with_block("let total = reduce_sum(x[i]); c[i] = s[0];");
    expect![[r#"
        warning[TK0502]: the variable `total` is never read
          at 4:5
          help: remove it, or name it `_total`
    "#]]
    .assert_eq(&support::check_families(&text, &["TK0502"]));
}
