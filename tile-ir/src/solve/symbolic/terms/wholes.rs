//! Integers that are made of floating-point parameters: `x0 as i32`.
//!
//! Each is one number for the whole launch, wherever it is made, so that displacements by it
//! cancel. Nothing is known of it but its type.

use super::super::algebra::symbol::Obstacle;
use super::super::walk::{Value, Walk};
use crate::check::whole_of;
use crate::kernel::{ExprId, Type, VarId};

/// Those that have been met, by parameter and type.
pub(in super::super) type Wholes = Vec<((VarId, Type), Value)>;

impl Walk<'_> {
    /// The number that an expression makes of a floating-point parameter, if it does that.
    pub(in super::super) fn whole_of_float(&mut self, expr: ExprId) -> Option<Value> {
        let var = whole_of(self.kernel, expr)?;
        let node = &self.kernel.exprs[expr];
        if let Some((_, known)) = self.wholes.iter().find(|(of, _)| *of == (var, node.ty)) {
            return Some(known.clone());
        }
        let value = self.any_of_type(node.ty, true, (node.span, Obstacle::Conversion));
        let Value::Int(number) = &value else { return None };
        number.unknowns().for_each(|unknown| self.symbols.set_launch(unknown));
        self.wholes.push(((var, node.ty), value.clone()));
        Some(value)
    }
}
