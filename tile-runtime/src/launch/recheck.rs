//! The re-check of what lowering has made, in debug builds.
//!
//! The checks prove that a *kernel* has no race; passes then move barriers, give tiles
//! several buffers, put copies in flight. Before its first launch a program is
//! therefore run once thread by thread with a shadow of its memory
//! ([`tile_ir::program::run_shadowed`]): at a small shape of the launch's class, on
//! made-up data, and no longer than [`MAX_STEPS`]. What it finds is a defect of this
//! crate, and said at every launch that asks.
//!
//! Nothing is said of kernels that assume something of their data: made-up data need
//! not be so.

use std::time::Instant;

use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::{Kernel, Stmt, StmtKind, TensorId, eval_index};
use tile_ir::lower::Binding;
use tile_ir::program::{Program, print_program};
use tile_ir::value::ScalarValue;

use super::bind::{Dims, binding_of, name_value};
use super::has_no_block;
use super::made_up::Data;
use super::program::{HostTensor, run_with_shadow};
use super::ready::{Ready, describe};
use super::switch::Switch;
use crate::error::{Error, Result};
use crate::kernel as handle;

/// The environment variable that says what launches do that say nothing themselves.
pub(crate) const VARIABLE: &str = "TILE_RECHECK";
/// What it says.
pub(crate) static SWITCH: Switch = Switch::new(VARIABLE);

/// Expressions and statements that are evaluated at most, so that a debug build hardly
/// notices. The tests of lowering run programs to their end.
const MAX_STEPS: u64 = 20_000;

/// Elements of a tensor at the most.
const MAX_ELEMS: u128 = 1 << 14;

/// The extent that dimensions get at the most, but for what divides them: more than one
/// tile of most sizes, and no multiple of them.
const MAX_EXTENT: u32 = 65;

/// Re-checks a program the first time that it is asked for.
///
/// # Errors
///
/// Where it has a race, or does something else that a sound program does not, each
/// time that it is asked for.
pub(super) fn recheck(
    ready: &Ready,
    kernel: &Kernel,
    binding: &Binding,
    config: &Config,
) -> Result<()> {
    let found = ready.rechecked.get_or_init(|| {
        let start = Instant::now();
        let found = fault(&ready.program, kernel, binding, config);
        tracing::debug!("re-checked {} in {:?}", ready.label, start.elapsed());
        found
    });
    match found {
        None => Ok(()),
        Some(fault) => Err(unsound(&ready.label, fault)),
    }
}

/// What a debug build does with a program before its first launch: `program`, which
/// was made of `kernel` for launches like those of `dims`, is run at a small shape,
/// thread by thread with a shadow of its memory.
///
/// # Errors
///
/// Where it has a race, or does something else that a sound program does not.
pub fn recheck_program(
    kernel: &handle::Kernel,
    config: &Config,
    dims: &[usize],
    program: &Program,
) -> Result<()> {
    let ir = kernel.checked().kernel();
    let binding = binding_of(ir, kernel.types(), &Dims::of_values(ir, dims), config);
    match fault(program, ir, &binding, config) {
        None => Ok(()),
        Some(fault) => Err(unsound(&describe(ir, &binding, config), &fault)),
    }
}

fn unsound(label: &str, fault: &str) -> Error {
    Error::internal(format!("what {label} is lowered to fails its re-check"), fault)
}

/// What a small launch of a program does that a sound one does not: the first finding
/// with the sizes and the program.
fn fault(program: &Program, kernel: &Kernel, binding: &Binding, config: &Config) -> Option<String> {
    let is_modelled = program.kernels.iter().all(|kernel| kernel.roles.len() <= 1);
    if !is_modelled || assumes(&kernel.body) || !kernel.promises.is_empty() {
        return None;
    }
    let dims = small_dims(kernel, binding, config)?;
    let values = Dims::of_values(kernel, &dims);
    if has_no_block(kernel, &values, config) {
        return None;
    }
    let mut data = Data(fastrand::Rng::with_seed(1));
    let mut tensors = Vec::with_capacity(kernel.tensors.len());
    for (id, tensor) in kernel.tensors.iter() {
        let dtype = tensor.elem.bind(&binding.types)?;
        let shape = shape(kernel, id, &values, config)?;
        let bytes = data.elements(dtype, shape.iter().product()).ok()?;
        tensors.push(HostTensor::new(dtype, &shape, &bytes));
    }
    let dtypes = kernel.scalars.values().map(|scalar| scalar.elem.bind(&binding.types));
    let dtypes: Vec<DType> = dtypes.collect::<Option<_>>()?;
    let scalars: Vec<ScalarValue> = dtypes.into_iter().map(|dtype| data.scalar(dtype)).collect();
    let (types, tensors) = (&binding.types, &mut tensors);
    let said = match run_with_shadow(kernel, types, program, &dims, tensors, &scalars, MAX_STEPS) {
        Ok(reports) => reports.iter().find_map(|report| report.findings.first())?.to_string(),
        Err(error) => error.to_string(),
    };
    let names = kernel.vars.iter().filter_map(|(id, var)| Some((&var.name, values.get(id)?)));
    let sizes: Vec<String> = names.map(|(name, value)| format!("{name} = {value}")).collect();
    let at = if sizes.is_empty() { String::new() } else { format!("with {}: ", sizes.join(", ")) };
    Some(format!("{at}{said}\n{}", print_program(program)))
}

/// Whether one of these statements assumes something.
fn assumes(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::Assume { .. } | StmtKind::Distinct { .. })
            || stmt.kind.bodies().into_iter().any(assumes)
    })
}

/// Extents of a small launch that shares the program: one more than the largest tile,
/// rounded up to what the binding knows to divide each dimension, and less where some
/// tensor would be large; `None` where none will do.
fn small_dims(kernel: &Kernel, binding: &Binding, config: &Config) -> Option<Vec<usize>> {
    let largest = config.tiles.iter().copied().max().unwrap_or(4);
    let mut wanted = (largest + 1).min(MAX_EXTENT);
    while wanted > 0 {
        let dims = binding.dim_divisors.iter();
        let dims: Vec<usize> =
            dims.map(|divisor| wanted.next_multiple_of((*divisor).max(1)) as usize).collect();
        let values = Dims::of_values(kernel, &dims);
        let is_small = kernel.tensors.ids().all(|id| {
            shape(kernel, id, &values, config).is_some_and(|shape| {
                let extents = shape.iter().map(|&extent| extent as u128);
                extents.fold(1, u128::saturating_mul) <= MAX_ELEMS
            })
        });
        if is_small {
            return Some(dims);
        }
        wanted /= 2;
    }
    None
}

/// The shape of a tensor in a launch of these dimensions.
fn shape(kernel: &Kernel, id: TensorId, dims: &Dims, config: &Config) -> Option<Vec<usize>> {
    let value = |var| name_value(kernel, dims, Some(config), var);
    let extents = kernel.tensors.get(id)?.extents.iter();
    extents.map(|&extent| usize::try_from(eval_index(kernel, extent, &value)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use tile_ir::program::{Stmt, StmtKind};
    use tile_macros::tiled_kernel;

    use super::*;
    use crate::device::Device;
    use crate::launch::ready::Executables;

    tiled_kernel! {
        /// Each tile backwards.
        fn reversed<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
        where tile: (TN in pow2(16..=64)), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            shared s: [T; TN];
            s[tx] = a[bx * TN + tx];
            barrier;
            c[bx * TN + tx] = s[TN - 1 - tx];
        }
    }

    tiled_kernel! {
        /// To places that the caller says are distinct.
        fn placed(at: &Tensor<i32, [N]>, a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [M]>)
        where tile: (TN in pow2(16..=64)), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            assume(distinct(at));
            let i = bx * TN + tx;
            if i < N {
                c[at[i]] = a[i];
            }
        }
    }

    /// A kernel's program, with and without its barriers, and what it was made for.
    fn case(kernel: &handle::Kernel, dims: &[usize]) -> (Program, Program, Config) {
        let device = Device::cpu();
        let config = kernel.config_for(device.properties(), dims).expect("it fits");
        let program = kernel.program(&config, device.properties(), dims).expect("it fits");
        let mut broken = program.clone();
        remove_barriers(&mut broken.kernels[0].body);
        (program, broken, config)
    }

    fn remove_barriers(stmts: &mut Vec<Stmt>) {
        stmts.retain(|stmt| !matches!(stmt.kind, StmtKind::Barrier(_)));
        for stmt in stmts {
            stmt.kind.bodies_mut().into_iter().for_each(remove_barriers);
        }
    }

    #[test]
    fn a_lost_barrier_is_named_with_both_accesses() {
        let kernel = reversed::kernel::<f32>();
        let (program, broken, config) = case(&kernel, &[1000]);
        recheck_program(&kernel, &config, &[1000], &program).expect("it is sound");
        let error = recheck_program(&kernel, &config, &[1000], &broken).unwrap_err();
        let (text, tiles) = (error.to_string(), config.tiles[0]);
        for part in [
            "internal error of tile-runtime",
            &format!("what `reversed<f32>` with TN = {tiles} on"),
            "with N = ",
            " writes after ",
            " reads after ",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }

    #[test]
    fn a_finding_is_said_at_every_launch_that_asks() {
        let kernel = reversed::kernel::<i32>();
        let (program, broken, config) = case(&kernel, &[100]);
        let ir = kernel.checked().kernel();
        let binding = binding_of(ir, kernel.types(), &Dims::of_values(ir, &[100]), &config);
        let ready = |program| Ready {
            program,
            label: "`reversed`".into(),
            file: String::new(),
            tiles: String::new(),
            kernels: Executables::Host(Vec::new()),
            rechecked: OnceLock::new(),
            watch: None,
        };
        let (sound, unsound) = (ready(program), ready(broken));
        for _ in 0..2 {
            recheck(&sound, ir, &binding, &config).expect("it is sound");
            recheck(&unsound, ir, &binding, &config).unwrap_err();
        }
        assert!(matches!(sound.rechecked.get(), Some(None)));
    }

    #[test]
    fn launches_re_check_where_they_are_asked() {
        let device = Device::cpu();
        let a = device.tensor([40], &[1u32; 40]).expect("it fits");
        let mut c = device.zeros([40]).expect("it fits");
        let mut launch = |is_asked| {
            let options = crate::Options::new().recheck(is_asked);
            reversed::with(options).launch(&a, &mut c).expect("it is sound");
            // The device is that of other tests too.
            let made = device.programs().made();
            let mut own = made.iter().filter(|ready| ready.label.contains("`reversed<u32>`"));
            own.all(|ready| ready.rechecked.get().is_some())
        };
        assert_eq!([launch(false), launch(true), launch(true)], [false, true, true]);
    }

    #[test]
    fn kernels_that_assume_are_left_alone() {
        let kernel = placed::kernel();
        let (program, _, config) = case(&kernel, &[100, 100]);
        recheck_program(&kernel, &config, &[100, 100], &program).expect("nothing is known");
    }

    #[test]
    fn small_shapes_share_the_program() {
        let kernel = reversed::kernel::<f32>();
        let (_, _, config) = case(&kernel, &[1000]);
        let ir = kernel.checked().kernel();
        for divisor in [1, 8, 256] {
            let mut binding = binding_of(ir, kernel.types(), &Dims::of_values(ir, &[7]), &config);
            binding.dim_divisors = vec![divisor];
            let dims = small_dims(ir, &binding, &config).expect("there is one");
            assert_eq!(dims[0] % divisor as usize, 0);
            assert!(dims[0] > config.tiles[0] as usize || dims[0] as u32 >= MAX_EXTENT);
        }
    }
}
