//! Cases in which an access leaves its tile.

use std::collections::BTreeSet;

use super::uses::Use;
use crate::check::sample::{Case, Heights, Sources};
use crate::kernel::{ExprId, Kernel, LoopRange, Source, VarId, VarKind};
use crate::solve::skeleton::{Stray, Worker};

/// An access that leaves its tile.
pub(super) struct Example {
    pub(super) element: Vec<i128>,
    /// The first axis that is left, and its extent.
    pub(super) axis: (usize, i128),
    /// Who makes it, in words.
    pub(super) worker: String,
    /// Counters of the loops around.
    pub(super) counters: Vec<(VarId, i128)>,
    /// Sizes, dimensions and scalars.
    pub(super) sizes: Vec<(VarId, i128)>,
    /// What decides whether it is made, of what comes from memory.
    pub(super) cause: Option<Source>,
}

impl Example {
    /// Whether a run has found this in another block than the first.
    pub(super) fn is_elsewhere(stray: &Stray) -> bool {
        stray.party.block.iter().any(|(_, at)| *at != 0)
    }

    pub(super) fn of_run(kernel: &Kernel, stray: &Stray) -> Self {
        let wide = |values: &[(VarId, i64)]| -> Vec<(VarId, i128)> {
            values.iter().map(|(var, value)| (*var, i128::from(*value))).collect()
        };
        let mut worker = match &stray.party.worker {
            Worker::Item(at) => format!("work-item {}", point(kernel, &wide(at))),
            Worker::Point(_, at) => format!("the point {}", point(kernel, &wide(at))),
            Worker::Body => "the block".to_owned(),
        };
        if Self::is_elsewhere(stray) {
            worker = format!("{worker} in block {}", point(kernel, &wide(&stray.party.block)));
        }
        Self {
            element: stray.element.iter().map(|index| i128::from(*index)).collect(),
            axis: (stray.axis.0, i128::from(stray.axis.1)),
            worker,
            counters: wide(&stray.party.counters),
            sizes: wide(&stray.sizes),
            cause: stray.cause,
        }
    }

    fn of_case(kernel: &Kernel, case: &Case<'_>, unknowns: &BTreeSet<VarId>) -> Self {
        let of = |test: &dyn Fn(VarKind) -> bool| -> Vec<(VarId, i128)> {
            let vars = unknowns.iter().filter(|var| test(kernel.vars[**var].kind));
            vars.filter_map(|var| Some((*var, case.eval_var(*var)?))).collect()
        };
        let points = of(&|kind| kind == VarKind::Each);
        let worker = if points.is_empty() {
            match &kernel.block {
                Some(axes) => {
                    let items =
                        axes.iter().map(|axis| (axis.var, case.eval_var(axis.var).unwrap_or(0)));
                    format!("work-item {}", point(kernel, &items.collect::<Vec<_>>()))
                }
                None => "the block".to_owned(),
            }
        } else {
            format!("the point {}", point(kernel, &points))
        };
        Self {
            element: Vec::new(),
            axis: (0, 0),
            worker,
            counters: of(&|kind| kind == VarKind::Loop),
            sizes: of(&|kind| {
                matches!(
                    kind,
                    VarKind::TileParam(_) | VarKind::Dim | VarKind::Scalar(_) | VarKind::Grid
                )
            }),
            cause: None,
        }
    }
}

/// Looks for a case in which an access is made and leaves its tile: uphill, for
/// `evaluations` of variables at most, and among small cases.
pub(super) fn search(
    kernel: &Kernel,
    sources: &Sources<'_>,
    used: &Use<'_>,
    evaluations: u32,
) -> Option<Example> {
    let extents = kernel.extents(used.access.array);
    let mut exprs = used.access.indices.clone();
    exprs.extend(extents);
    exprs.extend(used.conditions.iter().map(|(cond, _)| *cond));
    // Of a loop of which data says how far it goes nothing is known.
    let is_known = |range: &&LoopRange| sources.unknowns(&range.exprs()).is_some();
    let ranges: Vec<LoopRange> = used.ranges.iter().filter(is_known).copied().collect();
    exprs.extend(ranges.iter().flat_map(|range| range.exprs()));
    let unknowns = sources.unknowns(&exprs)?;
    let visit = |case: &Case<'_>| {
        let (element, axis) = visit(kernel, (used, &ranges), case)?;
        Ok(Example { element, axis, ..Example::of_case(kernel, case, &unknowns) })
    };
    // Each axis has two sides.
    let n_numbers = 2 * extents.len();
    sources
        .climb(&unknowns, (n_numbers, evaluations), visit)
        .or_else(|| sources.search(&unknowns, |case| visit(case).ok()))
}

/// The element outside of its tile that is used in a case, and the axis that is left with
/// its extent; or how near the case comes to one, of each axis to both sides.
fn visit(
    kernel: &Kernel,
    (used, ranges): (&Use<'_>, &[LoopRange]),
    case: &Case<'_>,
) -> Result<(Vec<i128>, (usize, i128)), Heights> {
    let is_made = |(cond, is): &(ExprId, bool)| case.eval(*cond) == Some(i128::from(*is));
    let met = ranges.iter().take_while(|range| has_value(range, case)).count();
    let met = match met == ranges.len() {
        true => met + used.conditions.iter().take_while(|condition| is_made(condition)).count(),
        false => met,
    };
    if met < ranges.len() + used.conditions.len() {
        return Err(Heights { met, of: Vec::new() });
    }
    let extents = kernel.extents(used.access.array);
    let axes: Option<Vec<(i128, i128)>> = used
        .access
        .indices
        .iter()
        .zip(extents)
        .map(|(index, extent)| Some((case.eval(*index)?, case.eval(*extent)?)))
        .collect();
    let Some(axes) = axes else { return Err(Heights { met, of: Vec::new() }) };
    match axes.iter().position(|(index, extent)| !(0..*extent).contains(index)) {
        Some(axis) => Ok((axes.iter().map(|(index, _)| *index).collect(), (axis, axes[axis].1))),
        None => {
            let sides = |(index, extent): &(i128, i128)| [index - extent, -index];
            Err(Heights { met, of: axes.iter().flat_map(sides).collect() })
        }
    }
}

/// Whether a loop over a range has an iteration.
fn has_value(range: &LoopRange, case: &Case<'_>) -> bool {
    match *range {
        LoopRange::Between { start, end, .. } => {
            case.eval(start).zip(case.eval(end)).is_some_and(|(start, end)| start < end)
        }
        LoopRange::Halving(n) | LoopRange::Doubling(n) => case.eval(n).is_some_and(|n| n > 1),
    }
}

fn point(kernel: &Kernel, at: &[(VarId, i128)]) -> String {
    format!("({})", values(kernel, at))
}

pub(super) fn values(kernel: &Kernel, values: &[(VarId, i128)]) -> String {
    let texts: Vec<String> =
        values.iter().map(|(var, value)| format!("{} = {value}", kernel.vars[*var].name)).collect();
    texts.join(", ")
}
