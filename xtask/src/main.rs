//! The workspace's own commands, run as `cargo xtask …`.

mod bundle;
mod configurations;
mod nvrtc;
mod steps;
mod test;
mod tidy;
mod validate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Why a command stops; printed as `error: …`.
type Failure = Box<dyn std::error::Error>;

/// The workspace's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Passes the tests; fetches NVRTC first where there is none.
    Test(test::TestArguments),
    /// Checks formatting, lints, documentation and the rules for files.
    Tidy,
    /// Compiles every generated kernel to CUBIN for four architectures.
    Validate(nvrtc::NvrtcArguments),
    /// Runs every kernel in many configurations on the CPU, after each pass of
    /// lowering, and looks for races.
    Configurations(configurations::ConfigurationsArguments),
    /// Gathers what a GPU machine without Rust needs into `bundle/`.
    Bundle,
}

fn main() -> ExitCode {
    let result = match CommandLine::parse().command {
        Command::Test(arguments) => test::test(&arguments),
        Command::Tidy => tidy::tidy(),
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Configurations(arguments) => configurations::configurations(&arguments),
        Command::Bundle => bundle::bundle(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root folder.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask lies in the workspace").to_owned()
}

/// The cargo that runs us, at the workspace's root.
fn cargo() -> std::process::Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(program);
    command.current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::CommandLine::command().debug_assert();
    }
}
