//! Assumptions, with what to show of a work-item for which one fails.

use super::Specialiser;
use crate::kernel::{self, Kernel, VarKind, Within, print_expr};
use crate::lower::LowerError;
use crate::program::{Assumption, ExprId, ExprKind, Literal};

impl Specialiser<'_> {
    /// An assumption of the items of the domain at hand.
    pub(super) fn assumption(&mut self, cond: kernel::ExprId) -> Result<Assumption, LowerError> {
        let mut leaves = Vec::new();
        collect_leaves(self.kernel, cond, &mut leaves);
        Ok(Assumption {
            cond: self.expr(cond)?,
            text: print_expr(self.kernel, cond),
            ..self.assumed_of(&leaves)?
        })
    }

    /// The assumption that items have none of these numbers in common.
    pub(super) fn distinction(
        &mut self,
        values: &[kernel::ExprId],
        within: Within,
    ) -> Result<Assumption, LowerError> {
        let texts: Vec<String> = values.iter().map(|id| print_expr(self.kernel, *id)).collect();
        Ok(Assumption {
            text: format!("{}({})", within.name(), texts.join(", ")),
            distinct: Some(within),
            ..self.assumed_of(values)?
        })
    }

    /// What is to be shown of these values, and of who has them.
    fn assumed_of(&mut self, shown: &[kernel::ExprId]) -> Result<Assumption, LowerError> {
        let kernel = self.kernel;
        let mut values: Vec<(String, ExprId)> = Vec::new();
        for value in shown {
            let text = print_expr(kernel, *value);
            if !values.iter().any(|(known, _)| *known == text) {
                values.push((text, self.expr(*value)?));
            }
        }
        let grid = kernel.grid.iter().map(|axis| axis.var);
        let block = self.named(grid)?;
        let item = match &self.each {
            Some(axes) => self.named(axes.clone().into_iter())?,
            None => self.named(kernel.block.iter().flatten().map(|axis| axis.var))?,
        };
        Ok(Assumption {
            cond: self.b.condition(ExprKind::Literal(Literal::Bool(true))),
            text: String::new(),
            block,
            item,
            values,
            is_of_meeting: false,
            distinct: None,
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
