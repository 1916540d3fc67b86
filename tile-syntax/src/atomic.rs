//! Atomic updates.

use tile_ir::op::AtomicOp;
use tile_ir::syntax::{Expr, ExprKind, Old, StmtKind};

use crate::assign::update_operator;
use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::parse_expr;
use crate::stmt::end_value;
use crate::token::Cursor;

type Result<T> = std::result::Result<T, SyntaxError>;

const FORM: &str = "write `atomic c[i] += e;` (or `-=`, `&=`, `|=`, `^=`), \
                    `atomic c[i].min(e);`, `.max(e)`, `.swap(e)` or `.compare_exchange(a, b)`";

/// `atomic c[i] += e;`, `atomic c[i].min(e);`: from the word `atomic` on. `old`
/// is what gets the value before it.
pub(crate) fn parse_atomic(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    start: SpanPair,
    old: Option<Old>,
) -> Result<StmtKind> {
    input.bump();
    if input.is_end() || input.is_op(";") {
        return Err(input.expected("an element after `atomic`").help(FORM));
    }
    let at = input.here();
    let target = parse_expr(cx, input)?;
    let whole = at.to(input.last());
    let (target, op, expected, value) = match target.kind {
        ExprKind::Method { func, mut args } => {
            let Some(op) = AtomicOp::from_method(&func.text) else {
                let message = format!("there is no atomic `{}`", func.text);
                return Err(SyntaxError::new(whole, message).help(FORM));
            };
            let value = args.pop();
            let expected = if op.has_expected() { args.pop() } else { None };
            let complete = op.has_expected() == expected.is_some();
            let (Some(value), Some(element), true, true) =
                (value, args.pop(), args.is_empty(), complete)
            else {
                let takes = match op.has_expected() {
                    true => "two values, the expected one and the new one",
                    false => "one value",
                };
                let message = format!("`{}` takes {takes}", func.text);
                return Err(SyntaxError::new(whole, message).help(FORM));
            };
            (element, op, expected, value)
        }
        _ => {
            let op = parse_operator(input)?;
            (target, op, None, parse_expr(cx, input)?)
        }
    };
    end_value(cx, input, start, "the atomic update")?;
    let Expr { kind: ExprKind::Index { array, indices }, span: place } = target else {
        return Err(SyntaxError::new(whole, "only an element can be updated atomically").help(FORM));
    };
    Ok(StmtKind::Atomic { old, array, indices, place, op, expected, value })
}

fn parse_operator(input: &mut Cursor<'_>) -> Result<AtomicOp> {
    let Some(text) = input.peek_op() else {
        return Err(input.expected("what is done to the element").help(FORM));
    };
    let at = input.here();
    let op = update_operator(text).and_then(AtomicOp::from_binary);
    match op.filter(|op| op.method().is_none()) {
        Some(op) => {
            input.eat_op(text);
            Ok(op)
        }
        None if text == ";" => Err(input.expected("what is done to the element").help(FORM)),
        None => Err(SyntaxError::new(at, format!("there is no atomic `{text}`")).help(FORM)),
    }
}
