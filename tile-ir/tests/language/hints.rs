//! What a message offers helps: the assumption that an undecided race names is written
//! into the kernel, and what it was offered for is settled.

use std::collections::BTreeSet;

use tile_ir::check::check_kernel;
use tile_ir::diag::{Diagnostic, Severity};
use tile_ir::resolve::resolve_kernel;

use crate::{kernels, suite};

/// The errors of a kernel, with their lines.
fn errors(text: &str) -> Option<Vec<(u32, Diagnostic)>> {
    let item = tile_syntax::parse_kernel_text(text).ok()?;
    let found = resolve_kernel(&item).and_then(check_kernel).err();
    let found = found.into_iter().flatten();
    let found = found.filter(|found| found.severity == Severity::Error);
    Some(found.map(|found| (item.spans.range(found.primary).line, found)).collect())
}

/// The assumption that a message offers.
fn offered(found: &Diagnostic) -> Option<&str> {
    let help = found.help.as_deref()?;
    let (_, from) = help.split_once("say so: `")?;
    from.split_once('`').map(|(assumption, _)| assumption)
}

/// A kernel with assumptions as its first statements.
fn with(text: &str, assumptions: &BTreeSet<&str>) -> String {
    let (head, body) = text.split_once('{').expect("a kernel has a body");
    // On the line of the brace, so that lines stay what they are.
    let assumed: Vec<&str> = assumptions.iter().copied().collect();
    format!("{head}{{ {}{body}", assumed.concat())
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what is wanted")]
fn assumptions_that_are_offered_settle_what_they_are_offered_for() {
    let texts = suite::texts().into_iter().chain(kernels::in_folder("tests/ui/undecided_race"));
    let (mut offers, mut accepted) = (0, 0);
    for text in texts {
        let found = errors(&text).unwrap_or_default();
        let assumptions: BTreeSet<&str> =
            found.iter().filter_map(|(_, found)| offered(found)).collect();
        if assumptions.is_empty() {
            continue;
        }
        offers += 1;
        let left = errors(&with(&text, &assumptions)).expect("is a kernel still");
        for (line, found) in found.iter().filter(|(_, found)| offered(found).is_some()) {
            let is_same =
                |(at, other): &(u32, Diagnostic)| at == line && other.message == found.message;
            assert!(!left.iter().any(is_same), "not settled: {}\n{text}", found.message);
        }
        if found.iter().all(|(_, found)| offered(found).is_some()) {
            accepted += 1;
            assert!(left.is_empty(), "{}\n{text}", left[0].1.message);
        }
    }
    println!("{offers} kernels with an offer, {accepted} accepted with it");
    assert!(offers >= 6 && accepted >= 6, "{offers} kernels with an offer, {accepted} accepted");
}
