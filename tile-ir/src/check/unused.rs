//! TK0502: a tile or a variable that is never read (a warning).
//!
//! A name that starts with `_` says that this is meant. The read that is part of
//! `x += e` does not count: nothing is made of it.

use crate::arena::EntityId as _;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, Var, VarId, VarKind,
};
use crate::span::SpanId;

/// Warns of every tile and variable that is never read.
pub(super) fn check_unused(kernel: &Kernel, diags: &mut Diagnostics) {
    let mut used = Used {
        vars: vec![false; kernel.vars.len()],
        tiles: vec![false; kernel.tiles.len()],
        written: vec![false; kernel.tiles.len()],
    };
    for stmt in &kernel.body {
        used.visit(kernel, stmt);
    }
    for (id, tile) in kernel.tiles.iter() {
        if used.tiles[id.index()] || tile.name.starts_with('_') {
            continue;
        }
        let fate = if used.written[id.index()] { "written and never read" } else { "never used" };
        let array = ArrayRef::Tile(id);
        let message = format!("the {} `{}` is {fate}", kernel.array_word(array), tile.name);
        let diagnostic = Diagnostic::warning(Code::Unused, tile.span, message);
        diags.push(diagnostic.help(match kernel.is_local(array) {
            true => "remove it: it takes registers from the thread",
            false => "remove it: it takes shared memory from the block",
        }));
    }
    // Of a body that stands several times each has variables of its own, for one of the text.
    let is_read = |(id, _): &(VarId, &Var)| used.vars[id.index()];
    let mut told: Vec<SpanId> =
        kernel.vars.iter().filter(is_read).map(|(_, var)| var.span).collect();
    for (_, var) in kernel.vars.iter() {
        let is_let = matches!(var.kind, VarKind::Let { .. });
        if is_let && !var.name.starts_with('_') && !told.contains(&var.span) {
            told.push(var.span);
            let message = format!("the variable `{}` is never read", var.name);
            let diagnostic = Diagnostic::warning(Code::Unused, var.span, message);
            diags.push(diagnostic.help(format!("remove it, or name it `_{}`", var.name)));
        }
    }
}

/// By id: whether something is read, or written.
struct Used {
    vars: Vec<bool>,
    tiles: Vec<bool>,
    written: Vec<bool>,
}

impl Used {
    fn visit(&mut self, kernel: &Kernel, stmt: &Stmt) {
        let exprs: Vec<ExprId> = match &stmt.kind {
            StmtKind::Let { init, .. } | StmtKind::LetArray { init, .. } => {
                init.iter().copied().collect()
            }
            StmtKind::Assign { value, .. }
            | StmtKind::Update { place: Place::Var(_), value, .. } => {
                vec![*value]
            }
            StmtKind::Store { access, value }
            | StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.write(access.array);
                access.indices.iter().copied().chain([*value]).collect()
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                self.write(access.array);
                if let (ArrayRef::Tile(tile), Some(_)) = (access.array, old) {
                    self.tiles[tile.index()] = true;
                }
                access.indices.iter().chain(expected).copied().chain([*value]).collect()
            }
            StmtKind::Exchange { value, lane, .. } => [*value].into_iter().chain(*lane).collect(),
            StmtKind::Each { .. } | StmtKind::Barrier | StmtKind::WarpBarrier => Vec::new(),
            StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => range.exprs(),
            StmtKind::While { cond, .. }
            | StmtKind::If { cond, .. }
            | StmtKind::Assume { cond } => vec![*cond],
            StmtKind::Distinct { values, .. } => values.clone(),
        };
        exprs.into_iter().for_each(|id| self.visit_expr(kernel, id));
        for inner in stmt.kind.bodies().into_iter().flatten() {
            self.visit(kernel, inner);
        }
    }

    fn write(&mut self, array: ArrayRef) {
        if let ArrayRef::Tile(tile) = array {
            self.written[tile.index()] = true;
        }
    }

    fn visit_expr(&mut self, kernel: &Kernel, id: ExprId) {
        let kind = &kernel.exprs[id].kind;
        match kind {
            ExprKind::Var(var) => self.vars[var.index()] = true,
            ExprKind::Load(access) => {
                if let ArrayRef::Tile(tile) = access.array {
                    self.tiles[tile.index()] = true;
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
        for operand in kind.operands() {
            self.visit_expr(kernel, operand);
        }
    }
}
