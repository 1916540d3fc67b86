//! Where a value comes from that a kernel has from memory.

use super::{Access, ExprId, ExprKind, Kernel, Stmt, StmtKind, VarId, print_expr};
use crate::span::SpanId;

/// What gave a value that stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    /// This read.
    Load(ExprId),
    /// The atomic update that declares this variable with the value before.
    Old(VarId),
    /// The launch, which gives this variable any value.
    Launch(VarId),
}

impl Source {
    /// Where it stands: the read, or the element that is updated.
    pub(crate) fn span(self, kernel: &Kernel) -> SpanId {
        match self {
            Self::Load(load) => kernel.exprs[load].span,
            Self::Old(var) => self.access(kernel).map_or(kernel.vars[var].span, |at| at.span),
            Self::Launch(var) => kernel.vars[var].span,
        }
    }

    /// The read as it is written, or the variable's name.
    pub(crate) fn text(self, kernel: &Kernel) -> String {
        match self {
            Self::Load(load) => print_expr(kernel, load),
            Self::Old(var) | Self::Launch(var) => kernel.vars[var].name.clone(),
        }
    }

    /// How the value was had: `loaded`, for one.
    pub(crate) const fn manner(self) -> &'static str {
        match self {
            Self::Load(_) => "loaded",
            Self::Old(_) => "the old value of an atomic update",
            Self::Launch(_) => "given at launch",
        }
    }

    /// The element.
    pub(crate) fn access(self, kernel: &Kernel) -> Option<&Access> {
        match self {
            Self::Load(load) => {
                let ExprKind::Load(access) = &kernel.exprs[load].kind else { return None };
                Some(access)
            }
            Self::Old(var) => update_of(&kernel.body, var),
            Self::Launch(_) => None,
        }
    }
}

/// The element of the atomic update that declares `old`.
fn update_of(stmts: &[Stmt], old: VarId) -> Option<&Access> {
    stmts.iter().find_map(|stmt| {
        if let StmtKind::Atomic { access, old: Some(var), .. } = &stmt.kind
            && *var == old
        {
            return Some(access);
        }
        stmt.kind.bodies().into_iter().find_map(|body| update_of(body, old))
    })
}
