//! The checks: what must hold of a kernel, for all admissible tile sizes.

mod agreed;
mod anew;
mod assigned;
mod assumed;
mod bounds;
mod by_for;
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
mod wraps;
mod written;

pub(crate) use assigned::assigned_in;
pub(crate) use assumed::Origins;
pub(crate) use ending::{Way, ends_of};
pub(crate) use exact::Beside;
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

use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::kernel::{ArrayRef, Kernel, TileId};
use written::Written;

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
    /// The arrays of which it is open whether accesses meet.
    open: BTreeSet<ArrayRef>,
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
    let refused = match Written::of(kernel.clone()).judge(report) {
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
    let mut other = Written::of(other);
    if other.stays_open(&refused.open) {
        return Err(refused);
    }
    match other.judge(report) {
        Ok(mut checked) => {
            let warnings = warnings_in(refused.found);
            checked.warnings.retain(|found| !warnings.contains(found));
            checked.warnings.splice(0..0, warnings);
            Ok(checked)
        }
        Err(_) => Err(refused),
    }
}
