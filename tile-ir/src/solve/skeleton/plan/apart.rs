//! Loops of which each round does what it does whatever the rounds before it did.
//!
//! So it is where nothing is handed on from one to the next: every variable that matters
//! and is set in a round is a name for one value, and nothing is stored that is found again.
//! What such a round touches is touched in every run of the loop, whichever other rounds are
//! looked at.

use super::{Body, Node, Plan};
use crate::kernel::{VarId, VarKind};

impl Plan<'_> {
    /// Whether the rounds of a loop with this body hand nothing on. One that assumes
    /// something is not asked: whether the launch is one that is made is said by all.
    pub(in super::super) fn rounds_stand_alone(&self, body: &Body<'_>) -> bool {
        let is_own = |var: &VarId| {
            let kind = self.kernel.vars.get(*var).map(|var| var.kind);
            matches!(kind, Some(VarKind::Let { mutable: false } | VarKind::Loop | VarKind::Each))
        };
        body.stored.is_empty()
            && body.assigned.iter().all(is_own)
            && !body.nodes.iter().any(assumes)
    }
}

fn assumes(node: &Node<'_>) -> bool {
    match node {
        Node::Assume(_) => true,
        Node::Loop { body, .. } | Node::While { body, .. } => body.nodes.iter().any(assumes),
        Node::If { then, otherwise, .. } => then.nodes.iter().chain(&otherwise.nodes).any(assumes),
        Node::Each { body, .. } => body.iter().any(assumes),
        Node::Alike { node, .. } => assumes(node),
        Node::Set { .. }
        | Node::Old { .. }
        | Node::Begin { .. }
        | Node::Declare { .. }
        | Node::Element { .. }
        | Node::Touch(_)
        | Node::Access { .. }
        | Node::Exchange { .. }
        | Node::Barrier
        | Node::WarpBarrier => false,
    }
}
