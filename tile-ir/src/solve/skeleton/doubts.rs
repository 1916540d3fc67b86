//! Comparisons of data of which no run shows both outcomes.
//!
//! A write under a condition on data covers nothing: data may be so that the condition fails.
//! Runs find such data where they can ([`super::data`], [`super::preimages`]). What is left are
//! comparisons that have come out one way in all runs. Where the [ranges](Spans) of both sides do
//! not say that they must, it is *doubtful* which way they come out: what is compared is taken
//! for any number near those that it is compared with. The same value, of which ever so much is
//! asked, is the same number everywhere, so that who reads under the condition under which was
//! written, or writes the rest under the opposite, is not to blame; and only comparisons that are
//! doubtful are taken so, the others as the data has it.
//!
//! Data are elements of tensors, what is made of them, whatever they decide, and what tiles hold
//! that is made of scalars or coordinates of blocks: of these few values are run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::data::Number;
use super::late::Late;
use super::plain::{Plain, given};
use super::plan::{Plan, updated_in_order};
use super::reals::Reals;
use super::sizes::Sizes;
use super::spans::Spans;
use crate::arena::EntityId as _;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Source, Stmt, StmtKind, VarId, VarKind,
    any_stmt, any_subexpr,
};

/// A block in which a comparison has come out one way.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) sizes: Sizes,
    pub(super) block: Vec<i64>,
}

/// The outcomes that comparisons have had, by expression: that one does not hold, and that it
/// does, each with the first block in which it came out so.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes(Vec<[Option<Rc<Seen>>; 2]>);

impl Outcomes {
    pub(super) fn note(&mut self, expr: ExprId, holds: bool, seen: impl FnOnce() -> Seen) {
        if self.0.len() <= expr.index() {
            self.0.resize(expr.index() + 1, [None, None]);
        }
        self.0[expr.index()][usize::from(holds)].get_or_insert_with(|| Rc::new(seen()));
    }

    fn are_both(&self, expr: ExprId) -> bool {
        [false, true].into_iter().all(|holds| !self.lacks(expr, holds))
    }

    /// Whether one of both has not been seen.
    pub(super) fn lacks(&self, expr: ExprId, holds: bool) -> bool {
        self.example(expr, holds).is_none()
    }

    /// Where one of both was seen first.
    pub(super) fn example(&self, expr: ExprId, holds: bool) -> Option<&Rc<Seen>> {
        self.0.get(expr.index())?[usize::from(holds)].as_ref()
    }
}

/// What rests on data.
#[derive(Default, PartialEq, Clone)]
pub(super) struct Resting {
    vars: BTreeSet<VarId>,
    tiles: BTreeSet<ArrayRef>,
    /// Names of what is made of scalars and coordinates of blocks.
    launched: BTreeSet<VarId>,
    /// The arrays that hold what the order of updates says.
    ordered: BTreeSet<ArrayRef>,
    /// Numbers that are taken as data are.
    late: Option<Rc<Late>>,
}

impl Resting {
    pub(super) fn of(kernel: &Kernel) -> Self {
        Self { ordered: updated_in_order(kernel), ..Self::default() }.closed(kernel)
    }

    /// The same where these numbers are taken as data are.
    pub(super) fn with(self, kernel: &Kernel, late: Late) -> Self {
        Self { late: Some(Rc::new(late)), ..self }.closed(kernel)
    }

    /// The numbers that are taken as data are.
    pub(super) fn late(&self) -> Option<&Late> {
        self.late.as_deref()
    }

    /// Whether such a number is in an expression.
    pub(super) fn is_late(&self, expr: ExprId) -> bool {
        self.late().is_some_and(|late| late.is_in(expr))
    }

    fn closed(self, kernel: &Kernel) -> Self {
        let mut resting = self;
        loop {
            let before = resting.clone();
            resting.visit(kernel, &kernel.body, false);
            if resting == before {
                return resting;
            }
        }
    }

    /// Whether an expression rests on data.
    pub(super) fn has(&self, kernel: &Kernel, expr: ExprId) -> bool {
        self.is_late(expr)
            || any_subexpr(kernel, expr, &mut |kind| match kind {
                ExprKind::Load(access) => match access.array {
                    ArrayRef::Tensor(_) => true,
                    ArrayRef::Tile(_) => self.tiles.contains(&access.array),
                },
                ExprKind::Var(var) => self.vars.contains(var),
                _ => false,
            })
    }

    pub(super) fn has_var(&self, var: VarId) -> bool {
        self.vars.contains(&var)
    }

    pub(super) fn has_tile(&self, array: ArrayRef) -> bool {
        self.tiles.contains(&array)
    }

    /// Whether scalars or coordinates of blocks are in an expression.
    pub(super) fn is_launched(&self, kernel: &Kernel, expr: ExprId) -> bool {
        any_subexpr(kernel, expr, &mut |kind| match kind {
            ExprKind::Var(var) => {
                matches!(kernel.vars[*var].kind, VarKind::Scalar(_) | VarKind::Grid)
                    || self.launched.contains(var)
            }
            _ => false,
        })
    }

    fn visit(&mut self, kernel: &Kernel, stmts: &[Stmt], under: bool) {
        for stmt in stmts {
            let mut inner = under;
            match &stmt.kind {
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. }
                | StmtKind::Let { var, init: Some(value) } => {
                    if under || self.has(kernel, *value) {
                        self.vars.insert(*var);
                    }
                    if self.is_launched(kernel, *value) {
                        self.launched.insert(*var);
                    }
                }
                StmtKind::Exchange { var, .. } => {
                    self.vars.insert(*var);
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    self.store(kernel, access.array, *value, under);
                }
                StmtKind::LetArray { tile, init: Some(init) } => {
                    self.store(kernel, ArrayRef::Tile(*tile), *init, under);
                }
                StmtKind::Atomic { access, value, old, .. } => {
                    if self.ordered.contains(&access.array) {
                        self.tiles.insert(access.array);
                    }
                    self.store(kernel, access.array, *value, under);
                    self.vars.extend(*old);
                }
                StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                    inner |= range.exprs().into_iter().any(|bound| self.has(kernel, bound));
                }
                StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => {
                    inner |= self.has(kernel, *cond);
                }
                StmtKind::LetArray { .. }
                | StmtKind::Let { .. }
                | StmtKind::Each { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(kernel, body, inner));
        }
    }

    fn store(&mut self, kernel: &Kernel, array: ArrayRef, value: ExprId, under: bool) {
        if under || self.has(kernel, value) || self.is_launched(kernel, value) {
            self.tiles.insert(array);
        }
    }
}

/// A side of a doubtful comparison.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The numbers for one of which it is taken.
    pub(super) numbers: Vec<Number>,
    /// What it may be.
    pub(super) range: (i128, i128),
    /// The same, of a floating-point number.
    pub(super) reals: Reals,
    /// What it is always taken for, if it may be that.
    pub(super) wish: Option<Wish>,
}

/// What a side of a comparison is taken for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    /// A number.
    Number(Number),
    /// The other side, and so much more.
    Beside(i128),
}

/// The doubtful comparisons.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// By comparison, what each of its sides is taken for, if it is.
    sides: BTreeMap<ExprId, [Option<Side>; 2]>,
    /// By comparison, what decides it.
    sources: BTreeMap<ExprId, Source>,
    /// Whether places lie inside of their tensors, where data may say either.
    insides: BTreeMap<ExprId, bool>,
}

impl Doubts {
    /// Those comparisons, at some sizes.
    pub(super) fn of(
        (open, resting, compared): (&[ExprId], &Resting, &Compared),
        spans: &Spans<'_>,
        sizes: &Sizes,
    ) -> Self {
        let plain = spans.plain();
        let kernel = plain.kernel;
        let mut doubts = Self::default();
        for expr in open {
            let ExprKind::Compare { lhs, rhs, .. } = kernel.exprs[*expr].kind else { continue };
            let is_of_scalars = compared.of_scalars.contains(expr);
            let sides = [lhs, rhs].map(|side| {
                let numbers = asked(plain, (side, open), sizes);
                let range = match resting.late() {
                    Some(_) => spans.range_of_any(side, sizes),
                    None => spans.range(side, sizes),
                };
                let is_open = resting.has(kernel, side)
                    || (is_of_scalars && resting.is_launched(kernel, side));
                let reals = Reals::of(plain, side);
                is_open.then_some(Side { numbers, range, reals, wish: None })
            });
            doubts.sides.insert(*expr, sides);
            let load = source(plain, lhs).or_else(|| source(plain, rhs));
            doubts.sources.extend(load.map(|load| (*expr, load)));
        }
        doubts
    }

    /// Those of which it is said already what sides are taken for.
    pub(super) fn from_sides(
        sides: BTreeMap<ExprId, [Option<Side>; 2]>,
        insides: BTreeMap<ExprId, bool>,
        plain: &Plain<'_>,
    ) -> Self {
        let asked = sides.keys().chain(insides.keys());
        let sources = asked.filter_map(|expr| Some((*expr, source(plain, *expr)?))).collect();
        Self { sides, sources, insides }
    }

    /// Whether a place is taken to lie inside of its tensor, if that is doubtful.
    pub(super) fn inside(&self, expr: ExprId) -> Option<bool> {
        self.insides.get(&expr).copied()
    }

    /// What the sides of a comparison are taken for, if it is doubtful.
    pub(super) fn sides(&self, expr: ExprId) -> Option<&[Option<Side>; 2]> {
        self.sides.get(&expr)
    }

    pub(super) fn source(&self, expr: ExprId) -> Option<Source> {
        self.sources.get(&expr).copied()
    }
}

/// The numbers that some comparisons compare an expression with, and those next to them.
fn asked(plain: &Plain<'_>, (side, all): (ExprId, &[ExprId]), sizes: &Sizes) -> Vec<Number> {
    let kernel = plain.kernel;
    let resolved = |expr: ExprId| plain.resolved(expr);
    let own = resolved(side);
    let mut numbers = Vec::new();
    for expr in all {
        let ExprKind::Compare { lhs, rhs, .. } = kernel.exprs[*expr].kind else { continue };
        for (one, other) in [(lhs, rhs), (rhs, lhs)] {
            if !kernel.is_same(resolved(one), own) {
                continue;
            }
            let known = match kernel.exprs[other].kind {
                ExprKind::Literal(Literal::Float(value)) => Some(Number::Float(value)),
                _ => plain.value(other, &|var| given(sizes, var)).map(Number::Int),
            };
            let around = known.map_or_else(Vec::new, |known| known.around());
            around.into_iter().for_each(|number| {
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            });
        }
    }
    numbers
}

/// A load that an expression is made of, or what else decides it.
fn source(plain: &Plain<'_>, expr: ExprId) -> Option<Source> {
    let kind = &plain.kernel.exprs[expr].kind;
    match kind {
        ExprKind::Load(_) => Some(Source::Load(expr)),
        ExprKind::Var(var) => source(plain, *plain.lets.get(var)?),
        _ => kind.operands().into_iter().find_map(|operand| source(plain, operand)),
    }
}

/// Whether nothing but scalars and numbers stands in an expression.
fn is_of_scalars(plain: &Plain<'_>, expr: ExprId) -> bool {
    let kind = &plain.kernel.exprs[expr].kind;
    match kind {
        ExprKind::Var(var) => match (plain.lets.get(var), plain.kernel.vars[*var].kind) {
            (Some(of), _) => is_of_scalars(plain, *of),
            (None, kind) => matches!(kind, VarKind::Scalar(_)),
        },
        ExprKind::Load(_) | ExprKind::InBounds { .. } => false,
        _ => kind.operands().into_iter().all(|operand| is_of_scalars(plain, operand)),
    }
}

/// The comparisons that a skeleton makes.
pub(super) struct Compared {
    /// Of what rests on data.
    pub(super) of_data: BTreeSet<ExprId>,
    /// Of scalars alone, of which nothing is assumed.
    pub(super) of_scalars: BTreeSet<ExprId>,
    /// Those, of what a launch gives or coordinates of blocks, and of what tiles hold.
    pub(super) all: BTreeSet<ExprId>,
}

impl Compared {
    pub(super) fn of(kernel: &Kernel, plan: &Plan<'_>, resting: &Resting) -> Self {
        let mut open = plan.asked();
        let mut seen = BTreeSet::new();
        while let Some(expr) = open.pop() {
            if seen.insert(expr) {
                open.extend(kernel.exprs[expr].kind.operands());
            }
        }
        seen.retain(|expr| matches!(kernel.exprs[*expr].kind, ExprKind::Compare { .. }));
        let has = |expr: &ExprId| resting.has(kernel, *expr);
        let of_data: BTreeSet<ExprId> = seen.iter().copied().filter(has).collect();
        let assumes = any_stmt(&kernel.body, &mut |kind| {
            matches!(kind, StmtKind::Assume { .. } | StmtKind::Distinct { .. })
        });
        let plain = Plain::of(kernel);
        let is_of_scalars = |expr: &ExprId| {
            !assumes && resting.is_launched(kernel, *expr) && is_of_scalars(&plain, *expr)
        };
        let of_scalars = seen.iter().copied().filter(is_of_scalars).collect();
        let is_of_launch = &mut |kind: &ExprKind| match kind {
            ExprKind::Load(_) => true,
            ExprKind::Var(var) => {
                matches!(kernel.vars[*var].kind, VarKind::TileParam(_) | VarKind::Dim)
            }
            _ => false,
        };
        seen.retain(|expr| {
            let is_of_launch = any_subexpr(kernel, *expr, is_of_launch);
            has(expr) || is_of_launch || resting.is_launched(kernel, *expr)
        });
        Self { of_data, of_scalars, all: seen }
    }

    /// Those of data and of scalars that did not come out both ways.
    pub(super) fn doubtful(&self, outcomes: &Outcomes) -> Vec<ExprId> {
        let open = self.of_data.union(&self.of_scalars).copied();
        open.filter(|expr| !outcomes.are_both(*expr)).collect()
    }

    /// Whether nothing more need be run: none but one has to do with data, and all came out
    /// both ways.
    pub(super) fn are_known(&self, outcomes: &Outcomes) -> bool {
        self.of_data.len() < 2 && self.all.iter().all(|expr| outcomes.are_both(*expr))
    }
}
