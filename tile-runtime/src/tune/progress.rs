//! A search that somebody waits for, shown on the terminal; where standard error is
//! none, nothing is shown.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tile_ir::config::Config;

use super::measure::{Made, Measure};
use super::record::Clocks;
use super::report::Reason;
use crate::error::Result;

/// How often a second the line is drawn at the most.
const DRAWS_PER_SECOND: u8 = 10;
/// The line, of a budget and of none.
const WITH_BUDGET: &str = "tuning {prefix} {bar:24} {elapsed} of {len}, {msg}";
const WITHOUT: &str = "tuning {prefix} {elapsed}, {msg}";

/// Measures, and shows how far it has come.
pub(crate) struct Shown<'a> {
    measure: &'a mut dyn Measure,
    bar: ProgressBar,
    /// Configurations that were made ready.
    n_ready: usize,
    /// Seconds of the quickest launch so far.
    best: f64,
}

impl<'a> Shown<'a> {
    /// A search for `kernel` of so much time, on standard error.
    pub(crate) fn new(measure: &'a mut dyn Measure, kernel: &str, budget: Duration) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
        Self::on(target, measure, kernel, budget)
    }

    fn on(
        target: ProgressDrawTarget,
        measure: &'a mut dyn Measure,
        kernel: &str,
        budget: Duration,
    ) -> Self {
        let has_budget = budget < Duration::MAX;
        let length = has_budget.then(|| budget.as_millis().try_into().unwrap_or(u64::MAX));
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) =
            ProgressStyle::with_template(if has_budget { WITH_BUDGET } else { WITHOUT })
        {
            let seconds = |state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write| {
                // A terminal that is gone is not the search's concern.
                let _ = write!(text, "{} s", state.len().unwrap_or(0) / 1000);
            };
            bar.set_style(style.with_key("len", seconds));
        }
        bar.set_prefix(format!("`{kernel}`"));
        Self { measure, bar, n_ready: 0, best: f64::INFINITY }
    }

    fn show(&self, doing: &str) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(self.measure.elapsed().as_millis().try_into().unwrap_or(u64::MAX));
        let best = match self.best.is_finite() {
            true => format!(", best {:.1} us", self.best * 1e6),
            false => String::new(),
        };
        self.bar.set_message(format!("{doing}; {} configurations{best}", self.n_ready));
    }
}

impl Measure for Shown<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        self.show(&format!("compiling {}", configs.len()));
        let prepared = self.measure.prepare(configs)?;
        self.n_ready += prepared.iter().filter(|(_, one)| one.is_ok()).count();
        Ok(prepared)
    }

    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>> {
        self.show("measuring");
        self.measure.first_run(config)
    }

    fn round(&mut self, config: &Config, launches: usize) -> Result<f64> {
        self.show("measuring");
        let seconds = self.measure.round(config, launches)?;
        self.best = self.best.min(seconds);
        Ok(seconds)
    }

    fn clocks(&self) -> Option<Clocks> {
        self.measure.clocks()
    }

    fn elapsed(&self) -> Duration {
        self.measure.elapsed()
    }

    fn width(&self) -> usize {
        self.measure.width()
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::super::measure::Prepared;
    use super::*;

    /// Everything takes a millisecond.
    struct Even;

    impl Measure for Even {
        fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
            Ok(configs.iter().map(|config| (config.clone(), Ok(Prepared::default()))).collect())
        }

        fn first_run(&mut self, _config: &Config) -> Result<Result<f64, Reason>> {
            Ok(Ok(1e-3))
        }

        fn round(&mut self, _config: &Config, _launches: usize) -> Result<f64> {
            Ok(1e-3)
        }

        fn clocks(&self) -> Option<Clocks> {
            None
        }
        fn elapsed(&self) -> Duration {
            Duration::from_secs(3)
        }

        fn width(&self) -> usize {
            1
        }
    }

    fn shown(target: ProgressDrawTarget, look: &dyn Fn()) -> usize {
        let mut even = Even;
        let mut shown = Shown::on(target, &mut even, "matmul", Duration::from_secs(10));
        let config = Config::plain(vec![16], Vec::new());
        shown.prepare(&[config.clone(), config.clone()]).unwrap().len();
        shown.round(&config, 1).unwrap();
        shown.round(&config, 1).unwrap();
        look();
        shown.n_ready
    }

    #[test]
    fn a_terminal_shows_how_far_a_search_has_come_and_then_nothing() {
        let terminal = InMemoryTerm::new(10, 100);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        shown(target, &|| {
            let line = terminal.contents();
            assert!(line.contains("tuning `matmul`") && line.contains("of 10 s"), "{line}");
            assert!(line.contains("measuring; 2 configurations, best 1000.0 us"), "{line}");
        });
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn what_is_no_terminal_shows_nothing_and_all_is_measured() {
        assert_eq!(shown(ProgressDrawTarget::hidden(), &|| ()), 2);
    }
}
