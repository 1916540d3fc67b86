//! Runs the steps of a command and keeps their seconds.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

/// The steps so far, in order, with what each took.
#[derive(Default)]
pub(crate) struct Steps {
    taken: Vec<(String, Duration)>,
}

impl Steps {
    /// Runs a step of our own.
    pub(crate) fn run<T, E: Into<Failure>>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Failure> {
        announce(name);
        let start = Instant::now();
        let result = step();
        self.taken.push((name.to_owned(), start.elapsed()));
        result.map_err(|failure| format!("{name}: {}", failure.into()).into())
    }

    /// Runs a program; one that fails is the step's failure.
    pub(crate) fn command(&mut self, name: &str, command: &mut Command) -> Result<(), Failure> {
        self.run(name, || match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{}` ended with {status}", command_line(command))),
            Err(error) => Err(format!("cannot run `{}`: {error}", command_line(command))),
        })
    }

    /// Runs `cargo test`, and keeps the seconds of each test target apart. So no
    /// list of targets is kept here that a new one could be missing from.
    pub(crate) fn cargo_test(&mut self, command: &mut Command) -> Result<(), Failure> {
        announce("test");
        let spawned = command.stderr(Stdio::piped()).spawn();
        let mut child =
            spawned.map_err(|error| format!("cannot run `{}`: {error}", command_line(command)))?;
        let messages = child.stderr.take().expect("standard error is piped");
        let mut target: Option<(String, Instant)> = None;
        for line in BufReader::new(messages).lines() {
            let line = line?;
            eprintln!("{line}");
            if let Some(name) = started_target(&line) {
                self.close(target.replace((name, Instant::now())));
            }
        }
        let status = child.wait()?;
        self.close(target);
        if status.success() { Ok(()) } else { Err("test: a test failed".into()) }
    }

    fn close(&mut self, target: Option<(String, Instant)>) {
        if let Some((name, start)) = target {
            self.taken.push((name, start.elapsed()));
        }
    }

    /// Prints the steps and their seconds.
    pub(crate) fn print_table(&self) {
        let width = self.taken.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(5);
        let total: Duration = self.taken.iter().map(|(_, taken)| *taken).sum();
        println!();
        for (name, taken) in &self.taken {
            println!("{name:width$}  {:7.1} s", taken.as_secs_f64());
        }
        println!("{:width$}  {:7.1} s", "total", total.as_secs_f64());
    }
}

fn announce(name: &str) {
    println!("=== {name}");
    // Cargo writes to the other stream; what was said must stand before it.
    std::io::stdout().flush().expect("standard output is open");
}

fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The test target that a line of cargo's says it starts: `Running
/// tests/ui.rs (target/…)` or `Doc-tests tile_ir`.
fn started_target(line: &str) -> Option<String> {
    let plain = without_colours(line);
    let words = plain.trim_start();
    if let Some(name) = words.strip_prefix("Doc-tests ") {
        return Some(format!("test: doc {name}"));
    }
    let (source, binary) = words.strip_prefix("Running ")?.split_once(" (")?;
    let stem = binary.trim_end_matches(')').rsplit(['/', '\\']).next()?;
    let package = stem.rsplit_once('-').map_or(stem, |(name, _hash)| name);
    if source.starts_with("unittests") {
        Some(format!("test: {package} (unit)"))
    } else {
        Some(format!("test: {source}"))
    }
}

/// Removes terminal escape sequences (`ESC [ … letter`).
fn without_colours(line: &str) -> String {
    let mut kept = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.find(char::is_ascii_alphabetic);
        } else {
            kept.push(c);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::started_target;

    #[test]
    fn cargo_says_which_target_starts() {
        let found = |line: &str| started_target(line).unwrap_or_default();
        assert_eq!(
            found("     Running unittests src/lib.rs (target/debug/deps/tile_ir-cf20a61adfe8674f)"),
            "test: tile_ir (unit)"
        );
        assert_eq!(
            found("\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m tests/ui.rs (target/debug/deps/ui-1a)"),
            "test: tests/ui.rs"
        );
        assert_eq!(found("   Doc-tests tile_ir"), "test: doc tile_ir");
        assert_eq!(found("   Compiling tile-ir v0.1.0"), "");
    }
}
