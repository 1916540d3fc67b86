//! Whether a launch may measure, and what it does where nothing was measured.

use std::sync::OnceLock;
use std::time::Duration;

use tile_ir::config::Numerics;

use super::strategy::Strategy;

/// The environment variable that says what devices do where the program does not.
pub(crate) const VARIABLE: &str = "TILE_TUNE";

/// The time that `now` stands for where none is given.
const DEFAULT_BUDGET: Duration = Duration::from_secs(10);

/// Where a launch that leaves its configuration open takes it from.
///
/// Whatever it is, the results are the same: only configurations with exact
/// numerics are chosen among.
///
/// Given for one launch by [`crate::Options::tune`], for all launches on a device
/// by [`crate::Device::set_tune`], for all devices by the environment variable
/// `TILE_TUNE`: `off`, `cached`, `background`, `now`, `now:2.5s` or `now:500ms`. Where nobody
/// says anything it is [`Tune::Background`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tune {
    /// From the device's properties and the launch's shape, at once and without
    /// measuring, whatever has been measured before.
    Off,
    /// The best that was measured for this kernel, these element types, this class
    /// of shapes and this device, by this or an earlier process or in a record
    /// that was shipped ([`crate::Device::add_records`]); where nothing was, as
    /// [`Tune::Off`]. Never measures.
    Cached,
    /// As [`Tune::Cached`]; where nothing was measured yet, a thread of the device's
    /// searches while the program runs, and what it finds is used from then on and
    /// remembered.
    ///
    /// - It searches for a kernel, its types and a class of shapes once launches of
    ///   that kind have taken a second of device time, one after the other.
    /// - It takes at most a tenth of the device time that launches take, and at most a
    ///   twentieth of the device's free memory, for copies of the tensors of the launch
    ///   that was one too many; a launch whose tensors are larger is not searched for.
    /// - It measures where the device is idle, and never while launches are recorded in
    ///   a graph; a sample during which anything is launched does not count. On a device
    ///   that is never idle it finds nothing.
    /// - A kernel whose results depend on the order of its work-items is left alone, and
    ///   so are launches of which a configuration or other than exact numerics are given.
    ///   Tile sizes change only where results do not depend on them.
    /// - [`Tune::freeze`] ends it, and so does the end of the device's last handle,
    ///   which waits for it. A panic in it is logged, and ends it.
    ///
    /// On a CUDA device the first launch of a kernel, moreover, does not wait for a
    /// long compilation. It runs a variant that is compiled in a fraction of the time:
    /// valid for all shapes, with loops that are not written out. The one that is meant
    /// is compiled by another thread as soon as there is a second launch of the kind.
    #[default]
    Background,
    /// As [`Tune::Cached`]; where nothing was measured yet the launch first takes
    /// about so long to measure, and remembers what it finds.
    ///
    /// Candidates run on copies of the launch's mutable tensors, never on the
    /// tensors themselves. A kernel whose results depend on the order of its
    /// work-items ([`crate::ir::check::CheckedKernel::is_order_independent`]) is
    /// not measured: no candidate's result could be compared with another's.
    Now(Duration),
}

impl Tune {
    /// Ends all searching in the background, on all devices of this process and for
    /// good: when it returns, no launch changes its configuration any more. Variants
    /// that are being compiled are still put in place; they run in the configuration
    /// that was chosen.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::Tune;
    ///
    /// // Warmed up: from here on every step takes the same.
    /// Tune::freeze();
    /// ```
    pub fn freeze() {
        super::background::freeze();
    }

    /// What the environment says, read once per process.
    pub(crate) fn of_environment() -> Self {
        static FOUND: OnceLock<Tune> = OnceLock::new();
        *FOUND.get_or_init(|| match std::env::var(VARIABLE) {
            Err(_) => Self::default(),
            Ok(text) => Self::of_text(&text).unwrap_or_else(|complaint| {
                tracing::warn!("{complaint}");
                Self::default()
            }),
        })
    }

    /// What a text says, or what is wrong with it.
    pub(crate) fn of_text(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| {
            format!(
                "{VARIABLE} is `{text}`; it is off, cached, background, now, or now with a time as \
                 in now:2.5s: taken as background"
            )
        })
    }
}

/// How to search for the fastest configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneOptions {
    pub(crate) budget: Duration,
    pub(crate) strategy: Strategy,
    pub(crate) seed: u64,
    pub(crate) enough: f64,
    pub(crate) numerics: Numerics,
}

/// The fraction of the roofline that ends a search: memory gives no more than about
/// so much of its peak.
const ENOUGH: f64 = 0.92;

impl TuneOptions {
    /// A search of about so much wall time.
    pub fn new(budget: Duration) -> Self {
        let (strategy, numerics) = (Strategy::default(), Numerics::Exact);
        Self { budget, strategy, seed: 1, enough: ENOUGH, numerics }
    }

    /// In which order it goes through the configurations.
    #[must_use]
    pub fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// What random choices and made-up data are made from.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Lets the search try configurations that sum in another order, if `numerics` says
    /// so; what it finds is for launches that allow it too ([`crate::Options::numerics`]).
    ///
    /// Such a configuration's first result may differ from the default's by a part of
    /// the largest value in each tensor: 2^-40 in `f64`, 2^-14 in `f32`, 2^-9 in `f16`,
    /// 2^-6 in `bf16`; integers not at all.
    #[must_use]
    pub fn numerics(self, numerics: Numerics) -> Self {
        Self { numerics, ..self }
    }

    /// Ends the search at the first configuration that reaches this fraction of the
    /// device's roofline, 0.92 where nothing is said; above 1 never.
    #[must_use]
    pub fn enough(self, fraction: f64) -> Self {
        Self { enough: fraction, ..self }
    }
}

fn parse(text: &str) -> Option<Tune> {
    let text = text.trim().to_ascii_lowercase();
    match text.split_once(':') {
        None => match text.as_str() {
            "off" => Some(Tune::Off),
            "cached" => Some(Tune::Cached),
            "" | "background" => Some(Tune::Background),
            "now" => Some(Tune::Now(DEFAULT_BUDGET)),
            _ => None,
        },
        Some(("now", budget)) => parse_duration(budget).map(Tune::Now),
        Some(_) => None,
    }
}

/// `500ms`, `2.5s`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit_s) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok()? * unit_s;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_variable_may_say() {
        let now = |ms| Some(Tune::Now(Duration::from_millis(ms)));
        let cases = [
            ("off", Some(Tune::Off)),
            ("Cached", Some(Tune::Cached)),
            ("", Some(Tune::Background)),
            ("background", Some(Tune::Background)),
            ("now", now(10_000)),
            ("now:2.5s", now(2500)),
            (" now:500ms ", now(500)),
            ("now:", None),
            ("now:fast", None),
            ("now:-1s", None),
            ("now:1h", None),
            ("always", None),
            ("off:1s", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "`{text}`");
        }
    }
}
