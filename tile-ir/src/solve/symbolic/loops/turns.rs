//! Variables that a loop hands round: two buffers that change places, three in turn.
//!
//! `let old = now; now = other; other = old;` gives each variable a value that another one
//! had before. So after any number of iterations they have those that they had before the
//! loop, in an order of which there are a few. Where one condition says whether, or how,
//! values are handed round, an iteration does it in one of two ways, to all of the variables
//! alike; which of them each iteration takes does not matter.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::Carried;
use crate::kernel::VarId;

/// Orders in which the values are handed round.
const MAX_ORDERS: usize = 6;

/// Variables that hand their values round among them.
pub(in super::super) struct Turns {
    vars: Vec<VarId>,
    /// Before the loop.
    first: Vec<Poly>,
    /// The ways of an iteration: by variable, whose value of before it has after it.
    ways: Vec<Vec<usize>>,
}

/// How an iteration gives a variable the value of one.
enum Handed {
    From(usize),
    /// By the condition, of the first or of the second.
    Either(Formula, [usize; 2]),
}

impl Turns {
    /// That they have these values, in an order that comes up.
    fn hold(&self, values: &[Poly]) -> Formula {
        let mut orders: Vec<Vec<usize>> = Vec::new();
        let mut open: Vec<Vec<usize>> = vec![(0..self.vars.len()).collect()];
        while let Some(order) = open.pop() {
            if orders.contains(&order) {
                continue;
            }
            if orders.len() == MAX_ORDERS {
                return Formula::Unknown;
            }
            let next = |way: &Vec<usize>| -> Vec<usize> {
                way.iter().filter_map(|from| order.get(*from).copied()).collect()
            };
            open.extend(self.ways.iter().map(next));
            orders.push(order);
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
    pub(in super::super) fn note_turns(
        &mut self,
        carried: &[Carried],
        symbols: &[(VarId, Unknown)],
    ) -> Option<Turns> {
        let mut heads: Vec<(VarId, Unknown)> = symbols.to_vec();
        let handed = loop {
            let handed: Vec<Option<Handed>> =
                heads.iter().map(|(var, _)| self.handed(*var, &heads)).collect();
            if handed.iter().all(Option::is_some) {
                break handed.into_iter().flatten().collect::<Vec<_>>();
            }
            let mut is_handed = handed.iter().map(Option::is_some);
            heads.retain(|_| is_handed.next() == Some(true));
        };
        let ways = ways(&handed)?;
        let first: Option<Vec<Poly>> = heads
            .iter()
            .map(|(var, _)| {
                let of = carried.iter().find(|carried| carried.var == *var)?;
                (!of.first.is_lost()).then(|| of.first.clone())
            })
            .collect();
        let vars = heads.iter().map(|(var, _)| *var).collect();
        let turns = Turns { vars, first: first?, ways };
        let values: Vec<Poly> = heads.iter().map(|(_, unknown)| Poly::unknown(*unknown)).collect();
        self.assert_turns(&turns, &values);
        Some(turns)
    }

    /// The one of which a variable has the value after the iteration, or the two.
    fn handed(&self, var: VarId, heads: &[(VarId, Unknown)]) -> Option<Handed> {
        let Some(Value::Int(end)) = self.env.get(&var) else { return None };
        let from =
            |end: &Poly| heads.iter().position(|(_, unknown)| *end == Poly::unknown(*unknown));
        if let Some(from) = from(end) {
            return Some(Handed::From(from));
        }
        let choice = single(end)?;
        let (cond, then, otherwise) = self.choice_of(choice)?;
        // What is not known may be another condition elsewhere.
        cond.yes.is_exact().then_some(())?;
        Some(Handed::Either(cond.yes.clone(), [from(then)?, from(otherwise)?]))
    }

    /// Notes what the variables are after the loop.
    pub(in super::super) fn leave_turns(&mut self, turns: &Turns) {
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

/// The ways in which an iteration hands the variables round; `None` where several conditions
/// decide.
fn ways(handed: &[Handed]) -> Option<Vec<Vec<usize>>> {
    let mut conditions = handed.iter().filter_map(|handed| match handed {
        Handed::From(_) => None,
        Handed::Either(condition, _) => Some(condition),
    });
    let Some(first) = conditions.next() else { return Some(vec![way(handed, 0)]) };
    let is_one = conditions.all(|other| other == first);
    is_one.then(|| vec![way(handed, 0), way(handed, 1)])
}

/// By variable, the one of which it has the value, where the condition holds, or not.
fn way(handed: &[Handed], arm: usize) -> Vec<usize> {
    let from = |handed: &Handed| match handed {
        Handed::From(from) => *from,
        Handed::Either(_, from) => from[arm],
    };
    handed.iter().map(from).collect()
}
