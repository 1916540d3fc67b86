//! A launch, a block and a work-item, and what expressions are there: as far as the text tells,
//! and as if no number left its type.

use std::collections::BTreeMap;

use super::super::amounts::is_whole;
use super::super::data::Number;
use super::super::plain::Plain;
use super::super::preimages::Values;
use super::super::sizes::Sizes;
use super::goals::{Goal, Side};
use crate::arena::EntityId as _;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind,
    TileDomain, VarId, VarKind,
};
use crate::op::{BinaryOp, LogicOp, MathFn, UnaryOp};

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 32;

/// What a kernel says of what a guess is made of.
pub(in super::super) struct Text<'a> {
    pub(super) plain: &'a Plain<'a>,
    pub(super) values: Values,
    /// The extents of axes, and the ranges of loops.
    pub(super) extents: BTreeMap<VarId, ExprId>,
    pub(super) rounds: BTreeMap<VarId, LoopRange>,
    /// Of loads of tensors, the first one of the same element.
    pub(super) loads: BTreeMap<ExprId, ExprId>,
    /// Of loads of tiles, what is stored there, or may be.
    pub(super) stored: BTreeMap<ExprId, Vec<ExprId>>,
}

impl<'a> Text<'a> {
    pub(in super::super) fn of(plain: &'a Plain<'a>) -> Self {
        let kernel = plain.kernel;
        let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        let mut text = Self {
            plain,
            values: Values::of(&kernel.body),
            extents: axes.map(|axis| (axis.var, axis.extent)).collect(),
            rounds: BTreeMap::new(),
            loads: BTreeMap::new(),
            stored: BTreeMap::new(),
        };
        let mut stores = Vec::new();
        text.visit(&kernel.body, &mut stores);
        for (load, expr) in kernel.exprs.iter() {
            let ExprKind::Load(access) = &expr.kind else { continue };
            if let ArrayRef::Tensor(_) = access.array {
                let same = text.loads.values().find(|other| kernel.is_same(**other, load));
                let same = same.copied().unwrap_or(load);
                text.loads.insert(load, same);
            } else {
                text.stored.insert(load, stored(kernel, access, &stores));
            }
        }
        text
    }

    fn visit(&mut self, stmts: &'a [Stmt], stores: &mut Vec<(&'a Access, ExprId)>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    stores.push((access, *value));
                }
                StmtKind::Each { axes, .. } => {
                    self.extents.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    self.rounds.insert(*var, *range);
                }
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, stores));
        }
    }
}

/// What is stored to an element that is loaded, or may be to it.
fn stored(kernel: &Kernel, load: &Access, stores: &[(&Access, ExprId)]) -> Vec<ExprId> {
    let number = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let pairs = |store: &Access| -> Vec<(ExprId, ExprId)> {
        store.indices.iter().copied().zip(load.indices.iter().copied()).collect()
    };
    let is_same = |store: &Access| pairs(store).iter().all(|(a, b)| kernel.is_same(*a, *b));
    let is_other = |store: &Access| {
        let numbers = pairs(store).into_iter().filter_map(|(a, b)| number(a).zip(number(b)));
        numbers.into_iter().any(|(a, b)| a != b)
    };
    let all = stores.iter().filter(|(store, _)| store.array == load.array && !is_other(store));
    let same: Vec<ExprId> =
        all.clone().filter(|(store, _)| is_same(store)).map(|(_, value)| *value).collect();
    if same.is_empty() { all.map(|(_, value)| *value).collect() } else { same }
}

/// One launch, one block and one work-item of it, in one round of each loop.
#[derive(Clone)]
pub(super) struct Guess<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    pub(super) sizes: Sizes,
    /// Of blocks, work-items and rounds.
    pub(super) coordinates: BTreeMap<VarId, i128>,
    /// Which of its values a variable has, and what is loaded from a tile.
    pub(super) of_vars: BTreeMap<VarId, usize>,
    pub(super) of_tiles: BTreeMap<ExprId, usize>,
    pub(super) loads: BTreeMap<ExprId, Number>,
}

impl<'t, 'a> Guess<'t, 'a> {
    pub(super) fn of(text: &'t Text<'a>, sizes: Sizes) -> Self {
        Self {
            text,
            sizes,
            coordinates: BTreeMap::new(),
            of_vars: BTreeMap::new(),
            of_tiles: BTreeMap::new(),
            loads: BTreeMap::new(),
        }
    }

    pub(super) fn kernel(&self) -> &'a Kernel {
        self.text.plain.kernel
    }

    /// The value that a variable has of those that it is set to.
    pub(super) fn set(&self, var: VarId) -> Option<ExprId> {
        let all = self.text.values.vars.get(&var)?;
        all.get(self.of_vars.get(&var).copied().unwrap_or(0) % all.len().max(1)).copied()
    }

    /// The same of what is loaded from a tile.
    pub(super) fn stored(&self, load: ExprId) -> Option<ExprId> {
        let all = self.text.stored.get(&load)?;
        all.get(self.of_tiles.get(&load).copied().unwrap_or(0) % all.len().max(1)).copied()
    }

    pub(super) fn holds(&self, goal: &Goal) -> bool {
        let sides = self.side(goal.lhs).zip(self.side(goal.rhs));
        sides.is_some_and(|(lhs, rhs)| lhs.compares(goal.op, rhs))
    }

    pub(super) fn side(&self, side: Side) -> Option<Number> {
        match side {
            Side::Expr(expr) => self.value(expr),
            Side::Var(var) => self.var(var, MAX_DEPTH),
            Side::Number(number) => Some(Number::Int(number)),
        }
    }

    pub(super) fn value(&self, expr: ExprId) -> Option<Number> {
        self.within(expr, MAX_DEPTH)
    }

    fn within(&self, expr: ExprId, depth: u32) -> Option<Number> {
        let depth = depth.checked_sub(1)?;
        let of = |part: ExprId| self.within(part, depth);
        let kernel = self.kernel();
        Some(match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Number::Int(*value),
            ExprKind::Literal(Literal::Float(value)) => Number::Float(*value),
            ExprKind::Literal(Literal::Bool(value)) => Number::Int(i128::from(*value)),
            ExprKind::Var(var) => self.var(*var, depth)?,
            ExprKind::Load(_) => match self.text.loads.get(&expr) {
                Some(load) => self.loads.get(load).copied().unwrap_or(Number::Int(0)),
                None => of(self.stored(expr)?)?,
            },
            ExprKind::Unary { op: UnaryOp::Neg, operand } => of(*operand)?.negated(),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                Number::Int(i128::from(of(*operand)?.whole()? == 0))
            }
            ExprKind::Binary { op, lhs, rhs } => made_of(*op, of(*lhs)?, of(*rhs)?)?,
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
            ExprKind::Cast(operand) if is_whole(kernel.exprs[expr].ty) => {
                let operand = of(*operand)?;
                operand.whole().map_or_else(|| Number::Int(operand.real() as i128), Number::Int)
            }
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => of(*operand)?,
            ExprKind::Math { func: MathFn::Abs, arg } => match of(*arg)? {
                Number::Int(value) => Number::Int(value.checked_abs()?),
                Number::Float(value) => Number::Float(value.abs()),
            },
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (of(*extent)?.whole()?, of(*tile)?.whole()?);
                let last = extent.checked_add(tile)?.checked_sub(1)?;
                Number::Int(last.checked_div(tile)?)
            }
            ExprKind::Literal(Literal::Named(_))
            | ExprKind::Math { .. }
            | ExprKind::InBounds { .. } => return None,
        })
    }

    fn var(&self, var: VarId, depth: u32) -> Option<Number> {
        match self.kernel().vars[var].kind {
            VarKind::Let { .. } => self.within(self.set(var)?, depth),
            VarKind::Scalar(_) | VarKind::Dim | VarKind::TileParam(_) => {
                self.sizes.values[var.index()].map(|value| Number::Int(value.into()))
            }
            VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop => {
                Some(Number::Int(self.coordinates.get(&var).copied().unwrap_or(0)))
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
        let tiles =
            crate::config::complete_tiles(kernel, &given.collect::<Option<Vec<_>>>()?).ok()?;
        let mut sizes = self.sizes.clone();
        for (param, tile) in kernel.tile_params.values().zip(tiles) {
            sizes.values[param.var.index()] = Some(tile.into());
        }
        Some(sizes)
    }
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
