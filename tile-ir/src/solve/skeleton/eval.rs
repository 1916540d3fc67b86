//! Expressions at concrete sizes.
//!
//! Values are computed as the language defines them ([`crate::semantics`]), with
//! type parameters bound to a type that their bound admits ([`super::types`]).
//! Evaluating an expression enters the accesses it makes.

use std::collections::BTreeSet;

use super::data::constant;
use super::machine::{Frame, Machine, Stop};
use super::terms::{Origin, Term};
use super::value::{Indices, Value};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Source, Type, VarId, VarKind, ceil_div, eval_index_binary,
};
use crate::op::{BinaryOp, LogicOp};
use crate::semantics;
use crate::value::ScalarValue;

/// The number of all threads of a block as one worker.
const EVERY_THREAD: u32 = u32::MAX;

/// `a op b` of indices, where that takes no more than an instruction or two.
#[inline]
pub(super) fn quick(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => Some(a.wrapping_add(b)),
        BinaryOp::Sub => Some(a.wrapping_sub(b)),
        BinaryOp::Mul => Some(a.wrapping_mul(b)),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Div if b > 0 => Some(a / b),
        BinaryOp::Rem if b > 0 => Some(a % b),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => None,
    }
}

impl Machine<'_> {
    /// Enters the accesses that evaluating `expr` makes.
    pub(super) fn touch(&mut self, frame: &Frame, expr: ExprId) -> Result<(), Stop> {
        if !self.plan.touches[expr.index()] {
            return Ok(());
        }
        let kernel = self.kernel;
        match &kernel.exprs[expr].kind {
            ExprKind::Load(access) if let Some(site) = self.plan.loads[expr.index()] => {
                // What it gives is not asked for.
                let indices = self.indices(frame, &access.indices)?;
                self.enter(site, &indices, (frame, &access.indices))?;
            }
            ExprKind::Select { cond, then, otherwise } => {
                let asked = *cond;
                let cond = self.eval(frame, asked)?;
                let (chosen, other) =
                    if cond.is_true() { (then, otherwise) } else { (otherwise, then) };
                let guard = self.guard(asked, cond, cond.is_true());
                self.under_some(guard, |machine| machine.touch(frame, *chosen))?;
                if self.both
                    && let Some(guard) = guard
                {
                    self.under(guard.negated(), |machine| machine.touch(frame, *other))?;
                }
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let asked = *lhs;
                let lhs = self.eval(frame, asked)?;
                let goes_on = *op == LogicOp::And;
                let decided = lhs.is_true() != goes_on;
                if !decided || (self.both && !lhs.is_known()) {
                    let guard = self.guard(asked, lhs, goes_on);
                    self.under_some(guard, |machine| machine.touch(frame, *rhs))?;
                }
            }
            ExprKind::Uniform(operand) => {
                self.by_all(|machine| machine.touch(frame, *operand))?;
            }
            kind @ (ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. }) => {
                for operand in kind.operands() {
                    self.touch(frame, operand)?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates what every thread of the block evaluates. Without a block domain
    /// that is more than the one worker who runs the body.
    fn by_all<T>(&mut self, eval: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let worker = self.now.worker;
        if self.kernel.block.is_none() {
            self.now.worker = EVERY_THREAD;
        }
        let out = eval(self);
        self.now.worker = worker;
        out
    }

    /// The value of `expr`; enters the accesses on the way.
    pub(super) fn eval(&mut self, frame: &Frame, expr: ExprId) -> Result<Value, Stop> {
        match self.number(frame, expr) {
            Some(number) => Ok(Value::index(number)),
            None => {
                let value = self.eval_any(frame, expr)?;
                Ok(self.as_late(expr, value))
            }
        }
    }

    /// The value of arithmetic of indices that no data decides; asked first, because it is most
    /// of what is evaluated.
    fn number(&self, frame: &Frame, expr: ExprId) -> Option<i64> {
        if !self.plan.plain[expr.index()] || self.is_late_in(expr) {
            return None;
        }
        if let Some(Some(value)) = self.fixed.get(expr.index()) {
            return value.known_index();
        }
        match self.kernel.exprs[expr].kind {
            ExprKind::Var(var) => frame[var.index()].known_index(),
            ExprKind::Binary { op, lhs, rhs } => {
                quick(op, self.number(frame, lhs)?, self.number(frame, rhs)?)
            }
            _ => None,
        }
    }

    /// The same of any expression.
    fn eval_any(&mut self, frame: &Frame, expr: ExprId) -> Result<Value, Stop> {
        if let Some(Some(value)) = self.fixed.get(expr.index()) {
            return Ok(*value);
        }
        let kernel = self.kernel;
        let node = &kernel.exprs[expr];
        Ok(match &node.kind {
            ExprKind::Literal(literal) => Value::scalar(constant(*literal, self.dtype(expr))),
            ExprKind::Var(var) => frame[var.index()],
            ExprKind::Load(access) => return self.load(frame, expr, access),
            ExprKind::Unary { op, operand } => {
                let value = self.eval(frame, *operand)?;
                if self.plan.exact[expr.index()] {
                    self.need_exact(expr, -value.number(node.ty), value.data())?;
                }
                let dtype = self.dtype(expr);
                let result = semantics::unary(*op, ScalarValue { dtype, bits: value.bits() });
                let result = result.map_or(value, Value::scalar).made_of(value);
                self.amount_of_unary(result, (*op, expr), value)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(frame, *lhs)?, self.eval(frame, *rhs)?);
                self.has_lessened |= self.plan.differences[expr.index()]
                    && lhs.number(node.ty) < rhs.number(node.ty);
                if self.is_exact(expr)
                    && let Some(number) =
                        eval_index_binary(*op, lhs.number(node.ty), rhs.number(node.ty))
                {
                    self.need_exact(expr, number, lhs.data().or(rhs.data()))?;
                }
                self.binary(*op, node.ty, lhs, rhs)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let sides = [(*lhs, self.eval(frame, *lhs)?), (*rhs, self.eval(frame, *rhs)?)];
                self.compared(frame, (expr, *op), sides)
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let (asked, goes_on) = (*lhs, *op == LogicOp::And);
                let lhs = self.eval(frame, asked)?;
                let guard = self.guard(asked, lhs, goes_on);
                if lhs.is_true() != goes_on {
                    self.note_outcome(expr, !goes_on);
                    if self.both && guard.is_some() {
                        let rhs = self.under_some(guard, |machine| machine.eval(frame, *rhs))?;
                        return Ok(self.amount_of_logic(lhs, *op, [lhs, rhs]));
                    }
                    return Ok(lhs);
                }
                let rhs = self.under_some(guard, |machine| machine.eval(frame, *rhs))?;
                self.note_outcome(expr, rhs.is_true());
                self.amount_of_logic(rhs.chosen(lhs.data()), *op, [lhs, rhs])
            }
            ExprKind::Select { cond, then, otherwise } => {
                let asked = *cond;
                let cond = self.eval(frame, asked)?;
                let (chosen, other) =
                    if cond.is_true() { (then, otherwise) } else { (otherwise, then) };
                let guard = self.guard(asked, cond, cond.is_true());
                let mut left = None;
                if self.both
                    && let Some(guard) = guard
                {
                    left =
                        Some(self.under(guard.negated(), |machine| machine.eval(frame, *other))?);
                }
                let taken = self.under_some(guard, |machine| machine.eval(frame, *chosen))?;
                let Some(left) = left else { return Ok(taken.chosen(cond.data())) };
                let (then, otherwise) = if cond.is_true() { (taken, left) } else { (left, taken) };
                self.amount_of_choice(taken.chosen(cond.data()), expr, [cond, then, otherwise])
            }
            ExprKind::Cast(operand) => {
                let value = self.eval(frame, *operand)?;
                let (from, to) = (self.dtype(*operand), self.dtype(expr));
                // Types that parameters stand for may be others, too.
                if kernel.exprs[*operand].ty == node.ty {
                    return Ok(value);
                }
                let number = || value.number(kernel.exprs[*operand].ty);
                self.has_lessened |= self.plan.differences[expr.index()] && number() < 0;
                if self.is_exact(expr) {
                    let number = number();
                    self.need_exact(expr, number, value.data())?;
                }
                let cast = semantics::cast(ScalarValue { dtype: from, bits: value.bits() }, to);
                let cast = cast.map_or(value, Value::scalar).made_of(value);
                if self.amounts.is_some() {
                    let types = [kernel.exprs[*operand].ty, node.ty];
                    return Ok(self.amount_of_cast(cast, types, value));
                }
                self.sharing(cast, &[value], |parts| Origin::Cast(from, to, parts[0]))
            }
            ExprKind::Uniform(operand) => self.by_all(|machine| machine.eval(frame, *operand))?,
            ExprKind::Math { func, arg } => {
                let dtype = self.dtype(expr);
                let value = self.eval(frame, *arg)?;
                let result = semantics::math(*func, ScalarValue { dtype, bits: value.bits() });
                let result = result.map_or(value, Value::scalar).tainted(value.data());
                self.amount_of_function(result, expr, (value, kernel.exprs[*arg].ty))
            }
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (self.eval(frame, *extent)?, self.eval(frame, *tile)?);
                let count = ceil_div(extent.as_index().into(), tile.as_index().into());
                let count = Value::index(i64::try_from(count).unwrap_or(i64::MAX))
                    .tainted(extent.data().or(tile.data()));
                self.sharing(count, &[extent, tile], |parts| Origin::Function(expr, parts))
            }
            ExprKind::InBounds { tensor, indices } => {
                let indices = self.indices(frame, indices)?;
                let inside = self.flat(ArrayRef::Tensor(*tensor), &indices).is_some();
                let mut data = indices.data();
                for extent in &kernel.tensors[*tensor].extents {
                    data = data.or(self.eval(frame, *extent)?.data());
                }
                self.lies_inside(expr, Value::bool(inside).chosen(data))
            }
        })
    }

    /// `lhs op rhs` at type `ty`.
    pub(super) fn binary(&self, op: BinaryOp, ty: Type, lhs: Value, rhs: Value) -> Value {
        if ty == Type::Index
            && let Some(value) = quick(op, lhs.as_index(), rhs.as_index())
        {
            let value = Value::index(value).made_of(lhs).made_of(rhs);
            return self.with_term_of(value, (op, ty), lhs, rhs);
        }
        let dtype = self.types.of_type(ty);
        let a = ScalarValue { dtype, bits: lhs.bits() };
        let b = ScalarValue { dtype, bits: rhs.bits() };
        let value =
            semantics::binary(op, a, b).map_or(lhs, Value::scalar).made_of(lhs).made_of(rhs);
        self.with_term_of(value, (op, ty), lhs, rhs)
    }

    /// Ends a run in which a variable leaves its type where it is changed, if a launch in which
    /// it may is refused.
    pub(super) fn need_kept(
        &self,
        var: VarId,
        op: BinaryOp,
        (lhs, rhs): (Value, Value),
    ) -> Result<(), Stop> {
        let ty = self.kernel.vars[var].ty;
        let number = match self.plan.kept[var.index()] {
            true => eval_index_binary(op, lhs.number(ty), rhs.number(ty)),
            false => None,
        };
        number.map_or(Ok(()), |number| Self::need_inside(ty, number, lhs.data().or(rhs.data())))
    }

    /// Whether a launch in which a number wraps is refused, as far as this run shows.
    fn is_exact(&self, expr: ExprId) -> bool {
        let is_beside = self.plan.beside[expr.index()] && !self.has_lessened;
        self.plan.exact[expr.index()] || is_beside
    }

    /// Ends a run in which a number that is known leaves its type: such a launch is refused.
    fn need_exact(&self, expr: ExprId, number: i128, data: Option<Source>) -> Result<(), Stop> {
        Self::need_inside(self.kernel.exprs[expr].ty, number, data)
    }

    fn need_inside(ty: Type, number: i128, data: Option<Source>) -> Result<(), Stop> {
        let (min, max) = ty.integer_range().unwrap_or((i64::MIN.into(), i64::MAX.into()));
        let leaves = data.is_none() && !(min..=max).contains(&number);
        if leaves { Err(Stop::Excluded) } else { Ok(()) }
    }

    /// Whether it matters what values have in common.
    fn follows_terms(&self) -> bool {
        self.both || self.shares || self.doubts.is_some()
    }

    /// `value`, which is `lhs op rhs`, with what it shares with all workers.
    fn with_term_of(
        &self,
        value: Value,
        (op, ty): (BinaryOp, Type),
        lhs: Value,
        rhs: Value,
    ) -> Value {
        if !self.follows_terms() || value.is_known() {
            return value;
        }
        if self.amounts.is_some() {
            return self.amount_of_binary(value, (op, ty), [lhs, rhs]);
        }
        let (Some(lhs), Some(rhs)) = (lhs.part(), rhs.part()) else { return value };
        value.with_term(self.terms.of_binary(op, ty, lhs, rhs))
    }

    /// `value`, which is made of `operands`, with what it shares with all workers.
    pub(super) fn sharing(
        &self,
        value: Value,
        operands: &[Value],
        origin: impl FnOnce(Vec<(Term, u64)>) -> Origin,
    ) -> Value {
        if !self.follows_terms() || value.is_known() || self.amounts.is_some() {
            return value;
        }
        let parts: Option<Vec<(Term, u64)>> =
            operands.iter().map(|operand| operand.part()).collect();
        parts.map_or(value, |parts| value.with_term(self.terms.of(origin(parts))))
    }

    /// Values of an access's indices.
    pub(super) fn indices(&mut self, frame: &Frame, exprs: &[ExprId]) -> Result<Indices, Stop> {
        let mut indices = Indices::default();
        for expr in exprs {
            indices.push(self.eval(frame, *expr)?);
        }
        Ok(indices)
    }

    /// Evaluates what these sizes decide alone.
    pub(super) fn fix(&mut self, frame: &Frame) -> Result<(), Stop> {
        let kernel = self.kernel;
        let guarded = if self.only_fills { self.plan.guarded() } else { BTreeSet::new() };
        let mut fixed: Vec<Option<Value>> = Vec::with_capacity(kernel.exprs.len());
        for (id, expr) in kernel.exprs.iter() {
            let of_sizes = match &expr.kind {
                ExprKind::Var(var) => {
                    let kind = kernel.vars[*var].kind;
                    let is_size =
                        matches!(kind, VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_));
                    is_size && frame[var.index()].is_known()
                }
                ExprKind::Load(_) | ExprKind::InBounds { .. } | ExprKind::Uniform(_) => false,
                ExprKind::Literal(_)
                | ExprKind::Unary { .. }
                | ExprKind::Binary { .. }
                | ExprKind::Compare { .. }
                | ExprKind::Logic { .. }
                | ExprKind::Select { .. }
                | ExprKind::Cast(_)
                | ExprKind::Math { .. }
                | ExprKind::Tiles { .. } => expr
                    .kind
                    .operands()
                    .iter()
                    .all(|operand| fixed.get(operand.index()).is_some_and(Option::is_some)),
            };
            // A condition under another one comes out only where it is asked.
            let of_sizes = of_sizes
                && !self.is_late_in(id)
                && !(expr.ty == Type::BOOL && guarded.contains(&id));
            fixed.push(if of_sizes { Some(self.eval(frame, id)?) } else { None });
        }
        self.fixed = fixed;
        Ok(())
    }

    pub(super) fn dtype(&self, expr: ExprId) -> DType {
        self.types.of_type(self.kernel.exprs[expr].ty)
    }
}
