//! What a loop's counter is in an arbitrary iteration.
//!
//! Between bounds it is `start + number * step`, with the number of the iteration, which is
//! below what the end says; run from the end, the position in the range counts instead. What
//! is halved or doubled is a symbol of its own, of which the next value is known.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle, Sharing, Symbol};
use super::super::walk::{Value, Walk};
use super::Next;
use crate::kernel::{LoopRange, VarId};

impl Walk<'_> {
    /// Gives a counter its value in an arbitrary iteration of `id`.
    pub(in super::super) fn enter_counter(
        &mut self,
        id: LoopId,
        var: VarId,
        range: &LoopRange,
        bounds: &[Poly],
    ) -> Formula {
        let number = self.all_loops[id.0].number;
        let count = Poly::unknown(number);
        let value = match (range, bounds) {
            (LoopRange::Between { reversed: false, .. }, [start, end]) => {
                let value = start.add(&count);
                self.symbols.add_facts(number, Formula::lt(&value, end));
                value
            }
            (LoopRange::Between { reversed: true, .. }, [start, end]) => {
                let value = end.sub(&count).plus(-1);
                self.symbols.add_facts(number, Formula::le(start, &value));
                value
            }
            (LoopRange::Between { reversed, .. }, [start, end, step]) => {
                let position = if *reversed { self.position(id) } else { number };
                let known = self.by_residue(start, step, self.all_loops[id.0].head);
                let start = known.as_ref().unwrap_or(start);
                let value = start.add(&Poly::unknown(position).mul(step));
                let positive = Formula::lt(&Poly::default(), step);
                self.symbols.add_facts(position, Formula::lt(&value, end).and(positive));
                self.note_stride((id, position), &value);
                value
            }
            (LoopRange::Halving(_), [n]) => {
                let unknown = self.stride(id, Next::Half);
                let value = Poly::unknown(unknown);
                self.symbols.add_facts(unknown, Formula::le(&value.scaled(2), n));
                self.note_level(unknown, n);
                if self.is_power(n) {
                    self.powers.insert(unknown);
                }
                value
            }
            (LoopRange::Doubling(_), [n]) => {
                let unknown = self.symbols.next();
                let value = Poly::unknown(unknown);
                self.stride(id, Next::Is(value.scaled(2)));
                self.symbols.add_facts(unknown, Formula::lt(&value, n));
                self.note_level(unknown, &Poly::constant(1));
                self.powers.insert(unknown);
                value
            }
            (LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_), _) => {
                Poly::lost()
            }
        };
        self.env.insert(var, Value::Int(value));
        Formula::True
    }

    /// The position, from 0, in a range that is run from its end.
    fn position(&mut self, id: LoopId) -> Unknown {
        let position = self.symbol(Sharing::Block, Some(0), None);
        let next = Next::Is(Poly::unknown(position).plus(-1));
        self.all_loops[id.0].next.push((position, next));
        position
    }

    /// A counter that is doubled or halved; at least 1.
    fn stride(&mut self, id: LoopId, next: Next) -> Unknown {
        let unknown = self.symbols.push(Symbol {
            sharing: Sharing::Block,
            loops: self.loops.clone(),
            low: Some(1),
            facts: Formula::True,
            obstacle: self.all_loops[id.0]
                .counter
                .map(|var| (self.kernel.vars[var].span, Obstacle::Changed(var))),
        });
        self.symbols.add_facts(unknown, Formula::AtLeast(Poly::unknown(unknown).plus(-1)));
        self.all_loops[id.0].next.push((unknown, next));
        unknown
    }
}
