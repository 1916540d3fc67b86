//! Accesses in rows: of each the next one is further on.
//!
//! Those of one place in the text, in one way ([`super::ways`]), are a row in the order of how much
//! their indices are made of, or against it. Rows follow one another: behind the last place of
//! those that have a flag come those that have none.

use super::super::plan::SiteId;
use super::apart::Facts;
use super::ways::Way;
use super::{MAX_DEPTH, Sum, Table};

/// Most rows that are put behind one another.
const MAX_ROWS: usize = 4;

/// An access in a row: its index, and what holds where it is made.
#[derive(Clone, Copy)]
struct Made<'a> {
    index: &'a Sum,
    facts: &'a Facts,
}

/// Whether each access is further on than the one before it if the first is made, and if the second is.
#[derive(Clone, Copy)]
struct Steps {
    by_first: bool,
    by_second: bool,
}

impl Steps {
    const ALL: Self = Self { by_first: true, by_second: true };

    fn and(self, other: Self) -> Option<Self> {
        let by_first = self.by_first && other.by_first;
        let by_second = self.by_second && other.by_second;
        (by_first || by_second).then_some(Self { by_first, by_second })
    }
}

/// A row, and how it goes on.
type Row<'a> = (Vec<Made<'a>>, Steps);

impl Table {
    /// Whether these follow each other along an axis, each with its place in the text.
    pub(super) fn are_in_rows(&self, ways: &[(SiteId, &Way)], axis: usize) -> bool {
        let mut all = Vec::with_capacity(ways.len());
        for (_, way) in ways {
            let Some(Some(index)) = way.indices.get(axis) else { return false };
            all.push(Made { index, facts: &way.facts });
        }
        if self.row(all.clone()).is_some() {
            return true;
        }
        let mut kinds: Vec<(SiteId, &[bool])> =
            ways.iter().map(|(place, way)| (*place, way.chosen.as_slice())).collect();
        let of = kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        if !(2..=MAX_ROWS).contains(&kinds.len()) {
            return false;
        }
        let rows = kinds.iter().map(|kind| {
            let own = all.iter().zip(&of).filter(|(_, of)| *of == kind);
            self.row(own.map(|(made, _)| *made).collect())
        });
        let rows: Option<Vec<Row<'_>>> = rows.collect();
        rows.is_some_and(|rows| self.follow(None, &rows.iter().collect::<Vec<_>>()))
    }

    /// These, if they are in a row in the order of how much they are made of, or against it.
    fn row<'a>(&self, mut row: Vec<Made<'a>>) -> Option<Row<'a>> {
        row.sort_by_key(|made| (made.index.parts.len(), made.index.constant));
        if let Some(steps) = self.steps(&row) {
            return Some((row, steps));
        }
        row.reverse();
        let steps = self.steps(&row)?;
        Some((row, steps))
    }

    fn steps(&self, row: &[Made<'_>]) -> Option<Steps> {
        row.windows(2).try_fold(Steps::ALL, |steps, pair| match pair {
            [one, two] => steps.and(self.step(*one, *two)?),
            _ => None,
        })
    }

    /// How an access comes behind another one: no further back, whatever holds.
    fn step(&self, one: Made<'_>, two: Made<'_>) -> Option<Steps> {
        let difference = two.index.plus(one.index, -1)?;
        self.own_range(&difference).filter(|(low, _)| *low >= 0)?;
        let goes_on = |facts: &Facts| {
            self.under(&difference, facts, MAX_DEPTH).is_some_and(|(low, _)| low >= 1)
        };
        Some(Steps { by_first: goes_on(one.facts), by_second: goes_on(two.facts) })
    }

    /// Whether rows follow one another in some order, behind what ends so.
    fn follow(&self, end: Option<(Made<'_>, Steps)>, rows: &[&Row<'_>]) -> bool {
        rows.is_empty()
            || (0..rows.len()).any(|at| {
                let (row, steps) = rows[at];
                let (Some(first), Some(last)) = (row.first(), row.last()) else { return false };
                let steps = match end {
                    None => Some(*steps),
                    Some((end, before)) => self
                        .step(end, *first)
                        .and_then(|link| before.and(link))
                        .and_then(|all| all.and(*steps)),
                };
                let Some(steps) = steps else { return false };
                let rest: Vec<&Row<'_>> = rows
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| *n != at)
                    .map(|(_, row)| *row)
                    .collect();
                self.follow(Some((*last, steps)), &rest)
            })
    }
}
