//! Stores that fill a tile, found by computing the cell of every point.
//!
//! Of `s[t / 32 * 64 + t % 32 + 32 * q]` for all `t` and `q` no comparison of polynomials
//! says that it runs over the tile. Where literals and tile parameters of few values say how
//! far axes and counters go, the cells are counted. It is asked only where the tile is read
//! and nothing else shows that it is filled.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::check::points::{Computed, points};
use crate::check::poly::{Atom, Poly};
use crate::config::tile_value;
use crate::kernel::{Access, ArrayRef, ExprId, Kernel, VarId, eval_index};

/// Most points, of all sizes together, at which a cell is computed.
const MAX_POINTS: u64 = 1 << 13;

/// Most cells of a tile.
const MAX_CELLS: i128 = 1 << 16;

/// A store that may fill its tile.
pub(super) struct Cover {
    access: Access,
    /// What it is made for all values of, and how many each has.
    axes: Vec<(VarId, Poly)>,
    fills: OnceCell<bool>,
}

impl Cover {
    pub(super) fn of(access: &Access, axes: Vec<(VarId, Poly)>) -> Self {
        Self { access: access.clone(), axes, fills: OnceCell::new() }
    }

    /// Whether it is this very store, made for the same.
    pub(super) fn is_of(&self, access: &Access, axes: &[(VarId, Poly)]) -> bool {
        self.access.span == access.span && self.axes == axes
    }

    /// Whether every cell of the tile is one of its.
    pub(super) fn fills(&self, kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>) -> bool {
        *self.fills.get_or_init(|| self.is_full(kernel, lets).unwrap_or(false))
    }

    fn is_full(&self, kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>) -> Option<bool> {
        let ArrayRef::Tile(tile) = self.access.array else { return None };
        let is_axis = |var| self.axes.iter().any(|(axis, _)| *axis == var);
        let cell = Computed::of(kernel, lets, &self.access.indices, &is_axis)?;
        let extents = &kernel.tiles[tile].extents;
        let ends = kernel.block.iter().flatten().map(|axis| axis.extent);
        let mut left = MAX_POINTS;
        let all = cell.sizes(&extents.iter().copied().chain(ends).collect::<Vec<_>>())?;
        for tiles in &all {
            let size =
                |expr: &ExprId| eval_index(kernel, *expr, &|var| tile_value(kernel, tiles, var));
            let axes = self.axes.iter().map(|(axis, end)| {
                Some((*axis, u64::try_from(value_at(kernel, tiles, end)?).ok()?))
            });
            let axes: Vec<(VarId, u64)> = axes.collect::<Option<_>>()?;
            let count = axes.iter().try_fold(1_u64, |all, (_, end)| all.checked_mul(*end))?;
            left = left.checked_sub(count)?;
            let extents: Vec<i128> = extents.iter().map(size).collect::<Option<_>>()?;
            let cells = extents.iter().try_fold(1_i128, |all, end| all.checked_mul(*end))?;
            if cells > MAX_CELLS || cells > i128::from(count) {
                return Some(false);
            }
            let is_inside = |cell: &Vec<i128>| {
                cell.iter().zip(&extents).all(|(at, end)| (0..*end).contains(at))
            };
            let mut found: BTreeSet<Vec<i128>> = BTreeSet::new();
            for point in points(&axes) {
                found.extend(Some(cell.at(tiles, &point)?).filter(is_inside));
            }
            if found.len() as i128 != cells {
                return Some(false);
            }
        }
        Some(!all.is_empty())
    }
}

/// The value of a polynomial over tile parameters.
fn value_at(kernel: &Kernel, tiles: &[u32], poly: &Poly) -> Option<i128> {
    poly.terms().try_fold(0_i128, |sum, (product, factor)| {
        let term = product.iter().try_fold(factor, |term, atom| match atom {
            Atom::Var(var) => term.checked_mul(tile_value(kernel, tiles, *var)?),
            _ => None,
        });
        sum.checked_add(term?)
    })
}
