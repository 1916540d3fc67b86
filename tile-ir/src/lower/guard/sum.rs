//! Sums of what is not known, with factors, and a constant.

use std::collections::BTreeMap;

use crate::program::ArgId;

/// A sum of `K`s with factors, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum<K> {
    pub(super) constant: i128,
    pub(super) terms: BTreeMap<K, i128>,
}

/// A sum of the launch's arguments, none of which is ever negative.
pub(super) type Linear = Sum<ArgId>;

impl<K: Copy + Ord> Sum<K> {
    pub(super) fn constant(constant: i128) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    pub(super) fn of(term: K) -> Self {
        Self { constant: 0, terms: BTreeMap::from([(term, 1)]) }
    }

    /// The sum with `factor` times another; `None` where it does not fit.
    pub(super) fn plus(mut self, other: &Self, factor: i128) -> Option<Self> {
        let scaled = |value: i128| value.checked_mul(factor);
        self.constant = self.constant.checked_add(scaled(other.constant)?)?;
        for (&term, &value) in &other.terms {
            let sum = self.terms.entry(term).or_default();
            *sum = sum.checked_add(scaled(value)?)?;
        }
        self.terms.retain(|_, value| *value != 0);
        Some(self)
    }

    /// The sum with a number; `None` where it does not fit.
    pub(super) fn plus_number(self, number: i128) -> Option<Self> {
        let constant = self.constant.checked_add(number)?;
        Some(Self { constant, ..self })
    }

    /// So many times the sum; `None` where it does not fit.
    pub(super) fn scaled(&self, factor: i128) -> Option<Self> {
        Self::constant(0).plus(self, factor)
    }
}

impl Linear {
    /// Whether it is a number below 0.
    pub(super) fn is_negative_constant(&self) -> bool {
        self.terms.is_empty() && self.constant < 0
    }

    /// Whether it is at least 0, whatever the arguments are.
    pub(super) fn is_natural(&self) -> bool {
        self.constant >= 0 && self.terms.values().all(|&value| value >= 0)
    }
}
