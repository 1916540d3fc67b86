//! A run at sizes that somebody suggests, of the blocks that are suggested.

use std::collections::BTreeSet;

use super::data::Pool;
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::Choice;
use super::{Findings, assumptions};
use crate::kernel::{ArrayRef, Kernel, Source, VarId};

/// Different loaded data that are tried.
const SEEDS: u32 = 4;

/// Looks for conflicts in `array` at small sizes again, by other data; what collides is
/// added to `findings`.
pub(crate) fn try_other_data(
    kernel: &Kernel,
    array: ArrayRef,
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let pool = Pool::of(kernel);
    let choice = Choice::of(kernel, &pool);
    let plan = Plan::storing(kernel, assumptions(kernel), &|other| other == array);
    if !plan.uses_data {
        return;
    }
    for sizes in choice.with_other_data() {
        let mut found = Findings { known: findings.known.clone(), ..Findings::default() };
        let machine = Machine::new(kernel, &plan, &sizes, &pool, &mut found, fuel);
        if machine.run(Blocks::Sample) == Ok(()) && !found.conflicts.is_empty() {
            findings.known.extend(found.conflicts.iter().map(|conflict| conflict.pair));
            findings.conflicts.extend(found.conflicts);
            return;
        }
        if *fuel == 0 {
            return;
        }
    }
}

/// Looks for conflicts in `array` where loops are so long, blocks so many, or indices so
/// large, that the runs at small sizes did not come to their ends; what collides is added to
/// `findings`.
pub(crate) fn look_far(kernel: &Kernel, array: ArrayRef, findings: &mut Findings, fuel: &mut u32) {
    let pool = Pool::of(kernel);
    let choice = Choice::of(kernel, &pool);
    let assumptions = assumptions(kernel);
    let plan = Plan::storing(kernel, assumptions.clone(), &|other| other == array);
    let blocks = vec![powers(); kernel.grid.len()];
    let mut seen = BTreeSet::new();
    for sizes in choice.sizes(plan.uses_data) {
        let mut sizes = sizes.put_where_assumed(kernel, &assumptions);
        sizes.widen(&plan.extents_alone);
        if !seen.insert(plan.key(&sizes)) {
            continue;
        }
        let mut found = Findings { known: findings.known.clone(), ..Findings::default() };
        let machine = Machine::new(kernel, &plan, &sizes, &pool, &mut found, fuel);
        // Of a launch that is refused part of a run may know nothing.
        let machine = if plan.refuses() { machine } else { machine.sparse() };
        let stop = machine.run(Blocks::Asked(&blocks)).err();
        if !found.conflicts.is_empty() && matches!(stop, None | Some(Stop::Budget)) {
            findings.known.extend(found.conflicts.iter().map(|conflict| conflict.pair));
            findings.conflicts.extend(found.conflicts);
            return;
        }
        if *fuel == 0 {
            return;
        }
    }
}

/// The powers of two that a block's coordinate may be.
fn powers() -> BTreeSet<i64> {
    (0..16).map(|exponent| 1 << exponent).collect()
}

/// Looks for conflicts in `array` where it is `source` that decides: what collides is added to
/// `findings`. Work-items make their atomic updates one after the other, and arrays hold 0 at
/// first; what is made of the same loaded elements is one value, whatever they are.
pub(crate) fn follow(
    kernel: &Kernel,
    (array, source): (ArrayRef, Source),
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let pool = Pool::of(kernel);
    let choice = Choice::of(kernel, &pool);
    let assumptions = assumptions(kernel);
    let is_watched = |other| other == array;
    let counts = matches!(source, Source::Old(_));
    let plan = match counts {
        true => Plan::counting(kernel, assumptions.clone(), &is_watched),
        false => Plan::storing(kernel, assumptions.clone(), &is_watched),
    };
    let mut seen = BTreeSet::new();
    for sizes in choice.sizes(plan.uses_data) {
        let sizes = sizes.put_where_assumed(kernel, &assumptions);
        if !seen.insert(plan.key(&sizes)) {
            continue;
        }
        for is_backwards in [false, true].into_iter().take(if counts { 2 } else { 1 }) {
            let mut found = Findings { known: findings.known.clone(), ..Findings::default() };
            let machine = Machine::new(kernel, &plan, &sizes, &pool, &mut found, fuel);
            let machine = match counts {
                true => machine.counting(source, is_backwards),
                false => machine.by_elements(),
            };
            let stop = machine.run(Blocks::Sample).err();
            if matches!(stop, None | Some(Stop::Budget)) {
                findings.known.extend(found.conflicts.iter().map(|conflict| conflict.pair));
                findings.conflicts.extend(found.conflicts);
            }
        }
        if *fuel == 0 || !findings.conflicts.is_empty() {
            return;
        }
    }
}

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
