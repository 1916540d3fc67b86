//! Values that a few coordinates decide, computed for every one of their points.
//!
//! Of bits that are put together anew arithmetic shows little, and of `1 << k` nothing
//! linear. But where all that decides a value are axes and counters of literal extent, it
//! has few points. They are taken from between the numbers that bounds leave, of each
//! coordinate by itself, so there are as many as really are, or more.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;
use super::table::apply;
use super::value::Function;

/// Most points, and most functions that are computed at them all together.
const MAX_POINTS: i128 = 4096;
const MAX_COMPUTED: i128 = 1 << 16;

/// What decides values, and how.
pub(in super::super) struct Points {
    /// Coordinates, with the least and the greatest number of each.
    axes: Vec<(Unknown, i128, i128)>,
    /// Functions, each after those that it is made of.
    functions: Vec<(Unknown, Made)>,
}

/// How a value is made of others.
enum Made {
    Of(Function, Poly, Poly),
    /// By a condition one or the other.
    Choice(Formula, Poly, Poly),
}

impl Walk<'_> {
    /// The points of what decides these values; `None` where they are too many, or not all
    /// is known.
    pub(in super::super) fn points(&self, values: &[&Poly]) -> Option<Points> {
        let made: BTreeMap<Unknown, (Function, &Poly, &Poly)> = self
            .functions
            .iter()
            .map(|((function, lhs, rhs), symbol)| (*symbol, (*function, lhs, rhs)))
            .collect();
        let mut open: Vec<Unknown> = Vec::new();
        for value in values {
            if value.is_lost() {
                return None;
            }
            open.extend(value.unknowns());
        }
        let mut seen = BTreeSet::new();
        let mut count = 1_i128;
        let mut points = Points { axes: Vec::new(), functions: Vec::new() };
        while let Some(unknown) = open.pop() {
            if !seen.insert(unknown) {
                continue;
            }
            if let Some((function, lhs, rhs)) = made.get(&unknown) {
                open.extend(lhs.unknowns().chain(rhs.unknowns()));
                let made = Made::Of(*function, (*lhs).clone(), (*rhs).clone());
                points.functions.push((unknown, made));
                continue;
            }
            if let Some((condition, then, otherwise)) = self.choices.get(&unknown) {
                open.extend(then.unknowns().chain(otherwise.unknowns()));
                condition.yes.collect_unknowns(&mut open);
                let made = Made::Choice(condition.yes.clone(), then.clone(), otherwise.clone());
                points.functions.push((unknown, made));
                continue;
            }
            let low = self.symbols.get(unknown)?.low?;
            let high = self.high(&Poly::unknown(unknown))?;
            count = count.checked_mul((high.checked_sub(low)?).checked_add(1)?.max(0))?;
            points.axes.push((unknown, low, high));
            if count > MAX_POINTS {
                return None;
            }
        }
        // What a function is made of has been named before it.
        points.functions.sort_unstable_by_key(|(symbol, ..)| *symbol);
        let computed = count.checked_mul(1 + points.functions.len() as i128)?;
        (computed <= MAX_COMPUTED).then_some(points)
    }

    /// Whether a condition holds at no point of what decides it.
    pub(in super::super) fn is_never_at_points(&self, condition: &Formula) -> bool {
        let mut of = Vec::new();
        collect_polys(condition, &mut of);
        let Some(points) = self.points(&of) else { return false };
        points.all(&of, &mut |values| !holds(condition, &mut values.iter().copied())) == Some(true)
    }
}

impl Points {
    /// Whether `test` holds of the values at every point; `None` where one cannot be
    /// computed.
    pub(in super::super) fn all(
        &self,
        of: &[&Poly],
        test: &mut dyn FnMut(&[i128]) -> bool,
    ) -> Option<bool> {
        let mut at: BTreeMap<Unknown, i128> =
            self.axes.iter().map(|(axis, low, _)| (*axis, *low)).collect();
        if self.axes.iter().any(|(_, low, high)| low > high) {
            return Some(true);
        }
        loop {
            for (symbol, made) in &self.functions {
                let value = made.value(&at)?;
                at.insert(*symbol, value);
            }
            let values: Option<Vec<i128>> = of.iter().map(|poly| value_at(poly, &at)).collect();
            if !test(&values?) {
                return Some(false);
            }
            if !self.step(&mut at) {
                return Some(true);
            }
        }
    }

    /// Goes on to the next point; `false` after the last.
    fn step(&self, at: &mut BTreeMap<Unknown, i128>) -> bool {
        for (axis, low, high) in &self.axes {
            let Some(value) = at.get_mut(axis) else { return false };
            if *value < *high {
                *value += 1;
                return true;
            }
            *value = *low;
        }
        false
    }
}

impl Made {
    fn value(&self, at: &BTreeMap<Unknown, i128>) -> Option<i128> {
        match self {
            Self::Of(function, lhs, rhs) => {
                apply(*function, value_at(lhs, at)?, value_at(rhs, at)?)
            }
            Self::Choice(condition, then, otherwise) => {
                let mut of = Vec::new();
                collect_polys(condition, &mut of);
                let values: Option<Vec<i128>> =
                    of.into_iter().map(|poly| value_at(poly, at)).collect();
                let is_first = holds(condition, &mut values?.into_iter());
                value_at(if is_first { then } else { otherwise }, at)
            }
        }
    }
}

fn value_at(poly: &Poly, at: &BTreeMap<Unknown, i128>) -> Option<i128> {
    poly.terms().iter().try_fold(0_i128, |sum, (product, factor)| {
        let term =
            product.iter().try_fold(*factor, |term, unknown| term.checked_mul(*at.get(unknown)?));
        sum.checked_add(term?)
    })
}

/// The values that a condition compares with 0, in order.
fn collect_polys<'a>(condition: &'a Formula, out: &mut Vec<&'a Poly>) {
    match condition {
        Formula::True | Formula::False | Formula::Unknown => {}
        Formula::AtLeast(poly) | Formula::Zero(poly) => out.push(poly),
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().for_each(|part| collect_polys(part, out));
        }
    }
}

/// Whether a condition holds of these values, in the same order.
fn holds(condition: &Formula, values: &mut dyn Iterator<Item = i128>) -> bool {
    match condition {
        Formula::True | Formula::Unknown => true,
        Formula::False => false,
        Formula::AtLeast(_) => values.next().is_none_or(|value| value >= 0),
        Formula::Zero(_) => values.next().is_none_or(|value| value == 0),
        // Of every part the values are taken.
        Formula::All(parts) => {
            parts.iter().filter(|part| holds(part, values)).count() == parts.len()
        }
        Formula::Any(parts) => parts.iter().filter(|part| holds(part, values)).count() > 0,
    }
}
