//! The ways in which an access goes: an index that a condition has chosen is one of two amounts.
//!
//! `let d = if z == 1 { s } else { t - s + all };` is no sum of flags, but each way it is: where
//! `z` is 1, all flags before it, and else what else comes before it, behind all flags. An access
//! is made in one of its ways, with what that rests on beside its own conditions; so two accesses
//! are of other elements if that holds of each way of the one, and of the other.
//!
//! An index may be what a type has made of a sum that leaves it, but not in this way: `s - 1`, of
//! sums with the own flag, is no number below 0 where the flag is set.
//!
//! # What it rests on
//!
//! - What is chosen is what one arm gives where the condition holds, and the other one else.
//! - Sums, differences and multiples of a type are those of integers, but for a multiple of how many
//!   numbers it has. So one that lies in the type where all of a way's conditions hold is exact.

use super::super::window::{self, Vars};
use super::apart::{Facts, Spot};
use super::{Amounts, Atom, MAX_DEPTH, Origin, Sum, Table, whole};
use crate::kernel::Type;
use crate::op::BinaryOp;

/// Most ways of an access; what more choices give is taken as it is.
const MAX_WAYS: usize = 4;

/// A way in which an access is made.
#[derive(Clone, Debug)]
pub(in super::super) struct Way {
    /// Its indices, as far as their amounts are known.
    pub(super) indices: Vec<Option<Sum>>,
    /// What each choice has come to.
    pub(super) chosen: Vec<bool>,
    /// The conditions under which it is made, and what they say.
    pub(super) given: Vec<(Sum, bool)>,
    pub(super) facts: Facts,
}

impl Amounts {
    /// The ways in which an access is made; none of one that is never made.
    pub(in super::super) fn ways(&self, spot: &Spot) -> Vec<Way> {
        self.0.borrow().ways(spot)
    }

    /// By axis, the variables of the launch and the grid that the index of an access is made
    /// of, and between which numbers the rest lies, where that is known; `None` of one that is
    /// never made.
    pub(in super::super) fn around(
        &self,
        spot: &Spot,
    ) -> Option<Vec<Option<(Vars, window::Range)>>> {
        let table = self.0.borrow();
        let mut ways = table.ways(spot).into_iter().map(|way| table.around_way(&way));
        let first = ways.next()?;
        Some(ways.fold(first, |all, way| {
            all.into_iter().zip(way).map(|(one, other)| both_around(one?, other?)).collect()
        }))
    }
}

/// The least that has both in it, of what is around the same.
fn both_around(
    (vars, one): (Vars, window::Range),
    (others, other): (Vars, window::Range),
) -> Option<(Vars, window::Range)> {
    (vars == others).then(|| (vars, (one.0.min(other.0), one.1.max(other.1))))
}

impl Table {
    pub(super) fn ways(&self, spot: &Spot) -> Vec<Way> {
        let given: Vec<(Sum, bool)> =
            spot.given.iter().map(|(flag, holds)| (self.sum(*flag), *holds)).collect();
        let Some(facts) = self.facts(&given) else { return Vec::new() };
        let indices = spot.indices.iter().map(|index| Some(self.sum((*index)?))).collect();
        let mut open = vec![Way { indices, chosen: Vec::new(), given, facts }];
        let mut ways = Vec::new();
        while let Some(mut way) = open.pop() {
            self.make_exact(&mut way);
            match self.choice_in(&way) {
                Some(choice) if open.len() + ways.len() + 2 <= MAX_WAYS => {
                    let both = [true, false];
                    open.extend(both.iter().filter_map(|holds| self.along(&way, choice, *holds)));
                }
                Some(_) | None => ways.push(way),
            }
        }
        ways
    }

    /// A choice of which an index is made: its atom, the flag, and both arms.
    fn choice_in(&self, way: &Way) -> Option<(Atom, &[Sum; 3])> {
        let parts = way.indices.iter().flatten().flat_map(|index| &index.parts);
        parts.into_iter().find_map(|(atom, _)| match self.atoms.get(*atom as usize) {
            Some((Origin::Choice(_, parts), _)) => Some((*atom, parts.as_ref())),
            _ => None,
        })
    }

    /// The same way where a choice has come to one arm; `None` if it never does there.
    fn along(&self, way: &Way, (atom, parts): (Atom, &[Sum; 3]), holds: bool) -> Option<Way> {
        let [flag, then, otherwise] = parts;
        let mut way = way.clone();
        self.learn(flag, i128::from(holds), (&mut way.facts, MAX_DEPTH))?;
        way.given.push((flag.clone(), holds));
        way.chosen.push(holds);
        let arm = if holds { then } else { otherwise };
        way.put(atom, arm);
        Some(way)
    }

    /// Takes what a type has made of sums for these, where they lie in it.
    fn make_exact(&self, way: &mut Way) {
        for _ in 0..MAX_DEPTH {
            let mut atoms = way.indices.iter().flatten().flat_map(|index| &index.parts);
            let found = atoms.find_map(|(atom, _)| {
                let (Origin::Binary(_, ty, _), _) = self.atoms.get(*atom as usize)? else {
                    return None;
                };
                let (min, max) = whole(*ty).filter(|_| *ty != Type::BOOL)?;
                let sum = self.unwrapped(*atom, *ty, MAX_DEPTH)?;
                let (low, high) = self.under(&sum, &way.facts, MAX_DEPTH)?;
                (min <= low && high <= max).then_some((*atom, sum))
            });
            let Some((atom, sum)) = found else { return };
            way.put(atom, &sum);
        }
    }

    /// What the sums are of which a type has made an atom, but for multiples of how many numbers
    /// it has.
    fn unwrapped(&self, atom: Atom, ty: Type, depth: usize) -> Option<Sum> {
        let (Origin::Binary(op, of, operands), _) = self.atoms.get(atom as usize)? else {
            return None;
        };
        let depth = depth.checked_sub(1).filter(|_| *of == ty)?;
        let of_integers = |operand: &Sum| {
            let mut sum = operand.clone();
            for (part, _) in &operand.parts {
                if let Some(by) = self.unwrapped(*part, ty, depth) {
                    sum = sum.put(*part, &by)?;
                }
            }
            Some(sum)
        };
        let [lhs, rhs] = operands.each_ref().map(of_integers);
        exact(*op, &lhs?, &rhs?)
    }

    fn around_way(&self, way: &Way) -> Vec<Option<(Vars, window::Range)>> {
        let around = |index: &Option<Sum>| self.around(index.as_ref()?, &way.facts);
        way.indices.iter().map(around).collect()
    }
}

/// `lhs op rhs` of integers, if that is a sum.
pub(super) fn exact(op: BinaryOp, lhs: &Sum, rhs: &Sum) -> Option<Sum> {
    let times = |sum: &Sum, by: &Sum| {
        by.parts.is_empty().then(|| sum.scaled(i64::try_from(by.constant).ok()?)).flatten()
    };
    match op {
        BinaryOp::Add => lhs.plus(rhs, 1),
        BinaryOp::Sub => lhs.plus(rhs, -1),
        BinaryOp::Mul => times(lhs, rhs).or_else(|| times(rhs, lhs)),
        _ => None,
    }
}

impl Way {
    /// Puts a sum for an atom.
    fn put(&mut self, atom: Atom, sum: &Sum) {
        for index in &mut self.indices {
            *index = index.as_ref().and_then(|index| index.put(atom, sum));
        }
    }
}

impl Sum {
    /// The same with a sum for an atom.
    fn put(&self, atom: Atom, sum: &Self) -> Option<Self> {
        let Some((_, times)) = self.parts.iter().find(|(of, _)| *of == atom) else {
            return Some(self.clone());
        };
        let parts = self.parts.iter().filter(|(of, _)| *of != atom).copied().collect();
        Self { constant: self.constant, parts }.plus(sum, *times)
    }
}
