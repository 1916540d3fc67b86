//! Proofs that have been tried.
//!
//! `c[i] += e` reads and writes in one place: what is asked of the two accesses is asked
//! twice and more. Accesses that differ in nothing but what they do are one to a proof. One that
//! is made under more conditions than another is disjoint from whatever that is disjoint from.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::super::walk::Site;
use super::flow::{Distance, Path};
use super::instance::Meeting;

/// Two accesses, by the first ones that are like them, and where they meet.
type Question = ([usize; 2], Option<(Distance, [Path; 2])>);

/// What has been asked, with the answers.
#[derive(Debug, Default)]
pub(in super::super) struct Known(RefCell<BTreeMap<Question, bool>>);

impl Known {
    /// The answer to a question about two of `sites`, found out where it is asked for
    /// the first time. Where it is only `tried`, a `false` is no answer.
    pub(in super::super) fn ask(
        &self,
        sites: &[Site],
        (pair, meeting): ([&Site; 2], Meeting<'_>),
        tried: bool,
        find: impl FnOnce() -> bool,
    ) -> bool {
        let alike = |site: &Site| sites.iter().position(|other| other.is_like(site));
        let [Some(first), Some(second)] = pair.map(alike) else { return find() };
        let question = match meeting {
            Meeting::InBlock(distance, paths) => {
                ([first, second], Some((distance.clone(), paths.clone())))
            }
            Meeting::BetweenBlocks => ([first.min(second), first.max(second)], None),
        };
        if let Some(answer) = self.0.borrow().get(&question) {
            return *answer;
        }
        if self.is_covered(sites, &question) {
            return true;
        }
        let answer = find();
        if answer || !tried {
            self.0.borrow_mut().insert(question, answer);
        }
        answer
    }
}

impl Known {
    /// What was not shown may be asked again.
    pub(in super::super) fn forget_unshown(&self) {
        self.0.borrow_mut().retain(|_, is_shown| *is_shown);
    }

    /// Whether two accesses of the same elements are known never to meet so that are made wherever
    /// these are.
    fn is_covered(&self, sites: &[Site], ([first, second], meeting): &Question) -> bool {
        let covers = |one: usize, other: usize| sites[one].covers(&sites[other]);
        let is_wider = |[one, other]: [usize; 2]| covers(one, *first) && covers(other, *second);
        self.0.borrow().iter().any(|(([one, other], at), answer)| {
            *answer
                && at == meeting
                && (is_wider([*one, *other]) || meeting.is_none() && is_wider([*other, *one]))
        })
    }
}

impl Site {
    /// Whether the other one is made by the same workers, of the same element, where this one is,
    /// and more is known of it.
    fn covers(&self, other: &Self) -> bool {
        self.array == other.array
            && self.loops == other.loops
            && self.worker == other.worker
            && self.indices == other.indices
            && self.guards.iter().all(|guard| other.guards.contains(guard))
            && self.made.iter().all(|old| other.made.contains(old))
            && self.differing.iter().all(|of| other.differing.contains(of))
    }

    /// Whether the two are made by the same workers, at the same time, of the same
    /// element.
    pub(in super::super) fn is_like(&self, other: &Self) -> bool {
        self.array == other.array
            && self.loops == other.loops
            && self.worker == other.worker
            && self.indices == other.indices
            && self.guards == other.guards
            && self.made == other.made
            && self.differing == other.differing
    }
}
