//! Choices made of choices: `if i < 1 { i += n; } if i < 2 { i += n; } …`.
//!
//! Each of them has two cases, and a chain of them as many as there are ways through it. But
//! most ways are none: what was below 1 and is now `n` and more is not below 2. So a choice
//! at the end of a chain is told by the cases that may be, each with all its conditions and
//! with its value of what the chain began with. A case is left out where it never is, in no
//! launch and for no work-item; then one of the others is.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::walk::Walk;

/// Choices inside each other that are followed as they are.
const MAX_PLAIN: u32 = 3;

/// Most cases of one choice.
const MAX_ALIVE: usize = 24;

/// What a choice is where a condition holds.
pub(in super::super) type Alive = (Formula, Poly);

impl Walk<'_> {
    /// The cases of a choice between two values, if it is the end of a chain.
    pub(in super::super) fn flattened(
        &self,
        cond: &Cond,
        (then, otherwise): (&Poly, &Poly),
    ) -> Option<Vec<Alive>> {
        let has_bits = [then, otherwise].into_iter().any(|of| self.bits.contains_key(of));
        if has_bits || !cond.yes.is_exact() || !cond.no.is_exact() {
            return None;
        }
        let inner = self.only_choice(cond, (then, otherwise))?;
        if !self.chains.contains_key(&inner) && self.symbols.depth(inner) < MAX_PLAIN {
            return None;
        }
        let alive = self.alive(cond, (then, otherwise), Some(inner))?;
        let is_exact = |(known, value): &Alive| known.is_exact() && !value.is_lost();
        alive.iter().all(is_exact).then_some(alive)
    }

    /// A choice that has these cases.
    pub(in super::super) fn one_of(
        &mut self,
        alive: Vec<Alive>,
        (cond, then, otherwise): (&Cond, &Poly, &Poly),
    ) -> Unknown {
        let cases = |value: &Poly| {
            let case = |(known, of): &Alive| known.clone().and(Formula::eq(value, of));
            Formula::Any(alive.iter().map(case).collect())
        };
        let mut of = Vec::new();
        cases(&Poly::default()).collect_unknowns(&mut of);
        let lows = alive.iter().map(|(_, value)| self.symbols.low(value));
        let low = lows.reduce(|one, other| Some(one?.min(other?))).flatten();
        let unknown = self.symbol(Sharing::Function(of), low, None);
        self.symbols.add_facts(unknown, cases(&Poly::unknown(unknown)));
        self.choices.insert(unknown, (cond.clone(), then.clone(), otherwise.clone()));
        self.chains.insert(unknown, alive);
        unknown
    }

    /// The one choice of which others are made.
    fn only_choice(&self, cond: &Cond, (then, otherwise): (&Poly, &Poly)) -> Option<Unknown> {
        let mut unknowns: Vec<Unknown> = then.unknowns().chain(otherwise.unknowns()).collect();
        [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut unknowns));
        let mut choices = unknowns.into_iter().filter(|of| self.choices.contains_key(of));
        let first = choices.next()?;
        choices.all(|other| other == first).then_some(first)
    }

    /// The cases of a choice, made of an inner one, that may be.
    fn alive(
        &self,
        cond: &Cond,
        (then, otherwise): (&Poly, &Poly),
        inner: Option<Unknown>,
    ) -> Option<Vec<Alive>> {
        let before = match inner {
            Some(inner) => self.cases_of(inner)?,
            None => vec![(Formula::True, Poly::default())],
        };
        let mut alive = Vec::new();
        for (known, value) in &before {
            let put = |unknown: Unknown| (Some(unknown) == inner).then(|| value.clone());
            for (part, result) in [(&cond.yes, then), (&cond.no, otherwise)] {
                let case = known.clone().and(part.replace(&put));
                if !self.is_never(&case) {
                    alive.push((case, result.replace(&put)));
                }
            }
        }
        let alive = self.united(alive);
        (1..=MAX_ALIVE).contains(&alive.len()).then_some(alive)
    }

    fn cases_of(&self, choice: Unknown) -> Option<Vec<Alive>> {
        if let Some(known) = self.chains.get(&choice) {
            return Some(known.clone());
        }
        let (cond, then, otherwise) = self.choices.get(&choice)?;
        let values = (then, otherwise);
        self.alive(cond, values, self.only_choice(cond, values))
    }
}
