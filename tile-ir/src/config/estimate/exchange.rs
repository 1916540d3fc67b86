//! What exchanges among work-items take, as `lower/specialise/exchange` makes them.

use super::count::{Domain, Times, Walk};
use crate::exchange::{ExchangeOp, WARP_ITEMS};
use crate::kernel::VarId;

/// Instructions of a thread for a step among the lanes of a warp: the shuffle, the lane,
/// the operation, its choice.
const STEP_OPS: f64 = 4.0;
/// The same for what stands around the steps: numbers, conditions, stores.
const FRAME_OPS: f64 = 16.0;
/// Words of a thread's values that come in one access.
const VECTOR_WORDS: f64 = 4.0;
/// Totals of warps that each thread combines by itself.
const FEW: f64 = 8.0;

impl Walk<'_, '_> {
    /// Steps among threads, in a warp and, through shared memory, among warps.
    pub(super) fn exchange(
        &mut self,
        var: VarId,
        op: ExchangeOp,
        domain: Domain<'_>,
        times: Times,
    ) {
        match op {
            ExchangeOp::Reduce(_) => self.block_exchange(var, false, false, times),
            ExchangeOp::Scan { exclusive } => self.block_exchange(var, true, exclusive, times),
            ExchangeOp::WarpReduce(_) => {
                self.operate(f64::from(WARP_ITEMS).log2(), domain, times);
            }
            ExchangeOp::Shuffle(_) | ExchangeOp::Ballot => self.operate(1.0, domain, times),
        }
    }

    fn block_exchange(&mut self, var: VarId, is_scan: bool, exclusive: bool, times: Times) {
        let items = self.points(Domain::Block);
        let in_order = self.sizes.is_one_per_thread();
        let threads = f64::from(self.sizes.config.threads.max(1));
        let run = if in_order { 1.0 } else { (items / threads).ceil().log2().ceil().exp2() };
        let lanes = (items / run).ceil();
        let warps = (lanes / f64::from(WARP_ITEMS)).ceil();
        let steps = lanes.min(f64::from(WARP_ITEMS)).log2().ceil().max(0.0);
        let words = (self.sizes.type_bytes(self.sizes.kernel.vars[var].ty) / 4.0).max(1.0);
        // Longer rows of a thread's values begin in the same banks as others'.
        let conflicts = (run * words / VECTOR_WORDS).clamp(1.0, f64::from(WARP_ITEMS));
        // Values that go through shared memory on the way in, and on the way out.
        let (gathered, given) = (!in_order, is_scan && (exclusive || !in_order));
        let through = (1.0 + conflicts) * items * f64::from(u8::from(gathered) + u8::from(given));
        let totals = if is_scan { warps / 2.0 } else { warps.min(FEW) };
        let requests = lanes * steps + through + threads * totals;
        self.cost.shared_requests += requests * words * times.trips;
        let of_thread = steps * (STEP_OPS + if is_scan { 2.0 * run } else { 0.0 })
            + 2.0 * run
            + totals
            + FRAME_OPS;
        self.cost.memory_instructions += of_thread * threads * times.trips;
        self.cost.code += of_thread * times.copies;
        let meets =
            2.0 + f64::from(u8::from(gathered)) + f64::from(u8::from(!is_scan && warps > FEW));
        self.cost.barriers += meets * times.trips;
        let values = if gathered || given { items } else { 0.0 };
        let few = if warps > FEW { (warps / FEW).ceil() } else { 0.0 };
        // Those of one type share their memory; of several the most counts.
        let bytes = (values + warps + few) * 4.0 * words;
        self.cost.exchange_bytes = self.cost.exchange_bytes.max(bytes);
    }
}
