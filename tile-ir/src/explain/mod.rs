//! What a launch costs, and why, before the kernel ever runs: for any device of the
//! table, from its program and its properties alone.
//!
//! | part | what it answers |
//! | --- | --- |
//! | [`count`] | what each access and branch does, by enumeration |
//! | [`reuse`] | how much traffic the tiles save |
//! | [`roofline`] | which rate is the limit, and how long that takes |
//! | [`copies`] | how many copies of each variable there are |
//! | [`report`] | all of it, as data; as text by `Display` |
//! | `finding` | what the numbers say should be changed |
//!
//! # What a predicted time is
//!
//! [`roofline::Roofline::bound_seconds`] follows from the counts and the published peaks:
//! no launch is faster. [`roofline::Roofline::predicted_seconds`] is the model by
//! which configurations are chosen ([`crate::config::estimate()`]), or the bound where
//! that is more.

pub mod copies;
pub mod count;
mod finding;
mod padding;
pub mod report;
pub mod reuse;
pub mod roofline;
mod text;

use self::count::{CountError, Detail, KernelCounts, Known, Limits, count_some};
use self::report::{AccessReport, BranchReport, Dim, OccupancyReport, Report, Scalar, TileSize};
use self::reuse::Reuse;
use self::roofline::Roofline;
use crate::analyze::cliff::{Demand, next_step_up, next_steps_down};
use crate::check::CheckedKernel;
use crate::config::{Config, Estimate, Model, tile_value};
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::kernel::{ScalarId, VarId, VarKind, eval_index};
use crate::lower::{Binding, LowerError, lower_to_look_at};
use crate::program::{Program, ProgramKernel, SharedMemory, TileSpace};
use crate::value::ScalarValue;

pub use finding::{Finding, Rule};

/// What is to be explained.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The kernel.
    pub kernel: &'a CheckedKernel,
    /// The types of its type parameters.
    pub types: &'a [DType],
    /// Its dimensions, in the order of the kernel's variables of kind `Dim`. Tensors
    /// are row-major without gaps.
    pub dims: &'a [u64],
    /// Values of scalar arguments; those that are not here count as data.
    pub scalars: &'a [(ScalarId, ScalarValue)],
    /// The device.
    pub device: &'a DeviceProperties,
    /// The configuration.
    pub config: &'a Config,
    /// Registers of a thread, where a compiler has said so; else they are estimated.
    pub registers: Option<u32>,
    /// How much work may be done.
    pub limits: Limits,
    /// What findings may be about: [`Rule::ALL`], or the rules that are asked for.
    pub rules: &'a [Rule],
}

/// Why a launch cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// The configuration is none of this kernel on this device.
    #[error(transparent)]
    Lower(#[from] Box<LowerError>),
    /// The launch depends on more than its dimensions.
    #[error(transparent)]
    Count(#[from] CountError),
    /// The plan launches several kernels, or none.
    #[error("`{kernel}` is launched as {n} kernels; one is explained")]
    Several {
        /// The kernel.
        kernel: String,
        /// How many.
        n: usize,
    },
}

/// Explains one launch.
///
/// # Errors
///
/// Where the configuration does not fit, or the plan is not one kernel.
pub fn explain(question: &Question<'_>) -> Result<Report, ExplainError> {
    let Question { types, dims, scalars, device, config, .. } = *question;
    let kernel = question.kernel.kernel();
    let named = named_dims(question);
    let known = Known { dims: &named, scalars };
    let looked = look(question, known, Detail::All, &|_| Some(Detail::Elems))?;
    let findings = looked.findings(question, known)?;
    let Looked {
        programs,
        counts,
        accesses,
        branches,
        written_counts,
        reuse,
        estimated,
        occupancy,
    } = looked;
    let (lowered, written) = programs.kernels()?;
    let roofline = Roofline::of(device, lowered, &counts, known, estimated.seconds);
    let dim_names = kernel.vars.values().filter(|var| var.kind == VarKind::Dim);
    let dim_names = dim_names.map(|var| var.name.clone()).zip(dims);
    let tiles = kernel.tile_params.iter();
    Ok(Report {
        kernel: kernel.name.clone(),
        types: types.iter().map(|dtype| dtype.name().to_owned()).collect(),
        file: None,
        device: device.name.clone(),
        dims: dim_names.map(|(name, &value)| Dim { name, value }).collect(),
        scalars: scalars
            .iter()
            .filter_map(|(id, value)| {
                let name = kernel.scalars.get(*id)?.name.clone();
                Some(Scalar { name, value: value.to_string() })
            })
            .collect(),
        tiles: tiles
            .map(|(id, param)| TileSize { name: param.name.clone(), value: config.tile(id) })
            .collect(),
        blocks: counts.blocks(),
        waves: waves(device, &counts, occupancy.blocks),
        threads: counts.threads,
        grid: counts.grid.clone(),
        is_exact: counts.is_exact && written_counts.is_exact,
        work: report::Work::of(&counts),
        variables: copies::copies(kernel, written, counts.blocks()),
        reuse,
        occupancy,
        roofline,
        accesses,
        branches,
        findings,
    })
}

/// The findings of [`explain`], without what nobody has asked for: no more is counted than
/// [`Question::rules`] are about.
///
/// # Errors
///
/// As [`explain`].
pub fn findings(question: &Question<'_>) -> Result<Vec<Finding>, ExplainError> {
    let named = named_dims(question);
    let known = Known { dims: &named, scalars: question.scalars };
    let as_written =
        |accesses: &[AccessReport]| finding::detail_as_written(question.rules, accesses);
    look(question, known, finding::detail_of_launch(question.rules), &as_written)?
        .findings(question, known)
}

/// What a launch does, and what its text says.
struct Looked {
    programs: Programs,
    counts: KernelCounts,
    accesses: Vec<AccessReport>,
    branches: Vec<BranchReport>,
    /// Of the text as it is written, as far as was asked.
    written_counts: KernelCounts,
    reuse: Reuse,
    estimated: Estimate,
    occupancy: OccupancyReport,
}

impl Looked {
    fn findings(
        &self,
        question: &Question<'_>,
        known: Known<'_>,
    ) -> Result<Vec<Finding>, ExplainError> {
        let (lowered, _) = self.programs.kernels()?;
        Ok(finding::find(&finding::Evidence {
            device: question.device,
            kernel: lowered,
            known,
            accesses: &self.accesses,
            branches: &self.branches,
            written: &self.written_counts,
            reuse: &self.reuse,
            occupancy: &self.occupancy,
            blocks: self.counts.blocks(),
            spans: &self.programs.program.spans,
            limits: question.limits,
            rules: question.rules,
        }))
    }
}

/// Looks at a launch as far as `detail` says; and at the text as it is written, as far as
/// `as_written` says where the launch's accesses are known.
fn look(
    question: &Question<'_>,
    known: Known<'_>,
    detail: Detail,
    as_written: &dyn Fn(&[AccessReport]) -> Option<Detail>,
) -> Result<Looked, ExplainError> {
    let Question { kernel, types, dims, scalars, device, config, registers, limits, .. } =
        *question;
    let programs = programs(question)?;
    let (lowered, written) = programs.kernels()?;
    let counts = count_some(lowered, known, limits, detail)?;
    let accesses = report::accesses(&counts, &programs.program.spans);
    let branches = report::branches(&counts, &programs.program.spans);
    let written_counts = match as_written(&accesses) {
        Some(detail) => count_some(written, known, limits, detail)?,
        None => KernelCounts::default(),
    };
    let reuse = Reuse::of(written, &written_counts);
    let model = Model::new(kernel.kernel(), types, device, dims).with_scalars(scalars);
    let estimated = model.cost(config);
    let demand = Demand {
        threads: lowered.threads,
        registers: registers.unwrap_or(estimated.registers.ceil() as u32),
        shared_bytes: shared_bytes(lowered),
    };
    let occupancy = occupancy_report(device, demand, registers.is_some());
    Ok(Looked { programs, counts, accesses, branches, written_counts, reuse, estimated, occupancy })
}

/// A launch's program, and that of the text as it is written.
struct Programs {
    program: Program,
    as_written: Program,
}

fn programs(question: &Question<'_>) -> Result<Programs, ExplainError> {
    let Question { kernel, types, dims, device, config, .. } = *question;
    let binding = Binding::of_launch(types, dims, max_elems(question), Vec::new());
    let mut as_written = None;
    let mut watch = |pass: &'static str, program: &Program| {
        if pass == "specialise" {
            as_written = Some(program.clone());
        }
    };
    let program =
        lower_to_look_at(kernel, &binding, config, device, &mut watch).map_err(Box::new)?;
    // The first pass is always shown.
    let as_written = as_written.unwrap_or_else(|| program.clone());
    Ok(Programs { program, as_written })
}

impl Programs {
    /// The kernel of each.
    fn kernels(&self) -> Result<(&ProgramKernel, &ProgramKernel), ExplainError> {
        Ok((only_kernel(&self.program)?, only_kernel(&self.as_written)?))
    }
}

fn only_kernel(program: &Program) -> Result<&ProgramKernel, ExplainError> {
    match program.kernels.as_slice() {
        [kernel] => Ok(kernel),
        kernels => {
            let name = kernels.first().map(|kernel| kernel.name.clone());
            Err(ExplainError::Several { kernel: name.unwrap_or_default(), n: kernels.len() })
        }
    }
}

fn named_dims(question: &Question<'_>) -> Vec<(VarId, u64)> {
    let vars = question.kernel.kernel().vars.iter();
    let dims = vars.filter(|(_, var)| var.kind == VarKind::Dim).map(|(id, _)| id);
    dims.zip(question.dims.iter().copied()).collect()
}

/// Elements of the largest tensor.
fn max_elems(question: &Question<'_>) -> u128 {
    let (kernel, dims) = (question.kernel.kernel(), named_dims(question));
    let value = |var: VarId| {
        let dim = dims.iter().find(|(known, _)| *known == var);
        dim.map(|(_, dim)| i128::from(*dim))
            .or_else(|| tile_value(kernel, &question.config.tiles, var))
    };
    let elems = kernel.tensors.values().map(|tensor| {
        let extents = tensor.extents.iter().map(|&expr| eval_index(kernel, expr, &value));
        extents.fold(1u128, |product, extent| {
            let extent = extent.map_or(u128::MAX, |extent| extent.max(0).unsigned_abs());
            product.saturating_mul(extent)
        })
    });
    elems.max().unwrap_or(0)
}

/// Shared memory of a block, in bytes.
pub(crate) fn shared_bytes(kernel: &ProgramKernel) -> u32 {
    match kernel.shared_memory {
        SharedMemory::Dynamic { bytes } => bytes,
        SharedMemory::Static => {
            let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
            u32::try_from(shared.map(crate::program::Tile::size_bytes).sum::<u64>())
                .unwrap_or(u32::MAX)
        }
    }
}

/// Times that all SMs are filled with blocks.
fn waves(device: &DeviceProperties, counts: &KernelCounts, blocks_per_sm: u32) -> f64 {
    counts.blocks() as f64 / f64::from((device.sms * blocks_per_sm).max(1))
}

fn occupancy_report(
    device: &DeviceProperties,
    demand: Demand,
    is_measured: bool,
) -> OccupancyReport {
    let occupancy = demand.occupancy(device);
    OccupancyReport {
        blocks: occupancy.blocks,
        warps: occupancy.warps,
        fraction: occupancy.fraction(device),
        limiter: occupancy.limiter.text().to_owned(),
        registers: demand.registers,
        registers_are_estimated: !is_measured,
        shared_bytes: demand.shared_bytes,
        shared_bytes_per_thread: f64::from(demand.shared_bytes) / f64::from(demand.threads.max(1)),
        up: next_step_up(device, demand).map(report::Step::from),
        down: next_steps_down(device, demand).into_iter().map(report::Step::from).collect(),
    }
}
