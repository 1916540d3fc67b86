//! Typed ids and the vectors they index.
//!
//! Every table of the IR is an [`Arena`] with its own id type, so that an id of
//! one table cannot index another. Ids are dense, stable and printed with their
//! table's letter (`v3`, `e17`); their order is the order of insertion and
//! carries no other meaning.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// An id into one [`Arena`]; made by `entity_id!`.
pub trait EntityId: Copy + Eq + fmt::Debug {
    /// The id of the `index`-th element.
    fn from_index(index: usize) -> Self;
    /// The position of the element.
    fn index(self) -> usize;
}

/// Defines id types: `entity_id! { /// docs
/// VarId "v" }` makes `VarId`, a `u32` newtype printed `v0`, `v1`, …
macro_rules! entity_id {
    ($($(#[$meta:meta])* $name:ident $letter:literal)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(u32);

        impl $crate::arena::EntityId for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                // An arena of 2^32 elements does not fit in memory.
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}
pub(crate) use entity_id;

/// A vector indexed by its own id type.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: EntityId, T> Arena<I, T> {
    /// An empty arena.
    pub const fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }

    /// Appends `item` and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// The element of `id`, or `None` where the id is of no element (possible
    /// only in decoded data that has not been verified).
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All elements with their ids, in order of insertion.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// All elements with their ids, mutably.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// All ids, in order of insertion.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// All elements, in order of insertion.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
}

impl<I: EntityId, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: EntityId, T: fmt::Debug> fmt::Debug for Arena<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<I: EntityId, T> Index<I> for Arena<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: EntityId, T> IndexMut<I> for Arena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: EntityId, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self { items: iter.into_iter().collect(), id: PhantomData }
    }
}
