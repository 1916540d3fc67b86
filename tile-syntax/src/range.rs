//! What a `for` or a `phase` runs over.

use proc_macro2::{Delimiter, Span};
use tile_ir::syntax::{Expr, ExprKind, Range};

use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::{parse_expr, parse_list};
use crate::token::Cursor;

type Result<T> = std::result::Result<T, SyntaxError>;

const FORMS: &str = "write `0..n`, `(a..b).step_by(s)` or `tiles(n, T)`";

/// `a..b`, `a..=b`, `(a..b).step_by(s).rev()`, `tiles(n, t)`, `halving(n)`, `doubling(n)`.
pub(crate) fn parse_range(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Range> {
    for name in ["tiles", "halving", "doubling"] {
        let call = input.is_word(name) && input.nth_group(1, Delimiter::Parenthesis).is_some();
        if call && !followed_by_range(input) {
            return parse_named(cx, input, name);
        }
    }
    let start = input.here();
    if let Some(group) = input.peek_group(Delimiter::Parenthesis)
        && holds_range(group.cursor())
    {
        input.bump();
        let mut inner = group.cursor();
        let range = parse_between(cx, &mut inner, start)?;
        inner.expect_end("an operator or `)`")?;
        return parse_adaptors(cx, input, range);
    }
    parse_between(cx, input, start)
}

/// Whether a range operator stands among these tokens, outside inner groups.
fn holds_range(mut input: Cursor<'_>) -> bool {
    while !input.is_end() {
        if input.is_op("..") || input.is_op("..=") {
            return true;
        }
        input.bump();
    }
    false
}

/// Whether the call at the cursor is the first bound of a range: `tiles(n, t)..m`.
fn followed_by_range(input: &Cursor<'_>) -> bool {
    let mut after = *input;
    after.bump();
    after.bump();
    let head = after.split_before(|cursor| cursor.peek_group(Delimiter::Brace).is_some());
    holds_range(head)
}

fn parse_between(cx: &mut Context, input: &mut Cursor<'_>, at: SpanPair) -> Result<Range> {
    if input.is_op("..") || input.is_op("..=") {
        return Err(
            SyntaxError::new(input.here(), "the range needs its first value").help("write `0..n`")
        );
    }
    let start = parse_expr(cx, input)?;
    let operator = input.here();
    let inclusive = input.is_op("..=");
    if !input.eat_op("..=") && !input.eat_op("..") {
        return Err(not_a_range(input, &start, cx.pair(start.span).start, at));
    }
    if input.is_end() || input.peek_group(Delimiter::Brace).is_some() {
        return Err(SyntaxError::new(operator, "the range needs its end").help("write `0..n`"));
    }
    let end = parse_expr(cx, input)?;
    if let ExprKind::Method { func, .. } = &end.kind
        && matches!(func.text.as_str(), "step_by" | "rev")
    {
        return Err(SyntaxError::new(
            cx.pair(func.span),
            format!("`{}` is called on the end of the range here", func.text),
        )
        .help(format!("put the range into parentheses: `(a..b).{}(…)`", func.text)));
    }
    Ok(Range::Between { start, end, inclusive, step: None, reversed: false })
}

fn not_a_range(input: &Cursor<'_>, start: &Expr, first: Span, at: SpanPair) -> SyntaxError {
    match input.is_end() || input.peek_group(Delimiter::Brace).is_some() {
        true => {
            let message = match &start.kind {
                ExprKind::Name(name) => format!("`{}` is not a range", name.text),
                _ => "this is not a range".to_owned(),
            };
            SyntaxError::new(SpanPair::from(first).to(input.last()), message).help(FORMS)
        }
        false => {
            let error = input.expected("`..`");
            SyntaxError { at: if input.at_new_line() { at } else { error.at }, ..error }.help(FORMS)
        }
    }
}

/// `.step_by(s)`, `.rev()`, in this order.
fn parse_adaptors(cx: &mut Context, input: &mut Cursor<'_>, range: Range) -> Result<Range> {
    let Range::Between { start, end, inclusive, mut step, mut reversed } = range else {
        return Ok(range);
    };
    while input.eat_op(".") {
        let at = input.here();
        let name = cx.name(input, "`step_by` or `rev`")?;
        let Some(args) = input.eat_group(Delimiter::Parenthesis) else {
            return Err(input.expected(&format!("`(` after `{}`", name.text)));
        };
        match name.text.as_str() {
            _ if reversed => {
                return Err(SyntaxError::new(at, "`.rev()` comes last").help(
                    "write `(a..b).step_by(s).rev()`, which begins at the last of these steps",
                ));
            }
            "step_by" if step.is_some() => {
                return Err(SyntaxError::new(at, "the step is given twice"));
            }
            "step_by" => step = Some(one_argument(cx, args.cursor(), "step_by")?),
            "rev" => {
                args.cursor().expect_end("`)` after `rev(`")?;
                reversed = true;
            }
            other => {
                return Err(SyntaxError::new(at, format!("a range has no method `{other}` here"))
                    .help("it has `.step_by(s)` and `.rev()`"));
            }
        }
    }
    Ok(Range::Between { start, end, inclusive, step, reversed })
}

fn one_argument(cx: &mut Context, mut input: Cursor<'_>, name: &str) -> Result<Expr> {
    let at = input.here();
    let mut list = parse_list(cx, &mut input)?;
    match (list.pop(), list.is_empty()) {
        (Some(argument), true) => Ok(argument),
        _ => Err(SyntaxError::new(at, format!("`{name}` takes one argument"))),
    }
}

fn parse_named(cx: &mut Context, input: &mut Cursor<'_>, name: &str) -> Result<Range> {
    let at = input.here();
    input.bump();
    let Some(args) = input.eat_group(Delimiter::Parenthesis) else {
        return Err(input.expected(&format!("`(` after `{name}`")));
    };
    let mut range = match name {
        "tiles" => {
            let mut list = parse_list(cx, &mut args.cursor())?;
            match (list.pop(), list.pop(), list.is_empty()) {
                (Some(tile), Some(extent), true) => Range::Tiles { extent, tile, reversed: false },
                _ => {
                    return Err(SyntaxError::new(
                        at.to(args.close),
                        "`tiles` takes an extent and a tile's extent",
                    )
                    .help("write `tiles(K, TK)`: as many tiles of TK as cover K"));
                }
            }
        }
        "halving" => Range::Halving(one_argument(cx, args.cursor(), name)?),
        _ => Range::Doubling(one_argument(cx, args.cursor(), name)?),
    };
    if input.eat_op(".") {
        let method = input.here();
        let rev = input.eat_word("rev") && input.eat_group(Delimiter::Parenthesis).is_some();
        match &mut range {
            Range::Tiles { reversed, .. } if rev => *reversed = true,
            _ => {
                return Err(SyntaxError::new(method, format!("`{name}(…)` has no such method"))
                    .help("`tiles(n, t).rev()` runs backwards; the others run one way"));
            }
        }
    }
    Ok(range)
}
