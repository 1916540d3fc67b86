//! The header: `where tile: (…), grid: (…), block: (…)`, in any order.

use proc_macro2::Delimiter;
use tile_ir::resolve::nearest;
use tile_ir::syntax::{BlockAxis, Expr, GridAxis, Name, TileConstraint, TileDomain, TileParam};

use crate::context::Context;
use crate::error::SyntaxError;
use crate::expr::{parse_expr, parse_list};
use crate::token::Cursor;

type Result<T> = std::result::Result<T, SyntaxError>;

/// What a header says.
#[derive(Debug, Default)]
pub(crate) struct Header {
    pub(crate) tiles: Vec<TileParam>,
    pub(crate) constraints: Vec<TileConstraint>,
    pub(crate) grid: Vec<GridAxis>,
    pub(crate) block: Vec<BlockAxis>,
}

const FORM: &str = "write `tile: (TM, TN), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN)`";

/// The entries of a header, to the end of `input`. Mistakes go to `cx`.
pub(crate) fn parse_header(cx: &mut Context, mut input: Cursor<'_>) -> Header {
    let mut header = Header::default();
    let mut seen: Vec<String> = Vec::new();
    while !input.is_end() {
        let result = parse_entry(cx, &mut input, &mut header, &mut seen);
        let result = result.and_then(|()| match input.is_end() || input.is_op(",") {
            true => Ok(()),
            false => Err(input.expected("`,` or the body in braces").help(FORM)),
        });
        if cx.report(result).is_none() {
            input.split_before(|cursor| cursor.is_op(","));
        }
        input.eat_op(",");
    }
    header
}

fn parse_entry(
    cx: &mut Context,
    input: &mut Cursor<'_>,
    header: &mut Header,
    seen: &mut Vec<String>,
) -> Result<()> {
    let at = input.here();
    let Some(key) = input.peek_ident().map(ToString::to_string) else {
        return Err(input.expected("`tile`, `grid` or `block`").help(FORM));
    };
    input.bump();
    if !matches!(key.as_str(), "tile" | "grid" | "block") {
        let error = SyntaxError::new(at, format!("a header has no `{key}`"));
        let bound = input.is_op(":");
        let compared = ["==", "!=", "<=", ">=", "<", ">", "%", "*", "+", "-", "/"];
        let is_constraint = compared.into_iter().any(|op| input.is_op(op));
        input.split_before(|cursor| cursor.is_op(","));
        return Err(match (bound, seen.last()) {
            (true, _) if key.starts_with(char::is_uppercase) => error.help(format!(
                "the bound of a type parameter stands where it is declared: `<{key}: Number>`"
            )),
            (false, _) if is_constraint => error.help(
                "a constraint on tile sizes stands among them: `tile: (TY, TX, TX % TY == 0)`",
            ),
            (false, Some(last)) => {
                error.help(format!("several entries stand in parentheses: `{last}: (…, {key})`"))
            }
            _ => error.help(match nearest(&key, ["tile", "grid", "block"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "it has `tile`, `grid` and `block`".to_owned(),
            }),
        });
    }
    if seen.contains(&key) {
        input.split_before(|cursor| cursor.is_op(","));
        return Err(SyntaxError::new(at, format!("`{key}` is given twice"))
            .help("put all of it between one pair of parentheses"));
    }
    let form = match key.as_str() {
        "tile" => "write `tile: (TM, TN)`",
        "grid" => "write `grid: (by in tiles(M, TM), bx in tiles(N, TN))`",
        _ => "write `block: (ty in TM, tx in TN)`",
    };
    if !input.eat_op(":") {
        return Err(input.expected(&format!("`:` after `{key}`")).help(form));
    }
    let mut inner = match input.eat_group(Delimiter::Parenthesis) {
        Some(group) => group.cursor(),
        None if input.peek_ident().is_some() => input.split_before(|cursor| cursor.is_op(",")),
        None => return Err(input.expected(&format!("`(` after `{key}:`")).help(form)),
    };
    if inner.is_end() {
        return Err(inner
            .expected(&format!("at least one entry under `{key}`"))
            .help(format!("{form}, or leave out `{key}`")));
    }
    while !inner.is_end() {
        let entry = match key.as_str() {
            "tile" => parse_tile(cx, &mut inner, header),
            "grid" => parse_axis(cx, &mut inner, "grid")
                .map(|(name, extent)| header.grid.push(GridAxis { name, extent })),
            _ => parse_axis(cx, &mut inner, "block")
                .map(|(name, extent)| header.block.push(BlockAxis { name, extent })),
        };
        let entry = entry.and_then(|()| match inner.is_end() || inner.is_op(",") {
            true => Ok(()),
            false => Err(inner.expected("`,` or `)`").help(form)),
        });
        if cx.report(entry).is_none() {
            inner.split_before(|cursor| cursor.is_op(","));
        }
        inner.eat_op(",");
    }
    seen.push(key);
    Ok(())
}

/// `by in tiles(M, TM)`, `ty in TM`.
fn parse_axis(cx: &mut Context, input: &mut Cursor<'_>, key: &str) -> Result<(Name, Expr)> {
    let form = match key {
        "grid" => "write `bx in tiles(N, TN)`: a name and the number of blocks",
        _ => "write `tx in TN`: a name and the number of work-items",
    };
    let name = cx.name(input, "an axis's name")?;
    if input.is_end() || input.is_op(",") {
        let at = cx.pair(name.span);
        return Err(
            SyntaxError::new(at, format!("the axis `{}` needs its extent", name.text)).help(form)
        );
    }
    if !input.eat_word("in") {
        return Err(input.expected(&format!("`in` after `{}`", name.text)).help(form));
    }
    let extent = parse_expr(cx, input)?;
    if input.is_op("..") || input.is_op("..=") {
        return Err(
            SyntaxError::new(input.here(), "an axis runs from 0 and takes its extent").help(form)
        );
    }
    Ok((name, extent))
}

/// A tile parameter with its domain, or a constraint.
fn parse_tile(cx: &mut Context, input: &mut Cursor<'_>, header: &mut Header) -> Result<()> {
    let mut after = *input;
    after.bump();
    let declares = input.peek_ident().is_some()
        && (after.is_end()
            || after.is_op(",")
            || after.is_op("=")
            || after.is_op(":")
            || after.is_word("in"));
    if !declares {
        if !matches!(input.peek(), Some(crate::token::Token::Ident(_)))
            && input.peek_group(Delimiter::Parenthesis).is_none()
        {
            return Err(input.expected("a tile parameter's name").help(
                "name it and fix its value: `tile: (TM = 16)`; or leave the choice: `tile: (TM)`",
            ));
        }
        let cond = parse_expr(cx, input)?;
        header.constraints.push(TileConstraint { cond });
        return Ok(());
    }
    let name = cx.name(input, "a tile parameter's name")?;
    let domain = if input.eat_op("=") {
        TileDomain::Equal(parse_expr(cx, input)?)
    } else if input.is_op(":") {
        return Err(SyntaxError::new(input.here(), "a tile parameter has no type")
            .help("write `TM`, or `TM in 16..=256 step 16`"));
    } else if input.eat_word("in") {
        parse_domain(cx, input)?
    } else {
        TileDomain::Any
    };
    header.tiles.push(TileParam { name, domain });
    Ok(())
}

const DOMAINS: &str = "write `TM in 16..=256 step 16`, `TM in pow2(32..=256)` or `TM in [64, 128]`";

fn parse_domain(cx: &mut Context, input: &mut Cursor<'_>) -> Result<TileDomain> {
    if let Some(group) = input.eat_group(Delimiter::Bracket) {
        let list = parse_list(cx, &mut group.cursor())?;
        if list.is_empty() {
            return Err(SyntaxError::new(group.pair(), "this list admits no size").help(DOMAINS));
        }
        return Ok(TileDomain::List(list));
    }
    if input.is_word("pow2") {
        let at = input.here();
        input.bump();
        let Some(group) = input.eat_group(Delimiter::Parenthesis) else {
            return Err(SyntaxError::new(at, "`pow2` needs its range").help(DOMAINS));
        };
        let mut inner = group.cursor();
        let (min, max) = parse_bounds(cx, &mut inner)?;
        inner.expect_end("`)`")?;
        return Ok(TileDomain::Pow2 { min, max });
    }
    if let Some(group) = input.peek_group(Delimiter::Parenthesis) {
        let mut after = *input;
        after.bump();
        if after.eat_op(".") {
            *input = after;
            let mut inner = group.cursor();
            let (min, max) = parse_bounds(cx, &mut inner)?;
            inner.expect_end("`)`")?;
            let step = input.eat_word("step_by");
            let argument = input.peek_group(Delimiter::Parenthesis).filter(|_| step);
            let Some(argument) = argument else {
                return Err(input.expected("`step_by(…)`").help(DOMAINS));
            };
            input.bump();
            let mut inner = argument.cursor();
            let step = parse_expr(cx, &mut inner)?;
            inner.expect_end("`)`")?;
            return Ok(TileDomain::Range { min, max, step: Some(step) });
        }
    }
    let (min, max) = parse_bounds(cx, input)?;
    let step = match input.eat_word("step") {
        true => Some(parse_expr(cx, input)?),
        false => None,
    };
    Ok(TileDomain::Range { min, max, step })
}

fn parse_bounds(cx: &mut Context, input: &mut Cursor<'_>) -> Result<(Expr, Expr)> {
    let min = parse_expr(cx, input)?;
    if input.is_op("..") {
        return Err(SyntaxError::new(input.here(), "sizes are given with both ends included")
            .help("write `16..=256`"));
    }
    if !input.eat_op("..=") {
        return Err(input.expected("`..=` and the largest size").help(DOMAINS));
    }
    Ok((min, parse_expr(cx, input)?))
}
