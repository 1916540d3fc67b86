//! Loops, and the grid as loops over blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Machine, set_fragments};
use super::period::{Period, Turn, declared_in, period_of};
use super::repeat::{Trips, by_period};
use super::value::{Mask, Value};
use crate::arena::EntityId as _;
use crate::config::UNKNOWN_TRIPS;
use crate::program::{
    ExprId, ExprKind, FragmentId, LoopRange, ProgramKernel, Stmt, StmtKind, VarId, assigned_vars,
};

/// Iterations up to which the values carried from one to the next are followed.
const MOST_FOLLOWED: u64 = 1 << 20;
/// Iterations of a conditional loop that are gone through.
const MOST_TURNS: u64 = 1 << 16;

/// The values of a counter, as numbers.
#[derive(Clone, Copy, Debug)]
enum Counter {
    Between { start: i64, step: i64, trips: u64, reversed: bool },
    Halving(i64),
    Doubling(i64),
}

impl Counter {
    fn n(self) -> u64 {
        match self {
            Self::Between { trips, .. } => trips,
            Self::Halving(n) if n > 1 => n.ilog2().into(),
            Self::Doubling(n) if n > 1 => u64::from((n - 1).ilog2()) + 1,
            Self::Halving(_) | Self::Doubling(_) => 0,
        }
    }

    fn value(self, trip: u64) -> i64 {
        match self {
            Self::Between { start, step, trips, reversed } => {
                let trip = if reversed { trips - 1 - trip } else { trip };
                start.wrapping_add(step.wrapping_mul(trip.cast_signed()))
            }
            Self::Halving(n) => n >> (trip + 1).min(63),
            Self::Doubling(_) => 1 << trip.min(62),
        }
    }

    fn between(start: i64, end: i64, step: i64, reversed: bool) -> Self {
        let trips = match step > 0 && end > start {
            true => end.abs_diff(start).div_ceil(step.unsigned_abs()),
            false => 0,
        };
        Self::Between { start, step, trips, reversed }
    }
}

impl<'k> Machine<'k> {
    /// Goes through the blocks of the grid.
    pub(super) fn grid(&mut self, extents: &[u64], axis: usize) {
        let kernel = self.plan.kernel;
        let Some(&n) = extents.get(axis) else { return self.list(&kernel.body, 0) };
        let var = kernel.grid[axis].var;
        let turn = Turn { var, step: 1 };
        let unknown = Period { turns: u64::MAX, decides: true };
        let Period { turns, decides } = period_of(self, turn, &kernel.body).unwrap_or(unknown);
        let run = &mut |machine: &mut Self, block: u64| {
            machine.vars[var.index()] = Value::Same(block.cast_signed());
            machine.grid(extents, axis + 1);
        };
        if self.may_group(n, turns) {
            let mut known = None;
            for group in by_period(n, turns) {
                self.run_group(&group, decides, &mut known, run);
            }
        } else {
            self.run_each(n, run);
        }
    }

    pub(super) fn run_for(
        &mut self,
        var: VarId,
        range: &LoopRange,
        body: &'k [Stmt],
        number: usize,
    ) {
        for expr in exprs_of(range) {
            self.count(expr, number);
        }
        let bounds: Vec<Value> = exprs_of(range).into_iter().map(|expr| self.eval(expr)).collect();
        let uniform: Option<Vec<i64>> = bounds.iter().map(Value::uniform).collect();
        match uniform {
            Some(bounds) => {
                let counter = counter(range, &bounds);
                self.branch(number, Some(self.active));
                self.tally.note(counter.n());
                self.run_counter(var, counter, body, number);
            }
            None if bounds.iter().all(Value::is_known) => {
                self.run_lanes(var, range, &bounds, body, number);
            }
            None => {
                self.branch(number, None);
                self.forget(body);
                self.vars[var.index()] = Value::Unknown;
                self.run_unknown(body, number);
            }
        }
    }

    /// A body whose number of iterations depends on data, as often as a round number
    /// says.
    fn run_unknown(&mut self, body: &'k [Stmt], number: usize) {
        let once = Trips::Listed(vec![0; UNKNOWN_TRIPS as usize]);
        let run = &mut |machine: &mut Self, _| machine.list(body, number + 1);
        self.run_group(&once, true, &mut None, run);
        self.forget(body);
    }

    fn run_counter(&mut self, var: VarId, counter: Counter, body: &'k [Stmt], number: usize) {
        let n = counter.n();
        let run = &mut |machine: &mut Self, trip: u64| {
            machine.vars[var.index()] = Value::Same(counter.value(trip));
            machine.list(body, number + 1);
        };
        let groups = match counter {
            Counter::Between { step, .. } => self.groups(Turn { var, step }, counter, body),
            Counter::Halving(_) | Counter::Doubling(_) => None,
        };
        let Some(groups) = groups else { return self.run_each(n, run) };
        let Groups { groups, decides, after } = groups;
        let mut known = None;
        for (state, trips) in groups {
            let run = &mut |machine: &mut Self, trip: u64| {
                for (var, value) in &state {
                    machine.vars[var.index()] = value.clone();
                }
                run(machine, trip);
            };
            self.run_group(&trips, decides, &mut known, run);
        }
        for (var, value) in after {
            self.vars[var.index()] = value;
        }
    }

    /// The iterations by what tells them apart; `None` where they are better gone
    /// through.
    fn groups(&mut self, turn: Turn, counter: Counter, body: &[Stmt]) -> Option<Groups> {
        let n = counter.n();
        if !self.may_group(n, 1) {
            return None;
        }
        let carried = self.carried(body)?;
        let period = period_of(self, turn, body)?;
        let Period { turns, decides } = period;
        if !self.may_group(n, turns) {
            return None;
        }
        if carried.is_empty() {
            let groups = by_period(n, turns).into_iter().map(|trips| (Vec::new(), trips));
            return Some(Groups { groups: groups.collect(), decides, after: Vec::new() });
        }
        self.follow(turn.var, counter, body, &carried, period)
    }

    /// The variables of the block that an iteration takes over from the one before;
    /// `None` where there are others, or they are not assigned in plain sight.
    fn carried(&self, body: &[Stmt]) -> Option<Vec<VarId>> {
        let mut declared = BTreeSet::new();
        declared_in(body, &mut declared);
        let carried = assigned_vars(body).into_iter();
        let carried: Vec<VarId> =
            carried.filter(|var| self.plan.is_needed(*var) && !declared.contains(var)).collect();
        let is_plain = |var: &VarId| {
            let mut inside = body.iter().flat_map(|stmt| stmt.kind.bodies());
            self.is_of_block(*var) && !inside.any(|body| assigned_vars(body).contains(var))
        };
        let may_carry = carried.is_empty() || self.present.is_none();
        (may_carry && carried.iter().all(is_plain) && !self.carries_fragments(body))
            .then_some(carried)
    }

    /// Whether what statements set a fragment to may depend on one that they set.
    fn carries_fragments(&self, body: &[Stmt]) -> bool {
        let mut set = set_fragments(body);
        set.retain(|id| self.plan.is_needed_fragment(*id));
        !set.is_empty() && self.reads_fragments(body, &set)
    }

    fn reads_fragments(&self, stmts: &[Stmt], set: &BTreeSet<FragmentId>) -> bool {
        stmts.iter().any(|stmt| {
            let value = match stmt.kind {
                StmtKind::Let { var, value: Some(value) } | StmtKind::Assign { var, value } => {
                    self.plan.is_needed(var).then_some(value)
                }
                StmtKind::SetFragment { fragment, value } => {
                    set.contains(&fragment).then_some(value)
                }
                _ => None,
            };
            let inside = stmt.kind.bodies();
            value.is_some_and(|value| reads_fragment(self.plan.kernel, value, set))
                || inside.into_iter().any(|body| self.reads_fragments(body, set))
        })
    }

    /// Follows the carried variables through all iterations.
    fn follow(
        &mut self,
        var: VarId,
        counter: Counter,
        body: &[Stmt],
        carried: &[VarId],
        Period { turns, decides }: Period,
    ) -> Option<Groups> {
        let n = counter.n();
        if n > MOST_FOLLOWED {
            return None;
        }
        let before: Vec<Value> = self.vars.clone();
        let tally = self.tally.clone();
        let mut groups: BTreeMap<(Vec<i64>, u64), Vec<u64>> = BTreeMap::new();
        let mut is_known = true;
        for trip in 0..n {
            let state = carried.iter().map(|var| self.vars[var.index()].uniform());
            let Some(state) = state.collect::<Option<Vec<i64>>>() else {
                is_known = false;
                break;
            };
            groups.entry((state, trip % turns)).or_default().push(trip);
            if groups.len() as u64 * 2 > n {
                is_known = false;
                break;
            }
            self.vars[var.index()] = Value::Same(counter.value(trip));
            for stmt in body {
                let (StmtKind::Let { var, value: Some(value) } | StmtKind::Assign { var, value }) =
                    stmt.kind
                else {
                    continue;
                };
                if self.plan.is_needed(var) {
                    self.vars[var.index()] = self.eval(value);
                }
            }
        }
        let after = carried.iter().map(|var| (*var, self.vars[var.index()].clone())).collect();
        (self.vars, self.tally) = (before, tally);
        let state_of = |state: Vec<i64>| {
            carried.iter().copied().zip(state.into_iter().map(Value::Same)).collect()
        };
        let groups = groups.into_iter();
        let groups = groups.map(|((state, _), trips)| (state_of(state), Trips::Listed(trips)));
        is_known.then(|| Groups { groups: groups.collect(), decides, after })
    }

    /// A loop whose bounds differ between lanes.
    fn run_lanes(
        &mut self,
        var: VarId,
        range: &LoopRange,
        bounds: &[Value],
        body: &'k [Stmt],
        number: usize,
    ) {
        let all = self.active;
        let of_lane = |lane: usize| {
            let bounds: Vec<i64> =
                bounds.iter().map(|bound| bound.lane(lane).unwrap_or_default()).collect();
            counter(range, &bounds)
        };
        let counters: Vec<Counter> = (0..super::value::LANES).map(of_lane).collect();
        let running = |trip: u64| {
            let bit = |lane: usize| Mask::from(counters[lane].n() > trip) << lane;
            (0..super::value::LANES).map(bit).fold(0, |mask, bit| mask | bit) & all
        };
        let longest = (0..super::value::LANES).filter(|lane| all >> lane & 1 == 1);
        let longest = longest.map(|lane| counters[lane].n()).max().unwrap_or(0);
        let run = &mut |machine: &mut Self, trip: u64| {
            let lanes = running(trip);
            machine.active = all;
            machine.branch(number, Some(lanes));
            machine.active = lanes;
            let value = Value::each(|lane| {
                let counter = counters[lane];
                if trip < counter.n() { counter.value(trip) } else { 0 }
            });
            machine.vars[var.index()] = value;
            machine.list(body, number + 1);
            machine.active = all;
        };
        self.run_each(longest, run);
    }

    pub(super) fn run_while(&mut self, cond: ExprId, body: &'k [Stmt], number: usize) {
        let all = self.active;
        for turn in 0.. {
            self.count(cond, number);
            let holds = self.eval(cond).mask(self.active);
            self.branch(number, holds);
            match holds {
                None => {
                    self.forget(body);
                    self.run_unknown(body, number);
                    break;
                }
                Some(0) => break,
                Some(holds) => {
                    self.active = holds;
                    self.list(body, number + 1);
                }
            }
            if turn >= MOST_TURNS || !self.step() {
                self.tally.is_exact = false;
                self.forget(body);
                break;
            }
        }
        self.active = all;
    }
}

/// What is carried into the iterations of each group, and out of the last.
struct Groups {
    groups: Vec<(Vec<(VarId, Value)>, Trips)>,
    /// Whether iterations of one group may differ.
    decides: bool,
    after: Vec<(VarId, Value)>,
}

fn exprs_of(range: &LoopRange) -> Vec<ExprId> {
    match *range {
        LoopRange::Between { start, end, step, .. } => vec![start, end, step],
        LoopRange::Halving(n) | LoopRange::Doubling(n) => vec![n],
    }
}

fn counter(range: &LoopRange, bounds: &[i64]) -> Counter {
    match (*range, bounds) {
        (LoopRange::Between { reversed, .. }, [start, end, step]) => {
            Counter::between(*start, *end, *step, reversed)
        }
        (LoopRange::Halving(_), [n]) => Counter::Halving(*n),
        (LoopRange::Doubling(_), [n]) => Counter::Doubling(*n),
        (LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_), _) => {
            Counter::Halving(0)
        }
    }
}

fn reads_fragment(kernel: &ProgramKernel, expr: ExprId, set: &BTreeSet<FragmentId>) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut found = matches!(kind, ExprKind::Fragment(id) if set.contains(id));
    kind.for_each_operand(&mut |operand| found = found || reads_fragment(kernel, operand, set));
    found
}
