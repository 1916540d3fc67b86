//! Findings as compiler errors and warnings at the user's tokens.
//!
//! Stable compilers let a macro report by `compile_error!` alone: one error, one
//! place, a text of several lines. Other places become lines of the text; only
//! where two places are equally to blame is the other reported where it stands:
//! the other access of a race, the condition that not every work-item fulfils. A warning is a use of a deprecated constant.

use std::fmt::Write as _;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use tile_ir::diag::{Code, Diagnostic};
use tile_ir::explain::Finding;
use tile_ir::span::SourceRange;
use tile_syntax::{ParsedKernel, Places, SpanPair, SyntaxError};

/// A mistake in the form of a kernel.
pub(crate) fn write_syntax_error(error: &SyntaxError) -> TokenStream {
    let mut text = format!("{} [{}]", error.message, error.code);
    write_help(&mut text, error.help.as_deref());
    write_error(error.at, &text)
}

/// A finding of the resolver or the checker that is an error; nothing for a
/// warning, since a kernel with errors should be mended first.
pub(crate) fn write_diagnostic(diagnostic: &Diagnostic, places: &Places) -> TokenStream {
    if diagnostic.severity == tile_ir::diag::Severity::Warning {
        return TokenStream::new();
    }
    let mut out =
        write_error(places.pair(diagnostic.primary), &diagnostic_text(diagnostic, places));
    if has_two_places(diagnostic.code) {
        let primary = places.pair(diagnostic.primary).range();
        let other =
            diagnostic.secondary.iter().find(|label| places.pair(label.span).range() != primary);
        if let Some(label) = other {
            let text = format!("{} [{}]", label.text, diagnostic.code);
            out.extend(write_error(places.pair(label.span), &text));
        }
    }
    out
}

/// A finding of a launch that the kernel's author denies.
pub(crate) fn write_denied(finding: &Finding, launch: &str, kernel: &ParsedKernel) -> TokenStream {
    let code = Code::Denied;
    let mut text = format!("{} [{code}]\n  {launch}", finding.message);
    write_help(&mut text, Some(&finding.advice));
    // Writing to a String cannot fail.
    let _ = write!(text, "\n  `#[deny({})]` on the kernel makes it an error", finding.rule.name());
    let place = finding.span.unwrap_or(kernel.item.name.span);
    write_error(kernel.spans_of(place), &text)
}

/// A mistake in an attribute of the kernel.
pub(crate) fn write_attribute_error(at: Span, text: &str, help: Option<&str>) -> TokenStream {
    let mut text = format!("{text} [{}]", Code::Denied);
    write_help(&mut text, help);
    write_error(SpanPair { start: at, end: at }, &text)
}

/// A warning of a kernel that compiles.
pub(crate) fn write_warning(warning: &Diagnostic, places: &Places) -> TokenStream {
    let code = warning.code.text();
    // The compiler writes the constant's name, which is the code, before the text.
    let mut text = warning.message.clone();
    write_facts(&mut text, warning, places);
    let lint = warning.code.lint().unwrap_or(code);
    let _ = write!(text, "\n  to silence it: `#[allow({lint})]` on the kernel");
    let declared = Ident::new(code, Span::call_site());
    let used = Ident::new(code, places.pair(warning.primary).start);
    quote! {
        const _: () = {
            #[deprecated(note = #text)]
            const #declared: () = ();
            const _: () = #used;
        };
    }
}

/// A kernel that was rejected without a finding: a defect of this crate or of
/// `tile-ir`, not of the kernel.
pub(crate) fn write_unexplained(kernel: &ParsedKernel) -> TokenStream {
    let name = &kernel.item.name;
    let text = format!(
        "`{}` cannot be compiled, and no rule says why; this is a defect of tiled_kernel!",
        name.text
    );
    write_error(kernel.spans_of(name.span), &text)
}

fn has_two_places(code: Code) -> bool {
    matches!(code, Code::SharedRace | Code::GlobalRace | Code::BlockRace | Code::Divergence)
}

fn diagnostic_text(diagnostic: &Diagnostic, places: &Places) -> String {
    let mut text = format!("{} [{}]", diagnostic.message, diagnostic.code);
    write_facts(&mut text, diagnostic, places);
    text
}

/// The lines after the first: other places, notes, help.
fn write_facts(text: &mut String, diagnostic: &Diagnostic, places: &Places) {
    let primary = places.pair(diagnostic.primary).range();
    // Writing to a String cannot fail.
    for label in &diagnostic.secondary {
        let place = places.pair(label.span).range();
        if is_part(place, primary) {
            // The underlined text has it, and a line number would not point at it.
            continue;
        }
        let line = place.line;
        let _ = write!(text, "\n  line {line}: {}", label.text);
    }
    for note in &diagnostic.notes {
        let _ = write!(text, "\n  {}", indented(note));
    }
    write_help(text, diagnostic.help.as_deref());
}

/// Whether `place` lies within `whole` and is not all of it.
fn is_part(place: SourceRange, whole: SourceRange) -> bool {
    let starts_within = (place.line, place.column) >= (whole.line, whole.column);
    let ends_within = (place.end_line, place.end_column) <= (whole.end_line, whole.end_column);
    starts_within && ends_within && place != whole
}

fn write_help(text: &mut String, help: Option<&str>) {
    if let Some(help) = help {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  help: {}", indented(help));
    }
}

/// Further lines of a fact, under its first.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// `compile_error!` from the first to the last token of `at`.
fn write_error(at: SpanPair, text: &str) -> TokenStream {
    let ends = [at.start, at.end].map(|span| TokenTree::Ident(Ident::new("token", span)));
    let error = syn::Error::new_spanned(TokenStream::from_iter(ends), text).to_compile_error();
    // As an item of its own, whatever stands around it.
    quote_spanned!(at.start=> #error)
}
