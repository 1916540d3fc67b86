//! The expressions that a skeleton evaluates.

use super::{Node, Plan};
use crate::kernel::ExprId;

impl Plan<'_> {
    /// All of them, but not what they are made of.
    pub(in super::super) fn asked(&self) -> Vec<ExprId> {
        let mut out = Vec::new();
        collect(&self.body, &mut out);
        out
    }
}

fn collect(nodes: &[Node<'_>], out: &mut Vec<ExprId>) {
    for node in nodes {
        match node {
            Node::Set { value, .. } => out.push(*value),
            Node::Declare { init, .. } => out.extend(*init),
            Node::Element { access, value, .. } => {
                out.extend(access.indices.iter().copied().chain([*value]));
            }
            Node::Touch(expr) | Node::Assume(expr) => out.push(*expr),
            Node::Access { access, .. } => out.extend(&access.indices),
            Node::Each { axes, body, .. } => {
                out.extend(axes.iter().map(|axis| axis.extent));
                collect(body, out);
            }
            Node::Loop { range, body, .. } => {
                out.extend(range.exprs());
                collect(&body.nodes, out);
            }
            Node::While { cond, body, .. } => {
                out.push(*cond);
                collect(&body.nodes, out);
            }
            Node::If { cond, then, otherwise } => {
                out.push(*cond);
                collect(&then.nodes, out);
                collect(&otherwise.nodes, out);
            }
            Node::Exchange { value, lane, .. } => out.extend([*value].into_iter().chain(*lane)),
            Node::Alike { node, .. } => collect(std::slice::from_ref(node), out),
            Node::Old { .. } | Node::Begin { .. } | Node::Barrier | Node::WarpBarrier => {}
        }
    }
}
