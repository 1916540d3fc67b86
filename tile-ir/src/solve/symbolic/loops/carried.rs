//! Variables that a loop's body assigns: what is seen of them in an iteration that is walked for
//! it alone.
//!
//! Each is taken for what it was before the loop, or natural, or a power of two, at the start of
//! an iteration; where it is not so at the end, that is taken back, until what is left is kept.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::LoopId;
use super::super::scans::windows::Widened;
use super::super::slots::in_parts::Piece;
use super::super::slots::recounted::Rounds as RoundsAdded;
use super::super::slots::tallied::Tally;
use super::super::walk::{Value, Walk};
use super::alike::Alike;
use super::bounded::Limit;
use super::by_rounds::Added;
use super::claimed::Claimed;
use super::drained::Drained;
use super::halved::Scaled;
use super::raised::Raised;
use super::rising;
use super::steps::Step;
use crate::kernel::{Place, Stmt, StmtKind, Type, VarId};
use crate::solve::doubling;
use crate::span::SpanId;

/// A variable that a body assigns.
pub(in super::super) struct Carried {
    pub(in super::super) var: VarId,
    /// Before the loop.
    pub(in super::super) first: Poly,
    /// What every iteration adds, if all add the same.
    pub(in super::super) step: Option<Step>,
    /// What it is before the loop and after any iteration.
    pub(in super::super) kind: Kind,
    /// By which an iteration multiplies it at most, if that is all it does and does not wrap.
    pub(super) factor: Option<i128>,
    /// Whether it is never negative, of one to which each adds more than the one before.
    pub(super) stays_natural: bool,
    /// That every iteration adds what the block agrees on, if not the same.
    pub(in super::super) alike: Option<Alike>,
    /// Whether it is of that kind in iterations alone, since they halve it while it is above 0.
    pub(super) is_halved: bool,
    /// Whether it is at least 1 in iterations alone, since none begins where it is 0.
    pub(super) is_above: bool,
    /// Between which values the loop keeps it.
    pub(in super::super) limits: Vec<Limit>,
    /// That it moves by no more than another number falls.
    pub(super) drained: Option<Drained>,
    /// Whether it is `first` again at the head of each iteration.
    pub(super) is_restored: bool,
    /// Of what it is a sum over ever more work-items.
    pub(in super::super) widened: Option<Widened>,
    /// By the place where some have left, whether they have changed it in that iteration.
    pub(super) changed_last: Vec<bool>,
    /// What each iteration adds to it, at least and at most, where nobody leaves the loop.
    pub(super) added: Option<Added>,
    /// What it has counted of a list, from which work-items have ranks.
    pub(in super::super) tally: Option<Tally>,
    /// What it has counted of a list, of which other counts may be a part.
    pub(in super::super) pieces: Option<Vec<Piece>>,
    /// What each iteration adds to it, by cases, where nobody leaves the loop.
    pub(in super::super) rounds: Option<RoundsAdded>,
    /// Which slots rounds set it to.
    pub(super) claimed: Option<Claimed>,
    /// What rounds have raised it to together with another one, and how many were begun.
    pub(super) raised: Vec<(Raised, Poly)>,
}

/// What an index is known to be that a loop changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Kind {
    /// Any number.
    Any,
    /// Never negative.
    Natural,
    /// At least 1.
    Positive,
    /// A power of two, as what is doubled from 1 on.
    Power,
}

impl Walk<'_> {
    /// The variables of outside that the body assigns, and what it adds to them.
    pub(super) fn carried(
        &mut self,
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
        scaled: &Scaled,
    ) -> Vec<Carried> {
        let mut assigned = Vec::new();
        self.collect_assigned(body, &mut assigned);
        assigned.sort_unstable();
        assigned.dedup();
        let before = self.env.clone();
        let grown = doubling::grown(self.kernel, body);
        let mut carried: Vec<Carried> = assigned
            .into_iter()
            .filter(|var| before.contains_key(var))
            .map(|var| {
                let first = match before.get(&var) {
                    Some(Value::Int(first)) => first.clone(),
                    Some(Value::Cond(_) | Value::Other) | None => Poly::lost(),
                };
                // Of data it is seldom so, and costs another walk to see.
                let is_index = self.type_of(var) == Type::Index;
                let doubling = scaled.doubled.get(&var).filter(|_| self.is_power(&first));
                let is_halved = scaled.halved.contains(&var);
                let is_above = scaled.above.contains(&var) && self.kind(&first) == Kind::Natural;
                let kind = match doubling {
                    Some(_) => Kind::Power,
                    None if is_halved => Kind::Power,
                    None if is_above => Kind::Positive,
                    None if is_index => self.kind(&first),
                    None => Kind::Any,
                };
                let grows = doubling.or_else(|| grown.get(&var).filter(|_| is_index));
                let factor = grows.map(|doubling| doubling.factor);
                let is_restored = self.may_restore(var, &first, body);
                let (limits, changed_last, widened) = (Vec::new(), Vec::new(), None);
                let step = None;
                Carried {
                    var,
                    first,
                    step,
                    kind,
                    factor,
                    stays_natural: false,
                    alike: None,
                    is_halved,
                    is_above,
                    limits,
                    drained: None,
                    is_restored,
                    widened,
                    changed_last,
                    added: None,
                    tally: None,
                    pieces: None,
                    rounds: None,
                    claimed: None,
                    raised: Vec::new(),
                }
            })
            .collect();
        self.may_widen(counter, &mut carried, body);
        if !carried.iter().any(|carried| self.is_followed(carried.var)) {
            return carried;
        }
        while !self.probe(&mut carried, (counter, head), body, enter) {}
        if self.asks_limits(body) {
            self.find_limits(&mut carried, (counter, head), body, enter);
        }
        carried
    }

    /// What is plain to see of a value.
    fn kind(&self, value: &Poly) -> Kind {
        match self.symbols.low(value) {
            _ if self.is_power(value) => Kind::Power,
            Some(1..) => Kind::Positive,
            _ if self.is_natural(value) => Kind::Natural,
            _ => Kind::Any,
        }
    }

    /// Walks an iteration to see what it does to `carried`, of which those that are
    /// taken for natural, or for what they were before the loop, are so at its start.
    /// Whether they are at its end too; else that is taken back.
    fn probe(
        &mut self,
        carried: &mut [Carried],
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) -> bool {
        let before = self.env.clone();
        let recording = std::mem::replace(&mut self.recording, false);
        let id = self.open(counter, head);
        let settled = self.settled();
        self.settled_at_head(body);
        let mut heads = BTreeMap::new();
        for Carried { var, first, kind, factor, is_restored, .. } in carried.iter() {
            let value = match is_restored {
                true => Value::Int(first.clone()),
                false => self.changed_before((*var, first), *kind, *factor),
            };
            heads.insert(*var, value.clone());
            self.env.insert(*var, value);
        }
        let mut entered = Formula::Unknown;
        self.nested(|walk| {
            entered = enter(walk, id);
            walk.take_for_widened(carried);
            walk.stmts(body);
        });
        self.own_cells.settled = settled;
        // A counter goes on without those who have left.
        let stayed = self.stayed.take().filter(|_| counter.is_none());
        let mut holds = true;
        let mut ends_of = rising::Ends::new();
        for carried in carried.iter_mut() {
            let end = self.env.get(&carried.var).cloned();
            let after = match &end {
                Some(Value::Int(end)) if carried.kind > Kind::Any => self.kind(end),
                Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => Kind::Any,
            };
            let least = if carried.is_above { Kind::Natural } else { carried.kind };
            if after < least && !carried.is_halved {
                (carried.kind, carried.is_above, holds) = (after, false, false);
            }
            let start = heads.get(&carried.var);
            let next =
                stayed.as_ref().zip(start).and_then(|(of, start)| of.value(carried.var, start));
            let of_left = stayed.as_ref().zip(start).filter(|_| next.is_some());
            carried.changed_last =
                of_left.map_or(Vec::new(), |(of, start)| of.has_changed(carried.var, start));
            let end = next.cloned().or(end);
            if let Some(widened) = &carried.widened
                && !self.is_widened(widened, end.as_ref())
            {
                (carried.widened, holds) = (None, false);
            }
            (carried.step, carried.alike, carried.stays_natural) = (None, None, false);
            if carried.is_restored && !Self::is_restored(end.as_ref(), &carried.first) {
                (carried.is_restored, holds) = (false, false);
            } else if let (Some(Value::Int(start)), Some(Value::Int(end))) = (start, end) {
                ends_of.insert(carried.var, (start.clone(), end.clone()));
                let ends = self.ends_above(&entered, (&carried.first, start), id);
                let step = self.each_adds(carried.var, (start, &end), (id, ends));
                carried.step = step.filter(|_| !carried.first.is_lost());
                if carried.step.is_none() && carried.widened.is_none() {
                    let alike = self.adds_alike(carried.var, (&carried.first, start, &end));
                    carried.alike = alike.filter(|alike| alike.keeps(carried.kind));
                }
            }
        }
        self.find_rising(carried, &ends_of, (id, &entered));
        self.loops.pop();
        self.recording = recording;
        self.env = before;
        holds
    }

    /// The variables that statements assign, at any depth, and the elements that they
    /// may.
    pub(in super::super) fn collect_assigned(&self, stmts: &[Stmt], out: &mut Vec<VarId>) {
        for stmt in stmts {
            if let StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } =
                &stmt.kind
            {
                out.push(*var);
            }
            if let StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. } = &stmt.kind
            {
                out.extend(self.local_elements.all(access.array));
            }
            if let StmtKind::Atomic { access, .. } = &stmt.kind {
                out.extend(self.local_elements.own_cell(access.array));
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.collect_assigned(body, out));
        }
    }
}
