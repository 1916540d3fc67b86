//! What happens, on standard error, for programs that install no subscriber of their own.
//!
//! Everything is told by events of the crate `tracing`, which nobody sees unless the program
//! installs a subscriber. Where the environment variable `TILE_LOG` names a level, a small
//! one that prints lines is installed when the first device is opened, if there is none.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The environment variable that names the level.
pub(crate) const VARIABLE: &str = "TILE_LOG";

/// The crates whose events are shown.
const TARGETS: [&str; 2] = ["tile_runtime", "tile_ir"];

/// Shows events if the environment says so and nobody else does. The first call decides.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Ok(text) = std::env::var(VARIABLE) else { return };
        let (level, complaint) = match parse(&text) {
            Ok(level) => (level, None),
            Err(complaint) => (LevelFilter::WARN, Some(complaint)),
        };
        // Where there is a subscriber, it is the program's that counts.
        if level != LevelFilter::OFF
            && tracing::subscriber::set_global_default(Lines(level)).is_ok()
        {
            complaint.into_iter().for_each(|complaint| tracing::warn!("{complaint}"));
        }
    });
}

/// The level that a text names, or what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<LevelFilter, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "trace" => Ok(LevelFilter::TRACE),
        _ => Err(format!(
            "{VARIABLE} is `{text}`; it is off, error, warn, info, debug or trace: taken as warn"
        )),
    }
}

/// Prints a line for each event.
struct Lines(LevelFilter);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = TARGETS.iter().any(|target| {
            let rest = metadata.target().strip_prefix(target);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        });
        is_ours && *metadata.level() <= self.0
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0)
    }

    fn event(&self, event: &Event<'_>) {
        // Whoever has closed standard error wants none.
        let _ = writeln!(std::io::stderr().lock(), "{}", line(event));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// `tile-runtime warning: what has happened (kernel="add" seconds=0.5)`
fn line(event: &Event<'_>) -> String {
    let level = match *event.metadata().level() {
        tracing::Level::ERROR => "error",
        tracing::Level::WARN => "warning",
        tracing::Level::INFO => "info",
        tracing::Level::DEBUG => "debug",
        tracing::Level::TRACE => "trace",
    };
    let mut text = Text::default();
    event.record(&mut text);
    let Text { message, fields } = text;
    let fields = if fields.is_empty() { fields } else { format!(" ({})", fields.trim_start()) };
    format!("tile-runtime {level}: {message}{fields}")
}

/// An event's message, and its other fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a `String` does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! Keeps what is told.

    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn what_the_variable_may_say() {
        assert_eq!(parse(" Info "), Ok(LevelFilter::INFO));
        assert_eq!(parse(""), Ok(LevelFilter::OFF));
        let complaint = parse("loud").unwrap_err();
        assert!(complaint.starts_with("TILE_LOG is `loud`; it is off, error, warn"), "{complaint}");
    }

    /// Keeps lines in the place of printing them.
    struct Kept(Lines, Arc<Mutex<Vec<String>>>);

    impl Subscriber for Kept {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            self.0.enabled(metadata)
        }
        fn event(&self, event: &Event<'_>) {
            self.1.lock().unwrap().push(line(event));
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            self.0.new_span(span)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// What `body` gives, and the lines of its events in this thread.
    pub(crate) fn lines_of<T>(level: LevelFilter, body: impl FnOnce() -> T) -> (T, Vec<String>) {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Kept(Lines(level), lines.clone());
        let value = tracing::subscriber::with_default(kept, body);
        let lines = std::mem::take(&mut *lines.lock().unwrap());
        (value, lines)
    }

    #[test]
    fn events_of_ours_are_lines() {
        let ((), lines) = lines_of(LevelFilter::INFO, || {
            tracing::warn!(kernel = "add", seconds = 0.5, "it takes {}", "long");
            tracing::info!("done");
            tracing::debug!("not shown");
            tracing::warn!(target: "another_crate", "not shown");
            tracing::warn!(target: "tile_runtime_of_theirs", "not shown");
        });
        assert_eq!(
            lines,
            [
                "tile-runtime warning: it takes long (kernel=\"add\" seconds=0.5)",
                "tile-runtime info: done"
            ]
        );
    }
}
