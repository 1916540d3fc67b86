//! From the counts of one block to the time of the launch.

use super::again::{CACHED_PART, L1_BYTES};
use super::block::BlockCost;
use super::sizes::Sizes;
use super::{Estimate, LINE_BYTES};
use crate::analyze::occupancy;
use crate::config::TilePadding;
use crate::device::DeviceProperties;
use crate::kernel::{ArrayRef, Tile, TileId, TileSpace};
use crate::program::MAX_ACCESS_BYTES;

/// Cycles from a global load to its use.
const GLOBAL_LATENCY_CYCLES: f64 = 800.0;
/// Cycles from a shared load to its use, as far as the loads of the next
/// iteration do not hide them.
const SHARED_LATENCY_CYCLES: f64 = 30.0;
/// What the lesser of arithmetic and memory traffic adds to the greater at the least;
/// blocks that wait for their own loads compute meanwhile only if others do.
pub(super) const OVERLAP_LOSS: f64 = 0.1;
/// The same where the loads of an iteration are under way while the one before it
/// computes: their instructions stand among the others. Measured: an f32 product of 1024
/// takes 0.071 ms in tiles of 64 x 64 on 64 threads and 0.056 in tiles of 64 x 128 on 128.
pub(super) const STAGED_LOSS: f64 = 0.25;
/// What the lesser of arithmetic and shared-memory traffic adds to the greater.
pub(super) const SHARED_LOSS: f64 = 0.35;
/// Cycles of an iteration that fetches ahead beside its arithmetic: it meets, and its
/// first operands come. Measured: min-plus products of 4096 in tiles of 128 x 256 take
/// 5.34 ms in 256 iterations and 5.58 ms in 512.
const ITERATION_CYCLES: f64 = 120.0;
/// Instructions of a thread for the same: addresses of copies, conditions, places of
/// buffers.
pub(super) const ITERATION_OPS: f64 = 100.0;
/// What arithmetic takes longer for each row of a thread's items, in operations: within
/// a row an operand stays where it was read. Measured: min-plus products with 8 x 16
/// items take 0.97 of the time that they take with 16 x 8.
pub(super) const ROW_OPS: f64 = 0.4;
/// What is lost where just as many bytes are in flight as memory delivers during
/// one load's latency; it falls with the third power of their ratio. An addition
/// of 2^24 f32 on an H200 reaches 3140 GB/s with one element per thread, 4200
/// with four.
const SHALLOW_LOSS: f64 = 0.4;
/// Bytes of an instruction.
const INSTRUCTION_BYTES: f64 = 16.0;
/// Straight code that is longer than this is fetched anew each time.
const CODE_BYTES: f64 = 32768.0;
/// Longer code does not come fast enough for any number of warps. Measured: a
/// convolution with 155 KiB takes twice as long as with 13.
const MAX_CODE_BYTES: f64 = 98304.0;
/// Warps of a block, which are about at one place, that hide the fetching. An f32
/// product of 1024 on an H200 in tiles of 64 x 128 on 128 threads falls from 37 to 24
/// TFLOP/s where its loop grows from 19 to 38 KiB; with 256 threads nothing is lost at
/// 75 KiB.
const FETCHING_WARPS: f64 = 8.0;
/// How much longer instructions then take to issue where 4 warps are resident; with
/// more of them it falls with the third power.
const FETCH_LOSS: f64 = 0.55;
/// Cycles of the whole device between the starts of two blocks. An H200 starts 1.66
/// blocks per nanosecond, measured with blocks of one warp that add 32 elements (639
/// GB/s).
pub(super) const BLOCK_START_CYCLES: f64 = 1.2;
/// Warp schedulers of an SM, each of which issues one instruction per cycle.
pub(super) const SCHEDULERS: f64 = 4.0;
/// Cycles of a thread from a comparison of data to what it decides, in which it does nothing
/// for its other items. Measured: the eight nearest of 65536 points take 198 cycles a point
/// for four queries of a thread.
const BRANCH_CYCLES: f64 = 50.0;
/// How much of the shorter is left when a request's lines are looked up while others' are
/// moved.
const LOOKUP_LOSS: f64 = 0.3;
/// Cycles that a barrier costs.
const BARRIER_CYCLES: f64 = 30.0;
/// Registers of a thread beside what is counted: addresses, counters, temporaries.
pub(super) const BASE_REGISTERS: f64 = 28.0;
/// Registers for the addresses of copies beyond which they are computed anew.
const MAX_COPY_WORDS: f64 = 40.0;
/// Words of values that several items read beyond which they are read again.
const MAX_KEPT_WORDS: f64 = 96.0;

/// A thread's registers come in units of so many.
const REGISTER_UNIT: f64 = 8.0;
/// What a thread would take of registers over what it can do with. Measured: an f32
/// product of 4095 in tiles of 128 x 128 on 256 threads would take 140 and loses nothing
/// with 128.
const SPARE_REGISTERS: f64 = 1.1;
/// What each of the others adds to the instructions, in all of them: it is stored and
/// loaded, a few times an iteration.
const SPILL_LOSS: f64 = 4.0;

/// The time of a launch whose blocks do so much.
pub(super) fn finish(
    device: &DeviceProperties,
    sizes: &Sizes<'_>,
    min_blocks: u32,
    block: &BlockCost,
) -> Estimate {
    let config = sizes.config;
    let threads = f64::from(config.threads);
    let blocks = sizes.blocks();
    let tile_bytes = tile_bytes(sizes, block);
    let shared_bytes = tile_bytes + block.exchange_bytes as u64;
    let (registers, spill) =
        kept_registers(device, config.threads, min_blocks, registers(sizes, block));
    let blocks_per_sm = resident_blocks(device, config.threads, registers, shared_bytes);

    let warps = (threads / 32.0).ceil();
    let sms = f64::from(device.sms.max(1));
    let resident = f64::from(blocks_per_sm.max(1)).min((blocks / sms).ceil()).max(1.0);
    let code_bytes = block.code.max(block.loop_code) * INSTRUCTION_BYTES;
    // Blocks are at different places of what has no loop.
    let together = if block.code > block.loop_code { warps } else { warps * resident };
    let fetch = fetch_loss(code_bytes, warps, together);
    let arithmetic = block.arithmetic * (1.0 + ROW_OPS / sizes.items_of_last_axis());
    let overhead = block.memory_instructions + block.staged_iterations * ITERATION_OPS * threads;
    // Cycles that the SM's units need for blocks that it holds at once.
    let busy = |blocks: f64| {
        let schedulers = (blocks * warps).min(SCHEDULERS) / SCHEDULERS;
        let rate = f64::from(device.f32_fma_per_clock_per_sm.max(1)) * schedulers;
        let fma = arithmetic / rate;
        let slots = (arithmetic + overhead) / 32.0;
        let issue = spill * fetch * slots / (SCHEDULERS * schedulers);
        let shared = block.shared_requests / 32.0;
        // Arithmetic and shared-memory traffic overlap only in part.
        blocks * (fma.max(issue).max(shared) + SHARED_LOSS * fma.min(shared))
    };
    let per_sm_bytes_per_cycle = bytes_per_cycle(device);
    let in_flight = resident * threads * block.bytes_in_flight;
    let shallow = per_sm_bytes_per_cycle * GLOBAL_LATENCY_CYCLES / in_flight.max(1.0);
    let loss = 1.0 + SHALLOW_LOSS * shallow.min(2.0).powi(3);
    let staged = block.staged_bytes / per_sm_bytes_per_cycle * loss;
    let footprint = resident * block.walked_lines * LINE_BYTES;
    let again = CACHED_PART * block.lost_bytes * (1.0 - L1_BYTES / footprint.max(L1_BYTES));
    let moved = (block.global_bytes - block.staged_bytes + again) / per_sm_bytes_per_cycle * loss;
    let looked_up = block.scattered_cycles;
    let at_once = moved.max(looked_up) + LOOKUP_LOSS * moved.min(looked_up);
    let memory = staged + at_once;
    // The cycles that one block takes alone: latency is not hidden from itself, but
    // for what its stages fetch ahead.
    let stages = f64::from(config.stages.max(2));
    let fetched = block.staged_iterations * GLOBAL_LATENCY_CYCLES / (stages - 1.0);
    let decided = block.branches * BRANCH_CYCLES;
    let alone = busy(1.0).max(fetched).max(staged).max(decided)
        + at_once
        + (block.waits + 1.0) * GLOBAL_LATENCY_CYCLES
        + block.shared_rounds * SHARED_LATENCY_CYCLES
        + block.staged_iterations * ITERATION_CYCLES
        + block.barriers * (BARRIER_CYCLES + warps);
    let (core, traffic) = (busy(resident), resident * memory);
    let is_staged = block.staged_iterations > 0.0;
    let lost = if is_staged { STAGED_LOSS } else { OVERLAP_LOSS.max(0.5 / resident) };
    let wave = core.max(traffic).max(alone) + lost * core.min(traffic);
    let waves = (blocks / (resident * sms)).ceil();
    // Blocks start while others run, but for the first and the last.
    let cycles = (waves * wave).hypot(blocks * BLOCK_START_CYCLES);
    Estimate {
        blocks,
        blocks_per_sm,
        shared_bytes,
        tile_bytes,
        registers,
        code_bytes,
        arithmetic: block.arithmetic * blocks,
        global_bytes: block.global_bytes * blocks,
        seconds: cycles / device.clock_hz,
    }
}

/// What memory gives one SM in a cycle.
pub(super) fn bytes_per_cycle(device: &DeviceProperties) -> f64 {
    device.memory_bytes_per_s / device.clock_hz / f64::from(device.sms.max(1))
}

/// How much longer instructions take to issue because of the length of the code, where
/// so many warps of a block, and so many that run one loop, need about the same of it.
fn fetch_loss(code_bytes: f64, warps: f64, together: f64) -> f64 {
    if code_bytes > MAX_CODE_BYTES {
        return 1.0 + FETCH_LOSS.max(1.0);
    }
    if code_bytes <= CODE_BYTES || warps >= FETCHING_WARPS {
        return 1.0;
    }
    1.0 + FETCH_LOSS * (SCHEDULERS / together).min(1.0).powi(3)
}

/// Shared memory of a block's tiles, as lowering gives it to tiles that lie apart: those
/// that a phase fills once for each stage.
pub(super) fn tile_bytes(sizes: &Sizes<'_>, block: &BlockCost) -> u64 {
    let stages = f64::from(sizes.config.stages.max(1));
    let bytes_of = |(id, _): (TileId, &Tile)| {
        let buffers = if block.staged_tiles.contains(&id) { stages } else { 1.0 };
        buffers * padded_bytes(sizes, id)
    };
    let shared = sizes.kernel.tiles.iter().filter(|(_, tile)| tile.space == TileSpace::Shared);
    shared.map(bytes_of).sum::<f64>() as u64
}

/// A shared tile with what stands behind its rows, and up to where the next one begins.
/// Counted padding is none where it would not fit; what a swizzle needs at the most.
fn padded_bytes(sizes: &Sizes<'_>, id: TileId) -> f64 {
    let array = ArrayRef::Tile(id);
    let (elems, bytes) = (sizes.elems(array), sizes.elem_bytes(array));
    let (padded, unit) = match sizes.config.padding {
        TilePadding::Counted => (elems, f64::from(MAX_ACCESS_BYTES)),
        TilePadding::Elems(pad) => {
            let row = sizes.kernel.extents(array).last();
            let row = row.map_or(1.0, |&extent| sizes.index_or(extent, 1.0)).max(1.0);
            (elems / row * (row + f64::from(pad)), f64::from(MAX_ACCESS_BYTES))
        }
        TilePadding::Swizzled => (elems, LINE_BYTES),
    };
    (padded * bytes / unit).ceil() * unit
}

fn plain_bytes(sizes: &Sizes<'_>, id: TileId) -> f64 {
    sizes.elems(ArrayRef::Tile(id)) * sizes.elem_bytes(ArrayRef::Tile(id))
}

/// Registers of a thread. Compared with what NVRTC 13.0 reports for sm_90 it is a
/// tenth off for products; where there is room NVRTC takes more than it needs.
fn registers(sizes: &Sizes<'_>, block: &BlockCost) -> f64 {
    let local = sizes.kernel.tiles.iter().filter(|(_, tile)| tile.space != TileSpace::Shared);
    let local_words = local.map(|(id, _)| plain_bytes(sizes, id) / 4.0).sum::<f64>();
    let items = if sizes.kernel.block.is_some() { sizes.items_per_thread() } else { 1.0 };
    BASE_REGISTERS
        + block.fragment_words
        + block.waiting_words
        + local_words * items
        + block.operand_words.min(64.0)
        + block.kept_words.min(MAX_KEPT_WORDS)
        + block.copy_words.min(MAX_COPY_WORDS)
}

/// The registers that a thread gets of those that it would take, where the configuration
/// asks for room for several blocks; and how many times as many instructions it then has.
fn kept_registers(
    device: &DeviceProperties,
    threads: u32,
    min_blocks: u32,
    wanted: f64,
) -> (f64, f64) {
    let blocks = f64::from(min_blocks);
    if blocks == 0.0 {
        return (wanted, 1.0);
    }
    let of_thread = f64::from(device.registers_per_sm) / (blocks * f64::from(threads));
    let most = (of_thread / REGISTER_UNIT).floor() * REGISTER_UNIT;
    let lacking = wanted / most.max(1.0) - SPARE_REGISTERS;
    (wanted.min(most), 1.0 + SPILL_LOSS * lacking.max(0.0))
}

/// Blocks that one SM holds at once.
pub(super) fn resident_blocks(
    device: &DeviceProperties,
    threads: u32,
    registers: f64,
    shared_bytes: u64,
) -> u32 {
    let Ok(shared_bytes) = u32::try_from(shared_bytes) else { return 0 };
    let most = f64::from(device.max_registers_per_thread);
    occupancy::blocks_per_sm(device, threads, registers.min(most) as u32, shared_bytes).blocks
}
