//! Exchanges among the work-items of a warp: shuffles and ballots, in the block
//! domain's items. A warp's items are a warp's threads.

use super::interval::Interval;
use super::stmt::stmt_at;
use super::{Slot, Specialiser};
use crate::dtype::DType;
use crate::exchange::{ExchangeOp, Reduction, Shuffle, WARP_ITEMS};
use crate::kernel;
use crate::lower::LowerError;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    ExprId, ExprKind, Fragment, FragmentId, Scope, Stmt, StmtKind, Ty, Var, VarId,
};
use crate::span::SpanId;

/// The place of the present one of items that lie on threads in order.
pub(super) struct Place {
    /// Its lane.
    pub(super) lane: ExprId,
    /// How many lanes its warp has.
    n_lanes: ExprId,
    /// The number of lanes of the largest warp.
    most_lanes: u32,
    /// Whether all warps have as many.
    alike: bool,
}

impl Specialiser<'_> {
    /// The statements of an item that give `var` its value. `outer` where the
    /// variable may outlive the items.
    pub(super) fn warp_exchange(
        &mut self,
        var: kernel::VarId,
        op: ExchangeOp,
        (value, lane): (kernel::ExprId, Option<kernel::ExprId>),
        (span, outer): (SpanId, bool),
    ) -> Result<Vec<Stmt>, LowerError> {
        let value = self.expr(value)?;
        let lane = lane.map(|lane| self.expr(lane)).transpose()?;
        let (number, n_items) = (self.item_number(), self.n_items());
        let place = self.place(number, n_items);
        let name = self.kernel.vars[var].name.clone();
        let mut out = Vec::new();
        let result = match (op, lane) {
            (ExchangeOp::Shuffle(how), Some(lane)) => {
                let from = self.source(&place, how, lane);
                self.shuffle(&name, value, from, &mut out)
            }
            (ExchangeOp::WarpReduce(reduction), None) => {
                self.warp_reduction(&name, &place, reduction, value, &mut out)
            }
            (ExchangeOp::Ballot, None) => {
                let ty = Ty::Scalar(DType::U32);
                let (ballot, read) = self.item_var(&name, ty);
                out.push((StmtKind::Ballot { var: ballot, cond: value }, Scope::Warp));
                read
            }
            (ExchangeOp::Reduce(_) | ExchangeOp::Scan { .. }, _)
            | (ExchangeOp::Shuffle(_), None)
            | (ExchangeOp::WarpReduce(_) | ExchangeOp::Ballot, Some(_)) => {
                return Err(self.broken("a block's exchange in items, or one without lane"));
            }
        };
        self.bind(var, result, outer, &mut out);
        Ok(out.into_iter().map(|(kind, scope)| stmt_at(kind, scope, span)).collect())
    }

    /// Of the item of this number among `n_items`.
    pub(super) fn place(&mut self, number: ExprId, n_items: u32) -> Place {
        let warp = self.b.constant(WARP_ITEMS.into());
        let lane = self.b.index_binary(BinaryOp::Rem, number, warp);
        let most_lanes = n_items.min(WARP_ITEMS);
        let alike = n_items <= WARP_ITEMS || n_items.is_multiple_of(WARP_ITEMS);
        let n_lanes = if alike {
            self.b.constant(most_lanes.into())
        } else {
            let first = self.b.index_binary(BinaryOp::Sub, number, lane);
            let all = self.b.constant(n_items.into());
            let left = self.b.index_binary(BinaryOp::Sub, all, first);
            self.b.index_binary(BinaryOp::Min, left, warp)
        };
        Place { lane, n_lanes, most_lanes, alike }
    }

    /// The lane that a shuffle takes from.
    fn source(&mut self, place: &Place, how: Shuffle, given: ExprId) -> ExprId {
        let op = match how {
            Shuffle::At => return given,
            Shuffle::Down => BinaryOp::Add,
            Shuffle::Up => BinaryOp::Sub,
            Shuffle::Xor => BinaryOp::Xor,
        };
        self.b.index_binary(op, place.lane, given)
    }

    /// A variable of the item, and what reads it.
    pub(super) fn item_var(&mut self, name: &str, ty: Ty) -> (VarId, ExprId) {
        let var = self.b.kernel.vars.push(Var { name: name.to_owned(), ty, scope: Scope::Thread });
        let kind = ExprKind::Var(var);
        let read = match ty {
            Ty::Scalar(dtype) => self.b.scalar(kind, dtype),
            Ty::Index(width) => self.b.index_of_width(kind, width, Interval::ALL),
        };
        (var, read)
    }

    pub(super) fn shuffle(
        &mut self,
        name: &str,
        value: ExprId,
        lane: ExprId,
        out: &mut Vec<(StmtKind, Scope)>,
    ) -> ExprId {
        let (var, read) = self.item_var(name, self.b.ty(value));
        out.push((StmtKind::Shuffle { var, value, lane }, Scope::Warp));
        read
    }

    /// What a warp's tree makes, for all its lanes.
    fn warp_reduction(
        &mut self,
        name: &str,
        place: &Place,
        reduction: Reduction,
        value: ExprId,
        out: &mut Vec<(StmtKind, Scope)>,
    ) -> ExprId {
        let (own, value_of_own) = self.item_var(name, self.b.ty(value));
        out.push((StmtKind::Let { var: own, value: Some(value) }, Scope::Thread));
        let total = self.warp_tree(name, place, reduction.binary(), value_of_own, out);
        let first = self.b.constant(0);
        self.shuffle(name, total, first, out)
    }

    /// The tree of [`crate::exchange`], of which lane 0 has the result: after the step of
    /// distance d, lane l has what lanes l to l + 2d - 1 make together if l is a multiple of
    /// 2d, and nothing of use else. `value` is read several times.
    pub(super) fn warp_tree(
        &mut self,
        name: &str,
        place: &Place,
        op: BinaryOp,
        value: ExprId,
        out: &mut Vec<(StmtKind, Scope)>,
    ) -> ExprId {
        let ty = self.b.ty(value);
        let Ty::Scalar(dtype) = ty else { return value };
        let mut partial = value;
        let mut distance = 1;
        while distance < place.most_lanes {
            let by = self.b.constant(distance.into());
            // The sum for the lanes that matter; of the others none is outside.
            let from = self.b.index_binary(BinaryOp::Xor, place.lane, by);
            let other = self.shuffle(name, partial, from, out);
            let combined = ExprKind::Binary { op, lhs: partial, rhs: other };
            let (step, read) = self.item_var(name, ty);
            let mut next = self.b.scalar(combined, dtype);
            if !place.alike || !place.most_lanes.is_power_of_two() {
                let cond = self.comparison(CompareOp::Lt, from, place.n_lanes);
                let kind = ExprKind::Select { cond, then: next, otherwise: partial };
                next = self.b.scalar(kind, dtype);
            }
            out.push((StmtKind::Let { var: step, value: Some(next) }, Scope::Thread));
            partial = read;
            distance *= 2;
        }
        partial
    }

    /// Makes the kernel's variable stand for the result.
    pub(super) fn bind(
        &mut self,
        var: kernel::VarId,
        result: ExprId,
        outer: bool,
        out: &mut Vec<(StmtKind, Scope)>,
    ) {
        let ty = self.b.ty(result);
        if let (false, ExprKind::Var(read)) = (outer, &self.b.kernel.exprs[result].kind) {
            self.slots.insert(var, Slot::Var(*read, Interval::ALL));
            return;
        }
        let fragment = self.item_slot(var, ty);
        out.push((StmtKind::SetFragment { fragment, value: result }, Scope::Thread));
    }

    /// Makes the kernel's variable stand for a value of each work-item, and gives the
    /// fragment that holds it.
    pub(super) fn item_slot(&mut self, var: kernel::VarId, ty: Ty) -> FragmentId {
        let fragment = self.b.kernel.fragments.push(Fragment {
            name: self.kernel.vars[var].name.clone(),
            ty,
            domain: self.b.kernel.block_domain,
            accumulator: false,
        });
        self.slots.insert(var, Slot::Fragment(fragment, Interval::ALL));
        fragment
    }
}
