//! A launch, a block and some work-items of it, and what expressions are there, as far as the
//! text tells.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::super::amounts::is_whole;
use super::super::data::Number;
use super::super::sizes::Sizes;
use super::Given;
use super::goals::{EARLIER, Goal, READER, Side, Who};
use super::made::Taken;
use super::text::Text;
use crate::arena::EntityId as _;
use crate::config::complete_tiles;
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, TileDomain, Type,
    VarId, VarKind,
};
use crate::op::{BinaryOp, LogicOp, MathFn, UnaryOp};

/// How deep expressions are looked into, and into how many for one value.
const MAX_DEPTH: u32 = 32;
const MAX_STEPS: u32 = 256;

const F32: Type = Type::Scalar(ElemType::Concrete(DType::F32));

/// One launch, one block and a work-item of it for each access, in one round of each loop.
#[derive(Clone)]
pub(super) struct Guess<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    pub(super) sizes: Sizes,
    pub(super) given: Given,
    /// Of blocks, work-items and rounds.
    pub(super) coordinates: BTreeMap<(VarId, Who), i128>,
    /// Which of its values a variable has, and what is loaded from a tile.
    pub(super) of_vars: BTreeMap<(VarId, Who), usize>,
    pub(super) of_tiles: BTreeMap<(ExprId, Who), usize>,
    /// What numbers are that loops make, if any are taken.
    pub(super) taken: Option<Taken>,
    /// Of variables whose values are looked at, from which of these on none counts: what one is
    /// set to is made of what it was before.
    before: RefCell<BTreeMap<VarId, usize>>,
    /// How many expressions may still be looked into for one value.
    left: Cell<u32>,
}

impl<'t, 'a> Guess<'t, 'a> {
    pub(super) fn of(text: &'t Text<'a>, sizes: Sizes) -> Self {
        Self {
            text,
            sizes,
            given: Given::default(),
            coordinates: BTreeMap::new(),
            of_vars: BTreeMap::new(),
            of_tiles: BTreeMap::new(),
            taken: None,
            before: RefCell::new(BTreeMap::new()),
            left: Cell::new(MAX_STEPS),
        }
    }

    pub(super) fn kernel(&self) -> &'a Kernel {
        self.text.plain.kernel
    }

    /// The value that a variable has of those that it is set to.
    pub(super) fn set(&self, var: VarId, who: Who) -> Option<ExprId> {
        let all = self.text.values.vars.get(&var)?;
        all.get(self.chosen(var, who)).copied()
    }

    /// The number of that value.
    fn chosen(&self, var: VarId, who: Who) -> usize {
        let count = self.text.values.vars.get(&var).map_or(0, Vec::len);
        let own = self.of_vars.get(&(var, who)).copied().unwrap_or(0) % count.max(1);
        let before = self.before.borrow().get(&var).copied();
        before.map_or(own, |before| own.min(before.saturating_sub(1)))
    }

    /// The value of a variable by what it is set to.
    fn set_to(&self, (var, who): (VarId, Who), depth: u32) -> Option<Number> {
        let (value, chosen) = (self.set(var, who)?, self.chosen(var, who));
        let before = self.before.borrow_mut().insert(var, chosen);
        let found = self.within((value, who), depth);
        match before {
            Some(before) => self.before.borrow_mut().insert(var, before),
            None => self.before.borrow_mut().remove(&var),
        };
        found
    }

    /// The same of what is loaded from a tile.
    pub(super) fn stored(&self, load: ExprId, who: Who) -> Option<ExprId> {
        let all = self.text.stored.get(&load)?;
        all.get(self.of_tiles.get(&(load, who)).copied().unwrap_or(0) % all.len().max(1)).copied()
    }

    /// Whether a number that loops make is taken for some.
    pub(super) fn is_taken(&self, var: VarId) -> bool {
        self.taken.is_some() && self.text.made.has(var)
    }

    /// The same of what updates make of a tile's elements.
    pub(super) fn is_taken_of(&self, array: ArrayRef) -> bool {
        self.taken.is_some() && self.text.made.has_tile(array)
    }

    fn taken_for(&self, var: VarId) -> Option<Number> {
        let taken = self.taken.as_ref().filter(|_| self.text.made.has(var))?;
        Some(taken.vars.get(&var).copied().unwrap_or(Number::Int(0)))
    }

    /// A coordinate: all work-items are of one block, and each is the same in all rounds.
    pub(super) fn at(&self, var: VarId, who: Who) -> (VarId, Who) {
        let who = match self.kernel().vars[var].kind {
            VarKind::Grid => READER,
            VarKind::Block | VarKind::Each if who >= EARLIER => READER,
            _ => who,
        };
        (var, who)
    }

    /// A coordinate of a loop that is in none of its rounds, and the round next to it.
    pub(super) fn off_round(&self) -> Option<((VarId, Who), i128)> {
        self.coordinates.iter().find_map(|((var, who), at)| {
            let round = match self.text.rounds.get(var)? {
                LoopRange::Between { start, step: Some(step), .. } => {
                    let [start, step] = [start, step].map(|part| self.value(*part, *who)?.whole());
                    at - (at - start?).checked_rem_euclid(step?.max(1))?
                }
                LoopRange::Between { .. } => *at,
                LoopRange::Halving(_) | LoopRange::Doubling(_) => {
                    at.checked_ilog2().map_or(1, |bit| 1 << bit)
                }
            };
            (round != *at).then_some(((*var, *who), round))
        })
    }

    pub(super) fn holds(&self, goal: &Goal) -> bool {
        let sides = self.side(goal.lhs).zip(self.side(goal.rhs));
        sides.is_some_and(|(lhs, rhs)| lhs.compares(goal.op, rhs) == goal.holds)
    }

    pub(super) fn side(&self, (side, who): (Side, Who)) -> Option<Number> {
        self.left.set(MAX_STEPS);
        match side {
            Side::Expr(expr) => self.value(expr, who),
            Side::Var(var) => self.var((var, who), MAX_DEPTH),
            Side::Number(number) => Some(Number::Int(number)),
        }
    }

    pub(super) fn value(&self, expr: ExprId, who: Who) -> Option<Number> {
        self.left.set(MAX_STEPS);
        self.within((expr, who), MAX_DEPTH)
    }

    /// Which element a load of a tensor is of.
    pub(super) fn element(&self, access: &Access, who: Who) -> Option<(ArrayRef, Vec<i64>)> {
        self.left.set(MAX_STEPS);
        self.element_within((access, who), MAX_DEPTH)
    }

    fn element_within(
        &self,
        (access, who): (&Access, Who),
        depth: u32,
    ) -> Option<(ArrayRef, Vec<i64>)> {
        let of = |index: &ExprId| i64::try_from(self.within((*index, who), depth)?.whole()?).ok();
        Some((access.array, access.indices.iter().map(of).collect::<Option<_>>()?))
    }

    fn within(&self, (expr, who): (ExprId, Who), depth: u32) -> Option<Number> {
        let depth = depth.checked_sub(1)?;
        self.left.set(self.left.get().checked_sub(1)?);
        self.text.look()?;
        let of = |part: ExprId| self.within((part, who), depth);
        let kernel = self.kernel();
        let ty = kernel.exprs[expr].ty;
        Some(match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Number::Int(*value),
            ExprKind::Literal(Literal::Float(value)) => Number::Float(*value),
            ExprKind::Literal(Literal::Bool(value)) => Number::Int(i128::from(*value)),
            ExprKind::Var(var) => self.var((*var, who), depth)?,
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tensor(_) => {
                    let known =
                        self.given.elements.get(&self.element_within((access, who), depth)?);
                    known.copied().unwrap_or(Number::Int(0))
                }
                ArrayRef::Tile(_) if self.is_taken_of(access.array) => {
                    let element = self.element_within((access, who), depth)?;
                    let known = self.taken.as_ref().and_then(|taken| taken.elements.get(&element));
                    known.copied().unwrap_or(Number::Int(0))
                }
                ArrayRef::Tile(_) => of(self.stored(expr, who)?)?,
            },
            ExprKind::Unary { op: UnaryOp::Neg, operand } => wrapped(of(*operand)?.negated(), ty),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                Number::Int(i128::from(of(*operand)?.whole()? == 0))
            }
            ExprKind::Binary { op, lhs, rhs } => wrapped(made_of(*op, of(*lhs)?, of(*rhs)?)?, ty),
            ExprKind::Compare { op, lhs, rhs } => {
                Number::Int(i128::from(of(*lhs)?.compares(*op, of(*rhs)?)))
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let is = |part: ExprId| Some(of(part)?.whole()? != 0);
                Number::Int(i128::from(match op {
                    LogicOp::And => is(*lhs)? && is(*rhs)?,
                    LogicOp::Or => is(*lhs)? || is(*rhs)?,
                }))
            }
            ExprKind::Select { cond, then, otherwise } => {
                of(if of(*cond)?.whole()? != 0 { *then } else { *otherwise })?
            }
            ExprKind::Cast(operand) => cast(of(*operand)?, ty),
            ExprKind::Uniform(operand) => of(*operand)?,
            ExprKind::Math { func, arg } => computed(*func, of(*arg)?, kernel.exprs[*arg].ty)?,
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (of(*extent)?.whole()?, of(*tile)?.whole()?);
                let last = extent.checked_add(tile)?.checked_sub(1)?;
                Number::Int(last.checked_div(tile)?)
            }
            ExprKind::InBounds { tensor, indices } => {
                let ends = indices.iter().zip(&kernel.tensors[*tensor].extents);
                let is_inside = |(index, end): (&ExprId, &ExprId)| {
                    Some((0..of(*end)?.whole()?).contains(&of(*index)?.whole()?))
                };
                let all: Vec<bool> = ends.map(is_inside).collect::<Option<_>>()?;
                Number::Int(i128::from(all.iter().all(|is| *is)))
            }
            ExprKind::Literal(Literal::Named(_)) => return None,
        })
    }

    fn var(&self, (var, who): (VarId, Who), depth: u32) -> Option<Number> {
        match self.kernel().vars[var].kind {
            VarKind::Let { .. } => match self.taken_for(var) {
                Some(number) => Some(number),
                None => self.set_to((var, who), depth),
            },
            VarKind::Scalar(_) | VarKind::Dim | VarKind::TileParam(_) => {
                let whole = self.sizes.values[var.index()].map(|value| Number::Int(value.into()));
                self.given.scalars.get(&var).map(|value| Number::Float(*value)).or(whole)
            }
            VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop => {
                let at = self.coordinates.get(&self.at(var, who)).copied();
                Some(Number::Int(at.unwrap_or(0)))
            }
        }
    }

    /// The tile parameter's values again, with this one; `None` where that is not admissible.
    pub(super) fn with_tile(&self, var: VarId, value: i128) -> Option<Sizes> {
        let kernel = self.kernel();
        let own = kernel
            .tile_params
            .iter()
            .filter(|(_, param)| !matches!(param.domain, TileDomain::Equal(_)));
        let given = own.map(|(id, param)| {
            let own = match param.var == var {
                true => value,
                false => self.sizes.values[param.var.index()]?.into(),
            };
            Some((id, u32::try_from(own).ok()?))
        });
        let tiles = complete_tiles(kernel, &given.collect::<Option<Vec<_>>>()?).ok()?;
        let mut sizes = self.sizes.clone();
        for (param, tile) in kernel.tile_params.values().zip(tiles) {
            sizes.values[param.var.index()] = Some(tile.into());
        }
        Some(sizes)
    }
}

/// A number as a type has it that does not have it itself.
pub(super) fn wrapped(number: Number, ty: Type) -> Number {
    match (number, ty.integer_range()) {
        (Number::Int(value), Some((least, most))) => {
            Number::Int((value - least).rem_euclid(most - least + 1) + least)
        }
        _ => number,
    }
}

fn cast(number: Number, ty: Type) -> Number {
    match number {
        Number::Float(value) if is_whole(ty) => {
            let (least, most) = ty.integer_range().unwrap_or((0, i64::MAX.into()));
            Number::Int((value as i128).clamp(least, most))
        }
        // Not every number has a float of its own.
        Number::Int(value) if ty == F32 => Number::Int(value as f32 as i128),
        number => wrapped(number, ty),
    }
}

fn computed(func: MathFn, arg: Number, ty: Type) -> Option<Number> {
    let real = arg.real();
    let (least, most) = ty.integer_range().unwrap_or((0, 0));
    Some(match (func, arg) {
        (MathFn::Abs, Number::Int(value)) => Number::Int(value.checked_abs()?),
        (MathFn::Abs, _) => Number::Float(real.abs()),
        (MathFn::CountOnes, Number::Int(value)) => {
            Number::Int((value & (most - least)).count_ones().into())
        }
        (MathFn::Sqrt, _) => Number::Float(real.sqrt()),
        (MathFn::Exp, _) => Number::Float(real.exp()),
        (MathFn::Log, _) => Number::Float(real.ln()),
        (MathFn::Floor, _) => Number::Float(real.floor()),
        (MathFn::Ceil, _) => Number::Float(real.ceil()),
        _ => return None,
    })
}

fn made_of(op: BinaryOp, lhs: Number, rhs: Number) -> Option<Number> {
    let (Number::Int(one), Number::Int(other)) = (lhs, rhs) else {
        let (one, other) = (lhs.real(), rhs.real());
        let made = match op {
            BinaryOp::Add => one + other,
            BinaryOp::Sub => one - other,
            BinaryOp::Mul => one * other,
            BinaryOp::Div => one / other,
            BinaryOp::Min => one.min(other),
            BinaryOp::Max => one.max(other),
            _ => return None,
        };
        return Some(Number::Float(made));
    };
    let shift = || u32::try_from(other).ok().filter(|by| *by < 64);
    Some(Number::Int(match op {
        BinaryOp::Add => one.checked_add(other)?,
        BinaryOp::Sub => one.checked_sub(other)?,
        BinaryOp::Mul => one.checked_mul(other)?,
        BinaryOp::Div => one.checked_div(other)?,
        BinaryOp::Rem => one.checked_rem(other)?,
        BinaryOp::And => one & other,
        BinaryOp::Or => one | other,
        BinaryOp::Xor => one ^ other,
        BinaryOp::Shl => one.checked_mul(1 << shift()?)?,
        BinaryOp::Shr => one >> shift()?,
        BinaryOp::Min => one.min(other),
        BinaryOp::Max => one.max(other),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => return None,
    }))
}
