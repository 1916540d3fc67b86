//! Writes each kernel of the checker's suite into a file of `fuzz/corpus/check`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = here.join("corpus/check");
    fs::create_dir_all(&corpus)?;
    let mut n_kernels = 0;
    for entry in fs::read_dir(here.join("../tile-ir/tests/language/suite"))? {
        let path = entry?.path();
        let family = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (number, kernel) in kernels(&fs::read_to_string(&path)?).enumerate() {
            fs::write(corpus.join(format!("{family}-{number}")), kernel)?;
            n_kernels += 1;
        }
    }
    println!("{n_kernels} kernels in {}", corpus.display());
    Ok(())
}

/// The kernels of a file of the suite, each without the line of its verdict.
fn kernels(file: &str) -> impl Iterator<Item = String> {
    let is_verdict = |line: &str| line.starts_with("// accept") || line.starts_with("// reject");
    let mut kernels: Vec<Option<String>> = vec![None];
    for line in file.lines() {
        if is_verdict(line) {
            kernels.push(Some(String::new()));
        } else if let Some(Some(kernel)) = kernels.last_mut() {
            kernel.push_str(line);
            kernel.push('\n');
        }
    }
    kernels.into_iter().flatten()
}
