//! A kernel in many configurations: each is lowered, and after each pass the
//! program verifies, prints the same each time, gives the bits of the program
//! before all passes, and has no race.

use tile_runtime::Error;
use tile_runtime::inspect::{HostTensor, check_program, run_program};
use tile_runtime::ir::config::{Breadth, ConfigError, Space};
use tile_runtime::ir::device::known;
use tile_runtime::ir::program::{Program, print_program, verify_program};

use crate::list::Listed;
use crate::random::{Inputs, random_inputs};

/// The device whose programs are made: one with asynchronous copies.
const DEVICE: &str = "A100";
/// Where the random choices begin.
const SEED: u64 = 1;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// At most so many configurations of the covering array of pairs.
    pub pairs: usize,
    /// So many random configurations.
    pub random: usize,
    /// The program after every pass is looked at in each n-th configuration; in
    /// the others that after the last.
    pub every_pass_in: usize,
    /// Expressions and statements that the run with a shadow may take.
    pub max_steps: u64,
}

impl Effort {
    /// What runs with the other tests.
    pub const QUICK: Self = Self { pairs: 20, random: 10, every_pass_in: 5, max_steps: 200_000 };
    /// All pairs and 200 random configurations of each kernel.
    pub const WHOLE: Self =
        Self { pairs: usize::MAX, random: 200, every_pass_in: 8, max_steps: 20_000_000 };
}

/// What was done with a kernel.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Configurations that were run.
    pub configs: usize,
    /// Configurations whose tiles do not fit the device once they are padded.
    pub too_large: usize,
    /// Programs that were run.
    pub programs: usize,
    /// Programs that ran with a shadow, to the end.
    pub shadowed: usize,
    /// Those whose run with a shadow took too many steps.
    pub cut_short: usize,
    /// What went wrong.
    pub failures: Vec<String>,
}

/// Shapes: all dimensions alike, and each of two extents against the others; in
/// an order in which neighbours differ.
fn shapes(n_dims: usize) -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = [37, 1, 0, 24].map(|extent| vec![extent; n_dims]).to_vec();
    for odd in 0..n_dims {
        for (one, others) in [(1, 33), (50, 5), (0, 17)] {
            let extent = |dim| if dim == odd { one } else { others };
            shapes.push((0..n_dims).map(extent).collect());
        }
    }
    shapes
}

/// Runs a kernel in so many of its configurations.
///
/// # Panics
///
/// Where the device is not in the table.
pub fn validate(listed: &Listed, effort: Effort) -> Outcome {
    let kernel = &listed.kernel;
    let device = known(DEVICE).expect("the device is in the table");
    let space = Space::new(kernel.checked(), kernel.types(), &device, Breadth::Odd);
    let pairs = space.pairwise(SEED).take(effort.pairs);
    let configs = pairs.chain(space.random(SEED).take(effort.random));
    let shapes = shapes(kernel.dims().len());
    let mut outcome = Outcome::default();
    for (number, config) in configs.enumerate() {
        let dims = &shapes[number % shapes.len()];
        let programs = match kernel.program_by_pass(&config, &device, dims) {
            Ok(programs) => programs,
            Err(Error::Config(error)) if matches!(*error, ConfigError::SharedMemory { .. }) => {
                outcome.too_large += 1;
                continue;
            }
            Err(error) => {
                outcome.failures.push(format!("{kernel:?}, {config:?}: {error}"));
                continue;
            }
        };
        outcome.configs += 1;
        let inputs = random_inputs(kernel, &config, dims, number as u64);
        let mut case = Case { listed, dims, inputs, expected: None };
        let every = number % effort.every_pass_in.max(1) == 0;
        let last = programs.len() - 1;
        for (at, (pass, program)) in programs.iter().enumerate() {
            if !every && at != 0 && at != last {
                continue;
            }
            // What the first program does is what the checks proved.
            let is_shadowed = at == last || (every && at != 0);
            let max_steps = if is_shadowed { effort.max_steps } else { 0 };
            if let Err(fault) = case.run(program, max_steps, &mut outcome) {
                let text = print_program(program);
                outcome.failures.push(format!(
                    "{kernel:?}, {dims:?}, {config:?}, after {pass}:\n{fault}\n{text}"
                ));
                break;
            }
        }
    }
    outcome
}

/// A kernel with its arguments.
struct Case<'a> {
    listed: &'a Listed,
    dims: &'a [usize],
    inputs: Inputs,
    /// What the first program gives.
    expected: Option<Vec<Vec<u8>>>,
}

impl Case<'_> {
    fn run(
        &mut self,
        program: &Program,
        max_steps: u64,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        verify_program(program).map_err(|faults| format!("{faults:#?}"))?;
        let text = print_program(program);
        if text != print_program(&program.clone()) {
            return Err("it prints differently a second time".to_owned());
        }
        let kernel = &self.listed.kernel;
        let mut tensors = self.inputs.tensors.clone();
        run_program(kernel, program, self.dims, &mut tensors, &self.inputs.scalars)
            .map_err(|error| error.to_string())?;
        outcome.programs += 1;
        self.compare(&tensors, "the CPU device")?;
        if max_steps == 0 {
            return Ok(());
        }
        let mut tensors = self.inputs.tensors.clone();
        let scalars = &self.inputs.scalars;
        let reports = check_program(kernel, program, self.dims, &mut tensors, scalars, max_steps)
            .map_err(|error| error.to_string())?;
        for report in &reports {
            if let Some(finding) = report.findings.first() {
                return Err(finding.to_string());
            }
        }
        if reports.iter().all(|report| report.is_complete) {
            outcome.shadowed += 1;
            self.compare(&tensors, "thread by thread")
        } else {
            outcome.cut_short += 1;
            Ok(())
        }
    }

    fn compare(&mut self, tensors: &[HostTensor], how: &str) -> Result<(), String> {
        let found: Vec<Vec<u8>> = tensors.iter().map(HostTensor::bytes).collect();
        let expected = self.expected.get_or_insert_with(|| found.clone());
        let is_promised = self.listed.kernel.checked().is_order_independent();
        if is_promised && found != *expected { Err(format!("other bits, {how}")) } else { Ok(()) }
    }
}
