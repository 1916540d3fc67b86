//! Runs of data that comparisons ask for, and of what they may say where they come out one way
//! alone ([`super::doubts`]).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::data::Number;
use super::doubts::{Compared, Doubts, Resting, Seen};
use super::joint::{self, Others};
use super::late::{self, Late, LateAt};
use super::machine::{Blocks, Machine, Stop};
use super::passes::Runs;
use super::plain::Plain;
use super::plan::Plan;
use super::preimages::Preimages;
use super::resized::Resized;
use super::sizes::{Choice, Sizes};
use super::spans::Spans;
use super::wanted::Wanted;
use super::{Findings, Pool};
use crate::arena::EntityId as _;
use crate::kernel::{Place, Stmt, StmtKind, Var, VarId, VarKind};

/// Different data that is run.
pub(super) const MIXED: u32 = 16;

/// Different data at which conditions come out as they are wanted to.
const EACH: usize = 2;

/// Accesses and iterations of all runs, and until one has come to its end.
pub(super) const ENOUGH: u32 = super::BUDGET / 8;
pub(super) const MOST: u32 = super::BUDGET;

/// The same of runs that each ask for other numbers: most of them are to come to their end.
const ALL: u32 = 4 * super::BUDGET;

/// The same of runs that are to show one outcome.
const OF_ONE: u32 = super::BUDGET / 2;

/// What all elements may be.
const OTHERS: [Others; 9] = [
    Others::Line { first: 1, by: 1 },
    Others::Line { first: 0, by: 1 },
    Others::Line { first: 0, by: -1 },
    Others::Line { first: 1, by: 3 },
    Others::Line { first: 0, by: -3 },
    Others::Line { first: 0, by: 40 },
    Others::Alike(Number::Float(f64::NAN)),
    Others::Alike(Number::Float(f64::INFINITY)),
    Others::Alike(Number::Float(f64::NEG_INFINITY)),
];

/// How many of these are run with a launch that was looked for.
const OF_LAUNCH: usize = 3;

/// Of how many parts of that one is run where the text shows that all tiles are filled, so that
/// only who leaves one is asked.
const FILLED: u32 = 32;

/// What is run at some sizes.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    blocks: Blocks<'r>,
    pool: &'r Pool,
    given: Option<&'r joint::Given>,
    doubts: Option<&'r Doubts>,
    /// Numbers that are taken for any that they may come to.
    late: Option<&'r LateAt<'r>>,
}

impl<'r> Run<'r> {
    /// Of few sizes, in which these are taken for any.
    pub(super) fn of_late(late: &'r LateAt<'r>, pool: &'r Pool) -> Self {
        Self { late: Some(late), ..Self::of(Blocks::Sample, pool) }
    }

    fn of(blocks: Blocks<'r>, pool: &'r Pool) -> Self {
        Self { blocks, pool, given: None, doubts: None, late: None }
    }

    fn doubting(self, doubts: &'r Doubts) -> Self {
        Self { doubts: Some(doubts), ..self }
    }
}

impl Runs<'_> {
    pub(super) fn share(&self, of: u32) -> u32 {
        if self.unfilled.is_empty() { of / FILLED } else { of }
    }

    /// Runs them, of the tiles under watch.
    pub(super) fn run_doubts(&mut self, plan: &Plan, choice: &Choice<'_>) {
        let kernel = self.kernel;
        let resting = Resting::of(kernel);
        let Some(usual) = choice.with_mixed_data(1).next() else { return };
        let spans = Spans::of(kernel);
        let late = match self.unfilled.is_empty() {
            true => Late::default(),
            false => Late::of(kernel, (plan, &resting), &spans, &usual),
        };
        let resting = if late.is_empty() { resting } else { resting.with(kernel, late.clone()) };
        let compared = Compared::of(kernel, plan, &resting);
        self.run_each((plan, choice), &Pool::of(kernel));
        self.run_looped((plan, choice), &Pool::of(kernel));
        self.run_resized((plan, choice), &Pool::of(kernel));
        self.run_joint((plan, choice), &Pool::of(kernel));
        self.run_alike((plan, choice), &Pool::of(kernel));
        if !late.is_empty() {
            self.run_late((plan, choice), &late, &Pool::of(kernel));
        }
        // What comes out both ways by itself is known.
        if compared.are_known(&self.findings.fills.outcomes) {
            self.run_wanted((plan, choice), &resting, &Pool::of(kernel));
            return;
        }
        let found = Preimages::of(kernel, &compared.all, &usual);
        let pool = Pool::of(kernel).asking(found.arrays.clone());
        self.run_preimages((plan, choice), &found, &pool);
        self.run_doubtful((plan, choice), (&compared, &resting), &pool);
        self.run_wanted((plan, choice), &resting, &pool);
    }

    /// Runs each size of tile parameters, as far as it goes: few are run elsewhere.
    fn run_each(&mut self, (plan, choice): (&Plan, &Choice<'_>), pool: &Pool) {
        let params = self.kernel.tile_params.values().map(|param| param.var).collect();
        let mut fuel = self.share(ENOUGH);
        let all = choice.with_each(&params).chain(choice.with_each_two(&params));
        self.run_sample_at((plan, pool), all, &mut fuel);
    }

    /// Runs some blocks at sizes one after the other, as far as that goes.
    fn run_sample_at(
        &mut self,
        (plan, pool): (&Plan, &Pool),
        all: impl Iterator<Item = Sizes>,
        fuel: &mut u32,
    ) {
        for sizes in all {
            let sizes = self.placing.at(sizes);
            let _ = self.run_at(plan, &sizes, Run::of(Blocks::Sample, pool), fuel);
            if *fuel == 0 {
                break;
            }
        }
    }

    /// Runs each value of integer scalars, as far as it goes, where loops make numbers of them:
    /// no condition need say which of these matter. Else those by which something is shifted.
    fn run_looped(&mut self, (plan, choice): (&Plan, &Choice<'_>), pool: &Pool) {
        let kernel = self.kernel;
        let is_integer = |var: &Var| var.ty.integer_range().is_some();
        let scalars = kernel
            .vars
            .iter()
            .filter(|(_, var)| matches!(var.kind, VarKind::Scalar(_)) && is_integer(var));
        let scalars: BTreeSet<VarId> = match makes_numbers(&kernel.body, false) {
            true => scalars.map(|(id, _)| id).collect(),
            false => late::shifting(&Plain::of(kernel)),
        };
        if scalars.is_empty() {
            return;
        }
        let mut fuel = self.share(MOST);
        self.run_sample_at((plan, pool), choice.with_each(&scalars), &mut fuel);
    }

    /// Runs sizes at which conditions may come out as they have at none.
    fn run_resized(&mut self, (plan, choice): (&Plan, &Choice<'_>), pool: &Pool) {
        let (kernel, placing) = (self.kernel, self.placing);
        let spans = Spans::of(kernel);
        let put = |sizes: Sizes| placing.at(sizes);
        let mut left = self.share(ALL);
        for resized in Resized::all(plan, &spans, &self.findings.fills.outcomes) {
            let given = left.min(self.share(OF_ONE));
            // Two may agree where none of them does it by itself.
            let mut of_one = given / 2;
            let mut of_two = given - of_one;
            let may_be = |sizes: &Sizes| resized.may_be(&spans, sizes);
            let each = choice.with_each(&resized.sizes).map(put).filter(may_be);
            self.run_sample_at((plan, pool), each, &mut of_one);
            of_two += of_one;
            let each_two = choice.with_each_two(&resized.sizes).map(put).filter(may_be);
            self.run_sample_at((plan, pool), each_two, &mut of_two);
            left -= given - of_two;
        }
    }

    /// Runs launches at which what the text says of writes and reads comes together.
    fn run_joint(&mut self, (plan, choice): (&Plan, &Choice<'_>), pool: &Pool) {
        let kernel = self.kernel;
        let plain = Plain::of(kernel);
        let starts = choice.sizes_of_each_tile();
        let starts = starts.map(|sizes| self.placing.at(sizes));
        let starts: Vec<Sizes> = starts.collect();
        let text = joint::Text::of(&plain, &self.unfilled);
        let of_rounds = joint::many_rounds(&text, &starts);
        let all = joint::together(&text, &self.unfilled).into_iter().chain(of_rounds);
        let mut left = self.share(ALL);
        let spans = Spans::of(kernel);
        for goals in all {
            let mut is_first = plan.uses_data;
            for launch in joint::find(&text, &goals, &starts) {
                self.run_launch((plan, pool), &launch, &mut left);
                let others = OTHERS.into_iter().take(if is_first { OF_LAUNCH } else { 0 });
                is_first = false;
                for others in others {
                    let given = joint::Given { others: Some(others), ..launch.given.clone() };
                    let launch = joint::Launch { given, ..launch.clone() };
                    self.run_launch((plan, pool), &launch, &mut left);
                }
            }
            if text.has_made() {
                for launch in joint::find_with_made(&text, &goals, (&starts, &spans)) {
                    self.run_launch((plan, pool), &launch, &mut left);
                }
            }
        }
    }

    /// Runs a launch that was looked for; of one in which numbers are taken for others nothing
    /// counts but what is read unwritten.
    fn run_launch(&mut self, (plan, pool): (&Plan, &Pool), launch: &joint::Launch, left: &mut u32) {
        let given = (*left).min(self.share(ENOUGH));
        let mut fuel = given;
        let block = [launch.block.clone()];
        let (mut sizes, mut asked) = (launch.sizes.clone(), None);
        if !self.placing.wishes.conditions.is_empty() {
            sizes = self.placing.at(sizes);
            asked = self.placing.wishes.are_of_blocks.then(|| self.asked.at(&sizes));
        }
        let blocks = asked.as_deref().map_or(Blocks::At(&block), Blocks::Asked);
        let run = Run {
            given: Some(&launch.given),
            doubts: launch.doubts.as_ref(),
            ..Run::of(blocks, pool)
        };
        let before = launch.doubts.is_some().then(|| self.findings.clone());
        let ended = self.run_at(plan, &sizes, run, &mut fuel);
        *left -= given - fuel;
        let Some(before) = before else { return };
        let fills = std::mem::replace(&mut self.findings, before).fills;
        if ended != Err(Stop::Excluded) {
            self.findings.fills.unwritten = fills.unwritten;
        }
    }

    /// Runs data that rises or falls from each element to the next, or is one number.
    fn run_alike(&mut self, (plan, choice): (&Plan, &Choice<'_>), pool: &Pool) {
        if !plan.uses_data {
            return;
        }
        let mut fuel = self.share(ENOUGH);
        for others in OTHERS {
            let given = joint::Given { others: Some(others), ..joint::Given::default() };
            for sizes in choice.with_mixed_data(1) {
                let sizes = self.placing.at(sizes);
                let run = Run { given: Some(&given), ..Run::of(Blocks::Sample, pool) };
                let _ = self.run_at(plan, &sizes, run, &mut fuel);
            }
        }
    }

    /// Runs what makes conditions come out as they have in no run. Of these runs nothing counts
    /// but what is read unwritten.
    fn run_wanted(&mut self, (plan, choice): (&Plan, &Choice<'_>), resting: &Resting, pool: &Pool) {
        let kernel = self.kernel;
        let spans = Spans::of(kernel);
        let wanted = Wanted::all(plan, (&spans, resting), &self.findings.fills.outcomes);
        let mut fuel = self.share(ALL);
        let all = choice.with_mixed_data(MIXED);
        let all = all.map(|sizes| self.placing.at(sizes));
        let all: Vec<Sizes> = all.collect();
        for wanted in wanted {
            // Nothing need be taken for what it is.
            let n_natural = |sizes: &&Sizes| wanted.n_natural(&spans, sizes);
            let most = all.iter().map(|sizes| n_natural(&sizes)).max();
            let best = all.iter().filter(|sizes| Some(n_natural(sizes)) == most);
            // Where what stands around it holds by itself, if that is in none of the first blocks, or at other sizes.
            let place = wanted.place(&self.findings.fills.outcomes);
            let is_elsewhere = |seen: &&Rc<Seen>| {
                let tiles = seen.sizes.tiles(kernel);
                seen.block.iter().any(|at| *at > 1)
                    || !all.iter().any(|sizes| sizes.tiles(kernel) == tiles)
            };
            let place = place.filter(is_elsewhere).cloned();
            let block = place.as_deref().map(|seen| vec![seen.block.clone()]);
            let own = place.as_deref().zip(block.as_deref());
            let own = own.map(|(seen, block)| (&seen.sizes, Blocks::At(block)));
            for (sizes, blocks) in best.take(EACH).map(|sizes| (sizes, Blocks::Sample)).chain(own) {
                let Some(doubts) = wanted.doubts((&spans, resting), sizes) else { continue };
                let before = self.findings.clone();
                let late = resting.late().map(|late| late.at(&spans, sizes));
                let run = Run { late: late.as_ref(), ..Run::of(blocks, pool).doubting(&doubts) };
                let run = self.run_at(plan, sizes, run, &mut fuel);
                let fills = std::mem::replace(&mut self.findings, before).fills;
                if run != Err(Stop::Excluded) {
                    self.findings.fills.unwritten = fills.unwritten;
                }
            }
        }
    }

    /// Runs the numbers that comparisons ask for.
    fn run_preimages(
        &mut self,
        (plan, choice): (&Plan, &Choice<'_>),
        found: &Preimages,
        pool: &Pool,
    ) {
        let kernel = self.kernel;
        let of_axis = |var| found.vars.get(&var).cloned().unwrap_or_default();
        let blocks: Vec<BTreeSet<i64>> = kernel.grid.iter().map(|axis| of_axis(axis.var)).collect();
        let blocks = Blocks::Asked(&blocks);
        let mut fuel = self.share(ALL);
        for (var, values) in &found.vars {
            let is_size = matches!(kernel.vars[*var].kind, VarKind::TileParam(_) | VarKind::Dim);
            for value in values.iter().filter(|value| is_size && **value > 0) {
                let Some(sizes) = choice.sizes_with(&[(*var, *value)], 0) else { continue };
                let sizes = self.placing.at(sizes);
                let _ = self.run_at(plan, &sizes, Run::of(blocks, pool), &mut fuel);
            }
        }
        self.run_together((plan, choice), found, (blocks, pool));
        let mut fuel = self.share(ALL);
        for (number, mut sizes) in choice.with_mixed_data(MIXED).enumerate() {
            let mut turn = number / 2;
            for (var, values) in &found.vars {
                if matches!(kernel.vars[*var].kind, VarKind::Scalar(_)) && !values.is_empty() {
                    // Each with each of the next, as far as that is run.
                    let value = values.iter().nth(turn % values.len());
                    turn = turn / values.len() + number;
                    sizes.values[var.index()] = value.copied();
                }
            }
            let sizes = self.placing.at(sizes);
            let _ = self.run_at(plan, &sizes, Run::of(blocks, pool), &mut fuel);
            if fuel == 0 {
                break;
            }
        }
    }

    /// Runs scalars that are all what comparisons ask of them, each at its first, each at its
    /// second value, and so on.
    fn run_together(
        &mut self,
        (plan, choice): (&Plan, &Choice<'_>),
        found: &Preimages,
        (blocks, pool): (Blocks<'_>, &Pool),
    ) {
        let kernel = self.kernel;
        let is_scalar = |var: &VarId| matches!(kernel.vars[*var].kind, VarKind::Scalar(_));
        let asked =
            || found.vars.iter().filter(|(var, values)| is_scalar(var) && !values.is_empty());
        let most = asked().map(|(_, values)| values.len()).max().unwrap_or(0);
        let Some(usual) = choice.with_mixed_data(1).next() else { return };
        let mut fuel = self.share(ENOUGH);
        // One by itself is run with other data.
        for turn in (0..most).take_while(|_| asked().count() > 1) {
            let mut sizes = usual.clone();
            for (var, values) in asked() {
                sizes.values[var.index()] = values.iter().nth(turn % values.len()).copied();
            }
            let sizes = self.placing.at(sizes);
            let _ = self.run_at(plan, &sizes, Run::of(blocks, pool), &mut fuel);
        }
    }

    /// Where no run comes to its end, no tile counts as run.
    fn run_doubtful(
        &mut self,
        (plan, choice): (&Plan, &Choice<'_>),
        (compared, resting): (&Compared, &Resting),
        pool: &Pool,
    ) {
        let kernel = self.kernel;
        let doubtful = compared.doubtful(&self.findings.fills.outcomes);
        if doubtful.is_empty() {
            return;
        }
        let spans = Spans::of(kernel);
        let most = self.share(MOST);
        let mut fuel = most;
        let (mut is_ended, mut is_cut) = (false, false);
        for sizes in choice.with_mixed_data(MIXED) {
            let sizes = self.placing.at(sizes);
            let doubts = Doubts::of((&doubtful, resting, compared), &spans, &sizes);
            // What is taken for another number than it is shows nothing else.
            let before = self.findings.clone();
            let late = resting.late().map(|late| late.at(&spans, &sizes));
            let run =
                Run { late: late.as_ref(), ..Run::of(Blocks::Sample, pool).doubting(&doubts) };
            let run = self.run_at(plan, &sizes, run, &mut fuel);
            self.findings = Findings { fills: std::mem::take(&mut self.findings.fills), ..before };
            is_ended |= run.is_ok();
            is_cut |= run == Err(Stop::Budget);
            if fuel == 0 || (is_ended && fuel < most - self.share(ENOUGH)) {
                break;
            }
        }
        if is_cut && !is_ended {
            self.findings.fills.run.clear();
        }
    }

    /// Runs one choice of sizes with data, and with doubts. Of those that an assumption
    /// excludes nothing is kept; of those that are cut short, not how comparisons came out,
    /// which may show what it leads to only later.
    pub(super) fn run_at(
        &mut self,
        plan: &Plan,
        sizes: &Sizes,
        run: Run<'_>,
        fuel: &mut u32,
    ) -> Result<(), Stop> {
        let before = self.findings.clone();
        let machine = Machine::new(self.kernel, plan, sizes, run.pool, &mut self.findings, fuel);
        let mut machine = machine.for_fills(true).until_filled(self.is_inside).given(run.given);
        if let Some(doubts) = run.doubts {
            machine = machine.doubting(doubts);
        }
        if let Some(late) = run.late {
            machine = machine.with_late(late);
        }
        let run = machine.run(run.blocks);
        match run {
            Err(Stop::Excluded) => self.findings = before,
            Err(Stop::Budget) => self.findings.fills.outcomes = before.fills.outcomes,
            _ => {}
        }
        run
    }
}

/// Whether a loop changes a variable.
fn makes_numbers(stmts: &[Stmt], in_loop: bool) -> bool {
    stmts.iter().any(|stmt| {
        let is_changed = matches!(
            stmt.kind,
            StmtKind::Update { place: Place::Var(_), .. } | StmtKind::Assign { .. }
        );
        let in_loop_too = in_loop || stmt.kind.is_loop();
        in_loop && is_changed
            || stmt.kind.bodies().into_iter().any(|body| makes_numbers(body, in_loop_too))
    })
}
