//! Whole: rows that begin anywhere are loaded in whole, aligned vectors.
//!
//! A row of a tensor whose stride is odd begins in the middle of a vector, so that
//! single elements are all that its loads can move: one instruction of the memory
//! pipe each, and one more to store it into a tile. If the rows of the tile are as
//! far from alignment as those of the tensor, an aligned vector of the one is an
//! aligned vector of the other. Then the loop moves the vectors that hold the
//! row's elements, all of them; what of the first and the last belongs to others
//! comes to lie beside the row, where nothing reads it.
//!
//! ```text
//! items (i, j) of 128 x 64 { s[i, j] = a[by * 128 + i < R, bx * 64 + j < C] }
//! barrier
//! ... s[i, j] ...
//! ```
//!
//! becomes, with vectors of 8 elements and rows of the tile 89 elements apart,
//!
//! ```text
//! let lead = (by * 128 * C + bx * 64) & 7
//! let turn = (C - 89) & 7
//! if by * 128 + 127 < R && 0 <= bx * 64 - 7 && bx * 64 + 71 < C {
//!     items (i, j) of 128 x 72 {
//!         let before = (lead + i * (C & 7)) & 7
//!         s[i, 8 + ((lead + i * turn) & 7) + (j - before)] = a[by * 128 + i, bx * 64 + (j - before)]
//!     }
//! } else {
//!     items (i, j) of 128 x 64 {
//!         s[i, 8 + ((lead + i * turn) & 7) + j] = a[by * 128 + i < R, bx * 64 + j < C]
//!     }
//! }
//! barrier
//! ... s[i, 8 + ((lead + i * turn) & 7) + j] ...
//! ```
//!
//! Row `i` of the tile begins at a multiple of 8 elements plus `lead + i * C`, the
//! row of the tensor at `lead + i * C` modulo 8. Its stride is 1 modulo 8 and so
//! tells apart the banks of vectors that lie in a column.

use super::align::either;
use super::distribute::strided;
use super::divisor::Divisors;
use super::interior::{inside, placed_vars};
use super::place::shared_bytes;
use super::rewrite::Replacement;
use super::rows::{Maker, Row, at_first, begins_aligned, coords_of, reads_own, without_vars};
use super::touched::Touched;
use super::vectorise::{elem_bytes, step_of};
use crate::config::Config;
use crate::device::DeviceProperties;
use crate::kernel;
use crate::op::BinaryOp;
use crate::program::{
    Access, AxisGuard, BufferSpace, Domain, DomainId, Expr, ExprId, ExprKind, ProgramKernel, Scope,
    Stmt, StmtKind, Target, TileId, TileLayout, TileSpace, Ty,
};

/// Has cooperative loops load whole vectors, where `config` asks for it and nothing
/// says that rows are aligned. Assumes that guards are those that are needed and
/// that no access is wide yet; guarantees that each tile's element is what it was
/// wherever it is read.
pub(super) fn load_whole_vectors(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &[(kernel::VarId, u32)],
    device: &DeviceProperties,
) {
    if !config.whole_vectors {
        return;
    }
    // What is put before a loop moves those after it.
    for at in (0..kernel.body.len()).rev() {
        let body = kernel.body.clone();
        let divisors = Divisors::of(&body, divisors);
        if let Some(load) = Load::of(kernel, config, &divisors, &body, at)
            && load.fits(kernel, device)
        {
            load.apply(kernel, config);
        }
    }
}

/// A loop that fills a tile with rows of a tensor.
struct Load {
    /// Where it stands in the body.
    at: usize,
    domain: DomainId,
    tile: TileId,
    source: Access,
    /// From one row of the tensor to the next.
    stride: ExprId,
    /// Elements of a vector.
    elems: u32,
}

impl Load {
    /// The loop at a place of the body, if its rows may begin anywhere.
    fn of(
        kernel: &mut ProgramKernel,
        config: &Config,
        divisors: &Divisors<'_>,
        body: &[Stmt],
        at: usize,
    ) -> Option<Self> {
        let StmtKind::Items { domain, body: items } = &body[at].kind else { return None };
        let (last, lets) = items.split_last()?;
        let StmtKind::Store { access: stored, value } = &last.kind else { return None };
        let ExprKind::Load(source) = &kernel.exprs[*value].kind else { return None };
        let (source, domain) = (source.clone(), *domain);
        let source = without_vars(kernel, lets, &source);
        let (Target::Buffer(_), Target::Tile(tile)) = (source.target, stored.target) else {
            return None;
        };
        let elems = config.copy_bytes / elem_bytes(kernel, source.target);
        let stride = row_stride(kernel, divisors, &source, domain)?;
        let row = Row { access: source.clone(), axis: 1, elems };
        let is_let = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Let { value: Some(_), .. });
        let fits = domain != kernel.block_domain
            && lets.iter().all(is_let)
            && kernel.domains[domain].projection.is_none()
            && is_plain_fill(kernel, domain, tile, stored)
            && is_filled_only_at(kernel, tile, body, at)
            && elems > 1
            && kernel.tiles[tile].extents[1].is_multiple_of(elems)
            && !begins_aligned(kernel, divisors, domain, &row);
        fits.then_some(Self { at, domain, tile, source, stride, elems })
    }

    /// Columns of the tile, with those on which the rest of vectors falls.
    fn columns(&self, kernel: &ProgramKernel) -> u32 {
        kernel.tiles[self.tile].extents[1] + 3 * self.elems - 1
    }

    /// From one row of the tile to the next.
    fn pitch(&self, kernel: &ProgramKernel) -> u32 {
        (self.columns(kernel) - 1).next_multiple_of(self.elems) + 1
    }

    fn size_elems(&self, kernel: &ProgramKernel) -> u32 {
        (kernel.tiles[self.tile].extents[0] * self.pitch(kernel)).next_multiple_of(self.elems)
    }

    fn fits(&self, kernel: &ProgramKernel, device: &DeviceProperties) -> bool {
        let tile = &kernel.tiles[self.tile];
        let own = u64::from(self.size_elems(kernel)) * u64::from(tile.dtype.size_bytes());
        let all = shared_bytes(kernel) - tile.size_bytes() + own;
        all <= u64::from(device.shared_bytes_per_block_optin)
    }

    fn apply(self, kernel: &mut ProgramKernel, config: &Config) {
        let items = kernel.body[self.at].clone();
        let columns = self.columns(kernel);
        let layout = TileLayout {
            strides: vec![self.pitch(kernel), 1],
            swizzle: None,
            size_elems: self.size_elems(kernel),
        };
        let (place, lets) = self.place(kernel, layout.strides[0]);
        let vectors = self.vectors(kernel, config, &place, &items);
        let placed = placed_vars(kernel, &[]);
        let inside = inside(kernel, vectors.domain, &vectors.body, &placed);
        if inside.is_guarded {
            return;
        }
        let tile = &mut kernel.tiles[self.tile];
        tile.extents[1] = columns;
        tile.layout = layout;
        tile.is_arranged = true;
        let mut single = items.clone();
        place.move_stores(kernel, &mut single);
        let mut after = kernel.body.split_off(self.at + 1);
        place.move_loads(kernel, &mut after);
        kernel.body.truncate(self.at);
        kernel.body.extend(lets.into_iter().map(|kind| Stmt { kind, ..items.clone() }));
        let kind = StmtKind::Items { domain: vectors.domain, body: inside.body };
        let vectors = vec![Stmt { kind, ..items }];
        kernel.body.extend(either(inside.cond, vectors, &single));
        kernel.body.extend(after);
    }

    /// Where a row of the tile begins, and the variables that say it.
    fn place(&self, kernel: &mut ProgramKernel, pitch: u32) -> (Place, Vec<StmtKind>) {
        let begin = at_first(kernel, self.domain, &self.source, |_| true);
        let mut make = Maker::new(kernel);
        let ty = make.offset_type(&begin);
        let offset = make.offset(&begin, ty);
        let lead = make.modulo(offset, self.elems);
        let lead = make.named("lead", lead, Scope::Block);
        let stride = make.cast(self.stride, ty);
        let pitch = make.literal(pitch.into(), ty);
        let turn = make.binary(BinaryOp::Sub, stride, pitch);
        let turn = make.modulo(turn, self.elems);
        let turn = make.named("turn", turn, Scope::Block);
        (Place { tile: self.tile, elems: self.elems, lead, turn }, make.lets)
    }

    /// The loop over the vectors of the rows, guarded.
    fn vectors(
        &self,
        kernel: &mut ProgramKernel,
        config: &Config,
        place: &Place,
        items: &Stmt,
    ) -> Vectors {
        let domain = self.vector_domain(kernel, config);
        let coords = coords_of(kernel, self.domain);
        let mut make = Maker::new(kernel);
        let ty = make.ty(place.lead);
        let [row, column] =
            [0, 1].map(|axis| make.push(ExprKind::Coord { domain, axis }, Ty::INDEX32));
        let stride = make.cast(self.stride, ty);
        let step = make.modulo(stride, self.elems);
        let before = place.turned(&mut make, row, step);
        let before = make.named("before", before, Scope::Thread);
        let wide = make.cast(column, ty);
        let along = make.binary(BinaryOp::Sub, wide, before);
        let mut moved = Replacement::default();
        for (expr, axis, ty) in coords {
            let coord = make.cast(if axis == 0 { row } else { along }, ty);
            moved.exprs.insert(expr, coord);
        }
        let mut source = moved.access(make.kernel, &self.source);
        source.aligned_elems = self.elems;
        if let Some(guard) = source.guards.last_mut() {
            *guard = AxisGuard::BOTH;
        }
        let dtype = make.kernel.element_type(source.target);
        let begin = place.begin(&mut make, row);
        let begin = make.binary(BinaryOp::Add, begin, along);
        let stored = Access {
            target: Target::Tile(self.tile),
            slot: None,
            indices: vec![row, begin],
            guards: vec![AxisGuard::NONE; 2],
            pad: None,
            width: 1,
            aligned_elems: self.elems,
            agreed: false,
            once: false,
        };
        let value = make.push(ExprKind::Load(source), Ty::Scalar(dtype));
        let mut body = make.lets;
        body.push(StmtKind::Store { access: stored, value });
        let like = match &items.kind {
            StmtKind::Items { body, .. } => body.first().unwrap_or(items),
            _ => items,
        };
        let body = body.into_iter().map(|kind| Stmt { kind, ..like.clone() }).collect();
        Vectors { domain, body }
    }

    fn vector_domain(&self, kernel: &mut ProgramKernel, config: &Config) -> DomainId {
        let mut axes = kernel.domains[self.domain].axes.clone();
        axes[1].extent += self.elems;
        let [rows, columns] = [axes[0].extent, axes[1].extent];
        let threads = whole_passes(rows, columns / self.elems, config.threads.max(1));
        let layout = strided(&[rows, columns], threads, 1, self.elems);
        kernel.domains.push(Domain { axes, layout, projection: None })
    }
}

/// Threads, at most so many, that pass over rows of vectors without a rest: a
/// comparison around each load has it wait for the one before. All of them where
/// that would leave half of them idle.
fn whole_passes(rows: u32, vectors: u32, threads: u32) -> u32 {
    let most = (threads / vectors.max(1)).min(rows);
    let whole = (1..=most).rev().find(|&count| rows.is_multiple_of(count)).unwrap_or(0);
    if 2 * whole > most { whole * vectors } else { threads }
}

struct Vectors {
    domain: DomainId,
    body: Vec<Stmt>,
}

/// From one row to the next of those that a loop of two axes reads: an index of its
/// own counts them and the last one the elements of each; `None` where the access is
/// another.
fn row_stride(
    kernel: &ProgramKernel,
    divisors: &Divisors<'_>,
    source: &Access,
    domain: DomainId,
) -> Option<ExprId> {
    let Target::Buffer(id) = source.target else { return None };
    let buffer = &kernel.buffers[id];
    let (&last, rows) = source.indices.split_last()?;
    let step = |index, axis| step_of(kernel, divisors, index, domain, axis);
    let mut found = None;
    for (number, &index) in rows.iter().enumerate() {
        match (step(index, 0)?, step(index, 1)?) {
            (0, 0) => {}
            (1, 0) if found.is_none() => found = Some(buffer.strides[number]),
            _ => return None,
        }
    }
    let is_unit = kernel.constant(*buffer.strides.last()?) == Some(1);
    let is_row = (step(last, 0), step(last, 1)) == (Some(0), Some(1));
    let may_read_more = buffer.space == BufferSpace::Global && !buffer.written;
    let begins = source.indices.iter().all(|&index| !reads_own(kernel, index));
    (is_unit && is_row && may_read_more && begins && kernel.domains[domain].axes.len() == 2)
        .then_some(found)?
}

/// Whether a loop stores each element of a shared tile of two axes, and has its
/// coordinates for the indices.
fn is_plain_fill(kernel: &ProgramKernel, domain: DomainId, tile: TileId, stored: &Access) -> bool {
    let shared = &kernel.tiles[tile];
    let is_coord = |(axis, &index): (usize, &ExprId)| {
        kernel.exprs[index].kind == ExprKind::Coord { domain, axis: axis as u32 }
    };
    shared.space == TileSpace::Shared
        && shared.buffers == 1
        && shared.extents == kernel.domains[domain].extents()
        && !stored.is_guarded()
        && stored.indices.iter().enumerate().all(is_coord)
}

/// Whether no statement but this one writes a tile, and none before reads it.
fn is_filled_only_at(kernel: &ProgramKernel, tile: TileId, body: &[Stmt], at: usize) -> bool {
    let tile = Target::Tile(tile);
    body.iter().enumerate().filter(|(n, _)| *n != at).all(|(n, stmt)| {
        let mut touched = Touched::of(std::slice::from_ref(stmt));
        if n < at {
            touched.reads_of(kernel, stmt);
        }
        !touched.arrays.contains(&tile)
    })
}

/// Where the rows of a tile begin.
struct Place {
    tile: TileId,
    elems: u32,
    /// Elements by which the first row is off alignment.
    lead: ExprId,
    /// By how many more elements each next row of the tile has to be moved.
    turn: ExprId,
}

impl Place {
    /// `lead + row * step`, modulo the elements of a vector.
    fn turned(&self, make: &mut Maker<'_>, row: ExprId, step: ExprId) -> ExprId {
        let row = make.cast(row, make.ty(self.lead));
        let turns = make.binary(BinaryOp::Mul, row, step);
        let sum = make.binary(BinaryOp::Add, self.lead, turns);
        make.modulo(sum, self.elems)
    }

    /// The column of a row's first element.
    fn begin(&self, make: &mut Maker<'_>, row: ExprId) -> ExprId {
        let turned = self.turned(make, row, self.turn);
        let elems = make.literal(self.elems.into(), make.ty(turned));
        make.binary(BinaryOp::Add, turned, elems)
    }

    /// An access to the tile by the indices of before.
    fn moved(&self, kernel: &mut ProgramKernel, access: &Access) -> Access {
        let mut access = access.clone();
        if let [row, column] = access.indices[..]
            && access.target == Target::Tile(self.tile)
        {
            let mut make = Maker::new(kernel);
            let begin = self.begin(&mut make, row);
            let column = make.cast(column, make.ty(begin));
            access.indices[1] = make.binary(BinaryOp::Add, begin, column);
        }
        access
    }

    fn move_stores(&self, kernel: &mut ProgramKernel, stmt: &mut Stmt) {
        if let Some(access) = stmt.kind.written_accesses_mut() {
            *access = self.moved(kernel, access);
        }
        for body in stmt.kind.bodies_mut() {
            body.iter_mut().for_each(|stmt| self.move_stores(kernel, stmt));
        }
    }

    fn move_loads(&self, kernel: &mut ProgramKernel, stmts: &mut Vec<Stmt>) {
        let tile = Target::Tile(self.tile);
        let loads: Vec<(ExprId, Access, Ty)> = kernel
            .exprs
            .iter()
            .filter_map(|(id, expr)| match &expr.kind {
                ExprKind::Load(access) if access.target == tile => {
                    Some((id, access.clone(), expr.ty))
                }
                _ => None,
            })
            .collect();
        let mut moved = Replacement::default();
        for (id, access, ty) in loads {
            // Indices may hold loads of smaller ids themselves.
            let access = moved.access(kernel, &access);
            let access = self.moved(kernel, &access);
            let load = kernel.exprs.push(Expr { kind: ExprKind::Load(access), ty });
            moved.exprs.insert(id, load);
        }
        *stmts = moved.stmts(kernel, stmts);
    }
}
