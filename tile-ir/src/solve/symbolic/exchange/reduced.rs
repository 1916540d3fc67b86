//! What a reduction says of each work-item that takes part in it.
//!
//! After `let m = reduce_max(e);` a work-item's own `e` is `m` at most, so that under `if m < 16`
//! it is below 16; of a minimum it is no less. Where `all(c)` is true, `c` holds for whoever has
//! asked, and where `any(c)` is false, for nobody.
//!
//! # What it rests on
//!
//! - Who knows the result has taken part: it stands behind the reduction in the text, in the
//!   same iterations of the loops around, and all of a group make a reduction together.
//! - Both are of the work-item that is asked: of another one's operand nothing is said.

use super::super::algebra::formula::{Cond, Formula};
use super::super::walk::{Value, Walk};
use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::VarId;

impl Walk<'_> {
    /// What a reduction of `operand` gives, of which `result` is all that is known yet.
    pub(in super::super) fn reduced(
        &mut self,
        (var, op): (VarId, ExchangeOp),
        operand: &Value,
        result: Value,
    ) -> Value {
        let (ExchangeOp::Reduce(reduction) | ExchangeOp::WarpReduce(reduction)) = op else {
            return result;
        };
        if op == ExchangeOp::Reduce(reduction)
            && let Some(told) = self.told_by_one(reduction, operand, &result)
        {
            return told;
        }
        match (reduction, operand, &result) {
            (Reduction::Max, Value::Int(own), Value::Int(all)) if !own.is_lost() => {
                let known = Formula::le(own, all);
                all.unknowns().for_each(|symbol| self.symbols.add_facts(symbol, known.clone()));
                result
            }
            (Reduction::Min, Value::Int(own), Value::Int(all)) if !own.is_lost() => {
                let known = Formula::le(all, own);
                all.unknowns().for_each(|symbol| self.symbols.add_facts(symbol, known.clone()));
                result
            }
            (Reduction::All, Value::Cond(own), _) => {
                self.kept(var, Value::Cond(Cond { yes: own.yes.clone(), no: Formula::Unknown }))
            }
            (Reduction::Any, Value::Cond(own), _) => {
                self.kept(var, Value::Cond(Cond { yes: Formula::Unknown, no: own.no.clone() }))
            }
            (
                Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::All | Reduction::Any,
                ..,
            ) => result,
        }
    }

    /// What a reduction over a block gives to which one work-item alone adds anything.
    fn told_by_one(
        &mut self,
        reduction: Reduction,
        operand: &Value,
        result: &Value,
    ) -> Option<Value> {
        match (reduction, operand, result) {
            (Reduction::Sum | Reduction::Max, Value::Int(own), Value::Int(all)) => {
                if self.is_agreed(own) || reduction == Reduction::Max && !self.is_natural(own) {
                    return None;
                }
                let told = Formula::eq(all, &self.only_number(own)?);
                let is_most = reduction == Reduction::Max;
                let of_own = if is_most { Formula::le(own, all) } else { Formula::True };
                all.unknowns().for_each(|symbol| {
                    self.symbols.add_facts(symbol, told.clone().and(of_own.clone()));
                });
                Some(result.clone())
            }
            (Reduction::Any, Value::Cond(own), _) => {
                let item = self.item_where(&own.yes)?;
                let told = self.relayed_condition(own, &item);
                told.is_exact().then_some(Value::Cond(told))
            }
            (Reduction::All, Value::Cond(own), _) => {
                let item = self.item_where(&own.no)?;
                let told = self.relayed_condition(own, &item);
                told.is_exact().then_some(Value::Cond(told))
            }
            (
                Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::All | Reduction::Any,
                ..,
            ) => None,
        }
    }
}
