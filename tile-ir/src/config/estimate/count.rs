//! What one block does: a walk over the kernel's text with its trip counts.

use super::block::BlockCost;
use super::kept::{Kept, Loop};
use super::sizes::{Sizes, UNKNOWN_TRIPS};
use super::text::access_of;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Place, Stmt, StmtKind, TileId, Type, VarId,
};
use crate::op::BinaryOp;

/// Instructions of a function such as `exp`, or of a division.
const FUNCTION_OPS: f64 = 8.0;
/// Registers beyond which the values that wait for memory are not all kept.
const MAX_WAITING_WORDS: f64 = 64.0;
/// Times that the compiler repeats the body of a loop of any length.
const REPEATED: f64 = 4.0;
/// How often a condition on data holds.
const LIKELY: f64 = 0.5;
/// The part of a thread's items whose temporaries are kept at once.
const TEMPORARY_ITEMS: f64 = 0.75;

/// Whose points a statement runs for.
#[derive(Clone, Copy)]
pub(super) enum Domain<'a> {
    Block,
    Each(Points<'a>),
}

/// The points of a cooperative loop.
#[derive(Clone, Copy)]
pub(super) struct Points<'a> {
    /// The axes and their extents.
    pub(super) axes: &'a [(VarId, f64)],
    /// The axis along which accesses to global memory have unit stride.
    pub(super) fastest: Option<VarId>,
    /// Whether a tile that is stored along another axis is filled.
    pub(super) is_across: bool,
}

/// How often a statement runs, and stands in the text.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) trips: f64,
    pub(super) copies: f64,
    /// Whether it is in a phase with several stages.
    pub(super) is_staged: bool,
    /// Iterations of a loop whose loads are under way at once.
    pub(super) at_once: f64,
    /// Whether data have decided already that it runs.
    pub(super) is_decided: bool,
}

/// Counts what a block does.
pub(super) fn count(sizes: &Sizes<'_>) -> BlockCost {
    count_from(sizes, BlockCost::default())
}

/// The same, and lists the accesses to tiles.
pub(super) fn count_noting(sizes: &Sizes<'_>) -> BlockCost {
    count_from(sizes, BlockCost { tile_accesses: Some(Vec::new()), ..BlockCost::default() })
}

fn count_from(sizes: &Sizes<'_>, mut cost: BlockCost) -> BlockCost {
    let mut walk = Walk { sizes, cost: &mut cost, loops: Vec::new(), kept: Kept::default() };
    let once = Times { trips: 1.0, copies: 1.0, is_staged: false, at_once: 1.0, is_decided: false };
    walk.stmts(&sizes.kernel.body, Domain::Block, once);
    cost
}

pub(super) struct Walk<'a, 'k> {
    pub(super) sizes: &'a Sizes<'k>,
    pub(super) cost: &'a mut BlockCost,
    /// The loops that are gone through.
    pub(super) loops: Vec<Loop>,
    pub(super) kept: Kept,
}

impl Walk<'_, '_> {
    fn stmts(&mut self, stmts: &[Stmt], domain: Domain<'_>, times: Times) {
        for stmt in stmts {
            if let (StmtKind::Let { var, .. }, Domain::Block) = (&stmt.kind, domain) {
                self.variable(*var);
            }
            self.stmt(stmt, domain, times);
        }
    }

    /// The registers of an item's variable: one for each of a thread's items where
    /// it outlives a statement of the whole block, or waits for memory.
    fn variable(&mut self, var: VarId) {
        let (sizes, ty) = (self.sizes, self.sizes.kernel.vars[var].ty);
        let Some(variable) = sizes.text.variables.get(&var).filter(|_| ty != Type::Index) else {
            return;
        };
        let words = (sizes.type_bytes(ty) / 4.0).max(1.0) * sizes.items_per_thread();
        // Operands that items share have registers of their own.
        let own = |access: &Access| {
            let is_touched = |var| access.indices.iter().any(|&id| sizes.depends(id, var));
            sizes.items_along(is_touched) == sizes.items_per_thread()
        };
        let mut loads = variable.loads.iter().filter_map(|&id| access_of(sizes.kernel, id));
        if variable.is_fragment {
            self.cost.fragment_words += words;
        } else if variable.waits {
            self.cost.waiting_words += words.min(MAX_WAITING_WORDS);
        } else if loads.any(own) {
            self.cost.waiting_words += TEMPORARY_ITEMS * words;
        }
    }

    fn stmt(&mut self, stmt: &Stmt, domain: Domain<'_>, times: Times) {
        let Times { trips, copies, .. } = times;
        match &stmt.kind {
            StmtKind::Let { init, .. } => {
                init.iter().for_each(|init| self.expr(*init, domain, times));
            }
            StmtKind::Assign { value, .. } => self.expr(*value, domain, times),
            StmtKind::Store { access, value } => {
                self.expr(*value, domain, times);
                self.write(access, domain, times);
            }
            StmtKind::LetArray { init, .. } => {
                init.iter().for_each(|init| self.expr(*init, domain, times));
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                for value in expected.iter().chain([value]) {
                    self.expr(*value, domain, times);
                }
                self.read(access, domain, times);
                self.write(access, domain, times);
            }
            StmtKind::Update { place, value, .. } => self.update(place, *value, domain, times),
            StmtKind::Each { axes, body, .. } => {
                let extents: Vec<(VarId, f64)> = axes
                    .iter()
                    .map(|axis| (axis.var, self.sizes.index_or(axis.extent, UNKNOWN_TRIPS)))
                    .collect();
                if times.is_staged {
                    self.cost.staged_tiles.extend(filled(body));
                } else {
                    self.cost.waits += trips;
                }
                let fastest = axes.first().and_then(|axis| self.sizes.text.fastest(axis.var));
                let is_across = fastest.is_some_and(|fastest| self.is_across(body, fastest));
                let points = Points { axes: &extents, fastest, is_across };
                self.stmts(body, Domain::Each(points), times);
            }
            StmtKind::Phase { var, range, body, .. } => {
                let is_staged = self.sizes.config.stages > 1;
                let trips = trips * self.sizes.trips(*var, range);
                if is_staged {
                    self.cost.staged_iterations += trips;
                }
                let copies = match (is_staged, self.sizes.config.unroll_stages) {
                    (true, true) => f64::from(self.sizes.config.stages),
                    _ => 1.0,
                };
                self.rolled(
                    body,
                    domain,
                    Times { trips, copies, is_staged, at_once: 1.0, ..times },
                );
            }
            StmtKind::For { var, range, body } => {
                let own = self.sizes.trips(*var, range);
                let more = self.sizes.copies(range, own, body);
                self.loops.push(Loop {
                    var: *var,
                    trips: own.max(1.0),
                    step: self.sizes.step(range),
                    is_written_out: more > 1.0,
                });
                let trips = trips * own;
                match more {
                    1.0 => {
                        let at_once = REPEATED.min(own).max(1.0);
                        self.rolled(body, domain, Times { trips, copies: 1.0, at_once, ..times });
                    }
                    more => {
                        let copies = copies * more;
                        self.stmts(body, domain, Times { trips, copies, ..times });
                    }
                }
                self.loops.pop();
            }
            StmtKind::While { cond, body } => {
                let times = Times { trips: trips * UNKNOWN_TRIPS, ..times };
                self.expr(*cond, domain, times);
                self.branch(*cond, domain, times);
                self.rolled(body, domain, times);
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(*cond, domain, times);
                let times = match self.branch(*cond, domain, times) {
                    true => Times { trips: LIKELY * trips, is_decided: true, ..times },
                    false => times,
                };
                self.stmts(then, domain, times);
                self.stmts(otherwise, domain, times);
            }
            StmtKind::Exchange { var, op, value, lane } => {
                [*value].into_iter().chain(*lane).for_each(|id| self.expr(id, domain, times));
                self.exchange(*var, *op, domain, times);
            }
            // No device that is estimated evaluates it.
            StmtKind::Assume { .. } | StmtKind::Distinct { .. } => {}
            StmtKind::WarpBarrier => {}
            StmtKind::Barrier => {
                self.forget();
                let per_iteration = if times.is_staged { 0.5 } else { 1.0 };
                self.cost.barriers += per_iteration * trips;
            }
        }
    }

    /// Counts a condition, if data decide it; whether they do. Within what a condition has
    /// decided, compilers choose between values.
    fn branch(&mut self, cond: ExprId, domain: Domain<'_>, times: Times) -> bool {
        let is_of_data = self.sizes.text.origins.is_of_data(cond);
        if is_of_data && !times.is_decided && matches!(domain, Domain::Block) {
            self.cost.branches += times.trips * self.sizes.items_per_thread();
        }
        is_of_data
    }

    /// Whether statements store to a tile whose elements lie next to each other along
    /// another axis than `fastest`.
    fn is_across(&self, body: &[Stmt], fastest: VarId) -> bool {
        body.iter().any(|stmt| match &stmt.kind {
            StmtKind::Store { access, .. } => self.sizes.is_across(access, fastest),
            _ => false,
        })
    }

    /// The body of a loop that stays one: what is around it has other code.
    fn rolled(&mut self, body: &[Stmt], domain: Domain<'_>, times: Times) {
        let outside = std::mem::take(&mut self.cost.code);
        self.forget();
        self.stmts(body, domain, times);
        self.forget();
        let own = std::mem::replace(&mut self.cost.code, outside);
        self.cost.loop_code = self.cost.loop_code.max(own);
    }

    fn update(&mut self, place: &Place, value: ExprId, domain: Domain<'_>, times: Times) {
        self.expr(value, domain, times);
        let fused = matches!(
            self.sizes.kernel.exprs[value].kind,
            ExprKind::Binary { op: BinaryOp::Mul, .. }
        );
        if !fused {
            self.operate(1.0, domain, times);
        }
        if let Place::Element(access) = place {
            self.read(access, domain, times);
            self.write(access, domain, times);
        }
    }

    pub(super) fn points(&self, domain: Domain<'_>) -> f64 {
        let axes = match domain {
            Domain::Block => &self.sizes.block,
            Domain::Each(points) => points.axes,
        };
        axes.iter().map(|(_, extent)| extent).product()
    }

    /// So many operations of each point.
    pub(super) fn operate(&mut self, n: f64, domain: Domain<'_>, times: Times) {
        let points = self.points(domain);
        self.cost.arithmetic += n * points * times.trips;
        let of_thread = match domain {
            Domain::Block => self.sizes.items_per_thread(),
            Domain::Each(..) => (points / f64::from(self.sizes.config.threads)).ceil(),
        };
        self.cost.code += n * of_thread * times.copies;
    }

    fn expr(&mut self, expr: ExprId, domain: Domain<'_>, times: Times) {
        let node = &self.sizes.kernel.exprs[expr];
        let counts = node.ty != Type::Index;
        match &node.kind {
            ExprKind::Literal(_) | ExprKind::Var(_) | ExprKind::InBounds { .. } => {}
            ExprKind::Load(access) => self.read(access, domain, times),
            ExprKind::Unary { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Uniform(operand) => {
                self.expr(*operand, domain, times);
            }
            ExprKind::Math { arg, .. } => {
                self.operate(FUNCTION_OPS, domain, times);
                self.expr(*arg, domain, times);
            }
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, lhs, rhs } if counts => {
                self.operate(FUNCTION_OPS, domain, times);
                self.expr(*lhs, domain, times);
                self.expr(*rhs, domain, times);
            }
            ExprKind::Binary { lhs, rhs, .. }
            | ExprKind::Compare { lhs, rhs, .. }
            | ExprKind::Logic { lhs, rhs, .. }
            | ExprKind::Tiles { extent: lhs, tile: rhs } => {
                if counts {
                    self.operate(1.0, domain, times);
                }
                self.expr(*lhs, domain, times);
                self.expr(*rhs, domain, times);
            }
            // Almost all blocks are away from the edges.
            ExprKind::Select { then, .. } if self.sizes.kernel.read_at_edge(expr).is_some() => {
                self.expr(*then, domain, times);
            }
            ExprKind::Select { cond, then, otherwise } => {
                for part in [cond, then, otherwise] {
                    self.expr(*part, domain, times);
                }
            }
        }
    }
}

/// The tiles that statements store to.
fn filled(stmts: &[Stmt]) -> Vec<TileId> {
    let mut tiles = Vec::new();
    for stmt in stmts {
        if let StmtKind::Store { access, .. } = &stmt.kind
            && let ArrayRef::Tile(tile) = access.array
        {
            tiles.push(tile);
        }
        stmt.kind.bodies().into_iter().for_each(|body| tiles.extend(filled(body)));
    }
    tiles
}
