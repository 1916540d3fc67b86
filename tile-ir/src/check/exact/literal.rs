//! Numbers that leave their type whatever is launched.
//!
//! `t as u32 * 2147483648` in a block of 64 is 0 for every second work-item: the text's literals
//! alone say so. No launch can be asked for one in which it does not wrap. So it is taken to wrap,
//! as it does, and what is made of it is taken for what comes of that.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::Exact;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId};

impl Exact {
    /// Leaves out what leaves its type by literals alone, and what is made of such a number.
    pub(super) fn leave_out_wrapping(&mut self, kernel: &Kernel) {
        let exprs = self.exprs.iter().copied().filter(|expr| self.wraps(kernel, (*expr, None)));
        let exprs: BTreeSet<ExprId> = exprs.collect();
        let vars = self.vars.iter().filter(|(var, expr)| self.wraps(kernel, (**expr, Some(**var))));
        let mut vars: BTreeSet<VarId> = vars.map(|(var, _)| *var).collect();
        if exprs.is_empty() && vars.is_empty() {
            return;
        }
        let is_made = |vars: &BTreeSet<VarId>, expr: ExprId| {
            self.sources.is_made(kernel, expr, &|part| match kernel.exprs[part].kind {
                ExprKind::Var(var) => vars.contains(&var),
                _ => exprs.contains(&part),
            })
        };
        loop {
            let is_carried = |var: &VarId| {
                let course = self.sources.stepped.course(*var);
                let mut limits = course.into_iter().flat_map(|course| course.limits());
                limits.any(|limit| is_made(&vars, limit))
            };
            let others = self.vars.keys().filter(|var| !vars.contains(var));
            let carried: Vec<VarId> = others.copied().filter(is_carried).collect();
            if carried.is_empty() {
                break;
            }
            vars.extend(carried);
        }
        let kept = self.exprs.iter().copied().filter(|expr| !is_made(&vars, *expr)).collect();
        self.vars.retain(|var, _| !vars.contains(var));
        self.exprs = kept;
    }

    /// Whether a number leaves its type and nothing of the launch decides how far it goes.
    fn wraps(&self, kernel: &Kernel, number: (ExprId, Option<VarId>)) -> bool {
        let is_asked = Cell::new(false);
        let ask = |_: VarId| {
            is_asked.set(true);
            None
        };
        self.leaving(kernel, number, &ask).is_some() && !is_asked.get()
    }
}
