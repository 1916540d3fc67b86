//! Kernels that are right whichever way conditions of the launch come out.
//!
//! ```text
//! if z > 0 { s[t] = …; barrier; let at = atomic n[0] += 1; … }
//! ```
//!
//! Many a proof looks for what all of a block do first, or last, or once, in the body itself: of
//! sums over work-items, of slots of counters, of tiles that are filled. What stands under a
//! condition that scalars and sizes alone decide is done by all in one launch, and by nobody in
//! another. So a kernel of which nothing shows that it is right, and nothing that it is wrong, is
//! checked once more for each way in which such a condition may come out ([`way`]): as the kernel
//! in which what is done there stands in the place of the `if`; where that does not show it, with
//! the condition, or its opposite, as a fact about the launch. A way that is open still is parted
//! by the next condition.
//!
//! # Why that does
//!
//! A condition of which is asked here is made of numbers that nobody changes: scalar parameters,
//! dimensions and tile sizes. So it has one value in a launch, wherever and whenever it is
//! evaluated, and all blocks and all work-items run what the kernel of that way runs, statement by
//! statement. What no launch of any of the ways does, no launch does. A way whose facts exclude
//! each other, or what the kernel assumes of its launches, has no launch.
//!
//! # What it leaves to the whole kernel
//!
//! The kernel that is embedded and run is the whole one, whose barriers have been seen to stand
//! where all meet, and of which nothing is known to be wrong. Of its launches is asked what is
//! asked without this:
//!
//! - whether numbers wrap: no number that some way takes not to wrap may be one of which a launch
//!   of the whole kernel is not asked ([`Exact`]), and none may number its work-items in 32 bits
//!   where the whole does not;
//! - whether preconditions hold: an assumption under a condition is a guess about data, and no
//!   way makes a precondition of it.
//!
//! That what is read has been written is seen of the whole kernel: runs that find no such read are
//! no proof, and those of a way are others. But where runs of the whole have found one that may be,
//! or have not come to their end, each way may show of that tile by its text alone that there is
//! none ([`super::initialised`]): that is a proof for the launches that take it. That results do not
//! depend on the order is said of the whole. It is proved for all sizes where each way is. Of
//! barriers that order nothing nothing is said.

mod conditions;
mod way;

use std::collections::BTreeSet;

use self::conditions::deciding;
use self::way::Way;
use super::{
    Exact, Folds, Refused, Report, Verdict, check_either_spelling, initialised, narrows, uniformity,
};
use crate::kernel::{Kernel, TileId};

/// How many conditions are asked of one way, and how many ways there are in all.
const MAX_CONDITIONS: usize = 3;
const MAX_WAYS: usize = 8;

/// How it is known that a kernel is right that is refused as it stands, if it is in each way.
pub(super) fn right_each_way(refused: &Refused) -> Option<Verdict> {
    if refused.is_certain {
        return None;
    }
    let whole = &refused.kernel;
    let unfilled = &refused.unfilled;
    let mut search = Search { whole, unfilled, exact: None, left: MAX_WAYS };
    search.parted(&Way::whole(whole), MAX_CONDITIONS)
}

struct Search<'a> {
    whole: &'a Kernel,
    /// The tiles of which each way has to show that what is read there has been written.
    unfilled: &'a BTreeSet<TileId>,
    /// The numbers that a launch of the whole kernel bounds.
    exact: Option<Exact>,
    /// How many ways may yet be checked.
    left: usize,
}

impl Search<'_> {
    /// Parts a way that is open by one of its conditions.
    fn parted(&mut self, way: &Way, conditions: usize) -> Option<Verdict> {
        let cond = deciding(&way.kernel).filter(|_| conditions > 0)?;
        let mut verdict = Verdict::AllSizes;
        for holds in [true, false] {
            let way = way.parted(cond, holds)?;
            if way.has_no_launch() {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            let right = self.right(&way).or_else(|| self.parted(&way, conditions - 1));
            if right? == Verdict::ListedSizes {
                verdict = Verdict::ListedSizes;
            }
        }
        Some(verdict)
    }

    /// How it is known that a way is right, if it is as it stands.
    fn right(&mut self, way: &Way) -> Option<Verdict> {
        way.spellings(self.whole).into_iter().find_map(|kernel| {
            // The text is soon asked, and mostly says whether more is to be.
            if !self.fills(&kernel) {
                return None;
            }
            let checked = check_either_spelling(&kernel, Report::Verdict).ok()?.kernel;
            self.asks_all_of(&checked.kernel).then_some(checked.verdict)
        })
    }

    /// Whether the text of a way shows that the open tiles are filled before they are read.
    fn fills(&self, way: &Kernel) -> bool {
        self.unfilled.is_empty() || {
            let (uniform, folds) = (uniformity(way), Folds::of(way));
            let facts = initialised::Facts::of(way, &uniform, &folds);
            initialised::unfilled(way, &facts).is_disjoint(self.unfilled)
        }
    }

    /// Whether a launch of the whole kernel is asked for all numbers of which one of this way is.
    fn asks_all_of(&mut self, way: &Kernel) -> bool {
        let whole = self.whole;
        let exact = self.exact.get_or_insert_with(|| Exact::of(whole));
        (!narrows(way) || narrows(whole)) && Exact::of(way).is_asked_of(way, exact, whole)
    }
}
