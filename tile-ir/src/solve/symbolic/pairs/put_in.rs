//! Proofs for each of the few values that scalars have, put into the text in their place.
//!
//! A merge sort's pass has rows of `nr` elements, a power of two between 2 and 8192, and `per` of
//! them in each part of its list. With a number in the place of `nr` the text multiplies by a
//! literal, and what it leaves has digits ([`super::weighed`]); that `per` is above 0 is a case of
//! its own ([`super::cases`]). So for each value that a launch may have ([`few_values`]) the kernel
//! is walked with it in the text, in all cases of the signs of the other numbers. A launch has one
//! of these values: what is proved for each of them is proved.
//!
//! Which numbers do not wrap is what a launch of the kernel as it stands is asked, not of the one
//! with a number in it ([`Exact`]).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::walk::Case;
use super::super::walk::begin::walk_put_in;
use super::super::{IsAsked, Unproved, prove_some};
use super::cases::{Patience, Shares, combinations};
use super::listed::unproved_in_each;
use crate::check::{Exact, Uniformity, few_values, with_values};
use crate::kernel::{Kernel, VarId, VarKind};

/// Most combinations of values, and of these and signs.
const MAX_VALUES: usize = 16;
const MAX_CASES: usize = 48;

/// Those of `open` that are not proved with each value put in.
pub(in super::super) fn unproved_with_each_value(
    (kernel, uniformity): (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    let all = if open.is_empty() { Vec::new() } else { values(kernel) };
    if all.is_empty() {
        return open.to_vec();
    }
    let exact = Rc::new(Exact::of(kernel));
    let shares = Shares::whole(all.len(), patience);
    unproved_in_each(&all, open, &shares, &|values, is_asked| {
        let fixed = with_values(kernel, values);
        let proved = |case: Case, is_asked: &IsAsked<'_>| {
            let mut walk = walk_put_in((&fixed, exact.clone()), uniformity, case);
            shares.within(&mut walk, |walk| prove_some(walk, is_asked, &mut BTreeSet::new))
        };
        let left = proved(Case::default(), is_asked);
        let signs = if left.is_empty() { Vec::new() } else { combinations(&fixed) };
        if signs.len() * all.len() > MAX_CASES {
            return left;
        }
        unproved_in_each(&signs, &left, &shares, &|signs, is_asked| {
            proved(Case { signs: signs.clone(), is_limited: true, ..Case::default() }, is_asked)
        })
    })
}

/// The combinations of values of as many scalars as make few of them.
fn values(kernel: &Kernel) -> Vec<BTreeMap<VarId, i128>> {
    let is_scalar = |var: &VarId| matches!(kernel.vars[*var].kind, VarKind::Scalar(_));
    let mut all = vec![BTreeMap::new()];
    for (var, values) in few_values(kernel).into_iter().filter(|(var, _)| is_scalar(var)) {
        if all.len() * values.len() > MAX_VALUES {
            continue;
        }
        let with = |value: &i128| -> Vec<BTreeMap<VarId, i128>> {
            let is = |given: &BTreeMap<VarId, i128>| {
                let mut given = given.clone();
                given.insert(var, *value);
                given
            };
            all.iter().map(is).collect()
        };
        all = values.iter().flat_map(with).collect();
    }
    all.retain(|values| !values.is_empty());
    all
}
