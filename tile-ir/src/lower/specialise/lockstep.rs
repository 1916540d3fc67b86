//! Collective statements where work-items may diverge, of kernels that no check has
//! passed.
//!
//! The block's items run in step there, and a barrier within items looks whether all are
//! at it: that is what such a kernel is run for. Where all reach a cooperative loop or an
//! exchange under a condition that need not be the same for all, the launch ends there,
//! as where some do not.

use super::Specialiser;
use super::stmt::stmt_at;
use crate::kernel;
use crate::lower::LowerError;
use crate::program::{Assumption, ExprKind, Literal, Participants, Scope, Stmt, StmtKind};
use crate::span::SpanId;

impl Specialiser<'_> {
    /// A cooperative loop that some work-items may not reach.
    pub(super) fn lonely_each(&mut self, span: SpanId) -> Result<Vec<Stmt>, LowerError> {
        let what = "work-items may disagree on reaching this cooperative loop";
        Ok(self.meet_and_end(what, span))
    }

    /// An exchange of the block that some work-items may not reach; its variable gets
    /// the work-item's own value.
    pub(super) fn lonely_exchange(
        &mut self,
        var: kernel::VarId,
        value: kernel::ExprId,
        span: SpanId,
    ) -> Result<Vec<Stmt>, LowerError> {
        let what = "work-items may disagree on reaching this exchange";
        let mut out = self.meet_and_end(what, span);
        let value = self.expr(value)?;
        let mut own = Vec::new();
        self.bind(var, value, false, &mut own);
        out.extend(own.into_iter().map(|(kind, scope)| stmt_at(kind, scope, span)));
        Ok(out)
    }

    fn meet_and_end(&mut self, what: &str, span: SpanId) -> Vec<Stmt> {
        let never = ExprKind::Literal(Literal::Bool(false));
        let cond = self.b.condition(never);
        let end = Assumption {
            cond,
            text: what.to_owned(),
            block: Vec::new(),
            item: Vec::new(),
            values: Vec::new(),
            is_of_meeting: true,
            distinct: None,
        };
        vec![
            stmt_at(StmtKind::Barrier(Participants::Block), Scope::Block, span),
            stmt_at(StmtKind::Assume(Box::new(end)), Scope::Thread, span),
        ]
    }
}
