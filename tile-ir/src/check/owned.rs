//! TK0004: a variable that its block does not share, named in a cooperative loop.
//!
//! The threads of a block share a `load` or an `each` out, so its body may name what
//! the block has one of: dimensions, parameters, grid axes, counters of its loops, and
//! a `let` that is made of these ([`Uniformity::is_uniform_var`]). Without a block
//! domain every `let` is one value per block, but one that is read from a tile is not
//! known to all threads.

use std::collections::BTreeSet;

use super::Uniformity;
use super::flow::{Flow, PrivateUse};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    EachOrigin, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, VarKind, any_stmt,
    print_expr,
};
use crate::span::SpanId;

/// Reports each variable once.
pub(super) fn check_owned(
    kernel: &Kernel,
    uniformity: &Uniformity,
    flow: &Flow,
    diags: &mut Diagnostics,
) {
    let mut named = check_work_items(kernel, uniformity, diags);
    // Of a counter that only control flow makes differ, that is what is told.
    let is_told = |used: &PrivateUse| {
        kernel.vars[used.var].kind == VarKind::Loop && !flow.divergent.is_empty()
    };
    for used in flow.private_uses.iter().filter(|used| !is_told(used)) {
        if named.insert(used.var) {
            diags.push(of_thread(kernel, used));
        }
    }
}

/// Reports variables of work-items, and gives those that it has reported.
pub(super) fn check_work_items(
    kernel: &Kernel,
    uniformity: &Uniformity,
    diags: &mut Diagnostics,
) -> BTreeSet<VarId> {
    let mut named = BTreeSet::new();
    if kernel.block.is_none() {
        return named;
    }
    let mut walk = Walk { kernel, uniformity, around: None, own: Vec::new(), uses: Vec::new() };
    walk.stmts(&kernel.body);
    for used in walk.uses {
        if named.insert(used.var) {
            diags.push(of_work_item(kernel, uniformity, &used));
        }
    }
    named
}

/// A use of a work-item's variable.
struct Use {
    var: VarId,
    span: SpanId,
    /// The loop's keyword, and what it is.
    head: SpanId,
    word: &'static str,
}

struct Walk<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    /// The cooperative loop around.
    around: Option<(SpanId, &'static str)>,
    /// What is declared inside of it.
    own: Vec<VarId>,
    uses: Vec<Use>,
}

impl Walk<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Each { origin, body, .. } = &stmt.kind {
            let word = match origin {
                EachOrigin::Load => "load",
                EachOrigin::Each => "each",
            };
            self.around = Some((stmt.head, word));
            self.stmts(body);
            self.own.clear();
            self.around = None;
            return;
        }
        if self.around.is_some() {
            stmt.kind.exprs().into_iter().for_each(|expr| self.expr(expr));
            match &stmt.kind {
                StmtKind::Let { var, .. } => self.own.push(*var),
                StmtKind::Atomic { old: Some(old), .. } => self.own.push(*old),
                StmtKind::Phase { var, .. }
                | StmtKind::For { var, .. }
                | StmtKind::Exchange { var, .. } => self.own.push(*var),
                StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                    self.name(*var, stmt.span)
                }
                StmtKind::LetArray { .. }
                | StmtKind::Store { .. }
                | StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Atomic { old: None, .. }
                | StmtKind::Each { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
        }
        stmt.kind.bodies().into_iter().for_each(|body| self.stmts(body));
    }

    fn expr(&mut self, expr: ExprId) {
        let node = &self.kernel.exprs[expr];
        if let ExprKind::Var(var) = node.kind {
            self.name(var, node.span);
        }
        node.kind.operands().into_iter().for_each(|operand| self.expr(operand));
    }

    fn name(&mut self, var: VarId, span: SpanId) {
        let is_let = matches!(self.kernel.vars[var].kind, VarKind::Let { .. });
        if let Some((head, word)) = self.around
            && is_let
            && !self.own.contains(&var)
            && !self.uniformity.is_uniform_var(var)
        {
            self.uses.push(Use { var, span, head, word });
        }
    }
}

fn of_work_item(kernel: &Kernel, uniformity: &Uniformity, used: &Use) -> Diagnostic {
    let Use { var, span, head, word } = *used;
    let name = &kernel.vars[var].name;
    let message = format!("`{name}` belongs to one work-item, which `{word}` cannot name");
    let declared = match source(kernel, uniformity, var, &mut BTreeSet::new()) {
        Some(of) => format!("`{name}` is declared here, and depends on `{of}`"),
        None => format!("`{name}` is declared here"),
    };
    Diagnostic::error(Code::MisusedName, span, message)
        .label(head, format!("the whole block shares this `{word}` out among its threads"))
        .label(kernel.vars[var].span, declared)
        .help(format!(
            "use the indices of the `{word}` itself, tiles, grid axes, loop counters, parameters, \
             or a `let` that is made of the last three"
        ))
}

/// What makes a variable a work-item's own: an axis of the block, or a load.
fn source(
    kernel: &Kernel,
    uniformity: &Uniformity,
    var: VarId,
    seen: &mut BTreeSet<VarId>,
) -> Option<String> {
    if !seen.insert(var) {
        return None;
    }
    let mut values = Vec::new();
    any_stmt(&kernel.body, &mut |kind| {
        if let StmtKind::Let { var: to, init: Some(value) }
        | StmtKind::Assign { var: to, value }
        | StmtKind::Update { place: Place::Var(to), value, .. } = kind
            && *to == var
        {
            values.push(*value);
        }
        false
    });
    values.into_iter().find_map(|value| source_in(kernel, uniformity, value, seen))
}

fn source_in(
    kernel: &Kernel,
    uniformity: &Uniformity,
    expr: ExprId,
    seen: &mut BTreeSet<VarId>,
) -> Option<String> {
    if uniformity.is_uniform_expr(expr) {
        return None;
    }
    let kind = &kernel.exprs[expr].kind;
    match kind {
        ExprKind::Var(var) if kernel.vars[*var].kind == VarKind::Block => {
            Some(kernel.vars[*var].name.clone())
        }
        ExprKind::Var(var) => source(kernel, uniformity, *var, seen),
        kind => {
            let mut inner = kind.operands().into_iter();
            let found = inner.find_map(|inner| source_in(kernel, uniformity, inner, seen));
            let is_load = matches!(kind, ExprKind::Load(_));
            found.or_else(|| is_load.then(|| print_expr(kernel, expr)))
        }
    }
}

/// A `let` of a kernel without a block domain is one value per block, but one
/// that is read from a tile is not known to all threads that share an `each`.
fn of_thread(kernel: &Kernel, used: &PrivateUse) -> Diagnostic {
    let var = &kernel.vars[used.var];
    let name = &var.name;
    let message = match var.kind {
        VarKind::Block => {
            format!("`{name}` is an axis of the block, which a cooperative loop cannot name")
        }
        VarKind::Dim
        | VarKind::TileParam(_)
        | VarKind::Scalar(_)
        | VarKind::Grid
        | VarKind::Each
        | VarKind::Loop
        | VarKind::Let { .. } => {
            format!("`{name}` may differ between the threads that share this loop out")
        }
    };
    let declared = format!(
        "`{name}` is declared here and comes from a tile, a written tensor or an atomic update"
    );
    Diagnostic::error(Code::MisusedName, used.span, message).label(var.span, declared).help(
        "read the tile inside the loop, or keep the value in a tile and put `barrier;` before the loop",
    )
}
