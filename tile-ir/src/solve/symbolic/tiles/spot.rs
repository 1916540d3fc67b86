//! Where a place in the text writes an array, as far as it is of matter to counters there.
//!
//! A counter at a number, `n[0]`, and what its slots are for, `n[1 + slot]`, may lie in one
//! array. What holds where a store is made bounds its indices: where the counter's number
//! is beyond, the store is not of the counter. That rests on the counter's own slots, which
//! are as they should be as long as no store has hit it: the first one to do so would have
//! to come before that.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::search::ranges::{Range, Ranges};
use super::super::slots::counters::may_meet;
use super::super::walk::Walk;
use crate::kernel::{ArrayRef, Kernel, Stmt, StmtKind};

/// The element that a place writes, and between which numbers its indices lie.
#[derive(Clone, Debug)]
pub(in super::super) struct Spot {
    at: Vec<Poly>,
    /// None where that is not asked for.
    within: Vec<Range>,
}

impl Spot {
    /// Whether it can be this element.
    pub(in super::super) fn may_be(&self, element: &[Poly]) -> bool {
        let is_beyond = |(range, index): (&Range, &Poly)| {
            index.as_constant().is_some_and(|index| {
                range.low.is_some_and(|low| index < low)
                    || range.high.is_some_and(|high| high < index)
            })
        };
        may_meet(&self.at, element) && !self.within.iter().zip(element).any(is_beyond)
    }
}

impl Walk<'_> {
    /// The element of an array that is written here.
    pub(in super::super) fn spot(&self, array: ArrayRef, at: &[Poly]) -> Spot {
        let is_asked = self.counting.contains(&array);
        let is_open = at.iter().any(|index| index.as_constant().is_none());
        let within = match is_asked && is_open {
            true => self.ranges_here(at),
            false => Vec::new(),
        };
        Spot { at: at.to_vec(), within }
    }

    /// Between which numbers values lie where somebody comes by.
    fn ranges_here(&self, values: &[Poly]) -> Vec<Range> {
        let mut rows = Vec::new();
        self.constraints.iter().for_each(|formula| formula.collect_bounds(&mut rows));
        self.guards.iter().for_each(|guard| guard.collect_bounds(&mut rows));
        let mut open: Vec<Unknown> = values.iter().chain(&rows).flat_map(Poly::unknowns).collect();
        let mut seen = BTreeSet::new();
        while let Some(unknown) = open.pop() {
            let Some(symbol) = self.symbols.get(unknown).filter(|_| seen.insert(unknown)) else {
                continue;
            };
            let from = rows.len();
            symbol.facts.collect_bounds(&mut rows);
            open.extend(rows[from..].iter().flat_map(Poly::unknowns));
        }
        let ranges = Ranges::of(rows.iter());
        values.iter().map(|value| ranges.of_poly(value)).collect()
    }
}

/// The arrays that a kernel updates atomically, in which counters may lie beside other
/// things.
pub(in super::super) fn counting(kernel: &Kernel) -> BTreeSet<ArrayRef> {
    let mut found = BTreeSet::new();
    collect(&kernel.body, &mut found);
    found
}

fn collect(stmts: &[Stmt], out: &mut BTreeSet<ArrayRef>) {
    for stmt in stmts {
        if let StmtKind::Atomic { access, .. } = &stmt.kind {
            out.insert(access.array);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, out));
    }
}
