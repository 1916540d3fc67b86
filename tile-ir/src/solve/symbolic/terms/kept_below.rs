//! Numbers that stand for ones below 0, where arrays and variables keep them.
//!
//! `row[v + 1] - row[v]` of rows that nobody says are sorted may be a large number that stands for
//! one below 0 ([`super::super::slots::taking`]). Where it has been stored in a tile, handed on by
//! an exchange, or added to a variable that a loop carries, what is found there later is a value
//! like any other, by its symbol. So it is noted which arrays and variables may keep such numbers,
//! and of which symbols it was found there.
//!
//! What a walk has noted when it asks is what stands before in the text, and a loop comes back to
//! what stands later. So a walk that has learned of arrays and variables, and has asked, is made
//! once more with what it has learned.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::{Value, Walk};
use super::integers::range_of;
use crate::kernel::{ArrayRef, Type, VarId};

/// What may keep numbers that stand for ones below 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Keepers {
    arrays: BTreeSet<ArrayRef>,
    vars: BTreeSet<VarId>,
}

/// The same, and what a walk has found there.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct KeptBelow {
    keepers: Keepers,
    found: BTreeSet<Unknown>,
    /// Whether it has been asked of something that adds.
    is_asked: bool,
}

impl KeptBelow {
    /// Of a walk that knows of these keepers.
    pub(in super::super) fn of(keepers: Keepers) -> Self {
        Self { keepers, ..Self::default() }
    }

    /// The keepers, if there are more than these and it matters.
    pub(in super::super) fn learned(&self, known: &Keepers) -> Option<Keepers> {
        (self.is_asked && self.keepers != *known).then(|| self.keepers.clone())
    }

    /// Whether a symbol was found where such numbers are kept.
    pub(in super::super) fn is_found(&self, symbol: Unknown) -> bool {
        self.found.contains(&symbol)
    }

    pub(in super::super) fn note_asked(&mut self) {
        self.is_asked = true;
    }
}

impl Walk<'_> {
    /// Notes what an array is given.
    pub(in super::super) fn note_below_in(&mut self, array: ArrayRef, value: &Value) {
        let ty = Type::Scalar(self.kernel.element_type(array));
        if self.may_be_one_below(value, ty) {
            self.kept_below.keepers.arrays.insert(array);
        }
    }

    /// Notes what a variable is given.
    pub(in super::super) fn note_below_in_var(&mut self, var: VarId, value: &Value) {
        if self.may_be_one_below(value, self.type_of(var)) {
            self.kept_below.keepers.vars.insert(var);
        }
    }

    fn may_be_one_below(&self, value: &Value, ty: Type) -> bool {
        matches!(value, Value::Int(value) if self.may_take(value, ty))
    }

    /// Notes what is found in an array: `since` is the first symbol that is new.
    pub(in super::super) fn note_found_below_in(
        &mut self,
        array: ArrayRef,
        since: Unknown,
        value: &Value,
    ) {
        if self.kept_below.keepers.arrays.contains(&array) {
            self.note_new(since, value);
        }
    }

    /// Notes what a variable is that is no more than any of its values.
    pub(in super::super) fn note_found_below_in_var(
        &mut self,
        var: VarId,
        since: Unknown,
        value: &Value,
    ) {
        if self.kept_below.keepers.vars.contains(&var) {
            self.note_new(since, value);
        }
    }

    fn note_new(&mut self, since: Unknown, value: &Value) {
        if let Value::Int(value) = value {
            self.kept_below.found.extend(value.unknowns().filter(|of| *of >= since));
        }
    }

    /// Whether a value that is made of what has been found, or of what wraps, may be so large that
    /// it stands for a number below 0, under a condition.
    pub(in super::super) fn may_be_large(&self, value: &Poly, ty: Type, under: &Formula) -> bool {
        let Some((_, max)) = range_of(ty) else { return true };
        let large = Formula::lt(&Poly::constant(max / 2 + 1), value).and(under.clone());
        !self.is_never(&large) && !self.is_never_here(value, large)
    }
}
