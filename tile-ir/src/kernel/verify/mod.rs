//! Structural rules that every kernel fulfils, however it was made.
//!
//! | part | rules |
//! | --- | --- |
//! | ids | in range; operands have smaller ids than their user and no other user |
//! | types | as [`super::ExprKind`] says of each form |
//! | tables | parameters, variables and axes refer to each other consistently |
//! | header | extents, grid, block and domains name only what is known there |
//! | body | variables are declared before use, written only where they may be |
//! | collectives | an `each` names nothing of a work-item, holds no barrier |
//!
//! Spans are not verified: a span that the table does not know has line 0.

mod body;
mod expr;
mod header;

use super::{ArrayRef, ElemType, Expr, ExprId, Kernel, Type, Var, VarId};

/// A broken structural rule: always a defect of whoever made the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {rule}")]
pub struct KernelFault {
    /// The kernel's name.
    pub kernel: String,
    /// What does not hold, with the ids concerned.
    pub rule: String,
}

/// Checks a kernel's structure.
///
/// # Errors
///
/// Every rule that is broken. Where ids or the order of expressions are wrong,
/// only those are reported: the other rules would have nothing to stand on.
pub fn verify_kernel(kernel: &Kernel) -> Result<(), Vec<KernelFault>> {
    let mut cx = Verifier { kernel, faults: Vec::new() };
    header::verify_ids(&mut cx);
    expr::verify_ids(&mut cx);
    body::verify_ids(&mut cx, &kernel.body);
    body::verify_exits(&mut cx);
    body::verify_promises(&mut cx);
    if cx.faults.is_empty() {
        header::verify_header(&mut cx);
        expr::verify_types(&mut cx);
        body::verify_body(&mut cx);
    }
    if cx.faults.is_empty() { Ok(()) } else { Err(cx.faults) }
}

/// The kernel and the faults found in it.
struct Verifier<'a> {
    kernel: &'a Kernel,
    faults: Vec<KernelFault>,
}

impl<'a> Verifier<'a> {
    fn fault(&mut self, rule: impl Into<String>) {
        self.faults.push(KernelFault { kernel: self.kernel.name.clone(), rule: rule.into() });
    }

    /// Reports `rule` where `holds` is false.
    fn require(&mut self, holds: bool, rule: impl FnOnce() -> String) {
        if !holds {
            self.fault(rule());
        }
    }

    fn has_var(&self, id: VarId) -> bool {
        self.kernel.vars.get(id).is_some()
    }

    fn has_expr(&self, id: ExprId) -> bool {
        self.kernel.exprs.get(id).is_some()
    }

    fn has_array(&self, array: ArrayRef) -> bool {
        match array {
            ArrayRef::Tensor(id) => self.kernel.tensors.get(id).is_some(),
            ArrayRef::Tile(id) => self.kernel.tiles.get(id).is_some(),
        }
    }

    fn has_elem(&self, elem: ElemType) -> bool {
        match elem {
            ElemType::Concrete(_) => true,
            ElemType::Param(id) | ElemType::Acc(id) => self.kernel.type_params.get(id).is_some(),
        }
    }

    fn has_type(&self, ty: Type) -> bool {
        match ty {
            Type::Index => true,
            Type::Scalar(elem) => self.has_elem(elem),
        }
    }

    fn var(&self, id: VarId) -> &'a Var {
        &self.kernel.vars[id]
    }

    fn expr(&self, id: ExprId) -> &'a Expr {
        &self.kernel.exprs[id]
    }

    /// Reports an expression of another type than `ty`; `what` is its use.
    fn require_type(&mut self, id: ExprId, ty: Type, what: &str) {
        let found = self.expr(id).ty;
        if found != ty {
            let (found, needed) = (self.kernel.type_name(found), self.kernel.type_name(ty));
            self.fault(format!("{id}, {what}, is of type {found}, not {needed}"));
        }
    }
}
