//! The program: a kernel with everything bound, explicit about threads.
//!
//! A [`Program`] is a launch plan. It is printed as CUDA C++ one to one
//! ([`crate::emit`]) and it is what the CPU device executes, so that what runs
//! in tests is what runs on the GPU. [`crate::lower`] makes it.
//!
//! # Scopes
//!
//! The body of a [`ProgramKernel`] is a tree of statements at *block* scope:
//! uniform control flow, [`StmtKind::Barrier`], and [`StmtKind::Items`]. The
//! body of an `Items` is at *thread* scope: it runs for each point of a
//! [`Domain`], and the domain's [`ItemLayout`] says which thread runs which
//! point in which of its registers. Between two barriers the points of an
//! `Items` may run in any order, and its statements may be interleaved across
//! points: the race check is the licence for that.
//!
//! A value computed at block scope is the same in all threads; each computes it
//! for itself. A value of one item that outlives its `Items` is a [`Fragment`]:
//! per thread, one register for each item that the layout gives it.
//!
//! # Roles and tokens
//!
//! Every statement carries a [`Scope`] and a [`RoleId`]: the warps that run it.
//! A [`StmtKind::Copy`] may be asynchronous and yields a token that a
//! [`StmtKind::Wait`] completes. Lowering so far makes one role of all warps
//! and synchronous copies; the representation, its verifier and both devices
//! take what later passes will add.

mod access;
mod expr;
mod host;
mod item;
mod layout;
mod names;
mod print;
mod shadow;
mod share;
mod stmt;
mod verify;

pub use access::{Access, AxisGuard, MAX_ACCESS_BYTES, Target};
pub use expr::{Expr, ExprKind, IndexWidth, Literal, Ty};
pub use item::{
    Arg, ArgSource, Buffer, BufferSource, BufferSpace, Domain, DomainAxis, Fragment, GridAxis,
    Program, ProgramKernel, Projection, Raster, Role, SharedMemory, Tile, TileSpace, Var,
    Workspace,
};
pub use layout::{Digit, ItemLayout, Swizzle, TileLayout, Walk};
pub(crate) use names::Names;
pub use print::print_program;
pub use shadow::{AccessSite, Between, Finding, ShadowError, ShadowReport, Touch, run_shadowed};
pub use share::may_share;
pub(crate) use stmt::assigned_vars;
pub use stmt::{Assumption, LoopRange, Participants, Scope, Stmt, StmtKind, Unroll};
pub use verify::{ProgramFault, verify_launch, verify_program};

use crate::arena::entity_id;

entity_id! {
    /// A launch argument of a kernel: a dimension, a stride, a scalar.
    ArgId "a"
    /// A global-memory array of a kernel.
    BufferId "g"
    /// A shared tile.
    TileId "s"
    /// A set of items that the block's threads share out.
    DomainId "d"
    /// A register array laid out over a domain.
    FragmentId "f"
    /// A scalar variable.
    VarId "v"
    /// An expression.
    ExprId "e"
    /// A range of warps that run the same statements.
    RoleId "r"
    /// An asynchronous operation in flight.
    TokenId "k"
    /// A device buffer that the plan itself needs.
    WorkspaceId "w"
}
