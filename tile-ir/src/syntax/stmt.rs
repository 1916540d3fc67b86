//! Statements as written.

use super::{Expr, Name, TypeExpr};
use crate::op::{AtomicOp, BinaryOp};
use crate::span::SpanId;
use serde::{Deserialize, Serialize};

/// A statement with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: SpanId,
    /// The keyword or first token, for messages about a statement with a body.
    pub head: SpanId,
}

/// What an assignment writes to: `x` or `c[i, j]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A work-item's variable.
    Name(Name),
    /// An element of an array.
    Index {
        /// The array.
        array: Name,
        /// One expression per axis.
        indices: Vec<Expr>,
        /// The whole place.
        span: SpanId,
    },
}

/// The operator of a compound assignment.
pub type UpdateOp = BinaryOp;

/// The iteration space of a `for` or `phase`.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// `a..b` or `a..=b`, with `.step_by(s)` and `.rev()`.
    Between {
        /// First value.
        start: Expr,
        /// The end.
        end: Expr,
        /// Whether `end` itself is included (`..=`).
        inclusive: bool,
        /// The step of `.step_by(s)`.
        step: Option<Expr>,
        /// Whether `.rev()` was called last.
        reversed: bool,
    },
    /// `tiles(n, t)`: `0..ceil(n / t)`.
    Tiles {
        /// The extent.
        extent: Expr,
        /// The tile's extent.
        tile: Expr,
        /// Whether `.rev()` was called.
        reversed: bool,
    },
    /// `halving(n)`: n/2, n/4, …, 1.
    Halving(Expr),
    /// `doubling(n)`: 1, 2, 4, … below n.
    Doubling(Expr),
}

/// One axis of an `each`: a fresh name and its extent.
#[derive(Clone, Debug, PartialEq)]
pub struct EachAxis {
    /// The index's name.
    pub name: Name,
    /// It runs from 0 to here, exclusive.
    pub extent: Expr,
}

/// The statements that leave what is around them. They act on the work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Jump {
    /// `return;`: the work-item is done.
    Return,
    /// `break;`: the innermost loop is done.
    Break,
    /// `continue;`: this iteration of the innermost loop is done.
    Continue,
}

impl Jump {
    /// Its keyword.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Break => "break",
            Self::Continue => "continue",
        }
    }
}

/// The first elements of a local array.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayInit {
    /// `[e; A, B]`: all alike.
    Repeat {
        /// The value.
        value: Expr,
        /// The extents, written again.
        extents: Vec<Expr>,
        /// The whole of it.
        span: SpanId,
    },
    /// `[a, b, c]`, `[[a, b], [c, d]]`: one by one.
    List {
        /// The values, the last axis the fastest.
        values: Vec<Expr>,
        /// How many there are along each axis.
        lengths: Vec<usize>,
        /// The whole of it.
        span: SpanId,
    },
}

/// What becomes of the value before an atomic update.
#[derive(Clone, Debug, PartialEq)]
pub enum Old {
    /// `let old = atomic …;`
    Declared(OldValue),
    /// `at = atomic …;`, `slots[0] = atomic …;`
    Assigned(Place),
}

/// The declaration in `let mut old: u32 = atomic …;`
#[derive(Clone, Debug, PartialEq)]
pub struct OldValue {
    /// The variable.
    pub name: Name,
    /// Whether `mut` was written.
    pub mutable: bool,
    /// The written type, if any.
    pub ty: Option<TypeExpr>,
}

/// The forms of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `shared s: [f32; T, T + 1];`
    Shared {
        /// The tile's name.
        name: Name,
        /// Element type.
        elem: TypeExpr,
        /// One extent per axis.
        extents: Vec<Expr>,
    },
    /// `let mut x: T = e;`
    Let {
        /// The variable.
        name: Name,
        /// Whether `mut` was written.
        mutable: bool,
        /// The written type, if any.
        ty: Option<TypeExpr>,
        /// The value; without one the variable must be assigned before use.
        init: Option<Expr>,
    },
    /// `let mut x: [f32; 4] = [0; 4];`
    LetArray {
        /// The array.
        name: Name,
        /// Whether `mut` was written.
        mutable: bool,
        /// Element type.
        elem: TypeExpr,
        /// One extent per axis.
        extents: Vec<Expr>,
        /// Its first elements, if any are given.
        init: Option<ArrayInit>,
    },
    /// `place = e;`
    Assign {
        /// What is written.
        place: Place,
        /// The value.
        value: Expr,
    },
    /// `place += e;` and its relatives.
    Update {
        /// What is updated.
        place: Place,
        /// The operator.
        op: UpdateOp,
        /// The right-hand side.
        value: Expr,
    },
    /// `atomic c[i] += e;`, `let old = atomic c[i].min(e);`
    Atomic {
        /// What gets the value before, if anything does.
        old: Option<Old>,
        /// The array.
        array: Name,
        /// One expression per axis.
        indices: Vec<Expr>,
        /// The whole element.
        place: SpanId,
        /// What is done to it.
        op: AtomicOp,
        /// Of a `compare_exchange`, the first operand.
        expected: Option<Expr>,
        /// With which operand.
        value: Expr,
    },
    /// `load s[i, k] = e;`
    Load {
        /// The tile to fill.
        tile: Name,
        /// Fresh index names, one per axis of the tile.
        indices: Vec<Name>,
        /// The value of the cell.
        value: Expr,
    },
    /// `each (i, j) in (A, B) { … }`
    Each {
        /// The axes, outermost first.
        axes: Vec<EachAxis>,
        /// What is done at each point.
        body: Vec<Stmt>,
    },
    /// `phase p in tiles(K, TK) { … }`
    Phase {
        /// The counter.
        var: Name,
        /// Its values.
        range: Range,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for k in 0..TK { … }`
    For {
        /// The counter.
        var: Name,
        /// Its values.
        range: Range,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `while c { … }`; `loop { … }` is `while true`.
    While {
        /// The condition.
        cond: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `if c { … } else { … }`; `else if` is an `If` alone in `otherwise`.
    If {
        /// The condition.
        cond: Expr,
        /// Where it holds.
        then: Vec<Stmt>,
        /// Where it does not.
        otherwise: Vec<Stmt>,
    },
    /// `{ … }`: a scope.
    Scope(Vec<Stmt>),
    /// `barrier;`
    Barrier,
    /// `assume(e);`: a condition, `distinct(a)` or `sorted(a)`.
    Assume(Expr),
    /// `warp_barrier;`
    WarpBarrier,
    /// `return;`, `break;` or `continue;`
    Jump(Jump),
}
