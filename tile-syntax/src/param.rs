//! The parameters of a kernel.

use proc_macro2::Delimiter;
use tile_ir::resolve::nearest;
use tile_ir::syntax::{EdgeAttr, Param, ParamKind, TensorSpace, TypeExprKind};

use crate::context::Context;
use crate::error::SyntaxError;
use crate::expr::{parse_expr, parse_list};
use crate::token::{Cursor, Group, Token};
use crate::types::parse_scalar_type;

type Result<T> = std::result::Result<T, SyntaxError>;

const FORMS: &str =
    "parameters are `a: &Tensor<T, [M, K]>`, `c: &mut Tensor<T, [M, N]>` and scalars, `alpha: f32`";

/// The parameters between the parentheses, one entry for each that is written;
/// `None` for one with a mistake, which goes to `cx`.
pub(crate) fn parse_params(cx: &mut Context, group: &Group) -> Vec<Option<Param>> {
    let mut input = group.cursor();
    let mut params = Vec::new();
    while !input.is_end() {
        let result = parse_param(cx, &mut input).and_then(|param| {
            match input.is_end() || input.is_op(",") {
                true => Ok(param),
                false => Err(input.expected("`,` or `)` after the parameter")),
            }
        });
        params.push(cx.report(result));
        skip_param(&mut input);
        input.eat_op(",");
    }
    params
}

/// Moves to the `,` that ends a parameter.
fn skip_param(input: &mut Cursor<'_>) {
    let mut open = 0_u32;
    while let Some(token) = input.peek() {
        match token {
            Token::Punct { ch: '<', .. } => open += 1,
            Token::Punct { ch: '>', .. } => open = open.saturating_sub(1),
            Token::Punct { ch: ',', .. } if open == 0 => return,
            Token::Punct { .. } | Token::Ident(_) | Token::Literal(_) | Token::Group(_) => {}
        }
        input.bump();
    }
}

fn parse_param(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Param> {
    let start = input.here();
    let mut edge = None;
    while input.is_op("#") {
        let at = input.here();
        let attribute = parse_edge(cx, input)?;
        if edge.replace(attribute).is_some() {
            return Err(SyntaxError::new(at, "a parameter has one edge rule"));
        }
    }
    if input.is_word("mut") {
        return Err(SyntaxError::new(input.here(), "a parameter cannot be assigned")
            .help("leave out `mut`; a tensor that is written is `c: &mut Tensor<…>`"));
    }
    if input.is_word("self") || input.is_op("&") {
        return Err(SyntaxError::new(input.here(), "a kernel is not a method").help(FORMS));
    }
    if input.is_word("_") {
        return Err(SyntaxError::new(input.here(), "a parameter needs a name"));
    }
    let name = cx.name(input, "a parameter's name")?;
    if !input.eat_op(":") {
        return Err(input.expected(&format!("`:` after `{}`", name.text)).help(FORMS));
    }
    let kind = parse_kind(cx, input)?;
    if let (
        ParamKind::Scalar { .. },
        Some(EdgeAttr::Pad { span, .. } | EdgeAttr::Rule { span, .. }),
    ) = (&kind, &edge)
    {
        return Err(SyntaxError::new(cx.pair(*span), "only a tensor has edges"));
    }
    Ok(Param { name, kind, edge, span: cx.span_to_last(start, input) })
}

/// `#[pad = value]` or `#[edge(rule)]`.
fn parse_edge(cx: &mut Context, input: &mut Cursor<'_>) -> Result<EdgeAttr> {
    const FORM: &str = "a tensor takes `#[pad = value]` or `#[edge(clamp)]`";
    let start = input.here();
    input.eat_op("#");
    let Some(group) = input.eat_group(Delimiter::Bracket) else {
        return Err(input.expected("`[` after `#`"));
    };
    let mut inner = group.cursor();
    if inner.eat_word("pad") {
        if !inner.eat_op("=") {
            return Err(inner.expected("`=` after `pad`").help("write `#[pad = 0]`"));
        }
        let value = parse_expr(cx, &mut inner)?;
        inner.expect_end("an operator or `]`")?;
        return Ok(EdgeAttr::Pad { value, span: cx.span_to_last(start, input) });
    }
    if inner.eat_word("edge") {
        let Some(rule) = inner.eat_group(Delimiter::Parenthesis) else {
            return Err(inner.expected("`(` after `edge`").help("write `#[edge(clamp)]`"));
        };
        let mut rule = rule.cursor();
        let name = cx.name(&mut rule, "`clamp`, `wrap` or `reflect`")?;
        rule.expect_end("`)`")?;
        inner.expect_end("`]`")?;
        return Ok(EdgeAttr::Rule { name, span: cx.span_to_last(start, input) });
    }
    Err(SyntaxError::new(inner.here(), format!("a parameter has no attribute {}", inner.found()))
        .help(FORM))
}

fn parse_kind(cx: &mut Context, input: &mut Cursor<'_>) -> Result<ParamKind> {
    let start = input.here();
    if input.is_op("*") {
        return Err(SyntaxError::new(start, "pointers are not in the language").help(FORMS));
    }
    if input.is_word("impl") || input.is_word("dyn") {
        return Err(SyntaxError::new(start, "a parameter's type is named").help(FORMS));
    }
    if input.peek_group(Delimiter::Bracket).is_some()
        || input.peek_group(Delimiter::Parenthesis).is_some()
    {
        return Err(SyntaxError::new(start, "this is not a parameter's type").help(FORMS));
    }
    if !input.eat_op("&") {
        return parse_by_value(cx, input);
    }
    if input.is_char('\'') {
        return Err(SyntaxError::new(input.here(), "a kernel has no lifetimes")
            .help("write `&Tensor<T, [N]>`"));
    }
    let mutable = input.eat_word("mut");
    let amp = if mutable { "&mut " } else { "&" };
    if input.is_word("Tensor") {
        return parse_tensor(cx, input, TensorSpace::Global, mutable);
    }
    if input.is_word("Constant") {
        if mutable {
            return Err(SyntaxError::new(start.to(input.here()), "constant memory is read-only")
                .help("write `&Constant<T, [N]>`; what is written is a `&mut Tensor<T, [N]>`"));
        }
        return parse_tensor(cx, input, TensorSpace::Constant, mutable);
    }
    if input.peek_group(Delimiter::Bracket).is_some() {
        return Err(SyntaxError::new(start.to(input.here()), "a kernel takes tensors, not slices")
            .help(format!("write `{amp}Tensor<T, [N]>`")));
    }
    let ty = parse_scalar_type(cx, input, "`Tensor` after `&`")?;
    if let (TypeExprKind::Name(name), true) = (&ty.kind, input.is_char('<')) {
        let message = format!("there is no type `{}<…>`", name.text);
        let error = SyntaxError::new(cx.pair(name.span), message);
        return Err(match nearest(&name.text, ["Tensor", "Constant"]) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(FORMS),
        });
    }
    let at = start.to(input.last());
    let text = cx.pair(ty.span).start.source_text().unwrap_or_default();
    let error = SyntaxError::new(at, "only a tensor is passed by reference");
    Err(match text.is_empty() {
        true => error.help(FORMS),
        false => error.help(format!(
            "a scalar is passed by value, `{text}`; an array is a `{amp}Tensor<{text}, [N]>`"
        )),
    })
}

/// A scalar, or a tensor whose `&` was forgotten.
fn parse_by_value(cx: &mut Context, input: &mut Cursor<'_>) -> Result<ParamKind> {
    let start = input.here();
    if input.is_word("Tensor") {
        input.bump();
        return Err(SyntaxError::new(start, "a tensor is passed by reference")
            .help("write `&Tensor<T, [M, N]>` to read it, `&mut Tensor<T, [M, N]>` to write it"));
    }
    if input.is_word("Constant") {
        input.bump();
        return Err(SyntaxError::new(start, "a constant is passed by reference")
            .help("write `&Constant<T, [M, N]>`"));
    }
    let ty = parse_scalar_type(cx, input, "a type")?;
    if input.is_char('<') {
        return Err(SyntaxError::new(start, "this is not a parameter's type").help(FORMS));
    }
    Ok(ParamKind::Scalar { ty })
}

/// `Tensor<T, [M, K]>` or `Constant<T, [M, K]>`.
fn parse_tensor(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    space: TensorSpace,
    mutable: bool,
) -> Result<ParamKind> {
    let word = match space {
        TensorSpace::Global => "a tensor",
        TensorSpace::Constant => "a constant",
    };
    let form =
        format!("write `{}<T, [M, N]>`: the type of its elements and its shape", space.type_name());
    let start = input.here();
    input.bump();
    if !input.eat_char('<') {
        return Err(SyntaxError::new(start, format!("{word} needs its type and shape")).help(form));
    }
    let elem = parse_scalar_type(cx, input, &format!("the type of {word}'s elements"))?;
    if input.is_char('>') {
        let at = start.to(input.here());
        return Err(SyntaxError::new(at, format!("{word} needs its shape")).help(form));
    }
    if !input.eat_op(",") {
        return Err(input.expected("`,` after the type of the elements").help(form));
    }
    let Some(group) = input.eat_group(Delimiter::Bracket) else {
        return Err(input.expected("the shape, `[M, N]`").help(form));
    };
    let extents = parse_list(cx, &mut group.cursor())?;
    if extents.is_empty() {
        let message = format!("{word} has at least one dimension");
        return Err(SyntaxError::new(group.pair(), message).help(form));
    }
    input.eat_op(",");
    if !input.eat_char('>') {
        return Err(input.expected("`>` after the shape").help(form));
    }
    Ok(ParamKind::Tensor { space, mutable, elem, extents })
}
