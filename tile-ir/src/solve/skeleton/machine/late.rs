//! Numbers that are taken for any that they may come to ([`super::super::late`]).

use super::super::late::LateAt;
use super::super::value::Value;
use super::Machine;
use super::reach::Guard;
use crate::kernel::{ExprId, ExprKind, Source, VarId};

impl<'a> Machine<'a> {
    /// The same run, in which these are so taken.
    pub(in super::super) fn with_late(self, late: &'a LateAt<'a>) -> Self {
        Self { late: Some(late), ..self }
    }

    /// Whether such a number is in an expression.
    #[inline]
    pub(in super::super) fn is_late_in(&self, expr: ExprId) -> bool {
        self.late.is_some_and(|late| late.late().is_in(expr))
    }

    /// What an expression gives, which is unknown if it is such a number.
    pub(in super::super) fn as_late(&self, expr: ExprId, value: Value) -> Value {
        match self.late {
            Some(late) if late.late().is_root(expr) => {
                let source = self.first_var(expr).map_or(Source::Load(expr), Source::Launch);
                value.tainted(Some(source))
            }
            Some(_) | None => value,
        }
    }

    /// The first variable in an expression; there is none where an element stands for one.
    fn first_var(&self, expr: ExprId) -> Option<VarId> {
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) => Some(*var),
            _ => kind.operands().into_iter().find_map(|part| self.first_var(part)),
        }
    }

    /// That a condition holds, or does not: where numbers are unknown, of any condition.
    pub(in super::super) fn guard(&self, cond: ExprId, value: Value, holds: bool) -> Option<Guard> {
        let known = || self.late.map(|_| Guard { cond, holds, amount: 0 });
        Guard::of(cond, value, holds).or_else(known)
    }
}
