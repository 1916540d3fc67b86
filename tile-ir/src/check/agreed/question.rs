//! A kernel with a question in it, for the symbolic engine.
//!
//! ```text
//! if cond { asked[0] = 1; } else { let answer = asked[0]; }
//! ```
//!
//! stands where work-items may part, and [`never_part`] says whether any two do. Of a
//! loop it is asked in a round of which all that is known is that all have come to it:
//!
//! ```text
//! let mut r = 0;
//! while true { if start + r * step < end { … } else { … }; r += 1; }   // before a `for`
//! while true { if cond { … } else { … }; … }                           // for a `while`
//! ```
//!
//! So no number of rounds has to be computed: where all go into the next round or none
//! does, whichever round it is, all run as many. Rounds are asked of that nobody runs; that
//! makes a proof harder, not wrong. A `for` of which the step is not positive, for all as
//! it is one step, runs none.

use std::collections::BTreeSet;

use super::Parting;
use super::asked;
use super::assigned::Assigned;
use crate::arena::EntityId as _;
use crate::check::exact::Exact;
use crate::check::narrow::narrows;
use crate::check::precondition::preconditions;
use crate::check::uniform::uniformity;
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, ElemType, Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt,
    StmtKind, Tile, TileId, TileSpace, Type, Var, VarId, VarKind, copy_expr,
};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::solve::symbolic::{never_part, one_answer};

/// What a proof rests on that a launch has to see to.
pub(super) struct Rest {
    exact: Exact,
    narrows: bool,
    /// How many expressions and variables the kernel had of which it was asked.
    sizes: (usize, usize),
    /// Numbers that a loop goes on by, taken to stay in their types.
    counted: BTreeSet<VarId>,
    /// What a launch has to fulfil.
    preconditions: Vec<ExprId>,
}

impl Rest {
    /// Whether a launch of a `kernel` is asked for it, of which these are the numbers that it
    /// must not wrap.
    pub(super) fn is_asked_by(&self, kernel: &Kernel, (exact, narrows): (&Exact, bool)) -> bool {
        let of_launch = preconditions(kernel);
        (narrows || !self.narrows)
            && self.preconditions.iter().all(|cond| of_launch.contains(cond))
            && exact.includes(&self.exact, self.sizes)
            && self.counted.iter().all(|var| exact.keeps(*var))
    }
}

/// Most parts of a condition that are asked of one by one.
const MAX_PARTS: usize = 4;

/// Whether no work-items part at a place, and on what that rests.
pub(super) fn agree(kernel: &Kernel, values: &[bool], parting: Parting) -> Option<Vec<Rest>> {
    match parting {
        Parting::For(_) => Some(vec![ask(kernel, parting, None)?]),
        Parting::If(cond) | Parting::While(cond) => {
            if let Some(rest) = ask(kernel, parting, Some(cond)) {
                return Some(vec![rest]);
            }
            let mut parts = Vec::new();
            open_parts(kernel, values, cond, &mut parts);
            let is_whole = parts == [cond] || parts.len() > MAX_PARTS;
            let mut ask = |part| ask(kernel, parting, Some(part));
            (!is_whole).then(|| parts.into_iter().map(&mut ask).collect())?
        }
    }
}

/// The parts of a condition, combined by `&&`, `||` and `!`, that may differ.
fn open_parts(kernel: &Kernel, values: &[bool], cond: ExprId, out: &mut Vec<ExprId>) {
    if values[cond.index()] {
        return;
    }
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And | LogicOp::Or, lhs, rhs } => {
            open_parts(kernel, values, lhs, out);
            open_parts(kernel, values, rhs, out);
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            open_parts(kernel, values, operand, out);
        }
        _ => out.push(cond),
    }
}

/// Asks of one condition, or of the bounds of a loop. What is asked is the text itself, of
/// which numbers must not wrap; what is left in its place is a copy.
fn ask(kernel: &Kernel, parting: Parting, cond: Option<ExprId>) -> Option<Rest> {
    let never_part = |asked: &Kernel, tile| never_part(asked, &uniformity(asked), tile);
    let ((), rest) =
        put_to(kernel, (parting, cond), |asked, tile| never_part(asked, tile).then_some(()))?;
    Some(rest)
}

/// The answer that everybody finds to the condition of an `if`, and on what that rests.
pub(super) fn only_answer(kernel: &Kernel, cond: ExprId) -> Option<(bool, Rest)> {
    put_to(kernel, (Parting::If(cond), None), |asked, tile| {
        one_answer(asked, &uniformity(asked), tile)
    })
}

/// What `judge` says of a kernel with the question in it, and on what that rests.
fn put_to<T>(
    kernel: &Kernel,
    (parting, cond): (Parting, Option<ExprId>),
    judge: impl FnOnce(&Kernel, TileId) -> Option<T>,
) -> Option<(T, Rest)> {
    let sizes = (kernel.exprs.len(), kernel.vars.len());
    let counted = counted_by_hand(kernel, parting);
    let mut kernel = kernel.clone();
    // What the author vouches for is of races, but for what each launch is asked.
    kernel.promises.clear();
    let asked_of_launch = preconditions(&kernel);
    let mut question = Question::new(&mut kernel, &asked_of_launch);
    let tile = question.tile;
    let body = std::mem::take(&mut question.kernel.body);
    question.kernel.body = question.list(body, parting, cond);
    let said = judge(&kernel, tile)?;
    let (exact, narrows) = (Exact::of(&kernel), narrows(&kernel));
    Some((said, Rest { exact, narrows, sizes, counted, preconditions: asked_of_launch }))
}

/// The numbers of some bits that loops go on by, and on which it rests what is asked.
fn counted_by_hand(kernel: &Kernel, parting: Parting) -> BTreeSet<VarId> {
    let mut assigned = Assigned::default();
    assigned.add(&kernel.body);
    let mut counted = assigned.behind(kernel, &asked(&kernel.body, parting).unwrap_or_default());
    let (mut in_loops, mut open) = (Assigned::default(), vec![kernel.body.as_slice()]);
    while let Some(stmts) = open.pop() {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::For { body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::Phase { body, .. } => in_loops.add(body),
                kind => open.extend(kind.bodies()),
            }
        }
    }
    counted.retain(|var| {
        let Var { ty, kind, .. } = &kernel.vars[*var];
        *kind == VarKind::Let { mutable: true }
            // Of floats nothing is proved.
            && ty.integer_range().is_some()
            && in_loops.has(*var)
    });
    counted
}

/// The type of what is written.
const ASKED: ElemType = ElemType::Concrete(DType::I32);

struct Question<'k> {
    kernel: &'k mut Kernel,
    tile: TileId,
    /// The conditions that a launch is asked.
    preconditions: &'k [ExprId],
}

impl<'k> Question<'k> {
    fn new(kernel: &'k mut Kernel, preconditions: &'k [ExprId]) -> Self {
        let span = kernel.span;
        let one = ExprKind::Literal(Literal::Int(1));
        let extents = vec![kernel.exprs.push(Expr { kind: one, ty: Type::Index, span })];
        let (name, space) = ("asked".to_owned(), TileSpace::Shared);
        let tile = kernel.tiles.push(Tile { name, space, elem: ASKED, extents, span });
        Self { kernel, tile, preconditions }
    }

    fn list(&mut self, stmts: Vec<Stmt>, parting: Parting, cond: Option<ExprId>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            for body in stmt.kind.bodies_mut() {
                *body = self.list(std::mem::take(body), parting, cond);
            }
            if Parting::of(&stmt.kind) == Some(parting) {
                self.put(stmt, cond, &mut out);
                continue;
            }
            let is_fact = match stmt.kind {
                StmtKind::Assume { cond } => self.preconditions.contains(&cond),
                StmtKind::Distinct { .. } => false,
                _ => true,
            };
            if is_fact {
                out.push(stmt);
            }
        }
        out
    }

    /// The question, and the statement of which it is asked.
    fn put(&mut self, mut stmt: Stmt, asked: Option<ExprId>, out: &mut Vec<Stmt>) {
        match &mut stmt.kind {
            StmtKind::If { cond, .. } => {
                let asked = asked.unwrap_or(*cond);
                *cond = copy_expr(self.kernel, *cond, &mut |_, _| None);
                out.push(self.question(asked, &stmt));
            }
            StmtKind::While { cond, body } => {
                let asked = asked.unwrap_or(*cond);
                let body = std::mem::take(body);
                let mut round = vec![self.question(asked, &stmt)];
                round.extend(body);
                out.push(self.endless(round, &stmt));
                return;
            }
            StmtKind::For { range: LoopRange::Between { start, end, step, .. }, .. } => {
                let [first, past] = [*start, *end];
                let step_by = *step;
                for bound in [Some(start), Some(end), step.as_mut()].into_iter().flatten() {
                    *bound = copy_expr(self.kernel, *bound, &mut |_, _| None);
                }
                self.ask_in_rounds((first, past, step_by), &stmt, out);
            }
            _ => {}
        }
        out.push(stmt);
    }

    fn ask_in_rounds(
        &mut self,
        (start, end, step): (ExprId, ExprId, Option<ExprId>),
        like: &Stmt,
        out: &mut Vec<Stmt>,
    ) {
        let round = self.declare("r", Type::Index);
        let init = Some(self.index(ExprKind::Literal(Literal::Int(0)), like));
        out.push(Stmt { kind: StmtKind::Let { var: round, init }, ..*like });
        let mut passed = self.index(ExprKind::Var(round), like);
        if let Some(rhs) = step {
            let kind = ExprKind::Binary { op: BinaryOp::Mul, lhs: passed, rhs };
            passed = self.index(kind, like);
        }
        let kind = ExprKind::Binary { op: BinaryOp::Add, lhs: start, rhs: passed };
        let lhs = self.index(kind, like);
        let kind = ExprKind::Compare { op: CompareOp::Lt, lhs, rhs: end };
        let cond = self.expr(kind, Type::BOOL, like);
        let question = self.question(cond, like);
        let value = self.index(ExprKind::Literal(Literal::Int(1)), like);
        let place = Place::Var(round);
        let next = StmtKind::Update { place, op: BinaryOp::Add, value };
        let next = Stmt { kind: next, ..*like };
        out.push(self.endless(vec![question, next], like));
    }

    fn endless(&mut self, body: Vec<Stmt>, like: &Stmt) -> Stmt {
        let always = ExprKind::Literal(Literal::Bool(true));
        let cond = self.expr(always, Type::BOOL, like);
        Stmt { kind: StmtKind::While { cond, body }, ..*like }
    }

    fn question(&mut self, cond: ExprId, like: &Stmt) -> Stmt {
        let value = self.expr(ExprKind::Literal(Literal::Int(1)), Type::Scalar(ASKED), like);
        let access = self.access(like);
        let yes = StmtKind::Store { access, value };
        let load = ExprKind::Load(self.access(like));
        let load = self.expr(load, Type::Scalar(ASKED), like);
        let var = self.declare("answer", Type::Scalar(ASKED));
        let no = StmtKind::Let { var, init: Some(load) };
        let [then, otherwise] = [yes, no].map(|kind| vec![Stmt { kind, ..*like }]);
        Stmt { kind: StmtKind::If { cond, then, otherwise }, ..*like }
    }

    fn access(&mut self, like: &Stmt) -> Access {
        let indices = vec![self.index(ExprKind::Literal(Literal::Int(0)), like)];
        Access { array: ArrayRef::Tile(self.tile), indices, span: like.span }
    }

    fn declare(&mut self, name: &str, ty: Type) -> VarId {
        let (name, span) = (name.to_owned(), self.kernel.span);
        let kind = VarKind::Let { mutable: true };
        self.kernel.vars.push(Var { name, ty, kind, accumulator: false, span })
    }

    fn index(&mut self, kind: ExprKind, like: &Stmt) -> ExprId {
        self.expr(kind, Type::Index, like)
    }

    fn expr(&mut self, kind: ExprKind, ty: Type, like: &Stmt) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty, span: like.span })
    }
}
