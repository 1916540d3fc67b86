//! Whether work-items part at a condition, and whether it is one at all.
//!
//! The kernel is asked with a question in it: at the place in question, who finds the
//! condition to hold writes an element of a tile that nothing else names, and who does
//! not reads it. Two work-items of a block that come by together, in the same iterations
//! of all loops around, and meet in that element are two that find different answers. So
//! where the write and the read are disjoint, all find the same one.

use super::super::algebra::formula::Formula;
use super::super::walk::begin;
use super::super::walk::{Site, Walk};
use super::flow::Distance;
use super::instance::Meeting;
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel, TileId};

/// Whether no two work-items of a block part at a question, `asked` of this tile: all who
/// come by in the same iterations of the loops around find one answer, at all sizes.
pub(crate) fn never_part(kernel: &Kernel, uniformity: &Uniformity, asked: TileId) -> bool {
    let walk = begin::walk(kernel, uniformity);
    let are_apart = |[yes, no]: &[&Site; 2]| {
        let together = Distance::Same(yes.loops.clone());
        walk.is_disjoint(yes, no, Meeting::InBlock(&together, &Default::default()))
    };
    rounds(&walk, asked).is_some_and(|rounds| rounds.iter().all(are_apart))
}

/// The answer that all who come by find, at all sizes, in whatever iterations; `None` where
/// some may find one, and some the other.
pub(crate) fn one_answer(kernel: &Kernel, uniformity: &Uniformity, asked: TileId) -> Option<bool> {
    let walk = begin::walk(kernel, uniformity);
    let rounds = rounds(&walk, asked)?;
    let is_never = |site: &Site| walk.is_never(&Formula::All(site.guards.clone()));
    if rounds.iter().all(|[_, no]| is_never(no)) {
        return Some(true);
    }
    rounds.iter().all(|[yes, _]| is_never(yes)).then_some(false)
}

/// Where it is answered with yes, and with no: where loops are walked round by round, each
/// round asks anew.
fn rounds<'w>(walk: &'w Walk<'_>, asked: TileId) -> Option<Vec<[&'w Site; 2]>> {
    let of_question = |site: &&Site| site.array == ArrayRef::Tile(asked);
    let sites: Vec<&Site> = walk.sites.iter().filter(of_question).collect();
    let rounds = sites.chunks(2).map(|round| match round {
        [yes, no]
            if (yes.kind, no.kind) == (AccessKind::Write, AccessKind::Read)
                && yes.loops == no.loops =>
        {
            Some([*yes, *no])
        }
        _ => None,
    });
    rounds.collect::<Option<Vec<_>>>().filter(|rounds| !rounds.is_empty())
}
