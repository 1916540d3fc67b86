//! TK0201: an index that can leave its tile's extents at an admissible size.
//!
//! Shown in this order:
//!
//! 1. leaves: by running the kernel's skeleton at small sizes
//!    ([`crate::solve::skeleton`]), which follows assignments, loops and guards;
//! 2. stays: by the signs of polynomials ([`super::poly`]), for all sizes;
//! 3. leaves: by trying cases of the index and its guards ([`super::sample`]),
//!    at more sizes than a whole kernel is run at.
//!
//! What neither leaves nor is shown to stay is undecided, and accepted: lowering
//! guards every index that it cannot show to be inside. So does an index made of
//! loaded data stay undecided, and one that goes up to a number which the kernel has
//! counted ([`super::counted`]).

use std::collections::BTreeSet;

use super::counted::{Counts, Limit, limits_of, limits_of_range};
use super::fold::enter_all;
use super::poly::{Bounds, Poly};
use super::sample::{Case, Sources};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Source, Stmt, StmtKind, VarId, VarKind,
    print_access, print_expr,
};
use crate::op::LogicOp;
use crate::solve::skeleton::{Stray, Worker};
use crate::span::SpanId;

/// Whether every access to a tile is shown to stay in it, at all sizes.
pub(super) fn all_stay(kernel: &Kernel) -> bool {
    let mut bounds = Bounds::new(kernel);
    enter_all(kernel, &kernel.body, &mut bounds);
    Uses::of(kernel).iter().all(|used| stays(kernel, &mut bounds, used.access))
}

/// Reports accesses that leave their tile: those found by running the kernel,
/// and further ones. Gives the tiles that they belong to.
pub(super) fn check_bounds(
    kernel: &Kernel,
    strays: &[Stray],
    diags: &mut Diagnostics,
) -> BTreeSet<ArrayRef> {
    let mut bounds = Bounds::new(kernel);
    enter_all(kernel, &kernel.body, &mut bounds);
    let sources = Sources::of(kernel);
    let counts = Counts::of(kernel);
    let mut reported: BTreeSet<SpanId> = BTreeSet::new();
    let mut stray = BTreeSet::new();
    for used in &Uses::of(kernel) {
        if reported.contains(&used.access.span) {
            continue;
        }
        let ran = strays.iter().find(|stray| stray.site.span == used.access.span);
        let example = match ran {
            Some(stray)
                if stray.cause.is_some() && counts.limit(&used.limits, &used.access.indices) =>
            {
                None
            }
            Some(stray) => Some(Example::of_run(kernel, stray)),
            None if stays(kernel, &mut bounds, used.access) => None,
            None => search(kernel, &sources, used),
        };
        if let Some(example) = example {
            reported.insert(used.access.span);
            stray.insert(used.access.array);
            diags.push(report(kernel, used.access, &example));
        }
    }
    stray
}

/// An access to a tile, and the conditions that it is made under: of each, what
/// it must be.
struct Use<'a> {
    access: &'a Access,
    conditions: Vec<(ExprId, bool)>,
    limits: Vec<Limit>,
}

/// Collects the accesses to tiles.
struct Uses<'a> {
    kernel: &'a Kernel,
    conditions: Vec<(ExprId, bool)>,
    limits: Vec<Limit>,
    found: Vec<Use<'a>>,
}

impl<'a> Uses<'a> {
    fn of(kernel: &'a Kernel) -> Vec<Use<'a>> {
        let mut uses =
            Self { kernel, conditions: Vec::new(), limits: Vec::new(), found: Vec::new() };
        uses.stmts(&kernel.body);
        uses.found
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Let { init, .. } => init.iter().for_each(|init| self.expr(*init)),
            StmtKind::LetArray { init, .. } => init.iter().for_each(|init| self.expr(*init)),
            StmtKind::Assign { value, .. }
            | StmtKind::Update { place: Place::Var(_), value, .. } => self.expr(*value),
            StmtKind::Store { access, value }
            | StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.written(access, &[*value]);
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                self.written(access, &[expected.as_slice(), &[*value]].concat());
            }
            StmtKind::Exchange { value, lane, .. } => {
                [*value].into_iter().chain(*lane).for_each(|expr| self.expr(expr));
            }
            StmtKind::Each { body, .. } => self.stmts(body),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                range.exprs().into_iter().for_each(|bound| self.expr(bound));
                self.within(limits_of_range(*var, range), |uses| uses.stmts(body));
            }
            StmtKind::While { cond, body } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.stmts(body));
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.stmts(then));
                self.under(*cond, false, |uses| uses.stmts(otherwise));
            }
            // That it holds is no condition: an index that leaves its tile does.
            StmtKind::Assume { cond } => self.expr(*cond),
            StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
    }

    fn written(&mut self, access: &'a Access, values: &[ExprId]) {
        access.indices.iter().chain(values).for_each(|expr| self.expr(*expr));
        self.access(access);
    }

    fn under(&mut self, cond: ExprId, is: bool, inner: impl FnOnce(&mut Self)) {
        self.conditions.push((cond, is));
        self.within(limits_of(self.kernel, cond), inner);
        self.conditions.pop();
    }

    fn within(&mut self, limits: Vec<Limit>, inner: impl FnOnce(&mut Self)) {
        let outer = self.limits.len();
        self.limits.extend(limits);
        inner(self);
        self.limits.truncate(outer);
    }

    fn expr(&mut self, id: ExprId) {
        let kernel = self.kernel;
        let kind = &kernel.exprs[id].kind;
        match kind {
            ExprKind::Select { cond, then, otherwise } => {
                self.expr(*cond);
                self.under(*cond, true, |uses| uses.expr(*then));
                self.under(*cond, false, |uses| uses.expr(*otherwise));
            }
            ExprKind::Logic { op, lhs, rhs } => {
                self.expr(*lhs);
                self.under(*lhs, *op == LogicOp::And, |uses| uses.expr(*rhs));
            }
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {
                kind.operands().into_iter().for_each(|operand| self.expr(operand));
                if let ExprKind::Load(access) = kind {
                    self.access(access);
                }
            }
        }
    }

    fn access(&mut self, access: &'a Access) {
        if matches!(access.array, ArrayRef::Tile(_)) {
            let (conditions, limits) = (self.conditions.clone(), self.limits.clone());
            self.found.push(Use { access, conditions, limits });
        }
    }
}

/// Whether an access is inside at every size, whatever guards it.
fn stays(kernel: &Kernel, bounds: &mut Bounds<'_>, access: &Access) -> bool {
    access.indices.iter().zip(kernel.extents(access.array)).all(|(index, extent)| {
        let (index, extent) = (bounds.poly(*index), bounds.poly(*extent));
        let room = extent.sub(&Poly::constant(1)).sub(&index);
        bounds.is_never_negative(&index) && bounds.is_never_negative(&room)
    })
}

/// An access that leaves its tile.
struct Example {
    element: Vec<i128>,
    /// The first axis that is left, and its extent.
    axis: (usize, i128),
    /// Who makes it, in words.
    worker: String,
    /// Counters of the loops around.
    counters: Vec<(VarId, i128)>,
    /// Sizes, dimensions and scalars.
    sizes: Vec<(VarId, i128)>,
    /// What decides whether it is made, of what comes from memory.
    cause: Option<Source>,
}

impl Example {
    fn of_run(kernel: &Kernel, stray: &Stray) -> Self {
        let wide = |values: &[(VarId, i64)]| -> Vec<(VarId, i128)> {
            values.iter().map(|(var, value)| (*var, i128::from(*value))).collect()
        };
        let worker = match &stray.party.worker {
            Worker::Item(at) => format!("work-item {}", point(kernel, &wide(at))),
            Worker::Point(_, at) => format!("the point {}", point(kernel, &wide(at))),
            Worker::Body => "the block".to_owned(),
        };
        Self {
            element: stray.element.iter().map(|index| i128::from(*index)).collect(),
            axis: (stray.axis.0, i128::from(stray.axis.1)),
            worker,
            counters: wide(&stray.party.counters),
            sizes: wide(&stray.sizes),
            cause: stray.cause,
        }
    }

    fn of_case(kernel: &Kernel, case: &Case<'_>, unknowns: &BTreeSet<VarId>) -> Self {
        let of = |test: &dyn Fn(VarKind) -> bool| -> Vec<(VarId, i128)> {
            let vars = unknowns.iter().filter(|var| test(kernel.vars[**var].kind));
            vars.filter_map(|var| Some((*var, case.eval_var(*var)?))).collect()
        };
        let points = of(&|kind| kind == VarKind::Each);
        let worker = if points.is_empty() {
            match &kernel.block {
                Some(axes) => {
                    let items =
                        axes.iter().map(|axis| (axis.var, case.eval_var(axis.var).unwrap_or(0)));
                    format!("work-item {}", point(kernel, &items.collect::<Vec<_>>()))
                }
                None => "the block".to_owned(),
            }
        } else {
            format!("the point {}", point(kernel, &points))
        };
        Self {
            element: Vec::new(),
            axis: (0, 0),
            worker,
            counters: of(&|kind| kind == VarKind::Loop),
            sizes: of(&|kind| {
                matches!(
                    kind,
                    VarKind::TileParam(_) | VarKind::Dim | VarKind::Scalar(_) | VarKind::Grid
                )
            }),
            cause: None,
        }
    }
}

/// Looks for a case in which an access is made and leaves its tile.
fn search(kernel: &Kernel, sources: &Sources<'_>, used: &Use<'_>) -> Option<Example> {
    let extents = kernel.extents(used.access.array);
    let mut exprs = used.access.indices.clone();
    exprs.extend(extents);
    exprs.extend(used.conditions.iter().map(|(cond, _)| *cond));
    let unknowns = sources.unknowns(&exprs)?;
    sources.search(&unknowns, |case| {
        let is_made = |(cond, is): &(ExprId, bool)| case.eval(*cond) == Some(i128::from(*is));
        if !used.conditions.iter().all(is_made) {
            return None;
        }
        let element: Option<Vec<i128>> =
            used.access.indices.iter().map(|index| case.eval(*index)).collect();
        let element = element?;
        let axis =
            element.iter().zip(extents).enumerate().find_map(|(axis, (index, extent))| {
                let extent = case.eval(*extent)?;
                (!(0..extent).contains(index)).then_some((axis, extent))
            })?;
        Some(Example { element, axis, ..Example::of_case(kernel, case, &unknowns) })
    })
}

fn report(kernel: &Kernel, access: &Access, example: &Example) -> Diagnostic {
    let name = kernel.array_name(access.array);
    let (axis, extent) = example.axis;
    let index = example.element[axis];
    let text = print_access(kernel, access);
    let side = if index < 0 { "before the first" } else { "past the last" };
    let of = if example.element.len() == 1 {
        "element".to_owned()
    } else {
        format!("element of axis {axis}")
    };
    let word = kernel.array_word(access.array);
    let message = format!("`{text}` can be {side} {of} of the {word} `{name}`");
    let extents: Vec<String> =
        kernel.extents(access.array).iter().map(|extent| print_expr(kernel, *extent)).collect();
    let declared = match access.array {
        ArrayRef::Tile(tile) => kernel.tiles[tile].span,
        ArrayRef::Tensor(tensor) => kernel.tensors[tensor].span,
    };
    let element: Vec<String> = example.element.iter().map(ToString::to_string).collect();
    let mut what = format!("{} uses `{name}[{}]`", example.worker, element.join(", "));
    if !example.counters.is_empty() {
        what = format!("{what} at {}", values(kernel, &example.counters));
    }
    if !example.sizes.is_empty() {
        what = format!("with {}, {what}", values(kernel, &example.sizes));
    }
    let which = if example.element.len() == 1 { String::new() } else { format!(" of axis {axis}") };
    let what = if extent > 0 {
        format!("{what}; the indices{which} are 0 to {}", extent - 1)
    } else {
        format!("{what}, which then has no elements")
    };
    let mut diagnostic = Diagnostic::error(Code::TileBounds, access.span, message)
        .label(declared, format!("`{name}` has the extents `[{}]`", extents.join(", ")))
        .note(what);
    if let Some(source) = example.cause {
        let text = source.text(kernel);
        let what = match source {
            Source::Load(_) => "loaded",
            Source::Old(_) => "old value",
            Source::Launch(_) => "parameter",
        };
        diagnostic =
            diagnostic.note(format!("the {what} `{text}` decides whether it comes to that"));
    }
    let tested = print_expr(kernel, access.indices[axis]);
    let guard =
        if index < 0 { format!("{tested} >= 0") } else { format!("{tested} < {}", extents[axis]) };
    diagnostic.help(format!(
        "make the {word} larger, or the index smaller, or put the access under `if {guard} {{ … }}`"
    ))
}

fn point(kernel: &Kernel, at: &[(VarId, i128)]) -> String {
    format!("({})", values(kernel, at))
}

fn values(kernel: &Kernel, values: &[(VarId, i128)]) -> String {
    let texts: Vec<String> =
        values.iter().map(|(var, value)| format!("{} = {value}", kernel.vars[*var].name)).collect();
    texts.join(", ")
}
