//! Cases with one value, as one case.
//!
//! `if i < 1 { i += n; } if i < 2 { i += n; } …` sets `i` to `t + n` where `t` is below 1, where
//! it is 1, where it is 2, and so on: one case for each line, and two accesses have the square
//! of that. But it is `t + n` where `t` is below the last of those numbers. Of two cases the
//! bounds that both have, as the weaker of the two has them, hold in either; where nothing else
//! fulfils these, in no launch and for no work-item, they are the two cases together.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use super::flattened::Alive;

impl Walk<'_> {
    /// The same cases, of which those that are next to each other and have one value are one.
    pub(in super::super) fn united(&self, cases: Vec<Alive>) -> Vec<Alive> {
        let mut united: Vec<Alive> = Vec::new();
        for (known, value) in cases {
            let both = united.iter().enumerate().rev().find_map(|(at, (other, of))| {
                let both = if *of == value { self.either_of(other, &known) } else { None };
                Some((at, both?))
            });
            match both {
                Some((at, both)) => united[at].0 = both,
                None => united.push((known, value)),
            }
        }
        united
    }

    /// Bounds that hold where one of two conditions does, and nowhere else.
    fn either_of(&self, one: &Formula, other: &Formula) -> Option<Formula> {
        let [one, other] = [bounds(one)?, bounds(other)?];
        let of_both = one.iter().filter_map(|bound| {
            let sum = bound.plus(-bound.constant_term());
            let theirs = other.iter().find(|of| of.plus(-of.constant_term()) == sum)?;
            Some(if theirs.constant_term() > bound.constant_term() { theirs } else { bound })
        });
        let both = Formula::All(of_both.cloned().map(Formula::AtLeast).collect());
        let beyond = |bounds: &[Poly]| {
            Formula::Any(bounds.iter().map(|of| Formula::AtLeast(of.negated().plus(-1))).collect())
        };
        let rest = both.clone().and(beyond(&one)).and(beyond(&other));
        self.is_never(&rest).then_some(both)
    }
}

/// The bounds of which a condition is made, of each sum the tightest; `None` where it is made
/// of anything else.
fn bounds(condition: &Formula) -> Option<Vec<Poly>> {
    let mut found = Vec::new();
    collect(condition, &mut found)?;
    Some(found)
}

fn collect(condition: &Formula, out: &mut Vec<Poly>) -> Option<()> {
    match condition {
        Formula::True => Some(()),
        Formula::AtLeast(bound) if bound.is_lost() => None,
        Formula::AtLeast(bound) => {
            let added = bound.constant_term();
            let sum = bound.plus(-added);
            match out.iter_mut().find(|of| of.plus(-of.constant_term()) == sum) {
                Some(known) if known.constant_term() <= added => {}
                Some(known) => *known = bound.clone(),
                None => out.push(bound.clone()),
            }
            Some(())
        }
        Formula::All(parts) => parts.iter().try_for_each(|part| collect(part, out)),
        Formula::False | Formula::Unknown | Formula::Zero(_) | Formula::Any(_) => None,
    }
}
