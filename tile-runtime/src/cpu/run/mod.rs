//! Running a launch: blocks across cores.
//!
//! Each worker takes the next block that no one has taken, on memory that it
//! allocates once. Blocks do not depend on one another, so which worker runs
//! which block has no effect on results.

mod access;
mod array;
mod block;
mod chunk;
mod counted;
mod distinct;
mod elements;
mod frame;
mod grid;
mod memory;
mod shadow;
mod transfer;
mod warp;
mod watched;

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tile_ir::program::{Assumption, ExprId};
use tile_ir::value::{ArgValue, ScalarValue};

use self::array::{ArrayView, bind_buffers};
use self::block::{Stop, run_block};
use self::distinct::SharedTaken;
use self::frame::{Fault, Frame};
pub(super) use self::grid::block_coords;
pub(super) use self::shadow::{AccessTally, BranchTally, Case, Log, Stray, Tally, Who};
use self::shadow::{SharedShadow, Watcher};
use super::code::{ArrayPlace, CompiledKernel};
use super::error::WorkItem;
use super::found::{Found, Shapes, describe};
use super::order::Permutation;
use super::{CpuBuffer, CpuError};

/// The buffers' views, for all workers.
struct Buffers(Vec<ArrayView>);

// SAFETY: a view points to memory that the launch's `CpuBuffer`s promise to
// whichever threads run it.
unsafe impl Sync for Buffers {}

/// Runs a launch; what was found, in a checked one.
pub(super) fn run(
    kernel: &CompiledKernel,
    buffers: &[CpuBuffer],
    args: &[ArgValue],
) -> Result<Option<Found>, CpuError> {
    let uniforms = launch_registers(kernel, args)?;
    let extents: Vec<i64> =
        kernel.grid.iter().map(|axis| uniforms[axis.extent as usize].cast_signed()).collect();
    let views = Buffers(bind_buffers(kernel, buffers, &uniforms)?);
    if extents.iter().any(|&extent| extent <= 0) {
        return Ok(None);
    }
    let n_blocks = extents
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(extent.unsigned_abs()))
        .filter(|&n_blocks| n_blocks < u64::MAX / 2)
        .ok_or_else(|| CpuError::TooManyBlocks { kernel: kernel.name.clone() })?;

    let order = kernel.mode.order.of(n_blocks, 0);
    let n_workers = u64::try_from(rayon::current_num_threads()).unwrap_or(1).min(n_blocks);
    let shadow = kernel
        .mode
        .watch
        .map(|_| SharedShadow::new(kernel, buffers, &views.0, n_blocks, n_workers == 1))
        .transpose()?;
    let shadow = shadow.as_ref();
    let taken = SharedTaken::default();
    let launch = Launch {
        kernel,
        uniforms,
        extents,
        order,
        n_blocks,
        buffers: views,
        shadow,
        taken: &taken,
    };
    let next = AtomicU64::new(0);
    let first_stop = AtomicU64::new(u64::MAX);
    let worked = (0..n_workers).into_par_iter().map(|_| launch.work(&next, &first_stop));
    let (stops, logs): (Vec<_>, Vec<_>) = worked.unzip();
    let found = shadow.map(|shadow| {
        let mut log = Log::default();
        logs.into_iter().flatten().for_each(|found| log.merge(found));
        shadow.finish(&mut log, stops.iter().all(Option::is_none));
        describe(kernel, &launch.extents, &launch.shapes(), log)
    });
    match stops.into_iter().flatten().min_by_key(|&(place, _)| place) {
        None => Ok(found),
        // Which array it has left is among what was found, with its place.
        Some((_, Stop::Fault(Fault::Outside(_) | Fault::Apart))) if found.is_some() => Ok(found),
        Some((place, stop)) => Err(described(kernel, launch.order.at(place), stop)),
    }
}

/// A launch, as its workers see it.
struct Launch<'k> {
    kernel: &'k CompiledKernel,
    uniforms: Vec<u64>,
    extents: Vec<i64>,
    order: Permutation,
    n_blocks: u64,
    buffers: Buffers,
    shadow: Option<&'k SharedShadow>,
    taken: &'k SharedTaken,
}

impl Launch<'_> {
    /// How the arrays lie.
    fn shapes(&self) -> Shapes {
        let mut none = 0u64;
        let mut views = self.buffers.0.clone();
        views.extend(array::bind_tiles(self.kernel, (&raw mut none).cast()));
        let shape = |view: &ArrayView| {
            let n = view.n_axes;
            (view.extents[..n].to_vec(), view.strides[..n].to_vec())
        };
        let arrays = self.kernel.arrays.iter().zip(&views);
        let shapes = arrays.map(|(array, view)| {
            let (mut extents, mut strides) = shape(view);
            if let ArrayPlace::Tile { .. } = array.place {
                // The choice among buffers is no axis of the text.
                extents.pop();
                strides.pop();
            }
            (extents, strides)
        });
        shapes.collect()
    }

    /// Runs blocks until none is left, or until one is stopped, whose place in the
    /// order is returned, beside what was found. Blocks are taken in order, so those before the first
    /// stopped one all run: which one is reported does not depend on timing.
    fn work(&self, next: &AtomicU64, first_stop: &AtomicU64) -> (Option<(u64, Stop)>, Option<Log>) {
        let mut frame = Frame::new(self.kernel, self.uniforms.clone(), &self.buffers.0);
        frame.in_grid = Some(self.taken);
        frame.watcher = self.shadow.map(|shadow| Watcher::new(self.kernel, shadow, &frame.arrays));
        let stop = self.run_blocks(&mut frame, next, first_stop);
        (stop, frame.watcher.map(Watcher::into_log))
    }

    fn run_blocks(
        &self,
        frame: &mut Frame<'_>,
        next: &AtomicU64,
        first_stop: &AtomicU64,
    ) -> Option<(u64, Stop)> {
        let mut coords = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= self.n_blocks || place > first_stop.load(Ordering::Relaxed) {
                return None;
            }
            let block = self.order.at(place);
            grid::block_coords(self.kernel.raster, &self.extents, block, &mut coords);
            for (axis, &coord) in self.kernel.grid.iter().zip(&coords) {
                for &register in &axis.coords {
                    frame.set_uniform(register, coord);
                }
            }
            if let Err(stop) = run_block(frame, &self.kernel.roles, block) {
                first_stop.fetch_min(place, Ordering::Relaxed);
                return Some((place, stop));
            }
        }
    }
}

/// The registers as a launch's blocks begin with them.
fn launch_registers(kernel: &CompiledKernel, args: &[ArgValue]) -> Result<Vec<u64>, CpuError> {
    if args.len() != kernel.args.len() {
        return Err(CpuError::WrongCount {
            kernel: kernel.name.clone(),
            what: "arguments",
            expected: kernel.args.len(),
            given: args.len(),
        });
    }
    let mut uniforms = kernel.uniforms.clone();
    for ((name, ty, register), arg) in kernel.args.iter().zip(args) {
        uniforms[*register as usize] = match *arg {
            ArgValue::Index(value) if ty.is_index() => value.cast_unsigned(),
            ArgValue::Scalar(value) if !ty.is_index() && value.dtype == ty.storage() => value.bits,
            ArgValue::Index(_) | ArgValue::Scalar(_) => {
                return Err(CpuError::WrongArgument {
                    kernel: kernel.name.clone(),
                    arg: name.clone(),
                });
            }
        };
    }
    let mut frame = Frame::of_registers(kernel, uniforms);
    // Numbers of the launch read no memory, so nothing can leave an array.
    frame.run_list(&kernel.launch_code).map_err(|_| CpuError::Malformed {
        kernel: kernel.name.clone(),
        rule: "a number of the launch depends on memory".into(),
    })?;
    Ok(frame.into_uniforms())
}

fn described(kernel: &CompiledKernel, block: u64, stop: Stop) -> CpuError {
    match stop {
        Stop::Fault(Fault::Outside(outside)) => CpuError::OutOfRange {
            kernel: kernel.name.clone(),
            block,
            array: kernel.arrays[outside.array].name.clone(),
            axis: outside.axis,
            index: outside.index,
            extent: outside.extent,
        },
        Stop::Fault(Fault::Apart) => CpuError::Malformed {
            kernel: kernel.name.clone(),
            rule: "work-items that meet, and nobody looks".into(),
        },
        Stop::Fault(Fault::Assumption(number, shown)) => {
            let (fact, span) = &kernel.facts[number];
            let mut shown = shown.iter();
            let mut named = |names: &[(String, ExprId)]| named(names, &mut shown);
            CpuError::Assumption {
                kernel: kernel.name.clone(),
                text: fact.text.clone(),
                span: *span,
                block: named(&fact.block),
                item: named(&fact.item),
                values: named(&fact.values),
            }
        }
        Stop::Fault(Fault::Shared(number, shown, other)) => {
            let (fact, span) = &kernel.facts[number];
            let (mut shown, mut other) = (shown.iter(), other.iter());
            let first = work_item(fact, &mut shown);
            CpuError::Shared {
                kernel: kernel.name.clone(),
                text: fact.text.clone(),
                span: *span,
                values: named(&fact.values, &mut shown),
                who: Box::new([first, work_item(fact, &mut other)]),
            }
        }
        Stop::BarrierMismatch(agent) => CpuError::BarrierMismatch {
            kernel: kernel.name.clone(),
            block,
            role: kernel.roles[agent].name.clone(),
        },
    }
}

/// Values with their names.
fn named<'v>(
    names: &[(String, ExprId)],
    values: &mut impl Iterator<Item = &'v ScalarValue>,
) -> Vec<String> {
    let values = names.iter().zip(values);
    values.map(|((name, _), value)| format!("{name} = {value}")).collect()
}

/// Who it is whose coordinates are shown.
fn work_item<'v>(
    fact: &Assumption,
    values: &mut impl Iterator<Item = &'v ScalarValue>,
) -> WorkItem {
    WorkItem { block: named(&fact.block, values), item: named(&fact.item, values) }
}
