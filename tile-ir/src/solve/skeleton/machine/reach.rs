//! How far an index goes that loaded data decides.
//!
//! `s[ind[i] & 31]` is one of 32 cells whatever is loaded, and so is `s[k]` under
//! `if k < 32`. What is loaded may be any number of its type; operators make ranges of
//! ranges, and the conditions around, of which both outcomes are run, cut them. They cut
//! what has the same value in the condition and behind it: what is made of `let`s that are
//! given once, of coordinates, counters and sizes, and of elements of tensors that the
//! kernel does not write.

use std::collections::BTreeMap;

use super::super::terms::Term;
use super::super::value::Value;
use super::{Frame, Machine};
use crate::arena::EntityId as _;
use crate::check::interval::{FAR, Range, counted, left_by, range_of};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::op::{BinaryOp, CompareOp, LogicOp, MathFn, UnaryOp};

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 24;

/// A condition that holds, or does not.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Guard {
    pub(super) cond: ExprId,
    pub(super) holds: bool,
    /// Its amount, where that is followed; 0 where it is not known.
    pub(super) amount: Term,
}

impl Guard {
    /// That a condition holds, or does not; `None` where no data decides it.
    pub(in super::super) fn of(cond: ExprId, value: Value, holds: bool) -> Option<Self> {
        let amount = value.unknown().unwrap_or(0);
        value.data().map(|_| Self { cond, holds, amount })
    }

    /// The opposite.
    pub(in super::super) fn negated(self) -> Self {
        Self { holds: !self.holds, ..self }
    }
}

/// How a range is asked for.
#[derive(Clone, Copy, Debug)]
struct Asks {
    /// Whether the conditions around cut it.
    cuts: bool,
    /// Whether variables that no launch bounds may be any.
    is_any: bool,
}

impl<'a> Machine<'a> {
    /// Runs what stands under a condition on loaded data.
    pub(in super::super) fn under<T>(
        &mut self,
        guard: Guard,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.guards.push(guard);
        let out = inner(self);
        self.guards.pop();
        out
    }

    /// The same, if there is one.
    pub(in super::super) fn under_some<T>(
        &mut self,
        guard: Option<Guard>,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        match guard {
            Some(guard) => self.under(guard, inner),
            None => inner(self),
        }
    }

    /// The least and the greatest value of each index.
    pub(in super::super) fn reach(&self, frame: &Frame, indices: &[ExprId]) -> Vec<Range> {
        let asks = Asks { cuts: true, is_any: false };
        indices.iter().map(|index| self.range(frame, *index, asks, MAX_DEPTH)).collect()
    }

    /// That of an expression.
    fn range(&self, frame: &Frame, expr: ExprId, asks: Asks, depth: u32) -> Range {
        let is_late = self.late.is_some_and(|late| late.late().is_root(expr));
        let asks = Asks { is_any: asks.is_any || is_late, ..asks };
        let ty = self.kernel.exprs[expr].ty;
        let whole = ty.integer_range().unwrap_or(FAR);
        let Some(depth) = depth.checked_sub(1) else { return whole };
        let made = self.made_range(frame, expr, asks, depth).filter(|made| lies_in(*made, whole));
        let mut range = made.unwrap_or(whole);
        if asks.cuts && self.is_steady(expr, MAX_DEPTH) {
            for guard in &self.guards {
                self.cut(frame, (guard.cond, guard.holds), (expr, asks.is_any), &mut range);
            }
        }
        range
    }

    /// What an expression's operator makes of its operands; nothing where that is not known,
    /// and what may leave the type where it wraps.
    fn made_range(&self, frame: &Frame, expr: ExprId, asks: Asks, depth: u32) -> Option<Range> {
        if !asks.is_any
            && let Some(Some(value)) = self.fixed.get(expr.index())
        {
            return Some(point(value.number(self.kernel.exprs[expr].ty)));
        }
        let of = |part: ExprId| self.range(frame, part, asks, depth);
        match &self.kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(point(*value)),
            ExprKind::Literal(Literal::Bool(value)) => Some(point(i128::from(*value))),
            ExprKind::Var(var) if asks.is_any && self.late.is_some() => {
                self.any_range(frame, *var, asks, depth)
            }
            ExprKind::Var(var) => {
                let value = frame[var.index()];
                let ty = self.kernel.vars[*var].ty;
                if value.is_known() {
                    return is_whole(ty).then(|| point(value.number(ty)));
                }
                let init = *self.plan.lets.get(var)?;
                self.is_steady(init, MAX_DEPTH).then(|| of(init))
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                let (low, high) = of(*operand);
                Some((high.checked_neg()?, low.checked_neg()?))
            }
            ExprKind::Binary { op, lhs, rhs } => binary(*op, of(*lhs), of(*rhs)),
            ExprKind::Cast(operand) => match self.kernel.exprs[*operand].ty {
                Type::BOOL => Some((0, 1)),
                from if is_whole(from) => Some(of(*operand)),
                _ => None,
            },
            ExprKind::Select { then, otherwise, .. } => {
                let (one, two) = (of(*then), of(*otherwise));
                Some((one.0.min(two.0), one.1.max(two.1)))
            }
            ExprKind::Math { func, arg } if func.is_count() => {
                let (min, max) = self.kernel.exprs[*arg].ty.integer_range()?;
                counted(*func, Some(of(*arg)), (max - min).count_ones())
            }
            ExprKind::Math { func: MathFn::Abs, arg } => {
                let (low, high) = of(*arg);
                let most = low.checked_abs()?.max(high.checked_abs()?);
                Some((if low > 0 { low } else { 0 }, most))
            }
            ExprKind::Uniform(operand) => Some(of(*operand)),
            ExprKind::Literal(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { op: UnaryOp::Not, .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => None,
        }
    }

    /// That of a variable that late numbers are made of: one that no launch bounds may be any.
    fn any_range(&self, frame: &Frame, var: VarId, asks: Asks, depth: u32) -> Option<Range> {
        if let Some(init) = self.plan.lets.get(&var) {
            return Some(self.range(frame, *init, asks, depth));
        }
        let any = self.late.and_then(|late| late.range(var));
        let (value, ty) = (frame[var.index()], self.kernel.vars[var].ty);
        any.or_else(|| (value.is_known() && is_whole(ty)).then(|| point(value.number(ty))))
    }

    /// Cuts the range of `expr` to what a condition says of it.
    fn cut(
        &self,
        frame: &Frame,
        (cond, holds): (ExprId, bool),
        (expr, is_any): (ExprId, bool),
        range: &mut Range,
    ) {
        match &self.kernel.exprs[cond].kind {
            ExprKind::Logic { op, lhs, rhs } if holds == (*op == LogicOp::And) => {
                self.cut(frame, (*lhs, holds), (expr, is_any), range);
                self.cut(frame, (*rhs, holds), (expr, is_any), range);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.cut(frame, (*operand, !holds), (expr, is_any), range);
            }
            ExprKind::Var(var) => {
                if let Some(init) = self.plan.lets.get(var) {
                    self.cut(frame, (*init, holds), (expr, is_any), range);
                } else if !holds && let Some(asked) = self.plan.leavers.get(var) {
                    self.cut(frame, (*asked, false), (expr, is_any), range);
                }
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let op = if holds { *op } else { op.negated() };
                for (side, other, op) in [(*lhs, *rhs, op), (*rhs, *lhs, op.mirrored())] {
                    let is_it = self.kernel.is_same(side, expr);
                    if is_it
                        && is_whole(self.kernel.exprs[side].ty)
                        && self.is_steady(other, MAX_DEPTH)
                    {
                        let asks = Asks { cuts: false, is_any };
                        let bound = self.range(frame, other, asks, MAX_DEPTH);
                        *range = compared(*range, op, bound);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an expression has one value wherever a work-item evaluates it in the scope
    /// of its variables.
    fn is_steady(&self, expr: ExprId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let kind = &self.kernel.exprs[expr].kind;
        let is_own = match kind {
            ExprKind::Var(var) => {
                !matches!(self.kernel.vars[*var].kind, VarKind::Let { mutable: true })
            }
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tensor(_) => !self.is_written(access.array),
                ArrayRef::Tile(_) => false,
            },
            _ => true,
        };
        is_own && kind.operands().into_iter().all(|operand| self.is_steady(operand, depth))
    }
}

const fn point(value: i128) -> Range {
    (value, value)
}

const fn lies_in(range: Range, whole: Range) -> bool {
    whole.0 <= range.0 && range.1 <= whole.1
}

/// Whether values of a type are integers.
fn is_whole(ty: Type) -> bool {
    ty == Type::Index || ty.integer_range().is_some()
}

/// What an operator makes of numbers of two ranges, if that is known.
pub(in super::super) fn binary(op: BinaryOp, one: Range, other: Range) -> Option<Range> {
    let natural = |range: Range| range.0 >= 0;
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Min
        | BinaryOp::Max => Some(range_of(op, one, other)),
        BinaryOp::Rem => {
            let (low, high) = left_by(other, !natural(one));
            Some((low.max(one.0.min(0)), high.min(one.1.max(0))))
        }
        BinaryOp::And => {
            let most = [one, other].into_iter().filter(|range| natural(*range));
            Some((0, most.map(|range| range.1).min()?))
        }
        BinaryOp::Or | BinaryOp::Xor if natural(one) && natural(other) => {
            let bits = 128 - one.1.max(other.1).leading_zeros();
            Some((0, 1_i128.checked_shl(bits)?.checked_sub(1)?))
        }
        BinaryOp::Shr if other.0 == other.1 => {
            let by = u32::try_from(other.0).ok().filter(|by| *by < narrowest(one))?;
            Some((one.0 >> by, one.1 >> by))
        }
        BinaryOp::Shl if other.0 == other.1 => {
            let by = u32::try_from(other.0).ok().filter(|by| *by < narrowest(one))?;
            Some((one.0.checked_mul(1 << by)?, one.1.checked_mul(1 << by)?))
        }
        BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => None,
    }
}

/// How many bits the narrowest type has that holds numbers up to some: counts of shifts begin again
/// from 0 beyond that.
const fn narrowest((low, high): Range) -> u32 {
    match (low, high) {
        (-128.., ..=255) => 8,
        (-32_768.., ..=65_535) => 16,
        _ => 32,
    }
}

/// The part of a range that compares so with some number of another one.
fn compared((low, high): Range, op: CompareOp, bound: Range) -> Range {
    match op {
        CompareOp::Lt => (low, high.min(bound.1.saturating_sub(1))),
        CompareOp::Le => (low, high.min(bound.1)),
        CompareOp::Gt => (low.max(bound.0.saturating_add(1)), high),
        CompareOp::Ge => (low.max(bound.0), high),
        CompareOp::Eq => (low.max(bound.0), high.min(bound.1)),
        CompareOp::Ne if bound == (low, low) => (low.saturating_add(1), high),
        CompareOp::Ne if bound == (high, high) => (low, high.saturating_sub(1)),
        CompareOp::Ne => (low, high),
    }
}

/// The flags of jumps behind which a statement list goes on under their negation, each with
/// the condition under which alone it is set: `if k >= n { return; }`.
pub(in super::super) fn leavers(kernel: &Kernel) -> BTreeMap<VarId, ExprId> {
    let mut out = BTreeMap::new();
    let mut times: BTreeMap<VarId, usize> = BTreeMap::new();
    collect_leavers(kernel, &kernel.body, (&mut out, &mut times));
    out.retain(|flag, _| times.get(flag) == Some(&1));
    out
}

fn collect_leavers(
    kernel: &Kernel,
    stmts: &[Stmt],
    (out, times): (&mut BTreeMap<VarId, ExprId>, &mut BTreeMap<VarId, usize>),
) {
    let mut asked = BTreeMap::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                *times.entry(*var).or_default() += 1;
            }
            StmtKind::If { cond, then, otherwise } => {
                if let ExprKind::Unary { op: UnaryOp::Not, operand } = kernel.exprs[*cond].kind
                    && let ExprKind::Var(flag) = kernel.exprs[operand].kind
                    && let Some(left) = asked.get(&flag)
                {
                    out.insert(flag, *left);
                }
                if let Some(Stmt { kind: StmtKind::Assign { var, value }, .. }) = then.last()
                    && kernel.exprs[*value].kind == ExprKind::Literal(Literal::Bool(true))
                    && otherwise.is_empty()
                {
                    asked.insert(*var, *cond);
                }
            }
            _ => {}
        }
        for body in stmt.kind.bodies() {
            collect_leavers(kernel, body, (out, times));
        }
    }
}
