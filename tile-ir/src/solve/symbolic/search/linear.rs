//! Whether a system of linear constraints has no integer solution.
//!
//! Equalities are divided by the common divisor of their factors (which already
//! refutes `2x = 1`) and eliminated, by way of other unknowns where no factor is 1 or -1
//! ([`super::equality`]); the rest is Fourier-Motzkin elimination, each constraint
//! tightened to integers: `2x >= 1` becomes `x >= 1`.
//!
//! "Empty" is always right: every step adds only consequences. "Not empty" says
//! nothing: the elimination is exact for rational numbers, not for integers, and
//! gives up on systems that grow too large or leave 128 bits.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::super::algebra::poly::gcd;
use super::super::algebra::wide::{floor_div, times};
use super::equality::substitution;
use super::simplex;

/// What one kernel's proofs may take: rows that are made, and terms of systems that are
/// looked at.
const MAX_SPENT: u64 = 260_000;

/// How many times more than that a kernel of many pairs may take.
const MAX_MORE: u64 = 3;

/// Elimination stops where it would hold more constraints than this.
pub(in super::super) const MAX_ROWS: usize = 600;

/// `sum of factor * unknown + constant`; unknowns rising, no factor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::solve) struct Row {
    /// Unknowns with their factors.
    pub(in crate::solve) factors: Vec<(usize, i128)>,
    /// What is added.
    pub(in crate::solve) constant: i128,
}

/// What became of a step.
enum Outcome {
    /// There is no solution.
    Empty,
    /// Too large to go on.
    GaveUp,
}

type Step<T> = Result<T, Outcome>;

/// What questions may take that come when nothing is left, and that are answered only where
/// no search is needed.
const MAX_BEYOND: u64 = MAX_SPENT / 2;

/// What is left before everything is given up: what bounds the time of a kernel's
/// check.
#[derive(Debug)]
pub(in crate::solve) struct Effort {
    left: Cell<u64>,
    /// What is left for questions that come later.
    beyond: Cell<u64>,
}

impl Effort {
    /// As much as a kernel's proofs may take.
    pub(in super::super) const fn of_kernel() -> Self {
        Self::of(MAX_SPENT)
    }

    const fn of(left: u64) -> Self {
        Self { left: Cell::new(left), beyond: Cell::new(MAX_BEYOND) }
    }

    /// Some of so many equal parts of that.
    pub(in crate::solve) fn parts(some: usize, of: usize) -> Self {
        Self::of(MAX_SPENT * some as u64 / (of as u64).max(1))
    }

    /// What `ask` gives when it may take no more than one of so many parts of what a
    /// kernel's proofs may.
    pub(in super::super) fn within_part<T>(&self, of: u64, ask: impl FnOnce() -> T) -> T {
        let all = self.left.get();
        let part = all.min(MAX_SPENT / of.max(1));
        self.left.set(part);
        let answer = ask();
        let spent = part.saturating_sub(self.left.get());
        self.left.set(all.saturating_sub(spent));
        answer
    }

    /// Adds as much as is left so many times, or [`MAX_MORE`] times: for much to be proved.
    pub(in super::super) fn lengthen(&self, more: usize) {
        self.left.set(self.left.get() * (1 + (more as u64).min(MAX_MORE)));
    }

    /// As much as is left.
    pub(in super::super) fn copied(&self) -> Self {
        Self::of(self.left.get())
    }

    /// Begins again with so much.
    pub(in super::super) fn renew(&self, whole: &Self) {
        self.left.set(whole.left.get());
    }

    /// Whether less than half of so much is left.
    pub(in super::super) fn is_less_than_half_of(&self, whole: &Self) -> bool {
        self.left.get() < whole.left.get() / 2
    }

    /// Half as much as is left.
    pub(in super::super) fn half(&self) -> Self {
        Self::of(self.left.get() / 2)
    }

    /// One of so many parts of a kernel's, or what is left, which is taken off.
    pub(in super::super) fn taken(&self, of: usize) -> Self {
        let taken = self.left.get().min(MAX_SPENT / (of as u64).max(1));
        self.left.set(self.left.get() - taken);
        Self::of(taken)
    }

    /// Adds what was taken off and not needed.
    pub(in super::super) fn put_back(&self, rest: &Self) {
        self.left.set(self.left.get() + rest.left.get());
    }

    /// What `ask` gives when it takes what it needs from `other` in place of this.
    pub(in super::super) fn exchanged<T>(&self, other: &Self, ask: impl FnOnce() -> T) -> T {
        self.left.swap(&other.left);
        let answer = ask();
        self.left.swap(&other.left);
        answer
    }

    /// Whether nothing is left.
    pub(in super::super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Takes so much off for a question that came when nothing was left.
    pub(in super::super) fn spend_beyond(&self, cost: usize) {
        self.beyond.set(self.beyond.get().saturating_sub(cost as u64));
    }

    /// Whether nothing is left for such questions either.
    pub(in super::super) fn is_spent_beyond(&self) -> bool {
        self.is_spent() && self.beyond.get() == 0
    }

    /// Takes so much off; `false` where there is not so much.
    pub(in super::super) fn spend(&self, cost: usize) -> bool {
        let left = self.left.get().checked_sub(cost as u64);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Whether no integers make all of `zero` 0 and all of `at_least` at least 0.
pub(in super::super) fn is_empty(zero: Vec<Row>, at_least: Vec<Row>, effort: &Effort) -> bool {
    matches!(run(zero, at_least, effort), Err(Outcome::Empty))
}

/// Whether no numbers do, whole or not: what elimination would show where it costs more.
pub(in super::super) fn is_empty_of_fractions(
    zero: Vec<Row>,
    at_least: Vec<Row>,
    effort: &Effort,
) -> bool {
    match without_equalities(zero, at_least, effort) {
        Ok(rows) => simplex::is_empty(&rows, effort),
        Err(outcome) => matches!(outcome, Outcome::Empty),
    }
}

fn run(zero: Vec<Row>, at_least: Vec<Row>, effort: &Effort) -> Step<()> {
    let mut rows = Rows::default();
    for row in without_equalities(zero, at_least, effort)? {
        rows.insert(row)?;
    }
    while let Some(unknown) = rows.cheapest() {
        rows.eliminate(unknown, effort)?;
    }
    Ok(())
}

/// The rows that are at least 0, in which equalities have been put.
fn without_equalities(
    mut zero: Vec<Row>,
    mut at_least: Vec<Row>,
    effort: &Effort,
) -> Step<Vec<Row>> {
    let numbers = |row: &Row| {
        row.factors.iter().all(|(_, factor)| is_small(*factor)) && is_small(row.constant)
    };
    if !zero.iter().chain(&at_least).all(numbers) {
        return Err(Outcome::GaveUp);
    }
    let mut unused = unused(zero.iter().chain(&at_least));
    while let Some(row) = zero.pop() {
        let Some(row) = divide_equality(row)? else { continue };
        let unit = row.factors.iter().find(|(_, factor)| factor.abs() == 1).copied();
        let (row, (unknown, factor)) = match (unit, substitution(&row, unused)) {
            (Some(unit), _) => (row, unit),
            (None, Some(known)) if effort.spend(1) => {
                unused += 1;
                zero.push(row);
                known
            }
            (None, _) => {
                let negated = scale(&row, -1)?;
                at_least.extend([row, negated]);
                continue;
            }
        };
        for other in zero.iter_mut().chain(&mut at_least) {
            eliminate_by(other, &row, unknown, factor)?;
        }
    }
    Ok(at_least)
}

/// An unknown that no row speaks of.
fn unused<'r>(rows: impl Iterator<Item = &'r Row>) -> usize {
    let known = rows.flat_map(|row| &row.factors).map(|(unknown, _)| *unknown + 1);
    known.max().unwrap_or(0)
}

/// Divided by the common divisor of the factors; `None` for `0 = 0`.
fn divide_equality(mut row: Row) -> Step<Option<Row>> {
    let divisor = divisor_of(&row.factors);
    if divisor == 0 {
        return if row.constant == 0 { Ok(None) } else { Err(Outcome::Empty) };
    }
    if row.constant % divisor != 0 {
        return Err(Outcome::Empty);
    }
    if divisor > 1 {
        row.factors.iter_mut().for_each(|(_, factor)| *factor /= divisor);
        row.constant /= divisor;
    }
    Ok(Some(row))
}

/// Subtracts a multiple of `equality`, in which `unknown` has the factor `unit`
/// of 1 or -1, such that `unknown` vanishes from `row`.
fn eliminate_by(row: &mut Row, equality: &Row, unknown: usize, unit: i128) -> Step<()> {
    if let Some((_, factor)) = row.factors.iter().find(|(other, _)| *other == unknown) {
        let times = factor.checked_mul(-unit).ok_or(Outcome::GaveUp)?;
        *row = sum(row, 1, equality, times)?;
    }
    Ok(())
}

/// Whether a number leaves room for negation and for one addition.
fn is_small(number: i128) -> bool {
    number.unsigned_abs() < 1 << 120
}

fn scale(row: &Row, by: i128) -> Step<Row> {
    sum(&Row::default(), 1, row, by)
}

/// `a * left + b * right`
fn sum(left: &Row, a: i128, right: &Row, b: i128) -> Step<Row> {
    let part = |x: i128, by: i128| times(x, by).ok_or(Outcome::GaveUp);
    let both = |x: i128, y: i128| -> Step<i128> {
        let sum = part(x, a)?.checked_add(part(y, b)?);
        sum.filter(|sum| is_small(*sum)).ok_or(Outcome::GaveUp)
    };
    let mut factors = Vec::with_capacity(left.factors.len() + right.factors.len());
    let mut rest = left.factors.as_slice();
    for (theirs, y) in &right.factors {
        let mut own = 0;
        while let [(mine, x), after @ ..] = rest {
            if mine > theirs {
                break;
            }
            rest = after;
            if mine == theirs {
                own = *x;
                break;
            }
            push(&mut factors, *mine, both(*x, 0)?);
        }
        push(&mut factors, *theirs, both(own, *y)?);
    }
    for (mine, x) in rest {
        push(&mut factors, *mine, both(*x, 0)?);
    }
    Ok(Row { factors, constant: both(left.constant, right.constant)? })
}

fn push(factors: &mut Vec<(usize, i128)>, unknown: usize, factor: i128) {
    if factor != 0 {
        factors.push((unknown, factor));
    }
}

/// Unknowns with their factors; those rise.
type Factors = Vec<(usize, i128)>;

/// Constraints `row >= 0`; of several with the same factors the tightest.
#[derive(Default)]
struct Rows {
    /// By their factors, which have no common divisor, what is added.
    rows: BTreeMap<Factors, i128>,
    /// By unknown, what is added to `-x`, and to `x`, where that is a row.
    alone: Vec<[Option<i128>; 2]>,
    /// Room for factors that are looked up.
    opposite: Factors,
}

/// The constraints that bound an unknown from one side.
#[derive(Clone, Copy, Default)]
struct Side {
    count: usize,
    /// The largest multiple of it that one bounds.
    multiple: u128,
}

/// The common divisor of factors; 0 of none.
fn divisor_of(factors: &[(usize, i128)]) -> i128 {
    let mut divisor = 0;
    for (_, factor) in factors {
        if *factor == 1 || *factor == -1 {
            return 1;
        }
        divisor = gcd(divisor, *factor);
    }
    divisor
}

impl Rows {
    fn insert(&mut self, mut row: Row) -> Step<()> {
        let divisor = divisor_of(&row.factors);
        if divisor == 0 {
            return if row.constant >= 0 { Ok(()) } else { Err(Outcome::Empty) };
        }
        if divisor > 1 {
            row.factors.iter_mut().for_each(|(_, factor)| *factor /= divisor);
            row.constant = floor_div(row.constant, divisor);
        }
        if self.opposite_of(&row.factors).is_some_and(|other| other + row.constant < 0) {
            return Err(Outcome::Empty);
        }
        if let [(unknown, factor)] = *row.factors.as_slice() {
            if self.alone.len() <= unknown {
                self.alone.resize(unknown + 1, [None; 2]);
            }
            let known = &mut self.alone[unknown][usize::from(factor > 0)];
            *known = Some(known.map_or(row.constant, |known| known.min(row.constant)));
        }
        let known = self.rows.entry(row.factors).or_insert(row.constant);
        *known = (*known).min(row.constant);
        if self.rows.len() > MAX_ROWS { Err(Outcome::GaveUp) } else { Ok(()) }
    }

    /// What is added to the opposite of a sum, where that is a row.
    fn opposite_of(&mut self, factors: &[(usize, i128)]) -> Option<i128> {
        self.opposite.clear();
        self.opposite.extend(factors.iter().map(|(unknown, factor)| (*unknown, -factor)));
        self.rows.get(&self.opposite).copied()
    }

    /// Whether a constraint on several unknowns holds between the bounds of each.
    fn is_implied(&self, row: &Row) -> bool {
        if row.factors.len() < 2 {
            return false;
        }
        let mut low = row.constant;
        for (unknown, factor) in &row.factors {
            let bounds = self.alone.get(*unknown).copied().unwrap_or_default();
            let Some(bound) = bounds[usize::from(*factor > 0)] else { return false };
            let least = bound.checked_neg().and_then(|bound| times(factor.abs(), bound));
            match least.and_then(|least| low.checked_add(least)) {
                Some(sum) => low = sum,
                None => return false,
            }
        }
        low >= 0
    }

    /// The unknown to eliminate: one that costs no precision where there is one
    /// (all its factors to one side are 1, so that whatever numbers remain have an
    /// integer between them), and of those the one that makes the fewest
    /// constraints.
    fn cheapest(&self) -> Option<usize> {
        let mut signs: Vec<[Side; 2]> = Vec::new();
        for (unknown, factor) in self.rows.keys().flatten() {
            if signs.len() <= *unknown {
                signs.resize(*unknown + 1, Default::default());
            }
            let side = &mut signs[*unknown][usize::from(*factor > 0)];
            side.count += 1;
            side.multiple = side.multiple.max(factor.unsigned_abs());
        }
        let cost = |[above, below]: &[Side; 2]| {
            let made = (above.count * below.count).saturating_add(MAX_ROWS);
            // What is weighted heavily goes last: `2^32 * q` between small bounds.
            let lost = above.multiple.min(below.multiple);
            let lost = if lost > 1 { 1 + lost.ilog2() / 8 } else { 0 };
            (lost, made.saturating_sub(above.count + below.count))
        };
        let in_rows = signs.iter().enumerate().filter(|(_, [a, b])| a.count + b.count > 0);
        in_rows.min_by_key(|(_, sides)| cost(sides)).map(|(unknown, _)| unknown)
    }

    fn eliminate(&mut self, unknown: usize, effort: &Effort) -> Step<()> {
        let mut lower = Vec::new();
        let mut upper = Vec::new();
        let factor_in = |factors: &[(usize, i128)]| {
            factors.iter().find(|(other, _)| *other == unknown).map(|(_, factor)| *factor)
        };
        let taken = self.rows.extract_if(.., |factors, _| factor_in(factors).is_some());
        for (factors, constant) in taken {
            let factor = factor_in(&factors).unwrap_or(0);
            let row = Row { factors, constant };
            match factor > 0 {
                true => lower.push((factor, row)),
                false => upper.push((-factor, row)),
            }
        }
        if let Some(alone) = self.alone.get_mut(unknown) {
            *alone = [None; 2];
        }
        for (a, low) in &lower {
            for (b, high) in &upper {
                if !effort.spend(1) {
                    return Err(Outcome::GaveUp);
                }
                let made = sum(low, *b, high, *a)?;
                if !self.is_implied(&made) {
                    self.insert(made)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_empty(zero: Vec<Row>, at_least: Vec<Row>) -> bool {
        super::is_empty(zero, at_least, &Effort::of_kernel())
    }

    fn row(factors: &[(usize, i128)], constant: i128) -> Row {
        Row { factors: factors.to_vec(), constant }
    }

    #[test]
    fn even_is_not_odd() {
        assert!(is_empty(vec![row(&[(0, 2), (1, -2)], -1)], vec![]));
        assert!(!is_empty(vec![row(&[(0, 2), (1, -2)], -2)], vec![]));
    }

    #[test]
    fn equalities_without_a_unit_are_solved() {
        // 257 (t - s) = 256 (k - l), 0 <= s < t <= 127
        let meet = row(&[(0, 257), (1, -257), (2, -256), (3, 256)], 0);
        let within = |last| {
            let least = row(&[(1, 1)], 0);
            vec![least, row(&[(0, 1), (1, -1)], -1), row(&[(0, -1)], last)]
        };
        assert!(is_empty(vec![meet.clone()], within(255)));
        assert!(!is_empty(vec![meet], within(256)));
        // 6x + 10y + 15z = 1 has solutions, 12x + 21y = 5 has none.
        assert!(!is_empty(vec![row(&[(0, 6), (1, 10), (2, 15)], -1)], vec![]));
        assert!(is_empty(vec![row(&[(0, 12), (1, 21)], -5)], vec![]));
    }

    #[test]
    fn bounds_are_tightened_to_integers() {
        // 1 <= 2x <= 1
        assert!(is_empty(vec![], vec![row(&[(0, 2)], -1), row(&[(0, -2)], 1)]));
        // 1 <= 2x <= 2
        assert!(!is_empty(vec![], vec![row(&[(0, 2)], -1), row(&[(0, -2)], 2)]));
    }

    #[test]
    fn chains_of_bounds_meet() {
        // x < y, y < z, z < x + 2
        let chain = |last| {
            let less = |a, b| row(&[(a, -1), (b, 1)], -1);
            vec![less(0, 1), less(1, 2), row(&[(0, 1), (2, -1)], last)]
        };
        assert!(is_empty(vec![], chain(1)));
        assert!(!is_empty(vec![], chain(2)));
    }

    #[test]
    fn what_is_exact_is_eliminated_first() {
        // 64b <= t + 64b <= 63 + 64b, 2q <= t + 64b <= 2q + 1, t + 128b + 63 <= 4q
        let rows = vec![
            row(&[(0, 1)], 0),
            row(&[(0, -1)], 63),
            row(&[(0, 1), (1, 64), (2, -2)], 0),
            row(&[(0, -1), (1, -64), (2, 2)], 1),
            row(&[(0, -1), (1, -128), (2, 4)], -63),
        ];
        assert!(is_empty(vec![], rows));
    }

    #[test]
    fn overflow_gives_up() {
        let large = i128::MAX / 2;
        let rows = vec![row(&[(0, large), (1, 1)], 0), row(&[(0, -large + 1), (1, 3)], -5)];
        assert!(!is_empty(vec![], rows));
        assert!(!is_empty(vec![row(&[(0, 3), (1, i128::MIN)], 1)], vec![]));
    }
}
