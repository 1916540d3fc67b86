//! Pipeline: the next iteration's elements are on their way while the present
//! one computes.
//!
//! A loop of the form
//!
//! ```text
//! for p { load tiles; barrier; compute; barrier }
//! ```
//!
//! becomes, with two buffers of each tile,
//!
//! ```text
//! load tiles[0] for the first p; barrier
//! for p {
//!     fetch for the next p        (into registers, or asynchronously)
//!     compute on tiles[stage]
//!     store into tiles[1 - stage] (what was fetched into registers)
//!     barrier; stage = 1 - stage
//! }
//! ```
//!
//! with one barrier an iteration instead of two: the buffer that is written was
//! last read before the barrier at the end of the iteration before.
//!
//! # When it may
//!
//! - Every tile is filled whole, by an unguarded store of each element, before
//!   the first barrier, and touched nowhere outside the loop: then each element
//!   read in an iteration was written in that iteration, and no value is carried
//!   in a tile from one iteration to the next.
//! - The fills read only buffers that the kernel never writes, and variables
//!   that the loop does not assign: then they may run ahead.
//! - Nothing after the first barrier writes the tiles.
//!
//! Where one of these does not hold, the loop stays as it is.

use std::collections::BTreeMap;

use super::rewrite::Replacement;
use crate::arena::EntityId as _;
use crate::config::Config;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Access, DomainId, Expr, ExprId, ExprKind, Fragment, FragmentId, Literal, LoopRange,
    Participants, ProgramKernel, Scope, Stmt, StmtKind, Target, TileId, TokenId, Ty, Var, VarId,
};

/// Gives the tiles of each loop of that form a second buffer, where `config`
/// asks for more than one stage. `may_copy_async` says whether the device has
/// asynchronous copies.
pub(super) fn pipeline_loops(kernel: &mut ProgramKernel, config: &Config, may_copy_async: bool) {
    if config.stages < 2 {
        return;
    }
    let async_bytes = match (may_copy_async, config.async_bytes) {
        (false, _) | (_, 0) => u32::MAX,
        (true, bytes) => bytes,
    };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pipeline_in(kernel, body.clone(), &body, async_bytes);
}

fn pipeline_in(
    kernel: &mut ProgramKernel,
    stmts: Vec<Stmt>,
    whole: &[Stmt],
    async_bytes: u32,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let Some(stage) = Staged::of(kernel, &stmt, whole) {
            out.extend(stage.pipelined(kernel, async_bytes));
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = pipeline_in(kernel, std::mem::take(body), whole, async_bytes);
        }
        out.push(stmt);
    }
    out
}

/// A cooperative store that fills a tile.
struct Fill {
    domain: DomainId,
    access: Access,
    value: ExprId,
    tile: TileId,
    items: Stmt,
    store: Stmt,
}

/// A loop that can be pipelined, in parts.
struct Staged {
    var: VarId,
    start: ExprId,
    end: ExprId,
    step: ExprId,
    fills: Vec<Fill>,
    /// Between the two barriers.
    compute: Vec<Stmt>,
    head: Stmt,
}

impl Staged {
    /// The parts of a loop of the form; `None` where it has another one.
    fn of(kernel: &ProgramKernel, stmt: &Stmt, whole: &[Stmt]) -> Option<Self> {
        let StmtKind::For { var, range, body, .. } = &stmt.kind else { return None };
        let LoopRange::Between { start, end, step, reversed: false } = *range else { return None };
        if stmt.scope != Scope::Block || !is_positive(kernel, step) {
            return None;
        }
        let first = body.iter().position(is_barrier)?;
        let (last, compute) = body.get(first + 1..)?.split_last()?;
        if !is_barrier(last) {
            return None;
        }
        let fills: Option<Vec<Fill>> =
            body[..first].iter().map(|stmt| Fill::of(kernel, stmt)).collect();
        let fills = fills.filter(|fills| !fills.is_empty())?;
        let tiles: Vec<TileId> = fills.iter().map(|fill| fill.tile).collect();
        let mut assigned = Vec::new();
        assigned_vars(compute, &mut assigned);
        for (number, fill) in fills.iter().enumerate() {
            let is_filled_before = tiles[..number].contains(&fill.tile);
            if is_filled_before || !fill.may_run_ahead(kernel, &assigned) {
                return None;
            }
        }
        let inside = |stmts: &[Stmt]| count_accesses(kernel, stmts, &tiles);
        let all = inside(whole);
        let here = inside(std::slice::from_ref(stmt));
        let written = inside(compute).writes;
        (all == here && written == 0).then(|| Self {
            var: *var,
            start,
            end,
            step,
            fills,
            compute: compute.to_vec(),
            head: stmt.clone(),
        })
    }

    fn pipelined(&self, kernel: &mut ProgramKernel, async_bytes: u32) -> Vec<Stmt> {
        let tiles: Vec<TileId> = self.fills.iter().map(|fill| fill.tile).collect();
        for &tile in &tiles {
            kernel.tiles[tile].buffers = 2;
        }
        let stage = Var { name: "stage".to_owned(), ty: Ty::INDEX32, scope: Scope::Block };
        let stage = kernel.vars.push(stage);
        let present = push(kernel, ExprKind::Var(stage), Ty::INDEX32);
        let other = self.one_minus(kernel, present);
        let next_p = self.next_counter(kernel);
        let has_first = self.is_below_end(kernel, self.start);
        let has_next = self.is_below_end(kernel, next_p);
        let asynchronous: Vec<bool> = self
            .fills
            .iter()
            .map(|fill| fill.copy_bytes(kernel).is_some_and(|bytes| bytes >= async_bytes))
            .collect();
        let token = asynchronous.contains(&true).then(|| TokenId::from_index(0));
        let zero = literal(kernel, 0);

        let at = |counter, slot| Replacement {
            vars: BTreeMap::from([(self.var, counter)]),
            slot: Some((tiles.clone(), slot)),
            ..Replacement::default()
        };
        let (first, next) = (at(self.start, zero), at(next_p, other));
        let mut fill_first = Vec::new();
        let mut fetch = Vec::new();
        let mut put = Vec::new();
        for (fill, is_async) in self.fills.iter().zip(&asynchronous) {
            let token = token.filter(|_| *is_async);
            fill_first.push(fill.at_once(kernel, &first, token));
            if *is_async {
                fetch.push(fill.at_once(kernel, &next, token));
            } else {
                let staged = fill.fragment(kernel);
                fetch.push(fill.fetch(kernel, &next, staged));
                put.push(fill.put(kernel, &next, staged));
            }
        }
        let compute = Replacement { slot: Some((tiles, present)), ..Replacement::default() };
        let wait: Vec<Stmt> =
            token.map(|token| self.stmt(StmtKind::Wait(token))).into_iter().collect();
        let barrier = self.stmt(StmtKind::Barrier(Participants::Block));
        let toggle = self.stmt(StmtKind::Assign { var: stage, value: other });

        let mut body = vec![self.only_if(has_next, fetch)];
        body.extend(compute.stmts(kernel, &self.compute));
        if !put.is_empty() {
            body.push(self.only_if(has_next, put));
        }
        body.extend(wait.iter().cloned());
        body.extend([barrier.clone(), toggle]);
        let StmtKind::For { var, range, unroll, .. } = self.head.kind.clone() else {
            return vec![self.head.clone()];
        };
        let mut out = vec![
            self.stmt(StmtKind::Let { var: stage, value: Some(zero) }),
            self.only_if(has_first, fill_first),
        ];
        out.extend(wait);
        out.extend([barrier, self.stmt(StmtKind::For { var, range, unroll, body })]);
        out
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, ..self.head.clone() }
    }

    fn only_if(&self, cond: ExprId, then: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::If { cond, then, otherwise: Vec::new() })
    }

    fn one_minus(&self, kernel: &mut ProgramKernel, value: ExprId) -> ExprId {
        let one = literal(kernel, 1);
        push(kernel, ExprKind::Binary { op: BinaryOp::Sub, lhs: one, rhs: value }, Ty::INDEX32)
    }

    /// The counter's next value. Its type holds it: a counter may pass its end
    /// by one step.
    fn next_counter(&self, kernel: &mut ProgramKernel) -> ExprId {
        let ty = kernel.vars[self.var].ty;
        let lhs = push(kernel, ExprKind::Var(self.var), ty);
        push(kernel, ExprKind::Binary { op: BinaryOp::Add, lhs, rhs: self.step }, ty)
    }

    fn is_below_end(&self, kernel: &mut ProgramKernel, value: ExprId) -> ExprId {
        let kind = ExprKind::Compare { op: CompareOp::Lt, lhs: value, rhs: self.end };
        push(kernel, kind, Ty::BOOL)
    }
}

impl Fill {
    /// A store of each element of a tile by a cooperative loop over its extents.
    fn of(kernel: &ProgramKernel, stmt: &Stmt) -> Option<Self> {
        let StmtKind::Items { domain, body } = &stmt.kind else { return None };
        let [store] = body.as_slice() else { return None };
        let StmtKind::Store { access, value } = &store.kind else { return None };
        let Target::Tile(tile) = access.target else { return None };
        let extents = kernel.domains[*domain].extents();
        let is_coord = |(axis, &index): (usize, &ExprId)| {
            let coord = ExprKind::Coord { domain: *domain, axis: axis as u32 };
            kernel.exprs[index].kind == coord
        };
        let is_whole = *domain != kernel.block_domain
            && extents == kernel.tiles[tile].extents
            && access.indices.iter().enumerate().all(is_coord);
        (is_whole && !access.is_guarded() && access.slot.is_none()).then(|| Self {
            domain: *domain,
            access: access.clone(),
            value: *value,
            tile,
            items: stmt.clone(),
            store: store.clone(),
        })
    }

    /// Whether the value is the same before the computation of the iteration
    /// before: it reads nothing that is written there.
    fn may_run_ahead(&self, kernel: &ProgramKernel, assigned: &[VarId]) -> bool {
        fn pure(kernel: &ProgramKernel, id: ExprId, assigned: &[VarId]) -> bool {
            let own = match &kernel.exprs[id].kind {
                ExprKind::Load(access) => match access.target {
                    Target::Buffer(buffer) => !kernel.buffers[buffer].written,
                    Target::Tile(_) => false,
                },
                ExprKind::Var(var) => !assigned.contains(var),
                ExprKind::Fragment(_) => false,
                ExprKind::Literal(_)
                | ExprKind::Arg(_)
                | ExprKind::Coord { .. }
                | ExprKind::Unary { .. }
                | ExprKind::Binary { .. }
                | ExprKind::Fma { .. }
                | ExprKind::Compare { .. }
                | ExprKind::Logic { .. }
                | ExprKind::Select { .. }
                | ExprKind::Cast(_)
                | ExprKind::Math { .. }
                | ExprKind::CeilDiv { .. }
                | ExprKind::InBounds { .. } => true,
            };
            let mut operands = true;
            kernel.exprs[id].kind.for_each_operand(&mut |operand| {
                operands = operands && pure(kernel, operand, assigned);
            });
            own && operands
        }
        pure(kernel, self.value, assigned)
    }

    /// Bytes of one access where the value is a plain element, both sides alike
    /// in type and width, that reads as zero bits outside: what an asynchronous
    /// copy can do.
    fn copy_bytes(&self, kernel: &ProgramKernel) -> Option<u32> {
        let ExprKind::Load(src) = &kernel.exprs[self.value].kind else { return None };
        let Target::Buffer(buffer) = src.target else { return None };
        let dtype = kernel.buffers[buffer].dtype;
        let pads_with_zero = !src.is_guarded()
            || src.pad.is_some_and(|pad| match kernel.exprs[pad].kind {
                ExprKind::Literal(Literal::Int(value)) => value == 0,
                ExprKind::Literal(Literal::Float(value)) => value.to_bits() == 0,
                ExprKind::Literal(Literal::Bool(value)) => !value,
                _ => false,
            });
        let bytes = u32::from(src.width) * dtype.size_bytes();
        let fits = dtype == kernel.tiles[self.tile].dtype
            && src.width == self.access.width
            && matches!(bytes, 4 | 8 | 16)
            && pads_with_zero;
        fits.then_some(bytes)
    }

    /// The fill with its parts replaced, as a copy where it has a token.
    fn at_once(
        &self,
        kernel: &mut ProgramKernel,
        with: &Replacement,
        token: Option<TokenId>,
    ) -> Stmt {
        let stmt = with.stmt(kernel, &self.store);
        let kind = match (stmt.kind, token) {
            (StmtKind::Store { access, value }, Some(_)) => {
                match kernel.exprs[value].kind.clone() {
                    ExprKind::Load(src) => StmtKind::Copy { dst: access, src, token },
                    _ => StmtKind::Store { access, value },
                }
            }
            (kind, _) => kind,
        };
        self.items(vec![Stmt { kind, ..self.store.clone() }])
    }

    /// Registers for what one iteration fetches.
    fn fragment(&self, kernel: &mut ProgramKernel) -> FragmentId {
        let name = format!("{}_next", kernel.tiles[self.tile].name);
        let ty = kernel.exprs[self.value].ty;
        kernel.fragments.push(Fragment { name, ty, domain: self.domain, accumulator: false })
    }

    fn fetch(&self, kernel: &mut ProgramKernel, with: &Replacement, staged: FragmentId) -> Stmt {
        let value = with.expr(kernel, self.value);
        let kind = StmtKind::SetFragment { fragment: staged, value };
        self.items(vec![Stmt { kind, ..self.store.clone() }])
    }

    fn put(&self, kernel: &mut ProgramKernel, with: &Replacement, staged: FragmentId) -> Stmt {
        let ty = kernel.fragments[staged].ty;
        let value = push(kernel, ExprKind::Fragment(staged), ty);
        let store = Stmt {
            kind: StmtKind::Store { access: self.access.clone(), value },
            ..self.store.clone()
        };
        let store = with.stmt(kernel, &store);
        self.items(vec![store])
    }

    fn items(&self, body: Vec<Stmt>) -> Stmt {
        Stmt { kind: StmtKind::Items { domain: self.domain, body }, ..self.items.clone() }
    }
}

fn push(kernel: &mut ProgramKernel, kind: ExprKind, ty: Ty) -> ExprId {
    kernel.exprs.push(Expr { kind, ty })
}

fn literal(kernel: &mut ProgramKernel, value: i128) -> ExprId {
    push(kernel, ExprKind::Literal(Literal::Int(value)), Ty::INDEX32)
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Barrier(Participants::Block))
}

fn is_positive(kernel: &ProgramKernel, expr: ExprId) -> bool {
    matches!(kernel.exprs[expr].kind, ExprKind::Literal(Literal::Int(value)) if value > 0)
}

fn assigned_vars(stmts: &[Stmt], vars: &mut Vec<VarId>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Let { var, .. } | StmtKind::Assign { var, .. } => vars.push(*var),
            StmtKind::For { var, .. } => vars.push(*var),
            StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Wait(_)
            | StmtKind::Items { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_) => {}
        }
        for body in stmt.kind.bodies() {
            assigned_vars(body, vars);
        }
    }
}

/// Accesses to some tiles.
#[derive(Debug, Default, PartialEq, Eq)]
struct Accesses {
    reads: usize,
    writes: usize,
}

fn count_accesses(kernel: &ProgramKernel, stmts: &[Stmt], tiles: &[TileId]) -> Accesses {
    let touches = |access: &Access| match access.target {
        Target::Tile(tile) => usize::from(tiles.contains(&tile)),
        Target::Buffer(_) => 0,
    };
    let mut count = Accesses::default();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Store { access, .. } => count.writes += touches(access),
            StmtKind::Atomic { access, .. } => {
                count.writes += touches(access);
                count.reads += touches(access);
            }
            StmtKind::Copy { dst, src, .. } => {
                count.writes += touches(dst);
                count.reads += touches(src);
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Wait(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_) => {}
        }
        stmt.kind.for_each_expr(&mut |expr| count.reads += loads_of(kernel, expr, &touches));
        for body in stmt.kind.bodies() {
            let inside = count_accesses(kernel, body, tiles);
            count.reads += inside.reads;
            count.writes += inside.writes;
        }
    }
    count
}

fn loads_of(kernel: &ProgramKernel, expr: ExprId, touches: &dyn Fn(&Access) -> usize) -> usize {
    let kind = &kernel.exprs[expr].kind;
    let mut count = match kind {
        ExprKind::Load(access) => touches(access),
        _ => 0,
    };
    kind.for_each_operand(&mut |operand| count += loads_of(kernel, operand, touches));
    count
}
