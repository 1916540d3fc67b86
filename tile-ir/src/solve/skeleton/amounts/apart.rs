//! Which accesses are of other elements, by what their indices are made of.
//!
//! Work-item `i` writes at the sum of the flags before it, if its own is set: of `i` and a
//! later one the second is further on by all flags from `i` to before it, none of which is
//! negative, and the one of `i` is 1. So it is asked of accesses in a row, the next of each:
//! that it is no further back, whatever holds, and further on where the condition holds under
//! which the first (or the second) is made. Then all of them are apart. A few that are in no
//! such row are compared each with each.

use std::collections::BTreeMap;

use super::super::plan::SiteId;
use super::super::window::{self, Vars};
use super::ways::Way;
use super::{Amounts, Atom, MAX_DEPTH, Operand, Origin, Sum, Table};
use crate::check::interval::Range;
use crate::op::LogicOp;

/// A condition that holds, or does not.
pub(in super::super) type Given = (Operand, bool);

/// What is known of atoms under conditions.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(BTreeMap<Atom, Range>);

impl Table {
    /// What holds under conditions; `None` if they never hold together.
    pub(super) fn facts<'g>(
        &self,
        given: impl IntoIterator<Item = &'g (Sum, bool)>,
    ) -> Option<Facts> {
        let mut facts = Facts::default();
        for (flag, holds) in given {
            self.learn(flag, i128::from(*holds), (&mut facts, MAX_DEPTH))?;
        }
        Some(facts)
    }

    /// Takes in that a flag is this; `None` if it never is.
    pub(super) fn learn(
        &self,
        flag: &Sum,
        is: i128,
        (facts, depth): (&mut Facts, usize),
    ) -> Option<()> {
        let rest = is - flag.constant;
        let (atom, value) = match flag.parts.as_slice() {
            [] => return (rest == 0).then_some(()),
            [(atom, times)] => (*atom, rest.checked_mul((*times).into())?),
            _ => return Some(()),
        };
        if !matches!(flag.parts.as_slice(), [(_, 1 | -1)]) {
            return Some(());
        }
        self.cut(atom, (value, value), facts)?;
        let Some(depth) = depth.checked_sub(1) else { return Some(()) };
        match (self.atoms.get(atom as usize).map(|(origin, _)| origin), value) {
            (Some(Origin::IsMore(of)), 1) => self.bound(of, (1, i128::MAX), facts),
            (Some(Origin::IsMore(of)), 0) => self.bound(of, (i128::MIN, 0), facts),
            (Some(Origin::IsZero(of)), 1) => self.bound(of, (0, 0), facts),
            (Some(Origin::IsZero(of)), 0) => match self.under(of, facts, MAX_DEPTH) {
                Some((0, _)) => self.bound(of, (1, i128::MAX), facts),
                Some((_, 0)) => self.bound(of, (i128::MIN, -1), facts),
                _ => Some(()),
            },
            (Some(Origin::Logic(LogicOp::And, both)), 1)
            | (Some(Origin::Logic(LogicOp::Or, both)), 0) => {
                both.iter().try_for_each(|flag| self.learn(flag, value, (facts, depth)))
            }
            _ => Some(()),
        }
    }

    /// Takes in that a sum lies in a range, if it is of one atom.
    fn bound(&self, sum: &Sum, (low, high): Range, facts: &mut Facts) -> Option<()> {
        let [(atom, times)] = sum.parts.as_slice() else { return Some(()) };
        let times = i128::from(*times);
        let by = times.abs();
        // What is left for so many atoms, or for as many of the opposite.
        let less = |end: i128| (!matches!(end, i128::MIN | i128::MAX)).then(|| end - sum.constant);
        let (least, most) = match times > 0 {
            true => (less(low), less(high)),
            false => (less(high).map(|end| -end), less(low).map(|end| -end)),
        };
        let least = least.map_or(i128::MIN, |least| -(-least).div_euclid(by));
        let most = most.map_or(i128::MAX, |most| most.div_euclid(by));
        self.cut(*atom, (least, most), facts)
    }

    /// Cuts the range of an atom; `None` where nothing is left.
    fn cut(&self, atom: Atom, (low, high): Range, facts: &mut Facts) -> Option<()> {
        let own = self.atoms.get(atom as usize).and_then(|(_, range)| *range);
        let known = facts.0.get(&atom).copied().or(own).unwrap_or((i128::MIN, i128::MAX));
        let cut = (known.0.max(low), known.1.min(high));
        facts.0.insert(atom, cut);
        (cut.0 <= cut.1).then_some(())
    }

    /// Between which numbers a sum lies where these facts hold.
    pub(super) fn under(&self, sum: &Sum, facts: &Facts, depth: usize) -> Option<Range> {
        self.range(sum, &|atom| self.atom_under(atom, facts, depth))
    }

    fn atom_under(&self, atom: Atom, facts: &Facts, depth: usize) -> Option<Range> {
        let (origin, own) = self.atoms.get(atom as usize)?;
        if let Some(range) = facts.0.get(&atom) {
            return Some(*range);
        }
        if facts.0.is_empty() || depth == 0 {
            return *own;
        }
        match origin {
            Origin::IsMore(of) => match self.under(of, facts, depth - 1) {
                Some((1.., _)) => Some((1, 1)),
                Some((_, ..=0)) => Some((0, 0)),
                _ => *own,
            },
            Origin::IsZero(of) => match self.under(of, facts, depth - 1) {
                Some((0, 0)) => Some((1, 1)),
                Some((1.., _) | (_, ..=-1)) => Some((0, 0)),
                _ => *own,
            },
            _ => *own,
        }
    }
}

/// An access: its indices, as far as their amounts are known, and the conditions under which
/// it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Spot {
    pub(in super::super) indices: Vec<Option<Operand>>,
    pub(in super::super) given: Vec<Given>,
}

impl Amounts {
    /// Whether no two of these are of one element, each with its place in the text.
    pub(in super::super) fn are_all_apart(&self, made: &[(SiteId, &[Way])]) -> bool {
        let table = self.0.borrow();
        let ways = made.iter().flat_map(|(place, ways)| ways.iter().map(|way| (*place, way)));
        let ways: Vec<(SiteId, &Way)> = ways.collect();
        let n_axes = ways.first().map_or(0, |(_, way)| way.indices.len());
        ways.is_empty() || (0..n_axes).any(|axis| table.are_in_rows(&ways, axis))
    }

    /// Whether two are of other elements, or never both made.
    pub(in super::super) fn are_apart(&self, one: &[Way], other: &[Way]) -> bool {
        let table = self.0.borrow();
        one.iter().all(|one| other.iter().all(|other| table.are_ways_apart(one, other)))
    }
}

impl Table {
    fn are_ways_apart(&self, one: &Way, other: &Way) -> bool {
        let Some(facts) = self.facts(one.given.iter().chain(&other.given)) else { return true };
        one.indices.iter().zip(&other.indices).any(|(one, other)| {
            let (Some(one), Some(other)) = (one, other) else { return false };
            let difference = one.plus(other, -1);
            let range = difference.and_then(|sum| self.under(&sum, &facts, MAX_DEPTH));
            matches!(range, Some((1.., _) | (_, ..=-1)))
        })
    }

    /// What variables an index is made of, and between which numbers the rest lies.
    pub(super) fn around(&self, index: &Sum, facts: &Facts) -> Option<(Vars, window::Range)> {
        let var = |atom: Atom| match self.atoms.get(atom as usize) {
            Some((Origin::Launch(var), _)) => Some(*var),
            _ => None,
        };
        let parts = index.parts.iter().filter_map(|(atom, times)| Some((var(*atom)?, *times)));
        let rest = index.parts.iter().filter(|(atom, _)| var(*atom).is_none()).copied().collect();
        let rest = Sum { constant: index.constant, parts: rest };
        let (low, high) = self.under(&rest, facts, MAX_DEPTH)?;
        Some((parts.collect(), (i64::try_from(low).ok()?, i64::try_from(high).ok()?)))
    }
}
