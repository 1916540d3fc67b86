//! Where a piece of a kernel stands in the user's source.
//!
//! The IR holds only [`SpanId`]s. The front end keeps the compiler's own spans
//! beside the table, by the same ids, so that this crate needs no compiler and
//! its tests need none either.

use serde::{Deserialize, Serialize};

use crate::arena::{Arena, entity_id};

entity_id! {
    /// A place in the user's source; an entry of a [`SpanTable`].
    SpanId "span"
}

/// A range of source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceRange {
    /// First line, 1-based.
    pub line: u32,
    /// Column of the first character on `line`, 0-based, in characters.
    pub column: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// Column just past the last character on `end_line`, 0-based.
    pub end_column: u32,
}

/// The places that a kernel's spans stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanTable {
    ranges: Arena<SpanId, SourceRange>,
}

impl SpanTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place.
    pub fn push(&mut self, range: SourceRange) -> SpanId {
        self.ranges.push(range)
    }

    /// The place of `span`; line 0 where the table does not know it.
    pub fn range(&self, span: SpanId) -> SourceRange {
        self.ranges.get(span).copied().unwrap_or_default()
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}
