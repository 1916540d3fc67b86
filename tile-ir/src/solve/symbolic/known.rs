//! Proofs that have been tried.
//!
//! `c[i] += e` reads and writes in one place: what is asked of the two accesses is asked
//! twice and more. Accesses that differ in nothing but what they do are one to a proof.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::flow::{Distance, Path};
use super::instance::Meeting;
use super::walk::Site;

/// Two accesses, by the first ones that are like them, and where they meet.
type Question = ([usize; 2], Option<(Distance, [Path; 2])>);

/// What has been asked, with the answers.
#[derive(Debug, Default)]
pub(super) struct Known(RefCell<BTreeMap<Question, bool>>);

impl Known {
    /// The answer to a question about two of `sites`, found out where it is asked for
    /// the first time. Where it is only `tried`, a `false` is no answer.
    pub(super) fn ask(
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
        let answer = find();
        if answer || !tried {
            self.0.borrow_mut().insert(question, answer);
        }
        answer
    }
}

impl Site {
    /// Whether the two are made by the same workers, at the same time, of the same
    /// element.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.array == other.array
            && self.loops == other.loops
            && self.worker == other.worker
            && self.indices == other.indices
            && self.guards == other.guards
            && self.made == other.made
            && self.differing == other.differing
    }
}
