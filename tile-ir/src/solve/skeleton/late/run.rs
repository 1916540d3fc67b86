//! Runs in which late numbers are taken for any that they may come to.

use std::collections::BTreeSet;

use super::super::Pool;
use super::super::doubting::{ENOUGH, MIXED, MOST, Run};
use super::super::machine::Stop;
use super::super::passes::Runs;
use super::super::plan::Plan;
use super::super::sizes::Choice;
use super::super::spans::Spans;
use super::Late;

impl Runs<'_> {
    /// Runs few sizes so. Of these nothing counts but what is read unwritten; where none comes to
    /// its end, no tile counts as run.
    pub(in super::super) fn run_late(
        &mut self,
        (plan, choice): (&Plan<'_>, &Choice<'_>),
        late: &Late,
        pool: &Pool,
    ) {
        let kernel = self.kernel;
        let spans = Spans::of(kernel);
        let mut run_tiles = BTreeSet::new();
        let most = self.share(MOST);
        let mut fuel = most;
        for sizes in choice.with_mixed_data(MIXED) {
            let sizes = self.placing.at(sizes);
            let at = late.at(&spans, &sizes);
            let before = self.findings.clone();
            self.findings.fills.run.clear();
            let run = Run::of_late(&at, pool);
            let run = self.run_at(plan, &sizes, run, &mut fuel);
            let fills = std::mem::replace(&mut self.findings, before).fills;
            if run != Err(Stop::Excluded) {
                self.findings.fills.unwritten = fills.unwritten;
            }
            run_tiles.extend(fills.run);
            let is_ended = self.unfilled.is_subset(&run_tiles);
            if fuel == 0 || (is_ended && fuel < most - self.share(ENOUGH)) {
                break;
            }
        }
        self.findings.fills.run.retain(|tile| run_tiles.contains(tile));
    }
}
