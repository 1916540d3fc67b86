//! The runs at small sizes, pass by pass: which sizes and blocks are run, and what each
//! pass may spend.

use std::collections::BTreeSet;

use super::asked::Asked;
use super::assumed::{Placing, Put};
use super::machine::{Blocks, Machine, Stop};
use super::plan::Plan;
use super::sizes::{Choice, Sizes};
use super::thresholds::beyond;
use super::turns::Turns;
use super::types::Types;
use super::wished::Wishes;
use super::{BUDGET, Effort, Findings, Pool, assumptions, large};
use crate::kernel::{ArrayRef, Kernel, TileId};

/// Sizes to be run one after the other, and whether of each also the blocks are run that
/// comparisons may ask for; what one run may spend.
type Pass<'a> = (Box<dyn Iterator<Item = Sizes> + 'a>, bool, u32);

/// What a run at far sizes may spend: loops over them come to no end.
const OF_FAR: u32 = BUDGET / 8;

/// Looks for conflicts at small sizes, and for accesses that leave their tile or
/// find nothing there. Of tensors conflicts are all there is to find, so they are left
/// out where a proof says that there is none. With so much to spend at most; where nothing
/// is left, the last run was not ended.
pub(crate) fn enumerate_within(kernel: &Kernel, effort: Effort<'_>, fuel: &mut u32) -> Findings {
    let pool = Pool::of(kernel);
    Setup::of((kernel, effort), &pool).run(&Wishes::default(), fuel)
}

/// The same with the budget of a kernel, and at sizes that come to what usual ones pass by: there
/// each way through conditions has its own.
pub(crate) fn enumerate(kernel: &Kernel, effort: Effort<'_>) -> Findings {
    // What a proof makes short is still run to its end.
    let mut fuel = match effort {
        Effort::Short => effort.budget(),
        // Tiles and tensors each have their part.
        Effort::Glance => 2 * effort.budget(),
        Effort::Full | Effort::Proved { .. } => BUDGET,
    };
    let pool = Pool::of(kernel);
    let setup = Setup::of((kernel, effort), &pool);
    let mut findings = setup.run(&Wishes::default(), &mut fuel);
    if matches!(effort, Effort::Full | Effort::Proved { .. }) {
        let usual = || setup.choice.with_mixed_data(1).next();
        for wishes in Wishes::all(kernel, usual) {
            findings.find(setup.run(&wishes, &mut { BUDGET }));
        }
    }
    findings
}

/// What is the same for all runs of a kernel.
struct Setup<'a> {
    kernel: &'a Kernel,
    effort: Effort<'a>,
    pool: &'a Pool,
    choice: Choice<'a>,
    asked: Asked<'a>,
    put: Put<'a>,
    /// What is run, and whether it watches tiles, or tensors.
    plans: Vec<(Plan<'a>, bool)>,
}

impl<'a> Setup<'a> {
    fn of((kernel, effort): (&'a Kernel, Effort<'a>), pool: &'a Pool) -> Self {
        let assumptions = assumptions(kernel);
        let of_tiles = [true, false].into_iter().take(if is_proved(effort) { 1 } else { 2 });
        let plans = of_tiles.map(|of_tiles| {
            let is_watched = |array| match array {
                ArrayRef::Tile(tile) => of_tiles && is_asked(tile, effort),
                ArrayRef::Tensor(_) => !of_tiles,
            };
            let assumptions = assumptions.clone();
            let plan = match effort {
                Effort::Proved { .. } => Plan::for_fills(kernel, assumptions, &is_watched),
                Effort::Glance => Plan::under(kernel, assumptions, &is_watched),
                Effort::Full | Effort::Short => Plan::storing(kernel, assumptions, &is_watched),
            };
            (plan, of_tiles)
        });
        let plans = plans.filter(|(plan, _)| plan.writes()).collect();
        let put = Put::of(kernel, &assumptions);
        let (choice, asked) = (Choice::of(kernel, pool), Asked::of(kernel));
        Self { kernel, effort, pool, choice, asked, put, plans }
    }

    /// Runs sizes that are as is wished for.
    fn run(&self, wishes: &Wishes, fuel: &mut u32) -> Findings {
        let is_proved = is_proved(self.effort);
        let unfilled = match self.effort {
            Effort::Proved { unfilled, .. } => unfilled.clone(),
            Effort::Full | Effort::Short | Effort::Glance => BTreeSet::new(),
        };
        let mut runs = Runs {
            kernel: self.kernel,
            pool: self.pool,
            asked: &self.asked,
            placing: Placing { put: &self.put, wishes },
            is_proved,
            is_inside: matches!(self.effort, Effort::Proved { is_inside: true, .. }),
            unfilled,
            findings: Findings::default(),
            fuel,
        };
        for (plan, of_tiles) in &self.plans {
            let passes = self.passes((plan, *of_tiles));
            runs.run_all(plan, passes, (self.choice.n_tiles(), self.effort.budget()));
            if is_proved {
                runs.run_doubts(plan, &self.choice);
            }
        }
        runs.findings
    }

    /// The passes of a plan that watches tiles, or tensors.
    fn passes(&self, (plan, of_tiles): (&Plan, bool)) -> Vec<Pass<'_>> {
        let (kernel, choice) = (self.kernel, &self.choice);
        let is_proved = is_proved(self.effort);
        let usual = Box::new(choice.sizes(plan.uses_data));
        let mut passes: Vec<Pass<'_>> = vec![(usual, false, u32::MAX)];
        if !self.asked.is_empty() {
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
        if of_tiles && is_proved {
            let large = large::tile_sizes(kernel, choice);
            if !large.is_empty() {
                passes.push((Box::new(large.into_iter()), false, OF_FAR));
            }
        }
        // Those may use up what is left.
        if of_tiles && is_proved {
            passes.push((Box::new(choice.with_long_loops(plan.uses_data)), false, u32::MAX));
        }
        passes
    }
}

/// Whether it is known that nothing collides.
fn is_proved(effort: Effort<'_>) -> bool {
    matches!(effort, Effort::Proved { .. })
}

/// Whether a tile is run: of what the text shows nothing need be.
fn is_asked(tile: TileId, effort: Effort<'_>) -> bool {
    match effort {
        Effort::Proved { unfilled, is_inside: true } => unfilled.contains(&tile),
        Effort::Proved { .. } | Effort::Full | Effort::Short | Effort::Glance => true,
    }
}

/// The runs of a kernel, and what they have shown.
pub(super) struct Runs<'a> {
    pub(super) kernel: &'a Kernel,
    pool: &'a Pool,
    pub(super) asked: &'a Asked<'a>,
    /// Where sizes are put.
    pub(super) placing: Placing<'a>,
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
                let sizes = self.placing.at(sizes);
                let spent = whole - *self.fuel;
                let is_over = turns.is_over(sizes.tiles(self.kernel), spent);
                if is_over || !seen.insert((plan.key(&sizes), is_asked)) {
                    continue;
                }
                let is_asked = is_asked || self.placing.wishes.are_of_blocks;
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
        let may_exclude =
            !self.placing.put.assumptions.is_empty() || plan.may_not_end || plan.refuses();
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
