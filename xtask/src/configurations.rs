//! `cargo xtask configurations`: every kernel in many configurations, on the CPU.

use crate::{Failure, steps::Steps};

/// Which kernels.
#[derive(clap::Args)]
pub(crate) struct ConfigurationsArguments {
    /// Names; all kernels where there is none.
    kernels: Vec<String>,
}

/// Runs the program of the tests' package that does it.
pub(crate) fn configurations(arguments: &ConfigurationsArguments) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let mut command = crate::cargo();
    command.args(["run", "--quiet", "--locked", "--release", "--package", "tile-kernels"]);
    // The verifier and the CPU device check more where debug assertions are on.
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command.args(["--bin", "configurations", "--"]).args(&arguments.kernels);
    steps.command("run configurations", &mut command)
}
