//! The checks: what must hold of a kernel, for all admissible tile sizes.

mod agreed;
mod anew;
mod assigned;
mod assumed;
mod bounds;
mod counted;
mod cursors;
mod divergence;
mod each_way;
mod ending;
mod exact;
mod flagged;
mod flow;
mod fold;
mod initialised;
pub(crate) mod interval;
mod left_by;
mod narrow;
mod ones;
mod order;
mod owned;
mod pad;
mod points;
mod poly;
mod precondition;
mod progress;
mod races;
mod ranks;
mod redundant;
mod rewritten;
mod sample;
mod some_rounds;
mod spelling;
mod steady;
mod stepped;
mod strided;
mod taken;
mod unchecked;
mod uniform;
mod unused;
mod warp;

pub(crate) use assigned::assigned_in;
pub(crate) use assumed::Origins;
pub(crate) use ending::{Way, ends_of};
pub use exact::Exact;
pub(crate) use fold::Folds;
pub use interval::Range;
pub use narrow::piece;
pub(crate) use narrow::{MAX_NARROW_ITEMS, narrows};
pub(crate) use precondition::with_values;
pub use precondition::{broken_precondition, preconditions};
pub(crate) use precondition::{few_values, spans_of_launch};
pub(crate) use stepped::step_in;
pub use unchecked::UncheckedKernel;
pub use uniform::{Uniformity, uniformity};
pub(crate) use uniform::{WrittenTensors, launched_vars, range_exprs};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::diag::{Code, Diagnostic, Diagnostics, Severity};
use crate::exchange::Group;
use crate::kernel::{Kernel, TileId};
use crate::solve::skeleton::{Effort, Findings, enumerate};
use crate::solve::symbolic::Proofs;
use initialised::{Facts, Reported};
use races::Judged;

/// How it is known that a kernel has no race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// By proof, for all admissible tile sizes, dimensions and grids.
    AllSizes,
    /// Of some arrays by running every admissible combination of the tile sizes
    /// that reach their indices, or by a proof for each of them.
    ListedSizes,
}

/// A kernel that every check has passed. Made only by [`check_kernel`] and by
/// decoding what the macro has embedded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedKernel {
    kernel: Kernel,
    verdict: Verdict,
    order_independent: bool,
}

impl CheckedKernel {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether its results are the same in whatever order work-items run: it
    /// makes no atomic update of floating-point elements, no atomic exchange, and
    /// uses no atomic update's old value.
    pub fn is_order_independent(&self) -> bool {
        self.order_independent
    }

    /// Most work-items that a launch may have, over all blocks, and most places in the
    /// [`piece`]s that the axes of its grid count: where an index or a
    /// condition rests on a work-item's number in 32 bits, the proof that the kernel
    /// has no race is one for launches in which such a number does not wrap. `None`
    /// where the kernel sets no limit.
    pub fn max_work_items(&self) -> Option<u64> {
        narrows(&self.kernel).then_some(MAX_NARROW_ITEMS)
    }

    /// How it is known that it has no race.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// A passed check, and what was noticed on the way.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The kernel.
    pub kernel: CheckedKernel,
    /// Findings that do not stop it.
    pub warnings: Vec<Diagnostic>,
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
fn flow_of(kernel: &Kernel, folds: &Folds) -> flow::Flow {
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

/// What is said of a kernel that is checked.
#[derive(Clone, Copy)]
enum Report<'k> {
    /// All that concerns the author of this text.
    All(&'k Kernel),
    /// What is assumed and cannot be, and of a kernel that is right, which barriers it does not
    /// need.
    IfRight,
    /// Whether it is right.
    Verdict,
}

/// A kernel that is refused.
struct Refused {
    /// As it was checked: what work-items agree on, the block decides.
    kernel: Kernel,
    found: Diagnostics,
    /// Whether something is wrong for certain, and not only unproved.
    is_certain: bool,
    /// The tiles that may be read before they are written.
    unfilled: BTreeSet<TileId>,
}

/// Checks a kernel.
///
/// # Errors
///
/// All findings, at least one of them an error.
pub fn check_kernel(mut kernel: Kernel) -> Result<Checked, Diagnostics> {
    precondition::put_in_values(&mut kernel);
    anew::declare_anew(&mut kernel);
    let refused = match check_either_spelling(&kernel, Report::All(&kernel)) {
        Ok(checked) => return Ok(checked),
        Err(refused) => *refused,
    };
    match each_way::right_each_way(&refused) {
        Some(verdict) => Ok(accepted(refused, verdict)),
        None => Err(refused.found),
    }
}

/// A kernel of which a part only was open as it stands, and is known to be right.
fn accepted(refused: Refused, verdict: Verdict) -> Checked {
    let Refused { kernel, found, .. } = refused;
    let order_independent = order::is_order_independent(&kernel);
    let kernel = CheckedKernel { kernel, verdict, order_independent };
    Checked { kernel, warnings: warnings_in(found) }
}

fn warnings_in(found: Diagnostics) -> Vec<Diagnostic> {
    found.into_iter().filter(|found| found.severity == Severity::Warning).collect()
}

/// Checks a kernel as it stands, and in another spelling where nothing shows that it is right.
fn check_either_spelling(kernel: &Kernel, report: Report<'_>) -> Result<Checked, Box<Refused>> {
    let refused = match check_as_written(kernel.clone(), report) {
        Ok(checked) => return Ok(checked),
        Err(refused) => refused,
    };
    let may_be_right = spelling::may_be_right(&refused.found);
    let Some(other) = may_be_right.then(|| spelling::respelled(kernel)).flatten() else {
        return Err(refused);
    };
    // What there is to say of a text that is refused is said already.
    let report = match report {
        Report::All(_) | Report::IfRight => Report::IfRight,
        Report::Verdict => Report::Verdict,
    };
    match check_as_written(other, report) {
        Ok(mut checked) => {
            let warnings = warnings_in(refused.found);
            checked.warnings.retain(|found| !warnings.contains(found));
            checked.warnings.splice(0..0, warnings);
            Ok(checked)
        }
        Err(_) => Err(refused),
    }
}

/// Checks a kernel as it stands.
fn check_as_written(mut kernel: Kernel, report: Report<'_>) -> Result<Checked, Box<Refused>> {
    let mut diags = Diagnostics::new();
    let mut folds = Folds::of(&kernel);
    let mut flow = flow_of(&kernel, &folds);
    let mut as_written = None;
    if !(flow.divergent.is_empty() && flow.not_uniform.is_empty())
        && let Some(agreed) = agreed::agreed(&kernel, &flow)
    {
        as_written = Some(std::mem::replace(&mut kernel, agreed));
        folds = Folds::of(&kernel);
        flow = flow_of(&kernel, &folds);
    }
    if !flow.divergent.is_empty() {
        flow = flow_by_lanes(&kernel, &folds);
    }
    let uniform = uniformity(&kernel);
    divergence::check_divergence(&kernel, &flow, &mut diags);
    owned::check_owned(&kernel, &uniform, &flow, &mut diags);
    let diverges = diags.has_errors();
    progress::check_progress(&kernel, &mut diags);
    if let Report::All(_) | Report::IfRight = report {
        assumed::check_assumptions(&kernel, &uniform, &folds, &mut diags);
    }
    // Of an array that collides for certain, more is asked when that is mended.
    let mut glance = None;
    let mut collided = || glance.insert(enumerate(&kernel, Effort::Glance)).collided();
    let mut proofs = Proofs::default();
    // Where not everybody reaches a barrier, a proof is of no use.
    let unproved = match diverges {
        true => Vec::new(),
        false => proofs.prove(&kernel, &uniform, &mut collided),
    };
    let unproved = rewritten::left(&kernel, unproved, &mut collided);
    let glance = glance.unwrap_or_default();
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
        reported =
            initialised::check_initialised(&kernel, &facts, &found.fills, &stray, &mut unwritten);
    }
    let mut rest = Diagnostics::new();
    if stray.is_empty() {
        // Elsewhere values pass through other elements than the text shows.
        check_pads((&kernel, &uniform), as_written.as_ref(), &mut rest);
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
            Ok(Checked { kernel: CheckedKernel { kernel, verdict, order_independent }, warnings })
        }
        judged => {
            let is_certain = reported.has_vars
                || judged.is_none_or(|judged| judged.collides)
                || diags.iter().any(is_certain);
            let unfilled = reported.tiles;
            Err(Box::new(Refused { kernel, found: diags, is_certain, unfilled }))
        }
    }
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
