//! Accesses of tiles, with what stands around each, and what variables are set to.

use std::collections::BTreeMap;

use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, TileId, VarId,
};
use crate::op::LogicOp;
use crate::span::SpanId;

/// What stands around an access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Around {
    /// A condition that comes out so.
    Cond(ExprId, bool),
    /// A loop that has a round.
    Loop(LoopRange),
}

pub(super) type Path = Vec<Around>;

/// An access of a tile; of a write of all elements the indices are none.
pub(super) struct Site<'a> {
    pub(super) tile: TileId,
    pub(super) span: SpanId,
    pub(super) indices: &'a [ExprId],
    /// What is stored, if the text says it.
    pub(super) value: Option<ExprId>,
    pub(super) path: Path,
}

/// Accesses of tiles, and what variables are set to.
#[derive(Default)]
pub(super) struct Sites<'a> {
    pub(super) reads: Vec<Site<'a>>,
    pub(super) writes: Vec<Site<'a>>,
    pub(super) sets: BTreeMap<VarId, Vec<(ExprId, Path)>>,
}

impl<'a> Sites<'a> {
    /// Those of a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut sites = Self::default();
        sites.visit(kernel, &kernel.body, &mut Vec::new());
        sites
    }

    fn visit(&mut self, kernel: &'a Kernel, stmts: &'a [Stmt], path: &mut Path) {
        for stmt in stmts {
            stmt.kind.exprs().into_iter().for_each(|expr| self.reads_of(kernel, expr, path));
            match &stmt.kind {
                StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                    self.sets.entry(*var).or_default().push((*value, path.clone()));
                }
                StmtKind::Update { place: Place::Element(access), .. } => {
                    self.reads.extend(site(access, path));
                }
                StmtKind::Store { access, value } => {
                    let site = site(access, path);
                    self.writes.extend(site.map(|site| Site { value: Some(*value), ..site }));
                }
                StmtKind::Atomic { access, .. } => {
                    self.reads.extend(site(access, path));
                    self.writes.extend(site(access, path));
                }
                StmtKind::LetArray { tile, init: Some(value) } => {
                    self.writes.push(Site {
                        tile: *tile,
                        span: stmt.span,
                        indices: &[],
                        value: Some(*value),
                        path: path.clone(),
                    });
                }
                StmtKind::If { cond, then, otherwise } => {
                    for (body, holds) in [(then, true), (otherwise, false)] {
                        self.inside(kernel, body, path, Around::Cond(*cond, holds));
                    }
                }
                StmtKind::While { cond, body } => {
                    self.inside(kernel, body, path, Around::Cond(*cond, true));
                }
                StmtKind::Phase { range, body, .. } | StmtKind::For { range, body, .. } => {
                    self.inside(kernel, body, path, Around::Loop(*range));
                }
                StmtKind::Each { body, .. } => self.visit(kernel, body, path),
                StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Update { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
        }
    }

    fn inside(&mut self, kernel: &'a Kernel, body: &'a [Stmt], path: &mut Path, around: Around) {
        path.push(around);
        self.visit(kernel, body, path);
        path.pop();
    }

    fn reads_of(&mut self, kernel: &'a Kernel, expr: ExprId, path: &mut Path) {
        let kind = &kernel.exprs[expr].kind;
        let mut part = |sites: &mut Self, part: ExprId, around: Option<Around>| {
            path.extend(around);
            sites.reads_of(kernel, part, path);
            path.truncate(path.len() - usize::from(around.is_some()));
        };
        match kind {
            ExprKind::Select { cond, then, otherwise } => {
                part(self, *cond, None);
                part(self, *then, Some(Around::Cond(*cond, true)));
                part(self, *otherwise, Some(Around::Cond(*cond, false)));
            }
            ExprKind::Logic { op, lhs, rhs } => {
                part(self, *lhs, None);
                part(self, *rhs, Some(Around::Cond(*lhs, *op == LogicOp::And)));
            }
            _ => {
                kind.operands().into_iter().for_each(|operand| part(self, operand, None));
                if let ExprKind::Load(access) = kind {
                    self.reads.extend(site(access, path));
                }
            }
        }
    }
}

fn site<'a>(access: &'a Access, path: &Path) -> Option<Site<'a>> {
    let ArrayRef::Tile(tile) = access.array else { return None };
    Some(Site {
        tile,
        span: access.span,
        indices: &access.indices,
        value: None,
        path: path.clone(),
    })
}
