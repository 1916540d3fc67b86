//! Tile sizes that the arguments' shapes say: of `q: &Tensor<f32, [N, D]>` with
//! `tile: (D in [32, 64, 128])`, the second extent is D; of `[B, 2 * HALF]` it says HALF.

use std::borrow::Cow;

use tile_ir::kernel::{ExprId, ExprKind, Kernel, TileDomain, TileParamId, VarKind, eval_index};

use super::bind::Bound;
use crate::options::Options;

/// The options, and the size of each free tile parameter that alone decides an extent,
/// unless the options give it or a whole configuration.
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
            let Some((id, size)) = size_of(kernel, expr, extent) else { continue };
            let param = &kernel.tile_params[id];
            let is_free = match &param.domain {
                TileDomain::Any
                | TileDomain::Range { .. }
                | TileDomain::Pow2 { .. }
                | TileDomain::List(_) => true,
                TileDomain::Equal(_) => false,
            };
            let is_given = options.tiles.iter().any(|(name, _)| *name == param.name);
            if is_free && !is_given {
                options.to_mut().tiles.push((param.name.clone(), size));
            }
        }
    }
    options
}

/// The tile parameter that alone decides an extent, as one factor and one summand of it
/// say, and its size where the extent is so much.
fn size_of(kernel: &Kernel, expr: ExprId, extent: usize) -> Option<(TileParamId, u32)> {
    // What most extents are: a dimension's name.
    if let ExprKind::Var(var) = kernel.exprs[expr].kind
        && kernel.vars[var].kind == VarKind::Dim
    {
        return None;
    }
    let extent = i128::try_from(extent).ok()?;
    kernel.vars.iter().find_map(|(var, described)| {
        let VarKind::TileParam(id) = described.kind else { return None };
        let at = |size: i128| eval_index(kernel, expr, &|name| (name == var).then_some(size));
        let (first, second) = (at(1)?, at(2)?);
        let step = second.checked_sub(first).filter(|step| *step > 0)?;
        let size = extent.checked_sub(first)?.checked_div(step)?.checked_add(1)?;
        let size = u32::try_from(size).ok().filter(|size| *size > 0)?;
        (at(size.into()) == Some(extent)).then_some((id, size))
    })
}
