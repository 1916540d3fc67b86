//! Every kernel with its blocks, and between barriers its work-items, one after another
//! in drawn orders: whatever does not depend on the order gives the same bits. And as it
//! is checked: nothing is found, and the bits are those of fast mode.

use tile_kernels::list::{Listed, all};
use tile_kernels::random::random_inputs;
use tile_runtime::inspect::{HostTensor, run_program, run_program_checked, run_program_shuffled};
use tile_runtime::ir::config::Config;
use tile_runtime::ir::device::known;
use tile_runtime::ir::program::Program;

/// Orders of each program.
const ORDERS: u64 = 4;

/// A program of a kernel and what it is run with.
struct Case<'a> {
    listed: &'a Listed,
    config: Config,
    dims: &'a [usize],
}

impl Case<'_> {
    fn new<'a>(listed: &'a Listed, dims: &'a [usize]) -> Case<'a> {
        let device = known("H200").expect("the device is in the table");
        let config = listed.kernel.config_for(&device, dims);
        let config = config.unwrap_or_else(|error| panic!("{:?}: {error}", listed.kernel));
        Case { listed, config, dims }
    }

    /// Before the passes and after them.
    fn programs(&self) -> [Program; 2] {
        let device = known("H200").expect("the device is in the table");
        let programs = self.listed.kernel.program_by_pass(&self.config, &device, self.dims);
        let mut programs =
            programs.unwrap_or_else(|error| panic!("{:?}: {error}", self.listed.kernel));
        let last = programs.pop().expect("there are passes").1;
        let first = programs.swap_remove(0).1;
        [first, last]
    }

    /// The tensors after the program has run in an order that depends on the seed, if
    /// there is one.
    fn run(&self, program: &Program, seed: Option<u64>) -> Vec<HostTensor> {
        let kernel = &self.listed.kernel;
        let mut inputs = random_inputs(kernel, &self.config, self.dims, 1);
        let (tensors, scalars) = (&mut inputs.tensors, &inputs.scalars);
        let ran = match seed {
            None => run_program(kernel, program, self.dims, tensors, scalars),
            Some(seed) => run_program_shuffled(seed, kernel, program, self.dims, tensors, scalars),
        };
        ran.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
        inputs.tensors
    }

    /// The tensors after the program has run as a checked launch does, which finds nothing.
    fn check(&self, program: &Program, seed: Option<u64>) -> Vec<HostTensor> {
        let kernel = &self.listed.kernel;
        let mut inputs = random_inputs(kernel, &self.config, self.dims, 1);
        let (tensors, scalars) = (&mut inputs.tensors, &inputs.scalars);
        let ran = run_program_checked(seed, kernel, program, self.dims, tensors, scalars);
        let reports = ran.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
        for report in reports {
            assert!(report.findings.is_empty(), "{kernel:?}: {report}");
        }
        inputs.tensors
    }

    /// Whether all orders give the bits of the usual one.
    fn is_the_same(&self, program: &Program) -> bool {
        let expected = self.run(program, None);
        (0..ORDERS).all(|seed| self.run(program, Some(seed)) == expected)
    }
}

#[test]
fn orders_do_not_show() {
    let mut dependent = Vec::new();
    for listed in all() {
        let dims = vec![19; listed.kernel.dims().len()];
        let case = Case::new(&listed, &dims);
        for program in case.programs() {
            if case.is_the_same(&program) {
                continue;
            }
            let kernel = &listed.kernel;
            assert!(!kernel.checked().is_order_independent(), "{kernel:?} depends on the order");
            dependent.push(kernel.name());
        }
    }
    // Orders do differ: what atomic updates leave shows it.
    assert!(!dependent.is_empty());
}

#[test]
fn checked_launches_find_nothing_and_give_the_same_bits() {
    for listed in all() {
        let dims = vec![19; listed.kernel.dims().len()];
        let case = Case::new(&listed, &dims);
        let [first, last] = case.programs();
        let (fast, checked) = (case.run(&last, None), case.check(&first, None));
        let kernel = &listed.kernel;
        if kernel.checked().is_order_independent() {
            assert!(fast == checked, "{kernel:?} gives other bits");
            assert!(fast == case.check(&first, Some(1)), "{kernel:?} depends on the order");
        }
    }
}
