//! Everything concrete about a launch that the model asks for: extents, trips, and
//! how indices follow coordinates.

use std::collections::BTreeMap;

use super::SECTOR_BYTES;
use super::text::Text;
use crate::config::{Config, tile_value};
use crate::dtype::DType;
use crate::exchange::WARP_ITEMS;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, ScalarId, Stmt, TileId, Type, VarId,
    VarKind, eval_index,
};

/// Iterations assumed of a loop whose count is not known before the launch.
pub(crate) const UNKNOWN_TRIPS: f64 = 16.0;
/// Iterations up to which a loop is written out: what lowering does.
const MAX_COPIES: f64 = 32.0;

/// Everything concrete about a launch that the walk asks for.
pub(super) struct Sizes<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) text: &'a Text,
    types: &'a [DType],
    tiles: &'a [u32],
    pub(super) config: &'a Config,
    dims: BTreeMap<VarId, i128>,
    /// The scalars that are known.
    scalars: &'a [(ScalarId, i128)],
    /// Extents of the block domain, with the axes' variables.
    pub(super) block: Vec<(VarId, f64)>,
    /// Threads of a warp along each axis of the block domain.
    pub(super) lanes: Vec<u32>,
    /// See [`Self::rows`].
    rows: BTreeMap<TileId, usize>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        text: &'a Text,
        types: &'a [DType],
        dims: &[u64],
        scalars: &'a [(ScalarId, i128)],
        config: &'a Config,
    ) -> Self {
        let dim_vars = kernel.vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
        let dims = dim_vars.zip(dims).map(|((id, _), &dim)| (id, i128::from(dim))).collect();
        let (tiles, block, rows) = (&config.tiles, Vec::new(), BTreeMap::new());
        let lanes = lanes(config);
        let mut sizes =
            Self { kernel, text, types, tiles, config, dims, scalars, block, lanes, rows };
        let axes = kernel.block.as_deref().unwrap_or_default();
        sizes.block =
            axes.iter().map(|axis| (axis.var, sizes.index_or(axis.extent, 1.0))).collect();
        sizes.rows = sizes.rows();
        sizes
    }

    pub(super) fn index(&self, expr: ExprId) -> Option<f64> {
        let var =
            |id| self.dims.get(&id).copied().or_else(|| tile_value(self.kernel, self.tiles, id));
        eval_index(self.kernel, expr, &var).map(|value| value as f64)
    }

    /// An index of a typical work-item: the first of the block in the middle of the grid.
    fn typical_index(&self, expr: ExprId) -> Option<f64> {
        eval_index(self.kernel, expr, &|var| self.typical(var)).map(|value| value as f64)
    }

    fn typical(&self, var: VarId) -> Option<i128> {
        if let Some(&definition) = self.text.lets.get(&var) {
            return eval_index(self.kernel, definition, &|var| self.typical(var));
        }
        match self.kernel.vars[var].kind {
            VarKind::Block | VarKind::Each => Some(0),
            VarKind::Grid => {
                let axis = self.kernel.grid.iter().find(|axis| axis.var == var)?;
                Some(self.index(axis.extent)? as i128 / 2)
            }
            VarKind::Dim => self.dims.get(&var).copied(),
            VarKind::TileParam(_) => tile_value(self.kernel, self.tiles, var),
            VarKind::Scalar(id) => {
                let known = self.scalars.iter().find(|(scalar, _)| *scalar == id);
                known.map(|(_, value)| *value)
            }
            VarKind::Loop | VarKind::Let { .. } => None,
        }
    }

    pub(super) fn index_or(&self, expr: ExprId, otherwise: f64) -> f64 {
        self.index(expr).unwrap_or(otherwise)
    }

    /// Iterations of a loop with such a counter.
    pub(super) fn trips(&self, counter: VarId, range: &LoopRange) -> f64 {
        let trips = match range {
            LoopRange::Between { start, end, step, .. } => {
                let step = step.map_or(Some(1.0), |step| self.index(step)).filter(|s| *s > 0.0);
                self.typical_index(*start)
                    .zip(self.typical_index(*end))
                    .zip(step)
                    .map(|((start, end), step)| ((end - start) / step).ceil().max(0.0))
            }
            LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                self.index(*n).map(|n| n.max(1.0).log2().ceil())
            }
        };
        trips.or_else(|| self.trips_over_all(counter, range)).unwrap_or(UNKNOWN_TRIPS)
    }

    /// Iterations of a loop between bounds that data decide: where it goes along a tensor of
    /// one axis, all of the launch's loops together go along it once.
    fn trips_over_all(&self, counter: VarId, range: &LoopRange) -> Option<f64> {
        let LoopRange::Between { start, .. } = range else { return None };
        let elems = self.index(self.text.loops.along(counter)?)?;
        let apart = self.block.iter().filter(|(var, _)| self.depends(*start, *var));
        let walkers = self.blocks() * apart.map(|(_, extent)| extent).product::<f64>();
        Some((elems / walkers.max(1.0)).max(1.0))
    }

    /// From one value of a loop's counter to the next.
    pub(super) fn step(&self, range: &LoopRange) -> f64 {
        match range {
            LoopRange::Between { step: Some(step), .. } => self.index_or(*step, f64::INFINITY),
            LoopRange::Between { step: None, .. } => 1.0,
            LoopRange::Halving(_) | LoopRange::Doubling(_) => f64::INFINITY,
        }
    }

    pub(super) fn elem_bytes(&self, array: ArrayRef) -> f64 {
        let elem = match array {
            ArrayRef::Tensor(id) => self.kernel.tensors[id].elem,
            ArrayRef::Tile(id) => self.kernel.tiles[id].elem,
        };
        f64::from(elem.bind(self.types).map_or(4, DType::size_bytes))
    }

    pub(super) fn type_bytes(&self, ty: Type) -> f64 {
        let dtype = match ty {
            Type::Index => None,
            Type::Scalar(elem) => elem.bind(self.types),
        };
        f64::from(dtype.map_or(4, DType::size_bytes))
    }

    /// Whether the value of `expr` changes with `var`, through `let`s.
    pub(super) fn depends(&self, expr: ExprId, var: VarId) -> bool {
        self.text.follows.depends(expr, var)
    }

    /// Whether `expr` grows by one when `var` does: `expr` is a sum in which
    /// `var` stands once.
    pub(super) fn is_unit_stride(&self, expr: ExprId, var: VarId) -> bool {
        self.text.follows.is_unit_stride(expr, var)
    }

    /// Iterations that are written out one after the other: all of a short loop whose
    /// `trips` are known and in which the block does not meet.
    pub(super) fn copies(&self, range: &LoopRange, trips: f64, body: &[Stmt]) -> f64 {
        if trips > MAX_COPIES || body.iter().any(Stmt::has_meeting) {
            return 1.0;
        }
        let is_known = range.exprs().iter().all(|expr| {
            let tile = |id| tile_value(self.kernel, self.tiles, id);
            eval_index(self.kernel, *expr, &tile).is_some()
        });
        if is_known { trips.max(1.0) } else { 1.0 }
    }

    /// Items of a thread of the block domain.
    pub(super) fn items_per_thread(&self) -> f64 {
        self.items_along(|_| true)
    }

    /// Items of a thread that differ in the coordinates of some axes.
    pub(super) fn items_along(&self, is_counted: impl Fn(VarId) -> bool) -> f64 {
        let axes = self.block.iter().zip(&self.config.block);
        axes.filter(|((var, _), _)| is_counted(*var))
            .map(|((_, extent), items)| f64::from(items.items_per_thread(*extent as u32)))
            .product()
    }

    /// Items of a thread in a row: along the last axis. Of one axis alone there is one.
    pub(super) fn items_of_last_axis(&self) -> f64 {
        match self.block.as_slice() {
            [_, .., (last, _)] => self.items_along(|var| var == *last),
            _ => f64::INFINITY,
        }
    }

    /// Whether each thread of the block has one work-item, in order.
    pub(super) fn is_one_per_thread(&self) -> bool {
        let extents: Vec<u32> = self.block.iter().map(|(_, extent)| *extent as u32).collect();
        self.config.is_one_per_thread(&extents)
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> f64 {
        self.kernel.grid.iter().map(|axis| self.index_or(axis.extent, 1.0)).product()
    }

    /// Elements of an array.
    pub(super) fn elems(&self, array: ArrayRef) -> f64 {
        self.kernel.extents(array).iter().map(|&extent| self.index_or(extent, 1.0)).product()
    }

    /// Whether a thread's consecutive items along `var` may lie in vectors of a tile: their
    /// place in a row follows `var` one by one, from a place that the compiler knows. Where
    /// data decide their places nothing is known of these.
    pub(super) fn has_vectors(&self, access: &Access, var: VarId) -> bool {
        let along = access.indices.iter().find(|&&index| self.depends(index, var));
        along.is_none_or(|&index| {
            let origins = &self.text.origins;
            origins.is_of_data(index)
                || (self.is_unit_stride(index, var) && origins.is_placed(index))
        })
    }

    /// Whether a thread's consecutive items along `var`, so many of them, begin where a vector
    /// of a tensor's row does.
    pub(super) fn begin_a_vector(&self, access: &Access, var: VarId, items: f64) -> bool {
        let along = access.indices.iter().find(|&&index| self.is_unit_stride(index, var));
        along.is_some_and(|&index| {
            let (rest, number) = self.without_numbers(index);
            number % items == 0.0 && !self.text.is_shifted(rest)
        })
    }

    /// Whether an access to a tile does not run along the tile's rows where `var` grows.
    /// A tile's rows are along the axis along which threads take several items in a row,
    /// the last one if there is none: of the layouts that lowering tries, that one has
    /// vectors where the block computes.
    pub(super) fn is_across(&self, access: &Access, var: VarId) -> bool {
        let ArrayRef::Tile(tile) = access.array else { return false };
        let last = access.indices.len().saturating_sub(1);
        let axis = self.rows.get(&tile).copied().unwrap_or(last);
        !access.indices.get(axis).is_none_or(|&index| self.is_unit_stride(index, var))
    }

    /// The axis of each tile along which threads read several items in a row.
    fn rows(&self) -> BTreeMap<TileId, usize> {
        let mut rows = BTreeMap::new();
        let axes = self.block.iter().zip(&self.config.block);
        let runs: Vec<VarId> =
            axes.filter(|(_, items)| items.run > 1).map(|((var, _), _)| *var).collect();
        for expr in self.kernel.exprs.values().filter(|_| !runs.is_empty()) {
            let ExprKind::Load(Access { array: ArrayRef::Tile(tile), indices, .. }) = &expr.kind
            else {
                continue;
            };
            let is_row = |index: &ExprId| runs.iter().any(|&var| self.is_unit_stride(*index, var));
            if let Some(axis) = indices.iter().rposition(is_row) {
                rows.entry(*tile).and_modify(|known| *known = axis.max(*known)).or_insert(axis);
            }
        }
        rows
    }

    /// Whether every row of a tensor begins at a sector.
    pub(super) fn rows_are_aligned(&self, array: ArrayRef, elem_bytes: f64) -> bool {
        let extents = self.kernel.extents(array);
        let row = extents.last().filter(|_| extents.len() > 1);
        row.and_then(|&extent| self.index(extent))
            .is_none_or(|extent| (extent * elem_bytes) % SECTOR_BYTES == 0.0)
    }

    /// Threads of a block that have items.
    pub(super) fn busy_threads(&self) -> f64 {
        self.config.block.iter().map(|axis| f64::from(axis.threads)).product()
    }

    /// Consecutive items of a thread along the last axis.
    pub(super) fn run_of_last_axis(&self) -> f64 {
        self.config.block.last().map_or(1.0, |items| f64::from(items.run))
    }
}

/// Threads of a warp along each axis of the block domain.
fn lanes(config: &Config) -> Vec<u32> {
    let axes = &config.block;
    let tiled: u32 = axes.iter().map(|axis| axis.lanes).product();
    if tiled == WARP_ITEMS && axes.iter().all(|axis| axis.threads.is_multiple_of(axis.lanes)) {
        return axes.iter().map(|axis| axis.lanes).collect();
    }
    let mut left = WARP_ITEMS;
    let mut lanes: Vec<u32> = axes
        .iter()
        .rev()
        .map(|axis| {
            let own = axis.threads.clamp(1, left.max(1));
            left /= own;
            own
        })
        .collect();
    lanes.reverse();
    lanes
}
