//! What padding would do to a tile's bank conflicts, by counting again.

use super::count::{Detail, Known, Limits, count_some};
use crate::program::{ProgramKernel, Target, TileId, TileLayout};

/// Rows are lengthened by up to so many accesses.
const MOST_STEPS: u32 = 4;

/// A padding that helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Padding {
    /// Elements of a row, as it is.
    pub(super) row_elems: u32,
    /// Elements after each row.
    pub(super) elems: u32,
    /// Wavefronts of all accesses to the tile then.
    pub(super) wavefronts: u64,
}

/// The padding of a tile's rows that leaves the fewest wavefronts; `None` where none
/// leaves fewer than there are, or the tile has no rows.
pub(super) fn best_padding(
    kernel: &ProgramKernel,
    tile: TileId,
    known: Known<'_>,
    limits: Limits,
) -> Option<Padding> {
    let info = &kernel.tiles[tile];
    if info.extents.len() < 2 || info.layout.swizzle.is_some() {
        return None;
    }
    let fastest = info.layout.strides.iter().position(|stride| *stride == 1)?;
    let wavefronts = |kernel: &ProgramKernel| -> Option<(u64, u32)> {
        let detail = Detail::Of(Target::Tile(tile));
        let counts = count_some(kernel, known, limits, detail).ok()?;
        let sites = counts.sites.iter().filter(|site| site.target == Target::Tile(tile));
        let width = sites.clone().map(|site| site.width).max()?;
        Some((sites.map(|site| site.wavefronts).sum(), width))
    };
    let (now, width) = wavefronts(kernel)?;
    let paddings = (1..=MOST_STEPS).map(|step| step * width);
    let tried = paddings.filter_map(|elems| {
        let mut changed = kernel.clone();
        changed.tiles[tile].layout = TileLayout::along(&info.extents, fastest, elems);
        let (wavefronts, _) = wavefronts(&changed)?;
        let row_elems = info.layout.strides.iter().copied().filter(|stride| *stride > 1).min();
        Some(Padding { row_elems: row_elems.unwrap_or(1), elems, wavefronts })
    });
    tried.min_by_key(|padding| padding.wavefronts).filter(|best| best.wavefronts < now)
}
