//! `tiled_kernel!`: textbook tiled kernels, checked when the program compiles.
//!
//! Use it through `tile-runtime`, which re-exports it and which its expansion
//! calls. The work is done elsewhere: `tile-syntax` parses, `tile-ir` resolves
//! and checks; this crate turns findings into compiler errors (`report`) and
//! kernels into items (`glue`).

mod attribute;
mod deny;
mod expand;
mod glue;
mod report;
mod signature;
#[cfg(test)]
mod tests;

/// Declares kernels.
///
/// Each `fn` becomes a type of that name with the functions `launch`, `with`
/// and `kernel`. The language is described in the documentation of
/// `tile-runtime`.
#[proc_macro]
pub fn tiled_kernel(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand::expand_kernels(input.into()).into()
}
