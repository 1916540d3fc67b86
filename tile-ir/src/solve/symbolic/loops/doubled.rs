//! Strides of 32 or 64 bits that a loop doubles.
//!
//! `offset <<= 1` makes powers of two of 1 until it wraps. The iterations before that
//! are one loop, in which it does not; the few in which it does are walked one by one,
//! with the value that it has there; and all after them are another loop, in which it
//! is 0. What other variables are there is not what they are at the end of the loop: any
//! number of iterations has been run.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::{LoopId, Obstacle};
use super::super::pairs::flow::Path;
use super::super::walk::{Value, Walk};
use super::Kind;
use super::course::Course;
use super::halved::Scaled;
use crate::kernel::{LoopRange, Stmt, VarId};
use crate::solve::doubling::{self, Doubling};
use crate::span::SpanId;

/// A loop's range, with the values of its bounds.
type Bounded<'a> = (&'a LoopRange, &'a [Poly]);

impl Walk<'_> {
    /// The one variable that each iteration doubles once, and that is a power of two
    /// before the first; none where somebody may leave the loop.
    pub(in super::super) fn doubled_steadily(&self, body: &[Stmt]) -> BTreeMap<VarId, Doubling> {
        let mut doubled = doubling::doubled(self.kernel, body);
        doubled.retain(|var, doubling| {
            let before = self.env.get(var);
            doubling.is_steady && matches!(before, Some(Value::Int(first)) if self.is_power(first))
        });
        if doubled.len() == 1 && !self.leaves(body) { doubled } else { BTreeMap::new() }
    }

    /// Any value of a variable that was `first`, before an iteration that multiplies it by
    /// `factor` at most and does not wrap it.
    pub(in super::super) fn changed_before(
        &mut self,
        (var, first): (VarId, &Poly),
        kind: Kind,
        factor: Option<i128>,
    ) -> Value {
        let value = self.changed_within(var, kind);
        let (Kind::Power, Some(factor), Value::Int(poly)) = (kind, factor, &value) else {
            return value;
        };
        let range = doubling::range(self.kernel, var);
        let most = range.map(|(_, max)| Formula::le(poly, &Poly::constant(max / factor)));
        let least = self.symbols.low(first).unwrap_or(1);
        for unknown in poly.unknowns() {
            most.iter().for_each(|most| self.symbols.add_facts(unknown, most.clone()));
            self.symbols.set_least(unknown, least);
        }
        value
    }

    /// Whether a loop has no iteration in which `stride` wraps.
    pub(in super::super) fn ends_before_wrapping(
        &self,
        range: &LoopRange,
        bounds: &[Poly],
        stride: VarId,
    ) -> bool {
        let (LoopRange::Between { .. }, [start, end, ..]) = (range, bounds) else { return false };
        let Some((_, max)) = doubling::range(self.kernel, stride) else { return false };
        // From 1 on, so many iterations leave what the type can hold.
        let many = Poly::constant(max.count_ones().into());
        let is_early = Formula::le(&start.add(&many), end);
        !start.is_lost() && !end.is_lost() && self.is_never(&is_early)
    }

    /// Walks the iterations of a loop in which `stride` wraps, and those after them; there
    /// need be none.
    pub(in super::super) fn after_wrapping(
        &mut self,
        stride: VarId,
        (counter, head): (VarId, SpanId),
        bounded: Bounded<'_>,
        body: &[Stmt],
    ) {
        let Some((min, max)) = doubling::range(self.kernel, stride) else { return };
        // The greatest power of two that the type has.
        let last = 1 << (max.count_ones() - 1);
        let wraps = if min < 0 { vec![last, min] } else { vec![last] };
        self.wrapping(stride, &wraps, (counter, head), bounded, body);
        // Whether they were run is not known.
        let mut assigned = Vec::new();
        self.collect_assigned(body, &mut assigned);
        for var in assigned {
            if self.env.contains_key(&var) {
                let value = self.changed(var);
                self.env.insert(var, value);
            }
        }
    }
    /// One iteration for each of `values` of `stride`, each of which may be the last, and
    /// then any with 0.
    fn wrapping(
        &mut self,
        stride: VarId,
        values: &[i128],
        (counter, head): (VarId, SpanId),
        bounded: Bounded<'_>,
        body: &[Stmt],
    ) {
        let inner = |walk: &mut Self| match values.split_first() {
            Some((value, rest)) => {
                walk.env.insert(stride, Value::Int(Poly::constant(*value)));
                walk.set_any_count(counter, bounded);
                walk.stmts(body);
                walk.wrapping(stride, rest, (counter, head), bounded, body);
            }
            None => {
                walk.env.insert(stride, Value::Int(Poly::default()));
                let enter = |walk: &mut Self, id: LoopId| {
                    walk.enter_counter(id, counter, bounded.0, bounded.1)
                };
                let flags = BTreeSet::new();
                let none = (
                    Course {
                        ends: &flags,
                        clear: &flags,
                        ends_alone: false,
                        is_whole: false,
                        empty: None,
                        is_last: &|_| Formula::Unknown,
                    },
                    &Scaled::default(),
                );
                let (flow, _) = walk.repeated((Some(counter), head), body, &enter, none);
                walk.follow(flow);
            }
        };
        // Of who passes by nothing is known.
        let mut flow = self.nested(|walk| walk.under(Formula::True, inner));
        flow.end.through = Some(Path::default());
        self.follow(flow);
    }

    /// Gives a counter any value of its range.
    fn set_any_count(&mut self, counter: VarId, (range, bounds): Bounded<'_>) {
        let declared = &self.kernel.vars[counter];
        let why = (declared.span, Obstacle::Changed(counter));
        let value = self.any_of_type(declared.ty, self.is_uniform_var(counter), why);
        if let (Value::Int(count), LoopRange::Between { .. }, [start, end, ..]) =
            (&value, range, bounds)
        {
            let inside = Formula::le(start, count).and(Formula::lt(count, end));
            count.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, inside.clone()));
        }
        self.env.insert(counter, value);
    }
}
