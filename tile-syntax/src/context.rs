//! What the parser of one kernel collects: places and mistakes.

use proc_macro2::Span;
use tile_ir::span::{SpanId, SpanTable};
use tile_ir::syntax::Name;

use crate::error::{SpanPair, SyntaxError};
use crate::token::Cursor;
use crate::words;

/// How deep expressions and blocks may nest.
const MAX_DEPTH: u32 = 96;

/// How many operators one expression may hold: later phases walk it recursively.
const MAX_OPERATORS: u32 = 1000;

/// The state of the parser of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) table: SpanTable,
    pub(crate) pairs: Vec<SpanPair>,
    pub(crate) errors: Vec<SyntaxError>,
    depth: u32,
    operators: u32,
}

impl Context {
    /// A new place of the kernel.
    pub(crate) fn span(&mut self, at: impl Into<SpanPair>) -> SpanId {
        let pair = at.into();
        self.pairs.push(pair);
        self.table.push(pair.range())
    }

    /// The tokens of a place made by [`Self::span`].
    pub(crate) fn pair(&self, span: SpanId) -> SpanPair {
        use tile_ir::arena::EntityId as _;
        self.pairs.get(span.index()).copied().unwrap_or_else(|| Span::call_site().into())
    }

    /// From the start of `start` to the last token taken.
    pub(crate) fn span_to_last(&mut self, start: SpanPair, input: &Cursor<'_>) -> SpanId {
        self.span(start.to(input.last()))
    }

    /// Keeps the mistake and gives the value that stands in, if any.
    pub(crate) fn report<T>(&mut self, result: Result<T, SyntaxError>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    /// A name that the author gives or uses; `what` completes "expected …".
    pub(crate) fn name(&mut self, input: &mut Cursor<'_>, what: &str) -> Result<Name, SyntaxError> {
        let Some(ident) = input.peek_ident() else { return Err(input.expected(what)) };
        let written = ident.to_string();
        if words::is_keyword(&written) {
            return Err(input.expected(what));
        }
        if let Some(meaning) = words::statement_word(&written) {
            return Err(SyntaxError::new(
                ident.span(),
                format!("`{written}` is a word of the language and cannot be a name"),
            )
            .help(meaning));
        }
        input.bump();
        let text = written.strip_prefix("r#").unwrap_or(&written).to_owned();
        Ok(Name { text, span: self.span(ident.span()) })
    }

    /// Runs `parse` one level deeper.
    pub(crate) fn nested<T>(
        &mut self,
        at: SpanPair,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth >= MAX_DEPTH {
            return Err(SyntaxError::new(at, "this is nested too deep"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts one operator of the expression that is being parsed.
    pub(crate) fn count_operator(&mut self, at: SpanPair) -> Result<(), SyntaxError> {
        self.operators += 1;
        match self.operators <= MAX_OPERATORS {
            true => Ok(()),
            false => Err(SyntaxError::new(
                at,
                format!("this statement has more than {MAX_OPERATORS} operators"),
            )
            .help("name its parts with `let`")),
        }
    }

    /// A new statement begins.
    pub(crate) fn reset_operators(&mut self) {
        self.operators = 0;
    }
}
