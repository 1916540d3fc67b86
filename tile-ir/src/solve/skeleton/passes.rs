//! The runs at small sizes, pass by pass: which sizes and blocks are run, and what each
//! pass may spend.

use std::collections::BTreeSet;

use super::asked::Asked;
use super::assumed::Put;
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::{Choice, Sizes};
use super::thresholds::beyond;
use super::turns::Turns;
use super::types::Types;
use super::wished::Wishes;
use super::{Effort, Findings, Pool, assumptions};
use crate::kernel::{ArrayRef, Kernel, TileId};

/// Sizes to be run one after the other, and whether of each also the blocks are run that
/// comparisons may ask for; what one run may spend.
type Pass<'a> = (Box<dyn Iterator<Item = Sizes> + 'a>, bool, u32);

/// What a run at far sizes may spend: loops over them come to no end.
const OF_FAR: u32 = super::BUDGET / 8;

/// Looks for conflicts at small sizes, and for accesses that leave their tile or
/// find nothing there. Of tensors conflicts are all there is to find, so they are left
/// out where a proof says that there is none. With so much to spend at most; where nothing
/// is left, the last run was not ended.
pub(crate) fn enumerate_within(kernel: &Kernel, effort: Effort<'_>, fuel: &mut u32) -> Findings {
    enumerate_where(kernel, effort, (&Wishes::default(), fuel))
}

/// The same at sizes that are as is wished for.
pub(super) fn enumerate_where(
    kernel: &Kernel,
    effort: Effort<'_>,
    (wishes, fuel): (&Wishes, &mut u32),
) -> Findings {
    let is_proved = matches!(effort, Effort::Proved { .. });
    let is_inside = matches!(effort, Effort::Proved { is_inside: true, .. });
    // Of what the text shows nothing need be run.
    let is_asked = |tile: &TileId| match effort {
        Effort::Proved { unfilled, is_inside: true } => unfilled.contains(tile),
        Effort::Proved { .. } | Effort::Full | Effort::Short | Effort::Glance => true,
    };
    let pool = Pool::of(kernel);
    let choice = Choice::of(kernel, &pool);
    let asked = Asked::of(kernel);
    let assumptions = assumptions(kernel);
    let findings = Findings::default();
    let mut runs = Runs {
        kernel,
        pool: &pool,
        asked: &asked,
        put: Put { assumptions, wishes: wishes.clone() },
        is_proved,
        is_inside,
        unfilled: match effort {
            Effort::Proved { unfilled, .. } => unfilled.clone(),
            Effort::Full | Effort::Short | Effort::Glance => BTreeSet::new(),
        },
        findings,
        fuel,
    };
    for of_tiles in [true, false].into_iter().take(if is_proved { 1 } else { 2 }) {
        let is_watched = |array| match array {
            ArrayRef::Tile(tile) => of_tiles && is_asked(&tile),
            ArrayRef::Tensor(_) => !of_tiles,
        };
        let assumptions = runs.put.assumptions.clone();
        let plan = match is_proved {
            true => Plan::for_fills(kernel, assumptions, &is_watched),
            false if effort == Effort::Glance => Plan::under(kernel, assumptions, &is_watched),
            false => Plan::storing(kernel, assumptions, &is_watched),
        };
        if plan.writes() {
            let passes = passes(kernel, &choice, &asked, (&plan, of_tiles, is_proved));
            runs.run_all(&plan, passes, (choice.n_tiles(), effort.budget()));
            if is_proved {
                runs.run_doubts(&plan, &choice);
            }
        }
    }
    runs.findings
}

/// The passes of a plan that watches tiles, or tensors.
fn passes<'a>(
    kernel: &Kernel,
    choice: &'a Choice<'_>,
    asked: &Asked<'_>,
    (plan, of_tiles, is_proved): (&Plan, bool, bool),
) -> Vec<Pass<'a>> {
    let mut passes: Vec<Pass<'a>> = vec![(Box::new(choice.sizes(plan.uses_data)), false, u32::MAX)];
    if !asked.is_empty() {
        passes.push((Box::new(choice.with_many_blocks()), true, u32::MAX));
    }
    // For what is read unwritten; of tensors nothing is.
    if of_tiles && !kernel.scalars.is_empty() {
        passes.push((Box::new(choice.with_large_scalars()), false, u32::MAX));
    }
    if of_tiles && !is_proved && !kernel.scalars.is_empty() {
        passes.push((Box::new(choice.with_long_scalars()), false, u32::MAX));
    }
    if of_tiles {
        let beyond = beyond(kernel, choice);
        if !beyond.is_empty() {
            passes.push((Box::new(beyond.into_iter()), true, u32::MAX));
        }
    }
    if of_tiles && !kernel.grid.is_empty() {
        passes.push((Box::new(choice.with_far_blocks().into_iter()), true, OF_FAR));
    }
    // Those may use up what is left.
    if of_tiles && is_proved {
        passes.push((Box::new(choice.with_long_loops(plan.uses_data)), false, u32::MAX));
    }
    passes
}

/// The runs of a kernel, and what they have shown.
pub(super) struct Runs<'a> {
    pub(super) kernel: &'a Kernel,
    pool: &'a Pool,
    pub(super) asked: &'a Asked<'a>,
    /// Where sizes are put.
    pub(super) put: Put,
    /// Whether it is known that nothing collides.
    is_proved: bool,
    /// Whether nothing is asked but which cells are read unwritten.
    pub(super) is_inside: bool,
    /// Of what is known that nothing collides, the tiles of which the text does not show that
    /// they are filled.
    pub(super) unfilled: BTreeSet<TileId>,
    pub(super) findings: Findings,
    fuel: &'a mut u32,
}

impl Runs<'_> {
    /// Runs passes one after the other. Of what may be spent each one after the first has
    /// an eighth; where only fills are asked for, half as much more.
    fn run_all(&mut self, plan: &Plan, passes: Vec<Pass<'_>>, (n_tiles, enough): (usize, u32)) {
        let whole = *self.fuel;
        let mut seen = BTreeSet::new();
        let mut after = passes.len() as u32;
        let mut is_first = true;
        for (sequence, is_asked, most) in passes {
            after -= 1;
            let before = whole - *self.fuel;
            let enough = match is_first {
                // How far loops go that data end is not seen at once.
                false if self.is_proved && after == 0 && !self.is_inside => whole,
                false if self.is_proved => (before + enough / 2).max(enough - enough / 8 * after),
                _ => enough - enough / 8 * after,
            };
            is_first = false;
            let mut turns = Turns::of(n_tiles, enough);
            for sizes in sequence {
                let sizes = self.put.at(self.kernel, sizes);
                let spent = whole - *self.fuel;
                let is_over = turns.is_over(sizes.tiles(self.kernel), spent);
                if is_over || !seen.insert((plan.key(&sizes), is_asked)) {
                    continue;
                }
                let is_asked = is_asked || self.put.wishes.are_of_blocks;
                let blocks = is_asked.then(|| self.asked.at(&sizes));
                let blocks = blocks.as_deref().map_or(Blocks::Sample, Blocks::Asked);
                self.run(plan, &sizes, (blocks, most));
                if *self.fuel == 0 || whole - *self.fuel >= enough {
                    break;
                }
            }
        }
    }

    /// Runs one choice of sizes. Of those that an assumption excludes nothing is kept; of those
    /// that are cut short, not how comparisons came out.
    fn run(&mut self, plan: &Plan, sizes: &Sizes, (blocks, most): (Blocks<'_>, u32)) {
        let types = match plan.decides_by_types() {
            true => Types::all(self.kernel).unwrap_or_default(),
            false => Vec::new(),
        };
        self.run_with(plan, sizes, (blocks, &Types::of(self.kernel), most));
        for types in types.iter().skip(1) {
            self.run_with(plan, sizes, (blocks, types, most));
        }
    }

    fn run_with(
        &mut self,
        plan: &Plan,
        sizes: &Sizes,
        (blocks, types, most): (Blocks<'_>, &Types, u32),
    ) {
        let may_exclude = !self.put.assumptions.is_empty() || plan.may_not_end || plan.refuses();
        let before = may_exclude.then(|| self.findings.clone());
        let outcomes = self.findings.fills.outcomes.clone();
        let given = most.min(*self.fuel);
        let mut fuel = given;
        let findings = &mut self.findings;
        let machine = Machine::new(self.kernel, plan, sizes, self.pool, findings, &mut fuel);
        let machine = machine.with_types(types);
        let machine = machine.for_fills(self.is_proved).until_filled(self.is_inside);
        let run = machine.run(blocks);
        *self.fuel -= given - fuel;
        match (run, before) {
            (Err(Stop::Excluded), Some(before)) => self.findings = before,
            (Err(Stop::Budget), _) => self.findings.fills.outcomes = outcomes,
            _ => {}
        }
    }
}
