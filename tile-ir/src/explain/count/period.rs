//! After how many iterations of a loop addresses have moved by whole sectors, and by
//! whole words of shared memory.
//!
//! Addresses are steady in the counter (`steady`), or nothing is known.

use std::collections::{BTreeMap, BTreeSet};

use super::Detail;
use super::eval::is_integer;
use super::machine::Machine;
use super::plan::is_memory;
use super::steady::{Steady, divided, either, lcm, remainder};
use crate::analyze::banks::WORD_BYTES;
use crate::analyze::sectors::SECTOR_BYTES;
use crate::arena::EntityId as _;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{
    Access, ExprId, ExprKind, LoopRange, ProgramKernel, Stmt, StmtKind, Swizzle, Target, VarId,
    assigned_vars,
};

/// A counter, and what it grows by in an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) var: VarId,
    pub(super) step: i64,
}

/// How iterations come back to what they were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    /// The iterations after which all accesses lie as before, and until which no outcome
    /// changes but once.
    pub(super) turns: u64,
    /// Whether an outcome may change at all.
    pub(super) decides: bool,
}

/// The period of a body's iterations; `None` where it is not known.
pub(super) fn period_of(machine: &mut Machine<'_>, turn: Turn, body: &[Stmt]) -> Option<Period> {
    let assigned = assigned_vars(body);
    let mut inner = assigned.clone();
    declared_in(body, &mut inner);
    inner.extend(machine.plan.kernel.grid.iter().map(|axis| axis.var));
    let (lets, known) = (BTreeMap::new(), BTreeMap::new());
    let (period, decides) = (1, false);
    let mut look = Look { machine, turn, assigned, inner, lets, known, period, decides };
    look.stmts(body)?;
    Some(Period { turns: u64::try_from(look.period).ok()?, decides: look.decides })
}

struct Look<'m, 'k> {
    machine: &'m mut Machine<'k>,
    turn: Turn,
    assigned: BTreeSet<VarId>,
    /// Variables without a value of their own before an iteration is gone through.
    inner: BTreeSet<VarId>,
    /// What the variables of the body are, so far as they are steady.
    lets: BTreeMap<VarId, Option<Steady>>,
    known: BTreeMap<ExprId, Option<Steady>>,
    period: i128,
    /// Whether a comparison depends on the counter.
    decides: bool,
}

impl Look<'_, '_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Let { var, value: Some(value) } => {
                self.expr(*value)?;
                if self.machine.plan.is_needed(*var) && !self.assigned.contains(var) {
                    let steady = self.steady(*value);
                    self.lets.insert(*var, steady);
                    self.known.clear();
                }
                if self.machine.plan.is_needed(*var) && self.assigned.contains(var) {
                    self.constant(*value)?;
                }
            }
            StmtKind::Assign { var, value } => {
                self.expr(*value)?;
                if self.machine.plan.is_needed(*var) {
                    self.constant(*value)?;
                }
            }
            StmtKind::SetFragment { fragment, value } => {
                self.expr(*value)?;
                if self.machine.plan.is_needed_fragment(*fragment) {
                    self.constant(*value)?;
                }
            }
            StmtKind::Store { access, value } => {
                self.expr(*value)?;
                self.access(access)?;
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                expected.iter().chain([value]).try_for_each(|expr| self.expr(*expr))?;
                self.access(access)?;
            }
            StmtKind::Copy { dst, src, .. } => {
                self.access(dst)?;
                self.access(src)?;
            }
            StmtKind::For { var, range, .. } => {
                let first = match *range {
                    LoopRange::Between { start, end, step, .. } => {
                        self.decision(end)?;
                        self.constant(step)?;
                        start
                    }
                    LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                        self.constant(n)?;
                        n
                    }
                };
                self.decision(first)?;
                let steady = self.steady(first);
                self.lets.insert(*var, steady);
                self.known.clear();
            }
            StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => self.expr(*cond)?,
            StmtKind::Shuffle { value, lane, .. } => {
                self.expr(*value)?;
                self.constant(*lane)?;
            }
            StmtKind::Ballot { cond, .. } => self.expr(*cond)?,
            StmtKind::Let { value: None, .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Items { .. }
            | StmtKind::Assume(_)
            | StmtKind::Barrier(_)
            | StmtKind::WarpBarrier => {}
        }
        stmt.kind.bodies().into_iter().try_for_each(|body| self.stmts(body))
    }

    /// The accesses and comparisons within an expression.
    fn expr(&mut self, id: ExprId) -> Option<()> {
        let kernel = self.machine.plan.kernel;
        let kind = &kernel.exprs[id].kind;
        match kind {
            ExprKind::Load(access) => return self.access(access),
            ExprKind::Compare { lhs, rhs, .. } if is_integer(kernel.exprs[*lhs].ty) => {
                self.decision(*lhs)?;
                self.decision(*rhs)?;
            }
            ExprKind::InBounds { indices, .. } => {
                indices.iter().try_for_each(|index| self.decision(*index))?;
            }
            _ => {}
        }
        let mut operands = Vec::new();
        kind.for_each_operand(&mut |operand| operands.push(operand));
        operands.into_iter().try_for_each(|operand| self.expr(operand))
    }

    /// A value whose order against others decides.
    fn decision(&mut self, id: ExprId) -> Option<()> {
        let steady = self.steady(id)?;
        self.period = lcm(self.period, steady.period)?;
        self.decides |= !steady.is_constant();
        self.expr(id)
    }

    fn constant(&mut self, id: ExprId) -> Option<()> {
        self.steady(id)?.is_constant().then_some(())
    }

    fn access(&mut self, access: &Access) -> Option<()> {
        for (index, guard) in access.indices.iter().zip(&access.guards) {
            if guard.any() {
                self.decision(*index)?;
            }
        }
        access.pad.map_or(Some(()), |pad| self.expr(pad))?;
        let is_placed = match self.machine.detail {
            Detail::All => true,
            Detail::Elems | Detail::Strides => false,
            Detail::Of(_) | Detail::In(_) | Detail::NoAccesses => {
                !self.machine.detail.leaves_out(self.machine.plan.kernel, access.target)
            }
        };
        if !is_placed || !is_memory(self.machine.plan.kernel, access) {
            return access.indices.iter().try_for_each(|index| self.expr(*index));
        }
        let kernel = self.machine.plan.kernel;
        let bytes = i128::from(kernel.element_type(access.target).size_bytes());
        let (strides, slot, unit): (Vec<i128>, i128, u64) = match access.target {
            Target::Buffer(id) => {
                let strides = self.machine.shapes[id.index()].1.iter();
                (strides.map(|&stride| stride.into()).collect(), 0, SECTOR_BYTES)
            }
            Target::Tile(id) => {
                let layout = &kernel.tiles[id].layout;
                let strides = layout.strides.iter().map(|&stride| stride.into()).collect();
                // Moved by whole words, a request finds other banks in the same order; swizzles
                // exchange elements within powers of two.
                let mixed =
                    |swizzle: &Swizzle| (1u64 << (swizzle.source + swizzle.bits)) * bytes as u64;
                let unit = layout.swizzle.as_ref().map_or(1, mixed).next_multiple_of(WORD_BYTES);
                (strides, layout.size_elems.into(), unit)
            }
        };
        let mut sum = Steady::constant();
        let terms = access.indices.iter().copied().zip(strides);
        for (index, stride) in terms.chain(access.slot.map(|index| (index, slot))) {
            let term = self.steady(index)?.scaled(stride);
            sum = sum.with(&term, |a, b| a + b)?;
            self.expr(index)?;
        }
        self.period = lcm(self.period, sum.scaled(bytes).moves_by(unit.into())?)?;
        Some(())
    }

    fn steady(&mut self, id: ExprId) -> Option<Steady> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let found = self.compute(id);
        self.known.insert(id, found.clone());
        found
    }

    fn compute(&mut self, id: ExprId) -> Option<Steady> {
        let kernel = self.machine.plan.kernel;
        let expr = &kernel.exprs[id];
        match &expr.kind {
            // Fragments are set to what does not change.
            ExprKind::Literal(_)
            | ExprKind::Arg(_)
            | ExprKind::Coord { .. }
            | ExprKind::Fragment(_) => Some(Steady::constant()),
            // Unknown it is, and remains.
            ExprKind::Load(_) | ExprKind::Fma { .. } => Some(Steady::constant()),
            ExprKind::Var(var) if *var == self.turn.var => {
                Some(Steady::counter(self.turn.step.into()))
            }
            ExprKind::Var(var) => match self.lets.get(var) {
                Some(steady) => steady.clone(),
                None => Some(Steady::constant()),
            },
            ExprKind::Unary { op, operand } => {
                let operand = self.steady(*operand)?;
                match op {
                    UnaryOp::Neg if expr.ty.is_index() => Some(operand.scaled(-1)),
                    UnaryOp::Neg | UnaryOp::Not => operand.is_constant().then_some(operand),
                }
            }
            ExprKind::Cast(operand) => {
                let integer = is_integer(kernel.exprs[*operand].ty);
                let operand = self.steady(*operand)?;
                (operand.is_constant() || integer && expr.ty.is_index()).then_some(operand)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (left, right) = (self.steady(*lhs)?, self.steady(*rhs)?);
                if left.is_constant() && right.is_constant() {
                    return Some(left);
                }
                if !expr.ty.is_index() {
                    return None;
                }
                self.combined(*op, (*lhs, &left), (*rhs, &right))
            }
            ExprKind::Select { cond, then, otherwise } => {
                self.expr(*cond)?;
                let (then, otherwise) = (self.steady(*then)?, self.steady(*otherwise)?);
                either(&then, &otherwise)
            }
            ExprKind::CeilDiv { n, d } => {
                let (left, right) = (self.steady(*n)?, self.steady(*d)?);
                if left.is_constant() && right.is_constant() {
                    return Some(left);
                }
                self.decision(*n)?;
                let divisor = self.number(*d)?;
                right.is_constant().then(|| divided(&left, divisor)).flatten()
            }
            ExprKind::Compare { .. } | ExprKind::Logic { .. } | ExprKind::InBounds { .. } => {
                // Its outcome is in the trace.
                self.expr(id)?;
                Some(Steady::constant())
            }
            ExprKind::Math { arg, .. } => {
                let arg = self.steady(*arg)?;
                arg.is_constant().then_some(arg)
            }
        }
    }

    /// A number that is the same in all iterations and lanes.
    fn number(&mut self, expr: ExprId) -> Option<i128> {
        let is_open = reads(self.machine.plan.kernel, expr, &self.inner);
        (!is_open).then(|| self.machine.eval(expr).uniform().map(i128::from)).flatten()
    }

    fn combined(
        &mut self,
        op: BinaryOp,
        (lhs, left): (ExprId, &Steady),
        (rhs, right): (ExprId, &Steady),
    ) -> Option<Steady> {
        match op {
            BinaryOp::Add => left.with(right, |a, b| a + b),
            BinaryOp::Sub => left.with(right, |a, b| a - b),
            BinaryOp::Mul if right.is_constant() => Some(left.scaled(self.number(rhs)?)),
            BinaryOp::Mul if left.is_constant() => Some(right.scaled(self.number(lhs)?)),
            BinaryOp::Shl if right.is_constant() => {
                let bits = self.number(rhs).filter(|bits| (0..32).contains(bits))?;
                Some(left.scaled(1 << bits))
            }
            BinaryOp::Div if right.is_constant() => divided(left, self.number(rhs)?),
            BinaryOp::Shr if right.is_constant() => {
                let bits = self.number(rhs).filter(|bits| (0..32).contains(bits))?;
                divided(left, 1 << bits)
            }
            BinaryOp::Rem if right.is_constant() => remainder(left, self.number(rhs)?),
            BinaryOp::And if right.is_constant() => {
                let mask =
                    self.number(rhs).filter(|mask| (mask + 1).count_ones() == 1 && *mask > 0)?;
                remainder(left, mask + 1)
            }
            BinaryOp::Min | BinaryOp::Max => {
                self.decision(lhs)?;
                self.decision(rhs)?;
                either(left, right)
            }
            _ => None,
        }
    }
}

/// Whether an expression reads one of these variables.
fn reads(kernel: &ProgramKernel, expr: ExprId, vars: &BTreeSet<VarId>) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut found = matches!(kind, ExprKind::Var(var) if vars.contains(var));
    kind.for_each_operand(&mut |operand| found = found || reads(kernel, operand, vars));
    found
}

/// The variables that statements declare, and their loops' counters.
pub(super) fn declared_in(stmts: &[Stmt], found: &mut BTreeSet<VarId>) {
    for stmt in stmts {
        found.extend(stmt.kind.declared());
        if let StmtKind::For { var, .. } = stmt.kind {
            found.insert(var);
        }
        stmt.kind.bodies().into_iter().for_each(|body| declared_in(body, found));
    }
}
