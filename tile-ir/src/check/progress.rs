//! TK0404: a loop that can end only through another work-item's write.
//!
//! Between two barriers no work-item is promised to run while another waits: one
//! thread may run them one after the other. So a loop without a barrier must come
//! to its end by what its own work-item does. What decides about the end is
//! followed through the variables that the body assigns. It is progress where a
//! variable is computed from itself (`i += 1`), or where the loop itself changes
//! the memory that it asks; if instead all that can change is memory that others
//! write (a flag, a lock that is taken by a compare-exchange), the loop waits. So it
//! does where it counts only once such memory has changed (`if ready[k] == 1 { k += 1; }`)
//! and nothing that decides about its end changes otherwise.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::steady::is_steady;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, VarId, any_subexpr,
};
use crate::op::{AtomicOp, LogicOp, UnaryOp};
use crate::span::SpanId;

/// Reports the loops that wait for other work-items.
pub(super) fn check_progress(kernel: &Kernel, diags: &mut Diagnostics) {
    let mut written = BTreeSet::new();
    for_each_write(&kernel.body, &mut |access| {
        written.insert(access.array);
    });
    written.retain(|array| !kernel.is_local(*array));
    walk(kernel, &written, &kernel.body, diags);
}

fn walk(kernel: &Kernel, written: &BTreeSet<ArrayRef>, stmts: &[Stmt], diags: &mut Diagnostics) {
    for stmt in stmts {
        if let StmtKind::While { cond, body } = &stmt.kind
            && !body.iter().any(Stmt::has_meeting)
            && !is_steady(kernel, *cond, body)
        {
            let mut rounds = Rounds::of(kernel, written, *cond, body);
            rounds.ask(*cond, &mut Vec::new());
            if let (false, Some((array, span))) = (rounds.advances, rounds.waits) {
                report(kernel, stmt, (array, span), diags);
                continue;
            }
        }
        stmt.kind.bodies().into_iter().for_each(|body| walk(kernel, written, body, diags));
    }
}

fn report(
    kernel: &Kernel,
    stmt: &Stmt,
    (array, span): (ArrayRef, SpanId),
    diags: &mut Diagnostics,
) {
    let name = kernel.array_name(array);
    diags.push(
        Diagnostic::error(
            Code::EndlessWait,
            stmt.head,
            "nothing is seen to end this loop but what another work-item writes",
        )
        .label(span, format!("a change of `{name}` by another one would end it"))
        .note(
            "work-items may run one after the other, so the one that it waits for may never come \
             to run",
        )
        .help(
            "let every work-item update with an atomic operation what it has to, and put what must \
             come later after a `barrier;` or into a second kernel",
        ),
    );
}

fn for_each_write<'a>(stmts: &'a [Stmt], found: &mut dyn FnMut(&'a Access)) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. }
        | StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, .. } = &stmt.kind
        {
            found(access);
        }
        stmt.kind.bodies().into_iter().for_each(|body| for_each_write(body, found));
    }
}

/// A condition under which a statement runs, and the arm that it is in: `true` for the first.
type Arm = (ExprId, bool);

/// A variable's change, and the conditions under which it is made.
type Changed<'a> = (VarId, Change<'a>, Vec<Arm>);

/// How a loop's body changes a variable.
enum Change<'a> {
    /// To this value.
    To(ExprId),
    /// By an operator on itself.
    Step,
    /// To what an atomic update found.
    Old { access: &'a Access, op: AtomicOp, operands: Vec<ExprId> },
}

/// The changes that `stmts` make, and the arrays whose elements they change.
fn collect<'a>(
    kernel: &Kernel,
    stmts: &'a [Stmt],
    under: &mut Vec<Arm>,
    changes: &mut Vec<Changed<'a>>,
    own: &mut BTreeSet<ArrayRef>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                changes.push((*var, Change::To(*value), under.clone()));
            }
            StmtKind::Update { place: Place::Var(var), .. } => {
                changes.push((*var, Change::Step, under.clone()));
            }
            StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. } => {
                own.insert(access.array);
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                let moves = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor);
                if moves && !may_be_zero(kernel, *value) {
                    own.insert(access.array);
                }
                let operands = expected.iter().chain([value]).copied().collect();
                let change = Change::Old { access, op: *op, operands };
                changes.extend(old.map(|old| (old, change, under.clone())));
            }
            // Its counter advances by itself, and ends.
            StmtKind::Phase { var, .. } | StmtKind::For { var, .. } => {
                changes.push((*var, Change::Step, under.clone()));
            }
            StmtKind::Let { init: None, .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                collect_arms(kernel, (*cond, [then, otherwise]), under, changes, own);
            }
            StmtKind::While { cond, body } => {
                collect_arms(kernel, (*cond, [body, &[]]), under, changes, own);
            }
            kind => {
                let bodies = kind.bodies().into_iter();
                bodies.for_each(|body| collect(kernel, body, under, changes, own));
            }
        }
    }
}

/// The same of what is done where a condition holds, and where not: `if a && b { X } else { Y }` is
/// `if a { if b { X } else { Y } } else { Y }`.
fn collect_arms<'a>(
    kernel: &Kernel,
    (cond, [then, otherwise]): (ExprId, [&'a [Stmt]; 2]),
    under: &mut Vec<Arm>,
    changes: &mut Vec<Changed<'a>>,
    own: &mut BTreeSet<ArrayRef>,
) {
    let (first, rest, is_and) = match kernel.exprs[cond].kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            return collect_arms(kernel, (operand, [otherwise, then]), under, changes, own);
        }
        ExprKind::Logic { op, lhs, rhs } => (lhs, rhs, op == LogicOp::And),
        _ => {
            for (body, arm) in [(then, true), (otherwise, false)] {
                under.push((cond, arm));
                collect(kernel, body, under, changes, own);
                under.pop();
            }
            return;
        }
    };
    under.push((first, is_and));
    collect_arms(kernel, (rest, [then, otherwise]), under, changes, own);
    under.pop();
    under.push((first, !is_and));
    collect(kernel, if is_and { otherwise } else { then }, under, changes, own);
    under.pop();
}

/// Whether an update by this may only ask what is there: 0, or a variable that has
/// been 0.
fn may_be_zero(kernel: &Kernel, operand: ExprId) -> bool {
    let mut values = Vec::new();
    collect_values(&kernel.body, &mut values);
    let (mut open, mut seen) = (vec![operand], BTreeSet::new());
    while let Some(expr) = open.pop() {
        let kind = &kernel.exprs[expr].kind;
        if *kind == ExprKind::Literal(Literal::Int(0)) {
            return true;
        }
        if let ExprKind::Var(var) = kind
            && seen.insert(*var)
        {
            open.extend(values.iter().filter(|(of, _)| of == var).map(|(_, value)| *value));
        }
    }
    false
}

/// The values that variables are given.
fn collect_values(stmts: &[Stmt], out: &mut Vec<(VarId, ExprId)>) {
    for stmt in stmts {
        if let StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } =
            &stmt.kind
        {
            out.push((*var, *value));
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_values(body, out));
    }
}

/// The variables that a loop's condition is made of, over all changes.
fn deciding(kernel: &Kernel, changes: &[Changed<'_>], cond: ExprId) -> BTreeSet<VarId> {
    let (mut open, mut found) = (vec![cond], BTreeSet::new());
    while let Some(expr) = open.pop() {
        let kind = &kernel.exprs[expr].kind;
        open.extend(kind.operands());
        let ExprKind::Var(var) = kind else { continue };
        if !found.insert(*var) {
            continue;
        }
        for (_, change, under) in changes.iter().filter(|(of, ..)| of == var) {
            open.extend(under.iter().map(|(condition, _)| *condition));
            match change {
                Change::To(value) => open.push(*value),
                Change::Step => {}
                Change::Old { access, operands, .. } => {
                    open.extend(operands.iter().chain(&access.indices));
                }
            }
        }
    }
    found
}

/// The values of which any one makes a condition false, where it asks `flag` or `!flag`.
fn ends(kernel: &Kernel, cond: ExprId) -> BTreeSet<(VarId, bool)> {
    let (mut open, mut out) = (vec![(cond, true)], BTreeSet::new());
    while let Some((expr, holds)) = open.pop() {
        match kernel.exprs[expr].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } if holds => {
                open.extend([(lhs, true), (rhs, true)]);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => open.push((operand, !holds)),
            ExprKind::Var(var) => {
                out.insert((var, !holds));
            }
            _ => {}
        }
    }
    out
}

/// What decides about one more round of a loop.
struct Rounds<'a> {
    kernel: &'a Kernel,
    written: &'a BTreeSet<ArrayRef>,
    /// The changes in the body, and under which conditions they are made.
    changes: Rc<Vec<Changed<'a>>>,
    /// The arrays that the body changes by itself.
    own: Rc<BTreeSet<ArrayRef>>,
    /// The variables that decide whether there is another round.
    deciding: Rc<BTreeSet<VarId>>,
    /// The values of variables with which the loop ends.
    ends: Rc<BTreeSet<(VarId, bool)>>,
    /// Whether conditions change only when others write, of those asked so far; one that is
    /// being asked does.
    held_back: Rc<RefCell<BTreeMap<ExprId, bool>>>,
    /// Whether something changes by itself from round to round.
    advances: bool,
    /// What another work-item may change.
    waits: Option<(ArrayRef, SpanId)>,
    seen: BTreeSet<VarId>,
}

impl<'a> Rounds<'a> {
    fn of(
        kernel: &'a Kernel,
        written: &'a BTreeSet<ArrayRef>,
        cond: ExprId,
        body: &'a [Stmt],
    ) -> Self {
        let (mut changes, mut own) = (Vec::new(), BTreeSet::new());
        collect(kernel, body, &mut Vec::new(), &mut changes, &mut own);
        Self {
            kernel,
            written,
            deciding: Rc::new(deciding(kernel, &changes, cond)),
            ends: Rc::new(ends(kernel, cond)),
            changes: Rc::new(changes),
            own: Rc::new(own),
            held_back: Rc::default(),
            advances: false,
            waits: None,
            seen: BTreeSet::new(),
        }
    }

    /// The same loop, of which nothing has been asked.
    fn anew(&self) -> Self {
        Self {
            changes: Rc::clone(&self.changes),
            own: Rc::clone(&self.own),
            deciding: Rc::clone(&self.deciding),
            ends: Rc::clone(&self.ends),
            held_back: Rc::clone(&self.held_back),
            advances: false,
            waits: None,
            seen: BTreeSet::new(),
            ..*self
        }
    }

    /// Whether a condition changes only when others write.
    fn waits_for(&self, cond: ExprId) -> bool {
        if let Some(known) = self.held_back.borrow().get(&cond) {
            return *known;
        }
        self.held_back.borrow_mut().insert(cond, true);
        let mut asked = self.anew();
        asked.ask(cond, &mut Vec::new());
        let waits = asked.waits.is_some() && !asked.advances;
        self.held_back.borrow_mut().insert(cond, waits);
        waits
    }

    /// The condition that holds back what is made under all of these: it changes only when
    /// others write, and as long as it does not hold nothing else moves.
    fn held_back(&self, under: &[Arm]) -> Option<ExprId> {
        let mut arms = under.iter().enumerate();
        let held = arms.find(|(at, (cond, arm))| {
            let outer = under.get(..*at).unwrap_or_default();
            self.waits_for(*cond) && !self.moves(&[outer, &[(*cond, !arm)]].concat())
        });
        held.map(|(_, (cond, _))| *cond)
    }

    /// Whether a round in which these conditions come out so takes the loop further: a
    /// variable that decides about its end advances, or the loop ends. Where it does so in
    /// both arms of a further condition, it does.
    fn moves(&self, arms: &[Arm]) -> bool {
        let inside = self.changes.iter().filter(|(_, _, under)| under.starts_with(arms));
        let mut further = BTreeSet::new();
        for (var, change, under) in inside {
            match under.get(arms.len()) {
                None if self.advances_by(*var, change) || self.ends_by(*var, change) => {
                    return true;
                }
                None => {}
                Some((cond, _)) => {
                    further.insert(*cond);
                }
            }
        }
        further.into_iter().any(|cond| {
            [true, false].into_iter().all(|arm| self.moves(&[arms, &[(cond, arm)]].concat()))
        })
    }

    /// Whether a change takes a variable further that decides about the loop's end.
    fn advances_by(&self, var: VarId, change: &Change<'_>) -> bool {
        let advances = match change {
            Change::To(value) => self.names_changed(*value),
            Change::Step => true,
            Change::Old { .. } => false,
        };
        advances && self.deciding.contains(&var)
    }

    /// Whether a change ends the loop: to a value that nothing takes back.
    fn ends_by(&self, var: VarId, change: &Change<'_>) -> bool {
        let value_of = |change: &Change<'_>| match change {
            Change::To(value) => match self.kernel.exprs[*value].kind {
                ExprKind::Literal(Literal::Bool(value)) => Some(value),
                _ => None,
            },
            Change::Step | Change::Old { .. } => None,
        };
        let value = value_of(change);
        let mut own = self.changes.iter().filter(|(of, ..)| *of == var);
        value.is_some_and(|value| self.ends.contains(&(var, value)))
            && own.all(|(_, other, _)| value_of(other) == value)
    }

    /// Whether an expression names a variable that the body changes.
    fn names_changed(&self, expr: ExprId) -> bool {
        any_subexpr(self.kernel, expr, &mut |kind| self.is_changed_var(kind))
    }

    fn is_changed_var(&self, kind: &ExprKind) -> bool {
        matches!(kind, ExprKind::Var(var) if self.changes.iter().any(|(of, ..)| of == var))
    }

    /// Follows what an expression is made of; `path` are the variables it was
    /// come by.
    fn ask(&mut self, expr: ExprId, path: &mut Vec<VarId>) {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Var(var) = kind {
            self.ask_var(*var, path);
        } else if let ExprKind::Load(access) = kind {
            let array = access.array;
            if self.own.contains(&array) || kernel.is_local(array) {
                self.advances = true;
            } else if self.written.contains(&array) {
                self.waits.get_or_insert((array, access.span));
            }
        }
        kind.operands().into_iter().for_each(|operand| self.ask(operand, path));
    }

    fn ask_var(&mut self, var: VarId, path: &mut Vec<VarId>) {
        if path.contains(&var) {
            self.advances = true;
            return;
        }
        if !self.seen.insert(var) {
            return;
        }
        path.push(var);
        let changes = Rc::clone(&self.changes);
        for (_, change, under) in changes.iter().filter(|(of, ..)| *of == var) {
            if let Some(cond) = self.held_back(under) {
                self.ask(cond, &mut Vec::new());
                continue;
            }
            match change {
                Change::To(value) => self.ask(*value, path),
                Change::Step => self.advances = true,
                Change::Old { access, op, operands } => {
                    if self.changes_itself(*op, operands, access.array) {
                        self.advances = true;
                    } else {
                        self.waits.get_or_insert((access.array, access.span));
                        // Another place is asked where the place is computed from what was found.
                        access.indices.iter().for_each(|index| self.ask(*index, path));
                    }
                }
            }
            // A decision about a variable is not computed from it.
            under.iter().for_each(|(condition, _)| self.ask(*condition, &mut Vec::new()));
        }
        path.pop();
    }

    /// Whether an atomic update that is made again and again finds something else
    /// in the end, if nobody else makes one.
    fn changes_itself(&self, op: AtomicOp, operands: &[ExprId], array: ArrayRef) -> bool {
        match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xor => {
                !operands.iter().any(|operand| may_be_zero(self.kernel, *operand))
            }
            // Compared with what was found before, it fails only where another's
            // has succeeded.
            AtomicOp::CompareExchange
            | AtomicOp::Swap
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Min
            | AtomicOp::Max => operands.iter().any(|operand| self.varies(*operand, array)),
        }
    }

    /// Whether an operand can differ from round to round.
    fn varies(&self, expr: ExprId, array: ArrayRef) -> bool {
        any_subexpr(self.kernel, expr, &mut |kind| {
            self.is_changed_var(kind)
                || matches!(kind, ExprKind::Load(access) if access.array == array)
        })
    }
}
