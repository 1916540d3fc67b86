//! Conditions over polynomials, negations pushed inwards.
//!
//! [`Formula::Unknown`] stands for a condition of which nothing is known. Since
//! there is no negation, reading it as *true* makes a formula weaker, never
//! stronger: what cannot hold then cannot hold at all.

use super::poly::{Poly, Unknown};

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Formula {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// May hold or not.
    Unknown,
    /// The polynomial is at least 0.
    AtLeast(Poly),
    /// The polynomial is 0.
    Zero(Poly),
    /// All hold.
    All(Vec<Formula>),
    /// One holds.
    Any(Vec<Formula>),
}

/// A condition and its opposite. Both may be weaker than they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Cond {
    /// Holds wherever the condition is true.
    pub(in super::super) yes: Formula,
    /// Holds wherever the condition is false.
    pub(in super::super) no: Formula,
}

impl Cond {
    /// Of which nothing is known.
    pub(in super::super) fn unknown() -> Self {
        Self { yes: Formula::Unknown, no: Formula::Unknown }
    }

    /// Whether all of both is known.
    pub(in super::super) fn is_exact(&self) -> bool {
        self.yes.is_exact() && self.no.is_exact()
    }

    /// How many comparisons it and its opposite are made of.
    pub(in super::super) fn size(&self) -> usize {
        self.yes.size() + self.no.size()
    }

    pub(in super::super) fn negated(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    pub(in super::super) fn and(self, other: Self) -> Self {
        Self { yes: self.yes.and(other.yes), no: self.no.or(other.no) }
    }

    pub(in super::super) fn or(self, other: Self) -> Self {
        self.negated().and(other.negated()).negated()
    }
}

impl Formula {
    /// `lhs <= rhs`
    pub(in super::super) fn le(lhs: &Poly, rhs: &Poly) -> Self {
        Self::AtLeast(rhs.sub(lhs))
    }

    /// `lhs < rhs`
    pub(in super::super) fn lt(lhs: &Poly, rhs: &Poly) -> Self {
        Self::AtLeast(rhs.sub(lhs).plus(-1))
    }

    /// `lhs == rhs`
    pub(in super::super) fn eq(lhs: &Poly, rhs: &Poly) -> Self {
        Self::Zero(lhs.sub(rhs))
    }

    /// `lhs != rhs`
    pub(in super::super) fn ne(lhs: &Poly, rhs: &Poly) -> Self {
        Self::Any(vec![Self::lt(lhs, rhs), Self::lt(rhs, lhs)])
    }

    /// `0 <= value < extent`
    pub(in super::super) fn within(value: &Poly, extent: &Poly) -> Self {
        Self::All(vec![Self::AtLeast(value.clone()), Self::lt(value, extent)])
    }

    pub(in super::super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, other) | (other, Self::True) => other,
            (one, other) => Self::All(vec![one, other]),
        }
    }

    pub(in super::super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, other) | (other, Self::False) => other,
            (one, other) => Self::Any(vec![one, other]),
        }
    }

    /// Whether all of it is known.
    pub(in super::super) fn is_exact(&self) -> bool {
        match self {
            Self::True | Self::False => true,
            Self::Unknown => false,
            Self::AtLeast(poly) | Self::Zero(poly) => !poly.is_lost(),
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_exact),
        }
    }

    /// Whether it is one comparison, or several that all hold, of which all is known.
    pub(in super::super) fn is_plain(&self) -> bool {
        match self {
            Self::AtLeast(poly) | Self::Zero(poly) => !poly.is_lost(),
            Self::All(parts) => parts.iter().all(Self::is_plain),
            Self::True => true,
            Self::False | Self::Any(_) | Self::Unknown => false,
        }
    }

    /// How many comparisons it is made of.
    pub(in super::super) fn size(&self) -> usize {
        match self {
            Self::True | Self::False | Self::Unknown => 0,
            Self::AtLeast(_) | Self::Zero(_) => 1,
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::size).sum(),
        }
    }

    /// Whether all that it compares with 0 is such.
    pub(in super::super) fn is_made_of(&self, is_such: &dyn Fn(&Poly) -> bool) -> bool {
        match self {
            Self::True | Self::False | Self::Unknown => true,
            Self::AtLeast(poly) | Self::Zero(poly) => is_such(poly),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().all(|part| part.is_made_of(is_such))
            }
        }
    }

    /// Whether it is this, or a conjunction with it.
    pub(in super::super) fn states(&self, part: &Self) -> bool {
        match self {
            Self::All(parts) if self != part => parts.iter().any(|own| own.states(part)),
            own => own == part,
        }
    }

    /// Adds what must be at least 0 for it to hold to `out`, choices left out.
    pub(in super::super) fn collect_bounds(&self, out: &mut Vec<Poly>) {
        match self {
            Self::True | Self::False | Self::Unknown | Self::Any(_) => {}
            Self::AtLeast(poly) => out.push(poly.clone()),
            Self::Zero(poly) => out.extend([poly.clone(), poly.negated()]),
            Self::All(parts) => parts.iter().for_each(|part| part.collect_bounds(out)),
        }
    }

    /// Whether what must be at least 0 for it to hold has products.
    pub(in super::super) fn bounds_products(&self) -> bool {
        let mut bounds = Vec::new();
        self.collect_bounds(&mut bounds);
        bounds.iter().any(|bound| !bound.is_linear())
    }

    /// Adds what must be 0 for it to hold to `out`, choices left out.
    pub(in super::super) fn collect_zeros(&self, out: &mut Vec<Poly>) {
        match self {
            Self::True | Self::False | Self::Unknown | Self::Any(_) | Self::AtLeast(_) => {}
            Self::Zero(poly) => out.push(poly.clone()),
            Self::All(parts) => parts.iter().for_each(|part| part.collect_zeros(out)),
        }
    }

    /// Adds the unknowns in it to `out`.
    pub(in super::super) fn collect_unknowns(&self, out: &mut Vec<Unknown>) {
        match self {
            Self::True | Self::False | Self::Unknown => {}
            Self::AtLeast(poly) | Self::Zero(poly) => out.extend(poly.unknowns()),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.collect_unknowns(out));
            }
        }
    }

    /// Replaces unknowns, and folds what became plain on the way.
    pub(in super::super) fn replace(&self, with: &dyn Fn(Unknown) -> Option<Poly>) -> Self {
        match self {
            Self::True => Self::True,
            Self::False => Self::False,
            Self::Unknown => Self::Unknown,
            Self::AtLeast(poly) => Self::AtLeast(poly.replace(with)).folded(),
            Self::Zero(poly) => Self::Zero(poly.replace(with)).folded(),
            Self::All(parts) => {
                Self::All(parts.iter().map(|part| part.replace(with)).collect()).folded()
            }
            Self::Any(parts) => {
                Self::Any(parts.iter().map(|part| part.replace(with)).collect()).folded()
            }
        }
    }

    /// The same with constant parts decided; parts are folded already.
    pub(in super::super) fn folded(self) -> Self {
        match self {
            Self::AtLeast(poly) => match poly.as_constant() {
                Some(value) if value >= 0 => Self::True,
                Some(_) => Self::False,
                None if poly.is_lost() => Self::Unknown,
                None => Self::AtLeast(poly),
            },
            Self::Zero(poly) => match poly.as_constant() {
                Some(0) => Self::True,
                Some(_) => Self::False,
                None if poly.is_lost() => Self::Unknown,
                None => Self::Zero(poly),
            },
            Self::All(mut parts) => {
                parts.retain(|part| *part != Self::True);
                if parts.contains(&Self::False) {
                    Self::False
                } else if parts.is_empty() {
                    Self::True
                } else {
                    Self::All(parts)
                }
            }
            Self::Any(mut parts) => {
                parts.retain(|part| *part != Self::False);
                if parts.contains(&Self::True) {
                    Self::True
                } else if parts.is_empty() {
                    Self::False
                } else {
                    Self::Any(parts)
                }
            }
            Self::True | Self::False | Self::Unknown => self,
        }
    }
}
