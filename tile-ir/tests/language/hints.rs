//! What a message offers helps: the assumption that an undecided race names is written
//! into the kernel, and what it was offered for is settled.

use std::collections::BTreeSet;

use tile_ir::diag::Diagnostic;

use crate::judged::{Judgement, judge};
use crate::{kernels, suite};

/// An assumption that a message offers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    /// Before which line and column it is to stand, from 1; else at the start of the body.
    before: Option<(usize, usize)>,
    text: String,
}

impl Offer {
    /// What is offered in a message.
    fn of(found: &Diagnostic) -> Option<Self> {
        let (_, offer) = found.help.as_deref()?.split_once("say so")?;
        let (place, text) = offer.split_once(": `")?;
        let text = text.split_once('`')?.0.to_owned();
        let number = |text: &str| text.parse().expect("a number");
        let before = match (place.strip_prefix(" before line "), place.strip_prefix(" on line ")) {
            (Some(line), _) => Some((number(line), 1)),
            (None, Some(rest)) => {
                let (line, column) = rest.split_once(", before column ").expect("a place");
                Some((number(line), number(column)))
            }
            (None, None) => None,
        };
        Some(Self { before, text })
    }

    /// Writes it into the lines of a kernel; lines stay what they are.
    fn write_into(&self, lines: &mut [String]) {
        let brace = || {
            let mut braces = lines.iter().enumerate().map(|(at, line)| (at, line.find('{')));
            braces.find_map(|(at, brace)| Some((at, brace? + 1))).expect("a kernel has a body")
        };
        let (line, column) = match self.before {
            Some((line, column)) => {
                let text = &lines[line - 1];
                (line - 1, text.char_indices().nth(column - 1).map_or(text.len(), |(at, _)| at))
            }
            None => brace(),
        };
        lines[line].insert_str(column, &format!(" {} ", self.text));
    }
}

/// A kernel with what is offered written into it.
fn with(text: &str, offers: &BTreeSet<Offer>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // From the end on, so that columns stay what they are until then.
    offers.iter().rev().for_each(|offer| offer.write_into(&mut lines));
    lines.join("\n") + "\n"
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
        let offered: BTreeSet<Offer> =
            found.iter().filter_map(|(_, found, _)| Offer::of(found)).collect();
        if offered.is_empty() {
            continue;
        }
        offers += 1;
        let left = judge(&with(text, &offered));
        let left = &left.kernel().expect("is a kernel still").errors;
        for (line, found, _) in found.iter().filter(|(_, found, _)| Offer::of(found).is_some()) {
            let is_same = |(at, other, _): &(u32, Diagnostic, String)| {
                at == line && other.message == found.message
            };
            assert!(!left.iter().any(is_same), "not settled: {}\n{text}", found.message);
        }
        if found.iter().all(|(_, found, _)| Offer::of(found).is_some()) {
            accepted += 1;
            assert!(left.is_empty(), "{}\n{text}", left[0].1.message);
        }
    }
    println!("{offers} kernels with an offer, {accepted} accepted with it");
    assert!(offers >= 6 && accepted >= 6, "{offers} kernels with an offer, {accepted} accepted");
}
