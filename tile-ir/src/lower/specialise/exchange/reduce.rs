//! Reductions: the tree of a thread's values, of a warp's threads, of the warps.

use super::super::Specialiser;
use super::super::interval::Interval;
use super::{Body, Exchange, Holds, cell};
use crate::exchange::WARP_ITEMS;
use crate::kernel;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{ExprId, Scope, Stmt, StmtKind, TileId, Ty};

/// As many warps' totals every thread combines by itself: reading them, all at one
/// address, takes less time than a barrier.
const FEW: u32 = 8;

/// Elements of the tile of totals: of so many warps, and of what `FEW` of them make.
pub(super) const fn n_totals(n_warps: u32) -> u32 {
    if n_warps > FEW { n_warps + n_warps.div_ceil(FEW) } else { n_warps }
}

impl Specialiser<'_> {
    pub(super) fn reduction(
        &mut self,
        var: kernel::VarId,
        exchange: &Exchange,
        value: ExprId,
    ) -> Vec<Stmt> {
        let chunks = exchange.chunks;
        let totals = self.exchange_tile(exchange, Holds::Totals);
        let mut body = Body::new();
        let (mut out, values) = self.gather(exchange, value, &mut body);
        let own = self.tree_of_run(exchange, values, &mut body);
        let place = self.place(chunks.number, chunks.n);
        let of_warp = self.warp_tree("part", &place, exchange.op, own, &mut body);
        body.push(self.keep_total(exchange, totals, (place.lane, 0), of_warp));
        out.push(exchange.items(chunks.domain, body));
        out.push(exchange.barrier());
        let n_warps = chunks.n_warps();
        let (first, n) = if n_warps > FEW {
            out.push(self.totals_of_few(exchange, totals, n_warps));
            out.push(exchange.barrier());
            (n_warps, n_warps.div_ceil(FEW))
        } else {
            (0, n_warps)
        };
        let first = self.b.constant(first.into());
        let total = self.tree_of_cells(exchange, totals, first, n);
        let var = self.push_var(var, Ty::Scalar(exchange.dtype), Scope::Block, Interval::ALL);
        out.push(exchange.of_block(StmtKind::Let { var, value: Some(total) }));
        out.push(exchange.barrier());
        out
    }

    /// Stores a warp's total, which lane `of_lane` of it has.
    pub(super) fn keep_total(
        &mut self,
        exchange: &Exchange,
        totals: TileId,
        (lane, of_lane): (ExprId, u32),
        total: ExprId,
    ) -> (StmtKind, Scope) {
        let of_lane = self.b.constant(of_lane.into());
        let is_own = self.comparison(CompareOp::Eq, lane, of_lane);
        let warp = self.offset(BinaryOp::Div, exchange.chunks.number, WARP_ITEMS);
        let store = StmtKind::Store { access: cell(totals, warp), value: total };
        exchange.guarded(is_own, store)
    }

    /// The tree over the values of a chunk, of which only those below the number of
    /// work-items are there.
    fn tree_of_run(&mut self, exchange: &Exchange, values: Vec<ExprId>, body: &mut Body) -> ExprId {
        let first = self.offset(BinaryOp::Mul, exchange.chunks.number, exchange.chunks.run);
        let mut values = values;
        let mut distance = 1;
        while distance < exchange.chunks.run {
            let apart = 2 * distance;
            for left in (0..exchange.chunks.run).step_by(apart as usize) {
                let right = left + distance;
                let [lhs, rhs] = [left, right].map(|place| values[place as usize]);
                let mut value = self.combined(exchange, lhs, rhs);
                if exchange.is_ragged() {
                    let at = self.offset(BinaryOp::Add, first, right);
                    let is_there = self.is_below(at, exchange.n_items);
                    value = self.chosen(exchange, is_there, [value, lhs]);
                }
                values[left as usize] = self.kept(exchange, value, body);
            }
            distance = apart;
        }
        values[0]
    }

    /// Combines `FEW` warps' totals each, and stores them behind those.
    fn totals_of_few(&mut self, exchange: &Exchange, totals: TileId, n_warps: u32) -> Stmt {
        let n = n_warps.div_ceil(FEW);
        let (domain, part) = self.line_of("few", n);
        let first = self.offset(BinaryOp::Mul, part, FEW);
        let to = self.offset(BinaryOp::Add, part, n_warps);
        let rest = n_warps % FEW;
        let mut store = |number: u32| StmtKind::Store {
            access: cell(totals, to),
            value: self.tree_of_cells(exchange, totals, first, number),
        };
        let whole = store(FEW);
        if rest == 0 {
            return exchange.items(domain, vec![(whole, Scope::Thread)]);
        }
        let last = exchange.of_item(store(rest));
        let cond = self.is_below(part, n - 1);
        let either =
            StmtKind::If { cond, then: vec![exchange.of_item(whole)], otherwise: vec![last] };
        exchange.items(domain, vec![(either, Scope::Thread)])
    }

    /// The tree over `n` elements of a tile from `first` on.
    pub(super) fn tree_of_cells(
        &mut self,
        exchange: &Exchange,
        tile: TileId,
        first: ExprId,
        n: u32,
    ) -> ExprId {
        let mut level: Vec<ExprId> = (0..n)
            .map(|place| {
                let index = self.offset(BinaryOp::Add, first, place);
                self.load_cell(exchange, tile, index)
            })
            .collect();
        while level.len() > 1 {
            let pairs = level.chunks(2);
            level = pairs
                .map(|pair| match *pair {
                    [lhs, rhs] => self.combined(exchange, lhs, rhs),
                    _ => pair[0],
                })
                .collect();
        }
        level[0]
    }
}
