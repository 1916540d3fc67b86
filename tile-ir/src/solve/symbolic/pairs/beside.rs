//! What is asked beside other proofs, of accesses under some of their guards alone.
//!
//! Accesses without guards that say nothing to a question are often alike where whole ones are
//! not, so that it is one question; and what it takes must not be missing elsewhere.

use std::cell::{Ref, RefCell};

use super::super::search::linear::Effort;
use super::super::walk::Site;
use super::instance::Meeting;
use super::known::Known;

/// The accesses that have been asked about, the answers, and what may still be spent.
#[derive(Debug)]
pub(in super::super) struct Beside {
    sites: RefCell<Vec<Site>>,
    answers: Known,
    effort: Effort,
    /// What might be spent at first.
    whole: Effort,
}

impl Default for Beside {
    fn default() -> Self {
        Self::of(&Effort::of_kernel())
    }
}

impl Beside {
    /// It may take a quarter of what other proofs may, besides.
    pub(in super::super) fn of(others: &Effort) -> Self {
        let whole = others.half().half();
        let effort = whole.copied();
        Self { sites: RefCell::default(), answers: Known::default(), effort, whole }
    }

    /// It may take as much as at first, also for what was asked and not shown.
    pub(in super::super) fn renew(&self) {
        self.answers.forget_unshown();
        self.effort.renew(&self.whole);
    }

    /// The answer that was given of two such accesses, or what `prove` says.
    pub(in super::super) fn ask(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
        prove: impl FnOnce() -> bool,
    ) -> bool {
        let known = self.including(sites);
        self.answers.ask(&known, (sites, meeting), false, prove)
    }

    /// What `prove` says where it spends no more than one of so many parts, of what is set aside
    /// for this in place of what `others` may.
    pub(in super::super) fn spend(
        &self,
        others: &Effort,
        part: u64,
        prove: impl FnOnce() -> bool,
    ) -> bool {
        others.exchanged(&self.effort, || others.within_part(part, prove))
    }

    /// All such accesses, these among them.
    fn including(&self, sites: [&Site; 2]) -> Ref<'_, Vec<Site>> {
        let mut known = self.sites.borrow_mut();
        for site in sites {
            if !known.iter().any(|other| other.is_like(site)) {
                known.push(site.clone());
            }
        }
        drop(known);
        self.sites.borrow()
    }
}
