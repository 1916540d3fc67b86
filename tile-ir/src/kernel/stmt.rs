//! Statements of a kernel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::item::Within;
use super::{Access, ArrayRef, Axis, ExprId, ExprKind, Kernel, Literal, TileId, VarId};
use crate::exchange::{ExchangeOp, Group};
use crate::op::{AtomicOp, BinaryOp, UnaryOp};
use crate::span::SpanId;

/// A statement with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: SpanId,
    /// The keyword or first token: what a message about the statement itself,
    /// not its body, points at.
    pub head: SpanId,
}

impl Stmt {
    /// Whether work-items run it, or a statement inside it, together: the whole
    /// block or a warp.
    pub(crate) fn has_meeting(&self) -> bool {
        match &self.kind {
            StmtKind::Each { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => true,
            StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Update { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. } => {
                self.kind.bodies().into_iter().flatten().any(Self::has_meeting)
            }
        }
    }
}

/// The values of a loop counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopRange {
    /// `start`, `start + step`, … below `end`; from the last to the first where
    /// `reversed`. A `step` that is not positive runs no iteration.
    Between {
        /// First value.
        start: ExprId,
        /// Exclusive end.
        end: ExprId,
        /// Distance; 1 where the text says nothing.
        step: Option<ExprId>,
        /// Whether the values come in falling order.
        reversed: bool,
    },
    /// n/2, n/4, …, 1; nothing where n is below 2.
    Halving(ExprId),
    /// 1, 2, 4, … below n.
    Doubling(ExprId),
}

/// What a compound assignment changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// A mutable variable.
    Var(VarId),
    /// An element of a tensor or tile.
    Element(Access),
}

/// Which spelling an [`StmtKind::Each`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EachOrigin {
    /// `each (i, j) in (A, B) { … }`
    Each,
    /// `load s[i, j] = e;`: the body is the one store to the tile.
    Load,
}

/// The forms of a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StmtKind {
    /// Declares a variable for the rest of the enclosing statement list.
    ///
    /// Without a value it must be assigned before it is read.
    Let {
        /// The variable, of kind [`super::VarKind::Let`].
        var: VarId,
        /// Its first value.
        init: Option<ExprId>,
    },
    /// `let x: [T; A] = [e; A];` A fresh array, from here to the end of the
    /// enclosing statement list.
    LetArray {
        /// The array, of space [`super::TileSpace::Local`].
        tile: TileId,
        /// The value of all its elements; without one they must be written before
        /// they are read.
        init: Option<ExprId>,
    },
    /// `x = e;`
    Assign {
        /// A mutable variable.
        var: VarId,
        /// Its new value.
        value: ExprId,
    },
    /// `a[i] = e;` Outside a tensor's shape it writes nothing.
    Store {
        /// The element.
        access: Access,
        /// Its new value, of the array's element type.
        value: ExprId,
    },
    /// `place ⊕= e;`
    ///
    /// On a variable whose [`super::Var::accumulator`] is set the operation may
    /// be reassociated by configurations that say so.
    Update {
        /// What is changed.
        place: Place,
        /// The operator.
        op: BinaryOp,
        /// The right-hand side, of the place's type.
        value: ExprId,
    },
    /// `atomic a[i] ⊕= e;`, `let old = atomic a[i] ⊕= e;` One step: the atomic
    /// updates that several work-items make of one element happen one after the
    /// other, in any order. Outside a tensor's shape it does nothing, and the old
    /// value is the pad.
    Atomic {
        /// The element.
        access: Access,
        /// What is done to it.
        op: AtomicOp,
        /// Where the operation compares: with which value, of the array's element
        /// type.
        expected: Option<ExprId>,
        /// With which operand, of the array's element type.
        value: ExprId,
        /// A variable that it declares, as [`StmtKind::Let`] does, with the value
        /// before the update.
        old: Option<VarId>,
    },
    /// `let x = reduce_sum(e);` Gives every work-item a value made of those of
    /// its block or warp ([`crate::exchange`]). Collective, of that group. One of
    /// the block is a barrier between what stands before it, its operand included,
    /// and what stands after it.
    Exchange {
        /// Declared for the rest of the enclosing statement list; of kind
        /// [`super::VarKind::Let`], never assigned.
        var: VarId,
        /// How the values are combined.
        op: ExchangeOp,
        /// The work-item's own value; of the variable's type, but for a ballot.
        value: ExprId,
        /// Of a shuffle, an index: the lane, or how far away it is.
        lane: Option<ExprId>,
    },
    /// A loop that the whole block shares out among its threads. Collective.
    Each {
        /// Its axes, outermost first; their variables are of kind
        /// [`super::VarKind::Each`].
        axes: Vec<Axis>,
        /// What is done at each point.
        body: Vec<Stmt>,
        /// How it was spelled.
        origin: EachOrigin,
    },
    /// The strip-mined loop: uniform, may hold barriers, is pipelined.
    Phase {
        /// The counter, of kind [`super::VarKind::Loop`].
        var: VarId,
        /// Its values.
        range: LoopRange,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A counted loop.
    For {
        /// The counter, of kind [`super::VarKind::Loop`].
        var: VarId,
        /// Its values.
        range: LoopRange,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A conditional loop.
    While {
        /// A `bool`, evaluated before each iteration.
        cond: ExprId,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A conditional.
    If {
        /// A `bool`.
        cond: ExprId,
        /// Where it holds.
        then: Vec<Stmt>,
        /// Where it does not.
        otherwise: Vec<Stmt>,
    },
    /// A fact that the author vouches for where a work-item comes by. It counts
    /// for the race rules only: no guard goes because of it. The CPU device
    /// checks it.
    Assume {
        /// A `bool`.
        cond: ExprId,
    },
    /// Orders all of the block's shared- and global-memory accesses before it
    /// against all after it. Collective.
    Barrier,
    /// Orders all accesses of a warp's work-items before it against all of theirs
    /// after it. All work-items of the warp reach it together.
    WarpBarrier,
    /// A fact as of [`Self::Assume`], about who comes by: no two work-items have a number of these
    /// in common.
    Distinct {
        /// Integers, or indices.
        values: Vec<ExprId>,
        /// Which work-items.
        within: Within,
    },
}

impl StmtKind {
    /// Whether it repeats what is inside, one iteration after the other.
    pub fn is_loop(&self) -> bool {
        matches!(self, Self::Phase { .. } | Self::For { .. } | Self::While { .. })
    }

    /// The statement lists directly inside, in program order.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            Self::Each { body, .. }
            | Self::Phase { body, .. }
            | Self::For { body, .. }
            | Self::While { body, .. } => vec![body],
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Let { .. }
            | Self::LetArray { .. }
            | Self::Assign { .. }
            | Self::Store { .. }
            | Self::Atomic { .. }
            | Self::Update { .. }
            | Self::Exchange { .. }
            | Self::Assume { .. }
            | Self::Distinct { .. }
            | Self::Barrier
            | Self::WarpBarrier => Vec::new(),
        }
    }

    /// The element that it sets, whatever was there before: by a plain store, or by a swap that
    /// asks for nothing.
    pub(crate) fn set_element(&self) -> Option<&Access> {
        match self {
            Self::Store { access, .. }
            | Self::Atomic { access, op: AtomicOp::Swap, old: None, .. } => Some(access),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Self::Each { body, .. }
            | Self::Phase { body, .. }
            | Self::For { body, .. }
            | Self::While { body, .. } => vec![body],
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Let { .. }
            | Self::LetArray { .. }
            | Self::Assign { .. }
            | Self::Store { .. }
            | Self::Atomic { .. }
            | Self::Update { .. }
            | Self::Exchange { .. }
            | Self::Assume { .. }
            | Self::Distinct { .. }
            | Self::Barrier
            | Self::WarpBarrier => Vec::new(),
        }
    }
}

/// Whether some statement, or one inside it, is of a kind that is wanted.
pub(crate) fn any_stmt(stmts: &[Stmt], is_wanted: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
    stmts.iter().any(|stmt| {
        is_wanted(&stmt.kind)
            || stmt.kind.bodies().into_iter().any(|body| any_stmt(body, is_wanted))
    })
}

/// Whether the work-items of a warp do something together.
pub(crate) fn concerns_warps(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| match kind {
        StmtKind::WarpBarrier => true,
        StmtKind::Exchange { op, .. } => op.group() == Group::Warp,
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Update { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier => false,
    })
}

/// What each variable is that is set once, where it is declared.
pub(crate) fn immutable_lets(stmts: &[Stmt], kernel: &Kernel) -> BTreeMap<VarId, ExprId> {
    let mut lets = BTreeMap::new();
    for stmt in stmts {
        if let StmtKind::Let { var, init: Some(init) } = stmt.kind
            && kernel.vars[var].kind == (super::VarKind::Let { mutable: false })
        {
            lets.insert(var, init);
        }
        for body in stmt.kind.bodies() {
            lets.extend(immutable_lets(body, kernel));
        }
    }
    lets
}

impl StmtKind {
    /// The array of which the statement itself writes an element.
    pub(crate) fn written(&self) -> Option<ArrayRef> {
        match self {
            Self::Store { access, .. }
            | Self::Atomic { access, .. }
            | Self::Update { place: Place::Element(access), .. } => Some(access.array),
            Self::Update { place: Place::Var(_), .. }
            | Self::Let { .. }
            | Self::LetArray { .. }
            | Self::Assign { .. }
            | Self::Exchange { .. }
            | Self::Each { .. }
            | Self::Phase { .. }
            | Self::For { .. }
            | Self::While { .. }
            | Self::If { .. }
            | Self::Assume { .. }
            | Self::Distinct { .. }
            | Self::Barrier
            | Self::WarpBarrier => None,
        }
    }

    /// The expressions that the statement itself evaluates, its accesses' indices
    /// included, those of statements inside it not. Of an `each` the extents are none:
    /// tile sizes decide them.
    pub fn exprs(&self) -> Vec<ExprId> {
        match self {
            Self::Let { init, .. } => init.iter().copied().collect(),
            Self::LetArray { init, .. } => init.iter().copied().collect(),
            Self::Assign { value, .. } | Self::Update { place: Place::Var(_), value, .. } => {
                vec![*value]
            }
            Self::Update { place: Place::Element(access), value, .. }
            | Self::Store { access, value } => {
                access.indices.iter().chain([value]).copied().collect()
            }
            Self::Atomic { access, expected, value, .. } => {
                access.indices.iter().chain(expected).chain([value]).copied().collect()
            }
            Self::Exchange { value, lane, .. } => [*value].into_iter().chain(*lane).collect(),
            Self::Phase { range, .. } | Self::For { range, .. } => range.exprs(),
            Self::While { cond, .. } | Self::If { cond, .. } | Self::Assume { cond } => vec![*cond],
            Self::Distinct { values, .. } => values.clone(),
            Self::Each { .. } | Self::Barrier | Self::WarpBarrier => Vec::new(),
        }
    }
}

impl StmtKind {
    /// The same as of [`Self::exprs`], to be changed.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut ExprId> {
        match self {
            Self::Let { init, .. } | Self::LetArray { init, .. } => init.iter_mut().collect(),
            Self::Assign { value, .. } | Self::Update { place: Place::Var(_), value, .. } => {
                vec![value]
            }
            Self::Update { place: Place::Element(access), value, .. }
            | Self::Store { access, value } => access.indices.iter_mut().chain([value]).collect(),
            Self::Atomic { access, expected, value, .. } => {
                access.indices.iter_mut().chain(expected).chain([value]).collect()
            }
            Self::Exchange { value, lane, .. } => [value].into_iter().chain(lane).collect(),
            Self::Phase { range, .. } | Self::For { range, .. } => match range {
                LoopRange::Between { start, end, step, .. } => {
                    [start, end].into_iter().chain(step).collect()
                }
                LoopRange::Halving(n) | LoopRange::Doubling(n) => vec![n],
            },
            Self::While { cond, .. } | Self::If { cond, .. } | Self::Assume { cond } => vec![cond],
            Self::Distinct { values, .. } => values.iter_mut().collect(),
            Self::Each { .. } | Self::Barrier | Self::WarpBarrier => Vec::new(),
        }
    }
}

impl StmtKind {
    /// The variable that the statement itself gives a value, those inside of it left out.
    pub(crate) fn given_var(&self) -> Option<VarId> {
        match self {
            Self::Let { var, .. }
            | Self::Assign { var, .. }
            | Self::Update { place: Place::Var(var), .. }
            | Self::Exchange { var, .. }
            | Self::Phase { var, .. }
            | Self::For { var, .. } => Some(*var),
            Self::Atomic { old, .. } => *old,
            Self::LetArray { .. }
            | Self::Store { .. }
            | Self::Update { .. }
            | Self::Each { .. }
            | Self::While { .. }
            | Self::If { .. }
            | Self::Assume { .. }
            | Self::Distinct { .. }
            | Self::Barrier
            | Self::WarpBarrier => None,
        }
    }
}

/// Whether an expression, or one inside it, is of a kind that is wanted.
pub(crate) fn any_subexpr(
    kernel: &Kernel,
    id: ExprId,
    is_wanted: &mut dyn FnMut(&ExprKind) -> bool,
) -> bool {
    let kind = &kernel.exprs[id].kind;
    is_wanted(kind)
        || kind.operands().into_iter().any(|operand| any_subexpr(kernel, operand, is_wanted))
}

/// Whether an expression reads elements of arrays.
pub(crate) fn reads_memory(kernel: &Kernel, id: ExprId) -> bool {
    any_subexpr(kernel, id, &mut |kind| matches!(kind, ExprKind::Load(_)))
}

/// The number that an expression is in the text, with its sign.
pub(crate) fn number_in_text(kernel: &Kernel, id: ExprId) -> Option<i128> {
    match kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(number)) => Some(number),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            number_in_text(kernel, operand)?.checked_neg()
        }
        _ => None,
    }
}

/// What a statement that gives a variable a value does to the one that it had, and with which
/// operand: `v *= 2`, `v = v * 2`, `v = 2 * v`.
pub(crate) fn applied(kernel: &Kernel, kind: &StmtKind, var: VarId) -> Option<(BinaryOp, ExprId)> {
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    match kind {
        StmtKind::Update { place: Place::Var(of), op, value } if *of == var => Some((*op, *value)),
        StmtKind::Assign { var: of, value } if *of == var => match kernel.exprs[*value].kind {
            ExprKind::Binary { op, lhs, rhs } if is_var(lhs) => Some((op, rhs)),
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } if is_var(rhs) => {
                Some((BinaryOp::Mul, lhs))
            }
            _ => None,
        },
        _ => None,
    }
}

/// How often an expression names a variable.
pub(crate) fn var_uses_in(kernel: &Kernel, id: ExprId, var: VarId) -> usize {
    let kind = &kernel.exprs[id].kind;
    let own = usize::from(*kind == ExprKind::Var(var));
    let inside = kind.operands().into_iter().map(|id| var_uses_in(kernel, id, var));
    own + inside.sum::<usize>()
}

impl LoopRange {
    /// Its bounds and step.
    pub fn exprs(&self) -> Vec<ExprId> {
        match *self {
            Self::Between { start, end, step, .. } => {
                [start, end].into_iter().chain(step).collect()
            }
            Self::Halving(n) | Self::Doubling(n) => vec![n],
        }
    }
}
