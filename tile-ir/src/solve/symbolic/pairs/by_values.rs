//! Questions about one access, of each of the values among which choices leave its index.
//!
//! `let r = if bit == 1 { below } else { all + t - below };` has two values, of which each is
//! asked about by itself, with what holds then: a system in which the choice stands has to find
//! out the same, with all else that is known of either value.

use std::cell::RefCell;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::{Site, Walk};

/// Values of one index that are looked at.
const MAX_VALUES: usize = 8;

/// A value that an index has where something holds.
pub(in super::super) type Valued = (Formula, Poly);

/// What has been asked: of whom, of what, and the answer.
type Answers = RefCell<Vec<(Formula, [Poly; 2], bool)>>;

/// The answers that have been given.
#[derive(Debug, Default)]
pub(in super::super) struct ByValues {
    /// Whether a value lies below an extent.
    below: Answers,
    /// Whether two values differ.
    differing: Answers,
}

/// The answer that was given, or what `prove` says.
fn ask(answers: &Answers, of: (Formula, [Poly; 2]), prove: impl FnOnce() -> bool) -> bool {
    let is_of = |known: &&(Formula, [Poly; 2], bool)| known.0 == of.0 && known.1 == of.1;
    let known = answers.borrow().iter().find(is_of).map(|known| known.2);
    known.unwrap_or_else(|| {
        let answer = prove();
        answers.borrow_mut().push((of.0, of.1, answer));
        answer
    })
}

impl Walk<'_> {
    /// The values among which choices leave an index, each with what holds then; `None` where
    /// they are many. A choice between two numbers stays as it is.
    pub(in super::super) fn values_by_choices(&self, index: &Poly) -> Option<Vec<Valued>> {
        let (mut open, mut found) = (vec![(Formula::True, index.clone())], Vec::new());
        while let Some((holds, value)) = open.pop() {
            let choice = value.unknowns().find_map(|unknown| {
                let choice = self.choices.get(&unknown).or(self.open_choices.get(&unknown))?;
                let is_number = choice.1.as_constant().and(choice.2.as_constant()).is_some();
                (!is_number).then_some((unknown, choice))
            });
            let Some((unknown, (cond, then, otherwise))) = choice else {
                found.push((holds, value));
                continue;
            };
            let with = |of: &Poly| value.replace(&|other| (other == unknown).then(|| of.clone()));
            open.push((holds.clone().and(cond.yes.clone()), with(then)));
            open.push((holds.and(cond.no.clone()), with(otherwise)));
            if open.len() + found.len() > MAX_VALUES {
                return None;
            }
        }
        found.iter().all(|(_, value)| !value.is_lost()).then_some(found)
    }

    /// Whether the index of an access is seen to lie below an extent, whichever value it has.
    pub(in super::super) fn lies_below(&self, made: &Formula, index: &Poly, extent: &Poly) -> bool {
        let is_outside =
            |value: &Poly| Formula::lt(value, &Poly::default()).or(Formula::le(extent, value));
        let of = (made.clone(), [index.clone(), extent.clone()]);
        ask(&self.by_values.below, of, || {
            let is_below = |(holds, value): &Valued| {
                self.is_never(&made.clone().and(holds.clone()).and(is_outside(value)))
            };
            self.values_by_choices(index).is_some_and(|values| values.iter().all(is_below))
        })
    }

    /// Whether one work-item is seen never to have one number as an index of two accesses,
    /// whichever values they have.
    pub(in super::super) fn differ_by_values(
        &self,
        sites: [&Site; 2],
        [one, other]: [&Poly; 2],
    ) -> bool {
        let made = sites.iter().flat_map(|site| site.guards.iter().cloned());
        let made = Formula::All(made.collect());
        let differ = |(holds, value): &Valued, (theirs_holds, their): &Valued| {
            let both = holds.clone().and(theirs_holds.clone()).and(Formula::eq(value, their));
            self.is_never(&made.clone().and(both))
        };
        let of = (made.clone(), [one.clone(), other.clone()]);
        ask(&self.by_values.differing, of, || {
            let values = [one, other].map(|index| self.values_by_choices(index));
            let [Some(ours), Some(theirs)] = values else { return false };
            ours.iter().all(|one| theirs.iter().all(|other| differ(one, other)))
        })
    }
}
