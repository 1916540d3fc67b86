//! How far a tile is read: its pad need not be filled.
//!
//! Of `shared s: [f32; 64, 65]` that is read as `s[t, j]` with `j` below 64 the last column is
//! there to spread banks.

use std::collections::BTreeMap;

use crate::check::poly::{Bounds, Poly};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, TileId,
    VarId, VarKind,
};

/// Of tiles, along each axis, below what number all reads stay; none where that is not known, or
/// no less than the extent.
pub(super) type Ends = BTreeMap<TileId, Vec<Option<Poly>>>;

pub(super) fn of(kernel: &Kernel) -> Ends {
    let mut reads =
        Reads { kernel, bounds: Bounds::new(kernel), counters: Vec::new(), accesses: Vec::new() };
    reads.visit(&kernel.body);
    let loads = kernel.exprs.values().filter_map(|expr| match &expr.kind {
        ExprKind::Load(access) => Some(access),
        _ => None,
    });
    reads.accesses.extend(loads);
    let mut ends: Ends = BTreeMap::new();
    for access in std::mem::take(&mut reads.accesses) {
        let ArrayRef::Tile(tile) = access.array else { continue };
        let own: Vec<Option<Poly>> = access.indices.iter().map(|index| reads.end(*index)).collect();
        let known = ends.entry(tile).or_insert_with(|| own.clone());
        for (known, own) in known.iter_mut().zip(own) {
            *known = known.take().zip(own).and_then(|(known, own)| larger(known, own));
        }
    }
    for (tile, ends) in &mut ends {
        for (end, extent) in ends.iter_mut().zip(&kernel.tiles[*tile].extents) {
            let extent = reads.bounds.poly(*extent);
            *end = end.take().filter(|end| *end != extent);
        }
    }
    ends
}

/// The larger of two numbers, where that is known.
fn larger(one: Poly, other: Poly) -> Option<Poly> {
    match (one.as_constant(), other.as_constant()) {
        _ if one == other => Some(one),
        (Some(first), Some(second)) => Some(if first < second { other } else { one }),
        _ => None,
    }
}

struct Reads<'a> {
    kernel: &'a Kernel,
    bounds: Bounds<'a>,
    /// Axes and counters that start at 0.
    counters: Vec<VarId>,
    accesses: Vec<&'a Access>,
}

impl<'a> Reads<'a> {
    fn visit(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Update { place: Place::Element(access), .. }
                | StmtKind::Atomic { access, .. } => self.accesses.push(access),
                StmtKind::Each { axes, .. } => {
                    self.bounds.enter(axes);
                    self.counters.extend(axes.iter().map(|axis| axis.var));
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    if let LoopRange::Between { start, end, .. } = *range
                        && self.kernel.exprs[start].kind == ExprKind::Literal(Literal::Int(0))
                    {
                        let end = self.bounds.poly(end);
                        self.bounds.enter_counter(*var, end);
                        self.counters.push(*var);
                    }
                }
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body));
        }
    }

    /// What an index stays below, if tile parameters and numbers say it.
    fn end(&mut self, index: ExprId) -> Option<Poly> {
        let index = self.bounds.poly(index);
        if let Some(value) = index.as_constant() {
            return Some(Poly::constant(value + 1));
        }
        let end = match index.as_var() {
            Some(var) => self.bounds.extent(var).cloned(),
            None => self.end_of_pair(&index),
        };
        end.filter(|end| end.is_made_of(&|var| self.is_size(var)))
    }

    /// `outer * n + inner` with `inner` in 0..n.
    fn end_of_pair(&self, index: &Poly) -> Option<Poly> {
        let axes = self.kernel.block.iter().flatten().map(|axis| axis.var);
        let all: Vec<VarId> =
            axes.chain(self.counters.iter().copied()).filter(|var| index.mentions(*var)).collect();
        let [one, other] = all[..] else { return None };
        [(one, other), (other, one)].into_iter().find_map(|(outer, inner)| {
            let n = self.bounds.extent(inner)?;
            let value = Poly::var(outer).mul(n).add(&Poly::var(inner));
            (*index == value).then(|| Some(self.bounds.extent(outer)?.mul(n)))?
        })
    }

    fn is_size(&self, var: VarId) -> bool {
        matches!(self.kernel.vars[var].kind, VarKind::TileParam(_))
    }
}
