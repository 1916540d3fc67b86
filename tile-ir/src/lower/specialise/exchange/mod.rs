//! Exchanges among the work-items of a block, in the trees that [`crate::exchange`]
//! states: within a thread, then among the lanes of a warp, then among the warps
//! through a tile that the text does not name.
//!
//! Where the configuration gives each thread one work-item, in order, a thread has its
//! item's value. In any other layout the values go through a tile of their own first, and
//! each thread takes consecutive ones from there, as many for each.
//!
//! The tiles are filled and emptied between barriers of their own, so all exchanges of
//! one type share them, and whatever they stand between is ordered.

mod reduce;
mod scan;

use super::Specialiser;
use super::interval::Interval;
use super::stmt::stmt_at;
use crate::dtype::DType;
use crate::exchange::{ExchangeOp, WARP_ITEMS};
use crate::kernel;
use crate::lower::LowerError;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Access, AxisGuard, Domain, DomainAxis, DomainId, ExprId, ExprKind, ItemLayout, Participants,
    Scope, Stmt, StmtKind, Target, Tile, TileId, TileLayout, TileSpace, Ty,
};
use crate::span::SpanId;

/// What a tile of exchanges holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    /// A value of each work-item.
    Values,
    /// A value of each warp, and what few of those make together.
    Totals,
}

/// An exchange under construction.
struct Exchange {
    op: BinaryOp,
    dtype: DType,
    span: SpanId,
    /// Number of work-items.
    n_items: u32,
    /// The number of the present work-item.
    item: ExprId,
    chunks: Chunks,
}

/// The threads that combine values: each takes consecutive work-items.
#[derive(Clone, Copy)]
struct Chunks {
    /// One point for each thread.
    domain: DomainId,
    /// The number of the present one.
    number: ExprId,
    n: u32,
    /// Work-items of each, a power of two; the last may have fewer.
    run: u32,
    /// Whether the threads are those of the work-items, one of each.
    in_order: bool,
}

impl Chunks {
    /// How many warps they are.
    const fn n_warps(&self) -> u32 {
        self.n.div_ceil(WARP_ITEMS)
    }
}

/// The statements of an item, with their scopes.
type Body = Vec<(StmtKind, Scope)>;

impl Exchange {
    fn of_block(&self, kind: StmtKind) -> Stmt {
        stmt_at(kind, Scope::Block, self.span)
    }

    fn of_item(&self, kind: StmtKind) -> Stmt {
        stmt_at(kind, Scope::Thread, self.span)
    }

    fn items(&self, domain: DomainId, body: Body) -> Stmt {
        let body = body.into_iter().map(|(kind, scope)| stmt_at(kind, scope, self.span)).collect();
        self.of_block(StmtKind::Items { domain, body })
    }

    /// A statement of those items for which the condition holds.
    fn guarded(&self, cond: ExprId, kind: StmtKind) -> (StmtKind, Scope) {
        let then = vec![self.of_item(kind)];
        (StmtKind::If { cond, then, otherwise: Vec::new() }, Scope::Thread)
    }

    fn barrier(&self) -> Stmt {
        self.of_block(StmtKind::Barrier(Participants::Block))
    }

    /// Whether some chunk has fewer work-items than the others.
    fn is_ragged(&self) -> bool {
        !self.n_items.is_multiple_of(self.chunks.run)
    }
}

/// An element of a tile. The text around it keeps the index inside.
fn cell(tile: TileId, index: ExprId) -> Access {
    Access {
        target: Target::Tile(tile),
        slot: None,
        indices: vec![index],
        guards: vec![AxisGuard::NONE],
        pad: None,
        width: 1,
        aligned_elems: 1,
        agreed: false,
        once: false,
    }
}

impl Specialiser<'_> {
    /// The statements, at block scope, that give `var` its value in all
    /// work-items.
    pub(super) fn exchange(
        &mut self,
        var: kernel::VarId,
        op: ExchangeOp,
        value: kernel::ExprId,
        span: SpanId,
    ) -> Result<Vec<Stmt>, LowerError> {
        let value = self.expr(value)?;
        let Ty::Scalar(dtype) = self.b.ty(value) else {
            return Err(self.broken("an exchange of indices"));
        };
        let binary = op.binary().ok_or_else(|| self.broken("an exchange without operator"))?;
        let (item, n_items) = (self.item_number(), self.n_items());
        let chunks = self.chunks(item, n_items);
        let exchange = Exchange { op: binary, dtype, span, n_items, item, chunks };
        match op {
            ExchangeOp::Reduce(_) => Ok(self.reduction(var, &exchange, value)),
            ExchangeOp::Scan { exclusive } => self.scan(var, &exchange, value, exclusive),
            ExchangeOp::WarpReduce(_) | ExchangeOp::Shuffle(_) | ExchangeOp::Ballot => {
                Err(self.broken("a warp's exchange at block scope"))
            }
        }
    }

    /// The threads that combine the values of `n_items` work-items.
    fn chunks(&mut self, item: ExprId, n_items: u32) -> Chunks {
        let domain = self.b.kernel.block_domain;
        if self.config.is_one_per_thread(&self.b.kernel.domains[domain].extents()) {
            return Chunks { domain, number: item, n: n_items, run: 1, in_order: true };
        }
        let threads = self.config.threads.max(1);
        let run = n_items.div_ceil(threads).next_power_of_two();
        let n = n_items.div_ceil(run);
        let (domain, number) = self.line_of("part", n);
        Chunks { domain, number, n, run, in_order: false }
    }

    /// A domain of one axis, and the coordinate of its present point.
    fn line_of(&mut self, name: &str, extent: u32) -> (DomainId, ExprId) {
        let axes = vec![DomainAxis { name: name.to_owned(), extent }];
        let layout = ItemLayout::one_per_thread(&[extent]);
        let domain = self.b.kernel.domains.push(Domain { axes, layout, projection: None });
        let range = Interval { min: 0, max: i128::from(extent.max(1)) - 1 };
        let coord = self.b.index(ExprKind::Coord { domain, axis: 0 }, range);
        (domain, coord)
    }

    /// The tile of this type and content, made where it is first needed.
    fn exchange_tile(&mut self, exchange: &Exchange, holds: Holds) -> TileId {
        let key = (exchange.dtype, holds);
        if let Some(tile) = self.exchange_tiles.get(&key) {
            return *tile;
        }
        let (name, extent) = match holds {
            Holds::Values => ("values", exchange.n_items),
            Holds::Totals => ("totals", reduce::n_totals(exchange.chunks.n_warps())),
        };
        let extents = vec![extent];
        let layout = TileLayout::row_major(&extents);
        let tile = self.b.kernel.tiles.push(Tile {
            name: name.to_owned(),
            space: TileSpace::Shared,
            dtype: exchange.dtype,
            extents,
            layout,
            is_arranged: false,
            buffers: 1,
            offset_bytes: 0,
        });
        self.exchange_tiles.insert(key, tile);
        tile
    }

    /// The number of the present work-item, in row-major order.
    pub(super) fn item_number(&mut self) -> ExprId {
        let domain = self.b.kernel.block_domain;
        let mut number = self.b.constant(0);
        for (axis, extent) in (0u32..).zip(self.b.kernel.domains[domain].extents()) {
            let range = Interval { min: 0, max: i128::from(extent.max(1)) - 1 };
            let coord = self.b.index(ExprKind::Coord { domain, axis }, range);
            let extent = self.b.constant(extent.into());
            let before = self.b.index_binary(BinaryOp::Mul, number, extent);
            number = self.b.index_binary(BinaryOp::Add, before, coord);
        }
        number
    }

    /// The number of work-items.
    pub(super) fn n_items(&self) -> u32 {
        self.b.kernel.domains[self.b.kernel.block_domain].extents().iter().product()
    }

    pub(super) fn comparison(&mut self, op: CompareOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let width = self.b.common_width(&[lhs, rhs], None);
        let (lhs, rhs) = (self.b.widen(lhs, width), self.b.widen(rhs, width));
        self.b.condition(ExprKind::Compare { op, lhs, rhs })
    }

    /// Whether `index` is below a number.
    fn is_below(&mut self, index: ExprId, end: u32) -> ExprId {
        let end = self.b.constant(end.into());
        self.comparison(CompareOp::Lt, index, end)
    }

    /// Whether a bit of an index, which is not negative, is set.
    fn has_bit(&mut self, index: ExprId, bit: u32) -> ExprId {
        let (bit, zero) = (self.b.constant(bit.into()), self.b.constant(0));
        let own = self.b.index_binary(BinaryOp::And, index, bit);
        self.comparison(CompareOp::Ne, own, zero)
    }

    /// `index` and a constant.
    fn offset(&mut self, op: BinaryOp, index: ExprId, by: u32) -> ExprId {
        let by = self.b.constant(by.into());
        self.b.index_binary(op, index, by)
    }

    fn load_cell(&mut self, exchange: &Exchange, tile: TileId, index: ExprId) -> ExprId {
        self.b.scalar(ExprKind::Load(cell(tile, index)), exchange.dtype)
    }

    fn combined(&mut self, exchange: &Exchange, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.b.scalar(ExprKind::Binary { op: exchange.op, lhs, rhs }, exchange.dtype)
    }

    fn chosen(&mut self, exchange: &Exchange, cond: ExprId, [yes, no]: [ExprId; 2]) -> ExprId {
        let kind = ExprKind::Select { cond, then: yes, otherwise: no };
        self.b.scalar(kind, exchange.dtype)
    }

    /// A variable of the item with this value, and what reads it.
    fn kept(&mut self, exchange: &Exchange, value: ExprId, body: &mut Body) -> ExprId {
        let (var, read) = self.item_var("part", Ty::Scalar(exchange.dtype));
        body.push((StmtKind::Let { var, value: Some(value) }, Scope::Thread));
        read
    }

    /// Makes the values of the present chunk's work-items variables: at once where they
    /// are its own, else through the tile of values. Gives what comes before the chunks'
    /// statements.
    fn gather(
        &mut self,
        exchange: &Exchange,
        value: ExprId,
        body: &mut Body,
    ) -> (Vec<Stmt>, Vec<ExprId>) {
        let Chunks { number, run, in_order, .. } = exchange.chunks;
        if in_order {
            return (Vec::new(), vec![self.kept(exchange, value, body)]);
        }
        let tile = self.exchange_tile(exchange, Holds::Values);
        let own = StmtKind::Store { access: cell(tile, exchange.item), value };
        let own = exchange.items(self.b.kernel.block_domain, vec![(own, Scope::Thread)]);
        let first = self.offset(BinaryOp::Mul, number, run);
        let values = (0..run).map(|place| {
            let mut index = self.offset(BinaryOp::Add, first, place);
            if exchange.is_ragged() {
                index = self.offset(BinaryOp::Min, index, exchange.n_items - 1);
            }
            let value = self.load_cell(exchange, tile, index);
            self.kept(exchange, value, body)
        });
        let values = values.collect();
        (vec![own, exchange.barrier()], values)
    }
}
