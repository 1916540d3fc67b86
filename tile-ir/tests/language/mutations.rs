//! Kernels with words changed, words of kernels in any order, and any characters:
//! whatever comes out, the parser, the resolver and the checks say something about
//! it, and in time.
//!
//! `TILE_MUTATIONS` says how many changed kernels are tried. `fuzz/` does the same
//! with coverage to guide it.

use std::time::{Duration, Instant};

use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::suite;

/// Changed kernels that are tried where nothing else is said.
const MUTATIONS: u64 = 1_200;

/// What the language is punctuated with, and what it is not.
const SIGNS: &[u8] = b"{}()[]<>;:,.'\"#/*\\!&|^-";

/// What one kernel may take, at its best: on a machine that does other things too
/// it is tried again.
const MOST: Duration = Duration::from_secs(10);
const TRIES: u32 = 4;

/// The words of a text: names, numbers, and signs one by one.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after;
    }
    words
}

/// `text` with some words deleted, doubled, exchanged, or taken from `others`.
fn mutated(text: &str, others: &[&str], rng: &mut fastrand::Rng) -> String {
    let mut words = words(text);
    for _ in 0..rng.usize(1..=3) {
        if words.is_empty() {
            break;
        }
        let at = rng.usize(0..words.len());
        match rng.u8(0..5) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => {
                let other = rng.usize(0..words.len());
                words.swap(at, other);
            }
            3 => {
                let same = words[rng.usize(0..words.len())];
                words[at] = same;
            }
            _ => words[at] = others[rng.usize(0..others.len())],
        }
    }
    words.concat()
}

/// What the parser, the resolver and the checks make of a text: whether it is a
/// kernel, and whether it is accepted.
fn judged(text: &str) -> (bool, bool) {
    let judge = || {
        let item = tile_syntax::parse_kernel_text(text).ok()?;
        let kernel = resolve_kernel(&item).ok()?;
        Some(check_kernel(kernel).is_ok())
    };
    for _ in 0..TRIES {
        let started = Instant::now();
        let judged = std::panic::catch_unwind(judge);
        let Ok(judged) = judged else { panic!("this text panics, as told above\n{text}") };
        if started.elapsed() < MOST {
            return (judged.is_some(), judged == Some(true));
        }
    }
    panic!("longer than {MOST:?}, again and again\n{text}");
}

#[test]
fn changed_kernels_are_judged_in_time() {
    let texts = suite::texts();
    let others: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let count = std::env::var("TILE_MUTATIONS").ok().and_then(|n| n.parse().ok());
    let (mut resolved, mut accepted) = (0, 0);
    for seed in 0..count.unwrap_or(MUTATIONS) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = mutated(&texts[rng.usize(0..texts.len())], &others, &mut rng);
        let (is_kernel, is_accepted) = judged(&text);
        resolved += u32::from(is_kernel);
        accepted += u32::from(is_accepted);
    }
    // Of no use where hardly any text is a kernel.
    assert!(resolved > 100 && accepted > 20, "{resolved} are kernels, {accepted} accepted");
}

#[test]
fn words_in_any_order_are_judged() {
    let texts = suite::texts();
    let vocabulary: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    for seed in 0..3 * MUTATIONS {
        let mut rng = fastrand::Rng::with_seed(seed);
        let kernel = &texts[rng.usize(0..texts.len())];
        let (head, _) = kernel.split_once('{').expect("a kernel has a body");
        // Half of the texts get past the header.
        let mut text = if rng.bool() { format!("{head}{{") } else { String::new() };
        for _ in 0..rng.usize(0..40) {
            text += vocabulary[rng.usize(0..vocabulary.len())];
            text.push(' ');
        }
        text.push('}');
        judged(&text);
    }
}

#[test]
fn any_characters_are_judged() {
    let texts = suite::texts();
    for seed in 0..3 * MUTATIONS {
        let mut rng = fastrand::Rng::with_seed(seed);
        let kernel = &texts[rng.usize(0..texts.len())];
        let mut chars: Vec<char> = kernel.chars().collect();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(0..chars.len());
            let other = match rng.u8(0..4) {
                0 => rng.char(..),
                1 => char::from(SIGNS[rng.usize(0..SIGNS.len())]),
                _ => char::from(rng.u8(32..127)),
            };
            match rng.u8(0..3) {
                0 => chars[at] = other,
                1 => chars.insert(at, other),
                _ => chars.truncate(at + 1),
            }
        }
        judged(&chars.into_iter().collect::<String>());
    }
}
