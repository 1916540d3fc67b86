//! Running sums: variables to which every iteration of a loop adds a number of its own
//! that is not negative.
//!
//! `at += count` leaves the run `at..at + count` to the iteration: of two iterations the later
//! one finds at least what the earlier one has left. So work-items that agree on both, those
//! of a block, of a warp ([`super::super::exchange::warps`]) or of a row of the block, write
//! at places of their own in each iteration.
//!
//! A sum in 32 bits and more is taken not to leave the range of its type, as counters do
//! not ([`super::super::slots::slot`]).

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::pairs::instance::{Builder, Side};
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use crate::kernel::VarId;

/// A variable that only grows.
#[derive(Clone, Debug)]
pub(in super::super) struct Running {
    /// Its value at the start of an iteration.
    at: Unknown,
    /// What the iteration adds.
    step: Poly,
    /// The loop, and those around it.
    id: LoopId,
    outer: Vec<LoopId>,
    /// Who agrees on it.
    team: Team,
    /// What it is at most.
    most: Option<i128>,
    /// Whether it is a sum that begins anew with each run of the loop.
    is_anew: bool,
}

/// The work-items of a block that agree on a value.
#[derive(Clone, Debug, Default)]
struct Team {
    /// They have one number along these axes.
    axes: BTreeSet<Unknown>,
    /// They are of one warp.
    is_of_warp: bool,
}

impl Walk<'_> {
    /// Who agrees on a value; `None` where nobody does.
    fn team(&self, values: &[&Poly]) -> Option<Team> {
        let mut team = Team::default();
        let mut open = Vec::new();
        for value in values {
            if value.is_lost() {
                return None;
            }
            open.extend(value.unknowns());
        }
        while let Some(unknown) = open.pop() {
            if self.common.get(&unknown).is_some_and(|common| common.unless == Formula::False) {
                team.is_of_warp = true;
                continue;
            }
            match &self.symbols.get(unknown)?.sharing {
                Sharing::Launch | Sharing::Block | Sharing::Iteration(_) => {}
                Sharing::Function(of) => open.extend(of),
                Sharing::Private => {
                    let is_axis = self.block.iter().flatten().any(|(_, axis)| *axis == unknown);
                    if !is_axis {
                        return None;
                    }
                    team.axes.insert(unknown);
                }
            }
        }
        Some(team)
    }

    /// Notes that `var`, which was `first` before a loop and is `at` when an iteration
    /// starts, is `end` after it.
    pub(in super::super) fn note_running(
        &mut self,
        (var, id): (VarId, LoopId),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        let ty = self.type_of(var);
        let exact = self.before_wrapping(end, ty).unwrap_or_else(|| end.clone());
        let step = exact.sub(&Poly::unknown(at));
        if step.is_lost() || step.mentions(at) || step == Poly::default() {
            return;
        }
        let team = match self.is_uniform_var(var) {
            true => Some(Team::default()),
            false => self.team(&[first, &step]),
        };
        let Some(team) = team.filter(|_| self.is_natural(&step)) else { return };
        let outer = self.loops_around(id);
        if team.is_of_warp && team.axes.is_empty() {
            self.note_common_in(at, [outer.as_slice(), &[id]].concat());
        }
        if !team.is_of_warp && team.axes.is_empty() {
            self.symbols.set_block(at);
        }
        let most = range_of(ty).map(|(_, max)| max);
        self.running.push(Running { at, step, id, outer, team, most, is_anew: false });
    }

    /// Notes that an iteration adds `step` to a sum that the block shares.
    pub(in super::super) fn note_running_sum(&mut self, id: LoopId, at: Unknown, step: Poly) {
        if self.is_natural(&step) {
            let (outer, team) = (self.loops_around(id), Team::default());
            self.running.push(Running { at, step, id, outer, team, most: None, is_anew: true });
        }
    }

    fn loops_around(&self, id: LoopId) -> Vec<LoopId> {
        self.loops.iter().copied().take_while(|of| *of != id).collect()
    }
}

impl Builder<'_> {
    /// Adds which of two iterations has the smaller sum, and by how much.
    pub(in super::super) fn part_running(&mut self) {
        let walk = self.walk;
        for running in &walk.running {
            let both = [Side::First, Side::Second];
            for side in both {
                if let Some(most) = running.most
                    && self.seen.contains(&(running.at, side))
                {
                    let end = Poly::unknown(running.at).add(&running.step);
                    let room = Formula::le(&end, &Poly::constant(most));
                    let room = self.formula_on(side, &room);
                    self.system.assert(&room);
                }
            }
            let Some(shared) = self.meeting.shared_loops() else { continue };
            if !both.iter().all(|side| self.seen.contains(&(running.at, *side)))
                || shared.contains(&running.id)
                || !(running.is_anew || running.outer.iter().all(|id| shared.contains(id)))
            {
                continue;
            }
            let is_other = |id: &&LoopId| !shared.contains(id);
            let others: Vec<LoopId> = running.outer.iter().filter(is_other).copied().collect();
            let warps = if running.team.is_of_warp { self.in_two_warps(&[]) } else { None };
            let mut cases = warps.unwrap_or_default();
            // In other iterations of a loop around, the sum is another one.
            for id in others {
                let number = Poly::unknown(walk.all_loops[id.0].number);
                let (left, right) = (self.on(Side::First, &number), self.on(Side::Second, &number));
                cases.push(Formula::ne(&left, &right));
            }
            for axis in &running.team.axes {
                let axis = Poly::unknown(*axis);
                let (left, right) = (self.on(Side::First, &axis), self.on(Side::Second, &axis));
                cases.push(Formula::ne(&left, &right));
            }
            let number = Poly::unknown(walk.all_loops[running.id.0].number);
            let [first, second] = both.map(|side| {
                let at = Poly::unknown(running.at);
                [&number, &at, &at.add(&running.step)].map(|poly| self.on(side, poly))
            });
            let follows = |[n, _, end]: &[Poly; 3], [m, at, _]: &[Poly; 3]| {
                Formula::lt(n, m).and(Formula::le(end, at))
            };
            let same = Formula::eq(&first[0], &second[0]).and(Formula::eq(&first[1], &second[1]));
            cases.extend([follows(&first, &second), follows(&second, &first), same]);
            self.system.assert(&Formula::Any(cases).replace(&|_| None));
        }
    }
}
