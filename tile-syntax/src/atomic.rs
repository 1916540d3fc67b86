//! Atomic updates.

use tile_ir::op::{AtomicOp, BinaryOp};
use tile_ir::syntax::{Expr, ExprKind, StmtKind};

use crate::assign::update_operator;
use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::parse_expr;
use crate::stmt::end_value;
use crate::token::Cursor;

type Result<T> = std::result::Result<T, SyntaxError>;

const FORM: &str = "write `atomic c[i] += e;` (or `-=`, `&=`, `|=`, `^=`), \
                    `atomic c[i].min(e);` or `atomic c[i].max(e);`";

/// `atomic c[i] += e;`, `atomic c[i].min(e);`
pub(crate) fn parse_atomic(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    start: SpanPair,
) -> Result<StmtKind> {
    input.bump();
    if input.is_end() || input.is_op(";") {
        return Err(input.expected("an element after `atomic`").help(FORM));
    }
    let at = input.here();
    let target = parse_expr(cx, input)?;
    let whole = at.to(input.last());
    let (target, op, value) = match target.kind {
        ExprKind::Method { func, mut args } => {
            let op = match func.text.as_str() {
                "min" => AtomicOp::Min,
                "max" => AtomicOp::Max,
                _ => {
                    let message = format!("there is no atomic `{}`", func.text);
                    return Err(SyntaxError::new(whole, message).help(FORM));
                }
            };
            let (Some(value), Some(element), true) = (args.pop(), args.pop(), args.is_empty())
            else {
                let message = format!("`{}` takes one value", func.text);
                return Err(SyntaxError::new(whole, message).help(FORM));
            };
            (element, op, value)
        }
        _ => {
            let op = parse_operator(input)?;
            (target, op, parse_expr(cx, input)?)
        }
    };
    end_value(cx, input, start, "the atomic update")?;
    let Expr { kind: ExprKind::Index { array, indices }, span: place } = target else {
        return Err(SyntaxError::new(whole, "only an element can be updated atomically").help(FORM));
    };
    Ok(StmtKind::Atomic { array, indices, place, op, value })
}

fn parse_operator(input: &mut Cursor<'_>) -> Result<AtomicOp> {
    let Some(text) = input.peek_op() else {
        return Err(input.expected("what is done to the element").help(FORM));
    };
    let at = input.here();
    let op = update_operator(text).and_then(AtomicOp::from_binary);
    match op.filter(|op| !matches!(op.binary(), BinaryOp::Min | BinaryOp::Max)) {
        Some(op) => {
            input.eat_op(text);
            Ok(op)
        }
        None if text == ";" => Err(input.expected("what is done to the element").help(FORM)),
        None => Err(SyntaxError::new(at, format!("there is no atomic `{text}`")).help(FORM)),
    }
}
