//! How far numbers go, whatever data is and in whatever order statements run.
//!
//! A variable is what any statement sets it to, an element of a tile what any statement stores
//! to the tile; an element of a tensor may be any number of its type, and so may what is updated.
//! Coordinates and counters stay below their ends.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::machine::made_of;
use super::plain::{Plain, given};
use super::preimages::Values;
use super::sizes::Sizes;
use super::trips_of_digits::most_rounds;
use crate::check::interval::{FAR, Range, counted};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, TileDomain,
    Type, VarId, VarKind,
};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 16;

/// Most values that are looked at for one variable or array.
const MAX_VALUES: usize = 8;

/// Most expressions that are looked into for one.
const MAX_STEPS: u32 = 1 << 11;

/// More than any dimension.
const MAX_EXTENT: i128 = 1 << 48;

/// Loops, outermost first.
type Around = Vec<Rounds>;

/// How often a loop runs.
#[derive(Clone, Copy)]
enum Rounds {
    Of(LoopRange),
    /// So often at most.
    Most(i128),
    Any,
}

/// The numbers of a kernel.
pub(super) struct Spans<'a> {
    plain: Plain<'a>,
    set: Values,
    counters: BTreeMap<VarId, LoopRange>,
    axes: BTreeMap<VarId, ExprId>,
    /// What is changed otherwise than by being set, or by sums.
    changed: BTreeSet<VarId>,
    /// What is added to variables, or taken away, and the loops around.
    sums: Vec<(VarId, BinaryOp, ExprId, Around)>,
    updated: BTreeSet<ArrayRef>,
    /// Variables that loops set.
    looped: BTreeSet<VarId>,
    left: Cell<u32>,
    /// Whether dimensions may be any.
    is_open: Cell<bool>,
}

impl<'a> Spans<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        let mut spans = Self {
            plain: Plain::of(kernel),
            set: Values::of(&kernel.body),
            counters: BTreeMap::new(),
            axes: axes.map(|axis| (axis.var, axis.extent)).collect(),
            changed: BTreeSet::new(),
            sums: Vec::new(),
            updated: BTreeSet::new(),
            looped: BTreeSet::new(),
            left: Cell::new(MAX_STEPS),
            is_open: Cell::new(false),
        };
        spans.visit(&kernel.body, &mut Vec::new());
        spans
    }

    fn visit(&mut self, stmts: &[Stmt], around: &mut Around) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Update { place: Place::Var(var), op, value }
                    if matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
                {
                    self.sums.push((*var, *op, *value, around.clone()));
                }
                StmtKind::Update { place: Place::Var(var), .. }
                | StmtKind::Exchange { var, .. } => {
                    self.changed.insert(*var);
                }
                StmtKind::Assign { var, .. } if !around.is_empty() => {
                    self.looped.insert(*var);
                }
                StmtKind::Update { place: Place::Element(access), .. } => {
                    self.updated.insert(access.array);
                }
                StmtKind::Atomic { access, old, .. } => {
                    self.updated.insert(access.array);
                    self.changed.extend(*old);
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    self.counters.insert(*var, *range);
                }
                StmtKind::Each { axes, .. } => {
                    self.axes.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
                }
                _ => {}
            }
            let own = around.len();
            match &stmt.kind {
                StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                    around.push(Rounds::Of(*range));
                }
                StmtKind::While { cond, body } => {
                    let most = most_rounds(self.plain.kernel, *cond, body);
                    around.push(most.map_or(Rounds::Any, Rounds::Most));
                }
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, around));
            around.truncate(own);
        }
    }

    pub(super) fn plain(&self) -> &Plain<'a> {
        &self.plain
    }

    /// The tile parameters, dimensions and integer scalars that an expression is made of, or that
    /// say how far what it is made of goes.
    pub(super) fn sizes_in(&self, expr: ExprId) -> BTreeSet<VarId> {
        let kernel = self.plain.kernel;
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if !seen.insert(expr) {
                continue;
            }
            let kind = &kernel.exprs[expr].kind;
            match kind {
                ExprKind::Var(var) => self.add_sizes(*var, &mut found, &mut open),
                ExprKind::Load(access) => {
                    open.extend(self.set.arrays.get(&access.array).into_iter().flatten());
                }
                _ => open.extend(kind.operands()),
            }
        }
        found
    }

    /// Adds a variable if it is a size, or what it is made of.
    fn add_sizes(&self, var: VarId, found: &mut BTreeSet<VarId>, open: &mut Vec<ExprId>) {
        let kernel = self.plain.kernel;
        match kernel.vars[var].kind {
            VarKind::TileParam(param) => match kernel.tile_params[param].domain {
                TileDomain::Equal(of) => open.push(of),
                _ => {
                    found.insert(var);
                }
            },
            VarKind::Dim => {
                found.insert(var);
            }
            VarKind::Block | VarKind::Each => open.extend(self.axes.get(&var)),
            VarKind::Loop => {
                open.extend(self.counters.get(&var).into_iter().flat_map(LoopRange::exprs));
            }
            VarKind::Let { .. } => {
                open.extend(self.set.vars.get(&var).into_iter().flatten());
                // It goes as far as loops do.
                let is_size = |kind| {
                    matches!(kind, VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_))
                };
                let is_summed = self.sums.iter().any(|(of, ..)| *of == var);
                if is_summed || self.changed.contains(&var) || self.looped.contains(&var) {
                    let all = kernel.vars.iter().filter(|(_, var)| is_size(var.kind));
                    found.extend(all.map(|(size, _)| size));
                }
            }
            VarKind::Scalar(_) if kernel.vars[var].ty.integer_range().is_some() => {
                found.insert(var);
            }
            VarKind::Scalar(_) | VarKind::Grid => {}
        }
    }

    /// The least and the greatest value of an expression at some sizes.
    pub(super) fn range(&self, expr: ExprId, sizes: &Sizes) -> Range {
        self.left.set(MAX_STEPS);
        self.within(expr, sizes, MAX_DEPTH)
    }

    /// The same, whatever dimensions are.
    pub(super) fn range_of_any(&self, expr: ExprId, sizes: &Sizes) -> Range {
        self.is_open.set(true);
        let range = self.range(expr, sizes);
        self.is_open.set(false);
        range
    }

    /// That of a variable, whatever dimensions are.
    pub(super) fn range_of_any_var(&self, var: VarId, sizes: &Sizes) -> Range {
        self.left.set(MAX_STEPS);
        self.is_open.set(true);
        let whole = self.plain.kernel.vars[var].ty.integer_range().unwrap_or(FAR);
        let range = self.var(var, sizes, MAX_DEPTH);
        self.is_open.set(false);
        range.filter(|range| whole.0 <= range.0 && range.1 <= whole.1).unwrap_or(whole)
    }

    /// What variables are set to and changed by.
    pub(super) fn made_by(&self, var: VarId) -> impl Iterator<Item = ExprId> {
        self.set.made_by(var)
    }

    /// What is stored in a tile, if nothing there is updated.
    pub(super) fn stored(&self, array: ArrayRef) -> Option<&[ExprId]> {
        let is_known = matches!(array, ArrayRef::Tile(_)) && !self.updated.contains(&array);
        is_known.then(|| self.set.arrays.get(&array).map_or(&[][..], Vec::as_slice))
    }

    /// What statements set a variable to.
    pub(super) fn set_to(&self, var: VarId) -> &[ExprId] {
        self.set.vars.get(&var).map_or(&[], Vec::as_slice)
    }

    fn within(&self, expr: ExprId, sizes: &Sizes, depth: u32) -> Range {
        let whole = self.plain.kernel.exprs[expr].ty.integer_range().unwrap_or(FAR);
        let (Some(left), Some(depth)) = (self.left.get().checked_sub(1), depth.checked_sub(1))
        else {
            return whole;
        };
        self.left.set(left);
        let made = self.made(expr, sizes, depth);
        made.filter(|made| whole.0 <= made.0 && made.1 <= whole.1).unwrap_or(whole)
    }

    fn made(&self, expr: ExprId, sizes: &Sizes, depth: u32) -> Option<Range> {
        let kernel = self.plain.kernel;
        let of = |part: ExprId| self.within(part, sizes, depth);
        match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some((*value, *value)),
            ExprKind::Literal(Literal::Bool(value)) => {
                Some((i128::from(*value), i128::from(*value)))
            }
            ExprKind::Var(var) => self.var(*var, sizes, depth),
            ExprKind::Load(access) => {
                let is_tile = matches!(access.array, ArrayRef::Tile(_));
                let is_set = is_tile && !self.updated.contains(&access.array);
                self.any(self.set.arrays.get(&access.array).filter(|_| is_set)?, sizes, depth)
            }
            ExprKind::Binary { op, lhs, rhs } => made_of(*op, of(*lhs), of(*rhs)),
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                let from = kernel.exprs[*operand].ty;
                match from {
                    Type::BOOL => Some((0, 1)),
                    from if from == Type::Index || from.integer_range().is_some() => {
                        Some(of(*operand))
                    }
                    _ => None,
                }
            }
            ExprKind::Select { then, otherwise, .. } => {
                let (one, two) = (of(*then), of(*otherwise));
                Some((one.0.min(two.0), one.1.max(two.1)))
            }
            ExprKind::Math { func: MathFn::Abs, arg } => {
                let (low, high) = of(*arg);
                Some((0, low.checked_abs()?.max(high.checked_abs()?)))
            }
            ExprKind::Math { func, arg } if func.is_count() => {
                let (min, max) = kernel.exprs[*arg].ty.integer_range()?;
                counted(*func, Some(of(*arg)), (max - min).count_ones())
            }
            ExprKind::Compare { .. } | ExprKind::Logic { .. } | ExprKind::InBounds { .. } => {
                Some((0, 1))
            }
            ExprKind::Tiles { extent, .. } if self.is_open.get() => Some((0, of(*extent).1)),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                let (low, high) = of(*operand);
                Some((high.checked_neg()?, low.checked_neg()?))
            }
            ExprKind::Literal(_)
            | ExprKind::Unary { op: UnaryOp::Not, .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. } => None,
        }
    }

    fn var(&self, var: VarId, sizes: &Sizes, depth: u32) -> Option<Range> {
        let is_open = self.is_open.get();
        let end = |extent: ExprId| match is_open {
            true => Some(self.within(extent, sizes, depth).1),
            false => self.plain.value(extent, &|var| given(sizes, var)),
        };
        match self.plain.kernel.vars[var].kind {
            VarKind::Dim if is_open => Some((0, MAX_EXTENT)),
            VarKind::Dim | VarKind::TileParam(_) => given(sizes, var).map(|value| (value, value)),
            VarKind::Scalar(_) => None,
            VarKind::Grid | VarKind::Block | VarKind::Each => {
                Some((0, end(*self.axes.get(&var)?)? - 1))
            }
            VarKind::Loop => match self.counters.get(&var)? {
                LoopRange::Between { start, end, .. } => {
                    let (start, end) =
                        (self.within(*start, sizes, depth), self.within(*end, sizes, depth));
                    Some((start.0, end.1.saturating_sub(1)))
                }
                LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                    Some((0, self.within(*n, sizes, depth).1))
                }
            },
            VarKind::Let { .. } if self.changed.contains(&var) => None,
            VarKind::Let { .. } => {
                let set = self.any(self.set.vars.get(&var)?, sizes, depth)?;
                let mut sums = self.sums.iter().filter(|(of, ..)| *of == var);
                sums.try_fold(set, |(low, high), (_, op, value, around)| {
                    let (least, most) = self.summed(*value, around, sizes, depth)?;
                    let (least, most) = match op {
                        BinaryOp::Sub => (most.checked_neg()?, least.checked_neg()?),
                        _ => (least, most),
                    };
                    Some((low.checked_add(least.min(0))?, high.checked_add(most.max(0))?))
                })
            }
        }
    }

    /// What may be added in all rounds of loops.
    fn summed(&self, value: ExprId, around: &[Rounds], sizes: &Sizes, depth: u32) -> Option<Range> {
        let of = |expr: ExprId| self.within(expr, sizes, depth);
        let rounds = around.iter().try_fold(1_i128, |rounds, range| {
            let own = match *range {
                Rounds::Of(LoopRange::Between { start, end, .. }) => {
                    of(end).1.checked_sub(of(start).0)?
                }
                Rounds::Of(LoopRange::Halving(_) | LoopRange::Doubling(_)) => 64,
                Rounds::Most(most) => most,
                Rounds::Any => return None,
            };
            rounds.checked_mul(own.max(0))
        })?;
        let (low, high) = of(value);
        Some((low.checked_mul(rounds)?, high.checked_mul(rounds)?))
    }

    /// Of what may be any of these.
    fn any(&self, values: &[ExprId], sizes: &Sizes, depth: u32) -> Option<Range> {
        if values.len() > MAX_VALUES {
            return None;
        }
        let ranges = values.iter().map(|value| self.within(*value, sizes, depth));
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}
