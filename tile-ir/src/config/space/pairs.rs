//! Points that cover all pairs of values.

use std::collections::BTreeSet;

use super::walk::Walk;
use super::{Point, Rng, Space};

/// A value of a factor.
type Level = (usize, u32);

/// Legal points in which every two values stand together that do in some legal
/// point.
pub(super) struct Pairs<'s, 'k> {
    space: &'s Space<'k>,
    rng: Rng,
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
        Self { space, rng, missing, left }
    }
}

impl Iterator for Pairs<'_, '_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        loop {
            let pair = self.left.pop()?;
            // One that no legal point has is passed over.
            if self.missing.remove(&pair)
                && let Some(point) = point_with(self.space, pair, &self.missing, &mut self.rng)
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

/// A legal point with these two values, and at each other factor the value that
/// has most missing pairs with those before it.
fn point_with(
    space: &Space<'_>,
    (one, two): (Level, Level),
    missing: &BTreeSet<(Level, Level)>,
    rng: &mut Rng,
) -> Option<Point> {
    let mut best_first = |depth: usize, before: &[u32]| {
        if let Some((_, value)) = [one, two].into_iter().find(|(at, _)| *at == depth) {
            return vec![value];
        }
        let mut values = space.factors[depth].values.clone();
        rng.shuffle(&mut values);
        let gain = |value: u32| {
            let mut pairs = before.iter().enumerate().map(|(at, &v)| ((at, v), (depth, value)));
            let behind = [one, two].into_iter().filter(|(at, _)| *at > depth);
            let behind = behind.filter(|level| missing.contains(&((depth, value), *level))).count();
            behind + pairs.by_ref().filter(|pair| missing.contains(pair)).count()
        };
        values.sort_by_cached_key(|&value| std::cmp::Reverse(gain(value)));
        values
    };
    Walk::new(space, &mut best_first).next()
}
