//! What is made of the old values of atomic updates.
//!
//! What updates find is made up in most runs: two of them may never find it. So it is with
//! what a kernel makes of that and stores, `if t == 0 { last[0] = (old == n - 1) as u32; }`: of
//! two blocks only one may ever read 1.

use std::collections::BTreeMap;

use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Place, Source, Stmt, StmtKind, VarId, any_subexpr,
};

/// The old value behind a source: itself, or what the kernel has made of one and stored where
/// this loads.
pub(super) fn behind(kernel: &Kernel, source: Source) -> Option<Source> {
    let array = match source {
        Source::Load(_) => source.access(kernel)?.array,
        Source::Old(_) => return Some(source),
        Source::Launch(_) => return None,
    };
    let mut olds = Olds { kernel, vars: BTreeMap::new(), arrays: BTreeMap::new() };
    loop {
        let before = (olds.vars.len(), olds.arrays.len());
        olds.visit(&kernel.body, None);
        if (olds.vars.len(), olds.arrays.len()) == before {
            return olds.arrays.get(&array).copied().map(Source::Old);
        }
    }
}

/// The old value that each variable or array is made of, or written under.
struct Olds<'a> {
    kernel: &'a Kernel,
    vars: BTreeMap<VarId, VarId>,
    arrays: BTreeMap<ArrayRef, VarId>,
}

impl Olds<'_> {
    fn visit(&mut self, stmts: &[Stmt], under: Option<VarId>) {
        for stmt in stmts {
            let exprs = stmt.kind.exprs();
            let old = under.or_else(|| exprs.into_iter().find_map(|expr| self.of(expr)));
            if let StmtKind::Atomic { old: Some(own), .. } = &stmt.kind {
                self.vars.insert(*own, *own);
            }
            if let Some(old) = old {
                self.note(&stmt.kind, old);
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, old));
        }
    }

    /// Notes what a statement writes.
    fn note(&mut self, stmt: &StmtKind, old: VarId) {
        let array = match stmt {
            StmtKind::LetArray { tile, .. } => Some(ArrayRef::Tile(*tile)),
            _ => stmt.written(),
        };
        if let Some(array) = array {
            self.arrays.entry(array).or_insert(old);
        }
        if let StmtKind::Let { var, .. }
        | StmtKind::Assign { var, .. }
        | StmtKind::Update { place: Place::Var(var), .. }
        | StmtKind::Exchange { var, .. } = stmt
        {
            self.vars.entry(*var).or_insert(old);
        }
    }

    /// The old value that an expression is made of.
    fn of(&self, expr: ExprId) -> Option<VarId> {
        let mut found = None;
        any_subexpr(self.kernel, expr, &mut |kind| {
            found = match kind {
                ExprKind::Var(var) => self.vars.get(var).copied(),
                ExprKind::Load(access) => self.arrays.get(&access.array).copied(),
                _ => None,
            };
            found.is_some()
        });
        found
    }
}
