//! How a value depends on pads: for each way in which a read may be outside,
//! whether the value is then 0 or something else.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::poly::{Atom, Bounds, Poly};
use crate::kernel::{ExprId, Source, VarId};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Conditions of more atoms than this, and more of them than this for one value,
/// are taken for one that may hold at any time: values that pass through a tile
/// again and again would grow without end.
const MAX_SIZE: usize = 24;
const MAX_CONDITIONS: usize = 24;

/// A condition under which a read is outside of a tensor along one axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outside {
    /// The index is negative.
    Below(Poly),
    /// The index is the extent or more: index, extent.
    Above(Poly, Poly),
}

impl Outside {
    /// A polynomial that is at least 0 exactly where this does not hold.
    fn inside(&self) -> Poly {
        match self {
            Self::Below(index) => index.clone(),
            Self::Above(index, extent) => extent.clone().sub(&Poly::constant(1)).sub(index),
        }
    }

    /// Whether it cannot hold where all of `facts` are at least 0.
    pub(super) fn is_excluded(&self, bounds: &Bounds<'_>, facts: &[Poly]) -> bool {
        let inside = self.inside();
        bounds.is_never_negative(&inside)
            || facts.iter().any(|fact| bounds.is_never_negative(&inside.clone().sub(fact)))
    }

    /// Whether an access at `index` along an axis of `extent` is outside
    /// whenever this holds.
    pub(super) fn implies(&self, bounds: &Bounds<'_>, index: &Poly, extent: &Poly) -> bool {
        match self {
            Self::Below(own) => bounds.is_never_negative(&own.clone().sub(index)),
            Self::Above(own, own_extent) => {
                // What is a multiple is at least 0 where what it is a multiple of is.
                let beyond = own.clone().sub(own_extent).primitive();
                bounds.is_never_negative(&index.clone().sub(extent).sub(&beyond))
            }
        }
    }

    fn map(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Self {
        let (mapped, size) = match self {
            Self::Below(index) => {
                let index = index.replace(with);
                let size = index.size();
                (Self::Below(index), size)
            }
            Self::Above(index, extent) => {
                let (index, extent) = (index.replace(with), extent.replace(with));
                let size = index.size() + extent.size();
                (Self::Above(index, extent), size)
            }
        };
        if size > MAX_SIZE { mapped.at_any_time() } else { mapped }
    }

    /// Of the same side, and no more is said.
    fn at_any_time(&self) -> Self {
        let any = Poly::atom(Atom::Any);
        match self {
            Self::Below(_) => Self::Below(any),
            Self::Above(..) => Self::Above(any.clone(), any),
        }
    }

    /// Whether two values that name this condition mean the same by it.
    fn is_definite(&self) -> bool {
        match self {
            Self::Below(index) | Self::Above(index, _) => !index.mentions_others(),
        }
    }
}

/// What a value is where a read is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// Whether the value is then 0; else it is changed in some way.
    pub(super) zero: bool,
    /// The reads and, of each, the axis along which it is outside.
    pub(super) loads: BTreeSet<(Source, usize)>,
    /// The `min` or `max` that a 0 entered, if it was one.
    pub(super) extremum: Option<BinaryOp>,
    /// A factor that a 0 met, and that may be infinite.
    pub(super) factor: Option<ExprId>,
    /// Whether another work-item may have read it: it went through a tile, or was made of
    /// the values of several.
    pub(super) handed: bool,
    /// The keywords of the loops that have begun another iteration since.
    pub(super) passed: BTreeSet<SpanId>,
}

impl Effect {
    /// A read along one axis, just made.
    pub(super) fn of_read(read: (Source, usize)) -> Self {
        Self {
            zero: true,
            loads: BTreeSet::from([read]),
            extremum: None,
            factor: None,
            handed: false,
            passed: BTreeSet::new(),
        }
    }

    fn spoilt(&self) -> Self {
        Self { zero: false, ..self.clone() }
    }
}

/// A value's dependence on pads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// By condition; under all others the value does not depend on a pad.
    pub(super) under: BTreeMap<Outside, Effect>,
    /// Whether it is the number 0.
    pub(super) is_zero: bool,
    /// Whether it is a finite number that the text states, other than 0.
    pub(super) is_number: bool,
    /// Whether it is a finite number, as the text states it or an integer is.
    pub(super) is_finite: bool,
}

impl Value {
    /// A value that depends on nothing else than this one does, but not as 0.
    pub(super) fn spoil(&self) -> Self {
        let under = self.under.iter();
        Self {
            under: under.map(|(outside, effect)| (outside.clone(), effect.spoilt())).collect(),
            ..Self::default()
        }
    }

    /// A function of the value; `keeps_zero` where it maps 0 to 0.
    pub(super) fn map_value(&self, keeps_zero: bool) -> Self {
        if keeps_zero {
            Self { is_number: false, is_finite: false, ..self.clone() }
        } else {
            self.spoil()
        }
    }

    /// The value where variables are replaced.
    pub(super) fn replace(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Self {
        let mut out = Self { under: BTreeMap::new(), ..self.clone() };
        for (outside, effect) in &self.under {
            out.insert(outside.map(with), effect.clone());
        }
        out
    }

    /// The value when `var` has moved on.
    pub(super) fn outlive(&self, var: VarId) -> Self {
        self.replace(&|other| (other == var).then(|| Poly::atom(Atom::Other(var))))
    }

    /// The value when another iteration of a loop has begun.
    pub(super) fn pass(&mut self, head: SpanId) {
        for effect in self.under.values_mut() {
            effect.passed.insert(head);
        }
    }

    /// Whether two values depend on pads alike, whatever way they came.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let both = self.under.iter().zip(&other.under);
        let known = |value: &Self| (value.is_zero, value.is_number, value.is_finite);
        known(self) == known(other)
            && self.under.len() == other.under.len()
            && both.into_iter().all(|((outside, own), (other, effect))| {
                outside == other
                    && (own.zero, &own.loads, own.extremum)
                        == (effect.zero, &effect.loads, effect.extremum)
            })
    }

    /// Takes in what way an alike value may have come.
    pub(super) fn learn_way(&mut self, other: &Self) {
        for (own, effect) in self.under.values_mut().zip(other.under.values()) {
            own.factor = own.factor.or(effect.factor);
            own.handed |= effect.handed;
            own.passed.extend(&effect.passed);
        }
    }

    /// The value as another work-item may have it.
    pub(super) fn handed_on(mut self) -> Self {
        self.under.values_mut().for_each(|effect| effect.handed = true);
        self
    }

    /// Notes of what was 0 in `own`, and is not in this product, that it met `factor`.
    pub(super) fn note_factor(&mut self, own: &Self, factor: ExprId) {
        for (outside, effect) in self.under.iter_mut().filter(|(_, effect)| !effect.zero) {
            if own.under.get(outside).is_some_and(|own| own.zero) {
                effect.factor = effect.factor.or(Some(factor));
            }
        }
    }

    /// Adds a dependence; of two under one condition the worse stays.
    pub(super) fn insert(&mut self, outside: Outside, effect: Effect) {
        let is_full = self.under.len() >= MAX_CONDITIONS && !self.under.contains_key(&outside);
        let outside = if is_full { outside.at_any_time() } else { outside };
        match self.under.get_mut(&outside) {
            Some(own) => {
                own.loads.extend(effect.loads);
                own.zero &= effect.zero;
                own.extremum = own.extremum.or(effect.extremum);
                own.factor = own.factor.or(effect.factor);
                own.handed |= effect.handed;
                own.passed.extend(effect.passed);
            }
            None => {
                self.under.insert(outside, effect);
            }
        }
    }

    /// This value, and its being chosen depends on `other`.
    pub(super) fn with_control(mut self, other: &Self) -> Self {
        for (outside, effect) in &other.under {
            self.insert(outside.clone(), effect.spoilt());
        }
        self
    }

    /// Without what cannot be where `facts` hold.
    pub(super) fn within(mut self, bounds: &Bounds<'_>, facts: &[Poly]) -> Self {
        self.under.retain(|outside, _| !outside.is_excluded(bounds, facts));
        self
    }

    /// Either of two values.
    pub(super) fn join(&self, other: &Self) -> Self {
        let mut out = self.combine(other, &|a, b| a == Part::Zero && b == Part::Zero);
        out.is_zero = self.is_zero && other.is_zero;
        out
    }

    /// `self op other`; `exact` where no operand can be infinite or NaN.
    pub(super) fn binary(&self, op: BinaryOp, other: &Self, exact: bool) -> Self {
        let finite = |value: &Self| exact || value.is_finite;
        let (left_finite, right_finite) = (finite(self), finite(other));
        let mut out = self.combine(other, &|a, b| match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Hypot
            | BinaryOp::Copysign => a == Part::Zero && b == Part::Zero,
            BinaryOp::Mul | BinaryOp::And => match (a, b) {
                (Part::Zero, Part::Zero) => true,
                (Part::Zero, _) => right_finite,
                (_, Part::Zero) => left_finite,
                (Part::Free | Part::Changed, Part::Free | Part::Changed) => false,
            },
            BinaryOp::Div | BinaryOp::Rem => {
                a == Part::Zero && (exact || (b == Part::Free && other.is_number))
            }
            BinaryOp::Shl | BinaryOp::Shr => a == Part::Zero,
            // `pow(0, 0)` is 1, and `atan2(0, -0)` is π.
            BinaryOp::Pow | BinaryOp::Atan2 => false,
        });
        if matches!(op, BinaryOp::Min | BinaryOp::Max) {
            for effect in out.under.values_mut().filter(|effect| !effect.zero) {
                effect.extremum = effect.extremum.or(Some(op));
            }
        }
        out
    }

    /// `self ⊕= other`: a 0 leaves sums, `|` and `^` as they are.
    pub(super) fn update(&self, op: BinaryOp, other: &Self, exact: bool) -> Self {
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor => {
                let mut out = self.spoil();
                let changed = other.under.iter().filter(|(_, effect)| !effect.zero);
                changed.for_each(|(outside, effect)| out.insert(outside.clone(), effect.clone()));
                out
            }
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => self.binary(op, other, exact),
        }
    }

    fn combine(&self, other: &Self, is_zero: &dyn Fn(Part, Part) -> bool) -> Self {
        let mut out = Self::default();
        for (outside, effect) in self.under.iter().chain(&other.under) {
            // A condition of another time may not be the same for both.
            let shared = self.under.contains_key(outside) && other.under.contains_key(outside);
            let zero = (!shared || outside.is_definite())
                && is_zero(self.part(outside), other.part(outside));
            out.insert(outside.clone(), Effect { zero, ..effect.clone() });
        }
        out
    }

    fn part(&self, outside: &Outside) -> Part {
        match self.under.get(outside) {
            Some(effect) if effect.zero => Part::Zero,
            Some(_) => Part::Changed,
            None if self.is_zero => Part::Zero,
            None => Part::Free,
        }
    }
}

/// What an operand is under a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// 0.
    Zero,
    /// Changed by the pad.
    Changed,
    /// As it is without.
    Free,
}
