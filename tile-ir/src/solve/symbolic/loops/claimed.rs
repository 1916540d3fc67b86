//! Slots that rounds of a loop claim, and that work-items keep.
//!
//! `if !hit && a[k] > 0 { slot = atomic head[0] += 1; hit = true; }` claims a slot in one round, of
//! which nobody knows which, or in none. Let each round leave a variable as it was, or set it to
//! what an update of that round has found. Then at the head of each round, and behind the loop,
//! the variable is what it was before the loop, or what *some* update of this work-item has found:
//! by induction over the rounds. Whichever it was, it is no other work-item's, and apart from what
//! theirs have found ([`super::super::slots::slot`]).
//!
//! Which of the two it is, other variables tell. A flag that no round sets which claims nothing
//! is set only where something has been claimed, or it was set before the loop; and a number that
//! such rounds leave alone is what it was before the loop where nothing has been claimed. So who
//! finds `hit`, `claimed == 1` or `slot >= 0`, where these were `false`, `0` and `-1`, has
//! claimed. Where each round claims, only who has made no round has not.
//!
//! # What it rests on
//!
//! - All claims are of one array, go one way, and the loop does not set their elements: what is
//!   found before an element is set and after may be the same.
//! - An index or step is the same in all rounds, or a number that some variable holds after a
//!   round that claims, and keeps in one that does not: `d = a[k]; slot = atomic head[d] += 1;`.
//! - A round may also set the variable back to what it was before the loop, if that is a literal,
//!   and with it all that tells whether something is claimed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::scans::prefix::single;
use super::super::slots::made::Made;
use super::super::slots::slot::Slot;
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use super::Carried;
use super::last::updates;
use crate::kernel::{Stmt, Type, VarId};

/// Variables with their values.
type Values = BTreeMap<VarId, Value>;

/// Choices one within the other that say what a round sets a variable to.
const MAX_CHOICES: u32 = 6;

/// Ways through a round.
const MAX_WAYS: usize = 12;

/// Variables that may tell whether something has been claimed.
const MAX_TOLD: usize = 8;

/// What a variable is that a round may set to a slot: all of one variable.
#[derive(Clone, Debug)]
pub(in super::super) struct Claimed {
    /// Before the loop.
    first: Poly,
    /// By how much it is more than what the update has found.
    added: i128,
    slot: Slot,
    /// The indices of the slot's element, then its step.
    parts: Vec<Part>,
    /// Tell where nothing has been claimed, and what they were before the loop.
    told: Vec<(VarId, Value)>,
    /// Holds where nothing has been claimed.
    unless: Formula,
}

/// A number that a slot is of.
#[derive(Clone, Debug)]
enum Part {
    /// The same in all rounds.
    Is(Poly),
    /// What this variable is.
    Var(VarId),
}

impl Claimed {
    /// The variables that tell whether something has been claimed, and of what.
    pub(in super::super) fn told_by(&self) -> impl Iterator<Item = VarId> {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Is(_) => None,
            Part::Var(var) => Some(*var),
        });
        self.told.iter().map(|(var, _)| *var).chain(parts)
    }

    /// What holds of variables where nothing has been claimed; `own` is the variable itself.
    fn unmade(&self, own: &Poly, values: &Values) -> Formula {
        let told = self.told.iter().filter_map(|(var, first)| match (values.get(var)?, first) {
            (Value::Cond(flag), Value::Cond(first)) => Some(flag.no.clone().or(first.yes.clone())),
            (Value::Int(value), Value::Int(first)) => Some(Formula::eq(value, first)),
            (Value::Cond(_) | Value::Int(_) | Value::Other, _) => None,
        });
        let own = [Formula::eq(own, &self.first), self.unless.clone()];
        Formula::All(own.into_iter().chain(told).collect()).folded()
    }

    /// The slot, as variables tell its parts.
    fn slot(&self, values: &Values) -> Option<Slot> {
        let mut parts = self.parts.iter().map(|part| match part {
            Part::Is(poly) => Some(poly.clone()),
            Part::Var(var) => match values.get(var)? {
                Value::Int(value) => Some(value.clone()),
                Value::Cond(_) | Value::Other => None,
            },
        });
        self.slot.kept().put(&mut |_| parts.next().flatten())
    }
}

/// A way through a round, as one variable sees it.
struct Way<'s> {
    /// Hold on it.
    path: Formula,
    ends: Ends<'s>,
}

/// What the variable is at a round's end.
enum Ends<'s> {
    /// What it was at its head.
    Same,
    /// What it was before the loop.
    Reset,
    /// What this slot has found, and so much more.
    Slot(&'s Slot, i128),
}

/// A round that has been walked.
struct Round<'r> {
    id: LoopId,
    /// The variables at its head, and before the loop.
    heads: &'r Values,
    before: &'r Values,
}

impl Walk<'_> {
    /// The variables at the head of a round that has updates, which some claim may follow.
    pub(in super::super) fn heads_of_claims(&self, carried: &[Carried], body: &[Stmt]) -> Values {
        if !self.recording || self.is_in_point() || !updates(body) {
            return Values::new();
        }
        let own = carried.iter().map(|carried| carried.var);
        own.filter_map(|var| Some((var, self.env.get(&var)?.clone()))).collect()
    }

    /// Notes of variables, at the end of a round, which slots they hold at the head of any.
    pub(in super::super) fn note_claims_of_rounds(
        &mut self,
        (id, carried): (LoopId, &[Carried]),
        heads: &Values,
        before: &Values,
    ) -> Vec<(VarId, Claimed)> {
        let mut claims = Vec::new();
        if heads.is_empty() {
            return claims;
        }
        let round = Round { id, heads, before };
        let is_open = |of: &&Carried| of.step.is_none() && of.alike.is_none();
        let open: Vec<&Carried> = carried.iter().filter(is_open).collect();
        let vars: Vec<VarId> = open.iter().map(|of| of.var).collect();
        for Carried { var, first, .. } in open {
            if let Some(claimed) = self.claimed(&round, (*var, first), &vars) {
                self.hold_claimed((*var, &claimed), heads);
                claims.push((*var, claimed));
            }
        }
        claims
    }

    /// Notes which slots variables hold behind a loop.
    pub(in super::super) fn leave_claimed(&mut self, claims: &[(VarId, Claimed)]) {
        if !claims.is_empty() {
            let values = self.env.clone();
            claims.iter().for_each(|(var, of)| self.hold_claimed((*var, of), &values));
        }
    }

    /// The variables that some round may have set to a slot before the last one, and those that
    /// tell whether one has: they stay what is known of them together. `end` is what they are
    /// at the end of the last round.
    pub(in super::super) fn kept_since(
        &self,
        carried: &[Carried],
        end: &Values,
    ) -> BTreeSet<VarId> {
        let mut kept = BTreeSet::new();
        for Carried { var, claimed, .. } in carried {
            let is_of_last = match end.get(var) {
                Some(Value::Int(end)) => {
                    let old = single(&end.plus(-end.constant_term()));
                    old.is_some_and(|old| self.slots.contains_key(&old))
                }
                Some(Value::Cond(_) | Value::Other) | None => false,
            };
            if let Some(claimed) = claimed.as_ref().filter(|_| !is_of_last) {
                kept.insert(*var);
                kept.extend(claimed.told_by());
            }
        }
        kept
    }

    /// Notes that a variable is this, too.
    pub(in super::super) fn note_same(&mut self, var: VarId, value: &Value) {
        match (self.env.get(&var), value) {
            (Some(Value::Int(own)), Value::Int(value)) if !value.is_lost() => {
                if let Some(symbol) = single(own) {
                    let is_it = Formula::eq(own, value);
                    self.symbols.add_facts(symbol, is_it);
                }
            }
            (Some(Value::Cond(own)), Value::Cond(value)) => {
                let mut flags = Vec::new();
                own.yes.collect_unknowns(&mut flags);
                let is_it = own.no.clone().or(value.yes.clone());
                let is_it = is_it.and(own.yes.clone().or(value.no.clone()));
                if let [flag] = flags.as_slice() {
                    self.symbols.add_facts(*flag, is_it);
                }
            }
            _ => {}
        }
    }

    /// Notes that a variable holds a slot where `values` are those of all.
    pub(in super::super) fn hold_claimed(
        &mut self,
        (var, claimed): (VarId, &Claimed),
        values: &Values,
    ) {
        let Some(Value::Int(own)) = values.get(&var) else { return };
        let (Some(symbol), Some(slot)) = (single(own), claimed.slot(values)) else { return };
        if self.slots.contains_key(&symbol) {
            return;
        }
        let unmade = claimed.unmade(own, values);
        let old = match claimed.added {
            0 => symbol,
            added => {
                let old = self.symbol(Sharing::Private, None, None);
                let is_it = Formula::eq(own, &Poly::unknown(old).plus(added));
                self.symbols.add_facts(symbol, is_it.or(unmade.clone()));
                old
            }
        };
        let slot = slot.known_to(Some(Made::of(old)), vec![unmade]);
        let range = range_of(Type::Scalar(self.kernel.element_type(slot.array())));
        let room = range.map(|range| self.room_inside(&slot, &Poly::unknown(old), range));
        self.slots.insert(old, slot);
        room.into_iter().for_each(|room| self.bound_old(old, room));
    }

    /// The slot that rounds give a variable.
    fn claimed(
        &self,
        round: &Round<'_>,
        (var, first): (VarId, &Poly),
        open: &[VarId],
    ) -> Option<Claimed> {
        let (Value::Int(head), Value::Int(end)) = (round.heads.get(&var)?, self.env.get(&var)?)
        else {
            return None;
        };
        if first.is_lost() || self.is_uniform_var(var) || single(head).is_none() {
            return None;
        }
        let ways = self.ways((head, first), end)?;
        let slots: Vec<(&Formula, &Slot, i128)> = ways
            .iter()
            .filter_map(|way| match &way.ends {
                Ends::Slot(slot, added) => Some((&way.path, *slot, *added)),
                Ends::Same | Ends::Reset => None,
            })
            .collect();
        let (_, slot, added) = *slots.first()?;
        let is_like = |(_, other, more): &(&Formula, &Slot, i128)| {
            other.array() == slot.array()
                && other.operator() == slot.operator()
                && *more == added
                && !self.counters.is_set_in(other, &[round.id])
        };
        if !slots.iter().all(is_like) {
            return None;
        }
        let idle = self.idle(&ways);
        if !self.keep_what_was(&ways, (head, end)) {
            return None;
        }
        let parts = (0..slot.polys().count()).map(|n| {
            let all = slots.iter().map(|(path, slot, _)| Some((*path, slot.polys().nth(n)?)));
            self.part_of(round, &all.collect::<Option<Vec<_>>>()?, (&idle, open))
        });
        let parts = parts.collect::<Option<Vec<Part>>>()?;
        let others = open.iter().copied().filter(|other| *other != var).take(MAX_TOLD);
        let told = others.filter_map(|other| self.tells(round, other, &idle)).collect();
        let unless = if idle.is_empty() { self.has_no_round(round.id) } else { Formula::True };
        Some(Claimed { first: first.clone(), added, slot: slot.clone(), parts, told, unless })
    }

    /// That a loop has no round at all, where that is known to be asked.
    fn has_no_round(&self, id: LoopId) -> Formula {
        let own = &self.all_loops[id.0];
        let at_first = |unknown: Unknown| (unknown == own.number).then(Poly::default);
        own.beyond.as_ref().map_or(Formula::True, |beyond| beyond.replace(&at_first))
    }

    /// The ways through a round at the end of which a variable has this value.
    fn ways(&self, (head, first): (&Poly, &Poly), end: &Poly) -> Option<Vec<Way<'_>>> {
        let mut ways = Vec::new();
        self.collect_ways((head, first), (end, Formula::True), MAX_CHOICES, &mut ways)?;
        Some(ways)
    }

    fn collect_ways<'s>(
        &'s self,
        (head, first): (&Poly, &Poly),
        (end, path): (&Poly, Formula),
        depth: u32,
        out: &mut Vec<Way<'s>>,
    ) -> Option<()> {
        if out.len() >= MAX_WAYS {
            return None;
        }
        let added = end.constant_term();
        let slot = single(&end.plus(-added)).and_then(|old| self.slots.get(&old));
        let ends = match slot {
            _ if end == head => Ends::Same,
            _ if first.as_constant().is_some() && end == first => Ends::Reset,
            Some(slot) if slot.is_own_in(&self.loops) => Ends::Slot(slot, added),
            Some(_) => return None,
            None => {
                let choice = single(end)?;
                let parts = self.choice_of(choice)?;
                let (Cond { yes, no }, then, otherwise) = parts;
                let depth = depth.checked_sub(1)?;
                for (part, value) in [(yes, then), (no, otherwise)] {
                    let path = path.clone().and(part.clone());
                    self.collect_ways((head, first), (value, path), depth, out)?;
                }
                return Some(());
            }
        };
        out.push(Way { path, ends });
        Some(())
    }

    /// The cases in which a round claims nothing, and whether it sets back what is claimed.
    fn idle(&self, ways: &[Way<'_>]) -> Vec<(Formula, bool)> {
        let idle = ways.iter().flat_map(|way| match &way.ends {
            Ends::Same => vec![(way.path.clone(), false)],
            Ends::Reset => vec![(way.path.clone(), true)],
            Ends::Slot(slot, _) => {
                let unmade = unmade_inside(slot).iter();
                unmade.map(|unmade| (way.path.clone().and(unmade.clone()), false)).collect()
            }
        });
        idle.filter(|(path, _)| !self.is_never(path)).collect()
    }

    /// Whether inner loops that have claimed nothing leave a variable as it was.
    fn keep_what_was(&self, ways: &[Way<'_>], (head, end): (&Poly, &Poly)) -> bool {
        ways.iter().all(|way| match &way.ends {
            Ends::Same | Ends::Reset => true,
            Ends::Slot(slot, _) => unmade_inside(slot).iter().all(|unmade| {
                let differ = Formula::ne(end, head);
                self.is_never(&way.path.clone().and(unmade.clone()).and(differ))
            }),
        })
    }

    /// Whether rounds that claim nothing leave a number as it was.
    fn keeps_head(
        &self,
        idle: &[(Formula, bool)],
        (head, first): (&Poly, &Poly),
        end: &Poly,
    ) -> bool {
        idle.iter().all(|(path, is_reset)| {
            let differ = Formula::ne(end, if *is_reset { first } else { head });
            self.is_never(&path.clone().and(differ))
        })
    }

    /// A variable that tells where nothing has been claimed, with what it was before the loop.
    fn tells(
        &self,
        round: &Round<'_>,
        var: VarId,
        idle: &[(Formula, bool)],
    ) -> Option<(VarId, Value)> {
        let before = round.before.get(&var)?;
        let tells = match (before, round.heads.get(&var)?, self.env.get(&var)?) {
            (Value::Cond(before), Value::Cond(head), Value::Cond(end)) => {
                idle.iter().all(|(path, is_reset)| {
                    let was_clear = if *is_reset { &before.no } else { &head.no };
                    self.is_never(&path.clone().and(end.yes.clone()).and(was_clear.clone()))
                })
            }
            (Value::Int(first), Value::Int(head), Value::Int(end)) => {
                !first.is_lost() && self.keeps_head(idle, (head, first), end)
            }
            _ => false,
        };
        tells.then(|| (var, before.clone()))
    }

    /// What a part of the slots is of all rounds that claim.
    fn part_of(
        &self,
        round: &Round<'_>,
        all: &[(&Formula, &Poly)],
        (idle, open): (&[(Formula, bool)], &[VarId]),
    ) -> Option<Part> {
        let (_, one) = all.first()?;
        let is_fixed = !one.unknowns().any(|unknown| self.symbols.is_inside(unknown, round.id));
        if is_fixed && all.iter().all(|(_, other)| other == one) {
            return Some(Part::Is((*one).clone()));
        }
        let holds = |var: &&VarId| {
            let (Some(Value::Int(head)), Some(Value::Int(end))) =
                (round.heads.get(var), self.env.get(var))
            else {
                return false;
            };
            let is_it = |(path, of): &(&Formula, &Poly)| {
                self.is_never(&(*path).clone().and(Formula::ne(end, of)))
            };
            let mut left = idle.iter().filter(|(_, is_reset)| !is_reset);
            all.iter().all(is_it)
                && left.all(|(path, _)| self.is_never(&path.clone().and(Formula::ne(end, head))))
        };
        open.iter().find(holds).copied().map(Part::Var)
    }
}

/// Where a slot that an inner loop has left is none; one of the round itself is always one.
fn unmade_inside(slot: &Slot) -> &[Formula] {
    if slot.is_of_item() { &[] } else { slot.unmade() }
}
