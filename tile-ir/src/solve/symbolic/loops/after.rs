//! Variables after a loop: changed as often as there were rounds.

use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::alike::Sum;
use super::behind::Entered;
use super::stay::Rounds;
use super::{Carried, Kind};
use crate::kernel::VarId;
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// Variables after a loop; how many rounds were begun, where that `is_asked`.
    pub(super) fn leave(
        &mut self,
        (counter, entered): (Option<VarId>, Option<Entered>),
        carried: &[Carried],
        sums: &[Sum],
        is_asked: bool,
    ) -> Option<Poly> {
        if carried.is_empty() {
            return None;
        }
        let uniform = counter.is_some_and(|counter| self.is_uniform_var(counter));
        let sharing = if uniform { Sharing::Block } else { Sharing::Private };
        let mut rounds = Rounds::new(sharing, entered);
        let from = self.symbols.next();
        for of in carried {
            let Carried { var, first, step, alike, kind, limits, changed_last, .. } = of;
            let goes_on = alike.filter(|_| uniform && changed_last.is_empty());
            if let (None, Some(alike)) = (step, goes_on) {
                let (value, last) = self.gone_on(*var, first, alike, Sharing::Block);
                sums.iter().for_each(|sum| self.note_last(sum, *var, last));
                self.note_launched(*var, &value, from);
                self.env.insert(*var, value);
                continue;
            }
            let value = match step {
                Some(step) => {
                    let rounds = self.rounds_of(&mut rounds, changed_last);
                    let value = self.stepped_by(*var, first, &rounds, step);
                    single(&rounds).iter().for_each(|rounds| self.note_rising(of, &value, *rounds));
                    value
                }
                None if of.is_halved || of.is_above => self.changed_within(*var, Kind::Natural),
                None => self.changed_within(*var, *kind),
            };
            self.set_limits(&value, limits, false);
            self.note_launched(*var, &value, from);
            self.env.insert(*var, value);
        }
        let places = carried.iter().map(|of| of.changed_last.len()).max()?;
        is_asked.then(|| self.rounds_of(&mut rounds, &vec![true; places]))
    }

    /// Variables after a loop that has gone on to its end: what is added to them is as
    /// often as there are numbers between its bounds.
    pub(super) fn leave_at_end(
        &mut self,
        [start, end]: [&Poly; 2],
        carried: &[Carried],
        head: SpanId,
    ) {
        let length = end.sub(start);
        let count = match self.is_natural(&length) {
            true => Some(Value::Int(length)),
            false => self.extremum((head, BinaryOp::Max), length, Poly::default()),
        };
        let Some(Value::Int(count)) = count.filter(|_| !start.is_lost() && !end.is_lost()) else {
            return;
        };
        for Carried { var, first, step, .. } in carried {
            if let Some(step) = step {
                let value = self.stepped_by(*var, first, &count, step);
                self.env.insert(*var, value);
            }
        }
    }
}
