//! Pairs of accesses that stay open because numbers of 32 or 64 bits may wrap, and for no other
//! reason.
//!
//! Where a pair is not proved, the kernel is walked once more as if no such number wrapped. If
//! the pair is proved there, wrapping is what there is to speak of, whatever else the index is
//! made of: with `first[0] + t` it is not that `first[0]` is loaded.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing};
use super::super::search::linear::Effort;
use super::super::walk::begin::{walk, walk_case};
use super::super::walk::{Case, Site, Walk};
use super::super::{Relation, Unproved, prove_some};
use super::instance::Meeting;
use crate::check::Uniformity;
use crate::kernel::{ArrayRef, Kernel};
use crate::span::SpanId;

/// Two accesses of one array, by their places in the text; in one block, or in two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) array: ArrayRef,
    pub(crate) spans: [SpanId; 2],
    pub(crate) is_between: bool,
}

impl Places {
    fn are(&self, first: SpanId, second: SpanId) -> bool {
        self.spans == [first, second] || self.spans == [second, first]
    }

    fn is_of(&self, found: &Unproved) -> bool {
        let is_between = matches!(found.relation, Relation::BetweenBlocks);
        self.is_between == is_between && self.are(found.first.0, found.second.0)
    }
}

/// Of how many parts of a kernel's effort a question takes one at most.
const PART: usize = 4;

/// What is known of the numbers of one kernel that may wrap. It takes two walks, whatever number
/// of pairs is asked about.
pub(crate) struct Wrapping<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    walk: OnceCell<Walk<'a>>,
    /// As if no number wrapped.
    unwrapped: OnceCell<Walk<'a>>,
}

impl<'a> Wrapping<'a> {
    /// Of a kernel.
    pub(crate) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self { kernel, uniformity, walk: OnceCell::new(), unwrapped: OnceCell::new() }
    }

    /// The number that may wrap, where that alone keeps accesses from being proved apart.
    pub(crate) fn number(&self, places: Places) -> Option<SpanId> {
        let walk = self.walk.get_or_init(|| walk(self.kernel, self.uniformity));
        let is_one = |site: &Site| site.array == places.array && places.spans.contains(&site.span);
        let wrapped = wrapped_in(walk, &is_one)?;
        let unwrapped = self.unwrapped.get_or_init(|| {
            let case = Case { never_wraps: true, ..Case::default() };
            let mut walk = walk_case(self.kernel, self.uniformity, case);
            walk.set_effort(Effort::parts(1, PART));
            walk
        });
        unwrapped.effort.renew(&Effort::parts(1, PART));
        let is_asked = |[first, second]: [&Site; 2], meeting: Meeting<'_>| {
            meeting.is_between_blocks() == places.is_between
                && first.array == places.array
                && places.are(first.span, second.span)
        };
        let left = prove_some(unwrapped, &is_asked, &mut BTreeSet::new);
        (!left.iter().any(|found| places.is_of(found))).then_some(wrapped)
    }
}

/// A number that may wrap, of those that the indices and conditions of such accesses are made of.
pub(in super::super) fn wrapped_in(
    walk: &Walk<'_>,
    is_one: &dyn Fn(&Site) -> bool,
) -> Option<SpanId> {
    let mut open: Vec<Unknown> = Vec::new();
    for site in walk.sites.iter().filter(|site| is_one(site)) {
        site.guards.iter().for_each(|guard| guard.collect_unknowns(&mut open));
        open.extend(site.indices.iter().flat_map(Poly::unknowns));
    }
    // Of several, the one that is met last.
    let mut found = None;
    let mut seen = BTreeSet::new();
    while let Some(unknown) = open.pop() {
        if !seen.insert(unknown) {
            continue;
        }
        let Some(symbol) = walk.symbols.get(unknown) else { continue };
        if let Some((span, Obstacle::Wraps)) = symbol.obstacle {
            found = Some(span);
        }
        if let Sharing::Function(of) = &symbol.sharing {
            open.extend(of);
        }
    }
    found
}
