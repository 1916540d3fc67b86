//! Functions and constants beside a kernel: what becomes of them, and mistakes.

use crate::support;
use expect_test::{Expect, expect};
use tile_ir::kernel::print_kernel;
use tile_ir::resolve::resolve_kernel;

const HEAD: &str = "fn f<T: Float>(n: i32, t: &Tensor<T, [N]>, a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>, d: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),";

/// The body of a kernel beside `library`, written out.
#[track_caller]
fn written(library: &str, body: &str, expected: Expect) {
    let text = format!("{library}\n{HEAD} {{\nlet i = bx * TN + tx;\n{body}\n}}");
    let text = print_kernel(&support::resolve(&text));
    let (_, text) = text.split_once("\n{\n").unwrap();
    let (_, text) = text.split_once('\n').unwrap();
    expected.assert_eq(text);
}

/// The findings.
#[track_caller]
fn findings(library: &str, body: &str, expected: Expect) {
    let text = format!("{library}\n{HEAD} {{\nlet i = bx * TN + tx;\n{body}\n}}");
    let item = support::parse(&text);
    let diags = match resolve_kernel(&item) {
        Ok(_) => panic!("accepted"),
        Err(diags) => diags,
    };
    expected.assert_eq(&support::render_all(&diags, &item.spans));
}

const SQUARE: &str = "fn square<T: Number>(x: T) -> T { x * x }";

#[test]
fn arguments_are_evaluated_once() {
    written(
        SQUARE,
        "c[i] = square(a[i] + 1.0);",
        expect![[r#"
            let x: f32 = a[i] + 1.0;
            c[i] = (x * x) as f32;
        }
    "#]],
    );
    written(
        SQUARE,
        "let x = a[i]; c[i] = x.square();",
        expect![[r#"
            let x: f32 = a[i];
            c[i] = (x * x) as f32;
        }
    "#]],
    );
    written(
        SQUARE,
        "c[i] = square(square(a[i]));",
        expect![[r#"
            let x: f32 = a[i];
            let x_2: f32 = (x * x) as f32;
            c[i] = (x_2 * x_2) as f32;
        }
    "#]],
    );
    written(
        "fn twice(x: f32) -> f32 { let y = x + 1.0; y + y }",
        "c[i] = twice(a[i]);",
        expect![[r#"
                let y: f32 = a[i] + 1.0;
                c[i] = y + y;
            }
        "#]],
    );
    // A name that is used once needs no variable.
    written(
        "fn next(x: f32) -> f32 { let y = x + 1.0; 2.0 * y }",
        "c[i] = next(a[i]);",
        expect![[r#"
                c[i] = (2.0 * (a[i] + 1.0)) as f32;
            }
        "#]],
    );
}

#[test]
fn products_do_not_cross_a_call() {
    written(
        SQUARE,
        "let x = a[i]; c[i] = square(x) + 1.0;",
        expect![[r#"
            let x: f32 = a[i];
            c[i] = (x * x) as f32 + 1.0;
        }
    "#]],
    );
    written(
        "fn plus(x: f32, y: f32) -> f32 { x + y }",
        "c[i] = plus(a[i] * 2.0, a[i]);",
        expect![[r#"
                c[i] = (a[i] * 2.0) as f32 + a[i];
            }
        "#]],
    );
    written(
        "const C: f32 = 2.0 * 3.0;",
        "c[i] = a[i] + C;",
        expect![[r#"
            c[i] = a[i] + (2.0 * 3.0) as f32;
        }
    "#]],
    );
}

#[test]
fn a_call_that_need_not_be_made() {
    written(
        SQUARE,
        "c[i] = if i > 0 { square(a[i - 1]) } else { square(a[i] + 1.0) };",
        expect![[r#"
                let x: f32 = if i > 0 { a[i - 1] } else { 0 };
                let x_2: f32 = if !(i > 0) { a[i] + 1.0 } else { 0 };
                c[i] = if i > 0 { (x * x) as f32 } else { (x_2 * x_2) as f32 };
            }
        "#]],
    );
    written(
        SQUARE,
        "if i > 0 && square(a[i - 1]) > 2.0 { c[i] = 1.0; }",
        expect![[r#"
            let x: f32 = if i > 0 { a[i - 1] } else { 0 };
            if i > 0 && (x * x) as f32 > 2.0 {
                c[i] = 1.0;
            }
        }
    "#]],
    );
    written(
        SQUARE,
        "let mut x = a[i]; while square(x + 1.0) < 9.0 { x += 1.0; } c[i] = x;",
        expect![[r#"
                let mut x: f32 = a[i];
                let mut done: bool = false;
                while !done {
                    let x_2: f32 = x + 1.0;
                    if ((x_2 * x_2) as f32) < 9.0 {
                        x += 1.0;
                    } else {
                        done = true;
                    }
                }
                c[i] = x;
            }
        "#]],
    );
}

#[test]
fn loads_and_loops() {
    written(
        SQUARE,
        "shared s: [f32; TN]; load s[k] = square(a[bx * TN + k]); barrier; c[i] = s[tx];",
        expect![[r#"
                let i: index = bx * TN + tx;
                each k in TN {
                    let x: f32 = a[bx * TN + k];
                    s[k] = (x * x) as f32;
                }
                barrier;
                c[i] = s[tx];
            }
        "#]],
    );
    written(
        "fn half(n: index) -> index { n / 2 }",
        "let mut sum: Acc<f32> = 0; for k in 0..half(n) { sum += a[k]; } c[i] = sum;",
        expect![[r#"
                let mut sum: Acc<f32> = 0;
                for k in 0..n as index / 2 {
                    sum += a[k];
                }
                c[i] = sum;
            }
        "#]],
    );
}

#[test]
fn generic_functions_take_the_type_of_their_arguments() {
    let library = "fn soft<T: Float>(x: T) -> T { max(x, 0) * T::MAX }
        fn pick<T: Element>(c: bool, x: T, y: T) -> T { if c { x } else { y } }";
    written(
        library,
        "c[i] = soft(a[i]); d[i] = soft(t[i]);",
        expect![[r#"
            c[i] = (max(a[i], 0) * f32::MAX) as f32;
            d[i] = (max(t[i], 0) * T::MAX) as T;
        }
    "#]],
    );
    written(
        library,
        "c[i] = pick(i > 2, a[i], 1);",
        expect![[r#"
            c[i] = if i > 2 { a[i] } else { 1 };
        }
    "#]],
    );
    // In a sum, what goes in is widened as everything is.
    written(
        library,
        "let mut s: Acc<T> = 0; s += soft(t[i]); d[i] = s;",
        expect![[r#"
            let mut s: Acc<T> = 0;
            s += (max(t[i] as Acc<T>, 0) * Acc<T>::MAX) as Acc<T>;
            d[i] = s as T;
        }
    "#]],
    );
}

#[test]
fn constants() {
    written(
        "const R: index = 2; const W: index = 2 * R + 1;",
        "c[i] = a[i + W] + a[i + R];",
        expect![[r#"
                c[i] = a[i + (2 * 2 + 1)] + a[i + 2];
            }
        "#]],
    );
    let text = "const R: index = 2; const S: i32 = 4; const N: index = 64;
        fn f(a: &Tensor<f32, [N + R]>, c: &mut Tensor<f32, [M]>)
        where tile: (F = R, TN in [16 * S, 128]), grid: (bx in tiles(M, TN)), block: (tx in TN) {
            shared s: [f32; TN + 2 * R];
            load s[k] = a[bx * TN + k];
            barrier;
            let x: [f32; R] = [1.0; R];
            c[bx * TN + tx] = s[tx + R] + x[0] + s[tx + S];
        }";
    expect![[r#"
        pub fn f(
            a: &Tensor<f32, [64 + 2]>,
            c: &mut Tensor<f32, [M]>,
        )
        where
            tile: (F = 2, TN in [64, 128]),
            grid: (bx in tiles(M, TN)),
            block: (tx in TN),
        {
            shared s: [f32; TN + 2 * 2];
            load s[k] = a[bx * TN + k];
            barrier;
            let x: [f32; 2] = [1.0; 2];
            c[bx * TN + tx] = s[tx + 2] + x[0] + s[tx + 4];
        }
    "#]]
    .assert_eq(&print_kernel(&support::resolve(text)));
}

#[test]
fn constants_of_integer_types_are_sizes() {
    let text = "const R: u32 = 2; const W: u8 = 2 * R as u8 + 1; const V: i32 = 2 * S + 1;
        const S: i32 = 3; const FAR: i8 = 100 + 100;
        fn f(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
        where tile: (F = R, G = V, TN), grid: (bx in tiles(N, TN)), block: (tx in TN) {
            c[bx * TN + tx] = a[bx * TN + tx + V] + a[bx * TN + W] + a[bx * TN + FAR];
        }";
    expect![[r#"
        pub fn f(
            a: &Tensor<f32, [N]>,
            c: &mut Tensor<f32, [N]>,
        )
        where
            tile: (F = 2, G = 7, TN),
            grid: (bx in tiles(N, TN)),
            block: (tx in TN),
        {
            c[bx * TN + tx] = a[bx * TN + tx + 7] + a[bx * TN + (2 * 2 as u8 + 1) as index] + a[bx * TN + (100 + 100) as index];
        }
    "#]]
    .assert_eq(&print_kernel(&support::resolve(text)));
}

#[test]
fn mistakes_in_a_function() {
    findings(
        "fn g(x: f32) -> f32 { x + y }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0002]: `y` is not declared here
          at 1:27
    "#]],
    );
    findings(
        "fn g(x: f32) -> i32 { x }",
        "c[i] = a[i];",
        expect![[r#"
        error[TK0102]: the result of `g` is `i32`, and this is `f32`
          at 1:23
          help: convert it: `x as i32`
    "#]],
    );
    findings(
        "fn g<T: Number>(x: T) -> T { sqrt(x) }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0103]: `T: Number` need not have `sqrt`
          at 1:30
          help: bound it: `T: Float`
    "#]],
    );
    findings(
        "fn g<T: Number>(x: f32) -> f32 { x }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0104]: no parameter is of the type `T`, so a call cannot say what it is
          at 1:6
          help: use it in a parameter: `x: T`
    "#]],
    );
    findings(
        "fn g(x: f32) -> f32 { reduce_sum(x) }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0004]: `reduce_sum` is what work-items do together, and a function computes with values
          at 1:23
          help: call it in the kernel, and pass what it gives
    "#]],
    );
    findings(
        "fn g(x: f32) -> f32 { x + a[0] }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0002]: `a` is not declared here
          at 1:27
    "#]],
    );
    findings(
        "fn exp(x: f32) -> f32 { x }",
        "c[i] = exp(a[i]);",
        expect![[r#"
        error[TK0003]: `exp` is a function of the language already
          at 1:4
    "#]],
    );
    findings(
        "fn g(x: Acc<f32>) -> f32 { x }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0102]: a function's parameter cannot be of type `Acc<f32>`
          at 1:9
          help: take `f32`: with an accumulator, the function computes in its type
    "#]],
    );
    findings(
        "fn g(x: usize) -> f32 { 1.0 }",
        "c[i] = g(i);",
        expect![[r#"
            error[TK0002]: there is no type `usize`
              at 1:9
              help: positions and extents have type `index`; a parameter is an `i32` or an `i64`
        "#]],
    );
    findings(
        "const C: f32 = 1;\nconst D: f32 = C + tx;",
        "c[i] = D;",
        expect![[r#"
        error[TK0002]: `tx` is not declared here
          at 2:20
    "#]],
    );
}

#[test]
fn functions_that_call_themselves() {
    findings(
        "fn g(x: f32) -> f32 { g(x) }",
        "c[i] = g(a[i]);",
        expect![[r#"
        error[TK0103]: `g` calls itself: `g` → `g`
          at 1:23
          note: functions and constants are written out where they are named
    "#]],
    );
    findings(
        "fn g(x: f32) -> f32 { h(x) }
         fn h(x: f32) -> f32 { let y = 1.0 + k(x); y }
         fn k(x: f32) -> f32 { x.g() }",
        "c[i] = g(a[i]);",
        expect![[r#"
            error[TK0103]: `g` calls itself: `g` → `h` → `k` → `g`
              at 3:34
              note: functions and constants are written out where they are named
        "#]],
    );
    findings(
        "const A: f32 = B; const B: f32 = A;",
        "c[i] = A;",
        expect![[r#"
        error[TK0103]: `A` is made of itself: `A` → `B` → `A`
          at 1:34
          note: functions and constants are written out where they are named
    "#]],
    );
}

#[test]
fn mistakes_in_a_call() {
    findings(
        SQUARE,
        "c[i] = square(a[i], 1.0);",
        expect![[r#"
        error[TK0103]: `square` takes 1 argument, and 2 are given
          at 5:8
          at 1:4: `square` is declared here
    "#]],
    );
    findings(
        SQUARE,
        "c[i] = sqare(a[i]);",
        expect![[r#"
        error[TK0002]: there is no function `sqare`
          at 5:8
          help: did you mean `square`?
    "#]],
    );
    findings(
        SQUARE,
        "c[i] = if square(i > 0) { 1.0 } else { 2.0 };",
        expect![[r#"
        error[TK0103]: `square` asks that `T` is a `Number`, and `bool` is none
          at 5:11
          at 1:11: it is asked for here
    "#]],
    );
    findings(
        SQUARE,
        "c[i] = square(i) as f32;",
        expect![[r#"
        error[TK0103]: `square` asks that `T` is a `Number`, and `index` is none
          at 5:8
          at 1:11: it is asked for here
          help: a function of positions takes `i: index`
    "#]],
    );
    findings(
        SQUARE,
        "c[i] = square(c);",
        expect![[r#"
        error[TK0004]: `c` is a tensor, which has no value of its own
          at 5:15
          help: name an element: `c[i]`
    "#]],
    );
    findings(
        "fn root<T: Float>(x: T) -> T { sqrt(x) }",
        "c[i] = root(n) as f32;",
        expect![[r#"
        error[TK0103]: `root` asks that `T` is a `Float`, and `i32` is none
          at 5:8
          at 1:9: it is asked for here
    "#]],
    );
    findings(
        "fn g(x: f32, y: f32) -> f32 { x + y }",
        "c[i] = g(a[i], n);",
        expect![[r#"
        error[TK0102]: `y` of `g` is `f32`, and this is `i32`
          at 5:16
          help: convert it: `n as f32`
    "#]],
    );
    findings(
        "fn top<T: Float>(x: T) -> T { min(x, T::MAX) }",
        "c[i] = top(1.0);",
        expect![[r#"
            error[TK0102]: nothing says yet which type `T` is in this call
              at 1:38
              at 5:8: the call is here
              help: give the argument a type: `1.0f32`
        "#]],
    );
    findings(
        "const C: f32 = 1.0;",
        "C = 2.0; c[i] = C[0];",
        expect![[r#"
        error[TK0105]: `C` is a constant and cannot be assigned
          at 5:1
        error[TK0004]: `C` is a value and has no elements
          at 5:17
    "#]],
    );
    findings(
        "const R: f32 = 1.0;",
        "shared s: [f32; R]; c[i] = s[0];",
        expect![[r#"
        error[TK0102]: an index is needed here, and `1.0` is `f32`
          at 5:17
          help: convert it: `1.0 as index`
    "#]],
    );
}

#[test]
fn functions_are_written_out_within_bounds() {
    let library = "fn a1(x: f32) -> f32 { (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) }
        fn a2(x: f32) -> f32 { a1(x) + a1(x + 1.0) + a1(x + 2.0) + a1(x + 3.0) }
        fn a3(x: f32) -> f32 { a2(x) + a2(x + 1.0) + a2(x + 2.0) + a2(x + 3.0) }
        fn a4(x: f32) -> f32 { a3(x) + a3(x + 1.0) + a3(x + 2.0) + a3(x + 3.0) }
        fn a5(x: f32) -> f32 { a4(x) + a4(x + 1.0) + a4(x + 2.0) + a4(x + 3.0) }";
    let text = format!("{library}\n{HEAD} {{ c[0] = a5(a[0]); }}");
    let item = support::parse(&text);
    let diags = resolve_kernel(&item).unwrap_err();
    let first = diags.iter().next().unwrap();
    assert_eq!(first.message, "this statement is too long once its functions are written out");
}
