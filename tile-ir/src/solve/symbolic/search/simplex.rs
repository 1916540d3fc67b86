//! Whether bounds on sums leave room for numbers, whole or not: the simplex method.
//!
//! Elimination ([`super::linear`]) makes all that follows from bounds, which of forty rows with
//! a dozen unknowns is thousands. Here one point is moved instead until it fulfils all bounds,
//! or one sum is found that lies outside of its bound and none of whose terms can move: then
//! there is no point. (B. Dutertre and L. de Moura, A Fast Linear-Arithmetic Solver for DPLL(T),
//! CAV 2006, section 3.)
//!
//! Numbers are exact fractions. Where they grow beyond 128 bits, or after [`MAX_TURNS`], it is
//! given up, and nothing is known.

use std::collections::BTreeMap;

use super::super::algebra::fraction::Fraction;
use super::linear::{Effort, Row};

/// Turns of one question.
const MAX_TURNS: usize = 160;

/// Terms that are gone through for one unit of effort.
const TERMS: usize = 512;

/// Between which numbers something lies, where that is known.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    low: Option<i128>,
    high: Option<i128>,
}

impl Bounds {
    fn raise(&mut self, low: i128) {
        self.low = Some(self.low.map_or(low, |known| known.max(low)));
    }

    fn lower(&mut self, high: i128) {
        self.high = Some(self.high.map_or(high, |known| known.min(high)));
    }

    /// The number in it that is next to 0.
    fn nearest(&self) -> i128 {
        let above = self.low.map_or(0, |low| low.max(0));
        self.high.map_or(above, |high| above.min(high))
    }
}

/// Sums of unknowns, by unknowns that are free to move.
struct Tableau {
    /// The columns that unknowns have at first.
    columns: BTreeMap<usize, usize>,
    /// Of unknowns first, then of sums.
    bounds: Vec<Bounds>,
    values: Vec<Fraction>,
    /// By column, what is free to move.
    free: Vec<usize>,
    /// By row, what follows from those.
    bound: Vec<usize>,
    rows: Vec<Vec<Fraction>>,
}

/// What a turn has shown.
enum Turn {
    Done,
    Empty,
    Turned,
}

/// Whether no numbers make all of these at least 0.
pub(in super::super) fn is_empty(at_least: &[Row], effort: &Effort) -> bool {
    let tableau = Tableau::of(at_least);
    tableau.is_some_and(|mut tableau| matches!(tableau.settle(effort), Some(Turn::Empty)))
}

/// Numbers, whole or not, that make all of these at least 0, by unknown; `None` too where it is
/// given up.
pub(in super::super) fn point(
    at_least: &[Row],
    effort: &Effort,
) -> Option<BTreeMap<usize, Fraction>> {
    let mut tableau = Tableau::of(at_least)?;
    let Turn::Done = tableau.settle(effort)? else { return None };
    let columns = tableau.columns.iter();
    columns.map(|(unknown, column)| Some((*unknown, *tableau.values.get(*column)?))).collect()
}

impl Tableau {
    /// `None` where numbers are too large. A row that cannot hold is one whose bounds
    /// contradict each other.
    fn of(at_least: &[Row]) -> Option<Self> {
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for (unknown, _) in at_least.iter().flat_map(|row| &row.factors) {
            let count = columns.len();
            columns.entry(*unknown).or_insert(count);
        }
        let mut bounds = vec![Bounds::default(); columns.len()];
        let mut sums: BTreeMap<Vec<(usize, i128)>, Bounds> = BTreeMap::new();
        for row in at_least {
            let Some((_, first)) = row.factors.first() else {
                if row.constant < 0 {
                    bounds.push(Bounds { low: Some(0), high: Some(-1) });
                }
                continue;
            };
            let divisor = row
                .factors
                .iter()
                .fold(0, |g, (_, factor)| super::super::algebra::poly::gcd(g, *factor));
            let sign = first.signum();
            // sum >= least, in whole numbers.
            let least = row.constant.div_euclid(divisor).checked_neg()?;
            let factors: Vec<(usize, i128)> = row
                .factors
                .iter()
                .map(|(unknown, factor)| (columns[unknown], sign * factor / divisor))
                .collect();
            let of = match factors.as_slice() {
                [(column, 1)] => &mut bounds[*column],
                _ => sums.entry(factors).or_default(),
            };
            if sign > 0 { of.raise(least) } else { of.lower(least.checked_neg()?) }
        }
        if bounds.len() > columns.len() {
            return Some(Self {
                columns,
                bounds,
                values: vec![],
                free: vec![],
                bound: vec![],
                rows: vec![],
            });
        }
        let n = columns.len();
        let mut values: Vec<Fraction> =
            bounds.iter().map(|of| Fraction::whole(of.nearest())).collect();
        let mut rows = Vec::new();
        for (factors, of) in sums {
            let mut row = vec![Fraction::default(); n];
            let mut value = Fraction::default();
            for (column, factor) in factors {
                row[column] = Fraction::whole(factor);
                value = value.plus_product(row[column], values[column])?;
            }
            bounds.push(of);
            values.push(value);
            rows.push(row);
        }
        let bound = (n..n + rows.len()).collect();
        Some(Self { columns, bounds, values, free: (0..n).collect(), bound, rows })
    }

    /// Moves sums until all lie inside of their bounds, or one cannot. `None` where it is given
    /// up.
    fn settle(&mut self, effort: &Effort) -> Option<Turn> {
        if self.bounds.iter().any(|of| of.low.zip(of.high).is_some_and(|(low, high)| low > high)) {
            return Some(Turn::Empty);
        }
        let cost = self.rows.len() * self.free.len() / TERMS + 1;
        for _ in 0..MAX_TURNS {
            if !effort.spend(cost) {
                return None;
            }
            match self.turn()? {
                Turn::Turned => {}
                turn => return Some(turn),
            }
        }
        None
    }

    /// Moves the first of the sums that lie outside of their bounds to its bound. `None` where
    /// numbers are too large.
    fn turn(&mut self) -> Option<Turn> {
        let outside = |row: usize| {
            let (of, value) = (self.bounds[self.bound[row]], self.values[self.bound[row]]);
            let below = of.low.filter(|low| value.is_below(*low));
            below
                .map(|low| (low, true))
                .or_else(|| of.high.filter(|high| value.is_above(*high)).map(|high| (high, false)))
        };
        let rows = (0..self.rows.len()).filter_map(|row| Some((row, outside(row)?)));
        let Some((row, (end, is_up))) = rows.min_by_key(|(row, _)| self.bound[*row]) else {
            return Some(Turn::Done);
        };
        let can_move = |column: &usize| {
            let factor = self.rows[row][*column];
            let (of, value) = (self.bounds[self.free[*column]], self.values[self.free[*column]]);
            if factor.is_zero() {
                false
            } else if factor.is_positive() == is_up {
                of.high.is_none_or(|high| value.is_below(high))
            } else {
                of.low.is_none_or(|low| value.is_above(low))
            }
        };
        let columns = (0..self.free.len()).filter(can_move);
        let Some(column) = columns.min_by_key(|column| self.free[*column]) else {
            return Some(Turn::Empty);
        };
        self.exchange(row, column, Fraction::whole(end))?;
        Some(Turn::Turned)
    }

    /// Sets what a row is to `end`, free to move from there on; what is in the column follows
    /// from it.
    fn exchange(&mut self, row: usize, column: usize, end: Fraction) -> Option<()> {
        let factor = self.rows[row][column];
        let by = end.minus(self.values[self.bound[row]])?.over(factor)?;
        for (other, terms) in self.rows.iter().enumerate() {
            if other != row && !terms[column].is_zero() {
                let value = &mut self.values[self.bound[other]];
                *value = value.plus_product(terms[column], by)?;
            }
        }
        self.values[self.bound[row]] = end;
        let moved = &mut self.values[self.free[column]];
        *moved = moved.plus_product(by, Fraction::whole(1))?;
        // bound = factor * free + rest, so free = bound / factor - rest / factor.
        let mut solved = std::mem::take(&mut self.rows[row]);
        for (at, term) in solved.iter_mut().enumerate() {
            *term = match at == column {
                true => Fraction::whole(1).over(factor)?,
                false if term.is_zero() => continue,
                false => Fraction::default().minus(*term)?.over(factor)?,
            };
        }
        for terms in self.rows.iter_mut().filter(|terms| !terms.is_empty()) {
            let times = std::mem::take(&mut terms[column]);
            if times.is_zero() {
                continue;
            }
            for (term, by) in terms.iter_mut().zip(&solved) {
                if !by.is_zero() {
                    *term = term.plus_product(times, *by)?;
                }
            }
        }
        self.rows[row] = solved;
        std::mem::swap(&mut self.bound[row], &mut self.free[column]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_empty(at_least: &[(&[(usize, i128)], i128)]) -> bool {
        let rows: Vec<Row> = at_least
            .iter()
            .map(|(factors, constant)| Row { factors: factors.to_vec(), constant: *constant })
            .collect();
        super::is_empty(&rows, &Effort::of_kernel())
    }

    #[test]
    fn bounds_of_one_unknown_contradict() {
        assert!(is_empty(&[(&[(7, 2)], -1), (&[(7, -2)], 1)]));
        assert!(!is_empty(&[(&[(7, 2)], -1), (&[(7, -2)], 2)]));
        assert!(is_empty(&[(&[], -1)]));
        assert!(!is_empty(&[]));
    }

    #[test]
    fn chains_of_sums_contradict() {
        // x < y, y < z, z <= x + last
        let chain = |last| {
            let less = |a, b| [(a, -1), (b, 1)];
            let (one, two, three) = (less(0, 1), less(1, 2), less(2, 0));
            is_empty(&[(&one[..], -1), (&two[..], -1), (&three[..], last)])
        };
        assert!(chain(1));
        assert!(!chain(2));
    }

    #[test]
    fn what_lies_between_whole_numbers_is_no_contradiction() {
        // 3x + 3y = 2z, x = y, z = 1: x is a third.
        let rows: [(&[(usize, i128)], i128); 5] = [
            (&[(0, 3), (1, 3), (2, -2)], 0),
            (&[(0, -3), (1, -3), (2, 2)], 0),
            (&[(0, 1), (1, -1)], 0),
            (&[(0, -1), (1, 1)], 0),
            (&[(2, 1)], -1),
        ];
        let end: (&[(usize, i128)], i128) = (&[(2, -1)], 1);
        assert!(!is_empty(&[&rows[..], &[end]].concat()));
        let below: (&[(usize, i128)], i128) = (&[(0, -1)], 0);
        assert!(is_empty(&[&rows[..], &[end, below]].concat()));
    }
}
