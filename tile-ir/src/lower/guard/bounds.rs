//! What an index is never below, and never above.

use std::collections::BTreeMap;

use super::sum::Linear;
use crate::kernel;
use crate::op::{BinaryOp, CompareOp, LogicOp};
use crate::program::{
    ArgId, ArgSource, DomainId, ExprId, ExprKind, Literal, LoopRange, ProgramKernel, Stmt,
    StmtKind, Ty, VarId, assigned_vars,
};

/// Which end of an expression's range is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Most,
}

impl End {
    fn flipped(self) -> Self {
        match self {
            Self::Least => Self::Most,
            Self::Most => Self::Least,
        }
    }
}

/// Ranges of the variables that count: grid coordinates and loop counters, and
/// the definitions of the others.
pub(super) struct Bounds {
    pub(super) counters: BTreeMap<VarId, Counter>,
    pub(super) definitions: BTreeMap<VarId, ExprId>,
    divisors: BTreeMap<ArgId, u32>,
    /// First and last values of items' coordinates under the present conditions. Of
    /// statements alone: an expression may stand under several.
    pub(super) narrowed: BTreeMap<(DomainId, u32), (i128, i128)>,
}

/// A counter's values: from `start` while below `end`.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    start: Option<ExprId>,
    end: ExprId,
    /// The least value where there is no `start`.
    least: i128,
}

impl Bounds {
    pub(super) fn of(kernel: &ProgramKernel, divisors: &[(kernel::VarId, u32)]) -> Self {
        let mut bounds = Self {
            counters: BTreeMap::new(),
            definitions: BTreeMap::new(),
            divisors: BTreeMap::new(),
            narrowed: BTreeMap::new(),
        };
        for (arg, info) in kernel.args.iter() {
            if let ArgSource::Dim(dim) = info.source
                && let Some((_, divisor)) = divisors.iter().find(|(id, _)| *id == dim)
            {
                bounds.divisors.insert(arg, *divisor);
            }
        }
        for axis in &kernel.grid {
            let counter = Counter { start: None, end: axis.extent, least: 0 };
            bounds.counters.insert(axis.var, counter);
        }
        bounds.collect(&kernel.body);
        let assigned = assigned_vars(&kernel.body);
        bounds.definitions.retain(|var, _| !assigned.contains(var));
        bounds
    }

    fn collect(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::For { var, range: LoopRange::Between { start, end, .. }, .. } => {
                    let counter = Counter { start: Some(*start), end: *end, least: 0 };
                    self.counters.insert(*var, counter);
                }
                StmtKind::Let { var, value: Some(value) } => {
                    self.definitions.insert(*var, *value);
                }
                _ => {}
            }
            for body in stmt.kind.bodies() {
                self.collect(body);
            }
        }
    }

    /// First and last value of an item's coordinate.
    pub(super) fn coordinate(
        &self,
        kernel: &ProgramKernel,
        domain: DomainId,
        axis: u32,
    ) -> (i128, i128) {
        let extent = kernel.domains[domain].axes[axis as usize].extent;
        let whole = (0, i128::from(extent) - 1);
        self.narrowed.get(&(domain, axis)).copied().unwrap_or(whole)
    }

    /// Takes a condition as given: comparisons of coordinates with constants.
    pub(super) fn assume(&mut self, kernel: &ProgramKernel, cond: ExprId) {
        match kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.assume(kernel, lhs);
                self.assume(kernel, rhs);
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let ExprKind::Coord { domain, axis } = kernel.exprs[lhs].kind else { return };
                let Some(value) = kernel.constant(rhs) else { return };
                let (first, last) = self.coordinate(kernel, domain, axis);
                let narrowed = match op {
                    CompareOp::Eq => (first.max(value), last.min(value)),
                    CompareOp::Lt => (first, last.min(value.saturating_sub(1))),
                    CompareOp::Le => (first, last.min(value)),
                    CompareOp::Gt => (first.max(value.saturating_add(1)), last),
                    CompareOp::Ge => (first.max(value), last),
                    CompareOp::Ne => (first, last),
                };
                self.narrowed.insert((domain, axis), narrowed);
            }
            _ => {}
        }
    }

    /// Whether a comparison of indices holds whatever the coordinates and counters are.
    pub(super) fn always(
        &self,
        kernel: &ProgramKernel,
        op: CompareOp,
        lhs: ExprId,
        rhs: ExprId,
    ) -> bool {
        let (small, large, gap) = match op {
            CompareOp::Lt => (lhs, rhs, 0),
            CompareOp::Le => (lhs, rhs, 1),
            CompareOp::Gt => (rhs, lhs, 0),
            CompareOp::Ge => (rhs, lhs, 1),
            CompareOp::Eq | CompareOp::Ne => return false,
        };
        let apart = || {
            let least = self.linear(kernel, large, End::Least)?.plus_number(gap)?;
            self.linear(kernel, small, End::Most)?.plus(&least, -1)
        };
        apart().is_some_and(|apart| apart.is_negative_constant())
    }

    /// A linear form that `expr` is never below (above).
    pub(super) fn linear(&self, kernel: &ProgramKernel, expr: ExprId, end: End) -> Option<Linear> {
        if !matches!(kernel.exprs[expr].ty, Ty::Index(_)) {
            return None;
        }
        match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(Linear::constant(*value)),
            ExprKind::Arg(arg) => Some(Linear::of(*arg)),
            ExprKind::Coord { domain, axis } => {
                let (first, last) = self.coordinate(kernel, *domain, *axis);
                Some(Linear::constant(match end {
                    End::Least => first,
                    End::Most => last,
                }))
            }
            ExprKind::Var(var) => self.counter_times(kernel, *var, 1, end),
            ExprKind::Cast(operand) => self.linear(kernel, *operand, end),
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.linear(kernel, *lhs, end)?.plus(&self.linear(kernel, *rhs, end)?, 1)
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                let rhs = self.linear(kernel, *rhs, end.flipped())?;
                self.linear(kernel, *lhs, end)?.plus(&rhs, -1)
            }
            // Of whatever number: the remainder of a division by a power of two.
            ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
                let mask = kernel.constant(*lhs).or_else(|| kernel.constant(*rhs));
                let mask = mask.filter(|mask| *mask >= 0)?;
                Some(Linear::constant(if end == End::Least { 0 } else { mask }))
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let (factor, operand) = match (kernel.constant(*lhs), kernel.constant(*rhs)) {
                    (Some(factor), _) => (factor, *rhs),
                    (None, Some(factor)) => (factor, *lhs),
                    (None, None) => return None,
                };
                if let ExprKind::Var(var) = kernel.exprs[operand].kind {
                    return self.counter_times(kernel, var, factor, end);
                }
                let end = if factor < 0 { end.flipped() } else { end };
                self.linear(kernel, operand, end)?.scaled(factor)
            }
            _ => None,
        }
    }

    /// A bound of `factor * var`.
    pub(super) fn counter_times(
        &self,
        kernel: &ProgramKernel,
        var: VarId,
        factor: i128,
        end: End,
    ) -> Option<Linear> {
        let side = if factor < 0 { end.flipped() } else { end };
        let Some(counter) = self.counters.get(&var) else {
            let definition = self.definitions.get(&var)?;
            return self.linear(kernel, *definition, side)?.scaled(factor);
        };
        match side {
            End::Least => match counter.start {
                Some(start) => self.linear(kernel, start, End::Least)?.scaled(factor),
                None => Linear::constant(counter.least).scaled(factor),
            },
            End::Most => {
                if let ExprKind::CeilDiv { n, d } = kernel.exprs[counter.end].kind {
                    // var <= n / d - 1 where d divides n, so d * var <= n - d.
                    let d = kernel.constant(d)?;
                    if d > 0 && factor % d == 0 && self.divides(kernel, d, n) {
                        let last = self.linear(kernel, n, End::Most)?;
                        return last.plus_number(-d)?.scaled(factor / d);
                    }
                    return None;
                }
                let past = self.linear(kernel, counter.end, End::Most)?;
                past.plus_number(-1)?.scaled(factor)
            }
        }
    }

    /// Whether `d` is known to divide the value of `n`.
    fn divides(&self, kernel: &ProgramKernel, d: i128, n: ExprId) -> bool {
        match kernel.exprs[n].kind {
            ExprKind::Arg(arg) => {
                self.divisors.get(&arg).is_some_and(|&divisor| i128::from(divisor) % d == 0)
            }
            ExprKind::Cast(operand) => self.divides(kernel, d, operand),
            ExprKind::Literal(Literal::Int(value)) => value % d == 0,
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                self.divides(kernel, d, lhs) || self.divides(kernel, d, rhs)
            }
            _ => false,
        }
    }
}
