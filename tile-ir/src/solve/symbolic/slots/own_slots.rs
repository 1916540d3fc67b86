//! Slots ([`super::slot`]) that one work-item has taken in several places of the text.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::slot::Slot;

impl Builder<'_> {
    /// That the first side, which is one work-item, has found different old values by different
    /// updates of its own.
    pub(in super::super) fn part_own_slots(&mut self) {
        self.assert_facts();
        let (walk, meeting) = (self.walk, self.meeting);
        let own = self.seen.iter().filter(|(_, side)| *side == Side::First);
        let own = own.filter_map(|(old, _)| Some((*old, walk.slots.get(old)?)));
        let own: Vec<(Unknown, &Slot)> = own.filter(|(_, slot)| slot.is_of_item()).collect();
        for (n, (first, one)) in own.iter().enumerate() {
            for (second, two) in &own[n + 1..] {
                if one.is_of_one_update(two) {
                    continue;
                }
                let [left, right] =
                    [first, second].map(|old| self.on(Side::First, &Poly::unknown(*old)));
                let mut on = |_, poly: &Poly| self.on(Side::First, poly);
                let Some(apart) = walk.apart((&left, one), (&right, two), meeting, &mut on) else {
                    continue;
                };
                let unmade = [one, two].map(|slot| self.unmade(slot, Side::First));
                let apart = unmade.into_iter().flatten().fold(apart, Formula::or);
                self.system.assert(&apart.replace(&|_| None));
            }
        }
    }
}
