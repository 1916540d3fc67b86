//! Marks: bits of old values that tell who was first to set them.
//!
//! After `let was = atomic seen[v / 32] |= bit;` the bits of `bit` are set, and if nothing
//! is done to the element than to set bits, they stay so. Of two updates one is first, and
//! the other one finds all bits that it has set. So of all that set one bit, there is one
//! that finds it clear: `if was & bit == 0 { … }` is done once for each bit. It is the same
//! with bits that are cleared by `&=`, and found set.
//!
//! # What it rests on
//!
//! What slots do ([`super::slot`]): both updates are of one element, inside the array, and
//! nothing sets it between the two; where one is outside, nothing is marked, and that is a
//! case of its own. The two set the same bits: their operands are equal, which is known of
//! powers of two by their exponents. All updates of the element are of one kind, `|=` or
//! `&=`, whatever their operands.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::terms::integers::range_of;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use super::slot::Turn;
use crate::kernel::{ArrayRef, Type};
use crate::op::{AtomicOp, BinaryOp};
use crate::span::SpanId;

/// Most parts of which a mask is made that is compared with another one.
const MAX_PARTS: usize = 8;

/// What is known of an old value.
#[derive(Clone, Debug)]
struct Mark {
    turn: Turn,
    op: AtomicOp,
    /// The bits that the update sets or clears.
    mask: Poly,
    /// These bits of what it has found.
    found: Poly,
    /// The number of which all bits are set.
    all_bits: i128,
}

impl Mark {
    /// What holds where the update is outside, and has found `old`; false where what is found
    /// there tells of a bit that somebody has been before, as it does of later updates.
    fn outside(&self, old: Unknown, on: &mut dyn FnMut(&Poly) -> Poly) -> Formula {
        match (self.op, self.turn.pad()) {
            (AtomicOp::Or, Some(pad)) if pad == self.all_bits => Formula::False,
            (AtomicOp::And, Some(0)) => Formula::False,
            _ => self.turn.outside(&on(&Poly::unknown(old))),
        }
    }
}

/// What updates do to bits, and what they have found.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Marks {
    /// By array, of each update the element and what it does.
    updates: BTreeMap<ArrayRef, Vec<(Vec<Poly>, AtomicOp)>>,
    /// By symbol, of those that are old values.
    found: BTreeMap<Unknown, Mark>,
}

impl Marks {
    /// Whether nothing else is done to an element that two updates are of.
    fn is_only(&self, op: AtomicOp, one: &Turn, other: &Turn) -> bool {
        let all = self.updates.get(&one.array).map(Vec::as_slice).unwrap_or_default();
        let mut own = all.iter().filter(|(at, _)| one.may_meet(at) && other.may_meet(at));
        own.all(|(_, other)| *other == op)
    }
}

impl Walk<'_> {
    /// Notes what an update does to an element.
    pub(in super::super) fn note_marking(&mut self, array: ArrayRef, at: &[Poly], op: AtomicOp) {
        if self.recording {
            self.marks.updates.entry(array).or_default().push((at.to_vec(), op));
        }
    }

    /// Notes that `old` is what an update has found that sets or clears bits.
    pub(in super::super) fn note_mark(
        &mut self,
        (op, operand): (AtomicOp, &Value),
        old: &Value,
        turn: Turn,
        (ty, span): (Type, SpanId),
    ) {
        let (Value::Int(operand), Value::Int(old)) = (operand, old) else { return };
        let Some(all_bits) = range_of(ty).map(|(min, max)| min + max) else { return };
        let mask = match op {
            AtomicOp::Or => operand.clone(),
            // All bits but those that it keeps.
            AtomicOp::And => operand.negated().plus(all_bits),
            _ => return,
        };
        if !self.recording || mask.is_lost() {
            return;
        }
        let Some(found) = self.bit_and(old, &mask, (span, BinaryOp::And)) else { return };
        for unknown in old.unknowns() {
            let (turn, mask, found) = (turn.clone(), mask.clone(), found.clone());
            self.marks.found.insert(unknown, Mark { turn, op, mask, found, all_bits });
        }
    }

    /// Pairs of values of which two masks are made in one way: where these are equal, so
    /// are the masks.
    fn parts_of_masks(&self, one: &Poly, other: &Poly) -> Option<Vec<(Poly, Poly)>> {
        if one == other {
            let mut parts = Vec::new();
            self.collect_parts(one, &mut parts);
            return (parts.len() <= MAX_PARTS)
                .then(|| parts.into_iter().map(|part| (part.clone(), part)).collect());
        }
        let ([(first, factor)], [(second, other_factor)]) = (one.terms(), other.terms()) else {
            return None;
        };
        let ([first], [second]) = (first.as_slice(), second.as_slice()) else { return None };
        let exponents = (self.exponent(*first)?, self.exponent(*second)?);
        (factor == other_factor).then(|| vec![exponents])
    }

    /// Collects what decides a value: of powers, their exponents.
    fn collect_parts(&self, value: &Poly, out: &mut Vec<Poly>) {
        for unknown in value.unknowns() {
            let part = self.exponent(unknown).unwrap_or_else(|| Poly::unknown(unknown));
            if !out.contains(&part) {
                out.push(part);
            }
        }
    }

    fn exponent(&self, power: Unknown) -> Option<Poly> {
        match self.function_of(power)? {
            (Function::Power, exponent, _) => Some(exponent.clone()),
            _ => None,
        }
    }
}

impl Builder<'_> {
    /// That of what an update found on one side, and what one found on the other that sets
    /// the same bits, one has these bits set.
    pub(in super::super) fn part_marks(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(mark) = walk.marks.found.get(&symbol) else { return };
        self.mention_grid(side);
        let seen: Vec<Unknown> =
            self.seen.iter().filter(|(_, of)| *of != side).map(|(other, _)| *other).collect();
        for other in seen {
            let Some(others) = walk.marks.found.get(&other) else { continue };
            let pair = match side {
                Side::First => [(symbol, mark), (other, others)],
                Side::Second => [(other, others), (symbol, mark)],
            };
            self.part_two_marks(pair);
        }
    }

    fn part_two_marks(&mut self, [(first, one), (second, other)]: [(Unknown, &Mark); 2]) {
        let walk = self.walk;
        if one.op != other.op
            || !walk.marks.is_only(one.op, &one.turn, &other.turn)
            || !self.marked.insert((first, second))
        {
            return;
        }
        let Some(parts) = walk.parts_of_masks(&one.mask, &other.mask) else { return };
        let meeting = self.meeting;
        let mut on = |is_first: bool, poly: &Poly| {
            self.on(if is_first { Side::First } else { Side::Second }, poly)
        };
        let outside = [
            one.outside(first, &mut |of| on(true, of)),
            other.outside(second, &mut |of| on(false, of)),
        ];
        let pair = [(&one.turn, &outside[0]), (&other.turn, &outside[1])];
        let Some(mut cases) = walk.of_two_elements(pair, meeting, &mut on) else { return };
        cases.extend(parts.iter().map(|(left, right)| {
            let (left, right) = (on(true, left), on(false, right));
            Formula::ne(&left, &right)
        }));
        for (is_first, mark) in [(true, one), (false, other)] {
            let after = match mark.op {
                AtomicOp::Or => mark.found.sub(&mark.mask),
                _ => mark.found.clone(),
            };
            // It comes later.
            cases.push(Formula::Zero(on(is_first, &after)));
        }
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
