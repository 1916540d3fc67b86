//! Reach: each block stores whole sectors of rows that begin anywhere, and for
//! that a few elements of the next block's.
//!
//! Where a row of a tensor begins in the middle of a sector, so do the parts of
//! it that the blocks store, and two blocks write each sector between them, one
//! half each. Blocks may run in any order, so a block may as well begin with the
//! first aligned element of each row of its own and end before the next block's
//! first: the tile that the rows come from has as many elements more.
//!
//! ```text
//! items (i, j) of 128 x 64 { s[i, j] = a[by * 128 + i < R, bx * 64 + j < C] }
//! barrier
//! items (j, i) of 64 x 128 { b[bx * 64 + j < C, by * 128 + i < R] = s[i, j] }
//! ```
//!
//! becomes, with stores aligned to 16 elements,
//!
//! ```text
//! items (i, j) of 144 x 64 { s[i, j] = a[by * 128 + i < R, bx * 64 + j < C] }
//! barrier
//! items (j, i) of 64 x 128 {
//!     let shift = -((bx * 64 + j) * R + by * 128) & 15
//!     b[bx * 64 + j < C, by * 128 + (shift + i) < R] = s[shift + i, j]
//! }
//! if by == 0 {
//!     items (j, i) of 64 x 16 {
//!         let shift = -((bx * 64 + j) * R + by * 128) & 15
//!         if i < shift { b[bx * 64 + j < C, by * 128 + i < R] = s[i, j] }
//!     }
//! }
//! ```

use super::align::{Part, part_of};
use super::divisor::Divisors;
use super::place::shared_bytes;
use super::rewrite::same;
use super::rows::{Row, as_items_of, begins_aligned, is_simple, stored_row, with_extent};
use super::touched::Touched;
use crate::config::Config;
use crate::device::DeviceProperties;
use crate::kernel;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Access, DomainId, Expr, ExprId, ExprKind, GridAxis, ItemLayout, Literal, ProgramKernel, Stmt,
    StmtKind, Target, TileId, TileLayout, TileSpace, Ty, VarId,
};

/// Moves the stores of cooperative loops to where rows of tensors are aligned to
/// `config.align_bytes`, where nothing says that they are. Assumes that items are
/// on no threads yet and that every access to global memory has its guards;
/// guarantees that each element is stored once, by one of the blocks.
pub(super) fn reach_over(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &[(kernel::VarId, u32)],
    device: &DeviceProperties,
) {
    if config.align_bytes == 0 {
        return;
    }
    let body = kernel.body.clone();
    let divisors = Divisors::of(&body, divisors);
    for at in (0..body.len()).rev() {
        // What stands before a loop keeps its place when the loop is split.
        let found = Reach::of(kernel, config, &divisors, &body, at);
        if let Some(reach) = found
            && reach.fits(kernel, device)
        {
            reach.apply(kernel);
        }
    }
}

/// A loop that stores rows, and the loops that fill the tiles which it reads.
struct Reach {
    /// Where the loop stands in the body.
    at: usize,
    domain: DomainId,
    row: Row,
    /// The coordinate of the grid along the rows.
    block: VarId,
    filled: Vec<Filled>,
}

/// A tile that reaches over the block's elements, and the loop that fills it.
struct Filled {
    at: usize,
    domain: DomainId,
    /// The loop's axis along the rows.
    axis: u32,
    tile: TileId,
    /// The tile's.
    tile_axis: usize,
}

impl Reach {
    /// The loop at a place of the body, if its stores can be moved.
    fn of(
        kernel: &mut ProgramKernel,
        config: &Config,
        divisors: &Divisors<'_>,
        body: &[Stmt],
        at: usize,
    ) -> Option<Self> {
        let StmtKind::Items { domain, body: items } = &body[at].kind else { return None };
        let domain = *domain;
        let row = stored_row(kernel, config, divisors, domain, items)?;
        if begins_aligned(kernel, divisors, domain, &row) {
            return None;
        }
        let kernel = &*kernel;
        let extent = kernel.domains[domain].axes[row.axis as usize].extent;
        let block = block_along(kernel, divisors, &row, domain, extent)?;
        let along = Along { kernel, divisors, domain, axis: row.axis, extent, block };
        let tiles = along.tiles_read(items)?;
        let is_alone = |target| is_touched_only_at(kernel, target, body, &[at]);
        if tiles.is_empty() || !is_alone(row.access.target) {
            return None;
        }
        // Of one axis each: a tile that is read along both grows in neither.
        let is_once = |tile| tiles.iter().filter(|(other, _)| *other == tile).count() == 1;
        if !tiles.iter().all(|(tile, _)| is_once(*tile)) {
            return None;
        }
        let fills = tiles.into_iter().map(|(tile, tile_axis)| {
            let filled = Filled::of(kernel, divisors, body, at, tile, tile_axis, &along)?;
            let target = Target::Tile(tile);
            is_touched_only_at(kernel, target, body, &[filled.at, at]).then_some(filled)
        });
        let filled = fills.collect::<Option<Vec<_>>>()?;
        Some(Self { at, domain, row, block, filled })
    }

    /// Whether the longer tiles fit a block.
    fn fits(&self, kernel: &ProgramKernel, device: &DeviceProperties) -> bool {
        let more = self.filled.iter().map(|filled| {
            let tile = &kernel.tiles[filled.tile];
            let row = tile.size_bytes() / u64::from(tile.extents[filled.tile_axis]);
            row * u64::from(self.row.elems)
        });
        let all = shared_bytes(kernel) + more.sum::<u64>();
        all <= u64::from(device.shared_bytes_per_block_optin)
    }

    fn apply(self, kernel: &mut ProgramKernel) {
        // One more than is ever needed: the threads' passes over the tile stay whole.
        let more = self.row.elems;
        for filled in &self.filled {
            filled.widen(kernel, more);
        }
        let items = kernel.body[self.at].clone();
        let StmtKind::Items { body, .. } = &items.kind else { return };
        let part = |kernel: &mut ProgramKernel, extent: Option<u32>| {
            let whole = kernel.domains[self.domain].clone();
            let mut domain = match extent {
                Some(extent) => with_extent(&whole, self.row.axis, extent),
                None => whole,
            };
            domain.layout = ItemLayout::one_per_thread(&domain.extents());
            let domain = kernel.domains.push(domain);
            let part = if extent.is_some() { Part::Head(domain) } else { Part::Middle(domain) };
            let body = part_of(kernel, &self.row, self.domain, body, part);
            Stmt { kind: StmtKind::Items { domain, body }, ..items.clone() }
        };
        let (main, head) = (part(kernel, None), part(kernel, Some(more)));
        let ty = kernel.vars[self.block].ty;
        let mut push = |kind, ty| kernel.exprs.push(Expr { kind, ty });
        let lhs = push(ExprKind::Var(self.block), ty);
        let rhs = push(ExprKind::Literal(Literal::Int(0)), ty);
        let cond = push(ExprKind::Compare { op: CompareOp::Eq, lhs, rhs }, Ty::BOOL);
        let kind = StmtKind::If { cond, then: vec![head], otherwise: Vec::new() };
        kernel.body.splice(self.at..=self.at, [main, Stmt { kind, ..items.clone() }]);
    }
}

impl Filled {
    /// The loop before `before` that fills a tile, if it is the only one and gives
    /// as good elements for the next block's part.
    fn of(
        kernel: &ProgramKernel,
        divisors: &Divisors<'_>,
        body: &[Stmt],
        before: usize,
        tile: TileId,
        tile_axis: usize,
        rows: &Along<'_>,
    ) -> Option<Self> {
        let target = Target::Tile(tile);
        let fills = |stmt: &Stmt| Touched::of(std::slice::from_ref(stmt)).arrays.contains(&target);
        let at = body[..before].iter().position(fills)?;
        let StmtKind::Items { domain, body: items } = &body[at].kind else { return None };
        let domain = *domain;
        let mut stores = items.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Store { access, .. } => Some(access),
            _ => None,
        });
        let (Some(stored), None) = (stores.next(), stores.next()) else { return None };
        let ExprKind::Coord { domain: of, axis } = kernel.exprs[stored.indices[tile_axis]].kind
        else {
            return None;
        };
        let extent = kernel.domains[domain].axes.get(axis as usize)?.extent;
        let fits = of == domain
            && domain != kernel.block_domain
            && kernel.domains[domain].projection.is_none()
            && extent == rows.extent
            && kernel.tiles[tile].space == TileSpace::Shared
            && kernel.tiles[tile].extents[tile_axis] == extent
            && items.iter().all(is_simple);
        let along = Along { domain, axis, divisors, ..*rows };
        let read = along.tiles_read(items)?;
        // What it reads of tiles ends with the block's part.
        (fits && read.is_empty() && along.tile_axis(stored) == Some(Some(tile_axis)))
            .then_some(Self { at, domain, axis, tile, tile_axis })
    }

    /// Makes the tile and the loop that fills it longer.
    fn widen(&self, kernel: &mut ProgramKernel, more: u32) {
        let tile = &mut kernel.tiles[self.tile];
        tile.extents[self.tile_axis] += more;
        tile.layout = TileLayout::row_major(&tile.extents);
        let whole = &kernel.domains[self.domain];
        let extent = whole.axes[self.axis as usize].extent + more;
        let mut longer = with_extent(whole, self.axis, extent);
        longer.layout = ItemLayout::one_per_thread(&longer.extents());
        let needed = u32::try_from(longer.n_items()).unwrap_or(u32::MAX);
        kernel.threads = kernel.threads.max(needed);
        let longer = kernel.domains.push(longer);
        let moved = as_items_of(kernel, self.domain, longer);
        let items = kernel.body[self.at].clone();
        let StmtKind::Items { body, .. } = &items.kind else { return };
        let body = moved.stmts(kernel, body);
        kernel.body[self.at].kind = StmtKind::Items { domain: longer, body };
    }
}

/// Whether no statement of the body but these touches an array.
fn is_touched_only_at(kernel: &ProgramKernel, array: Target, body: &[Stmt], at: &[usize]) -> bool {
    body.iter().enumerate().filter(|(n, _)| !at.contains(n)).all(|(_, stmt)| {
        let mut touched = Touched::of(std::slice::from_ref(stmt));
        touched.reads_of(kernel, stmt);
        !touched.arrays.contains(&array)
    })
}

/// The coordinate of the grid of which each block stores `extent` elements of
/// every row, where the blocks together store all of it.
fn block_along(
    kernel: &ProgramKernel,
    divisors: &Divisors<'_>,
    row: &Row,
    domain: DomainId,
    extent: u32,
) -> Option<VarId> {
    let Target::Buffer(buffer) = row.access.target else { return None };
    let last = *row.access.indices.last()?;
    let length = *kernel.buffers[buffer].extents.last()?;
    let covers = |axis: &&GridAxis| {
        let ExprKind::CeilDiv { n, d } = kernel.exprs[axis.extent].kind else { return false };
        kernel.constant(d) == Some(extent.into())
            && same(kernel, uncast(kernel, n), uncast(kernel, length))
    };
    let moves = |axis: &&GridAxis| {
        let block = axis.var;
        let along = Along { kernel, divisors, domain, axis: row.axis, extent, block };
        along.moves(last) == Some(true)
    };
    kernel.grid.iter().filter(covers).find(moves).map(|axis| axis.var)
}

fn uncast(kernel: &ProgramKernel, id: ExprId) -> ExprId {
    match kernel.exprs[id].kind {
        ExprKind::Cast(operand) => uncast(kernel, operand),
        _ => id,
    }
}

/// A direction in which the items of a loop and the blocks of the grid go: an
/// item past the last one is the first of the next block where an expression
/// depends on `block * extent + coordinate` alone.
#[derive(Clone, Copy)]
struct Along<'a> {
    kernel: &'a ProgramKernel,
    divisors: &'a Divisors<'a>,
    domain: DomainId,
    axis: u32,
    extent: u32,
    block: VarId,
}

impl Along<'_> {
    /// Whether an index is a sum with `block * extent + coordinate`, or of neither;
    /// `None` where it is something else of them.
    fn moves(&self, index: ExprId) -> Option<bool> {
        let sum = self.divisors.sum(self.kernel, index);
        let (mut items, mut blocks) = (0, 0);
        for (sign, term) in sum.terms {
            match self.kernel.exprs[term].kind {
                _ if self.is_coord(term) && sign == 1 => items += 1,
                ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs }
                    if sign == 1 && (self.is_pass(lhs, rhs) || self.is_pass(rhs, lhs)) =>
                {
                    blocks += 1;
                }
                _ if self.is_free(term) => {}
                _ => return None,
            }
        }
        (items == blocks && items < 2).then_some(items == 1)
    }

    fn is_coord(&self, id: ExprId) -> bool {
        let coord = ExprKind::Coord { domain: self.domain, axis: self.axis };
        self.kernel.exprs[id].kind == coord
    }

    /// Whether a product is that of the block's coordinate and its extent.
    fn is_pass(&self, block: ExprId, extent: ExprId) -> bool {
        self.kernel.exprs[uncast(self.kernel, block)].kind == ExprKind::Var(self.block)
            && self.kernel.constant(extent) == Some(self.extent.into())
    }

    /// Whether nothing of an expression depends on the block or the coordinate.
    fn is_free(&self, id: ExprId) -> bool {
        let kind = &self.kernel.exprs[id].kind;
        let mut free = match kind {
            ExprKind::Var(var) => {
                *var != self.block
                    && self.divisors.definition(*var).is_none_or(|value| self.is_free(value))
            }
            ExprKind::Coord { .. } => !self.is_coord(id),
            _ => true,
        };
        kind.for_each_operand(&mut |operand| free = free && self.is_free(operand));
        free
    }

    /// The axis of a tile that the coordinate alone is the index of, if there is
    /// one; `None` where the access depends on the direction in another way.
    fn tile_axis(&self, access: &Access) -> Option<Option<usize>> {
        let mut found = None;
        for (number, &index) in access.indices.iter().enumerate() {
            if self.is_coord(index) && found.is_none() {
                found = Some(number);
            } else if !self.is_free(index) {
                return None;
            }
        }
        let is_plain = access.slot.is_none() && !access.is_guarded();
        is_plain.then_some(found)
    }

    /// The tiles that the items read along the direction, with the axis; `None`
    /// where an item past the last one is not one of the next block's.
    fn tiles_read(&self, items: &[Stmt]) -> Option<Vec<(TileId, usize)>> {
        let mut tiles = Vec::new();
        for stmt in items {
            match &stmt.kind {
                StmtKind::Let { value: Some(value), .. } => {
                    // The variable is looked into where it is read.
                    let is_index = self.kernel.exprs[*value].ty.is_index();
                    if !is_index || self.moves(*value).is_none() {
                        self.value(*value, &mut tiles)?;
                    }
                }
                StmtKind::Store { access, value } => {
                    if let Target::Buffer(_) = access.target {
                        self.buffer(access)?;
                    }
                    self.value(*value, &mut tiles)?;
                }
                _ => return None,
            }
        }
        Some(tiles)
    }

    /// An access to global memory: that of an item past the last one must be as
    /// that of the next block, comparison included.
    fn buffer(&self, access: &Access) -> Option<()> {
        for (&index, guard) in access.indices.iter().zip(&access.guards) {
            let moves = self.moves(index)?;
            if moves && !guard.upper {
                return None;
            }
        }
        Some(())
    }

    fn value(&self, id: ExprId, tiles: &mut Vec<(TileId, usize)>) -> Option<()> {
        match &self.kernel.exprs[id].kind {
            ExprKind::Load(access) => match access.target {
                Target::Buffer(buffer) => {
                    let is_read_only = !self.kernel.buffers[buffer].written;
                    is_read_only.then(|| self.buffer(access))?
                }
                Target::Tile(tile) => {
                    if let Some(axis) = self.tile_axis(access)?
                        && !tiles.contains(&(tile, axis))
                    {
                        tiles.push((tile, axis));
                    }
                    Some(())
                }
            },
            ExprKind::InBounds { indices, .. } => {
                indices.iter().try_for_each(|&index| self.moves(index).map(drop))
            }
            ExprKind::Var(var) => match self.divisors.definition(*var) {
                Some(value) => self.value(value, tiles),
                None => (*var != self.block).then_some(()),
            },
            ExprKind::Coord { .. } => (!self.is_coord(id)).then_some(()),
            kind => {
                let mut all = Some(());
                kind.for_each_operand(&mut |operand| {
                    all = all.and_then(|()| self.value(operand, tiles));
                });
                all
            }
        }
    }
}
