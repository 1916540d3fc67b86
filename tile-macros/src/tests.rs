//! The text of expansions.

use expect_test::{Expect, ExpectFile, expect, expect_file};
use proc_macro2::TokenStream;
use tile_syntax::{ParsedKernel, parse_kernels};

use crate::attribute::split_attributes;
use crate::expand::expand_kernels;
use crate::glue::{Data, write_kernel};
use crate::signature::Signature;

fn parse(text: &str) -> Vec<ParsedKernel> {
    let parsed = parse_kernels(text.parse().unwrap());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    parsed.kernels
}

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

/// The items of a kernel that has passed, with `data` for its bytes.
fn check_items(text: &str, expect: ExpectFile) {
    let kernels = parse(text);
    let items = kernels.iter().map(|kernel| {
        let attributes = split_attributes(&kernel.attributes);
        let data = Data { bytes: b"data".to_vec(), constructor: quote::quote!(new) };
        write_kernel(kernel, &Signature::new(kernel), &attributes, &data)
    });
    expect.assert_eq(&pretty(items.collect()));
}

/// The texts of the errors of an expansion, and the signatures of `launch`.
fn check_errors(text: &str, expect: Expect) {
    let expanded = pretty(expand_kernels(text.parse().unwrap()));
    let kept = |line: &&str| line.contains("core::compile_error") || line.contains("fn launch");
    let mut inside = false;
    let lines = expanded.lines().filter(|line| {
        let starts = kept(line);
        inside = starts || (inside && !line.trim_end().ends_with([';', '{', '}']));
        starts || inside
    });
    expect.assert_eq(&lines.map(|line| format!("{}\n", line.trim_end())).collect::<String>());
}

#[test]
fn generic_kernel() {
    check_items(
        "/// Adds.
         ///
         /// Twice.
         #[allow(TK0402, unused, reason = \"shown\")]
         #[cfg(unix)]
         pub(crate) fn add<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>, alpha: T) {}",
        expect_file!["../tests/expand/generic.rs"],
    );
}

/// Names that could meet those of the expansion.
#[test]
fn names_of_the_author() {
    check_items(
        "fn scale<Configured: Element, Options: Number>(
             scale: Options, launch: &Tensor<Configured, [N]>, options: bool, KERNEL: f16,
             r#type: &mut Tensor<bf16, [N, 2]>, embedded: u32,
         ) {}
         fn Configured(a: &mut Tensor<f32, [N]>) {}",
        expect_file!["../tests/expand/names.rs"],
    );
}

/// A parameter with a mistake keeps its place.
#[test]
fn stub_of_a_broken_signature() {
    check_errors(
        "fn k<T: Number, U: Number>(a: &[f32], b: &Tensor<U, [N]>, alpha: f32) {}",
        expect![[r#"
            ::core::compile_error! {
                "a kernel takes tensors, not slices [TK0001]\n  help: write `&Tensor<T, [N]>`"
                    pub fn launch<U: ::tile_runtime::Number>(
                        _: impl ::core::marker::Sized,
                        _: &::tile_runtime::Tensor<U, 1>,
                        _: ::core::primitive::f32,
                    pub fn launch<U: ::tile_runtime::Number>(
                        &self,
                        _: impl ::core::marker::Sized,
                        _: &::tile_runtime::Tensor<U, 1>,
                        _: ::core::primitive::f32,
        "#]],
    );
}

#[test]
fn tokens_of_no_kernel() {
    check_errors(
        "struct S;",
        expect![[r#"
        ::core::compile_error! {
            "expected a kernel, found the keyword `struct` [TK0001]\n  help: kernels know numbers, tensors and tiles alone; declare other types outside the macro"
    "#]],
    );
    check_errors(
        "fn",
        expect![[r#"
            ::core::compile_error! {
                "expected the kernel's name after `fn`, found the end [TK0001]"
        "#]],
    );
    check_errors(
        "fn f(a: &mut Tensor<f32, [N]>) { let x = 1 } fn f(a: &mut Tensor<f32, [N]>) {}",
        expect![[r#"
            ::core::compile_error! {
                "the kernel `f` is defined twice [TK0003]"
            ::core::compile_error! {
                "missing `;` after the declaration [TK0001]"
                    pub fn launch(
                        _: &mut ::tile_runtime::Tensor<::core::primitive::f32, 1>,
                    pub fn launch(
                        &self,
                        _: &mut ::tile_runtime::Tensor<::core::primitive::f32, 1>,
        "#]],
    );
}

#[test]
fn the_one_unsafe_attribute() {
    let kernel = |attribute: &str| {
        format!(
            "{attribute} fn k(x: &mut Tensor<f32, [N]>) where tile: (T), grid: (bx in tiles(N, T)), \
             block: (tx in T), {{ shared s: [f32; T]; s[tx] = 1.0; x[bx * T + tx] = s[0]; }}"
        )
    };
    let is_refused = |text: &str| {
        let expanded = expand_kernels(kernel(text).parse().unwrap()).to_string();
        let is_refused = expanded.contains("compile_error");
        assert_eq!(!is_refused, expanded.contains("EmbeddedKernel :: unchecked"), "{expanded}");
        is_refused
    };
    assert!(!is_refused("#[unsafe(unchecked)]"));
    assert!(is_refused(""));
    assert!(is_refused("#[unsafe(no_mangle)]"));
    assert!(is_refused("#[unchecked]"));
}

/// An attribute may give a scalar a value that its type has.
#[test]
fn denied_launches_have_scalars() {
    let with = |radius: &str| {
        format!(
            "#[deny(uncoalesced, device = \"H200\", N = 65536, radius = {radius})]
             fn window(radius: u8, x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
             where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
             {{
                 let at = bx * TN + tx;
                 let mut sum = 0.0;
                 for i in at - radius..=at + radius {{
                     if in_bounds(x[i]) {{ sum += x[i]; }}
                 }}
                 y[at] = sum;
             }}"
        )
    };
    let errors = |radius: &str| {
        let expanded = pretty(expand_kernels(with(radius).parse().unwrap()));
        expanded.matches("core::compile_error").count()
    };
    assert_eq!(["3", "0", "255", "256", "true", "2.5"].map(errors), [0, 0, 0, 1, 1, 1]);
}
