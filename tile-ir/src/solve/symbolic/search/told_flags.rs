//! Flags that other choices tell.
//!
//! Of `keep = a != 0` as a number it is known that it is 1 where `a < 0` or `a > 0`, and 0 where
//! `a` is 0. Who is past `if keep` has `a < 0` or `a > 0`: which of the two need not be asked to
//! know that the number is 1. So a case of a flag is left out where it cannot be together with
//! some choice, whatever comes of that.

use super::super::algebra::formula::Formula;
use super::is_flag;
use super::system::System;

impl System {
    /// Settles flags of which other choices leave one case; whether there is such a one.
    pub(in super::super) fn tell_flags(&mut self) -> bool {
        let is_told = |at: usize| {
            let [one, other] = self.choices[at].as_slice() else { return None };
            let others = || self.choices.iter().enumerate().filter(|(of, _)| *of != at);
            let is_out = |part: &Formula| {
                others().any(|(_, parts)| parts.iter().all(|of| are_contrary(of, part)))
            };
            is_flag(&self.choices[at])
                .then(|| if is_out(one) { Some(1) } else { is_out(other).then_some(0) })
                .flatten()
        };
        let told = (0..self.choices.len()).find_map(|at| Some((at, is_told(at)?)));
        let Some((at, left)) = told else { return false };
        let mut parts = self.choices.remove(at);
        *self = self.in_case(&parts.swap_remove(left));
        true
    }
}

/// Whether two formulas are seen never to hold together.
fn are_contrary(one: &Formula, other: &Formula) -> bool {
    match (one, other) {
        (Formula::False, _) | (_, Formula::False) => true,
        (Formula::Any(parts), of) | (of, Formula::Any(parts)) => {
            parts.iter().all(|part| are_contrary(part, of))
        }
        (Formula::All(parts), of) | (of, Formula::All(parts)) => {
            parts.iter().any(|part| are_contrary(part, of))
        }
        (Formula::AtLeast(one), Formula::AtLeast(other)) => {
            one.add(other).as_constant().is_some_and(|sum| sum < 0)
        }
        (Formula::Zero(zero), Formula::AtLeast(of))
        | (Formula::AtLeast(of), Formula::Zero(zero)) => {
            let sums = [of.add(zero), of.sub(zero)];
            sums.iter().any(|sum| sum.as_constant().is_some_and(|sum| sum < 0))
        }
        (Formula::Zero(one), Formula::Zero(other)) => {
            let gaps = [one.add(other), one.sub(other)];
            gaps.iter().any(|gap| gap.as_constant().is_some_and(|gap| gap != 0))
        }
        (Formula::True | Formula::Unknown, _) | (_, Formula::True | Formula::Unknown) => false,
    }
}
