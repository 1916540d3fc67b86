//! Kernels as users write them, in the files of other crates.

use std::path::Path;

use crate::mutations::words;

/// Where the bracket at `at` is closed.
pub(crate) fn closing(words: &[&str], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (end, word) in words.iter().enumerate().skip(at) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(end);
        }
    }
    None
}

/// The texts of the kernels in a folder of the repository.
pub(crate) fn in_folder(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    let mut out = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("is text");
        let words = words(&text);
        for (at, word) in words.iter().enumerate() {
            let opens = at + 3 < words.len() && words[at + 1..at + 4] == ["!", " ", "{"];
            if *word == "tiled_kernel"
                && opens
                && let Some(end) = closing(&words, at + 3)
            {
                out.push(words[at + 4..end].concat());
            }
        }
    }
    out
}
