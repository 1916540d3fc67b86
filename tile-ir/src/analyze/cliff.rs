//! How far a kernel is from the steps of its occupancy: how much less of a resource
//! lets an SM hold one more block, and how much more of it costs one.

use super::occupancy::{Limiter, Occupancy, blocks_per_sm};
use crate::device::DeviceProperties;

/// What a block takes of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Threads per block.
    pub threads: u32,
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Shared memory per block, in bytes.
    pub shared_bytes: u32,
}

impl Demand {
    /// How many such blocks an SM holds.
    pub fn occupancy(&self, device: &DeviceProperties) -> Occupancy {
        blocks_per_sm(device, self.threads, self.registers, self.shared_bytes)
    }
}

/// A change of one resource, others as they are, that changes the number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which: registers of a thread, or bytes of a block's shared memory.
    pub resource: Limiter,
    /// By how many it changes.
    pub by: u32,
    /// Blocks of an SM then.
    pub blocks: u32,
}

/// The least saving of registers, or else of shared memory, that lets an SM hold more
/// blocks; `None` where neither does.
///
/// # Examples
///
/// ```
/// use tile_ir::analyze::cliff::{Demand, next_step_up};
/// let a100 = tile_ir::device::known("A100").unwrap();
/// let demand = Demand { threads: 512, registers: 33, shared_bytes: 0 };
/// let step = next_step_up(&a100, demand).unwrap();
/// assert_eq!((step.by, step.blocks), (1, 4));
/// ```
pub fn next_step_up(device: &DeviceProperties, demand: Demand) -> Option<Step> {
    let now = demand.occupancy(device).blocks;
    let with = |demand: Demand| demand.occupancy(device).blocks;
    let registers = (1..demand.registers).find_map(|by| {
        let blocks = with(Demand { registers: demand.registers - by, ..demand });
        (blocks > now).then_some(Step { resource: Limiter::Registers, by, blocks })
    });
    let shared = || {
        let bytes = |fewer: u32| Demand { shared_bytes: demand.shared_bytes - fewer, ..demand };
        if with(bytes(demand.shared_bytes)) <= now {
            return None;
        }
        let by = least(demand.shared_bytes, |fewer| with(bytes(fewer)) > now);
        Some(Step { resource: Limiter::Shared, by, blocks: with(bytes(by)) })
    };
    registers.or_else(shared)
}

/// How many more registers of a thread, and bytes of shared memory of a block, cost an
/// SM a block; `None` for one of which no more can be had.
pub fn next_steps_down(device: &DeviceProperties, demand: Demand) -> Vec<Step> {
    let now = demand.occupancy(device).blocks;
    let with = |demand: Demand| demand.occupancy(device).blocks;
    let left = device.max_registers_per_thread.saturating_sub(demand.registers);
    let registers = (1..=left).find_map(|by| {
        let blocks = with(Demand { registers: demand.registers + by, ..demand });
        (blocks < now).then_some(Step { resource: Limiter::Registers, by, blocks })
    });
    let left = device.shared_bytes_per_block_optin.saturating_sub(demand.shared_bytes);
    let bytes = |more: u32| Demand { shared_bytes: demand.shared_bytes + more, ..demand };
    let shared = (left > 0 && with(bytes(left)) < now).then(|| {
        let by = least(left, |more| with(bytes(more)) < now);
        Step { resource: Limiter::Shared, by, blocks: with(bytes(by)) }
    });
    registers.into_iter().chain(shared).collect()
}

/// The least number up to `most` that fulfils what `most` and all above it do.
fn least(most: u32, fulfils: impl Fn(u32) -> bool) -> u32 {
    let (mut below, mut found) = (0, most);
    while found - below > 1 {
        let middle = below + (found - below) / 2;
        if fulfils(middle) { found = middle } else { below = middle }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::known;

    fn up(device: &str, threads: u32, registers: u32, shared_bytes: u32) -> Option<Step> {
        next_step_up(&known(device).unwrap(), Demand { threads, registers, shared_bytes })
    }

    #[test]
    fn one_register_too_many() {
        let step = Step { resource: Limiter::Registers, by: 1, blocks: 4 };
        assert_eq!(up("A100", 512, 33, 0), Some(step));
        // Threads are the limit: no saving helps.
        assert_eq!(up("A100", 512, 32, 0), None);
    }

    #[test]
    fn bytes_over_half_of_an_sm() {
        let step = Step { resource: Limiter::Shared, by: 1, blocks: 2 };
        assert_eq!(up("H200", 256, 32, (113 << 10) + 1), Some(step));
        let demand = Demand { threads: 256, registers: 32, shared_bytes: 113 << 10 };
        let down = next_steps_down(&known("H200").unwrap(), demand);
        // 8 warps of 32 registers; two blocks stay until a thread has 129.
        let registers = Step { resource: Limiter::Registers, by: 97, blocks: 1 };
        let shared = Step { resource: Limiter::Shared, by: 1, blocks: 1 };
        assert_eq!(down, [registers, shared]);
    }
}
