//! Atomic updates: their types, what they race with, and whether the order of
//! work-items shows.

use expect_test::expect;
use tile_ir::check::{Verdict, check_kernel};
use tile_ir::diag::Diagnostics;
use tile_ir::kernel::print_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::support;

/// A kernel on vectors, one work-item per element, that shares `s`.
fn line(body: &str) -> String {
    format!(
        "fn f(ind: &Tensor<i32, [N]>, #[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<u32, [N]>, d: &mut Tensor<f32, [N]>, e: &mut Tensor<u32, [M]>, n1: &mut Tensor<u32, [1]>, n2: &mut Tensor<u32, [1]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{{ let i = bx * B + tx;
shared s: [u32; B]; shared n: [u32; 1];
{body}
}}"
    )
}

/// The codes of all findings that are errors, once each.
fn codes(text: &str) -> Vec<String> {
    let found = support::check_families(text, &["TK"]);
    let errors = found.lines().filter_map(|line| line.strip_prefix("error["));
    let mut codes: Vec<String> = errors.map(|line| line[..6].to_owned()).collect();
    codes.dedup();
    codes
}

#[track_caller]
fn accept(body: &str) {
    let text = line(body);
    let found = codes(&text);
    assert!(found.is_empty(), "{text}\n{}", support::check_families(&text, &["TK"]));
}

#[track_caller]
fn reject(body: &str, code: &str) {
    let text = line(body);
    assert_eq!(codes(&text), [code], "{text}\n{}", support::check_families(&text, &["TK"]));
}

#[test]
fn atomic_updates_do_not_race_with_each_other() {
    accept("atomic c[0] += 1;");
    accept("atomic c[tx] += 1;");
    accept("atomic c[0] += 1; atomic c[0].max(tx as u32);");
    accept("if i < N { atomic c[ind[i]] += 1; }");
    accept("each k in B { atomic c[k] |= 1; }");
    accept("load s[k] = 0; barrier; atomic s[0] += 1; barrier; c[i] = s[tx];");
    accept("load s[k] = 0; barrier; if i < N { atomic s[ind[i]] += 1; } barrier; c[i] = s[tx];");
    accept("for k in 0..4 { atomic c[k] += 1; }");
}

#[test]
fn atomic_updates_race_with_plain_accesses() {
    reject("atomic c[0] += 1; c[i] = 0;", "TK0303");
    reject("atomic c[0] += 1; d[i] = c[0] as f32;", "TK0303");
    reject("load s[k] = 0; atomic s[0] += 1; barrier; c[i] = s[tx];", "TK0301");
    reject("load s[k] = 0; barrier; atomic s[0] += 1; c[i] = s[tx];", "TK0301");
    reject("load s[k] = 0; barrier; atomic s[0] += 1; s[tx] = 2; barrier; c[i] = s[tx];", "TK0301");
    reject("load s[k] = 0; barrier; if i < N { atomic s[ind[i]] += 1; } c[i] = s[tx];", "TK0301");
}

#[test]
fn a_value_from_outside_must_not_reach_an_element() {
    // The pad of `ind` would be counted.
    reject("atomic c[ind[i]] += 1;", "TK0202");
    accept("atomic d[0] += x[i];");
    let text = "fn f(x: &Tensor<f32, [N]>, d: &mut Tensor<f32, [1]>)
where tile: (B), grid: (bx in tiles(N, B)), block: (tx in B),
{ atomic d[0].max(x[bx * B + tx]); }";
    assert_eq!(codes(text), ["TK0202"]);
    assert!(codes(&text.replace(".max(x[bx * B + tx])", " += x[bx * B + tx]")).is_empty());
}

#[test]
fn tiles_must_be_written_before() {
    reject("atomic s[tx] += 1; barrier; c[i] = s[tx];", "TK0501");
}

#[test]
fn every_size_is_proved() {
    let order = |body: &str| {
        let checked = check_kernel(support::resolve(&line(body))).expect("no error").kernel;
        assert_eq!(checked.verdict(), Verdict::AllSizes, "{body}");
        checked.is_order_independent()
    };
    assert!(order("atomic c[0] += 1;"));
    assert!(order("atomic c[0].min(3); d[i] = 1;"));
    assert!(!order("atomic d[0] += 1;"));
    assert!(!order("each k in B { atomic d[k].max(1); }"));
}

/// The errors of resolving `text`.
fn unresolved(text: &str) -> String {
    let item = support::parse(text);
    let found: Diagnostics = resolve_kernel(&item).expect_err("a mistake");
    support::render_all(&found, &item.spans)
}

#[test]
fn types() {
    for ty in ["i32", "u32", "i64", "u64", "f32", "f64"] {
        let text = format!(
            "fn f(c: &mut Tensor<{ty}, [1]>) where tile: (B = 4), grid: (bx in 1), {{ atomic c[0] += 1; }}"
        );
        assert!(codes(&text).is_empty(), "{ty}");
    }
    let of = |header: &str, stmt: &str| {
        unresolved(&format!("fn f{header} where tile: (B = 4), grid: (bx in 1), {{ {stmt} }}"))
    };
    for ty in ["bool", "u8", "i16", "f16", "bf16"] {
        let found = of(&format!("(c: &mut Tensor<{ty}, [1]>)"), "atomic c[0].max(c[0]);");
        assert!(found.contains("has no `atomic max`"), "{found}");
    }
    expect![[r#"
        error[TK0103]: `f32` has no `atomic |=`
          at 1:72
          help: the types that have it are `i32`, `u32`, `i64`, `u64`
    "#]]
    .assert_eq(&of("(c: &mut Tensor<f32, [1]>)", "atomic c[0] |= c[0];"));
    expect![[r#"
        error[TK0103]: `T` with `T: Number` need not have `atomic +=`
          at 1:81
          help: the types that have it are `f32`, `f64`, `i32`, `u32`, `i64`, `u64`
    "#]]
    .assert_eq(&of("<T: Number>(c: &mut Tensor<T, [1]>)", "atomic c[0] += 1;"));
    expect![[r#"
        error[TK0105]: `c` is read-only and cannot be written
          at 1:75
          at 1:6: `c` is declared here
          help: declare it as `c: &mut Tensor<…>`
    "#]]
    .assert_eq(&of("(c: &Tensor<f32, [1]>)", "atomic c[0] += 1;"));
}

#[test]
fn printed_as_written() {
    let text = line(
        "atomic c[0] += 1; atomic c[i] ^= 2; atomic d[i].max(x[i] + 1);
        let p = atomic c[0] += 1; let mut q: u32 = atomic c[1].compare_exchange(p, 2);
        atomic d[0].swap(0.5);",
    );
    let printed = print_kernel(&support::resolve(&text));
    for stmt in [
        "    atomic c[0] += 1;",
        "    atomic c[i] ^= 2;",
        "    atomic d[i].max(x[i] + 1",
        "    let p: u32 = atomic c[0] += 1;",
        "    let mut q: u32 = atomic c[1].compare_exchange(p, 2);",
        "    atomic d[0].swap(0.5);",
    ] {
        assert!(printed.contains(stmt), "{printed}");
    }
}

#[test]
fn a_slot_of_a_counter_is_one_work_items() {
    accept("let s = atomic n1[0] += 1; e[s] = 1;");
    accept("if i < N && ind[i] > 3 { let s = atomic n1[0] += 1; e[s] = ind[i] as u32; }");
    accept("let s = atomic n1[0] += 2; e[s] = 1; e[s + 1] = 2;");
    accept("let first = atomic n1[0] += 1; if first == 0 { e[0] = 5; }");
    accept("each k in B { let s = atomic n1[0] += 1; e[s] = k as u32; }");
    accept("for k in 0..3 { let s = atomic n1[0] += 1; e[s] = 1; }");
    let set = "s[tx] = 0; if tx == 0 { n[0] = 0; } barrier;";
    accept(&format!("{set} let p = atomic n[0] += 1; s[p] = 5; barrier; c[i] = s[tx];"));
    accept(&format!(
        "phase q in 0..2 {{ {set} let p = atomic n[0] += 1; s[p] = 5; barrier; c[i] = s[tx]; barrier; }}"
    ));
}

#[test]
fn other_old_values_are_not() {
    reject("let s = atomic n1[0].swap(1); e[s] = 1;", "TK0303");
    reject("let s = atomic n1[0] += 0; e[s] = 1;", "TK0303");
    reject("let s = atomic n1[0].max(tx as u32); e[s] = 1;", "TK0303");
    reject("if in_bounds(c[tx]) { let s = atomic c[tx] += 1; e[s] = 1; }", "TK0302");
    reject("let s = atomic n1[0] += 1; atomic n1[0] -= 1; e[s] = 1;", "TK0303");
    reject("let s = atomic n1[0] += 1; e[s] = 1; e[s + 1] = 1;", "TK0303");
    reject("let s = atomic n1[0] += 1; let t = atomic n2[0] += 1; e[s] = 1; e[t] = 2;", "TK0304");
    let set = "if tx == 0 { n[0] = 0; } barrier;";
    reject(&format!("{set} let p = atomic n[0] += 1; e[p] = 5;"), "TK0303");
    // Every one of a block may be first.
    reject(&format!("{set} let p = atomic n[0] += 1; if p == 0 {{ e[0] = 5; }}"), "TK0303");
}

#[test]
fn old_values_differ_between_work_items() {
    let set = "load s[k] = 0; barrier;";
    reject(
        &format!("{set} let p = atomic s[0] += 1; if p == 0 {{ barrier; }} c[i] = 1;"),
        "TK0401",
    );
    reject(
        &format!("{set} let p = atomic s[0] += 1; for k in 0..p {{ barrier; }} c[i] = 1;"),
        "TK0401",
    );
}

#[test]
fn an_old_value_outside_is_the_pad() {
    reject("let p = atomic c[i] += 1; atomic d[0].max(p as f32);", "TK0202");
    accept("if in_bounds(c[i + 1]) { let p = atomic c[i + 1] += 1; e[i] = p; }");
}

#[test]
fn old_values_and_exchanges_depend_on_order() {
    let order = |body: &str| {
        let checked = check_kernel(support::resolve(&line(body))).expect("no error").kernel;
        checked.is_order_independent()
    };
    assert!(!order("let s = atomic n1[0] += 1; e[s] = 1;"));
    assert!(!order("atomic n1[0].swap(3);"));
    assert!(!order("atomic n1[0].compare_exchange(3, 4);"));
}

#[test]
fn types_of_old_values() {
    let of = |stmt: &str| {
        unresolved(&format!(
            "fn f(c: &mut Tensor<u32, [1]>) where tile: (B = 4), grid: (bx in 1), {{ {stmt} }}"
        ))
    };
    expect![[r#"
        error[TK0102]: `x` is `f32`, and the element is `u32`
          at 1:79
    "#]]
    .assert_eq(&of("let x: f32 = atomic c[0] += 1;"));
    expect![[r#"
        error[TK0102]: `c` is `u32`, and this is a floating-point number
          at 1:101
    "#]]
    .assert_eq(&of("atomic c[0].compare_exchange(1.5, 2);"));
    expect![[r#"
        error[TK0105]: `x` is not `mut` and cannot be assigned again
          at 1:98
          at 1:76: `x` is declared here
          help: declare it as `let mut x`
    "#]]
    .assert_eq(&of("let x = atomic c[0] += 1; x = 2;"));
}
