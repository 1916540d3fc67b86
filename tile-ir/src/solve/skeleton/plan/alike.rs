//! What work-items do alike, where nothing is asked but which cells are read unwritten.
//!
//! Where it is proved that there is no race, nobody need know who reads a cell. A statement
//! that asks for no more than variables of which some work-items have equal values, as
//! `for k in 0..1024 { sum += s[k]; }` does of all, is run by one of these. What it reads in
//! several places is taken apart first, so that of `a_s[ty, k] * b_s[k, tx]` each half is
//! asked for as often as it differs.
//!
//! A statement is taken apart only where it writes nothing: of what only reads, each part finds
//! what it would find in its place, as what is written by others in the same interval is other
//! cells.

use std::collections::BTreeSet;

use super::{Body, Node, Plan};
use crate::arena::EntityId as _;
use crate::kernel::{Access, AccessKind, ArrayRef, ExprId, ExprKind, VarId, VarKind, eval_index};

impl<'a> Plan<'a> {
    /// The same, of which what work-items do alike is done by the first.
    pub(super) fn by_first(mut self) -> Self {
        if self.kernel.block.is_some() {
            let body = std::mem::take(&mut self.body);
            self.body = self.with_questions(self.by_kinds(body));
        }
        self
    }

    /// The statements of a team, those that some of its work-items do alike marked.
    fn by_kinds(&self, nodes: Vec<Node<'a>>) -> Vec<Node<'a>> {
        let of_team = |body: Body<'a>| Body { nodes: self.by_kinds(body.nodes), ..body };
        let mut out = Vec::new();
        for node in nodes {
            if node.team().is_none() {
                out.extend(self.apart(node).into_iter().map(|part| self.marked(part)));
                continue;
            }
            out.push(match node {
                Node::Loop { var, range, body, head } => {
                    Node::Loop { var, range, body: of_team(body), head }
                }
                Node::While { cond, body, head, rising } => {
                    Node::While { cond, body: of_team(body), head, rising }
                }
                Node::If { cond, then, otherwise } => {
                    Node::If { cond, then: of_team(then), otherwise: of_team(otherwise) }
                }
                other => other,
            });
        }
        out
    }

    /// A statement, marked if work-items may do it alike.
    fn marked(&self, node: Node<'a>) -> Node<'a> {
        let is_small = matches!(
            node,
            Node::Set { .. } | Node::Begin { .. } | Node::Declare { .. } | Node::Element { .. }
        );
        if is_small {
            return node;
        }
        let mut asked = Asked::default();
        if self.ask(&node, &mut asked).is_none() {
            return node;
        }
        let Asked { mut inputs, outputs } = asked;
        inputs.extend(&outputs);
        let mut axes = self.kernel.block.iter().flatten();
        let differs = |extent| eval_index(self.kernel, extent, &|_| None) != Some(1);
        if axes.all(|axis| inputs.contains(&axis.var) || !differs(axis.extent)) {
            return node;
        }
        let (inputs, outputs) = (inputs.into_iter().collect(), outputs.into_iter().collect());
        Node::Alike { node: Box::new(node), inputs, outputs }
    }

    /// Collects the variables that a statement asks for and those that it changes; `None` where
    /// it may differ for work-items of which these are equal.
    fn ask(&self, node: &Node<'a>, asked: &mut Asked) -> Option<()> {
        match node {
            Node::Set { var, value, .. } => {
                asked.outputs.insert(*var);
                self.ask_value(*value, asked)
            }
            Node::Declare { tile, init } => {
                asked.outputs.extend(self.locals.all(ArrayRef::Tile(*tile)));
                init.map_or(Some(()), |init| self.ask_value(init, asked))
            }
            Node::Element { access, value, .. } => {
                asked.outputs.extend(self.locals.all(access.array));
                self.ask_value(*value, asked)?;
                access.indices.iter().try_for_each(|index| self.ask_value(*index, asked))
            }
            Node::Touch(expr) => self.ask_touched(*expr, asked),
            Node::Access { access, .. } => self.ask_place(access, asked),
            Node::Assume(cond) => self.ask_value(*cond, asked),
            Node::Loop { var, range, body, .. } => {
                range.exprs().into_iter().try_for_each(|bound| self.ask_value(bound, asked))?;
                let is_outer = asked.inputs.contains(var);
                body.nodes.iter().try_for_each(|inner| self.ask(inner, asked))?;
                if !is_outer {
                    asked.inputs.remove(var);
                }
                Some(())
            }
            Node::While { cond, body, .. } => {
                self.ask_value(*cond, asked)?;
                body.nodes.iter().try_for_each(|inner| self.ask(inner, asked))
            }
            Node::If { cond, then, otherwise } => {
                self.ask_value(*cond, asked)?;
                let mut both = then.nodes.iter().chain(&otherwise.nodes);
                both.try_for_each(|inner| self.ask(inner, asked))
            }
            Node::Alike { node, .. } => self.ask(node, asked),
            // The old value that an atomic update gives is another one each time.
            Node::Old { .. } => None,
            Node::Begin { .. }
            | Node::Each { .. }
            | Node::Exchange { .. }
            | Node::Barrier
            | Node::WarpBarrier => None,
        }
    }

    /// What the place of an access asks for; `None` of an array of each work-item's own.
    fn ask_place(&self, access: &Access, asked: &mut Asked) -> Option<()> {
        if self.kernel.is_local(access.array) {
            return None;
        }
        access.indices.iter().try_for_each(|index| self.ask_value(*index, asked))
    }

    /// What an expression asks for whose value matters.
    fn ask_value(&self, expr: ExprId, asked: &mut Asked) -> Option<()> {
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) => {
                asked.inputs.insert(*var);
            }
            ExprKind::Load(access) => {
                let is_own = self.kernel.is_local(access.array);
                if is_own && (!self.locals.follows(access.array) || self.is_watched(access)) {
                    return None;
                }
                asked.inputs.extend(self.locals.all(access.array));
            }
            _ => {}
        }
        kind.operands().into_iter().try_for_each(|operand| self.ask_value(operand, asked))
    }

    /// What the loads under watch in an expression ask for whose value does not matter.
    fn ask_touched(&self, expr: ExprId, asked: &mut Asked) -> Option<()> {
        if !self.touches[expr.index()] {
            return Some(());
        }
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Load(access) if self.is_watched(access) => {
                return self.ask_place(access, asked);
            }
            ExprKind::Select { cond, .. } | ExprKind::Logic { lhs: cond, .. } => {
                self.ask_value(*cond, asked)?;
            }
            _ => {}
        }
        kind.operands().into_iter().try_for_each(|operand| self.ask_touched(operand, asked))
    }

    /// The parts of a statement that nobody does together.
    fn apart(&self, node: Node<'a>) -> Vec<Node<'a>> {
        match node {
            Node::Touch(expr) => {
                let mut parts = Vec::new();
                self.collect_touches(expr, &mut parts);
                let mut seen = BTreeSet::new();
                parts.retain(|part| seen.insert(*part));
                parts.into_iter().map(Node::Touch).collect()
            }
            Node::Loop { var, range, body, head } if self.only_reads(&body.nodes) => {
                let parts = self.bodies(body).into_iter();
                let parts = parts.map(|body| self.with_rounds(body, Some(var)));
                parts.map(|body| Node::Loop { var, range, body, head }).collect()
            }
            Node::If { cond, then, otherwise }
                if !self.touches[cond.index()]
                    && self.only_reads(&then.nodes)
                    && self.only_reads(&otherwise.nodes) =>
            {
                let empty = |body: &Body<'a>| Body { nodes: Vec::new(), ..body.clone() };
                let (none, nothing) = (empty(&then), empty(&otherwise));
                let hold = self.bodies(then).into_iter().map(|then| (then, nothing.clone()));
                let fail = self.bodies(otherwise).into_iter().map(|arm| (none.clone(), arm));
                let all = hold.chain(fail);
                all.map(|(then, otherwise)| Node::If { cond, then, otherwise }).collect()
            }
            other => vec![other],
        }
    }

    /// A body that only reads, once for each of its parts.
    fn bodies(&self, body: Body<'a>) -> Vec<Body<'a>> {
        let (mut set, mut parts) = (Vec::new(), Vec::new());
        for node in body.nodes {
            match node {
                Node::Set { .. } => set.push(node),
                // What comes before is all that a part can ask for.
                other => parts.extend(self.apart(other).into_iter().map(|part| {
                    let nodes = set.iter().cloned().chain([part]).collect();
                    let assigned = body.assigned.clone();
                    let stored = BTreeSet::new();
                    Body { nodes, again: None, rounds: None, team: None, assigned, stored }
                })),
            }
        }
        parts
    }

    /// Whether statements do no more than read, and name values of their own by the way.
    fn only_reads(&self, nodes: &[Node<'a>]) -> bool {
        nodes.iter().all(|node| match node {
            Node::Touch(_) => true,
            Node::Access { site, .. } => {
                let site = self.sites.get(*site as usize);
                site.is_some_and(|site| site.kind == AccessKind::Read)
            }
            Node::Set { var, op: None, value } => {
                self.kernel.vars[*var].kind == (VarKind::Let { mutable: false })
                    && !self.touches[value.index()]
            }
            Node::Loop { body, .. } => self.only_reads(&body.nodes),
            Node::If { then, otherwise, .. } => {
                self.only_reads(&then.nodes) && self.only_reads(&otherwise.nodes)
            }
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Begin { .. }
            | Node::Declare { .. }
            | Node::Element { .. }
            | Node::Each { .. }
            | Node::While { .. }
            | Node::Exchange { .. }
            | Node::Assume(_)
            | Node::Alike { .. }
            | Node::Barrier
            | Node::WarpBarrier => false,
        })
    }

    /// The parts of an expression that load something under watch, whatever the others are.
    fn collect_touches(&self, expr: ExprId, out: &mut Vec<ExprId>) {
        if !self.touches[expr.index()] {
            return;
        }
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. } => {
                kind.operands().into_iter().for_each(|part| self.collect_touches(part, out));
            }
            _ => out.push(expr),
        }
    }
}

/// The variables that a statement asks for, and those that it changes.
#[derive(Default)]
struct Asked {
    inputs: BTreeSet<VarId>,
    outputs: BTreeSet<VarId>,
}
