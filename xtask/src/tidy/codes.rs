//! The rules for diagnostic codes: each has a row in the manual, and a test that
//! shows its text.

use std::fs;
use std::io;
use std::path::Path;

const CODES: &str = "tile-ir/src/diag/code.rs";
const MANUAL: &str = "docs/diagnostics.md";

/// Where a diagnostic's text can be shown: as rustc prints it, or as the checker
/// gives it.
const SHOWN: [&str; 3] = ["tests/ui", "tile-ir", "tile-syntax"];

/// Every code without a row in the manual.
pub(super) fn without_row(root: &Path) -> io::Result<Vec<String>> {
    let codes = codes(&fs::read_to_string(root.join(CODES))?);
    if codes.is_empty() {
        return Ok(vec![format!("{CODES}: no code found")]);
    }
    let manual = fs::read_to_string(root.join(MANUAL))?;
    let without = codes.iter().filter(|code| !manual.contains(&format!("| {code} |")));
    Ok(without.map(|code| format!("{MANUAL}: no row for {code}")).collect())
}

/// Every code whose text no test shows.
pub(super) fn without_test(root: &Path) -> io::Result<Vec<String>> {
    let codes = codes(&fs::read_to_string(root.join(CODES))?);
    let shown = shown(root)?;
    let without = codes.iter().filter(|code| !shown.contains(code.as_str()));
    Ok(without.map(|code| format!("{CODES}: no test shows {code}")).collect())
}

/// The codes, from the match arms that print them.
fn codes(text: &str) -> Vec<String> {
    let arms = text.lines().filter_map(|line| line.trim().split_once("=> \"TK"));
    arms.filter_map(|(_, rest)| rest.split_once('"')).map(|(code, _)| format!("TK{code}")).collect()
}

/// The text of all tests that may show a code.
fn shown(root: &Path) -> io::Result<String> {
    let mut text = String::new();
    for folder in SHOWN.map(|folder| root.join(folder)).iter().filter(|folder| folder.exists()) {
        for path in super::files::sources(folder)? {
            let name = path.to_string_lossy().replace('\\', "/");
            if name.ends_with(".rs") && !name.ends_with("diag/code.rs") {
                text.push_str(&tests_of(&fs::read_to_string(&path)?, &name));
            }
            let printed = path.with_extension("stderr");
            if printed.exists() {
                text.push_str(&fs::read_to_string(printed)?);
            }
        }
    }
    Ok(text)
}

/// The part of a source file that tests: all of a test file, else what follows
/// `#[cfg(test)]`.
fn tests_of(text: &str, name: &str) -> String {
    if name.ends_with("/tests.rs") || name.contains("/tests/") {
        return text.to_owned();
    }
    text.split_once("#[cfg(test)]").map_or(String::new(), |(_, tests)| tests.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_read_from_the_match() {
        let text = "/// TK9999: no.\nSelf::Syntax => \"TK0001\",\nSelf::Races => \"TK0301\",\n";
        assert_eq!(super::codes(text), ["TK0001", "TK0301"]);
    }
}
