//! Scans: what a thread's values, a warp's threads and the warps before make with each
//! value.

use super::super::Specialiser;
use super::{Body, Exchange, Holds, cell};
use crate::exchange::WARP_ITEMS;
use crate::kernel;
use crate::lower::LowerError;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{ExprId, ExprKind, FragmentId, Scope, Stmt, StmtKind, TileId, Ty};

impl Specialiser<'_> {
    pub(super) fn scan(
        &mut self,
        var: kernel::VarId,
        exchange: &Exchange,
        value: ExprId,
        exclusive: bool,
    ) -> Result<Vec<Stmt>, LowerError> {
        let chunks = exchange.chunks;
        let totals = (chunks.n_warps() > 1).then(|| self.exchange_tile(exchange, Holds::Totals));
        let mut body = Body::new();
        let (mut out, mut values) = self.gather(exchange, value, &mut body);
        self.scan_run(exchange, &mut values, &mut body);
        let place = self.place(chunks.number, chunks.n);
        self.scan_warp(exchange, place.lane, &mut values, &mut body);
        if let (Some(totals), Some(&last)) = (totals, values.last()) {
            // The last warp's, which may have no such lane, is before no other.
            body.push(self.keep_total(exchange, totals, (place.lane, WARP_ITEMS - 1), last));
        }
        let fragment = self.item_slot(var, Ty::Scalar(exchange.dtype));
        let stays = chunks.in_order && !exclusive;
        if stays {
            let value = values[0];
            body.push((StmtKind::SetFragment { fragment, value }, Scope::Thread));
        } else {
            self.store_run(exchange, &values, &mut body);
        }
        out.push(exchange.items(chunks.domain, body));
        out.push(exchange.barrier());
        if !stays || totals.is_some() {
            let result = self.scan_result(exchange, totals, (fragment, exclusive))?;
            out.push(exchange.items(self.b.kernel.block_domain, result));
            out.push(exchange.barrier());
        }
        Ok(out)
    }

    /// Within a thread's values.
    fn scan_run(&mut self, exchange: &Exchange, values: &mut [ExprId], body: &mut Body) {
        let mut distance = 1;
        while distance < values.len() {
            for place in (0..values.len()).filter(|place| place & distance != 0) {
                let left = values[place / distance * distance - 1];
                let value = self.combined(exchange, left, values[place]);
                values[place] = self.kept(exchange, value, body);
            }
            distance *= 2;
        }
    }

    /// Among the threads of a warp: the last lane of each left half has what the half
    /// makes, and every lane of the right half takes it before its own.
    fn scan_warp(
        &mut self,
        exchange: &Exchange,
        lane: ExprId,
        values: &mut [ExprId],
        body: &mut Body,
    ) {
        let mut distance = 1;
        while distance < exchange.chunks.n.min(WARP_ITEMS) {
            let Some(&last) = values.last() else { return };
            let of_both = self.offset(BinaryOp::Or, lane, 2 * distance - 1);
            let from = self.offset(BinaryOp::Xor, of_both, distance);
            let before = self.shuffle("before", last, from, body);
            let is_right = self.has_bit(lane, distance);
            for value in &mut *values {
                let sum = self.combined(exchange, before, *value);
                let next = self.chosen(exchange, is_right, [sum, *value]);
                *value = self.kept(exchange, next, body);
            }
            distance *= 2;
        }
    }

    /// Stores the values of a chunk's work-items.
    fn store_run(&mut self, exchange: &Exchange, values: &[ExprId], body: &mut Body) {
        let tile = self.exchange_tile(exchange, Holds::Values);
        let first = self.offset(BinaryOp::Mul, exchange.chunks.number, exchange.chunks.run);
        for (place, &value) in (0u32..).zip(values) {
            let index = self.offset(BinaryOp::Add, first, place);
            let store = StmtKind::Store { access: cell(tile, index), value };
            if exchange.is_ragged() {
                let is_there = self.is_below(index, exchange.n_items);
                body.push(exchange.guarded(is_there, store));
            } else {
                body.push((store, Scope::Thread));
            }
        }
    }

    /// Gives each work-item what its warp has made, or of an exclusive scan what the
    /// work-item before has got, after what the warps before make.
    fn scan_result(
        &mut self,
        exchange: &Exchange,
        totals: Option<TileId>,
        (fragment, exclusive): (FragmentId, bool),
    ) -> Result<Body, LowerError> {
        let mut body = Body::new();
        let at =
            if exclusive { self.offset(BinaryOp::Sub, exchange.item, 1) } else { exchange.item };
        let own = if exchange.chunks.in_order && !exclusive {
            self.b.scalar(ExprKind::Fragment(fragment), exchange.dtype)
        } else {
            let tile = self.exchange_tile(exchange, Holds::Values);
            self.load_cell(exchange, tile, at)
        };
        let (sum, read) = self.item_var("sum", Ty::Scalar(exchange.dtype));
        body.push((StmtKind::Let { var: sum, value: Some(own) }, Scope::Thread));
        if let Some(totals) = totals {
            let warp = self.offset(BinaryOp::Div, at, WARP_ITEMS * exchange.chunks.run);
            let mut distance = 1;
            while distance < exchange.chunks.n_warps() {
                let both = self.offset(BinaryOp::Div, warp, distance);
                let end = self.offset(BinaryOp::Mul, both, distance);
                let first = self.offset(BinaryOp::Sub, end, distance);
                let before = self.tree_of_cells(exchange, totals, first, distance);
                let value = self.combined(exchange, before, read);
                let is_right = self.has_bit(warp, distance);
                body.push(exchange.guarded(is_right, StmtKind::Assign { var: sum, value }));
                distance *= 2;
            }
        }
        body.push((StmtKind::SetFragment { fragment, value: read }, Scope::Thread));
        if !exclusive {
            return Ok(body);
        }
        let zero = self.literal(kernel::Literal::Int(0), Some(exchange.dtype))?;
        let zero = (StmtKind::SetFragment { fragment, value: zero }, Scope::Thread);
        let first = self.b.constant(0);
        let cond = self.comparison(CompareOp::Gt, exchange.item, first);
        let then = body.into_iter().map(|(kind, _)| exchange.of_item(kind)).collect();
        let others = StmtKind::If { cond, then, otherwise: Vec::new() };
        Ok(vec![zero, (others, Scope::Thread)])
    }
}
