//! Variables after a loop, as its last iteration leaves them.
//!
//! What a loop assigns is mostly any value after it. But if it ran, there was a last
//! iteration, and after that nothing has changed: the variables are what its text makes of
//! the values at its head. Of a counter's loop it is the one after which the bound is
//! reached. `break` makes the text of the others stand under the negation of a variable:
//! the last one that was run is the one that has set it, or that of the counter. So the
//! text is walked once more, for an iteration of its own that stands after the loop, and
//! where it ends says which one it was.
//!
//! Slots that it takes from a tensor's counter ([`super::super::slots::slot`]) are those of
//! the last iteration: an update that the work-item has made, if the loop ran. What one
//! iteration gathers of others otherwise, by collectives or in a tile, is not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::walk::{Value, Walk};
use super::between::Between;
use super::{Carried, Kind, Loop};
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, LoopRange, Stmt, StmtKind, Type, VarId, any_stmt, any_subexpr,
    var_uses_in,
};
use crate::op::{LogicOp, UnaryOp};
use crate::span::SpanId;

/// Variables with their values.
type Values = BTreeMap<VarId, Value>;

/// The condition of an iteration, with the variables that it asks not to be set.
type Skips = (ExprId, BTreeSet<VarId>);

/// What decides how often a loop runs.
#[derive(Clone, Copy)]
pub(in super::super) enum Head<'a> {
    /// A counter, its range and the values of its bounds.
    Counted(VarId, &'a LoopRange, &'a [Poly]),
    /// A condition.
    While(ExprId),
}

/// A loop that has ended.
pub(in super::super) struct Ended<'a> {
    pub(in super::super) head: Head<'a>,
    pub(in super::super) keyword: SpanId,
    pub(in super::super) body: &'a [Stmt],
    /// The variables before it.
    pub(in super::super) before: &'a Values,
    /// Those that it assigns.
    pub(in super::super) carried: &'a [Carried],
}

/// Where a loop's last iteration is.
struct Last {
    /// Whether there is one.
    runs: Cond,
    /// The variables at its end.
    end: Values,
    /// What variables are at its head of which nothing is known.
    heads: BTreeSet<Unknown>,
    /// Whether slots of it are known, which speak of these, too.
    has_slots: bool,
}

impl Last {
    /// Whether more is known of a value than that an iteration has made it.
    fn tells(&self, end: &Value) -> bool {
        match end {
            Value::Int(end) => {
                let is_head = |unknown: Unknown| self.heads.contains(&unknown);
                !end.is_lost() && (self.has_slots || !end.unknowns().any(is_head))
            }
            Value::Cond(end) => *end != Cond::unknown(),
            Value::Other => false,
        }
    }
}

impl Walk<'_> {
    /// Gives variables that other code reads the values that the loop's last iteration
    /// leaves.
    pub(in super::super) fn leave_by_last(&mut self, ended: &Ended<'_>) {
        if !self.recording || gathers(ended.body) {
            return;
        }
        let asked: Vec<&Carried> =
            ended.carried.iter().filter(|carried| self.is_asked(ended, carried)).collect();
        if asked.is_empty() {
            return;
        }
        let last = self.last(ended);
        let kept = self.kept_since(ended.carried, &last.end);
        for Carried { var, kind, .. } in asked {
            let (Some(first), Some(end)) = (ended.before.get(var), last.end.get(var)) else {
                continue;
            };
            if !last.tells(end) {
                continue;
            }
            let uniform = self.is_uniform_var(*var);
            let value = self.either(&last.runs, end.clone(), first.clone(), uniform).map(folded);
            if kept.contains(var) {
                value.into_iter().for_each(|value| self.note_same(*var, &value));
                continue;
            }
            let is_kept = |value: &Value| match value {
                Value::Int(value) => *kind == Kind::Any || self.is_natural(value),
                Value::Cond(_) | Value::Other => true,
            };
            if let Some(value) = value.filter(is_kept) {
                self.env.insert(*var, value);
            }
        }
    }

    /// Whether a variable is known no better, and is read elsewhere.
    pub(in super::super) fn is_asked(&self, ended: &Ended<'_>, carried: &Carried) -> bool {
        let Some(declared) = self.kernel.vars.get(carried.var) else { return false };
        let is_followed = declared.ty == Type::BOOL || self.is_followed(carried.var);
        let goes_on = carried.alike.is_some() && matches!(ended.head, Head::Counted(..));
        let is_scaled = carried.kind > Kind::Natural && !carried.is_above;
        let is_known = carried.step.is_some() || is_scaled || goes_on;
        // What is known to lie between two numbers is no choice besides.
        let is_known = is_known || carried.is_between();
        is_followed && !is_known && self.is_read_outside(ended, carried.var)
    }

    fn is_read_outside(&self, ended: &Ended<'_>, var: VarId) -> bool {
        let reads = self.kernel.exprs.values().filter(|expr| expr.kind == ExprKind::Var(var));
        let cond = match ended.head {
            Head::While(cond) => var_uses_in(self.kernel, cond, var),
            Head::Counted(..) => 0,
        };
        reads.count() > cond + self.uses_in(ended.body, var)
    }

    fn uses_in(&self, stmts: &[Stmt], var: VarId) -> usize {
        let of = |stmt: &Stmt| {
            let own = stmt.kind.exprs().into_iter().map(|expr| var_uses_in(self.kernel, expr, var));
            let inner = stmt.kind.bodies().into_iter().map(|body| self.uses_in(body, var));
            own.chain(inner).sum::<usize>()
        };
        stmts.iter().map(of).sum()
    }

    /// Walks a loop's last iteration.
    fn last(&mut self, ended: &Ended<'_>) -> Last {
        self.is_at_last = true;
        let from = self.symbols.next();
        let found = self.aside(ended.before.clone(), |walk| walk.last_from(ended, from));
        self.is_at_last = false;
        found
    }

    fn last_from(&mut self, ended: &Ended<'_>, from: Unknown) -> Last {
        let skips = self.skips(ended);
        let runs = self.runs(ended.head, skips.as_ref());
        let is_uniform = self.is_left_together(ended.head, skips.as_ref());
        let (id, number) = self.open_last(ended, is_uniform);
        let heads = self.set_heads(id, ended.carried);
        let mut asserting: Vec<Unknown> = (from..self.symbols.next()).collect();
        // It is run, so nobody has left before it.
        let clear = Value::Cond(Cond { yes: Formula::False, no: Formula::True });
        for flag in skips.iter().flat_map(|(_, flags)| flags) {
            self.env.insert(*flag, clear.clone());
        }
        let entered = self.symbols.next();
        let holds = match ended.head {
            Head::Counted(var, range, bounds) => self.enter_counter(id, var, range, bounds),
            Head::While(cond) => self.condition(cond).yes,
        };
        let (holds, body) = match (self.only_if(ended), &skips) {
            (Some(inner), Some((cond, _))) => (holds.and(self.condition(*cond).yes), inner),
            _ => (holds, ended.body),
        };
        // Without an iteration there is no such number.
        for unknown in std::iter::once(number).chain(entered..self.symbols.next()) {
            self.symbols.weaken(unknown, &runs.no);
        }
        asserting.extend(entered..self.symbols.next());
        let inner = |walk: &mut Self| walk.stmts(body);
        // Without an iteration there is no update of it.
        let passed = if updates(ended.body) { runs.no.clone() } else { Formula::False };
        self.nested(|walk| walk.under_one_of((holds.clone(), passed), inner));
        let end = self.env.clone();
        let is_last = one_of(
            self.is_last(ended.head),
            match &skips {
                Some((cond, _)) => self.condition(*cond).no.replace(&|_| None),
                None => Formula::False,
            },
        );
        let facts = runs.no.clone().or(holds.and(is_last)).replace(&|_| None);
        asserting.iter().for_each(|unknown| self.symbols.add_facts(*unknown, facts.clone()));
        if !is_uniform {
            (from..self.symbols.next()).for_each(|unknown| self.symbols.set_private(unknown));
        }
        let heads = heads.into_iter().map(|(_, unknown)| unknown).collect();
        let has_slots = self.slots.range(from..).next().is_some();
        Last { runs, end, heads, has_slots }
    }

    /// Begins a loop's last iteration, which is one of the code after it.
    fn open_last(&mut self, ended: &Ended<'_>, is_uniform: bool) -> (LoopId, Unknown) {
        let id = LoopId(self.all_loops.len());
        let sharing = if is_uniform { Sharing::Block } else { Sharing::Private };
        let number = self.symbol(sharing, Some(0), None);
        let counter = match ended.head {
            Head::Counted(counter, ..) => Some(counter),
            Head::While(_) => None,
        };
        self.all_loops.push(Loop {
            counter,
            head: ended.keyword,
            number,
            next: Vec::new(),
            standing: Vec::new(),
            between: Between::default(),
            rounds: None,
            length: None,
            beyond: None,
            at_first: Vec::new(),
            is_of_block: false,
            is_left: true,
            is_whole: false,
        });
        (id, number)
    }

    /// Whether the loop has an iteration that is run.
    fn runs(&mut self, head: Head<'_>, skips: Option<&Skips>) -> Cond {
        let nothing = Poly::default();
        let counts = match head {
            Head::Counted(_, LoopRange::Between { .. }, [start, end]) => is_less(start, end),
            Head::Counted(_, LoopRange::Between { .. }, [start, end, step]) => {
                is_less(start, end).and(is_less(&nothing, step))
            }
            Head::Counted(_, LoopRange::Halving(_) | LoopRange::Doubling(_), [n]) => {
                is_less(&Poly::constant(1), n)
            }
            Head::Counted(..) => Cond::unknown(),
            Head::While(_) => Cond { yes: Formula::True, no: Formula::False },
        };
        let runs = match skips {
            Some((cond, _)) => counts.and(self.condition(*cond)),
            None => counts,
        };
        match self.is_never(&runs.no) {
            true => Cond { yes: Formula::True, no: Formula::False },
            false => runs,
        }
    }

    /// Whether no iteration of the range is left after the present one.
    pub(in super::super) fn is_last(&self, head: Head<'_>) -> Formula {
        let Head::Counted(counter, range, bounds) = head else { return Formula::False };
        let Some(Value::Int(now)) = self.env.get(&counter) else { return Formula::Unknown };
        match (range, bounds) {
            (LoopRange::Between { reversed: true, .. }, [start, ..]) => Formula::le(now, start),
            (LoopRange::Between { reversed: false, .. }, [_, end]) => {
                Formula::le(end, &now.plus(1))
            }
            (LoopRange::Between { reversed: false, .. }, [_, end, step]) => {
                Formula::le(end, &now.add(step))
            }
            (LoopRange::Halving(_), _) => Formula::le(now, &Poly::constant(1)),
            (LoopRange::Doubling(_), [n]) => Formula::le(n, &now.scaled(2)),
            (LoopRange::Between { .. } | LoopRange::Doubling(_), _) => Formula::Unknown,
        }
    }

    /// Whether all work-items of a block have the same last iteration.
    fn is_left_together(&self, head: Head<'_>, skips: Option<&Skips>) -> bool {
        let is_counted = match head {
            Head::Counted(counter, ..) => self.is_uniform_var(counter),
            Head::While(_) => true,
        };
        let is_asked = skips.is_none_or(|(cond, _)| self.uniformity.is_uniform_expr(*cond));
        is_counted && is_asked && !self.is_in_point()
    }

    /// The condition under which all of the body stands, if it asks of variables alone
    /// that none be set; these.
    fn skips(&self, ended: &Ended<'_>) -> Option<Skips> {
        let mut flags = BTreeSet::new();
        match (ended.head, ended.body) {
            (Head::While(cond), _) => {
                // Whatever else it asks.
                self.collect_clear(cond, &mut flags);
                Some((cond, flags))
            }
            (Head::Counted(..), [Stmt { kind: StmtKind::If { cond, otherwise, .. }, .. }]) => {
                let asks_no_more = self.collect_clear(*cond, &mut flags);
                let is_all = asks_no_more || self.only_if(ended).is_some();
                (otherwise.is_empty() && is_all).then_some((*cond, flags))
            }
            (Head::Counted(..), _) => None,
        }
    }

    /// What a counted loop does where a condition holds, which asks of variables alone, and not
    /// of its counter, and without which it does nothing. The last iteration that does anything
    /// is then one that leaves the condition unmet, or the counter's last.
    fn only_if<'a>(&self, ended: &Ended<'a>) -> Option<&'a [Stmt]> {
        let (Head::Counted(counter, ..), [Stmt { kind, .. }]) = (ended.head, ended.body) else {
            return None;
        };
        let StmtKind::If { cond, then, otherwise } = kind else { return None };
        let loads = any_subexpr(self.kernel, *cond, &mut |kind| matches!(kind, ExprKind::Load(_)));
        let asks_variables = !loads && var_uses_in(self.kernel, *cond, counter) == 0;
        let is_flags = self.collect_clear(*cond, &mut BTreeSet::new());
        (otherwise.is_empty() && asks_variables && !is_flags).then_some(then.as_slice())
    }

    /// Collects the variables that a condition asks not to be set; whether it asks nothing
    /// else.
    pub(in super::super) fn collect_clear(&self, cond: ExprId, out: &mut BTreeSet<VarId>) -> bool {
        let kind = &self.kernel.exprs[cond].kind;
        if let ExprKind::Logic { op: LogicOp::And, lhs, rhs } = kind {
            let first = self.collect_clear(*lhs, out);
            return self.collect_clear(*rhs, out) && first;
        }
        if let ExprKind::Unary { op: UnaryOp::Not, operand } = kind
            && let ExprKind::Var(var) = self.kernel.exprs[*operand].kind
        {
            out.insert(var);
            return true;
        }
        false
    }
}

/// One or the other, the other left out where it is a case of the one.
fn one_of(one: Formula, other: Formula) -> Formula {
    let is_case = match (&one, only(&other)) {
        (Formula::AtLeast(room), Formula::Zero(zero)) => room == zero || *room == zero.negated(),
        (one, other) => one == other,
    };
    if is_case { one } else { one.or(other) }
}

/// A formula out of conjunctions and choices of one.
fn only(formula: &Formula) -> &Formula {
    match formula {
        Formula::All(parts) | Formula::Any(parts) => match parts.as_slice() {
            [part] => only(part),
            _ => formula,
        },
        Formula::True
        | Formula::False
        | Formula::Unknown
        | Formula::AtLeast(_)
        | Formula::Zero(_) => formula,
    }
}

/// A condition without the parts that are decided.
fn folded(value: Value) -> Value {
    match value {
        Value::Cond(Cond { yes, no }) => {
            Value::Cond(Cond { yes: yes.replace(&|_| None), no: no.replace(&|_| None) })
        }
        Value::Int(_) | Value::Other => value,
    }
}

fn is_less(lhs: &Poly, rhs: &Poly) -> Cond {
    Cond { yes: Formula::lt(lhs, rhs), no: Formula::le(rhs, lhs) }
}

/// Whether statements find out something of other work-items by more than plain reads, and
/// by the slots of tensors.
fn gathers(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| match kind {
        StmtKind::Atomic { access, .. } => !matches!(access.array, ArrayRef::Tensor(_)),
        kind => matches!(kind, StmtKind::Exchange { .. }),
    })
}

/// Whether statements update anything by atomics.
pub(in super::super) fn updates(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| matches!(kind, StmtKind::Atomic { .. }))
}
