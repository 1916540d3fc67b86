//! What a message offers helps: the assumption that an undecided race names is written
//! into the kernel, and what it was offered for is settled.

use std::collections::BTreeSet;

use tile_ir::diag::Diagnostic;

use crate::judged::{Judgement, judge};
use crate::{kernels, suite};

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
    let ui: Vec<_> = kernels::in_folder("tests/ui/undecided_race")
        .into_iter()
        .map(|text| (judge(&text), text))
        .collect();
    let of_suite = suite::all_judged().map(|(_, text, judged)| (text, judged));
    let of_ui = ui.iter().map(|(judged, text)| (text.as_str(), judged));
    let (mut offers, mut accepted) = (0, 0);
    for (text, judged) in of_suite.chain(of_ui) {
        let Some(Judgement { errors: found, .. }) = judged.kernel() else { continue };
        let assumptions: BTreeSet<&str> =
            found.iter().filter_map(|(_, found, _)| offered(found)).collect();
        if assumptions.is_empty() {
            continue;
        }
        offers += 1;
        let left = judge(&with(text, &assumptions));
        let left = &left.kernel().expect("is a kernel still").errors;
        for (line, found, _) in found.iter().filter(|(_, found, _)| offered(found).is_some()) {
            let is_same = |(at, other, _): &(u32, Diagnostic, String)| {
                at == line && other.message == found.message
            };
            assert!(!left.iter().any(is_same), "not settled: {}\n{text}", found.message);
        }
        if found.iter().all(|(_, found, _)| offered(found).is_some()) {
            accepted += 1;
            assert!(left.is_empty(), "{}\n{text}", left[0].1.message);
        }
    }
    println!("{offers} kernels with an offer, {accepted} accepted with it");
    assert!(offers >= 6 && accepted >= 6, "{offers} kernels with an offer, {accepted} accepted");
}
