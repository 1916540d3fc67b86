//! Tiles in which each work-item's own cell has cells of nothing before it: padded scans by hand.
//!
//! `s[t] = 0; s[t + B] = x;` of a block of `B` work-items makes each own cell that of the
//! work-item's number and `B`, and lets `s[t + B - d]` be read without asking whether somebody is
//! so far before. Let all that a kernel writes in a tile be own cells, at one distance `c` from
//! the number that is no less than there are work-items, and zeros below `c`. Then whatever is
//! found below `c`, at any time, is 0: no own cell lies there. Above, it is as with own cells
//! without a pad ([`super::own_cells`]).
//!
//! # What it rests on
//!
//! - The distance is one number for the launch, and all subscripts of writes are made of the
//!   work-item's coordinates and such numbers alone.
//! - What has never been written is not read: the rule of initialised cells reports that.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::walk::{Value, Walk};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, StmtKind, TileId, VarId, any_stmt,
    any_subexpr, immutable_lets,
};

/// `let`s within `let`s that a subscript is made of.
const MAX_LETS: u32 = 4;

/// A place that writes a tile.
struct Write {
    at: ExprId,
    /// Whether it stores a literal 0.
    is_zero: bool,
}

impl Walk<'_> {
    /// How far behind the work-item's number its own cell of a tile is, if there are zeros in
    /// the cells before all of these.
    pub(in super::super) fn pad_before(&mut self, tile: TileId) -> Option<Poly> {
        let writes = writes_of(self.kernel, tile)?;
        let lets = immutable_lets(&self.kernel.body, self.kernel);
        let (number, count) = self.number_of_items()?;
        let mut distances = Vec::new();
        for Write { at, is_zero } in writes {
            distances.push((self.subscript(at, &lets)?.sub(&number), is_zero));
        }
        let is_launched = |poly: &Poly| {
            poly.unknowns().all(|unknown| {
                let known = self.symbols.get(unknown);
                known.is_some_and(|known| matches!(known.sharing, Sharing::Launch))
            })
        };
        let (distance, _) = distances.iter().find(|(_, is_zero)| !is_zero)?.clone();
        let is_padded = !distance.is_lost()
            && is_launched(&distance)
            && self.is_never(&Formula::lt(&distance, &count));
        let is_it = |(other, is_zero): &(Poly, bool)| {
            *other == distance || *is_zero && *other == Poly::default()
        };
        (is_padded && distances.iter().all(is_it)).then_some(distance)
    }

    /// A subscript that is made of coordinates, sizes and literals.
    fn subscript(&mut self, at: ExprId, lets: &BTreeMap<VarId, ExprId>) -> Option<Poly> {
        let before = self.env.clone();
        let is_known = self.know_lets(at, lets, MAX_LETS);
        let found = if is_known { self.index(at) } else { Poly::lost() };
        self.env = before;
        (!found.is_lost()).then_some(found)
    }

    /// Gives the `let`s that an expression is made of their values; whether these read nothing.
    fn know_lets(&mut self, expr: ExprId, lets: &BTreeMap<VarId, ExprId>, depth: u32) -> bool {
        let mut used = Vec::new();
        let reads = any_subexpr(self.kernel, expr, &mut |kind| {
            if let ExprKind::Var(var) = kind {
                used.push(*var);
            }
            matches!(kind, ExprKind::Load(_) | ExprKind::Uniform(_))
        });
        let Some(depth) = depth.checked_sub(1) else { return false };
        !reads
            && used.into_iter().all(|var| {
                let Some(init) = lets.get(&var) else { return self.env.contains_key(&var) };
                let is_known = self.know_lets(*init, lets, depth);
                let value = if is_known { self.value(*init) } else { Value::Other };
                self.env.insert(var, value);
                is_known
            })
    }

    /// What is found at a subscript of a tile, where `value` is what an own cell would hold
    /// there.
    pub(in super::super) fn padded(&mut self, access: &Access, at: &[Poly], value: Value) -> Value {
        let Some(pad) = self.pad_of_tile(access.array).cloned() else { return value };
        let [at] = at else { return value };
        if self.is_in_point() || at.is_lost() {
            return value;
        }
        let cond = Cond { yes: Formula::le(&pad, at), no: Formula::lt(at, &pad) };
        let here = Formula::All(self.guards.clone());
        let nothing = Value::Int(Poly::default());
        if self.is_never(&here.clone().and(cond.no.clone())) {
            value
        } else if self.is_never(&here.and(cond.yes.clone())) {
            nothing
        } else {
            self.either(&cond, value.clone(), nothing, false).unwrap_or(value)
        }
    }

    /// Whether a write of a tile is one of a zero before all own cells.
    pub(in super::super) fn is_pad(&self, access: &Access, at: &[Poly]) -> bool {
        let [at] = at else { return false };
        self.pad_of_tile(access.array).is_some() && self.own_cells.is_number(at)
    }
}

/// The places that write a tile, if they are plain stores and updates.
fn writes_of(kernel: &Kernel, tile: TileId) -> Option<Vec<Write>> {
    let mut writes = Vec::new();
    let is_other = any_stmt(&kernel.body, &mut |stmt| {
        if stmt.written() != Some(ArrayRef::Tile(tile)) {
            return false;
        }
        let write = plain_write(kernel, stmt);
        let is_plain = write.is_some();
        writes.extend(write);
        !is_plain
    });
    (!is_other).then_some(writes)
}

/// What a plain store or an update writes, at one subscript.
fn plain_write(kernel: &Kernel, stmt: &StmtKind) -> Option<Write> {
    let (access, is_zero) = match stmt {
        StmtKind::Store { access, value } => {
            (access, matches!(kernel.exprs[*value].kind, ExprKind::Literal(Literal::Int(0))))
        }
        StmtKind::Update { place: Place::Element(access), .. } => (access, false),
        _ => return None,
    };
    let [at] = access.indices.as_slice() else { return None };
    Some(Write { at: *at, is_zero })
}
