//! Runs beyond the first ones, for what no proof covers and no run has shown: by other data,
//! at the ends of long loops, and of what memory decides.
//!
//! What they find is added to the findings, which are then told by example; that they find
//! nothing says nothing.

use std::collections::BTreeSet;

use super::data::Pool;
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::{Choice, Sizes};
use super::thresholds::beyond;
use super::{Findings, assumptions};
use crate::arena::EntityId as _;
use crate::kernel::{
    ArrayRef, ElemType, ExprId, Kernel, Source, StmtKind, Type, VarKind, any_stmt,
};

/// Looks for conflicts in `array` at small sizes again, by other data.
pub(crate) fn try_other_data(
    kernel: &Kernel,
    array: ArrayRef,
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let further = Further::of(kernel);
    let plan = Plan::storing(kernel, further.assumptions.clone(), &|other| other == array);
    if !plan.uses_data {
        return;
    }
    let run = |machine: Machine<'_>| machine.run(Blocks::Sample);
    if let Some(pool) = Pool::of(kernel).with_remainders(kernel) {
        let of_remainders = Further { pool, ..Further::of(kernel) };
        for sizes in Choice::of(kernel, &of_remainders.pool).with_equal_data() {
            if of_remainders.run((&plan, &sizes), run, (findings, fuel)) || *fuel == 0 {
                return;
            }
        }
    }
    for sizes in Choice::of(kernel, &further.pool).with_other_data() {
        if further.run((&plan, &sizes), run, (findings, fuel)) || *fuel == 0 {
            return;
        }
    }
}

/// Looks for conflicts in `array` where loops are so long, blocks so many, or indices so
/// large, that the runs at small sizes did not come to their ends.
pub(crate) fn look_far(kernel: &Kernel, array: ArrayRef, findings: &mut Findings, fuel: &mut u32) {
    let further = Further::of(kernel);
    let plan = Plan::storing(kernel, further.assumptions.clone(), &|other| other == array);
    let blocks = vec![powers(); kernel.grid.len()];
    let reserve = *fuel / FAR;
    for (all, kept) in [(further.sizes(&plan, true), reserve), (further.far_sizes(&plan), 0)] {
        *fuel -= kept;
        for sizes in all {
            let run = |machine: Machine<'_>| {
                // Of a launch that is refused part of a run may know nothing.
                let machine = if plan.refuses() { machine } else { machine.sparse() };
                machine.run(Blocks::Asked(&blocks))
            };
            if further.run((&plan, &sizes), run, (findings, fuel)) {
                return;
            }
            if *fuel == 0 {
                break;
            }
        }
        *fuel += kept;
    }
}

/// Of how many parts of what may be spent far sizes have one.
const FAR: u32 = 2;

/// Rounds in which a number of 16 bits that grows by some steps has come round.
const ROUNDS: i64 = 1024;

/// The powers of two that a block's coordinate may be.
fn powers() -> BTreeSet<i64> {
    (0..16).map(|exponent| 1 << exponent).collect()
}

/// Looks for conflicts in `array` where it is `source` that decides. Work-items make their
/// atomic updates one after the other, and arrays hold 0 at first; what is made of the same
/// loaded elements is one value, whatever they are.
pub(crate) fn follow(
    kernel: &Kernel,
    (array, source): (ArrayRef, Source),
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let further = Further::of(kernel);
    // What an update has found may have been stored, and read again.
    let hands_on = matches!(source, Source::Load(_)) && finds_old_values(kernel);
    let ways = match source {
        Source::Old(_) => [Some(true), None],
        Source::Load(_) | Source::Launch(_) => [Some(false), hands_on.then_some(true)],
    };
    for counts in ways.into_iter().flatten() {
        if further.follow((array, source), counts, findings, fuel) || *fuel == 0 {
            return;
        }
    }
}

/// Whether something is done with old values of atomic updates.
fn finds_old_values(kernel: &Kernel) -> bool {
    let is_found = |kind: &StmtKind| matches!(kind, StmtKind::Atomic { old: Some(_), .. });
    any_stmt(&kernel.body, &mut |kind| is_found(kind))
}

/// Whether variables are of 8 or 16 bits.
fn has_narrow_numbers(kernel: &Kernel) -> bool {
    kernel.vars.values().any(|var| match var.ty {
        Type::Scalar(ElemType::Concrete(dtype)) => dtype.is_integer() && dtype.size_bytes() < 4,
        Type::Scalar(_) | Type::Index => false,
    })
}

/// What all further runs of a kernel have in common.
struct Further<'a> {
    kernel: &'a Kernel,
    pool: Pool,
    /// Conditions that the author assumes, and sizes decide.
    assumptions: BTreeSet<ExprId>,
}

impl<'a> Further<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        Self { kernel, pool: Pool::of(kernel), assumptions: assumptions(kernel) }
    }

    /// Small sizes that differ for a plan; where it is so, with extents beyond any index.
    fn sizes(&self, plan: &Plan<'_>, is_wide: bool) -> Vec<Sizes> {
        let choice = Choice::of(self.kernel, &self.pool);
        self.differing(choice.sizes(plan.uses_data), plan, is_wide)
    }

    /// Sizes at which comparisons say what they do at no small ones, and those of which one
    /// scalar or dimension is so large that what it counts comes round in a narrow type.
    fn far_sizes(&self, plan: &Plan<'_>) -> Vec<Sizes> {
        let choice = Choice::of(self.kernel, &self.pool);
        let turned = beyond(self.kernel, &choice);
        // What a late round does may meet what the next ones do.
        let later = turned.iter().map(|sizes| {
            let mut sizes = sizes.clone();
            let large = sizes.values.iter_mut().flatten().filter(|value| **value >= ROUNDS);
            large.for_each(|value| *value = value.saturating_add(2));
            sizes
        });
        let mut all: Vec<Sizes> = later.chain(turned.iter().cloned()).collect();
        if let Some(first) = choice.sizes(false).next().filter(|_| has_narrow_numbers(self.kernel))
        {
            for var in &plan.used {
                if matches!(self.kernel.vars[*var].kind, VarKind::Scalar(_) | VarKind::Dim) {
                    let mut sizes = first.clone();
                    sizes.values[var.index()] = Some(ROUNDS);
                    all.push(sizes);
                }
            }
        }
        self.differing(all.into_iter(), plan, true)
    }

    /// Those that differ for a plan, put where the kernel assumes them to be.
    fn differing(
        &self,
        all: impl Iterator<Item = Sizes>,
        plan: &Plan<'_>,
        is_wide: bool,
    ) -> Vec<Sizes> {
        let mut seen = BTreeSet::new();
        let mut differing = Vec::new();
        for sizes in all {
            let mut sizes = sizes.put_where_assumed(self.kernel, &self.assumptions);
            if is_wide {
                sizes.widen(&plan.extents_alone);
            }
            if seen.insert(plan.key(&sizes)) {
                differing.push(sizes);
            }
        }
        differing
    }

    /// Runs small sizes, where it is `source` that decides about an array; whether something
    /// collides. Updates are made one after the other if it `counts`.
    fn follow(
        &self,
        (array, source): (ArrayRef, Source),
        counts: bool,
        findings: &mut Findings,
        fuel: &mut u32,
    ) -> bool {
        let (assumptions, is_watched) = (self.assumptions.clone(), |other| other == array);
        let plan = match counts {
            true => Plan::counting(self.kernel, assumptions, &is_watched),
            false => Plan::storing(self.kernel, assumptions, &is_watched),
        };
        // In order, backwards, and so that no block has all that there is.
        let ways = [(false, false), (true, false), (false, true)];
        let n_ways = if counts { ways.len() } else { 1 };
        self.sizes(&plan, false).iter().any(|sizes| {
            let mut has_found = false;
            for (is_backwards, is_cut) in ways.into_iter().take(n_ways) {
                let run = |machine: Machine<'_>| {
                    let machine = match counts {
                        true => machine.counting(source, is_backwards).until_second_updates(is_cut),
                        false => machine.by_elements(),
                    };
                    machine.run(Blocks::Sample)
                };
                has_found |= self.run((&plan, sizes), run, (findings, fuel));
            }
            has_found || *fuel == 0
        })
    }

    /// Runs one choice of sizes; whether something collides. Of those that an assumption
    /// excludes nothing is kept.
    fn run(
        &self,
        (plan, sizes): (&Plan<'_>, &Sizes),
        run: impl FnOnce(Machine<'_>) -> Result<(), Stop>,
        (findings, fuel): (&mut Findings, &mut u32),
    ) -> bool {
        let mut found = Findings { known: findings.known.clone(), ..Findings::default() };
        let stop = run(Machine::new(self.kernel, plan, sizes, &self.pool, &mut found, fuel)).err();
        let counts = matches!(stop, None | Some(Stop::Budget)) && !found.conflicts.is_empty();
        if counts {
            findings.known.extend(found.conflicts.iter().map(|conflict| conflict.pair));
            findings.conflicts.extend(found.conflicts);
        }
        counts
    }
}
