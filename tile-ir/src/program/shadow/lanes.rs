//! The items of a domain, by the threads and registers that run them.

use std::rc::Rc;

use super::axes::Axes;
use crate::exchange::WARP_ITEMS;
use crate::program::{Domain, DomainId};
use crate::value::ScalarValue;

/// Of a thread's register: the point that it runs.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) thread: u32,
    pub(super) register: u32,
    pub(super) coords: Axes<u32>,
    pub(super) item: u32,
}

/// The items of a domain that run in step, in the order in which they are run.
pub(super) type Warps = Vec<Rc<[Lane]>>;

/// The items that run in step.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) domain: Option<DomainId>,
    pub(super) lanes: Rc<[Lane]>,
    /// For each lane a value for each variable.
    pub(super) vars: Vec<Option<ScalarValue>>,
}

/// The items of a domain: by register, of each warp those that have one.
pub(super) fn warps_of(domain: &Domain) -> Warps {
    let warps = 0..domain.layout.n_threads().div_ceil(WARP_ITEMS);
    let registers = 0..domain.layout.n_registers();
    let groups = registers.flat_map(|register| {
        warps.clone().map(move |warp| {
            let threads = warp * WARP_ITEMS..(warp + 1) * WARP_ITEMS;
            threads.filter_map(|thread| lane(domain, thread, register)).collect()
        })
    });
    groups.filter(|lanes: &Rc<[Lane]>| !lanes.is_empty()).collect()
}

/// The item of a thread's register, if it has one.
fn lane(domain: &Domain, thread: u32, register: u32) -> Option<Lane> {
    let coords = domain.layout.coords(domain.axes.len(), thread, register)?;
    let is_inside = coords.iter().zip(&domain.axes).all(|(coord, axis)| *coord < axis.extent);
    let item = domain.item_number(&coords);
    let coords = coords.into_iter().collect();
    is_inside.then_some(Lane { thread, register, coords, item })
}
