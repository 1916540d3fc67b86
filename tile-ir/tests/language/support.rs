//! Kernels from text, and findings as text.

use tile_ir::check::check_kernel;
use tile_ir::diag::{Diagnostic, Diagnostics, render};
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

/// The findings of the checks on `text`, warnings too, whose codes start with one
/// of `families`; empty where there are none.
pub(crate) fn check_families(text: &str, families: &[&str]) -> String {
    let kernel = resolve(text);
    let spans = kernel.spans.clone();
    let findings: Vec<Diagnostic> = match check_kernel(kernel) {
        Ok(checked) => checked.warnings,
        Err(diags) => diags.into_iter().collect(),
    };
    let is_own = |finding: &&Diagnostic| {
        families.iter().any(|family| finding.code.text().starts_with(family))
    };
    let own = findings.iter().filter(is_own);
    own.map(|finding| render(finding, &spans)).collect()
}
