//! What the checker says of random kernels, counted, and compared with what the oracle sees.

use tile_ir::diag::{Diagnostic, render};
use tile_ir::kernel::Kernel;

use super::run::Outcome;
use super::{Verdict, fault_where, is_confirmed, is_unwritten, verdict};

/// What was said of some kernels, counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) accepted: u32,
    pub(super) refuted: u32,
    /// Undecided, of those without a race and of those with one.
    pub(super) open: u32,
    pub(super) racy_open: u32,
    /// Left to other rules.
    pub(super) other: u32,
    /// With cells that nobody has written, and those of them where that was not seen.
    pub(super) unwritten: u32,
    pub(super) only_told: u32,
}

impl Tally {
    /// Of how many the races were judged.
    pub(super) fn told(&self) -> u32 {
        self.accepted + self.refuted + self.open + self.racy_open
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { accepted, refuted, open, racy_open, other, unwritten, only_told } = self;
        write!(
            f,
            "{accepted} accepted, {refuted} refuted, {open} undecided without a race, {racy_open} \
             with one, {other} left to other rules; {unwritten} with cells that nobody has \
             written, of which {only_told} could not be seen"
        )
    }
}

/// Launches in which a fault is looked for.
const LAUNCHES: u32 = 24;

/// A kernel that is judged.
pub(super) struct Judged<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) text: &'a str,
    /// Whether cells hold what was stored in them.
    pub(super) keeps: bool,
}

impl Judged<'_> {
    fn fault(&self, rng: &mut fastrand::Rng) -> Option<Outcome> {
        fault_where(self.kernel, rng, (LAUNCHES, self.keeps))
    }

    /// A finding as a user reads it, and the kernel.
    fn with(&self, found: &Diagnostic) -> String {
        render(found, &self.kernel.spans) + self.text
    }

    /// That it has no fault.
    fn assert_clean(&self, rng: &mut fastrand::Rng) {
        let fault = match self.fault(rng) {
            Some(Outcome::Race(race)) => format!("a race: {race}"),
            Some(Outcome::Unwritten(cell)) => format!("a cell that is not written: {cell}"),
            Some(Outcome::Parted) => "a barrier that not all pass".to_owned(),
            Some(Outcome::Clean | Outcome::Unfit) | None => return,
        };
        panic!("accepted with {fault}\n{}", self.text);
    }

    /// Whether a race is seen as it is told. What was stored may not be what the text of a
    /// finding supposes; else it must be.
    fn is_seen(&self, found: &Diagnostic, rng: &mut fastrand::Rng) -> bool {
        let is_seen = is_confirmed(self.kernel, found, rng, self.keeps);
        let may_be_unseen = self.keeps && found.message.starts_with("possible");
        assert!(is_seen || may_be_unseen, "{}", self.with(found));
        is_seen
    }
}

impl Tally {
    /// Counts what is said of a kernel; panics where the oracle contradicts it.
    pub(super) fn judge(&mut self, judged: &Judged<'_>, rng: &mut fastrand::Rng) {
        match verdict(judged.kernel) {
            Verdict::Accepted => {
                self.accepted += 1;
                judged.assert_clean(rng);
            }
            Verdict::Refuted(found) => match found.iter().all(|found| judged.is_seen(found, rng)) {
                true => self.refuted += 1,
                false => self.open += 1,
            },
            Verdict::Unwritten(found) => {
                self.unwritten += 1;
                for found in &found {
                    if !is_unwritten(judged.kernel, found, rng, judged.keeps) {
                        self.only_told += 1;
                        show_undecided(&format!("written\n{}", judged.with(found)));
                    }
                }
            }
            Verdict::Undecided(found) => match judged.fault(rng) {
                Some(Outcome::Race(_) | Outcome::Parted) => self.racy_open += 1,
                Some(Outcome::Clean | Outcome::Unwritten(_) | Outcome::Unfit) | None => {
                    self.open += 1;
                    show_undecided(&format!("undecided\n{found}{}", judged.text));
                }
            },
            Verdict::Other => self.other += 1,
        }
    }
}

fn show_undecided(text: &str) {
    if std::env::var("TILE_SHOW_UNDECIDED").is_ok() {
        show(text);
    }
}

#[expect(clippy::print_stdout, reason = "what is left undecided is read by whoever works on it")]
pub(super) fn show(text: &str) {
    println!("{text}");
}
