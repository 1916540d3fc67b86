//! What the lanes of a warp get from each other. A chunk begins with a warp.

use tile_ir::exchange::WARP_ITEMS;

use crate::cpu::vector::Flag;

/// Lanes of a warp.
pub(super) const WARP: usize = WARP_ITEMS as usize;

/// Gives each of `n` lanes the value of a lane of its warp; of one that is not
/// there, its own.
///
/// # Safety
///
/// `dst` and `src` hold `n` lanes of `lane_bytes`, `lanes` holds `n` numbers; all
/// are valid for that, aligned, and do not overlap.
pub(super) unsafe fn shuffle(
    dst: *mut u8,
    src: *const u8,
    lanes: *const i64,
    n: usize,
    lane_bytes: usize,
) {
    for own in 0..n {
        let first = own / WARP * WARP;
        let present = WARP.min(n - first);
        // SAFETY: there are `n` numbers.
        let lane = unsafe { lanes.add(own).read() };
        let lane = usize::try_from(lane).ok().filter(|lane| *lane < present);
        let from = lane.map_or(own, |lane| first + lane);
        // SAFETY: both lanes are among the `n`; the registers do not overlap.
        unsafe {
            let (from, to) = (src.add(from * lane_bytes), dst.add(own * lane_bytes));
            from.copy_to_nonoverlapping(to, lane_bytes);
        }
    }
}

/// The flags of each warp as bits, the first lane's lowest.
pub(super) fn ballots(flags: &[Flag]) -> Vec<u32> {
    let of_warp = |flags: &[Flag]| {
        let set = flags.iter().enumerate().filter(|(_, flag)| flag.is_set());
        set.fold(0, |bits, (lane, _)| bits | 1 << lane)
    };
    flags.chunks(WARP).map(of_warp).collect()
}
