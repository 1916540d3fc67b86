//! Local arrays.

use proc_macro2::Delimiter;
use tile_ir::syntax::{ArrayInit, Name, StmtKind};

use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::{parse_expr, parse_list};
use crate::stmt::end_value;
use crate::token::{Cursor, Group};
use crate::types::parse_scalar_type;

type Result<T> = std::result::Result<T, SyntaxError>;

const FORM: &str = "write `let mut x: [f32; 4] = [0; 4];`";

/// `let mut x: [f32; 4] = [0; 4];` behind its type, which is in `group`.
pub(crate) fn parse_array(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    (name, mutable): (Name, bool),
    group: &Group,
    start: SpanPair,
) -> Result<StmtKind> {
    let mut inner = group.cursor();
    if inner.peek_group(Delimiter::Bracket).is_some() {
        let message = "the axes of an array stand side by side";
        return Err(SyntaxError::new(inner.here(), message)
            .help("write `let mut x: [f32; 2, 3];`, and its elements `x[i, j]`"));
    }
    let elem = parse_scalar_type(cx, &mut inner, "the type of the array's elements")?;
    if !inner.eat_op(";") {
        return Err(inner.expected("`;` after the type").help(FORM));
    }
    let extents = parse_list(cx, &mut inner)?;
    if extents.is_empty() {
        return Err(inner.expected("the array's extents after `;`").help(FORM));
    }
    let mut init = None;
    if input.eat_op("=") {
        let at = input.here();
        let Some(group) = input.eat_group(Delimiter::Bracket) else {
            return Err(input.expected("`[` and the array's first elements").help(FORM));
        };
        init = Some(parse_init(cx, group, at)?);
    }
    end_value(cx, input, start, "the declaration")?;
    Ok(StmtKind::LetArray { name, mutable, elem, extents, init })
}

/// `[0; 4]` or `[1, 2, 3]`.
fn parse_init(cx: &mut Context, group: &Group, at: SpanPair) -> Result<ArrayInit> {
    let span = cx.span(group.pair());
    let mut inner = group.cursor();
    if inner.is_end() {
        return Err(SyntaxError::new(at, "an array has at least one element").help(FORM));
    }
    let mut first = inner;
    let value = parse_expr(cx, &mut first)?;
    if first.eat_op(";") {
        let extents = parse_list(cx, &mut first)?;
        if extents.is_empty() {
            return Err(first.expected("the array's extents after `;`").help(FORM));
        }
        return Ok(ArrayInit::Repeat { value, extents, span });
    }
    Ok(ArrayInit::List { values: parse_list(cx, &mut inner)?, span })
}
