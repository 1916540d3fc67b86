//! Statements.

use super::{Line, Printer};
use crate::arena::EntityId as _;
use crate::precedence::Level;
use crate::program::{
    ExprId, ExprKind, Literal, LoopRange, Participants, RoleId, Scope, Stmt, StmtKind, TokenId,
    Unroll, VarId,
};

impl Printer<'_> {
    /// Statements at `depth`; `at_block` where they are the block's.
    pub(super) fn write_stmts(&mut self, depth: usize, stmts: &[Stmt], at_block: bool) {
        for stmt in stmts {
            self.write_stmt(depth, stmt, at_block);
        }
    }

    fn write_stmt(&mut self, depth: usize, stmt: &Stmt, at_block: bool) {
        let head = self.marks(stmt, at_block) + &self.head(&stmt.kind);
        let number = self.lines_before + self.out.matches('\n').count() + 1;
        self.stmts.push(Line { number, text: head.clone() });
        self.line(depth, &head);
        match &stmt.kind {
            StmtKind::Items { body, .. } => self.write_body(depth, body, false),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                self.write_body(depth, body, at_block);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.write_stmts(depth + 1, then, at_block);
                if !otherwise.is_empty() {
                    self.line(depth, "} else {");
                    self.write_stmts(depth + 1, otherwise, at_block);
                }
                self.line(depth, "}");
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Barrier(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => {}
        }
    }

    fn write_body(&mut self, depth: usize, body: &[Stmt], at_block: bool) {
        self.write_stmts(depth + 1, body, at_block);
        self.line(depth, "}");
    }

    /// A scope that is not the place's own, and a role that is not all warps.
    fn marks(&self, stmt: &Stmt, at_block: bool) -> String {
        let scope = match stmt.scope {
            Scope::Thread if !at_block => "",
            Scope::Block if at_block => "",
            Scope::Thread => "#[thread] ",
            Scope::Warp => "#[warp] ",
            Scope::Warpgroup => "#[warpgroup] ",
            Scope::Block => "#[block] ",
            Scope::Cluster => "#[cluster] ",
        };
        let role = match stmt.role.index() {
            0 => String::new(),
            _ => format!("#[role = {}] ", self.role(stmt.role)),
        };
        format!("{scope}{role}")
    }

    fn role(&self, id: RoleId) -> String {
        self.kernel.roles.get(id).map_or_else(|| id.to_string(), |role| role.name.clone())
    }

    /// The statement without those inside it.
    fn head(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::Let { var, value } => {
                let value = value.map(|value| format!(" = {}", self.whole(value)));
                format!("{}{};", self.declared(*var), value.unwrap_or_default())
            }
            StmtKind::Assign { var, value } => {
                format!("{} = {};", self.var(*var), self.whole(*value))
            }
            StmtKind::SetFragment { fragment, value } => {
                format!("{} = {};", self.fragment(*fragment), self.whole(*value))
            }
            StmtKind::Store { access, value } => {
                format!("{} = {};", self.access(access), self.whole(*value))
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                let expected = expected.map(|expected| self.whole(expected));
                let old = old.map(|old| format!("{} = ", self.declared(old)));
                let (place, value) = (self.access(access), self.whole(*value));
                let update = op.statement(&place, expected.as_deref(), &value);
                format!("{}{update}", old.unwrap_or_default())
            }
            StmtKind::Copy { dst, src, token } => {
                let token =
                    token.map(|token: TokenId| format!("async {token} ")).unwrap_or_default();
                format!("{token}copy {} = {};", self.access(dst), self.access(src))
            }
            StmtKind::Assume(fact) => format!("assume({});", self.whole(fact.cond)),
            StmtKind::Commit(token) => format!("commit {token};"),
            StmtKind::Wait { token, pending: 0 } => format!("wait {token};"),
            StmtKind::Wait { token, pending } => format!("wait {token} but {pending};"),
            StmtKind::Items { domain, .. } => format!("{} {{", self.items_of(*domain)),
            StmtKind::For { var, range, unroll, .. } => {
                let unroll = match unroll {
                    Unroll::Auto => String::new(),
                    Unroll::Never => "#[no_unroll] ".to_owned(),
                    Unroll::By(count) => format!("#[unroll = {count}] "),
                    Unroll::Full => "#[unroll] ".to_owned(),
                };
                format!("{unroll}for {} in {} {{", self.var(*var), self.range(range))
            }
            StmtKind::While { cond, .. } => format!("while {} {{", self.whole(*cond)),
            StmtKind::If { cond, .. } => format!("if {} {{", self.whole(*cond)),
            StmtKind::Shuffle { var, value, lane } => {
                let ty = self.kernel.vars[*var].ty;
                let (value, lane) = (self.whole(*value), self.whole(*lane));
                format!("let {}: {ty} = shuffle({value}, {lane});", self.var(*var))
            }
            StmtKind::Ballot { var, cond } => {
                format!("let {}: u32 = ballot({});", self.var(*var), self.whole(*cond))
            }
            StmtKind::WarpBarrier => "warp_barrier;".to_owned(),
            StmtKind::Barrier(Participants::Block) => "barrier;".to_owned(),
            StmtKind::Barrier(Participants::Role(role)) => format!("barrier {};", self.role(*role)),
        }
    }

    /// `let x: f32`
    fn declared(&self, id: VarId) -> String {
        let ty = self.kernel.vars.get(id).map(|var| format!(": {}", var.ty));
        format!("let {}{}", self.var(id), ty.unwrap_or_default())
    }

    fn range(&self, range: &LoopRange) -> String {
        match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let bound = |id| self.expr(id, Level::LogicOr);
                let plain = format!("{}..{}", bound(start), bound(end));
                let step = match self.is_one(step) {
                    true => String::new(),
                    false => format!(".step_by({})", self.whole(step)),
                };
                let reversed = if reversed { ".rev()" } else { "" };
                match step.is_empty() && reversed.is_empty() {
                    true => plain,
                    false => format!("({plain}){step}{reversed}"),
                }
            }
            LoopRange::Halving(n) => format!("halving({})", self.whole(n)),
            LoopRange::Doubling(n) => format!("doubling({})", self.whole(n)),
        }
    }

    fn is_one(&self, id: ExprId) -> bool {
        let kind = self.kernel.exprs.get(id).map(|expr| &expr.kind);
        kind == Some(&ExprKind::Literal(Literal::Int(1)))
    }
}
