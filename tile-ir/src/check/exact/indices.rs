//! Numbers of type `index` that 64 bits may not hold.
//!
//! An index is exact: the proof adds and multiplies it as a number without end. On a device
//! it has 64 bits, so that of `o[t << 60]` two work-items have one cell, and of `o[t * k as
//! index]` they do where `k` is large enough. How far each sum, product and shift can go is
//! reckoned from what it is made of:
//!
//! - As far as any launch may go whose dimensions are below 2^31, with scalars of any value of
//!   their types. What stays in 64 bits there, as the indices of ordinary kernels do, is not
//!   asked for again unless a dimension is larger.
//! - What may not stay, but does in the smallest launch, is *asked*: a launch in which it may
//!   leave 64 bits is refused, and the proof takes it for exact.
//! - What does not stay even there is *lost*: the text decides it, the proof knows nothing of
//!   its value, and every launch is refused.
//!
//! The reckoning is by intervals, each of which holds all values of the expression in a
//! launch, whatever conditions stand around it, as long as those of its parts are exact; and
//! of what leaves 64 bits the innermost part is found, whose parts are. So in a launch that
//! is not refused no number leaves them of which everything is known. Loaded numbers of 64
//! bits and variables that change, but for those that counted loops multiply ([`super::scaled`]), are
//! taken to be below 2^31, as places are, where the text is judged, and are not asked for in a launch.
//!
//! A shift by a count that may be 64 or more is not exact either, since counts begin again
//! from 0 there; a launch in which one may be is refused. Counts that are loaded or change are
//! taken to be smaller.

use std::collections::BTreeSet;

use super::floats::{ends, nearest, whole_of};
use super::multiples::multiple;
use super::sources::Sources;
use crate::arena::EntityId as _;
use crate::check::interval::{FAR, Range, counted, left_by, masked, range_of};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Type, Var, VarId, VarKind};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// Dimensions below this are looked at beforehand.
const FAR_DIM: i128 = 1 << 31;

/// The values of an index.
const WHOLE: Range = (i64::MIN as i128, i64::MAX as i128);

/// The indices that may leave 64 bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Indices {
    /// A launch decides.
    pub(super) asked: BTreeSet<ExprId>,
    /// The text decides.
    pub(super) lost: BTreeSet<ExprId>,
}

impl Indices {
    pub(super) fn of(kernel: &Kernel, sources: &Sources) -> Self {
        let mut found = Self::default();
        let most = ranges(kernel, sources, &Launch::Any);
        let leaves = |ranges: &[Option<Range>], expr: ExprId| {
            is_computed(kernel, expr) && !ranges[expr.index()].is_none_or(is_whole)
        };
        let asked: Vec<ExprId> = kernel.exprs.ids().filter(|expr| leaves(&most, *expr)).collect();
        if asked.is_empty() {
            return found;
        }
        let least = ranges(kernel, sources, &Launch::Least);
        for expr in asked {
            let set = if leaves(&least, expr) { &mut found.lost } else { &mut found.asked };
            set.insert(expr);
        }
        found
    }

    /// The first number that may leave 64 bits in a launch, and how far it goes.
    pub(super) fn leaves(
        &self,
        (kernel, sources): (&Kernel, &Sources),
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<(ExprId, Range)> {
        let is_far = |(var, declared): (VarId, &Var)| {
            declared.kind == VarKind::Dim && value(var).is_some_and(|dim| dim >= FAR_DIM)
        };
        let has_far = kernel.vars.iter().any(is_far);
        if !has_far && self.asked.is_empty() && self.lost.is_empty() {
            return None;
        }
        let ranges = ranges(kernel, sources, &Launch::Given(value));
        let is_asked =
            |expr: &ExprId| has_far || self.asked.contains(expr) || self.lost.contains(expr);
        kernel.exprs.ids().find_map(|expr| {
            let range = match ranges[expr.index()] {
                None if self.lost.contains(&expr) => return Some((expr, FAR)),
                range => range.filter(|range| !is_whole(*range))?,
            };
            (is_asked(&expr) && is_computed(kernel, expr)).then_some((expr, range))
        })
    }
}

/// Whether a range is one of an index.
fn is_whole((low, high): Range) -> bool {
    WHOLE.0 <= low && high <= WHOLE.1
}

/// Whether an operator makes an index that its parts need not be as large as.
fn is_computed(kernel: &Kernel, expr: ExprId) -> bool {
    let node = &kernel.exprs[expr];
    let ExprKind::Binary { op, .. } = node.kind else {
        return node.ty == Type::Index && matches!(node.kind, ExprKind::Unary { .. });
    };
    let grows =
        matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Shr);
    node.ty == Type::Index && grows
}

/// Of which launches something is asked.
enum Launch<'a> {
    /// All whose dimensions are not far.
    Any,
    /// The smallest.
    Least,
    /// One whose names have these values.
    Given(&'a dyn Fn(VarId) -> Option<i128>),
}

impl Launch<'_> {
    /// The values of a name of the launch.
    fn values(&self, kernel: &Kernel, var: VarId) -> Option<Range> {
        let declared = &kernel.vars[var];
        match (self, declared.kind) {
            (Self::Given(value), _) => value(var).map(|value| (value, value)),
            (Self::Any, VarKind::Dim) => Some((0, FAR_DIM - 1)),
            (Self::Any, VarKind::TileParam(param)) => {
                Some((1, kernel.tile_params[param].domain.range().1.into()))
            }
            (Self::Least, VarKind::TileParam(param)) => {
                let least = kernel.tile_params[param].domain.range().0.into();
                Some((least, least))
            }
            (Self::Least, VarKind::Dim) => Some((1, 1)),
            (Self::Any, _) => declared.ty.integer_range(),
            (Self::Least, _) => declared.ty.integer_range().map(|_| (0, 0)),
        }
    }

    /// The integer of a type that is made of a parameter with a point.
    fn whole(&self, var: VarId, ty: Type) -> Option<Range> {
        match self {
            Self::Given(value) => {
                value(var).map(|value| nearest(value, ty)).map(|value| (value, value))
            }
            Self::Any => Some(ends(ty)),
            Self::Least => Some((0, 0)),
        }
    }

    /// The values of a place that no launch names: an index, or a number of this type.
    fn place(&self, ty: Type) -> Option<Range> {
        let least = ty.integer_range().map_or(i128::MIN, |(min, _)| min);
        match self {
            Self::Any | Self::Least => Some((least.max(1 - FAR_DIM), FAR_DIM - 1)),
            Self::Given(_) => None,
        }
    }
}

/// By number, how far expressions go; `None` where that is not known.
fn ranges(kernel: &Kernel, sources: &Sources, launch: &Launch<'_>) -> Vec<Option<Range>> {
    let mut known: Vec<Option<Range>> = Vec::with_capacity(kernel.exprs.len());
    // An operand has a smaller id than its user, and so has what a name stands for.
    for expr in kernel.exprs.ids() {
        let of = |part: ExprId| known.get(part.index()).copied().flatten();
        let range = range(kernel, sources, (expr, launch), &of);
        known.push(within(range, kernel.exprs[expr].ty));
    }
    known
}

/// A range of numbers of a type, which begin again where they leave it.
fn within(range: Option<Range>, ty: Type) -> Option<Range> {
    match (range, ty.integer_range()) {
        (Some((low, high)), Some((min, max))) if min <= low && high <= max => Some((low, high)),
        // Of 64 bits it is as if nothing were known.
        (None, Some((_, max))) if max > u32::MAX.into() => None,
        (_, Some(whole)) => Some(whole),
        (range, None) => range,
    }
}

fn range(
    kernel: &Kernel,
    sources: &Sources,
    (expr, launch): (ExprId, &Launch<'_>),
    of: &dyn Fn(ExprId) -> Option<Range>,
) -> Option<Range> {
    let node = &kernel.exprs[expr];
    if let Some(var) = whole_of(kernel, expr) {
        return launch.whole(var, node.ty);
    }
    let ends = |extent: ExprId| of(extent).map(|(_, high)| (0, high.saturating_sub(1).max(0)));
    match &node.kind {
        ExprKind::Literal(Literal::Int(value)) => Some((*value, *value)),
        ExprKind::Literal(_) => None,
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => {
                launch.values(kernel, *var)
            }
            VarKind::Grid | VarKind::Block | VarKind::Each => ends(*sources.axes.get(var)?),
            VarKind::Loop => match sources.counters.get(var) {
                Some((start, end)) => {
                    let (start, end) = (of(*start)?, of(*end)?);
                    Some((start.0, end.1.saturating_sub(1).max(start.0)))
                }
                None => launch.place(node.ty),
            },
            VarKind::Let { .. } => match sources.lets.get(var) {
                Some(init) if *init < expr => of(*init),
                Some(_) => launch.place(node.ty),
                None if node.ty == Type::Index || is_long(node.ty) => {
                    let value = |var: VarId| launch.values(kernel, var);
                    let scaled = sources.scaled.get(var);
                    let scaled = scaled.and_then(|scaled| scaled.range(kernel, of, &value));
                    scaled.or_else(|| launch.place(node.ty))
                }
                None => None,
            },
        },
        ExprKind::Load(_) if is_long(node.ty) => launch.place(node.ty),
        ExprKind::Load(_) => None,
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            Some(range_of(BinaryOp::Sub, (0, 0), of(*operand)?))
        }
        ExprKind::Unary { op: UnaryOp::Not, .. } => None,
        ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, rhs, .. }
            if !is_count(of(*rhs)) && !is_of_launch(kernel, sources, *rhs) =>
        {
            masked(kernel, expr)
        }
        ExprKind::Binary { op, lhs, rhs } => multiple(kernel, sources, expr, of)
            .or_else(|| binary(kernel, (expr, *op), of(*lhs), of(*rhs))),
        ExprKind::Select { then, otherwise, .. } => {
            let (one, other) = (of(*then)?, of(*otherwise)?);
            Some((one.0.min(other.0), one.1.max(other.1)))
        }
        ExprKind::Cast(operand) => of(*operand),
        ExprKind::Uniform(operand) => of(*operand),
        ExprKind::Math { func: MathFn::Abs, arg } => {
            let (low, high) = of(*arg)?;
            Some((0, high.max(low.saturating_neg())))
        }
        ExprKind::Math { func, arg } => {
            let (min, max) = kernel.exprs[*arg].ty.integer_range()?;
            // A number that a launch names is 0 in the smallest, where no bit is first.
            let is_open = matches!(launch, Launch::Least) && of(*arg) == Some((0, 0));
            let width = (max - min).count_ones();
            let counted = counted(*func, of(*arg), width)?;
            Some(if is_open { (0, 0) } else { counted })
        }
        ExprKind::Tiles { extent, .. } => of(*extent).map(|(_, high)| (0, high.max(0))),
        ExprKind::Compare { .. } | ExprKind::Logic { .. } | ExprKind::InBounds { .. } => None,
    }
}

/// What an operator makes; of one that only takes away, also where little is known of a part.
fn binary(
    kernel: &Kernel,
    (expr, op): (ExprId, BinaryOp),
    lhs: Option<Range>,
    rhs: Option<Range>,
) -> Option<Range> {
    if let Some(masked) = masked(kernel, expr) {
        // What is shifted is what it is, unless it may have wrapped.
        let known = (op == BinaryOp::Shr).then_some(lhs).flatten();
        let is_kept = |(low, high): &Range| {
            let whole = kernel.exprs[expr].ty.integer_range();
            whole.is_some_and(|(min, max)| min <= *low && *high <= max)
        };
        let shifted = known.filter(is_kept).zip(rhs).map(|(lhs, by)| range_of(op, lhs, by));
        return Some(shifted.unwrap_or(masked));
    }
    match op {
        BinaryOp::Rem => {
            let is_signed = lhs.is_none_or(|(low, _)| low < 0);
            let left = rhs.map(|rhs| left_by(rhs, is_signed));
            match (left, lhs) {
                (Some(left), Some(lhs)) if !is_signed => Some((0, left.1.min(lhs.1))),
                (left, _) => left,
            }
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            // No bit is above the highest of both.
            let (lhs, rhs) = (lhs?, rhs?);
            let most = lhs.1.max(rhs.1).max(!lhs.0.min(rhs.0).min(-1));
            let most = (most.unsigned_abs() + 1).checked_next_power_of_two()?;
            let most = i128::try_from(most).ok()?;
            let is_natural = lhs.0 >= 0 && rhs.0 >= 0;
            Some((if is_natural { 0 } else { -most }, most - 1))
        }
        BinaryOp::Shl | BinaryOp::Shr => {
            let (lhs, counts) = (lhs?, rhs?);
            if !is_count(rhs) {
                return Some(FAR);
            }
            let powers = (1_i128 << counts.0, 1_i128 << counts.1);
            if op == BinaryOp::Shl {
                return Some(range_of(BinaryOp::Mul, lhs, powers));
            }
            let ends = [lhs.0 >> counts.0, lhs.0 >> counts.1, lhs.1 >> counts.0, lhs.1 >> counts.1];
            Some((*ends.iter().min()?, *ends.iter().max()?))
        }
        op => Some(range_of(op, lhs?, rhs?)),
    }
}

/// Whether a number says by how many places 64 bits are shifted.
fn is_count(range: Option<Range>) -> bool {
    range.is_some_and(|(low, high)| low >= 0 && high <= 63)
}

/// Whether an expression is made of nothing that is loaded or changes.
fn is_of_launch(kernel: &Kernel, sources: &Sources, expr: ExprId) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let is_of_launch = |part: &ExprId| is_of_launch(kernel, sources, *part);
    match kind {
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Let { .. } => sources.lets.get(var).is_some_and(is_of_launch),
            VarKind::Loop => {
                let bounds = sources.counters.get(var);
                bounds.is_some_and(|(start, end)| is_of_launch(start) && is_of_launch(end))
            }
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each => true,
        },
        ExprKind::Load(_) => false,
        _ => kind.operands().iter().all(is_of_launch),
    }
}

/// Whether numbers of a type are loaded that may be any index.
fn is_long(ty: Type) -> bool {
    ty.integer_range().is_some_and(|(_, max)| max > u32::MAX.into())
}
