//! Equalities whose terms are digits of different weight, where weights are
//! products of sizes.
//!
//! Of `(by*P + ty)*W + x = (by'*P + ty')*W + x'` with `x, x' < W` the part without
//! `W` lies between `-W` and `W`, and the rest is a multiple of `W`: both are 0.
//! What an unknown is at most, and at least, may be a polynomial itself; that the
//! sum of such bounds stays below the weight is read off its factors, with every
//! size counted from its least value.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::poly::{Monomial, Poly, Unknown, gcd, intersection};
use super::at_least::{AtLeast, Divided};
use super::by_sums;
use super::ranges::Ranges;

/// Bounds of an unknown that are tried.
const MAX_BOUNDS: usize = 3;

/// Terms of a row out of which a weight is taken.
const MAX_DIVIDED: usize = 8;

/// What unknowns are at least and at most, by polynomials of others.
#[derive(Debug, Default)]
pub(in super::super) struct Bounds {
    low: BTreeMap<Unknown, Vec<Poly>>,
    high: BTreeMap<Unknown, Vec<Poly>>,
    /// How often one was put in.
    uses: Cell<usize>,
}

impl Bounds {
    /// What follows directly from these being at least 0.
    pub(in super::super) fn of<'a>(at_least: impl Iterator<Item = &'a Poly>) -> Self {
        let mut bounds = Self::default();
        for poly in at_least {
            for (product, factor) in poly.terms() {
                let ([unknown], 1 | -1) = (product.as_slice(), *factor) else { continue };
                let value = Poly::unknown(*unknown);
                let (side, bound) = match factor {
                    1 => (&mut bounds.low, value.sub(poly)),
                    _ => (&mut bounds.high, poly.add(&value)),
                };
                if !bound.is_lost() && !bound.mentions(*unknown) {
                    side.entry(*unknown).or_default().push(bound);
                }
            }
        }
        for side in [&mut bounds.low, &mut bounds.high] {
            for known in side.values_mut() {
                known.sort_by_key(|bound| bound.terms().len());
                known.truncate(MAX_BOUNDS);
            }
        }
        bounds
    }

    /// Notes that one was put in.
    pub(in super::super) fn note_use(&self) {
        self.uses.set(self.uses.get() + 1);
    }

    /// How often a bound was put in for its unknown since this was asked last: what it took.
    pub(in super::super) fn take_uses(&self) -> usize {
        self.uses.take()
    }
}

/// What follows from rows of products when a weight is taken out of them: `n*W` is
/// below `S*W` only where `n` is below `S`. And how often bounds were put in for that.
/// Where digits have names, it follows from two rows together too, and by sums.
///
/// Let a row be `C * w + light >= 0` with a positive weight `w`. Where `light` is
/// below 0, `C` is at least 1; where it is below `w`, at least 0.
pub(in super::super) fn divided(at_least: &AtLeast, has_names: bool) -> Divided {
    let products: Vec<&Poly> = at_least.iter().filter(|row| !row.is_linear()).collect();
    if products.is_empty() {
        return Divided::default();
    }
    let (ranges, bounds) = (at_least.ranges(), at_least.bounds());
    let mut out = Vec::new();
    for row in products.iter().filter(|row| is_short(row)) {
        divide(row, &ranges, &bounds, &mut out);
    }
    let is_new = |row: &Poly| !row.is_lost() && !at_least.contains(row);
    out.retain(is_new);
    if out.is_empty() && has_names {
        for row in differences(&products).iter().filter(|row| is_short(row)) {
            divide(row, &ranges, &bounds, &mut out);
        }
        out.retain(is_new);
        if out.is_empty() {
            out = by_sums::divided(at_least, &ranges, &bounds);
            out.retain(is_new);
        }
    }
    Divided { rows: out, uses: bounds.take_uses() }
}

/// Whether weights are taken out of a row.
fn is_short(row: &Poly) -> bool {
    !row.is_linear() && row.terms().len() <= MAX_DIVIDED
}

/// What follows from `row` by each of the weights that can be taken out of it.
fn divide(row: &Poly, ranges: &Ranges, bounds: &Bounds, out: &mut Vec<Poly>) {
    for (weight, factor) in weights(row, ranges) {
        let (heavy, light) = parts(row, &weight, factor);
        let signs = heavy.terms().iter().map(|(_, factor)| *factor > 0);
        let is_mixed = signs.clone().any(|up| up) && signs.clone().any(|up| !up);
        if !is_mixed || light.is_lost() || heavy.is_lost() {
            continue;
        }
        let weight = Poly::product(weight).scaled(factor);
        if is_less(&light, &Poly::default(), ranges, bounds) {
            out.push(heavy.plus(-1));
        } else if is_less(&light, &weight, ranges, bounds) {
            out.push(heavy);
        }
    }
}

/// Of a value between bounds `low <= x` and `x <= high`, that `low <= high`: sums of two
/// rows in which a product and more is gone.
fn differences(rows: &[&Poly]) -> Vec<Poly> {
    let mut out = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            let is_gone = |(product, factor): &&(Monomial, i128)| {
                !product.is_empty() && other.terms().contains(&(*product, -factor))
            };
            let gone: Vec<_> = row.terms().iter().filter(is_gone).collect();
            if gone.len() > 1 && gone.iter().any(|(product, _)| product.len() > 1) {
                out.push(row.add(other));
            }
        }
    }
    out
}

/// A polynomial as a multiple of a weight, and the rest.
fn parts(poly: &Poly, weight: &Monomial, factor: i128) -> (Poly, Poly) {
    let (mut heavy, mut light) = (Vec::new(), Vec::new());
    for (product, times) in poly.terms() {
        match product.without(weight).zip(quotient(*times, factor)) {
            Some(term) => heavy.push(term),
            None => light.push((*product, *times)),
        }
    }
    (Poly::of_products(heavy), Poly::of_products(light))
}

/// A number by one that divides it; most weights are products alone, times 1.
fn quotient(number: i128, by: i128) -> Option<i128> {
    match by {
        1 => Some(number),
        _ => (number % by == 0).then(|| number / by),
    }
}

/// Cuts `poly = 0` into two equalities that it comes to, if it comes apart.
pub(in super::super) fn cut(poly: &Poly, ranges: &Ranges, bounds: &Bounds) -> Option<(Poly, Poly)> {
    weights(poly, ranges).into_iter().find_map(|(weight, factor)| {
        let (heavy, light) = parts(poly, &weight, factor);
        if heavy.is_lost() || light.is_lost() || light == Poly::default() {
            return None;
        }
        let weight = Poly::product(weight).scaled(factor);
        let stays_below = |part: &Poly| is_less(part, &weight, ranges, bounds);
        (stays_below(&light) && stays_below(&light.negated())).then_some((light, heavy))
    })
}

/// What is left of `poly = 0` without the positive unknowns that all its terms have in common,
/// if there are some.
pub(in super::super) fn without_factor(poly: &Poly, ranges: &Ranges) -> Option<Poly> {
    let ((first, _), others) = poly.terms().split_first()?;
    let shared = others.iter().fold(*first, |all, (product, _)| intersection(&all, product));
    let factor = shared.filtered(|unknown| ranges.low(unknown).is_some_and(|low| low >= 1));
    if factor.is_empty() {
        return None;
    }
    let mut rest = Poly::default();
    for (product, times) in poly.terms() {
        rest = rest.add(&Poly::product(product.without(&factor)?).scaled(*times));
    }
    (!rest.is_lost()).then_some(rest)
}

/// A value that lies between 0 and a size, and an unknown that it has once, with the
/// factor 1: `p - S*q` where `S*q <= p` and `p < S*q + S`. The size is a product of
/// unknowns, or a number that divides the factors of all else. The smallest number comes
/// first, so that of `p/4 - 4*(p/16)` and `p - 16*(p/16)` the former is a digit of the
/// latter.
pub(in super::super) fn to_name(
    at_least: &BTreeSet<Poly>,
    named: &BTreeSet<Unknown>,
) -> Option<(Unknown, Poly)> {
    let ends = ends(at_least);
    let found = at_least.iter().filter(|value| value.terms().len() > 1).filter_map(|value| {
        let unknown = once_in(value).find(|unknown| !named.contains(unknown))?;
        let size = ends.get(&unknown)?.iter().find_map(|end| Size::of(value, end))?;
        Some((size, (unknown, value)))
    });
    let (_, (unknown, value)) = found.min_by_key(|(size, _)| *size)?;
    Some((unknown, value.clone()))
}

/// By unknown, what it is taken off from: what is left of values up to their sizes.
fn ends(at_least: &BTreeSet<Poly>) -> BTreeMap<Unknown, Vec<&Poly>> {
    let mut ends: BTreeMap<Unknown, Vec<&Poly>> = BTreeMap::new();
    for end in at_least {
        for (product, factor) in end.terms() {
            if let ([unknown], -1) = (product.as_slice(), *factor) {
                ends.entry(*unknown).or_default().push(end);
            }
        }
    }
    ends
}

/// The unknowns that stand in one term alone, with the factor 1.
fn once_in(value: &Poly) -> impl Iterator<Item = Unknown> {
    value.terms().iter().filter_map(|(product, factor)| {
        let ([unknown], 1) = (product.as_slice(), *factor) else { return None };
        let once = value.unknowns().filter(|other| other == unknown).count() == 1;
        once.then_some(*unknown)
    })
}

/// Below what a value lies that is at least 0; in the order in which such values are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    /// It is at most this number.
    Last(i128),
    /// It is below a product of so many unknowns.
    Product(usize),
}

impl Size {
    /// By `end`, which is at least 0 too, if that is what is left up to a size.
    fn of(value: &Poly, end: &Poly) -> Option<Self> {
        match end.add(value).terms() {
            [(none, -1), (size, 1)] if none.is_empty() => {
                // What has a multiple of it taken off.
                let is_multiple =
                    |product: &Monomial| product.len() > 1 && product.contains_all(size);
                let is_taken = value.terms().iter().any(|(product, _)| is_multiple(product));
                is_taken.then_some(Self::Product(size.len()))
            }
            [(none, last)] if none.is_empty() && *last > 0 => {
                let others = || value.terms().iter().filter(|(_, factor)| *factor != 1);
                let are_multiples = others().all(|(_, factor)| factor % (last + 1) == 0);
                // Of a sum that is no rest, each part has its own digits.
                let is_rest = others().any(|(_, factor)| *factor < 0);
                let is_sum = value.terms().len() - others().count() > 1;
                (are_multiples && (is_rest || !is_sum)).then_some(Self::Last(*last))
            }
            _ => None,
        }
    }
}

/// The products of positive unknowns that are left of terms without one of their
/// unknowns, and those that two terms have in common; the shortest first.
fn weights(poly: &Poly, ranges: &Ranges) -> Vec<(Monomial, i128)> {
    let mut out: Vec<(Monomial, i128)> = Vec::new();
    let mut note = |product: Monomial, factor: i128| {
        let is_positive = |u: &Unknown| ranges.low(*u).is_some_and(|low| low >= 1);
        let Some(factor) = factor.checked_abs() else { return };
        let weight = (product, factor);
        if !product.is_empty() && product.iter().all(is_positive) && !out.contains(&weight) {
            out.push(weight);
        }
    };
    for (at, (product, factor)) in poly.terms().iter().enumerate() {
        for at in 0..product.len() {
            let mut rest = *product;
            rest.remove(at);
            note(rest, *factor);
        }
        for (other, times) in poly.terms()[..at].iter().filter(|_| product.len() > 2) {
            note(intersection(product, other), gcd(*factor, *times));
        }
    }
    out.sort_by_key(|(product, factor)| (product.len(), *factor));
    out
}

/// Whether `part < whole`, by the bounds of the unknowns in `part`.
pub(in super::super) fn is_less(
    part: &Poly,
    whole: &Poly,
    ranges: &Ranges,
    bounds: &Bounds,
) -> bool {
    let mut rest = whole.plus(-1).sub(part);
    // Each step takes one unknown out of a term that makes the rest smaller.
    for _ in 0..2 * part.terms().len() + 2 {
        if is_natural(&rest, ranges) {
            return true;
        }
        let Some(less) = lower(&rest, ranges, bounds) else { return false };
        rest = less;
    }
    false
}

/// Something that is at most `rest`, with one unknown less: of the fewest terms that make it
/// smaller, and then of the fewest.
fn lower(rest: &Poly, ranges: &Ranges, bounds: &Bounds) -> Option<Poly> {
    let mut best: Option<((usize, usize, bool), Poly)> = None;
    for (term, (product, factor)) in rest.terms().iter().enumerate() {
        let side = if *factor < 0 { &bounds.high } else { &bounds.low };
        let mut without = None;
        for (at, unknown) in product.as_slice().iter().enumerate() {
            let Some(known) = side.get(unknown) else { continue };
            let mut others = *product;
            others.remove(at);
            if !others.iter().all(|u| ranges.low(*u).is_some_and(|low| low >= 0)) {
                continue;
            }
            let without = without.get_or_insert_with(|| rest.without_term(term));
            for bound in known {
                // Only a bound by others says more than its number.
                if bound.as_constant().is_some() && *factor > 0 {
                    continue;
                }
                bounds.note_use();
                let next = without.add(&bound.times(&others, *factor));
                let n_negative = next.terms().iter().filter(|(_, factor)| *factor < 0).count();
                let rank = (n_negative, next.terms().len(), bound.as_constant().is_some());
                if !next.is_lost() && best.as_ref().is_none_or(|(best, _)| rank < *best) {
                    best = Some((rank, next));
                }
            }
        }
    }
    best.map(|(_, next)| next)
}

/// Whether a polynomial is at least 0, as its factors show it.
fn is_natural(poly: &Poly, ranges: &Ranges) -> bool {
    // What is counted from another number becomes larger by what larger products leave.
    let larger = |product: &Monomial| {
        let mut terms = poly.terms().iter().filter(|(_, factor)| *factor > 0);
        terms.any(|(other, _)| other.len() > product.len() && other.contains_all(product))
    };
    if poly.terms().iter().any(|(product, factor)| *factor < 0 && !larger(product)) {
        return false;
    }
    let least = |unknown: Unknown| {
        let low = ranges.low(unknown).filter(|low| *low > 0)?;
        Some(Poly::unknown(unknown).plus(low))
    };
    let counted = poly.replace(&least);
    let natural = |unknown: &Unknown| ranges.low(*unknown).is_some_and(|low| low >= 0);
    !counted.is_lost()
        && counted
            .terms()
            .iter()
            .all(|(product, factor)| *factor >= 0 && product.iter().all(natural))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(number: Unknown) -> Poly {
        Poly::unknown(number)
    }

    /// `0 <= unknown < size`, `size >= 1`.
    fn digit(digit: Unknown, size: Unknown) -> [Poly; 3] {
        let last = unknown(size).sub(&unknown(digit)).plus(-1);
        [unknown(digit), last, unknown(size).plus(-1)]
    }

    fn come_apart(poly: &Poly, at_least: &[Poly]) -> Option<(Poly, Poly)> {
        cut(poly, &Ranges::of(at_least.iter()), &Bounds::of(at_least.iter()))
    }

    #[test]
    fn rows_of_any_length_come_apart() {
        // y*W + x = y'*W + x' of x, x' < W
        let (y, x, other_y, other_x, w) = (0, 1, 2, 3, 4);
        let flat = |y, x| unknown(y).mul(&unknown(w)).add(&unknown(x));
        let equality = flat(y, x).sub(&flat(other_y, other_x));
        let facts = [digit(x, w), digit(other_x, w)].concat();
        let columns = unknown(x).sub(&unknown(other_x));
        let rows = unknown(y).sub(&unknown(other_y));
        assert_eq!(come_apart(&equality, &facts), Some((columns, rows)));
        // One column too many.
        assert_eq!(come_apart(&equality.plus(1), &facts), None);
    }

    #[test]
    fn digits_of_three_axes_come_apart() {
        // (z*H + y)*W + x of y < H, x < W
        let (z, y, x, h, w) = (0, 1, 2, 6, 7);
        let flat = |z, y, x| {
            unknown(z).mul(&unknown(h)).add(&unknown(y)).mul(&unknown(w)).add(&unknown(x))
        };
        let equality = flat(z, y, x).sub(&flat(3, 4, 5));
        let facts = [digit(y, h), digit(4, h), digit(x, w), digit(5, w)].concat();
        let (light, heavy) = come_apart(&equality, &facts).expect("comes apart");
        assert_eq!(light, unknown(x).sub(&unknown(5)));
        assert_eq!(come_apart(&heavy, &facts).expect("comes apart").0, unknown(y).sub(&unknown(4)));
    }

    #[test]
    fn what_two_terms_have_in_common_is_a_weight() {
        // s*i + w*(s*j + h*k) of i < m, j < n, m*s <= w, n*s <= h
        let [s, w, h, m, n] = [6, 7, 8, 9, 10].map(unknown);
        let flat = |k: Unknown, j: Unknown, i: Unknown| {
            let rows = unknown(j).mul(&s).add(&unknown(k).mul(&h));
            unknown(i).mul(&s).add(&rows.mul(&w))
        };
        let equality = flat(0, 1, 2).sub(&flat(3, 4, 5));
        let mut facts = [digit(1, 10), digit(4, 10), digit(2, 9), digit(5, 9)].concat();
        facts.extend([s.plus(-1), w.sub(&m.mul(&s)), h.sub(&n.mul(&s)), unknown(0), unknown(3)]);
        let (light, heavy) = come_apart(&equality, &facts).expect("comes apart");
        let between = |one: Unknown, other: Unknown| unknown(one).sub(&unknown(other));
        assert_eq!(light, between(2, 5).mul(&s));
        assert_eq!(without_factor(&light, &Ranges::of(facts.iter())), Some(between(2, 5)));
        assert_eq!(come_apart(&heavy, &facts).expect("comes apart").0, between(1, 4).mul(&s));
        // One column too many.
        assert_eq!(come_apart(&equality.add(&s), &facts), None);
    }

    #[test]
    fn only_what_is_positive_is_left_out() {
        let product = unknown(0).mul(&unknown(1)).sub(&unknown(0).mul(&unknown(2)));
        let natural = [unknown(0)];
        assert_eq!(without_factor(&product, &Ranges::of(natural.iter())), None);
    }

    #[test]
    fn a_bound_may_be_an_unknown() {
        // Q*b + q = Q*b' + q' of n*Q <= q, q' < n*Q + Q
        let (b, q, other_b, other_q, size, n) = (0, 1, 2, 3, 4, 5);
        let part = |b, q| unknown(b).mul(&unknown(size)).add(&unknown(q));
        let equality = part(b, q).sub(&part(other_b, other_q));
        let base = unknown(n).mul(&unknown(size));
        let within = |q| {
            let rest = unknown(q).sub(&base);
            [rest.clone(), unknown(size).sub(&rest).plus(-1)]
        };
        let mut facts = [within(q), within(other_q)].concat();
        facts.extend([unknown(size).plus(-1), unknown(n)]);
        assert!(come_apart(&equality, &facts).is_some());
    }
}
