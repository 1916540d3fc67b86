//! Variables that a loop hands round: two buffers that change places, three in turn.
//!
//! `let old = now; now = other; other = old;` gives each variable a value that another one
//! had before. So after any number of iterations they have those that they had before the
//! loop, in an order of which there are a few.

use super::formula::Formula;
use super::loops::Carried;
use super::poly::{Poly, Unknown};
use super::walk::{Value, Walk};
use crate::kernel::VarId;

/// Orders in which the values are handed round.
const MAX_ORDERS: usize = 6;

/// Variables that hand their values round among them.
pub(super) struct Turns {
    vars: Vec<VarId>,
    /// Before the loop.
    first: Vec<Poly>,
    /// By variable, whose value of before it has after an iteration.
    from: Vec<usize>,
}

impl Turns {
    /// That they have these values, in an order that comes up.
    fn hold(&self, values: &[Poly]) -> Formula {
        let mut orders: Vec<Vec<usize>> = Vec::new();
        let mut order: Vec<usize> = (0..self.vars.len()).collect();
        while !orders.contains(&order) {
            if orders.len() == MAX_ORDERS {
                return Formula::Unknown;
            }
            orders.push(order.clone());
            order = self.from.iter().filter_map(|from| order.get(*from).copied()).collect();
        }
        let in_order = |order: &Vec<usize>| {
            let first = order.iter().filter_map(|at| self.first.get(*at));
            Formula::All(values.iter().zip(first).map(|(a, b)| Formula::eq(a, b)).collect())
        };
        Formula::Any(orders.iter().map(in_order).collect())
    }
}

impl Walk<'_> {
    /// Which variables an iteration that has just been walked hands round, of those that
    /// were these `symbols` at its head; notes what they are there.
    pub(super) fn note_turns(
        &mut self,
        carried: &[Carried],
        symbols: &[(VarId, Unknown)],
    ) -> Option<Turns> {
        let mut heads: Vec<(VarId, Unknown)> = symbols.to_vec();
        let from = loop {
            let from: Vec<Option<usize>> =
                heads.iter().map(|(var, _)| self.handed_from(*var, &heads)).collect();
            if from.iter().all(Option::is_some) {
                break from.into_iter().flatten().collect::<Vec<_>>();
            }
            let mut is_handed = from.iter().map(Option::is_some);
            heads.retain(|_| is_handed.next() == Some(true));
        };
        let first: Option<Vec<Poly>> = heads
            .iter()
            .map(|(var, _)| {
                let of = carried.iter().find(|carried| carried.var == *var)?;
                (!of.first.is_lost()).then(|| of.first.clone())
            })
            .collect();
        let vars = heads.iter().map(|(var, _)| *var).collect();
        let turns = Turns { vars, first: first?, from };
        let values: Vec<Poly> = heads.iter().map(|(_, unknown)| Poly::unknown(*unknown)).collect();
        self.assert_turns(&turns, &values);
        Some(turns)
    }

    /// The one of which a variable has the value after the iteration.
    fn handed_from(&self, var: VarId, heads: &[(VarId, Unknown)]) -> Option<usize> {
        let Some(Value::Int(end)) = self.env.get(&var) else { return None };
        heads.iter().position(|(_, unknown)| *end == Poly::unknown(*unknown))
    }

    /// Notes what the variables are after the loop.
    pub(super) fn leave_turns(&mut self, turns: &Turns) {
        let value = |var: &VarId| match self.env.get(var) {
            Some(Value::Int(value)) => Some(value.clone()),
            Some(Value::Cond(_) | Value::Other) | None => None,
        };
        let values: Option<Vec<Poly>> = turns.vars.iter().map(value).collect();
        if let Some(values) = values {
            self.assert_turns(turns, &values);
        }
    }

    fn assert_turns(&mut self, turns: &Turns, values: &[Poly]) {
        let facts = turns.hold(values);
        for unknown in values.iter().flat_map(Poly::unknowns) {
            self.symbols.add_facts(unknown, facts.clone());
        }
    }
}
