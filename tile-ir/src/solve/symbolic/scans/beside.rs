//! What the work-item beside one adds to a scan, where that one knows of it.
//!
//! Of sorted keys the first of each run has a flag, whose inclusive scan numbers the runs. The
//! last of each run, the one before which the next run's first one stands, `t == T - 1 ||
//! key[t] != key[t + 1]`, writes at that number. Of two such work-items the earlier one is not
//! the block's last, so that the one behind it has the flag. That one comes no later than the
//! later of the two: so their numbers differ. The same holds turned round, of what the one before
//! adds.
//!
//! # What it rests on
//!
//! - The scan's values follow the work-items' numbers, and those are a coordinate of the block:
//!   the one beside has one more, or one less, and all else that the block agrees on is the same.
//! - What it adds is one of two numbers, by a condition on its coordinate and on elements of
//!   tensors that are never written. It is the condition of the one that asks, at the coordinate
//!   beside, where all elements of that have been read.
//! - Between two work-items, or one of them, is the one beside: it is there, and adds what is not
//!   negative, as all do.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::pairs::instance::{Builder, Side};
use super::super::terms::loaded::Element;
use super::super::walk::Walk;
use super::prefix::single;
use super::{Over, Sum};
use crate::exchange::Group;

/// What a work-item beside adds: one of two numbers.
struct Beside {
    cond: Cond,
    then: i128,
    otherwise: i128,
}

impl Walk<'_> {
    /// What the work-item so far behind one of a number adds, as that one knows it.
    fn added_by_next(&self, sum: &Sum, number: &Poly, by: i128) -> Option<Beside> {
        let axis = single(number)?;
        let is_axis = self.block.iter().flatten().any(|(_, of)| *of == axis);
        let (cond, then, otherwise) = self.choices.get(&single(&sum.of)?)?;
        let (then, otherwise) = (then.as_constant()?, otherwise.as_constant()?);
        let mut asked = Vec::new();
        [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut asked));
        // Of a coordinate alone all is known without.
        let is_read = |unknown: &Unknown| self.elements.contains_key(unknown);
        if !is_axis || !cond.is_exact() || !asked.iter().any(is_read) {
            return None;
        }
        let moved: Option<Vec<(Unknown, Poly)>> = asked
            .into_iter()
            .map(|unknown| Some((unknown, self.moved(unknown, sum, (axis, by))?)))
            .collect();
        let moved = moved?;
        let put = |unknown: Unknown| {
            let found = moved.iter().find(|(of, _)| *of == unknown);
            found.map(|(_, value)| value.clone())
        };
        let cond = Cond { yes: cond.yes.replace(&put), no: cond.no.replace(&put) };
        Some(Beside { cond, then, otherwise })
    }

    /// What a symbol is, where a scan is made, for the work-item so far along an axis.
    fn moved(&self, unknown: Unknown, sum: &Sum, (axis, by): (Unknown, i128)) -> Option<Poly> {
        if unknown == axis {
            return Some(Poly::unknown(axis).plus(by));
        }
        if self.is_one_in(unknown, sum) {
            return Some(Poly::unknown(unknown));
        }
        let element = self.elements.get(&unknown)?;
        let is_known = |of: Unknown| of == axis || self.is_one_in(of, sum);
        if !element.indices.iter().flat_map(Poly::unknowns).all(is_known) {
            return None;
        }
        let put = |of: Unknown| (of == axis).then(|| Poly::unknown(axis).plus(by));
        let indices = element.indices.iter().map(|index| index.replace(&put)).collect();
        self.known_element(&Element { indices, ..element.clone() })
    }

    /// Whether all of the group over which a scan is made have one value of a symbol there: it is
    /// the block's in the iterations of the loops around, or that of a warp's row of the block.
    fn is_one_in(&self, unknown: Unknown, sum: &Sum) -> bool {
        let Some(symbol) = self.symbols.get(unknown) else { return false };
        match &symbol.sharing {
            Sharing::Launch => true,
            Sharing::Block => symbol.loops.iter().all(|id| sum.loops.contains(id)),
            Sharing::Iteration(id) => sum.loops.contains(id),
            Sharing::Private => {
                // The lane is another axis.
                sum.group == Group::Warp
                    && self.block.iter().flatten().any(|(_, axis)| *axis == unknown)
            }
            Sharing::Function(of) => of.iter().all(|other| self.is_one_in(*other, sum)),
        }
    }
}

impl Builder<'_> {
    /// Adds what those beside two work-items, of which the second comes later, have added to what
    /// a scan gives that.
    pub(super) fn added_beside(
        &mut self,
        (value, sum): (&Poly, &Sum),
        number: &Poly,
        [one, other]: [Side; 2],
    ) -> Vec<Formula> {
        let walk = self.walk;
        let none = Poly::default();
        // With what each adds itself, and without.
        let (more, less) =
            if sum.over == Over::Before { (&sum.of, &none) } else { (&none, &sum.of) };
        let [up_to, before] = [value.add(more), value.sub(less)];
        let mut facts = Vec::new();
        for (by, asks, of) in [(1, one, &up_to), (-1, other, &before)] {
            let Some(Beside { cond, then, otherwise }) = walk.added_by_next(sum, number, by) else {
                continue;
            };
            let [x, y] = [one, other].map(|side| self.on(side, of));
            for (contrary, added) in [(&cond.no, then), (&cond.yes, otherwise)] {
                if added > 0 {
                    let contrary = self.formula_on(asks, contrary);
                    facts.push(contrary.or(Formula::le(&x.plus(added), &y)));
                }
            }
        }
        facts
    }
}
