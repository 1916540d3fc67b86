//! Kernels without a race with one thing changed as an author might get it wrong: a
//! barrier left out, an index one on, two indices exchanged, a guard dropped, a loop one
//! round longer, an atomic update made plainly. What is still accepted must have no fault
//! that the oracle finds: no race, no barrier that only some pass, no cell that nobody
//! has written.
//!
//! What work-items find in cells of tiles the oracle makes up, as if they were data: so it
//! sees more faults in fewer launches. Where it sees one in a kernel as it stands, because
//! its places rest on what was stored there, or where work-items take what an update found,
//! cells hold what was stored in them.
//!
//! The kernels are those that the suite accepts, and those of `tests/kernels` and the
//! examples. `TILE_MUTANTS` says how many of the mutants are tried, from a seed on that
//! `TILE_MUTANTS_SEED` gives; `all` tries every one. `TILE_MUTANTS_OF` leaves those of
//! kernels that have this word.

use std::fmt::Write as _;

use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;

use super::fault_where;
use super::run::Outcome;
use crate::kernels::{self, closing};
use crate::mutations::words;
use crate::suite;

/// Mutants that are tried where nothing else is said, and launches of each.
const MUTANTS: usize = 160;
const LAUNCHES: u32 = 8;
/// Launches of a kernel of which a mutant seems to have a fault, with cells made up.
const LAUNCHES_AS_IT_STANDS: u32 = 64;

/// A mutant: what was changed, and the text.
type Mutant = (String, String);

/// The positions of the words in `from..to` that stand in no bracket within.
fn outermost(words: &[&str], from: usize, to: usize) -> Vec<usize> {
    let mut depth = 0;
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate().take(to).skip(from) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ if depth == 0 => out.push(at),
            _ => {}
        }
    }
    out
}

/// All mutants of a kernel.
fn mutants(text: &str) -> Vec<Mutant> {
    let words = words(text);
    let mut out = Vec::new();
    let Some(body) = words.iter().position(|word| *word == "{") else { return out };
    let mut add = |about: &str, at: usize, changed: Vec<&str>| {
        let line = words[..at].iter().filter(|word| **word == "\n").count() + 1;
        out.push((format!("{about} on line {line}"), changed.concat()));
    };
    // `words` with others in place of those in a range.
    let with = |from: usize, to: usize, others: &[&'static str]| -> Vec<&str> {
        [&words[..from], others, &words[to..]].concat()
    };
    for (at, word) in words.iter().enumerate().skip(body) {
        match *word {
            "barrier" | "warp_barrier" => add("no barrier", at, with(at, at + 2, &[])),
            "atomic" => add("no `atomic`", at, with(at, at + 1, &[])),
            "[" => {
                let Some(end) = closing(&words, at) else { continue };
                let inside = outermost(&words, at + 1, end);
                if at == 0 || inside.iter().any(|at| words[*at] == ";") || !is_name(words[at - 1]) {
                    continue;
                }
                let commas = inside.into_iter().filter(|at| words[*at] == ",");
                let edges: Vec<usize> = [at].into_iter().chain(commas).chain([end]).collect();
                for pair in edges.windows(2) {
                    add("an index plus one", at, with(pair[1], pair[1], &[" + 1"]));
                }
                for three in edges.windows(3) {
                    let [from, middle, to] = three else { continue };
                    let (one, other) = (&words[from + 1..*middle], &words[middle + 1..*to]);
                    let swapped = [&words[..=*from], other, &[", "], one, &words[*to..]].concat();
                    add("two indices exchanged", at, swapped);
                }
            }
            "if" => {
                if let Some(block) = end_of(&words, at + 1, &["{"]) {
                    add("no guard", at, with(at + 1, block, &[" true "]));
                }
            }
            "." if words.get(at + 1) == Some(&".") => {
                if let Some(end) = end_of(&words, at + 2, &[")", "{"]) {
                    add("one round more", at, with(end, end, &[" + 1 "]));
                }
            }
            "halving" | "doubling" => add("one round more", at, with(at + 2, at + 2, &["2 * "])),
            _ => {}
        }
    }
    out
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The first of some words that stands in no bracket, from `from` on.
fn end_of(words: &[&str], from: usize, ends: &[&str]) -> Option<usize> {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(from) {
        match *word {
            word if depth == 0 && ends.contains(&word) => return Some(at),
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a mutant is a kernel, and what is wrong with it if it is accepted.
fn judge(text: &str, rng: &mut fastrand::Rng, keeps: bool) -> Option<Result<bool, String>> {
    let item = tile_syntax::parse_kernel_text(text).ok()?;
    let kernel = resolve_kernel(&item).ok()?;
    if check_kernel(kernel.clone()).is_err() {
        return Some(Ok(false));
    }
    let fault = fault_where(&kernel, rng, (LAUNCHES, keeps));
    match fault.or_else(|| fault_where(&kernel, rng, (LAUNCHES, true))) {
        Some(Outcome::Race(race)) => Some(Err(format!("a race: {race}"))),
        Some(Outcome::Parted) => Some(Err("a barrier that not all pass".to_owned())),
        Some(Outcome::Unwritten(cell)) => Some(Err(format!("nobody writes {cell}"))),
        Some(Outcome::Clean | Outcome::Unfit) | None => Some(Ok(true)),
    }
}

/// Whether the oracle sees no fault in a kernel that has none.
fn is_followed(text: &str, rng: &mut fastrand::Rng, keeps: bool) -> bool {
    let launches = if keeps { LAUNCHES } else { LAUNCHES_AS_IT_STANDS };
    let kernel = tile_syntax::parse_kernel_text(text).ok().and_then(|i| resolve_kernel(&i).ok());
    let found = kernel.and_then(|kernel| fault_where(&kernel, rng, (launches, keeps)));
    !matches!(found, Some(Outcome::Race(_) | Outcome::Parted | Outcome::Unwritten(_)))
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what is wanted")]
fn mutants_with_a_fault_are_not_accepted() {
    let mut texts = suite::accepted();
    let ours = ["tests/kernels/src", "examples"].map(kernels::in_folder).concat();
    assert!(ours.len() > 40, "only {} kernels in the other crates", ours.len());
    texts.extend(ours);
    let variable = |name| std::env::var(name).ok();
    let of = variable("TILE_MUTANTS_OF").unwrap_or_default();
    let texts = texts.iter().filter(|text| text.contains(&of));
    let mut all: Vec<(&String, Mutant)> = Vec::new();
    for text in texts {
        all.extend(mutants(text).into_iter().map(|mutant| (text, mutant)));
    }
    let seed = variable("TILE_MUTANTS_SEED").and_then(|seed| seed.parse().ok());
    let mut rng = fastrand::Rng::with_seed(seed.unwrap_or(1));
    let total = all.len();
    if variable("TILE_MUTANTS").is_none_or(|count| count != "all") {
        let count = variable("TILE_MUTANTS").and_then(|count| count.parse().ok());
        rng.shuffle(&mut all);
        all.truncate(count.unwrap_or(MUTANTS));
    }
    let (mut rejected, mut accepted) = (0, 0);
    let mut missed = String::new();
    for (original, (about, text)) in &all {
        let mut judged = judge(text, &mut rng, false);
        if matches!(judged, Some(Err(_))) && !is_followed(original, &mut rng, false) {
            assert!(is_followed(original, &mut rng, true), "a fault that is none\n{original}");
            judged = judge(text, &mut rng, true);
        }
        match judged {
            None => {}
            Some(Ok(false)) => rejected += 1,
            Some(Ok(true)) => accepted += 1,
            Some(Err(fault)) => {
                let _ = writeln!(missed, "{about}: accepted, but {fault}\n{text}");
            }
        }
    }
    let tried = all.len();
    println!("{tried} of {total} mutants: {rejected} rejected, {accepted} accepted");
    assert!(missed.is_empty(), "{missed}");
    // Of a few kernels there may be none.
    let are_both = 2 * rejected > tried / 2 && accepted > 0;
    assert!(are_both || !of.is_empty(), "{rejected} of {tried} rejected");
}
