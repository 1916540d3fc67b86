//! Tokens and the cursor over them.
//!
//! Operators of several characters arrive from the compiler as single ones; the
//! cursor puts them together, longest first. A group without delimiters (what
//! `macro_rules!` makes of `$e:expr`) stays a group, which the expression parser
//! reads as parentheses, unless it holds a single token.

use proc_macro2::{Delimiter, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::error::{SpanPair, SyntaxError};

/// How deep groups may nest.
const MAX_GROUP_DEPTH: usize = 128;

/// Operators of more than one character, longer ones first.
const OPERATORS: [&str; 26] = [
    "<<=", ">>=", "..=", "...", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "<<", ">>", "..", "::", "->", "=>", "++", "--",
];

/// Operators of one character.
const SINGLE: [&str; 21] = [
    "+", "-", "*", "/", "%", "^", "!", "&", "|", "=", "<", ">", "@", ".", ",", ";", ":", "#", "$",
    "?", "~",
];

/// One token, or a group with what it encloses.
#[derive(Debug)]
pub(crate) enum Token {
    Ident(Ident),
    Punct { ch: char, joint: bool, span: Span },
    Literal(Literal),
    Group(Group),
}

/// Delimiters and what stands between them.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) delimiter: Delimiter,
    pub(crate) tokens: Vec<Token>,
    pub(crate) open: Span,
    pub(crate) close: Span,
}

impl Group {
    /// A cursor at the first token inside.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let closing = match self.delimiter {
            Delimiter::Parenthesis => "`)`",
            Delimiter::Brace => "`}`",
            Delimiter::Bracket => "`]`",
            Delimiter::None => "the end",
        };
        Cursor { rest: &self.tokens, last: self.open, end: self.close, closing }
    }

    /// The group as the compiler's tokens.
    pub(crate) fn to_tree(&self) -> proc_macro2::Group {
        let stream = self.tokens.iter().map(Token::to_tree).collect();
        let mut group = proc_macro2::Group::new(self.delimiter, stream);
        group.set_span(self.open);
        group
    }

    /// From the opening to the closing delimiter.
    pub(crate) fn pair(&self) -> SpanPair {
        SpanPair { start: self.open, end: self.close }
    }
}

/// Everything of a `tiled_kernel!` invocation.
pub(crate) fn read_tokens(stream: TokenStream, errors: &mut Vec<SyntaxError>) -> Group {
    let end = Span::call_site();
    let tokens = read_stream(stream, 0, errors);
    let close = tokens.last().map_or(end, |token| token.pair().end);
    Group { delimiter: Delimiter::None, tokens, open: end, close }
}

fn read_stream(stream: TokenStream, depth: usize, errors: &mut Vec<SyntaxError>) -> Vec<Token> {
    let mut tokens = Vec::new();
    for tree in stream {
        let token = match tree {
            TokenTree::Ident(ident) => Token::Ident(ident),
            TokenTree::Punct(punct) => Token::Punct {
                ch: punct.as_char(),
                joint: punct.spacing() == Spacing::Joint,
                span: punct.span(),
            },
            TokenTree::Literal(literal) => Token::Literal(literal),
            TokenTree::Group(group) => {
                let inner = if depth < MAX_GROUP_DEPTH {
                    read_stream(group.stream(), depth + 1, errors)
                } else {
                    errors.push(SyntaxError::new(group.span_open(), "this is nested too deep"));
                    Vec::new()
                };
                if group.delimiter() == Delimiter::None && inner.len() <= 1 {
                    tokens.extend(inner);
                    continue;
                }
                Token::Group(Group {
                    delimiter: group.delimiter(),
                    tokens: inner,
                    open: group.span_open(),
                    close: group.span_close(),
                })
            }
        };
        tokens.push(token);
    }
    tokens
}

impl Token {
    fn to_tree(&self) -> TokenTree {
        match self {
            Self::Ident(ident) => TokenTree::Ident(ident.clone()),
            Self::Punct { ch, joint, span } => {
                let spacing = if *joint { Spacing::Joint } else { Spacing::Alone };
                let mut punct = Punct::new(*ch, spacing);
                punct.set_span(*span);
                TokenTree::Punct(punct)
            }
            Self::Literal(literal) => TokenTree::Literal(literal.clone()),
            Self::Group(group) => TokenTree::Group(group.to_tree()),
        }
    }

    pub(crate) fn pair(&self) -> SpanPair {
        match self {
            Self::Ident(ident) => ident.span().into(),
            Self::Punct { span, .. } => (*span).into(),
            Self::Literal(literal) => literal.span().into(),
            Self::Group(group) => group.pair(),
        }
    }
}

/// A position among the tokens of one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    rest: &'t [Token],
    last: Span,
    end: Span,
    closing: &'static str,
}

impl<'t> Cursor<'t> {
    pub(crate) fn is_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn peek(&self) -> Option<&'t Token> {
        self.rest.first()
    }

    /// The last token that was taken; the opening delimiter before that.
    pub(crate) fn last(&self) -> Span {
        self.last
    }

    /// The next token's place; the closing delimiter where there is none.
    pub(crate) fn here(&self) -> SpanPair {
        match self.rest.first() {
            Some(Token::Group(group)) => group.open.into(),
            Some(token) => match self.peek_op() {
                Some(op) => SpanPair { start: token.pair().start, end: self.nth_end(op.len() - 1) },
                None => token.pair(),
            },
            None => self.end.into(),
        }
    }

    fn nth_end(&self, n: usize) -> Span {
        self.rest.get(n).map_or(self.end, |token| token.pair().end)
    }

    pub(crate) fn bump(&mut self) {
        if let Some((first, rest)) = self.rest.split_first() {
            self.last = first.pair().end;
            self.rest = rest;
        }
    }

    /// Whether the next token starts on a later line than the last one ended.
    pub(crate) fn at_new_line(&self) -> bool {
        self.rest.first().is_some_and(|token| {
            token.pair().start.start().line > self.last.end().line && self.last.end().line > 0
        })
    }

    /// The operator at the cursor, as long as it can be.
    pub(crate) fn peek_op(&self) -> Option<&'static str> {
        let Some(Token::Punct { ch, joint, .. }) = self.rest.first() else { return None };
        let starts = |op: &&str| op.starts_with(*ch);
        let longer = OPERATORS.iter().filter(|_| *joint);
        let mut longer = longer.filter(|op| starts(op) && self.has_chars(op));
        longer.next().or_else(|| SINGLE.iter().find(|op| starts(op))).copied()
    }

    fn has_chars(&self, op: &str) -> bool {
        let last = op.len() - 1;
        op.chars().enumerate().all(|(n, wanted)| {
            matches!(self.rest.get(n), Some(Token::Punct { ch, joint, .. })
                if *ch == wanted && (n == last || *joint))
        })
    }

    pub(crate) fn is_op(&self, op: &str) -> bool {
        op.starts_with(|first| self.is_char(first)) && self.peek_op() == Some(op)
    }

    /// Whether the next character is `ch`, part of a longer operator or not:
    /// for closing angle brackets.
    pub(crate) fn is_char(&self, wanted: char) -> bool {
        matches!(self.rest.first(), Some(Token::Punct { ch, .. }) if *ch == wanted)
    }

    /// Takes the operator if it is there.
    pub(crate) fn eat_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            for _ in 0..op.len() {
                self.bump();
            }
        }
        found
    }

    pub(crate) fn eat_char(&mut self, ch: char) -> bool {
        let found = self.is_char(ch);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn peek_ident(&self) -> Option<&'t Ident> {
        self.nth_ident(0)
    }

    pub(crate) fn nth_ident(&self, n: usize) -> Option<&'t Ident> {
        match self.rest.get(n) {
            Some(Token::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.peek_ident().is_some_and(|ident| ident == word)
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn peek_group(&self, delimiter: Delimiter) -> Option<&'t Group> {
        self.nth_group(0, delimiter)
    }

    pub(crate) fn nth_group(&self, n: usize, delimiter: Delimiter) -> Option<&'t Group> {
        match self.rest.get(n) {
            Some(Token::Group(group)) if group.delimiter == delimiter => Some(group),
            _ => None,
        }
    }

    pub(crate) fn eat_group(&mut self, delimiter: Delimiter) -> Option<&'t Group> {
        let group = self.peek_group(delimiter)?;
        self.bump();
        Some(group)
    }

    /// The tokens before the first one that `stops`, as a cursor of their own;
    /// `self` moves there.
    pub(crate) fn split_before(&mut self, stops: impl Fn(&Self) -> bool) -> Self {
        let mut inner = *self;
        while !self.is_end() && !stops(self) {
            self.bump();
        }
        let count = inner.rest.len() - self.rest.len();
        inner.rest = &inner.rest[..count];
        if let Some(next) = self.rest.first() {
            inner.end = match next {
                Token::Group(group) => group.open,
                other => other.pair().start,
            };
            inner.closing = match next {
                Token::Punct { ch: ',', .. } => "`,`",
                Token::Group(group) if group.delimiter == Delimiter::Brace => "`{`",
                _ => "the end",
            };
        }
        inner
    }

    /// What stands here, for a message: "found …".
    pub(crate) fn found(&self) -> String {
        match self.rest.first() {
            None => self.closing.to_owned(),
            Some(Token::Ident(ident)) => {
                let text = ident.to_string();
                match crate::words::is_keyword(&text) {
                    true => format!("the keyword `{text}`"),
                    false => format!("`{text}`"),
                }
            }
            Some(Token::Punct { ch, .. }) => match self.peek_op() {
                Some(op) => format!("`{op}`"),
                None => format!("`{ch}`"),
            },
            Some(Token::Literal(literal)) => format!("`{literal}`"),
            Some(Token::Group(group)) => match group.delimiter {
                Delimiter::Parenthesis => "`(`".to_owned(),
                Delimiter::Brace => "`{`".to_owned(),
                Delimiter::Bracket => "`[`".to_owned(),
                Delimiter::None => "an expression".to_owned(),
            },
        }
    }

    /// "expected …, found …" at the cursor.
    pub(crate) fn expected(&self, what: &str) -> SyntaxError {
        SyntaxError::new(self.here(), format!("expected {what}, found {}", self.found()))
    }

    pub(crate) fn expect_op(&mut self, op: &str, after: &str) -> Result<(), SyntaxError> {
        match self.eat_op(op) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{op}` after {after}"))),
        }
    }

    /// An error where something is left.
    pub(crate) fn expect_end(&self, what: &str) -> Result<(), SyntaxError> {
        match self.is_end() {
            true => Ok(()),
            false => Err(self.expected(what)),
        }
    }
}
