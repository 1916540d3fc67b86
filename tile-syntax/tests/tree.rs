//! The trees of well-formed kernels.

mod print;

use expect_test::{Expect, expect_file};
use tile_syntax::parse_kernel_text;

fn check(text: &str, expect: expect_test::ExpectFile) {
    match parse_kernel_text(text) {
        Ok(item) => expect.assert_eq(&print::kernel(&item)),
        Err(errors) => panic!("{errors}"),
    }
}

#[test]
fn matmul() {
    check(include_str!("kernels/matmul.kernel"), expect_file!["kernels/matmul.tree"]);
}

#[test]
fn transpose() {
    check(include_str!("kernels/transpose.kernel"), expect_file!["kernels/transpose.tree"]);
}

/// Every form of the language once.
#[test]
fn everything() {
    check(include_str!("kernels/everything.kernel"), expect_file!["kernels/everything.tree"]);
}

/// A place is the whole construct, by line and column.
#[test]
fn places() {
    let item =
        parse_kernel_text("fn k(a: &mut Tensor<f32, [N]>) {\n    a[0] =\n      1.0 + 2.0;\n}")
            .unwrap_or_else(|errors| panic!("{errors}"));
    let stmt = &item.body[0];
    let place = |span| {
        let range = item.spans.range(span);
        format!("{}:{}-{}:{}\n", range.line, range.column, range.end_line, range.end_column)
    };
    let expect: Expect = expect_test::expect![[r#"
        2:4-3:16
        2:4-2:5
        1:3-1:4
    "#]];
    expect.assert_eq(&(place(stmt.span) + &place(stmt.head) + &place(item.name.span)));
}
