//! Points that cover all pairs of values.

use std::collections::BTreeSet;

use super::known::Known;
use super::walk::Walk;
use super::{Point, Rng, Space};

/// A value of a factor.
type Level = (usize, u32);

/// Legal points in which every two values stand together that do in some legal
/// point.
pub(super) struct Pairs<'s, 'k> {
    space: &'s Space<'k>,
    rng: Rng,
    known: Known,
    missing: BTreeSet<(Level, Level)>,
    /// All pairs, the last one first.
    left: Vec<(Level, Level)>,
}

impl<'s, 'k> Pairs<'s, 'k> {
    pub(super) fn new(space: &'s Space<'k>, mut rng: Rng) -> Self {
        let mut missing = BTreeSet::new();
        for (at, factor) in space.factors.iter().enumerate() {
            for (other, of_other) in space.factors.iter().enumerate().skip(at + 1) {
                for &value in &factor.values {
                    missing.extend(of_other.values.iter().map(|&v| ((at, value), (other, v))));
                }
            }
        }
        let mut left: Vec<(Level, Level)> = missing.iter().copied().collect();
        rng.shuffle(&mut left);
        Self { space, rng, known: Known::default(), missing, left }
    }
}

impl Iterator for Pairs<'_, '_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        loop {
            let pair = self.left.pop()?;
            // One that no legal point has is passed over. Most of the time goes into
            // finding that out, for which no order of the values is better.
            if self.missing.remove(&pair)
                && is_legal(self.space, pair, &mut self.known)
                && let Some(point) = self.point_with(pair)
            {
                for (other, &of_other) in point.iter().enumerate() {
                    for (at, &value) in point.iter().enumerate().take(other) {
                        self.missing.remove(&((at, value), (other, of_other)));
                    }
                }
                return Some(point);
            }
        }
    }
}

/// Whether a legal point has these two values.
fn is_legal(space: &Space<'_>, (one, two): (Level, Level), known: &mut Known) -> bool {
    let in_order = |depth: usize, _: &[u32]| {
        let given = [one, two].into_iter().find(|(at, _)| *at == depth);
        given.map_or_else(|| space.factors[depth].values.clone(), |(_, value)| vec![value])
    };
    Walk::knowing(space, in_order, known).next().is_some()
}

impl Pairs<'_, '_> {
    /// A legal point with these two values, and at each other factor the value that
    /// has most missing pairs with those before it.
    fn point_with(&mut self, (one, two): (Level, Level)) -> Option<Point> {
        let Self { space, rng, known, missing, .. } = self;
        let mut best_first = |depth: usize, before: &[u32]| {
            if let Some((_, value)) = [one, two].into_iter().find(|(at, _)| *at == depth) {
                return vec![value];
            }
            let mut values = space.factors[depth].values.clone();
            rng.shuffle(&mut values);
            let gain = |value: u32| {
                let mut pairs = before.iter().enumerate().map(|(at, &v)| ((at, v), (depth, value)));
                let behind = [one, two].into_iter().filter(|(at, _)| *at > depth);
                let behind =
                    behind.filter(|level| missing.contains(&((depth, value), *level))).count();
                behind + pairs.by_ref().filter(|pair| missing.contains(pair)).count()
            };
            values.sort_by_cached_key(|&value| std::cmp::Reverse(gain(value)));
            values
        };
        Walk::knowing(space, &mut best_first, known).next()
    }
}
