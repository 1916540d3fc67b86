//! Kernels with words changed: whatever comes out, the parser, the resolver and
//! the checks say something about it, and in time.
//!
//! `TILE_MUTATIONS` says how many are tried.

use std::time::{Duration, Instant};

use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;

use crate::suite;

/// Changed kernels that are tried where nothing else is said.
const MUTATIONS: u64 = 1_200;

/// What one kernel may take on a machine that does other things too.
const MOST: Duration = Duration::from_secs(10);

/// The words of a text: names, numbers, and signs one by one.
fn words(text: &str) -> Vec<&str> {
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

#[test]
fn changed_kernels_are_judged_in_time() {
    let texts = suite::texts();
    let others: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let count = std::env::var("TILE_MUTATIONS").ok().and_then(|n| n.parse().ok());
    let (mut resolved, mut accepted) = (0, 0);
    for seed in 0..count.unwrap_or(MUTATIONS) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = mutated(&texts[rng.usize(0..texts.len())], &others, &mut rng);
        let started = Instant::now();
        let judged = std::panic::catch_unwind(|| {
            let item = tile_syntax::parse_kernel_text(&text).ok()?;
            let kernel = resolve_kernel(&item).ok()?;
            Some(check_kernel(kernel).is_ok())
        });
        let took = started.elapsed();
        let Ok(judged) = judged else { panic!("seed {seed}: the text above panics\n{text}") };
        assert!(took < MOST, "seed {seed}: {took:?}\n{text}");
        resolved += u32::from(judged.is_some());
        accepted += u32::from(judged == Some(true));
    }
    // Of no use where hardly any text is a kernel.
    assert!(resolved > 100 && accepted > 20, "{resolved} are kernels, {accepted} accepted");
}
