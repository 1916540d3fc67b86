//! Runs beyond the first ones, for what no proof covers and no run has shown: by other data,
//! at the ends of long loops, and of what memory decides.
//!
//! What they find is added to the findings, which are then told by example; that they find
//! nothing says nothing.

use std::collections::BTreeSet;

use super::assumed::Put;
use super::data::Pool;
use super::literals::literals_to;
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::{Choice, Sizes};
use super::thresholds::beyond;
use super::{Findings, assumptions};
use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, ElemType, Kernel, Source, StmtKind, Type, VarId, VarKind, any_stmt};

/// Looks for conflicts in `array` at small sizes again, by other data.
pub(crate) fn try_other_data(
    kernel: &Kernel,
    array: ArrayRef,
    findings: &mut Findings,
    fuel: &mut u32,
) {
    let further = Further::of(kernel);
    let plan = Plan::storing(kernel, further.put.assumptions.clone(), &|other| other == array);
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
    let plan = Plan::storing(kernel, further.put.assumptions.clone(), &|other| other == array);
    let blocks = vec![powers(); kernel.grid.len()];
    let whole = *fuel;
    if whole == 0 {
        return;
    }
    let small = further.sizes(&plan, true);
    // Where there are no others, they are all that there is to find anything at.
    let are_alone = small.len() == 1 && kernel.tile_params.is_empty();
    let of_small = if are_alone { whole.max(ALONE) } else { whole };
    // What each may spend, and one run of it.
    let passes = [
        (small, of_small, of_small),
        (further.turned_sizes(&plan), whole / 2, whole),
        (further.above_literals(&plan), whole / 2, whole / 12),
    ];
    for (all, most, most_of_one) in passes {
        let mut left = most;
        for sizes in all {
            let run = |machine: Machine<'_>| {
                // Of a launch that is refused part of a run may know nothing.
                let machine = if plan.refuses() { machine } else { machine.sparse() };
                machine.run(Blocks::Asked(&blocks))
            };
            let given = left.min(most_of_one);
            let mut own = given;
            let has_found = further.run((&plan, &sizes), run, (findings, &mut own));
            left -= given - own;
            *fuel = fuel.saturating_sub(given - own);
            if has_found {
                return;
            }
            if left == 0 {
                break;
            }
        }
    }
}

/// What may be spent on sizes that are the only ones.
const ALONE: u32 = 1_200_000;

/// How many choices of other sizes are tried with one that is large, and up to where numbers
/// are small, and not too large.
const BASES: usize = 3;
const SMALL: i64 = 8;
const LARGE: i64 = 1 << 12;

/// Blocks along an axis of which the updates are counted.
const COUNTED: i64 = 8;

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
pub(super) struct Further<'a> {
    kernel: &'a Kernel,
    pub(super) pool: Pool,
    /// Where sizes are put.
    pub(super) put: Put<'a>,
}

impl<'a> Further<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        Self { kernel, pool: Pool::of(kernel), put: Put::of(kernel, &assumptions(kernel)) }
    }

    /// Small sizes that differ for a plan; where it is so, with extents beyond any index.
    pub(super) fn sizes(&self, plan: &Plan<'_>, is_wide: bool) -> Vec<Sizes> {
        let choice = Choice::of(self.kernel, &self.pool);
        self.differing(choice.sizes(plan.uses_data), plan, is_wide)
    }

    /// The scalars and dimensions that matter.
    fn given(&self, plan: &Plan<'_>) -> Vec<VarId> {
        let is_given =
            |var: &VarId| matches!(self.kernel.vars[*var].kind, VarKind::Scalar(_) | VarKind::Dim);
        plan.used.iter().copied().filter(is_given).collect()
    }

    /// Sizes at which comparisons say what they do at no small ones, and, where variables are
    /// narrow, of which one number is so large that what it counts comes round.
    fn turned_sizes(&self, plan: &Plan<'_>) -> Vec<Sizes> {
        let choice = Choice::of(self.kernel, &self.pool);
        let turned = beyond(self.kernel, &choice);
        // What a late round does may meet what the next ones do.
        let later = turned.iter().map(|sizes| {
            let mut sizes = sizes.clone();
            let large = sizes.values.iter_mut().flatten().filter(|value| **value >= ROUNDS);
            large.for_each(|value| *value = value.saturating_add(2));
            sizes
        });
        let first = choice.sizes(false).next().filter(|_| has_narrow_numbers(self.kernel));
        let round = first.iter().flat_map(|first| {
            self.given(plan).into_iter().map(|var| {
                let mut sizes = first.clone();
                sizes.values[var.index()] = Some(ROUNDS);
                sizes
            })
        });
        self.differing(later.chain(turned.iter().cloned()).chain(round), plan, true)
    }

    /// Sizes of which one scalar or dimension is above a number of the text, whatever it is
    /// for: `(n + 127) / 128` is 1 of all small ones; of the others each choice.
    fn above_literals(&self, plan: &Plan<'_>) -> Vec<Sizes> {
        let choice = Choice::of(self.kernel, &self.pool);
        let literals = literals_to(self.kernel, LARGE);
        let ends: BTreeSet<i64> = literals.map(|literal| literal + 1).collect();
        // Some by their scalars, and some by all else.
        let mut seen = BTreeSet::new();
        let mut bases: Vec<Sizes> = Vec::new();
        for sizes in choice.sizes(false) {
            let others =
                self.kernel.vars.iter().filter(|(_, var)| !matches!(var.kind, VarKind::Scalar(_)));
            let others: Vec<_> = others.map(|(var, _)| sizes.values[var.index()]).collect();
            let is_new = seen.insert(others);
            if bases.len() < 2 * BASES && (is_new || bases.len() < BASES) {
                bases.push(sizes);
            }
        }
        let vars = self.given(plan);
        let mut all = Vec::new();
        for end in ends.range(SMALL..).rev() {
            for base in &bases {
                for var in &vars {
                    let mut sizes = base.clone();
                    sizes.values[var.index()] = Some(*end);
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
            let mut sizes = self.put.at(sizes);
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
        let (assumptions, is_watched) = (self.put.assumptions.clone(), |other| other == array);
        let plan = match counts {
            true => Plan::counting(self.kernel, assumptions, &is_watched),
            false => Plan::storing(self.kernel, assumptions, &is_watched),
        };
        // In order, backwards, and so that no block has all that there is.
        let ways = [(false, false), (true, false), (false, true)];
        let n_ways = if counts { ways.len() } else { 1 };
        // Updates of blocks that are left out nobody counts.
        let blocks = vec![(0..COUNTED).collect(); self.kernel.grid.len()];
        self.sizes(&plan, false).iter().any(|sizes| {
            let mut has_found = false;
            for (is_backwards, is_cut) in ways.into_iter().take(n_ways) {
                let run = |machine: Machine<'_>| {
                    let machine = match counts {
                        true => machine.counting(source, is_backwards).until_second_updates(is_cut),
                        false => machine.by_elements(),
                    };
                    machine.run(if counts { Blocks::Asked(&blocks) } else { Blocks::Sample })
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
