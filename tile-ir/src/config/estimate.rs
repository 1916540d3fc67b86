//! What a kernel costs at given tile sizes: an analytical model of one block.
//!
//! The model counts, for one block, arithmetic, memory traffic, shared-memory
//! wavefronts and issue slots by walking the kernel's text with its trip
//! counts, and asks how many blocks an SM holds at once. It ranks
//! configurations; it does not predict times to the percent. Where a trip count
//! is unknown (it depends on loaded data), it takes [`UNKNOWN_TRIPS`].
//!
//! # Source
//!
//! Sectors of 32 bytes, 32 banks of 4 bytes, 4 schedulers per SM: CUDA C++
//! Programming Guide, "Compute Capabilities", and Best Practices Guide,
//! "Coalesced Access to Global Memory". Latencies are of the order measured on
//! H100-class devices (global under load about 800 cycles, shared about 30, a
//! barrier about 30). An H200 starts 1.66 blocks per nanosecond, measured with
//! blocks of one warp that add 32 elements (639 GB/s).

use std::collections::BTreeMap;

use super::{Config, tile_value};
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::exchange::{ExchangeOp, Group, WARP_ITEMS};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Tile, TileId,
    TileSpace, Type, VarId, VarKind, eval_index,
};
use crate::op::BinaryOp;
use crate::slice::sliced;
use crate::syntax::TensorSpace;

/// Iterations assumed of a loop whose count is not known before the launch.
const UNKNOWN_TRIPS: f64 = 16.0;
/// Cycles from a global load to its use.
const GLOBAL_LATENCY_CYCLES: f64 = 800.0;
/// Cycles from a shared load to its use, as far as the loads of the next
/// iteration do not hide them.
const SHARED_LATENCY_CYCLES: f64 = 15.0;
/// What the lesser of arithmetic and memory traffic adds to the greater.
const OVERLAP_LOSS: f64 = 0.1;
/// Bytes of a short run of neighbouring elements that are as good as lost: short
/// runs open more rows of the memory. A transpose of 8192 x 8192 f32 on an H200
/// reaches 3.3 TB/s where one side of its tiles is 32 bytes long, 3.75 with 128
/// bytes, 4.0 with 256, and no more beyond.
const RUN_OVERHEAD_BYTES: f64 = 16.0;
/// From this length on a run loses nothing.
const LONG_RUN_BYTES: f64 = 256.0;
/// What is lost where just as many bytes are in flight as memory delivers during
/// one load's latency; it falls with the third power of their ratio. An addition
/// of 2^24 f32 on an H200 reaches 3140 GB/s with one element per thread, 4200
/// with four.
const SHALLOW_LOSS: f64 = 0.4;
/// Bytes of a thread's access to shared memory that take one wavefront of its
/// warp, where lanes share some of them.
const WAVEFRONT_BYTES: f64 = 8.0;
/// Bytes of an instruction.
const INSTRUCTION_BYTES: f64 = 16.0;
/// Straight code of a loop that is longer than this is fetched anew in each
/// iteration.
const CODE_BYTES: f64 = 32768.0;
/// Longer code does not come fast enough for any number of warps.
const MAX_CODE_BYTES: f64 = 98304.0;
/// Warps per SM that hide it. An f32 product of 1024 on an H200 in tiles of
/// 64 x 128 on 128 threads falls from 37 to 24 TFLOP/s where its loop grows from
/// 19 to 38 KiB; with 256 threads nothing is lost at 75 KiB.
const FETCHING_WARPS: f64 = 8.0;
/// How much longer instructions then take to issue.
const FETCH_LOSS: f64 = 1.6;
/// Cycles of the whole device between the starts of two blocks.
const BLOCK_START_CYCLES: f64 = 1.2;
/// Warp schedulers of an SM, each of which issues one instruction per cycle.
const SCHEDULERS: f64 = 4.0;
/// Cycles that a barrier costs.
const BARRIER_CYCLES: f64 = 30.0;
/// Bytes of a sector, the unit of global-memory traffic.
const SECTOR_BYTES: f64 = 32.0;
/// Registers of a thread beside its fragments: addresses, counters, temporaries.
const BASE_REGISTERS: f64 = 28.0;
/// Beyond this estimate a configuration spills or leaves too few warps.
pub const MAX_REGISTERS: f64 = 224.0;

/// The cost of a kernel under a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of blocks.
    pub blocks: f64,
    /// Blocks that one SM holds at once; 0 where not even one fits.
    pub blocks_per_sm: u32,
    /// Shared memory of a block, padding not counted, in bytes.
    pub shared_bytes: u64,
    /// Registers of a thread.
    pub registers: f64,
    /// Arithmetic operations of the whole launch; a multiply-add is one.
    pub arithmetic: f64,
    /// Global traffic of the whole launch in whole sectors, in bytes.
    pub global_bytes: f64,
    /// Expected time of the launch in seconds.
    pub seconds: f64,
}

/// Estimates the cost of a configuration.
///
/// `types` binds the type parameters, `dims` holds the dimensions in the order
/// of the kernel's variables of kind [`VarKind::Dim`].
pub fn estimate(
    kernel: &Kernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
    config: &Config,
) -> Estimate {
    if let Some((kernel, config)) = sliced(kernel, types, config) {
        return estimate(&kernel, types, device, dims, &config);
    }
    let sizes = Sizes::new(kernel, types, dims, config);
    let mut block = BlockCost::default();
    let mut walk = Walk { sizes: &sizes, cost: &mut block };
    walk.stmts(&kernel.body, Domain::Block, 1.0);
    finish(kernel, device, config, &sizes, &block)
}

/// Everything concrete about a launch that the walk asks for.
struct Sizes<'a> {
    kernel: &'a Kernel,
    types: &'a [DType],
    tiles: &'a [u32],
    config: &'a Config,
    dims: BTreeMap<VarId, i128>,
    /// Definitions of the `let`s that are never assigned again.
    lets: BTreeMap<VarId, ExprId>,
    /// Extents of the block domain, with the axes' variables.
    block: Vec<(VarId, f64)>,
}

impl<'a> Sizes<'a> {
    fn new(kernel: &'a Kernel, types: &'a [DType], dims: &[u64], config: &'a Config) -> Self {
        let dim_vars = kernel.vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
        let dims = dim_vars.zip(dims).map(|((id, _), &dim)| (id, i128::from(dim))).collect();
        let mut lets = BTreeMap::new();
        collect_lets(&kernel.body, kernel, &mut lets);
        let mut sizes =
            Self { kernel, types, tiles: &config.tiles, config, dims, lets, block: Vec::new() };
        let axes = kernel.block.as_deref().unwrap_or_default();
        sizes.block =
            axes.iter().map(|axis| (axis.var, sizes.index_or(axis.extent, 1.0))).collect();
        sizes
    }

    fn index(&self, expr: ExprId) -> Option<f64> {
        let var =
            |id| self.dims.get(&id).copied().or_else(|| tile_value(self.kernel, self.tiles, id));
        eval_index(self.kernel, expr, &var).map(|value| value as f64)
    }

    fn index_or(&self, expr: ExprId, otherwise: f64) -> f64 {
        self.index(expr).unwrap_or(otherwise)
    }

    fn trips(&self, range: &LoopRange) -> f64 {
        let trips = match range {
            LoopRange::Between { start, end, step, .. } => {
                let step = step.map_or(Some(1.0), |step| self.index(step)).filter(|s| *s > 0.0);
                self.index(*start)
                    .zip(self.index(*end))
                    .zip(step)
                    .map(|((start, end), step)| ((end - start) / step).ceil().max(0.0))
            }
            LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                self.index(*n).map(|n| n.max(1.0).log2().ceil())
            }
        };
        trips.unwrap_or(UNKNOWN_TRIPS)
    }

    fn elem_bytes(&self, array: ArrayRef) -> f64 {
        let elem = match array {
            ArrayRef::Tensor(id) => self.kernel.tensors[id].elem,
            ArrayRef::Tile(id) => self.kernel.tiles[id].elem,
        };
        f64::from(elem.bind(self.types).map_or(4, DType::size_bytes))
    }

    fn type_bytes(&self, ty: Type) -> f64 {
        let dtype = match ty {
            Type::Index => None,
            Type::Scalar(elem) => elem.bind(self.types),
        };
        f64::from(dtype.map_or(4, DType::size_bytes))
    }

    /// Whether the value of `expr` changes with `var`, through `let`s.
    fn depends(&self, expr: ExprId, var: VarId) -> bool {
        let depends = |id: &ExprId| self.depends(*id, var);
        match &self.kernel.exprs[expr].kind {
            ExprKind::Literal(_) => false,
            ExprKind::Var(id) => {
                *id == var
                    || match self.lets.get(id) {
                        Some(definition) => self.depends(*definition, var),
                        // A variable that is assigned again may depend on anything.
                        None => matches!(self.kernel.vars[*id].kind, VarKind::Let { .. }),
                    }
            }
            ExprKind::Load(access) => access.indices.iter().any(depends),
            ExprKind::InBounds { indices, .. } => indices.iter().any(depends),
            ExprKind::Unary { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Uniform(operand) => depends(operand),
            ExprKind::Math { arg, .. } => depends(arg),
            ExprKind::Binary { lhs, rhs, .. }
            | ExprKind::Compare { lhs, rhs, .. }
            | ExprKind::Logic { lhs, rhs, .. } => depends(lhs) || depends(rhs),
            ExprKind::Select { cond, then, otherwise } => {
                depends(cond) || depends(then) || depends(otherwise)
            }
            ExprKind::Tiles { extent, tile } => depends(extent) || depends(tile),
        }
    }

    /// Whether every row of a tensor begins at a sector.
    fn rows_are_aligned(&self, array: ArrayRef, elem_bytes: f64) -> bool {
        let extents = self.kernel.extents(array);
        let row = extents.last().filter(|_| extents.len() > 1);
        row.and_then(|&extent| self.index(extent))
            .is_none_or(|extent| (extent * elem_bytes) % SECTOR_BYTES == 0.0)
    }

    /// Whether `expr` grows by one when `var` does: `expr` is a sum in which
    /// `var` stands once.
    fn is_unit_stride(&self, expr: ExprId, var: VarId) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Var(id) => {
                *id == var
                    || self
                        .lets
                        .get(id)
                        .is_some_and(|definition| self.is_unit_stride(*definition, var))
            }
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                self.is_unit_stride(*operand, var)
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                (self.is_unit_stride(*lhs, var) && !self.depends(*rhs, var))
                    || (self.is_unit_stride(*rhs, var) && !self.depends(*lhs, var))
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.is_unit_stride(*lhs, var) && !self.depends(*rhs, var)
            }
            ExprKind::Binary { .. }
            | ExprKind::Literal(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => false,
        }
    }
}

fn collect_lets(stmts: &[Stmt], kernel: &Kernel, lets: &mut BTreeMap<VarId, ExprId>) {
    for stmt in stmts {
        if let StmtKind::Let { var, init: Some(init) } = stmt.kind
            && kernel.vars[var].kind == (VarKind::Let { mutable: false })
        {
            lets.insert(var, init);
        }
        for body in stmt.kind.bodies() {
            collect_lets(body, kernel, lets);
        }
    }
}

/// Counts of one block.
#[derive(Default)]
struct BlockCost {
    /// Arithmetic operations of all items (a multiply-add is one).
    arithmetic: f64,
    /// Global traffic in whole sectors, in bytes.
    global_bytes: f64,
    /// Memory instructions of all threads.
    memory_instructions: f64,
    /// Shared-memory requests of one element per lane, of all threads.
    shared_requests: f64,
    /// Times that a thread waits for tiles' elements to compute with.
    shared_rounds: f64,
    /// Shared memory that exchanges among work-items take.
    exchange_bytes: f64,
    /// Barriers, and points where a global load is waited for.
    barriers: f64,
    waits: f64,
    /// Words of registers that the items' variables take in one thread.
    fragment_words: f64,
    /// Registers of a thread that hold operands shared by several items.
    operand_words: f64,
    /// Arithmetic of all items in one iteration of the longest phase.
    phase_arithmetic: f64,
    /// Bytes that one thread asks of global memory before it waits.
    bytes_in_flight: f64,
}

/// Whose points a statement runs for.
#[derive(Clone, Copy)]
enum Domain<'a> {
    Block,
    Each(&'a [(VarId, f64)]),
}

struct Walk<'a, 'k> {
    sizes: &'a Sizes<'k>,
    cost: &'a mut BlockCost,
}

impl Walk<'_, '_> {
    fn stmts(&mut self, stmts: &[Stmt], domain: Domain<'_>, trips: f64) {
        for stmt in stmts {
            self.stmt(stmt, domain, trips);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, domain: Domain<'_>, trips: f64) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                if matches!(domain, Domain::Block) && self.sizes.kernel.vars[*var].ty != Type::Index
                {
                    self.cost.fragment_words += self.items_per_thread();
                }
                if let Some(init) = init {
                    self.expr(*init, domain, trips);
                }
            }
            StmtKind::Assign { value, .. } => self.expr(*value, domain, trips),
            StmtKind::Store { access, value } => {
                self.expr(*value, domain, trips);
                self.access(access, domain, trips);
            }
            StmtKind::LetArray { init, .. } => {
                init.iter().for_each(|init| self.expr(*init, domain, trips));
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                for value in expected.iter().chain([value]) {
                    self.expr(*value, domain, trips);
                }
                // Read and written.
                self.access(access, domain, trips);
                self.access(access, domain, trips);
            }
            StmtKind::Update { place, value, .. } => {
                self.update(place, *value, domain, trips);
            }
            StmtKind::Each { axes, body, .. } => {
                let extents: Vec<(VarId, f64)> = axes
                    .iter()
                    .map(|axis| (axis.var, self.sizes.index_or(axis.extent, UNKNOWN_TRIPS)))
                    .collect();
                self.cost.waits += if self.sizes.config.stages > 1 { 0.1 * trips } else { trips };
                self.stmts(body, Domain::Each(&extents), trips);
            }
            StmtKind::Phase { range, body, .. } => {
                let trips = trips * self.sizes.trips(range);
                let before = self.cost.arithmetic;
                self.stmts(body, domain, trips);
                let of_one = (self.cost.arithmetic - before) / trips.max(1.0);
                self.cost.phase_arithmetic = self.cost.phase_arithmetic.max(of_one);
            }
            StmtKind::For { range, body, .. } => {
                let trips = trips * self.sizes.trips(range);
                self.stmts(body, domain, trips);
            }
            StmtKind::While { cond, body } => {
                let trips = trips * UNKNOWN_TRIPS;
                self.expr(*cond, domain, trips);
                self.stmts(body, domain, trips);
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(*cond, domain, trips);
                self.stmts(then, domain, trips);
                self.stmts(otherwise, domain, trips);
            }
            StmtKind::Exchange { var, op, value, lane } => {
                [*value].into_iter().chain(*lane).for_each(|id| self.expr(id, domain, trips));
                self.exchange(*var, *op, domain, trips);
            }
            // No device that is estimated evaluates it.
            StmtKind::Assume { .. } => {}
            StmtKind::WarpBarrier => {}
            StmtKind::Barrier => {
                let per_iteration = if self.sizes.config.stages > 1 { 0.5 } else { 1.0 };
                self.cost.barriers += per_iteration * trips;
            }
        }
    }

    /// Levels of a tree: of one over the block, with a barrier after each.
    fn exchange(&mut self, var: VarId, op: ExchangeOp, domain: Domain<'_>, trips: f64) {
        let items = self.points(domain);
        let levels = match op {
            ExchangeOp::Reduce(_) | ExchangeOp::Scan { .. } => items.log2().ceil().max(0.0) + 2.0,
            ExchangeOp::WarpReduce(_) => f64::from(WARP_ITEMS).log2(),
            ExchangeOp::Shuffle(_) | ExchangeOp::Ballot => 1.0,
        };
        match op.group() {
            Group::Block => {
                let bytes = self.sizes.type_bytes(self.sizes.kernel.vars[var].ty);
                let bytes = items * bytes * f64::from(op.n_buffers());
                // Those of one type share their memory; of several the most counts.
                self.cost.exchange_bytes = self.cost.exchange_bytes.max(bytes);
                self.cost.barriers += levels * trips;
                self.cost.arithmetic += items * trips;
            }
            Group::Warp => self.cost.arithmetic += items * levels * trips,
        }
    }

    fn update(&mut self, place: &Place, value: ExprId, domain: Domain<'_>, trips: f64) {
        self.expr(value, domain, trips);
        let fused = matches!(
            self.sizes.kernel.exprs[value].kind,
            ExprKind::Binary { op: BinaryOp::Mul, .. }
        );
        if !fused {
            self.cost.arithmetic += self.points(domain) * trips;
        }
        if let Place::Element(access) = place {
            self.access(access, domain, trips);
            self.access(access, domain, trips);
        }
    }

    fn points(&self, domain: Domain<'_>) -> f64 {
        let axes = match domain {
            Domain::Block => &self.sizes.block,
            Domain::Each(axes) => axes,
        };
        axes.iter().map(|(_, extent)| extent).product()
    }

    fn items_per_thread(&self) -> f64 {
        let axes = self.sizes.block.iter().zip(&self.sizes.config.block);
        axes.map(|((_, extent), items)| f64::from(items.items_per_thread(*extent as u32))).product()
    }

    fn expr(&mut self, expr: ExprId, domain: Domain<'_>, trips: f64) {
        let node = &self.sizes.kernel.exprs[expr];
        let counts = node.ty != Type::Index;
        match &node.kind {
            ExprKind::Literal(_) | ExprKind::Var(_) | ExprKind::InBounds { .. } => {}
            ExprKind::Load(access) => self.access(access, domain, trips),
            ExprKind::Unary { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Uniform(operand) => {
                self.expr(*operand, domain, trips);
            }
            ExprKind::Math { arg, .. } => {
                self.cost.arithmetic += 8.0 * self.points(domain) * trips;
                self.expr(*arg, domain, trips);
            }
            ExprKind::Binary { lhs, rhs, .. }
            | ExprKind::Compare { lhs, rhs, .. }
            | ExprKind::Logic { lhs, rhs, .. }
            | ExprKind::Tiles { extent: lhs, tile: rhs } => {
                if counts {
                    self.cost.arithmetic += self.points(domain) * trips;
                }
                self.expr(*lhs, domain, trips);
                self.expr(*rhs, domain, trips);
            }
            ExprKind::Select { cond, then, otherwise } => {
                for part in [cond, then, otherwise] {
                    self.expr(*part, domain, trips);
                }
            }
        }
    }

    fn access(&mut self, access: &Access, domain: Domain<'_>, trips: f64) {
        let sizes = self.sizes;
        let touched = |var: VarId| access.indices.iter().any(|&index| sizes.depends(index, var));
        let axes = match domain {
            Domain::Block => &sizes.block[..],
            Domain::Each(axes) => axes,
        };
        let distinct: f64 =
            axes.iter().filter(|(var, _)| touched(*var)).map(|(_, extent)| extent).product();
        let per_thread = match domain {
            Domain::Block => {
                let items = axes.iter().zip(&sizes.config.block);
                items
                    .filter(|((var, _), _)| touched(*var))
                    .map(|((_, extent), items)| f64::from(items.items_per_thread(*extent as u32)))
                    .product()
            }
            Domain::Each(_) => (self.points(domain) / f64::from(sizes.config.threads)).ceil(),
        };
        let width = match domain {
            Domain::Block => {
                let items = axes.iter().zip(&sizes.config.block);
                let runs = items.filter(|((var, _), _)| touched(*var)).map(|(_, items)| items.run);
                f64::from(runs.max().unwrap_or(1))
            }
            Domain::Each(_) => {
                let elem = sizes.elem_bytes(access.array);
                (f64::from(sizes.config.copy_bytes) / elem).clamp(1.0, per_thread.max(1.0))
            }
        };
        let requests = per_thread / width * f64::from(sizes.config.threads) * trips;
        self.cost.memory_instructions += requests;
        match access.array {
            // In registers, or in the first-level cache.
            ArrayRef::Tile(_) if sizes.kernel.is_local(access.array) => {}
            ArrayRef::Tensor(id) if sizes.kernel.tensors[id].space == TensorSpace::Constant => {}
            ArrayRef::Tile(_) => {
                let bytes = width * sizes.elem_bytes(access.array);
                self.cost.shared_requests += requests * (bytes / WAVEFRONT_BYTES).max(1.0);
                if matches!(domain, Domain::Block) {
                    self.cost.operand_words += per_thread;
                    self.cost.shared_rounds += trips;
                }
            }
            ArrayRef::Tensor(_) => {
                let run = access.indices.last().and_then(|&last| {
                    axes.iter().find(|(var, _)| sizes.is_unit_stride(last, *var))
                });
                let bytes = sizes.elem_bytes(access.array);
                let run_bytes = run.map_or(1.0, |(_, extent)| *extent) * bytes;
                let mut sectors = (run_bytes / SECTOR_BYTES).ceil();
                if !sizes.rows_are_aligned(access.array, bytes) {
                    // A run begins anywhere within a sector.
                    sectors += 1.0;
                }
                let mut moved = sectors * SECTOR_BYTES;
                if run_bytes < LONG_RUN_BYTES {
                    moved += RUN_OVERHEAD_BYTES;
                }
                self.cost.bytes_in_flight += per_thread * bytes;
                self.cost.global_bytes += distinct * bytes * trips * (moved / run_bytes);
            }
        }
    }
}

/// From the counts of one block to the time of the launch.
fn finish(
    kernel: &Kernel,
    device: &DeviceProperties,
    config: &Config,
    sizes: &Sizes<'_>,
    block: &BlockCost,
) -> Estimate {
    let threads = f64::from(config.threads);
    let blocks: f64 = kernel.grid.iter().map(|axis| sizes.index_or(axis.extent, 1.0)).product();
    let bytes_of = |(id, tile): (TileId, &Tile)| {
        let elems: f64 = tile.extents.iter().map(|&extent| sizes.index_or(extent, 1.0)).product();
        elems * sizes.elem_bytes(ArrayRef::Tile(id))
    };
    let (shared, local): (Vec<_>, Vec<_>) =
        kernel.tiles.iter().partition(|(_, tile)| tile.space == TileSpace::Shared);
    let shared_bytes = shared.into_iter().map(bytes_of);
    let items = kernel.block.iter().flatten().map(|axis| sizes.index_or(axis.extent, 1.0));
    let items_per_thread = (items.product::<f64>() / threads).ceil().max(1.0);
    let local_words = local.into_iter().map(bytes_of).sum::<f64>() / 4.0 * items_per_thread;
    let shared_bytes =
        (shared_bytes.sum::<f64>() + block.exchange_bytes) as u64 * u64::from(config.stages.max(1));
    let operands = block.operand_words * f64::from(config.fragment_buffers.max(1));
    let registers = BASE_REGISTERS + block.fragment_words + local_words + operands.min(64.0);
    let blocks_per_sm = resident_blocks(device, config.threads, registers, shared_bytes);

    // Cycles that the SM's units need for the blocks that it holds at once.
    let warps = (threads / 32.0).ceil();
    let resident = f64::from(blocks_per_sm.max(1)).min((blocks / f64::from(device.sms)).ceil());
    let resident = resident.max(1.0);
    let copies = if config.unroll_stages { config.stages.max(1) } else { 1 };
    let code = block.phase_arithmetic / threads * f64::from(copies) * INSTRUCTION_BYTES;
    let is_late = code > CODE_BYTES && resident * warps < FETCHING_WARPS;
    let fetch = if is_late || code > MAX_CODE_BYTES { FETCH_LOSS } else { 1.0 };
    let busy = |blocks: f64| {
        let schedulers = (blocks * warps).min(SCHEDULERS) / SCHEDULERS;
        let fma =
            block.arithmetic / (f64::from(device.f32_fma_per_clock_per_sm.max(1)) * schedulers);
        let slots = (block.arithmetic + 2.0 * block.memory_instructions) / 32.0;
        let issue = fetch * slots / (SCHEDULERS * schedulers);
        let shared = block.shared_requests / 32.0;
        // Arithmetic and shared-memory traffic overlap only in part.
        blocks * (fma.max(issue).max(shared) + 0.5 * fma.min(shared))
    };
    let per_sm_bytes_per_cycle =
        device.memory_bytes_per_s / device.clock_hz / f64::from(device.sms.max(1));
    let in_flight = resident * threads * block.bytes_in_flight;
    let shallow = per_sm_bytes_per_cycle * GLOBAL_LATENCY_CYCLES / in_flight.max(1.0);
    let loss = 1.0 + SHALLOW_LOSS * shallow.min(2.0).powi(3);
    let memory = block.global_bytes / per_sm_bytes_per_cycle * loss;
    // Operands that are loaded ahead are there when they are needed.
    let is_ahead = config.fragment_buffers > 1;
    let shared_latency = if is_ahead { 0.0 } else { SHARED_LATENCY_CYCLES };
    // The cycles that one block takes alone: latency is not hidden from itself.
    let alone = busy(1.0)
        + memory
        + (block.waits + 1.0) * GLOBAL_LATENCY_CYCLES
        + block.shared_rounds * shared_latency
        + block.barriers * (BARRIER_CYCLES + warps);
    let (core, traffic) = (busy(resident), resident * memory);
    let wave = core.max(traffic).max(alone) + OVERLAP_LOSS * core.min(traffic);
    let waves = (blocks / (resident * f64::from(device.sms.max(1)))).ceil();
    // Blocks start while others run, but for the first and the last.
    let cycles = (waves * wave).hypot(blocks * BLOCK_START_CYCLES);
    Estimate {
        blocks,
        blocks_per_sm,
        shared_bytes,
        registers,
        arithmetic: block.arithmetic * blocks,
        global_bytes: block.global_bytes * blocks,
        seconds: cycles / device.clock_hz,
    }
}

/// Blocks that one SM holds at once: the least of what threads, block slots,
/// registers and shared memory allow.
fn resident_blocks(
    device: &DeviceProperties,
    threads: u32,
    registers: f64,
    shared_bytes: u64,
) -> u32 {
    let by_threads = device.max_threads_per_sm / threads.max(1);
    let registers_per_block = registers.min(255.0) * f64::from(threads);
    let by_registers = (f64::from(device.registers_per_sm) / registers_per_block) as u32;
    let shared = shared_bytes + u64::from(device.shared_bytes_reserved_per_block);
    let by_shared = u64::from(device.shared_bytes_per_sm) / shared.max(1);
    if shared_bytes > u64::from(device.shared_bytes_per_block_optin) {
        return 0;
    }
    let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
    by_threads.min(device.max_blocks_per_sm).min(by_registers).min(by_shared)
}
