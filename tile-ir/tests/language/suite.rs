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
            let expected: BTreeSet<&str> = codes.split_whitespace().collect();
            let is_accept = line.starts_with("// accept");
            assert_eq!(is_accept, expected.is_empty(), "line {}: `{line}`: which codes?", at + 1);
            cases.push(Case { line: at + 1, about, expected, text: String::new() });
        } else if let Some(case) = cases.last_mut() {
            case.text += line;
            case.text.push('\n');
        }
    }
    cases
}

/// A file, and what the checker says of each of its kernels once anybody has asked.
struct Family {
    name: &'static str,
    cases: Vec<Case<'static>>,
    judged: Vec<OnceLock<Judged>>,
}

impl Family {
    fn new(name: &'static str, file: &'static str) -> Self {
        let cases = cases(file);
        let judged = cases.iter().map(|_| OnceLock::new()).collect();
        Self { name, cases, judged }
    }

    /// What the checker says of a kernel: one judgement serves all tests of a run.
    fn judged(&self, at: usize) -> &Judged {
        self.judged[at].get_or_init(|| judge(&self.cases[at].text))
    }
}

#[track_caller]
fn check(name: &str) {
    let family = FAMILIES.iter().find(|family| family.name == name).expect("it is listed");
    let mut report = String::new();
    for (at, case) in family.cases.iter().enumerate() {
        let judged = family.judged(at);
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
    added agreed aligned alike anew apart around arrays atomics ballots bases basics begins
    behind belated below benchmarks beside between bins bisected bit_by_bit bit_parts bits
    blocks bracketed brought buffers butterflies by_for chains chosen chosen_digits chunks
    claims clamped coarse collected combined confined contrary control converted corners counted
    counters counting counts cursors cut_parts decided digit_rounds digits digits_by_subtraction
    dims doubled doubtful each_way elected ended ends entered equations exact far fetched few
    few_steps filled flags flipped followed former found fronts further gather generated
    generics given graphs grids grouped halos halved halvings hand hits inclusive inserted kept
    lanes large last_part lastly late launched launches layers leaving left left_by lessons
    levels library limited_parts limits listed loaded long looped loops made many_rounds marks
    masks matrices merges micro mirrors mixed monotone multiplied narrow natural_differences
    nearby nearly offsets ones open opposed orders padded pairings params parted partial
    partners passed permuted physics picked pictures pieces placed places planes ported ports
    powers prefixes probed programs published queues ragged raised rank_parts ranks rarely reach
    reached read reading recounted rectangles reduced reductions registers remembered resampled
    reserved restored rising rolled rotated rounded rounds rows running samples scanned scans
    scattered searches seats segments seldom sentinels settled several shares sized sizes
    solvers sorted sorts spans spelled split_keys splits stable_ranks staged started starts
    stencils steps stolen stored strays strides summed sums swept symbolic tables takers tallies
    teams tickets tiles together told told_claims totals triangles turned turns twice unrolled
    unseen unset values vectors verified vouched waits walked warps wavefronts wavelets waves
    weighed whiles wholes wide wished worlds
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
    all().map(|kernel| kernel.text().to_owned()).collect()
}

/// A kernel of the suite.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    family: &'static Family,
    at: usize,
}

impl Placed {
    pub(crate) fn place(self) -> String {
        format!("{}:{}", self.family.name, self.family.cases[self.at].line)
    }

    pub(crate) fn text(self) -> &'static str {
        &self.family.cases[self.at].text
    }

    /// What the checker says of it.
    pub(crate) fn judged(self) -> &'static Judged {
        self.family.judged(self.at)
    }
}

/// All kernels.
pub(crate) fn all() -> impl DoubleEndedIterator<Item = Placed> {
    let of_family =
        |family: &'static Family| (0..family.cases.len()).map(move |at| Placed { family, at });
    FAMILIES.iter().flat_map(of_family)
}

/// All kernels, each with its place, its text, and what the checker says of it. From the
/// last on: the tests of single files come from the first on, and neither waits for the
/// other.
pub(crate) fn all_judged() -> impl Iterator<Item = (String, &'static str, &'static Judged)> {
    all().rev().map(|kernel| (kernel.place(), kernel.text(), kernel.judged()))
}
