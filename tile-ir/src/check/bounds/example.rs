//! Cases in which an access leaves its tile.

use std::collections::BTreeSet;

use super::uses::Use;
use crate::check::sample::{Case, Sources};
use crate::kernel::{ExprId, Kernel, Source, VarId, VarKind};
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
    pub(super) fn of_run(kernel: &Kernel, stray: &Stray) -> Self {
        let wide = |values: &[(VarId, i64)]| -> Vec<(VarId, i128)> {
            values.iter().map(|(var, value)| (*var, i128::from(*value))).collect()
        };
        let worker = match &stray.party.worker {
            Worker::Item(at) => format!("work-item {}", point(kernel, &wide(at))),
            Worker::Point(_, at) => format!("the point {}", point(kernel, &wide(at))),
            Worker::Body => "the block".to_owned(),
        };
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

/// Looks for a case in which an access is made and leaves its tile.
pub(super) fn search(kernel: &Kernel, sources: &Sources<'_>, used: &Use<'_>) -> Option<Example> {
    let extents = kernel.extents(used.access.array);
    let mut exprs = used.access.indices.clone();
    exprs.extend(extents);
    exprs.extend(used.conditions.iter().map(|(cond, _)| *cond));
    let unknowns = sources.unknowns(&exprs)?;
    sources.search(&unknowns, |case| {
        let is_made = |(cond, is): &(ExprId, bool)| case.eval(*cond) == Some(i128::from(*is));
        if !used.conditions.iter().all(is_made) {
            return None;
        }
        let element: Option<Vec<i128>> =
            used.access.indices.iter().map(|index| case.eval(*index)).collect();
        let element = element?;
        let axis =
            element.iter().zip(extents).enumerate().find_map(|(axis, (index, extent))| {
                let extent = case.eval(*extent)?;
                (!(0..extent).contains(index)).then_some((axis, extent))
            })?;
        Some(Example { element, axis, ..Example::of_case(kernel, case, &unknowns) })
    })
}

fn point(kernel: &Kernel, at: &[(VarId, i128)]) -> String {
    format!("({})", values(kernel, at))
}

pub(super) fn values(kernel: &Kernel, values: &[(VarId, i128)]) -> String {
    let texts: Vec<String> =
        values.iter().map(|(var, value)| format!("{} = {value}", kernel.vars[*var].name)).collect();
    texts.join(", ")
}
