//! The parser of the `tiled_kernel!` language: from tokens to the syntax tree
//! of [`tile_ir::syntax`].
//!
//! It knows the form of a kernel and nothing of its meaning: names and types are
//! [`tile_ir::resolve`]'s. It is a library of its own, without `proc_macro`, so
//! that tests and tools parse text ([`parse_kernel_text`]) with the very code
//! that the macro runs on tokens ([`parse_kernels`]).
//!
//! A mistake becomes a [`SyntaxError`] at the smallest tokens to blame; parsing
//! goes on with the next statement, header entry or parameter, so each mistake
//! gives one error. Nothing here panics, whatever the tokens.

mod array;
mod assign;
mod atomic;
mod context;
mod error;
mod expr;
mod generics;
mod header;
mod item;
mod library;
mod literal;
mod param;
mod range;
mod stmt;
mod token;
mod types;
mod words;

use proc_macro2::TokenStream;
use tile_ir::syntax::KernelItem;

pub use error::{SpanPair, SyntaxError, SyntaxErrors};
pub use item::{Attribute, ParsedKernel, ParsedKernels, ParsedLibrary, Places};

/// Parses the kernels of one `tiled_kernel!` invocation.
///
/// Kernels with mistakes are in the result too, as far as they were understood,
/// so that the macro can still declare what their callers name.
pub fn parse_kernels(tokens: TokenStream) -> ParsedKernels {
    item::parse_items(tokens)
}

/// Parses the text of exactly one kernel, with the functions and constants beside
/// it, for tests and tools.
///
/// # Errors
///
/// All mistakes in the text, in its order.
pub fn parse_kernel_text(text: &str) -> Result<KernelItem, SyntaxErrors> {
    let tokens = text
        .parse::<TokenStream>()
        .map_err(|error| SyntaxError::new(error.span(), "the text is not made of Rust tokens"))?;
    let mut parsed = parse_kernels(tokens);
    let mut errors = parsed.errors;
    errors.append(&mut parsed.library.errors);
    let mut kernels = parsed.kernels.drain(..);
    match (kernels.next(), kernels.next()) {
        (Some(kernel), None) if errors.is_empty() && kernel.errors.is_empty() => Ok(kernel.item),
        (Some(kernel), None) => {
            errors.extend(kernel.errors);
            Err(SyntaxErrors::new(errors))
        }
        (Some(_), Some(second)) => {
            let at = second.spans_of(second.item.name.span);
            Err(SyntaxError::new(at, "only one kernel may stand in this text").into())
        }
        (None, _) if errors.is_empty() => {
            Err(SyntaxError::new(proc_macro2::Span::call_site(), "there is no kernel here").into())
        }
        (None, _) => Err(SyntaxErrors::new(errors)),
    }
}
