//! `cargo xtask tidy`: formatting, lints, documentation and the rules for files.

mod codes;
mod files;
mod variables;

use std::process::Command;

use crate::{Failure, steps::Steps};

/// Runs every check, also after one that failed.
pub(crate) fn tidy() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let mut failures = Vec::new();
    let mut note = |result: Result<(), Failure>| {
        failures.extend(result.err().map(|failure| failure.to_string()));
    };
    note(steps.run("rules for files", rules));
    note(steps.command("format", crate::cargo().args(["fmt", "--all", "--check"])));
    let lint = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    note(steps.command("lints", crate::cargo().args(lint)));
    let mut doc = crate::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"]);
    // A module's own documentation may name what is private to it.
    doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    note(steps.command("documentation", &mut doc));
    if installed("deny") {
        let deny = ["deny", "check", "licenses", "bans", "sources"];
        note(steps.command("dependencies", crate::cargo().args(deny)));
    } else {
        println!("SKIPPED: dependencies (`cargo install cargo-deny` to check them)");
    }
    steps.print_table();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

fn installed(subcommand: &str) -> bool {
    let program = format!("cargo-{subcommand}");
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The rules that no other tool checks; they need no build.
fn rules() -> Result<(), Failure> {
    let root = crate::root();
    let mut found = files::broken_rules(&root)?;
    found.extend(codes::without_row(&root)?);
    found.extend(codes::without_test(&root)?);
    found.extend(variables::without_row(&root)?);
    if found.is_empty() { Ok(()) } else { Err(format!("\n{}", found.join("\n")).into()) }
}

#[cfg(test)]
mod tests {
    use super::{codes, files, variables};

    #[test]
    fn every_file_keeps_the_rules() {
        assert_eq!(files::broken_rules(&crate::root()).unwrap(), [""; 0]);
    }

    #[test]
    fn every_variable_is_in_the_readme() {
        assert_eq!(variables::without_row(&crate::root()).unwrap(), [""; 0]);
    }

    #[test]
    fn every_code_is_in_the_manual() {
        assert_eq!(codes::without_row(&crate::root()).unwrap(), [""; 0]);
    }
}
