//! The items of a domain, a warp at a time.

use super::value::{LANES, Mask, Value};
use crate::program::{Digit, Domain, ItemLayout};

/// What each thread and each register adds to the coordinates of a domain.
#[derive(Clone, Debug)]
pub(super) struct DomainTable {
    extents: Vec<u32>,
    /// By axis and thread; all warps full.
    of_threads: Vec<Vec<u32>>,
    /// By axis and register.
    of_registers: Vec<Vec<u32>>,
    n_threads: u32,
    /// Whether all pairs of a thread and a register have an item.
    is_full: bool,
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
        let n_warps = n_threads.div_ceil(LANES as u32);
        let lanes = n_warps as usize * LANES;
        let of_threads = coords_by_axis(extents.len(), &layout.threads, n_threads, lanes);
        let of_registers =
            coords_by_axis(extents.len(), &layout.registers, n_registers, n_registers as usize);
        let (valid, n_valid) = (Vec::new(), 0);
        let mut axes = (0..).zip(&extents);
        let is_full = axes.all(|(axis, extent)| layout.reach(axis) <= *extent);
        let mut table = Self {
            extents,
            of_threads,
            of_registers,
            n_threads,
            is_full,
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
        if self.is_full && first + LANES <= self.n_threads as usize {
            return Mask::MAX;
        }
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

/// By axis, what the first `n` numbers add to a coordinate with these digits, then zeros
/// up to `len` of them.
fn coords_by_axis(n_axes: usize, digits: &[Digit], n: u32, len: usize) -> Vec<Vec<u32>> {
    let mut by_axis = vec![vec![0; len]; n_axes];
    let mut below = 1;
    for digit in digits {
        if let Some(coords) = by_axis.get_mut(digit.axis as usize) {
            for (number, coord) in (0..n).zip(coords) {
                *coord += number / below % digit.size * digit.stride;
            }
        }
        below *= digit.size;
    }
    by_axis
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
