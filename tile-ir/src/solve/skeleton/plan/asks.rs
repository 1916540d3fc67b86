//! The expressions that a skeleton evaluates.

use std::collections::BTreeSet;

use super::super::late::doubled;
use super::{Node, Plan};
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, Type};

impl Plan<'_> {
    /// All of them, but not what they are made of.
    pub(in super::super) fn asked(&self) -> Vec<ExprId> {
        let mut out = Vec::new();
        visit(&self.body, &mut |node| match node {
            Node::While { cond, .. } => out.push(*cond),
            _ => evaluated(node, &mut out),
        });
        out
    }

    /// Up to where loops over powers of two go.
    pub(in super::super) fn doubled(&self) -> Vec<ExprId> {
        let mut out = Vec::new();
        visit(&self.body, &mut |node| {
            if let Node::Loop { range, .. } = node {
                out.extend(doubled(range));
            }
        });
        out
    }

    /// What is evaluated under conditions alone.
    pub(in super::super) fn guarded(&self) -> BTreeSet<ExprId> {
        let mut open = Vec::new();
        visit(&self.body, &mut |node| {
            let Node::If { then, otherwise, .. } = node else { return };
            for body in [then, otherwise] {
                visit(&body.nodes, &mut |node| match node {
                    Node::While { cond, .. } => open.push(*cond),
                    _ => evaluated(node, &mut open),
                });
            }
        });
        let mut found = BTreeSet::new();
        while let Some(expr) = open.pop() {
            if found.insert(expr) {
                open.extend(self.kernel.exprs[expr].kind.operands());
            }
        }
        found
    }

    /// Whether a value of a type parameter's type decides which elements are accessed.
    pub(in super::super) fn decides_by_types(&self) -> bool {
        let kernel = self.kernel;
        if kernel.type_params.is_empty() {
            return false;
        }
        let mut open = Vec::new();
        visit(&self.body, &mut |node| match node {
            Node::Touch(expr) => deciding(kernel, *expr, &mut open),
            Node::While { cond, .. } => open.push(*cond),
            _ => evaluated(node, &mut open),
        });
        while let Some(expr) = open.pop() {
            let Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) = kernel.exprs[expr].ty else {
                open.extend(kernel.exprs[expr].kind.operands());
                continue;
            };
            return true;
        }
        false
    }
}

/// Visits all nodes, those around first.
fn visit<'p>(nodes: &'p [Node<'p>], with: &mut impl FnMut(&'p Node<'p>)) {
    for node in nodes {
        with(node);
        match node {
            Node::Each { body, .. } => visit(body, with),
            Node::Loop { body, .. } | Node::While { body, .. } => visit(&body.nodes, with),
            Node::If { then, otherwise, .. } => {
                visit(&then.nodes, with);
                visit(&otherwise.nodes, with);
            }
            Node::Alike { node, .. } => visit(std::slice::from_ref(node), with),
            _ => {}
        }
    }
}

/// Adds what a node evaluates itself; not the condition of a loop.
pub(in super::super) fn evaluated(node: &Node<'_>, out: &mut Vec<ExprId>) {
    match node {
        Node::Set { value, .. } => out.push(*value),
        Node::Declare { init, .. } => out.extend(*init),
        Node::Element { access, value, .. } => {
            out.extend(access.indices.iter().copied().chain([*value]));
        }
        Node::Touch(expr) | Node::Assume(expr) => out.push(*expr),
        Node::Access { access, .. } => out.extend(&access.indices),
        Node::Each { axes, .. } => out.extend(axes.iter().map(|axis| axis.extent)),
        Node::Loop { range, .. } => out.extend(range.exprs()),
        Node::If { cond, .. } => out.push(*cond),
        Node::Exchange { value, lane, .. } => out.extend([*value].into_iter().chain(*lane)),
        Node::While { .. }
        | Node::Alike { .. }
        | Node::Old { .. }
        | Node::Begin { .. }
        | Node::Barrier
        | Node::WarpBarrier => {}
    }
}

/// Adds what of an expression decides which loads it makes, where its own value is not asked.
fn deciding(kernel: &Kernel, expr: ExprId, out: &mut Vec<ExprId>) {
    match &kernel.exprs[expr].kind {
        ExprKind::Load(access) => out.extend(&access.indices),
        ExprKind::Select { cond, then, otherwise } => {
            out.push(*cond);
            [then, otherwise].into_iter().for_each(|arm| deciding(kernel, *arm, out));
        }
        ExprKind::Logic { lhs, rhs, .. } => {
            out.push(*lhs);
            deciding(kernel, *rhs, out);
        }
        kind => kind.operands().into_iter().for_each(|part| deciding(kernel, part, out)),
    }
}
