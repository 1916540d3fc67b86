//! Local arrays.

use proc_macro2::Delimiter;
use tile_ir::syntax::{ArrayInit, Expr, Name, StmtKind};

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
    refuse_nested(&inner, "an array", "`let mut x: [f32; 2, 3];`, and its elements `x[i, j]`")?;
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

/// `[0; 4]`, `[1, 2, 3]` or `[[1, 2], [3, 4]]`.
fn parse_init(cx: &mut Context, group: &Group, at: SpanPair) -> Result<ArrayInit> {
    let span = cx.span(group.pair());
    let mut inner = group.cursor();
    if inner.peek_group(Delimiter::Bracket).is_none() && !inner.is_end() {
        let value = parse_expr(cx, &mut inner)?;
        if inner.eat_op(";") {
            let extents = parse_list(cx, &mut inner)?;
            if extents.is_empty() {
                return Err(inner.expected("the array's extents after `;`").help(FORM));
            }
            return Ok(ArrayInit::Repeat { value, extents, span });
        }
    }
    let mut values = Vec::new();
    let lengths = parse_rows(cx, group, at, &mut values)?;
    Ok(ArrayInit::List { values, lengths, span })
}

/// The elements in `group`, and in the brackets that stand in it, which are alike. Puts
/// them behind `values` and gives how many there are along each axis.
fn parse_rows(
    cx: &mut Context,
    group: &Group,
    at: SpanPair,
    values: &mut Vec<Expr>,
) -> Result<Vec<usize>> {
    let mut inner = group.cursor();
    if inner.is_end() {
        return Err(SyntaxError::new(at, "an array has at least one element").help(FORM));
    }
    if inner.peek_group(Delimiter::Bracket).is_none() {
        let before = values.len();
        values.extend(parse_list(cx, &mut inner)?);
        return Ok(vec![values.len() - before]);
    }
    let mut rows = Vec::new();
    while !inner.is_end() {
        let at = inner.here();
        let Some(row) = inner.eat_group(Delimiter::Bracket) else {
            return Err(inner.expected("`[` and the elements of the next row"));
        };
        if inner.is_op(";") {
            return Err(SyntaxError::new(inner.here(), "the axes of an array stand side by side")
                .help("write `[0; 2, 3]`"));
        }
        if !inner.is_end() && !inner.eat_op(",") {
            return Err(inner.expected("`,` or `]`"));
        }
        let lengths = parse_rows(cx, row, at, values)?;
        if rows.last().is_some_and(|last| *last != lengths) {
            return Err(SyntaxError::new(at, "the rows of an array are equally long"));
        }
        rows.push(lengths);
    }
    let below = rows.pop().into_iter().flatten();
    Ok(std::iter::once(rows.len() + 1).chain(below).collect())
}

/// Refuses brackets within brackets, `[[f32; 3]; 2]`, in the type of `what`.
pub(crate) fn refuse_nested(inner: &Cursor<'_>, what: &str, form: &str) -> Result<()> {
    if inner.peek_group(Delimiter::Bracket).is_none() {
        return Ok(());
    }
    let message = format!("the axes of {what} stand side by side");
    Err(SyntaxError::new(inner.here(), message).help(format!("write {form}")))
}
