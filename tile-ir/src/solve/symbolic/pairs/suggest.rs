//! At which sizes two accesses could collide: what a proof that fails leaves open,
//! solved for the numbers that a launch fixes.

use std::collections::BTreeMap;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::search::model::Model;
use super::super::walk::begin;
use super::super::walk::{Site, Value, Walk};
use super::super::{Relation, Unproved};
use super::flow::Encounter;
use super::instance::{Meeting, copy_of};
use crate::check::Uniformity;
use crate::kernel::{Kernel, TileDomain, VarId, VarKind};

/// Values of a tile parameter that are looked at.
const MAX_ADMITTED: usize = 64;

/// Sizes, and two blocks, with which a run may show a collision.
#[derive(Clone, Debug)]
pub(crate) struct Suggestion {
    /// Tile parameters, dimensions and scalars.
    pub(crate) sizes: Vec<(VarId, i64)>,
    /// Coordinates of the blocks of the two accesses.
    pub(crate) blocks: [Vec<i64>; 2],
}

/// The way from pairs of accesses to suggestions.
pub(crate) struct Suggestions<'a> {
    walk: Walk<'a>,
    pairs: Vec<Encounter>,
    admitted: BTreeMap<Unknown, Vec<i128>>,
}

impl<'a> Suggestions<'a> {
    /// Reads a kernel.
    pub(crate) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        let walk = begin::walk(kernel, uniformity);
        let pairs = walk.pairs.list();
        let admitted = admitted(&walk);
        Self { walk, pairs, admitted }
    }

    /// Where the two accesses of a pair could meet.
    pub(crate) fn suggest(&self, found: &Unproved) -> Option<Suggestion> {
        let is_one = |site: &Site, side: &(_, _)| (site.span, site.kind) == *side;
        let are_both = |one: &Site, other: &Site| {
            is_one(one, &found.first) && is_one(other, &found.second)
                || is_one(one, &found.second) && is_one(other, &found.first)
        };
        let sites = &self.walk.sites;
        if found.relation == Relation::BetweenBlocks {
            let mut pairs = sites.iter().flat_map(|one| sites.iter().map(move |two| (one, two)));
            let (one, other) = pairs.find(|(one, other)| are_both(one, other))?;
            return self.solve(one, other, Meeting::BetweenBlocks);
        }
        self.pairs.iter().find_map(|Encounter { sites: (a, b), distance, paths }| {
            let (one, other) = (&sites[*a], &sites[*b]);
            if !are_both(one, other) {
                return None;
            }
            self.solve(one, other, Meeting::InBlock(distance, paths))
        })
    }

    fn solve(&self, first: &Site, second: &Site, meeting: Meeting<'_>) -> Option<Suggestion> {
        let systems = self.walk.collision(first, second, meeting, true);
        let model =
            systems.iter().find_map(|system| system.model(&self.admitted, &self.walk.effort))?;
        let shared = matches!(meeting, Meeting::InBlock(..));
        let copies = if shared { [0, 0] } else { [1, 2] };
        let blocks = copies.map(|copy| {
            let axes = self.walk.grid.iter();
            let at = axes.map(|(_, axis)| number(&model, &copy_of(*axis, copy)).unwrap_or(0));
            at.collect()
        });
        Some(Suggestion { sizes: self.sizes(&model), blocks })
    }

    /// What a model says of a launch.
    fn sizes(&self, model: &Model) -> Vec<(VarId, i64)> {
        let vars = self.walk.kernel.vars.iter().filter(|(_, var)| match var.kind {
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => true,
            VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => false,
        });
        vars.filter_map(|(id, _)| {
            let Some(Value::Int(value)) = self.walk.env.get(&id) else { return None };
            let value = value.replace(&|symbol| Some(copy_of(symbol, 0)));
            Some((id, number(model, &value)?))
        })
        .collect()
    }
}

fn number(model: &Model, value: &Poly) -> Option<i64> {
    i64::try_from(model.value(value)?).ok()
}

/// The values that tile parameters and powers of two can have.
fn admitted(walk: &Walk<'_>) -> BTreeMap<Unknown, Vec<i128>> {
    let mut admitted: BTreeMap<Unknown, Vec<i128>> = BTreeMap::new();
    let mut admit = |symbol: Unknown, values: Vec<i128>| {
        let copies = (0..3).flat_map(|copy| copy_of(symbol, copy).unknowns().collect::<Vec<_>>());
        admitted.extend(copies.map(|unknown| (unknown, values.clone())));
    };
    for power in &walk.powers {
        admit(*power, (0..16).map(|exponent| 1 << exponent).collect());
    }
    for param in walk.kernel.tile_params.values() {
        let Some(Value::Int(value)) = walk.env.get(&param.var) else { continue };
        let values: Vec<i128> = match &param.domain {
            TileDomain::Any | TileDomain::Equal(_) => continue,
            domain => domain.values().take(MAX_ADMITTED).map(i128::from).collect(),
        };
        if let [(product, 1)] = value.terms()
            && let [symbol] = product.as_slice()
        {
            admit(*symbol, values);
        }
    }
    admitted
}
