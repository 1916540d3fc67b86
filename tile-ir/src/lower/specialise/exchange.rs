//! Exchanges among the work-items of a block: through a tile that the text does
//! not name, in the trees that [`crate::exchange`] states.
//!
//! The tile is filled and emptied between barriers of its own, so all exchanges
//! of one type share it, and whatever they stand between is ordered.

use super::interval::Interval;
use super::stmt::stmt_at;
use super::{Slot, Specialiser};
use crate::dtype::DType;
use crate::exchange::ExchangeOp;
use crate::kernel;
use crate::lower::LowerError;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Access, AxisGuard, Domain, DomainAxis, DomainId, ExprId, ExprKind, Fragment, ItemLayout,
    LoopRange, Participants, Scope, Stmt, StmtKind, Target, Tile, TileId, TileLayout, TileSpace,
    Ty, Unroll, Var, VarId,
};
use crate::span::SpanId;

/// An exchange under construction.
struct Exchange {
    op: BinaryOp,
    dtype: DType,
    span: SpanId,
    /// Number of work-items.
    n_items: u32,
    /// The number of the present work-item.
    item: ExprId,
    tile: TileId,
}

impl Exchange {
    /// An element of the tile. The text around it keeps the index inside.
    fn cell(&self, slot: Option<ExprId>, index: ExprId) -> Access {
        Access {
            target: Target::Tile(self.tile),
            slot,
            indices: vec![index],
            guards: vec![AxisGuard::NONE],
            pad: None,
            width: 1,
            aligned_elems: 1,
            agreed: false,
            once: false,
        }
    }

    fn of_block(&self, kind: StmtKind) -> Stmt {
        stmt_at(kind, Scope::Block, self.span)
    }

    fn of_item(&self, kind: StmtKind) -> Stmt {
        stmt_at(kind, Scope::Thread, self.span)
    }

    fn items(&self, domain: DomainId, body: Vec<StmtKind>) -> Stmt {
        let body = body.into_iter().map(|kind| self.of_item(kind)).collect();
        self.of_block(StmtKind::Items { domain, body })
    }

    fn barrier(&self) -> Stmt {
        self.of_block(StmtKind::Barrier(Participants::Block))
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
        let domain = self.b.kernel.block_domain;
        let n_items = self.b.kernel.domains[domain].extents().iter().product();
        let (name, exclusive) = match op {
            ExchangeOp::Reduce(_) => ("reduction", None),
            ExchangeOp::Scan { exclusive } => ("scan", Some(exclusive)),
            ExchangeOp::WarpReduce(_) | ExchangeOp::Shuffle(_) | ExchangeOp::Ballot => {
                return Err(self.broken("a warp's exchange at block scope"));
            }
        };
        let op_between = op.binary().ok_or_else(|| self.broken("an exchange without operator"))?;
        let tile = self.exchange_tile(name, dtype, n_items, op.n_buffers());
        let item = self.item_number();
        let exchange = Exchange { op: op_between, dtype, span, n_items, item, tile };
        match exclusive {
            None => Ok(self.reduction(var, &exchange, value)),
            Some(exclusive) => self.scan(var, &exchange, value, exclusive),
        }
    }

    /// The tile of this type, made where it is first needed.
    fn exchange_tile(&mut self, name: &str, dtype: DType, n_items: u32, buffers: u32) -> TileId {
        let key = (dtype, buffers);
        if let Some(tile) = self.exchange_tiles.get(&key) {
            return *tile;
        }
        let extents = vec![n_items];
        let layout = TileLayout::row_major(&extents);
        let name = name.to_owned();
        let space = TileSpace::Shared;
        let tile = Tile {
            name,
            space,
            dtype,
            extents,
            layout,
            is_arranged: false,
            buffers,
            offset_bytes: 0,
        };
        let tile = self.b.kernel.tiles.push(tile);
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

    fn reduction(&mut self, var: kernel::VarId, exchange: &Exchange, value: ExprId) -> Vec<Stmt> {
        let own = StmtKind::Store { access: exchange.cell(None, exchange.item), value };
        let mut out = vec![exchange.items(self.b.kernel.block_domain, vec![own])];
        out.push(exchange.barrier());
        if exchange.n_items > 1 {
            out.push(self.reduction_steps(exchange));
        }
        let first = self.b.constant(0);
        let load = ExprKind::Load(exchange.cell(None, first));
        let total = self.b.scalar(load, exchange.dtype);
        let ty = Ty::Scalar(exchange.dtype);
        let var = self.push_var(var, ty, Scope::Block, Interval::ALL);
        out.push(exchange.of_block(StmtKind::Let { var, value: Some(total) }));
        out.push(exchange.barrier());
        out
    }

    /// One step for each level of the tree; pair p of a level with distance d is
    /// the items 2·d·p and 2·d·p + d.
    fn reduction_steps(&mut self, exchange: &Exchange) -> Stmt {
        let n_pairs = exchange.n_items / 2;
        let axis = DomainAxis { name: "pair".to_owned(), extent: n_pairs };
        let layout = ItemLayout::one_per_thread(&[n_pairs]);
        let pairs =
            self.b.kernel.domains.push(Domain { axes: vec![axis], layout, projection: None });
        let range = Interval { min: 0, max: i128::from(n_pairs) - 1 };
        let pair = self.b.index(ExprKind::Coord { domain: pairs, axis: 0 }, range);
        let (counter, distance, levels) = self.levels(exchange);
        let two = self.b.constant(2);
        let apart = self.b.index_binary(BinaryOp::Mul, two, distance);
        let left = self.b.index_binary(BinaryOp::Mul, pair, apart);
        let right = self.b.index_binary(BinaryOp::Add, left, distance);
        let end = self.b.constant(exchange.n_items.into());
        let cond = self.comparison(CompareOp::Lt, right, end);
        let [lhs, rhs] = [left, right]
            .map(|at| self.b.scalar(ExprKind::Load(exchange.cell(None, at)), exchange.dtype));
        let value = self.b.scalar(ExprKind::Binary { op: exchange.op, lhs, rhs }, exchange.dtype);
        let combine = StmtKind::Store { access: exchange.cell(None, left), value };
        let step =
            StmtKind::If { cond, then: vec![exchange.of_item(combine)], otherwise: Vec::new() };
        exchange.of_block(StmtKind::For {
            var: counter,
            range: levels,
            unroll: Unroll::Auto,
            body: vec![exchange.items(pairs, vec![step]), exchange.barrier()],
        })
    }

    /// The levels of a tree: the loop's counter, as a value too, and its range.
    fn levels(&mut self, exchange: &Exchange) -> (VarId, ExprId, LoopRange) {
        let end = self.b.constant(exchange.n_items.into());
        let counter = Var { name: "distance".to_owned(), ty: self.b.ty(end), scope: Scope::Block };
        let counter = self.b.kernel.vars.push(counter);
        let range = Interval { min: 1, max: i128::from(exchange.n_items) - 1 };
        let distance = self.b.index(ExprKind::Var(counter), range);
        (counter, distance, LoopRange::Doubling(end))
    }

    pub(super) fn comparison(&mut self, op: CompareOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let width = self.b.common_width(&[lhs, rhs], None);
        let (lhs, rhs) = (self.b.widen(lhs, width), self.b.widen(rhs, width));
        self.b.condition(ExprKind::Compare { op, lhs, rhs })
    }

    /// Each level reads one of the tile's two buffers and writes the other.
    fn scan(
        &mut self,
        var: kernel::VarId,
        exchange: &Exchange,
        value: ExprId,
        exclusive: bool,
    ) -> Result<Vec<Stmt>, LowerError> {
        let domain = self.b.kernel.block_domain;
        let first = self.b.constant(0);
        let own = StmtKind::Store { access: exchange.cell(Some(first), exchange.item), value };
        let mut out = vec![exchange.items(domain, vec![own]), exchange.barrier()];
        let side = Var { name: "side".to_owned(), ty: Ty::INDEX32, scope: Scope::Block };
        let side = self.b.kernel.vars.push(side);
        out.push(exchange.of_block(StmtKind::Let { var: side, value: Some(first) }));
        let from = self.b.index(ExprKind::Var(side), Interval { min: 0, max: 1 });
        if exchange.n_items > 1 {
            out.push(self.scan_steps(exchange, side, from));
        }
        let result = self.scan_result(var, exchange, from, exclusive)?;
        out.push(exchange.items(domain, result));
        out.push(exchange.barrier());
        Ok(out)
    }

    fn scan_steps(&mut self, exchange: &Exchange, side: VarId, from: ExprId) -> Stmt {
        let (counter, distance, levels) = self.levels(exchange);
        let one = self.b.constant(1);
        let to = self.b.index_binary(BinaryOp::Sub, one, from);
        let item = exchange.item;
        let before = self.b.index_binary(BinaryOp::Sub, item, distance);
        let cond = self.comparison(CompareOp::Ge, item, distance);
        let [lhs, rhs] = [before, item]
            .map(|at| self.b.scalar(ExprKind::Load(exchange.cell(Some(from), at)), exchange.dtype));
        let sum = self.b.scalar(ExprKind::Binary { op: exchange.op, lhs, rhs }, exchange.dtype);
        let write = |value| {
            let access = exchange.cell(Some(to), item);
            vec![exchange.of_item(StmtKind::Store { access, value })]
        };
        let step = StmtKind::If { cond, then: write(sum), otherwise: write(rhs) };
        let swap = exchange.of_block(StmtKind::Assign { var: side, value: to });
        exchange.of_block(StmtKind::For {
            var: counter,
            range: levels,
            unroll: Unroll::Auto,
            body: vec![
                exchange.items(self.b.kernel.block_domain, vec![step]),
                exchange.barrier(),
                swap,
            ],
        })
    }

    /// Takes the result from the buffer `from` into the work-item's variable.
    fn scan_result(
        &mut self,
        var: kernel::VarId,
        exchange: &Exchange,
        from: ExprId,
        exclusive: bool,
    ) -> Result<Vec<StmtKind>, LowerError> {
        let fragment = self.b.kernel.fragments.push(Fragment {
            name: self.kernel.vars[var].name.clone(),
            ty: Ty::Scalar(exchange.dtype),
            domain: self.b.kernel.block_domain,
            accumulator: false,
        });
        self.slots.insert(var, Slot::Fragment(fragment, Interval::ALL));
        let item = exchange.item;
        if !exclusive {
            let load = ExprKind::Load(exchange.cell(Some(from), item));
            let value = self.b.scalar(load, exchange.dtype);
            return Ok(vec![StmtKind::SetFragment { fragment, value }]);
        }
        let zero = self.literal(kernel::Literal::Int(0), Some(exchange.dtype))?;
        let (first, one) = (self.b.constant(0), self.b.constant(1));
        let cond = self.comparison(CompareOp::Gt, item, first);
        let before = self.b.index_binary(BinaryOp::Sub, item, one);
        let load = ExprKind::Load(exchange.cell(Some(from), before));
        let value = self.b.scalar(load, exchange.dtype);
        let take = exchange.of_item(StmtKind::SetFragment { fragment, value });
        Ok(vec![
            StmtKind::SetFragment { fragment, value: zero },
            StmtKind::If { cond, then: vec![take], otherwise: Vec::new() },
        ])
    }
}
