//! Number literals.

use proc_macro2::Literal as Token;
use tile_ir::syntax::{Literal, Name};

use crate::context::Context;
use crate::error::SyntaxError;

/// A number as its text says, and whether a minus sign is part of the token
/// (only other macros make such tokens).
pub(crate) fn parse_number(
    cx: &mut Context,
    token: &Token,
) -> Result<(Literal, bool), SyntaxError> {
    let written = token.to_string();
    let (negative, text) = match written.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, written.as_str()),
    };
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(SyntaxError::new(
            token.span(),
            format!("{written} is not a number, and a kernel computes with numbers only"),
        ));
    }
    let mut suffix = |text: &str| {
        (!text.is_empty()).then(|| Name {
            text: text.trim_start_matches('_').to_owned(),
            span: cx.span(token.span()),
        })
    };
    let literal = match radix(text) {
        Some((radix, digits)) => {
            let end = digits.find(|c: char| c != '_' && !c.is_digit(radix)).unwrap_or(digits.len());
            Literal::Int {
                value: integer(token, &digits[..end], radix)?,
                suffix: suffix(&digits[end..]),
            }
        }
        None => {
            let (end, float) = decimal_end(text);
            let (digits, tail) = text.split_at(end);
            if float || matches!(tail, "f16" | "bf16" | "f32" | "f64") {
                let value = digits.replace('_', "").parse::<f64>();
                let too_large = || SyntaxError::new(token.span(), "this is not a number");
                Literal::Float { value: value.map_err(|_| too_large())?, suffix: suffix(tail) }
            } else {
                Literal::Int { value: integer(token, digits, 10)?, suffix: suffix(tail) }
            }
        }
    };
    Ok((literal, negative))
}

fn radix(text: &str) -> Option<(u32, &str)> {
    let digits = text.strip_prefix('0')?;
    let rest = digits.get(1..)?;
    Some(match digits.as_bytes().first()? {
        b'x' => (16, rest),
        b'o' => (8, rest),
        b'b' if !digits.starts_with("bf16") => (2, rest),
        _ => return None,
    })
}

/// Where the digits of a decimal number end and its suffix begins, and whether
/// it has a decimal point or an exponent.
fn decimal_end(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'_') {
            at += 1;
        }
        at
    };
    let (mut at, mut float) = (digits(0), false);
    if bytes.get(at) == Some(&b'.') {
        (at, float) = (digits(at + 1), true);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if bytes[at + 1 + sign..end].iter().any(u8::is_ascii_digit) {
            (at, float) = (end, true);
        }
    }
    (at, float)
}

fn integer(token: &Token, digits: &str, radix: u32) -> Result<u128, SyntaxError> {
    u128::from_str_radix(&digits.replace('_', ""), radix)
        .map_err(|_| SyntaxError::new(token.span(), "this integer is too large"))
}

/// The value of a string literal: `"…"` with escapes, or a raw one. `None` for
/// what is not a string.
pub(crate) fn string_value(written: &str) -> Option<String> {
    if let Some(raw) = written.strip_prefix('r') {
        return Some(raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let mut rest = written.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut value = String::new();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match rest.next()? {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            '0' => value.push('\0'),
            'u' => {
                let code: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                value.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)?);
            }
            other => value.push(other),
        }
    }
    Some(value)
}
