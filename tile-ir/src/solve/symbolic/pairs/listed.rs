//! Proofs for one size after the other, where the author lists them.
//!
//! That a tile of 64, 128 or 256 divides a length of 8192 shows in no inequality. With
//! each of the sizes put in for its name, quotients and products of sizes are numbers,
//! and digits of a flat index come apart; dimensions, grids and data stay symbols.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::super::search::linear::Effort;
use super::super::walk::Site;
use super::super::walk::begin;
use super::super::{IsAsked, Relation, Unproved, prove_some};
use super::cases::{Shares, unproved_by_cases};
use super::instance::Meeting;
use crate::arena::EntityId as _;
use crate::check::Uniformity;
use crate::config::{ConfigError, complete_tiles};
use crate::kernel::{AccessKind, Kernel, TileDomain, TileParamId, VarId, VarKind};
use crate::span::SpanId;

/// Most sizes of one parameter, and most combinations of them, that are tried.
const MAX_SIZES: usize = 16;
const MAX_COMBINATIONS: usize = 64;

/// How many times its equal share of the effort a size may take at most.
const SHARE: usize = 4;

/// At how many sizes there may be no proof, before there is said to be none.
const MAX_UNPROVED: usize = 4;

/// At how many sizes proofs by cases may fail, before no more are looked for.
const MAX_FAILED_CASES: usize = 2;

/// The sizes of some parameters.
pub(crate) type Sizes = Vec<(TileParamId, u32)>;

/// An access: its place and what it does.
type Side = (SpanId, AccessKind);

/// Sizes, and the pairs of accesses of which it was asked there: within a block, or between
/// blocks.
type Question = (Sizes, BTreeSet<([Side; 2], bool)>);

/// Proofs at each of the sizes that a kernel lists.
#[derive(Debug)]
pub(crate) struct EachSize<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    combinations: Vec<Sizes>,
    /// What was not proved at sizes, of the pairs of accesses that were asked for.
    failed: RefCell<BTreeMap<Question, Vec<Unproved>>>,
    /// What easy sizes leave is there for the hard ones.
    effort: Effort,
    /// At how many sizes proofs by cases have failed.
    failed_cases: Cell<usize>,
}

impl<'a> EachSize<'a> {
    pub(crate) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self {
            kernel,
            uniformity,
            combinations: combinations(kernel),
            failed: RefCell::default(),
            effort: Effort::of_kernel(),
            failed_cases: Cell::default(),
        }
    }

    /// Whether there are several: of one no more is known than of all sizes.
    pub(crate) fn are_many(&self) -> bool {
        self.combinations.len() > 1
    }

    /// The sizes at which some of `open` are not proved, each with these, but for those at
    /// which it is `known` otherwise that none of them meet. `None` where they are many.
    pub(crate) fn unproved(
        &self,
        open: &[Unproved],
        known: &[Vec<(VarId, i64)>],
    ) -> Option<Vec<(Sizes, Vec<Unproved>)>> {
        let is_left = |sizes: &&Sizes| !known.iter().any(|known| self.are_of(sizes, known));
        let left: Vec<&Sizes> = self.combinations.iter().filter(is_left).collect();
        if !self.are_many() && !left.is_empty() {
            return None;
        }
        let mut unproved = Vec::new();
        for sizes in &left {
            let failed = self.unproved_at(sizes, open, left.len());
            unproved.extend((!failed.is_empty()).then(|| ((*sizes).clone(), failed)));
            if unproved.len() > MAX_UNPROVED {
                return None;
            }
        }
        Some(unproved)
    }

    /// Those of `open` that are not proved at these sizes, some of so many.
    fn unproved_at(&self, sizes: &Sizes, open: &[Unproved], of: usize) -> Vec<Unproved> {
        let sides =
            open.iter().map(|found| ([found.first, found.second], is_between(found))).collect();
        let mut known = self.failed.borrow_mut();
        let failed =
            known.entry((sizes.clone(), sides)).or_insert_with(|| self.failed_at(sizes, open, of));
        let fails = |found: &&Unproved| failed.iter().any(|failed| is_of(found, failed));
        open.iter().filter(fails).copied().collect()
    }

    /// What is not proved at these sizes of the accesses that `open` speaks of.
    fn failed_at(&self, sizes: &Sizes, open: &[Unproved], of: usize) -> Vec<Unproved> {
        let mut fixed = self.kernel.clone();
        for (param, size) in sizes {
            fixed.tile_params[*param].domain = TileDomain::List(vec![*size]);
        }
        let mut walk = begin::walk(&fixed, self.uniformity);
        walk.set_effort(self.effort.taken(of.div_ceil(SHARE)));
        let is_asked = |sites: [&Site; 2], meeting: Meeting<'_>| are_asked(open, sites, meeting);
        let failed = prove_some(&walk, &is_asked, &mut BTreeSet::new);
        self.effort.put_back(&walk.effort);
        self.failed_by_cases(&fixed, failed)
    }

    /// Those of `open` that no cases of a kernel at one size prove.
    fn failed_by_cases(&self, fixed: &Kernel, open: Vec<Unproved>) -> Vec<Unproved> {
        if open.is_empty() || self.failed_cases.get() == MAX_FAILED_CASES {
            return open;
        }
        let left = unproved_by_cases(fixed, self.uniformity, &open);
        self.failed_cases.set(self.failed_cases.get() + usize::from(!left.is_empty()));
        left
    }

    /// Whether what is known of some sizes holds of these: of each parameter that matters
    /// they have the value.
    fn are_of(&self, sizes: &Sizes, known: &[(VarId, i64)]) -> bool {
        let Ok(all) = complete_tiles(self.kernel, sizes) else { return false };
        known.iter().all(|(var, value)| match self.kernel.vars[*var].kind {
            VarKind::TileParam(param) => {
                all.get(param.index()).is_some_and(|size| i64::from(*size) == *value)
            }
            VarKind::Dim
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => true,
        })
    }
}

/// Those of `open` that are not proved in each of some cases; `prove` says which are left
/// in one, of those that are asked.
pub(in super::super) fn unproved_in_each<C>(
    cases: &[C],
    open: &[Unproved],
    shares: &Shares<'_>,
    prove: &dyn Fn(&C, &IsAsked<'_>) -> Vec<Unproved>,
) -> Vec<Unproved> {
    let mut provable = open.to_vec();
    let mut rest = Vec::new();
    for case in cases {
        if shares.are_over() {
            // What is not asked in every case is not proved.
            rest.append(&mut provable);
        }
        if provable.is_empty() {
            break;
        }
        let is_asked =
            |sites: [&Site; 2], meeting: Meeting<'_>| are_asked(&provable, sites, meeting);
        let failed = prove(case, &is_asked);
        provable.retain(|found| {
            let fails = failed.iter().any(|failed| is_of(found, failed));
            rest.extend(fails.then_some(*found));
            !fails
        });
    }
    rest
}

/// Whether some of `found` speak of these accesses where they meet so.
fn are_asked(found: &[Unproved], sites: [&Site; 2], meeting: Meeting<'_>) -> bool {
    let sides = sites.map(|site| (site.span, site.kind));
    let is_asked = |found: &Unproved| {
        is_between(found) == meeting.is_between_blocks() && are_sides(found, sides)
    };
    found.iter().any(is_asked)
}

fn is_between(found: &Unproved) -> bool {
    found.relation == Relation::BetweenBlocks
}

fn are_sides(found: &Unproved, [one, other]: [Side; 2]) -> bool {
    (found.first, found.second) == (one, other) || (found.first, found.second) == (other, one)
}

/// Whether both speak of one pair, within blocks or between them.
fn is_of(found: &Unproved, other: &Unproved) -> bool {
    are_sides(found, [other.first, other.second]) && is_between(found) == is_between(other)
}

/// The combinations of the sizes of those parameters that have few.
fn combinations(kernel: &Kernel) -> Vec<Sizes> {
    let mut all: Vec<Sizes> = vec![Vec::new()];
    for (id, param) in kernel.tile_params.iter() {
        let values: Vec<u32> = match &param.domain {
            TileDomain::Any | TileDomain::Equal(_) => continue,
            domain => domain.values().take(MAX_SIZES + 1).collect(),
        };
        if values.len() > MAX_SIZES || values.len() * all.len() > MAX_SIZES * MAX_COMBINATIONS {
            continue;
        }
        let with = |given: &Sizes| -> Vec<Sizes> {
            values.iter().map(|value| [given.as_slice(), &[(id, *value)]].concat()).collect()
        };
        let mut more: Vec<Sizes> = all.iter().flat_map(with).collect();
        more.retain(|given| may_go_together(kernel, given));
        if more.len() <= MAX_COMBINATIONS {
            all = more;
        }
    }
    all
}

/// Whether a launch may have these sizes, as far as is known without the others.
fn may_go_together(kernel: &Kernel, given: &[(TileParamId, u32)]) -> bool {
    matches!(complete_tiles(kernel, given), Ok(_) | Err(ConfigError::MissingTile { .. }))
}
