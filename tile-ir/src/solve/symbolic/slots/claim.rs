//! Claims: old values that tell who was first at an element.
//!
//! After `atomic flag[k].compare_exchange(0, 1)` the element is not 0, and if all
//! updates of the array leave something else than 0, none finds 0 there again: of all
//! that find it, there is one. So `if was == 0 { … }` is done once for each element.
//!
//! Of two updates of one element one is first. Where it has changed the element, the
//! other one finds what some update of the array has left. An exchange that compares
//! changes it where it finds what it expects; any other update does.
//!
//! Outside of a tensor an update has found the pad, as a read does, and changes nothing.
//!
//! One work-item may tell its block what it has found ([`super::super::tiles::relayed`]): of two
//! blocks that are told of one element, one hears what updates leave.
//!
//! It rests on what slots do ([`super::slot`]): both updates are of one element, inside
//! the array, and nothing sets it between the two.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::loops::left::{Left, joined};
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::{Value, Walk};
use super::slot::Turn;
use crate::kernel::{ArrayRef, Type};
use crate::op::AtomicOp;

/// What is known of an old value.
#[derive(Clone, Debug)]
pub(in super::super) struct Claim {
    turn: Turn,
    /// Where the update changes the element only if this is found.
    expected: Option<Poly>,
    /// Whether all of a block have it from the one who made the update.
    is_of_block: bool,
}

/// What updates leave in arrays, and who finds it.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Claims {
    /// By array, of each update the element, and what it leaves there.
    left: BTreeMap<ArrayRef, Vec<(Vec<Poly>, Left)>>,
    /// By symbol, of those that are old values.
    found: BTreeMap<Unknown, Claim>,
}

impl Claim {
    /// The same in other terms, if all of it can be put in such.
    pub(in super::super) fn put(self, put: &mut dyn FnMut(&Poly) -> Option<Poly>) -> Option<Self> {
        let indices = self.turn.indices.iter().map(&mut *put).collect::<Option<Vec<Poly>>>()?;
        let expected = match &self.expected {
            Some(expected) => Some(put(expected)?),
            None => None,
        };
        Some(Self { turn: self.turn.at(indices), expected, ..self })
    }
}

impl Claims {
    /// What updates leave in an element that two of them are of: one of these.
    fn left_in(&self, one: &Turn, other: &Turn) -> Vec<Left> {
        let all = self.left.get(&one.array).map(Vec::as_slice).unwrap_or_default();
        let own = all.iter().filter(|(at, _)| one.may_meet(at) && other.may_meet(at));
        joined(own.map(|(_, left)| left))
    }
}

impl Walk<'_> {
    /// What an exchange expects, if it does, of an update that leaves numbers of which
    /// something is known. Notes what it leaves.
    pub(in super::super) fn left(
        &mut self,
        (array, at): (ArrayRef, &[Poly]),
        (op, expected): (AtomicOp, Option<Value>),
        operand: &Value,
    ) -> Option<Option<Poly>> {
        let ty = Type::Scalar(self.kernel.element_type(array));
        let all = super::super::terms::integers::range_of(ty)?;
        let expected = match expected {
            Some(Value::Int(expected)) if !expected.is_lost() => Some(expected),
            Some(_) => Some(Poly::lost()),
            None => None,
        };
        let left = match operand {
            Value::Int(operand) if !operand.is_lost() => {
                self.what_is_left((op, expected.as_ref()), operand, (ty, all))
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => Left::any(all),
        };
        let is_known = left != Left::any(all);
        if self.recording {
            self.claims.left.entry(array).or_default().push((at.to_vec(), left));
        }
        let is_known = is_known && expected.as_ref().is_none_or(|poly| !poly.is_lost());
        is_known.then_some(expected)
    }

    /// Notes that `found` is what an update found.
    pub(in super::super) fn note_claim(
        &mut self,
        found: &Poly,
        turn: Turn,
        expected: Option<Poly>,
    ) {
        for unknown in found.unknowns() {
            let (turn, expected) = (turn.clone(), expected.clone());
            let claim = Claim { turn, expected, is_of_block: false };
            self.claims.found.insert(unknown, claim);
        }
    }

    /// What is known of an old value, if it is more than any number, and not a slot.
    pub(in super::super) fn claim(&self, found: Unknown) -> Option<Claim> {
        self.claims.found.get(&found).cloned()
    }

    /// Notes that a block has an old value from one of its work-items, whose claim it is in these
    /// terms.
    pub(in super::super) fn note_told_claim(&mut self, told: Unknown, claim: Claim) {
        self.claims.found.insert(told, Claim { is_of_block: true, ..claim });
    }
}

impl Builder<'_> {
    /// That of what an update found on one side, and what one found on the other, one
    /// is what updates leave.
    pub(in super::super) fn part_claims(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(claim) = walk.claims.found.get(&symbol) else { return };
        self.mention_grid(side);
        let seen: Vec<Unknown> =
            self.seen.iter().filter(|(_, of)| *of != side).map(|(other, _)| *other).collect();
        for other in seen {
            let Some(others) = walk.claims.found.get(&other) else { continue };
            let pair = match side {
                Side::First => [(symbol, claim), (other, others)],
                Side::Second => [(other, others), (symbol, claim)],
            };
            self.part_two_claims(pair);
        }
    }

    fn part_two_claims(&mut self, [(first, one), (second, other)]: [(Unknown, &Claim); 2]) {
        let walk = self.walk;
        // What all of a block have from one of them is one old value.
        if (one.is_of_block || other.is_of_block) && !self.meeting.is_between_blocks() {
            return;
        }
        let left = walk.claims.left_in(&one.turn, &other.turn);
        if left.is_empty() || !self.claimed.insert((first, second)) {
            return;
        }
        let meeting = self.meeting;
        let mut on = |is_first: bool, poly: &Poly| {
            self.on(if is_first { Side::First } else { Side::Second }, poly)
        };
        let found = [on(true, &Poly::unknown(first)), on(false, &Poly::unknown(second))];
        let outside = [one.turn.outside(&found[0]), other.turn.outside(&found[1])];
        let pair = [(&one.turn, &outside[0]), (&other.turn, &outside[1])];
        let Some(mut cases) = walk.of_two_elements(pair, meeting, &mut on) else { return };
        let [first, second] = &found;
        for (is_first, claim, found) in [(true, one, first), (false, other, second)] {
            // It comes later.
            cases.extend(left.iter().map(|left| left.is(found, &mut |of| on(is_first, of))));
            // It comes before, and changes nothing.
            if let Some(expected) = &claim.expected {
                let expected = on(is_first, expected);
                cases.push(Formula::ne(found, &expected));
            }
        }
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
