//! Deciding an array by running every admissible size.
//!
//! Possible where nothing that reaches its indices is open-ended: no dimension, no
//! scalar, and of the tile parameters only ones with few values. Then the runs are
//! not samples but all there is. A dimension that is only an extent is taken as
//! large as anybody asks: a smaller one only drops accesses. Under a condition on
//! loaded data either arm may be run, so both are; what only this makes collide
//! stays undecided. So it is with conditions on dimensions and scalars (`if i < n`), on
//! tile parameters that size neither blocks nor arrays, and, where blocks do not meet, on
//! the coordinates of the block: their values are left open ([`Sizes::open`]). Of loops
//! that end by such values any iteration is run, and of the block's own decisions by them
//! each path ([`Path`]). Where values of type parameters' types matter, all types are run.
//! Where it comes to the values, and a launch is refused unless it has one of few
//! ([`few_values`]), each of these is run.

use std::collections::{BTreeMap, BTreeSet};

use super::data::Pool;
use super::machine::{ANY_EXTENT, Blocks, Machine, Path, Stop};
use super::plan::Plan;
use super::sizes::Sizes;
use super::types::Types;
use super::window::Windows;
use super::{BUDGET, Findings, Scope};
use crate::arena::EntityId as _;
use crate::check::{Origins, broken_precondition, few_values, preconditions};
use crate::config::complete_tiles;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, TileDomain, TileParamId, VarId, VarKind};

/// Most combinations of tile sizes that are run.
const MAX_COMBINATIONS: usize = 4096;
/// Most combinations of values that a launch may have.
const MAX_FEW: usize = 128;
/// A dimension that does not matter.
const SOME_EXTENT: i64 = 8;

/// Whether all sizes were run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exhaustion {
    /// They were: what was not found does not exist.
    Complete,
    /// Blocks are apart, however many there are; what meets within one was not asked.
    Apart,
    /// This matters and may have any value, or too many.
    OpenEnded(VarId),
    /// Loaded data matters.
    Data,
    /// The budget ended.
    Budget {
        /// These sizes, and those after them, were not run.
        from: Vec<(VarId, i64)>,
        /// These were, and nothing collides at them.
        run: Vec<Vec<(VarId, i64)>>,
    },
}

/// A kernel, and the sizes of tile parameters that are asked for if not all are.
type At<'a> = (&'a Kernel, Option<&'a [Vec<(TileParamId, u32)>]>);

/// Runs all sizes that matter to `array`, within a block or (`scope`) between blocks too;
/// what collides is added to `findings`.
pub(crate) fn exhaust(
    (kernel, sizes): At<'_>,
    (array, scope): (ArrayRef, Scope),
    findings: &mut Findings,
    fuel: &mut u32,
) -> Exhaustion {
    let plan = Plan::of(kernel, &|other| other == array);
    let without = exhaust_by((kernel, sizes), (&plan, scope), findings, fuel);
    if without.is_settled() || matches!(without, Exhaustion::Budget { .. }) {
        return without;
    }
    // What is not known may be what the kernel itself has stored.
    let plan = Plan::storing(kernel, BTreeSet::new(), &|other| other == array);
    if !plan.holds_any() {
        return without;
    }
    let by_values = exhaust_by((kernel, sizes), (&plan, scope), findings, fuel);
    if by_values.is_settled() {
        return by_values;
    }
    // Or what data has made, which the kernel has stored.
    let by_amounts = exhaust_by((kernel, sizes), (&plan.by_amounts(), scope), findings, fuel);
    if by_amounts.is_settled() { by_amounts } else { without }
}

impl Exhaustion {
    /// Whether some sizes were run, and nothing collides at them.
    fn has_run(&self) -> bool {
        matches!(self, Self::Budget { run, .. } if !run.is_empty())
    }

    /// Whether nothing is left to ask of what was asked.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self, Self::Complete | Self::Apart)
    }
}

/// The same by one plan.
fn exhaust_by(
    (kernel, only): At<'_>,
    (plan, scope): (&Plan<'_>, Scope),
    findings: &mut Findings,
    fuel: &mut u32,
) -> Exhaustion {
    // One block is as good as any where it is alone with the array.
    let is_alone = scope == Scope::Block;
    let (open, params) = match open_ended(kernel, plan, is_alone) {
        Ok(found) => found,
        Err(_) if !is_alone && are_windows_apart(kernel, plan, fuel) => {
            return Exhaustion::Apart;
        }
        Err(var) => return Exhaustion::OpenEnded(var),
    };
    let mut combinations = match combinations(kernel, &params) {
        Ok(combinations) => combinations,
        Err(param) => return Exhaustion::OpenEnded(kernel.tile_params[param].var),
    };
    let is_asked = |tiles: &Vec<u32>, sizes: &Vec<(TileParamId, u32)>| {
        let mut given = sizes.iter().filter(|(param, _)| params.contains(param));
        given.all(|(param, size)| tiles.get(param.index()) == Some(size))
    };
    if let Some(only) = only {
        combinations.retain(|tiles| only.iter().any(|sizes| is_asked(tiles, sizes)));
    }
    let of_launch = |var: &&VarId| !kernel.grid.iter().any(|axis| axis.var == **var);
    let is_tile = |var: &VarId| matches!(kernel.vars[*var].kind, VarKind::TileParam(_));
    // Of a tile parameter sizes can be listed.
    let given = open.iter().filter(of_launch).min_by_key(|var| !is_tile(var)).copied();
    let Some(types) = types_of(kernel, plan) else { return Exhaustion::Data };
    let mut run = |open: BTreeSet<VarId>, few: &Few, findings: &mut Findings, more: u32| {
        let own = *fuel;
        *fuel = own.saturating_add(more);
        let mut runs = types.iter().map(|types| {
            let all = combinations.iter().map(|tiles| sizes(kernel, plan, tiles, open.clone()));
            let all = all.flat_map(|sizes| with_few(kernel, &sizes, few));
            run_all((kernel, plan, scope), (all, types), findings, fuel)
        });
        let outcome = runs.find(|run| *run != Exhaustion::Complete);
        drop(runs);
        *fuel = own.min(*fuel);
        match outcome {
            // Those were run for some of the types alone.
            Some(Exhaustion::Budget { from, .. }) if types.len() > 1 => {
                Exhaustion::Budget { from, run: Vec::new() }
            }
            Some(outcome) => outcome,
            None => Exhaustion::Complete,
        }
    };
    let none = Few::new();
    let with_open = (!open.is_empty()).then(|| run(open.clone(), &none, findings, 0));
    if with_open == Some(Exhaustion::Complete) {
        return Exhaustion::Complete;
    }
    let few = few_of(kernel, &open);
    if !few.is_empty() {
        // What data was seen to decide is asked again, here too.
        let (known, open_pairs) = (findings.known.clone(), findings.open.clone());
        let mut found = Findings { known, open: open_pairs, ..Findings::default() };
        let outcome = run(open.clone(), &few, &mut found, BUDGET);
        // Elsewhere there need be no launch at which it happens.
        if open.iter().all(|var| few.contains_key(var)) && are_decided(kernel, &few) {
            findings.known.extend(found.known);
            findings.conflicts.append(&mut found.conflicts);
        }
        if outcome == Exhaustion::Complete && found.conflicts.is_empty() {
            return Exhaustion::Complete;
        }
    }
    match (with_open, given) {
        // What could be run shows that it does not matter what is left open.
        (Some(ended @ Exhaustion::Budget { .. }), _) if ended.has_run() => ended,
        (_, Some(var)) => Exhaustion::OpenEnded(var),
        (_, None) => run(BTreeSet::new(), &none, findings, 0),
    }
}

/// The ways to bind type parameters that are to be run; `None` where they are too many.
fn types_of(kernel: &Kernel, plan: &Plan<'_>) -> Option<Vec<Types>> {
    match plan.decides_by_types() {
        true => Types::all(kernel),
        false => Some(vec![Types::of(kernel)]),
    }
}

/// The few values that some numbers of a launch may have.
type Few = BTreeMap<VarId, Vec<i64>>;

/// Of what is left open, that of which a launch may have few values.
fn few_of(kernel: &Kernel, open: &BTreeSet<VarId>) -> Few {
    let mut few = Few::new();
    if open.is_empty() {
        return few;
    }
    let mut n_all = 1;
    for (var, values) in few_values(kernel) {
        let values: Option<Vec<i64>> = values.iter().map(|at| i64::try_from(*at).ok()).collect();
        if let Some(values) = values.filter(|values| n_all * values.len() <= MAX_FEW)
            && open.contains(&var)
        {
            n_all *= values.len();
            few.insert(var, values);
        }
    }
    few
}

/// Whether tile sizes and these `few` values decide all that is assumed.
fn are_decided(kernel: &Kernel, few: &Few) -> bool {
    let origins = Origins::of(kernel);
    let asked = preconditions(kernel);
    let is_known = |var: &VarId| {
        few.contains_key(var) || matches!(kernel.vars[*var].kind, VarKind::TileParam(_))
    };
    origins
        .assumed
        .iter()
        .all(|cond| asked.contains(cond) && origins.vars(kernel, *cond).iter().all(is_known))
}

/// These sizes with each of the `few` values put in, but for those that no launch may have.
fn with_few(kernel: &Kernel, sizes: &Sizes, few: &Few) -> Vec<Sizes> {
    let mut all = vec![sizes.clone()];
    for (var, values) in few {
        let with = |sizes: &Sizes| -> Vec<Sizes> {
            let is = |value: &i64| {
                let mut sizes = sizes.clone();
                sizes.open.remove(var);
                sizes.values[var.index()] = Some(*value);
                sizes
            };
            values.iter().map(is).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    let conditions = if few.is_empty() { Vec::new() } else { preconditions(kernel) };
    all.retain(|sizes| {
        let value = |var: VarId| {
            let is_given =
                few.contains_key(&var) || matches!(kernel.vars[var].kind, VarKind::TileParam(_));
            sizes.values[var.index()].filter(|_| is_given).map(i128::from)
        };
        broken_precondition(kernel, &conditions, &value).is_none()
    });
    all
}

/// Whether blocks are apart however many there are: one block, of any coordinates, is run
/// at each of the tile sizes, and what it touches are windows that are apart.
fn are_windows_apart(kernel: &Kernel, plan: &Plan<'_>, fuel: &mut u32) -> bool {
    let Ok((open, params)) = open_ended(kernel, plan, true) else { return false };
    let Ok(combinations) = combinations(kernel, &params) else { return false };
    let Some(types) = types_of(kernel, plan) else { return false };
    let pool = Pool::of(kernel);
    let mut seen = BTreeSet::new();
    let all = combinations.iter().map(|tiles| sizes(kernel, plan, tiles, open.clone()));
    let all = all.filter(|sizes| seen.insert(plan.key(sizes)));
    let all = all.flat_map(|sizes| types.iter().map(move |types| (sizes.clone(), types)));
    let all: Vec<(Sizes, &Types)> = all.collect();
    all.into_iter().all(|(sizes, types)| {
        // Each block may take a path of its own.
        let mut windows = Windows::default();
        let mut path = Path::default();
        loop {
            // What collides within a block is not asked here.
            let mut within = Findings::default();
            let machine = Machine::new(kernel, plan, &sizes, &pool, &mut within, fuel);
            let machine = machine.with_types(types);
            let machine = machine.with_amounts(plan.follows_amounts);
            let run = machine.along(&mut path).noting(&mut windows).run(Blocks::All);
            if run.is_err() || !windows.are_apart(kernel) {
                return false;
            }
            if !path.advance() {
                return true;
            }
        }
    })
}

/// Of what matters to an array: that of which the value can be left open, and the
/// tile parameters. An error names what is neither.
fn open_ended(
    kernel: &Kernel,
    plan: &Plan<'_>,
    is_alone: bool,
) -> Result<(BTreeSet<VarId>, BTreeSet<TileParamId>), VarId> {
    let mut params: BTreeSet<TileParamId> = BTreeSet::new();
    let mut open = BTreeSet::new();
    for var in &plan.used {
        match kernel.vars[*var].kind {
            VarKind::TileParam(param)
                if is_number_alone(kernel, param) && (is_alone || !sizes_grid(kernel, *var)) =>
            {
                open.insert(*var);
            }
            VarKind::TileParam(param) => {
                params.insert(param);
            }
            VarKind::Dim if plan.extents_alone.contains(var) => {}
            // How many blocks there are matters where they meet.
            VarKind::Dim | VarKind::Scalar(_) if is_alone || !sizes_grid(kernel, *var) => {
                open.insert(*var);
            }
            VarKind::Dim
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => return Err(*var),
        }
    }
    if is_alone && plan.depends_on_block() {
        open.extend(kernel.grid.iter().map(|axis| axis.var));
    }
    if !kernel.constraints.is_empty() {
        params.extend(kernel.tile_params.ids());
    }
    Ok((open, params))
}

/// Whether a tile parameter that may have any value says no more than a dimension does: it
/// sizes no block and no tile, and nothing is tied to it. Such a one says how many blocks
/// there are, as in `for p in (b..N).step_by(G)`, and is left open like a scalar.
fn is_number_alone(kernel: &Kernel, param: TileParamId) -> bool {
    let param = &kernel.tile_params[param];
    let ties = kernel.tile_params.values().filter_map(|other| match other.domain {
        TileDomain::Equal(expr) => Some(expr),
        _ => None,
    });
    let tiles = kernel.tiles.ids().map(ArrayRef::Tile);
    let extents = tiles.flat_map(|array| kernel.extents(array)).copied();
    let block = kernel.block.iter().flatten().map(|axis| axis.extent);
    param.domain == TileDomain::Any
        && kernel.constraints.is_empty()
        && !mentions(kernel, ties.chain(extents).chain(block), param.var)
}

/// Whether the grid's extents depend on `var`.
fn sizes_grid(kernel: &Kernel, var: VarId) -> bool {
    mentions(kernel, kernel.grid.iter().map(|axis| axis.extent), var)
}

/// Whether one of these names `var`.
fn mentions(kernel: &Kernel, exprs: impl Iterator<Item = ExprId>, var: VarId) -> bool {
    let mut pending: Vec<ExprId> = exprs.collect();
    while let Some(expr) = pending.pop() {
        if kernel.exprs[expr].kind == ExprKind::Var(var) {
            return true;
        }
        pending.extend(kernel.exprs[expr].kind.operands());
    }
    false
}

/// Runs `plan` at all of these; what collides for certain is added to `findings`.
fn run_all(
    (kernel, plan, scope): (&Kernel, &Plan<'_>, Scope),
    (all_sizes, types): (impl Iterator<Item = Sizes>, &Types),
    findings: &mut Findings,
    fuel: &mut u32,
) -> Exhaustion {
    let pool = Pool::of(kernel);
    let mut seen = BTreeSet::new();
    // What data was seen to decide is asked again.
    let mut known = findings.known.clone();
    known.retain(|pair| findings.open.iter().all(|(open, _)| open != pair));
    let mut all = Findings { known, ..Findings::default() };
    let mut outcome = Exhaustion::Complete;
    let mut done: Vec<Vec<(VarId, i64)>> = Vec::new();
    for sizes in all_sizes {
        if !seen.insert(plan.key(&sizes)) {
            continue;
        }
        let mut path = Path::default();
        loop {
            let before = all.conflicts.len();
            let machine = Machine::new(kernel, plan, &sizes, &pool, &mut all, fuel);
            let machine = machine.with_types(types);
            // Numbers of amounts are of one run.
            let skips = scope == Scope::Block && !plan.follows_amounts;
            let machine = machine.along(&mut path).skipping(skips);
            let machine = machine.with_amounts(plan.follows_amounts);
            match machine.run(Blocks::All) {
                // Not every path is one that is ever taken.
                Ok(()) | Err(Stop::Excluded)
                    if path.has_parted() && all.conflicts.len() > before =>
                {
                    all.conflicts.truncate(before);
                    outcome = Exhaustion::Data;
                }
                Ok(()) => {}
                // On this path a loop has no end.
                Err(Stop::Excluded) if path.has_parted() => {}
                Err(Stop::Budget) => {
                    let run = std::mem::take(&mut done);
                    outcome = Exhaustion::Budget { from: plan.project(&sizes), run };
                }
                Err(_) => outcome = Exhaustion::Data,
            }
            if outcome != Exhaustion::Complete || !path.advance() {
                break;
            }
        }
        if outcome != Exhaustion::Complete {
            break;
        }
        if all.conflicts.is_empty() && all.open.is_empty() {
            done.push(plan.project(&sizes));
        }
    }
    let (certain, possible): (Vec<_>, Vec<_>) =
        all.conflicts.into_iter().partition(|conflict| conflict.cause.is_none());
    if outcome == Exhaustion::Complete && !(possible.is_empty() && all.open.is_empty()) {
        outcome = Exhaustion::Data;
    }
    findings.known.extend(certain.iter().map(|conflict| conflict.pair));
    findings.conflicts.extend(certain);
    outcome
}

/// `param`, and those that it is tied to.
fn add_with_ties(kernel: &Kernel, param: TileParamId, params: &mut BTreeSet<TileParamId>) {
    if !params.insert(param) {
        return;
    }
    let TileDomain::Equal(expr) = kernel.tile_params[param].domain else { return };
    let mut pending: Vec<ExprId> = vec![expr];
    while let Some(expr) = pending.pop() {
        if let ExprKind::Var(var) = kernel.exprs[expr].kind
            && let VarKind::TileParam(other) = kernel.vars[var].kind
        {
            add_with_ties(kernel, other, params);
        }
        pending.extend(kernel.exprs[expr].kind.operands());
    }
}

/// Every admissible combination of `params`, and of those that they are tied to; any value
/// for the others. An error names a parameter with too many values.
pub(crate) fn combinations(
    kernel: &Kernel,
    params: &BTreeSet<TileParamId>,
) -> Result<Vec<Vec<u32>>, TileParamId> {
    let mut decisive = BTreeSet::new();
    params.iter().for_each(|param| add_with_ties(kernel, *param, &mut decisive));
    let mut all: Vec<Vec<(TileParamId, u32)>> = vec![Vec::new()];
    for (id, param) in kernel.tile_params.iter() {
        let mut values: Vec<u32> = match &param.domain {
            TileDomain::Any if decisive.contains(&id) => return Err(id),
            TileDomain::Equal(_) => continue,
            domain => domain.values().take(MAX_COMBINATIONS + 1).collect(),
        };
        if !decisive.contains(&id) {
            values.truncate(1);
        }
        if all.len().saturating_mul(values.len()) > MAX_COMBINATIONS {
            return Err(id);
        }
        all = all
            .iter()
            .flat_map(|given| {
                values.iter().map(|value| [given.as_slice(), &[(id, *value)]].concat())
            })
            .collect();
    }
    Ok(all.iter().filter_map(|given| complete_tiles(kernel, given).ok()).collect())
}

fn sizes(kernel: &Kernel, plan: &Plan<'_>, tiles: &[u32], open: BTreeSet<VarId>) -> Sizes {
    let is_any = |id: &VarId| plan.extents_alone.contains(id) || open.contains(id);
    let values = kernel.vars.iter().map(|(id, var)| match var.kind {
        VarKind::TileParam(param) => tiles.get(param.index()).copied().map(i64::from),
        VarKind::Dim if is_any(&id) => Some(ANY_EXTENT),
        VarKind::Dim => Some(SOME_EXTENT),
        VarKind::Scalar(_) => Some(0),
        VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop | VarKind::Let { .. } => {
            None
        }
    });
    Sizes { values: values.collect(), seed: 0, open }
}
