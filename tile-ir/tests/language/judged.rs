//! A kernel's text as the checker judges it: its errors, and the time that it took.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::diag::{Diagnostic, Severity, render};
use tile_ir::resolve::resolve_kernel;

/// What is said of a text.
pub(crate) enum Judged {
    /// It is none of the language's, for these reasons.
    Syntax(String),
    Kernel(Box<Judgement>),
}

/// What is said of a kernel.
pub(crate) struct Judgement {
    /// Its errors, each with its line and as a user reads it.
    pub(crate) errors: Vec<(u32, Diagnostic, String)>,
    /// What the check alone has run.
    pub(crate) took: Duration,
    /// The kernel, where it is accepted.
    pub(crate) checked: Option<CheckedKernel>,
}

impl Judged {
    /// The codes of the errors.
    pub(crate) fn codes(&self) -> BTreeSet<&'static str> {
        match self {
            Self::Syntax(_) => BTreeSet::from(["syntax"]),
            Self::Kernel(kernel) => {
                kernel.errors.iter().map(|(_, error, _)| error.code.text()).collect()
            }
        }
    }

    /// The errors as a user reads them.
    pub(crate) fn errors(&self) -> String {
        match self {
            Self::Syntax(errors) => errors.clone(),
            Self::Kernel(kernel) => {
                kernel.errors.iter().map(|(_, _, text)| text.as_str()).collect()
            }
        }
    }

    /// What is said of the kernel, if the text is one.
    pub(crate) fn kernel(&self) -> Option<&Judgement> {
        match self {
            Self::Syntax(_) => None,
            Self::Kernel(kernel) => Some(kernel),
        }
    }
}

/// What this thread has run so far, where the system tells; else the time of day,
/// in which other programs have their part.
pub(crate) fn spent(since: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// Judges `text`.
pub(crate) fn judge(text: &str) -> Judged {
    let item = match tile_syntax::parse_kernel_text(text) {
        Ok(item) => item,
        Err(errors) => return Judged::Syntax(errors.to_string()),
    };
    let resolved = resolve_kernel(&item);
    let since = Instant::now();
    let before = spent(since);
    let checked = resolved.and_then(check_kernel);
    let took = spent(since).saturating_sub(before);
    let (checked, found) = match checked {
        Ok(checked) => (Some(checked.kernel), Vec::new()),
        Err(found) => (None, found.into_iter().collect()),
    };
    let errors = found.into_iter();
    let errors = errors.filter(|error| error.severity == Severity::Error);
    let placed = |error: Diagnostic| {
        let text = render(&error, &item.spans);
        (item.spans.range(error.primary).line, error, text)
    };
    let errors = errors.map(placed).collect();
    Judged::Kernel(Box::new(Judgement { errors, took, checked }))
}
