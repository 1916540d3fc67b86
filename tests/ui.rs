//! What rustc prints for faulty kernels: `ui/<rule>/<case>.rs` is a kernel with a
//! mistake and `<case>.stderr` what the author is told. The texts hold for one
//! version of rustc, whose part of them changes between versions.
//!
//! `UPDATE_EXPECT=1` writes them anew, `TILE_TEST_RULE` leaves those of one rule. The
//! nearest correct kernels are `accepted.rs`'s.

mod messages;
mod rustc;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc::Rustc;

#[test]
fn kernels_are_rejected() {
    let faulty = faulty();
    let (version, wanted) = (Rustc::version(), rustc::VERSION);
    if version.starts_with(&format!("rustc {wanted}.")) {
        let wrong = wrong(&faulty);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    } else {
        // Past the harness, which keeps the output of tests that pass to itself.
        let note = format!(
            "SKIPPED: {} UI texts are those of rustc {wanted}, this is {version}\n",
            faulty.len()
        );
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
}

/// What differs from the texts, case by case; on each processor one is compiled.
fn wrong(cases: &[PathBuf]) -> Vec<String> {
    let rustc = Rustc::new();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(differs(&rustc, case));
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// How what rustc says of a case differs from its text.
fn differs(rustc: &Rustc, case: &Path) -> Option<String> {
    let from_root = case.strip_prefix(rustc::workspace()).unwrap();
    let found = messages::normalized(&rustc.messages(from_root));
    let path = case.with_extension("stderr");
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if found == expected && !found.is_empty() {
        return None;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() && !found.is_empty() {
        fs::write(path, found).unwrap();
        return None;
    }
    let case = from_root.display();
    Some(match found.is_empty() {
        true => format!("{case} compiles"),
        false => format!("{case}\n--- expected\n{expected}--- found\n{found}"),
    })
}

/// One mistake gives one error; a case that needs more says `// errors: n`.
#[test]
fn one_error_a_mistake() {
    for path in texts() {
        let source = fs::read_to_string(path.with_extension("rs")).unwrap();
        let stated = source.lines().find_map(|line| line.strip_prefix("// errors: "));
        let expected = stated.map_or(1, |n| n.parse().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        let found = text.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(found, expected, "errors in {}:\n{text}", path.display());
    }
}

/// Texts speak the author's language: no types or ids of the compiler.
#[test]
fn no_internal_names() {
    const INTERNAL: [&str; 16] = [
        "tile_ir",
        "tile_syntax",
        "ExprId",
        "VarId",
        "SpanId",
        "TileId",
        "TensorId",
        "LoopId",
        "ExprKind",
        "StmtKind",
        "ElemType",
        "DType",
        "Concrete(",
        "Some(",
        "Scalar(",
        "panicked",
    ];
    for path in texts() {
        let text = fs::read_to_string(&path).unwrap();
        for name in INTERNAL {
            assert!(!text.contains(name), "`{name}` in {}:\n{text}", path.display());
        }
    }
}

/// Every rule has a case that is rejected and one that is accepted.
#[test]
fn every_rule_has_both() {
    for rule in rules() {
        let has = |ending: &str| files(&rule).iter().any(|path| path.ends_with(ending));
        assert!(has("accepted.rs"), "{} accepts nothing", rule.display());
        let texts = files(&rule).iter().filter(|path| is(path, "stderr")).count();
        assert!(texts > 0, "{} rejects nothing", rule.display());
    }
}

fn rules() -> Vec<PathBuf> {
    let rules = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ui"));
    rules.into_iter().filter(|path| path.is_dir()).collect()
}

/// The cases; of one rule where a variable names one.
fn faulty() -> Vec<PathBuf> {
    let is_case = |path: &PathBuf| is(path, "rs") && !path.ends_with("accepted.rs");
    let named = std::env::var("TILE_TEST_RULE").ok();
    let is_asked_for =
        |rule: &&PathBuf| named.as_ref().is_none_or(|name| rule.file_name() == Some(name.as_ref()));
    rules().iter().filter(is_asked_for).flat_map(|rule| files(rule)).filter(is_case).collect()
}

fn texts() -> Vec<PathBuf> {
    let texts: Vec<_> =
        rules().iter().flat_map(|rule| files(rule)).filter(|path| is(path, "stderr")).collect();
    assert!(!texts.is_empty());
    texts
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// What a folder holds, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    paths
}
