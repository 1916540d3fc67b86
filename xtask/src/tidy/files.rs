//! The rules for source files.
//!
//! | rule | reason |
//! | --- | --- |
//! | a Rust file starts with its `//!` doc | it says what the file decides |
//! | at most 800 lines | a file holds one idea |
//! | no marks for later work | that is what issues are for |
//! | no space at a line's end, a newline at the file's end | quiet diffs |
//! | `unsafe` only where [`UNSAFE_PLACES`] says | it is reviewed there |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 800;

/// Folders that hold no sources of ours.
const SKIPPED: [&str; 2] = ["target", "bundle"];

const EXTENSIONS: [&str; 7] = ["rs", "toml", "md", "cu", "cuh", "py", "sh"];

/// The two devices, and the places that hand them the memory of tensors.
const UNSAFE_PLACES: [&str; 4] = [
    "tile-runtime/src/cuda/",
    "tile-runtime/src/cpu/",
    "tile-runtime/src/launch/run",
    "tile-runtime/src/tensor.rs",
];

/// Inputs and expectations of tests: what a user might write, and what we make of
/// it, warts and all.
const CASES: [&str; 3] = ["tests/ui/", "tile-macros/tests/expand/", "tile-syntax/tests/mistakes/"];

/// Marks for later work, spelt so that this file holds none.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Every breach under `root`, as `file:line: what`.
pub(super) fn broken_rules(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for path in sources(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        check_file(&name, &fs::read_to_string(&path)?, &mut found);
    }
    Ok(found)
}

/// The files with a known extension below a folder, in order of their names.
pub(super) fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                files.extend(sources(&path)?);
            }
        } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known)) {
            files.push(path);
        }
    }
    Ok(files)
}

fn check_file(name: &str, text: &str, found: &mut Vec<String>) {
    let is_rust = name.ends_with(".rs");
    let is_case = CASES.iter().any(|folder| name.starts_with(folder));
    if is_rust && !is_case && !text.starts_with("//!") {
        found.push(format!("{name}:1: the file does not start with its `//!` doc"));
    }
    let lines = text.lines().count();
    if is_rust && lines > MOST_LINES {
        found.push(format!("{name}:{lines}: more than {MOST_LINES} lines"));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        found.push(format!("{name}:{lines}: no newline at the end"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.ends_with([' ', '\t', '\r']) {
            found.push(format!("{name}:{number}: space at the end of the line"));
        }
        if let Some(mark) = MARKS.iter().find(|mark| has_word(line, mark)) {
            found.push(format!("{name}:{number}: `{mark}`; open an issue instead"));
        }
        let allowed = is_case || UNSAFE_PLACES.iter().any(|place| name.starts_with(place));
        if is_rust && !allowed && is_unsafe(line) {
            found.push(format!("{name}:{number}: `unsafe`, which only the devices may use"));
        }
    }
}

/// Whether a line of code (not of a comment) opens something unsafe.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    let opens = [
        "unsafe {",
        "unsafe fn ",
        "unsafe impl ",
        "unsafe impl<",
        "unsafe extern ",
        "unsafe trait ",
    ];
    opens.iter().any(|open| code.find(open).is_some_and(|at| !code[..at].ends_with(['_', '"'])))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        check_file(name, text, &mut found);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_good_file() {
        check("tile-ir/src/a.rs", "//! What it decides.\n\nfn f() {}\n", &[]);
        check("tile-runtime/src/cuda/a.rs", "//! D.\nlet x = unsafe { f() };\n", &[]);
        check("tests/ui/race/a.rs", "fn main() {}\n", &[]);
    }

    #[test]
    fn each_breach_is_named_with_its_line() {
        check("a.rs", "fn f() {}\n", &["a.rs:1: the file does not start with its `//!` doc"]);
        check("a.md", "text \n", &["a.md:1: space at the end of the line"]);
        check("a.md", "text", &["a.md:1: no newline at the end"]);
        let mark = MARKS[0];
        check(
            "a.md",
            &format!("one\n{mark}: two\n"),
            &[&format!("a.md:2: `{mark}`; open an issue instead")],
        );
        let long = format!("//! D.\n{}", "\n".repeat(MOST_LINES));
        check("a.rs", &long, &["a.rs:801: more than 800 lines"]);
    }

    #[test]
    fn unsafe_stays_in_its_folders() {
        let keyword = "unsafe";
        let text =
            format!("//! D.\n// {keyword} {{ is a word here\nlet x = {keyword} {{ f() }};\n");
        let breach = "tile-ir/src/a.rs:3: `unsafe`, which only the devices may use";
        check("tile-ir/src/a.rs", &text, &[breach]);
    }
}
