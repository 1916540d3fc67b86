//! Which polynomials are at least 0, as far as signs and the variables' own bounds show it.
//!
//! Nothing here is exact: [`Bounds::is_never_negative`] may fail to see it.

use super::{Atom, Bounds, Poly};
use crate::kernel::{ElemType, Type, VarId, VarKind};
use crate::op::BinaryOp;

impl Bounds<'_> {
    /// Whether a polynomial is at least 0 whatever its variables are, as far as
    /// signs and the variables' own bounds show it.
    pub(in super::super) fn is_never_negative(&self, poly: &Poly) -> bool {
        if let Some(known) = self.signs.borrow().get(poly) {
            return *known;
        }
        let answer = self.has_no_negative_term(poly);
        self.signs.borrow_mut().insert(poly.clone(), answer);
        answer
    }

    fn has_no_negative_term(&self, poly: &Poly) -> bool {
        if self.sums_naturals(poly) {
            return true;
        }
        // Counters with negative factors are as large as they can be.
        let mut poly = poly.clone();
        for (var, extent) in self.extents.iter().chain(&self.natural) {
            if poly.has_no_minus() {
                break;
            }
            let alone = Atom::Var(*var);
            if poly.terms.iter().any(|(product, factor)| *factor < 0 && product.contains(&alone)) {
                let least = extent.clone().sub(&Poly::constant(1));
                let slack = least.sub(&Poly::atom(Atom::Slack(*var)));
                poly = poly.replace(&|other| (other == *var).then(|| slack.clone()));
            }
        }
        // So are tile parameters, where all of their factors are; else they are
        // as small as they can be.
        let end = |var: VarId| {
            let VarKind::TileParam(param) = self.kernel.vars[var].kind else { return None };
            let (least, greatest) = self.kernel.tile_params[param].domain.range();
            let alone = Atom::Var(var);
            let mut terms = poly.terms.iter().filter(|(product, _)| product.contains(&alone));
            let slack = Poly::atom(Atom::Slack(var));
            Some(if terms.all(|(_, factor)| *factor < 0) {
                Poly::constant(i128::from(greatest)).sub(&slack)
            } else {
                Poly::constant(i128::from(least)).add(&slack)
            })
        };
        self.sums_naturals(&self.with_greatest(poly.replace(&end)))
    }

    fn sums_naturals(&self, poly: &Poly) -> bool {
        let mut atoms = poly.terms.iter().flat_map(|(product, _)| product);
        poly.has_no_minus() && atoms.all(|atom| self.is_natural(atom))
    }

    /// Functions with negative factors, taken as large as they can be:
    /// `a / b <= a`, `a % b <= b - 1`, `min(a, b) <= a`.
    fn with_greatest(&self, mut poly: Poly) -> Poly {
        if poly.has_no_minus() {
            return poly;
        }
        let negative = poly.terms.iter().filter(|(_, factor)| *factor < 0);
        let atoms: Vec<Atom> = negative.flat_map(|(product, _)| product.iter().cloned()).collect();
        let one = Poly::constant(1);
        for atom in atoms {
            let Atom::Binary(op, parts) = &atom else { continue };
            let (lhs, rhs) = &**parts;
            let is_positive = |value: &Poly| self.is_never_negative(&value.clone().sub(&one));
            let greatest = match op {
                _ if let Some(most) = self.most_of(&atom) => Poly::constant(most),
                BinaryOp::Div if self.is_never_negative(lhs) && is_positive(rhs) => lhs.clone(),
                BinaryOp::Rem if self.is_never_negative(lhs) && is_positive(rhs) => {
                    rhs.clone().sub(&one)
                }
                BinaryOp::Shr | BinaryOp::And | BinaryOp::Min if self.is_never_negative(lhs) => {
                    lhs.clone()
                }
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Hypot
                | BinaryOp::Copysign => continue,
            };
            poly = poly.replace_alone(&atom, &greatest);
        }
        poly
    }

    /// The greatest number that a polynomial can be, where numbers bound all of it.
    fn most(&self, poly: &Poly) -> Option<i128> {
        poly.terms.iter().try_fold(0_i128, |sum, (product, factor)| {
            if !product.iter().all(|atom| self.is_natural(atom)) {
                return None;
            }
            let of_term = |most: i128, atom| most.checked_mul(self.most_of(atom)?);
            let most = match product.as_slice() {
                [] => *factor,
                _ if *factor < 0 => 0,
                atoms => atoms.iter().try_fold(*factor, of_term)?,
            };
            sum.checked_add(most)
        })
    }

    /// The same of an atom that is at least 0.
    fn most_of(&self, atom: &Atom) -> Option<i128> {
        match atom {
            Atom::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::TileParam(param) => {
                    Some(self.kernel.tile_params[param].domain.range().1.into())
                }
                VarKind::Dim
                | VarKind::Scalar(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => {
                    let extent = self.extents.get(var).or_else(|| self.natural.get(var))?;
                    extent.as_constant()?.checked_sub(1)
                }
            },
            Atom::Binary(op, parts) => {
                let (lhs, rhs) = (&parts.0, parts.1.as_constant().filter(|rhs| *rhs > 0)?);
                let most = self.most(lhs).filter(|_| self.is_never_negative(lhs));
                match op {
                    BinaryOp::Div => Some(most? / rhs),
                    BinaryOp::Shr => most?.checked_shr(rhs.try_into().ok()?),
                    BinaryOp::Rem | BinaryOp::And if self.is_never_negative(lhs) => {
                        let end = if *op == BinaryOp::Rem { rhs - 1 } else { rhs };
                        Some(most.map_or(end, |most| most.min(end)))
                    }
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Rem
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::Pow
                    | BinaryOp::Atan2
                    | BinaryOp::Hypot
                    | BinaryOp::Copysign => None,
                }
            }
            Atom::Other(_)
            | Atom::Slack(_)
            | Atom::Unknown(_)
            | Atom::Natural(_)
            | Atom::Any
            | Atom::Cast(..)
            | Atom::Tiles(_) => None,
        }
    }

    fn is_natural(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Slack(_) | Atom::Natural(_) | Atom::Tiles(_) => true,
            Atom::Cast(_, [from, to]) => *to == Type::Index && is_unsigned(*from),
            Atom::Unknown(_) | Atom::Other(_) | Atom::Any => false,
            Atom::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each => true,
                VarKind::Loop => self.extents.contains_key(var) || self.natural.contains_key(var),
                VarKind::Scalar(_) => is_unsigned(self.kernel.vars[*var].ty),
                VarKind::Let { .. } => false,
            },
            Atom::Binary(op, parts) => match op {
                BinaryOp::Div | BinaryOp::Rem | BinaryOp::And | BinaryOp::Shr => {
                    self.is_never_negative(&parts.0)
                        && (*op != BinaryOp::Div || self.is_never_negative(&parts.1))
                }
                BinaryOp::Min => {
                    [&parts.0, &parts.1].into_iter().all(|p| self.is_never_negative(p))
                }
                BinaryOp::Max => {
                    [&parts.0, &parts.1].into_iter().any(|p| self.is_never_negative(p))
                }
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Hypot
                | BinaryOp::Copysign => false,
            },
        }
    }

    /// Whether a count is provably at least 1: of tiles, where there is
    /// something to divide up.
    pub(in super::super) fn is_positive(&self, poly: &Poly) -> bool {
        if let [(product, 1)] = poly.terms.as_slice()
            && let [Atom::Tiles(parts)] = product.as_slice()
        {
            return self.is_positive(&parts.0);
        }
        self.is_never_negative(&poly.clone().sub(&Poly::constant(1)))
    }
}

/// Whether an index that is made of a value of this type is at least 0.
pub(super) fn is_unsigned(ty: Type) -> bool {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return false };
    dtype.integer_range().is_some_and(|(min, max)| min == 0 && i64::try_from(max).is_ok())
}
