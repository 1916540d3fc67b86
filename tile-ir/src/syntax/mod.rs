//! The syntax tree: a kernel as it was written, names unresolved.
//!
//! The front end (`tile-syntax`) makes it from tokens; [`crate::resolve`] turns
//! it into a [`crate::kernel::Kernel`]. It says nothing about meaning: a tree
//! may name what does not exist. Every node carries the span of its source.

mod expr;
mod item;
mod library;
mod stmt;

pub use expr::{Expr, ExprKind, Literal, Path};
pub use item::{
    BlockAxis, EdgeAttr, GridAxis, KernelItem, Param, ParamKind, TensorSpace, TileConstraint,
    TileDomain, TileParam, TypeExpr, TypeExprKind, TypeParam,
};
pub use library::{ConstItem, FunctionItem, FunctionParam, Library, ValueLet};
pub use stmt::{ArrayInit, EachAxis, Jump, Old, OldValue, Place, Range, Stmt, StmtKind, UpdateOp};

use crate::span::SpanId;

/// A name as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier's text.
    pub text: String,
    /// Where it stands.
    pub span: SpanId,
}
