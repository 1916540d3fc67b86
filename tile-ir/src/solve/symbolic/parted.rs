//! Whether work-items part at a condition.
//!
//! The kernel is asked with a question in it: at the place in question, who finds the
//! condition to hold writes an element of a tile that nothing else names, and who does
//! not reads it. Two work-items of a block that come by together, in the same iterations
//! of all loops around, and meet in that element are two that find different answers. So
//! where the write and the read are disjoint, all find the same one.

use super::flow::Distance;
use super::instance::Meeting;
use super::walk;
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel, TileId};

/// Whether no two work-items of a block part at a question, `asked` of this tile: all who
/// come by in the same iterations of the loops around find one answer, at all sizes.
pub(crate) fn never_part(kernel: &Kernel, uniformity: &Uniformity, asked: TileId) -> bool {
    let walk = walk::walk(kernel, uniformity);
    let of_question = |site: &&walk::Site| site.array == ArrayRef::Tile(asked);
    let sites: Vec<&walk::Site> = walk.sites.iter().filter(of_question).collect();
    // Where loops are walked round by round, each round asks anew.
    let rounds = sites.chunks(2).map(|round| match round {
        [yes, no]
            if (yes.kind, no.kind) == (AccessKind::Write, AccessKind::Read)
                && yes.loops == no.loops =>
        {
            let together = Distance::Same(yes.loops.clone());
            walk.is_disjoint(yes, no, Meeting::InBlock(&together, &Default::default()))
        }
        _ => false,
    });
    !sites.is_empty() && rounds.into_iter().all(|is_apart| is_apart)
}
