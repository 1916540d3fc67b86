//! Statements, and how parsing goes on after a mistake in one.

use proc_macro2::Delimiter;
use tile_ir::syntax::{
    EachAxis, Expr, ExprKind, Jump, Literal, Name, Old, OldValue, Range, Stmt, StmtKind,
};

use crate::array::{parse_array, refuse_nested};
use crate::assign::{parse_assignment, update_operator};
use crate::atomic::parse_atomic;
use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::expr::{label, parse_condition, parse_expr, parse_list, range_value};
use crate::range::parse_range;
use crate::token::{Cursor, Group, Token};
use crate::types::parse_scalar_type;
use crate::words;

type Result<T> = std::result::Result<T, SyntaxError>;

/// The statements between a pair of braces. Mistakes go to `cx`.
pub(crate) fn parse_block(cx: &mut Context, group: &Group) -> Vec<Stmt> {
    let mut input = group.cursor();
    let mut body = Vec::new();
    while !input.is_end() {
        if input.eat_op(";") {
            continue;
        }
        cx.reset_operators();
        let start = input;
        match cx.nested(input.here(), |cx| parse_stmt(cx, &mut input)) {
            Ok(stmt) => body.push(stmt),
            Err(error) => {
                cx.errors.push(error);
                skip_statement(start, &mut input);
            }
        }
    }
    body
}

/// Moves behind the statement that began at `start` and went wrong at `input`.
fn skip_statement(start: Cursor<'_>, input: &mut Cursor<'_>) {
    if start.here().start.start() == input.here().start.start() {
        input.bump();
    }
    while let Some(token) = input.peek() {
        let resumes = input.at_new_line()
            && input.peek_ident().is_some_and(|ident| words::begins_statement(&ident.to_string()));
        if resumes {
            return;
        }
        let ends = match token {
            Token::Punct { ch, .. } => *ch == ';',
            Token::Group(group) => group.delimiter == Delimiter::Brace,
            Token::Ident(_) | Token::Literal(_) => false,
        };
        input.bump();
        if ends && !input.is_word("else") {
            return;
        }
    }
}

fn parse_stmt(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Stmt> {
    let start = input.here();
    let head = cx.span(start);
    let word = input.peek_ident().map(ToString::to_string).unwrap_or_default();
    let kind = match word.as_str() {
        "shared" => parse_shared(cx, input)?,
        "let" => parse_let(cx, input)?,
        "load" => parse_load(cx, input)?,
        "atomic" => parse_atomic(cx, input, start, None)?,
        "each" => parse_each(cx, input)?,
        "phase" => {
            let (var, range, body) = parse_loop(cx, input, "phase")?;
            StmtKind::Phase { var, range, body }
        }
        "for" => {
            let (var, range, body) = parse_loop(cx, input, "for")?;
            StmtKind::For { var, range, body }
        }
        "while" => {
            input.bump();
            let cond = parse_condition(cx, input)?;
            StmtKind::While { cond, body: parse_body(cx, input, "the condition of `while`")? }
        }
        "loop" => {
            input.bump();
            let always = ExprKind::Literal(Literal::Bool(true));
            let cond = Expr { kind: always, span: head };
            StmtKind::While { cond, body: parse_body(cx, input, "`loop`")? }
        }
        "if" => parse_if(cx, input)?,
        "barrier" => parse_barrier(input, "barrier", StmtKind::Barrier)?,
        "warp_barrier" => parse_barrier(input, "warp_barrier", StmtKind::WarpBarrier)?,
        "assume" => parse_assume(cx, input)?,
        "return" => parse_jump(input, Jump::Return)?,
        "break" => parse_jump(input, Jump::Break)?,
        "continue" => parse_jump(input, Jump::Continue)?,
        "else" => {
            return Err(SyntaxError::new(start, "this `else` belongs to no `if`"));
        }
        _ => parse_other(cx, input, &word, start)?,
    };
    Ok(Stmt { kind, span: cx.span_to_last(start, input), head })
}

/// `assume(e);`
fn parse_assume(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    const FORM: &str = "write `assume(x < n);`, `assume(distinct(a));`, `assume(sorted(a));` or \
                        `assume(distinct_in_block(at));`";
    let start = input.here();
    input.bump();
    let Some(group) = input.eat_group(Delimiter::Parenthesis) else {
        return Err(input.expected("`(` after `assume`").help(FORM));
    };
    let mut inner = group.cursor();
    let fact = parse_expr(cx, &mut inner)?;
    inner.expect_end("`)`").map_err(|error| error.help(FORM))?;
    end_value(cx, input, start, "`assume(…)`")?;
    Ok(StmtKind::Assume(fact))
}

/// `barrier;` or `warp_barrier;`
fn parse_barrier(input: &mut Cursor<'_>, word: &str, kind: StmtKind) -> Result<StmtKind> {
    let start = input.here();
    input.bump();
    if input.peek_group(Delimiter::Parenthesis).is_some() {
        return Err(SyntaxError::new(start, "a barrier is a statement, not a function")
            .help(format!("write `{word};`")));
    }
    end_statement(input, start, &format!("`{word}`"))?;
    Ok(kind)
}

/// `return;`, `break;` or `continue;`
fn parse_jump(input: &mut Cursor<'_>, jump: Jump) -> Result<StmtKind> {
    let start = input.here();
    input.bump();
    if input.is_char('\'') {
        return Err(label(input));
    }
    let word = jump.word();
    if !input.is_end() && !input.is_op(";") && !input.at_new_line() {
        return Err(SyntaxError::new(input.here(), format!("`{word}` takes no value"))
            .help(format!("write `{word};`")));
    }
    end_statement(input, start, &format!("`{word}`"))?;
    Ok(StmtKind::Jump(jump))
}

/// A scope, an assignment, or what is none of the language's statements.
fn parse_other(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    word: &str,
    start: SpanPair,
) -> Result<StmtKind> {
    if let Some(group) = input.eat_group(Delimiter::Brace) {
        return Ok(StmtKind::Scope(parse_block(cx, group)));
    }
    if let Some(error) = words::unavailable(word, start) {
        return Err(error);
    }
    if input.is_op("#") {
        return Err(SyntaxError::new(start, "a statement takes no attributes")
            .help("`#[allow(…)]` stands before the kernel"));
    }
    if input.is_char('\'') {
        return Err(label(input));
    }
    let target = parse_expr(cx, input)?;
    parse_assignment(cx, input, target, start)
}

/// The `;` of a statement that ends here; `what` is what it would follow.
fn end_statement(input: &mut Cursor<'_>, start: SpanPair, what: &str) -> Result<()> {
    if input.eat_op(";") {
        return Ok(());
    }
    if input.is_op("..") || input.is_op("..=") {
        return Err(range_value(input));
    }
    if input.is_end() || input.at_new_line() {
        let at = match what {
            "`barrier`" | "`warp_barrier`" => start,
            _ => SpanPair::from(input.last()),
        };
        return Err(SyntaxError::new(at, format!("missing `;` after {what}")));
    }
    Err(input.expected(&format!("`;` after {what}")))
}

/// Reports a missing `;` and goes on as if it were there, where the statement
/// is whole and the next one is on a line of its own.
pub(crate) fn end_value(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    start: SpanPair,
    what: &str,
) -> Result<()> {
    let whole = input.is_end() || input.at_new_line();
    match end_statement(input, start, what) {
        Err(error) if whole => {
            cx.errors.push(error);
            Ok(())
        }
        other => other,
    }
}

fn parse_shared(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    const FORM: &str = "write `shared s: [f32; T];`";
    let start = input.here();
    input.bump();
    if input.is_word("mut") {
        return Err(
            SyntaxError::new(input.here(), "a tile can always be written").help("leave out `mut`")
        );
    }
    let name = cx.name(input, "the tile's name after `shared`")?;
    if !input.eat_op(":") {
        return Err(input.expected("`:` after the tile's name").help(FORM));
    }
    let Some(group) = input.eat_group(Delimiter::Bracket) else {
        return Err(input.expected("`[`, the tile's type and extents").help(FORM));
    };
    let mut inner = group.cursor();
    refuse_nested(&inner, "a tile", "`shared s: [f32; 2, 3];`, and its elements `s[i, j]`")?;
    let elem = parse_scalar_type(cx, &mut inner, "the type of the tile's elements")?;
    if !inner.eat_op(";") {
        return Err(inner.expected("`;` after the type").help(FORM));
    }
    let extents = parse_list(cx, &mut inner)?;
    if extents.is_empty() {
        return Err(inner.expected("the tile's extents after `;`").help(FORM));
    }
    if input.is_op("=") {
        return Err(SyntaxError::new(input.here(), "a tile has no first value")
            .help("fill it with `load`, or `each`"));
    }
    end_value(cx, input, start, "the tile")?;
    Ok(StmtKind::Shared { name, elem, extents })
}

fn parse_let(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    let start = input.here();
    input.bump();
    let mutable = input.eat_word("mut");
    if input.peek_group(Delimiter::Parenthesis).is_some()
        || input.peek_group(Delimiter::Bracket).is_some()
    {
        return Err(SyntaxError::new(input.here(), "patterns are not in the language")
            .help("declare one variable at a time"));
    }
    let name = cx.name(input, "a variable's name after `let`")?;
    let mut ty = None;
    if input.eat_op(":") {
        if let Some(group) = input.eat_group(Delimiter::Bracket) {
            return parse_array(cx, input, (name, mutable), group, start);
        }
        if input.is_op("&") {
            return Err(SyntaxError::new(input.here(), "references are not in the language"));
        }
        ty = Some(parse_scalar_type(cx, input, "a type after `:`")?);
    }
    let mut init = None;
    if input.eat_op("=") {
        if input.is_word("atomic") {
            let old = Old::Declared(OldValue { name, mutable, ty });
            return parse_atomic(cx, input, start, Some(old));
        }
        init = Some(parse_expr(cx, input)?);
        if input.is_word("else") {
            return Err(SyntaxError::new(input.here(), "patterns are not in the language")
                .help("ask before it: `if … { return; }`"));
        }
        if input.is_op("=") {
            return Err(SyntaxError::new(input.here(), "one `let` assigns once"));
        }
    }
    end_value(cx, input, start, "the declaration")?;
    Ok(StmtKind::Let { name, mutable, ty, init })
}

fn parse_load(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    const FORM: &str =
        "write `load s[i, j] = a[…];`: `i` and `j` are new names and run over the tile";
    let start = input.here();
    input.bump();
    let tile = cx.name(input, "the tile's name after `load`")?;
    let Some(group) = input.eat_group(Delimiter::Bracket) else {
        return Err(input.expected("`[` after the tile's name").help(FORM));
    };
    let mut inner = group.cursor();
    let mut indices = Vec::new();
    while !inner.is_end() {
        let at = inner.here();
        let fresh = cx
            .name(&mut inner, "a new name")
            .and_then(|name| match inner.is_end() || inner.is_op(",") {
                true => Ok(name),
                false => Err(inner.expected("`,` or `]`")),
            })
            .map_err(|_| {
                SyntaxError::new(at, "the indices of a `load` are new names").help(FORM)
            })?;
        indices.push(fresh);
        inner.eat_op(",");
    }
    if let Some(op) = input.peek_op().filter(|op| update_operator(op).is_some()) {
        return Err(SyntaxError::new(input.here(), format!("`load` has no `{op}`"))
            .help("`load` fills the tile; to update it use `each`"));
    }
    input.expect_op("=", "what is loaded")?;
    let value = parse_expr(cx, input)?;
    end_value(cx, input, start, "the value")?;
    Ok(StmtKind::Load { tile, indices, value })
}

fn parse_each(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    const FORM: &str = "write `each (i, j) in (A, B) { … }`";
    input.bump();
    let at = input.here();
    let names = match input.eat_group(Delimiter::Parenthesis) {
        Some(group) => {
            let mut inner = group.cursor();
            let mut names = Vec::new();
            while !inner.is_end() {
                names.push(index_name(cx, &mut inner, "an index's name")?);
                if !inner.eat_op(",") {
                    inner.expect_end("`,` or `)`")?;
                }
            }
            names
        }
        None => vec![index_name(cx, input, "the names of the indices after `each`")?],
    };
    if !input.eat_word("in") {
        return Err(input.expected("`in` after the indices").help(FORM));
    }
    let extents = match input.peek_group(Delimiter::Parenthesis) {
        Some(group) if names.len() != 1 => {
            input.bump();
            parse_list(cx, &mut group.cursor())?
        }
        _ => vec![parse_expr(cx, input)?],
    };
    if input.is_op("..") || input.is_op("..=") {
        return Err(
            SyntaxError::new(input.here(), "`each` runs from 0 and takes extents").help(FORM)
        );
    }
    if names.len() != extents.len() || names.is_empty() {
        let (n_names, n_extents) = (names.len(), extents.len());
        return Err(SyntaxError::new(
            at.to(input.last()),
            format!("{n_names} indices, but {n_extents} extents"),
        )
        .help(FORM));
    }
    let axes = names.into_iter().zip(extents);
    let axes = axes.map(|(name, extent)| EachAxis { name, extent }).collect();
    Ok(StmtKind::Each { axes, body: parse_body(cx, input, "the extents of `each`")? })
}

/// A counter's name, or `_`.
fn index_name(cx: &mut Context, input: &mut Cursor<'_>, what: &str) -> Result<Name> {
    if input.is_word("mut") {
        return Err(
            SyntaxError::new(input.here(), "a counter cannot be assigned").help("leave out `mut`")
        );
    }
    if input.peek_group(Delimiter::Parenthesis).is_some() {
        return Err(input.expected(what).help("a loop has one counter: `for k in 0..n { … }`"));
    }
    cx.name(input, what)
}

fn parse_loop(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    word: &str,
) -> Result<(Name, Range, Vec<Stmt>)> {
    input.bump();
    let var = index_name(cx, input, &format!("the counter's name after `{word}`"))?;
    if !input.eat_word("in") {
        let error = input.expected("`in` after the counter");
        // Over the two `;` of a loop as in C.
        input.split_before(|cursor| cursor.peek_group(Delimiter::Brace).is_some());
        return Err(error.help(format!("write `{word} {} in 0..n {{ … }}`", var.text)));
    }
    let range = parse_range(cx, input)?;
    if input.is_word("step") || input.is_word("by") {
        let error = input.expected(&format!("`{{` after the range of `{word}`"));
        return Err(error.help("steps of 2 are `(0..n).step_by(2)`"));
    }
    let body = parse_body(cx, input, &format!("the range of `{word}`"))?;
    Ok((var, range, body))
}

fn parse_body(cx: &mut Context, input: &mut Cursor<'_>, after: &str) -> Result<Vec<Stmt>> {
    match input.eat_group(Delimiter::Brace) {
        Some(group) => Ok(parse_block(cx, group)),
        None if input.is_op("=") => Err(SyntaxError::new(input.here(), "`=` assigns")),
        None => {
            let error = input.expected(&format!("`{{` after {after}"));
            Err(match input.peek_ident().map(ToString::to_string).as_deref() {
                Some("and") => error.help("write `&&`"),
                Some("or") => error.help("write `||`"),
                _ => error.help("what a condition or a loop decides stands in braces: `{ … }`"),
            })
        }
    }
}

fn parse_if(cx: &mut Context, input: &mut Cursor<'_>) -> Result<StmtKind> {
    input.bump();
    let cond = parse_condition(cx, input)?;
    let then = parse_body(cx, input, "the condition of `if`")?;
    let mut otherwise = Vec::new();
    if input.eat_word("else") {
        if input.is_word("if") {
            otherwise.push(cx.nested(input.here(), |cx| {
                let start = input.here();
                let head = cx.span(start);
                let kind = parse_if(cx, input)?;
                Ok(Stmt { kind, span: cx.span_to_last(start, input), head })
            })?);
        } else {
            otherwise = parse_body(cx, input, "`else`")?;
        }
    }
    Ok(StmtKind::If { cond, then, otherwise })
}
