//! Index expressions as polynomials with integer coefficients, to be compared
//! for all sizes: what is equal as a polynomial is equal at every size.
//!
//! Used where equality and plain sign arguments decide (initialisation, pads): what expressions
//! are is said in [`bounds`], what is at least 0 in [`signs`].

mod bounds;
mod signs;

pub(super) use bounds::Bounds;

use crate::kernel::{Type, VarId, gcd};
use crate::op::BinaryOp;

/// An unknown integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The value of a variable, now.
    Var(VarId),
    /// The value of a variable at another time, or of another work-item.
    Other(VarId),
    /// The distance of a variable to its least or greatest value, at least 0.
    Slack(VarId),
    /// A value of which nothing is known; equal only to itself.
    Unknown(u32),
    /// The same, of an unsigned type: at least 0.
    Natural(u32),
    /// Any value: two of these need not be equal.
    Any,
    /// A function of polynomials that is not one itself.
    Tiles(Box<(Poly, Poly)>),
    /// The same of an operator.
    Binary(BinaryOp, Box<(Poly, Poly)>),
    /// A value of the first type in the second one.
    Cast(Box<Poly>, [Type; 2]),
}

/// A sum of products of atoms, each with its factor. No factor is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly {
    /// By product, rising: there are few, which a list holds best.
    terms: Vec<(Vec<Atom>, i128)>,
}

impl Atom {
    /// What it is where `with` replaces variables; `None` where it stays what it is.
    fn replaced(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Option<Poly> {
        let both = |parts: &(Poly, Poly)| Box::new((parts.0.replace(with), parts.1.replace(with)));
        match self {
            Self::Var(var) => with(*var),
            Self::Other(_) | Self::Slack(_) | Self::Unknown(_) | Self::Natural(_) | Self::Any => {
                None
            }
            Self::Tiles(parts) => Some(Poly::atom(Self::Tiles(both(parts)))),
            Self::Binary(op, parts) => Some(Poly::atom(Self::Binary(*op, both(parts)))),
            Self::Cast(of, types) => {
                Some(Poly::atom(Self::Cast(Box::new(of.replace(with)), *types)))
            }
        }
    }
}

impl Poly {
    pub(super) fn constant(value: i128) -> Self {
        let mut poly = Self::default();
        poly.add_term(Vec::new(), value);
        poly
    }

    pub(super) fn atom(atom: Atom) -> Self {
        Self { terms: vec![(vec![atom], 1)] }
    }

    pub(super) fn var(var: VarId) -> Self {
        Self::atom(Atom::Var(var))
    }

    /// Whether no factor is negative.
    fn has_no_minus(&self) -> bool {
        self.terms.iter().all(|(_, factor)| *factor > 0)
    }

    /// The products of its sum, each with its factor.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(product, factor)| (product.as_slice(), *factor))
    }

    /// The variable that this is, alone.
    pub(super) fn as_var(&self) -> Option<VarId> {
        match self.terms.as_slice() {
            [(product, 1)] => match product.as_slice() {
                [Atom::Var(var)] => Some(*var),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(product, factor)] if product.is_empty() => Some(*factor),
            _ => None,
        }
    }

    /// Factors saturate: indices have 64 bits, so one that large is of no use.
    fn add_term(&mut self, product: Vec<Atom>, factor: i128) {
        match self.terms.binary_search_by(|(own, _)| own.cmp(&product)) {
            Ok(at) => {
                let sum = self.terms[at].1.saturating_add(factor);
                self.terms[at].1 = sum;
                if sum == 0 {
                    self.terms.remove(at);
                }
            }
            Err(_) if factor == 0 => {}
            Err(at) => self.terms.insert(at, (product, factor)),
        }
    }

    pub(super) fn add(mut self, other: &Self) -> Self {
        for (product, factor) in &other.terms {
            self.add_term(product.clone(), *factor);
        }
        self
    }

    pub(super) fn sub(self, other: &Self) -> Self {
        self.add(&other.scaled(-1))
    }

    fn scaled(&self, by: i128) -> Self {
        if by == 0 {
            return Self::default();
        }
        let scaled =
            |(product, factor): &(Vec<Atom>, i128)| (product.clone(), factor.saturating_mul(by));
        Self { terms: self.terms.iter().map(scaled).collect() }
    }

    /// The tightest polynomial that is at least 0 where this is, by what its
    /// factors have in common.
    pub(super) fn primitive(self) -> Self {
        let products = self.terms.iter().filter(|(product, _)| !product.is_empty());
        let divisor = products.fold(0, |divisor, (_, factor)| gcd(divisor, *factor));
        if divisor < 2 {
            return self;
        }
        // Only the constant is no multiple.
        let terms = self.terms.into_iter();
        let divided = terms.map(|(product, factor)| (product, factor.div_euclid(divisor)));
        Self { terms: divided.filter(|(_, factor)| *factor != 0).collect() }
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Atom> = left.iter().chain(right).cloned().collect();
                product.sort();
                out.add_term(product, a.saturating_mul(*b));
            }
        }
        out
    }

    /// Replaces variables, inside functions too.
    pub(super) fn replace(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Self {
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            let mut values = Vec::new();
            let mut kept = Vec::with_capacity(product.len());
            for atom in product {
                match atom.replaced(with) {
                    Some(value) => values.push(value),
                    None => kept.push(atom.clone()),
                }
            }
            if values.is_empty() {
                out.add_term(kept, *factor);
                continue;
            }
            let mut term = Self::default();
            term.add_term(kept, *factor);
            out = out.add(&values.iter().fold(term, |term, value| term.mul(value)));
        }
        out
    }

    /// Replaces an atom where it is a whole term with a negative factor.
    fn replace_alone(&self, atom: &Atom, value: &Self) -> Self {
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            if *factor < 0 && product.as_slice() == std::slice::from_ref(atom) {
                out = out.add(&value.scaled(*factor));
            } else {
                out.add_term(product.clone(), *factor);
            }
        }
        out
    }

    /// Whether the value of `var` now is part of it.
    pub(super) fn mentions(&self, var: VarId) -> bool {
        self.any_atom(&|atom| *atom == Atom::Var(var))
    }

    /// Whether it is made of variables alone that `test` admits, and numbers.
    pub(super) fn is_made_of(&self, test: &dyn Fn(VarId) -> bool) -> bool {
        !self.any_atom(&|atom| match atom {
            Atom::Var(var) => !test(*var),
            Atom::Other(_) | Atom::Slack(_) | Atom::Unknown(_) | Atom::Natural(_) | Atom::Any => {
                true
            }
            Atom::Tiles(_) | Atom::Binary(..) | Atom::Cast(..) => false,
        })
    }

    /// Whether values of another time or work-item are part of it.
    pub(super) fn mentions_others(&self) -> bool {
        self.any_atom(&|atom| matches!(atom, Atom::Other(_) | Atom::Any))
    }

    /// How many atoms it is made of.
    pub(super) fn size(&self) -> usize {
        let of_atom = |atom: &Atom| match atom {
            Atom::Tiles(parts) | Atom::Binary(_, parts) => 1 + parts.0.size() + parts.1.size(),
            Atom::Cast(of, _) => 1 + of.size(),
            Atom::Var(_)
            | Atom::Other(_)
            | Atom::Slack(_)
            | Atom::Unknown(_)
            | Atom::Natural(_)
            | Atom::Any => 1,
        };
        self.terms.iter().flat_map(|(product, _)| product).map(of_atom).sum()
    }

    fn any_atom(&self, test: &dyn Fn(&Atom) -> bool) -> bool {
        self.terms.iter().flat_map(|(product, _)| product).any(|atom| {
            test(atom)
                || match atom {
                    Atom::Tiles(parts) | Atom::Binary(_, parts) => {
                        parts.0.any_atom(test) || parts.1.any_atom(test)
                    }
                    Atom::Cast(of, _) => of.any_atom(test),
                    Atom::Var(_)
                    | Atom::Other(_)
                    | Atom::Slack(_)
                    | Atom::Unknown(_)
                    | Atom::Natural(_)
                    | Atom::Any => false,
                }
        })
    }
}
