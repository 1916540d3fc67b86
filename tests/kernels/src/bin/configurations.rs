//! Every kernel in more configurations than the tests take, at more shapes: all pairs of
//! choices, and 1000 random ones of each. Prints a line for each kernel and what failed.
//!
//! ```sh
//! cargo xtask configurations            # or: … matmul softmax
//! ```

#![expect(clippy::print_stdout, reason = "it prints a summary")]

use std::process::ExitCode;

use tile_kernels::list::all;
use tile_kernels::validate::{Effort, validate};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let (mut n_kernels, mut configs, mut programs, mut failures) = (0, 0, 0, 0);
    for listed in all() {
        let name = listed.kernel.name();
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let outcome = validate(&listed, Effort::WHOLE);
        println!("{:40} {}", format!("{:?}", listed.kernel), outcome.describe());
        outcome.failures.iter().for_each(|failure| println!("{failure}\n"));
        n_kernels += 1;
        configs += outcome.configs;
        programs += outcome.programs;
        failures += outcome.failures.len();
    }
    println!(
        "{n_kernels} kernels, {configs} configurations, {programs} programs, {failures} failed"
    );
    if failures == 0 && n_kernels > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
