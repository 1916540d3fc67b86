//! A kernel in which a condition of the launch comes out one way.

use std::collections::BTreeMap;

use crate::check::precondition::{assumed_parts, collect_parts, put_in_values};
use crate::check::spelling::leave_out;
use crate::check::{anew, preconditions, uniformity};
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, Type, VarId, copy_expr, immutable_lets,
};
use crate::op::{LogicOp, UnaryOp};
use crate::solve::symbolic::impossible;

/// What variables are that are given a value once.
type Lets = BTreeMap<VarId, ExprId>;

/// One way.
pub(super) struct Way {
    /// The kernel of the launches that take it.
    pub(super) kernel: Kernel,
    /// What is known of these launches.
    facts: Vec<Stmt>,
}

impl Way {
    /// The only way of a kernel that is not parted.
    pub(super) fn whole(kernel: &Kernel) -> Self {
        Self { kernel: kernel.clone(), facts: Vec::new() }
    }

    /// The way of a kernel in which a comparison that the launch decides holds, or does not;
    /// `None` where something would become a precondition that is none of the kernel.
    ///
    /// Comparisons that are written alike come out alike, and those of the opposite the other way
    /// round. What is known then of conditions, and of what they choose, is put in their place;
    /// but not in what is assumed, nor in the constraints of tile sizes.
    pub(super) fn parted(&self, cond: ExprId, holds: bool) -> Option<Self> {
        let kernel = &self.kernel;
        let mut way = kernel.clone();
        let lets = immutable_lets(&kernel.body, kernel);
        let fact = fact(&mut way, &lets, (cond, holds));
        let mut kept = assumed_parts(&way);
        way.constraints.clone().iter().for_each(|expr| collect_parts(&way, *expr, &mut kept));
        kept.extend(way.exprs.ids().skip(kernel.exprs.len()));
        let of_facts = self.facts.iter().flat_map(|fact| fact.kind.exprs());
        of_facts.for_each(|fact| collect_parts(&way, fact, &mut kept));
        let ids: Vec<ExprId> = way.exprs.ids().filter(|id| !kept.contains(id)).collect();
        for id in &ids {
            if let Some(value) = compared(kernel, (cond, holds), *id) {
                way.exprs[*id].kind = ExprKind::Literal(Literal::Bool(value));
            }
        }
        // Operands have smaller ids than their users.
        ids.iter().for_each(|id| fold(&mut way, &lets, *id));
        let (whole, mut body) = (std::mem::take(&mut way.body), Vec::new());
        splice(&way, whole, &mut body);
        way.body = body;
        let asked = preconditions(kernel);
        if !preconditions(&way).iter().all(|cond| asked.contains(cond)) {
            return None;
        }
        let span = way.exprs[fact].span;
        let mut facts = self.facts.clone();
        facts.push(Stmt { kind: StmtKind::Assume { cond: fact }, span, head: span });
        Some(Self { kernel: way, facts })
    }

    /// The kernel of this way of the `whole` as it is checked: as it stands, and with what is known of its launches.
    ///
    /// Some rules ask for what all do, and see a condition in what is assumed too; others ask for
    /// the facts. Expressions that nothing evaluates are none, and numbers that the facts give
    /// stand in the place of scalars.
    pub(super) fn spellings(&self, whole: &Kernel) -> [Kernel; 2] {
        let mut known = self.kernel.clone();
        known.body.splice(0..0, self.facts.iter().cloned());
        [self.kernel.clone(), known].map(|mut kernel| {
            leave_out(whole, &mut kernel);
            put_in_values(&mut kernel);
            anew::declare_anew(&mut kernel);
            kernel
        })
    }

    /// Whether what is known of its launches excludes each other; of data nothing is.
    pub(super) fn has_no_launch(&self) -> bool {
        let asked = preconditions(&self.kernel);
        let mut launch = self.kernel.clone();
        launch
            .body
            .retain(|stmt| matches!(stmt.kind, StmtKind::Assume { cond } if asked.contains(&cond)));
        launch.body.extend(self.facts.iter().cloned());
        !impossible(&launch, &uniformity(&launch)).is_empty()
    }
}

/// The comparison, or its opposite, of scalars and sizes alone.
fn fact(way: &mut Kernel, lets: &Lets, (cond, holds): (ExprId, bool)) -> ExprId {
    let copy = plain(way, lets, cond);
    if holds {
        return copy;
    }
    if let Some(opposite) = opposite(way, copy) {
        way.exprs[copy].kind = opposite;
        return copy;
    }
    let Expr { ty, span, .. } = way.exprs[copy];
    way.exprs.push(Expr { kind: ExprKind::Unary { op: UnaryOp::Not, operand: copy }, ty, span })
}

/// A copy of an expression in which variables stand for what they are.
fn plain(way: &mut Kernel, lets: &Lets, expr: ExprId) -> ExprId {
    copy_expr(way, expr, &mut |way, var| {
        let init = *lets.get(&var)?;
        Some(plain(way, lets, init))
    })
}

/// What holds where a comparison of integers does not.
fn opposite(kernel: &Kernel, cond: ExprId) -> Option<ExprKind> {
    let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[cond].kind else { return None };
    let ty = kernel.exprs[lhs].ty;
    let is_integer = ty == Type::Index || ty.integer_range().is_some();
    is_integer.then_some(ExprKind::Compare { op: op.negated(), lhs, rhs })
}

/// What an expression is where `cond` comes out so: if it is the same comparison, or its opposite.
fn compared(kernel: &Kernel, (cond, holds): (ExprId, bool), expr: ExprId) -> Option<bool> {
    // What has come to be since is no comparison of the text.
    let of = kernel.exprs.get(expr)?;
    if kernel.is_same(cond, expr) {
        return Some(holds);
    }
    let (ExprKind::Compare { op, lhs, rhs }, Some(ExprKind::Compare { op: other, lhs: a, rhs: b })) =
        (&of.kind, opposite(kernel, cond))
    else {
        return None;
    };
    let is_opposite = *op == other && kernel.is_same(*lhs, a) && kernel.is_same(*rhs, b);
    is_opposite.then_some(!holds)
}

/// Puts what is known in the place of a condition, and of what it chooses.
fn fold(way: &mut Kernel, lets: &Lets, expr: ExprId) {
    let known = |expr: ExprId| match way.exprs[expr].kind {
        ExprKind::Literal(Literal::Bool(value)) => Some(value),
        _ => None,
    };
    let literal = |value: bool| Some(ExprKind::Literal(Literal::Bool(value)));
    let (value, same) = match way.exprs[expr].kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            (known(operand).and_then(|value| literal(!value)), None)
        }
        ExprKind::Uniform(operand) => (known(operand).and_then(literal), None),
        ExprKind::Var(var) => {
            (lets.get(&var).and_then(|init| known(*init)).and_then(literal), None)
        }
        ExprKind::Logic { op, lhs, rhs } => {
            let decisive = op == LogicOp::Or;
            let other = |one: ExprId, other: ExprId| {
                known(one).map(|value| if value == decisive { one } else { other })
            };
            (None, other(lhs, rhs).or_else(|| other(rhs, lhs)))
        }
        ExprKind::Select { cond, then, otherwise } => {
            (None, known(cond).map(|value| if value { then } else { otherwise }))
        }
        _ => (None, None),
    };
    if let Some(same) = same {
        way.exprs[expr] = way.exprs[same].clone();
    } else if let Some(kind) = value {
        way.exprs[expr].kind = kind;
    }
}

/// Puts what is done where a condition comes out as it is known to in the place of the `if`.
fn splice(way: &Kernel, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
    for mut stmt in stmts {
        if let StmtKind::If { cond, then, otherwise } = &mut stmt.kind
            && let ExprKind::Literal(Literal::Bool(holds)) = way.exprs[*cond].kind
        {
            let arm = std::mem::take(if holds { then } else { otherwise });
            splice(way, arm, out);
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            let inner = std::mem::take(body);
            splice(way, inner, body);
        }
        out.push(stmt);
    }
}
