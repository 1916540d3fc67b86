//! A kernel in many configurations: each is lowered, and the program verifies, gives the
//! bits of the program before all passes, and has no race; in some configurations so does
//! the program after every single pass, which prints the same each time.
//!
//! Configurations whose programs are equal, launched at the same shape on the same
//! data, do the same: the first one is run for all of them. A run with a shadow that
//! takes too many steps ends early, and is counted: it has shown no race up to there.

use std::collections::HashMap;

use tile_runtime::Error;
use tile_runtime::inspect::{HostTensor, check_program, run_program};
use tile_runtime::ir::config::{Breadth, Config, ConfigError, Space};
use tile_runtime::ir::device::{DeviceProperties, known};
use tile_runtime::ir::program::{Program, print_program, verify_program};

use crate::list::Listed;
use crate::random::{Inputs, random_inputs};
use crate::shapes::{Shape, edge_shapes, whole_shapes};

/// The device whose programs are made: one with asynchronous copies.
const DEVICE: &str = "A100";

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where the random choices begin.
    pub seed: u64,
    /// At most so many configurations of the covering array of pairs.
    pub pairs: usize,
    /// So many random configurations.
    pub random: usize,
    /// At how many shapes of whole tiles a configuration is run.
    pub shapes: usize,
    /// Each n-th configuration is run at a shape with an extent of 0 or 1 as well.
    pub edges_in: usize,
    /// The program after every pass is looked at in each n-th configuration; in
    /// the others that after the last.
    pub every_pass_in: usize,
    /// Expressions and statements that the run with a shadow may take.
    pub max_steps: u64,
}

impl Effort {
    /// What runs with the other tests: all pairs and 200 random configurations of each
    /// kernel, each at one shape.
    pub const TESTS: Self = Self {
        seed: 1,
        pairs: usize::MAX,
        random: 200,
        shapes: 1,
        edges_in: 8,
        every_pass_in: 40,
        max_steps: 500_000,
    };
    /// More of everything: other configurations at all shapes, to the end.
    pub const WHOLE: Self = Self {
        seed: 2,
        pairs: usize::MAX,
        random: 1000,
        shapes: usize::MAX,
        edges_in: 1,
        every_pass_in: 8,
        max_steps: 20_000_000,
    };
}

/// What was done with a kernel.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Configurations that were run.
    pub configs: usize,
    /// Configurations whose tiles do not fit the device once they are padded.
    pub too_large: usize,
    /// Launches that an equal program was run for before.
    pub alike: usize,
    /// Programs that were run.
    pub programs: usize,
    /// Programs that ran with a shadow, to the end.
    pub shadowed: usize,
    /// Those whose run with a shadow took too many steps: up to there nothing was
    /// found.
    pub cut_short: usize,
    /// What went wrong.
    pub failures: Vec<String>,
}

impl Outcome {
    /// The numbers, in words.
    pub fn describe(&self) -> String {
        let Self { configs, too_large, alike, programs, shadowed, cut_short, failures } = self;
        format!(
            "{configs} configurations ({too_large} too large), {programs} programs ({alike} \
             launches alike), {shadowed} with a shadow ({cut_short} cut short), {} failed",
            failures.len()
        )
    }
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
    let pairs: Vec<Config> = space.pairwise(effort.seed).take(effort.pairs).collect();
    let random: Vec<Config> = space.random(effort.seed).take(effort.random).collect();
    let outcome = Outcome::default();
    let mut runs = Runs { listed, device: &device, effort, known: HashMap::new(), outcome };
    for (number, config) in pairs.iter().chain(&random).enumerate() {
        runs.run(number, config);
    }
    runs.outcome
}

/// A launch: the program's text, the shapes of dimensions and tensors.
type Launch = (String, Shape, Vec<Vec<usize>>);

/// A program that was run without a fault.
struct Run {
    program: Program,
    /// With a shadow as well.
    is_shadowed: bool,
    /// The bits that it gave.
    found: Vec<Vec<u8>>,
}

/// The runs of a kernel.
struct Runs<'a> {
    listed: &'a Listed,
    device: &'a DeviceProperties,
    effort: Effort,
    /// What was run, by the launch.
    known: HashMap<Launch, Vec<Run>>,
    outcome: Outcome,
}

impl Runs<'_> {
    fn run(&mut self, number: usize, config: &Config) {
        let Effort { shapes, edges_in, .. } = self.effort;
        let kernel = &self.listed.kernel;
        let whole = whole_shapes(kernel, config);
        let first = number % whole.len();
        let mut all: Vec<Shape> =
            whole.iter().cycle().skip(first).take(whole.len()).cloned().collect();
        all.truncate(shapes);
        let edges = edge_shapes(kernel.dims().len());
        if number.is_multiple_of(edges_in) {
            all.extend(edges.get(number / edges_in % edges.len()).cloned());
        }
        let n_failures = self.outcome.failures.len();
        for dims in &all {
            if !self.run_at(number, config, dims) {
                return;
            }
        }
        self.outcome.configs += usize::from(n_failures == self.outcome.failures.len());
    }

    /// Whether the configuration can be lowered, and does what it should.
    fn run_at(&mut self, number: usize, config: &Config, dims: &[usize]) -> bool {
        let kernel = &self.listed.kernel;
        let programs = match kernel.program_by_pass(config, self.device, dims) {
            Ok(programs) => programs,
            Err(Error::Config(error)) if matches!(*error, ConfigError::SharedMemory { .. }) => {
                self.outcome.too_large += 1;
                return false;
            }
            Err(error) => {
                self.outcome.failures.push(format!("{kernel:?}, {config:?}: {error}"));
                return false;
            }
        };
        let every = number.is_multiple_of(self.effort.every_pass_in.max(1));
        let inputs = random_inputs(kernel, config, dims, self.effort.seed);
        let mut expected = None;
        let last = programs.len() - 1;
        for (at, (pass, program)) in programs.into_iter().enumerate() {
            if !every && at != 0 && at != last {
                continue;
            }
            // What the first program does is what the checks proved.
            let is_shadowed = at != 0;
            if every && print_program(&program) != print_program(&program.clone()) {
                self.outcome.failures.push(format!("{kernel:?}, {config:?}: prints differently"));
            }
            if let Err(fault) = self.look_at(&program, is_shadowed, dims, &inputs, &mut expected) {
                let text = print_program(&program);
                self.outcome.failures.push(format!(
                    "{kernel:?}, {dims:?}, {config:?}, after {pass}:\n{fault}\n{text}"
                ));
                return false;
            }
        }
        true
    }

    /// Looks at a program, whose bits are to be the `expected` ones or become them.
    fn look_at(
        &mut self,
        program: &Program,
        is_shadowed: bool,
        dims: &[usize],
        inputs: &Inputs,
        expected: &mut Option<Vec<Vec<u8>>>,
    ) -> Result<(), String> {
        verify_program(program).map_err(|faults| format!("{faults:#?}"))?;
        let text = print_program(program);
        let shapes = inputs.tensors.iter().map(|tensor| tensor.shape().to_vec()).collect();
        let launch = (text, dims.to_vec(), shapes);
        let mut known = self.known.get(&launch).into_iter().flatten();
        let alike = known.find(|run| run.is_shadowed >= is_shadowed && run.program == *program);
        let found = match alike {
            Some(run) => {
                self.outcome.alike += usize::from(is_shadowed);
                run.found.clone()
            }
            None => {
                let found = self.run_anew(program, is_shadowed, dims, inputs)?;
                let run = Run { program: program.clone(), is_shadowed, found: found.clone() };
                self.known.entry(launch).or_default().push(run);
                found
            }
        };
        let expected = expected.get_or_insert_with(|| found.clone());
        self.compare(&found, expected, "the CPU device")
    }

    /// The bits that a program gives on the CPU device; an error where it has a race, or
    /// gives others thread by thread.
    fn run_anew(
        &mut self,
        program: &Program,
        is_shadowed: bool,
        dims: &[usize],
        inputs: &Inputs,
    ) -> Result<Vec<Vec<u8>>, String> {
        let kernel = &self.listed.kernel;
        let mut tensors = inputs.tensors.clone();
        run_program(kernel, program, dims, &mut tensors, &inputs.scalars)
            .map_err(|error| error.to_string())?;
        self.outcome.programs += 1;
        let found = bits(&tensors);
        if !is_shadowed {
            return Ok(found);
        }
        let mut tensors = inputs.tensors.clone();
        let (scalars, max_steps) = (&inputs.scalars, self.effort.max_steps);
        let reports = check_program(kernel, program, dims, &mut tensors, scalars, max_steps)
            .map_err(|error| error.to_string())?;
        if let Some(finding) = reports.iter().find_map(|report| report.findings.first()) {
            return Err(finding.to_string());
        }
        if reports.iter().all(|report| report.is_complete) {
            self.outcome.shadowed += 1;
            self.compare(&bits(&tensors), &found, "thread by thread")?;
        } else {
            self.outcome.cut_short += 1;
        }
        Ok(found)
    }

    fn compare(&self, found: &[Vec<u8>], expected: &[Vec<u8>], how: &str) -> Result<(), String> {
        let is_promised = self.listed.kernel.checked().is_order_independent();
        if is_promised && found != expected { Err(format!("other bits, {how}")) } else { Ok(()) }
    }
}

fn bits(tensors: &[HostTensor]) -> Vec<Vec<u8>> {
    tensors.iter().map(HostTensor::bytes).collect()
}
