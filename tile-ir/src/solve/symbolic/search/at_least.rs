//! What is at least 0, with what was once found out about all of it together: a step of a
//! search changes a few rows at most, and several questions are asked between two of them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use super::super::algebra::poly::{Poly, Unknown};
use super::digits::{self, Bounds};
use super::ranges::Ranges;

/// Rows that are at least 0. Copies share what is known of them until they change.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct AtLeast {
    rows: BTreeSet<Poly>,
    ranges: OnceCell<Rc<Ranges>>,
    bounds: OnceCell<Rc<Bounds>>,
    /// Where digits have no names, and where they have.
    divided: [OnceCell<Rc<Divided>>; 2],
}

/// What follows from rows when weights are taken out of them.
#[derive(Debug, Default)]
pub(in super::super) struct Divided {
    pub(in super::super) rows: Vec<Poly>,
    /// How often bounds were put in for it: what it took.
    pub(in super::super) uses: usize,
}

impl AtLeast {
    pub(in super::super) fn insert(&mut self, row: Poly) {
        if self.rows.insert(row) {
            self.forget();
        }
    }

    pub(in super::super) fn retain(&mut self, is_kept: &dyn Fn(&Poly) -> bool) {
        self.rows.retain(is_kept);
        self.forget();
    }

    /// Takes out the rows that speak of an unknown.
    pub(in super::super) fn take_of(&mut self, unknown: Unknown) -> Vec<Poly> {
        let taken: Vec<Poly> = self.rows.extract_if(.., |row| row.mentions(unknown)).collect();
        if !taken.is_empty() {
            self.forget();
        }
        taken
    }

    /// Between which numbers unknowns lie.
    pub(in super::super) fn ranges(&self) -> Rc<Ranges> {
        Rc::clone(self.ranges.get_or_init(|| Rc::new(Ranges::of(self.rows.iter()))))
    }

    /// What unknowns are at least and at most, by polynomials of others.
    pub(in super::super) fn bounds(&self) -> Rc<Bounds> {
        Rc::clone(self.bounds.get_or_init(|| Rc::new(Bounds::of(self.rows.iter()))))
    }

    /// What follows when weights are taken out; `has_names` where digits have names.
    pub(in super::super) fn divided(&self, has_names: bool) -> Rc<Divided> {
        let known = &self.divided[usize::from(has_names)];
        Rc::clone(known.get_or_init(|| Rc::new(digits::divided(self, has_names))))
    }

    fn forget(&mut self) {
        *self = Self { rows: std::mem::take(&mut self.rows), ..Self::default() };
    }
}

impl Deref for AtLeast {
    type Target = BTreeSet<Poly>;

    fn deref(&self) -> &BTreeSet<Poly> {
        &self.rows
    }
}
