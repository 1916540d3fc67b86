//! The items of a domain, a warp at a time.

use super::value::{LANES, Mask, Value};
use crate::program::{Domain, ItemLayout};

/// What each thread and each register adds to the coordinates of a domain.
#[derive(Clone, Debug)]
pub(super) struct DomainTable {
    extents: Vec<u32>,
    /// By axis and thread; all warps full.
    of_threads: Vec<Vec<u32>>,
    /// By axis and register.
    of_registers: Vec<Vec<u32>>,
    n_threads: u32,
    /// By warp, then register.
    valid: Vec<Mask>,
    pub(super) n_warps: u32,
    pub(super) n_registers: u32,
    /// Pairs of a thread and a register that have an item.
    pub(super) n_valid: u64,
}

impl DomainTable {
    pub(super) fn new(domain: &Domain) -> Self {
        let extents = domain.extents();
        let layout = &domain.layout;
        let (n_threads, n_registers) = (layout.n_threads(), layout.n_registers());
        let by_axis = |n: u32, coords: &dyn Fn(u32) -> Option<Vec<u32>>| -> Vec<Vec<u32>> {
            let all: Vec<Vec<u32>> =
                (0..n).map(|at| coords(at).unwrap_or_else(|| vec![0; extents.len()])).collect();
            (0..extents.len()).map(|axis| all.iter().map(|one| one[axis]).collect()).collect()
        };
        let n_warps = n_threads.div_ceil(LANES as u32);
        let of_threads =
            by_axis(n_warps * LANES as u32, &|thread| layout.coords(extents.len(), thread, 0));
        let of_registers =
            by_axis(n_registers, &|register| layout.coords(extents.len(), 0, register));
        let (valid, n_valid) = (Vec::new(), 0);
        let mut table = Self {
            extents,
            of_threads,
            of_registers,
            n_threads,
            valid,
            n_warps,
            n_registers,
            n_valid,
        };
        let pairs = (0..n_warps).flat_map(|warp| (0..n_registers).map(move |reg| (warp, reg)));
        table.valid =
            pairs.map(|(warp, register)| table.lanes_with_items(warp, register)).collect();
        table.n_valid = table.valid.iter().map(|mask| u64::from(mask.count_ones())).sum();
        table
    }

    /// The coordinate of each lane's item along an axis.
    pub(super) fn coord(&self, axis: usize, warp: u32, register: u32) -> Value {
        let Some(of_threads) = self.of_threads.get(axis) else { return Value::Unknown };
        let first = warp as usize * LANES;
        let of_register = self.of_registers[axis][register as usize];
        Value::each(|lane| i64::from(of_threads[first + lane] + of_register))
    }

    /// The lanes that have an item in this register.
    pub(super) fn valid(&self, warp: u32, register: u32) -> Mask {
        self.valid[(warp * self.n_registers + register) as usize]
    }

    fn lanes_with_items(&self, warp: u32, register: u32) -> Mask {
        let first = warp as usize * LANES;
        let has = |lane: &usize| {
            let thread = first + lane;
            (thread as u32) < self.n_threads
                && self.extents.iter().enumerate().all(|(axis, extent)| {
                    let of_register = self.of_registers[axis][register as usize];
                    self.of_threads[axis][thread] + of_register < *extent
                })
        };
        (0..LANES).filter(has).fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// The register that a thread's item has where only these axes are kept.
pub(super) fn projected_register(layout: &ItemLayout, axes: &[u32], register: u32) -> u32 {
    let (mut rest, mut below, mut kept) = (register, 1, 0);
    for digit in &layout.registers {
        let value = rest % digit.size;
        rest /= digit.size;
        if axes.contains(&digit.axis) {
            kept += value * below;
            below *= digit.size;
        }
    }
    kept
}
