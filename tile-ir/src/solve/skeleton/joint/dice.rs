//! Choices of a search.

use super::super::data::Number;
use super::super::hash::Hash;

/// Choices that are the same in every run.
pub(super) struct Dice(Hash);

impl Dice {
    pub(super) fn of(seed: i64) -> Self {
        let mut hash = Hash::default();
        hash.add(seed);
        Self(hash)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.add(1);
        self.0.finish() as usize % count.max(1)
    }

    pub(super) fn one_of(&mut self, all: &[Number]) -> Option<Number> {
        all.get(self.below(all.len())).copied()
    }
}
