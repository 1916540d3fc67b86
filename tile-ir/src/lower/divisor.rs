//! Divisors of index expressions: what a value is a multiple of, whatever the
//! launch.

use std::collections::BTreeMap;

use crate::kernel;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{
    ArgSource, DomainId, ExprId, ExprKind, Literal, LoopRange, ProgramKernel, Stmt, StmtKind, VarId,
};

/// An index that is a sum: constants taken together, and the other terms, each with
/// its sign.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) constant: i128,
    pub(super) terms: Vec<(i128, ExprId)>,
}

/// Finds divisors of a kernel's index expressions.
pub(super) struct Divisors<'a> {
    dims: &'a [(kernel::VarId, u32)],
    /// First value and step of each counter.
    counters: BTreeMap<VarId, (ExprId, ExprId)>,
    /// Values of the variables that have one definition.
    lets: BTreeMap<VarId, ExprId>,
}

impl<'a> Divisors<'a> {
    /// From a divisor of each dimension.
    pub(super) fn of(body: &[Stmt], dims: &'a [(kernel::VarId, u32)]) -> Self {
        let mut counters = BTreeMap::new();
        collect_counters(body, &mut counters);
        let (mut lets, mut assigned) = (BTreeMap::new(), Vec::new());
        collect_lets(body, &mut lets, &mut assigned);
        lets.retain(|var, _| !assigned.contains(var));
        Self { dims, counters, lets }
    }

    /// An index as a sum, through the variables that are defined once.
    pub(super) fn sum(&self, kernel: &ProgramKernel, id: ExprId) -> Sum {
        let mut sum = Sum::default();
        self.collect(kernel, id, 1, &mut sum);
        sum
    }

    fn collect(&self, kernel: &ProgramKernel, id: ExprId, sign: i128, sum: &mut Sum) {
        match &kernel.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => {
                sum.constant = sum.constant.saturating_add(sign.saturating_mul(*value));
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.collect(kernel, *lhs, sign, sum);
                self.collect(kernel, *rhs, sign, sum);
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.collect(kernel, *lhs, sign, sum);
                self.collect(kernel, *rhs, -sign, sum);
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                self.collect(kernel, *operand, -sign, sum);
            }
            ExprKind::Cast(operand) if kernel.exprs[*operand].ty.is_index() => {
                self.collect(kernel, *operand, sign, sum);
            }
            ExprKind::Var(var) => match (self.counters.get(var), self.definition(*var)) {
                (None, Some(value)) => self.collect(kernel, value, sign, sum),
                (Some(_), _) | (None, None) => sum.terms.push((sign, id)),
            },
            _ => sum.terms.push((sign, id)),
        }
    }

    /// The value of a variable that is defined once.
    pub(super) fn definition(&self, var: VarId) -> Option<ExprId> {
        self.lets.get(&var).copied()
    }

    /// A number that divides a coordinate where the lowest register digit of its
    /// domain is 0.
    pub(super) fn of_coord(&self, kernel: &ProgramKernel, domain: DomainId, axis: u32) -> u64 {
        let layout = &kernel.domains[domain].layout;
        let digits = layout.threads.iter().chain(layout.registers.iter().skip(1));
        let strides = digits.filter(|digit| digit.axis == axis).map(|digit| digit.stride);
        strides.fold(0, |divisor, stride| common(divisor, u64::from(stride)))
    }

    /// A number that divides the expression where the lowest register digit of
    /// `domain` is 0; 0 where the value is always 0.
    pub(super) fn at_group(&self, kernel: &ProgramKernel, id: ExprId, domain: DomainId) -> u64 {
        let of = |id| self.at_group(kernel, id, domain);
        match &kernel.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => {
                u64::try_from(value.unsigned_abs()).unwrap_or(1)
            }
            ExprKind::Coord { domain: found, axis } if *found == domain => {
                self.of_coord(kernel, domain, *axis)
            }
            ExprKind::Arg(arg) => match kernel.args[*arg].source {
                ArgSource::Dim(dim) => {
                    let known = self.dims.iter().find(|(id, _)| *id == dim);
                    known.map_or(1, |(_, divisor)| u64::from(*divisor))
                }
                ArgSource::Scalar(_) | ArgSource::Stride { .. } => 1,
            },
            ExprKind::Var(var) => match (self.counters.get(var), self.definition(*var)) {
                (Some(&(start, step)), _) => common(of(start), of(step)),
                (None, Some(value)) => of(value),
                (None, None) => 1,
            },
            ExprKind::Cast(operand) | ExprKind::Unary { op: UnaryOp::Neg, operand } => of(*operand),
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, .. } => {
                let Sum { constant, terms } = self.sum(kernel, id);
                let constant = u64::try_from(constant.unsigned_abs()).unwrap_or(1);
                terms.into_iter().fold(constant, |divisor, (_, term)| common(divisor, of(term)))
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                of(*lhs).checked_mul(of(*rhs)).unwrap_or(1)
            }
            ExprKind::Literal(_)
            | ExprKind::Coord { .. }
            | ExprKind::Fragment(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Fma { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::CeilDiv { .. }
            | ExprKind::InBounds { .. } => 1,
        }
    }
}

/// The greatest common divisor; 0 is divided by everything.
fn common(a: u64, b: u64) -> u64 {
    u64::try_from(kernel::gcd(a.into(), b.into())).unwrap_or(1)
}

fn collect_counters(stmts: &[Stmt], counters: &mut BTreeMap<VarId, (ExprId, ExprId)>) {
    for stmt in stmts {
        if let StmtKind::For { var, range: LoopRange::Between { start, step, .. }, .. } = stmt.kind
        {
            counters.insert(var, (start, step));
        }
        for body in stmt.kind.bodies() {
            collect_counters(body, counters);
        }
    }
}

fn collect_lets(stmts: &[Stmt], lets: &mut BTreeMap<VarId, ExprId>, assigned: &mut Vec<VarId>) {
    for stmt in stmts {
        match stmt.kind {
            StmtKind::Let { var, value: Some(value) } => {
                // A second declaration of one variable is another value, but in copies of
                // statements that are left as they are.
                if lets.insert(var, value).is_some_and(|other| other != value) {
                    assigned.push(var);
                }
            }
            StmtKind::Let { var, value: None }
            | StmtKind::Assign { var, .. }
            | StmtKind::Shuffle { var, .. }
            | StmtKind::Ballot { var, .. }
            | StmtKind::Atomic { old: Some(var), .. } => assigned.push(var),
            StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_)
            | StmtKind::WarpBarrier => {}
        }
        for body in stmt.kind.bodies() {
            collect_lets(body, lets, assigned);
        }
    }
}
