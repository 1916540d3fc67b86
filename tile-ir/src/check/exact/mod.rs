//! Numbers of 32 and 64 bits that a launch alone bounds.
//!
//! `let at = row * width + column;` of `i32` wraps where an image is large enough. In CUDA C
//! that is no program at all; here a launch in which it may happen is refused, and the proof
//! takes such a number for what it is without wrapping.
//!
//! Such a number is a sum or product of scalar parameters (of those with a point what is
//! before it, [`floats`]), dimensions, tile sizes,
//! coordinates and counters between bounds that are such numbers, be it that the loop
//! counts by hand ([`super::stepped`]), the smaller and the larger of such, how many tiles there
//! are, and it is
//! used as an index, as a bound, as a divisor or in a comparison, or is a part of such a
//! sum; by way of a variable too, of a cell of a tile that stores alone set, or of a conversion
//! between numbers with a sign and without, but of a parameter that loses its sign. Where warps
//! work together, so it is if it is divided by a literal, which numbers warps. What is made of
//! dimensions and tile sizes alone is such a number wherever it is. What is hashed, masked or
//! divided first is not, but for what a mask
//! rounds down (`x & -32`), and what a mask or a shift by a number of the launch makes of what is
//! not multiplied before ([`bits`]): there wrapping may be meant. But a variable that a loop goes on by
//! steps of the launch is such a number whatever is made of it, `h % 3` or a comparison: proofs
//! take it not to wrap. A difference of unsigned numbers is none but in `n + size - 1`
//! ([`ceilings`]) and in `x - (x & m)`, nor one of 64 bits that is multiplied by a large number,
//! unless that only rounds it, `8192 * (x / 8192)`. What is made of other such differences, as
//! `(h - 1 - j) * w + i` of `u32` under `j < h`, is such a number as long as none of them is below
//! 0: how large it is then is asked of a launch, and the proof takes it not to wrap where it has
//! seen that of each. So it is with a variable that conditions keep below such a number
//! ([`limited`]).
//!
//! An index has a sign and 64 bits. So a `u64` that becomes one is such a number too where it
//! is made of them, and may go up to `i64::MAX` only: `size` of 2^64 - 1 would be -1. What is
//! computed as an index may not leave those 64 bits either ([`indices`]).
//!
//! Of what a remainder is taken counts where it is a place, beside the length that it goes round or
//! in rows of that length ([`neighbours`]).

mod bits;
mod ceilings;
mod floats;
mod held;
mod indices;
mod limited;
mod literal;
mod multiples;
mod neighbours;
mod parts;
mod reach;
mod scaled;
mod sources;

use std::collections::{BTreeMap, BTreeSet};

use self::indices::Indices;
pub(in crate::check) use self::parts::MAX_PLAIN_FACTOR;
pub(crate) use self::sources::Beside;
use self::sources::{Sources, limits};
use super::interval::Range;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, Type, VarId, concerns_warps};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// The numbers of a kernel that a launch alone bounds.
#[derive(Clone, Debug)]
pub struct Exact {
    /// What must not leave its type.
    exprs: BTreeSet<ExprId>,
    /// What must not as long as this holds of its parts.
    beside: BTreeMap<ExprId, BTreeSet<Beside>>,
    /// The variables that must not, with a use of each.
    vars: BTreeMap<VarId, ExprId>,
    /// The indices that 64 bits may not hold.
    indices: Indices,
    sources: Sources,
}

impl Exact {
    /// Reads a kernel.
    pub fn of(kernel: &Kernel) -> Self {
        let mut sources = Sources::of(kernel);
        let (mut places, mut compared) = (Vec::new(), Vec::new());
        sources.visit(&kernel.body, &mut places);
        sources.limits = limited::limits(kernel, &sources);
        for expr in kernel.exprs.values() {
            match &expr.kind {
                ExprKind::Load(access) => places.extend(&access.indices),
                ExprKind::Compare { lhs, rhs, .. } => compared.extend([lhs, rhs]),
                ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, rhs, .. } => {
                    places.push(*rhs);
                }
                _ => {}
            }
        }
        places.extend(sources.left_places(kernel));
        if concerns_warps(&kernel.body) {
            places.extend(numbers_of_warps(kernel));
        }
        let is_size = |id: &ExprId| sources.is_size(kernel, *id);
        let exprs = kernel.exprs.ids().filter(is_size).collect();
        let indices = Indices::of(kernel, &sources);
        let (beside, vars) = (BTreeMap::new(), BTreeMap::new());
        let mut exact = Self { exprs, beside, vars, indices, sources };
        let mut seen = BTreeSet::new();
        let parts = places.iter().chain(&compared).copied().collect();
        places.extend(exact.keep_all_summed(kernel, parts));
        // What is only compared may go on to wrap on purpose, as random numbers do.
        for (mut open, by_variables) in [(places, true), (compared, false)] {
            while let Some(expr) = open.pop() {
                if seen.insert(expr) {
                    exact.visit(kernel, (expr, by_variables), &mut open);
                }
            }
        }
        exact.leave_out_wrapping(kernel);
        exact
    }

    /// Notes a part of a sum, if it is such a number; adds its own parts to `open`, and
    /// `by_variables` what variables are set to that are assigned again.
    fn visit(
        &mut self,
        kernel: &Kernel,
        (expr, by_variables): (ExprId, bool),
        open: &mut Vec<ExprId>,
    ) {
        let node = &kernel.exprs[expr];
        if let ExprKind::Var(var) = node.kind {
            open.extend(self.sources.lets.get(&var));
            open.extend(self.sources.set.get(&var).filter(|_| by_variables).into_iter().flatten());
            open.extend(self.sources.stepped.at(expr, var).into_iter().flat_map(limits));
            self.keep_summed(kernel, (var, expr), open);
        } else if let ExprKind::Load(access) = &node.kind {
            open.extend(self.sources.held.get(&access.array).into_iter().flatten());
        } else if let ExprKind::Uniform(of) = node.kind {
            open.push(of);
        } else if let Some(parts) = self.sources.parts(kernel, expr) {
            open.extend(parts);
            let is_number = node.ty != Type::Index || is_long_index(kernel, &node.kind);
            let is_taken = self.sources.takes_bits(kernel, expr);
            if !is_number || is_taken {
                return;
            }
            if self.sources.is_bounded(kernel, expr) {
                self.exprs.insert(expr);
            } else if let Some(beside) = self.sources.beside(kernel, expr)
                && !beside.contains(&Beside::Natural(expr))
            {
                self.beside.insert(expr, beside);
            }
        }
    }

    /// Notes a variable that steps lead to, at a use of it: it is taken not to wrap, whatever
    /// is made of it.
    fn keep_summed(&mut self, kernel: &Kernel, (var, of): (VarId, ExprId), open: &mut Vec<ExprId>) {
        if let Some(course) = self.sources.summed(kernel, var) {
            open.extend(course.limits());
            self.vars.entry(var).or_insert(of);
        }
    }

    /// Notes the variables that steps lead to in all that `parts` are made of, masked and
    /// divided ones too; gives what decides how far they go.
    fn keep_all_summed(&mut self, kernel: &Kernel, mut parts: Vec<ExprId>) -> Vec<ExprId> {
        let (mut seen, mut limits) = (BTreeSet::new(), Vec::new());
        while let Some(expr) = parts.pop() {
            if !seen.insert(expr) {
                continue;
            }
            let kind = &kernel.exprs[expr].kind;
            if let ExprKind::Var(var) = *kind {
                parts.extend(self.sources.lets.get(&var));
                parts.extend(self.sources.set.get(&var).into_iter().flatten());
                self.keep_summed(kernel, (var, expr), &mut limits);
            }
            parts.extend(kind.operands());
        }
        limits
    }

    /// Whether an expression is such a number.
    pub(crate) fn contains(&self, expr: ExprId) -> bool {
        self.exprs.contains(&expr) || self.indices.asked.contains(&expr)
    }

    /// Whether all numbers of `other` are among these that were a kernel's when it had so
    /// many expressions and variables.
    pub(in crate::check) fn includes(&self, other: &Self, (exprs, vars): (usize, usize)) -> bool {
        let is_old = |expr: &&ExprId| expr.index() < exprs;
        let mut numbers = other.exprs.iter().chain(&other.indices.asked).filter(is_old);
        let mut beside = other.beside.keys().filter(is_old);
        let mut kept = other.vars.keys().filter(|var| var.index() < vars);
        numbers.all(|expr| self.contains(*expr))
            && beside.all(|expr| self.contains(*expr) || self.beside.contains_key(expr))
            && kept.all(|var| self.keeps(*var))
    }

    /// Whether a launch of another kernel is asked for all of these numbers, those of the same
    /// place in the text.
    pub(in crate::check) fn is_asked_of(&self, kernel: &Kernel, other: &Self, by: &Kernel) -> bool {
        let places = |exact: &Self, kernel: &Kernel| -> BTreeSet<(SpanId, Type)> {
            let numbers = exact.exprs.iter().chain(exact.beside.keys());
            let numbers = numbers.chain(&exact.indices.asked).chain(exact.vars.values());
            numbers.map(|expr| (kernel.exprs[*expr].span, kernel.exprs[*expr].ty)).collect()
        };
        places(self, kernel).is_subset(&places(other, by))
    }

    /// What is to hold of the parts of an expression for it to be such a number, if that would do.
    pub(crate) fn beside(&self, expr: ExprId) -> Option<&BTreeSet<Beside>> {
        self.beside.get(&expr)
    }

    /// Whether an index leaves 64 bits in every launch, so that nothing is known of it.
    pub(crate) fn loses(&self, expr: ExprId) -> bool {
        self.indices.lost.contains(&expr)
    }

    /// Whether a variable never leaves its type in a launch.
    pub(crate) fn keeps(&self, var: VarId) -> bool {
        self.vars.contains_key(&var)
    }

    /// The first number that may leave its type in a launch in which the variables of the
    /// launch have these values, of those with a point what is before it: with its type, and
    /// how far it goes.
    pub fn leaves(
        &self,
        kernel: &Kernel,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<(ExprId, DType, Range)> {
        let of_exprs = self.exprs.iter().chain(self.beside.keys()).map(|expr| (*expr, None));
        let of_vars = self.vars.iter().map(|(var, expr)| (*expr, Some(*var)));
        let mut numbers = of_exprs.chain(of_vars);
        let left = numbers.find_map(|number| self.leaving(kernel, number, value));
        left.or_else(|| {
            let (expr, range) = self.indices.leaves((kernel, &self.sources), value)?;
            Some((expr, DType::I64, range))
        })
    }

    /// The number, its type and how far it goes, if it may leave that: of an expression, or of
    /// the variable that one is a use of.
    fn leaving(
        &self,
        kernel: &Kernel,
        (expr, var): (ExprId, Option<VarId>),
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<(ExprId, DType, Range)> {
        let dtype = match (kernel.exprs[expr].ty, var) {
            (Type::Index, _) => DType::I64,
            (Type::Scalar(ElemType::Concrete(dtype)), _) => dtype,
            (Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)), _) => return None,
        };
        let (low, high) = match var {
            Some(var) => self.sources.range_of_all(kernel, var, value)?,
            None => self.sources.range(kernel, expr, value)?,
        };
        let (min, max) = dtype.integer_range()?;
        (low < min || max.min(i64::MAX.into()) < high).then_some((expr, dtype, (low, high)))
    }

    /// Whether scalar parameters say how large some of them are.
    pub fn asks_scalars(&self, kernel: &Kernel) -> bool {
        let vars = self.vars.values();
        self.exprs
            .iter()
            .chain(self.beside.keys())
            .chain(vars)
            .chain(&self.indices.asked)
            .any(|expr| self.sources.asks_scalars(kernel, *expr))
    }
}

/// What is divided by a literal, of a signed type: `i / 32`, or `i >> 5`, numbers the warps of
/// a launch, if `i` is the work-item's own number.
fn numbers_of_warps(kernel: &Kernel) -> impl Iterator<Item = ExprId> {
    kernel.exprs.values().filter_map(|expr| {
        let ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Shr, lhs, rhs } = expr.kind else {
            return None;
        };
        let is_literal = matches!(kernel.exprs[rhs].kind, ExprKind::Literal(_));
        let is_signed = expr.ty == Type::Scalar(ElemType::Concrete(DType::I32));
        (is_literal && is_signed).then_some(lhs)
    })
}

/// Whether a `u64` becomes an index, into which not each fits.
fn is_long_index(kernel: &Kernel, kind: &ExprKind) -> bool {
    let long = Type::Scalar(ElemType::Concrete(DType::U64));
    matches!(kind, ExprKind::Cast(of) if kernel.exprs[*of].ty == long)
}
