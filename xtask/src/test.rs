//! `cargo xtask test`: everything that must pass before a change is taken.

use std::process::Command;

use crate::{Failure, nvrtc, steps::Steps};

/// How to test.
#[derive(clap::Args)]
pub(crate) struct TestArguments {
    #[command(flatten)]
    nvrtc: nvrtc::NvrtcArguments,
    /// Passed on to the tests, after `--`: `cargo xtask test -- matmul`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Finds NVRTC, builds, tests, and prints each step's seconds, also those of a
/// step that failed.
pub(crate) fn test(arguments: &TestArguments) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let result = run(arguments, &mut steps);
    steps.print_table();
    if arguments.nvrtc.without_nvrtc {
        println!("SKIPPED: everything that compiles with NVRTC (--without-nvrtc)");
    }
    result
}

fn run(arguments: &TestArguments, steps: &mut Steps) -> Result<(), Failure> {
    let source = steps.run("find NVRTC", || nvrtc::provide(&arguments.nvrtc))?;
    println!("{}", source.describe());
    steps.command("build", cargo_test().arg("--no-run"))?;
    let mut tests = cargo_test();
    source.tell(&mut tests);
    let mut ours = crate::cargo();
    ours.args(["test", "--package", "xtask", "--locked"]);
    // A failure of the first is told once the others have run.
    let results = [&mut tests, &mut ours].map(|command| {
        if !arguments.rest.is_empty() {
            command.arg("--").args(&arguments.rest);
        }
        steps.cargo_test(command)
    });
    results.into_iter().collect()
}

/// What is tested. The benchmarks' package is left out: it has no tests, and its
/// criterion takes long to build. We are tested alone: what we are made of has been
/// built for us, and would be once more with the features that others ask for.
const PACKAGES: [&str; 5] = ["--workspace", "--exclude", "tile-benches", "--exclude", "xtask"];

fn cargo_test() -> Command {
    let mut command = crate::cargo();
    command.arg("test").args(PACKAGES).args(["--locked", "--no-fail-fast"]);
    command
}
