//! Expressions: precedence climbing with Rust's precedences.
//!
//! From tightest: element, call and method; `-` `!`; `as`; `* / %`; `+ -`;
//! `<< >>`; `&`; `^`; `|`; comparisons, which do not chain; `&&`; `||`.

use proc_macro2::{Delimiter, Ident};
use tile_ir::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use tile_ir::resolve::is_built_in;
use tile_ir::syntax::{Expr, ExprKind, Literal, Name, Path, TypeExpr, TypeExprKind};

use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::library::parse_value_let;
use crate::literal::parse_number;
use crate::token::{Cursor, Group, Token};
use crate::types::{finish_accumulator, parse_scalar_type};
use crate::words;

type Result<T> = std::result::Result<T, SyntaxError>;

/// An operator between two expressions.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Compare(CompareOp),
    Logic(LogicOp),
}

/// The operator `op` and its precedence, higher binding tighter.
fn infix(op: &str) -> Option<(u8, Infix)> {
    Some(match op {
        "*" => (9, Infix::Binary(BinaryOp::Mul)),
        "/" => (9, Infix::Binary(BinaryOp::Div)),
        "%" => (9, Infix::Binary(BinaryOp::Rem)),
        "+" => (8, Infix::Binary(BinaryOp::Add)),
        "-" => (8, Infix::Binary(BinaryOp::Sub)),
        "<<" => (7, Infix::Binary(BinaryOp::Shl)),
        ">>" => (7, Infix::Binary(BinaryOp::Shr)),
        "&" => (6, Infix::Binary(BinaryOp::And)),
        "^" => (5, Infix::Binary(BinaryOp::Xor)),
        "|" => (4, Infix::Binary(BinaryOp::Or)),
        "==" => (3, Infix::Compare(CompareOp::Eq)),
        "!=" => (3, Infix::Compare(CompareOp::Ne)),
        "<" => (3, Infix::Compare(CompareOp::Lt)),
        "<=" => (3, Infix::Compare(CompareOp::Le)),
        ">" => (3, Infix::Compare(CompareOp::Gt)),
        ">=" => (3, Infix::Compare(CompareOp::Ge)),
        "&&" => (2, Infix::Logic(LogicOp::And)),
        "||" => (1, Infix::Logic(LogicOp::Or)),
        _ => return None,
    })
}

/// An expression, as far as it goes.
pub(crate) fn parse_expr(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    cx.nested(input.here(), |cx| parse_infix(cx, input, 1))
}

/// A condition: an expression, with a word for those who write `=`.
pub(crate) fn parse_condition(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    if input.is_word("let") {
        return Err(SyntaxError::new(input.here(), "patterns are not in the language")
            .help("compare with `==`"));
    }
    if input.peek_group(Delimiter::Brace).is_some() {
        return Err(input.expected("a condition"));
    }
    let cond = parse_expr(cx, input)?;
    match input.is_op("=") {
        true => {
            Err(SyntaxError::new(input.here(), "`=` assigns, it does not compare")
                .help("write `==`"))
        }
        false => Ok(cond),
    }
}

fn tuple(at: SpanPair) -> SyntaxError {
    SyntaxError::new(at, "tuples are not in the language")
        .help("give each value a name of its own: `let x = …;`, `let y = …;`")
}

/// The error for a label, at its `'`.
pub(crate) fn label(input: &Cursor<'_>) -> SyntaxError {
    SyntaxError::new(input.here(), "labels are not in the language").help(
        "an outer loop that an inner one ends asks a variable: `let mut done = false;`, \
         `while !done && … { … }`",
    )
}

/// The error for a range operator where a value ends.
pub(crate) fn range_value(input: &Cursor<'_>) -> SyntaxError {
    SyntaxError::new(input.here(), "a range is not a value")
        .help("ranges stand in `for` and `phase`")
}

/// Expressions with commas between, to the end of `input`.
pub(crate) fn parse_list(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Vec<Expr>> {
    let mut list = Vec::new();
    while !input.is_end() {
        list.push(parse_expr(cx, input)?);
        if !input.eat_op(",") {
            input.expect_end("`,` or an operator")?;
        }
    }
    Ok(list)
}

fn parse_infix(cx: &mut Context, input: &mut Cursor<'_>, min_precedence: u8) -> Result<Expr> {
    let start = input.here();
    let mut lhs = parse_cast(cx, input)?;
    let mut compared = false;
    while let Some(op) = input.peek_op() {
        if op == "++" || op == "--" {
            let sign = &op[1..];
            return Err(SyntaxError::new(input.here(), format!("`{op}` is not in the language"))
                .help(format!("write `{sign}= 1` as a statement of its own, or put a space")));
        }
        let Some((precedence, infix)) = infix(op) else { break };
        if precedence < min_precedence {
            break;
        }
        let at = input.here();
        if matches!(infix, Infix::Compare(_)) {
            if compared {
                return Err(
                    SyntaxError::new(at, "comparisons do not chain").help("write `a < b && b < c`")
                );
            }
            compared = true;
        }
        cx.count_operator(at)?;
        input.eat_op(op);
        let rhs = cx.nested(at, |cx| parse_infix(cx, input, precedence + 1))?;
        let (lhs_box, rhs_box) = (Box::new(lhs), Box::new(rhs));
        let kind = match infix {
            Infix::Binary(op) => ExprKind::Binary { op, lhs: lhs_box, rhs: rhs_box },
            Infix::Compare(op) => ExprKind::Compare { op, lhs: lhs_box, rhs: rhs_box },
            Infix::Logic(op) => ExprKind::Logic { op, lhs: lhs_box, rhs: rhs_box },
        };
        lhs = Expr { kind, span: cx.span_to_last(start, input) };
    }
    Ok(lhs)
}

fn parse_cast(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    let start = input.here();
    let mut expr = parse_prefix(cx, input)?;
    while input.is_word("as") {
        cx.count_operator(input.here())?;
        input.bump();
        let ty = parse_scalar_type(cx, input, "a type after `as`")?;
        let kind = ExprKind::Cast { operand: Box::new(expr), ty };
        expr = Expr { kind, span: cx.span_to_last(start, input) };
    }
    Ok(expr)
}

fn parse_prefix(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    let start = input.here();
    let op = match input.peek_op() {
        Some("-") => UnaryOp::Neg,
        Some("!") => UnaryOp::Not,
        Some("&" | "&&") => {
            return Err(SyntaxError::new(start, "references are not in the language")
                .help("use the value itself"));
        }
        Some("*") => {
            return Err(SyntaxError::new(start, "pointers are not in the language")
                .help("elements are written `a[i, j]`, powers `x.powi(2)`"));
        }
        _ => return parse_postfix(cx, input),
    };
    cx.count_operator(start)?;
    input.bump();
    let operand = Box::new(cx.nested(start, |cx| parse_prefix(cx, input))?);
    Ok(Expr { kind: ExprKind::Unary { op, operand }, span: cx.span_to_last(start, input) })
}

fn parse_postfix(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    let start = input.here();
    let mut expr = parse_primary(cx, input)?;
    loop {
        if input.is_op(".") {
            cx.count_operator(input.here())?;
            input.bump();
            let Some(args) = input.nth_group(1, Delimiter::Parenthesis) else {
                return Err(field_error(input));
            };
            let func = cx.name(input, "a method's name after `.`")?;
            input.bump();
            let mut list = vec![expr];
            list.extend(parse_list(cx, &mut args.cursor())?);
            let kind = ExprKind::Method { func, args: list };
            expr = Expr { kind, span: cx.span_to_last(start, input) };
        } else if input.peek_group(Delimiter::Bracket).is_some() && !input.at_new_line() {
            let nested = matches!(expr.kind, ExprKind::Index { .. });
            return Err(match nested {
                true => SyntaxError::new(input.here(), "an element has one pair of brackets")
                    .help("write `s[i, j]`, not `s[i][j]`"),
                false => SyntaxError::new(input.here(), "only a name can be indexed").help(
                    "an element is `a[i, j]`, an extent the name that its parameter gives it",
                ),
            });
        } else if input.is_op("?") {
            return Err(SyntaxError::new(input.here(), "`?` is not in the language")
                .help("a value that a condition decides is `if c { a } else { b }`"));
        } else {
            return Ok(expr);
        }
    }
}

fn field_error(input: &Cursor<'_>) -> SyntaxError {
    match input.peek() {
        Some(Token::Ident(name)) => SyntaxError::new(
            name.span(),
            format!("`.{name}` is a field, and values here have none"),
        )
        .help(format!("a method is written with parentheses: `.{name}()`")),
        Some(Token::Literal(_)) => tuple(input.here()),
        _ => input.expected("a method after `.`"),
    }
}

fn parse_primary(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    match input.peek() {
        Some(Token::Literal(literal)) => parse_literal(cx, input, literal),
        Some(Token::Ident(ident)) => parse_word(cx, input, ident),
        Some(Token::Group(group)) => parse_group(cx, input, group),
        Some(Token::Punct { ch: '\'', .. }) => Err(label(input)),
        Some(Token::Punct { ch: '|', .. }) => {
            Err(SyntaxError::new(input.here(), "closures are not in the language")
                .help("a function stands beside the kernel: `fn f<T: Number>(x: T) -> T { … }`"))
        }
        Some(Token::Punct { ch: '~', .. }) => {
            Err(SyntaxError::new(input.here(), "`~` is not in the language")
                .help("the complement of the bits is `!x`"))
        }
        Some(Token::Punct { .. }) | None => Err(input.expected("an expression")),
    }
}

fn parse_literal(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    token: &proc_macro2::Literal,
) -> Result<Expr> {
    let (literal, negative) = parse_number(cx, token)?;
    input.bump();
    let span = cx.span(token.span());
    let expr = Expr { kind: ExprKind::Literal(literal), span };
    Ok(match negative {
        true => {
            let kind = ExprKind::Unary { op: UnaryOp::Neg, operand: Box::new(expr) };
            Expr { kind, span }
        }
        false => expr,
    })
}

fn parse_group(cx: &mut Context, input: &mut Cursor<'_>, group: &Group) -> Result<Expr> {
    match group.delimiter {
        Delimiter::Parenthesis | Delimiter::None => {
            let mut inner = group.cursor();
            if inner.is_end() {
                return Err(SyntaxError::new(group.pair(), "`()` is not a value"));
            }
            let mut expr = parse_expr(cx, &mut inner)?;
            if inner.is_op(",") {
                return Err(tuple(group.pair()));
            }
            if inner.is_op("..") || inner.is_op("..=") {
                return Err(range_value(&inner));
            }
            inner.expect_end("an operator or `)`")?;
            input.bump();
            expr.span = cx.span(group.pair());
            Ok(expr)
        }
        Delimiter::Bracket => Err(SyntaxError::new(group.pair(), "an array is not a value here")
            .help(
                "an array of one work-item says its type, `let x: [f32; 4] = [0.0; 4];`, and the \
                 memory of a block is a tile, `shared s: [f32; T];`",
            )),
        Delimiter::Brace => Err(SyntaxError::new(group.open, "a block is not a value here")
            .help("use parentheses, and name what it names before: `let y = …;`")),
    }
}

fn parse_word(cx: &mut Context, input: &mut Cursor<'_>, ident: &Ident) -> Result<Expr> {
    let at = SpanPair::from(ident.span());
    let text = ident.to_string();
    match text.as_str() {
        "true" | "false" => {
            input.bump();
            let kind = ExprKind::Literal(Literal::Bool(text == "true"));
            return Ok(Expr { kind, span: cx.span(at) });
        }
        "if" => return cx.nested(at, |cx| parse_if(cx, input)),
        "_" => {
            return Err(SyntaxError::new(at, "`_` is not a value").help("give it a name"));
        }
        _ => {}
    }
    if let Some(error) = words::unavailable(&text, at) {
        return Err(error);
    }
    let name = cx.name(input, "an expression")?;
    if let Some(group) = input.peek_group(Delimiter::Bracket) {
        input.bump();
        let indices = parse_indices(cx, group, &name)?;
        let span = cx.span_to_last(at, input);
        return Ok(Expr { kind: ExprKind::Index { array: name, indices }, span });
    }
    if let Some(group) = input.peek_group(Delimiter::Parenthesis) {
        input.bump();
        let args = parse_list(cx, &mut group.cursor())?;
        let span = cx.span_to_last(at, input);
        return Ok(Expr { kind: ExprKind::Call { func: name, args }, span });
    }
    if name.text == "Acc" && input.is_char('<') {
        let ty = finish_accumulator(cx, input, at)?;
        return match input.is_op("::") {
            true => parse_path(cx, input, ty, at),
            false => Err(SyntaxError::new(at.to(input.last()), "a type is not a value")
                .help("its constants are `Acc<T>::MIN`, `Acc<T>::MAX`, …")),
        };
    }
    if input.is_op("::") {
        let ty = TypeExpr { span: name.span, kind: TypeExprKind::Name(name) };
        return parse_path(cx, input, ty, at);
    }
    if input.is_op("!") && !input.at_new_line() {
        let error = SyntaxError::new(at.to(input.here()), "macros cannot be called in a kernel");
        return Err(match words::instead_of_macro(&name.text) {
            Some(help) => error.help(help),
            None => error,
        });
    }
    let span = name.span;
    Ok(Expr { kind: ExprKind::Name(name), span })
}

/// The indices between the brackets of `name[…]`.
pub(crate) fn parse_indices(cx: &mut Context, group: &Group, name: &Name) -> Result<Vec<Expr>> {
    let mut inner = group.cursor();
    if inner.is_end() {
        return Err(SyntaxError::new(group.pair(), format!("`{}` needs its indices", name.text))
            .help("one for each axis, as in `a[i, j]`"));
    }
    let indices = parse_list(cx, &mut inner).map_err(|error| {
        match inner.is_op("..") || inner.is_op("..=") {
            true => SyntaxError::new(inner.here(), "slices are not in the language")
                .help("name one element: `a[i, j]`"),
            false => error,
        }
    })?;
    Ok(indices)
}

fn parse_path(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    ty: TypeExpr,
    at: SpanPair,
) -> Result<Expr> {
    let written = match &ty.kind {
        TypeExprKind::Name(name) => name.text.clone(),
        TypeExprKind::Acc(name) => format!("Acc<{}>", name.text),
    };
    input.eat_op("::");
    if input.is_char('<') {
        let error = SyntaxError::new(input.here(), "functions take no type arguments here");
        return Err(match written.as_str() {
            "Acc" => error.help("constants of an accumulator are `Acc<T>::MAX` and so on"),
            _ => error,
        });
    }
    let constant = cx.name(input, &format!("a constant after `{written}::`"))?;
    if input.is_op("::") {
        return Err(SyntaxError::new(at.to(input.here()), "this path is not in the language")
            .help("constants of a type are `T::MIN`, `T::MAX`, `T::INFINITY`, …; others stand beside the kernel: `const PI: f32 = 3.141_592_7;`"));
    }
    if input.peek_group(Delimiter::Parenthesis).is_some() {
        let func = &constant.text;
        return Err(SyntaxError::new(
            at.to(input.last()),
            format!("`{written}::{func}` is not a function of the language"),
        )
        .help(match is_built_in(func) {
            true => format!("write `{func}(x)` or `x.{func}()`"),
            false => format!(
                "functions are called as `f(x)` or `x.f()`, conversions are `x as {written}`"
            ),
        }));
    }
    let span = cx.span_to_last(at, input);
    Ok(Expr { kind: ExprKind::Path(Path { ty, constant }), span })
}

/// `if c { a } else { b }` for its value.
fn parse_if(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Expr> {
    let start = input.here();
    input.bump();
    let cond = Box::new(parse_condition(cx, input)?);
    let then = Box::new(parse_arm(cx, input, "the condition")?);
    if !input.eat_word("else") {
        return Err(SyntaxError::new(start, "an `if` that is used for its value needs an `else`")
            .help("write `if c { a } else { b }`"));
    }
    let otherwise = Box::new(match input.is_word("if") {
        true => cx.nested(input.here(), |cx| parse_if(cx, input))?,
        false => parse_arm(cx, input, "`else`")?,
    });
    let span = cx.span_to_last(start, input);
    Ok(Expr { kind: ExprKind::If { cond, then, otherwise }, span })
}

fn parse_arm(cx: &mut Context, input: &mut Cursor<'_>, after: &str) -> Result<Expr> {
    let Some(group) = input.eat_group(Delimiter::Brace) else {
        return Err(input.expected(&format!("`{{` after {after}")));
    };
    let mut inner = group.cursor();
    let form = "an arm of an `if` used for its value holds `let`s and ends with a value";
    let assign = "declare `let mut x;` before the `if`, and assign it in the arms";
    let mut lets = Vec::new();
    while inner.is_word("let") {
        lets.push(parse_value_let(cx, &mut inner, "an arm of an `if`", assign)?);
    }
    if inner.is_end() {
        return Err(SyntaxError::new(group.pair(), form));
    }
    let value = parse_expr(cx, &mut inner)?;
    if inner.is_op(";") || inner.is_op("=") {
        return Err(SyntaxError::new(inner.here(), form).help(assign));
    }
    inner.expect_end("an operator or `}`")?;
    if lets.is_empty() {
        return Ok(value);
    }
    let span = cx.span(group.pair());
    Ok(Expr { kind: ExprKind::Block { lets, value: Box::new(value) }, span })
}
