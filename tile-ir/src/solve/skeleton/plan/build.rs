//! The statements of a skeleton.

use std::collections::BTreeSet;

use super::{Body, Node, Plan, Site, SiteId};
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{Access, AccessKind, ArrayRef, ExprId, ExprKind, Place, Stmt, StmtKind, VarId};
use crate::op::BinaryOp;
use crate::solve::doubling::rising;
use crate::span::SpanId;

impl<'a> Plan<'a> {
    pub(super) fn nodes(&mut self, stmts: &'a [Stmt]) -> Vec<Node<'a>> {
        let mut nodes = Vec::new();
        for stmt in stmts {
            if self.keeps(std::slice::from_ref(stmt)) {
                self.node(stmt, &mut nodes);
            }
        }
        nodes
    }

    fn body(&mut self, stmts: &'a [Stmt]) -> Body<'a> {
        let nodes = self.nodes(stmts);
        let team = nodes.iter().filter_map(Node::team).max();
        let mut assigned = Vec::new();
        nodes.iter().for_each(|node| self.assignments(node, &mut assigned));
        let mut stored = BTreeSet::new();
        nodes.iter().for_each(|node| self.collect_stored(node, &mut stored));
        Body { nodes, again: None, rounds: None, team, assigned, stored }
    }

    fn node(&mut self, stmt: &'a Stmt, out: &mut Vec<Node<'a>>) {
        match &stmt.kind {
            StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                self.set(*var, None, *value, stmt.span, out);
            }
            StmtKind::Let { init: None, .. } => {}
            StmtKind::LetArray { tile, init } => {
                init.iter().for_each(|init| self.enter_loads(*init, stmt.span));
                if self.needs_elements(ArrayRef::Tile(*tile)) {
                    out.push(Node::Declare { tile: *tile, init: *init });
                } else {
                    out.extend(init.map(Node::Touch));
                }
                if self.watched.contains(&ArrayRef::Tile(*tile)) {
                    out.push(Node::Begin { tile: *tile, is_filled: init.is_some() });
                }
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                self.set(*var, Some(*op), *value, stmt.span, out);
            }
            StmtKind::Store { access, value } => self.store(access, *value, None, stmt, out),
            StmtKind::Update { place: Place::Element(access), op, value } => {
                self.store(access, *value, Some(*op), stmt, out);
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                for expected in expected.iter() {
                    self.enter_loads(*expected, stmt.span);
                    if self.touches[expected.index()] {
                        out.push(Node::Touch(*expected));
                    }
                }
                let needed = old.filter(|old| self.needed[old.index()]);
                let held = Some(access).filter(|access| self.holds(access.array));
                let old = needed.map(|var| Node::Old { var, array: access.array, held });
                out.extend(old.clone().filter(|_| held.is_some()));
                self.store(access, *value, op.binary(), stmt, out);
                out.extend(old.filter(|_| held.is_none()));
            }
            StmtKind::Each { axes, body, .. } => {
                let body = self.nodes(body);
                out.push(Node::Each { axes, body, head: stmt.head });
            }
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                range.exprs().into_iter().for_each(|bound| self.enter_loads(bound, stmt.span));
                let body = self.body(body);
                let body = self.with_rounds(body, Some(*var));
                out.push(Node::Loop { var: *var, range: *range, body, head: stmt.head });
            }
            StmtKind::While { cond, body } => {
                self.enter_loads(*cond, stmt.span);
                let rising: Vec<VarId> = rising(self.kernel, *cond, body).into_keys().collect();
                self.may_not_end |= !rising.is_empty();
                let body = self.body(body);
                let body = self.with_rounds(body, None);
                out.push(Node::While { cond: *cond, body, head: stmt.head, rising });
            }
            StmtKind::If { cond, then, otherwise } => {
                self.enter_loads(*cond, stmt.span);
                let (then, otherwise) = (self.body(then), self.body(otherwise));
                if then.nodes.is_empty() && otherwise.nodes.is_empty() {
                    out.push(Node::Touch(*cond));
                    return;
                }
                out.push(Node::If { cond: *cond, then, otherwise });
            }
            StmtKind::Exchange { var, op, value, lane } => {
                for operand in [*value].into_iter().chain(*lane) {
                    self.enter_loads(operand, stmt.span);
                }
                if self.needed[var.index()] {
                    out.push(Node::Exchange { var: *var, op: *op, value: *value, lane: *lane });
                    return;
                }
                out.extend([*value].into_iter().chain(*lane).map(Node::Touch));
                out.extend((op.group() == Group::Block).then_some(Node::Barrier));
            }
            StmtKind::Assume { cond } => {
                self.enter_loads(*cond, stmt.span);
                if self.decides(*cond) {
                    out.push(Node::Assume(*cond));
                } else {
                    out.push(Node::Touch(*cond));
                }
            }
            // Only what a proof makes of it counts.
            StmtKind::Distinct { values, .. } => {
                values.iter().for_each(|value| self.enter_loads(*value, stmt.span));
                out.extend(values.iter().copied().map(Node::Touch));
            }
            StmtKind::WarpBarrier => out.push(Node::WarpBarrier),
            StmtKind::Barrier => out.push(Node::Barrier),
        }
    }

    fn set(
        &mut self,
        var: VarId,
        op: Option<BinaryOp>,
        value: ExprId,
        stmt: SpanId,
        out: &mut Vec<Node<'a>>,
    ) {
        self.enter_loads(value, stmt);
        if self.needed[var.index()] {
            out.push(Node::Set { var, op, value });
        } else {
            out.push(Node::Touch(value));
        }
    }

    fn store(
        &mut self,
        access: &'a Access,
        value: ExprId,
        op: Option<BinaryOp>,
        stmt: &Stmt,
        out: &mut Vec<Node<'a>>,
    ) {
        for index in &access.indices {
            self.enter_loads(*index, stmt.span);
        }
        let watched = self.is_watched(access);
        let atomic = matches!(stmt.kind, StmtKind::Atomic { .. });
        if watched && op.is_some() && !atomic {
            let site = self.site(access, AccessKind::Read, stmt.span);
            out.push(Node::Access { access, site });
        }
        self.enter_loads(value, stmt.span);
        let is_followed = self.needs_elements(access.array);
        let kind = if atomic { AccessKind::Atomic } else { AccessKind::Write };
        let site = watched.then(|| self.site(access, kind, stmt.span));
        if atomic && stmt.kind.set_element().is_some() {
            self.swaps.extend(site);
        }
        if is_followed {
            let site = site.filter(|_| self.holds(access.array));
            out.push(Node::Element { access, op, value, site });
        } else if self.touches[value.index()] {
            out.push(Node::Touch(value));
        }
        if let Some(site) = site {
            if !self.holds(access.array) {
                out.push(Node::Access { access, site });
            }
        } else if !is_followed {
            let loads = access.indices.iter().filter(|index| self.touches[index.index()]);
            out.extend(loads.map(|index| Node::Touch(*index)));
        }
    }

    /// Numbers the loads under watch in `expr`, in order of evaluation.
    fn enter_loads(&mut self, expr: ExprId, stmt: SpanId) {
        if !self.touches[expr.index()] {
            return;
        }
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        kind.operands().into_iter().for_each(|operand| self.enter_loads(operand, stmt));
        if let ExprKind::Load(access) = kind
            && self.is_watched(access)
        {
            self.loads[expr.index()] = Some(self.site(access, AccessKind::Read, stmt));
        }
    }

    fn site(&mut self, access: &Access, kind: AccessKind, stmt: SpanId) -> SiteId {
        let id = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        self.sites.push(Site { array: access.array, span: access.span, kind, stmt });
        id
    }

    /// The arrays that are followed, and to which `node` may store.
    fn collect_stored(&self, node: &Node<'_>, out: &mut BTreeSet<ArrayRef>) {
        match node {
            Node::Element { access, .. } if self.holds(access.array) => {
                out.insert(access.array);
            }
            Node::Each { body, .. } => {
                body.iter().for_each(|inner| self.collect_stored(inner, out));
            }
            Node::Loop { body, .. } | Node::While { body, .. } => out.extend(&body.stored),
            Node::If { then, otherwise, .. } => {
                out.extend(then.stored.iter().chain(&otherwise.stored));
            }
            Node::Alike { node, .. } => self.collect_stored(node, out),
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Begin { .. }
            | Node::Declare { .. }
            | Node::Element { .. }
            | Node::Touch(_)
            | Node::Access { .. }
            | Node::Exchange { .. }
            | Node::Assume(_)
            | Node::Barrier
            | Node::WarpBarrier => {}
        }
    }

    /// The variables that `node` may change.
    fn assignments(&self, node: &Node<'_>, out: &mut Vec<VarId>) {
        match node {
            Node::Set { var, .. } | Node::Old { var, .. } | Node::Exchange { var, .. } => {
                out.push(*var);
            }
            Node::Declare { tile, .. } => out.extend(self.locals.all(ArrayRef::Tile(*tile))),
            Node::Element { access, .. } => out.extend(self.locals.all(access.array)),
            Node::Touch(_)
            | Node::Access { .. }
            | Node::Assume(_)
            | Node::Begin { .. }
            | Node::Barrier
            | Node::WarpBarrier => {}
            Node::Each { body, .. } => {
                body.iter().for_each(|inner| self.assignments(inner, out));
            }
            Node::Loop { body, .. } | Node::While { body, .. } => out.extend(&body.assigned),
            Node::If { then, otherwise, .. } => {
                out.extend(then.assigned.iter().chain(&otherwise.assigned));
            }
            Node::Alike { outputs, .. } => out.extend(outputs),
        }
    }
}
