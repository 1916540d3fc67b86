//! Quotients and remainders: symbols with facts.

use super::super::algebra::formula::Formula;
use super::super::algebra::multiples::multiple;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::Sharing;
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// `lhs / rhs`, truncated, where `rhs` is not negative: `q` with
    /// `lhs = q * rhs + r`, the remainder smaller than `rhs` and of the sign of
    /// `lhs`; 0 where `rhs` is.
    pub(in super::super) fn quotient(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let quotient = self.truncated(lhs, rhs, at)?;
        self.note_below(lhs, rhs, &quotient);
        Some(quotient)
    }

    fn truncated(&mut self, lhs: &Poly, rhs: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        if rhs.as_constant() == Some(1) {
            return Some(lhs.clone());
        }
        if lhs.is_lost() || rhs.is_lost() {
            return None;
        }
        if rhs.as_constant() == Some(0) {
            return Some(Poly::default());
        }
        if let Some((lhs, rhs)) = self.mirrored(lhs, rhs) {
            return Some(self.quotient(&lhs, &rhs, at)?.negated());
        }
        self.find_positive(rhs);
        if let Some(quotient) = self.whole_quotient(lhs, rhs, at) {
            return Some(quotient);
        }
        let least = self.symbols.low(rhs).unwrap_or(i128::MIN);
        if least >= 0
            && let Some(number) = self.number_above(lhs, rhs)
        {
            let above = self.quotient(lhs, &Poly::constant(number), at)?;
            return self.quotient(&above, &rhs.divided(number), at);
        }
        if least >= 0
            && let Some((whole, divisor)) = self.as_quotient(lhs)
        {
            // `a / b / c` is `a / (b * c)`: one symbol, however it is written. So it is
            // where a divisor is 0.
            let quotient = self.quotient(&whole, &divisor.mul(rhs), at)?;
            if let [(product, 1)] = quotient.terms()
                && let [unknown] = product.as_slice()
            {
                let rest = lhs.sub(&quotient.mul(rhs));
                let none = if least > 0 { Formula::False } else { Formula::Zero(rhs.clone()) };
                self.symbols.add_facts(*unknown, Formula::within(&rest, rhs).or(none));
            }
            return Some(quotient);
        }
        if least > 0
            && let Some(tiles) = self.known_tiles(lhs, rhs)
        {
            return Some(tiles);
        }
        let natural = self.is_natural(lhs);
        // `(x - q * n) / n` is `x / n - q`.
        if natural
            && least > 0
            && let Some((whole, rest)) = multiples_apart(lhs, rhs)
            && self.is_natural(&rest)
        {
            let quotient = whole.add(&self.quotient(&rest, rhs, at)?);
            self.note_digit(lhs, rhs, &quotient);
            return Some(quotient);
        }
        if natural
            && let Some(divisor) = rhs.as_constant()
            && let Some((whole, rest, times)) = self.digits_above(lhs, divisor)
        {
            let quotient = self.quotient(&rest, &Poly::constant(times), at)?;
            return Some(whole.add(&quotient));
        }
        if natural
            && let Some(divisor) = rhs.as_constant()
            && self.possible_bits(lhs).is_some_and(|bits| bits < divisor)
        {
            return Some(Poly::default());
        }
        let low = (natural && least >= 0).then_some(0);
        if let Some(power) = self.halved_power(lhs, rhs, at) {
            return Some(power);
        }
        let most = || {
            let whole = || self.whole_of(lhs, rhs).map(|most| (most, 1));
            self.most(lhs, rhs).or_else(whole)
        };
        let most = if natural { most() } else { None };
        Some(self.function(Function::Quotient, lhs, rhs, low, at, |q| {
            let rest = lhs.sub(&q.mul(rhs));
            let rounded = divided(q, lhs, &rest, rhs, natural);
            let known =
                most.map_or(Formula::True, |(most, times)| Formula::le(&q.scaled(times), &most));
            if least > 0 {
                return rounded.and(known);
            }
            let positive = Formula::lt(&Poly::default(), rhs);
            let by_zero = Formula::All(vec![Formula::Zero(rhs.clone()), Formula::Zero(q.clone())]);
            let mut cases = vec![positive.and(rounded).and(known), by_zero];
            if least < 0 {
                let negative = Formula::lt(rhs, &Poly::default());
                // Of the least number, by -1, the quotient wraps, so only of naturals is it said.
                let mirrored = match natural {
                    true => divided(&q.negated(), lhs, &rest, &rhs.negated(), true),
                    false => Formula::True,
                };
                cases.push(negative.and(mirrored));
            }
            Formula::Any(cases)
        }))
    }

    /// Notes of `x / n`, where conditions say that `x` is below `m * n`, that it is below `m` then.
    fn note_below(&mut self, lhs: &Poly, rhs: &Poly, quotient: &Poly) {
        let ([(by, 1)], [(product, 1)]) = (rhs.terms(), quotient.terms()) else { return };
        let [unknown] = product.as_slice() else { return };
        let is_positive = self.symbols.low(rhs).is_some_and(|low| low >= 1);
        if by.as_slice().is_empty() || !is_positive || !self.is_natural(lhs) {
            return;
        }
        let mut rooms = Vec::new();
        self.guards.iter().for_each(|guard| guard.collect_bounds(&mut rooms));
        for room in rooms {
            let most = room.add(lhs).plus(1);
            let times =
                most.terms().iter().map(|(product, factor)| Some((product.without(by)?, *factor)));
            let Some(times) = times.collect::<Option<Vec<_>>>().filter(|of| !of.is_empty()) else {
                continue;
            };
            let times = Poly::of_products(times);
            let known = Formula::le(&most, lhs).or(Formula::lt(quotient, &times));
            self.symbols.add_facts(*unknown, known);
        }
    }

    /// Notes of `(x - x / (a * b) * (a * b)) / a`, a digit of `x`, that it is below `b`.
    fn note_digit(&mut self, rest: &Poly, by: &Poly, digit: &Poly) {
        let found = rest.unknowns().find_map(|unknown| {
            let (function, of, whole) = self.function_of(unknown)?;
            let is_quotient = matches!(function, Function::Quotient | Function::Floor);
            let is_rest = || of.sub(&Poly::unknown(unknown).mul(whole)) == *rest;
            let ([(whole, 1)], [(by, 1)]) = (whole.terms(), by.terms()) else { return None };
            let times = whole.without(by).filter(|_| is_quotient && is_rest())?;
            Some((unknown, Poly::product(times)))
        });
        let Some((quotient, times)) = found else { return };
        let none = match self.symbols.low(&times) {
            Some(1..) => Formula::False,
            _ => Formula::le(&times, &Poly::default()),
        };
        self.symbols.add_facts(quotient, Formula::within(digit, &times).or(none));
    }

    /// `lhs / rhs` of a power of two that is not below the other, which is a number: it leaves
    /// no rest, and is a power of two.
    fn halved_power(&mut self, lhs: &Poly, rhs: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let by = rhs.as_constant().filter(|by| by.count_ones() == 1)?;
        let is_larger = self.symbols.low(lhs).is_some_and(|least| least >= by);
        if !is_larger || !self.is_power(lhs) {
            return None;
        }
        let power = self.function(Function::Quotient, lhs, rhs, Some(1), at, |power| {
            Formula::eq(lhs, &power.mul(rhs))
        });
        self.powers.extend(power.unknowns());
        Some(power)
    }

    /// Notes that a divisor is positive, as `min(M - first, 8)` may be by where `first` comes
    /// from, and a scalar by what is assumed of it: without that each sign is a case.
    fn find_positive(&mut self, divisor: &Poly) {
        if let [(product, 1)] = divisor.terms()
            && let [unknown] = product.as_slice()
            && let Some(Sharing::Function(_) | Sharing::Launch) =
                self.symbols.get(*unknown).map(|of| &of.sharing)
            && self.symbols.low(divisor).is_none_or(|low| low <= 0)
            && self.is_never(&Formula::le(divisor, &Poly::default()))
        {
            self.symbols.set_positive(*unknown);
        }
    }

    /// `lhs / rhs` of a number that leaves no rest, whatever the unknowns are.
    fn whole_quotient(&mut self, lhs: &Poly, rhs: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let (whole, rest) = multiple(lhs, rhs.as_constant()?)?;
        if rest == Poly::default() {
            return Some(whole);
        }
        let low = self.is_natural(&rest).then_some(0);
        let quotient = self.function(Function::Quotient, &rest, rhs, low, at, |q| {
            let left = rest.sub(&q.mul(rhs));
            let known = Formula::within(&left, &Poly::constant(1));
            if low.is_some() { known.and(Formula::AtLeast(q.clone())) } else { known }
        });
        Some(whole.add(&quotient))
    }

    /// Both sides so that neither is below 0, of a division in which one is: rounded
    /// towards 0, `a / -b` and `-a / b` are `-(a / b)`. Neither wraps, since the other is
    /// not below 0.
    fn mirrored(&self, lhs: &Poly, rhs: &Poly) -> Option<(Poly, Poly)> {
        let is_natural = |value: &Poly| self.symbols.low(value).is_some_and(|low| low >= 0);
        let [below, by] = [lhs, rhs].map(Poly::negated);
        if is_natural(lhs) && !is_natural(rhs) && is_natural(&by) {
            Some((lhs.clone(), by))
        } else if is_natural(rhs) && !is_natural(lhs) && is_natural(&below) {
            Some((below, rhs.clone()))
        } else {
            None
        }
    }

    /// Of `(n - i) / n` and the like: where the walk is, the quotient is 0 or 1, by which
    /// of the two is larger, which leaves no product.
    pub(in super::super) fn note_single_turn(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) {
        let [(size, 1)] = rhs.terms() else { return };
        if size.is_empty() || lhs.terms().iter().all(|(product, _)| product != size) {
            return;
        }
        let one = Poly::constant(1);
        let beyond = Formula::lt(lhs, &Poly::default())
            .or(Formula::le(&rhs.scaled(2), lhs))
            .or(Formula::lt(rhs, &one));
        let is_never = self.is_never(&beyond);
        if !is_never && !self.is_never_here(lhs, beyond.clone()) {
            return;
        }
        let Some(quotient) = self.quotient(lhs, rhs, at) else { return };
        let [(product, 1)] = quotient.terms() else { return };
        let [unknown] = product.as_slice() else { return };
        let none = Formula::Zero(quotient.clone()).and(Formula::lt(lhs, rhs));
        let once = Formula::eq(&quotient, &one).and(Formula::le(rhs, lhs));
        let known = none.or(once);
        self.symbols.add_facts(*unknown, if is_never { known } else { beyond.or(known) });
    }

    /// `lhs / rhs` rounded down; `rhs` is positive where the walk is.
    pub(in super::super) fn floor(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let is_whole = |by| multiple(lhs, by).is_some();
        if lhs.is_lost() || self.is_natural(lhs) || rhs.as_constant().is_some_and(is_whole) {
            return self.quotient(lhs, rhs, at);
        }
        if rhs.as_constant() == Some(1) {
            return Some(lhs.clone());
        }
        let none = Formula::le(rhs, &Poly::default());
        let is_positive = self.symbols.low(rhs).is_some_and(|low| low > 0);
        if !is_positive && !self.is_never_here(rhs, none.clone()) {
            return None;
        }
        Some(self.function(Function::Floor, lhs, rhs, None, at, |q| {
            let rounded = Formula::within(&lhs.sub(&q.mul(rhs)), rhs);
            if is_positive { rounded } else { rounded.or(none) }
        }))
    }

    /// `lhs % rhs`, likewise.
    pub(in super::super) fn remainder(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        // `a % -b` is `a % b`, and `-a % b` and `-a % -b` are `-(a % b)`.
        let both = || {
            let is_natural = |value: &Poly| self.symbols.low(value).is_some_and(|low| low >= 0);
            let [below, by] = [lhs, rhs].map(Poly::negated);
            let are_below = !is_natural(lhs) && !is_natural(rhs);
            (are_below && is_natural(&below) && is_natural(&by)).then_some((below, by))
        };
        if let Some((other, by)) = self.mirrored(lhs, rhs).or_else(both) {
            let rest = self.remainder(&other, &by, at)?;
            return Some(if other == *lhs { rest } else { rest.negated() });
        }
        if rhs.as_constant().is_some_and(|by| multiple(lhs, by).is_some()) {
            return Some(Poly::default());
        }
        if let Some(rest) = self.floored_sum(lhs, rhs) {
            return Some(rest);
        }
        if let Some(rest) = self.left_of_rest(lhs, rhs, at) {
            return Some(rest);
        }
        let quotient = self.quotient(lhs, rhs, at)?;
        let rest = lhs.sub(&quotient.mul(rhs));
        let is_positive = self.symbols.low(rhs).is_some_and(|low| low > 0)
            || self.is_never_here(rhs, Formula::le(rhs, &Poly::default()));
        if is_positive {
            // What cannot be may be said of any divisor, of 0 too.
            if let Some(divisor @ 1..) = rhs.as_constant()
                && self.is_natural(lhs)
            {
                let bits = (1 << (128 - (divisor - 1).leading_zeros())) - 1;
                self.bits.insert(rest.clone(), bits);
            }
            return Some(rest);
        }
        let low = self.is_natural(lhs).then_some(0);
        Some(self.function(Function::Remainder, lhs, rhs, low, at, |r| {
            let positive = Formula::lt(&Poly::default(), rhs).and(Formula::eq(r, &rest));
            let by_zero = Formula::All(vec![Formula::Zero(rhs.clone()), Formula::Zero(r.clone())]);
            let negative = Formula::lt(rhs, &Poly::default()).and(Formula::eq(r, &rest));
            Formula::Any(vec![positive, by_zero, negative])
        }))
    }

    /// `(a % n + b) % n` is `(a + b) % n`, rounded down, where neither is below 0: what has been
    /// taken off is a multiple of `n`. Of a number `n` more is known of each digit.
    fn left_of_rest(&mut self, lhs: &Poly, rhs: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let whole = self.without_past_turns(lhs, rhs);
        let is_rest = rhs.as_constant().is_none() && whole != *lhs && !whole.is_lost();
        if !is_rest || !self.is_natural_here(lhs) {
            return None;
        }
        let turns = self.floor(&whole, rhs, at)?;
        let rest = whole.sub(&turns.mul(rhs));
        (!rest.is_lost()).then_some(rest)
    }

    /// The number of `rhs` by which a natural is divided first, since digits of it come off
    /// by that: `(64*b + t) / (4*g)` is `(16*b + t/4) / g`.
    fn number_above(&self, lhs: &Poly, rhs: &Poly) -> Option<i128> {
        let number = gcd(rhs.content(), rhs.constant_term());
        let is_product = number > 1 && rhs.as_constant().is_none();
        let comes_apart = || self.is_natural(lhs) && self.digits_above(lhs, number).is_some();
        (is_product && comes_apart()).then_some(number)
    }

    /// Of a natural that is made of digits, `whole` and `rest / times`, which
    /// together are the quotient: `(64*z + 8*y + x) / 16` of `x` below 8 is
    /// `4*z + y / 2`. `None` where no digit comes off.
    fn digits_above(&self, lhs: &Poly, divisor: i128) -> Option<(Poly, Poly, i128)> {
        if divisor < 2 {
            return None;
        }
        let (whole, rest) = split(lhs, divisor);
        if !self.is_natural(&rest) {
            return None;
        }
        let mut weights: Vec<i128> =
            rest.terms().iter().map(|(_, factor)| gcd(*factor, divisor)).collect();
        weights.sort_unstable();
        let light = weights.into_iter().rev().filter(|weight| *weight > 1).find_map(|weight| {
            let (heavy, light) = split(&rest, weight);
            let is_digit = self.symbols.low(&light)? >= 0 && self.high(&light)? < weight;
            is_digit.then(|| (heavy, divisor / weight))
        });
        match light {
            Some((heavy, times)) => Some((whole, heavy, times)),
            None if whole == Poly::default() || self.is_share(&rest) => None,
            None => Some((whole, rest, divisor)),
        }
    }

    /// Whether there is a product in what is divided, other than by a power, as `(64*b + t) * n`
    /// has one: shares grow with it, and come apart no better for a digit.
    fn is_share(&self, value: &Poly) -> bool {
        value.terms().iter().any(|(product, _)| {
            let is_power = |unknown: &Unknown| self.is_power(&Poly::unknown(*unknown));
            product.len() > 1 && !product.iter().any(is_power)
        })
    }

    /// The dividend and the divisor of a value that is a quotient of naturals.
    fn as_quotient(&self, value: &Poly) -> Option<(Poly, Poly)> {
        let [(product, 1)] = value.terms() else { return None };
        let [unknown] = product.as_slice() else { return None };
        let (function, lhs, rhs) = self.function_of(*unknown)?;
        let natural = self.is_natural(lhs) && self.symbols.low(rhs).is_some_and(|low| low >= 0);
        (*function == Function::Quotient && natural).then(|| (lhs.clone(), rhs.clone()))
    }

    /// What `lhs / rhs`, so many times, is at most, where `lhs` is one symbol, or the number
    /// of a work-item or a block, whose known bound is a multiple of `rhs`, but for its
    /// factor: `t / W` of `t` in `H * W` is below `H`, and `8 * (t / (8 * W))` is.
    fn most(&self, lhs: &Poly, rhs: &Poly) -> Option<(Poly, i128)> {
        let bounds = self.largest(lhs)?;
        // unknown <= bound, so the multiple that it is below is one more.
        let whole = |divisor: &Poly| {
            let of = |bound: &Poly| multiple_of(&bound.plus(1), divisor);
            bounds.iter().find_map(of).map(|times| times.plus(-1))
        };
        let [(product, factor)] = rhs.terms() else { return None };
        whole(rhs)
            .map(|most| (most, 1))
            .or_else(|| Some((whole(&Poly::product(*product))?, *factor)))
    }

    /// What a symbol, or the number of a work-item in its block, or of a block in its grid, is
    /// at most.
    fn largest(&self, value: &Poly) -> Option<Vec<Poly>> {
        let mut numbers = self.flat.iter().chain(&self.number_of_block);
        if let Some((_, count)) = numbers.find(|(number, _)| number == value) {
            return Some(vec![count.plus(-1)]);
        }
        let [(product, 1)] = value.terms() else { return None };
        let [unknown] = product.as_slice() else { return None };
        let symbol = self.symbols.get(*unknown)?;
        let mut bounds = Vec::new();
        upper_bounds(&symbol.facts, *unknown, &mut bounds);
        Some(bounds)
    }
}

/// How often a product of unknowns is in the parts of a sum that are multiples of it, and the
/// other parts; `None` where there are not both.
fn multiples_apart(sum: &Poly, by: &Poly) -> Option<(Poly, Poly)> {
    let [(divisor, 1)] = by.terms() else { return None };
    let (mut whole, mut rest) = (Poly::default(), Poly::default());
    for (product, factor) in sum.terms() {
        match product.without(divisor) {
            Some(times) => whole = whole.add(&Poly::product(times).scaled(*factor)),
            None => rest = rest.add(&Poly::product(*product).scaled(*factor)),
        }
    }
    let are_both = [&whole, &rest].into_iter().all(|part| !part.terms().is_empty());
    are_both.then_some((whole, rest))
}

/// `poly` as `weight` times the first, and the rest, which has no multiple of it; the
/// weight is positive.
fn split(poly: &Poly, weight: i128) -> (Poly, Poly) {
    let (mut heavy, mut light) = (Poly::default(), Poly::default());
    for (product, factor) in poly.terms() {
        let term = Poly::product(*product);
        let is_number = product.is_empty();
        if is_number || factor % weight == 0 {
            heavy = heavy.add(&term.scaled(factor.div_euclid(weight)));
        }
        if is_number || factor % weight != 0 {
            let rest = if is_number { factor.rem_euclid(weight) } else { *factor };
            light = light.add(&term.scaled(rest));
        }
    }
    (heavy, light)
}

/// That `q` is the quotient and `rest` the remainder, where `rhs` is positive.
fn divided(q: &Poly, lhs: &Poly, rest: &Poly, rhs: &Poly, natural: bool) -> Formula {
    let rounded_down = Formula::within(rest, rhs);
    if natural {
        return rounded_down.and(Formula::AtLeast(q.clone()));
    }
    let below = Formula::All(vec![
        Formula::lt(lhs, &Poly::default()),
        Formula::within(&rest.negated(), rhs),
        Formula::le(q, &Poly::default()),
    ]);
    let above = Formula::All(vec![
        Formula::AtLeast(lhs.clone()),
        rounded_down,
        Formula::AtLeast(q.clone()),
    ]);
    Formula::Any(vec![above, below])
}

/// What `facts` say that `unknown` is at most.
fn upper_bounds(facts: &Formula, unknown: Unknown, out: &mut Vec<Poly>) {
    match facts {
        Formula::AtLeast(poly) => {
            let value = Poly::unknown(unknown);
            let bound = poly.add(&value);
            if !bound.is_lost() && !bound.mentions(unknown) {
                out.push(bound);
            }
        }
        Formula::All(parts) => parts.iter().for_each(|part| upper_bounds(part, unknown, out)),
        Formula::True | Formula::False | Formula::Unknown | Formula::Zero(_) | Formula::Any(_) => {}
    }
}

/// `poly / divisor`, where the divisor is one product and divides every term.
fn multiple_of(poly: &Poly, divisor: &Poly) -> Option<Poly> {
    let [(product, factor)] = divisor.terms() else { return None };
    let mut out = Poly::default();
    for (term, times) in poly.terms() {
        if times % factor != 0 {
            return None;
        }
        out = out.add(&Poly::product(term.without(product)?).scaled(times / factor));
    }
    (!out.is_lost()).then_some(out)
}
