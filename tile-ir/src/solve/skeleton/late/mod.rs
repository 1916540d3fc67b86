//! Numbers of which runs at small sizes do not show all that they come to.
//!
//! `s[32 - k.leading_zeros()]` comes to another cell in round 65536 for the first time, and
//! `if at > 1000000 { … }` holds late. No run goes on for so long.
//!
//! # What runs suffice for
//!
//! A number that no launch bounds (a counter up to a scalar or a dimension, such a scalar or
//! dimension itself, a block's coordinate, what a loop adds up) is *straight* where it is made of
//! such numbers by sums and differences, multiples, the larger and the smaller of two, choices, and
//! by division by, remainders of and masks of literals, if literals are small: offsets and bounds up
//! to [`OFFSET`], divisors up to [`DIVISOR`], all of them together up to [`PERIOD`]. From one
//! threshold to the next such a number goes on evenly, and it does the same again after a period:
//! thresholds lie below the bounds, periods divide the product of the divisors, so that within the
//! rounds that are run (as many as tiles have places, times what is divided by,
//! [`super::joint`]) each way in which it meets a bound and a place of a tile is come to.
//!
//! What is no such number is *late*: a product of two of them, a count of bits, a conversion that
//! cuts digits off or gives a floating-point number, what is divided by, shifted or compared with a
//! large literal, and what a loop changes by something else than adding a bounded number
//! ([`changed`]). Where the reach of the tile is asked, a late number is taken as one of data is: it
//! may be any in its [range](super::spans), as far as conditions around leave it, comparisons of it
//! come out both ways, and what is written at such a place is not known to be written.

mod changed;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use self::changed::Changed;
use super::doubts::Resting;
use super::plain::Plain;
use super::plan::Plan;
use super::sizes::Sizes;
use super::spans::Spans;
use crate::arena::EntityId as _;
use crate::check::Range;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Type, VarId, VarKind};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// The largest number that is added to, or compared with, what runs suffice for.
const OFFSET: i128 = 256;

/// The largest number that it is divided by.
const DIVISOR: i128 = 64;

/// The largest product of those by which it is divided one after the other.
const NESTED: i128 = 256;

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 12;

/// The largest product of all such divisors.
const PERIOD: i128 = 4096;

/// How far a number goes that runs go through as far as it goes.
const BOUNDED: i128 = 1 << 14;

/// How many digits numbers of small sizes have at least.
const EARLY: i128 = 2;

/// The late numbers of a skeleton.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Late {
    /// The expressions that are late, whatever they are made of.
    roots: BTreeSet<ExprId>,
    /// By expression: whether one of these is in it.
    within: Vec<bool>,
    /// The variables that no launch bounds and that late numbers are made of.
    unbounded: BTreeSet<VarId>,
}

/// The same at some sizes.
#[derive(Clone, Debug)]
pub(super) struct LateAt<'a> {
    late: &'a Late,
    /// How far those variables go.
    ranges: BTreeMap<VarId, Range>,
}

impl Late {
    pub(super) fn of(
        kernel: &Kernel,
        (plan, resting): (&Plan<'_>, &Resting),
        spans: &Spans<'_>,
        sizes: &Sizes,
    ) -> Self {
        let mut relevant = BTreeSet::new();
        let mut open = plan.asked();
        while let Some(expr) = open.pop() {
            if relevant.insert(expr) {
                open.extend(kernel.exprs[expr].kind.operands());
                if let ExprKind::Var(var) = kernel.exprs[expr].kind {
                    open.extend(spans.plain().lets.get(&var));
                }
            }
        }
        let changed = Changed::of(kernel, spans, sizes);
        let mut sought = Sought {
            kernel,
            resting,
            spans,
            sizes,
            changed,
            unbounded: BTreeMap::new(),
            rests: BTreeMap::new(),
            looked_at: BTreeSet::new(),
            early: BTreeSet::new(),
        };
        sought.note_early(&relevant);
        let are_many = sought.period(&relevant) > PERIOD;
        let mut late = Self::default();
        for expr in &relevant {
            sought.add(*expr, are_many, &mut late.roots);
        }
        let ranges = plan.doubled().into_iter().filter(|n| sought.is_unbounded(*n));
        late.roots.extend(ranges);
        late.within = vec![false; kernel.exprs.len()];
        for (expr, node) in kernel.exprs.iter() {
            let is_within = late.roots.contains(&expr)
                || node.kind.operands().iter().any(|part| late.within[part.index()]);
            late.within[expr.index()] = is_within;
        }
        let roots = late.roots.clone();
        roots.into_iter().for_each(|root| sought.add_unbounded(root, &mut late.unbounded));
        late
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether an expression is, or is made of, a late number.
    pub(super) fn is_in(&self, expr: ExprId) -> bool {
        self.within.get(expr.index()).is_some_and(|is_in| *is_in)
    }

    /// Whether an expression is a late number by itself.
    pub(super) fn is_root(&self, expr: ExprId) -> bool {
        self.roots.contains(&expr)
    }

    pub(super) fn at<'l>(&'l self, spans: &Spans<'_>, sizes: &Sizes) -> LateAt<'l> {
        let ranges = self.unbounded.iter().map(|var| (*var, spans.range_of_any_var(*var, sizes)));
        LateAt { late: self, ranges: ranges.collect() }
    }
}

impl<'a> LateAt<'a> {
    pub(super) fn late(&self) -> &'a Late {
        self.late
    }

    /// How far a variable goes that no launch bounds.
    pub(super) fn range(&self, var: VarId) -> Option<Range> {
        self.ranges.get(&var).copied()
    }
}

struct Sought<'a, 's> {
    kernel: &'a Kernel,
    resting: &'s Resting,
    spans: &'s Spans<'a>,
    sizes: &'s Sizes,
    changed: Changed,
    unbounded: BTreeMap<ExprId, bool>,
    /// Counts that are compared with what they come to at once.
    early: BTreeSet<ExprId>,
    /// The tiles of which it is being asked what they hold.
    looked_at: BTreeSet<ArrayRef>,
    /// By variable: whether it is made of what no launch bounds.
    rests: BTreeMap<VarId, bool>,
}

impl Sought<'_, '_> {
    /// Whether no launch bounds a number, so that runs do not go through all that it may be. Of
    /// data that is known otherwise.
    fn is_unbounded(&mut self, expr: ExprId) -> bool {
        if let Some(known) = self.unbounded.get(&expr) {
            return *known;
        }
        let ty = self.kernel.exprs[expr].ty;
        let is_unbounded = is_whole(ty) && !self.resting.has(self.kernel, expr) && {
            let (low, high) = self.spans.range_of_any(expr, self.sizes);
            self.looked_at.clear();
            (low < -BOUNDED || high > BOUNDED)
                && !self.is_moved_down(expr)
                && self.rests_on_unbounded(expr)
        };
        self.unbounded.insert(expr, is_unbounded);
        is_unbounded
    }

    /// Whether it is a bounded number moved down by a scalar: no further from 0, whatever that is.
    fn is_moved_down(&mut self, expr: ExprId) -> bool {
        let plain = self.spans.plain();
        match self.kernel.exprs[plain.resolved(expr)].kind {
            ExprKind::Binary { op: BinaryOp::Shr, lhs, rhs } => {
                scalar(plain, rhs).is_some() && !self.is_unbounded(lhs)
            }
            _ => false,
        }
    }

    /// Whether what no launch bounds is in an expression, or in what it is made of.
    fn rests_on_unbounded(&mut self, expr: ExprId) -> bool {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        let is_own = match kind {
            ExprKind::Var(var) => self.is_unbounded_var(*var),
            // What is updated may be any.
            ExprKind::Load(access) => match self.spans.stored(access.array) {
                Some(values) => {
                    // What is made of it itself is nothing new.
                    self.looked_at.insert(access.array)
                        && values.iter().any(|value| self.rests_on_unbounded(*value))
                }
                None => true,
            },
            _ => false,
        };
        is_own || kind.operands().into_iter().any(|part| self.rests_on_unbounded(part))
    }

    fn is_unbounded_var(&mut self, var: VarId) -> bool {
        if let Some(known) = self.rests.get(&var) {
            return *known;
        }
        self.rests.insert(var, false);
        let is_unbounded = match self.kernel.vars[var].kind {
            VarKind::Let { .. } if self.changed.has(var) => true,
            VarKind::Let { .. } => {
                let made: Vec<ExprId> = self.spans.made_by(var).collect();
                made.into_iter().any(|value| self.rests_on_unbounded(value))
            }
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop => {
                let (low, high) = self.spans.range_of_any_var(var, self.sizes);
                low < -BOUNDED || high > BOUNDED
            }
        };
        self.rests.insert(var, is_unbounded);
        is_unbounded
    }

    /// Adds the variables of an expression that may be any.
    fn add_unbounded(&mut self, expr: ExprId, out: &mut BTreeSet<VarId>) {
        let mut open = vec![expr];
        let mut seen = BTreeSet::new();
        while let Some(expr) = open.pop() {
            let kind = &self.kernel.exprs[expr].kind;
            open.extend(kind.operands());
            if let ExprKind::Var(var) = kind
                && seen.insert(*var)
            {
                match self.spans.plain().lets.get(var) {
                    Some(init) => open.push(*init),
                    None if self.is_unbounded_var(*var) => {
                        out.insert(*var);
                    }
                    None => {}
                }
            }
        }
    }

    /// How far a bounded number is from 0 at most.
    fn most(&self, expr: ExprId) -> i128 {
        let (low, high) = self.spans.range_of_any(expr, self.sizes);
        low.saturating_abs().max(high.saturating_abs())
    }

    /// Counts that are compared with no more than [`EARLY`] come to that at small sizes.
    fn note_early(&mut self, relevant: &BTreeSet<ExprId>) {
        for expr in relevant {
            let ExprKind::Compare { lhs, rhs, .. } = self.kernel.exprs[*expr].kind else {
                continue;
            };
            for (side, other) in [(lhs, rhs), (rhs, lhs)] {
                if let ExprKind::Var(var) = self.kernel.exprs[side].kind
                    && self.changed.is_count(var)
                    && self.most(other) <= EARLY
                {
                    self.early.insert(side);
                }
            }
        }
    }

    /// The product of all different numbers by which unbounded ones are divided.
    fn period(&mut self, relevant: &BTreeSet<ExprId>) -> i128 {
        let mut divisors = BTreeSet::new();
        for expr in relevant {
            let ExprKind::Binary { op, lhs, rhs } = self.kernel.exprs[*expr].kind else { continue };
            if self.is_unbounded(lhs) && !self.is_unbounded(rhs) {
                divisors.extend(self.divisor(op, rhs));
            }
        }
        divisors.into_iter().fold(1_i128, i128::saturating_mul)
    }

    /// The largest product of what is divided by one after the other.
    fn nested(&mut self, expr: ExprId, depth: u32) -> i128 {
        let Some(depth) = depth.checked_sub(1) else { return 1 };
        let expr = self.spans.plain().resolved(expr);
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        let own = match *kind {
            ExprKind::Binary { op, lhs, rhs } if self.is_unbounded(lhs) => {
                self.divisor(op, rhs).unwrap_or(1).max(1)
            }
            _ => 1,
        };
        let parts = kind.operands().into_iter().map(|part| self.nested(part, depth));
        own.saturating_mul(parts.max().unwrap_or(1))
    }

    /// What an operator with this right operand divides by.
    fn divisor(&self, op: BinaryOp, rhs: ExprId) -> Option<i128> {
        let most = || self.most(rhs);
        match op {
            BinaryOp::Div | BinaryOp::Rem => Some(most()),
            BinaryOp::Shr => Some(1_i128.checked_shl(u32::try_from(most()).ok()?.min(100))?),
            BinaryOp::And => Some(1_i128 << (128 - (most() as u128).leading_zeros()).min(100)),
            _ => None,
        }
    }

    /// Adds what of an expression is late, not asking what it is made of.
    fn add(&mut self, expr: ExprId, are_many: bool, roots: &mut BTreeSet<ExprId>) {
        let kernel = self.kernel;
        let is_late = match &kernel.exprs[expr].kind {
            ExprKind::Binary { op, lhs, rhs } => self.is_late(*op, (expr, *lhs, *rhs), are_many),
            ExprKind::Math { func, arg } => {
                !matches!(func, MathFn::Abs | MathFn::Signum) && self.is_unbounded(*arg)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let is_natural =
                    kernel.exprs[expr].ty.integer_range().is_none_or(|range| range.0 == 0);
                is_natural && self.is_unbounded(*operand)
            }
            ExprKind::Cast(operand) => {
                self.cuts_off(kernel.exprs[expr].ty, kernel.exprs[*operand].ty)
                    && self.is_unbounded(*operand)
            }
            ExprKind::Tiles { extent, tile } => {
                let is_far = self.is_unbounded(*tile) || self.most(*tile) > DIVISOR;
                is_far && self.is_unbounded(*extent) && !self.is_of_launch(expr)
            }
            ExprKind::Var(var) => {
                let is_late = self.changed.is_late(*var) || self.changed.is_count(*var);
                is_late && !self.resting.has_var(*var) && !self.early.contains(&expr)
            }
            ExprKind::Compare { lhs, rhs, .. } => {
                for (side, other) in [(*lhs, *rhs), (*rhs, *lhs)] {
                    if self.is_unbounded(side)
                        && !self.is_of_launch(side)
                        && !self.is_of_digits(side)
                        && !self.is_unbounded(other)
                        && !self.resting.has(kernel, other)
                        && self.most(other) > OFFSET
                    {
                        roots.insert(side);
                    }
                }
                false
            }
            ExprKind::Literal(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { op: UnaryOp::Neg, .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Uniform(_)
            | ExprKind::InBounds { .. } => false,
        };
        // What data decides is unknown already.
        if is_late && !self.resting.has(kernel, expr) {
            roots.insert(expr);
        }
    }

    /// Whether an operator makes a late number of two numbers.
    fn is_late(
        &mut self,
        op: BinaryOp,
        (expr, lhs, rhs): (ExprId, ExprId, ExprId),
        are_many: bool,
    ) -> bool {
        let ty = self.kernel.exprs[expr].ty;
        if !is_whole(ty) {
            return false;
        }
        let are = [lhs, rhs].map(|part| self.is_unbounded(part));
        let bounded = match are {
            [false, false] => return false,
            [true, false] => Some(rhs),
            [false, true] => Some(lhs),
            [true, true] => None,
        };
        let most = bounded.map(|part| self.most(part));
        let is_beyond = |bound: i128| most.is_some_and(|most| most > bound);
        // Counts of places are taken modulo the width, and each of them is run.
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        if is_shift && bounded == Some(lhs) && scalar(self.spans.plain(), rhs).is_some() {
            return false;
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max => {
                is_beyond(OFFSET) && !self.is_of_scalars(expr)
            }
            BinaryOp::Mul => bounded.is_none() || ty != Type::Index && is_beyond(OFFSET),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr | BinaryOp::And => {
                let divides = bounded == Some(rhs) || op == BinaryOp::And && bounded.is_some();
                let by = bounded.filter(|_| divides).and_then(|by| self.divisor(op, by));
                let within = self.nested(lhs, MAX_DEPTH).max(self.nested(rhs, MAX_DEPTH));
                let is_far = |by: i128| by > DIVISOR || by.saturating_mul(within) > NESTED;
                by.is_none_or(|by| is_far(by) || are_many && by > 1)
            }
            BinaryOp::Or | BinaryOp::Xor => bounded.is_none() || is_beyond(DIVISOR),
            BinaryOp::Shl => bounded != Some(rhs) || ty != Type::Index && is_beyond(8),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => true,
        }
    }

    /// Whether a conversion leaves out digits of a number, or makes a floating-point one of it.
    fn cuts_off(&self, to: Type, from: Type) -> bool {
        if !is_whole(from) {
            return false;
        }
        let width = |ty: Type| ty.integer_range().map(|(low, high)| high - low);
        match (width(to), width(from)) {
            (Some(to), Some(from)) => to < from,
            // What is numbered in 32 bits a launch is asked.
            (Some(to), None) => to < i128::from(u32::MAX),
            (None, _) => to != Type::Index,
        }
    }

    /// Whether a name is one of what is doubled or halved as often as scalars say.
    fn is_of_digits(&self, expr: ExprId) -> bool {
        match self.kernel.exprs[self.spans.plain().resolved(expr)].kind {
            ExprKind::Var(var) => self.changed.is_of_scalars(var),
            _ => false,
        }
    }

    /// Whether nothing but numbers and scalars, of which large ones are run, is in an expression.
    fn is_of_scalars(&self, expr: ExprId) -> bool {
        let expr = self.spans.plain().resolved(expr);
        let kind = &self.kernel.exprs[expr].kind;
        let is_own = match kind {
            ExprKind::Var(var) => matches!(self.kernel.vars[*var].kind, VarKind::Scalar(_)),
            ExprKind::Load(_) | ExprKind::InBounds { .. } => false,
            _ => true,
        };
        is_own && kind.operands().into_iter().all(|part| self.is_of_scalars(part))
    }

    /// Whether an expression is the same in all rounds of all loops.
    fn is_of_launch(&self, expr: ExprId) -> bool {
        let plain = self.spans.plain();
        !plain.names(expr, &|kind| matches!(kind, VarKind::Loop | VarKind::Let { .. }))
            && !plain.reads(expr)
    }
}

/// The scalar that an expression is, by whatever name.
fn scalar(plain: &Plain<'_>, expr: ExprId) -> Option<VarId> {
    let is_scalar = |var: &VarId| matches!(plain.kernel.vars[*var].kind, VarKind::Scalar(_));
    plain.parameter(expr).filter(is_scalar)
}

/// The scalars by which something is shifted.
pub(super) fn shifting(plain: &Plain<'_>) -> BTreeSet<VarId> {
    let exprs = plain.kernel.exprs.values();
    let by = exprs.filter_map(|expr| match expr.kind {
        ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, rhs, .. } => scalar(plain, rhs),
        _ => None,
    });
    by.collect()
}

/// Whether values of a type are integers.
fn is_whole(ty: Type) -> bool {
    ty == Type::Index || ty.integer_range().is_some()
}

/// Of a loop over powers of two: up to where it goes.
pub(super) fn doubled(range: &LoopRange) -> Option<ExprId> {
    match *range {
        LoopRange::Halving(n) | LoopRange::Doubling(n) => Some(n),
        LoopRange::Between { .. } => None,
    }
}
