//! Scalar types as written.

use tile_ir::syntax::{TypeExpr, TypeExprKind};

use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::token::Cursor;

/// `f32`, `T`, `index`, `Acc<T>`.
pub(crate) fn parse_scalar_type(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    what: &str,
) -> Result<TypeExpr, SyntaxError> {
    let start = input.here();
    let name = cx.name(input, what)?;
    if input.is_op("::") {
        return Err(SyntaxError::new(input.here(), "a type is one word here, not a path")
            .help("write `f32`, `T`, `index` or `Acc<T>`"));
    }
    if name.text != "Acc" {
        return Ok(TypeExpr { kind: TypeExprKind::Name(name.clone()), span: name.span });
    }
    finish_accumulator(cx, input, start)
}

/// The rest of `Acc<T>`, whose first word began at `start`.
pub(crate) fn finish_accumulator(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    start: SpanPair,
) -> Result<TypeExpr, SyntaxError> {
    if !input.eat_char('<') {
        return Err(input.expected("`<` after `Acc`").help("write `Acc<T>`"));
    }
    let inner = cx.name(input, "a type between `<` and `>`")?;
    if !input.eat_char('>') {
        return Err(input.expected(&format!("`>` after `Acc<{}`", inner.text)));
    }
    let span = cx.span_to_last(start, input);
    Ok(TypeExpr { kind: TypeExprKind::Acc(inner), span })
}
