//! Conditions that have come out one way alone in all runs, and what leads to the other way.

use std::collections::BTreeSet;

use super::doubts::{Outcomes, Resting};
use super::plain::Plain;
use super::plan::{Node, Plan, evaluated};
use crate::check::Folds;
use crate::kernel::{ExprId, ExprKind};
use crate::op::{LogicOp, UnaryOp};

/// A condition that is evaluated, or what it is a part of, and the conditions around.
type Asked = (ExprId, Vec<(ExprId, bool)>);

/// How comparisons are to come out, the most important first, so that a condition comes out as it
/// has in no run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lead {
    pub(super) outcomes: Vec<(ExprId, bool)>,
    /// The innermost condition around that some run has shown so: it is asked where that holds.
    pub(super) within: Option<(ExprId, bool)>,
}

/// The conditions of a skeleton that have come out so.
pub(super) struct Lacking<'a> {
    plain: &'a Plain<'a>,
    outcomes: &'a Outcomes,
    folds: Folds,
    resting: &'a Resting,
    asked: Vec<Asked>,
}

impl<'a> Lacking<'a> {
    pub(super) fn of(
        plain: &'a Plain<'a>,
        (plan, resting): (&Plan<'_>, &'a Resting),
        outcomes: &'a Outcomes,
    ) -> Self {
        let folds = Folds::of(plain.kernel);
        let mut lacking = Self { plain, outcomes, folds, resting, asked: Vec::new() };
        let mut asked = Vec::new();
        lacking.visit(&plan.body, &mut Vec::new(), &mut asked);
        lacking.asked = asked;
        lacking
    }

    /// All conditions that are asked.
    pub(super) fn compared(&self) -> BTreeSet<ExprId> {
        self.asked.iter().flat_map(|(expr, _)| self.conditions(*expr)).collect()
    }

    /// What leads to outcomes that no run has shown, of the conditions for which it is open how
    /// they come out.
    pub(super) fn leads(
        &self,
        is_open: impl Fn(ExprId) -> bool,
    ) -> impl Iterator<Item = (ExprId, Lead)> {
        let all = self.asked.iter().flat_map(|(expr, path)| {
            self.conditions(*expr).into_iter().map(move |cond| (cond, path))
        });
        let open = all.filter(move |(cond, _)| self.folds.get(*cond).is_none() && is_open(*cond));
        open.flat_map(move |(cond, path)| {
            let lacking = [false, true].into_iter();
            let lacking = lacking.filter(move |holds| self.outcomes.lacks(cond, *holds));
            lacking.map(move |holds| (cond, self.lead((cond, holds), path)))
        })
    }

    /// All that is evaluated, but conditions of loops: those are asked again and again.
    fn visit(&self, nodes: &[Node<'_>], path: &mut Vec<(ExprId, bool)>, out: &mut Vec<Asked>) {
        for node in nodes {
            let mut own = Vec::new();
            evaluated(node, &mut own);
            own.retain(|expr| self.is_lacking(*expr));
            out.extend(own.into_iter().map(|expr| (expr, path.clone())));
            match node {
                Node::Each { body, .. } => self.visit(body, path, out),
                Node::Loop { body, .. } | Node::While { body, .. } => {
                    self.visit(&body.nodes, path, out);
                }
                Node::If { cond, then, otherwise } => {
                    for (body, holds) in [(then, true), (otherwise, false)] {
                        path.push((*cond, holds));
                        self.visit(&body.nodes, path, out);
                        path.pop();
                    }
                }
                Node::Alike { node, .. } => self.visit(std::slice::from_ref(node), path, out),
                _ => {}
            }
        }
    }

    fn is_lacking(&self, expr: ExprId) -> bool {
        !self.conditions(expr).is_empty()
    }

    /// The conditions in an expression.
    pub(super) fn conditions(&self, expr: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let kind = &self.plain.kernel.exprs[expr].kind;
            open.extend(kind.operands());
            if matches!(
                kind,
                ExprKind::Compare { .. } | ExprKind::Logic { .. } | ExprKind::InBounds { .. }
            ) {
                found.push(expr);
            }
        }
        found
    }

    /// What makes a condition come out so, in these others around it.
    fn lead(&self, (cond, holds): (ExprId, bool), path: &[(ExprId, bool)]) -> Lead {
        let mut outcomes = Vec::new();
        self.add(cond, holds, &mut outcomes);
        let mut within = None;
        for (cond, holds) in path {
            self.add_around(*cond, *holds, &mut outcomes);
            within = self.shown(*cond, *holds).or(within);
        }
        Lead { outcomes, within }
    }

    /// Adds what makes a condition come out so.
    fn add(&self, cond: ExprId, holds: bool, out: &mut Vec<(ExprId, bool)>) {
        let cond = self.plain.resolved(cond);
        match self.plain.kernel.exprs[cond].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.add(operand, !holds, out),
            ExprKind::Logic { op, lhs, rhs } => {
                self.add(lhs, holds, out);
                // Of what one side decides the other is asked for itself.
                if holds == (op == LogicOp::And) {
                    self.add(rhs, holds, out);
                }
            }
            ExprKind::Compare { .. } | ExprKind::InBounds { .. }
                if !out.iter().any(|(other, _)| *other == cond) =>
            {
                out.push((cond, holds));
            }
            _ => {}
        }
    }

    /// What has come out so in some run where a condition has.
    fn shown(&self, cond: ExprId, holds: bool) -> Option<(ExprId, bool)> {
        let resolved = self.plain.resolved(cond);
        match self.plain.kernel.exprs[resolved].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.shown(operand, !holds),
            _ => (!self.outcomes.lacks(resolved, holds)).then_some((resolved, holds)),
        }
    }

    /// The same, of a condition around, where no run has shown it so, or one of rounds that are
    /// none of the first.
    fn add_around(&self, cond: ExprId, holds: bool, out: &mut Vec<(ExprId, bool)>) {
        let resolved = self.plain.resolved(cond);
        match self.plain.kernel.exprs[resolved].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.add_around(operand, !holds, out),
            _ if self.outcomes.lacks(resolved, holds) || self.resting.is_late(resolved) => {
                self.add(resolved, holds, out);
            }
            _ => {}
        }
    }
}
