//! Sums of flags of which a work-item has one at most, taken together.
//!
//! A block parts its keys in three: those that are less, those that are equal, and the others,
//! whose place is `t - l - e`, of the exclusive scans `l` and `e` of the first two flags. No
//! work-item has both flags, so that `l + e` is the scan of a flag too: it goes up by 1 at most
//! from one work-item to the next one, and stays where a work-item has neither. So does what
//! several such flags' scans add up to, and what their sums over the block do.
//!
//! # What it rests on
//!
//! - The sums are of one kind: over the same work-items, in the same iterations.
//! - That no work-item has two of the flags is proved of any one, by what is known of each.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;
use super::{Members, Over, Sum, within_total};

/// The latest sums with which another one is taken together, if that goes.
const MAX_ASKED: usize = 3;

/// Most sums that are taken together.
const MAX_TOGETHER: usize = 16;

/// Sums that are one of a flag together.
#[derive(Clone, Debug)]
pub(in super::super) struct Together {
    /// What they add up to.
    pub(super) value: Poly,
    pub(super) sum: Sum,
    /// The one that comes last.
    pub(super) last: Unknown,
}

impl Walk<'_> {
    /// Notes with which earlier sums a new one is the sum of a flag, too.
    pub(super) fn note_exclusive(&mut self, symbol: Unknown, sum: &Sum) {
        if !self.recording || sum.most != Some(1) || sum.within.is_some() {
            return;
        }
        let is_of_kind = |other: &Sum| {
            other.over == sum.over
                && other.group == sum.group
                && other.loops == sum.loops
                && other.within.is_none()
                && other.most == Some(1)
        };
        let single =
            self.sums.iter().rev().filter(|(of, other)| **of != symbol && is_of_kind(other));
        let single = single.map(|(of, other)| (Poly::unknown(*of), other.of.clone()));
        let several =
            self.together.iter().rev().filter(|of| of.last != symbol && is_of_kind(&of.sum));
        let several = several.map(|of| (of.value.clone(), of.sum.of.clone()));
        let found: Vec<(Poly, Poly)> =
            single.take(MAX_ASKED).chain(several.take(MAX_ASKED)).collect();
        for (value, of) in found {
            let of = of.add(&sum.of);
            let has_two = Formula::AtLeast(of.plus(-2));
            if self.together.len() < MAX_TOGETHER && self.is_never(&has_two) {
                let value = value.add(&Poly::unknown(symbol));
                self.add_together(Together { value, sum: Sum { of, ..sum.clone() }, last: symbol });
            }
        }
    }

    /// Adds what holds of sums that are one together: how large they are, and what they have to do
    /// with others of the same flags.
    fn add_together(&mut self, new: Together) {
        let Some(members) = self.members(new.sum.group) else { return };
        let Together { value, sum, last } = &new;
        let most = match sum.over {
            Over::Before => members.number.clone(),
            Over::UpTo => members.number.add(&sum.of),
            Over::All => members.count.clone(),
        };
        let mut facts = vec![(*last, Formula::le(value, &most))];
        let behind = Members::behind(&members);
        for other in self.together.iter().filter(|other| other.sum.is_of_same(sum)) {
            let both = ((value, sum), (&other.value, &other.sum));
            if let Some(fact) = within_total(both.0, both.1, Some(&behind)) {
                facts.extend([(*last, fact.clone()), (other.last, fact)]);
            }
        }
        facts.into_iter().for_each(|(symbol, fact)| self.symbols.add_facts(symbol, fact));
        self.together.push(new);
    }
}
