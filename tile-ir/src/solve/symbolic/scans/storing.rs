//! Which work-items store what a scan gives them: all, or those of lesser numbers.
//!
//! `if t < 32 { s[t] = v; }` stores in the cells before 32, if the block has so many work-items, and
//! so does `if w == 0 { s[lane] = v; }` of the first warp's lanes, whose numbers they are. In what is
//! known of sums ([`super::prefix`]) are cells alone in which somebody has stored one.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use crate::exchange::WARP_ITEMS;

impl Walk<'_> {
    /// A work-item's number, and before which one all work-items store here, if those store that
    /// none of these lets pass by.
    pub(super) fn members_storing(&mut self, unless: &[Formula]) -> Option<(Poly, Poly)> {
        let (number, count) = self.number_of_items()?;
        match unless {
            [] => return Some((number, count)),
            [Formula::AtLeast(beyond)] if self.is_agreed(&number.sub(beyond)) => {
                let end = number.sub(beyond);
                return self.is_never(&Formula::lt(&count, &end)).then_some((number, end));
            }
            _ if !self.is_in_first_warp() => return None,
            _ => {}
        }
        let ends = self.ends_in_first_warp(unless)?;
        let may_be_less = |one: &Poly, other: &Poly| !self.is_never(&Formula::lt(one, other));
        let is_least =
            |end: &&Poly| !ends.iter().chain([&count]).any(|other| may_be_less(other, end));
        let end = ends.iter().find(is_least)?.clone();
        Some((number, end))
    }

    /// Before which lanes those of the first warp come by that none of these lets pass by, and how
    /// many it has at most.
    fn ends_in_first_warp(&self, unless: &[Formula]) -> Option<Vec<Poly>> {
        let lane = self.as_in_first_warp(&self.warp_place.as_ref()?.lane);
        let mut ends = vec![Poly::constant(WARP_ITEMS.into())];
        for passed in unless {
            match self.formula_in_first_warp(passed) {
                Formula::False => {}
                Formula::AtLeast(beyond) if self.is_agreed(&lane.sub(&beyond)) => {
                    ends.push(lane.sub(&beyond));
                }
                Formula::True
                | Formula::Unknown
                | Formula::AtLeast(_)
                | Formula::Zero(_)
                | Formula::All(_)
                | Formula::Any(_) => return None,
            }
        }
        Some(ends)
    }
}
