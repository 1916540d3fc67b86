//! The state of a launch: memory, values, time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::axes::Axes;
use super::cell::{ALL_THREADS, Collision, Mark};
use super::finding::{Fact, Touch};
use super::flight::Flight;
use super::lanes::{Group, Warps};
use super::memory::{Address, Memory};
use crate::arena::EntityId as _;
use crate::kernel::AccessKind;
use crate::program::{
    DomainId, FragmentId, ProgramKernel, SharedMemory, Stmt, StmtKind, Target, TileId, TileSpace,
};
use crate::value::{ArgValue, ScalarValue};

/// Most findings that are kept.
const MAX_FINDINGS: usize = 32;
/// Most memory of a launch.
const MAX_BYTES: u64 = 1 << 30;

/// Why a launch ended early.
#[derive(Debug)]
pub(super) enum Stop {
    OutOfSteps,
    Broken(String),
}

impl Stop {
    pub(super) fn broken(what: impl Into<String>) -> Self {
        Self::Broken(what.into())
    }
}

/// Where a statement stands, in order of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Statements inside it, it included.
    pub(super) n_stmts: u32,
    pub(super) domain: Option<DomainId>,
}

pub(super) struct Machine<'k> {
    pub(super) kernel: &'k ProgramKernel,
    pub(super) places: Vec<Place>,
    pub(super) args: Vec<ScalarValue>,
    /// Extents and strides of each buffer.
    pub(super) shapes: Vec<(Vec<i64>, Vec<i64>)>,
    /// Buffers, then the shared tiles, or shared memory as a whole.
    pub(super) memories: Vec<Memory>,
    /// Bytes of each local array, and whether each is set.
    pub(super) locals: Vec<(Vec<u8>, Vec<bool>)>,
    pub(super) fragments: Vec<Vec<Option<ScalarValue>>>,
    pub(super) vars: Vec<Option<ScalarValue>>,
    pub(super) group: Group,
    /// The items of domains that have been run.
    pub(super) warps: BTreeMap<DomainId, Rc<Warps>>,
    pub(super) flight: Flight,
    pub(super) grid: Vec<u64>,
    pub(super) block: u32,
    pub(super) interval: u32,
    /// Executions of `Items`.
    pub(super) run: u32,
    /// Barriers of each warp.
    pub(super) epochs: Vec<u32>,
    /// The statement that is executed.
    pub(super) stmt: u32,
    has_warp_barriers: bool,
    steps_left: u64,
    max_steps: u64,
    pub(super) facts: Vec<Fact>,
    known: BTreeSet<(u32, u32, u8)>,
}

impl<'k> Machine<'k> {
    pub(super) fn new(
        kernel: &'k ProgramKernel,
        args: &[ArgValue],
        buffers: &mut [Vec<u8>],
        max_steps: u64,
    ) -> Result<Self, String> {
        if args.len() != kernel.args.len() || buffers.len() != kernel.buffers.len() {
            return Err("other arguments than it declares".to_owned());
        }
        let on_host = |id| kernel.eval_on_host(id, args).ok_or("a number of the launch is unknown");
        let mut shapes = Vec::new();
        let mut memories = Vec::new();
        for (buffer, bytes) in kernel.buffers.values().zip(buffers) {
            let extents: Result<Vec<i64>, _> =
                buffer.extents.iter().map(|&id| on_host(id)).collect();
            let strides: Result<Vec<i64>, _> =
                buffer.strides.iter().map(|&id| on_host(id)).collect();
            shapes.push((extents?, strides?));
            memories.push(Memory::new(std::mem::take(bytes), buffer.dtype.size_bytes(), true));
        }
        let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
        let n_bytes: u64 = shared.clone().map(|tile| tile.size_bytes()).sum();
        if n_bytes > MAX_BYTES {
            return Err("too much shared memory".to_owned());
        }
        match kernel.shared_memory {
            SharedMemory::Static => {
                memories.extend(kernel.tiles.values().map(|tile| {
                    let is_shared = tile.space == TileSpace::Shared;
                    let n_bytes = if is_shared { tile.size_bytes() } else { 0 };
                    Memory::new(vec![0; n_bytes as usize], tile.dtype.size_bytes(), false)
                }));
            }
            SharedMemory::Dynamic { bytes } => {
                let unit = shared.map(|tile| tile.dtype.size_bytes()).min().unwrap_or(1);
                memories.push(Memory::new(vec![0; bytes as usize], unit, false));
            }
        }
        let args = args.iter().map(|arg| match *arg {
            ArgValue::Index(value) => super::eval::index(value),
            ArgValue::Scalar(value) => value,
        });
        let grid: Result<Vec<u64>, _> = kernel
            .grid
            .iter()
            .map(|axis| on_host(axis.extent))
            .map(|extent| extent.map(|extent| extent.max(0).unsigned_abs()))
            .collect();
        let mut places = Vec::new();
        let has_warp_barriers = number(&kernel.body, None, &mut places);
        let mut machine = Self {
            kernel,
            places,
            args: args.collect(),
            shapes,
            memories,
            locals: Vec::new(),
            fragments: Vec::new(),
            vars: vec![None; kernel.vars.len()],
            group: Group::default(),
            warps: BTreeMap::new(),
            flight: Flight::default(),
            grid: grid?,
            block: 0,
            interval: 0,
            run: 0,
            epochs: Vec::new(),
            stmt: 0,
            has_warp_barriers,
            steps_left: max_steps,
            max_steps,
            facts: Vec::new(),
            known: BTreeSet::new(),
        };
        machine.make_registers()?;
        Ok(machine)
    }

    /// Registers of items: fragments and local arrays.
    fn make_registers(&mut self) -> Result<(), String> {
        let kernel = self.kernel;
        let mut total = 0u64;
        let mut room = |n: u64| {
            total = total.saturating_add(n);
            if total > MAX_BYTES / 16 {
                Err("too many registers".to_owned())
            } else {
                Ok(n as usize)
            }
        };
        for fragment in kernel.fragments.values() {
            let domain = &kernel.domains[fragment.domain];
            let copies = if domain.projection.is_some() { domain.layout.n_threads() } else { 1 };
            self.fragments.push(vec![None; room(domain.n_items() * u64::from(copies))?]);
        }
        for tile in kernel.tiles.values() {
            let n_bytes = match tile.space {
                TileSpace::Shared => 0,
                TileSpace::Local(domain) => tile.size_bytes() * kernel.domains[domain].n_items(),
            };
            let n_bytes = room(n_bytes)?;
            self.locals.push((vec![0; n_bytes], vec![false; n_bytes]));
        }
        Ok(())
    }

    pub(super) fn run(&mut self) -> Result<(), Stop> {
        let kernel = self.kernel;
        let n_blocks = self.grid.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        let n_blocks = n_blocks.and_then(|n| u32::try_from(n).ok());
        let n_blocks = n_blocks.filter(|n| *n < u32::MAX - 1).ok_or(Stop::OutOfSteps)?;
        let n_warps = kernel.domains.values().map(|domain| domain.layout.n_threads().div_ceil(32));
        let n_warps = n_warps.max().unwrap_or(1) as usize;
        for block in 0..n_blocks {
            self.block = block;
            self.interval += 1;
            self.epochs = vec![0; n_warps];
            self.vars.fill(None);
            self.fragments.iter_mut().for_each(|values| values.fill(None));
            self.locals.iter_mut().for_each(|(_, is_set)| is_set.fill(false));
            for (axis, coord) in kernel.grid.iter().zip(self.block_coords(block)) {
                self.vars[axis.var.index()] = Some(super::eval::index(coord.cast_signed()));
            }
            self.block_list(&kernel.body, 0)?;
            self.land_all();
        }
        Ok(())
    }

    /// In row-major order: which block has which number is no matter here.
    pub(super) fn block_coords(&self, block: u32) -> Vec<u64> {
        let mut rest = u64::from(block);
        let digit = |extent: &u64| {
            let coord = rest % extent;
            rest /= extent;
            coord
        };
        let mut coords: Vec<u64> = self.grid.iter().rev().map(digit).collect();
        coords.reverse();
        coords
    }

    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Stop::OutOfSteps)?;
        Ok(())
    }

    pub(super) fn steps(&self) -> u64 {
        self.max_steps - self.steps_left
    }

    /// What is made by the lane, or by the block.
    pub(super) fn mark(&self, lane: Option<usize>) -> Mark {
        let lane = lane.and_then(|lane| self.group.lanes.get(lane));
        let alone = if self.kernel.threads == 1 { 0 } else { ALL_THREADS };
        let thread = lane.map_or(alone, |lane| lane.thread);
        Mark {
            stmt: self.stmt,
            thread,
            item: lane.map_or(0, |lane| lane.item),
            run: self.run,
            block: self.block,
            interval: self.interval,
            epoch: self.epochs.get(thread as usize / 32).copied().unwrap_or(0),
        }
    }

    /// Enters an access into the shadow.
    pub(super) fn enter(&mut self, target: Target, at: Address, mark: Mark, kind: AccessKind) {
        let keeps_all = self.has_warp_barriers;
        let memory = &mut self.memories[at.memory];
        let is_shared = memory.is_shared;
        let mut found: Vec<Collision> = Vec::new();
        let mut is_set = true;
        for cell in memory.cells(at) {
            is_set &= cell.written_in == mark.block + 1;
            found.extend(cell.enter(mark, kind, is_shared, keeps_all));
        }
        for collision in found {
            let second = Touch::of(kind, collision.between, false);
            let first = Touch::of(collision.kind, collision.between, true);
            self.report(mark, Fact::Race { target, collision, mark, first, second });
        }
        if !is_shared && !is_set && kind != AccessKind::Write {
            self.report(mark, Fact::Uninitialised { target, mark });
        }
    }

    pub(super) fn report(&mut self, mark: Mark, fact: Fact) {
        let key = (mark.stmt, fact.other_stmt(), fact.number());
        if self.facts.len() < MAX_FINDINGS && self.known.insert(key) {
            self.facts.push(fact);
        }
    }

    /// The registers of a fragment that a lane's item has.
    pub(super) fn fragment_slot(&self, id: FragmentId, lane: usize) -> Option<usize> {
        let kernel = self.kernel;
        let fragment = kernel.fragments.get(id)?;
        let domain = &kernel.domains[fragment.domain];
        let lane = self.group.lanes.get(lane)?;
        let item = if self.group.domain == Some(fragment.domain) {
            lane.item
        } else {
            let projection = domain.projection.as_ref()?;
            if Some(projection.domain) != self.group.domain {
                return None;
            }
            let coord = |axis: &u32| lane.coords.get(*axis as usize).copied();
            let coords: Axes<u32> = projection.axes.iter().map_while(coord).collect();
            (coords.len() == projection.axes.len()).then(|| domain.item_number(&coords))?
        };
        if domain.projection.is_none() {
            return Some(item as usize);
        }
        Some(lane.thread as usize * domain.n_items() as usize + item as usize)
    }

    /// Where shared memory of a tile begins.
    pub(super) fn tile_base(&self, id: TileId) -> (usize, usize) {
        let n_buffers = self.kernel.buffers.len();
        match self.kernel.shared_memory {
            SharedMemory::Static => (n_buffers + id.index(), 0),
            SharedMemory::Dynamic { .. } => {
                (n_buffers, self.kernel.tiles[id].offset_bytes as usize)
            }
        }
    }

    /// Gives the buffers their bytes back.
    pub(super) fn write_back(&self, buffers: &mut [Vec<u8>]) {
        for (buffer, memory) in buffers.iter_mut().zip(&self.memories) {
            *buffer = memory.bytes().to_vec();
        }
    }
}

/// Numbers the statements in order of their text; whether a warp's barrier is
/// among them.
fn number(stmts: &[Stmt], domain: Option<DomainId>, places: &mut Vec<Place>) -> bool {
    let mut any = false;
    for stmt in stmts {
        any |= matches!(stmt.kind, StmtKind::WarpBarrier);
        let at = places.len();
        places.push(Place { n_stmts: 0, domain });
        let inside = match stmt.kind {
            StmtKind::Items { domain, .. } => Some(domain),
            _ => domain,
        };
        for body in stmt.kind.bodies() {
            any |= number(body, inside, places);
        }
        places[at].n_stmts = (places.len() - at) as u32;
    }
    any
}
