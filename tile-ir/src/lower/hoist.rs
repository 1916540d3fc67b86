//! Hoist: what several items of a thread share is computed once.
//!
//! Where a thread runs a rectangle of items, an operand that depends on the
//! row alone is the same for the whole row. It moves out, into a fragment with
//! one register for each row ([`Projection`]):
//!
//! ```text
//! items (ty, tx) { acc += a_s[ty, k] * b_s[k, tx] }
//! ```
//!
//! becomes
//!
//! ```text
//! items (ty) { a_s_ty = a_s[ty, k] }
//! items (tx) { b_s_tx = b_s[k, tx] }
//! items (ty, tx) { acc += a_s_ty * b_s_tx }
//! ```
//!
//! the outer product of two columns of registers, whose loads are along one axis
//! each and can be vectors.
//!
//! # What moves
//!
//! The largest expressions that read memory or call a function, that every item
//! evaluates, that depend on some but not all of the axes along which a thread
//! has several items, and that read nothing which the items write. Several equal
//! ones share a fragment.

use std::collections::{BTreeMap, BTreeSet};

use super::rewrite::{Replacement, lets_of, same};
use crate::config::Config;
use crate::program::{
    Domain, DomainId, Expr, ExprId, ExprKind, Fragment, FragmentId, ProgramKernel, Projection,
    Scope, Stmt, StmtKind, Target, TileSpace, VarId,
};

/// Moves what items share into fragments of projections, where `config` has
/// buffers for them. Assumes that the items are distributed; guarantees that each
/// value is computed of what it was computed of before.
pub(super) fn hoist_shared(kernel: &mut ProgramKernel, config: &Config) {
    if config.fragment_buffers == 0 {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = hoist_in(kernel, body);
}

fn hoist_in(kernel: &mut ProgramKernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let StmtKind::Items { domain, body } = &stmt.kind {
            let mut hoist = Hoist::of(kernel, *domain, body);
            let body = hoist.items(body);
            out.extend(hoist.moved(&stmt));
            out.push(Stmt { kind: StmtKind::Items { domain: *domain, body }, ..stmt });
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = hoist_in(kernel, std::mem::take(body));
        }
        out.push(stmt);
    }
    out
}

/// The axes that a value depends on; a domain has few.
type Axes = BTreeSet<u32>;

/// A value that has moved out.
struct Moved {
    axes: Axes,
    /// In terms of the projection's items.
    value: ExprId,
    fragment: FragmentId,
    /// Where it was found.
    stmt: Stmt,
}

/// The items of one `Items`, with what moves out of them.
struct Hoist<'k> {
    kernel: &'k mut ProgramKernel,
    domain: DomainId,
    /// The axes along which a thread has several items.
    repeated: Axes,
    /// Values of the items' variables that have only one.
    lets: BTreeMap<VarId, ExprId>,
    written: Vec<Target>,
    moved: Vec<Moved>,
}

impl<'k> Hoist<'k> {
    fn of(kernel: &'k mut ProgramKernel, domain: DomainId, body: &[Stmt]) -> Self {
        let layout = &kernel.domains[domain].layout;
        let repeated = layout.registers.iter().filter(|digit| digit.size > 1);
        let repeated = repeated.map(|digit| digit.axis).collect();
        let lets = lets_of(body);
        let mut written = Vec::new();
        visit(body, &mut |stmt| match &stmt.kind {
            StmtKind::Store { access, .. }
            | StmtKind::Atomic { access, .. }
            | StmtKind::Copy { dst: access, .. } => written.push(access.target),
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => {}
        });
        Self { kernel, domain, repeated, lets, written, moved: Vec::new() }
    }

    /// The items' statements with fragments in the place of what has moved.
    fn items(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in body {
            if matches!(stmt.kind, StmtKind::Assume(_)) {
                // Of no use to a device that does not check: nothing moves for it.
                out.push(stmt.clone());
                continue;
            }
            let mut replaced = Replacement::default();
            let mut roots = Vec::new();
            stmt.kind.for_each_expr(&mut |expr| roots.push(expr));
            for root in roots {
                self.replace_shared(root, stmt, &mut replaced.exprs);
            }
            // Bodies inside run for some items only: nothing moves out of them,
            // but a variable's value may have.
            out.push(if replaced.exprs.is_empty() {
                stmt.clone()
            } else {
                replaced.stmt(self.kernel, stmt)
            });
        }
        if self.moved.is_empty() { out } else { without_unread_lets(self.kernel, out) }
    }

    /// The items of the projections: one `Items` for each.
    fn moved(self, items: &Stmt) -> Vec<Stmt> {
        let mut bodies: Vec<(DomainId, Vec<Stmt>)> = Vec::new();
        for moved in &self.moved {
            let domain = self.kernel.fragments[moved.fragment].domain;
            let kind = StmtKind::SetFragment { fragment: moved.fragment, value: moved.value };
            let stmt = Stmt { kind, ..moved.stmt.clone() };
            match bodies.iter_mut().find(|(of, _)| *of == domain) {
                Some((_, body)) => body.push(stmt),
                None => bodies.push((domain, vec![stmt])),
            }
        }
        let items =
            |(domain, body)| Stmt { kind: StmtKind::Items { domain, body }, ..items.clone() };
        bodies.into_iter().map(items).collect()
    }

    /// Finds the largest shared parts of an expression that is always evaluated.
    fn replace_shared(
        &mut self,
        expr: ExprId,
        stmt: &Stmt,
        replaced: &mut BTreeMap<ExprId, ExprId>,
    ) {
        if replaced.contains_key(&expr) {
            return;
        }
        let axes = self.axes_of(expr).filter(|axes| self.is_shared(axes));
        if let Some(axes) = axes.filter(|_| self.is_work(expr)) {
            let fragment = self.fragment_of(expr, axes, stmt);
            let ty = self.kernel.exprs[expr].ty;
            let kind = ExprKind::Fragment(fragment);
            replaced.insert(expr, self.kernel.exprs.push(Expr { kind, ty }));
            return;
        }
        let mut always = Vec::new();
        match &self.kernel.exprs[expr].kind {
            ExprKind::Select { cond, .. } => always.push(*cond),
            ExprKind::Logic { lhs, .. } => always.push(*lhs),
            // Whether the pad is evaluated, the guards decide.
            ExprKind::Load(access) => always.extend(access.slot.iter().chain(&access.indices)),
            kind => kind.for_each_operand(&mut |operand| always.push(operand)),
        }
        for operand in always {
            self.replace_shared(operand, stmt, replaced);
        }
    }

    /// Whether items of one thread have the same value: it depends on an axis,
    /// and there is another along which the thread has several.
    fn is_shared(&self, axes: &Axes) -> bool {
        !axes.is_empty() && self.repeated.iter().any(|axis| !axes.contains(axis))
    }

    /// Whether computing it takes more than an index does.
    fn is_work(&self, expr: ExprId) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Load(_) | ExprKind::Math { .. } => true,
            ExprKind::Var(var) => self.lets.get(var).is_some_and(|value| self.is_work(*value)),
            kind => {
                let mut found = false;
                kind.for_each_operand(&mut |operand| found = found || self.is_work(operand));
                found
            }
        }
    }

    /// The axes whose coordinates decide a value; `None` where something else of
    /// the item does, or memory that the items write.
    fn axes_of(&self, expr: ExprId) -> Option<Axes> {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Coord { axis, .. } => return Some(Axes::from([*axis])),
            ExprKind::Fragment(_) => return None,
            ExprKind::Var(var) if self.kernel.vars[*var].scope == Scope::Thread => {
                return self.axes_of(*self.lets.get(var)?);
            }
            ExprKind::Load(access) if self.written.contains(&access.target) => return None,
            // Every item has a copy of its own.
            ExprKind::Load(access) if is_local(self.kernel, access.target) => return None,
            _ => {}
        }
        let mut axes = Some(Axes::new());
        self.kernel.exprs[expr].kind.for_each_operand(&mut |operand| {
            axes = axes.take().zip(self.axes_of(operand)).map(|(mut axes, more)| {
                axes.extend(more);
                axes
            });
        });
        axes
    }

    /// The fragment that holds a value: one that has moved already, or a new one.
    fn fragment_of(&mut self, expr: ExprId, axes: Axes, stmt: &Stmt) -> FragmentId {
        let domain = projection(self.kernel, self.domain, &axes);
        let value = self.in_projection(expr, &axes, domain);
        let is_same = |moved: &&Moved| moved.axes == axes && same(self.kernel, moved.value, value);
        if let Some(moved) = self.moved.iter().find(is_same) {
            return moved.fragment;
        }
        let fragment = Fragment {
            name: self.name_of(value, &axes),
            ty: self.kernel.exprs[value].ty,
            domain,
            accumulator: false,
        };
        let fragment = self.kernel.fragments.push(fragment);
        self.moved.push(Moved { axes, value, fragment, stmt: stmt.clone() });
        fragment
    }

    /// An expression over the projection's items: variables by their values,
    /// coordinates by those that are kept.
    fn in_projection(&mut self, expr: ExprId, axes: &Axes, domain: DomainId) -> ExprId {
        let mut replaced = Replacement::default();
        for (position, axis) in (0..).zip(axes) {
            let of_axis =
                |expr: &Expr| expr.kind == ExprKind::Coord { domain: self.domain, axis: *axis };
            let coords: Vec<(ExprId, Expr)> = self
                .kernel
                .exprs
                .iter()
                .filter(|(_, expr)| of_axis(expr))
                .map(|(id, expr)| (id, expr.clone()))
                .collect();
            for (id, expr) in coords {
                let kind = ExprKind::Coord { domain, axis: position };
                replaced.exprs.insert(id, self.kernel.exprs.push(Expr { kind, ..expr }));
            }
        }
        // A variable's value names only variables declared before it.
        for (var, value) in self.lets.clone() {
            if self.axes_of(value).is_some_and(|of| of.is_subset(axes)) {
                self.inline(var, value, &mut replaced);
            }
        }
        replaced.expr(self.kernel, expr)
    }

    fn inline(&mut self, var: VarId, value: ExprId, replaced: &mut Replacement) {
        if replaced.vars.contains_key(&var) {
            return;
        }
        let mut inner = Vec::new();
        vars_in(self.kernel, value, &mut inner);
        for other in inner {
            if let Some(&value) = self.lets.get(&other) {
                self.inline(other, value, replaced);
            }
        }
        let value = replaced.expr(self.kernel, value);
        replaced.vars.insert(var, value);
    }

    /// `a_s_ty`: the array that is read first, and the axes.
    fn name_of(&self, value: ExprId, axes: &Axes) -> String {
        let domain = &self.kernel.domains[self.domain];
        let mut name = first_array(self.kernel, value).unwrap_or("shared").to_owned();
        for &axis in axes {
            name.push('_');
            name.push_str(&domain.axes[axis as usize].name);
        }
        name
    }
}

/// The projection of a domain to some of its axes.
fn projection(kernel: &mut ProgramKernel, domain: DomainId, axes: &Axes) -> DomainId {
    let axes: Vec<u32> = axes.iter().copied().collect();
    let whole = Projection { domain, axes };
    let known = kernel.domains.iter().find(|(_, info)| info.projection.as_ref() == Some(&whole));
    if let Some((id, _)) = known {
        return id;
    }
    let of = &kernel.domains[domain];
    let projected = Domain {
        axes: whole.axes.iter().map(|&axis| of.axes[axis as usize].clone()).collect(),
        layout: of.layout.projected(&whole.axes),
        projection: Some(whole),
    };
    kernel.domains.push(projected)
}

fn first_array(kernel: &ProgramKernel, expr: ExprId) -> Option<&str> {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Load(access) = kind {
        return Some(match access.target {
            Target::Buffer(id) => &kernel.buffers[id].name,
            Target::Tile(id) => &kernel.tiles[id].name,
        });
    }
    let mut found = None;
    kind.for_each_operand(&mut |operand| {
        found = found.take().or_else(|| first_array(kernel, operand));
    });
    found
}

fn vars_in(kernel: &ProgramKernel, expr: ExprId, found: &mut Vec<VarId>) {
    if let ExprKind::Var(var) = kernel.exprs[expr].kind {
        found.push(var);
    }
    kernel.exprs[expr].kind.for_each_operand(&mut |operand| vars_in(kernel, operand, found));
}

/// Drops the declarations of variables that nothing reads or sets any more.
fn without_unread_lets(kernel: &ProgramKernel, mut body: Vec<Stmt>) -> Vec<Stmt> {
    loop {
        let mut used = Vec::new();
        visit(&body, &mut |stmt| {
            if let StmtKind::Assign { var, .. } = stmt.kind {
                used.push(var);
            }
            stmt.kind.for_each_expr(&mut |expr| vars_in(kernel, expr, &mut used));
        });
        let before = body.len();
        body.retain(|stmt| match stmt.kind {
            StmtKind::Let { var, .. } => used.contains(&var),
            _ => true,
        });
        if body.len() == before {
            return body;
        }
    }
}

fn is_local(kernel: &ProgramKernel, target: Target) -> bool {
    match target {
        Target::Buffer(_) => false,
        Target::Tile(id) => kernel.tiles[id].space != TileSpace::Shared,
    }
}

/// Each statement, those inside others too.
fn visit<'s>(stmts: &'s [Stmt], f: &mut impl FnMut(&'s Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.kind.bodies().into_iter().for_each(|body| visit(body, f));
    }
}
