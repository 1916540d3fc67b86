//! Stores that fill a tile, found by computing the cell of every point.
//!
//! Of `s[t / 32 * 64 + t % 32 + 32 * q]` for all `t` and `q` no comparison of polynomials
//! says that it runs over the tile. Where literals and tile parameters of few values say how
//! far axes and counters go, the cells are counted; under `if t < 32 { … }`, those of who comes
//! by. So it is with a `while` loop whose counter has such a value before it. It is asked only
//! where the tile is read and nothing else shows that it is filled.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::repeat;

use crate::check::points::Computed;
use crate::check::poly::{Atom, Poly};
use crate::config::tile_value;
use crate::kernel::{Access, ArrayRef, ExprId, Kernel, TileParamId, VarId, VarKind, eval_index};

/// Most points, of all sizes together, at which a cell is computed.
const MAX_POINTS: u64 = 1 << 13;

/// Most cells of a tile.
const MAX_CELLS: i128 = 1 << 16;

/// The values of an axis or a counter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Domain {
    /// From 0 on, so many.
    Below(Poly),
    /// From the first on to before the second, in steps of the third.
    Steps([ExprId; 3]),
    /// The same from what a variable held before a loop.
    From(Poly, [ExprId; 2]),
}

impl Domain {
    /// What says where a counter begins, ends, and how it steps.
    fn bounds(&self) -> &[ExprId] {
        match self {
            Self::Below(_) => &[],
            Self::Steps(bounds) => bounds,
            Self::From(_, bounds) => bounds,
        }
    }
}

/// A store that may fill its tile.
pub(super) struct Cover {
    access: Access,
    /// What it is made for all values of, those first that decide the domains of others.
    axes: Vec<(VarId, Domain)>,
    /// How far the tile is read along each axis, where that is less than its extent.
    ends: Vec<Option<Poly>>,
    /// The conditions around it, and whether they let it where they hold.
    guards: Vec<(ExprId, bool)>,
    fills: OnceCell<bool>,
}

impl Cover {
    pub(super) fn of(
        access: &Access,
        (axes, ends): (Vec<(VarId, Domain)>, Vec<Option<Poly>>),
        guards: &[(ExprId, bool)],
    ) -> Self {
        let (access, guards) = (access.clone(), guards.to_vec());
        Self { access, axes, ends, guards, fills: OnceCell::new() }
    }

    /// Whether it is this very store, made for the same.
    pub(super) fn is_of(
        &self,
        access: &Access,
        axes: &[(VarId, Domain)],
        guards: &[(ExprId, bool)],
    ) -> bool {
        self.access.span == access.span && self.axes == axes && self.guards == guards
    }

    /// Whether every cell of the tile that is read is one of its.
    pub(super) fn fills(&self, kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>) -> bool {
        *self.fills.get_or_init(|| self.is_full(kernel, lets).unwrap_or(false))
    }

    fn is_full(&self, kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>) -> Option<bool> {
        let ArrayRef::Tile(tile) = self.access.array else { return None };
        let is_axis = |var| self.axes.iter().any(|(axis, _)| *axis == var);
        let bounds = self.axes.iter().filter_map(|(_, domain)| {
            let start = match domain {
                Domain::Below(_) => return None,
                Domain::Steps(_) => None,
                Domain::From(start, _) => Some(start),
            };
            let bounds = Computed::of(kernel, lets, domain.bounds(), &is_axis);
            Some(bounds.map(|bounds| Stepped { start, bounds }))
        });
        let guards: Vec<ExprId> = self.guards.iter().map(|(guard, _)| *guard).collect();
        let walk = Walk {
            kernel,
            cell: Computed::of(kernel, lets, &self.access.indices, &is_axis)?,
            guards: Computed::of(kernel, lets, &guards, &is_axis)?,
            lets_by: self.guards.iter().map(|(_, holds)| *holds).collect(),
            bounds: bounds.collect::<Option<_>>()?,
        };
        let extents = &kernel.tiles[tile].extents;
        let ends = kernel.block.iter().flatten().map(|axis| axis.extent);
        let steps = self.axes.iter().flat_map(|(_, domain)| domain.bounds());
        let decisive: Vec<ExprId> =
            extents.iter().chain(&guards).copied().chain(ends).chain(steps.copied()).collect();
        let domains = self.axes.iter().flat_map(|(_, domain)| match domain {
            Domain::Below(of) | Domain::From(of, _) => params_of(kernel, of),
            Domain::Steps(_) => Vec::new(),
        });
        let bounds = walk.bounds.iter().map(|of| &of.bounds);
        let others = bounds.chain([&walk.guards]).flat_map(Computed::params);
        let ends = self.ends.iter().flatten().flat_map(|end| params_of(kernel, end));
        let all = walk.cell.sizes_of(&decisive, others.chain(domains).chain(ends))?;
        let mut left = MAX_POINTS;
        for tiles in &all {
            let size =
                |expr: &ExprId| eval_index(kernel, *expr, &|var| tile_value(kernel, tiles, var));
            let ends = self.ends.iter().map(Option::as_ref).chain(repeat(None));
            let extents = extents.iter().zip(ends).map(|(extent, end)| match end {
                Some(end) => value_at((kernel, tiles), &BTreeMap::new(), end),
                None => size(extent),
            });
            let extents: Vec<i128> = extents.collect::<Option<_>>()?;
            let cells = extents.iter().try_fold(1_i128, |all, end| all.checked_mul(*end))?;
            if cells > MAX_CELLS {
                return Some(false);
            }
            let end = |poly: &Poly| value_at((kernel, tiles), &BTreeMap::new(), poly);
            let axes = self.axes.iter().map(|(axis, domain)| match domain {
                Domain::Below(poly) => Some((*axis, Some(end(poly)?))),
                Domain::Steps(_) | Domain::From(..) => Some((*axis, None)),
            });
            let axes: Vec<(VarId, Option<i128>)> = axes.collect::<Option<_>>()?;
            let mut found: BTreeSet<Vec<i128>> = BTreeSet::new();
            let mut enter = |cell: Vec<i128>| {
                if cell.iter().zip(&extents).all(|(at, end)| (0..*end).contains(at)) {
                    found.insert(cell);
                }
            };
            walk.go((&axes, 0), tiles, (&mut BTreeMap::new(), &mut left), &mut enter)?;
            if found.len() as i128 != cells {
                return Some(false);
            }
        }
        Some(!all.is_empty())
    }
}

/// The cells of a store, and the bounds of its counters that go in steps, in order.
struct Walk<'a> {
    kernel: &'a Kernel,
    cell: Computed<'a>,
    /// The conditions around it, and by each whether it is made where that holds.
    guards: Computed<'a>,
    lets_by: Vec<bool>,
    bounds: Vec<Stepped<'a>>,
}

/// A counter that goes in steps.
struct Stepped<'a> {
    /// Where it begins, if the bounds do not say it.
    start: Option<&'a Poly>,
    bounds: Computed<'a>,
}

impl Stepped<'_> {
    /// Where it begins, before what it ends, and how it steps.
    fn at(
        &self,
        kernel: &Kernel,
        tiles: &[u32],
        point: &BTreeMap<VarId, i128>,
    ) -> Option<(i128, i128, i128)> {
        match (self.start, self.bounds.at(tiles, point)?.as_slice()) {
            (None, [start, end, step]) => Some((*start, *end, *step)),
            (Some(start), [end, step]) => {
                Some((value_at((kernel, tiles), point, start)?, *end, *step))
            }
            _ => None,
        }
    }
}

impl Walk<'_> {
    /// Computes the cell at every point of the axes that are left, of which the number of
    /// values is given where it is one; `stepped` of those before them go in steps. `None`
    /// where there are too many points, or one cannot be computed.
    fn go(
        &self,
        (axes, stepped): (&[(VarId, Option<i128>)], usize),
        tiles: &[u32],
        (point, left): (&mut BTreeMap<VarId, i128>, &mut u64),
        enter: &mut dyn FnMut(Vec<i128>),
    ) -> Option<()> {
        let Some(((axis, count), rest)) = axes.split_first() else {
            *left = left.checked_sub(1)?;
            let guards = self.guards.at(tiles, point)?;
            if guards.iter().zip(&self.lets_by).all(|(guard, lets_by)| (*guard != 0) == *lets_by) {
                enter(self.cell.at(tiles, point)?);
            }
            return Some(());
        };
        let (start, end, step, stepped) = match count {
            Some(count) => (0, *count, 1, stepped),
            None => match self.bounds.get(stepped)?.at(self.kernel, tiles, point)? {
                (start, end, step) if step > 0 => (start, end, step, stepped + 1),
                _ => return None,
            },
        };
        let mut at = start;
        while at < end {
            point.insert(*axis, at);
            self.go((rest, stepped), tiles, (point, left), enter)?;
            at += step;
        }
        point.remove(axis);
        Some(())
    }
}

/// The value of a polynomial over tile parameters and axes of which the values are given.
fn value_at(
    (kernel, tiles): (&Kernel, &[u32]),
    point: &BTreeMap<VarId, i128>,
    poly: &Poly,
) -> Option<i128> {
    let value = |var: VarId| point.get(&var).copied().or_else(|| tile_value(kernel, tiles, var));
    poly.terms().try_fold(0_i128, |sum, (product, factor)| {
        let term = product.iter().try_fold(factor, |term, atom| match atom {
            Atom::Var(var) => term.checked_mul(value(*var)?),
            _ => None,
        });
        sum.checked_add(term?)
    })
}

/// The tile parameters in a polynomial.
fn params_of(kernel: &Kernel, poly: &Poly) -> Vec<TileParamId> {
    let atoms = poly.terms().flat_map(|(product, _)| product.iter());
    let params = atoms.filter_map(|atom| match atom {
        Atom::Var(var) => match kernel.vars[*var].kind {
            VarKind::TileParam(param) => Some(param),
            _ => None,
        },
        _ => None,
    });
    params.collect()
}
