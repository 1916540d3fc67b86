//! More effort, for pairs of accesses that come late.
//!
//! What a kernel's proofs may take is set for all of them. Where many are hard, those that come
//! first leave nothing to the last, which are no harder. So a pair at which the effort ends is asked
//! again with as much as there was at first, if all pairs before it have been shown to be apart and
//! have taken more than half of it. A pair that takes most by itself is not, nor is any behind one
//! that was not shown: of a kernel that is refused the check takes no longer.
//!
//! What comes late is asked first under those guards alone that say something of what its indices
//! are made of. `while k <= 31 { c[i, j] += s[k, i] * …; }` says nothing of `i` and `j` by `k <= 31`,
//! but each bound more makes a longer question. To leave out guards makes a system weaker: what has
//! no solution then has none.

use super::super::search::linear::Effort;
use super::super::walk::{Site, Walk};
use super::instance::Meeting;

/// How often there is as much again.
const MAX_RENEWALS: usize = 2;

/// The effort that there may yet be.
pub(in super::super) struct Renewals {
    whole: Effort,
    left: usize,
}

impl Renewals {
    /// For proofs that may take so much.
    pub(in super::super) fn of(effort: &Effort) -> Self {
        Self { whole: effort.copied(), left: MAX_RENEWALS }
    }

    /// Whether two accesses never touch one element in different hands; whether all pairs before
    /// are known not to is said.
    pub(in super::super) fn is_disjoint(
        &mut self,
        walk: &Walk<'_>,
        pair: [&Site; 2],
        (meeting, are_all_shown): (Meeting<'_>, bool),
    ) -> bool {
        let [first, second] = pair;
        // Conditions that say nothing of the indices make each pair a longer question.
        if self.left < MAX_RENEWALS
            && are_all_shown
            && is_disjoint_by_some_guards(walk, pair, meeting)
        {
            return true;
        }
        let may_renew =
            self.left > 0 && are_all_shown && walk.effort.is_less_than_half_of(&self.whole);
        if !may_renew {
            return walk.is_disjoint(first, second, meeting);
        }
        if walk.is_disjoint_so_far(pair, meeting) {
            return true;
        }
        if !walk.effort.is_spent() {
            return false;
        }
        self.left -= 1;
        walk.effort.renew(&self.whole);
        walk.by_indices.renew();
        walk.bracketed.renew();
        is_disjoint_by_some_guards(walk, pair, meeting) || walk.is_disjoint(first, second, meeting)
    }
}

/// Whether two accesses are disjoint by those of their guards alone that say something of what their
/// indices are made of: with fewer guards they are made more often.
fn is_disjoint_by_some_guards(walk: &Walk<'_>, pair: [&Site; 2], meeting: Meeting<'_>) -> bool {
    let [first, second] = pair.map(|site| walk.with_guards_of_indices(site));
    walk.is_disjoint_so_far([&first, &second], meeting)
}
