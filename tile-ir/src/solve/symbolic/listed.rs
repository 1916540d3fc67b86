//! Proofs for one size after the other, where the author lists them.
//!
//! That a tile of 64, 128 or 256 divides a length of 8192 shows in no inequality. With
//! each of the sizes put in for its name, quotients and products of sizes are numbers,
//! and digits of a flat index come apart; dimensions, grids and data stay symbols.

use std::collections::BTreeSet;

use super::linear::Effort;
use super::walk::Site;
use super::{Relation, Unproved, prove_some, walk};
use crate::check::Uniformity;
use crate::kernel::{AccessKind, Kernel, TileDomain, TileParamId};
use crate::span::SpanId;

/// Most sizes of one parameter, and most combinations of them, that are tried.
const MAX_SIZES: usize = 16;
const MAX_COMBINATIONS: usize = 32;

/// An access: its place and what it does.
type Side = (SpanId, AccessKind);

/// Of which pairs of accesses is asked.
type IsAsked<'a> = dyn Fn(&Site, &Site) -> bool + 'a;

/// Those of `open` that are not proved for each of the listed sizes.
pub(crate) fn unproved_at_each_size(
    kernel: &Kernel,
    uniformity: &Uniformity,
    open: &[Unproved],
) -> Vec<Unproved> {
    let combinations = combinations(kernel);
    if combinations.len() < 2 {
        return open.to_vec();
    }
    unproved_in_each(&combinations, open, &|sizes, is_asked| {
        let mut fixed = kernel.clone();
        for (param, size) in sizes {
            fixed.tile_params[*param].domain = TileDomain::List(vec![*size]);
        }
        let mut walk = walk::walk(&fixed, uniformity);
        walk.effort = Effort::part(combinations.len());
        prove_some(walk, is_asked, &mut BTreeSet::new)
    })
}

/// Those of `open` that are not proved in each of some cases; `prove` says which are left
/// in one, of those that are asked.
pub(super) fn unproved_in_each<C>(
    cases: &[C],
    open: &[Unproved],
    prove: &dyn Fn(&C, &IsAsked<'_>) -> Vec<Unproved>,
) -> Vec<Unproved> {
    let mut provable = open.to_vec();
    let mut rest = Vec::new();
    for case in cases {
        let is_asked = |first: &Site, second: &Site| {
            let sides = [first, second].map(|site| (site.span, site.kind));
            provable.iter().any(|found| are_sides(found, sides))
        };
        let failed = prove(case, &is_asked);
        provable.retain(|found| {
            let fails = failed.iter().any(|failed| is_of(found, failed));
            rest.extend(fails.then_some(*found));
            !fails
        });
        if provable.is_empty() {
            break;
        }
    }
    rest
}

fn are_sides(found: &Unproved, [one, other]: [Side; 2]) -> bool {
    (found.first, found.second) == (one, other) || (found.first, found.second) == (other, one)
}

/// Whether both speak of one pair, within blocks or between them.
fn is_of(found: &Unproved, other: &Unproved) -> bool {
    let between = |found: &Unproved| found.relation == Relation::BetweenBlocks;
    are_sides(found, [other.first, other.second]) && between(found) == between(other)
}

/// The combinations of the sizes of those parameters that have few.
fn combinations(kernel: &Kernel) -> Vec<Vec<(TileParamId, u32)>> {
    let mut all: Vec<Vec<(TileParamId, u32)>> = vec![Vec::new()];
    for (id, param) in kernel.tile_params.iter() {
        let values: Vec<u32> = match &param.domain {
            TileDomain::Any | TileDomain::Equal(_) => continue,
            TileDomain::Range { min, max, step } => {
                (*min..=*max).step_by((*step).max(1) as usize).take(MAX_SIZES + 1).collect()
            }
            TileDomain::Pow2 { min, max } => {
                let powers = (0..32).map(|exponent| 1u32 << exponent);
                powers.filter(|power| (min..=max).contains(&power)).collect()
            }
            TileDomain::List(values) => values.clone(),
        };
        if values.len() > MAX_SIZES || values.len() * all.len() > MAX_COMBINATIONS {
            continue;
        }
        let with = |given: &Vec<_>| -> Vec<Vec<_>> {
            values.iter().map(|value| [given.as_slice(), &[(id, *value)]].concat()).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}
