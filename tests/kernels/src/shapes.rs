//! The shapes at which a configuration is run: small, and such that what goes wrong
//! between blocks, between the iterations of a loop or at an edge has room to.

use tile_runtime::Kernel;
use tile_runtime::ir::config::Config;
use tile_runtime::ir::kernel::{ExprId, ExprKind, VarKind};

/// Extents in the order of [`Kernel::dims`].
pub(crate) type Shape = Vec<usize>;

/// What a dimension without a tile size of its name has where others have one.
const UNTILED: usize = 3;
/// The least extents, by the number of dimensions: where there are more of them, what is
/// small takes long enough.
const LEAST: [usize; 4] = [1, 17, 9, 1];

/// Shapes of at least two blocks and two rounds of each loop over tiles, the last tile
/// ragged: two tiles along each dimension of the grid in turn, also with extents that are
/// multiples of eight, for vectors; and more rounds than a phase has stages.
pub(crate) fn whole_shapes(kernel: &Kernel, config: &Config) -> Vec<Shape> {
    let tiles = tiles_of_dims(kernel, config);
    let of_grid = dims_of_grid(kernel);
    let least = LEAST[tiles.len().min(LEAST.len() - 1)];
    let extent = |dim: usize, rounds: usize| match tiles[dim] {
        None => UNTILED,
        Some(tile) if rounds == 0 => tile.saturating_sub(1).max(1).max(least),
        Some(tile) => (tile * rounds + 1).max(least),
    };
    let shape = |wide: usize, rounds: usize| -> Shape {
        let extents = (0..tiles.len()).map(|dim| match (of_grid[dim], dim == wide) {
            (false, _) => extent(dim, rounds),
            (true, true) => extent(dim, 1),
            // Where there are many dimensions, one ragged tile.
            (true, false) => extent(dim, usize::from(tiles.len() < LEAST.len() - 1)),
        });
        extents.collect()
    };
    let mut wides: Vec<usize> =
        (0..tiles.len()).filter(|&dim| of_grid[dim] && tiles[dim].is_some()).collect();
    if wides.is_empty() {
        wides.push(0);
    }
    let mut shapes: Vec<Shape> = wides.iter().map(|&wide| shape(wide, 1)).collect();
    shapes.push(shapes[0].iter().map(|extent| extent.next_multiple_of(8)).collect());
    let deep = shape(wides[wides.len() - 1], config.stages as usize + 1);
    if !shapes.contains(&deep) {
        shapes.push(deep);
    }
    shapes
}

/// Of each dimension, whether the number of blocks depends on it.
fn dims_of_grid(kernel: &Kernel) -> Vec<bool> {
    let ir = kernel.checked().kernel();
    let mut rest: Vec<ExprId> = ir.grid.iter().map(|axis| axis.extent).collect();
    let mut found = Vec::new();
    while let Some(id) = rest.pop() {
        if let ExprKind::Var(var) = ir.exprs[id].kind {
            found.push(var);
        }
        rest.extend(ir.exprs[id].kind.operands());
    }
    let dims = ir.vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
    dims.map(|(id, _)| found.contains(&id)).collect()
}

/// Shapes with extents of 0 and 1.
pub(crate) fn edge_shapes(n_dims: usize) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = [1, 0].map(|extent| vec![extent; n_dims]).to_vec();
    for odd in 0..n_dims {
        for (one, others) in [(1, 17), (0, 5)] {
            let extent = |dim| if dim == odd { one } else { others };
            shapes.push((0..n_dims).map(extent).collect());
        }
    }
    shapes
}

/// The tile size along each dimension. The kernels of this crate call the tiles of a
/// dimension `N` `TN`; where none is called so, any may be along any.
fn tiles_of_dims(kernel: &Kernel, config: &Config) -> Vec<Option<usize>> {
    let names = kernel.tiles();
    let size = |dim: &str| {
        let own = |name: &&str| name.strip_prefix('T') == Some(dim);
        let at = names.iter().position(own)?;
        config.tiles.get(at).map(|&size| size as usize)
    };
    let sizes: Vec<Option<usize>> = kernel.dims().into_iter().map(size).collect();
    if sizes.iter().any(Option::is_some) {
        return sizes;
    }
    let largest = config.tiles.iter().copied().max().unwrap_or(1) as usize;
    // A warp goes through the last of several dimensions in rounds of its own.
    let is_row = |dim: usize| dim > 0 && dim + 1 == sizes.len();
    (0..sizes.len()).map(|dim| Some(largest.max(if is_row(dim) { 36 } else { 8 }))).collect()
}
