//! Kernels from text: which are proved for all sizes, and which of their faulty
//! neighbours are not.

mod atomics;
mod blocks;
mod carried;
mod random;
mod shapes;
mod staying;

use super::{AccessKind, Relation, Unproved, prove_among};
use crate::check::{Uniformity, uniformity};
use crate::kernel::Kernel;

/// The kernel of `text`. The parser's kernel is of the crate as others link it;
/// it comes over as bytes.
fn kernel(text: &str) -> Kernel {
    let item = match tile_syntax::parse_kernel_text(text) {
        Ok(item) => item,
        Err(errors) => panic!("{errors}\n{text}"),
    };
    let kernel = match tile_ir::resolve::resolve_kernel(&item) {
        Ok(kernel) => kernel,
        Err(diags) => panic!(
            "{}\n{text}",
            diags.iter().map(|d| tile_ir::diag::render(d, &item.spans)).collect::<String>()
        ),
    };
    let bytes = postcard::to_stdvec(&kernel).unwrap();
    postcard::from_bytes(&bytes).unwrap()
}

/// The pairs of accesses that may conflict.
fn prove(kernel: &Kernel, uniformity: &Uniformity) -> Vec<Unproved> {
    prove_among(kernel, uniformity, &|_, _, _| true)
}

/// The findings on `text`, one a line: array, what meets what, on which lines, how.
fn findings(text: &str) -> String {
    let kernel = kernel(text);
    let uniformity = uniformity(&kernel);
    prove(&kernel, &uniformity).iter().map(|found| line(&kernel, found) + "\n").collect()
}

fn line(kernel: &Kernel, found: &Unproved) -> String {
    let kind = |kind| match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    };
    let at = |span| kernel.spans.range(span).line;
    let relation = match found.relation {
        Relation::SameInterval => "same interval".to_owned(),
        Relation::Carried { counter: Some(var), .. } => {
            format!("next `{}`", kernel.vars[var].name)
        }
        Relation::Carried { counter: None, head } => format!("next `while` of {}", at(head)),
        Relation::BetweenBlocks => "between blocks".to_owned(),
    };
    let ((first, a), (second, b)) = (found.first, found.second);
    format!(
        "{}: {} {} / {} {}: {relation}",
        kernel.array_name(found.array),
        kind(a),
        at(first),
        kind(b),
        at(second),
    )
}

#[track_caller]
fn proved(text: &str) {
    assert_eq!(findings(text), "", "{text}");
}

#[track_caller]
fn unproved(text: &str, expected: expect_test::Expect) {
    expected.assert_eq(&findings(text));
}
