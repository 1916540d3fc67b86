//! A run at sizes that somebody suggests, of the blocks that are suggested.

use super::data::Pool;
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::Choice;
use super::{Findings, assumptions};
use crate::kernel::{ArrayRef, Kernel, VarId};

/// Different loaded data that are tried.
const SEEDS: u32 = 4;

/// Looks for conflicts in `array` between and within two blocks, at sizes of which
/// `given` are some; what collides is added to `findings`.
pub(crate) fn probe(
    kernel: &Kernel,
    array: ArrayRef,
    (given, blocks): (&[(VarId, i64)], &[Vec<i64>]),
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let pool = Pool::of(kernel);
    let choice = Choice::of(kernel, &pool);
    let plan = Plan::storing(kernel, assumptions(kernel), &|other| other == array);
    for seed in 0..if plan.uses_data { SEEDS } else { 1 } {
        let Some(sizes) = choice.sizes_with(given, seed) else { return };
        let before = findings.clone();
        let run =
            Machine::new(kernel, &plan, &sizes, &pool, findings, fuel).run(Blocks::At(blocks));
        if let Err(Stop::Excluded) = run {
            *findings = before;
        }
        if findings.known.iter().any(|pair| pair.array() == array) {
            return;
        }
    }
}
