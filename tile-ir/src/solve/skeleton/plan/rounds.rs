//! Rounds of a loop that do what an earlier one has done.
//!
//! Of `for k in 0..n { if k >= 1000 { … s[t + 64] … } else { … s[t] … } }` a thousand rounds
//! read the same cells. What a round does is decided by what the loop's counter is asked for,
//! here whether it is 1000 or more, and by the variables that rounds hand on. Where both are as
//! they were in an earlier round, so is all that is touched, and where nothing is asked but
//! which cells are read unwritten, that shows nothing new: what that round has written is
//! written, and what it has read was looked at when no more was.
//!
//! A question is a comparison, or a remainder of a small number, that is made of the counter,
//! of names for what is made of it, and of what no round changes; it has the same answer at
//! the beginning of a round as in its place. Where the counter is asked for anything else, or
//! a value from memory that rounds may change matters, no two rounds are alike.

use std::collections::BTreeSet;

use super::{Body, Node, Plan};
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Literal, VarId, VarKind};
use crate::op::BinaryOp;

/// Of what number at most a remainder is asked for.
const MAX_DIVISOR: i128 = 64;

/// What decides what a round does.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Rounds {
    /// Names for what is made of the counter, in order.
    pub(in super::super) named: Vec<(VarId, ExprId)>,
    /// What it is asked for.
    pub(in super::super) questions: Vec<ExprId>,
    /// Whether all work-items have the same answers.
    pub(in super::super) is_common: bool,
    /// The variables that rounds hand on.
    pub(in super::super) carried: Vec<VarId>,
}

impl<'a> Plan<'a> {
    /// The same statements, of whose loops it is said when rounds are alike.
    pub(super) fn with_questions(&self, nodes: Vec<Node<'a>>) -> Vec<Node<'a>> {
        nodes.into_iter().map(|node| self.with_question(node)).collect()
    }

    fn with_question(&self, node: Node<'a>) -> Node<'a> {
        let inside = |body: Body<'a>| {
            let again = body.again.map(|again| self.with_questions(again));
            Body { nodes: self.with_questions(body.nodes), again, ..body }
        };
        match node {
            Node::Loop { var, range, body, head } => {
                let rounds = self.rounds(var, &body, &body.nodes).map(Box::new);
                let body = Body { rounds, ..inside(body) };
                Node::Loop { var, range, body, head }
            }
            Node::While { cond, body, head, rising } => {
                let rounds = self.rounds_of_while(cond, &body).map(Box::new);
                let body = Body { rounds, ..inside(body) };
                Node::While { cond, body, head, rising }
            }
            Node::If { cond, then, otherwise } => {
                Node::If { cond, then: inside(then), otherwise: inside(otherwise) }
            }
            Node::Each { axes, body, head } => {
                Node::Each { axes, body: self.with_questions(body), head }
            }
            Node::Alike { node, inputs, outputs } => {
                Node::Alike { node: Box::new(self.with_question(*node)), inputs, outputs }
            }
            other => other,
        }
    }

    /// Of `while k < n { …; k += 1; }`, whose last statement alone changes what it compares.
    fn rounds_of_while(&self, cond: ExprId, body: &Body<'a>) -> Option<Rounds> {
        let ExprKind::Compare { lhs, rhs, .. } = self.kernel.exprs[cond].kind else { return None };
        let (Node::Set { var, op, value }, rest) = body.nodes.split_last()? else { return None };
        let is_var = |expr: ExprId| self.kernel.exprs[expr].kind == ExprKind::Var(*var);
        let times = body.assigned.iter().filter(|assigned| *assigned == var).count();
        let moves = times == 1 && (is_var(lhs) || is_var(rhs));
        let is_step = match (op, &self.kernel.exprs[*value].kind) {
            (Some(_), ExprKind::Literal(_)) => true,
            (None, ExprKind::Binary { lhs, rhs, .. }) => [(lhs, rhs), (rhs, lhs)]
                .into_iter()
                .any(|(one, other)| is_var(*one) && self.is_literal(*other)),
            _ => false,
        };
        let mut rounds = (moves && is_step).then(|| self.rounds(*var, body, rest))??;
        rounds.carried.retain(|carried| carried != var);
        Some(rounds)
    }

    fn is_literal(&self, expr: ExprId) -> bool {
        matches!(self.kernel.exprs[expr].kind, ExprKind::Literal(_))
    }

    fn rounds(&self, counter: VarId, body: &Body<'a>, nodes: &[Node<'a>]) -> Option<Rounds> {
        let mut asking = Asking {
            plan: self,
            counted: BTreeSet::from([counter]),
            changing: body.assigned.iter().copied().collect(),
            rounds: Rounds::default(),
        };
        asking.changing.remove(&counter);
        asking.all(nodes, true)?;
        let Asking { counted, mut rounds, .. } = asking;
        let is_kept = |var: &VarId| {
            var.index() >= self.kernel.vars.len()
                || self.kernel.vars[*var].kind != (VarKind::Let { mutable: false })
        };
        rounds.carried = body.assigned.iter().copied().filter(is_kept).collect();
        rounds.carried.sort_unstable();
        rounds.carried.dedup();
        let questions = rounds.questions.iter();
        let named = rounds.named.iter().map(|(_, value)| value);
        let is_common = questions.chain(named).all(|expr| self.is_common(*expr, &counted));
        Some(Rounds { is_common, ..rounds })
    }

    /// Whether all work-items have the same value, where those that `counted` says do.
    fn is_common(&self, expr: ExprId, counted: &BTreeSet<VarId>) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let is_own = match kind {
            ExprKind::Var(var) => {
                let kind = self.kernel.vars[*var].kind;
                matches!(kind, VarKind::Let { .. } | VarKind::Block | VarKind::Each)
                    && !counted.contains(var)
            }
            _ => false,
        };
        !is_own && kind.operands().into_iter().all(|part| self.is_common(part, counted))
    }
}

/// Collects what a round asks its counter for.
struct Asking<'p, 'a> {
    plan: &'p Plan<'a>,
    /// The counter, and names for what is made of it.
    counted: BTreeSet<VarId>,
    /// What a round changes.
    changing: BTreeSet<VarId>,
    rounds: Rounds,
}

impl<'a> Asking<'_, 'a> {
    /// `None` where rounds may differ though all answers are the same. Those of `nodes` that
    /// stand in the loop itself are run in each round.
    fn all(&mut self, nodes: &[Node<'a>], is_outer: bool) -> Option<()> {
        nodes.iter().try_for_each(|node| self.node(node, is_outer))
    }

    fn node(&mut self, node: &Node<'a>, is_outer: bool) -> Option<()> {
        match node {
            Node::Set { var, op, value } => {
                let known = self.rounds.questions.len();
                if self.value(*value).is_some() {
                    return Some(());
                }
                self.rounds.questions.truncate(known);
                let kind = self.plan.kernel.vars[*var].kind;
                let names = is_outer && op.is_none() && kind == (VarKind::Let { mutable: false });
                if !names || !self.is_plain(*value) {
                    return None;
                }
                self.changing.remove(var);
                self.counted.insert(*var);
                self.rounds.named.push((*var, *value));
                Some(())
            }
            Node::Declare { init, .. } => init.map_or(Some(()), |init| self.value(init)),
            // What a tile holds is left as another round left it.
            Node::Element { access, .. } if !self.plan.locals.follows(access.array) => None,
            Node::Element { access, value, .. } => {
                self.value(*value)?;
                self.indices(access)
            }
            Node::Touch(expr) => self.touched(*expr),
            Node::Access { access, .. } => self.indices(access),
            Node::Each { axes, body, .. } => {
                axes.iter().try_for_each(|axis| self.value(axis.extent))?;
                self.changing.extend(axes.iter().map(|axis| axis.var));
                self.all(body, false)
            }
            Node::Loop { var, range, body, .. } => {
                range.exprs().into_iter().try_for_each(|bound| self.value(bound))?;
                self.changing.insert(*var);
                self.all(&body.nodes, false)
            }
            Node::While { cond, body, .. } => {
                self.value(*cond)?;
                self.all(&body.nodes, false)
            }
            Node::If { cond, then, otherwise } => {
                self.value(*cond)?;
                self.all(&then.nodes, false)?;
                self.all(&otherwise.nodes, false)
            }
            Node::Exchange { value, lane, .. } => {
                self.value(*value)?;
                lane.map_or(Some(()), |lane| self.value(lane))
            }
            Node::Assume(cond) => self.value(*cond),
            Node::Alike { node, .. } => self.node(node, is_outer),
            Node::Begin { .. } | Node::Barrier | Node::WarpBarrier => Some(()),
            // The old value that an atomic update gives is another one each time.
            Node::Old { .. } => None,
        }
    }

    fn indices(&mut self, access: &Access) -> Option<()> {
        access.indices.iter().try_for_each(|index| self.value(*index))
    }

    /// What loads under watch in an expression ask for whose value does not matter.
    fn touched(&mut self, expr: ExprId) -> Option<()> {
        let plan = self.plan;
        if !plan.touches[expr.index()] {
            return Some(());
        }
        let kind = &plan.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Load(access) if plan.is_watched(access) => return self.indices(access),
            ExprKind::Select { cond, .. } | ExprKind::Logic { lhs: cond, .. } => {
                self.value(*cond)?;
            }
            _ => {}
        }
        kind.operands().into_iter().try_for_each(|operand| self.touched(operand))
    }

    /// What an expression asks for whose value matters.
    fn value(&mut self, expr: ExprId) -> Option<()> {
        let kind = &self.plan.kernel.exprs[expr].kind;
        if self.is_question(expr) && self.is_plain(expr) {
            if self.names_counter(expr) {
                self.rounds.questions.push(expr);
            }
            return Some(());
        }
        match kind {
            ExprKind::Var(var) if self.counted.contains(var) => return None,
            ExprKind::Load(access) if !self.is_lasting(access.array) => return None,
            _ => {}
        }
        kind.operands().into_iter().try_for_each(|operand| self.value(operand))
    }

    /// Whether an expression has few values.
    fn is_question(&self, expr: ExprId) -> bool {
        let exprs = &self.plan.kernel.exprs;
        match exprs[expr].kind {
            ExprKind::Compare { .. } => true,
            ExprKind::Binary { op: BinaryOp::Rem | BinaryOp::And, rhs, .. } => {
                let literal = &exprs[rhs].kind;
                matches!(literal, ExprKind::Literal(Literal::Int(of)) if *of <= MAX_DIVISOR)
            }
            _ => false,
        }
    }

    /// Whether a value is the same wherever in a round it is computed, and touches nothing.
    fn is_plain(&self, expr: ExprId) -> bool {
        let plan = self.plan;
        let kind = &plan.kernel.exprs[expr].kind;
        let is_own = match kind {
            ExprKind::Var(var) => !self.changing.contains(var),
            ExprKind::Load(access) => {
                matches!(access.array, ArrayRef::Tensor(_)) && self.is_lasting(access.array)
            }
            ExprKind::Uniform(_) => false,
            _ => true,
        };
        is_own && kind.operands().into_iter().all(|operand| self.is_plain(operand))
    }

    fn names_counter(&self, expr: ExprId) -> bool {
        let kind = &self.plan.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) => self.counted.contains(var),
            _ => kind.operands().into_iter().any(|operand| self.names_counter(operand)),
        }
    }

    /// Whether what an array holds is the same in every round, or in variables.
    fn is_lasting(&self, array: ArrayRef) -> bool {
        match array {
            ArrayRef::Tensor(tensor) => !self.plan.written.contains(tensor),
            ArrayRef::Tile(_) => self.plan.locals.follows(array),
        }
    }
}
