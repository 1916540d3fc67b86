//! What one work-item has made of a slot, as those know it whom it tells.
//!
//! `if t == 0 { last[0] = (ticket == n - 1) as u32; }` tells a block whether the ticket of one
//! of its work-items was the last one. Told so is what that work-item makes of its own slots
//! ([`super::super::slots::slot`]) and of what all know anyway: the same in which the block
//! has the slots, and that work-item's coordinates are put in. It is told by a cell of a tile,
//! by a reduction to which nobody else adds anything, or to a warp by a shuffle.
//!
//! # What it rests on
//!
//! - All of the audience hear of one work-item, which is there, in the same iterations of the
//!   loops around.
//! - Its slots are of the same iterations, or of before the loops.
//! - A slot that it has not taken says nothing, and whether it has, is put in the same terms.
//! - What is known of a number that it has worked out holds of one that is there. Quotients and
//!   extremes, which are known of any numbers, are worked out anew.
//!
//! Who knows whose value it finds, in a cell or by a shuffle, has it in its own terms likewise,
//! but for slots, of which others know nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing, Symbol};
use super::super::exchange::warps::Place;
use super::super::slots::made::Made;
use super::super::slots::slot::Slot;
use super::super::terms::integers::range_of;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use crate::kernel::Type;

/// Choices and functions inside each other that are put in other terms.
const MAX_DEPTH: u32 = 4;

/// The coordinates of a work-item.
pub(in super::super) type Item = BTreeMap<Unknown, Poly>;

/// Who is told, and by whom.
enum Audience {
    /// A block, by this work-item.
    Block(Item),
    /// A warp, by this lane of it.
    Warp { place: Place, lane: Poly },
    /// One work-item, by one of its block or its warp, which need not be there.
    Reader { is_of_warp: bool },
}

/// A value on its way from one work-item to others.
struct Relay {
    to: Audience,
    /// What is known already to be the same.
    known: Item,
    depth: u32,
    /// Whether what the work-item alone has is told, too.
    takes_own: bool,
}

impl Relay {
    fn to(to: Audience, known: Item) -> Self {
        Self { to, known, depth: 0, takes_own: false }
    }
}

/// The slots that blocks have been told of, by that of the work-item and its coordinates.
pub(in super::super) type Relayed = BTreeMap<(Unknown, Vec<Poly>), Unknown>;

impl Walk<'_> {
    /// A value of one work-item as its block has it.
    pub(in super::super) fn relayed_to_block(&mut self, value: &Poly, item: &Item) -> Option<Poly> {
        let to = Audience::Block(item.clone());
        self.relayed(value, &mut Relay::to(to, item.clone()))
    }

    /// The same, with values of which the block knows only that the work-item has them.
    pub(in super::super) fn relayed_as_own(&mut self, value: &Poly, item: &Item) -> Option<Poly> {
        let to = Audience::Block(item.clone());
        let mut relay = Relay { takes_own: true, ..Relay::to(to, item.clone()) };
        self.relayed(value, &mut relay)
    }

    /// The same of a condition.
    pub(in super::super) fn relayed_condition(&mut self, cond: &Cond, item: &Item) -> Cond {
        let to = Audience::Block(item.clone());
        self.relayed_cond(cond, &mut Relay::to(to, item.clone()))
    }

    /// A value of a lane as its warp has it, if the lane is there.
    pub(in super::super) fn relayed_to_warp(
        &mut self,
        value: &Poly,
        lane: &Poly,
        place: &Place,
    ) -> Option<Poly> {
        let (own, number) = self.item_of_lane(&place.lane, lane)?;
        let to = Audience::Warp { place: place.clone(), lane: lane.clone() };
        let known = BTreeMap::from([(own, number)]);
        self.relayed(value, &mut Relay::to(to, known))
    }

    /// A value of the work-item at these coordinates, of the block or of the warp, as another one
    /// of it has it: what it is made of is known of any coordinates.
    pub(in super::super) fn relayed_to_reader(
        &mut self,
        value: &Poly,
        item: &Item,
        is_of_warp: bool,
    ) -> Option<Poly> {
        self.relayed(value, &mut Relay::to(Audience::Reader { is_of_warp }, item.clone()))
    }

    /// The same of a condition on a work-item of the block.
    pub(in super::super) fn condition_for_reader(
        &mut self,
        condition: &Formula,
        item: &Item,
    ) -> Formula {
        let to = Audience::Reader { is_of_warp: false };
        self.relayed_formula(condition, &mut Relay::to(to, item.clone()))
    }

    fn relayed(&mut self, value: &Poly, relay: &mut Relay) -> Option<Poly> {
        if value.is_lost() {
            return None;
        }
        let unknowns: BTreeSet<Unknown> = value.unknowns().collect();
        for unknown in unknowns {
            self.relay(unknown, relay)?;
        }
        Some(value.replace(&|unknown| relay.known.get(&unknown).cloned()))
    }

    fn relayed_cond(&mut self, cond: &Cond, relay: &mut Relay) -> Cond {
        Cond {
            yes: self.relayed_formula(&cond.yes, relay),
            no: self.relayed_formula(&cond.no, relay),
        }
    }

    /// A formula, in which nothing is known of what is not told.
    fn relayed_formula(&mut self, formula: &Formula, relay: &mut Relay) -> Formula {
        let of = |value: Option<Poly>| value.unwrap_or_else(Poly::lost);
        let told = match formula {
            Formula::True => Formula::True,
            Formula::False => Formula::False,
            Formula::Unknown => Formula::Unknown,
            Formula::AtLeast(value) => Formula::AtLeast(of(self.relayed(value, relay))),
            Formula::Zero(value) => Formula::Zero(of(self.relayed(value, relay))),
            Formula::All(parts) => {
                Formula::All(parts.iter().map(|part| self.relayed_formula(part, relay)).collect())
            }
            Formula::Any(parts) => {
                Formula::Any(parts.iter().map(|part| self.relayed_formula(part, relay)).collect())
            }
        };
        told.folded()
    }

    /// Puts one unknown in terms of the audience.
    fn relay(&mut self, unknown: Unknown, relay: &mut Relay) -> Option<()> {
        if relay.known.contains_key(&unknown) {
            return Some(());
        }
        let told = if self.is_heard_anyway(unknown, &relay.to) {
            Poly::unknown(unknown)
        } else if self.slots.contains_key(&unknown) {
            self.relayed_slot(unknown, relay)?
        } else if let Some(told) = self.relayed_claim(unknown, relay) {
            told
        } else if relay.depth == MAX_DEPTH {
            return None;
        } else {
            relay.depth += 1;
            let choice = self.relayed_choice(unknown, relay);
            let told = choice.or_else(|| self.relayed_element(unknown, relay));
            let told = told.or_else(|| self.relayed_function(unknown, relay));
            let told = told.or_else(|| self.relayed_own(unknown, relay));
            relay.depth -= 1;
            told?
        };
        relay.known.insert(unknown, told);
        Some(())
    }

    /// Whether all of the audience have one value of an unknown, of these iterations.
    fn is_heard_anyway(&self, unknown: Unknown, to: &Audience) -> bool {
        let of = Poly::unknown(unknown);
        let is_agreed = match to {
            Audience::Block(_) | Audience::Reader { is_of_warp: false } => self.is_agreed(&of),
            Audience::Warp { .. } | Audience::Reader { is_of_warp: true } => {
                self.is_agreed_by_warp(&of)
            }
        };
        is_agreed && !self.is_left_by_loop(unknown)
    }

    /// A choice between two values, in the same terms.
    fn relayed_choice(&mut self, unknown: Unknown, relay: &mut Relay) -> Option<Poly> {
        let (cond, then, otherwise) = self.choices.get(&unknown)?.clone();
        let cond = self.relayed_cond(&cond, relay);
        // Others are told how it comes out, and a reader only what it knows itself.
        if matches!(relay.to, Audience::Reader { .. }) && !cond.is_exact() {
            return None;
        }
        // Of an arm that is not taken nothing need be known.
        let arms = [(&then, &cond.no), (&otherwise, &cond.yes)].map(|(arm, other)| {
            let arm = if *other == Formula::True { &Poly::default() } else { arm };
            self.relayed(arm, relay)
        });
        let [Some(then), Some(otherwise)] = arms else { return None };
        let is_of_block = matches!(relay.to, Audience::Block(_));
        match self.either(&cond, Value::Int(then), Value::Int(otherwise), is_of_block)? {
            Value::Int(value) => Some(value),
            Value::Cond(_) | Value::Other => None,
        }
    }

    /// An element of a tensor that is never written, at the place that is put in the same terms.
    fn relayed_element(&mut self, unknown: Unknown, relay: &mut Relay) -> Option<Poly> {
        let element = self.elements.get(&unknown)?.clone();
        let places = element.indices.iter().map(|index| self.relayed(index, relay));
        let places = places.collect::<Option<Vec<Poly>>>()?;
        self.loaded_at(unknown, places)
    }

    /// A quotient or the like, of which holds what holds of it for the one who tells.
    fn relayed_function(&mut self, unknown: Unknown, relay: &mut Relay) -> Option<Poly> {
        let (function, lhs, rhs) = self.function_of(unknown)?.clone();
        let symbol = self.symbols.get(unknown)?.clone();
        let (lhs, rhs) = (self.relayed(&lhs, relay)?, self.relayed(&rhs, relay)?);
        if let Some((span, Obstacle::Operator(op))) = symbol.obstacle {
            match function {
                Function::Quotient => return self.quotient(&lhs, &rhs, (span, op)),
                Function::Min | Function::Max => {
                    return match self.extremum((span, op), lhs, rhs)? {
                        Value::Int(value) => Some(value),
                        Value::Cond(_) | Value::Other => None,
                    };
                }
                Function::UnsignedTurns
                | Function::SignedTurns
                | Function::Narrowed
                | Function::Floor
                | Function::Remainder
                | Function::ExclusiveOr
                | Function::And
                | Function::Or
                | Function::Power
                | Function::Tiles => {}
            }
        }
        if !self.is_teller_there(&relay.to) {
            return None;
        }
        let of = lhs.unknowns().chain(rhs.unknowns()).collect();
        let key = (function, lhs, rhs);
        if let Some(known) = self.functions.get(&key) {
            return Some(Poly::unknown(*known));
        }
        let sharing = Sharing::Function(of);
        let told = self.symbols.push(Symbol { sharing, facts: Formula::True, ..symbol.clone() });
        self.functions.insert(key, told);
        Some(self.tell((unknown, &symbol.facts), told, relay))
    }

    /// Whether the one who tells is sure to be there; of a block's, that has been asked.
    fn is_teller_there(&self, to: &Audience) -> bool {
        match to {
            Audience::Block(_) => true,
            Audience::Warp { place, lane } => self.is_never(&place.lacks(lane)),
            Audience::Reader { .. } => false,
        }
    }

    /// Tells what is known of an unknown of what stands for it.
    fn tell(
        &mut self,
        (unknown, facts): (Unknown, &Formula),
        told: Unknown,
        relay: &mut Relay,
    ) -> Poly {
        let of_all = Poly::unknown(told);
        relay.known.insert(unknown, of_all.clone());
        let facts = self.relayed_formula(facts, relay);
        self.symbols.add_facts(told, facts);
        of_all
    }

    /// What the work-item alone has, and its block is told of.
    fn relayed_own(&mut self, unknown: Unknown, relay: &mut Relay) -> Option<Poly> {
        let Audience::Block(item) = &relay.to else { return None };
        let symbol = self.symbols.get(unknown).filter(|_| relay.takes_own)?.clone();
        let is_own = matches!(symbol.sharing, Sharing::Private | Sharing::Function(_));
        if !is_own || self.is_left_by_loop(unknown) || !self.loops.starts_with(&symbol.loops) {
            return None;
        }
        let key = (unknown, item.values().cloned().collect());
        if let Some(known) = self.relayed.get(&key) {
            return Some(Poly::unknown(*known));
        }
        let (sharing, facts) = (Sharing::Block, Formula::True);
        let told = self.symbols.push(Symbol { sharing, facts, ..symbol.clone() });
        self.relayed.insert(key, told);
        Some(self.tell((unknown, &symbol.facts), told, relay))
    }

    /// A slot, as all of the audience have it.
    fn relayed_slot(&mut self, old: Unknown, relay: &mut Relay) -> Option<Poly> {
        let slot = self.slots.get(&old)?.clone();
        match &relay.to {
            Audience::Warp { place, lane } => self.slot_of_warp(&slot, place, lane),
            Audience::Block(_) => self.slot_of_block(old, &slot, relay),
            Audience::Reader { .. } => None,
        }
    }

    fn slot_of_block(&mut self, old: Unknown, slot: &Slot, relay: &mut Relay) -> Option<Poly> {
        let Audience::Block(item) = &relay.to else { return None };
        let symbol = self.symbols.get(old)?.clone();
        if !self.loops.starts_with(&symbol.loops) {
            return None;
        }
        let key = (old, item.values().cloned().collect());
        if let Some(known) = self.relayed.get(&key) {
            return Some(Poly::unknown(*known));
        }
        let slot = slot.put(&mut |poly| self.relayed(poly, relay))?;
        let of_block = slot.handed_on()?;
        let range = range_of(Type::Scalar(self.kernel.element_type(slot.array())))?;
        let unmade = self.unmade_by_item(&slot, relay);
        let copy =
            self.symbols.push(Symbol { sharing: Sharing::Block, facts: Formula::True, ..symbol });
        let value = Poly::unknown(copy);
        self.symbols.add_facts(copy, within_range(&value, range));
        let room = self.room_inside(&slot, &value, range);
        let made = if unmade.is_empty() { None } else { Some(Made::of(copy)) };
        self.slots.insert(copy, of_block.known_to(made, unmade));
        self.bound_old(copy, room);
        self.relayed.insert(key, copy);
        Some(value)
    }

    /// An old value that tells who was first at an element, as all of the block have it.
    fn relayed_claim(&mut self, old: Unknown, relay: &mut Relay) -> Option<Poly> {
        let Audience::Block(item) = &relay.to else { return None };
        let (claim, symbol) = (self.claim(old)?, self.symbols.get(old)?.clone());
        if !self.loops.starts_with(&symbol.loops) {
            return None;
        }
        let key = (old, item.values().cloned().collect());
        if let Some(known) = self.relayed.get(&key) {
            return Some(Poly::unknown(*known));
        }
        let claim = claim.put(&mut |poly| self.relayed(poly, relay))?;
        let (sharing, facts) = (Sharing::Block, Formula::True);
        let told = self.symbols.push(Symbol { sharing, facts, ..symbol.clone() });
        self.relayed.insert(key, told);
        self.note_told_claim(told, claim);
        Some(self.tell((old, &symbol.facts), told, relay))
    }

    /// Where one work-item has not made the update of a slot, as its block knows it.
    fn unmade_by_item(&mut self, slot: &Slot, relay: &mut Relay) -> Vec<Formula> {
        let unmade = slot.unmade().iter().map(|unmade| self.relayed_formula(unmade, relay));
        unmade.filter(|unmade| *unmade != Formula::False).collect()
    }

    fn slot_of_warp(&mut self, slot: &Slot, place: &Place, lane: &Poly) -> Option<Poly> {
        let are_common = slot.polys().all(|poly| self.is_agreed_by_warp(poly));
        if !are_common || !slot.is_taken_in(&self.loops) {
            return None;
        }
        let lacks = place.lacks(lane);
        let lacks = if self.is_never(&lacks) { Formula::False } else { lacks };
        let unmade = self.unmade_by_lane(slot, lane, place);
        // Of what the lane has not taken nothing is said.
        let unless = unmade.iter().filter(|of| **of != Formula::False);
        let unless = unless.cloned().fold(lacks, Formula::or);
        let of_warp = slot.of_warp(unless.clone(), unmade)?;
        let range = range_of(Type::Scalar(self.kernel.element_type(slot.array())))?;
        let copy = self.symbol(Sharing::Private, Some(range.0), None);
        let value = Poly::unknown(copy);
        self.symbols.add_facts(copy, within_range(&value, range));
        self.note_common(copy, unless.clone());
        let room = self.room_inside(slot, &value, range).or(unless);
        self.insert_handed(copy, of_warp, room);
        Some(value)
    }

    /// The one work-item of a block for which a condition can hold here.
    pub(in super::super) fn item_where(&mut self, cond: &Formula) -> Option<Item> {
        let mut cond = cond.replace(&|_| None);
        // What is left of a choice of which the other case never is.
        while let Formula::Any(parts) = &cond
            && let [only] = parts.as_slice()
        {
            cond = only.clone();
        }
        let item = self.under(cond, |walk| walk.picked_item())?;
        self.is_there(&item).then_some(item)
    }

    /// The work-item that alone has a number other than 0, and that number as the block has it.
    pub(in super::super) fn only_number(&mut self, value: &Poly) -> Option<Poly> {
        let (cond, then, otherwise) =
            self.choices.get(&super::super::scans::prefix::single(value)?)?.clone();
        let zero = Poly::default();
        let is_other = match (then == zero, otherwise == zero) {
            (_, true) => cond.yes,
            (true, false) => cond.no,
            (false, false) => return None,
        };
        let item = self.item_where(&is_other)?;
        self.relayed_to_block(value, &item)
    }
}

/// That a number is one of these.
fn within_range(value: &Poly, (min, max): (i128, i128)) -> Formula {
    Formula::le(&Poly::constant(min), value).and(Formula::le(value, &Poly::constant(max)))
}
