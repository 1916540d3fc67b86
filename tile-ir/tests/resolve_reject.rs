//! Mistakes of names, types and headers: one finding each, in the user's words.

mod support;

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

/// Findings of a header.
#[track_caller]
fn header(params: &str, header: &str, expected: Expect) {
    check(&format!("fn f{params}\nwhere {header},\n{{ c[0] = 1.0; }}"), expected);
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
    "#]],
    );
    body(
        "c[tx] = alpha.clamp(0.0, 1.0);",
        expect![[r#"
        error[TK0103]: `clamp` is not available yet
          at 3:15
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
          help: positions and extents have type `index`
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
        "let y = 1.0; load s[i, j] = y; c[tx] = 1.0;",
        expect![[r#"
        error[TK0004]: `y` belongs to one work-item, which `load` cannot name
          at 3:29
          at 3:14: the whole block shares this `load` out among its threads
          at 3:5: `y` is declared here
          help: use the indices of the `load` itself, grid axes, loop counters, parameters and tiles
    "#]],
    );
    body(
        "let y = 1.0; each (i, j) in (TN, 4) { s[i, j] = y; } c[tx] = 1.0;",
        expect![[r#"
        error[TK0004]: `y` belongs to one work-item, which `each` cannot name
          at 3:49
          at 3:14: the whole block shares this `each` out among its threads
          at 3:5: `y` is declared here
          help: use the indices of the `each` itself, grid axes, loop counters, parameters and tiles
    "#]],
    );
    body(
        "each (i, j) in (TN, 4) { barrier; } c[tx] = 1.0;",
        expect![[r#"
        error[TK0401]: `barrier` concerns the whole block and cannot stand inside `each`
          at 3:26
          at 3:1: each point of this `each` runs on one thread
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
fn headers() {
    let c = "(c: &mut Tensor<f32, [N]>)";
    header(
        c,
        "tile: (T, T)",
        expect![[r#"
        error[TK0003]: `T` is declared twice
          at 2:17
          at 2:14: the first declaration is here
    "#]],
    );
    header(
        c,
        "tile: (N in [0, 4])",
        expect![[r#"
        error[TK0104]: a size is at least 1 and below 2^32, and this is 0
          at 2:20
    "#]],
    );
    header(
        c,
        "tile: (T in 64..=32)",
        expect![[r#"
        error[TK0104]: no size is admissible: 32 is less than 64
          at 2:24
    "#]],
    );
    header(
        c,
        "tile: (T in pow2(24..=64))",
        expect![[r#"
        error[TK0104]: 24 is not a power of two
          at 2:24
    "#]],
    );
    header(
        c,
        "tile: (T in 16..=N)",
        expect![[r#"
        error[TK0104]: admissible sizes are written in numbers
          at 2:24
    "#]],
    );
    header(
        c,
        "tile: (A = B, B)",
        expect![[r#"
        error[TK0104]: `A` is tied to `B`, which is declared after it
          at 2:18
          help: declare `B` first
    "#]],
    );
    header(
        c,
        "tile: (A = 0)",
        expect![[r#"
        error[TK0104]: a tile parameter is at least 1, and this is 0
          at 2:18
    "#]],
    );
    header(
        c,
        "tile: (A = N)",
        expect![[r#"
            error[TK0004]: `N` is a dimension, known only at launch; the size of a tile parameter can only be made of tile parameters and literals
              at 2:18
        "#]],
    );
    header(
        c,
        "tile: (A, A % Q == 0)",
        expect![[r#"
            error[TK0002]: `Q` is not declared here
              at 2:21
        "#]],
    );
    header(
        c,
        "tile: (A, A % 2)",
        expect![[r#"
        error[TK0102]: the condition is `bool`, and this is an `index`
          at 2:17
    "#]],
    );
    header(
        c,
        "grid: (bx in tiles(K, 4))",
        expect![[r#"
            error[TK0002]: `K` is not declared here
              at 2:26
        "#]],
    );
    header(
        c,
        "block: (tx in N)",
        expect![[r#"
        error[TK0004]: `N` is a dimension, known only at launch; the extents of the block can only be made of tile parameters and literals
          at 2:21
    "#]],
    );
    header(
        c,
        "tile: (T), grid: (bx in N), block: (bx in T)",
        expect![[r#"
        error[TK0003]: `bx` is declared twice
          at 2:43
          at 2:25: the first declaration is here
    "#]],
    );
    header(
        c,
        "tile: (T), grid: (c in N)",
        expect![[r#"
        error[TK0003]: `c` is declared twice
          at 2:25
          at 1:6: the first declaration is here
    "#]],
    );
    header(
        "(n: i32, c: &mut Tensor<f32, [n]>)",
        "grid: (bx in 4)",
        expect![[r#"
        error[TK0004]: `n` is a scalar parameter; the extents of a tensor can only be made of dimensions, tile parameters and literals
          at 1:35
    "#]],
    );
    header(
        "(c: &mut Tensor<f32, [2 * N]>)",
        "grid: (bx in 4)",
        expect![[r#"
        error[TK0104]: the dimension `N` stands plain in no parameter, so a launch cannot say what it is
          at 1:31
          help: name it alone in some tensor: `[N]`
    "#]],
    );
    header(
        "(c: &mut Tensor<f32, [N]>, c: i32)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0003]: `c` is declared twice
              at 1:32
              at 1:6: the first declaration is here
        "#]],
    );
    header(
        "<T: Number>(c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
        error[TK0104]: no parameter is of the type `T`, so a launch cannot say what it is
          at 1:6
          help: use it in a parameter: `&Tensor<T, [N]>`
    "#]],
    );
    header(
        "<T: Number, T: Float>(c: &mut Tensor<f32, [N]>, x: T)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0003]: the type parameter `T` is declared twice
              at 1:17
        "#]],
    );
    header(
        "(c: &mut Tensor<f32, [N]>, x: index)",
        "grid: (bx in 4)",
        expect![[r#"
        error[TK0102]: a parameter cannot be of type `index`, which has no size of its own
          at 1:35
          help: take `i32` or `i64`
    "#]],
    );
    header(
        "<T: Number>(c: &mut Tensor<f32, [N]>, x: Acc<T>, y: T)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0102]: a parameter cannot be of type `Acc<T>`, which is for sums inside a kernel
              at 1:46
              help: take `T`
        "#]],
    );
    header(
        "(#[pad = 1.5] a: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0102]: an element of `a` is `i32`, and this is a floating-point number
              at 1:14
        "#]],
    );
    header(
        "(#[pad = N] a: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0004]: `N` is a dimension, known only at launch; a pad value can only be made of literals and constants such as `T::MAX`
              at 1:14
        "#]],
    );
    header(
        "(#[edge(clamp)] a: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0103]: `#[edge(clamp)]` is not available yet
              at 1:13
              help: `#[pad = …]` gives reads outside the shape a value
        "#]],
    );
    header(
        "(a: &Tensor<f33, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
        error[TK0002]: there is no type `f33`
          at 1:17
          help: did you mean `f32`?
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
