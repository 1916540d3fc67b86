//! `cargo xtask validate`: every generated kernel through NVRTC, to CUBIN.

use crate::{Failure, nvrtc, steps::Steps};

/// Runs the tests that compile to CUBIN, and only those.
pub(crate) fn validate(arguments: &nvrtc::NvrtcArguments) -> Result<(), Failure> {
    if arguments.without_nvrtc {
        return Err("there is nothing to validate without NVRTC".into());
    }
    let mut steps = Steps::default();
    let source = steps.run("find NVRTC", || nvrtc::provide(arguments))?;
    println!("{}", source.describe());
    let mut command = crate::cargo();
    command.args(["test", "--package", "tile-kernels", "--test", "cubin", "--", "--nocapture"]);
    source.tell(&mut command);
    let result = steps.command("compile to CUBIN", &mut command);
    steps.print_table();
    result
}
