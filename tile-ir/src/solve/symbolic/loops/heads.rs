//! Variables at the head of an arbitrary iteration: what they are there, and what the iteration
//! that has been walked says of them.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::slots::in_parts::Piece;
use super::super::slots::recounted::Rounds as RoundsAdded;
use super::super::slots::tallied::Tally;
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use super::Carried;
use super::alike::Sum;
use super::by_rounds::Added;
use super::claimed::Claimed;
use super::steps::Step;
use super::together::Changed;
use crate::kernel::VarId;

/// What is known of variables that go on otherwise than by equal steps, for after the loop.
#[derive(Default)]
pub(super) struct Noted {
    /// What each was before, at the head and at the end.
    pub(super) changed: Vec<Changed>,
    /// Of those that go on alike, what they are sums of.
    pub(super) sums: Vec<Sum>,
    /// What a variable was before, and what both of its values are together.
    turned_over: Vec<(VarId, Poly, Poly)>,
    /// What a variable was before, and of what it differs by multiples.
    rotated: Vec<(VarId, Poly, Poly)>,
    added: Vec<(VarId, Added)>,
    tallied: Vec<(VarId, Tally)>,
    pieces: Vec<(VarId, Vec<Piece>)>,
    recounted: Vec<(VarId, RoundsAdded)>,
}

impl Walk<'_> {
    /// Gives variables their values at the head of an arbitrary iteration; the symbols of
    /// those to which not every one adds the same.
    pub(super) fn set_heads(&mut self, id: LoopId, carried: &[Carried]) -> Vec<(VarId, Unknown)> {
        let mut symbols = Vec::new();
        for of in carried {
            let Carried { var, first, step, kind, factor, alike, limits, .. } = of;
            if let Some(alike) = alike {
                let (value, sum) = self.gone_on(*var, first, *alike, Sharing::Block);
                symbols.push((*var, sum));
                self.env.insert(*var, value);
                continue;
            }
            let value = match step {
                Some(step) => {
                    let number = self.all_loops[id.0].number;
                    let first = &self.stepped_from(first, step, id);
                    let value = self.stepped_by(*var, first, &Poly::unknown(number), step);
                    if let (Value::Int(value), Some((min, max)), Step::Same(_)) =
                        (&value, range_of(self.type_of(*var)), step)
                    {
                        let range = Formula::le(&Poly::constant(min), value)
                            .and(Formula::le(value, &Poly::constant(max)));
                        self.symbols.add_facts(number, range);
                    }
                    self.note_rising(of, &value, number);
                    value
                }
                None => self.changed_before((*var, first), *kind, *factor),
            };
            self.set_limits(&value, limits, true);
            if let (Some(_), Value::Int(value)) = (step, &value) {
                self.note_stride((id, self.all_loops[id.0].number), value);
            }
            if let (None, Value::Int(value)) = (step, &value) {
                symbols.extend(value.unknowns().map(|unknown| (*var, unknown)));
            }
            self.env.insert(*var, value);
        }
        symbols
    }

    /// What holds in the first iteration: variables are what they were before the loop.
    pub(super) fn at_first(&self, carried: &[Carried]) -> Vec<Formula> {
        let unknown = carried.iter().filter(|carried| carried.step.is_none());
        let equal = unknown.filter_map(|Carried { var, first, .. }| match self.env.get(var)? {
            Value::Int(head) if !head.is_lost() && !first.is_lost() => {
                Some(Formula::eq(head, first))
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => None,
        });
        equal.collect()
    }

    /// Notes what the iteration that has been walked says of the variables that are these
    /// `symbols` at its head. What is `next` of a variable that only some change who go on, those
    /// who go on find at the head of the iteration after it.
    pub(super) fn note_heads(
        &mut self,
        id: LoopId,
        (carried, symbols): (&[Carried], &[(VarId, Unknown)]),
        (is_left, goes_through): (bool, bool),
        next: &dyn Fn(VarId) -> Option<Value>,
    ) -> Noted {
        let mut noted = Noted::default();
        if !self.recording {
            return noted;
        }
        for (var, at) in symbols.iter().copied() {
            let of_var = carried.iter().find(|carried| carried.var == var);
            let (Some(Value::Int(end)), Some(Carried { first, alike, .. })) =
                (self.env.get(&var).cloned(), of_var)
            else {
                continue;
            };
            if alike.is_some() {
                let head = first.add(&Poly::unknown(at));
                noted.sums.extend(self.note_alike((var, id), (first, at, &end)));
                noted.changed.push(Changed { var, first: first.clone(), head, at, end });
                continue;
            }
            self.note_head((var, id), (first, at, &end), (is_left, goes_through), &mut noted);
            if let Some(Value::Int(next)) =
                next(var).filter(|next| *next != Value::Int(end.clone()))
            {
                self.note_running((var, id), (first, at, &next));
                self.note_rounds((id, self.type_of(var)), (first, at, &next));
            }
            let (first, head) = (first.clone(), Poly::unknown(at));
            noted.changed.push(Changed { var, first, head, at, end });
        }
        self.note_recurring(id, &noted.changed);
        noted
    }

    /// The same of one variable, to which iterations do not add what the block agrees on.
    fn note_head(
        &mut self,
        (var, id): (VarId, LoopId),
        of: (&Poly, Unknown, &Poly),
        (is_left, goes_through): (bool, bool),
        noted: &mut Noted,
    ) {
        let (first, at, _) = of;
        let ty = self.type_of(var);
        self.note_running((var, id), of);
        self.note_fetched(id, of);
        self.note_paused(id, of);
        self.note_former(id, of);
        self.note_congruent(id, of);
        let turned = self.note_turned((id, ty), of);
        noted.turned_over.extend(turned.map(|whole| (var, first.clone(), whole)));
        let by = self.note_rotated(id, of);
        noted.rotated.extend(by.map(|by| (var, first.clone(), by)));
        if !self.note_cycled((id, ty), of) {
            self.note_around(id, of);
        }
        self.note_bit_by_bit((id, ty), of);
        let by = self.note_rounds((id, ty), of);
        let rounds = self.rounds_added((id, ty), of);
        if let Some(rounds) = &rounds {
            self.note_recounted(rounds, (at, ty));
        }
        if !is_left {
            noted.recounted.extend(rounds.map(|rounds| (var, rounds)));
        }
        let tally = if goes_through { self.tally((id, ty), of) } else { None };
        if !is_left {
            let pieces = self.pieces((id, ty), of);
            noted.pieces.extend(pieces.map(|pieces| (var, pieces)));
        }
        if goes_through {
            noted.added.extend(by.map(|by| (var, by)));
            noted.tallied.extend(tally.map(|tally| (var, tally)));
        }
        self.note_step((var, id), of);
    }

    /// Adds to the variables that a loop has changed what it has made of them.
    pub(super) fn leave_noted(
        &mut self,
        id: LoopId,
        noted: Noted,
        carried: &mut [Carried],
        claims: Vec<(VarId, Claimed)>,
    ) {
        for (var, first, whole) in noted.turned_over {
            self.leave_turned(var, &first, whole);
        }
        for (var, first, by) in noted.rotated {
            if let Some(Value::Int(value)) = self.env.get(&var).cloned() {
                self.leave_rotated(id, &first, &value, &by);
            }
        }
        let mut set = |var: VarId, set: &mut dyn FnMut(&mut Carried)| {
            carried.iter_mut().filter(|carried| carried.var == var).for_each(set);
        };
        for (var, by) in noted.added {
            set(var, &mut |carried| carried.added = Some(by));
        }
        for (var, tally) in noted.tallied {
            set(var, &mut |carried| carried.tally = Some(tally.clone()));
        }
        for (var, pieces) in noted.pieces {
            set(var, &mut |carried| carried.pieces = Some(pieces.clone()));
        }
        for (var, rounds) in noted.recounted {
            set(var, &mut |carried| carried.rounds = Some(rounds.clone()));
        }
        for (var, claimed) in claims {
            set(var, &mut |carried| carried.claimed = Some(claimed.clone()));
        }
    }
}
