//! Variables that a loop turns over: two buffers in one array, by the place where one begins.
//!
//! `at = L - at;` gives a variable after each iteration what is left of `L`. So where an
//! iteration starts it is what it was before the loop, `first`, or `L - first`: so it is
//! before the first one, and `L - (L - first)` is `first`. It does not matter which
//! iterations turn it over, so conditions may say that. A variable that wraps has one other
//! value, too, which is `L - first` where that is of its type.
//!
//! Where every iteration does, or those of all work-items of which a condition holds that
//! the loop does not change, the variable is a function of the number of the iteration, of
//! `first` and of `L`: work-items that agree about these agree about the variable. Of the
//! others it stays `first`.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use crate::kernel::{Type, VarId};

/// What is done to a variable in an iteration.
pub(in super::super) struct TurnedOver {
    /// What it and its next value are together.
    whole: Poly,
    /// For whom it is turned over, in every iteration, and for whom in none; nothing where
    /// that is not known.
    who: Option<[Formula; 2]>,
}

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts
    /// and `end` after it, which values it has, if iterations turn it over.
    pub(in super::super) fn note_turned(
        &mut self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Poly> {
        if first.is_lost() || end.is_lost() {
            return None;
        }
        let own = Poly::unknown(at);
        let TurnedOver { whole, who } = self.turned_over((id, ty), &own, end)?;
        let of: Vec<Unknown> = first.unknowns().chain(whole.unknowns()).collect();
        let other = self.left_of(ty, &whole.sub(first), &of);
        self.symbols.add_facts(at, Formula::eq(&own, first).or(Formula::eq(&own, &other)));
        let Some([turned, kept]) = who else { return Some(whole) };
        let number = self.all_loops[id.0].number;
        let of = [number].into_iter().chain(of).collect();
        let value = Poly::unknown(self.symbol(Sharing::Function(of), None, None));
        let is_value = turned.and(Formula::eq(&own, &value));
        let is_first = kept.and(Formula::eq(&own, first));
        self.symbols.add_facts(at, is_value.or(is_first));
        Some(whole)
    }

    /// Notes what a variable is after the loop, which was `first` before and of which an
    /// iteration leaves what is left of `whole`, or what it was.
    pub(in super::super) fn leave_turned(&mut self, var: VarId, first: &Poly, whole: Poly) {
        let Some(Value::Int(value)) = self.env.get(&var) else { return };
        let value = value.clone();
        let Some(after) = single(&value) else { return };
        let of: Vec<Unknown> = first.unknowns().chain(whole.unknowns()).collect();
        let other = self.left_of(self.type_of(var), &whole.sub(first), &of);
        self.symbols.add_facts(after, Formula::eq(&value, first).or(Formula::eq(&value, &other)));
        self.turned.insert(after, (first.clone(), whole));
    }

    /// A value of a type, which is `exact`, a function of these, where that is of the type.
    fn left_of(&mut self, ty: Type, exact: &Poly, of: &[Unknown]) -> Poly {
        let Some((min, max)) = range_of(ty) else { return exact.clone() };
        let value = self.symbol(Sharing::Function(of.to_vec()), None, None);
        let rest = Poly::unknown(value);
        let is_outside =
            Formula::lt(exact, &Poly::constant(min)).or(Formula::lt(&Poly::constant(max), exact));
        self.symbols.add_facts(value, is_outside.or(Formula::eq(&rest, exact)));
        rest
    }

    /// How an iteration turns a variable over that was `own` at its start.
    fn turned_over(&self, (id, ty): (LoopId, Type), own: &Poly, end: &Poly) -> Option<TurnedOver> {
        let whole = |end: &Poly| {
            let exact = self.before_wrapping(end, ty);
            let whole = exact.as_ref().unwrap_or(end).add(own);
            let is_fixed = whole.unknowns().all(|unknown| !self.symbols.is_inside(unknown, id));
            (is_fixed && !whole.is_lost() && *end != *own).then_some(whole)
        };
        if let Some(whole) = whole(end) {
            return Some(TurnedOver { whole, who: Some([Formula::True, Formula::False]) });
        }
        let choice = single(end)?;
        // An inner loop may have done it.
        if let Some((first, whole)) = self.turned.get(&choice)
            && first == own
        {
            let is_fixed = whole.unknowns().all(|unknown| !self.symbols.is_inside(unknown, id));
            return is_fixed.then(|| TurnedOver { whole: whole.clone(), who: None });
        }
        let is_exact = self.choices.contains_key(&choice);
        let (cond, then, otherwise) = self.choice_of(choice)?;
        let (turned, who) = if then == own {
            (otherwise, [cond.no.clone(), cond.yes.clone()])
        } else if otherwise == own {
            (then, [cond.yes.clone(), cond.no.clone()])
        } else {
            return None;
        };
        let mut asked = Vec::new();
        who.iter().for_each(|cond| cond.collect_unknowns(&mut asked));
        let is_fixed =
            is_exact && asked.iter().all(|unknown| !self.symbols.is_inside(*unknown, id));
        Some(TurnedOver { whole: whole(turned)?, who: is_fixed.then_some(who) })
    }
}
