//! Integers of a type: their ranges, conversions, and how they wrap.

use std::collections::BTreeSet;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing};
use super::super::walk::{Value, Walk};
use super::value::Function;
use crate::check::Beside;
use crate::dtype::DType;
use crate::kernel::{ElemType, ExprId, Type, VarId};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// The longest factor, below 0, that takes the place of one as long as a range.
const MAX_SHORT: i128 = 1 << 8;

/// Terms of a value of data that is asked whether it can wrap.
const MAX_DATA_TERMS: usize = 4;

/// The same of remainders in it, and of choices between numbers, beside those.
const MAX_DIGITS: usize = 8;

/// Functions inside each other of which a value may be made that can wrap. Hashes go
/// deeper, and then nothing is to be seen of them.
const MAX_DEPTH: u32 = 6;

impl Walk<'_> {
    /// The value as an `as` conversion gives it.
    pub(in super::super) fn converted(
        &mut self,
        value: Value,
        (from, to): (Type, Type),
        span: SpanId,
    ) -> Option<Value> {
        match value {
            Value::Int(poly) if is_integer(to) && is_integer(from) => match (from, to) {
                (Type::Scalar(_), Type::Index) => self.as_index(poly, from, span),
                // All that an index can be.
                (Type::Index, Type::Scalar(ElemType::Concrete(DType::I64))) => {
                    Some(Value::Int(poly))
                }
                (Type::Index, Type::Scalar(ElemType::Concrete(DType::U64)))
                    if self.symbols.low(&poly).is_some_and(|low| low >= 0) =>
                {
                    self.note_bounded(&poly, to);
                    Some(Value::Int(poly))
                }
                (Type::Index, _) if self.is_of_launch(&poly) => self.narrowed(poly, to, span),
                (Type::Index | Type::Scalar(_), _) => self.wrapped(poly, to, span),
            },
            Value::Cond(_) | Value::Other if from == Type::BOOL && is_integer(to) => {
                let cond = match value {
                    Value::Cond(cond) => cond,
                    Value::Int(_) | Value::Other => Cond::unknown(),
                };
                let [yes, no] = [1, 0].map(|value| Value::Int(Poly::constant(value)));
                self.either(&cond, yes, no, false)
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => None,
        }
    }

    /// An integer as an index: as if it were of `i64`. What is larger wraps, and what
    /// has wrapped below 0 in 64 bits comes back: `i - 1` of `i` 0 is -1.
    ///
    /// Sound: wrapping twice modulo 2^64 is wrapping once, so turns of 2^64 may go first;
    /// what is left is in the range, as is proved, or wraps by turns of its own.
    fn as_index(&mut self, value: Poly, from: Type, span: SpanId) -> Option<Value> {
        let (_, max) = range_of(from)?;
        if max <= i128::from(i64::MAX) {
            return Some(Value::Int(value));
        }
        let value = self.without_turns(&value, max + 1);
        self.wrapped(value, Type::Scalar(ElemType::Concrete(DType::I64)), span)
    }

    /// Notes of an unsigned number of 64 bits that was an index, or that a launch bounds
    /// ([`crate::check::Exact`]), that it is no more than an index may be. Not in loops: there
    /// its bound is one of the iterations that are run, and the number of an iteration stands
    /// for that of the end too.
    pub(in super::super) fn note_bounded(&mut self, value: &Poly, ty: Type) {
        let is_outside = |unknown: Unknown| {
            self.symbols.get(unknown).is_some_and(|symbol| symbol.loops.is_empty())
        };
        if ty != Type::Scalar(ElemType::Concrete(DType::U64))
            || value.is_lost()
            || !value.is_linear()
            || !value.unknowns().all(is_outside)
        {
            return;
        }
        if let Some(unknown) = value.unknowns().max() {
            let most = Poly::constant(i64::MAX.into());
            self.symbols.add_facts(unknown, Formula::le(value, &most));
        }
    }

    /// Whether a value is one for a launch, and no number.
    pub(in super::super) fn is_of_launch(&self, value: &Poly) -> bool {
        let is_own = |unknown: Unknown| {
            self.symbols.get(unknown).is_some_and(|symbol| symbol.sharing == Sharing::Launch)
        };
        value.as_constant().is_none() && !value.is_lost() && value.unknowns().all(is_own)
    }

    /// An index of the launch, such as an extent, in the range of a type: what it is where
    /// that has it, else any.
    fn narrowed(&mut self, value: Poly, ty: Type, span: SpanId) -> Option<Value> {
        let (min, max) = range_of(ty)?;
        if self.is_between(&value, min, max) {
            return Some(Value::Int(value));
        }
        let [min, max] = [min, max].map(Poly::constant);
        let low = min.as_constant();
        let at = (span, BinaryOp::Add);
        let range = (min.clone(), max.clone());
        let kept = self.function(Function::Narrowed, &value, &max, low, at, |kept| {
            let (min, max) = range;
            let size = max.sub(&min).plus(1);
            let once = Formula::eq(kept, &value.sub(&size));
            let far = Formula::lt(&max.add(&size), &value);
            let above = Formula::lt(&max, &value).and(once.or(far));
            let beyond = Formula::lt(&value, &min).or(above);
            let inside = Formula::le(&min, kept).and(Formula::le(kept, &max));
            inside.and(Formula::eq(kept, &value).or(beyond))
        });
        Some(Value::Int(kept))
    }

    /// Whether a value is never out of a range.
    fn is_between(&self, value: &Poly, min: i128, max: i128) -> bool {
        let of_data = |symbol: Unknown| {
            self.symbols.get(symbol).is_none_or(|symbol| symbol.obstacle.is_some())
        };
        let plain = self.without_digits(value);
        if self.has_free_data(&plain, (min, max)) {
            return false;
        }
        // Of data it is seldom seen, and longer to see.
        let flags = plain.terms().iter().filter(|(product, _)| self.is_flag(product)).count();
        let is_short = flags <= MAX_DIGITS && plain.terms().len() - flags <= MAX_DATA_TERMS;
        let beyond =
            Formula::lt(value, &Poly::constant(min)).or(Formula::lt(&Poly::constant(max), value));
        let beyond = self.rooms_of_sums(value).into_iter().fold(beyond, Formula::and);
        let is_own = self.is_narrow && !value.unknowns().any(of_data);
        (is_short || is_own)
            && (self.is_never(&beyond)
                || is_short && self.is_never_here(value, beyond.clone())
                || is_short && self.is_never_by_more(value, beyond))
            || is_own
                && self
                    .at_ends(value)
                    .is_some_and(|ends| ends.iter().all(|end| self.is_between(end, min, max)))
    }

    /// Whether a product is a choice between two numbers.
    fn is_flag(&self, product: &Monomial) -> bool {
        let [unknown] = product.as_slice() else { return false };
        let are_numbers = |(_, then, otherwise): &(Cond, Poly, Poly)| {
            then.as_constant().and(otherwise.as_constant()).is_some()
        };
        self.choices.get(unknown).is_some_and(are_numbers)
    }

    /// A value without what it has of remainders, `x - 2 * (x / 2)`: whose range is plain, however
    /// many there are.
    fn without_digits(&self, value: &Poly) -> Poly {
        self.apart_from_digits(value).0
    }

    /// The same, and how much less it is at most with the remainders, of what is not negative.
    pub(in super::super) fn apart_from_digits(&self, value: &Poly) -> (Poly, i128) {
        let (mut value, mut less) = (value.clone(), 0_i128);
        for _ in 0..MAX_DIGITS {
            let Some((rest, taken)) = self.without_digit(&value) else { break };
            (value, less) = (rest, less.saturating_add(taken.max(0)));
        }
        (value, less)
    }

    /// A value without a remainder that it has, and what is taken off where that is the largest.
    fn without_digit(&self, value: &Poly) -> Option<(Poly, i128)> {
        value.terms().iter().find_map(|(product, factor)| {
            let [quotient] = product.as_slice() else { return None };
            let (function, of, by) = self.function_of(*quotient)?;
            if !matches!(function, Function::Quotient | Function::Floor) {
                return None;
            }
            // What is left of a number, or of one that has been divided already.
            let whole = by.as_constant().map(|by| (of.clone(), by));
            let parts = value.terms().iter().filter_map(|(product, _)| {
                let [part] = product.as_slice() else { return None };
                let (_, of_part, by_part) =
                    self.function_of(*part).filter(|(other, ..)| other == function)?;
                let whole = |of: &Poly| of.as_constant().unwrap_or_else(|| of.content());
                let times = whole(by).checked_div(whole(by_part))?;
                (of_part == of && by_part.scaled(times) == *by)
                    .then(|| (Poly::unknown(*part), times))
            });
            whole.into_iter().chain(parts).find_map(|(number, times)| {
                let is_divided = times > 1 && factor % times == 0;
                let digit = number.sub(&Poly::unknown(*quotient).scaled(times));
                let by = factor.checked_div(times)?;
                let rest = || value.add(&digit.scaled(by));
                let is_less = |rest: &Poly| rest.terms().len() + 2 <= value.terms().len();
                let rest = is_divided.then(rest).filter(is_less)?;
                Some((rest, by.saturating_mul(times - 1)))
            })
        })
    }

    /// A value at both ends of a counter that it multiplies by what is no number: all
    /// others lie between.
    fn at_ends(&self, value: &Poly) -> Option<[Poly; 2]> {
        let products = value.terms().iter().filter(|(product, _)| product.len() > 1);
        let counter = products.flat_map(|(product, _)| product.iter()).find_map(|unknown| {
            let sharing = &self.symbols.get(*unknown)?.sharing;
            let factor = value.cofactor(*unknown);
            if matches!(sharing, Sharing::Launch | Sharing::Block) || factor.mentions(*unknown) {
                return None;
            }
            let high = self.high(&Poly::unknown(*unknown))?;
            let low = self.high(&Poly::unknown(*unknown).negated())?.checked_neg()?;
            Some((*unknown, [low, high]))
        });
        let (counter, ends) = counter?;
        let at =
            |end: i128| value.replace(&|other| (other == counter).then(|| Poly::constant(end)));
        let ends = ends.map(at);
        ends.iter().all(|end| !end.is_lost()).then_some(ends)
    }

    /// Whether data that may be any number of the range is part of a sum, which then
    /// leaves the range.
    fn has_free_data(&self, value: &Poly, (min, max): (i128, i128)) -> bool {
        let is_free = |unknown: Unknown| {
            let symbol = self.symbols.get(unknown);
            let is_data = symbol.is_some_and(|symbol| {
                symbol.low == Some(min) && matches!(symbol.obstacle, Some((_, Obstacle::Load)))
            });
            let is_known = self.slots.contains_key(&unknown)
                || self.dealt.contains_key(&unknown)
                || self.is_sum_of_counted(unknown);
            is_data
                && !is_known
                && self.high(&Poly::unknown(unknown)) == Some(max)
                && !self.is_spoken_of(unknown)
        };
        value.terms().len() > 1
            && value.terms().iter().any(|(product, factor)| {
                let ([unknown], 1 | -1) = (product.as_slice(), *factor) else { return false };
                value.unknowns().filter(|other| other == unknown).count() == 1 && is_free(*unknown)
            })
    }

    /// Whether what holds where the walk is says something of an unknown.
    fn is_spoken_of(&self, unknown: Unknown) -> bool {
        let mut open = Vec::new();
        self.guards.iter().for_each(|guard| guard.collect_unknowns(&mut open));
        let mut seen = BTreeSet::new();
        while let Some(other) = open.pop() {
            if other == unknown {
                return true;
            }
            let Some(symbol) = self.symbols.get(other).filter(|_| seen.insert(other)) else {
                continue;
            };
            symbol.facts.collect_unknowns(&mut open);
            if let Sharing::Function(of) = &symbol.sharing {
                open.extend(of);
            }
        }
        false
    }

    /// Whether a condition on a value never holds where the walk is.
    pub(in super::super) fn is_never_here(&self, value: &Poly, condition: Formula) -> bool {
        let guards = self.guards_of(value);
        let is_known = !guards.is_empty() || self.is_vouched && value.as_constant().is_none();
        is_known && self.is_never(&Formula::All(guards).and(condition))
    }

    /// The same, with what else holds of the unknowns that this speaks of: by the guards, and
    /// because no launch wraps other numbers.
    fn is_never_by_more(&self, value: &Poly, condition: Formula) -> bool {
        let mut known = self.guards_of(value);
        let mut spoken = Vec::new();
        known.iter().for_each(|guard| guard.collect_unknowns(&mut spoken));
        let more = self.guards.iter().filter(|guard| {
            let mut unknowns = Vec::new();
            guard.collect_unknowns(&mut unknowns);
            !known.contains(guard) && unknowns.iter().any(|unknown| spoken.contains(unknown))
        });
        let more: Vec<Formula> = more.cloned().collect();
        let n_known = known.len();
        known.extend(more);
        known.push(condition);
        let facts = self.facts_of_unwrapped(&known);
        known.extend(facts);
        known.len() > n_known + 1 && self.is_never(&Formula::All(known))
    }

    /// Whether a value is never negative where the walk is.
    pub(in super::super) fn is_natural_here(&self, value: &Poly) -> bool {
        let below = Formula::lt(value, &Poly::default());
        !value.is_lost() && (self.is_natural(value) || self.is_never_here(value, below))
    }

    /// What holds where the walk is that speaks of a value.
    pub(in super::super) fn guards_of(&self, value: &Poly) -> Vec<Formula> {
        let speaks_of_it = |guard: &&Formula| {
            let mut unknowns = Vec::new();
            guard.collect_unknowns(&mut unknowns);
            unknowns.iter().any(|unknown| self.decides(*unknown, value))
        };
        self.guards.iter().filter(speaks_of_it).cloned().collect()
    }

    /// Whether a value has an unknown, or one that is a function of it.
    fn decides(&self, unknown: Unknown, value: &Poly) -> bool {
        value.unknowns().any(|other| {
            let symbol = self.symbols.get(other).map(|symbol| &symbol.sharing);
            other == unknown
                || matches!(symbol, Some(Sharing::Function(of)) if of.contains(&unknown))
        })
    }

    /// How often, at least and at most, a value leaves a range of this start and size.
    fn turns(&self, value: &Poly, (min, size): (i128, i128)) -> Option<(i128, i128)> {
        let (low, high) = (self.high(&value.negated())?.checked_neg()?, self.high(value)?);
        let turn = |value: i128| Some(value.checked_sub(min)?.div_euclid(size));
        Some((turn(low)?, turn(high)?))
    }

    /// The exact integer that was brought into the range of `ty`, of 32 bits at
    /// least, to give `value`; `None` where that was not needed.
    pub(in super::super) fn before_wrapping(&self, value: &Poly, ty: Type) -> Option<Poly> {
        let (min, max) = range_of(ty)?;
        let size = max - min + 1;
        if value.is_lost() || size < 1 << 32 {
            return None;
        }
        value.terms().iter().find_map(|(product, factor)| {
            let [turns] = product.as_slice() else { return None };
            let exact = value.sub(&Poly::unknown(*turns).scaled(*factor));
            let is_own = |function| {
                let key = (function, exact.clone(), Poly::constant(size));
                self.functions.get(&key) == Some(turns)
            };
            (is_own(Function::SignedTurns) || is_own(Function::UnsignedTurns)).then_some(exact)
        })
    }

    /// Whether an unknown says how often a value has left the range of its type.
    pub(in super::super) fn is_turns(&self, unknown: Unknown) -> bool {
        let function = self.function_of(unknown);
        matches!(function, Some((Function::SignedTurns | Function::UnsignedTurns, ..)))
    }

    /// `value` without the turns of a range of this size, by which it may be off.
    fn without_turns(&self, value: &Poly, size: i128) -> Poly {
        value.terms().iter().fold(value.clone(), |rest, (product, factor)| {
            if factor % size == 0 && product.iter().any(|symbol| self.is_turns(*symbol)) {
                rest.sub(&Poly::product(*product).scaled(*factor))
            } else {
                rest
            }
        })
    }

    /// Whether no launch wraps a number; or none is taken to.
    pub(in super::super) fn is_exact(&self, expr: ExprId) -> bool {
        self.exact.contains(expr) || self.never_wraps(self.kernel.exprs[expr].ty)
    }

    /// Whether no launch wraps a number made of these, as long as something holds of its parts
    /// that does here.
    pub(in super::super) fn is_exact_beside<const N: usize>(
        &mut self,
        expr: ExprId,
        parts: [&Value; N],
    ) -> bool {
        let Some(beside) = self.exact.beside(expr).cloned() else { return false };
        let is_whole = |part: &&Value| match part {
            Value::Int(value) => !value.unknowns().any(|unknown| self.is_turns(unknown)),
            Value::Cond(_) | Value::Other => false,
        };
        parts.iter().all(is_whole) && beside.into_iter().all(|of| self.holds_beside(of))
    }

    fn holds_beside(&mut self, beside: Beside) -> bool {
        match beside {
            Beside::Natural(of) => self.natural.contains(&of),
            Beside::Below(var, limit) => {
                let (Value::Int(value), Value::Int(limit)) = (self.value(var), self.value(limit))
                else {
                    return false;
                };
                self.is_natural_here(&value)
                    && self.is_never_here(&value, Formula::lt(&limit, &value))
            }
        }
    }

    /// Notes whether what is `known` of a difference, or of what is converted, is what it is
    /// without wrapping.
    pub(in super::super) fn note_natural(
        &mut self,
        expr: ExprId,
        exact: &Value,
        known: Option<&Value>,
    ) {
        let is_natural = match (exact, known) {
            (Value::Int(exact), Some(Value::Int(known))) => !known.is_lost() && known == exact,
            _ => false,
        };
        match is_natural {
            true => self.natural.insert(expr),
            false => self.natural.remove(&expr),
        };
    }

    /// Whether no launch wraps a variable; or none is taken to.
    pub(in super::super) fn keeps(&self, var: VarId) -> bool {
        self.exact.keeps(var) || self.never_wraps(self.type_of(var))
    }

    fn never_wraps(&self, ty: Type) -> bool {
        let is_long = |(min, max): (i128, i128)| max - min >= u32::MAX.into();
        self.case.never_wraps && range_of(ty).is_some_and(is_long)
    }

    /// The difference of two values of a type. Of a type with a sign that of two which are not
    /// below 0 here is in its range.
    pub(in super::super) fn subtracted(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        ty: Type,
        span: SpanId,
    ) -> Option<Value> {
        let exact = lhs.sub(rhs);
        // `n - 1 - x % n`: no more than `n - 1`, and what is known of the rest says the other.
        let is_unsigned = range_of(ty).is_some_and(|(min, _)| min == 0);
        if is_unsigned && self.is_told_natural(&exact) {
            return Some(Value::Int(exact));
        }
        let wrapped = self.wrapped(exact.clone(), ty, span);
        let is_kept = matches!(&wrapped, Some(Value::Int(value)) if *value == exact);
        let has_sign = range_of(ty).is_some_and(|(min, _)| min < 0);
        let is_known = !is_kept
            && has_sign
            && !exact.is_lost()
            && self.is_natural_here(lhs)
            && self.is_natural_here(rhs);
        if is_known { Some(Value::Int(exact)) } else { wrapped }
    }

    /// Whether what is known of an unknown says in so many words that a value is not negative.
    fn is_told_natural(&self, value: &Poly) -> bool {
        let is_told = |unknown: Unknown| {
            let symbol = self.symbols.get(unknown);
            symbol.is_some_and(|symbol| symbol.facts.states(&Formula::AtLeast(value.clone())))
        };
        !value.is_lost() && value.unknowns().any(is_told)
    }

    /// What is left of a number without a sign that no launch wraps, less one that is not below
    /// 0, where it is not seen to stay in the range as it is: it does, unless it is below 0.
    pub(in super::super) fn less_than_exact(
        &self,
        (lhs, rhs): &(Value, Value),
        known: Option<&Value>,
        ty: Type,
    ) -> Option<Poly> {
        let (Value::Int(lhs), Value::Int(rhs), Some(Value::Int(known))) = (lhs, rhs, known) else {
            return None;
        };
        let is_unsigned = range_of(ty).is_some_and(|(min, _)| min == 0);
        let value = self.before_wrapping(known, ty).filter(|_| is_unsigned)?;
        (value == lhs.sub(rhs) && self.is_natural_here(rhs) && self.is_natural_here(&value))
            .then_some(value)
    }

    /// An exact integer brought into the range of its type: `value - 2^w * q`.
    pub(in super::super) fn wrapped(
        &mut self,
        value: Poly,
        ty: Type,
        span: SpanId,
    ) -> Option<Value> {
        if ty == Type::Index {
            return Some(Value::Int(value));
        }
        let (min, max) = range_of(ty)?;
        let size = max - min + 1;
        if let Some(constant) = value.as_constant() {
            let wrapped = (constant.checked_sub(min)?).rem_euclid(size) + min;
            return Some(Value::Int(Poly::constant(wrapped)));
        }
        let is_deep = |unknown: Unknown| self.symbols.depth(unknown) > MAX_DEPTH;
        if value.is_lost() || value.unknowns().any(is_deep) {
            return None;
        }
        // What has wrapped on the way is brought into the range once, if it is not there already.
        let straight = self.without_turns(&value, size);
        if self.is_between(&straight, min, max) {
            return Some(Value::Int(straight));
        }
        if straight != value && self.is_between(&value, min, max) {
            return Some(Value::Int(value));
        }
        let value = with_short_factors(&straight, size);
        let turns = self.turns(&value, (min, size));
        let of_launch = value.unknowns().all(|unknown| {
            self.symbols.get(unknown).is_some_and(|symbol| symbol.sharing == Sharing::Launch)
        });
        if let Some((first, last)) = turns
            && first == last
        {
            return Some(Value::Int(value.plus(-first.checked_mul(size)?)));
        }
        let at = (span, BinaryOp::Add);
        let (min, size) = (Poly::constant(min), Poly::constant(size));
        let function =
            if min == Poly::default() { Function::UnsignedTurns } else { Function::SignedTurns };
        let turns = self.function(function, &value, &size, None, at, |q| {
            let wrapped = Formula::within(&value.sub(&q.mul(&size)).sub(&min), &size);
            match turns {
                Some((first, last)) if first + 1 == last && of_launch => {
                    let is = |turns| Formula::eq(q, &Poly::constant(turns));
                    wrapped.and(is(first).or(is(last)))
                }
                Some(_) | None => wrapped,
            }
        });
        Some(Value::Int(value.sub(&turns.mul(&size))))
    }
}

/// `value`, or one that a range of this size does not tell from it: `-p` for
/// `0xffff_ffff * p` of 32 bits.
fn with_short_factors(value: &Poly, size: i128) -> Poly {
    value.terms().iter().fold(value.clone(), |sum, (product, factor)| {
        let rest = factor.rem_euclid(size) - size;
        let is_shorter = !product.is_empty() && *factor > 0 && -rest <= MAX_SHORT;
        if is_shorter { sum.add(&Poly::product(*product).scaled(rest - factor)) } else { sum }
    })
}

/// Whether values of a type are integers whose range is known, or indices.
pub(in super::super) fn is_integer(ty: Type) -> bool {
    ty == Type::Index || range_of(ty).is_some()
}

/// The least and the greatest value of an integer type.
pub(in super::super) fn range_of(ty: Type) -> Option<(i128, i128)> {
    ty.integer_range()
}
