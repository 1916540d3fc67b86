//! Conditions that variables keep.
//!
//! Of `let keep = a[i] > 0.0;` little is known, yet it is one and the same wherever the
//! work-item asks for it again: under `if keep`, and in `keep as u32`, of which a block
//! takes sums. So what arithmetic does not say whole becomes a number, 0 or 1, with the
//! conditions in which the two differ as its facts.
//!
//! Where rounds are walked one by one, `if a[k] > 0 { n += 1; }` adds such a number to `n`, so
//! that behind them `n` is a sum of numbers that are each 0 or 1, and not one of as many choices
//! as there are ways through the rounds.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::walk::{Value, Walk};
use crate::kernel::{Type, VarId};

/// How many comparisons a condition may be made of that a variable is.
const MAX_SIZE: usize = 48;

impl Walk<'_> {
    /// The value that is kept in `var`: a condition of which not all is known, as a number
    /// of its own.
    pub(in super::super) fn kept(&mut self, var: VarId, value: Value) -> Value {
        let cond = match value {
            _ if self.type_of(var) != Type::BOOL => return value,
            Value::Cond(cond) if cond.is_exact() => {
                return Value::Cond(cond);
            }
            Value::Cond(cond) => cond,
            Value::Int(_) | Value::Other => Cond::unknown(),
        };
        self.numbered(var, cond)
    }

    /// What a variable is where arms of a condition meet: a condition that has grown long, as
    /// those do that say who has left nested loops, as a number of its own. Each arm that it
    /// goes through would else make it twice as long.
    pub(in super::super) fn shortened(&mut self, var: VarId, value: Value) -> Value {
        match value {
            Value::Cond(cond) if cond.size() > MAX_SIZE => self.numbered(var, cond),
            Value::Cond(_) | Value::Int(_) | Value::Other => value,
        }
    }

    /// One of two values that a number parts, by a condition in a round that is walked by itself:
    /// the one, and that number as often as the condition holds.
    pub(in super::super) fn counted_by_flag(
        &mut self,
        cond: &Cond,
        (then, otherwise): (&Poly, &Poly),
        uniform: bool,
    ) -> Option<Poly> {
        let gap = then.sub(otherwise).as_constant()?;
        if self.walked < 2 || otherwise.as_constant().is_some() || !cond.is_exact() {
            return None;
        }
        let [one, none] = [1, 0].map(|number| Value::Int(Poly::constant(number)));
        match self.either(cond, one, none, uniform)? {
            Value::Int(flag) => Some(otherwise.add(&flag.scaled(gap))),
            Value::Cond(_) | Value::Other => None,
        }
    }

    /// Any value of a variable that keeps a condition: it is one and the same until the text
    /// changes the variable again.
    pub(in super::super) fn any_condition(&mut self, var: VarId) -> Value {
        self.numbered(var, Cond::unknown())
    }

    /// A condition as a number, 0 or 1.
    fn numbered(&mut self, var: VarId, cond: Cond) -> Value {
        let sharing = if self.is_uniform_var(var) { Sharing::Block } else { Sharing::Private };
        let unknown = self.symbol(sharing, Some(0), None);
        let flag = Poly::unknown(unknown);
        let [is_set, is_clear] = [Formula::Zero(flag.plus(-1)), Formula::Zero(flag.clone())];
        let facts = Formula::All(vec![
            Formula::within(&flag, &Poly::constant(2)),
            is_clear.clone().or(cond.yes),
            is_set.clone().or(cond.no),
        ]);
        self.symbols.add_facts(unknown, facts);
        Value::Cond(Cond { yes: is_set, no: is_clear })
    }
}
