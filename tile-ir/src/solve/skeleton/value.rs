//! Values, and what is known of them.

use std::fmt;

use super::terms::Term;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, Source, Type, VarId};
use crate::value::ScalarValue;

/// A value of any type: its bits, zero-extended, an index as 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Value {
    bits: u64,
    /// What from memory decides it.
    origin: Origin,
    /// What of it is one number for all workers, if only that is decided so.
    term: Term,
}

/// What comes from memory and decides a value, and whether the value is made of that: not only
/// one of a few that conditions choose from. In one word, because values are copied for nearly
/// all that is done.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Origin(u32);

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} free: {}", self.source(), self.is_free())
    }
}

impl Origin {
    const IS_FREE: u32 = 4;
    const BITS: u32 = 3;

    fn new(source: Option<Source>) -> Self {
        let (kind, id) = match source {
            None => (0, 0),
            Some(Source::Load(expr)) => (1, expr.index()),
            Some(Source::Old(var)) => (2, var.index()),
            Some(Source::Launch(var)) => (3, var.index()),
        };
        Self((id as u32) << Self::BITS | kind)
    }

    fn is_free(self) -> bool {
        self.0 & Self::IS_FREE != 0
    }

    /// The same, where it was none: this.
    fn or(self, data: Option<Source>) -> Self {
        if self.is_none() { Self::new(data) } else { self }
    }

    fn freed(self, is_free: bool) -> Self {
        if is_free { Self(self.0 | Self::IS_FREE) } else { self }
    }

    fn is_none(self) -> bool {
        self.0 == 0
    }

    fn source(self) -> Option<Source> {
        let id = (self.0 >> Self::BITS) as usize;
        match self.0 & 3 {
            0 => None,
            1 => Some(Source::Load(ExprId::from_index(id))),
            2 => Some(Source::Old(VarId::from_index(id))),
            _ => Some(Source::Launch(VarId::from_index(id))),
        }
    }
}

impl Value {
    /// An index.
    #[inline]
    pub(super) fn index(value: i64) -> Self {
        Self { bits: value as u64, ..Self::default() }
    }

    /// A condition.
    #[inline]
    pub(super) fn bool(value: bool) -> Self {
        Self { bits: value.into(), ..Self::default() }
    }

    /// A value of a scalar type.
    #[inline]
    pub(super) fn scalar(value: ScalarValue) -> Self {
        Self { bits: value.bits, ..Self::default() }
    }

    /// The same value, which depends on `data` too.
    #[inline]
    pub(super) fn tainted(self, data: Option<Source>) -> Self {
        match data {
            None => self,
            Some(_) => Self { origin: self.origin.or(data).freed(true), term: 0, ..self },
        }
    }

    /// The same value, where `data` decides only that it is this one and not another of a few.
    #[inline]
    pub(super) fn chosen(self, data: Option<Source>) -> Self {
        match data {
            None => self,
            Some(_) => Self { origin: self.origin.or(data), term: 0, ..self },
        }
    }

    /// The same value, which is made of another one.
    #[inline]
    pub(super) fn made_of(self, other: Self) -> Self {
        if other.origin.is_none() {
            return self;
        }
        let origin = if self.origin.is_none() { other.origin } else { self.origin };
        let origin = origin.freed(self.origin.is_free() || other.origin.is_free());
        Self { origin, term: 0, ..self }
    }

    /// The same value, of which only this term is unknown.
    #[inline]
    pub(super) fn with_term(self, term: Term) -> Self {
        Self { term: if self.is_known() { 0 } else { term }, ..self }
    }

    /// What of it is unknown: nothing, a term, or (`None`) all.
    pub(super) fn unknown(self) -> Option<Term> {
        if !self.is_known() && self.term == 0 { None } else { Some(self.term) }
    }

    /// What terms are made of.
    pub(super) fn part(self) -> Option<(Term, u64)> {
        self.unknown().map(|term| (term, self.bits))
    }

    /// What comes from memory and decides it.
    #[inline]
    pub(super) fn data(self) -> Option<Source> {
        self.origin.source()
    }

    /// Whether nothing from memory decides it.
    #[inline]
    pub(super) fn is_known(self) -> bool {
        self.origin.is_none()
    }

    /// Whether it is made of what comes from memory: not only one of a few that conditions
    /// choose from.
    #[inline]
    pub(super) fn is_free(self) -> bool {
        self.origin.is_free()
    }

    /// The bits.
    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.bits
    }

    /// What is the same of two values only where they are one number, whatever data is.
    pub(super) fn identity(self) -> (Term, u64) {
        (self.term, self.bits)
    }

    /// As an index.
    #[inline]
    pub(super) fn as_index(self) -> i64 {
        self.bits as i64
    }

    /// As an index, where no data decides it.
    #[inline]
    pub(super) fn known_index(self) -> Option<i64> {
        if self.is_known() { Some(self.as_index()) } else { None }
    }

    /// As a number of an integer type.
    pub(super) fn number(self, ty: Type) -> i128 {
        match ty.integer_range() {
            None => self.as_index().into(),
            Some((min, max)) if self.bits > max as u64 => i128::from(self.bits) + 2 * min,
            Some(_) => self.bits.into(),
        }
    }

    /// As a condition.
    #[inline]
    pub(super) fn is_true(self) -> bool {
        self.bits & 0xff != 0
    }
}

/// Most axes of an array.
const MAX_AXES: usize = 8;

/// The values of an access's indices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Indices {
    values: [Value; MAX_AXES],
    len: usize,
}

impl Indices {
    /// Appends one; those beyond what an array has are of no access.
    #[inline]
    pub(super) fn push(&mut self, value: Value) {
        if let Some(place) = self.values.get_mut(self.len) {
            *place = value;
            self.len += 1;
        }
    }

    /// What from memory decides one of them.
    pub(super) fn data(&self) -> Option<Source> {
        self.iter().find_map(|value| value.data())
    }
}

impl std::ops::Deref for Indices {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.values[..self.len]
    }
}
