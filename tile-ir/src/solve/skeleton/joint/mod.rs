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

mod goals;
mod guess;
mod search;
mod text;

use std::collections::BTreeMap;

pub(super) use self::goals::together;
pub(super) use self::search::find;
pub(super) use self::text::Text;
use super::data::Number;
use super::sizes::Sizes;
use crate::kernel::{ArrayRef, VarId};

/// A launch, and a block of it.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) sizes: Sizes,
    pub(super) block: Vec<i64>,
    pub(super) given: Given,
}

/// What else a launch gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// Elements of tensors that the kernel does not write, by tensor and indices.
    pub(super) elements: BTreeMap<(ArrayRef, Vec<i64>), Number>,
    /// Scalars that are no whole numbers.
    pub(super) scalars: BTreeMap<VarId, f64>,
    /// By how much any other element of a tensor that the kernel does not write differs from the
    /// one before it, if not by chance; the first one is 0.
    pub(super) slope: Option<i64>,
}
