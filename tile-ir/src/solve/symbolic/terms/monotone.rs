//! What values are monotone functions of: `row / 2`, `row >> 3`, `min(row, k)`, `max(min(v, n), 0)`.
//!
//! A function that never falls keeps the order of what it is applied to. So bounds of rows that are
//! made of sorted elements in one way lie behind one another as the elements do, and places that are
//! made of others in one way stand to each other as these do. Which is which needs no cases, where
//! the quotients of signed numbers alone have several each.
//!
//! # What it rests on
//!
//! Each of these is monotone in the operand that varies, if the other one is the same on both
//! sides: the smaller and the larger of two; a quotient by what is above 0, rounded towards 0 or
//! down; a sum with a number; a product with a number above 0. So is one of the other. A product that
//! may wrap is another unknown, and so no product here.

use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::walk::Walk;
use super::value::Function;

/// Functions of functions that are looked into.
const MAX_STEPS: usize = 6;

/// How one value is made of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Step {
    /// A function of it and of this.
    Function(Function, Poly),
    /// So many times it, and this.
    Linear(i128, Poly),
}

impl Walk<'_> {
    /// What a value is a monotone function of, and which, the outermost first, where `is_fixed` says
    /// what is the same on both sides.
    pub(in super::super) fn monotone_of(
        &self,
        value: &Poly,
        is_fixed: &dyn Fn(Unknown) -> bool,
    ) -> (Poly, Vec<Step>) {
        let (mut value, mut steps) = (value.clone(), Vec::new());
        while steps.len() < MAX_STEPS {
            let applied = single(&value).and_then(|of| self.applied(of, is_fixed));
            let Some((step, of)) = applied.or_else(|| self.scaled_sum(&value, is_fixed)) else {
                break;
            };
            steps.push(step);
            value = of;
        }
        (value, steps)
    }

    /// The operand of a monotone function that varies.
    fn applied(&self, of: Unknown, is_fixed: &dyn Fn(Unknown) -> bool) -> Option<(Step, Poly)> {
        let (function, lhs, rhs) = self.function_of(of)?;
        let is_same = |side: &Poly| !side.is_lost() && side.unknowns().all(is_fixed);
        let is_positive = |side: &Poly| self.symbols.low(side).is_some_and(|low| low > 0);
        let (fixed, varied) = match function {
            Function::Min | Function::Max if is_same(lhs) => (lhs, rhs),
            Function::Min | Function::Max => (rhs, lhs),
            Function::Quotient | Function::Floor if is_positive(rhs) => (rhs, lhs),
            Function::Quotient
            | Function::Floor
            | Function::Remainder
            | Function::ExclusiveOr
            | Function::And
            | Function::Or
            | Function::Power
            | Function::Tiles
            | Function::UnsignedTurns
            | Function::SignedTurns
            | Function::Narrowed => return None,
        };
        let step = Step::Function(*function, fixed.clone());
        is_same(fixed).then(|| (step, varied.clone()))
    }

    /// An element or a function of which a value is a multiple, beside what is the same.
    fn scaled_sum(&self, value: &Poly, is_fixed: &dyn Fn(Unknown) -> bool) -> Option<(Step, Poly)> {
        let mut varied = value
            .terms()
            .iter()
            .filter(|(product, _)| !product.iter().all(|unknown| is_fixed(*unknown)));
        let (product, factor) = varied.next().filter(|(_, factor)| *factor > 0)?;
        let ([unknown], None) = (product.as_slice(), varied.next()) else { return None };
        let of = Poly::unknown(*unknown);
        let rest = value.sub(&of.scaled(*factor));
        let is_made = self.elements.contains_key(unknown) || self.function_of(*unknown).is_some();
        (is_made && of != *value && !rest.is_lost()).then_some((Step::Linear(*factor, rest), of))
    }
}
