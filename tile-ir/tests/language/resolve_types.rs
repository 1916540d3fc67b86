//! Mistakes of types: one finding each, in the user's words.

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
fn mismatched_types() {
    body(
        "c[tx] = a[tx, 0];",
        expect![[r#"
        error[TK0102]: `c` is `f32`, and this is `T`
          at 3:9
          help: convert it: `a[tx, 0] as f32`
    "#]],
    );
    body(
        "c[tx] = x[tx] * tx;",
        expect![[r#"
        error[TK0102]: `*` needs two values of one type; these are `f32` and an `index`
          at 3:9
          at 3:9: this is `f32`
          at 3:17: this is an `index`
          help: convert it: `tx as f32`
    "#]],
    );
    body(
        "c[tx] = x[tx] * n;",
        expect![[r#"
        error[TK0102]: `*` needs two values of one type; these are `f32` and `i32`
          at 3:9
          at 3:9: this is `f32`
          at 3:17: this is `i32`
          help: convert it: `n as f32`
    "#]],
    );
    body(
        "let i = bx * TN + n; c[i] = 1.0;",
        expect![[r#"
            error[TK0102]: `+` needs two values of one type; these are an `index` and `i32`
              at 3:9
              at 3:9: this is an `index`
              at 3:19: this is `i32`
              help: convert it: `n as index`
        "#]],
    );
    body(
        "c[tx] = 1.0 + true;",
        expect![[r#"
            error[TK0102]: `+` needs two values of one type; these are a floating-point number and `bool`
              at 3:9
              at 3:9: this is a floating-point number
              at 3:15: this is `bool`
              help: a number that it decides is `if true { 1 } else { 0 }`
        "#]],
    );
    body(
        "if alpha { c[tx] = 1.0; }",
        expect![[r#"
        error[TK0102]: the condition is `bool`, and this is `f32`
          at 3:4
    "#]],
    );
    body(
        "c[tx] = if alpha > 0.0 && n { 1.0 } else { 0.0 };",
        expect![[r#"
        error[TK0102]: an operand of `&&` is `bool`, and this is `i32`
          at 3:27
    "#]],
    );
    body(
        "c[tx] = if tx < 3 { 1.0 } else { n };",
        expect![[r#"
            error[TK0102]: `if` needs two values of one type; these are a floating-point number and `i32`
              at 3:9
              at 3:21: this is a floating-point number
              at 3:34: this is `i32`
              help: convert it: `n as f32`
        "#]],
    );
    body(
        "let y: i32 = 1.5; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: `y` is `i32`, and this is a floating-point number
          at 3:14
    "#]],
    );
    body(
        "c[x[tx]] = 1.0;",
        expect![[r#"
        error[TK0102]: an index is needed here, and `x[tx]` is `f32`
          at 3:3
          help: convert it: `x[tx] as index`
    "#]],
    );
    body(
        "c[tx < 3] = 1.0;",
        expect![[r#"
        error[TK0102]: an index is needed here, and `tx < 3` is `bool`
          at 3:3
    "#]],
    );
    body(
        "for k in 0..alpha { c[k] = 1.0; }",
        expect![[r#"
        error[TK0102]: an index is needed here, and `alpha` is `f32`
          at 3:13
          help: convert it: `alpha as index`
    "#]],
    );
    body(
        "let mut acc: Acc<T> = 0; acc = acc + a[tx, 0]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: `+` needs two values of one type; these are `Acc<T>` and `T`
          at 3:32
          at 3:32: this is `Acc<T>`
          at 3:38: this is `T`
          help: convert it: `a[tx, 0] as Acc<T>`
    "#]],
    );
    body(
        "let mut acc: Acc<T> = 0; acc += alpha; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: the accumulator is `Acc<T>`, and this is `f32`
          at 3:33
          help: convert it: `alpha as Acc<T>`
    "#]],
    );
    body(
        "let mut acc: Acc<T> = a[tx, 0]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: `acc` is `Acc<T>`, and this is `T`
          at 3:23
          help: convert it: `a[tx, 0] as Acc<T>`
    "#]],
    );
    body(
        "let y; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: nothing says which type `y` has
          at 3:5
          help: write the type: `let y: f32`
    "#]],
    );
    body(
        "let mut y: f32 = 1.0; let z = 1.0f64; y += z; c[tx] = y;",
        expect![[r#"
        error[TK0102]: `y` is `f32`, and this is `f64`
          at 3:44
          help: convert it: `z as f32`
    "#]],
    );
    body(
        "let y = 1.5i32; c[tx] = 1.0;",
        expect![[r#"
            error[TK0102]: a number with a point cannot be of type `i32`
              at 3:9
        "#]],
    );
    body(
        "let y: Acc<E> = 0; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `Acc<E>` needs numbers, and `E` may be `bool`
          at 3:12
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "let y: E = 0; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: `y` is `E`, and this is an integer
          at 3:12
          help: `E: Element` need not be able to hold it; bound it: `E: Number`
    "#]],
    );
    body(
        "let y: T = 0.5; c[tx] = 1.0;",
        expect![[r#"
        error[TK0102]: `y` is `T`, and this is a floating-point number
          at 3:12
          help: `T: Number` need not be able to hold it; bound it: `T: Float`
    "#]],
    );
}

#[test]
fn missing_operations() {
    body(
        "let y = e[tx] + e[tx]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `E: Element` need not have `+`
          at 3:9
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "c[tx] = if e[tx] < e[0] { 1.0 } else { 0.0 };",
        expect![[r#"
        error[TK0103]: `E: Element` need not have `<`
          at 3:12
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "let y = a[tx, 0].sqrt(); c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `T: Number` need not have `sqrt`
          at 3:18
          help: bound it: `T: Float`
    "#]],
    );
    body(
        "let y = a[tx, 0] & a[tx, 1]; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `T: Number` need not have `&`
          at 3:9
          help: bound it: `T: Integer`
    "#]],
    );
    body(
        "c[tx] = x[tx] << 2;",
        expect![[r#"
        error[TK0103]: `f32` has no `<<`
          at 3:9
    "#]],
    );
    body(
        "c[tx] = !x[tx];",
        expect![[r#"
        error[TK0103]: `f32` has no `!`
          at 3:9
    "#]],
    );
    body(
        "let y = sqrt(n); c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `i32` has no `sqrt`
          at 3:9
          help: convert to a floating-point type with `as` first
    "#]],
    );
    body(
        "let y = exp(tx); c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `index` has no `exp`
          at 3:9
          help: convert to a floating-point type with `as` first
    "#]],
    );
    body(
        "let y = tx & !7; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `index` has no `!`
          at 3:14
          help: an index has no last bit: give the integer a name before, `let low = t as u32 & !63;`, or write `t - t % 64`
    "#]],
    );
    body(
        "let y = -1u32.min(2); c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `u32` has no `-`
          at 3:9
    "#]],
    );
    body(
        "let y = true + false; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `bool` has no `+`
          at 3:9
    "#]],
    );
    body(
        "let y = n as bool; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `i32` cannot be converted to `bool`
          at 3:9
          help: compare: `n != 0`
    "#]],
    );
    body(
        "c[tx] = (tx < 3) as f32;",
        expect![[r#"
        error[TK0103]: `bool` cannot be converted to `f32`
          at 3:9
          help: choose: `if (tx < 3) { 1 } else { 0 }`
    "#]],
    );
    body(
        "c[tx] = e[tx] as f32;",
        expect![[r#"
        error[TK0103]: `E` cannot be converted to `f32`
          at 3:9
          note: `E: Element` may be `bool`
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "c[tx] = E::MAX as f32;",
        expect![[r#"
        error[TK0103]: `E: Element` need not have `MAX`
          at 3:12
          help: bound it: `E: Number`
    "#]],
    );
    body(
        "let y = T::INFINITY; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `T: Number` need not have `INFINITY`
          at 3:12
          help: bound it: `T: Float`
    "#]],
    );
    body(
        "let y = i32::NAN; c[tx] = 1.0;",
        expect![[r#"
        error[TK0103]: `i32` has no `NAN`
          at 3:14
    "#]],
    );
    body(
        "c[tx] = min(alpha);",
        expect![[r#"
        error[TK0103]: `min` takes 2 arguments, and 1 is given
          at 3:9
    "#]],
    );
}

#[test]
fn literals() {
    body(
        "let y = 300u8; c[tx] = 1.0;",
        expect![[r#"
        error[TK0106]: `u8` cannot hold 300
          at 3:9
          note: `u8` holds 0 to 255
    "#]],
    );
    body(
        "let y: i8 = -129; c[tx] = 1.0;",
        expect![[r#"
        error[TK0106]: `i8` cannot hold -129
          at 3:13
          note: `i8` holds -128 to 127
    "#]],
    );
    body(
        "let y: u32 = -1; c[tx] = 1.0;",
        expect![[r#"
        error[TK0106]: `u32` cannot hold -1
          at 3:14
          note: `u32` holds 0 to 4294967295
    "#]],
    );
    body(
        "let y: T = 1000; c[tx] = 1.0;",
        expect![[r#"
        error[TK0106]: `T: Number` may be `i8`, which cannot hold 1000
          at 3:12
    "#]],
    );
    body(
        "let y: T = -1; c[tx] = 1.0;",
        expect![[r#"
        error[TK0106]: `T: Number` may be `u8`, which cannot hold -1
          at 3:12
    "#]],
    );
    body(
        "c[99999999999999999999] = 1.0;",
        expect![[r#"
        error[TK0106]: an index cannot be 99999999999999999999: it has 64 bits
          at 3:3
    "#]],
    );
    body(
        "let y = 3q8; c[tx] = 1.0;",
        expect![[r#"
        error[TK0002]: `q8` is not a type that a literal can have
          at 3:9
    "#]],
    );
}

#[test]
fn counters_are_values_of_their_bounds_types_alone() {
    body(
        "for k in 0..N { c[k] = (n * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `i32` and an `index`
              at 3:24
              at 3:25: this is `i32`
              at 3:29: this is an `index`
              help: convert it: `n as index`
        "#]],
    );
    body(
        "for k in 0..n * n { c[k] = (n * k) as f32; }",
        expect![[r#"
        error[TK0102]: `*` needs two values of one type; these are `i32` and an `index`
          at 3:28
          at 3:29: this is `i32`
          at 3:33: this is an `index`
          help: convert it: `n as index`
    "#]],
    );
    body(
        "for k in 0..n as index { c[k] = (n * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `i32` and an `index`
              at 3:33
              at 3:34: this is `i32`
              at 3:38: this is an `index`
              help: convert it: `n as index`
        "#]],
    );
    body(
        "let u = n as u32; for k in 0..n { c[k] = (u * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `u32` and an `index`
              at 3:42
              at 3:43: this is `u32`
              at 3:47: this is an `index`
              help: convert it: `u as index`
        "#]],
    );
    body(
        "let u = n as u32; for k in -1..4 { c[tx] = (u * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `u32` and an `index`
              at 3:44
              at 3:45: this is `u32`
              at 3:49: this is an `index`
              help: convert it: `u as index`
        "#]],
    );
    body(
        "let u = n as u8; for k in 0..257 { c[k] = (u * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `u8` and an `index`
              at 3:43
              at 3:44: this is `u8`
              at 3:48: this is an `index`
              help: convert it: `u as index`
        "#]],
    );
    body(
        "for k in 0..n { c[k] = (n * (k + tx)) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `i32` and an `index`
              at 3:24
              at 3:25: this is `i32`
              at 3:29: this is an `index`
              help: convert it: `n as index`
        "#]],
    );
    body(
        "for k in n..n + n { c[k] = (n * k) as f32; }",
        expect![[r#"
            error[TK0102]: `*` needs two values of one type; these are `i32` and an `index`
              at 3:28
              at 3:29: this is `i32`
              at 3:33: this is an `index`
              help: convert it: `n as index`
        "#]],
    );
}

#[test]
fn old_values_are_of_the_elements_type() {
    body(
        "shared k: [u32; 1]; let mut at = 0.5; at = atomic k[0] += 1; c[tx] = at;",
        expect![[r#"
            error[TK0102]: `at` is a floating-point number, and this is `u32`
              at 3:39
        "#]],
    );
    body(
        "shared k: [u32; 1]; c[tx] = atomic k[0] += 1;",
        expect![[r#"
            error[TK0102]: `c` is `f32`, and this is `u32`
              at 3:21
              help: convert it: `old as f32`
        "#]],
    );
}
