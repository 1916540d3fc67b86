//! What rustc prints for faulty kernels: `ui/<rule>/<case>.rs` is a kernel with a
//! mistake and `<case>.stderr` what the author is told. The texts hold for one
//! version of rustc, whose part of them changes between versions.
//!
//! The nearest correct kernels are `accepted.rs`'s: with one case that is to
//! compile, trybuild builds all and runs cargo once for each.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The rustc whose texts the `.stderr` files are.
const RUSTC: &str = "1.95";

#[test]
fn kernels_are_rejected() {
    let faulty = faulty();
    let version = rustc_version();
    if version.starts_with(&format!("rustc {RUSTC}.")) {
        let cases = trybuild::TestCases::new();
        faulty.iter().for_each(|path| cases.compile_fail(path));
    } else {
        // Past the harness, which keeps the output of tests that pass to itself.
        let note = format!(
            "SKIPPED: {} UI texts are those of rustc {RUSTC}, this is {version}\n",
            faulty.len()
        );
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
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

fn rustc_version() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn rules() -> Vec<PathBuf> {
    let rules = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ui"));
    rules.into_iter().filter(|path| path.is_dir()).collect()
}

fn faulty() -> Vec<PathBuf> {
    let is_case = |path: &PathBuf| is(path, "rs") && !path.ends_with("accepted.rs");
    rules().iter().flat_map(|rule| files(rule)).filter(is_case).collect()
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
