//! From the tokens of one invocation to its items and errors.

use proc_macro2::TokenStream;
use quote::quote;
use tile_ir::check::{CheckedKernel, UncheckedKernel, check_kernel};
use tile_ir::diag::{Diagnostic, Diagnostics};
use tile_ir::encode::{encode, encode_unchecked};
use tile_ir::resolve::{check_library, resolve_kernel};
use tile_syntax::{ParsedKernel, ParsedLibrary, parse_kernels};

use crate::attribute::{Attributes, split_attributes};
use crate::deny::check_denials;
use crate::glue::{Data, write_kernel, write_stub};
use crate::report::{write_diagnostic, write_syntax_error, write_unexplained, write_warning};
use crate::signature::Signature;

/// Expands `tiled_kernel! { input }`.
pub(crate) fn expand_kernels(input: TokenStream) -> TokenStream {
    let parsed = parse_kernels(input);
    let mut out = TokenStream::new();
    for error in &parsed.errors {
        out.extend(write_syntax_error(error));
    }
    let faults = library_errors(&parsed.library);
    let whole = faults.is_empty();
    out.extend(faults);
    for kernel in &parsed.kernels {
        out.extend(expand_kernel(kernel, whole));
    }
    out
}

/// The mistakes in the functions and constants beside the kernels.
fn library_errors(library: &ParsedLibrary) -> TokenStream {
    if !library.errors.is_empty() {
        return library.errors.iter().map(write_syntax_error).collect();
    }
    match check_library(&library.items, &library.spans) {
        Ok(()) => TokenStream::new(),
        Err(found) => {
            found.iter().map(|diagnostic| write_diagnostic(diagnostic, &library.places)).collect()
        }
    }
}

/// The items of a kernel; for one with mistakes its errors and items that do
/// nothing, so that its callers give no errors of their own. Where the functions
/// beside it are not whole, the kernel is not looked into: what it lacks is theirs.
fn expand_kernel(kernel: &ParsedKernel, with_library: bool) -> TokenStream {
    let attributes = split_attributes(&kernel.attributes);
    if !kernel.errors.is_empty() || !with_library {
        let errors = kernel.errors.iter().map(write_syntax_error).collect();
        return with_stub(errors, kernel, &attributes);
    }
    if attributes.is_unchecked {
        return expand_unchecked(kernel, &attributes);
    }
    let (checked, warnings) = match check(kernel) {
        Ok(checked) => checked,
        Err(found) => {
            let errors = write_errors(kernel, &found);
            return with_stub(errors, kernel, &attributes);
        }
    };
    let signature = Signature::new(kernel);
    if !signature.is_complete() {
        return with_stub(write_unexplained(kernel), kernel, &attributes);
    }
    let denied = check_denials(kernel, &checked, &attributes.denials);
    if !denied.is_empty() {
        return with_stub(denied, kernel, &attributes);
    }
    let data = Data { bytes: encode(&checked), constructor: quote!(new) };
    let mut out = write_kernel(kernel, &signature, &attributes, &data);
    let loud = warnings.iter().filter(|warning| !attributes.silences(warning.code));
    for warning in loud {
        out.extend(write_warning(warning, &kernel.places));
    }
    out
}

/// The items of a kernel whose author bypasses the checks.
fn expand_unchecked(kernel: &ParsedKernel, attributes: &Attributes) -> TokenStream {
    let unchecked = match resolve_kernel(&kernel.item).and_then(UncheckedKernel::new) {
        Ok(unchecked) => unchecked,
        Err(found) => return with_stub(write_errors(kernel, &found), kernel, attributes),
    };
    let signature = Signature::new(kernel);
    if !signature.is_complete() {
        return with_stub(write_unexplained(kernel), kernel, attributes);
    }
    let bytes = encode_unchecked(&unchecked);
    let data = Data { bytes, constructor: quote!(unchecked) };
    write_kernel(kernel, &signature, attributes, &data)
}

fn check(kernel: &ParsedKernel) -> Result<(CheckedKernel, Vec<Diagnostic>), Diagnostics> {
    let checked = check_kernel(resolve_kernel(&kernel.item)?)?;
    Ok((checked.kernel, checked.warnings))
}

fn write_errors(kernel: &ParsedKernel, found: &Diagnostics) -> TokenStream {
    match found.has_errors() {
        true => {
            found.iter().map(|diagnostic| write_diagnostic(diagnostic, &kernel.places)).collect()
        }
        false => write_unexplained(kernel),
    }
}

fn with_stub(
    mut errors: TokenStream,
    kernel: &ParsedKernel,
    attributes: &Attributes,
) -> TokenStream {
    errors.extend(write_stub(kernel, &Signature::new(kernel), attributes));
    errors
}
