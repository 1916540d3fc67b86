//! What of a loop's body touches other elements in later rounds than in the first.
//!
//! Between two barriers a worker that touches an element once more shows nothing new. Of
//! `for j in 0..8 { acc += a_s[k] * b_s[k, j]; }` later rounds read only `b_s`.

use std::collections::BTreeSet;

use super::{Body, Node, Plan};
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, VarId};

impl<'a> Plan<'a> {
    /// The body of a loop of which no part is done together, its counter `var` if it has one.
    pub(super) fn with_rounds(&self, body: Body<'a>, var: Option<VarId>) -> Body<'a> {
        if body.team.is_some() || begins(&body.nodes) {
            return body;
        }
        let changing = body.assigned.iter().copied().chain(var).collect();
        let again = self.again(&body.nodes, &changing);
        Body { again, ..body }
    }

    /// Those of `nodes` that need not do in a later round what they did in the first, where
    /// `changing` are all variables that differ; `None` where that are all.
    fn again(&self, nodes: &[Node<'a>], changing: &BTreeSet<VarId>) -> Option<Vec<Node<'a>>> {
        let mut again = Vec::new();
        let mut is_less = false;
        for node in nodes {
            is_less |= self.add_again(node, changing, &mut again);
        }
        is_less.then_some(again)
    }

    /// Adds what is left of a node; says whether that is less.
    fn add_again(
        &self,
        node: &Node<'a>,
        changing: &BTreeSet<VarId>,
        out: &mut Vec<Node<'a>>,
    ) -> bool {
        match node {
            Node::Access { access, .. }
                if !access.indices.iter().any(|index| self.differs(*index, changing)) =>
            {
                return true;
            }
            Node::Touch(expr) => return self.add_touches(*expr, changing, out),
            Node::Loop { var, range, body, head }
                if body.team.is_none()
                    && !range.exprs().into_iter().any(|bound| self.differs(bound, changing)) =>
            {
                let Some(nodes) = self.again(&body.nodes, changing) else {
                    out.push(node.clone());
                    return false;
                };
                if !nodes.is_empty() {
                    let body = Body { nodes, again: None, ..body.clone() };
                    let body = self.with_rounds(body, Some(*var));
                    out.push(Node::Loop { var: *var, range: *range, body, head: *head });
                }
                return true;
            }
            Node::If { cond, then, otherwise } if !self.differs(*cond, changing) => {
                let [first, second] = [then, otherwise].map(|arm| self.again(&arm.nodes, changing));
                if first.is_none() && second.is_none() {
                    out.push(node.clone());
                    return false;
                }
                let arm = |nodes: Option<Vec<Node<'a>>>, arm: &Body<'a>| match nodes {
                    Some(nodes) => Body { nodes, ..arm.clone() },
                    None => arm.clone(),
                };
                let (then, otherwise) = (arm(first, then), arm(second, otherwise));
                if !then.nodes.is_empty() || !otherwise.nodes.is_empty() {
                    out.push(Node::If { cond: *cond, then, otherwise });
                }
                return true;
            }
            _ => {}
        }
        out.push(node.clone());
        false
    }

    /// Adds the parts of an expression whose loads under watch are of other elements.
    fn add_touches(
        &self,
        expr: ExprId,
        changing: &BTreeSet<VarId>,
        out: &mut Vec<Node<'a>>,
    ) -> bool {
        if !self.touches[expr.index()] || !self.touches_others(expr, changing) {
            return true;
        }
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            // Each of the operands is evaluated, whatever the other is.
            ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. } => {
                let parts = kind.operands().into_iter();
                parts.fold(false, |is_less, part| self.add_touches(part, changing, out) | is_less)
            }
            _ => {
                out.push(Node::Touch(expr));
                false
            }
        }
    }

    /// Whether loads under watch in an expression are of other elements.
    fn touches_others(&self, expr: ExprId, changing: &BTreeSet<VarId>) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let decides = match kind {
            ExprKind::Load(access) => access.indices.as_slice(),
            ExprKind::Select { cond, .. } | ExprKind::Logic { lhs: cond, .. } => {
                std::slice::from_ref(cond)
            }
            _ => &[],
        };
        decides.iter().any(|expr| self.differs(*expr, changing))
            || kind.operands().into_iter().any(|part| self.touches_others(part, changing))
    }

    /// Whether a value may differ from round to round: of what is loaded it is not asked.
    fn differs(&self, expr: ExprId, changing: &BTreeSet<VarId>) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Var(var) => changing.contains(var),
            ExprKind::Load(_) => true,
            kind => kind.operands().into_iter().any(|operand| self.differs(operand, changing)),
        }
    }
}

/// Whether an array is declared in `nodes`: each time none of its cells is written.
fn begins(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Begin { .. } => true,
        Node::Each { body, .. } => begins(body),
        Node::Loop { body, .. } | Node::While { body, .. } => begins(&body.nodes),
        Node::If { then, otherwise, .. } => begins(&then.nodes) || begins(&otherwise.nodes),
        Node::Alike { node, .. } => begins(std::slice::from_ref(node)),
        Node::Set { .. }
        | Node::Old { .. }
        | Node::Declare { .. }
        | Node::Element { .. }
        | Node::Touch(_)
        | Node::Access { .. }
        | Node::Exchange { .. }
        | Node::Assume(_)
        | Node::Barrier
        | Node::WarpBarrier => false,
    })
}
