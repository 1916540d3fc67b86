//! What the conditions say under which a statement runs.
//!
//! `if i > 0 && i < N - 1 { … x[i + w - 1] … }` bounds no number by itself: `i` is a sum of
//! the grid's and the item's coordinates. But the access asks of the same sum: what it asks
//! less what is known, `(i + w - 1) - (i - 1)`, is `w`, and that is never below 0.

use super::bounds::{Bounds, End};
use super::sum::{Linear, Sum};
use crate::op::{BinaryOp, CompareOp, LogicOp};
use crate::program::{
    ArgId, BufferId, DomainId, ExprId, ExprKind, Literal, ProgramKernel, Target, Ty, VarId,
};

/// What indices are sums of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    /// An argument of the launch.
    Arg(ArgId),
    /// An item's coordinate.
    Coord(DomainId, u32),
    /// A counter of a loop or of the grid.
    Counter(VarId),
}

/// A sum of atoms.
type Form = Sum<Atom>;

impl Form {
    /// What an index is made of, through what is set once. `None` of one that anything else
    /// decides.
    fn of_index(kernel: &ProgramKernel, bounds: &Bounds, expr: ExprId) -> Option<Self> {
        if !matches!(kernel.exprs[expr].ty, Ty::Index(_)) {
            return None;
        }
        match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(Self::constant(*value)),
            ExprKind::Arg(arg) => Some(Self::of(Atom::Arg(*arg))),
            ExprKind::Coord { domain, axis } => Some(Self::of(Atom::Coord(*domain, *axis))),
            ExprKind::Var(var) if bounds.counters.contains_key(var) => {
                Some(Self::of(Atom::Counter(*var)))
            }
            ExprKind::Var(var) => Self::of_index(kernel, bounds, *bounds.definitions.get(var)?),
            ExprKind::Cast(operand) => Self::of_index(kernel, bounds, *operand),
            ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), lhs, rhs } => {
                let factor = if *op == BinaryOp::Add { 1 } else { -1 };
                let rhs = Self::of_index(kernel, bounds, *rhs)?;
                Self::of_index(kernel, bounds, *lhs)?.plus(&rhs, factor)
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let (factor, operand) = match (kernel.constant(*lhs), kernel.constant(*rhs)) {
                    (Some(factor), _) => (factor, *rhs),
                    (None, Some(factor)) => (factor, *lhs),
                    (None, None) => return None,
                };
                Self::of_index(kernel, bounds, operand)?.scaled(factor)
            }
            _ => None,
        }
    }

    /// Whether it is at least 0, by the bounds of its atoms alone.
    fn is_natural(&self, kernel: &ProgramKernel, bounds: &Bounds) -> bool {
        let least_of = |(&atom, &factor): (&Atom, &i128)| match atom {
            Atom::Arg(arg) => Linear::of(arg).scaled(factor),
            Atom::Coord(domain, axis) => {
                let (first, last) = bounds.coordinate(kernel, domain, axis);
                let least = if factor < 0 { last } else { first };
                Linear::constant(least).scaled(factor)
            }
            Atom::Counter(var) => bounds.counter_times(kernel, var, factor, End::Least),
        };
        let mut least = Some(Linear::constant(self.constant));
        for term in &self.terms {
            least = least.zip(least_of(term)).and_then(|(sum, term)| sum.plus(&term, 1));
        }
        least.is_some_and(|least| least.is_natural())
    }

    fn names(&self, is_named: impl Fn(Atom) -> bool) -> bool {
        self.terms.keys().any(|&atom| is_named(atom))
    }
}

/// What holds where a statement runs: sums that are at least 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Vec<Form>);

impl Facts {
    /// Adds what a condition says.
    pub(super) fn assume(&mut self, kernel: &ProgramKernel, bounds: &Bounds, cond: ExprId) {
        match &kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.assume(kernel, bounds, *lhs);
                self.assume(kernel, bounds, *rhs);
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (lhs, rhs) =
                    (Form::of_index(kernel, bounds, *lhs), Form::of_index(kernel, bounds, *rhs));
                let Some((lhs, rhs)) = lhs.zip(rhs) else { return };
                let mut below = |small: &Form, large: &Form, gap: i128| {
                    let apart = large.clone().plus(small, -1);
                    self.0.extend(apart.and_then(|apart| apart.plus_number(-gap)));
                };
                match op {
                    CompareOp::Lt => below(&lhs, &rhs, 1),
                    CompareOp::Le => below(&lhs, &rhs, 0),
                    CompareOp::Gt => below(&rhs, &lhs, 1),
                    CompareOp::Ge => below(&rhs, &lhs, 0),
                    CompareOp::Eq => {
                        below(&lhs, &rhs, 0);
                        below(&rhs, &lhs, 0);
                    }
                    CompareOp::Ne => {}
                }
            }
            ExprKind::InBounds { buffer, indices } => {
                for (axis, &index) in indices.iter().enumerate() {
                    self.0.extend(Form::of_index(kernel, bounds, index));
                    self.0.extend(below_extent(kernel, bounds, *buffer, axis, index));
                }
            }
            _ => {}
        }
    }

    /// Leaves out what is of other items than those that begin here.
    pub(super) fn forget_items(&mut self) {
        self.0.retain(|fact| !fact.names(|atom| matches!(atom, Atom::Coord(..))));
    }

    /// Leaves out what is of another iteration than those of a loop that begins here.
    pub(super) fn forget_counter(&mut self, counter: VarId) {
        self.0.retain(|fact| !fact.names(|atom| atom == Atom::Counter(counter)));
    }

    /// Whether an index is at least 0.
    pub(super) fn is_natural(
        &self,
        kernel: &ProgramKernel,
        bounds: &Bounds,
        index: ExprId,
    ) -> bool {
        self.proves(kernel, bounds, || Form::of_index(kernel, bounds, index))
    }

    /// Whether an index is below an array's extent along an axis.
    pub(super) fn is_below(
        &self,
        kernel: &ProgramKernel,
        bounds: &Bounds,
        (target, axis): (Target, usize),
        index: ExprId,
    ) -> bool {
        self.proves(kernel, bounds, || match target {
            Target::Buffer(buffer) => below_extent(kernel, bounds, buffer, axis, index),
            Target::Tile(tile) => {
                let extent = i128::from(kernel.tiles[tile].extents[axis]);
                Form::constant(extent - 1).plus(&Form::of_index(kernel, bounds, index)?, -1)
            }
        })
    }

    fn proves(
        &self,
        kernel: &ProgramKernel,
        bounds: &Bounds,
        asked: impl FnOnce() -> Option<Form>,
    ) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let Some(asked) = asked() else { return false };
        let follows = |fact: &Form| {
            let rest = asked.clone().plus(fact, -1);
            rest.is_some_and(|rest| rest.is_natural(kernel, bounds))
        };
        self.0.iter().any(follows)
    }
}

/// A buffer's extent less an index, less 1.
fn below_extent(
    kernel: &ProgramKernel,
    bounds: &Bounds,
    buffer: BufferId,
    axis: usize,
    index: ExprId,
) -> Option<Form> {
    let extent = Form::of_index(kernel, bounds, kernel.buffers[buffer].extents[axis])?;
    let apart = extent.plus(&Form::of_index(kernel, bounds, index)?, -1)?;
    apart.plus_number(-1)
}
