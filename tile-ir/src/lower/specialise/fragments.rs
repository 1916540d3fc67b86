//! Values that do not outlive their items become variables of the item, and
//! indices are computed where they are used.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::EntityId as _;
use crate::program::{
    ExprId, ExprKind, FragmentId, ProgramKernel, Scope, Stmt, StmtKind, Var, VarId, assigned_vars,
};

/// Turns each fragment that only one `Items` touches into a thread-scope
/// variable declared there. A fragment that such an `Items` reads before it sets
/// it would carry a value from one iteration of an enclosing loop to the next;
/// the checks have refused a kernel that does that to an uninitialised `let`.
pub(super) fn keep_in_place(kernel: &mut ProgramKernel) {
    let mut users: BTreeMap<FragmentId, Vec<usize>> = BTreeMap::new();
    let mut count = 0;
    let body = std::mem::take(&mut kernel.body);
    visit_items(&body, &mut |items| {
        for fragment in fragments_of(kernel, items) {
            let list = users.entry(fragment).or_default();
            if list.last() != Some(&count) {
                list.push(count);
            }
        }
        count += 1;
    });
    let mut vars: BTreeMap<FragmentId, VarId> = BTreeMap::new();
    for (fragment, list) in &users {
        if list.len() == 1 {
            let info = &kernel.fragments[*fragment];
            let var = Var { name: info.name.clone(), ty: info.ty, scope: Scope::Thread };
            vars.insert(*fragment, kernel.vars.push(var));
        }
    }
    for (_, expr) in kernel.exprs.iter_mut() {
        if let ExprKind::Fragment(fragment) = expr.kind
            && let Some(&var) = vars.get(&fragment)
        {
            expr.kind = ExprKind::Var(var);
        }
    }
    kernel.body = rewrite(kernel, body, &vars);
    drop_unused(kernel);
}

/// Puts indices that several `Items` use, `let i = by * TM + ty`, in the place of
/// their names: where their operands are the same wherever they are used, computing
/// them again costs less than keeping them, and later passes see what they are.
///
/// A `let` is used within the loop that declares it, so that counters are the same.
pub(super) fn repeat_indices(kernel: &mut ProgramKernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut sets: BTreeMap<FragmentId, Vec<ExprId>> = BTreeMap::new();
    visit(&body, &mut |stmt| {
        if let StmtKind::SetFragment { fragment, value } = stmt.kind {
            sets.entry(fragment).or_default().push(value);
        }
    });
    let single = |fragment: &FragmentId| match sets.get(fragment).map(Vec::as_slice) {
        Some(&[value]) if kernel.fragments[*fragment].ty.is_index() => Some(value),
        _ => None,
    };
    let mut wanted = used_by_several(kernel, &body);
    // What they are computed of goes with them.
    let mut open: Vec<FragmentId> = wanted.iter().copied().collect();
    while let Some(fragment) = open.pop() {
        let mut inner = Vec::new();
        single(&fragment).iter().for_each(|value| fragments_in(kernel, *value, &mut inner));
        open.extend(inner.into_iter().filter(|fragment| wanted.insert(*fragment)));
    }
    let made: BTreeMap<FragmentId, ExprId> =
        wanted.iter().filter_map(|fragment| Some((*fragment, single(fragment)?))).collect();
    let assigned = assigned_vars(&body);
    let mut values: BTreeMap<FragmentId, ExprId> = BTreeMap::new();
    // A value is made before its name is used: it has a smaller id.
    let ids: Vec<ExprId> = kernel.exprs.ids().collect();
    for id in ids {
        let ExprKind::Fragment(fragment) = kernel.exprs[id].kind else { continue };
        let Some(&value) = made.get(&fragment).filter(|value| **value < id) else { continue };
        if values.contains_key(&fragment) || is_repeatable(kernel, value, &assigned) {
            values.insert(fragment, value);
            kernel.exprs[id].kind = kernel.exprs[value].kind.clone();
        }
    }
    kernel.body = without_sets(body, &values);
}

/// The fragments that more than one `Items` touches.
fn used_by_several(kernel: &ProgramKernel, body: &[Stmt]) -> BTreeSet<FragmentId> {
    let (mut once, mut again) = (BTreeSet::new(), BTreeSet::new());
    visit_items(body, &mut |items| {
        let here: BTreeSet<FragmentId> = fragments_of(kernel, items).into_iter().collect();
        again.extend(here.iter().filter(|fragment| !once.insert(**fragment)).copied());
    });
    again
}

/// Whether an index is the same wherever it is computed: of the item, of the block, of
/// scalars of the launch, and of variables that nothing assigns.
fn is_repeatable(kernel: &ProgramKernel, id: ExprId, assigned: &BTreeSet<VarId>) -> bool {
    let own = match &kernel.exprs[id].kind {
        ExprKind::Var(var) => kernel.vars[*var].scope == Scope::Block && !assigned.contains(var),
        ExprKind::Fragment(_) | ExprKind::Load(_) => false,
        ExprKind::Arg(_) => true,
        _ => kernel.exprs[id].ty.is_index(),
    };
    let mut all = own;
    kernel.exprs[id]
        .kind
        .for_each_operand(&mut |operand| all = all && is_repeatable(kernel, operand, assigned));
    all
}

fn without_sets(stmts: Vec<Stmt>, values: &BTreeMap<FragmentId, ExprId>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let StmtKind::SetFragment { fragment, .. } = &stmt.kind
            && values.contains_key(fragment)
        {
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = without_sets(std::mem::take(body), values);
        }
        if !matches!(&stmt.kind, StmtKind::Items { body, .. } if body.is_empty()) {
            out.push(stmt);
        }
    }
    out
}

fn visit(stmts: &[Stmt], f: &mut impl FnMut(&Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.kind.bodies().into_iter().for_each(|body| visit(body, f));
    }
}

fn visit_items(stmts: &[Stmt], f: &mut impl FnMut(&[Stmt])) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Items { body, .. } => f(body),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => visit_items(body, f),
            StmtKind::If { then, otherwise, .. } => {
                visit_items(then, f);
                visit_items(otherwise, f);
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Barrier(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => {}
        }
    }
}

fn fragments_of(kernel: &ProgramKernel, stmts: &[Stmt]) -> Vec<FragmentId> {
    let mut found = Vec::new();
    for stmt in stmts {
        stmt.kind.for_each_expr(&mut |expr| fragments_in(kernel, expr, &mut found));
        if let StmtKind::SetFragment { fragment, .. } = &stmt.kind {
            found.push(*fragment);
        }
        for body in stmt.kind.bodies() {
            found.extend(fragments_of(kernel, body));
        }
    }
    found
}

fn fragments_in(kernel: &ProgramKernel, expr: ExprId, found: &mut Vec<FragmentId>) {
    if let ExprKind::Fragment(fragment) = kernel.exprs[expr].kind {
        found.push(fragment);
    }
    kernel.exprs[expr].kind.for_each_operand(&mut |operand| fragments_in(kernel, operand, found));
}

fn rewrite(
    kernel: &ProgramKernel,
    stmts: Vec<Stmt>,
    vars: &BTreeMap<FragmentId, VarId>,
) -> Vec<Stmt> {
    let rewrite_in = |mut stmt: Stmt| {
        stmt.kind = match stmt.kind {
            StmtKind::Items { domain, body } => {
                StmtKind::Items { domain, body: declare(kernel, body, vars) }
            }
            StmtKind::For { var, range, unroll, body } => {
                StmtKind::For { var, range, unroll, body: rewrite(kernel, body, vars) }
            }
            StmtKind::While { cond, body } => {
                StmtKind::While { cond, body: rewrite(kernel, body, vars) }
            }
            StmtKind::If { cond, then, otherwise } => StmtKind::If {
                cond,
                then: rewrite(kernel, then, vars),
                otherwise: rewrite(kernel, otherwise, vars),
            },
            kind => kind,
        };
        stmt
    };
    stmts.into_iter().map(rewrite_in).collect()
}

/// Rewrites the body of an `Items`: a variable's first set at the top of the
/// body declares it; one that is first set deeper is declared at the top.
fn declare(
    kernel: &ProgramKernel,
    body: Vec<Stmt>,
    vars: &BTreeMap<FragmentId, VarId>,
) -> Vec<Stmt> {
    let mut declared: Vec<VarId> = Vec::new();
    let mut out: Vec<Stmt> = Vec::new();
    for mut stmt in body {
        match stmt.kind {
            StmtKind::SetFragment { fragment, value } if vars.contains_key(&fragment) => {
                let var = vars[&fragment];
                stmt.kind = if declared.contains(&var) {
                    StmtKind::Assign { var, value }
                } else {
                    declared.push(var);
                    if let Some(Stmt { kind: StmtKind::Atomic { old: Some(old), .. }, .. }) =
                        out.last_mut()
                        && kernel.exprs[value].kind == ExprKind::Var(*old)
                    {
                        // The update declares it at once.
                        *old = var;
                        continue;
                    }
                    StmtKind::Let { var, value: Some(value) }
                };
            }
            kind => {
                let mut set = Vec::new();
                stmt.kind = assign_nested(kind, vars, &mut set);
                for var in set {
                    if !declared.contains(&var) {
                        declared.push(var);
                        out.push(Stmt { kind: StmtKind::Let { var, value: None }, ..stmt.clone() });
                    }
                }
            }
        }
        out.push(stmt);
    }
    out
}

fn assign_nested(
    kind: StmtKind,
    vars: &BTreeMap<FragmentId, VarId>,
    set: &mut Vec<VarId>,
) -> StmtKind {
    let mut nested = |body: Vec<Stmt>| -> Vec<Stmt> {
        body.into_iter()
            .map(|stmt| Stmt { kind: assign_nested(stmt.kind, vars, set), ..stmt })
            .collect()
    };
    match kind {
        StmtKind::For { var, range, unroll, body } => {
            StmtKind::For { var, range, unroll, body: nested(body) }
        }
        StmtKind::While { cond, body } => StmtKind::While { cond, body: nested(body) },
        StmtKind::If { cond, then, otherwise } => {
            StmtKind::If { cond, then: nested(then), otherwise: nested(otherwise) }
        }
        StmtKind::SetFragment { fragment, value } => match vars.get(&fragment) {
            Some(&var) => {
                set.push(var);
                StmtKind::Assign { var, value }
            }
            None => StmtKind::SetFragment { fragment, value },
        },
        kind => kind,
    }
}

/// Fragments that nothing touches any more are dropped; the others keep order.
fn drop_unused(kernel: &mut ProgramKernel) {
    let mut used: Vec<FragmentId> = Vec::new();
    let body = std::mem::take(&mut kernel.body);
    visit_items(&body, &mut |items| used.extend(fragments_of(kernel, items)));
    kernel.body = body;
    used.sort_unstable();
    used.dedup();
    let renamed: BTreeMap<FragmentId, FragmentId> =
        used.iter().enumerate().map(|(new, &old)| (old, FragmentId::from_index(new))).collect();
    kernel.fragments = used.iter().map(|&old| kernel.fragments[old].clone()).collect();
    for (_, expr) in kernel.exprs.iter_mut() {
        if let ExprKind::Fragment(fragment) = &mut expr.kind
            && let Some(&new) = renamed.get(fragment)
        {
            *fragment = new;
        }
    }
    rename(&mut kernel.body, &renamed);
}

fn rename(stmts: &mut [Stmt], renamed: &BTreeMap<FragmentId, FragmentId>) {
    for stmt in stmts {
        if let StmtKind::SetFragment { fragment, .. } = &mut stmt.kind
            && let Some(&new) = renamed.get(fragment)
        {
            *fragment = new;
        }
        for body in stmt.kind.bodies_mut() {
            rename(body, renamed);
        }
    }
}
