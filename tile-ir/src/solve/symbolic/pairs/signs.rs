//! Sizes of either sign that are divided: proofs in two cases.
//!
//! `n / B` of `n: i32` is rounded towards 0, and `t * n / B` falls where `n` is below 0. A
//! launch has one `n`; of the one sign and of the other a proof is short, of both at once
//! each quotient has its cases.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::search::system::System;
use super::super::terms::value::Function;
use super::instance::{Builder, Side};

impl Builder<'_> {
    /// A value of the launch, of either sign, of which a quotient is taken that either side
    /// mentions.
    pub(in super::super) fn divided_size(&mut self) -> Option<Poly> {
        let walk = self.walk;
        let is_signed = |unknown: &Unknown| {
            let is_natural = walk.symbols.low(&Poly::unknown(*unknown)).is_some_and(|low| low >= 0);
            let symbol = walk.symbols.get(*unknown);
            !is_natural && symbol.is_some_and(|symbol| symbol.sharing == Sharing::Launch)
        };
        let found = walk.functions.iter().find_map(|((function, lhs, rhs), symbol)| {
            let is_seen = [Side::First, Side::Second]
                .iter()
                .any(|side| self.seen.contains(&(*symbol, *side)));
            let is_quotient = *function == Function::Quotient && rhs.as_constant().is_none();
            if is_quotient && is_seen { lhs.unknowns().find(is_signed) } else { None }
        })?;
        Some(self.on(Side::First, &Poly::unknown(found)))
    }
}

/// The systems with `size` not below 0, and those with it below 0.
pub(in super::super) fn by_sign(size: &Poly, systems: &mut Vec<System>) {
    let mut below = systems.clone();
    below.iter_mut().for_each(|system| system.assert(&Formula::lt(size, &Poly::default())));
    systems.iter_mut().for_each(|system| system.assert(&Formula::AtLeast(size.clone())));
    systems.extend(below);
}
