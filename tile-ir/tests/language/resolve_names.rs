//! Mistakes of names, ranks and assignments: one finding each, in the user's words.

use crate::support;
use expect_test::{Expect, expect};
use tile_ir::resolve::resolve_kernel;

/// Findings of a whole kernel.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let item = support::parse(text);
    let diags = match resolve_kernel(&item) {
        Ok(_) => panic!("accepted"),
        Err(diags) => diags,
    };
    expected.assert_eq(&support::render_all(&diags, &item.spans));
}

/// Findings of a body among some parameters, a grid and a block.
#[track_caller]
fn body(body: &str, expected: Expect) {
    let head = "fn f<T: Number, E: Element, I: Integer>(n: i32, alpha: f32, a: &Tensor<T, [N, M]>, e: &Tensor<E, [N]>, ind: &Tensor<I, [N]>, x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),";
    check(&format!("{head}\n{{ shared s: [f32; TN, 4];\n{body}\n}}"), expected);
}

#[test]
fn unknown_names() {
    body(
        "c[tx] = alhpa;",
        expect![[r#"
        error[TK0002]: `alhpa` is not declared here
          at 3:9
          help: did you mean `alpha`?
    "#]],
    );
    body(
        "c[tx] = qqq;",
        expect![[r#"
        error[TK0002]: `qqq` is not declared here
          at 3:9
    "#]],
    );
    body(
        "c[tx] = xx[tx];",
        expect![[r#"
        error[TK0002]: `xx` is not declared here
          at 3:9
          help: did you mean `tx`?
    "#]],
    );
    body(
        "c[tx] = mni(alpha, 1.0);",
        expect![[r#"
        error[TK0002]: there is no function `mni`
          at 3:9
          help: did you mean `min`?
    "#]],
    );
    body(
        "c[tx] = alpha.foo();",
        expect![[r#"
            error[TK0002]: there is no function `foo`
              at 3:15
              help: functions of your own stand beside the kernel: `fn foo<T: Float>(x: T) -> T { … }`
        "#]],
    );
    body(
        "c[tx] = alpha.clamped(0.0, 1.0);",
        expect![[r#"
            error[TK0002]: there is no function `clamped`
              at 3:15
              help: did you mean `clamp`?
        "#]],
    );
    body(
        "c[tx] = f32::INFINTY;",
        expect![[r#"
        error[TK0002]: `f32` has no constant `INFINTY`
          at 3:14
          help: did you mean `INFINITY`?
    "#]],
    );
    body(
        "c[tx] = U::MAX;",
        expect![[r#"
            error[TK0002]: there is no type `U`
              at 3:9
              help: the types are `bool`, `f16`, `bf16`, `f32`, `f64`, `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64` and `index`
        "#]],
    );
    body(
        "let y: f23 = 1.0; c[tx] = y;",
        expect![[r#"
        error[TK0002]: there is no type `f23`
          at 3:8
          help: did you mean `f32`?
    "#]],
    );
    body(
        "let y: usize = 1; c[y] = 1.0;",
        expect![[r#"
            error[TK0002]: there is no type `usize`
              at 3:8
              help: positions and extents have type `index`; a parameter is an `i32` or an `i64`
        "#]],
    );
    body(
        "{ let y = 1.0; } c[tx] = y;",
        expect![[r#"
            error[TK0002]: `y` is not declared here
              at 3:26
        "#]],
    );
    body(
        "let y = y; c[tx] = 1.0;",
        expect![[r#"
            error[TK0002]: `y` is not declared here
              at 3:9
        "#]],
    );
    body(
        "y = 3; c[tx] = 1.0;",
        expect![[r#"
            error[TK0002]: `y` is not declared here
              at 3:1
        "#]],
    );
}

#[test]
fn misused_names() {
    body(
        "c[tx] = x;",
        expect![[r#"
        error[TK0004]: `x` is a tensor, which has no value of its own
          at 3:9
          help: name an element: `x[i]`
    "#]],
    );
    body(
        "c[tx] = s + 1.0;",
        expect![[r#"
        error[TK0004]: `s` is a tile, which has no value of its own
          at 3:9
          help: name an element: `s[i, j]`
    "#]],
    );
    body(
        "c = 1.0;",
        expect![[r#"
        error[TK0004]: `c` is a tensor, which has no value of its own
          at 3:1
          help: name an element: `c[i]`
    "#]],
    );
    body(
        "c[tx] = alpha[tx];",
        expect![[r#"
        error[TK0004]: `alpha` is a scalar parameter and has no elements
          at 3:9
    "#]],
    );
    body(
        "load x[i] = 1.0; c[tx] = 1.0;",
        expect![[r#"
        error[TK0004]: `x` is a tensor; `load` fills a shared tile
          at 3:6
          help: write a tensor with an assignment, or in `each`
    "#]],
    );
    body(
        "c[tx] = if in_bounds(s[tx, 0]) { 1.0 } else { 0.0 };",
        expect![[r#"
        error[TK0004]: `s` is a tile; `in_bounds` asks about tensors
          at 3:22
          note: an index that leaves a tile is an error, so there is nothing to ask
    "#]],
    );
    body(
        "c[tx] = if in_bounds(tx) { 1.0 } else { 0.0 };",
        expect![[r#"
        error[TK0004]: `in_bounds` asks about an element of a tensor: `in_bounds(a[i, j])`
          at 3:22
    "#]],
    );
    body(
        "c[halving(tx)] = 1.0;",
        expect![[r#"
        error[TK0004]: `halving(…)` is a sequence of loop counters, not a value
          at 3:3
          help: write it in a loop: `for s in halving(n)`
    "#]],
    );
}

#[test]
fn work_item_values_in_collective_statements() {
    body(
        "load s[i, j] = x[tx + i]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0004]: `tx` is an axis of the block, which `load` cannot name
          at 3:18
          at 3:1: the whole block shares this `load` out among its threads
          at 1:228: `tx` is declared here
          help: use the indices of the `load` itself, grid axes, loop counters, parameters and tiles
    "#]],
    );
    body(
        "each (i, j) in (TN, 4) { barrier; } c[tx] = 1.0;",
        expect![[r#"
            error[TK0401]: `barrier` concerns the whole block and cannot stand inside `each`
              at 3:26
              note: each point of the `each` around it runs on one thread
        "#]],
    );
    body(
        "each (i, i) in (TN, 4) { s[i, 0] = 1.0; } c[tx] = 1.0;",
        expect![[r#"
        error[TK0003]: `i` names two indices of one `each`
          at 3:10
    "#]],
    );
    body(
        "each i in M { s[i, 0] = 1.0; } c[tx] = 1.0;",
        expect![[r#"
        error[TK0004]: `M` is a dimension, known only at launch; the extents of `each` can only be made of tile parameters and literals
          at 3:11
    "#]],
    );
    body(
        "load s[i] = 1.0; c[tx] = 1.0;",
        expect![[r#"
        error[TK0101]: `s` has 2 axes, and 1 index is given
          at 3:6
          at 2:10: `s` is declared here
    "#]],
    );
    check(
        "fn f(c: &mut Tensor<f32, [N]>) where tile: (T),
        { let mut sum = 0.0; each i in T { sum += 1.0; c[i] = sum; } }",
        expect![[r#"
            error[TK0105]: `sum` is one value for the whole block; inside `each` it can only be read
              at 2:44
              at 2:19: `sum` is declared here
              help: write to a tile or a tensor
        "#]],
    );
}

#[test]
fn ranks() {
    body(
        "c[tx, 0] = 1.0;",
        expect![[r#"
        error[TK0101]: `c` has 1 axis, and 2 indices are given
          at 3:1
          at 1:148: `c` is declared here
    "#]],
    );
    body(
        "c[tx] = s[tx];",
        expect![[r#"
        error[TK0101]: `s` has 2 axes, and 1 index is given
          at 3:9
          at 2:10: `s` is declared here
    "#]],
    );
    body(
        "c[tx] = if in_bounds(a[tx]) { 1.0 } else { 0.0 };",
        expect![[r#"
        error[TK0101]: `a` has 2 axes, and 1 index is given
          at 3:22
          at 1:61: `a` is declared here
    "#]],
    );
    body(
        "shared deep: [f32; 1, 2, 3, 4, 5, 6, 7]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0101]: `deep` has 7 axes; 1 to 6 are possible
          at 3:8
    "#]],
    );
}

#[test]
fn assignments() {
    body(
        "x[tx] = 1.0; c[tx] = 1.0;",
        expect![[r#"
        error[TK0105]: `x` is read-only and cannot be written
          at 3:1
          at 1:126: `x` is declared here
          help: declare it as `x: &mut Tensor<…>`
    "#]],
    );
    body(
        "let y = 1.0; y = 2.0; c[tx] = y;",
        expect![[r#"
        error[TK0105]: `y` is not `mut` and cannot be assigned again
          at 3:14
          at 3:5: `y` is declared here
          help: declare it as `let mut y`
    "#]],
    );
    body(
        "let y = 1.0; y += 2.0; c[tx] = y;",
        expect![[r#"
        error[TK0105]: `y` is not `mut` and cannot be assigned again
          at 3:14
          at 3:5: `y` is declared here
          help: declare it as `let mut y`
    "#]],
    );
    body(
        "for k in 0..4 { k = 3; } c[tx] = 1.0;",
        expect![[r#"
        error[TK0105]: `k` is a loop counter and cannot be assigned
          at 3:17
    "#]],
    );
    body(
        "tx += 1; c[tx] = 1.0;",
        expect![[r#"
        error[TK0105]: `tx` is an axis of the block and cannot be assigned
          at 3:1
    "#]],
    );
    body(
        "n = 2; c[tx] = 1.0;",
        expect![[r#"
        error[TK0105]: `n` is a scalar parameter and cannot be assigned
          at 3:1
    "#]],
    );
    body(
        "TN = 2; c[tx] = 1.0;",
        expect![[r#"
        error[TK0105]: `TN` is a tile parameter and cannot be assigned
          at 3:1
    "#]],
    );
}

#[test]
fn kernels_without_a_result() {
    check(
        "fn f(a: &Tensor<f32, [N]>) where grid: (bx in N), { let x = a[bx]; }",
        expect![[r#"
        error[TK0107]: `f` writes no tensor, so it has no result
          at 1:4
          help: declare its output as `&mut Tensor<…>` and write it
    "#]],
    );
    check(
        "fn f(a: &mut Tensor<f32, [N]>) where grid: (bx in N), { let x = a[bx]; }",
        expect![[r#"
            error[TK0107]: `f` writes no tensor, so it has no result
              at 1:4
              at 1:6: `a` could be written
        "#]],
    );
}

#[test]
fn one_mistake_gives_one_finding() {
    body(
        "let y = unknown + 1.0;
        let z = y * n;
        shared t: [f33; TN];
        load t[i] = x[i] + tx;
        c[tx] = t[tx] + z + s[tx, 0].sqrt();
        c[z] = if y { y } else { z };",
        expect![[r#"
            error[TK0002]: `unknown` is not declared here
              at 3:9
            error[TK0002]: there is no type `f33`
              at 5:20
              help: did you mean `f32`?
            error[TK0004]: `tx` is an axis of the block, which `load` cannot name
              at 6:28
              at 6:9: the whole block shares this `load` out among its threads
              at 1:228: `tx` is declared here
              help: use the indices of the `load` itself, grid axes, loop counters, parameters and tiles
        "#]],
    );
}

#[test]
fn words_of_other_languages() {
    for (faulty, help) in [
        ("c[tx] = x[tx].relu();", "write `max(x, 0)`"),
        ("c[tx] = x.iter().sum();", "there are no iterators: `for k in 0..N { sum += a[k]; }`"),
        (
            "c[tx] = select(n > 0, 1.0, 2.0);",
            "a value that a condition decides is `if c { a } else { b }`",
        ),
        ("c[tx] = n.wrapping_add(1) as f32;", "write `a + b`: integers wrap"),
        ("c[tx] = fabsf(x[tx]);", "write `abs(x)`"),
        ("c[tx] = __cosf(x[tx]);", "write `cos(x)`"),
        ("let y: double = 1.0; c[tx] = 1.0;", "it is `f64`"),
        ("let y: i128 = 1; c[tx] = 1.0;", "the widest integers are `i64` and `u64`"),
        (
            "c[tx] = ind[tx].rotate_left(2) as f32;",
            "it is of a known integer type: convert with `as` first, `(x as u32)`",
        ),
        (
            "c[tx] = x[tx].abs_diff(1.0);",
            "it is of a known integer type: convert with `as` first, `(x as u32)`",
        ),
        ("c[tx] = 1e39;", "its largest is `f32::MAX`, and beyond is `f32::INFINITY`"),
        (
            "let y: f16 = 65520.0; c[tx] = 1.0;",
            "its largest is `f16::MAX`, and beyond is `f16::INFINITY`",
        ),
    ] {
        let head = "fn f<I: Integer>(n: i32, ind: &Tensor<I, [N]>, x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>) where block: (tx in 32),";
        let item = support::parse(&format!("{head} {{ {faulty} }}"));
        let diags = resolve_kernel(&item).expect_err(faulty);
        let helps: Vec<_> = diags.iter().filter_map(|found| found.help.as_deref()).collect();
        assert_eq!(helps, [help], "{faulty}");
    }
}
