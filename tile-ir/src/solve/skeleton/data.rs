//! Made-up values: what loads give, and constants.
//!
//! A load gives a value that depends on nothing but the element, the interval
//! between barriers (for arrays that the kernel writes) and a seed: so every
//! worker that reads one element decides alike. Values come from those that the
//! kernel compares with and their neighbours, so that its conditions go both ways.

use std::collections::{BTreeMap, BTreeSet};

use super::hash::Hash;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{ArrayRef, ExprKind, Kernel, Literal};
use crate::op::{BinaryOp, CompareOp, NamedConst};
use crate::semantics;
use crate::value::ScalarValue;

/// What scalars are at last: as lengths they are those of many work-items.
const MANY: i64 = 64;

/// Largest literal that scalars are made from: a loop to a greater one would
/// only cost time.
const MAX_LITERAL: i64 = 1 << 12;

/// From this seed on all elements have one value.
pub(super) const FIRST_EQUAL_SEED: u32 = 1 << 16;

/// Most fractions of the text that values are made from.
const MAX_FRACTIONS: usize = 8;

/// Seeds that give elements values of which one has nothing to do with the next.
const MIXED_SEEDS: u32 = 6;

/// From this seed on there is nothing else.
pub(super) const FIRST_FREE_SEED: u32 = 64;

/// Largest literal of which a value is put above.
const MAX_LARGE: i64 = 256;

/// Most numbers that are tried of which several remainders are taken.
const MAX_REMAINDERS: i64 = 128;

/// A number, as comparisons ask for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

impl Number {
    /// As an integer, if it is one of no more than 64 bits.
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e18 => Some(value as i128),
            Self::Float(_) => None,
        }
    }

    pub(super) fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Whether both are one number, or none.
    pub(super) fn is_same(self, other: Self) -> bool {
        self == other || (self.real().is_nan() && other.real().is_nan())
    }

    /// How it compares with another one.
    pub(super) fn compares(self, op: CompareOp, other: Self) -> bool {
        if let (Self::Int(one), Self::Int(other)) = (self, other) {
            return op.holds(one, other);
        }
        op.holds(self.real(), other.real())
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::Int(value) => Self::Int(value.saturating_neg()),
            Self::Float(value) => Self::Float(-value),
        }
    }

    /// It, and a number next to it on either side.
    pub(super) fn around(self) -> Vec<Self> {
        match self {
            Self::Int(value) => {
                vec![Self::Int(value.saturating_sub(1)), self, Self::Int(value.saturating_add(1))]
            }
            Self::Float(value) => {
                let room = (value.abs() / 64.0).max(1.0 / 64.0);
                vec![Self::Float(value - room), self, Self::Float(value + room)]
            }
        }
    }

    /// The value at a type; of what the type does not have, what it is converted to.
    pub(super) fn at(self, dtype: DType) -> ScalarValue {
        match self.whole() {
            Some(value) if !dtype.is_float() => of_integer(value as i64, dtype),
            _ => of_float(self.real(), dtype),
        }
    }
}

/// An element, at a time.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// The array.
    pub(super) array: ArrayRef,
    /// One index per axis.
    pub(super) indices: Vec<i64>,
    /// Barriers before it; 0 for an array that the kernel does not write.
    pub(super) interval: u32,
}

/// Values that loads give.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    values: Vec<i64>,
    /// Those of scalars among them.
    scalars: Vec<i64>,
    /// The same at floating-point types, and what lies between.
    floats: Vec<f64>,
    /// One above the literals of the kernel: what ends its loops later.
    large: i64,
    /// The names of tensors and of tiles by number, which make their values differ.
    names: [Vec<String>; 2],
    /// What else is asked of elements, by array.
    asked: BTreeMap<ArrayRef, Vec<Number>>,
}

impl Pool {
    /// The values that tell the conditions of `kernel` apart.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut values = BTreeSet::from([0, 1, 2, 3]);
        for expr in kernel.exprs.values() {
            let ExprKind::Compare { lhs, rhs, .. } = expr.kind else { continue };
            for side in [lhs, rhs] {
                let ExprKind::Literal(literal) = kernel.exprs[side].kind else { continue };
                let literal = match literal {
                    Literal::Int(value) => i64::try_from(value).ok(),
                    Literal::Float(value) => Some(value as i64),
                    Literal::Bool(_) | Literal::Named(_) => None,
                };
                // No type has more of which a neighbour is one of its numbers too.
                if let Some(value) = literal.filter(|value| value.unsigned_abs() < 1 << 62) {
                    values.extend([value - 1, value, value + 1]);
                }
            }
        }
        let literals = kernel.exprs.values().filter_map(|expr| {
            let ExprKind::Literal(Literal::Int(value)) = expr.kind else { return None };
            i64::try_from(value).ok()
        });
        let large = literals.filter(|value| (0..=MAX_LARGE).contains(value)).max().unwrap_or(0) + 1;
        let tensors = kernel.tensors.ids().map(|id| id.to_string()).collect();
        let tiles = kernel.tiles.ids().map(|id| id.to_string()).collect();
        let values: Vec<i64> = values.into_iter().collect();
        let is_small = |value: &i64| value.unsigned_abs() <= MAX_LITERAL as u64 + 1;
        let scalars = values.iter().copied().filter(is_small).collect();
        let floats = floats(kernel, &values, large);
        Self { values, scalars, floats, large, names: [tensors, tiles], asked: BTreeMap::new() }
    }

    /// The same values, but of these arrays most often one of those that are asked for.
    pub(super) fn asking(self, asked: BTreeMap<ArrayRef, Vec<Number>>) -> Self {
        Self { asked, ..self }
    }

    /// The same values, and all numbers below the product of the different numbers of which
    /// the kernel takes remainders, if that are several: of one number several remainders are
    /// some numbers together at one of these (the Chinese remainder theorem).
    pub(super) fn with_remainders(self, kernel: &Kernel) -> Option<Self> {
        let by = kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => match kernel.exprs[rhs].kind {
                ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
                _ => None,
            },
            _ => None,
        });
        let by: BTreeSet<i64> = by.filter(|value| *value > 1).collect();
        let all = by.iter().try_fold(1_i64, |all, value| all.checked_mul(*value))?;
        (by.len() > 1 && all <= MAX_REMAINDERS).then(|| {
            let values: BTreeSet<i64> = self.values.iter().copied().chain(0..all).collect();
            let values: Vec<i64> = values.into_iter().collect();
            let floats = floats(kernel, &values, self.large);
            Self { values, floats, ..self }
        })
    }

    /// The value of `element`.
    pub(super) fn value(&self, element: &Element, dtype: DType, seed: u32) -> ScalarValue {
        let (kind, number) = match element.array {
            ArrayRef::Tensor(id) => (0, id.index()),
            ArrayRef::Tile(id) => (1, id.index()),
        };
        let name = self.names[kind].get(number).map(String::as_str).unwrap_or_default();
        let mut hash = Hash::default();
        hash.add(kind as i64);
        let mixed = if seed < FIRST_FREE_SEED { seed.min(MIXED_SEEDS) } else { seed };
        hash.add(mixed.into());
        hash.add(element.interval.into());
        name.bytes().for_each(|byte| hash.add(byte.into()));
        element.indices.iter().for_each(|index| hash.add(*index));
        let hash = hash.finish();
        if let Some(asked) = self.asked.get(&element.array).filter(|_| hash & 7 != 0)
            && let Some(number) = asked.get((hash >> 3) as usize % asked.len().max(1))
        {
            return number.at(dtype);
        }
        self.pick(hash, dtype, seed)
    }

    /// The seeds of which each gives all elements one value: 0 first, at which loops that
    /// look for something go on.
    pub(super) fn equal_seeds(&self) -> impl Iterator<Item = u32> + Clone + use<> {
        let zero = self.floats.iter().position(|value| *value == 0.0).unwrap_or(0) as u32;
        let all = 0..self.floats.len() as u32;
        let others = all.filter(move |seed| *seed != zero);
        std::iter::once(zero).chain(others).map(|seed| FIRST_EQUAL_SEED + seed)
    }

    /// How many seeds give an element every value.
    pub(super) fn seeds(&self) -> u32 {
        MIXED_SEEDS + self.floats.len() as u32
    }

    /// A value for the `number`-th scalar parameter: first the small ones, which
    /// decide about loops, then the ends of the range, each of one with each of the
    /// next, then any, -1, and many at last.
    pub(super) fn scalar(&self, number: usize, seed: u32, is_float: bool) -> i64 {
        // What loops do not go to may be large.
        let values = if is_float { &self.values } else { &self.scalars };
        let small = [2, 0, 1];
        if (seed as usize) < small.len() {
            return small[(seed as usize + number) % small.len()];
        }
        if let (Some(corner @ 0..4), [least, .., most]) =
            (seed.checked_sub(small.len() as u32), values.as_slice())
        {
            return if corner >> (number % 2) & 1 == 0 { *least } else { *most };
        }
        match (seed as usize).checked_sub(small.len() + 5) {
            Some(0) => return -1,
            Some(1) => return MANY,
            Some(_) | None => {}
        }
        let mut hash = Hash::default();
        hash.add(number as i64);
        hash.add(seed.into());
        values[hash.finish() as usize % values.len()]
    }

    /// After the first seeds, an element goes through all values from one to the next,
    /// up or down.
    fn pick(&self, hash: u64, dtype: DType, seed: u32) -> ScalarValue {
        let is_float = dtype.is_float();
        let count = if is_float { self.floats.len() } else { self.values.len() + 1 };
        let at = |number: usize| match self.floats.get(number) {
            Some(value) if is_float => of_float(*value, dtype),
            _ => of_integer(self.values.get(number).copied().unwrap_or(self.large), dtype),
        };
        if let Some(number) = seed.checked_sub(FIRST_EQUAL_SEED) {
            return at(number as usize);
        }
        let moved = if seed < FIRST_FREE_SEED { seed.saturating_sub(MIXED_SEEDS) } else { 0 };
        let seed = moved as usize % count;
        let turn = if hash >> 20 & 1 == 0 { seed } else { count - seed };
        at((hash as usize % count + turn) % count)
    }
}

/// The `values` of integers, and the fractions of the text with what is next to each and between
/// two of them.
fn floats(kernel: &Kernel, values: &[i64], large: i64) -> Vec<f64> {
    let compared = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Compare { lhs, rhs, .. } => Some([lhs, rhs]),
        _ => None,
    });
    let fractions = compared.flatten().filter_map(|side| match kernel.exprs[side].kind {
        ExprKind::Literal(Literal::Float(value)) if value.fract() != 0.0 => Some(value),
        _ => None,
    });
    let mut fractions: Vec<f64> = fractions.take(MAX_FRACTIONS).collect();
    fractions.sort_by(f64::total_cmp);
    fractions.dedup();
    let between = fractions.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    let next = fractions.iter().flat_map(|value| {
        let room = value.abs() / 64.0;
        [value - room, *value, value + room]
    });
    let integers = values.iter().chain([&large]).map(|value| *value as f64);
    integers.chain(between).chain(next).collect()
}

/// `value` at a floating-point type.
pub(super) fn of_float(value: f64, dtype: DType) -> ScalarValue {
    let value = ScalarValue { dtype: DType::F64, bits: value.to_bits() };
    semantics::cast(value, dtype).unwrap_or(ScalarValue { dtype, bits: 0 })
}

/// `value` at a type; of `bool`, whether it is odd.
pub(super) fn of_integer(value: i64, dtype: DType) -> ScalarValue {
    if dtype == DType::Bool {
        return ScalarValue { dtype, bits: u64::from(value & 1 != 0) };
    }
    let index = ScalarValue { dtype: DType::I64, bits: value as u64 };
    semantics::cast(index, dtype).unwrap_or(ScalarValue { dtype, bits: 0 })
}

/// The value of a constant. Of what the type does not have, 0.
pub(super) fn constant(literal: Literal, dtype: DType) -> ScalarValue {
    let float = |value: f64| {
        let bits = value.to_bits();
        let zero = ScalarValue { dtype, bits: 0 };
        semantics::cast(ScalarValue { dtype: DType::F64, bits }, dtype).unwrap_or(zero)
    };
    match literal {
        Literal::Int(value) => of_integer(value as i64, dtype),
        Literal::Float(value) => float(value),
        Literal::Bool(value) => ScalarValue { dtype, bits: value.into() },
        Literal::Named(name) => match (name, dtype.integer_range()) {
            (NamedConst::Min, Some((min, _))) => of_integer(min as i64, dtype),
            (NamedConst::Max, Some((_, max))) => of_integer(max as i64, dtype),
            (NamedConst::Min, None) => float(f64::MIN),
            (NamedConst::Max, None) => float(f64::MAX),
            (NamedConst::Infinity, _) => float(f64::INFINITY),
            (NamedConst::NegInfinity, _) => float(f64::NEG_INFINITY),
            (NamedConst::Nan, _) => float(f64::NAN),
        },
    }
}
