//! What a kernel assumes of scalars and sizes alone: a launch of which it is not true is
//! refused, on every device.

use tile_ir::check::broken_precondition;
use tile_ir::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind, print_expr};

use crate::error::{AssumptionError, Result};

/// Whether scalar parameters come into these conditions.
pub(super) fn asks_scalars(kernel: &Kernel, conditions: &[ExprId]) -> bool {
    conditions.iter().any(|cond| {
        let vars = vars_in(kernel, *cond);
        vars.iter().any(|var| matches!(kernel.vars[*var].kind, VarKind::Scalar(_)))
    })
}

/// Checks that `conditions` hold in a launch of a kernel in `file`, of which `value` says what
/// dimensions, tile parameters and scalars are.
///
/// # Errors
///
/// Where an assumption does not hold.
pub(super) fn check_preconditions(
    (kernel, file): (&Kernel, &str),
    conditions: &[ExprId],
    value: &dyn Fn(VarId) -> Option<i128>,
) -> Result<()> {
    let Some(cond) = broken_precondition(kernel, conditions, value) else { return Ok(()) };
    let named = |var: VarId| Some(format!("{} = {}", kernel.vars[var].name, value(var)?));
    Err(AssumptionError::Condition {
        kernel: kernel.name.clone(),
        file: file.to_owned(),
        line: kernel.spans.range(kernel.exprs[cond].span).line,
        text: print_expr(kernel, cond),
        place: "this launch".to_owned(),
        values: vars_in(kernel, cond).into_iter().filter_map(named).collect(),
    }
    .into())
}

/// The variables in an expression, each once.
fn vars_in(kernel: &Kernel, expr: ExprId) -> Vec<VarId> {
    let (mut vars, mut open) = (Vec::new(), vec![expr]);
    while let Some(expr) = open.pop() {
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Var(var) = kind
            && !vars.contains(var)
        {
            vars.push(*var);
        }
        open.extend(kind.operands().into_iter().rev());
    }
    vars
}
