//! Rows of a tile's cells, each of which one work-item goes through.
//!
//! A tile of several axes is taken as rows of cells: along one axis, that of which loops
//! count, cells follow each other, and the other axes say which row it is. `base[d, k] = run;
//! run += count[d, k];` of each work-item `d` makes prefix sums
//! ([`super::super::scans::prefix`]) in every row, and what is left in `run` is the row's
//! total. Stored in the cell of the row's number, totals are counts that may be summed up in
//! turn.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::pairs::instance::{Builder, Side};
use super::super::scans::prefix::{Read, single};
use super::super::walk::Walk;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Kernel, Stmt, StmtKind, TileId, VarId};

/// A cell of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Cell {
    /// The other coordinates.
    pub(in super::super) row: Vec<Poly>,
    /// Its place in the row.
    pub(in super::super) at: Poly,
}

impl Cell {
    pub(in super::super) fn is_lost(&self) -> bool {
        self.at.is_lost() || self.row.iter().any(Poly::is_lost)
    }

    /// Its place, if its tile has one row.
    pub(in super::super) fn alone(&self) -> Option<&Poly> {
        self.row.is_empty().then_some(&self.at)
    }

    /// How far it lies behind another one of its row.
    pub(in super::super) fn behind(&self, other: &Self) -> Option<i128> {
        if self.row != other.row { None } else { self.at.sub(&other.at).as_constant() }
    }

    /// The coordinates, those of the row first.
    pub(in super::super) fn coordinates(&self) -> impl Iterator<Item = &Poly> {
        self.row.iter().chain([&self.at])
    }
}

/// Coordinates of rows: from this one on, to before each of those.
#[derive(Clone, Debug)]
pub(in super::super) struct Rows {
    from: Poly,
    ends: Vec<Poly>,
}

impl Rows {
    /// From one on, to before another one.
    pub(in super::super) fn between(from: Poly, end: Poly) -> Self {
        Self { from, ends: vec![end] }
    }

    /// The cases in which a coordinate is none of these.
    pub(in super::super) fn outside(&self, coordinate: &Poly) -> impl Iterator<Item = Formula> {
        let ends = self.ends.iter().map(|end| Formula::le(end, coordinate));
        ends.chain([Formula::lt(coordinate, &self.from)])
    }

    /// The same as one side sees it.
    fn on(&self, builder: &mut Builder<'_>, side: Side) -> Self {
        let ends = self.ends.iter().map(|end| builder.on(side, end)).collect();
        Self { ends, from: builder.on(side, &self.from) }
    }
}

/// Totals of rows: of which scan, and of which rows.
#[derive(Clone, Debug)]
pub(in super::super) struct Totals {
    pub(in super::super) scan: usize,
    pub(in super::super) rows: Rows,
}

/// The total of a row.
#[derive(Clone, Debug)]
pub(in super::super) struct RowTotal {
    totals: Totals,
    row: Poly,
}

/// By tile, the axis along which cells follow each other, where that is not the last one:
/// the first one at which a counter of a loop stands alone.
pub(in super::super) fn axes_of_cells(kernel: &Kernel) -> BTreeMap<TileId, usize> {
    let mut out = BTreeMap::new();
    collect_axes(kernel, &kernel.body, &mut Vec::new(), &mut out);
    out
}

fn collect_axes(
    kernel: &Kernel,
    stmts: &[Stmt],
    counters: &mut Vec<VarId>,
    out: &mut BTreeMap<TileId, usize>,
) {
    for stmt in stmts {
        let outer = counters.len();
        if let StmtKind::For { var, .. } = &stmt.kind {
            counters.push(*var);
        }
        if let (StmtKind::Store { access, value }, [.., _]) = (&stmt.kind, counters.as_slice()) {
            note_axis(kernel, access, counters, out);
            note_axis_of_rows(kernel, (access, *value), counters, out);
        }
        for expr in stmt.kind.exprs() {
            collect_read_axes(kernel, expr, counters, out);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_axes(kernel, body, counters, out));
        counters.truncate(outer);
    }
}

fn collect_read_axes(
    kernel: &Kernel,
    expr: ExprId,
    counters: &[VarId],
    out: &mut BTreeMap<TileId, usize>,
) {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Load(access) = kind {
        note_axis(kernel, access, counters, out);
    }
    kind.operands().into_iter().for_each(|of| collect_read_axes(kernel, of, counters, out));
}

fn note_axis(
    kernel: &Kernel,
    access: &Access,
    counters: &[VarId],
    out: &mut BTreeMap<TileId, usize>,
) {
    let ArrayRef::Tile(tile) = access.array else { return };
    let found: Vec<(usize, usize)> = counters_in(kernel, access, counters).collect();
    if let [(axis, _)] = found.as_slice() {
        out.entry(tile).or_insert(*axis);
    }
}

/// The axes at which counters of loops stand alone, and the counters' numbers.
fn counters_in(
    kernel: &Kernel,
    access: &Access,
    counters: &[VarId],
) -> impl Iterator<Item = (usize, usize)> {
    let counter = |index: &ExprId| match kernel.exprs[*index].kind {
        ExprKind::Var(var) => counters.iter().position(|counter| *counter == var),
        _ => None,
    };
    let indices = access.indices.iter().enumerate();
    indices.filter_map(move |(axis, index)| Some((axis, counter(index)?)))
}

/// Where a variable is stored in one row of cells after the other, their axis is the one of the
/// innermost loop's counter.
fn note_axis_of_rows(
    kernel: &Kernel,
    (access, value): (&Access, ExprId),
    counters: &[VarId],
    out: &mut BTreeMap<TileId, usize>,
) {
    let (ArrayRef::Tile(tile), ExprKind::Var(var)) = (access.array, &kernel.exprs[value].kind)
    else {
        return;
    };
    let found: Vec<(usize, usize)> = counters_in(kernel, access, counters).collect();
    let innermost = found.iter().max_by_key(|(_, counter)| *counter);
    if let (Some((axis, _)), 2, 2) = (innermost, found.len(), access.indices.len())
        && !counters.contains(var)
    {
        out.insert(tile, *axis);
    }
}

impl Walk<'_> {
    /// A cell of a tile, by its indices.
    pub(in super::super) fn cell_at(&self, tile: TileId, at: &[Poly]) -> Option<Cell> {
        let last = at.len().checked_sub(1)?;
        let axis = self.held.axes.get(&tile).copied().unwrap_or(last).min(last);
        let mut row = at.to_vec();
        let at = row.remove(axis);
        Some(Cell { row, at })
    }

    /// The indices of a cell of a tile.
    pub(in super::super) fn indices_of(&self, tile: TileId, cell: &Cell) -> Vec<Poly> {
        let last = cell.row.len();
        let axis = self.held.axes.get(&tile).copied().unwrap_or(last).min(last);
        let mut at = cell.row.clone();
        at.insert(axis, cell.at.clone());
        at
    }

    /// The rows of which just one work-item each goes through the cells here, and is sure
    /// to; this is the row of its own.
    pub(in super::super) fn scanned_rows(&mut self, row: &[Poly]) -> Option<Vec<Rows>> {
        let (rows, unless) = self.rows_scanned_unless(row)?;
        unless.is_empty().then_some(rows)
    }

    /// The same, unless one of these holds, which the block agrees on.
    pub(in super::super) fn rows_scanned_unless(
        &mut self,
        row: &[Poly],
    ) -> Option<(Vec<Rows>, Vec<Formula>)> {
        let (kernel, axes) = (self.kernel, self.block.clone()?);
        let is_free = |axis: Unknown| row.iter().any(|coordinate| single(coordinate) == Some(axis));
        let (mut item, mut ends) = (BTreeMap::new(), BTreeMap::new());
        for (axis, (_, symbol)) in kernel.block.iter().flatten().zip(&axes) {
            let extent = self.index(axis.extent);
            if is_free(*symbol) {
                ends.insert(*symbol, vec![extent]);
                continue;
            }
            let at = self.fixed_at(*symbol)?;
            let outside = Formula::lt(&at, &Poly::default()).or(Formula::le(&extent, &at));
            if !self.is_never(&outside) {
                return None;
            }
            item.insert(*symbol, at);
        }
        let of_item = |unknown: Unknown| item.get(&unknown).cloned();
        let (mut unless, is_of_block) = (Vec::new(), self.are_loops_of_block());
        for (guard, passed) in self.guards.iter().zip(&self.passed_by) {
            let (guard, passed) = (guard.replace(&of_item), passed.replace(&of_item));
            let is_agreed = || [&guard, &passed].into_iter().all(|of| self.is_decided_by_block(of));
            if guard == Formula::True {
                continue;
            }
            if is_of_block && is_agreed() {
                unless.push(passed);
            } else {
                self.bound_rows(&guard, &mut ends)?;
            }
        }
        let rows: Option<_> =
            row.iter().map(|coordinate| self.rows_of(coordinate, &ends)).collect();
        Some((rows?, unless))
    }

    /// Whether a condition comes out one way for all work-items of a block, and it is known how.
    pub(in super::super) fn is_decided_by_block(&self, formula: &Formula) -> bool {
        formula.is_exact() && formula.is_made_of(&|value| self.is_agreed(value))
    }

    /// Takes a condition of who goes through the cells for an end of the rows.
    fn bound_rows(&self, guard: &Formula, ends: &mut BTreeMap<Unknown, Vec<Poly>>) -> Option<()> {
        match guard {
            Formula::True => Some(()),
            Formula::All(parts) => parts.iter().try_for_each(|part| self.bound_rows(part, ends)),
            Formula::AtLeast(room) => {
                let end = |axis: Unknown| room.add(&Poly::unknown(axis)).plus(1);
                let (axis, ends) =
                    ends.iter_mut().find(|(axis, _)| self.is_agreed(&end(**axis)))?;
                ends.push(end(*axis));
                Some(())
            }
            Formula::False | Formula::Unknown | Formula::Zero(_) | Formula::Any(_) => None,
        }
    }

    fn rows_of(&self, coordinate: &Poly, ends: &BTreeMap<Unknown, Vec<Poly>>) -> Option<Rows> {
        if let Some(ends) = single(coordinate).and_then(|axis| ends.get(&axis)) {
            return Some(Rows { from: Poly::default(), ends: ends.clone() });
        }
        let ends = vec![coordinate.plus(1)];
        self.is_agreed(coordinate).then(|| Rows { from: coordinate.clone(), ends })
    }

    /// The total of a row, of which nothing but that is known.
    pub(in super::super) fn row_total(&mut self, totals: &Totals, row: &Poly) -> Poly {
        let is_it = |known: &RowTotal| known.totals.scan == totals.scan && known.row == *row;
        if let Some((symbol, _)) = self.prefixes.row_totals.iter().find(|(_, of)| is_it(of)) {
            return Poly::unknown(*symbol);
        }
        let symbol = self.symbol(Sharing::Private, Some(0), None);
        self.symbols.set_natural(symbol);
        let total = RowTotal { totals: totals.clone(), row: row.clone() };
        self.prefixes.row_totals.insert(symbol, total);
        Poly::unknown(symbol)
    }
}

impl Builder<'_> {
    /// Adds that what a cell of a row holds, and what was counted there, is within the
    /// row's total.
    pub(in super::super) fn part_from_row_totals(&mut self, seen: &[(Unknown, Side)]) {
        let walk = self.walk;
        let totals: Vec<(Unknown, Side)> = self
            .seen
            .iter()
            .filter(|(symbol, _)| walk.prefixes.row_totals.contains_key(symbol))
            .copied()
            .collect();
        for (total, side) in totals {
            let of = &walk.prefixes.row_totals[&total];
            for (symbol, _) in seen.iter().filter(|(_, of)| *of == side) {
                let read = &walk.prefixes.reads[symbol];
                if read.scan != of.totals.scan || read.at.row != [of.row.clone()] {
                    continue;
                }
                let row = self.on(side, &of.row);
                let mut cases = self.outside(read, side);
                cases.extend(of.totals.rows.on(self, side).outside(&row));
                self.part_from((*symbol, read), side, (total, cases));
            }
        }
    }

    /// The cases in which a row is none of the scan's.
    pub(in super::super) fn outside_rows(&mut self, read: &Read, side: Side) -> Vec<Formula> {
        let walk = self.walk;
        let rows = &walk.prefixes.scans[read.scan].rows;
        let mut cases = Vec::new();
        for (rows, coordinate) in rows.iter().zip(&read.at.row) {
            let coordinate = self.on(side, coordinate);
            cases.extend(rows.on(self, side).outside(&coordinate));
        }
        cases
    }
}
