//! Indices that counted loops multiply: `for r in 0..n { …; k *= 2; }`.
//!
//! After `r` rounds such a variable has been multiplied by the factor `r` times at most, so that it
//! is no further from 0 than what it began with times that power. In which launches that leaves 64
//! bits, the rounds say.
//!
//! It is asked of variables to which nothing else is done, in kernels in which nobody leaves a loop
//! before its end.

use std::collections::BTreeMap;

use crate::check::interval::{Range, range_of};
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, Type, VarId, VarKind,
    applied,
};
use crate::op::BinaryOp;

/// More rounds than this leave 64 bits whatever is multiplied.
const MAX_ROUNDS: u32 = 64;

/// A variable that is multiplied.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    /// What it is at first.
    first: ExprId,
    /// Each place that multiplies it, in loops within its scope.
    by: Vec<(Factor, Vec<LoopRange>)>,
}

/// By what.
#[derive(Clone, Copy, Debug)]
enum Factor {
    Times(ExprId),
    Shifted(ExprId),
}

/// The indices that loops multiply.
pub(super) fn scaled(kernel: &Kernel) -> BTreeMap<VarId, Scaled> {
    let mut found = Found { kernel, depths: BTreeMap::new(), all: BTreeMap::new() };
    if kernel.exits.is_empty() {
        found.visit(&kernel.body, &mut Vec::new());
    }
    let is_scaled = |of: &Scaled| !of.by.is_empty();
    found.all.into_iter().filter_map(|(var, of)| Some((var, of.filter(is_scaled)?))).collect()
}

struct Found<'a> {
    kernel: &'a Kernel,
    /// How many loops are around where a variable is declared.
    depths: BTreeMap<VarId, usize>,
    /// `None` of one to which something else is done.
    all: BTreeMap<VarId, Option<Scaled>>,
}

impl Found<'_> {
    fn visit(&mut self, stmts: &[Stmt], around: &mut Vec<Option<LoopRange>>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init } if self.kernel.vars[*var].ty == Type::Index => {
                    self.depths.insert(*var, around.len());
                    let first = init.map(|first| Scaled { first, by: Vec::new() });
                    self.all.insert(*var, first);
                }
                StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                    let factor = applied(self.kernel, &stmt.kind, *var);
                    let factor = factor.and_then(|(op, by)| factor_of(op, by));
                    self.note(*var, factor, around);
                }
                _ => {}
            }
            let outer = around.len();
            match &stmt.kind {
                StmtKind::For { range, .. } | StmtKind::Phase { range, .. } => {
                    around.push(Some(*range));
                }
                StmtKind::While { .. } => around.push(None),
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, around));
            around.truncate(outer);
        }
    }

    fn note(&mut self, var: VarId, factor: Option<Factor>, around: &[Option<LoopRange>]) {
        let depth = self.depths.get(&var).copied().unwrap_or(0);
        let loops: Option<Vec<LoopRange>> = around.iter().skip(depth).copied().collect();
        let Some(of) = self.all.get_mut(&var) else { return };
        match (of.as_mut(), factor, loops) {
            (Some(scaled), Some(factor), Some(loops)) => scaled.by.push((factor, loops)),
            _ => *of = None,
        }
    }
}

/// By what an operation multiplies.
fn factor_of(op: BinaryOp, by: ExprId) -> Option<Factor> {
    match op {
        BinaryOp::Mul => Some(Factor::Times(by)),
        BinaryOp::Shl => Some(Factor::Shifted(by)),
        _ => None,
    }
}

impl Scaled {
    /// How far it goes; `of` says it of the expressions before, `value` of the launch's names.
    pub(super) fn range(
        &self,
        kernel: &Kernel,
        of: &dyn Fn(ExprId) -> Option<Range>,
        value: &dyn Fn(VarId) -> Option<Range>,
    ) -> Option<Range> {
        let mut range = of(self.first)?;
        for (factor, loops) in &self.by {
            let most = factor.most(kernel, value)?;
            let rounds = loops.iter().try_fold(1_u32, |all, range| {
                Some(all.saturating_mul(rounds(range, of)?).min(MAX_ROUNDS))
            })?;
            let power = most.checked_pow(rounds).unwrap_or(i128::MAX).max(1);
            range = range_of(BinaryOp::Mul, range, (1, power));
        }
        Some(range)
    }
}

impl Factor {
    /// The largest that it is, of one that is not below 0.
    fn most(self, kernel: &Kernel, value: &dyn Fn(VarId) -> Option<Range>) -> Option<i128> {
        let (Self::Times(by) | Self::Shifted(by)) = self;
        let (low, most) = match kernel.exprs[by].kind {
            ExprKind::Literal(Literal::Int(number)) => (number, number),
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => value(var)?,
                _ => return None,
            },
            _ => return None,
        };
        let most = match self {
            Self::Times(_) => most,
            Self::Shifted(_) => 1_i128.checked_shl(most.clamp(0, 63).try_into().ok()?)?,
        };
        (low >= 0).then_some(most)
    }
}

/// How many rounds a loop has at most.
fn rounds(range: &LoopRange, of: &dyn Fn(ExprId) -> Option<Range>) -> Option<u32> {
    let most = match *range {
        LoopRange::Between { start, end, step, .. } => {
            let step = step.map_or(Some(1), |step| Some(of(step)?.0.max(1)))?;
            let length = of(end)?.1.saturating_sub(of(start)?.0);
            length.saturating_add(step - 1).div_euclid(step)
        }
        LoopRange::Halving(n) | LoopRange::Doubling(n) => {
            i128::from(128 - of(n)?.1.max(0).leading_zeros())
        }
    };
    Some(u32::try_from(most.max(0)).unwrap_or(MAX_ROUNDS).min(MAX_ROUNDS))
}
