//! From the arguments of a launch to the values of the kernel's names: checks
//! that tensors agree with the signature and with one another.

use std::sync::Arc;

use tile_ir::arena::EntityId as _;
use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::{
    ExprId, ExprKind, Kernel, Param, TensorId, VarId, VarKind, eval_index, print_expr,
};
use tile_ir::lower::{Binding, TensorLayout};
use tile_ir::syntax::TensorSpace;
use tile_ir::value::ScalarValue;

use super::argument::{Argument, ArgumentKind, TensorArgument};
use super::error::ArgumentError;
use crate::error::{Error, Result};

/// Extents beyond this are no index: halos and tiles are added to them.
const MAX_EXTENT: usize = 1 << 62;

/// The values of a kernel's dimensions. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dims {
    vars: Arc<[VarId]>,
    values: Arc<[u64]>,
}

impl Dims {
    /// From one value per dimension, in the order of the kernel's variables.
    pub(crate) fn of_values(kernel: &Kernel, values: &[usize]) -> Self {
        let values = values.iter().map(|&value| value as u64).collect();
        Self { vars: dim_vars(kernel).into(), values }
    }

    /// Of a kernel without dimensions.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { vars: Arc::new([]), values: Arc::new([]) }
    }

    /// One value per dimension, in the order of the kernel's variables.
    pub(crate) fn values(&self) -> &[u64] {
        &self.values
    }

    /// The value of a dimension; `None` of any other variable.
    pub(crate) fn get(&self, var: VarId) -> Option<u64> {
        self.vars.iter().position(|known| *known == var).map(|at| self.values[at])
    }
}

/// A launch's arguments by the ids of the kernel's parameters.
#[derive(Debug)]
pub(crate) struct Bound<'a> {
    pub(crate) tensors: Vec<&'a TensorArgument<'a>>,
    pub(crate) scalars: Vec<ScalarValue>,
    pub(crate) dims: Dims,
}

impl Bound<'_> {
    /// How the tensors' elements lie; nothing where all are row-major without gaps.
    pub(super) fn layouts(&self) -> Vec<TensorLayout> {
        match self.tensors.iter().any(|tensor| tensor.strides.is_some()) {
            true => self.tensors.iter().map(|tensor| tensor.layout()).collect(),
            false => Vec::new(),
        }
    }
}

/// The dimensions' variables, in order.
fn dim_vars(kernel: &Kernel) -> Vec<VarId> {
    let vars = kernel.vars.iter();
    vars.filter(|(_, var)| var.kind == VarKind::Dim).map(|(id, _)| id).collect()
}

/// Sorts the arguments by parameter, binds the dimensions and checks every
/// extent that says nothing of tile sizes.
pub(crate) fn bind<'a>(
    kernel: &Kernel,
    types: &[DType],
    arguments: &'a [Argument<'a>],
) -> Result<Bound<'a>> {
    let mut tensors = Vec::with_capacity(kernel.tensors.len());
    let mut scalars = Vec::with_capacity(kernel.scalars.len());
    if arguments.len() != kernel.params.len() {
        return Err(mismatch(kernel, "another number of arguments than parameters"));
    }
    for (param, argument) in kernel.params.iter().zip(arguments) {
        match (param, &argument.kind) {
            (Param::Tensor(id), ArgumentKind::Tensor(tensor)) => {
                let declared = &kernel.tensors[*id];
                let fits = declared.elem.bind(types) == Some(tensor.dtype)
                    && declared.extents.len() == tensor.shape.len()
                    && declared.mutable == tensor.mutable
                    && declared.space == tensor.space;
                if !fits {
                    return Err(mismatch(kernel, &format!("a bad tensor `{}`", declared.name)));
                }
                tensors.push((id.index(), tensor));
            }
            (Param::Scalar(id), ArgumentKind::Scalar(value)) => {
                let declared = &kernel.scalars[*id];
                if declared.elem.bind(types) != Some(value.dtype) {
                    return Err(mismatch(kernel, &format!("a bad scalar `{}`", declared.name)));
                }
                scalars.push((id.index(), *value));
            }
            (Param::Tensor(_), ArgumentKind::Scalar(_))
            | (Param::Scalar(_), ArgumentKind::Tensor(_)) => {
                return Err(mismatch(kernel, "a tensor for a scalar or a scalar for a tensor"));
            }
        }
    }
    tensors.sort_by_key(|(index, _)| *index);
    scalars.sort_by_key(|(index, _)| *index);
    let tensors: Vec<_> = tensors.into_iter().map(|(_, tensor)| tensor).collect();
    let scalars = scalars.into_iter().map(|(_, value)| value).collect();
    check_devices(kernel, &tensors)?;
    check_constants(kernel, &tensors)?;
    let dims = bind_dims(kernel, &tensors)?;
    check_extents(kernel, &tensors, &dims, None)?;
    Ok(Bound { tensors, scalars, dims })
}

/// The macro's own glue does not fit the kernel it carries.
fn mismatch(kernel: &Kernel, what: &str) -> Error {
    Error::internal(format!("the expansion of `{}` passes {what}", kernel.name), "")
}

fn check_devices(kernel: &Kernel, tensors: &[&TensorArgument<'_>]) -> Result<()> {
    let names: Vec<&str> = kernel.tensors.values().map(|tensor| tensor.name.as_str()).collect();
    let Some((first, others)) = tensors.split_first() else { return Ok(()) };
    for (other, name) in others.iter().zip(&names[1..]) {
        if other.device != first.device {
            return Err(ArgumentError::Devices {
                first: names[0].to_owned(),
                first_device: first.device.to_string(),
                second: (*name).to_owned(),
                second_device: other.device.to_string(),
            }
            .into());
        }
    }
    Ok(())
}

/// Constant memory must hold the kernel's constants, whatever of it they use.
fn check_constants(kernel: &Kernel, tensors: &[&TensorArgument<'_>]) -> Result<()> {
    let declared = kernel.tensors.values().zip(tensors);
    let constants: Vec<(&str, usize)> = declared
        .filter(|(declared, _)| declared.space == TensorSpace::Constant)
        .map(|(declared, tensor)| (declared.name.as_str(), tensor.n_bytes()))
        .collect();
    let bytes = constants.iter().map(|(_, bytes)| bytes).sum();
    let Some((largest, _)) = constants.iter().max_by_key(|(_, bytes)| bytes) else { return Ok(()) };
    if bytes as u64 <= TensorSpace::CONSTANT_BYTES {
        return Ok(());
    }
    let each: Vec<String> =
        constants.iter().map(|(name, bytes)| format!("{name}: {bytes}")).collect();
    Err(ArgumentError::ConstantMemory {
        kernel: kernel.name.clone(),
        constants: each.join(", "),
        largest: (*largest).to_owned(),
        bytes,
        limit: TensorSpace::CONSTANT_BYTES as usize,
    }
    .into())
}

/// Where a dimension was seen first.
#[derive(Clone, Copy)]
struct Sighting {
    tensor: TensorId,
    axis: usize,
    extent: usize,
}

fn bind_dims(kernel: &Kernel, tensors: &[&TensorArgument<'_>]) -> Result<Dims> {
    let vars = dim_vars(kernel);
    let mut seen: Vec<Option<Sighting>> = vec![None; vars.len()];
    for ((id, declared), tensor) in kernel.tensors.iter().zip(tensors) {
        if tensor.shape.iter().any(|&extent| extent > MAX_EXTENT) {
            let name = declared.name.clone();
            return Err(ArgumentError::ExtentTooLarge {
                tensor: name,
                shape: tensor.shape.to_vec(),
            }
            .into());
        }
        for (axis, (&expr, &extent)) in declared.extents.iter().zip(tensor.shape).enumerate() {
            let Some(dim) = plain_dim(kernel, expr, &vars) else { continue };
            let here = Sighting { tensor: id, axis, extent };
            match seen[dim] {
                None => seen[dim] = Some(here),
                Some(first) if first.extent == extent => {}
                Some(first) => {
                    let name = &kernel.vars[vars[dim]].name;
                    return Err(disagreement(kernel, tensors, name, first, here).into());
                }
            }
        }
    }
    let values: Option<Arc<[u64]>> =
        seen.iter().map(|first| first.map(|first| first.extent as u64)).collect();
    match values {
        Some(values) => Ok(Dims { vars: vars.into(), values }),
        None => Err(mismatch(kernel, "no tensor that tells a dimension")),
    }
}

/// Reports a tensor that no memory holds at these dimensions, where they alone decide
/// its shape.
pub(crate) fn check_sizes(kernel: &Kernel, types: &[DType], dims: &Dims) -> Result<()> {
    for tensor in kernel.tensors.values() {
        let value = |var| name_value(kernel, dims, None, var);
        let extents = tensor.extents.iter().map(|&expr| eval_index(kernel, expr, &value));
        let Some(shape) = extents.collect::<Option<Vec<i128>>>() else { continue };
        let elem_bytes = tensor.elem.bind(types).map_or(1, |dtype| i128::from(dtype.size_bytes()));
        let n_bytes = shape.iter().try_fold(elem_bytes, |bytes, extent| bytes.checked_mul(*extent));
        if n_bytes.is_none_or(|n_bytes| i64::try_from(n_bytes).is_err()) {
            let (kernel, tensor) = (kernel.name.clone(), tensor.name.clone());
            return Err(ArgumentError::TensorTooLarge { kernel, tensor, shape }.into());
        }
    }
    Ok(())
}

/// Which dimension an extent is, where it is a bare one.
fn plain_dim(kernel: &Kernel, expr: ExprId, vars: &[VarId]) -> Option<usize> {
    let ExprKind::Var(var) = kernel.exprs.get(expr)?.kind else { return None };
    vars.iter().position(|known| *known == var)
}

fn disagreement(
    kernel: &Kernel,
    tensors: &[&TensorArgument<'_>],
    dim: &str,
    first: Sighting,
    second: Sighting,
) -> ArgumentError {
    let name = |id: TensorId| kernel.tensors[id].name.clone();
    let shape = |id: TensorId| tensors[id.index()].shape.to_vec();
    if first.tensor == second.tensor {
        return ArgumentError::RepeatedDimension {
            tensor: name(first.tensor),
            shape: shape(first.tensor),
            dim: dim.to_owned(),
            first_axis: first.axis,
            first_extent: first.extent,
            second_axis: second.axis,
            second_extent: second.extent,
        };
    }
    ArgumentError::SharedDimension {
        dim: dim.to_owned(),
        first: name(first.tensor),
        first_shape: shape(first.tensor),
        first_extent: first.extent,
        second: name(second.tensor),
        second_shape: shape(second.tensor),
        second_extent: second.extent,
    }
}

/// Checks the extents that are not bare dimensions. Those that speak of tile
/// sizes are passed over until a configuration has been chosen.
pub(crate) fn check_extents(
    kernel: &Kernel,
    tensors: &[&TensorArgument<'_>],
    dims: &Dims,
    config: Option<&Config>,
) -> Result<()> {
    let value = |var: VarId| name_value(kernel, dims, config, var);
    for (declared, tensor) in kernel.tensors.values().zip(tensors) {
        for (axis, (&expr, &found)) in declared.extents.iter().zip(tensor.shape).enumerate() {
            let expected = match eval_index(kernel, expr, &value) {
                Some(expected) => expected,
                None if config.is_none() => continue,
                None => {
                    let text = print_expr(kernel, expr);
                    return Err(Error::internal("an extent has no value", text));
                }
            };
            if expected != found as i128 {
                return Err(ArgumentError::Extent {
                    kernel: kernel.name.clone(),
                    tensor: declared.name.clone(),
                    shape: tensor.shape.to_vec(),
                    axis,
                    found,
                    declared: print_expr(kernel, expr),
                    expected,
                    where_: values_in(kernel, dims, config, expr),
                }
                .into());
            }
        }
    }
    Ok(())
}

/// The value of a dimension or, once chosen, of a tile parameter.
pub(super) fn name_value(
    kernel: &Kernel,
    dims: &Dims,
    config: Option<&Config>,
    var: VarId,
) -> Option<i128> {
    match kernel.vars.get(var)?.kind {
        VarKind::Dim => dims.get(var).map(i128::from),
        VarKind::TileParam(id) => config.map(|config| i128::from(config.tile(id))),
        VarKind::Scalar(_)
        | VarKind::Grid
        | VarKind::Block
        | VarKind::Each
        | VarKind::Loop
        | VarKind::Let { .. } => None,
    }
}

/// The names in an extent with their values: `N = 4, R = 2`.
fn values_in(kernel: &Kernel, dims: &Dims, config: Option<&Config>, expr: ExprId) -> String {
    let seen = std::cell::RefCell::new(Vec::<VarId>::new());
    // Evaluation visits exactly the variables that decide the value.
    eval_index(kernel, expr, &|var| {
        let mut seen = seen.borrow_mut();
        if !seen.contains(&var) {
            seen.push(var);
        }
        name_value(kernel, dims, config, var)
    });
    let texts = seen.into_inner().into_iter().filter_map(|var| {
        let value = name_value(kernel, dims, config, var)?;
        Some(format!("{} = {value}", kernel.vars[var].name))
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// The class of launches that share a program with these dimensions.
pub(crate) fn binding_of(
    kernel: &Kernel,
    types: &[DType],
    dims: &Dims,
    config: &Config,
) -> Binding {
    let value = |var: VarId| name_value(kernel, dims, Some(config), var);
    let n_elems = kernel.tensors.values().map(|tensor| {
        let extents = tensor.extents.iter().map(|&expr| {
            let exact = eval_index(kernel, expr, &value);
            exact.map_or(u128::MAX, |extent| extent.max(0).unsigned_abs())
        });
        extents.fold(1u128, u128::saturating_mul)
    });
    binding_of_elems(types, dims, n_elems.max().unwrap_or(0), Vec::new())
}

/// [`binding_of`] where the largest tensor is known, and how all of them lie.
pub(super) fn binding_of_elems(
    types: &[DType],
    dims: &Dims,
    max_elems: u128,
    layouts: Vec<TensorLayout>,
) -> Binding {
    Binding::of_launch(types, dims.values(), max_elems, layouts)
}
