//! Kernels with verdicts: the ideas of published suites of racy and race-free
//! kernels, one file a family under `suite/`.
//!
//! A file opens with a line about its family. Then, again and again, a line with
//! the verdict and what the kernel is about, and the kernel:
//!
//! ```text
//! // accept: tile filled, barrier, neighbour read
//! fn f(…) where … { … }
//!
//! // reject TK0301: the same without its barrier
//! fn f(…) where … { … }
//! ```
//!
//! `reject` names the codes of all errors, sorted. All rules are asked.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tile_ir::check::check_kernel;
use tile_ir::diag::{Diagnostics, Severity, render};
use tile_ir::resolve::resolve_kernel;
use tile_ir::span::SpanTable;

/// A kernel and what is to be said of it.
struct Case<'a> {
    /// Where it begins in its file, from 1.
    line: usize,
    about: &'a str,
    /// The codes of its errors; none where it is accepted.
    expected: BTreeSet<&'a str>,
    text: String,
}

/// The cases of a file.
fn cases(file: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (at, line) in file.lines().enumerate() {
        let verdict = line.strip_prefix("// accept").or_else(|| line.strip_prefix("// reject"));
        if let Some((codes, about)) = verdict.and_then(|rest| rest.split_once(": ")) {
            let expected = codes.split_whitespace().collect();
            cases.push(Case { line: at + 1, about, expected, text: String::new() });
        } else if let Some(case) = cases.last_mut() {
            case.text += line;
            case.text.push('\n');
        }
    }
    cases
}

/// The codes of the errors in `text`, and the errors as a user reads them.
fn findings(text: &str) -> (BTreeSet<&'static str>, String) {
    let item = match tile_syntax::parse_kernel_text(text) {
        Ok(item) => item,
        Err(errors) => return (BTreeSet::from(["syntax"]), errors.to_string()),
    };
    let found = resolve_kernel(&item).and_then(check_kernel);
    match found {
        Ok(_) => (BTreeSet::new(), String::new()),
        Err(diags) => errors(diags, &item.spans),
    }
}

fn errors(diags: Diagnostics, spans: &SpanTable) -> (BTreeSet<&'static str>, String) {
    let mut codes = BTreeSet::new();
    let mut text = String::new();
    for diagnostic in diags {
        if diagnostic.severity == Severity::Error {
            codes.insert(diagnostic.code.text());
            text += &render(&diagnostic, spans);
        }
    }
    (codes, text)
}

#[track_caller]
fn check(name: &str, file: &str) {
    let mut report = String::new();
    let cases = cases(file);
    for case in &cases {
        let (codes, errors) = findings(&case.text);
        if codes != case.expected {
            let list = |codes: &BTreeSet<&str>| match codes.is_empty() {
                true => "accept".to_owned(),
                false => codes.iter().copied().collect::<Vec<_>>().join(" "),
            };
            let (expected, found) = (list(&case.expected), list(&codes));
            let Case { line, about, .. } = case;
            let _ = writeln!(
                report,
                "{name}.kernels:{line}: {about}: {expected} is right, found {found}\n{errors}"
            );
        }
    }
    assert!(report.is_empty(), "\n{report}");
    assert!(cases.len() > 1, "{name}.kernels has no kernels");
}

/// One test for each file, and [`FILES`].
macro_rules! families {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), include_str!(concat!("suite/", stringify!($name), ".kernels")));
            }
        )*

        /// The files by name, for tests of all kernels.
        const FILES: &[(&str, &str)] = &[
            $((stringify!($name), include_str!(concat!("suite/", stringify!($name), ".kernels"))),)*
        ];
    };
}

families! {
    anew arrays atomics ballots basics benchmarks beside blocks butterflies chosen claims coarse
    collected combined control corners counted digits doubled ends equations exact fetched filled
    flipped further gather generated graphs grids grouped halved hand kept lanes late launched
    launches layers left lessons levels library limits loaded long loops marks matrices micro
    mirrors mixed multiplied narrow nearly offsets open orders params partners permuted physics
    pictures pieces places ported ports powers prefixes programs published queues ranks reach
    rectangles reductions reserved restored rolled rounds rows running samples scans scattered
    searches segments settled shares sized sizes solvers sorts stencils steps strides summed
    symbolic tables teams tiles triangles turned values verified waits warps waves wide
}

#[test]
fn every_file_of_the_suite_is_a_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language/suite");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = entries
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, listed);
}

/// The texts of the kernels that are accepted.
pub(crate) fn accepted() -> Vec<String> {
    let cases = FILES.iter().flat_map(|(_, file)| cases(file));
    cases.filter(|case| case.expected.is_empty()).map(|case| case.text).collect()
}

/// The texts of all kernels.
pub(crate) fn texts() -> Vec<String> {
    placed_texts().into_iter().map(|(_, text)| text).collect()
}

/// The texts of all kernels, each with its place.
pub(crate) fn placed_texts() -> Vec<(String, String)> {
    let of_file = |(name, file): &(&str, &'static str)| {
        let name = (*name).to_owned();
        cases(file).into_iter().map(move |case| (format!("{name}:{}", case.line), case.text))
    };
    FILES.iter().flat_map(of_file).collect()
}
