//! Kernels from text, and findings as text.

use tile_ir::check::check_kernel;
use tile_ir::diag::{Diagnostics, render};
use tile_ir::kernel::{Kernel, verify_kernel};
use tile_ir::resolve::resolve_kernel;
use tile_ir::syntax::KernelItem;

/// The syntax tree of `text`, which is in the language.
pub(crate) fn parse(text: &str) -> KernelItem {
    match tile_syntax::parse_kernel_text(text) {
        Ok(item) => item,
        Err(errors) => panic!("{errors}"),
    }
}

/// The kernel of `text`, which names and types rightly; its structure is verified.
pub(crate) fn resolve(text: &str) -> Kernel {
    let item = parse(text);
    let kernel = match resolve_kernel(&item) {
        Ok(kernel) => kernel,
        Err(diags) => panic!("{}", render_all(&diags, &item.spans)),
    };
    if let Err(faults) = verify_kernel(&kernel) {
        panic!("{faults:?}");
    }
    kernel
}

/// All findings, one after the other.
pub(crate) fn render_all(diags: &Diagnostics, spans: &tile_ir::span::SpanTable) -> String {
    diags.iter().map(|diagnostic| render(diagnostic, spans)).collect()
}

/// The findings of the checks on `text`, warnings too; empty where there are none.
pub(crate) fn check(text: &str) -> String {
    let kernel = resolve(text);
    let spans = kernel.spans.clone();
    match check_kernel(kernel) {
        Ok(checked) => checked.warnings.iter().map(|warning| render(warning, &spans)).collect(),
        Err(diags) => render_all(&diags, &spans),
    }
}
