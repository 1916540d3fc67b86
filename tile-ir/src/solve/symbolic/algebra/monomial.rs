//! Products of a few unknowns, kept in place: a system has thousands of them.

use std::cmp::Ordering;
use std::ops::Deref;

/// An unknown integer: of a kernel ([`super::symbol`]) or of a system
/// ([`super::super::search::system`]), by who made the polynomial.
pub(in super::super) type Unknown = u32;

/// Products have at most so many unknowns.
const MAX_DEGREE: usize = 8;

/// A product of unknowns, sorted; empty for 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Monomial {
    len: u8,
    /// 0 behind the last one.
    unknowns: [Unknown; MAX_DEGREE],
}

impl Monomial {
    pub(in super::super) fn unknown(unknown: Unknown) -> Self {
        let mut product = Self { len: 1, ..Self::default() };
        product.unknowns[0] = unknown;
        product
    }

    pub(in super::super) fn as_slice(&self) -> &[Unknown] {
        &self.unknowns[..usize::from(self.len)]
    }

    /// The product with another one; `None` where that is too long.
    pub(in super::super) fn times(&self, other: &Self) -> Option<Self> {
        let mut product = *self;
        for unknown in other.iter() {
            product.insert(*unknown)?;
        }
        Some(product)
    }

    /// Multiplies by an unknown, if there is room for it.
    pub(in super::super) fn insert(&mut self, unknown: Unknown) -> Option<()> {
        let len = usize::from(self.len);
        if len == MAX_DEGREE {
            return None;
        }
        let mut at = len;
        while at > 0 && self.unknowns[at - 1] > unknown {
            self.unknowns[at] = self.unknowns[at - 1];
            at -= 1;
        }
        self.unknowns[at] = unknown;
        self.len += 1;
        Some(())
    }

    /// Takes out the factor at a position.
    pub(in super::super) fn remove(&mut self, at: usize) -> Unknown {
        let unknown = self.unknowns[at];
        self.unknowns.copy_within(at + 1.., at);
        self.unknowns[MAX_DEGREE - 1] = 0;
        self.len -= 1;
        unknown
    }

    /// Whether all factors of another one are factors of it, each as often.
    pub(in super::super) fn contains_all(&self, other: &Self) -> bool {
        let mut own = self.iter();
        other.iter().all(|unknown| own.any(|own| own == unknown))
    }

    /// It without the factors of another one, if it has them all.
    pub(in super::super) fn without(&self, other: &Self) -> Option<Self> {
        let mut rest = *self;
        for unknown in other.iter() {
            let at = rest.iter().position(|own| own == unknown)?;
            rest.remove(at);
        }
        Some(rest)
    }

    /// The factors that `test` admits.
    pub(in super::super) fn filtered(&self, mut test: impl FnMut(Unknown) -> bool) -> Self {
        let mut out = Self::default();
        for unknown in self.iter().filter(|unknown| test(**unknown)) {
            out.unknowns[usize::from(out.len)] = *unknown;
            out.len += 1;
        }
        out
    }
}

impl Deref for Monomial {
    type Target = [Unknown];

    fn deref(&self) -> &[Unknown] {
        self.as_slice()
    }
}

impl Ord for Monomial {
    /// As lists are: what stands behind the last one is not larger than any other.
    fn cmp(&self, other: &Self) -> Ordering {
        for at in 0..MAX_DEGREE {
            let (own, theirs) = (self.unknowns[at], other.unknowns[at]);
            if own != theirs {
                return if own < theirs { Ordering::Less } else { Ordering::Greater };
            }
        }
        self.len.cmp(&other.len)
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(unknowns: &[Unknown]) -> Monomial {
        unknowns.iter().fold(Monomial::default(), |product, unknown| {
            product.times(&Monomial::unknown(*unknown)).expect("has room")
        })
    }

    #[test]
    fn factors_are_sorted() {
        assert_eq!(product(&[3, 1, 2, 1]).as_slice(), [1, 1, 2, 3]);
        let mut rest = product(&[3, 1, 2]);
        assert_eq!(rest.remove(1), 2);
        assert_eq!(rest, product(&[1, 3]));
        assert_eq!(product(&[3, 1, 2]).filtered(|unknown| unknown != 3), product(&[1, 2]));
    }

    #[test]
    fn factors_are_contained_as_often_as_they_are() {
        let of = product(&[3, 1, 2, 1]);
        assert!(of.contains_all(&product(&[])) && of.contains_all(&product(&[1, 1, 3])));
        assert!(!of.contains_all(&product(&[3, 3])) && !of.contains_all(&product(&[4])));
    }

    #[test]
    fn long_products_are_none() {
        let long = product(&[0; MAX_DEGREE]);
        assert_eq!(long.times(&Monomial::unknown(1)), None);
        assert_eq!(long.times(&Monomial::default()), Some(long));
    }

    #[test]
    fn order_is_that_of_lists() {
        assert!(product(&[]) < product(&[0]) && product(&[0]) < product(&[0, 0]));
        assert!(product(&[1, 2, 3]) < product(&[1, 3]));
    }
}
