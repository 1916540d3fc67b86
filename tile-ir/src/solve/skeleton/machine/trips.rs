//! The values of a loop's counter: what they follow from, not a list of them.

use std::ops::Range;
use std::vec::IntoIter;

use super::super::value::Value;

/// The values of a counter, in the order of the iterations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trips {
    counted: Counted,
    len: usize,
    /// What the loop's start is made of.
    from: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Counted {
    /// The first one, and by how much each differs from the one before.
    By(i64, i64),
    Listed(Vec<i64>),
}

impl Trips {
    /// So many, from the first on by steps.
    pub(super) fn counted(first: i64, by: i64, len: usize, from: Value) -> Self {
        Self { counted: Counted::By(first, by), len, from }
    }

    pub(super) fn listed(values: Vec<i64>, from: Value) -> Self {
        Self { len: values.len(), counted: Counted::Listed(values), from }
    }

    /// The first of them, so many at most.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The counter in an iteration: a loop from a known start has a known counter,
    /// however far it runs.
    fn value(&self, trip: usize) -> Option<Value> {
        let value = match &self.counted {
            _ if trip >= self.len => None,
            Counted::By(first, by) => {
                i64::try_from(trip).ok().map(|trip| first.wrapping_add(trip.wrapping_mul(*by)))
            }
            Counted::Listed(values) => values.get(trip).copied(),
        };
        value.map(|value| Value::index(value).made_of(self.from))
    }

    /// The iterations whose counters lie between two numbers, both included.
    pub(super) fn between(&self, low: i64, high: i64) -> Vec<usize> {
        match &self.counted {
            Counted::By(first, by) if *by != 0 => {
                let ends = [low, high].map(|end| i128::from(end) - i128::from(*first));
                let by = i128::from(*by);
                // Whole steps from the first one on.
                let up = |gap: i128| -(-gap).div_euclid(by.abs());
                let [near, far] = if by > 0 { ends } else { [-ends[1], -ends[0]] };
                let (near, far) = (up(near).max(0), far.div_euclid(by.abs()));
                let trips = near..=far.min(self.len as i128 - 1);
                trips.filter_map(|trip| usize::try_from(trip).ok()).collect()
            }
            Counted::By(..) => Vec::new(),
            Counted::Listed(values) => {
                let values = values.iter().take(self.len).enumerate();
                let inside = values.filter(|(_, value)| (low..=high).contains(value));
                inside.map(|(trip, _)| trip).collect()
            }
        }
    }

    /// All iterations.
    pub(super) fn all(self) -> Rounds {
        Rounds { which: Which::All(0..self.len), trips: self }
    }

    /// These iterations.
    pub(super) fn only(self, which: Vec<usize>) -> Rounds {
        Rounds { which: Which::Some(which.into_iter()), trips: self }
    }
}

/// The iterations that are run, each with its number, of all that a loop has, and its
/// counter.
#[derive(Debug)]
pub(super) struct Rounds {
    trips: Trips,
    which: Which,
}

#[derive(Debug)]
enum Which {
    All(Range<usize>),
    Some(IntoIter<usize>),
}

impl Iterator for Rounds {
    type Item = (usize, Value);

    fn next(&mut self) -> Option<Self::Item> {
        let trip = match &mut self.which {
            Which::All(trips) => trips.next(),
            Which::Some(trips) => trips.next(),
        }?;
        Some((trip, self.trips.value(trip)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(rounds: Rounds) -> Vec<i64> {
        rounds.map(|(_, value)| value.as_index()).collect()
    }

    #[test]
    fn counters_between_numbers_are_those_of_the_list() {
        for by in [-3, -1, 1, 2, 5] {
            let trips = Trips::counted(7, by, 9, Value::index(7));
            let all = values(trips.clone().all());
            let listed = Trips::listed(all.clone(), Value::index(7));
            for low in -30..60 {
                for high in low..low + 7 {
                    let found = trips.between(low, high);
                    assert_eq!(found, listed.between(low, high), "{low} {high} by {by}");
                    let inside = all.iter().filter(|value| (low..=high).contains(value));
                    assert_eq!(
                        values(trips.clone().only(found)),
                        inside.copied().collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}
