//! Where the lines of a program go: one JSON object each.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;

/// A line.
pub trait Told: Serialize {
    /// Whether it tells of a failure.
    fn has_failed(&self) -> bool;
}

/// Standard output, and a file where one is named; keeps the lines.
#[derive(Debug)]
pub struct Sink<L> {
    file: Option<File>,
    lines: Vec<L>,
}

impl<L: Told> Sink<L> {
    /// Makes the file anew.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        Ok(Self { file: path.map(File::create).transpose()?, lines: Vec::new() })
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn write(&mut self, line: L) -> io::Result<()> {
        let text = serde_json::to_string(&line)?;
        println!("{text}");
        if let Some(file) = &mut self.file {
            writeln!(file, "{text}")?;
        }
        self.lines.push(line);
        Ok(())
    }

    /// All lines so far.
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// How many of them tell of a failure.
    pub fn n_failed(&self) -> usize {
        self.lines.iter().filter(|line| line.has_failed()).count()
    }
}
