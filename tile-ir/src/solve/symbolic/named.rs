//! Conditions on data, by the text that makes them.
//!
//! Of `v > 0.5` nothing is known where `v` is a floating-point number, yet it is one and
//! the same wherever the work-item asks it again of the same `v`. So such a condition is a
//! number, 0 or 1, by its text with the values of variables put in: what is equal there is
//! equal. A variable that may be assigned again has none of its own, and what a kernel
//! writes may be another thing the next time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::formula::{Cond, Formula};
use super::poly::{Poly, Unknown};
use super::symbol::{LoopId, Sharing};
use super::walk::{Value, Walk};
use crate::kernel::{ExprId, ExprKind, VarId, VarKind};

/// What is known of conditions by their texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    flags: BTreeMap<(String, Vec<LoopId>), Unknown>,
    /// How often the text has declared a variable, on the way that is walked.
    declared: BTreeMap<VarId, usize>,
}

impl Named {
    /// A variable is declared, and has another value than where it was so before.
    pub(super) fn declare(&mut self, var: VarId) {
        *self.declared.entry(var).or_default() += 1;
    }
}

impl Walk<'_> {
    /// The number that says whether a condition holds; `None` where its text does not tell.
    pub(super) fn named(&mut self, expr: ExprId) -> Option<Value> {
        let mut text = String::new();
        self.write_text(expr, &mut text)?;
        let mut around = (0..=self.loops.len()).rev().map(|n| self.loops[..n].to_vec());
        let known = around.find_map(|loops| self.named.flags.get(&(text.clone(), loops)).copied());
        let flag = known.unwrap_or_else(|| {
            let uniform = self.uniformity.is_uniform_expr(expr);
            let sharing = if uniform { Sharing::Block } else { Sharing::Private };
            let flag = self.symbol(sharing, Some(0), None);
            let range = Formula::within(&Poly::unknown(flag), &Poly::constant(2));
            self.symbols.add_facts(flag, range);
            self.named.flags.insert((text, self.loops.clone()), flag);
            flag
        });
        let flag = Poly::unknown(flag);
        Some(Value::Cond(Cond { yes: Formula::Zero(flag.plus(-1)), no: Formula::Zero(flag) }))
    }

    /// Writes what an expression is made of; `None` where that does not decide its value.
    fn write_text(&self, expr: ExprId, out: &mut String) -> Option<()> {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        let _ = match kind {
            ExprKind::Literal(literal) => write!(out, "{literal:?}"),
            ExprKind::Var(var) => match self.env.get(var) {
                Some(Value::Int(value)) if !value.is_lost() => write!(out, "{value:?}"),
                Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => {
                    let is_fixed = match kernel.vars[*var].kind {
                        VarKind::Let { mutable } => !mutable,
                        VarKind::Scalar(_) => true,
                        VarKind::Dim
                        | VarKind::TileParam(_)
                        | VarKind::Grid
                        | VarKind::Block
                        | VarKind::Each
                        | VarKind::Loop => false,
                    };
                    if !is_fixed {
                        return None;
                    }
                    let declared = self.named.declared.get(var).copied().unwrap_or_default();
                    write!(out, "{var:?}:{declared}")
                }
            },
            ExprKind::Load(access) => {
                if self.is_written(access.array) || kernel.is_local(access.array) {
                    return None;
                }
                write!(out, "{:?}", access.array)
            }
            ExprKind::Unary { op, .. } => write!(out, "{op:?}"),
            ExprKind::Binary { op, .. } => write!(out, "{op:?}"),
            ExprKind::Compare { op, .. } => write!(out, "{op:?}"),
            ExprKind::Cast(_) => write!(out, "{:?}", kernel.exprs[expr].ty),
            ExprKind::Math { func, .. } => write!(out, "{func:?}"),
            ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Uniform(_)
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => return None,
        };
        out.push('(');
        for operand in kind.operands() {
            self.write_text(operand, out)?;
            out.push(',');
        }
        out.push(')');
        Some(())
    }
}
