//! The kernel: what the user wrote, with names resolved and types known,
//! symbolic in shapes, element types and tile sizes.
//!
//! A [`Kernel`] is made by [`crate::resolve`] or decoded from the bytes that the
//! macro embeds ([`crate::encode`]), and checked by [`crate::check`], which
//! alone makes a [`crate::check::CheckedKernel`].
//!
//! # Values
//!
//! Every named value is a [`Var`]: dimensions, tile parameters, scalar
//! parameters, grid and block axes, loop counters and `let`s live in one table
//! and differ by [`VarKind`]. An expression that names one is
//! [`ExprKind::Var`]. Conversions are explicit: where the language converts by
//! itself (a loaded integer in an index position, the leaves of `acc ⊕= e`),
//! resolution has inserted a [`ExprKind::Cast`], so that the operands of every
//! operator have equal types.
//!
//! # Statements
//!
//! The body is a tree. Compound assignment stays compound ([`StmtKind::Update`]),
//! since on an accumulator it allows more than the sum written out. `load` is a
//! [`StmtKind::Each`] with one [`StmtKind::Store`].

mod access;
mod copy;
mod eval;
mod expr;
mod given;
mod item;
mod print;
mod source;
mod stmt;
mod types;
mod verify;

pub(crate) use access::AccessKind;
pub use access::{Access, ArrayRef};
pub(crate) use copy::{copy_expr, copy_expr_but};
pub(crate) use eval::fits;
pub use eval::{ceil_div, eval_index, eval_index_binary};
pub(crate) use eval::{eval_index_of, gcd, lcm};
pub use expr::{Expr, ExprKind, Literal};
pub(crate) use given::{Given, Holder, Keeping, given, kept_tiles};
pub use item::{
    Axis, Edge, EdgeRule, Exit, Kernel, Order, Param, Promise, ScalarParam, TensorParam, Tile,
    TileDomain, TileParam, TileSpace, TypeParam, Var, VarKind, Within,
};
pub(crate) use print::print_converted;
pub use print::{print_access, print_expr, print_kernel};
pub(crate) use source::Source;
pub use stmt::{EachOrigin, LoopRange, Place, Stmt, StmtKind};
pub(crate) use stmt::{
    any_stmt, any_subexpr, applied, concerns_warps, immutable_lets, number_in_text, reads_memory,
    var_uses_in,
};
pub use types::{ElemType, Type};
pub use verify::{KernelFault, verify_kernel};

use crate::arena::entity_id;

entity_id! {
    /// A type parameter of a kernel.
    TypeParamId "t"
    /// A named value of a kernel.
    VarId "v"
    /// A tensor parameter.
    TensorId "g"
    /// A scalar parameter.
    ScalarId "a"
    /// A shared tile or local array.
    TileId "s"
    /// A tile parameter.
    TileParamId "p"
    /// An expression.
    ExprId "e"
}
