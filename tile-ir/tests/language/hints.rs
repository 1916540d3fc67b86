//! What a message offers helps: the assumption that an undecided race names is written
//! into the kernel, and what it was offered for is settled.

use std::collections::BTreeSet;

use tile_ir::diag::{Code, Diagnostic};

use crate::judged::{Judged, Judgement, judge};
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

/// Of so many kernels with an offer one is followed, unless `TILE_OFFERS` is `all`.
const SAMPLE: usize = 12;

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what is wanted")]
fn assumptions_that_are_offered_settle_what_they_are_offered_for() {
    let ui: Vec<_> = kernels::in_folder("tests/ui/undecided_race")
        .into_iter()
        .map(|text| (judge(&text), text))
        .collect();
    let of_suite = suite::all_judged().map(|(_, text, judged)| (text, judged));
    let sample = match std::env::var("TILE_OFFERS").as_deref() {
        Ok("all") => 1,
        _ => SAMPLE,
    };
    let has_offer = |(_, judged): &(&str, &Judged)| !offers_of(judged).is_empty();
    let of_suite = of_suite.filter(has_offer).step_by(sample);
    let of_ui = ui.iter().map(|(judged, text)| (text.as_str(), judged));
    let (mut whole, mut accepted) = (0, 0);
    for (text, judged) in of_suite.chain(of_ui) {
        let (Some(Judgement { errors: found, .. }), offered) = (judged.kernel(), offers_of(judged))
        else {
            continue;
        };
        if offered.is_empty() {
            continue;
        }
        let with = with(text, &offered);
        let left = judge(&with);
        let left = &left.kernel().unwrap_or_else(|| panic!("no kernel:\n{with}")).errors;
        let is_offered = |(_, found, _): &&(u32, Diagnostic, String)| Offer::of(found).is_some();
        for (line, found, _) in found.iter().filter(is_offered) {
            let is_same = |(at, other, _): &(u32, Diagnostic, String)| {
                at == line && other.message == found.message && Offer::of(other) == Offer::of(found)
            };
            assert!(!left.iter().any(is_same), "not settled: {}\n{text}", found.message);
            let is_known = |(_, other, _): &(u32, Diagnostic, String)| {
                !matches!(other.code, Code::UnknownName | Code::TypeMismatch)
            };
            assert!(left.iter().all(is_known), "what is offered does not compile:\n{with}");
        }
        if found.iter().all(|error| is_offered(&error)) {
            whole += 1;
            accepted += usize::from(left.is_empty());
        }
    }
    println!("{accepted} of {whole} kernels accepted that had an offer for each error");
    // Where the fault is another one, the next message speaks of it.
    assert!(accepted >= 6 && accepted * 10 >= whole * 8, "{accepted} of {whole} are accepted");
}

/// All that is offered for a kernel.
fn offers_of(judged: &Judged) -> BTreeSet<Offer> {
    let Some(Judgement { errors, .. }) = judged.kernel() else { return BTreeSet::new() };
    errors.iter().filter_map(|(_, found, _)| Offer::of(found)).collect()
}
