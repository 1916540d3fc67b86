//! `return`, `break` and `continue`: conditions on what follows them.
//!
//! A kernel has no jumps; that is what lets a thread run several work-items. What
//! follows an `if` with an arm that always leaves moves into the other arm:
//! `if i >= N { return; } c[i] = 1.0;` is `if i >= N { } else { c[i] = 1.0; }`, and
//! the checks see the bound. Elsewhere a variable remembers that the work-item
//! left, and what follows stands under its negation: a `while` ends by it, a
//! counted loop runs its other iterations empty.

use super::Resolver;
use super::expr::resolve_condition;
use super::stmt::{resolve_block, resolve_stmt, resolve_stmts};
use super::types::Ty;
use crate::diag::{Code, Diagnostic};
use crate::kernel::{Exit, ExprId, ExprKind, Literal, Stmt, StmtKind, VarId, VarKind};
use crate::op::{LogicOp, UnaryOp};
use crate::span::SpanId;
use crate::syntax::{self, Expr, Jump, Name};

/// What the jumps of the text lead out of, at the place that is being resolved.
#[derive(Debug, Default)]
pub(super) struct Jumps {
    /// Says that the work-item is done, where something asks.
    returned: Option<VarId>,
    /// The loops around, innermost last.
    loops: Vec<Loop>,
    /// The conditions of the `if`s around, innermost last.
    conds: Vec<ExprId>,
}

impl Jumps {
    /// Whether the place is in a condition or a loop.
    pub(super) fn is_inside(&self) -> bool {
        !self.loops.is_empty() || !self.conds.is_empty()
    }
}

#[derive(Debug)]
struct Loop {
    /// Says that the loop is done, where it has a `break`.
    stopped: Option<VarId>,
    /// Says that the iteration is done, where something asks.
    skipped: Option<VarId>,
    /// Whether it stands inside a cooperative loop.
    in_collective: bool,
}

/// Lowers the kernel's body.
pub(super) fn resolve_body(cx: &mut Resolver, stmts: &[syntax::Stmt]) -> Vec<Stmt> {
    let mut out = Vec::new();
    cx.jumps.returned = declare_flag(cx, stmts, Jump::Return, &mut out);
    out.extend(resolve_stmts(cx, stmts));
    out
}

/// Lowers a loop's body, in a scope of its own. `out` receives what stands before
/// the loop. The condition, where there is one, says that the loop still runs.
pub(super) fn resolve_loop_body(
    cx: &mut Resolver,
    stmts: &[syntax::Stmt],
    out: &mut Vec<Stmt>,
) -> (Option<ExprId>, Vec<Stmt>) {
    let mut body = Vec::new();
    let stopped = find_in(stmts, Jump::Break).map(|at| new_flag(cx, "stopped", at, out));
    let skipped = declare_flag(cx, stmts, Jump::Continue, &mut body);
    let in_collective = cx.collective.is_some();
    cx.jumps.loops.push(Loop { stopped, skipped, in_collective });
    body.extend(resolve_block(cx, stmts));
    cx.jumps.loops.pop();
    let returned = cx.jumps.returned.zip(find_in(stmts, Jump::Return));
    let stopped = stopped.zip(find_in(stmts, Jump::Break));
    (none_of(cx, stopped.into_iter().chain(returned)), body)
}

/// Lowers an `if`.
pub(super) fn resolve_if(
    cx: &mut Resolver,
    cond: &Expr,
    then: &[syntax::Stmt],
    otherwise: &[syntax::Stmt],
) -> (ExprId, Vec<Stmt>, Vec<Stmt>) {
    let cond = resolve_condition(cx, cond);
    cx.jumps.conds.push(cond);
    let then = resolve_block(cx, then);
    let otherwise = resolve_block(cx, otherwise);
    cx.jumps.conds.pop();
    (cond, then, otherwise)
}

/// Lowers a statement that may leave, together with the `rest` of its list;
/// false, with nothing done, where `stmt` does not concern what follows it.
pub(super) fn resolve_exit(
    cx: &mut Resolver,
    stmt: &syntax::Stmt,
    rest: &[syntax::Stmt],
    out: &mut Vec<Stmt>,
) -> bool {
    let one = std::slice::from_ref(stmt);
    let jumps = [Jump::Return, Jump::Break, Jump::Continue];
    let leaving: Vec<(Jump, SpanId)> =
        jumps.into_iter().filter_map(|jump| Some((jump, find_in(one, jump)?))).collect();
    let Some(next) = rest.first().filter(|_| !leaving.is_empty()) else { return false };
    if always_leaves(stmt) {
        cx.diags.push(
            Diagnostic::error(Code::Syntax, next.head, "nothing reaches this statement")
                .label(leaving[0].1, "every work-item has left before it")
                .help("remove one of the two"),
        );
        resolve_stmt(cx, stmt, out);
        return true;
    }
    match (&stmt.kind, receiving_arm(stmt)) {
        (syntax::StmtKind::If { cond, then, otherwise }, Some(arm)) => {
            let (cond, mut then, mut otherwise) = resolve_if(cx, cond, then, otherwise);
            let rest = resolve_stmts(cx, rest);
            match arm {
                Arm::Then => then.extend(rest),
                Arm::Otherwise => otherwise.extend(rest),
            }
            let kind = StmtKind::If { cond, then, otherwise };
            out.append(&mut cx.hoisted);
            out.push(Stmt { kind, span: stmt.span, head: stmt.head });
        }
        _ => {
            resolve_stmt(cx, stmt, out);
            let flags: Vec<(VarId, SpanId)> =
                leaving.iter().filter_map(|(jump, at)| Some((flag_of(cx, *jump)?, *at))).collect();
            let cond = none_of(cx, flags);
            let rest = resolve_stmts(cx, rest);
            match cond {
                Some(cond) => {
                    let kind = StmtKind::If { cond, then: rest, otherwise: Vec::new() };
                    out.push(Stmt { kind, span: stmt.span, head: stmt.head });
                }
                // Jumps that lead nowhere, which was reported.
                None => out.extend(rest),
            }
        }
    }
    true
}

/// Whether a loop of this condition goes on until something leaves it.
pub(super) fn is_endless(cond: &Expr) -> bool {
    cond.kind == syntax::ExprKind::Literal(syntax::Literal::Bool(true))
}

/// Reports a loop that goes on for ever.
pub(super) fn require_end(cx: &mut Resolver, body: &[syntax::Stmt], head: SpanId) {
    if find_in(body, Jump::Break).or_else(|| find_in(body, Jump::Return)).is_some() {
        return;
    }
    let diagnostic = Diagnostic::error(Code::Syntax, head, "this loop never ends");
    cx.diags.push(diagnostic.help("leave it: `if … { break; }`"));
}

/// Lowers the jump itself; what it skips is under a condition already.
pub(super) fn resolve_jump(cx: &mut Resolver, jump: Jump, span: SpanId) -> Option<StmtKind> {
    let word = jump.word();
    match (jump, cx.jumps.loops.last()) {
        (Jump::Return, _) => refuse_in_collective(cx, jump, span),
        (Jump::Break | Jump::Continue, None) => {
            cx.error(Code::Syntax, span, format!("`{word}` stands in no loop"));
        }
        (Jump::Break | Jump::Continue, Some(around)) => {
            if !around.in_collective {
                refuse_in_collective(cx, jump, span);
            }
        }
    }
    let flag = flag_of(cx, jump);
    let cond = cx.jumps.conds.last().copied();
    cx.kernel.exits.push(Exit { jump, cond, flag, span });
    let var = flag?;
    let value = cx.push(ExprKind::Literal(Literal::Bool(true)), Ty::BOOL, span);
    Some(StmtKind::Assign { var, value })
}

/// Reports a jump out of a `load` or `each`.
fn refuse_in_collective(cx: &mut Resolver, jump: Jump, span: SpanId) {
    let Some(collective) = cx.collective else { return };
    let (word, outer) = (jump.word(), collective.word);
    cx.diags.push(
        Diagnostic::error(Code::Syntax, span, format!("`{word}` cannot leave an `{outer}`"))
            .label(collective.span, "its points run on different threads, in any order")
            .help("put what follows into an `if`"),
    );
}

/// `first && second`, of two conditions.
pub(super) fn both(cx: &mut Resolver, first: ExprId, second: ExprId) -> ExprId {
    let span = cx.kernel.exprs[second].span;
    let kind = ExprKind::Logic { op: LogicOp::And, lhs: first, rhs: second };
    cx.push(kind, Ty::BOOL, span)
}

/// That no flag is set, each with the jump that sets it.
fn none_of(cx: &mut Resolver, flags: impl IntoIterator<Item = (VarId, SpanId)>) -> Option<ExprId> {
    let mut all = None;
    for (flag, span) in flags {
        let operand = cx.push(ExprKind::Var(flag), Ty::BOOL, span);
        let not = cx.push(ExprKind::Unary { op: UnaryOp::Not, operand }, Ty::BOOL, span);
        all = Some(all.map_or(not, |all| both(cx, all, not)));
    }
    all
}

/// The flag that a jump from here sets.
fn flag_of(cx: &Resolver, jump: Jump) -> Option<VarId> {
    let around = cx.jumps.loops.last();
    match jump {
        Jump::Return => cx.jumps.returned,
        Jump::Break => around.and_then(|around| around.stopped),
        Jump::Continue => around.and_then(|around| around.skipped),
    }
}

/// Declares the flag of a `return` or `continue` where what follows asks for it.
fn declare_flag(
    cx: &mut Resolver,
    stmts: &[syntax::Stmt],
    jump: Jump,
    out: &mut Vec<Stmt>,
) -> Option<VarId> {
    let name = match jump {
        Jump::Return => "returned",
        Jump::Break => "stopped",
        Jump::Continue => "skipped",
    };
    let at = find_in(stmts, jump).filter(|_| is_asked_for(stmts, jump))?;
    Some(new_flag(cx, name, at, out))
}

fn new_flag(cx: &mut Resolver, name: &str, span: SpanId, out: &mut Vec<Stmt>) -> VarId {
    let name = Name { text: name.to_owned(), span };
    let var = cx.new_var(&name, Ty::BOOL, VarKind::Let { mutable: true });
    let init = Some(cx.push(ExprKind::Literal(Literal::Bool(false)), Ty::BOOL, span));
    out.push(Stmt { kind: StmtKind::Let { var, init }, span, head: span });
    var
}

/// Whether the end of a jump is asked for by [`resolve_exit`] or by a loop.
fn is_asked_for(stmts: &[syntax::Stmt], jump: Jump) -> bool {
    stmts.iter().enumerate().any(|(position, stmt)| {
        if find_in(std::slice::from_ref(stmt), jump).is_none() {
            return false;
        }
        let is_last = position + 1 == stmts.len();
        match &stmt.kind {
            syntax::StmtKind::If { then, otherwise, .. } => {
                let moves = is_last || receiving_arm(stmt).is_some();
                !moves || is_asked_for(then, jump) || is_asked_for(otherwise, jump)
            }
            syntax::StmtKind::Scope(body) => !is_last || is_asked_for(body, jump),
            kind => !matches!(kind, syntax::StmtKind::Jump(_)),
        }
    })
}

/// An arm of an `if`.
#[derive(Clone, Copy)]
enum Arm {
    Then,
    Otherwise,
}

/// The arm of an `if` that alone goes on to what follows, and always does.
fn receiving_arm(stmt: &syntax::Stmt) -> Option<Arm> {
    let syntax::StmtKind::If { then, otherwise, .. } = &stmt.kind else { return None };
    let goes_on = |arm: &[syntax::Stmt]| {
        [Jump::Return, Jump::Break, Jump::Continue].iter().all(|jump| find_in(arm, *jump).is_none())
    };
    if then.iter().any(always_leaves) && goes_on(otherwise) {
        Some(Arm::Otherwise)
    } else if otherwise.iter().any(always_leaves) && goes_on(then) {
        Some(Arm::Then)
    } else {
        None
    }
}

fn always_leaves(stmt: &syntax::Stmt) -> bool {
    match &stmt.kind {
        syntax::StmtKind::Jump(_) => true,
        syntax::StmtKind::Scope(body) => body.iter().any(always_leaves),
        syntax::StmtKind::If { then, otherwise, .. } => {
            then.iter().any(always_leaves) && otherwise.iter().any(always_leaves)
        }
        syntax::StmtKind::Shared { .. }
        | syntax::StmtKind::Let { .. }
        | syntax::StmtKind::LetArray { .. }
        | syntax::StmtKind::Assign { .. }
        | syntax::StmtKind::Update { .. }
        | syntax::StmtKind::Atomic { .. }
        | syntax::StmtKind::Load { .. }
        | syntax::StmtKind::Each { .. }
        | syntax::StmtKind::Barrier
        | syntax::StmtKind::Assume(_)
        | syntax::StmtKind::WarpBarrier
        | syntax::StmtKind::Phase { .. }
        | syntax::StmtKind::For { .. }
        | syntax::StmtKind::While { .. } => false,
    }
}

/// The first jump of a kind that leads out of these statements.
fn find_in(stmts: &[syntax::Stmt], wanted: Jump) -> Option<SpanId> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        syntax::StmtKind::Jump(jump) => (*jump == wanted).then_some(stmt.span),
        syntax::StmtKind::If { then, otherwise, .. } => {
            find_in(then, wanted).or_else(|| find_in(otherwise, wanted))
        }
        syntax::StmtKind::Scope(body) => find_in(body, wanted),
        syntax::StmtKind::Phase { body, .. }
        | syntax::StmtKind::For { body, .. }
        | syntax::StmtKind::While { body, .. }
            if wanted == Jump::Return =>
        {
            find_in(body, wanted)
        }
        syntax::StmtKind::Shared { .. }
        | syntax::StmtKind::Let { .. }
        | syntax::StmtKind::LetArray { .. }
        | syntax::StmtKind::Assign { .. }
        | syntax::StmtKind::Update { .. }
        | syntax::StmtKind::Atomic { .. }
        | syntax::StmtKind::Load { .. }
        | syntax::StmtKind::Each { .. }
        | syntax::StmtKind::Barrier
        | syntax::StmtKind::Assume(_)
        | syntax::StmtKind::WarpBarrier
        | syntax::StmtKind::Phase { .. }
        | syntax::StmtKind::For { .. }
        | syntax::StmtKind::While { .. } => None,
    })
}
