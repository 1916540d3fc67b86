//! Values that are a work-item's lane beside what its warp agrees on.
//!
//! Let `lane` be a work-item's number in its warp, and `q` an integer that its warp agrees on. Of
//! a value that is `lane + 32 * q`, or `32 * q`, where a variable has it, too:
//!
//! - Sums of such values in which at most one has the lane are such, and so is what is left of
//!   one by a multiple of 32, or by a mask that keeps all of the last five bits, or none. Turns
//!   of a range of 32 bits or more are multiples of 32.
//! - `lane + 32 * q < 32 * m` holds where `q < m` does, be they below 0 or not: the warp agrees
//!   on it. So it does on `(lane + 32 * q) >> 5`, which is rounded down, and, where `q` is not
//!   below 0, on `(lane + 32 * q) / 32`.
//! - So a loop from `lane + 32 * q` below `32 * m` in steps of `32 * s` has as many rounds for
//!   all of a warp, in each of which its counter is such a value.

use super::{WARP_TWOS, Warps, begins, is_edge, is_multiple};
use crate::arena::EntityId as _;
use crate::check::interval::literal;
use crate::dtype::DType;
use crate::exchange::WARP_ITEMS;
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, LoopRange, Type, VarId, VarKind};
use crate::op::BinaryOp;

/// What a value is, beside a multiple of a warp's size that the warp agrees on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct Aligned {
    /// The lane, or nothing.
    has_lane: bool,
    /// Whether it is seen not to be below 0.
    is_natural: bool,
}

impl Aligned {
    /// What is known of one of two values.
    pub(in crate::check) fn either(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = (one?, other?);
        let is_natural = one.is_natural && other.is_natural;
        (one.has_lane == other.has_lane).then_some(Self { is_natural, ..one })
    }
}

/// What is known at a place of the text.
pub(in crate::check) struct Known<'a> {
    /// What a variable is.
    pub(in crate::check) var: &'a dyn Fn(VarId) -> Option<Aligned>,
    /// Whether a warp agrees on an expression.
    pub(in crate::check) is_agreed: &'a dyn Fn(ExprId) -> bool,
}

impl Warps<'_> {
    /// What an axis of the block is: the last one, if warps are made of whole rows of it.
    pub(in crate::check) fn aligned_axis(&self, var: VarId) -> Option<Aligned> {
        let axes = self.kernel.block.as_deref().unwrap_or_default();
        let last = axes.last().filter(|axis| axis.var == var)?;
        let is_lane = axes.len() == 1 || is_multiple(self.kernel, last.extent);
        is_lane.then_some(Aligned { has_lane: true, is_natural: true })
    }

    /// Whether a warp agrees on an expression, by what its parts are.
    pub(in crate::check) fn agree_by_lanes(&self, expr: ExprId, known: &Known<'_>) -> bool {
        let kernel = self.kernel;
        let has_lane = |part: ExprId, must_be_natural: bool| {
            let is = |of: Aligned| of.has_lane && (of.is_natural || !must_be_natural);
            self.aligned(part, known).is_some_and(is)
        };
        let starts = |part: ExprId| self.aligned(part, known).is_some_and(|of| !of.has_lane);
        match kernel.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } => {
                (is_multiple(kernel, rhs) || starts(rhs)) && has_lane(lhs, true)
            }
            ExprKind::Binary { op: BinaryOp::Shr, lhs, rhs } => {
                let is_warp = |by: i128| by >= i128::from(WARP_TWOS);
                literal(kernel, rhs).is_some_and(is_warp) && has_lane(lhs, false)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                [(op, lhs, rhs), (op.mirrored(), rhs, lhs)].into_iter().any(|(op, side, limit)| {
                    let (first, last) = begins(op);
                    let is_limit = is_edge(kernel, limit, first, last) || first && starts(limit);
                    is_limit && has_lane(side, false)
                })
            }
            _ => starts(expr),
        }
    }

    /// Of a loop of which a warp runs as many rounds, though each begins at its own place: what
    /// its counter is.
    pub(in crate::check) fn aligned_rounds(
        &self,
        range: &LoopRange,
        known: &Known<'_>,
    ) -> Option<Aligned> {
        let LoopRange::Between { start, end, step: Some(step), .. } = *range else { return None };
        let [start, end, step] = [start, end, step].map(|part| self.aligned(part, known));
        let are_agreed = !end?.has_lane && !step?.has_lane;
        start.filter(|start| start.has_lane && are_agreed)
    }

    /// Of a loop's counter that begins at a multiple, in steps of multiples: what it is.
    pub(in crate::check) fn aligned_counter(
        &self,
        range: &LoopRange,
        known: &Known<'_>,
    ) -> Option<Aligned> {
        let LoopRange::Between { start, step: Some(step), .. } = *range else { return None };
        let (start, step) = (self.aligned(start, known)?, self.aligned(step, known)?);
        (!start.has_lane && !step.has_lane).then_some(start)
    }

    /// What an expression is.
    pub(in crate::check) fn aligned(&self, expr: ExprId, known: &Known<'_>) -> Option<Aligned> {
        let kernel = self.kernel;
        if !has_whole_turns(kernel.exprs[expr].ty) {
            return None;
        }
        if is_multiple(kernel, expr) || literal(kernel, expr) == Some(0) {
            let is_natural = is_named(kernel, expr);
            return Some(Aligned { has_lane: false, is_natural });
        }
        if self.numbers[expr.index()] {
            return Some(Aligned { has_lane: true, is_natural: true });
        }
        match kernel.exprs[expr].kind {
            ExprKind::Var(var) => (known.var)(var),
            ExprKind::Cast(of) => {
                let inner = self.aligned(of, known)?;
                Some(Aligned { is_natural: self.stays(expr, inner.is_natural), ..inner })
            }
            ExprKind::Binary { op, lhs, rhs } => self.made((expr, op), (lhs, rhs), known),
            ExprKind::Literal(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::Uniform(_)
            | ExprKind::InBounds { .. } => None,
        }
    }

    /// What a variable is after a sum or a difference is made of it.
    pub(in crate::check) fn aligned_update(
        &self,
        (var, op, value): (VarId, BinaryOp, ExprId),
        known: &Known<'_>,
    ) -> Option<Aligned> {
        let ty = self.kernel.vars[var].ty;
        let (before, by) = ((known.var)(var)?, self.aligned(value, known)?);
        let is_sum = matches!(op, BinaryOp::Add);
        let may_be = is_sum || matches!(op, BinaryOp::Sub);
        if !may_be || by.has_lane || !has_whole_turns(ty) {
            return None;
        }
        let has_room = ty == Type::Index || self.exact().keeps(var);
        let is_more = is_sum && before.is_natural && by.is_natural;
        Some(Aligned { is_natural: is_unsigned(ty) || has_room && is_more, ..before })
    }

    /// What an operator makes.
    fn made(
        &self,
        (expr, op): (ExprId, BinaryOp),
        (lhs, rhs): (ExprId, ExprId),
        known: &Known<'_>,
    ) -> Option<Aligned> {
        let of = |part: ExprId| self.aligned(part, known);
        let start = |is_natural: bool| Aligned { has_lane: false, is_natural };
        match op {
            BinaryOp::Add => {
                let (lhs, rhs) = (of(lhs)?, of(rhs)?);
                let are_natural = lhs.is_natural && rhs.is_natural;
                self.summed(expr, (lhs.has_lane, rhs.has_lane), are_natural)
            }
            BinaryOp::Sub => {
                let (lhs, rhs) = (of(lhs)?, of(rhs)?);
                let sum = self.summed(expr, (lhs.has_lane, rhs.has_lane), false);
                sum.filter(|_| !rhs.has_lane)
            }
            BinaryOp::Mul => {
                let parts = [(lhs, rhs), (rhs, lhs)].into_iter();
                let mut products = parts.filter_map(|(side, times)| {
                    let side = of(side).filter(|side| !side.has_lane)?;
                    let is_natural = side.is_natural && self.is_natural(times, known);
                    (known.is_agreed)(times).then(|| start(self.stays(expr, is_natural)))
                });
                products.next()
            }
            BinaryOp::Shl => {
                let is_warp = |by: i128| (i128::from(WARP_TWOS)..32).contains(&by);
                let is_shifted = literal(self.kernel, rhs).is_some_and(is_warp);
                (is_shifted && (known.is_agreed)(lhs))
                    .then(|| start(self.stays(expr, self.is_natural(lhs, known))))
            }
            BinaryOp::Rem => {
                let lhs = of(lhs).filter(|lhs| lhs.is_natural)?;
                is_multiple(self.kernel, rhs).then_some(lhs)
            }
            BinaryOp::And => {
                let mask = |part: ExprId| literal(self.kernel, part);
                let (value, mask) = mask(rhs)
                    .map(|mask| (lhs, mask))
                    .or_else(|| mask(lhs).map(|mask| (rhs, mask)))?;
                let is_natural = mask >= 0 || self.is_natural(value, known);
                match mask.rem_euclid(WARP_ITEMS.into()) {
                    0 if (known.is_agreed)(value) => Some(start(is_natural)),
                    0 => of(value).map(|_| start(is_natural)),
                    last if last + 1 == i128::from(WARP_ITEMS) => {
                        of(value).map(|value| Aligned { is_natural, ..value })
                    }
                    _ => None,
                }
            }
            BinaryOp::Div
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => None,
        }
    }

    /// A sum of two values that have the lane or not.
    fn summed(
        &self,
        expr: ExprId,
        (one, other): (bool, bool),
        are_natural: bool,
    ) -> Option<Aligned> {
        let is_natural = self.stays(expr, are_natural);
        (!(one && other)).then_some(Aligned { has_lane: one || other, is_natural })
    }

    /// Whether what is made of naturals, if it is, is one in its type.
    fn stays(&self, expr: ExprId, is_natural: bool) -> bool {
        let node = &self.kernel.exprs[expr];
        // An index has room for its parts, but for those of 64 bits without a sign.
        let has_room = match node.kind {
            ExprKind::Cast(of) => !is_unsigned_long(self.kernel.exprs[of].ty),
            _ => true,
        };
        let keeps = || node.ty == Type::Index && has_room || self.exact().contains(expr);
        is_unsigned(node.ty) || is_natural && keeps()
    }

    /// Whether a number is seen not to be below 0.
    fn is_natural(&self, expr: ExprId, known: &Known<'_>) -> bool {
        is_named(self.kernel, expr)
            || is_unsigned(self.kernel.exprs[expr].ty)
            || self.aligned(expr, known).is_some_and(|of| of.is_natural)
    }
}

/// Whether an expression is a name of a natural, or a literal that is one.
fn is_named(kernel: &Kernel, expr: ExprId) -> bool {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => match kernel.vars[var].kind {
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Grid | VarKind::Block => true,
            VarKind::Scalar(_) | VarKind::Each | VarKind::Loop | VarKind::Let { .. } => false,
        },
        _ => literal(kernel, expr).is_some_and(|number| number >= 0),
    }
}

/// Whether a type is an index, or an integer whose range has whole warps.
fn has_whole_turns(ty: Type) -> bool {
    match ty {
        Type::Index => true,
        Type::Scalar(ElemType::Concrete(dtype)) => {
            dtype.integer_range().is_some() && dtype.size_bytes() >= 4
        }
        Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) => false,
    }
}

fn is_unsigned(ty: Type) -> bool {
    ty.integer_range().is_some_and(|(min, _)| min == 0)
}

/// Whether numbers of a type may not fit into an index.
fn is_unsigned_long(ty: Type) -> bool {
    ty == Type::Scalar(ElemType::Concrete(DType::U64))
}
