//! Accesses that are disjoint by what their indices are made of, whatever else guards them.
//!
//! `if (id / k) % 2 == 0 { a[l] = …; } else { a[l] = …; }`: that digits of `id` tell who takes
//! which arm has nothing to do with where `l` is, but makes of each pair of accesses a problem
//! of twice as many unknowns. So where a plain proof has failed, it is tried once more under
//! those guards alone that speak of nothing but what indices are made of. To leave out guards
//! makes a system weaker: what has no solution then has none.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Sharing, Symbol};
use super::super::search::linear::Effort;
use super::super::walk::{Site, Walk};
use super::beside::Beside;
use super::instance::Meeting;

/// Of how many parts of a kernel's effort a pair of accesses takes one at most.
const PART: u64 = 8;

impl Walk<'_> {
    /// Lets all proofs take so much.
    pub(in super::super) fn set_effort(&mut self, effort: Effort) {
        self.by_indices = Beside::of(&effort);
        self.bracketed = Beside::of(&effort);
        self.effort = effort;
    }

    /// Whether that shows two accesses to be disjoint.
    pub(in super::super) fn is_disjoint_by_indices(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let [first, second] = sites.map(|site| self.with_own_guards(site));
        let has_fewer = |one: &Site, other: &Site| one.guards.len() < other.guards.len();
        if !has_fewer(&first, sites[0]) && !has_fewer(&second, sites[1]) {
            return false;
        }
        // Of two arms it is one question.
        self.by_indices.ask([&first, &second], meeting, || {
            let systems = self.collision(&first, &second, meeting, false);
            self.by_indices.spend(&self.effort, PART, || {
                systems.iter().all(|system| system.has_none_at_all(&self.effort))
            })
        })
    }

    /// An access without the guards that speak of something else than its indices.
    pub(super) fn with_own_guards(&self, site: &Site) -> Site {
        let parts = self.parts_of_indices(site);
        let mut own = site.clone();
        own.guards.retain(|guard| {
            let mut asked = Vec::new();
            guard.collect_unknowns(&mut asked);
            let is_bound = || asked.iter().any(|unknown| self.is_varying(*unknown, &parts));
            let mut others = asked.iter().filter(|unknown| !parts.contains(unknown));
            others.all(|unknown| self.is_made_of(*unknown, &parts) && is_bound())
        });
        own
    }

    /// An access without the guards that say nothing of what its indices are made of.
    pub(super) fn with_guards_of_indices(&self, site: &Site) -> Site {
        let parts = self.parts_of_indices(site);
        let mut own = site.clone();
        own.guards.retain(|guard| {
            let mut asked = Vec::new();
            guard.collect_unknowns(&mut asked);
            asked.iter().any(|unknown| self.is_varying(*unknown, &parts))
        });
        own
    }

    /// Whether an unknown is one of these, and not the launch's.
    fn is_varying(&self, unknown: Unknown, parts: &BTreeSet<Unknown>) -> bool {
        let of_launch = |symbol: &Symbol| matches!(symbol.sharing, Sharing::Launch);
        parts.contains(&unknown)
            && self.symbols.get(unknown).is_some_and(|symbol| !of_launch(symbol))
    }

    /// Whether an unknown is a function of these.
    fn is_made_of(&self, unknown: Unknown, parts: &BTreeSet<Unknown>) -> bool {
        self.symbols.get(unknown).is_some_and(|symbol| match &symbol.sharing {
            Sharing::Function(of) => of.iter().all(|unknown| parts.contains(unknown)),
            Sharing::Launch | Sharing::Block | Sharing::Iteration(_) | Sharing::Private => false,
        })
    }

    /// What indices are made of, and what is said of that.
    pub(in super::super) fn parts_of_indices(&self, site: &Site) -> BTreeSet<Unknown> {
        self.parts_from(site.indices.iter().flat_map(Poly::unknowns).collect())
    }

    /// These unknowns, what is said of them, and of what they are functions.
    pub(in super::super) fn parts_from(&self, mut open: Vec<Unknown>) -> BTreeSet<Unknown> {
        let mut parts = BTreeSet::new();
        while let Some(unknown) = open.pop() {
            let Some(symbol) = self.symbols.get(unknown).filter(|_| parts.insert(unknown)) else {
                continue;
            };
            symbol.facts.collect_unknowns(&mut open);
            if let Sharing::Function(of) = &symbol.sharing {
                open.extend(of);
            }
        }
        parts
    }
}
