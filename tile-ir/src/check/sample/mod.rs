//! Small concrete cases: admissible tile sizes with values of the variables that
//! some expressions depend on.
//!
//! A case is a witness, never a proof: sizes and values are a selection, small
//! ones first and those next to the kernel's own constants among them. Every
//! case that is visited is one that a launch can have: one that a precondition refuses is
//! none.

mod uphill;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::{broken_precondition, few_values, preconditions};
use crate::arena::EntityId as _;
use crate::config::{candidate_values, complete_tiles};
use crate::dtype::DType;
use crate::kernel::{
    ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, TileDomain,
    TileParamId, Type, VarId, VarKind, eval_index_of, fits,
};

pub(super) use self::uphill::Heights;

/// Sets of tile sizes that are tried.
const MAX_SIZES: usize = 256;
/// Evaluations of variables in all searches of one kernel.
const BUDGET: u32 = 100_000;
/// Values of one axis or counter from its first on; its last ones come besides.
const FIRST_VALUES: i128 = 34;
/// The largest number of the text that is tried.
const MOST: i128 = i32::MAX as i128;

/// Where the values of a kernel's variables come from.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    kernel: &'a Kernel,
    /// The one value of each `let` that is never assigned again.
    lets: BTreeMap<VarId, ExprId>,
    ranges: BTreeMap<VarId, &'a LoopRange>,
    extents: BTreeMap<VarId, ExprId>,
    /// What a launch must fulfil.
    preconditions: Vec<ExprId>,
    /// The scalars and dimensions to which that leaves few values.
    few: BTreeMap<VarId, Vec<i128>>,
    /// The integers in the kernel's text that a tile may have as its size, and those next
    /// to them.
    constants: BTreeSet<i128>,
    /// The larger ones, and a number that is larger than any product of two.
    far: BTreeSet<i128>,
    /// Admissible sizes, small ones first.
    sizes: OnceCell<Vec<Vec<u32>>>,
    /// What is left of the budget.
    left: Cell<u32>,
}

/// A case: sizes and values.
#[derive(Debug)]
pub(super) struct Case<'a> {
    sources: &'a Sources<'a>,
    tiles: &'a [u32],
    values: BTreeMap<VarId, i128>,
}

impl<'a> Sources<'a> {
    /// Reads a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut sources = Self {
            kernel,
            lets: BTreeMap::new(),
            ranges: BTreeMap::new(),
            extents: BTreeMap::new(),
            preconditions: preconditions(kernel),
            few: few_values(kernel),
            constants: BTreeSet::new(),
            far: BTreeSet::new(),
            sizes: OnceCell::new(),
            left: Cell::new(BUDGET),
        };
        for axis in kernel.grid.iter().chain(kernel.block.iter().flatten()) {
            sources.extents.insert(axis.var, axis.extent);
        }
        sources.visit(&kernel.body);
        for expr in kernel.exprs.values() {
            if let ExprKind::Literal(Literal::Int(value)) = expr.kind
                && let Some(value) = value.checked_abs().filter(|value| *value <= MOST)
            {
                let is_near = value <= i128::from(TileDomain::MAX);
                let near = if is_near { &mut sources.constants } else { &mut sources.far };
                near.extend([value - 1, value, value + 1]);
            }
        }
        if let Some(largest) = sources.constants.last() {
            sources.far.insert(largest * largest);
        }
        sources
    }

    fn visit(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init: Some(init) } => {
                    if self.kernel.vars[*var].kind == (VarKind::Let { mutable: false }) {
                        self.lets.insert(*var, *init);
                    }
                }
                StmtKind::Each { axes, .. } => {
                    self.extents.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    self.ranges.insert(*var, range);
                }
                StmtKind::Let { init: None, .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Store { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Update { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            for body in stmt.kind.bodies() {
                self.visit(body);
            }
        }
    }

    /// The variables that decide the values of `exprs`: what their values depend
    /// on, and what decides which values those can have. `None` where a value
    /// depends on memory, or on a variable that is assigned more than once.
    pub(super) fn unknowns(&self, exprs: &[ExprId]) -> Option<BTreeSet<VarId>> {
        let mut out = BTreeSet::new();
        let mut seen = BTreeSet::new();
        exprs.iter().all(|expr| self.collect(*expr, &mut seen, &mut out)).then_some(out)
    }

    fn collect(&self, id: ExprId, seen: &mut BTreeSet<VarId>, out: &mut BTreeSet<VarId>) -> bool {
        let expr = &self.kernel.exprs[id];
        let here = match &expr.kind {
            ExprKind::Literal(Literal::Int(_) | Literal::Bool(_)) => true,
            ExprKind::Literal(Literal::Float(_) | Literal::Named(_)) => false,
            ExprKind::Var(var) => {
                return !seen.insert(*var) || self.collect_var(*var, seen, out);
            }
            ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_) => is_exact_type(expr.ty),
            ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::Uniform(_) => true,
            ExprKind::Load(_) | ExprKind::Math { .. } | ExprKind::InBounds { .. } => false,
        };
        here && expr.kind.operands().into_iter().all(|id| self.collect(id, seen, out))
    }

    fn collect_var(
        &self,
        var: VarId,
        seen: &mut BTreeSet<VarId>,
        out: &mut BTreeSet<VarId>,
    ) -> bool {
        let declared = &self.kernel.vars[var];
        match declared.kind {
            VarKind::TileParam(_) | VarKind::Dim => {
                out.insert(var);
                true
            }
            VarKind::Scalar(_) => {
                out.insert(var);
                integer_type(declared.ty).is_some()
            }
            VarKind::Grid | VarKind::Block | VarKind::Each => {
                out.insert(var);
                self.extents.get(&var).is_some_and(|extent| self.collect(*extent, seen, out))
            }
            VarKind::Loop => {
                out.insert(var);
                self.ranges.get(&var).is_some_and(|range| {
                    range.exprs().into_iter().all(|id| self.collect(id, seen, out))
                })
            }
            VarKind::Let { .. } => {
                self.lets.get(&var).is_some_and(|init| self.collect(*init, seen, out))
            }
        }
    }

    /// Visits cases of `unknowns`, small ones first, until one says to stop.
    pub(super) fn search<R>(
        &'a self,
        unknowns: &BTreeSet<VarId>,
        mut visit: impl FnMut(&Case<'a>) -> Option<R>,
    ) -> Option<R> {
        let unknowns = self.open(unknowns);
        let mut found = None;
        for tiles in self.sizes() {
            let mut case = Case::of(self, tiles);
            let flow = case.assign(&unknowns, &mut |case| match visit(case) {
                Some(result) => {
                    found = Some(result);
                    ControlFlow::Break(())
                }
                None => ControlFlow::Continue(()),
            });
            if flow.is_break() {
                break;
            }
        }
        found
    }

    /// Those of `unknowns` that are no tile sizes.
    fn open(&self, unknowns: &BTreeSet<VarId>) -> Vec<VarId> {
        let is_size = |var: &VarId| matches!(self.kernel.vars[*var].kind, VarKind::TileParam(_));
        unknowns.iter().copied().filter(|var| !is_size(var)).collect()
    }

    /// Takes one off the budget, if there is one.
    fn burn(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    fn sizes(&self) -> &[Vec<u32>] {
        self.sizes.get_or_init(|| self.admissible_sizes())
    }

    fn admissible_sizes(&self) -> Vec<Vec<u32>> {
        let params = &self.kernel.tile_params;
        let free = params.values().filter(|param| !matches!(param.domain, TileDomain::Equal(_)));
        let n_free = u32::try_from(free.count()).unwrap_or(u32::MAX);
        let mut per_param = 24;
        while per_param > 2 && usize::pow(per_param, n_free.min(8)) > 4 * MAX_SIZES {
            per_param -= 1;
        }
        let mut partial: Vec<Vec<(TileParamId, u32)>> = vec![Vec::new()];
        for (id, param) in params.iter() {
            let values = self.values_of(&param.domain, per_param);
            if values.is_empty() {
                continue;
            }
            partial = partial
                .iter()
                .flat_map(|given| {
                    values.iter().map(|value| {
                        given.iter().copied().chain([(id, *value)]).collect::<Vec<_>>()
                    })
                })
                .take(8 * MAX_SIZES)
                .collect();
        }
        let complete = partial.iter().filter_map(|given| complete_tiles(self.kernel, given).ok());
        let mut sizes: Vec<Vec<u32>> = complete.collect();
        sizes.sort_by_key(|sizes| {
            (sizes.iter().map(|size| u64::from(*size)).sum::<u64>(), sizes.clone())
        });
        sizes.truncate(MAX_SIZES);
        sizes
    }

    fn values_of(&self, domain: &TileDomain, most: usize) -> Vec<u32> {
        let near = self.constants.iter().filter_map(|value| u32::try_from(*value).ok());
        let near = near.filter(|value| *value >= 1);
        let mut values: Vec<u32> = match domain {
            TileDomain::Any => (1..=4).chain([8]).chain(near).collect(),
            TileDomain::Range { min, max, step } => {
                let on_grid = near.filter(|value| (*min..=*max).contains(value));
                let on_grid = on_grid.map(|value| {
                    min.saturating_add((value - min).div_ceil(*step).saturating_mul(*step))
                });
                let first = (0..4).map(|n| min.saturating_add(step.saturating_mul(n)));
                first.chain(on_grid).chain([min + (max - min) / step * step]).collect()
            }
            TileDomain::Pow2 { .. } | TileDomain::List(_) => candidate_values(domain),
            TileDomain::Equal(_) => Vec::new(),
        };
        if let TileDomain::Range { max, .. } = domain {
            values.retain(|value| value <= max);
        }
        values.sort_unstable();
        values.dedup();
        values.truncate(most);
        values
    }
}

impl<'a> Case<'a> {
    /// The case of these sizes in which nothing has a value yet.
    fn of(sources: &'a Sources<'a>, tiles: &'a [u32]) -> Self {
        Self { sources, tiles, values: BTreeMap::new() }
    }

    /// The case in words: `TN = 4, N = 2, bx = 0`.
    pub(super) fn describe(&self, unknowns: &BTreeSet<VarId>) -> String {
        let name = |var: VarId| &self.sources.kernel.vars[var].name;
        let values = unknowns.iter().filter_map(|var| Some((name(*var), self.eval_var(*var)?)));
        values.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    }

    /// The value of an expression where some unknowns have other values.
    pub(super) fn eval_with(&self, expr: ExprId, with: &BTreeMap<VarId, i128>) -> Option<i128> {
        let kernel = self.sources.kernel;
        eval_index_of(kernel, expr, &|leaf| match kernel.exprs[leaf].kind {
            ExprKind::Var(var) => with.get(&var).copied().or_else(|| self.var(var, with)),
            ExprKind::Cast(operand) => {
                self.eval_with(operand, with).filter(|value| fits(kernel.exprs[leaf].ty, *value))
            }
            _ => None,
        })
    }

    /// The value of an expression.
    pub(super) fn eval(&self, expr: ExprId) -> Option<i128> {
        self.eval_with(expr, &BTreeMap::new())
    }

    /// The value of a variable.
    pub(super) fn eval_var(&self, var: VarId) -> Option<i128> {
        self.var(var, &BTreeMap::new())
    }

    fn var(&self, var: VarId, with: &BTreeMap<VarId, i128>) -> Option<i128> {
        if !self.sources.burn() {
            return None;
        }
        if let VarKind::TileParam(param) = self.sources.kernel.vars[var].kind {
            return self.tiles.get(param.index()).map(|size| i128::from(*size));
        }
        match self.sources.lets.get(&var) {
            Some(init) => self.eval_with(*init, with),
            None => self.values.get(&var).copied(),
        }
    }

    /// Whether a launch of this case is refused.
    fn is_refused(&self) -> bool {
        let sources = self.sources;
        !sources.preconditions.is_empty()
            && broken_precondition(sources.kernel, &sources.preconditions, &|var| {
                self.eval_var(var)
            })
            .is_some()
    }

    fn assign(
        &mut self,
        unknowns: &[VarId],
        visit: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((first, rest)) = unknowns.split_first() else {
            return if self.is_refused() { ControlFlow::Continue(()) } else { visit(self) };
        };
        for value in self.candidates(*first) {
            if !self.sources.burn() {
                return ControlFlow::Break(());
            }
            self.values.insert(*first, value);
            let flow = self.assign(rest, visit);
            self.values.remove(first);
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Values that a variable can have, given those before it.
    pub(super) fn candidates(&self, var: VarId) -> Vec<i128> {
        if let Some(few) = self.sources.few.get(&var) {
            return few.clone();
        }
        let near = self.sources.constants.iter().chain(&self.sources.far).copied();
        let sizes = || self.tiles.iter().map(|size| i128::from(*size));
        let mut values: Vec<i128> = match self.sources.kernel.vars[var].kind {
            VarKind::Dim => {
                // As many tiles as one has elements, and one more.
                let square = sizes().max().map(|largest| largest * largest + 1);
                near.chain(sizes())
                    .chain(square)
                    .chain([1, 2, 3, 5])
                    .filter(|value| *value >= 0)
                    .collect()
            }
            VarKind::Scalar(_) => {
                let ty = integer_type(self.sources.kernel.vars[var].ty);
                let least = if ty.is_some_and(DType::is_signed_integer) { -1 } else { 0 };
                near.chain(sizes()).chain([-1, 0, 1]).filter(|value| *value >= least).collect()
            }
            VarKind::Grid => self.axis(var, 2),
            VarKind::Block | VarKind::Each => self.axis(var, FIRST_VALUES),
            VarKind::Loop => return self.counter(var),
            VarKind::TileParam(_) | VarKind::Let { .. } => Vec::new(),
        };
        values.sort_unstable();
        values.dedup();
        values
    }

    fn axis(&self, var: VarId, first: i128) -> Vec<i128> {
        let extent = self.sources.extents.get(&var).and_then(|extent| self.eval(*extent));
        let extent = extent.unwrap_or(0);
        let named = self.sources.far.iter().copied().filter(|value| (0..extent).contains(value));
        (0..extent.min(first)).chain((extent - 2).max(0)..extent).chain(named).collect()
    }

    fn counter(&self, var: VarId) -> Vec<i128> {
        let Some(range) = self.sources.ranges.get(&var) else { return Vec::new() };
        match **range {
            LoopRange::Between { start, end, step, .. } => {
                let step = step.map_or(Some(1), |step| self.eval(step));
                let (Some(start), Some(end), Some(step)) = (self.eval(start), self.eval(end), step)
                else {
                    return Vec::new();
                };
                if step <= 0 || start >= end {
                    return Vec::new();
                }
                let last = (end - 1 - start) / step;
                let trips = (0..=last.min(FIRST_VALUES)).chain([last]);
                let trips = trips.map(|trip| start + trip * step);
                let far = FIRST_VALUES * step..end - start;
                let named = self.sources.constants.iter().chain(&self.sources.far);
                let named = named.filter(|value| {
                    let from = *value - start;
                    far.contains(&from) && from % step == 0
                });
                trips.chain(named.copied()).collect()
            }
            LoopRange::Halving(n) => {
                let n = self.eval(n).unwrap_or(0);
                std::iter::successors(Some(n / 2), |n| Some(n / 2)).take_while(|n| *n > 0).collect()
            }
            LoopRange::Doubling(n) => {
                let n = self.eval(n).unwrap_or(0);
                std::iter::successors(Some(1), |n: &i128| n.checked_mul(2))
                    .take_while(|value| *value < n)
                    .collect()
            }
        }
    }
}

/// Whether it is known which numbers a type holds: indices, conditions and integers.
fn is_exact_type(ty: Type) -> bool {
    ty == Type::Index || ty == Type::BOOL || integer_type(ty).is_some()
}

/// The integer type that a scalar has whatever it is launched with.
fn integer_type(ty: Type) -> Option<DType> {
    match ty {
        Type::Scalar(ElemType::Concrete(dtype)) => dtype.is_integer().then_some(dtype),
        Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) | Type::Index => None,
    }
}
