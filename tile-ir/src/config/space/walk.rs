//! The legal points of a space, one after the other.

use std::borrow::BorrowMut;

use super::factors::Depths;
use super::known::Known;
use super::{Point, Space};

/// Walks the tree of values, factor by factor, and turns back where the values so
/// far do not go together: to the last factor that has a part in it.
///
/// # Source
///
/// P. Prosser: Hybrid Algorithms for the Constraint Satisfaction Problem.
/// Computational Intelligence 9 (1993), "conflict-directed backjumping".
pub(super) struct Walk<'s, 'k, F, K = Known> {
    space: &'s Space<'k>,
    known: K,
    /// The order in which a depth's values are tried after those before it; which
    /// values, does not depend on those.
    order: F,
    entered: Vec<Level>,
    values: Point,
    is_begun: bool,
}

/// A depth that was entered.
struct Level {
    /// The values to try.
    order: Vec<u32>,
    /// Of them, how many were.
    tried: usize,
    /// The earlier depths that have a part in what was turned down here.
    blame: Depths,
}

impl<'s, 'k, F: FnMut(usize, &[u32]) -> Vec<u32>> Walk<'s, 'k, F> {
    pub(super) fn new(space: &'s Space<'k>, order: F) -> Self {
        Self::knowing(space, order, Known::default())
    }
}

impl<'s, 'k, F: FnMut(usize, &[u32]) -> Vec<u32>, K: BorrowMut<Known>> Walk<'s, 'k, F, K> {
    /// A walk that begins with what earlier ones through the same space have found out.
    pub(super) fn knowing(space: &'s Space<'k>, order: F, known: K) -> Self {
        Self { space, known, order, entered: Vec::new(), values: Vec::new(), is_begun: false }
    }

    /// Takes the next value at the innermost depth, or further out.
    fn step(&mut self) -> Option<()> {
        loop {
            let depth = self.entered.len().checked_sub(1)?;
            let level = &mut self.entered[depth];
            self.values.truncate(depth);
            if let Some(&value) = level.order.get(level.tried) {
                level.tried += 1;
                self.values.push(value);
                let Some(blame) = self.known.borrow_mut().refusal(self.space, &self.values) else {
                    return Some(());
                };
                level.blame |= blame;
                continue;
            }
            // None of the depths in between would change anything.
            let blame = level.blame
                & Depths::MAX.checked_shl(depth as u32).map_or(Depths::MAX, |later| !later);
            let to = Depths::BITS - blame.leading_zeros();
            self.entered.truncate(to as usize);
            self.entered.last_mut()?.blame |= blame;
        }
    }
}

impl<F: FnMut(usize, &[u32]) -> Vec<u32>, K: BorrowMut<Known>> Iterator for Walk<'_, '_, F, K> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let n_factors = self.space.factors.len();
        if std::mem::replace(&mut self.is_begun, true) {
            // After a point that was given, every depth has a part in going on.
            self.entered.iter_mut().for_each(|level| level.blame = Depths::MAX);
            self.step()?;
        }
        while self.values.len() < n_factors {
            let order = (self.order)(self.values.len(), &self.values);
            self.entered.push(Level { order, tried: 0, blame: 0 });
            self.step()?;
        }
        Some(self.values.clone())
    }
}
