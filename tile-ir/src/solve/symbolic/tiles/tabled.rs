//! Tiles that a block fills by a formula: each work-item its cell, or a cooperative loop all.
//!
//! After `s[t] = f(t);` cell `e` holds `f(e)`, after `s[T - 1 - t] = f(t);` it holds
//! `f(T - 1 - e)`, and so it is with `load s[j] = f(j);`, until somebody writes the tile again
//! ([`super::reread`] counts its versions). What else there is in `f` is the block's. It may
//! divide (`s[t] = (b * 16 + t) / 2;`).
//!
//! # What it rests on
//!
//! - Everybody makes the store for whom conditions of axes and of what the block agrees on hold
//!   (`if t < 16`): no other condition stands around it, no loop, and nobody else has left.
//! - Each coordinate of the cell is one axis of the block, or of the loop, once, plus or minus
//!   what the block agrees on. So there is one who has stored in a cell, which its place gives;
//!   that this one is there and makes the store, and that the cell is one of the tile's, is
//!   proved where it is read.
//! - Who reads what another one stores has a barrier in between, or it is a race: the first
//!   one of a kernel is found by the pair of the store and that read.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use super::reread::Version;
use crate::kernel::{Access, ArrayRef, Axis, ExprId, TileId, VarId};
use crate::op::BinaryOp;

/// What the cells of a tile hold.
#[derive(Clone, Debug)]
struct Table {
    version: Version,
    /// By coordinate of a cell: the axis that it is, with its extent.
    axes: Vec<(Unknown, Poly)>,
    /// By coordinate: what it is without the axis, and whether that is taken off.
    places: Vec<(Poly, bool)>,
    /// What who is at these axes has stored.
    value: Poly,
    /// Who does not store: where one of these holds.
    passed: Vec<Formula>,
}

/// The tables of a kernel, and the axes of the cooperative loop around.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Tables {
    of: BTreeMap<TileId, Table>,
    /// The axes of the loop that is walked, with their extents.
    point: Vec<(Unknown, Poly)>,
    /// Those of all, by their numbers.
    points: BTreeMap<usize, Vec<(Unknown, Poly)>>,
}

impl Walk<'_> {
    /// The axes of the points of a cooperative loop.
    pub(in super::super) fn axes_of_point(&mut self, axes: &[Axis]) -> Vec<(VarId, Unknown)> {
        let extents: Vec<Poly> = axes.iter().map(|axis| self.index(axis.extent)).collect();
        let axes = self.axes(axes, Sharing::Private);
        let point: Vec<_> = axes.iter().map(|(_, axis)| *axis).zip(extents).collect();
        self.held.tables.points.insert(self.eaches, point.clone());
        self.held.tables.point = point;
        axes
    }

    /// The axes of the points of a cooperative loop of this number, with their extents.
    pub(super) fn axes_of_points(&self, each: usize) -> Option<&[(Unknown, Poly)]> {
        self.held.tables.points.get(&each).map(Vec::as_slice)
    }

    /// Notes what has been stored in a tile's cell, where all cells are stored like it.
    pub(in super::super) fn note_table(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_shared = !self.kernel.is_local(access.array);
        let is_once = self.recording && self.is_outside_loops() && is_shared;
        if !is_once || value.is_lost() || at.iter().any(Poly::is_lost) {
            return;
        }
        let axes = self.axes_of_worker();
        let of_axes = |unknown: Unknown| axes.iter().any(|(axis, _)| *axis == unknown);
        let is_agreed = |poly: &Poly| {
            !poly.is_lost() && poly.unknowns().all(|unknown| !self.is_private(unknown))
        };
        let is_known = |of: Unknown| self.is_formula(of, &of_axes);
        let passed_by = self.passed_by.iter().filter(|passed| **passed != Formula::False);
        let passed: Vec<Formula> = passed_by.cloned().collect();
        let mut asked = Vec::new();
        passed.iter().for_each(|passed| passed.collect_unknowns(&mut asked));
        let is_formula = value.unknowns().all(is_known)
            && asked.into_iter().all(|of| of_axes(of) || !self.is_private(of));
        let places: Option<Vec<_>> =
            at.iter().map(|index| place_of(index, &axes, &is_agreed)).collect();
        let Some(places) = places.filter(|_| is_formula) else { return };
        let are_all = axes.len() == places.len()
            && (0..axes.len()).all(|axis| places.iter().any(|(of, ..)| *of == axis));
        if !are_all {
            return;
        }
        let of = places.iter().map(|(axis, ..)| axes[*axis].clone()).collect();
        let places = places.into_iter().map(|(_, rest, is_less)| (rest, is_less)).collect();
        let (version, value) = (self.version(tile), value.clone());
        let table = Table { version, axes: of, places, value, passed };
        self.held.tables.of.insert(tile, table);
    }

    /// What a cell of a tile holds that was filled by a formula.
    pub(in super::super) fn tabled(&mut self, tile: TileId, at: &[Poly]) -> Option<Value> {
        let version = self.version(tile);
        let table =
            self.held.tables.of.get(&tile).filter(|table| table.version == version)?.clone();
        if !self.recording || at.iter().any(Poly::is_lost) {
            return None;
        }
        let extents: Vec<ExprId> = self.kernel.extents(ArrayRef::Tile(tile)).to_vec();
        let mut outside = Vec::new();
        let mut who: BTreeMap<Unknown, Poly> = BTreeMap::new();
        for (index, extent) in at.iter().zip(&extents) {
            let extent = self.index(*extent);
            outside.extend(not_within(index, &extent));
        }
        for ((index, (axis, extent)), (rest, is_less)) in
            at.iter().zip(&table.axes).zip(&table.places)
        {
            let place = if *is_less { rest.sub(index) } else { index.sub(rest) };
            outside.extend(not_within(&place, extent));
            who.insert(*axis, place);
        }
        let at_place = |unknown: Unknown| who.get(&unknown).cloned();
        outside.extend(table.passed.iter().map(|passed| passed.replace(&at_place)));
        if !self.is_none_here(&outside) {
            return None;
        }
        Some(Value::Int(self.placed(&table.value, &who)?))
    }

    /// Whether an unknown is made of axes, and of what the block agrees on, by quotients.
    fn is_formula(&self, of: Unknown, of_axes: &dyn Fn(Unknown) -> bool) -> bool {
        of_axes(of)
            || !self.is_private(of)
            || self.quotient_of(of).is_some_and(|(lhs, rhs)| {
                lhs.unknowns().chain(rhs.unknowns()).all(|part| self.is_formula(part, of_axes))
            })
    }

    /// What a formula is for who is at these places.
    fn placed(&mut self, value: &Poly, who: &BTreeMap<Unknown, Poly>) -> Option<Poly> {
        let mut with = who.clone();
        let unknowns: BTreeSet<Unknown> = value.unknowns().collect();
        for of in unknowns.into_iter().filter(|of| !who.contains_key(of)) {
            let Some((lhs, rhs)) = self.quotient_of(of).filter(|_| self.is_private(of)) else {
                continue;
            };
            let (span, _) = self.symbols.get(of)?.obstacle?;
            let (lhs, rhs) = (self.placed(&lhs, who)?, self.placed(&rhs, who)?);
            with.insert(of, self.quotient(&lhs, &rhs, (span, BinaryOp::Div))?);
        }
        Some(value.replace(&|unknown| with.get(&unknown).cloned()))
    }

    /// The two numbers of which an unknown is the quotient.
    fn quotient_of(&self, of: Unknown) -> Option<(Poly, Poly)> {
        match self.function_of(of)? {
            (Function::Quotient, lhs, rhs) => Some((lhs.clone(), rhs.clone())),
            _ => None,
        }
    }

    /// The axes of who is at work, with their extents: of the block, or of a cooperative loop.
    pub(in super::super) fn axes_of_worker(&mut self) -> Vec<(Unknown, Poly)> {
        if self.is_in_point() {
            return self.held.tables.point.clone();
        }
        let kernel = self.kernel;
        let (axes, symbols) = (kernel.block.iter().flatten(), self.block.clone());
        let symbols = symbols.unwrap_or_default();
        axes.zip(symbols).map(|(axis, (_, symbol))| (symbol, self.index(axis.extent))).collect()
    }
}

/// The axis of which an index is made, what it is without it, and whether the axis is taken
/// off from that.
pub(in super::super) fn place_of(
    index: &Poly,
    axes: &[(Unknown, Poly)],
    is_agreed: &dyn Fn(&Poly) -> bool,
) -> Option<(usize, Poly, bool)> {
    axes.iter().enumerate().find_map(|(number, (axis, _))| {
        let own = Poly::unknown(*axis);
        let ways = [(index.sub(&own), false), (index.add(&own), true)];
        let mut ways = ways.into_iter().filter(|(rest, _)| is_agreed(rest));
        ways.next().map(|(rest, is_less)| (number, rest, is_less))
    })
}

/// The cases in which a value is none of `0..extent`.
pub(in super::super) fn not_within(value: &Poly, extent: &Poly) -> [Formula; 2] {
    [Formula::lt(value, &Poly::default()), Formula::le(extent, value)]
}
