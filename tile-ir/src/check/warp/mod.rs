//! Which values the work-items of a warp agree on by their numbers alone.
//!
//! A warp is 32 work-items that follow one another in row-major order
//! ([`crate::exchange`]). Let `n` be a work-item's number, as a polynomial over
//! the axes of the block. All work-items of a warp agree on
//!
//! - `n / m`, `n >> k`, `n < m` and the like, with m (or 2^k) a multiple of 32, of an
//!   index or of `n` as an integer of 32 bits or more; also of `n + r`, where r is a natural
//!   multiple of 32 that is the same for the block, as in `(bx * 256 + tx) / 32`;
//! - an axis, where the axes after it have a multiple of 32 points together: `w`
//!   with the block `(w in W, lane in 32)`;
//! - what is computed to be the same for each of them ([`points`]);
//! - what is made of lanes and of multiples of 32, by way of counters and variables too
//!   ([`lanes`]).
//!
//! What follows from these, [`super::flow`] finds. Anything else counts as
//! different.

mod lanes;
mod points;

pub(super) use self::lanes::{Aligned, Known};

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeMap;

use super::exact::Exact;
use super::fold::enter_all;
use super::interval::literal;
use super::poly::{Atom, Bounds, Poly};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::exchange::WARP_ITEMS;
use crate::kernel::{
    Axis, ElemType, ExprId, ExprKind, Kernel, Literal, TileDomain, TileParamId, Type, VarId,
    VarKind, concerns_warps, immutable_lets,
};
use crate::op::{BinaryOp, CompareOp};

/// What the work-items of a warp agree on, for all admissible sizes.
#[derive(Debug)]
pub(super) struct Warps<'a> {
    kernel: &'a Kernel,
    lets: BTreeMap<VarId, ExprId>,
    /// Whether the work-items of a warp do something together at all.
    are_concerned: bool,
    vars: Vec<bool>,
    exprs: Vec<bool>,
    /// By expression, whether it is the number of a lane that every warp has.
    lanes: Vec<bool>,
    /// By expression, whether it is the work-item's number, be it with what begins a warp.
    numbers: Vec<bool>,
    exact: OnceCell<Exact>,
}

impl<'a> Warps<'a> {
    /// Looks through a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let lets = immutable_lets(&kernel.body, kernel);
        let mut warps = Self {
            kernel,
            are_concerned: concerns_warps(&kernel.body),
            lets: BTreeMap::new(),
            vars: vec![false; kernel.vars.len()],
            exprs: vec![false; kernel.exprs.len()],
            lanes: vec![false; kernel.exprs.len()],
            numbers: vec![false; kernel.exprs.len()],
            exact: OnceCell::new(),
        };
        let axes = kernel.block.as_deref().unwrap_or_default();
        let mut whole = false;
        for axis in axes.iter().rev() {
            warps.vars[axis.var.index()] = whole;
            whole |= is_multiple(kernel, axis.extent);
        }
        let mut bounds = Bounds::new(kernel);
        enter_all(kernel, &kernel.body, &mut bounds);
        let number = number(&mut bounds, axes);
        let exact = LazyCell::new(|| Exact::of(kernel));
        let items = items(&mut bounds, axes);
        let are_whole = whole || starts_warp(kernel, items);
        let n_lanes = if are_whole { i128::from(WARP_ITEMS) } else { 1 };
        for (id, expr) in kernel.exprs.iter() {
            warps.lanes[id.index()] = (0..n_lanes).any(|lane| literal(kernel, id) == Some(lane));
            let mut is_number = |id: ExprId| {
                modular(kernel, &lets, &mut bounds, id).is_some_and(|n| {
                    let is_later = || starts_warp(kernel, n.clone().sub(&number));
                    n == number || is_later() && is_plain(kernel, &lets, &exact, id)
                })
            };
            let is_sum = matches!(expr.kind, ExprKind::Binary { op: BinaryOp::Add, .. });
            warps.numbers[id.index()] = warps.are_concerned && is_sum && is_number(id);
            warps.exprs[id.index()] = match expr.kind {
                ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } => {
                    is_multiple(kernel, rhs) && is_number(lhs)
                }
                ExprKind::Binary { op: BinaryOp::Shr, lhs, rhs } => {
                    literal(kernel, rhs).is_some_and(|by| by >= 5) && is_number(lhs)
                }
                ExprKind::Compare { op, lhs, rhs } => {
                    let (lhs_first, lhs_last) = begins(op);
                    let (rhs_first, rhs_last) = begins(op.mirrored());
                    (is_edge(kernel, rhs, lhs_first, lhs_last) && is_number(lhs))
                        || (is_edge(kernel, lhs, rhs_first, rhs_last) && is_number(rhs))
                }
                ExprKind::Literal(_)
                | ExprKind::Var(_)
                | ExprKind::Load(_)
                | ExprKind::Unary { .. }
                | ExprKind::Binary { .. }
                | ExprKind::Logic { .. }
                | ExprKind::Select { .. }
                | ExprKind::Cast(_)
                | ExprKind::Math { .. }
                | ExprKind::Tiles { .. }
                | ExprKind::Uniform(_)
                | ExprKind::InBounds { .. } => false,
            };
        }
        warps.lets = lets;
        warps
    }

    /// The numbers that a launch keeps in their types.
    fn exact(&self) -> &Exact {
        self.exact.get_or_init(|| Exact::of(self.kernel))
    }

    /// Whether this axis of the block has one value for each warp.
    pub(super) fn agree_on_axis(&self, var: VarId) -> bool {
        self.vars[var.index()]
    }

    /// Whether this expression is the number of a lane that every warp has.
    pub(super) fn all_have(&self, lane: ExprId) -> bool {
        self.lanes[lane.index()]
    }

    /// Whether this expression has one value for each warp.
    pub(super) fn agree_on(&self, expr: ExprId) -> bool {
        self.exprs[expr.index()] || self.are_concerned && self.agree_at_points(expr)
    }

    fn agree_at_points(&self, expr: ExprId) -> bool {
        let is_made = matches!(
            self.kernel.exprs[expr].kind,
            ExprKind::Binary { .. } | ExprKind::Compare { .. } | ExprKind::Logic { .. }
        );
        is_made && points::agree(self.kernel, &self.lets, expr)
    }
}

/// Whether the work-items of a block are a warp's at most, at every admissible size, and do
/// something together as such.
pub(super) fn is_one_warp(kernel: &Kernel) -> bool {
    let Some(axes) = kernel.block.as_deref().filter(|_| concerns_warps(&kernel.body)) else {
        return false;
    };
    let mut bounds = Bounds::new(kernel);
    let items = items(&mut bounds, axes);
    bounds.is_never_negative(&Poly::constant(WARP_ITEMS.into()).sub(&items))
}

/// How many work-items a block has.
fn items(bounds: &mut Bounds<'_>, axes: &[Axis]) -> Poly {
    let extents = axes.iter().map(|axis| bounds.poly(axis.extent));
    extents.fold(Poly::constant(1), |items, extent| items.mul(&extent))
}

/// A work-item's number, row-major over the axes.
fn number(bounds: &mut Bounds<'_>, axes: &[Axis]) -> Poly {
    let mut number = Poly::default();
    for axis in axes {
        let extent = bounds.poly(axis.extent);
        number = number.mul(&extent).add(&Poly::var(axis.var));
    }
    number
}

/// What an integer of 32 bits or more, or an index, is but for turns of its range: a block
/// has fewer work-items than turn the range, so that their number is the number itself.
/// `None` where the integer is made of others, of fewer bits too.
fn modular(
    kernel: &Kernel,
    lets: &BTreeMap<VarId, ExprId>,
    bounds: &mut Bounds<'_>,
    id: ExprId,
) -> Option<Poly> {
    let bits = |id: ExprId| match kernel.exprs[id].ty {
        Type::Index => Some(64),
        Type::Scalar(ElemType::Concrete(dtype)) if dtype.integer_range().is_some() => {
            Some(8 * dtype.size_bytes()).filter(|bits| *bits >= 32)
        }
        Type::Scalar(_) => None,
    };
    let own = bits(id)?;
    if bounds.is_index(id) {
        return Some(bounds.poly(id));
    }
    let mut side = |id: ExprId| modular(kernel, lets, bounds, id);
    match kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(Poly::constant(value)),
        ExprKind::Var(var) => side(*lets.get(&var)?),
        // Turns of a shorter range are none of a longer one.
        ExprKind::Cast(operand) if bits(operand)? >= own => side(operand),
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => Some(side(lhs)?.add(&side(rhs)?)),
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => Some(side(lhs)?.sub(&side(rhs)?)),
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => Some(side(lhs)?.mul(&side(rhs)?)),
        ExprKind::Literal(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::Tiles { .. }
        | ExprKind::Uniform(_)
        | ExprKind::InBounds { .. } => None,
    }
}

/// Whether a number is natural, the same for the block, and a multiple of a warp's size.
fn starts_warp(kernel: &Kernel, number: Poly) -> bool {
    number.terms().all(|(product, factor)| {
        let var = |atom: &Atom| match atom {
            Atom::Var(var) => Some(kernel.vars[*var].kind),
            _ => None,
        };
        let is_natural = |atom: &Atom| {
            matches!(var(atom), Some(VarKind::Grid | VarKind::Dim | VarKind::TileParam(_)))
        };
        let twos = |atom: &Atom| match var(atom) {
            Some(VarKind::TileParam(param)) => twos_of_param(kernel, param),
            _ => 0,
        };
        factor > 0
            && product.iter().all(is_natural)
            && twos_of(factor) + product.iter().map(twos).sum::<u32>() >= WARP_TWOS
    })
}

/// Whether a sum is the number itself: no launch wraps it to below 0, where division would
/// round up.
fn is_plain(kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>, exact: &Exact, id: ExprId) -> bool {
    let expr = &kernel.exprs[id];
    match expr.kind {
        ExprKind::Var(var) if lets.contains_key(&var) => {
            lets.get(&var).is_some_and(|init| is_plain(kernel, lets, exact, *init))
        }
        _ => expr.ty != Type::Scalar(ElemType::Concrete(DType::I32)) || exact.contains(id),
    }
}

/// Of `number op limit`: whether the result can change at the first of a warp's
/// numbers, and after the last.
const fn begins(op: CompareOp) -> (bool, bool) {
    match op {
        CompareOp::Lt | CompareOp::Ge => (true, false),
        CompareOp::Le | CompareOp::Gt => (false, true),
        CompareOp::Eq | CompareOp::Ne => (false, false),
    }
}

/// Whether a limit is the number of a warp's first work-item, or of a last one.
fn is_edge(kernel: &Kernel, limit: ExprId, first: bool, last: bool) -> bool {
    let is_last = |value: i128| (value + 1).rem_euclid(i128::from(WARP_ITEMS)) == 0;
    (first && is_multiple(kernel, limit)) || (last && literal(kernel, limit).is_some_and(is_last))
}

/// Whether an expression is made of tile parameters and numbers alone, and a multiple of a warp's
/// size, and not 0, at all admissible sizes.
fn is_multiple(kernel: &Kernel, expr: ExprId) -> bool {
    twos(kernel, expr).is_some_and(|twos| twos >= WARP_TWOS)
}

/// Factors of 2 of a warp's size.
const WARP_TWOS: u32 = WARP_ITEMS.trailing_zeros();

/// How many factors of 2 a product of tile parameters and numbers has at least, at all admissible
/// sizes, where it is never 0. `None` of anything else, which may be a work-item's own.
fn twos(kernel: &Kernel, expr: ExprId) -> Option<u32> {
    match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => (value != 0).then(|| twos_of(value)),
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
            Some(twos(kernel, lhs)? + twos(kernel, rhs)?)
        }
        ExprKind::Var(var) => match kernel.vars[var].kind {
            VarKind::TileParam(param) => Some(twos_of_param(kernel, param)),
            VarKind::Dim
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => None,
        },
        _ => None,
    }
}

/// Factors of 2 of a number other than 0.
fn twos_of(value: i128) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() }
}

fn twos_of_param(kernel: &Kernel, param: TileParamId) -> u32 {
    let of = |value: u32| twos_of(value.into());
    match &kernel.tile_params[param].domain {
        TileDomain::Any => 0,
        TileDomain::Range { min, max, .. } if min == max => of(*min),
        TileDomain::Range { min, step, .. } => of(*min).min(of(*step)),
        TileDomain::Pow2 { min, .. } => of(*min),
        TileDomain::List(values) => values.iter().map(|value| of(*value)).min().unwrap_or(0),
        TileDomain::Equal(value) => twos(kernel, *value).unwrap_or(0),
    }
}
