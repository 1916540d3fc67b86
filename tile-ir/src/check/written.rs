//! A kernel as it stands: what is proved of it, and what is judged of it by runs then.

use std::collections::BTreeSet;

use super::initialised::{self, Facts, Reported};
use super::races::{self, Judged};
use super::{
    Checked, CheckedKernel, Folds, Refused, Report, Uniformity, agreed, assumed, bounds,
    divergence, flow, order, owned, pad, progress, redundant, rewritten, uniformity, unused,
};
use crate::diag::{Code, Diagnostic, Diagnostics, Severity};
use crate::exchange::Group;
use crate::kernel::{ArrayRef, Kernel, TileId};
use crate::solve::skeleton::{Effort, Findings, enumerate};
use crate::solve::symbolic::{EachSize, Proofs, Unproved, unproved_by_cases};

/// A kernel and what proofs for all sizes show of it.
pub(super) struct Written {
    /// What work-items agree on, the block decides.
    kernel: Kernel,
    /// As its author wrote it, if that is another.
    by_author: Option<Kernel>,
    uniform: Uniformity,
    folds: Folds,
    /// What is wrong with where work-items meet.
    meetings: Diagnostics,
    proofs: Proofs,
    /// The pairs of accesses that no proof covers.
    unproved: Vec<Unproved>,
    /// What a glance has shown, if one was needed.
    glance: Findings,
}

impl Written {
    /// Asks for proofs.
    pub(super) fn of(mut kernel: Kernel) -> Self {
        let mut folds = Folds::of(&kernel);
        let mut flow = flow_of(&kernel, &folds);
        let mut by_author = None;
        if !(flow.divergent.is_empty() && flow.not_uniform.is_empty())
            && let Some(agreed) = agreed::agreed(&kernel, &flow)
        {
            by_author = Some(std::mem::replace(&mut kernel, agreed));
            folds = Folds::of(&kernel);
            flow = flow_of(&kernel, &folds);
        }
        if !flow.divergent.is_empty() {
            flow = flow_by_lanes(&kernel, &folds);
        }
        let uniform = uniformity(&kernel);
        let mut meetings = Diagnostics::new();
        divergence::check_divergence(&kernel, &flow, &mut meetings);
        owned::check_owned(&kernel, &uniform, &flow, &mut meetings);
        // Of an array that collides for certain, more is asked when that is mended.
        let mut glance = None;
        let mut collided = || glance.insert(enumerate(&kernel, Effort::Glance)).collided();
        let mut proofs = Proofs::default();
        // Where not everybody reaches a barrier, a proof is of no use.
        let unproved = match meetings.has_errors() {
            true => Vec::new(),
            false => proofs.prove(&kernel, &uniform, &mut collided),
        };
        let unproved = rewritten::left(&kernel, unproved, &mut collided);
        let glance = glance.unwrap_or_default();
        Self { kernel, by_author, uniform, folds, meetings, proofs, unproved, glance }
    }

    /// Whether no proof covers what another spelling of this kernel has left `open`: of what runs
    /// show there, they show nothing else here.
    pub(super) fn stays_open(&mut self, open: &BTreeSet<ArrayRef>) -> bool {
        // There are proofs for each of these.
        if EachSize::of(&self.kernel, &self.uniform).are_many() {
            return false;
        }
        let is_asked = |found: &&Unproved| open.contains(&found.array);
        let asked: Vec<Unproved> = self.unproved.iter().filter(is_asked).copied().collect();
        let left = unproved_by_cases(&self.kernel, &self.uniform, &asked);
        self.unproved.retain(|found| !asked.contains(found) || left.contains(found));
        !left.is_empty()
    }

    /// Judges it.
    pub(super) fn judge(self, report: Report<'_>) -> Result<Checked, Box<Refused>> {
        let diverges = self.meetings.has_errors();
        let Self { kernel, by_author, uniform, folds, meetings: mut diags, .. } = self;
        let (proofs, unproved, glance) = (self.proofs, self.unproved, self.glance);
        progress::check_progress(&kernel, &mut diags);
        if let Report::All(_) | Report::IfRight = report {
            assumed::check_assumptions(&kernel, &uniform, &folds, &mut diags);
        }
        let is_proved = unproved.is_empty() && glance.collided().is_empty();
        let mut accesses = bounds::Accesses::of(&kernel);
        if is_proved {
            accesses.prove(&uniform);
        }
        let is_inside = accesses.all_stay();
        let facts = Facts::of(&kernel, &uniform, &folds);
        let unfilled = || match diverges {
            true => BTreeSet::new(),
            false => initialised::unfilled(&kernel, &facts),
        };
        let mut found = run(&kernel, is_proved, (&unfilled, is_inside));
        found.adopt(&glance);
        let stray = accesses.check(&found.strays, &mut diags);
        let (mut unwritten, mut reported) = (Diagnostics::new(), Reported::default());
        if !diverges {
            // Who has left early has written nothing: that is one mistake, not two.
            reported = initialised::check_initialised(
                &kernel,
                &facts,
                &found.fills,
                &stray,
                &mut unwritten,
            );
        }
        let mut rest = Diagnostics::new();
        if stray.is_empty() {
            // Elsewhere values pass through other elements than the text shows.
            check_pads((&kernel, &uniform), by_author.as_ref(), &mut rest);
        }
        // Where not everybody reaches a barrier, it is unknown what it separates.
        let judged = (!diverges).then(|| match report {
            Report::All(_) => races::check_races(&kernel, (found, unproved), &stray, &mut rest),
            Report::IfRight | Report::Verdict => races::judge_races(&kernel, (found, unproved)),
        });
        // What races in tiles decide is asked when they are mended.
        let races = rest.iter().any(|found| found.code == Code::SharedRace);
        let is_told = |found: &Diagnostic| !(races && reported.unshown.contains(&found.primary));
        let told = unwritten.into_iter().filter(is_told).chain(rest);
        told.for_each(|found| diags.push(found));
        // What is written another way may name less.
        if let Report::All(text) = report {
            unused::check_unused(text, &mut diags);
        }
        match judged {
            Some(Judged { verdict: Some(verdict), .. }) if !diags.has_errors() => {
                if let Report::All(_) | Report::IfRight = report {
                    redundant::check_redundant(&kernel, &uniform, proofs, &mut diags);
                }
                let warnings = diags.into_iter().collect();
                let order_independent = order::is_order_independent(&kernel);
                Ok(Checked {
                    kernel: CheckedKernel { kernel, verdict, order_independent },
                    warnings,
                })
            }
            judged => {
                let is_certain = reported.has_vars
                    || judged.as_ref().is_none_or(|judged| judged.collides)
                    || diags.iter().any(is_certain);
                let open = judged.map(|judged| judged.open).unwrap_or_default();
                let unfilled = reported.tiles;
                Err(Box::new(Refused { kernel, found: diags, is_certain, unfilled, open }))
            }
        }
    }
}

/// What running a kernel shows, of which it `is_proved` that nothing collides, or not;
/// `unfilled` gives the tiles of which the text does not show that they are filled.
fn run(
    kernel: &Kernel,
    is_proved: bool,
    (unfilled, is_inside): (&dyn Fn() -> BTreeSet<TileId>, bool),
) -> Findings {
    if is_proved {
        let unfilled = unfilled();
        // Nothing may be left for a run to show.
        return match unfilled.is_empty() && is_inside {
            true => Findings::default(),
            false => enumerate(kernel, Effort::Proved { unfilled: &unfilled, is_inside }),
        };
    }
    let mut found = enumerate(kernel, Effort::Full);
    // It may be of tensors alone that nothing is proved.
    if !found.may_collide_in_tiles() {
        let unfilled = unfilled();
        if !unfilled.is_empty() {
            found.fill(enumerate(kernel, Effort::Proved { unfilled: &unfilled, is_inside }));
        }
    }
    found
}

/// Where the work-items of a block, or of a warp, part.
pub(super) fn flow_of(kernel: &Kernel, folds: &Folds) -> flow::Flow {
    let fold = |condition| folds.get(condition);
    let mut flow = flow::analyse(kernel, &fold, Group::Block);
    flow.divergent.extend(flow::analyse(kernel, &fold, Group::Warp).divergent);
    flow
}

/// The same where more is asked of warps.
fn flow_by_lanes(kernel: &Kernel, folds: &Folds) -> flow::Flow {
    let fold = |condition| folds.get(condition);
    let mut flow = flow::analyse(kernel, &fold, Group::Block);
    flow.divergent.extend(flow::analyse_lanes(kernel, &fold).divergent);
    flow
}

/// Asks whether pads change a result: of a kernel of which the block decides what work-items
/// agree on, and, where that does not show it, of what was written, which does the same.
fn check_pads(
    (kernel, uniform): (&Kernel, &Uniformity),
    as_written: Option<&Kernel>,
    diags: &mut Diagnostics,
) {
    let mut found = Diagnostics::new();
    pad::check_pads(kernel, uniform, &mut found);
    if found.has_errors()
        && let Some(written) = as_written
    {
        let mut again = Diagnostics::new();
        pad::check_pads(written, &uniformity(written), &mut again);
        if !again.has_errors() {
            found = again;
        }
    }
    found.into_iter().for_each(|diagnostic| diags.push(diagnostic));
}

/// Whether a finding is an error that says of something that it is wrong; of races runs say it.
/// That a tile may be read before it is filled can still be disproved.
fn is_certain(found: &Diagnostic) -> bool {
    let may_be_right = matches!(
        found.code,
        Code::SharedRace
            | Code::GlobalRace
            | Code::BlockRace
            | Code::UndecidedRace
            | Code::PadChangesResult
            | Code::Uninitialised
    );
    found.severity == Severity::Error && !may_be_right
}
