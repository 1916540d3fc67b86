//! Assumptions, with what to show of a work-item for which one fails.

use super::Specialiser;
use crate::kernel::{self, Kernel, VarKind, print_expr};
use crate::lower::LowerError;
use crate::program::{Assumption, ExprId};

impl Specialiser<'_> {
    /// An assumption of the items of the domain at hand.
    pub(super) fn assumption(&mut self, cond: kernel::ExprId) -> Result<Assumption, LowerError> {
        let kernel = self.kernel;
        let mut leaves = Vec::new();
        collect_leaves(kernel, cond, &mut leaves);
        let mut values: Vec<(String, ExprId)> = Vec::new();
        for leaf in leaves {
            let text = print_expr(kernel, leaf);
            if !values.iter().any(|(known, _)| *known == text) {
                values.push((text, self.expr(leaf)?));
            }
        }
        let grid = kernel.grid.iter().map(|axis| axis.var);
        let block = self.named(grid)?;
        let item = match &self.each {
            Some(axes) => self.named(axes.clone().into_iter())?,
            None => self.named(kernel.block.iter().flatten().map(|axis| axis.var))?,
        };
        Ok(Assumption {
            cond: self.expr(cond)?,
            text: print_expr(kernel, cond),
            block,
            item,
            values,
            is_of_meeting: false,
        })
    }

    fn named(
        &mut self,
        vars: impl Iterator<Item = kernel::VarId>,
    ) -> Result<Vec<(String, ExprId)>, LowerError> {
        vars.map(|var| Ok((self.kernel.vars[var].name.clone(), self.var(var)?))).collect()
    }
}

/// The loads and the variables that a condition is computed from, in order; not
/// what is shown anyway.
fn collect_leaves(kernel: &Kernel, id: kernel::ExprId, out: &mut Vec<kernel::ExprId>) {
    let kind = &kernel.exprs[id].kind;
    match kind {
        kernel::ExprKind::Load(_) => out.push(id),
        kernel::ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Grid | VarKind::Block | VarKind::Each => {}
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Scalar(_)
            | VarKind::Loop
            | VarKind::Let { .. } => out.push(id),
        },
        kernel::ExprKind::Literal(_)
        | kernel::ExprKind::Unary { .. }
        | kernel::ExprKind::Binary { .. }
        | kernel::ExprKind::Compare { .. }
        | kernel::ExprKind::Logic { .. }
        | kernel::ExprKind::Select { .. }
        | kernel::ExprKind::Cast(_)
        | kernel::ExprKind::Math { .. }
        | kernel::ExprKind::Uniform(_)
        | kernel::ExprKind::Tiles { .. }
        | kernel::ExprKind::InBounds { .. } => {
            kind.operands().into_iter().for_each(|operand| collect_leaves(kernel, operand, out));
        }
    }
}
