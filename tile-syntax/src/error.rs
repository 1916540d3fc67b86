//! What is wrong with a text, and where.

use std::fmt;

use proc_macro2::Span;
use tile_ir::diag::Code;
use tile_ir::span::SourceRange;

/// A place in the user's source: its first and its last token.
///
/// Stable compilers do not join spans, but an error that starts at one token
/// and ends at another underlines everything between them.
#[derive(Clone, Copy, Debug)]
pub struct SpanPair {
    /// The first token.
    pub start: Span,
    /// The last token.
    pub end: Span,
}

impl SpanPair {
    /// From the first token of `self` to the last of `other`.
    #[must_use]
    pub fn to(self, other: impl Into<Self>) -> Self {
        Self { start: self.start, end: other.into().end }
    }

    /// Lines and columns, as the IR keeps them.
    pub fn range(self) -> SourceRange {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let (start, end) = (self.start.start(), self.end.end());
        SourceRange {
            line: number(start.line),
            column: number(start.column),
            end_line: number(end.line),
            end_column: number(end.column),
        }
    }
}

impl From<Span> for SpanPair {
    fn from(span: Span) -> Self {
        Self { start: span, end: span }
    }
}

/// One mistake in the form of a kernel.
#[derive(Clone, Debug)]
pub struct SyntaxError {
    /// The rule: [`Code::Syntax`], or [`Code::DuplicateName`] of kernels.
    pub code: Code,
    /// The tokens to blame.
    pub at: SpanPair,
    /// What is wrong; lower case, no final stop, backticks round code.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(at: impl Into<SpanPair>, message: impl Into<String>) -> Self {
        Self { code: Code::Syntax, at: at.into(), message: message.into(), help: None }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = self.at.range();
        write!(f, "{}:{}: {}", range.line, range.column + 1, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SyntaxError {}

/// All mistakes in a text; at least one.
#[derive(Clone, Debug)]
pub struct SyntaxErrors {
    list: Vec<SyntaxError>,
}

impl SyntaxErrors {
    pub(crate) fn new(list: Vec<SyntaxError>) -> Self {
        Self { list }
    }

    /// The mistakes, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, SyntaxError> {
        self.list.iter()
    }
}

impl From<SyntaxError> for SyntaxErrors {
    fn from(error: SyntaxError) -> Self {
        Self { list: vec![error] }
    }
}

impl fmt::Display for SyntaxErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.list.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SyntaxErrors {}
