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
use std::sync::{LazyLock, OnceLock};

use crate::judged::{Judged, judge};

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

/// A file, and what the checker says of its kernels once anybody has asked.
struct Family {
    name: &'static str,
    cases: Vec<Case<'static>>,
    judged: OnceLock<Vec<Judged>>,
}

impl Family {
    fn new(name: &'static str, file: &'static str) -> Self {
        Self { name, cases: cases(file), judged: OnceLock::new() }
    }

    /// The kernels with what the checker says of them.
    fn judged(&self) -> impl Iterator<Item = (&Case<'static>, &Judged)> {
        let judge_all = || self.cases.iter().map(|case| judge(&case.text)).collect();
        self.cases.iter().zip(self.judged.get_or_init(judge_all))
    }

    fn place(&self, case: &Case<'_>) -> String {
        format!("{}:{}", self.name, case.line)
    }
}

#[track_caller]
fn check(name: &str) {
    let family = FAMILIES.iter().find(|family| family.name == name).expect("it is listed");
    let mut report = String::new();
    for (case, judged) in family.judged() {
        let codes = judged.codes();
        if codes != case.expected {
            let list = |codes: &BTreeSet<&str>| match codes.is_empty() {
                true => "accept".to_owned(),
                false => codes.iter().copied().collect::<Vec<_>>().join(" "),
            };
            let (expected, found) = (list(&case.expected), list(&codes));
            let Case { line, about, .. } = case;
            let _ = writeln!(
                report,
                "{name}.kernels:{line}: {about}: {expected} is right, found {found}\n{}",
                judged.errors()
            );
        }
    }
    assert!(report.is_empty(), "\n{report}");
    assert!(family.cases.len() > 1, "{name}.kernels has no kernels");
}

/// One test for each file, and [`FAMILIES`].
macro_rules! families {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        /// All files, for tests of all kernels.
        static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| vec![
            $(Family::new(
                stringify!($name),
                include_str!(concat!("suite/", stringify!($name), ".kernels")),
            ),)*
        ]);
    };
}

families! {
    added agreed alike anew arrays atomics ballots basics benchmarks beside blocks
    butterflies chains chosen claims coarse collected combined confined contrary control
    corners counted digits doubled doubtful ends equations exact far fetched few filled
    flipped followed fronts further gather generated generics given graphs grids grouped
    halved hand inclusive kept lanes late launched launches layers leaving left lessons
    levels library limits loaded long loops marks matrices micro mirrors mixed multiplied
    narrow nearly offsets open orders params parted partners passed permuted physics
    pictures pieces places ported ports powers prefixes programs published queues ranks
    reach reading rectangles reduced reductions reserved restored rolled rotated rounds rows
    running samples scans scattered searches seats segments settled shares sized sizes
    solvers sorts starts stencils steps stored strides summed sums symbolic tables takers
    teams tickets tiles told triangles turned twice unseen values verified waits warps waves
    weighed wholes wide
}

#[test]
fn every_file_of_the_suite_is_a_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language/suite");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = entries
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let listed: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(found, listed);
}

/// The texts of the kernels that are accepted.
pub(crate) fn accepted() -> Vec<String> {
    let cases = FAMILIES.iter().flat_map(|family| &family.cases);
    cases.filter(|case| case.expected.is_empty()).map(|case| case.text.clone()).collect()
}

/// The texts of all kernels.
pub(crate) fn texts() -> Vec<String> {
    placed_texts().into_iter().map(|(_, text)| text).collect()
}

/// The texts of all kernels, each with its place.
pub(crate) fn placed_texts() -> Vec<(String, String)> {
    let of_family = |family: &'static Family| {
        family.cases.iter().map(|case| (family.place(case), case.text.clone()))
    };
    FAMILIES.iter().flat_map(of_family).collect()
}

/// All kernels, each with its place, its text, and what the checker says of it: one
/// judgement serves all tests of a run.
pub(crate) fn all_judged() -> impl Iterator<Item = (String, &'static str, &'static Judged)> {
    FAMILIES.iter().flat_map(|family| {
        let placed = |(case, judged): (&'static Case<'_>, &'static Judged)| {
            (family.place(case), case.text.as_str(), judged)
        };
        family.judged().map(placed)
    })
}
