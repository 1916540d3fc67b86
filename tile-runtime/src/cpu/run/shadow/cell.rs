//! Who touched an element, in 64 bits.
//!
//! From the highest bit on: *when*, the *agent* that did it, the *site* of the text. 0 is
//! nobody. What time is depends on the memory: within a worker it counts barriers; where
//! blocks share memory it is the block's number and the barriers of the block. Either way
//! a later access of one worker has a larger number, and cells are compared whole.

/// How many bits each part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    site_bits: u32,
    agent_bits: u32,
}

/// Who touched an element.
pub(super) type Cell = u64;

impl Format {
    /// Room for so many sites and agents.
    pub(super) fn new(n_sites: usize, n_agents: u32) -> Self {
        let site_bits = usize::BITS - n_sites.leading_zeros();
        let agent_bits = (u32::BITS - n_agents.leading_zeros()).max(1);
        Self { site_bits: site_bits.max(1), agent_bits }
    }

    /// Bits that are left to say when.
    pub(super) fn time_bits(self) -> u32 {
        u64::BITS - self.site_bits - self.agent_bits
    }

    /// The smallest cell of a time.
    pub(super) fn since(self, time: u64) -> Cell {
        time << (self.site_bits + self.agent_bits)
    }

    /// A cell of the time that begins at `since`.
    pub(super) fn cell(self, since: Cell, agent: u32, site: usize) -> Cell {
        since | (u64::from(agent) << self.site_bits) | site as u64
    }

    /// From the cell of one agent to that of the next.
    pub(super) fn step(self) -> Cell {
        1 << self.site_bits
    }

    /// When it was.
    pub(super) fn time(self, cell: Cell) -> u64 {
        cell >> (self.site_bits + self.agent_bits)
    }

    /// Who it was.
    pub(super) fn agent(self, cell: Cell) -> u32 {
        // At most 31 bits.
        ((cell >> self.site_bits) & ((1 << self.agent_bits) - 1)) as u32
    }

    /// Where in the text.
    pub(super) fn site(self, cell: Cell) -> usize {
        (cell & ((1 << self.site_bits) - 1)) as usize
    }

    /// Whether two cells of one time are of one agent.
    #[inline(always)]
    pub(super) fn is_same_agent(self, a: Cell, b: Cell) -> bool {
        let mask = ((1u64 << self.agent_bits) - 1) << self.site_bits;
        (a ^ b) & mask == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        for (n_sites, n_agents) in [(1, 1), (3, 1025), (1000, 1 << 20)] {
            let format = Format::new(n_sites, n_agents);
            for time in [1, 77, (1 << format.time_bits()) - 1] {
                let cell = format.cell(format.since(time), n_agents, n_sites);
                assert_eq!(format.time(cell), time);
                assert_eq!(format.agent(cell), n_agents);
                assert_eq!(format.site(cell), n_sites);
                assert!(format.is_same_agent(cell, format.cell(0, n_agents, 0)));
                assert!(!format.is_same_agent(cell, format.cell(0, n_agents - 1, n_sites)));
            }
        }
    }
}
