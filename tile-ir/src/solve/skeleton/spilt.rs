//! Accesses that leave a tile where work-items make their updates one after the other: slots of a
//! counter, of which there are more than the tile has places.

use super::further::Further;
use super::machine::{Blocks, Machine};
use super::plan::Plan;
use super::{Findings, Stray};
use crate::kernel::{ArrayRef, Kernel, Source};

/// What may be spent on one tile.
const FUEL: u32 = 60_000;

/// The accesses of a tile that leave it in some run at small sizes in which its block alone
/// updates counters, and nothing of memory decides whether they are made.
pub(crate) fn spilt(kernel: &Kernel, tile: ArrayRef, old: Source) -> Vec<Stray> {
    let further = Further::of(kernel);
    let plan = Plan::counting(kernel, further.put.assumptions.clone(), &|array| array == tile);
    let mut fuel = FUEL;
    for sizes in further.sizes(&plan, false) {
        let mut found = Findings::default();
        let machine = Machine::new(kernel, &plan, &sizes, &further.pool, &mut found, &mut fuel);
        let is_run = machine.counting(old, false).run(Blocks::Sample).is_ok();
        found.strays.retain(|stray| stray.cause.is_none());
        if is_run && !found.strays.is_empty() {
            return found.strays;
        }
        if fuel == 0 {
            break;
        }
    }
    Vec::new()
}
