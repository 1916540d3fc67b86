//! Diagnostics: what is wrong with a kernel, in the user's words.
//!
//! A rule reports a [`Diagnostic`] with a [`Code`] of its own. The front end
//! maps its spans to the compiler's; this crate renders it for tests and tools.

mod code;
mod render;

pub use code::Code;
pub use render::render;

use crate::span::SpanId;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The kernel compiles.
    Warning,
    /// The kernel does not compile.
    Error,
}

/// A place with a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: SpanId,
    /// What is to be said of it; lower case, no final stop.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// Whether the kernel compiles.
    pub severity: Severity,
    /// What is wrong; lower case, no final stop, backticks round code.
    pub message: String,
    /// The smallest place to blame.
    pub primary: SpanId,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Facts: a witness, where a value comes from.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of rule `code` at `primary`.
    pub fn error(code: Code, primary: SpanId, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning of rule `code` at `primary`.
    pub fn warning(code: Code, primary: SpanId, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, primary, message) }
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn label(mut self, span: SpanId, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says how to mend it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Findings, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Whether a finding is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is no finding.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
