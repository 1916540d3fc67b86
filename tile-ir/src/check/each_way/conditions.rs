//! The condition of the launch by which a kernel is parted first.

use std::collections::BTreeMap;

use crate::kernel::{ExprId, Kernel, Stmt, StmtKind, VarId, immutable_lets};
use crate::solve::symbolic::launch_conditions;

/// The condition of the launch under which most of the text stands, and under its opposite.
pub(super) fn deciding(kernel: &Kernel) -> Option<ExprId> {
    let lets = immutable_lets(&kernel.body, kernel);
    let mut weighed = Vec::new();
    weigh(kernel, &lets, &kernel.body, &mut weighed);
    let most = weighed.iter().map(|(_, weight)| *weight).max()?;
    weighed.into_iter().find(|(_, weight)| *weight == most).map(|(cond, _)| cond)
}

/// Adds the conditions of statements, each with how much stands under it and those that are alike.
fn weigh(
    kernel: &Kernel,
    lets: &BTreeMap<VarId, ExprId>,
    stmts: &[Stmt],
    out: &mut Vec<(ExprId, usize)>,
) {
    for stmt in stmts {
        if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
            let weight = size(then) + size(otherwise);
            for cond in launch_conditions(kernel, lets, *cond) {
                match out.iter_mut().find(|(other, _)| kernel.is_same(*other, cond)) {
                    Some((_, weighed)) => *weighed += weight,
                    None => out.push((cond, weight)),
                }
            }
        }
        stmt.kind.bodies().into_iter().for_each(|body| weigh(kernel, lets, body, out));
    }
}

fn size(stmts: &[Stmt]) -> usize {
    stmts.iter().map(|stmt| 1 + stmt.kind.bodies().into_iter().map(size).sum::<usize>()).sum()
}
