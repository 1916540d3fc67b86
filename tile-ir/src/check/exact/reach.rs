//! How far bounded numbers go in a launch.

use super::floats::{ends, nearest, whole_of};
use super::parts::parts;
use super::sources::{Sources, Width, difference, small_range};
use crate::check::ending::Way;
use crate::check::interval::{FAR, Range, left_by, masked, range_of, rounded};
use crate::check::stepped::{Step, Trips};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, VarId, VarKind, ceil_div, eval_index};
use crate::op::{BinaryOp, MathFn, UnaryOp};

impl Sources {
    /// The least and the greatest value of an expression; `None` where it is never asked
    /// for, as in a loop that does not run.
    pub(super) fn range(
        &self,
        kernel: &Kernel,
        expr: ExprId,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let range = |expr| self.range(kernel, expr, value);
        if let Some((of, unit)) = rounded(kernel, expr) {
            let (low, high) = range(of)?;
            return Some((low & -unit, high & -unit));
        }
        if let Some(masked) = masked(kernel, expr) {
            let parts = self.parts_of_bits(kernel, expr).unwrap_or_default();
            let is_known = !parts.is_empty() && parts.iter().all(|of| self.is_bounded(kernel, *of));
            return match is_known {
                true => self.range_of_bits(kernel, expr, &range),
                false => Some(masked),
            };
        }
        if let Some(var) = whole_of(kernel, expr) {
            let ty = kernel.exprs[expr].ty;
            let number = value(var).map(|number| nearest(number, ty));
            return Some(number.map_or(ends(ty), |number| (number, number)));
        }
        // What is never asked for has no range.
        if self.parts_of_bits(kernel, expr).is_some() {
            return self.range_of_bits(kernel, expr, &range);
        }
        if let Some((least, high)) = self.rounded_down(kernel, expr).and_then(range)
            && least >= 0
        {
            return Some((0, high));
        }
        match kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(number)) => Some((number, number)),
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => {
                    Some(value(var).map_or(FAR, |value| (value, value)))
                }
                VarKind::Grid | VarKind::Block | VarKind::Each => {
                    match eval_index(kernel, *self.axes.get(&var)?, value) {
                        Some(extent) => (extent > 0).then_some((0, extent - 1)),
                        None => Some(FAR),
                    }
                }
                VarKind::Loop => {
                    let (start, end) = self.counters.get(&var)?;
                    let (first, last) = (range(*start)?.0, range(*end)?.1.saturating_sub(1));
                    (first <= last).then_some((first, last))
                }
                VarKind::Let { .. } if let Some(limit) = self.limits.get(&var) => {
                    Some((0, range(*limit)?.1.max(0)))
                }
                VarKind::Let { .. } => match self.lets.get(&var) {
                    Some(init) => range(*init),
                    None if self.is_counted(kernel, expr, var) => {
                        self.counted(kernel, (expr, var), value)
                    }
                    None => self.range_of_all(kernel, var, value),
                },
            },
            ExprKind::Cast(of) => {
                let (low, high) = small_range(kernel.exprs[of].ty).or_else(|| range(of))?;
                let is_natural = Width::of(kernel.exprs[expr].ty) == Some(Width::Unsigned);
                Some(if is_natural { (low.max(0), high.max(0)) } else { (low, high) })
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                Some(range_of(BinaryOp::Sub, (0, 0), range(operand)?))
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let (low, high) = range(operand)?;
                Some((!high, !low))
            }
            ExprKind::Math { func: MathFn::Abs, arg } => {
                let (low, high) = range(arg)?;
                let most = low.saturating_abs().max(high.saturating_abs());
                Some((if low <= 0 && high >= 0 { 0 } else { low.abs().min(high.abs()) }, most))
            }
            ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => {
                let is_signed = Width::of(kernel.exprs[expr].ty) != Some(Width::Unsigned);
                Some(left_by(range(rhs)?, is_signed))
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (low, high) = range_of(op, range(lhs)?, range(rhs)?);
                // What is below 0 is none of those that are asked for.
                let is_natural = difference(kernel, expr).is_some();
                Some(if is_natural { (low.max(0), high.max(0)) } else { (low, high) })
            }
            ExprKind::Select { then, otherwise, .. } => match (range(then), range(otherwise)) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            },
            ExprKind::Tiles { extent, tile } => Some(tiles_of(range(extent)?, range(tile)?)),
            ref other => {
                debug_assert!(parts(other).is_none(), "a bounded expression is made of parts");
                None
            }
        }
    }

    /// How far such a variable goes.
    pub(super) fn range_of_all(
        &self,
        kernel: &Kernel,
        var: VarId,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let course = self.stepped.course(var)?;
        let starts = course.starts.iter().filter_map(|expr| self.range(kernel, *expr, value));
        let from = starts.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        let sum = |from: Range, step: &Step| {
            let Some(by) = self.range(kernel, step.by, value) else { return from };
            let by = match step.way {
                Way::Up => by,
                Way::Down => (by.1.saturating_neg(), by.0.saturating_neg()),
            };
            let loops = step.loops.iter().flatten();
            let times = loops.fold(1, |times: i128, trips| {
                times.saturating_mul(self.times(kernel, trips, value))
            });
            let (least, most) =
                (by.0.min(0).saturating_mul(times), by.1.max(0).saturating_mul(times));
            (from.0.saturating_add(least), from.1.saturating_add(most))
        };
        Some(course.steps.iter().fold(from, sum))
    }

    /// How often a loop is run at most.
    pub(super) fn times(
        &self,
        kernel: &Kernel,
        trips: &Trips,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> i128 {
        let range = |expr: ExprId| self.range(kernel, expr, value);
        match trips {
            Trips::Halved => i128::from(u64::BITS),
            Trips::Counted { start, end, step } => {
                let (Some(start), Some(end)) = (range(*start), range(*end)) else { return 0 };
                let room = end.1.saturating_sub(start.0).max(0);
                let by = step.and_then(range).map_or(1, |step| step.0.max(1));
                room.saturating_add(by - 1) / by
            }
            Trips::Stepped { var, end, by } => {
                let starts = self.stepped.starts(*var).iter();
                let bound = end.bound.range(&range);
                let (Some(bound), Some(by)) = (bound, range(*by)) else { return 0 };
                let ends = starts.filter_map(|start| range(*start));
                let room = ends.map(|start| match end.way {
                    Way::Up => bound.1.saturating_sub(start.0),
                    Way::Down => start.1.saturating_sub(bound.0),
                });
                // Below 0 a number is not reached by its double.
                let is_below = |start: &ExprId| range(*start).is_some_and(|start| start.0 < 0);
                match room.max() {
                    None => 0,
                    Some(_) if by.0 < 1 => i128::MAX,
                    Some(_) if end.twice && self.stepped.starts(*var).iter().any(is_below) => {
                        i128::MAX
                    }
                    Some(room) if room < 0 => 0,
                    Some(room) => (room / by.0).saturating_add(1),
                }
            }
        }
    }

    /// The same of a use of a variable that a loop counts by hand.
    pub(super) fn counted(
        &self,
        kernel: &Kernel,
        (expr, var): (ExprId, VarId),
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> Option<Range> {
        let (end, course) = self.stepped.at(expr, var)?;
        let range = |expr: &ExprId| self.range(kernel, *expr, value);
        let starts = || course.starts.iter().filter_map(range);
        let bound = end.bound.range(&|part| range(&part))?;
        let beside = i128::from(!end.met);
        if end.twice && !self.stays_small(kernel, var, value) {
            return Some(FAR);
        }
        let (low, high) = match end.way {
            Way::Up => (starts().map(|start| start.0).min()?, bound.1.saturating_sub(beside)),
            Way::Down => (bound.0.saturating_add(beside), starts().map(|start| start.1).max()?),
        };
        let (least, most) =
            kernel.vars[var].ty.integer_range().unwrap_or((i64::MIN.into(), i64::MAX.into()));
        let goes_on = |step: Range| {
            let is_inside = match end.way {
                Way::Up => high.saturating_add(step.1) <= most,
                Way::Down => least <= low.saturating_sub(step.1),
            };
            step.0 >= 0 && is_inside
        };
        let mut steps = course.steps.iter().filter_map(|step| range(&step.by));
        let keeps_on = steps.all(goes_on);
        (low <= high).then_some(if keeps_on { (low, high) } else { FAR })
    }

    /// Whether a variable is never below 0, and its double never leaves its type: then it is
    /// no larger than that, and what that has not reached it has not either. As long as the
    /// double is in its type it ends the loop in time, so that the variable comes no further
    /// than is reckoned.
    fn stays_small(
        &self,
        kernel: &Kernel,
        var: VarId,
        value: &dyn Fn(VarId) -> Option<i128>,
    ) -> bool {
        let most = kernel.vars[var].ty.integer_range().map_or(i64::MAX.into(), |(_, max)| max);
        let range = self.range_of_all(kernel, var, value);
        range.is_some_and(|(low, high)| low >= 0 && high <= most / 2)
    }
}

/// What division rounded up makes of two ranges; more tiles there are of what is larger, and fewer
/// of larger ones. Of tiles of no size there is none.
fn tiles_of(extent: Range, tile: Range) -> Range {
    match tile.0 {
        1.. => (ceil_div(extent.0, tile.1), ceil_div(extent.1, tile.0)),
        _ => (0, extent.1.max(0)),
    }
}
