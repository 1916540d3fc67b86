//! The type parameters of a kernel.

use tile_ir::dtype::Bound;
use tile_ir::syntax::{Name, TypeParam};

use crate::context::Context;
use crate::error::SyntaxError;
use crate::token::{Cursor, Token};

type Result<T> = std::result::Result<T, SyntaxError>;

const BOUNDS: &str = "the bounds are `Element`, `Number`, `Float` and `Integer`";

/// `<T: Number, …>` if it is there. Mistakes go to `cx`; a parameter whose bound
/// is wrong is kept as an `Element`.
pub(crate) fn parse_generics(cx: &mut Context, input: &mut Cursor<'_>) -> Vec<TypeParam> {
    let mut list = Vec::new();
    if !input.eat_char('<') {
        return list;
    }
    let mistakes = cx.errors.len();
    while !input.is_end() && !input.is_char('>') {
        let name = parse_name(cx, input);
        if let Some(name) = cx.report(name) {
            let bound = parse_bound(cx, input, &name);
            let bound = cx.report(bound).unwrap_or(Bound::Element);
            list.push(TypeParam { name, bound });
        }
        skip_parameter(input);
        if !input.eat_op(",") {
            break;
        }
    }
    if !input.eat_char('>') && cx.errors.len() == mistakes {
        let error = input.expected("`>` after the type parameters");
        cx.errors.push(error);
    }
    list
}

fn parse_name(cx: &mut Context, input: &mut Cursor<'_>) -> Result<Name> {
    if input.is_char('\'') {
        return Err(SyntaxError::new(input.here(), "a kernel has no lifetimes")
            .help("leave them out: `&Tensor<T, [N]>`"));
    }
    if input.is_word("const") {
        return Err(SyntaxError::new(input.here(), "a kernel has no `const` parameters")
            .help("a compile-time integer is a tile parameter: `where tile: (N)`"));
    }
    cx.name(input, "a type parameter's name")
}

fn parse_bound(cx: &mut Context, input: &mut Cursor<'_>, name: &Name) -> Result<Bound> {
    if !input.eat_op(":") {
        let at = cx.pair(name.span);
        return Err(SyntaxError::new(
            at,
            format!("the type parameter `{}` needs a bound", name.text),
        )
        .help(format!("write `{}: Number`; {BOUNDS}", name.text)));
    }
    let Some(ident) = input.peek_ident() else {
        return Err(input.expected("a bound").help(BOUNDS));
    };
    let Some(bound) = Bound::from_name(&ident.to_string()) else {
        return Err(SyntaxError::new(
            ident.span(),
            format!("`{ident}` is not a bound of the language"),
        )
        .help(BOUNDS));
    };
    input.bump();
    if input.is_op("+") {
        return Err(SyntaxError::new(input.here(), "a type parameter has one bound").help(BOUNDS));
    }
    if input.is_op("=") {
        return Err(SyntaxError::new(input.here(), "a type parameter has no default"));
    }
    if !(input.is_char('>') || input.is_op(",")) {
        return Err(input.expected("`,` or `>` after the bound"));
    }
    Ok(bound)
}

/// Moves to the `,` or `>` that ends a parameter.
fn skip_parameter(input: &mut Cursor<'_>) {
    let mut open = 0_u32;
    while let Some(token) = input.peek() {
        match token {
            Token::Punct { ch: '<', .. } => open += 1,
            Token::Punct { ch: '>', .. } if open == 0 => return,
            Token::Punct { ch: '>', .. } => open -= 1,
            Token::Punct { ch: ',', .. } if open == 0 => return,
            // Past the signature: the list was never closed.
            Token::Group(_) => return,
            Token::Punct { .. } | Token::Ident(_) | Token::Literal(_) => {}
        }
        input.bump();
    }
}
