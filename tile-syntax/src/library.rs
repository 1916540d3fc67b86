//! Functions and constants beside the kernels.

use proc_macro2::Delimiter;
use tile_ir::syntax::{ConstItem, FunctionItem, FunctionParam, Library, ValueLet};

use crate::context::Context;
use crate::error::SyntaxError;
use crate::expr::parse_expr;
use crate::generics::parse_generics;
use crate::token::{Cursor, Group, Token};
use crate::types::parse_scalar_type;
use crate::words;

type Result<T> = std::result::Result<T, SyntaxError>;

const FUNCTION: &str = "write `fn square<T: Number>(x: T) -> T { x * x }`";
const CONST: &str = "write `const EPS: f32 = 1e-5;`";

/// What an item of an invocation is, told from its first tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Kernel,
    Function,
    Const,
}

/// The kind of the item at the cursor. A function gives a result and has no
/// header.
pub(crate) fn item_kind(mut input: Cursor<'_>) -> ItemKind {
    while input.eat_op("#") {
        input.bump();
    }
    if input.eat_word("pub") {
        input.eat_group(Delimiter::Parenthesis);
    }
    if input.is_word("const") && input.nth_ident(1).is_none_or(|next| next != "fn") {
        return ItemKind::Const;
    }
    if !input.eat_word("fn") {
        return ItemKind::Kernel;
    }
    let ends = |cursor: &Cursor<'_>| cursor.peek_group(Delimiter::Brace).is_some();
    let mut signature = input.split_before(ends);
    signature.split_before(|cursor| cursor.peek_group(Delimiter::Parenthesis).is_some());
    signature.bump();
    let gives = signature.is_op("->");
    signature.split_before(|cursor| cursor.is_word("where"));
    if gives && signature.is_end() { ItemKind::Function } else { ItemKind::Kernel }
}

/// Parses the function or constant at the cursor and moves behind it. Mistakes
/// go to `cx`; gives whether the item was understood.
pub(crate) fn parse_library_item(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    kind: ItemKind,
    library: &mut Library,
) -> bool {
    cx.reset_operators();
    let mistakes = cx.errors.len();
    let parsed = match kind {
        ItemKind::Const => parse_const(cx, input).map(|item| library.consts.push(item)),
        ItemKind::Function | ItemKind::Kernel => {
            parse_function(cx, input).map(|item| library.functions.push(item))
        }
    };
    let whole = cx.report(parsed).is_some();
    whole && cx.errors.len() == mistakes
}

/// Doc comments are for the reader of the macro; nothing else may stand there.
fn skip_docs(input: &mut Cursor<'_>, what: &str) -> Result<()> {
    while input.eat_op("#") {
        let Some(group) = input.eat_group(Delimiter::Bracket) else {
            return Err(input.expected("`[` after `#`"));
        };
        if group.cursor().is_word("inline") {
            return Err(SyntaxError::new(group.pair(), "every function of a kernel is inlined")
                .help("leave out the attribute"));
        }
        if !group.cursor().is_word("doc") {
            let message = format!("{what} takes doc comments and no attributes");
            return Err(SyntaxError::new(group.pair(), message));
        }
    }
    if input.is_word("pub") {
        let message = format!("{what} is known to the kernels of this macro alone");
        return Err(SyntaxError::new(input.here(), message).help("leave out `pub`"));
    }
    Ok(())
}

/// `const EPS: f32 = 1e-5;`
fn parse_const(cx: &mut Context, input: &mut Cursor<'_>) -> Result<ConstItem> {
    skip_docs(input, "a constant")?;
    input.eat_word("const");
    let name = cx.name(input, "the constant's name after `const`")?;
    if !input.eat_op(":") {
        return Err(input.expected(&format!("`:` and the type of `{}`", name.text)).help(CONST));
    }
    if input.peek_group(Delimiter::Bracket).is_some() {
        return Err(SyntaxError::new(input.here(), "a constant is one number").help(
            "a table is a parameter, `f: &Constant<f32, [3]>`, or a kernel's own: \
             `let f: [f32; 3] = [1.0, 2.0, 1.0];`",
        ));
    }
    let ty = parse_scalar_type(cx, input, "a type after `:`")?;
    if !input.eat_op("=") {
        return Err(input.expected(&format!("`=` and the value of `{}`", name.text)).help(CONST));
    }
    let value = parse_expr(cx, input)?;
    match input.eat_op(";") {
        true => Ok(ConstItem { name, ty, value }),
        false => Err(input.expected("an operator or `;` after the value")),
    }
}

/// `fn gelu<T: Float>(x: T) -> T { let y = …; … }`
fn parse_function(cx: &mut Context, input: &mut Cursor<'_>) -> Result<FunctionItem> {
    skip_docs(input, "a function")?;
    input.eat_word("fn");
    let name = cx.name(input, "the function's name after `fn`")?;
    let type_params = parse_generics(cx, input);
    let Some(group) = input.eat_group(Delimiter::Parenthesis) else {
        return Err(input.expected(&format!("`(` and the parameters of `{}`", name.text)));
    };
    let params = parse_params(cx, group)?;
    input.expect_op("->", "the parameters")?;
    if input.peek_group(Delimiter::Parenthesis).is_some() {
        return Err(SyntaxError::new(input.here(), "a function gives one value")
            .help("write one function for each value"));
    }
    let result = parse_scalar_type(cx, input, "the type of the result after `->`")?;
    let Some(body) = input.eat_group(Delimiter::Brace) else {
        return Err(input.expected(&format!("the body of `{}` in braces", name.text)));
    };
    let mut inner = body.cursor();
    let mut lets = Vec::new();
    while inner.is_word("let") {
        let names = "leave out `mut`, and give each value a name of its own";
        lets.push(parse_value_let(cx, &mut inner, "a function", names)?);
        cx.reset_operators();
    }
    if inner.is_end() {
        let message = format!("`{}` gives no result", name.text);
        return Err(SyntaxError::new(body.pair(), message)
            .help("the last line of a function is its result, without `;`"));
    }
    refuse_statement(&inner)?;
    let value = parse_expr(cx, &mut inner)?;
    if inner.is_op(";") {
        return Err(SyntaxError::new(inner.here(), "this ends the function without a result")
            .help("leave out the `;`: the last line of a function is its result"));
    }
    if inner.is_op("=") || inner.peek_op().is_some_and(|op| op.ends_with('=')) {
        return Err(SyntaxError::new(inner.here(), "a function assigns nothing")
            .help("give each value a name of its own: `let y = …;`"));
    }
    inner.expect_end("an operator or `}`")?;
    Ok(FunctionItem { name, type_params, params, result, lets, value })
}

fn parse_params(cx: &mut Context, group: &Group) -> Result<Vec<FunctionParam>> {
    let mut input = group.cursor();
    let mut params = Vec::new();
    while !input.is_end() {
        if input.is_word("mut") || input.is_op("&") || input.is_op("#") {
            return Err(input.expected("a parameter's name").help(FUNCTION));
        }
        let name = cx.name(&mut input, "a parameter's name")?;
        if !input.eat_op(":") {
            return Err(input.expected(&format!("`:` after `{}`", name.text)).help(FUNCTION));
        }
        if matches!(input.peek(), Some(Token::Punct { ch: '&' | '*', .. } | Token::Group(_)))
            || input.is_word("Tensor")
            || input.is_word("Constant")
        {
            let message = "a function takes values: no tensor, no tile and no array";
            return Err(SyntaxError::new(input.here(), message)
                .help("take an element, and pass it: `f(a[i])`"));
        }
        let ty = parse_scalar_type(cx, &mut input, "a type after `:`")?;
        params.push(FunctionParam { name, ty });
        if !input.eat_op(",") {
            input.expect_end("`,` or `)` after the parameter")?;
        }
    }
    Ok(params)
}

/// `let y: T = e;` in `what`, where no value changes: `instead` says what to write.
pub(crate) fn parse_value_let(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    what: &str,
    instead: &str,
) -> Result<ValueLet> {
    input.eat_word("let");
    if input.is_word("mut") {
        let message = format!("a value of {what} does not change");
        return Err(SyntaxError::new(input.here(), message).help(instead));
    }
    let name = cx.name(input, "a name after `let`")?;
    let ty = match input.eat_op(":") {
        true if input.peek_group(Delimiter::Bracket).is_some() => {
            return Err(SyntaxError::new(input.here(), "there are no arrays here")
                .help("a local array is declared among the kernel's statements"));
        }
        true => Some(parse_scalar_type(cx, input, "a type after `:`")?),
        false => None,
    };
    input.expect_op("=", "the name")?;
    let value = parse_expr(cx, input)?;
    match input.eat_op(";") {
        true => Ok(ValueLet { name, ty, value }),
        false => Err(input.expected("an operator or `;` after the value")),
    }
}

/// Reports a statement where a function's result is expected.
fn refuse_statement(input: &Cursor<'_>) -> Result<()> {
    let word = input.peek_ident().map(ToString::to_string).unwrap_or_default();
    if word == "return" {
        return Err(SyntaxError::new(input.here(), "a function has no `return`")
            .help("its last line is its result; a condition is `if c { a } else { b }`"));
    }
    let is_statement = matches!(word.as_str(), "for" | "while" | "loop" | "break" | "continue")
        || words::statement_word(&word).is_some();
    match is_statement {
        true => {
            let message = format!("`{word}` cannot stand in a function, which has no statements");
            Err(SyntaxError::new(input.here(), message).help(
                "a function has `let`s and a result; what the block does stands in the kernel",
            ))
        }
        false => Ok(()),
    }
}
