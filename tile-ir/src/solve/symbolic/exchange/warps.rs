//! Values that the work-items of a warp agree on.
//!
//! What an exchange gives all of a warp (a sum, a ballot, the value of one lane) is one
//! value for two work-items that are in one warp and make the exchange in the same
//! iterations of the loops around. Which warp, a work-item's number tells.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::{Value, Walk};
use crate::exchange::{ExchangeOp, Group, Shuffle, WARP_ITEMS};
use crate::kernel::Type;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// A work-item's place among the warps of its block.
#[derive(Clone, Debug)]
pub(in super::super) struct Place {
    /// The number of its warp.
    pub(in super::super) warp: Poly,
    /// Its number within the warp.
    pub(in super::super) lane: Poly,
    /// How many work-items the block has.
    pub(in super::super) count: Poly,
}

impl Place {
    /// That a lane of the warp is there.
    pub(in super::super) fn has(&self, lane: &Poly) -> Formula {
        let number = self.warp.scaled(WARP_ITEMS.into()).add(lane);
        Formula::within(lane, &Poly::constant(WARP_ITEMS.into()))
            .and(Formula::lt(&number, &self.count))
    }

    /// That a lane of the warp is not there.
    pub(in super::super) fn lacks(&self, lane: &Poly) -> Formula {
        let number = self.warp.scaled(WARP_ITEMS.into()).add(lane);
        Formula::Any(vec![
            Formula::lt(lane, &Poly::default()),
            Formula::le(&Poly::constant(WARP_ITEMS.into()), lane),
            Formula::le(&self.count, &number),
        ])
    }
}

/// A value that a warp agrees on.
#[derive(Clone, Debug)]
pub(in super::super) struct Common {
    /// The loops around what has made it.
    pub(in super::super) loops: Vec<LoopId>,
    /// Where it is each work-item's own after all.
    pub(in super::super) unless: Formula,
}

impl Walk<'_> {
    /// A work-item's place among the warps.
    pub(in super::super) fn place(&mut self, span: SpanId) -> Option<Place> {
        if let Some(place) = &self.warp_place {
            return Some(place.clone());
        }
        let (number, count) = self.number_of_items()?;
        let size = Poly::constant(WARP_ITEMS.into());
        let warp = self.quotient(&number, &size, (span, BinaryOp::Div))?;
        let lane = number.sub(&warp.scaled(WARP_ITEMS.into()));
        self.warp_place = Some(Place { warp, lane, count });
        self.warp_place.clone()
    }

    /// Whether only the first warp of a block comes by: so a work-item's lane is its number.
    pub(in super::super) fn is_in_first_warp(&self) -> bool {
        self.warp_place.as_ref().is_some_and(|place| {
            let others = Formula::ne(&place.warp, &Poly::default());
            self.is_never(&Formula::All(self.guards.clone()).and(others))
        })
    }

    /// What a value is where only the first warp of a block comes by: in terms of which the number
    /// of a work-item and its lane are one. Elsewhere it is itself.
    pub(in super::super) fn as_in_first_warp(&self, value: &Poly) -> Poly {
        let zeros = self.zeros_in_first_warp();
        value.replace(&|of| zeros.contains(&of).then(Poly::default))
    }

    /// The same of a condition.
    pub(in super::super) fn formula_in_first_warp(&self, formula: &Formula) -> Formula {
        let zeros = self.zeros_in_first_warp();
        formula.replace(&|of| zeros.contains(&of).then(Poly::default))
    }

    /// What is 0 where only the first warp of a block comes by, of what its number is made of.
    fn zeros_in_first_warp(&self) -> Vec<Unknown> {
        let Some(place) = self.warp_place.as_ref().filter(|_| self.is_in_first_warp()) else {
            return Vec::new();
        };
        let here = Formula::All(self.guards.clone());
        let differs = |of: Unknown| Formula::ne(&Poly::unknown(of), &Poly::default());
        let is_0 = |of: &Unknown| self.is_never(&here.clone().and(differs(*of)));
        place.warp.unknowns().filter(is_0).collect()
    }

    /// Notes what an exchange of `operand` gives: sums, and what a warp agrees on. Gives the
    /// result in other terms, where it is known in such.
    pub(in super::super) fn note_exchange(
        &mut self,
        op: ExchangeOp,
        (operand, lane): (Value, Option<Value>),
        result: &Value,
        (ty, span): (Type, SpanId),
    ) -> Option<Poly> {
        if op.group() == Group::Warp && self.place(span).is_none() {
            return None;
        }
        let symbol = match result {
            Value::Int(result) => result.unknowns().next(),
            Value::Cond(_) | Value::Other => None,
        };
        if let Some(symbol) = symbol
            && op.is_uniform(Group::Warp)
            && !op.is_uniform(Group::Block)
        {
            self.note_common(symbol, Formula::False);
        }
        let shuffled = match (op, symbol, &operand, &lane) {
            (
                ExchangeOp::Shuffle(shuffle),
                Some(symbol),
                Value::Int(operand),
                Some(Value::Int(by)),
            ) => self.note_shuffled((shuffle, symbol), (operand, by), span),
            _ => None,
        };
        match (op, symbol) {
            (ExchangeOp::Ballot, Some(symbol)) => self.note_ballot(symbol, operand),
            (ExchangeOp::Shuffle(Shuffle::At), Some(symbol)) => {
                if let (Value::Int(operand), Some(Value::Int(lane))) = (operand, lane) {
                    self.note_broadcast(symbol, &operand, &lane, ty);
                }
            }
            (ExchangeOp::Shuffle(Shuffle::Up), Some(symbol)) => {
                if let (Value::Int(operand), Some(Value::Int(by))) = (operand, lane) {
                    self.note_shifted((&operand, &by), symbol, (ty, span));
                }
            }
            (
                ExchangeOp::Reduce(_)
                | ExchangeOp::Scan { .. }
                | ExchangeOp::WarpReduce(_)
                | ExchangeOp::Shuffle(_)
                | ExchangeOp::Ballot,
                _,
            ) => self.note_sum(op, operand, result, ty),
        }
        shuffled
    }

    /// Notes that a warp agrees on a symbol.
    pub(in super::super) fn note_common(&mut self, symbol: Unknown, unless: Formula) {
        self.common.insert(symbol, Common { loops: self.loops.clone(), unless });
    }

    /// Notes that a warp agrees on what something made in these loops decides.
    pub(in super::super) fn note_common_in(&mut self, symbol: Unknown, loops: Vec<LoopId>) {
        self.common.insert(symbol, Common { loops, unless: Formula::False });
    }

    /// Whether all work-items of a warp have one value, made in the present iterations
    /// of the loops around or before them.
    pub(in super::super) fn is_agreed_by_warp(&self, value: &Poly) -> bool {
        !value.is_lost() && value.unknowns().all(|unknown| self.is_common(unknown))
    }

    /// The number of the warp is one value, and so is what is made of such values.
    fn is_common(&self, unknown: Unknown) -> bool {
        if self.warp_place.as_ref().is_some_and(|place| place.warp == Poly::unknown(unknown)) {
            return true;
        }
        if let Some(common) = self.common.get(&unknown) {
            return common.unless == Formula::False;
        }
        let Some(symbol) = self.symbols.get(unknown) else { return false };
        match &symbol.sharing {
            Sharing::Private => false,
            Sharing::Function(of) => of.iter().all(|other| self.is_common(*other)),
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) => true,
        }
    }
}

impl Builder<'_> {
    /// The cases in which two work-items of one block are not in one warp and the same
    /// iterations of these loops; `None` between blocks.
    pub(in super::super) fn in_two_warps(&mut self, loops: &[LoopId]) -> Option<Vec<Formula>> {
        let walk = self.walk;
        let shared = self.meeting.shared_loops()?;
        let place = walk.warp_place.as_ref()?;
        let numbers = loops.iter().filter(|id| !shared.contains(id));
        let numbers = numbers.map(|id| Poly::unknown(walk.all_loops[id.0].number));
        let parts: Vec<Poly> = std::iter::once(place.warp.clone()).chain(numbers).collect();
        let mut cases = Vec::new();
        for part in parts {
            let (left, right) = (self.on(Side::First, &part), self.on(Side::Second, &part));
            cases.push(Formula::ne(&left, &right));
        }
        Some(cases)
    }

    /// Adds that what a warp agrees on is one value for both sides, if they are of one.
    pub(in super::super) fn join_warps(&mut self) {
        let walk = self.walk;
        // What is made in the same iterations is the same all together.
        let mut joined: BTreeMap<(&[LoopId], Option<&Formula>), Vec<Formula>> = BTreeMap::new();
        for (symbol, common) in &walk.common {
            let both = [Side::First, Side::Second];
            if !both.iter().all(|side| self.seen.contains(&(*symbol, *side))) {
                continue;
            }
            let value = Poly::unknown(*symbol);
            let [left, right] = both.map(|side| self.on(side, &value));
            let unless = Some(&common.unless).filter(|unless| **unless != Formula::False);
            joined.entry((&common.loops, unless)).or_default().push(Formula::eq(&left, &right));
        }
        for ((loops, unless), same) in joined {
            let Some(mut cases) = self.in_two_warps(loops) else { return };
            cases.extend(unless.map(|unless| self.formula_on(Side::First, unless)));
            cases.push(Formula::All(same));
            self.system.assert(&Formula::Any(cases).replace(&|_| None));
        }
    }
}
