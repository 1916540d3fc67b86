//! Integers that are made of floating-point numbers: `x0 as i32`.
//!
//! Of a parameter, or an element of a table at a place of the launch, each is one number for the
//! whole launch, wherever it is made, so that displacements by it cancel; of what is a
//! work-item's own it is one number as long as its text says the same ([`super::named`]).
//! Nothing is known of it but its type.

use std::collections::BTreeMap;

use super::super::algebra::symbol::{LoopId, Obstacle};
use super::super::walk::{Value, Walk};
use super::named::Text;
use crate::kernel::{ElemType, ExprId, Type};

/// Those that have been met, by the text of what they are made of, and in which loops.
pub(in super::super) type Wholes = BTreeMap<(Text, Type, Vec<LoopId>), Value>;

impl Walk<'_> {
    /// The number that an expression makes of a floating-point number, if its text decides it.
    pub(in super::super) fn whole_of_float(
        &mut self,
        expr: ExprId,
        operand: ExprId,
    ) -> Option<Value> {
        let node = &self.kernel.exprs[expr];
        let may_be_float = match self.kernel.exprs[operand].ty {
            Type::Scalar(ElemType::Concrete(dtype)) => dtype.is_float(),
            Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) => true,
            Type::Index => false,
        };
        let mut text = Text::new();
        if !may_be_float || self.write_text(operand, &mut text).is_none() {
            return None;
        }
        let is_of_launch = self.is_text_of_launch(&text);
        let loops = if is_of_launch { Vec::new() } else { self.loops.clone() };
        let mut around = (0..=loops.len()).rev().map(|n| loops[..n].to_vec());
        let known = around.find_map(|loops| self.wholes.get(&(text.clone(), node.ty, loops)));
        if let Some(known) = known {
            return Some(known.clone());
        }
        let uniform = is_of_launch || self.uniformity.is_uniform_expr(expr);
        let value = self.any_of_type(node.ty, uniform, (node.span, Obstacle::Conversion));
        let Value::Int(number) = &value else { return None };
        if is_of_launch {
            number.unknowns().for_each(|unknown| self.symbols.set_launch(unknown));
        }
        self.wholes.insert((text, node.ty, loops), value.clone());
        Some(value)
    }
}
