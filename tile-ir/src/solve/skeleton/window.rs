//! What a block touches of an array, as a window that moves with the block.
//!
//! How many blocks there are may be open-ended. Then one block is run whose coordinates
//! are left open: of `b * 256 + t` the term `b * 256` is the block's, and the known parts
//! of all its accesses lie in a window. Where the windows of two blocks are further apart
//! than they are long, the blocks do not meet, however many there are.

use std::collections::BTreeMap;

use super::terms::{Term, Terms};
use super::value::Value;
use crate::kernel::{AccessKind, Kernel, VarId, VarKind};

/// The least and the greatest of some numbers.
pub(super) type Range = (i64, i64);

/// Along one axis of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Window<Of> {
    /// Nothing was touched so far.
    Empty,
    /// Known parts beside one common term: of all accesses, and of those that write.
    Beside { term: Of, all: Range, written: Option<Range> },
    /// Accesses have no term in common.
    Lost,
}

/// Variables of the launch and the grid, each so many times.
pub(super) type Vars = BTreeMap<VarId, i64>;

/// What one block touches in one run, by axis of the array: by terms, or by amounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    by_terms: Vec<Window<Term>>,
    by_amounts: Vec<Window<Vars>>,
}

/// What any block touches, its terms taken apart in variables with factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows(Vec<Window<Vars>>);

fn joined(one: Range, other: Range) -> Range {
    (one.0.min(other.0), one.1.max(other.1))
}

impl<Of: PartialEq + Clone> Window<Of> {
    /// Both of them.
    fn join(&mut self, other: Self) {
        *self = match (&*self, other) {
            (Self::Empty, other) => other,
            (_, Self::Empty) => return,
            (
                Self::Beside { term, all, written },
                Self::Beside { term: of, all: more, written: by },
            ) if *term == of => {
                let written = match (*written, by) {
                    (Some(one), Some(other)) => Some(joined(one, other)),
                    (one, other) => one.or(other),
                };
                Self::Beside { term: of, all: joined(*all, more), written }
            }
            (Self::Beside { .. } | Self::Lost, Self::Beside { .. } | Self::Lost) => Self::Lost,
        };
    }
}

impl Touched {
    /// An access at these indices.
    pub(super) fn enter(&mut self, indices: &[Value], kind: AccessKind) {
        self.by_terms.resize(indices.len(), Window::Empty);
        for (window, index) in self.by_terms.iter_mut().zip(indices) {
            let at = (index.as_index(), index.as_index());
            window.join(match index.unknown() {
                Some(term) => {
                    let written = (kind != AccessKind::Read).then_some(at);
                    Window::Beside { term, all: at, written }
                }
                None => Window::Lost,
            });
        }
    }
}

impl Touched {
    /// An access at indices of which this is known: what moves with the block, and between
    /// which numbers the rest lies.
    pub(super) fn enter_around(&mut self, indices: Vec<Option<(Vars, Range)>>, kind: AccessKind) {
        self.by_amounts.resize(indices.len(), Window::Empty);
        for (window, index) in self.by_amounts.iter_mut().zip(indices) {
            window.join(match index {
                Some((term, all)) => {
                    let written = (kind != AccessKind::Read).then_some(all);
                    Window::Beside { term, all, written }
                }
                None => Window::Lost,
            });
        }
    }
}

impl Windows {
    /// Another run of a block.
    pub(super) fn add(&mut self, touched: Touched, terms: &Terms) {
        if self.0.is_empty() {
            let n_axes = touched.by_terms.len().max(touched.by_amounts.len());
            self.0.resize(n_axes, Window::Empty);
        }
        for (window, of_run) in self.0.iter_mut().zip(touched.by_amounts) {
            window.join(of_run);
        }
        for (window, of_run) in self.0.iter_mut().zip(touched.by_terms) {
            window.join(match of_run {
                Window::Empty => Window::Empty,
                Window::Beside { term, all, written } => match terms.factors(term) {
                    Some(term) => Window::Beside { term, all, written },
                    None => Window::Lost,
                },
                Window::Lost => Window::Lost,
            });
        }
    }

    /// Whether no two blocks of `kernel` meet: blocks that differ in a coordinate have
    /// windows along an axis that only this coordinate moves, by more than their length.
    pub(super) fn are_apart(&self, kernel: &Kernel) -> bool {
        let is_of_grid = |var: &VarId| kernel.vars[*var].kind == VarKind::Grid;
        let is_moved_by = |window: &Window<BTreeMap<VarId, i64>>, axis: VarId| {
            let Window::Beside { term, all, written: Some(written) } = window else { return false };
            let Some(step) = term.get(&axis) else { return false };
            let length = written.1.abs_diff(all.0).max(all.1.abs_diff(written.0));
            term.keys().filter(|var| is_of_grid(var)).eq([&axis]) && length < step.unsigned_abs()
        };
        let is_written = |window: &Window<_>| {
            !matches!(window, Window::Empty | Window::Beside { written: None, .. })
        };
        !self.0.iter().any(is_written)
            || kernel
                .grid
                .iter()
                .all(|axis| self.0.iter().any(|window| is_moved_by(window, axis.var)))
    }
}
