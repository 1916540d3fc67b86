//! `return`, `break` and `continue`.

use expect_test::expect;
use tile_ir::kernel::print_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::support;

/// A kernel around `body`.
fn kernel(body: &str) -> String {
    kernel_from("", body)
}

/// A kernel that begins with `first`, around `body`.
fn kernel_from(first: &str, body: &str) -> String {
    format!(
        "fn f(n: i32, #[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),\n{{ {first} let i = bx * TN + tx;\n{body}\n}}"
    )
}

/// All findings of the checks.
#[track_caller]
fn findings(body: &str) -> String {
    support::check_families(&kernel(body), &["TK"])
}

#[track_caller]
fn accept(body: &str) {
    assert_eq!(findings(body), "", "{body}");
}

#[track_caller]
fn refuse(body: &str, word: &str) {
    let found = findings(body);
    assert_eq!(found.matches("error[TK0401]").count(), 1, "{body}\n{found}");
    assert!(found.contains(&format!("this `{word}`")), "{body}\n{found}");
}

/// The errors of names and types.
#[track_caller]
fn resolve_errors(body: &str) -> String {
    let item = support::parse(&kernel(body));
    match resolve_kernel(&item) {
        Ok(kernel) => panic!("accepted:\n{}", print_kernel(&kernel)),
        Err(diags) => support::render_all(&diags, &item.spans),
    }
}

#[test]
fn what_follows_a_return_moves_into_the_other_arm() {
    let of = |body: &str| print_kernel(&support::resolve(&kernel(body)));
    assert_eq!(
        of("if i >= N { return; } let y = x[i]; c[i] = y;"),
        of("if i >= N { } else { let y = x[i]; c[i] = y; }"),
    );
    assert_eq!(
        of("if i < N { c[i] = 1.0; } else { return; } c[i] += 2.0;"),
        of("if i < N { c[i] = 1.0; c[i] += 2.0; } else { }"),
    );
    assert_eq!(
        of("if i >= N { if n > 0 { return; } else { c[i] = 1.0; return; } } c[i] = 2.0;"),
        of("if i >= N { if n > 0 { } else { c[i] = 1.0; } } else { c[i] = 2.0; }"),
    );
}

#[test]
fn elsewhere_a_variable_remembers() {
    let of = |body: &str| print_kernel(&support::resolve(&kernel(body)));
    let returning = |body: &str| {
        print_kernel(&support::resolve(&kernel_from("let mut returned = false;", body)))
    };
    assert_eq!(
        of("if i < 5 { if n > 0 { return; } c[i] = 1.0; } c[i] = 2.0;"),
        returning(
            "if i < 5 { if n > 0 { returned = true; } else { c[i] = 1.0; } } if !returned { c[i] = 2.0; }"
        ),
    );
    assert_eq!(
        of("for k in 0..8 { if k == n { break; } c[i] += 1.0; }"),
        of(
            "let mut stopped = false; for k in 0..8 { if !stopped { if k == n { stopped = true; } else { c[i] += 1.0; } } }"
        ),
    );
    assert_eq!(
        of(
            "let mut k = 0; while k < 8 { k += 1; if k == n { continue; } if k > n { break; } c[i] += 1.0; }"
        ),
        of(
            "let mut k = 0; let mut stopped = false; while !stopped && k < 8 { k += 1; if k == n { } else { if k > n { stopped = true; } else { c[i] += 1.0; } } }"
        ),
    );
    assert_eq!(
        of("for k in 0..8 { for m in 0..k { if m == n { return; } } c[i] += 1.0; } c[i] += 2.0;"),
        returning(
            "for k in 0..8 { if !returned { for m in 0..k { if !returned { if m == n { returned = true; } } } if !returned { c[i] += 1.0; } } } if !returned { c[i] += 2.0; }"
        ),
    );
}

#[test]
fn what_follows_is_guarded() {
    accept("if i >= N { return; } c[i] = x[i];");
    // Element 0 is written by the one work-item that goes on.
    accept("if i != 0 { return; } c[0] = x[0];");
    let found = findings("if i > 1 { return; } c[0] = x[0];");
    assert!(found.contains("TK03"), "{found}");
}

#[test]
fn barriers_after_a_return() {
    let around = |middle: &str| {
        format!("shared s: [f32; TN]; s[tx] = x[i];\n{middle}\nbarrier; c[i] = s[TN - 1 - tx];")
    };
    accept(&around(""));
    accept(&around("if n > 5 { return; }"));
    refuse(&around("if tx > 5 { return; }"), "return");
    refuse(&around("if n > 5 { if tx > 5 { return; } }"), "return");
    accept(
        "shared s: [f32; TN]; s[tx] = x[i]; barrier; if i >= N { return; } c[i] = s[TN - 1 - tx];",
    );
    expect![[r#"
        error[TK0401]: not every work-item of the block reaches this `barrier;`
          at 7:1
          at 5:1: a work-item that takes this `return` does not reach it
          at 4:4: `tx > 5` differs between work-items: it depends on `tx`
          note: with TN = 8, `tx > 5` is false for work-item tx = 0 and true for work-item tx = 6
          help: let all work-items reach the `barrier;`: put the work that differs under an `if` in place of the `return`
    "#]].assert_eq(&findings(&around("if tx > 5 {\nreturn;\n}")));
}

#[test]
fn barriers_in_a_loop_with_a_break() {
    let around = |exit: &str| {
        format!(
            "shared s: [f32; TN]; let mut y: f32 = 0;\nfor k in 0..8 {{ s[tx] = x[i] + y; barrier; y += s[TN - 1 - tx]; {exit}\nbarrier; }}\nc[i] = y;"
        )
    };
    // The block leaves together, wherever that is between the barriers.
    accept(&around("if k == n { break; }"));
    accept(&around("if x[bx] > 4.0 { break; }"));
    accept(&around("barrier; if k == n { break; }").replace("\nbarrier;", ""));
    accept(&around("").replace("s[tx] =", "if k == n { break; } s[tx] ="));
    refuse(&around("if y > 4.0 { break; }"), "break");
    refuse(&around("if tx == k { continue; }"), "continue");
    accept(
        "let mut y: f32 = 0; for k in 0..8 { if y > 4.0 { break; } if tx == k { continue; } y += 1.0; } c[i] = y;",
    );
}

/// A tile that is written at the start of an iteration, read after a barrier, and
/// with `exit` before the barrier that ends the iteration.
fn between_barriers(exit: &str, after: &str) -> String {
    findings(&format!(
        "shared s: [f32; TN]; let mut y: f32 = 0;\nfor k in 0..8 {{ s[tx] = x[i] + y; barrier; y += s[TN - 1 - tx]; {exit} barrier; }}\n{after} c[i] = y;"
    ))
}

#[test]
fn who_leaves_a_loop_meets_what_follows_it() {
    // Past the loop's last barrier, but not past its reads.
    let overwritten = "s[tx] = y; barrier; y += s[(tx + 1) % TN];";
    assert_eq!(between_barriers("", overwritten), "");
    let found = between_barriers("if k == n { break; }", overwritten);
    assert!(found.contains("TK0301") || found.contains("TK0304"), "{found}");
    assert_eq!(between_barriers("if k == n { break; }", &format!("barrier; {overwritten}")), "");
    assert_eq!(between_barriers("if k == n { barrier; break; }", overwritten), "");
    // Nothing follows a return.
    assert_eq!(between_barriers("if k == n { c[i] = 0; return; }", overwritten), "");
    // The next iteration follows a `continue`.
    let found = between_barriers("if k == n { continue; }", "");
    assert!(found.contains("TK0301") || found.contains("TK0304"), "{found}");
    assert_eq!(between_barriers("if k == n { barrier; continue; }", ""), "");
}

#[test]
fn leaving_two_loops() {
    let nested = |exit: &str, inner: &str, outer: &str| {
        findings(&format!(
            "shared s: [f32; TN]; let mut y: f32 = 0;\nfor k in 0..8 {{ for m in 0..4 {{ s[tx] = x[i] + y; barrier; y += s[TN - 1 - tx]; {exit} {inner} }} {outer} }}\nc[i] = y;"
        ))
    };
    assert_eq!(nested("if m == n { break; }", "barrier;", "barrier;"), "");
    assert_eq!(nested("if k == n { return; }", "barrier;", ""), "");
    // The inner loop begins again.
    let found = nested("if m == n { break; }", "barrier;", "");
    assert!(found.contains("TK0301") || found.contains("TK0304"), "{found}");
}

#[test]
fn work_items_that_leave_one_by_one() {
    // Work-item 0 stops at once; the others read what it wrote.
    let found = findings(
        "shared s: [f32; TN]; s[tx] = x[i]; barrier; let mut y: f32 = 0; for k in 0..2 { if tx == 0 { s[0] = 1.0; break; } if k == 1 { y += s[0]; } } c[i] = y;",
    );
    assert!(found.contains("TK0301"), "{found}");
    accept(
        "shared s: [f32; TN]; s[tx] = x[i]; let mut y: f32 = 0; for k in 0..8 { if s[tx] > 4.0 { break; } s[tx] += 1.0; if k == tx { break; } } c[i] = s[tx] + y;",
    );
}

#[test]
fn jumps_that_lead_nowhere() {
    expect![[r#"
        error[TK0001]: `break` stands in no loop
          at 3:1
        error[TK0001]: nothing reaches this statement
          at 3:8
          at 3:1: every work-item has left before it
          help: remove one of the two
    "#]]
    .assert_eq(&resolve_errors("break; c[i] = 1.0;"));
    expect![[r#"
        error[TK0001]: nothing reaches this statement
          at 4:1
          at 3:13: every work-item has left before it
          help: remove one of the two
    "#]]
    .assert_eq(&resolve_errors("c[i] = 1.0; return;\nc[i] = 2.0;"));
    expect![[r#"
        error[TK0001]: `return` cannot leave an `each`
          at 3:60
          at 3:34: its points run on different threads, in any order
          help: put what follows into an `if`
    "#]]
    .assert_eq(&resolve_errors(
        "c[i] = 1.0; shared s: [f32; TN]; each j in TN { if j > 2 { return; } s[j] = 1.0; }",
    ));
}
