//! Divisors of index expressions: what a value is a multiple of, whatever the
//! launch.

use std::collections::BTreeMap;

use crate::kernel;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{
    ArgSource, DomainId, ExprId, ExprKind, Literal, LoopRange, ProgramKernel, Stmt, StmtKind, VarId,
};

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
        strides.fold(0, |divisor, stride| gcd(divisor, u64::from(stride)))
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
                (Some(&(start, step)), _) => gcd(of(start), of(step)),
                (None, Some(value)) => of(value),
                (None, None) => 1,
            },
            ExprKind::Cast(operand) | ExprKind::Unary { op: UnaryOp::Neg, operand } => of(*operand),
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, lhs, rhs } => {
                gcd(of(*lhs), of(*rhs))
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

/// Greatest common divisor; 0 is divided by everything.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
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
                // A second declaration of one variable is another value.
                if lets.insert(var, value).is_some() {
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
