//! Stages: a pipelined loop, written out with several buffers of its tiles.

use std::collections::BTreeMap;

use super::fill::Fill;
use super::{Buffering, Staged};
use crate::arena::EntityId as _;
use crate::lower::rewrite::Replacement;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Expr, ExprId, ExprKind, FragmentId, Literal, LoopRange, Participants, ProgramKernel, Scope,
    Stmt, StmtKind, TileId, TokenId, Ty, Var,
};

/// Which buffers an iteration computes on.
#[derive(Clone, Copy)]
enum Slot {
    /// Those of this number.
    Fixed(u32),
    /// Those whose number a variable holds.
    Held(ExprId),
}

/// A fill, and where what it fetches waits to be stored.
struct Route<'a> {
    fill: &'a Fill,
    /// Registers; none where the copy is asynchronous.
    staged: Option<FragmentId>,
}

/// A loop with what its stages share.
pub(super) struct Stages<'a> {
    source: &'a Staged,
    /// Buffers of each tile.
    n: u32,
    is_unrolled: bool,
    is_predicated: bool,
    /// Of the asynchronous copies, where there are any.
    token: Option<TokenId>,
    routes: Vec<Route<'a>>,
    tiles: Vec<TileId>,
}

impl<'a> Stages<'a> {
    /// Gives the loop's tiles their buffers, and the fills that are not
    /// asynchronous their registers.
    pub(super) fn of(kernel: &mut ProgramKernel, source: &'a Staged, how: Buffering) -> Self {
        let mut routes = Vec::new();
        for fill in &source.fills {
            let bytes = fill.copy_bytes(kernel);
            let is_async = bytes.is_some_and(|bytes| bytes >= how.async_bytes);
            let staged = (!is_async).then(|| fill.fragment(kernel));
            routes.push(Route { fill, staged });
        }
        let is_async = routes.iter().any(|route| route.staged.is_none());
        // Registers hold one iteration's elements: more buffers would stay empty.
        let n = if is_async { how.buffers } else { 2 };
        let tiles: Vec<TileId> = source.fills.iter().map(|fill| fill.tile).collect();
        for &tile in &tiles {
            kernel.tiles[tile].buffers = n;
        }
        let token = is_async.then(|| TokenId::from_index(0));
        let Buffering { is_unrolled, is_predicated, .. } = how;
        Self { source, n, is_unrolled, is_predicated, token, routes, tiles }
    }

    /// The statements that stand for the loop.
    pub(super) fn written_out(&self, kernel: &mut ProgramKernel) -> Vec<Stmt> {
        let mut out = self.prologue(kernel);
        match self.is_unrolled {
            true => out.push(self.unrolled(kernel)),
            false => out.extend(self.rolled(kernel)),
        }
        // What follows the loop comes after its last computation.
        out.push(self.stmt(StmtKind::Barrier(Participants::Block)));
        out
    }

    /// Fills all buffers but the last; from registers only the first.
    fn prologue(&self, kernel: &mut ProgramKernel) -> Vec<Stmt> {
        let start = self.source.start;
        let mut out = Vec::new();
        if self.keeps_old() {
            let staged = |route: &Route<'_>| Some(route.fill.cleared(kernel, route.staged?));
            out.extend(self.routes.iter().filter_map(staged));
        }
        for ahead in 0..self.n - 1 {
            let runs = self.runs(kernel, start, ahead);
            let with = self.iteration_at(kernel, start, ahead, Slot::Fixed(0));
            let routes = self.routes.iter().filter(|route| ahead == 0 || route.staged.is_none());
            let mut fills = Vec::new();
            for route in routes {
                let token = self.token.filter(|_| route.staged.is_none());
                fills.push(route.fill.at_once(kernel, &with, token));
            }
            out.push(self.only_if(runs, fills));
            out.extend(self.commit());
        }
        out
    }

    /// `for p { …; stage = next }`
    fn rolled(&self, kernel: &mut ProgramKernel) -> [Stmt; 2] {
        let stage = Var { name: "stage".to_owned(), ty: Ty::INDEX32, scope: Scope::Block };
        let stage = kernel.vars.push(stage);
        let held = Slot::Held(push(kernel, ExprKind::Var(stage), Ty::INDEX32));
        let counter = self.counter(kernel);
        let mut body = self.iteration(kernel, counter, 0, held);
        let next = self.slot_number(kernel, held, 1);
        body.push(self.stmt(StmtKind::Assign { var: stage, value: next }));
        let zero = index(kernel, 0, Ty::INDEX32);
        let first = self.stmt(StmtKind::Let { var: stage, value: Some(zero) });
        [first, self.for_each(kernel, 1, body)]
    }

    /// As many iterations one after the other as there are buffers, each on its
    /// own: then every place in a tile is known when the kernel is compiled.
    ///
    /// Measured on an H200, an f32 product of 4096 in tiles of 128 x 256 x 16: 50.8
    /// TFLOP/s, where a variable chooses the buffer 49.7.
    fn unrolled(&self, kernel: &mut ProgramKernel) -> Stmt {
        let counter = self.counter(kernel);
        let mut body = Vec::new();
        for ahead in 0..self.n {
            let runs = self.runs(kernel, counter, ahead);
            let iteration = self.iteration(kernel, counter, ahead, Slot::Fixed(0));
            // Each in a list of its own, as it may declare variables.
            body.push(self.only_if(runs, iteration));
        }
        self.for_each(kernel, self.n, body)
    }

    /// The iteration `ahead` after the one at `counter`, which is on `slot`.
    fn iteration(
        &self,
        kernel: &mut ProgramKernel,
        counter: ExprId,
        ahead: u32,
        slot: Slot,
    ) -> Vec<Stmt> {
        // Copies go into the buffers that were last read before the barrier, other
        // elements of the next iteration into registers and then to its buffers.
        let farthest = ahead + self.n - 1;
        let present = self.iteration_at(kernel, counter, ahead, slot);
        let next = self.next_iteration(kernel, counter, ahead, slot);
        let far = self.iteration_at(kernel, counter, farthest, slot);
        let (mut copies, mut fetches, mut puts) = (Vec::new(), Vec::new(), Vec::new());
        for route in &self.routes {
            match route.staged {
                None => copies.push(route.fill.at_once(kernel, &far, self.token)),
                Some(staged) => {
                    fetches.push(route.fill.fetch(kernel, &next, staged));
                    puts.push(route.fill.put(kernel, &next, staged));
                }
            }
        }
        let has_next = self.runs(kernel, counter, ahead + 1);
        let mut body = Vec::new();
        let pending = self.n - 2;
        body.extend(self.token.map(|token| self.stmt(StmtKind::Wait { token, pending })));
        body.push(self.stmt(StmtKind::Barrier(Participants::Block)));
        let mut compute = present.stmts(kernel, &self.source.compute);
        if self.is_predicated {
            let n_loads = compute.iter().take_while(|stmt| is_operand_load(stmt)).count();
            body.extend(compute.drain(..n_loads));
        }
        if !copies.is_empty() {
            let has_far = self.runs(kernel, counter, farthest);
            match self.is_predicated {
                true => body.extend(copies.into_iter().map(|copy| each_only_if(has_far, copy))),
                false => body.push(self.only_if(has_far, copies)),
            }
            body.extend(self.commit());
        }
        match fetches.is_empty() || self.fetches_again() {
            true => body.extend(fetches),
            false => body.push(self.only_if(has_next, fetches)),
        }
        body.extend(compute);
        match puts.is_empty() || self.has_no_jumps() {
            true => body.extend(puts),
            false => body.push(self.only_if(has_next, puts)),
        }
        body
    }

    /// Whether no branch is around what goes through registers. Of two branches on one
    /// condition, around what is fetched and around where it is stored, compilers may
    /// make one, after the computation, which then waits for memory. Where other tiles'
    /// copies are asynchronous, they do not.
    ///
    /// Measured on an H200 in f32: `a · bᵀ` of 4096 in tiles of 256 x 128 x 16, both operands
    /// through registers, 3.5 ms with two branches and 2.9 without; `a · b`, one of them
    /// by asynchronous copies, in tiles of 64 x 512 x 32, 2.69 with and 2.82 without.
    fn has_no_jumps(&self) -> bool {
        self.is_predicated && self.token.is_none()
    }

    /// Whether the last iteration fetches what it has once more, instead of nothing, and
    /// stores it where nobody reads any more.
    fn fetches_again(&self) -> bool {
        self.has_no_jumps() && !self.is_unrolled
    }

    /// Whether it fetches nothing, and stores old elements there. Where several iterations
    /// stand in a row, loads without a condition are put off until their values are
    /// needed; those into registers that else keep their values are not: 3.6 ms and 2.8,
    /// measured as above.
    fn keeps_old(&self) -> bool {
        self.has_no_jumps() && self.is_unrolled
    }

    /// What stands for counter and buffers where the iteration after the one `ahead` of
    /// `counter` is fetched.
    fn next_iteration(
        &self,
        kernel: &mut ProgramKernel,
        counter: ExprId,
        ahead: u32,
        slot: Slot,
    ) -> Replacement {
        let mut next = self.iteration_at(kernel, counter, ahead + 1, slot);
        if self.fetches_again() {
            let present = self.iteration_at(kernel, counter, ahead, slot);
            let var = &self.source.var;
            if let (Some(&later), Some(&otherwise)) = (next.vars.get(var), present.vars.get(var)) {
                let cond = self.runs(kernel, counter, ahead + 1);
                let kind = ExprKind::Select { cond, then: later, otherwise };
                let ty = kernel.exprs[later].ty;
                next.vars.insert(*var, push(kernel, kind, ty));
            }
        }
        next
    }

    /// The loop with other steps, as many of its own as given, and another body.
    fn for_each(&self, kernel: &mut ProgramKernel, n_steps: u32, body: Vec<Stmt>) -> Stmt {
        let Staged { var, start, end, unroll, .. } = *self.source;
        let step = self.distance(kernel, n_steps);
        let range = LoopRange::Between { start, end, step, reversed: false };
        self.stmt(StmtKind::For { var, range, unroll, body })
    }

    /// What stands for counter and buffers in the iteration `ahead` after the one
    /// at `counter`, which is on `slot`.
    fn iteration_at(
        &self,
        kernel: &mut ProgramKernel,
        counter: ExprId,
        ahead: u32,
        slot: Slot,
    ) -> Replacement {
        let number = self.slot_number(kernel, slot, ahead);
        let later = match ahead {
            0 => counter,
            // Its type holds it: it is evaluated only where the iteration runs.
            _ => {
                let distance = self.distance(kernel, ahead);
                binary(kernel, BinaryOp::Add, counter, distance)
            }
        };
        Replacement {
            vars: BTreeMap::from([(self.source.var, later)]),
            slot: Some((self.tiles.clone(), number)),
            ..Replacement::default()
        }
    }

    /// The number of the buffers that come `ahead` after `slot`.
    fn slot_number(&self, kernel: &mut ProgramKernel, slot: Slot, ahead: u32) -> ExprId {
        let ahead = ahead % self.n;
        match slot {
            Slot::Fixed(number) => {
                index(kernel, i128::from((number + ahead) % self.n), Ty::INDEX32)
            }
            Slot::Held(held) if ahead == 0 => held,
            Slot::Held(held) if self.n == 2 => {
                let one = index(kernel, 1, Ty::INDEX32);
                binary(kernel, BinaryOp::Sub, one, held)
            }
            Slot::Held(held) => {
                let ahead = index(kernel, i128::from(ahead), Ty::INDEX32);
                let n = index(kernel, i128::from(self.n), Ty::INDEX32);
                let sum = binary(kernel, BinaryOp::Add, held, ahead);
                binary(kernel, BinaryOp::Rem, sum, n)
            }
        }
    }

    /// Whether the iteration `ahead` after the one at `counter` runs.
    fn runs(&self, kernel: &mut ProgramKernel, counter: ExprId, ahead: u32) -> ExprId {
        let mut end = self.source.end;
        if ahead > 0 {
            let distance = self.distance(kernel, ahead);
            end = binary(kernel, BinaryOp::Sub, end, distance);
        }
        let kind = ExprKind::Compare { op: CompareOp::Lt, lhs: counter, rhs: end };
        push(kernel, kind, Ty::BOOL)
    }

    /// So many steps of the loop.
    fn distance(&self, kernel: &mut ProgramKernel, n_steps: u32) -> ExprId {
        let ty = kernel.vars[self.source.var].ty;
        index(kernel, self.source.step * i128::from(n_steps), ty)
    }

    fn counter(&self, kernel: &mut ProgramKernel) -> ExprId {
        let ty = kernel.vars[self.source.var].ty;
        push(kernel, ExprKind::Var(self.source.var), ty)
    }

    fn commit(&self) -> Option<Stmt> {
        self.token.map(|token| self.stmt(StmtKind::Commit(token)))
    }

    fn only_if(&self, cond: ExprId, then: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::If { cond, then, otherwise: Vec::new() })
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, ..self.source.head.clone() }
    }
}

/// Whether a statement only puts into registers what is computed with.
fn is_operand_load(stmt: &Stmt) -> bool {
    let is_set = |stmt: &Stmt| matches!(stmt.kind, StmtKind::SetFragment { .. });
    match &stmt.kind {
        StmtKind::Items { body, .. } => body.iter().all(is_set),
        _ => false,
    }
}

/// Items, each with a condition of its own.
fn each_only_if(cond: ExprId, mut items: Stmt) -> Stmt {
    if let StmtKind::Items { body, .. } = &mut items.kind {
        let then = std::mem::take(body);
        if let Some(first) = then.first().cloned() {
            let kind = StmtKind::If { cond, then, otherwise: Vec::new() };
            body.push(Stmt { kind, ..first });
        }
    }
    items
}

fn push(kernel: &mut ProgramKernel, kind: ExprKind, ty: Ty) -> ExprId {
    kernel.exprs.push(Expr { kind, ty })
}

fn index(kernel: &mut ProgramKernel, value: i128, ty: Ty) -> ExprId {
    push(kernel, ExprKind::Literal(Literal::Int(value)), ty)
}

fn binary(kernel: &mut ProgramKernel, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
    let ty = kernel.exprs[lhs].ty;
    push(kernel, ExprKind::Binary { op, lhs, rhs }, ty)
}
