//! The legal points of a space, one after the other.

use super::{Point, Space};

/// Walks the tree of values, factor by factor, and turns back where the values so
/// far do not go together.
pub(super) struct Walk<'s, 'k, F> {
    space: &'s Space<'k>,
    /// The values that are tried at a depth, after those before it.
    order: F,
    /// At each depth that was entered the values to try, and which is taken.
    entered: Vec<(Vec<u32>, usize)>,
    values: Point,
    is_begun: bool,
}

impl<'s, 'k, F: FnMut(usize, &[u32]) -> Vec<u32>> Walk<'s, 'k, F> {
    pub(super) fn new(space: &'s Space<'k>, order: F) -> Self {
        Self { space, order, entered: Vec::new(), values: Vec::new(), is_begun: false }
    }

    /// Takes the next value at the innermost depth, or further out.
    fn step(&mut self) -> Option<()> {
        loop {
            let (order, at) = self.entered.last_mut()?;
            let Some(&value) = order.get(*at) else {
                self.entered.pop();
                self.values.pop();
                continue;
            };
            *at += 1;
            self.values.truncate(self.entered.len() - 1);
            self.values.push(value);
            if self.space.admits(&self.values) {
                return Some(());
            }
        }
    }
}

impl<F: FnMut(usize, &[u32]) -> Vec<u32>> Iterator for Walk<'_, '_, F> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let n_factors = self.space.factors.len();
        if std::mem::replace(&mut self.is_begun, true) {
            self.step()?;
        }
        while self.values.len() < n_factors {
            self.entered.push(((self.order)(self.values.len(), &self.values), 0));
            self.step()?;
        }
        Some(self.values.clone())
    }
}
