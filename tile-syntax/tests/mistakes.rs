//! The errors of faulty texts: one a mistake, at the right place.

use expect_test::expect_file;
use tile_syntax::parse_kernel_text;

/// Text and errors of every case, errors marked by their first line and column.
fn report(cases: &[&str], wrap: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for case in cases {
        let text = wrap(case);
        let errors = match parse_kernel_text(&text) {
            Ok(_) => "no error".to_owned(),
            Err(errors) => errors.to_string(),
        };
        out += &format!("{case}\n{errors}\n\n");
    }
    out
}

#[test]
fn statements() {
    let cases = [
        // Ends and beginnings.
        "x = 1",
        "x = 1\ny = 2;\nbarrier\nz = 3;",
        "let x = a[0]\nlet y = 1;",
        "barrier();",
        "__syncthreads();",
        "x + 1;",
        "min(x, 1);",
        "acc",
        "x : f32 = 1;",
        "int x = 1;",
        "laod s[i] = a[i];",
        "for k in 0..9 step 2 { }",
        "x = 1 2;",
        "x == 1;",
        "1 = x;",
        "c(i) = x;",
        "barier;",
        "__shared__ float s[32];",
        "assert!(x < 1);",
        "if x > 0 and x < 4 { }",
        "let x = y else { return; };",
        "x + y = 2;",
        "min(x, y) = 2;",
        "x++;",
        "x = y--;",
        "else { }",
        "#[allow(unused)] x = 1;",
        "'a: for k in 0..3 { }",
        // Declarations.
        "let x: [f32];",
        "let x: [f32; ];",
        "let x: [f32; 4] = 0;",
        "let x: [f32; 4] = [];",
        "let x: [f32; 4] = [0; ];",
        "let x: [[f32; 3]; 2] = [0; 2, 3];",
        "let x: [f32; 2, 3] = [[0; 3]; 2];",
        "let x: [f32; 2, 2] = [[1, 2], [3]];",
        "let x: [f32; 2, 2] = [[1, 2], 3];",
        "let x: [f32; 2, 2] = [[1, 2] [3, 4]];",
        "let x: [f32; 2, 2] = [[], []];",
        "let x: [f32; 2, 2] = [1, [2, 3]];",
        "shared s: [[f32; 3]; 2];",
        "let (x, y) = (1, 2);",
        "let mut = 3;",
        "let x: &f32 = 1;",
        "let x: f32 == 1;",
        "let if = 1;",
        "let load = 1;",
        "let Some(x) = y else { };",
        "shared s;",
        "shared s: f32;",
        "shared s: [f32, 4];",
        "shared s: [f32; ];",
        "shared s: [[f32; 4]; 4];",
        "shared s: [f32; 4] = 0;",
        "shared mut s: [f32; 4];",
        "shared s[16];",
        // Tiles.
        "load s = a[0];",
        "load s[i + 1] = a[i];",
        "load s[0] = a[0];",
        "load s[i] += a[i];",
        "load s[i] a[i];",
        "load [i] = a[i];",
        "each i, j in (A, B) { }",
        "each (i, j) in (A) { }",
        "each i in 0..A { }",
        "each (i, j) (A, B) { }",
        "each mut i in A { }",
        // Loops.
        "for i in 0..n x += 1;",
        "for i in n { }",
        "for i in 0.. { }",
        "for i in ..n { }",
        "for i in 0..n.step_by(2) { }",
        "for i in (0..n).rev().step_by(2) { }",
        "for i in (0..n).map(2) { }",
        "for i in (0..n).step_by() { }",
        "for i in tiles(n) { }",
        "for i in halving(n).rev() { }",
        "for (i, j) in 0..n { }",
        "for i = 0; i < n; i++ { }",
        "for i of 0..n { }",
        "for mut i in 0..n { }",
        "for i in 0 to n { }",
        "while x { y = 1 }",
        "while x = 1 { }",
        "if x = 1 { }",
        "if x { y = 1; } else y = 2;",
        "if let y = x { }",
        "if (x) y = 1;",
        "loop { x = 1; }",
        "match x { }",
        // What is not there yet.
        // Atomic updates.
        "atomic x += 1;",
        "atomic c[0] = 1;",
        "atomic c[0] *= 2;",
        "atomic c[0];",
        "atomic min(c[0], 1);",
        "atomic c[0].abs();",
        "atomic c[0].max(1, 2);",
        "atomic c[0].max(1)",
        "atomic;",
        "x = atomic c[0] += 1;",
        "let old = atomic c[0].compare_exchange(1);",
        "let old = atomic c[0];",
        "return 1;",
        "break 2;",
        "continue 'a;",
        "warp_barrier();",
        "assume;",
        "assume x > 0;",
        "assume(x > 0, y);",
        "assume(x > 0)\nx = 1;",
        "fn helper(x: f32) -> f32 { x }",
        "const N: usize = 3;",
        "unsafe { x = 1; }",
        "struct S;",
        "println!(\"{}\", x);",
    ];
    let wrap = |body: &str| format!("fn k(c: &mut Tensor<f32, [N]>) {{\n{body}\n}}");
    expect_file!["mistakes/statements.txt"].assert_eq(&report(&cases, wrap));
}

#[test]
fn expressions() {
    let cases = [
        "a < b < c",
        "a == b == c",
        "a[0][1]",
        "a[]",
        "a[0..3]",
        "(a + b)[0]",
        "f(x)[0]",
        "(a, b)",
        "()",
        "[1, 2]",
        "{ 1 }",
        "0..3",
        "(0..3)",
        "&a[0]",
        "*a",
        "a.0",
        "a.x",
        "a.len",
        "a.",
        "a?",
        "|x| x",
        "f32::sqrt(x)",
        "std::f32::consts::PI",
        "T::",
        "x as",
        "x as f32::Foo",
        "x as Acc",
        "x as Acc<T",
        "sqrt::<f32>(x)",
        "if a { 1 }",
        "if a { 1 } else { }",
        "if a { let mut x = 1; x } else { 2 }",
        "if a { x = 1; } else { 2 }",
        "if a == 1 2 else 3",
        "a +",
        "a + * b",
        "a b",
        "min(a b)",
        "\"text\"",
        "'c'",
        "340282366920938463463374607431768211456",
        "_",
        "self.x",
        "a = b",
        "a += b",
        "a -- b",
        "~a",
        "a <> b",
        "a and b",
        "x ? 1 : 2",
        "vec![1]",
        "threadIdx.x",
    ];
    let wrap = |value: &str| format!("fn k(c: &mut Tensor<f32, [N]>) {{\nc[0] = {value};\n}}");
    expect_file!["mistakes/expressions.txt"].assert_eq(&report(&cases, wrap));
}

#[test]
fn headers() {
    let cases = [
        "where tile = (TM),",
        "where tile: TM, TN, grid: (bx in 4)",
        "where tile: (TM, TN), block: (t in TM), TM % TN == 0",
        "where tile: (16),",
        "where tile: (TM: 16),",
        "where tile: (TM in 16..256),",
        "where tile: (TM in 16),",
        "where tile: (TM in []),",
        "where tile: (TM in pow2),",
        "where tile: (TM in (16..=64).rev()),",
        "where tile: (TM TN),",
        "where tile: (),",
        "where tile: (TM), tile: (TN),",
        "where threads: (16),",
        "where T: Number,",
        "where grid: (tiles(N, TN)),",
        "where grid: (bx),",
        "where grid: (bx = 4),",
        "where grid: (bx in 0..4), block: (tx, ty),",
        "where block: 16,",
        "where block (tx in 16),",
        "where (TM),",
        "tile: (TM), grid: (bx in 4),",
        "where tile: (TM) grid: (bx in 4),",
        "where tile: (load),",
        "-> f32",
    ];
    let wrap = |header: &str| format!("fn k(c: &mut Tensor<f32, [N]>)\n{header}\n{{ c[0] = 1; }}");
    expect_file!["mistakes/headers.txt"].assert_eq(&report(&cases, wrap));
}

#[test]
fn signatures() {
    let cases = [
        "fn k(a: Tensor<f32, [N]>) {}",
        "fn k(a: &mut f32) {}",
        "fn k(a: &[f32]) {}",
        "fn k(a: *const f32) {}",
        "fn k(a: [f32; 4]) {}",
        "fn k(a: Vec<f32>) {}",
        "fn k(a: &Tensor) {}",
        "fn k(a: &Tesnor<f32, [N]>) {}",
        "fn k(a: &Array<f32>) {}",
        "fn f(x: f32) { x }",
        "fn f(x: f32) -> (f32, f32) { (x, x) }",
        "const X: [f32; 2] = [1.0, 2.0];",
        "use std::f32::consts::PI;",
        "static X: f32 = 1.0;",
        "fn k(a: &Tensor<f32>) {}",
        "fn k(a: &Tensor<f32, N>) {}",
        "fn k(a: &Tensor<f32, []>) {}",
        "fn k(a: &Tensor<f32, 2>) {}",
        "fn k(a: &Tensor<f32, [N], 3>) {}",
        "fn k(a: &'static Tensor<f32, [N]>) {}",
        "fn k(a: &mut Constant<f32, [N]>) {}",
        "fn k(a: Constant<f32, [N]>) {}",
        "fn k(a: &Constant<f32>) {}",
        "fn k(a: &Constant<f32, []>) {}",
        "fn k(mut a: f32) {}",
        "fn k(self) {}",
        "fn k(&self) {}",
        "fn k((a, b): f32) {}",
        "fn k(a) {}",
        "fn k(_: f32) {}",
        "fn k(a: f32 b: f32) {}",
        "fn k(a: impl Float) {}",
        "fn k(#[pad = 0] a: f32) {}",
        "fn k(#[pad] a: &Tensor<f32, [N]>) {}",
        "fn k(#[clamp] a: &Tensor<f32, [N]>) {}",
        "fn k(#[edge] a: &Tensor<f32, [N]>) {}",
        "fn k(#[pad = 0] #[pad = 1] a: &Tensor<f32, [N]>) {}",
        "fn k(a: &f32, b: &mut i32, c: Tensor<f32, [N]>) {}",
        "fn k<T>(a: T) {}",
        "fn k<T: Copy>(a: T) {}",
        "fn k<T: Number + Copy>(a: T) {}",
        "fn k<T: Number = f32>(a: T) {}",
        "fn k<'a, T: Number>(a: T) {}",
        "fn k<const N: usize, T: Number>(a: T) {}",
        "fn k<T: Number(a: T) {}",
        "fn k<T Number>(a: T) {}",
        "fn 3(a: f32) {}",
        "fn match(a: f32) {}",
        "fn k {}",
        "fn k(a: f32)",
        "fn k(a: f32);",
        "unsafe fn k(a: f32) {}",
        "const fn k(a: f32) {}",
        "const N: usize = 4;",
        "#[inline] fn k(a: f32) {}",
        "#![allow(unused)] fn k(a: f32) {}",
        "let x = 1;",
        "fn a() {} fn b() {}",
        "",
        "fn k() { \"open }",
    ];
    expect_file!["mistakes/signatures.txt"].assert_eq(&report(&cases, str::to_owned));
}

/// A mistake does not hide those after it, nor make more of them.
#[test]
fn recovery() {
    let text = "\
pub fn k<T: Copy>(a: &[T], c: &mut Tensor<T, [N]>)
where tile: (16, TN), grid: bx in, block: (tx in TN)
{
    let (x, y) = z;
    if tx < 4 {
        x = 1 +;
        y = 2;
        for k in 0..4 x += 1;
        while { }
        let z = 3
        return;
    } else {
        loop { x = }
        z = (1;
    }
    c[tx][0] = x
    c[tx] = 2.0;
    load s[0] = a
    let w = 1;
    c[tx] = 1
}";
    let text = text.replace("(1;", "(1 2);");
    let wrap = |case: &str| case.to_owned();
    expect_file!["mistakes/recovery.txt"].assert_eq(&report(&[&text], wrap));
}
