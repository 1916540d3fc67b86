//! The rule for environment variables: each that a program of ours reads stands in the
//! table of the README.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Where variables are read that users may set.
const READ: [&str; 6] = [
    "tile-runtime/src",
    "tile-ir/src",
    "tile-syntax/src",
    "tile-macros/src",
    "examples",
    "benches",
];
/// The table.
const TABLE: &str = "README.md";
/// What variables of ours begin with, and those that only tests read.
const OURS: &str = "TILE_";
const OF_TESTS: &str = "TILE_TEST_";

/// Every variable without a row, and every row of ours without a variable.
pub(super) fn without_row(root: &Path) -> io::Result<Vec<String>> {
    let mut read = BTreeSet::new();
    for folder in READ.map(|folder| root.join(folder)).iter().filter(|folder| folder.exists()) {
        for path in super::files::sources(folder)? {
            if path.extension().is_some_and(|extension| extension == "rs") {
                read.extend(variables(&fs::read_to_string(&path)?, '"'));
            }
        }
    }
    if read.is_empty() {
        return Ok(vec!["no variable found".to_owned()]);
    }
    let table = fs::read_to_string(root.join(TABLE))?;
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let rows: BTreeSet<String> = rows.flat_map(|row| variables(row, '`')).collect();
    let without = read.difference(&rows).map(|name| format!("{TABLE}: no row for {name}"));
    let unread = rows.difference(&read).map(|name| format!("{TABLE}: nothing reads {name}"));
    Ok(without.chain(unread).collect())
}

/// The names of ours that stand alone in quotes.
fn variables(text: &str, quote: char) -> BTreeSet<String> {
    let is_name = |word: &&str| {
        word.starts_with(OURS)
            && !word.starts_with(OF_TESTS)
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    text.split(quote).filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_those_in_quotes() {
        let text = "const V: &str = \"TILE_TUNE\"; // TILE_X\nvar(\"TILE_TEST_A\"), \"TILE_ME is\"";
        let names: Vec<String> = super::variables(text, '"').into_iter().collect();
        assert_eq!(names, ["TILE_TUNE"]);
    }
}
