//! Lowering: from a checked kernel and a configuration to a program.
//!
//! Each pass is one file and one function, program to program; after each the
//! program verifies and runs on the CPU device with the same bits. In debug
//! builds every lowering verifies after each pass; the tests of the shared
//! kernels print and run what [`lower_watched`] shows.

mod agree;
mod align;
mod binding;
mod brief;
mod compact;
mod distribute;
mod divisor;
mod guard;
mod halo;
mod hoist;
mod in_step;
mod interior;
mod layout;
mod once;
mod pipeline;
mod place;
mod prefetch;
mod reach;
mod rewrite;
mod rows;
mod specialise;
mod touched;
mod vectorise;
mod whole;

use crate::check::{CheckedKernel, UncheckedKernel};
use crate::config::{Config, ConfigError, check_config};
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::share_out_fills;
use crate::kernel::{Kernel, KernelFault, VarId, VarKind, print_kernel, verify_kernel};
use crate::part::parted;
use crate::program::{
    Program, ProgramFault, ProgramKernel, print_program, verify_launch, verify_program,
};
use crate::slice::sliced;

pub use binding::{Binding, known_divisor};
pub use brief::limit_unrolling;
pub use layout::{StrideFact, TensorLayout};

/// Changes whenever a kernel in some configuration may be lowered, or written as
/// CUDA C++, to something else than before: what was measured until then says
/// nothing any more.
pub const LOWERING_VERSION: u32 = 9;

/// Why a kernel cannot be lowered with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// A type parameter is not bound, or to a type its bound does not admit.
    #[error("type parameter `{name}` of `{kernel}` is not bound to a type that `{bound}` admits")]
    Unbound {
        /// The kernel.
        kernel: String,
        /// The type parameter.
        name: String,
        /// Its bound.
        bound: &'static str,
    },
    /// The kernel breaks what its check promises: a defect of this crate.
    #[error("kernel `{kernel}` holds {what}")]
    Broken {
        /// The kernel.
        kernel: String,
        /// What was found.
        what: &'static str,
    },
    /// A pass has left a program behind that breaks structural rules: a defect
    /// of this crate. Looked for in debug builds only.
    #[error("after the pass `{pass}`:\n{faults}\n\n{program}")]
    Faulty {
        /// The pass.
        pass: &'static str,
        /// The broken rules, one a line.
        faults: String,
        /// The program as it is printed.
        program: String,
    },
    /// The configuration is none of this kernel on this device.
    #[error(transparent)]
    Config(#[from] Box<ConfigError>),
    /// The tiles do not fit the device.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes of shared memory per block; `{device}` has {available_bytes}"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// What its tiles take, padding included.
        needed_bytes: u64,
        /// What a block can have.
        available_bytes: u32,
    },
}

/// Lowers a kernel to a program for `device`.
///
/// # Errors
///
/// Where the configuration is not admissible for the kernel or the device.
pub fn lower(
    kernel: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
) -> Result<Program, LowerError> {
    lower_watched(kernel, binding, config, device, &mut |_, _| {})
}

/// The program of a kernel as it is written: after the first pass, one work-item a
/// thread, every access compared with its array's extents. It gives the same bits as
/// what [`lower`] makes with the same configuration.
///
/// # Errors
///
/// As [`lower`], but for limits of the device, which it need not fit.
pub fn lower_as_written(
    kernel: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
) -> Result<Program, LowerError> {
    check_config(kernel.kernel(), config, device).map_err(Box::new)?;
    let agreed = agree::make_agreed(kernel.kernel());
    verify_rewritten("agree", &agreed)?;
    let sliced = sliced(&agreed, &binding.types, config);
    let (kernel, config) = sliced.as_ref().map_or((&agreed, config), |(k, c)| (k, c));
    verify_rewritten("slice", kernel)?;
    let program = specialise::specialise(kernel, binding, config)?;
    verify_after("specialise", &program, verify_program)?;
    Ok(program)
}

/// The program of a kernel that no check has passed, as [`lower_as_written`] makes it of
/// others. Barriers under conditions on which work-items need not agree stand within
/// items: it is for a device that runs the items of a block in step and looks whether
/// all reach them, and no verifier takes it.
///
/// # Errors
///
/// As [`lower_as_written`].
pub fn lower_unchecked(
    kernel: &UncheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
) -> Result<Program, LowerError> {
    check_config(kernel.kernel(), config, device).map_err(Box::new)?;
    specialise::specialise_unchecked(&agree::make_agreed(kernel.kernel()), binding, config)
}

/// The kernel that is lowered, and the configuration that is left to be followed: what the
/// block agrees on is decided by the block, loops of one length and work-items' fills are
/// the block's, phases are in parts and reductions in slices.
fn rewritten(
    checked: &CheckedKernel,
    types: &[DType],
    config: &Config,
) -> Result<(Kernel, Config), LowerError> {
    let agreed = agree::make_agreed(checked.kernel());
    verify_rewritten("agree", &agreed)?;
    let agreed = in_step::walk_in_step(&agreed).unwrap_or(agreed);
    verify_rewritten("in_step", &agreed)?;
    let shared_out = share_out_fills(&agreed);
    verify_rewritten("fill", &shared_out)?;
    let (kernel, config) = parted(&shared_out, config).unwrap_or((shared_out, config.clone()));
    verify_rewritten("part", &kernel)?;
    let (kernel, config) = sliced(&kernel, types, &config).unwrap_or((kernel, config));
    verify_rewritten("slice", &kernel)?;
    Ok((kernel, config))
}

/// A pass over one kernel of the plan.
type Pass<'a> = Box<dyn Fn(&mut ProgramKernel) -> Result<(), LowerError> + 'a>;

/// A pass that cannot fail.
fn always<'a>(pass: impl Fn(&mut ProgramKernel) + 'a) -> Pass<'a> {
    Box::new(move |kernel| {
        pass(kernel);
        Ok(())
    })
}

/// The passes after [`specialise`], in order, with their names.
fn passes<'a>(
    config: &'a Config,
    divisors: &'a [(VarId, u32)],
    device: &'a DeviceProperties,
) -> [(&'static str, Pass<'a>); 16] {
    let may_copy_async = device.has_async_copies();
    let limit = u64::from(config.unrolled_stmts);
    [
        ("halo", always(move |kernel| halo::split_halos(kernel, config, divisors))),
        ("reach", always(move |kernel| reach::reach_over(kernel, config, divisors, device))),
        (
            "distribute",
            always(move |kernel| distribute::distribute_items(kernel, config, divisors)),
        ),
        ("guard", always(move |kernel| guard::delete_proved_guards(kernel, divisors))),
        ("once", always(move |kernel| once::mark_single_use(kernel, config))),
        (
            "whole",
            always(move |kernel| whole::load_whole_vectors(kernel, config, divisors, device)),
        ),
        ("align", always(move |kernel| align::align_rows(kernel, config, divisors))),
        ("hoist", always(move |kernel| hoist::hoist_shared(kernel, config))),
        ("prefetch", always(move |kernel| prefetch::prefetch_fragments(kernel, config))),
        ("arrange", always(move |kernel| place::arrange_tiles(kernel, config, device))),
        ("vectorise", always(move |kernel| vectorise::vectorise(kernel, divisors))),
        (
            "pipeline",
            always(move |kernel| pipeline::pipeline_loops(kernel, config, may_copy_async)),
        ),
        ("interior", always(move |kernel| interior::split_interior(kernel, config))),
        // What nothing guards any more may be wider.
        ("widen", always(move |kernel| vectorise::vectorise(kernel, divisors))),
        (
            "unroll",
            always(move |kernel| {
                brief::keep_loops_of_items_short(kernel);
                if limit > 0 {
                    brief::limit_loops(kernel, limit);
                }
            }),
        ),
        ("allocate", Box::new(move |kernel| place::allocate_tiles(kernel, device))),
    ]
}

/// As [`lower`]; shows `watch` the program after each pass, with the pass's name.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_watched(
    checked: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
    watch: &mut dyn FnMut(&'static str, &Program),
) -> Result<Program, LowerError> {
    let mut after = |pass, program: &Program| {
        watch(pass, program);
        verify_after(pass, program, verify_program)
    };
    let program = run_passes(checked, binding, config, device, &mut after)?;
    verify_after("allocate", &program, |program| verify_launch(program, device))?;
    Ok(program)
}

/// As [`lower_watched`], of a program that is looked at and never run: no build verifies
/// it, which takes longer than lowering where nothing is optimised.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_to_look_at(
    checked: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
    watch: &mut dyn FnMut(&'static str, &Program),
) -> Result<Program, LowerError> {
    let mut after = |pass, program: &Program| {
        watch(pass, program);
        Ok(())
    };
    run_passes(checked, binding, config, device, &mut after)
}

fn run_passes(
    checked: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
    after: &mut dyn FnMut(&'static str, &Program) -> Result<(), LowerError>,
) -> Result<Program, LowerError> {
    check_config(checked.kernel(), config, device).map_err(Box::new)?;
    let (kernel, config) = rewritten(checked, &binding.types, config)?;
    let mut program = specialise::specialise(&kernel, binding, &config)?;
    after("specialise", &program)?;
    let divisors = known_divisors(checked, binding);
    let passes = passes(&config, &divisors, device);
    for (name, pass) in passes {
        for kernel in &mut program.kernels {
            pass(kernel)?;
            compact::drop_unused_exprs(kernel);
        }
        after(name, &program)?;
    }
    Ok(program)
}

/// In debug builds, an error where the kernel that is lowered has become broken.
fn verify_rewritten(pass: &'static str, kernel: &Kernel) -> Result<(), LowerError> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify_kernel(kernel).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(KernelFault::to_string).collect();
        LowerError::Faulty { pass, faults: faults.join("\n"), program: print_kernel(kernel) }
    })
}

/// In debug builds, an error where a pass has left a broken program behind.
fn verify_after(
    pass: &'static str,
    program: &Program,
    verify: impl FnOnce(&Program) -> Result<(), Vec<ProgramFault>>,
) -> Result<(), LowerError> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify(program).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ProgramFault::to_string).collect();
        LowerError::Faulty { pass, faults: faults.join("\n"), program: print_program(program) }
    })
}

/// The divisor of each dimension, by its variable.
fn known_divisors(kernel: &CheckedKernel, binding: &Binding) -> Vec<(VarId, u32)> {
    let dims = kernel.kernel().vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
    dims.map(|(id, _)| id).zip(binding.dim_divisors.iter().copied()).collect()
}
