//! Launches at which a tile is read under conditions that hold while those of its writes fail.
//!
//! `if a[0] != 1000 { s[t] = …; } barrier; if a[1] == 2000 { … s[t] … }` reads what nobody has
//! written where two elements are what hardly any data has, both at once. What has to come
//! together is collected from the text ([`goals`]): the conditions around a read, and of each
//! write of the tile one of those around it, that fails. Sizes, scalars, a block and elements are
//! then changed one at a time, each so that one of these comes out as it has to ([`search`]), as
//! local search does for satisfiability (Selman, Kautz, Cohen: Noise strategies for improving
//! local search, 1994).
//!
//! What is found is a launch, and is run as any other: it says nothing by itself.

mod dice;
mod flags;
mod goals;
mod guess;
mod linear;
mod made;
mod near;
mod rounds;
mod search;
mod sites;
mod text;

use std::collections::BTreeMap;

pub(super) use self::goals::{outside, together};
pub(super) use self::rounds::many_rounds;
pub(super) use self::search::{find, find_with_made};
pub(super) use self::text::Text;
use super::data::Number;
use super::doubts::Doubts;
use super::sizes::Sizes;
use crate::kernel::{ArrayRef, Kernel, VarId};

/// A launch, and a block of it.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub(super) sizes: Sizes,
    pub(super) block: Vec<i64>,
    pub(super) given: Given,
    /// What numbers are taken for that loops make.
    pub(super) doubts: Option<Doubts>,
}

/// What else a launch gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Given {
    /// Elements of tensors that the kernel does not write, by tensor and indices.
    pub(super) elements: BTreeMap<(ArrayRef, Vec<i64>), Number>,
    /// Scalars that are no whole numbers.
    pub(super) scalars: BTreeMap<VarId, f64>,
    /// The other elements of these tensors, if they are not what chance says.
    pub(super) others: Option<Others>,
}

/// All elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Others {
    /// From the first one on, each differs by so much from the one before it.
    Line { first: i64, by: i64 },
    /// Each is this.
    Alike(Number),
}

impl Others {
    /// The element of this number along the last axis.
    pub(super) fn at(self, number: i64) -> Number {
        match self {
            Self::Line { first, by } => {
                Number::Int(i128::from(first) + i128::from(by) * i128::from(number))
            }
            Self::Alike(value) => value,
        }
    }
}

impl Given {
    /// Elements and scalars as a text says them: `a[3] = 700`.
    pub(crate) fn told(&self, kernel: &Kernel) -> Vec<String> {
        let elements = self.elements.iter().map(|((array, indices), number)| {
            let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
            format!("{}[{}] = {number}", kernel.array_name(*array), indices.join(", "))
        });
        let scalars = self.scalars.iter();
        let scalars = scalars.map(|(var, value)| format!("{} = {value}", kernel.vars[*var].name));
        elements.chain(scalars).collect()
    }

    /// Whether it gives a scalar.
    pub(crate) fn has(&self, var: VarId) -> bool {
        self.scalars.contains_key(&var)
    }
}
