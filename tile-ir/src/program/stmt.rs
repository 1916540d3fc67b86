//! Statements of a program.

use std::collections::BTreeSet;

use super::{Access, DomainId, ExprId, FragmentId, RoleId, TokenId, VarId};
use crate::kernel::Within;
use crate::op::AtomicOp;
use crate::span::SpanId;

/// Who executes a statement together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Each thread for itself; inside [`StmtKind::Items`].
    Thread,
    /// The threads of a warp together.
    Warp,
    /// Four consecutive warps together.
    Warpgroup,
    /// All threads of the block.
    Block,
    /// All blocks of a cluster.
    Cluster,
}

/// Who meets at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Participants {
    /// All threads of the block.
    Block,
    /// All threads of one role.
    Role(RoleId),
}

/// How often a loop's body is repeated in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unroll {
    /// The loop stays a loop.
    Never,
    /// As the compiler sees fit.
    Auto,
    /// The body this many times.
    By(u32),
    /// No loop is left; its trip count is constant.
    Full,
}

/// The values of a loop counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopRange {
    /// `start`, `start + step`, … below `end`; from the last to the first where
    /// `reversed`. A step that is not positive runs no iteration.
    Between {
        /// First value.
        start: ExprId,
        /// Exclusive end.
        end: ExprId,
        /// Distance.
        step: ExprId,
        /// Whether the values come in falling order.
        reversed: bool,
    },
    /// n/2, n/4, …, 1.
    Halving(ExprId),
    /// 1, 2, 4, … below n.
    Doubling(ExprId),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Who executes it together.
    pub scope: Scope,
    /// The warps that execute it.
    pub role: RoleId,
    /// Where it comes from in the user's source.
    pub span: SpanId,
}

/// What is assumed, and what to show where it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// A `bool`.
    pub cond: ExprId,
    /// As it stands in the user's source.
    pub text: String,
    /// The block's coordinates, by name.
    pub block: Vec<(String, ExprId)>,
    /// The item's coordinates, by name.
    pub item: Vec<(String, ExprId)>,
    /// What the condition is computed from, as it stands in the source.
    pub values: Vec<(String, ExprId)>,
    /// Whether it is the language's own: that work-items agree on coming here. Of kernels
    /// that no check has passed.
    pub is_of_meeting: bool,
    /// Of which work-items none has a number of another one's, where that is what is assumed:
    /// the numbers are `values`, and the condition is true.
    pub distinct: Option<Within>,
}

impl Assumption {
    /// Its expressions.
    pub fn exprs(&self) -> impl Iterator<Item = ExprId> {
        let shown = self.block.iter().chain(&self.item).chain(&self.values);
        std::iter::once(self.cond).chain(shown.map(|(_, value)| *value))
    }

    /// Its expressions, to be changed.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let shown = self.block.iter_mut().chain(&mut self.item).chain(&mut self.values);
        std::iter::once(&mut self.cond).chain(shown.map(|(_, value)| value))
    }
}

/// The variables that statements assign, after their declaration.
pub(crate) fn assigned_vars(stmts: &[Stmt]) -> BTreeSet<VarId> {
    let mut assigned = BTreeSet::new();
    for stmt in stmts {
        if let StmtKind::Assign { var, .. } = stmt.kind {
            assigned.insert(var);
        }
        stmt.kind.bodies().into_iter().for_each(|body| assigned.extend(assigned_vars(body)));
    }
    assigned
}

/// The forms of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Declares a variable for the rest of the enclosing list. Without a value
    /// it is assigned before it is read on every path (the checks saw to it).
    Let {
        /// The variable; of the scope at which the statement stands.
        var: VarId,
        /// Its first value.
        value: Option<ExprId>,
    },
    /// `x = e`
    Assign {
        /// A variable of the scope at which the statement stands.
        var: VarId,
        /// Its new value.
        value: ExprId,
    },
    /// Sets the present item's register of a fragment. Thread scope.
    SetFragment {
        /// A fragment of the enclosing domain.
        fragment: FragmentId,
        /// The value.
        value: ExprId,
    },
    /// Writes an element. Thread scope.
    Store {
        /// The element.
        access: Access,
        /// The value, of the element's type.
        value: ExprId,
    },
    /// Updates an element as one step that no other atomic update of it divides.
    /// Thread scope; the access is of width 1.
    Atomic {
        /// The element.
        access: Access,
        /// What is done to it.
        op: AtomicOp,
        /// Where the operation compares: with which value, of the element's type.
        expected: Option<ExprId>,
        /// With which operand, of the element's type.
        value: ExprId,
        /// A variable that it declares, as [`StmtKind::Let`] does, with the value
        /// before: where the guards fail, the access's pad.
        old: Option<VarId>,
    },
    /// Moves an element from memory to memory. Thread scope.
    Copy {
        /// To here.
        dst: Access,
        /// From here.
        src: Access,
        /// Set where it is asynchronous: done at the latest when the token has
        /// been waited for. Both sides then have one width. A device without asynchronous copies does it at once.
        token: Option<TokenId>,
    },
    /// Closes the group of a token's asynchronous operations that were issued
    /// since the last one, an empty group too. Block scope.
    Commit(TokenId),
    /// Completes a token's asynchronous operations for the threads that wait, but
    /// for the newest groups. Block scope.
    Wait {
        /// Whose operations.
        token: TokenId,
        /// So many of the groups that were closed last may stay in flight.
        pending: u32,
    },
    /// Runs a body for each item of a domain. Block scope; body at thread scope.
    Items {
        /// The items.
        domain: DomainId,
        /// What is done for each.
        body: Vec<Stmt>,
    },
    /// A counted loop. At block scope its bounds are uniform.
    For {
        /// The counter: a variable of the scope at which the loop stands.
        var: VarId,
        /// Its values.
        range: LoopRange,
        /// How often the body is repeated in the text.
        unroll: Unroll,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A conditional loop. At block scope its condition is uniform.
    While {
        /// A `bool`.
        cond: ExprId,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A conditional. At block scope its condition is uniform.
    If {
        /// A `bool`.
        cond: ExprId,
        /// Where it holds.
        then: Vec<Stmt>,
        /// Where it does not.
        otherwise: Vec<Stmt>,
    },
    /// A fact that the kernel's author vouches for. Thread scope. A device that
    /// checks its programs stops where it does not hold; on others it is nothing,
    /// and nothing is concluded from it.
    Assume(Box<Assumption>),
    /// Orders the memory accesses of the participants before it against those
    /// after it. Block scope.
    Barrier(Participants),
    /// Declares a variable of the item with the value that another item of its
    /// warp has. Warp scope, as all that follow; in items of a domain that lie one
    /// to a thread, in order, so that a warp's items are a warp's threads.
    Shuffle {
        /// The variable, of thread scope.
        var: VarId,
        /// The item's own value, of the variable's type.
        value: ExprId,
        /// Which item's it gets, by its place in the warp: an index. One that is
        /// not there gives the item its own.
        lane: ExprId,
    },
    /// Declares a `u32` with bit l set where item l of the warp is there and its
    /// condition holds.
    Ballot {
        /// The variable, of thread scope.
        var: VarId,
        /// A `bool`.
        cond: ExprId,
    },
    /// Orders the memory accesses of a warp's items before it against those after
    /// it.
    WarpBarrier,
}

impl StmtKind {
    /// The statement lists directly inside, in program order.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            Self::Items { body, .. } | Self::For { body, .. } | Self::While { body, .. } => {
                vec![body]
            }
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Let { .. }
            | Self::Assign { .. }
            | Self::SetFragment { .. }
            | Self::Store { .. }
            | Self::Atomic { .. }
            | Self::Copy { .. }
            | Self::Commit(_)
            | Self::Wait { .. }
            | Self::Assume(_)
            | Self::Barrier(_)
            | Self::Shuffle { .. }
            | Self::Ballot { .. }
            | Self::WarpBarrier => Vec::new(),
        }
    }

    /// The statement lists directly inside, mutably.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Self::Items { body, .. } | Self::For { body, .. } | Self::While { body, .. } => {
                vec![body]
            }
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Let { .. }
            | Self::Assign { .. }
            | Self::SetFragment { .. }
            | Self::Store { .. }
            | Self::Atomic { .. }
            | Self::Copy { .. }
            | Self::Commit(_)
            | Self::Wait { .. }
            | Self::Assume(_)
            | Self::Barrier(_)
            | Self::Shuffle { .. }
            | Self::Ballot { .. }
            | Self::WarpBarrier => Vec::new(),
        }
    }

    /// Calls `f` on each expression that the statement itself evaluates, its
    /// accesses' indices included, those of statements inside it not.
    pub fn for_each_expr(&self, f: &mut impl FnMut(ExprId)) {
        match self {
            Self::Let { value, .. } => value.iter().copied().for_each(f),
            Self::Assign { value, .. } | Self::SetFragment { value, .. } => f(*value),
            Self::Store { access, value } => {
                access.for_each_expr(f);
                f(*value);
            }
            Self::Atomic { access, expected, value, .. } => {
                access.for_each_expr(f);
                expected.iter().chain([value]).copied().for_each(f);
            }
            Self::Copy { dst, src, .. } => {
                dst.for_each_expr(f);
                src.for_each_expr(f);
            }
            Self::For { range, .. } => match range {
                LoopRange::Between { start, end, step, .. } => {
                    f(*start);
                    f(*end);
                    f(*step);
                }
                LoopRange::Halving(n) | LoopRange::Doubling(n) => f(*n),
            },
            Self::Assume(fact) => fact.exprs().for_each(f),
            Self::While { cond, .. } | Self::If { cond, .. } | Self::Ballot { cond, .. } => {
                f(*cond)
            }
            Self::Shuffle { value, lane, .. } => {
                f(*value);
                f(*lane);
            }
            Self::Items { .. }
            | Self::Commit(_)
            | Self::Wait { .. }
            | Self::Barrier(_)
            | Self::WarpBarrier => {}
        }
    }

    /// The variable that the statement declares for the rest of its list.
    pub fn declared(&self) -> Option<VarId> {
        match self {
            Self::Let { var, .. } | Self::Shuffle { var, .. } | Self::Ballot { var, .. } => {
                Some(*var)
            }
            Self::Atomic { old, .. } => *old,
            Self::Commit(_)
            | Self::Assign { .. }
            | Self::SetFragment { .. }
            | Self::Store { .. }
            | Self::Copy { .. }
            | Self::Wait { .. }
            | Self::Assume(_)
            | Self::Items { .. }
            | Self::For { .. }
            | Self::While { .. }
            | Self::If { .. }
            | Self::Barrier(_)
            | Self::WarpBarrier => None,
        }
    }

    /// The accesses that the statement itself writes through.
    pub fn written_accesses_mut(&mut self) -> Option<&mut Access> {
        match self {
            Self::Store { access, .. } | Self::Atomic { access, .. } => Some(access),
            Self::Copy { dst, .. } => Some(dst),
            Self::Let { .. }
            | Self::Assign { .. }
            | Self::SetFragment { .. }
            | Self::Commit(_)
            | Self::Wait { .. }
            | Self::Assume(_)
            | Self::Items { .. }
            | Self::For { .. }
            | Self::While { .. }
            | Self::If { .. }
            | Self::Barrier(_)
            | Self::Shuffle { .. }
            | Self::Ballot { .. }
            | Self::WarpBarrier => None,
        }
    }
}
