//! Mistakes in headers: one finding each, in the user's words.

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

/// Findings of a header.
#[track_caller]
fn header(params: &str, header: &str, expected: Expect) {
    check(&format!("fn f{params}\nwhere {header},\n{{ c[0] = 1.0; }}"), expected);
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
              help: the extents of the grid are made of the extents of tensors, such as `N` of `Tensor<f32, [N]>`, and of tile parameters
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
        "(#[edge(mirror)] a: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0002]: there is no edge rule `mirror`
              at 1:13
              help: the rules are `clamp`, `wrap` and `reflect`; a value is `#[pad = …]`
        "#]],
    );
    header(
        "(#[pad = wrap] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)",
        "grid: (bx in 4)",
        expect![[r#"
            error[TK0002]: `wrap` is a rule for what lies outside, and no value
              at 1:14
              help: write `#[edge(wrap)]`
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
