//! Tile sizes that the arguments' shapes say: of `q: &Tensor<f32, [N, D]>` with
//! `tile: (D in [32, 64, 128])`, the second extent is D.

use std::borrow::Cow;

use tile_ir::kernel::{ExprKind, Kernel, TileDomain, VarKind};

use super::bind::Bound;
use crate::options::Options;

/// The options, and the size of each free tile parameter that stands alone as an
/// extent, unless the options give it or a whole configuration.
///
/// Whether the size is admissible is said when the configuration is chosen; whether
/// all extents agree, when they are checked against it.
pub(super) fn with_sizes_of_shapes<'o>(
    kernel: &Kernel,
    bound: &Bound<'_>,
    options: &'o Options,
) -> Cow<'o, Options> {
    let mut options = Cow::Borrowed(options);
    if options.config.is_some() {
        return options;
    }
    for (declared, tensor) in kernel.tensors.values().zip(&bound.tensors) {
        for (&expr, &extent) in declared.extents.iter().zip(tensor.shape) {
            let ExprKind::Var(var) = kernel.exprs[expr].kind else { continue };
            let VarKind::TileParam(id) = kernel.vars[var].kind else { continue };
            let param = &kernel.tile_params[id];
            let is_free = match &param.domain {
                TileDomain::Any
                | TileDomain::Range { .. }
                | TileDomain::Pow2 { .. }
                | TileDomain::List(_) => true,
                TileDomain::Equal(_) => false,
            };
            let is_given = options.tiles.iter().any(|(name, _)| *name == param.name);
            if let (true, false, Ok(size)) = (is_free, is_given, u32::try_from(extent)) {
                options.to_mut().tiles.push((param.name.clone(), size));
            }
        }
    }
    options
}
