//! A number for each axis, kept in place: every access has a few of them.

use std::ops::Deref;

/// Most axes of an array or a domain; [`crate::program::verify`] admits no more.
const MAX_AXES: usize = 6;

/// A number for each axis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Axes<T> {
    len: usize,
    numbers: [T; MAX_AXES],
}

impl<T: Copy + Default> Axes<T> {
    /// Adds the number of the next axis; there is room for all that there may be.
    pub(super) fn push(&mut self, number: T) {
        if let Some(place) = self.numbers.get_mut(self.len) {
            *place = number;
            self.len += 1;
        }
    }
}

impl<T: Copy + Default> FromIterator<T> for Axes<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut axes = Self::default();
        numbers.into_iter().for_each(|number| axes.push(number));
        axes
    }
}

impl<T> Deref for Axes<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[..self.len]
    }
}
