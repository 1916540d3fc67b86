//! Which program of a configuration a launch runs while the one that is meant is not
//! compiled yet.
//!
//! That is the *brief* one: of the same tile sizes and the same items per thread, but
//! without facts about the launch, so that it is valid for all, with one buffer of
//! everything, and with loops that are not written out. It is compiled in a fraction of
//! the time, and gives the same bits: nothing of that changes what is computed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tile_ir::check::CheckedKernel;
use tile_ir::config::{AxisItems, Config, Numerics, block_extents, check_config};
use tile_ir::lower::Binding;
use tile_ir::program::Program;

use super::cache::{KernelAddress, ProgramKey};
use super::facts;
use super::ready::{Ready, lower_for, make_checked, make_of, make_ready};
use crate::cpu::Watch;
use crate::device::{Backend, Device};
use crate::error::Result;
use crate::macro_support::EmbeddedKernel;

/// Statements of a thread that a loop of the brief program is written out to. Measured
/// with NVRTC 13.0 for `sm_90`: a product in tiles of 128 x 128, 64 multiply-adds a
/// thread and step, takes 0.2 s to compile with so many and 1.6 s with 4096 of them.
const BRIEF_STMTS: u32 = 512;

/// Work-items of a thread of the brief program, where more threads fit a block. The same
/// product in tiles of 128 x 256 takes 0.20 s of processor time to compile with 128 of them
/// and 0.13 s with 64, and runs as fast.
const BRIEF_ITEMS: u32 = 64;

/// A program to be made.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) embedded: &'static EmbeddedKernel,
    pub(super) kernel: KernelAddress,
    pub(super) binding: Binding,
    pub(super) config: Config,
}

/// A program that is to take the place of the brief one.
pub(super) struct Upgrade {
    wanted: Wanted,
    is_asked: AtomicBool,
}

impl std::fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgrade").field("config", &self.wanted.config).finish_non_exhaustive()
    }
}

impl Wanted {
    fn key(&self) -> ProgramKey {
        let Self { kernel, binding, config, .. } = self.clone();
        ProgramKey { kernel, binding, config, is_brief: false, watch: None }
    }

    fn brief_key(&self) -> ProgramKey {
        ProgramKey { binding: facts::none(&self.binding), is_brief: true, ..self.key() }
    }

    /// The program, for which the launch waits.
    pub(super) fn program(&self, device: &Device) -> Result<Arc<Ready>> {
        let (checked, file) = (self.embedded.get()?, self.embedded.file());
        let make = || make_ready(checked, file, device, &self.binding, &self.config);
        device.programs().program(self.key(), make)
    }

    /// The program of checked launches.
    pub(super) fn checked_program(&self, device: &Device, watch: Watch) -> Result<Arc<Ready>> {
        let (checked, file) = (self.embedded.get()?, self.embedded.file());
        let make = || make_checked(checked, file, device, (&self.binding, &self.config), watch);
        device.programs().program(ProgramKey { watch: Some(watch), ..self.key() }, make)
    }

    /// The program if it is ready or need not be compiled; else the brief one, and what
    /// is to take its place.
    pub(super) fn program_soon(&self, device: &Device) -> Result<(Arc<Ready>, Option<Upgrade>)> {
        let programs = device.programs();
        if let Some(ready) = programs.ready(&self.key()) {
            return Ok((ready, None));
        }
        let (checked, file) = (self.embedded.get()?, self.embedded.file());
        if !device.background().manners().builds
            || !checked.is_order_independent()
            || self.config.numerics != Numerics::Exact
        {
            return Ok((self.program(device)?, None));
        }
        let meant = lower_for(checked, device, &self.binding, &self.config)?;
        if has_code(device, &meant, file)? {
            let make = || make_of(checked, file, device, &self.binding, &self.config, meant);
            return Ok((programs.program(self.key(), make)?, None));
        }
        let make = || make_brief(checked, file, device, &self.binding, &self.config);
        let brief = match programs.program(self.brief_key(), make) {
            Ok(brief) => brief,
            // It may do without: the one that is meant will say what is wrong.
            Err(error) => {
                tracing::debug!(kernel = checked.kernel().name, "no brief program: {error}");
                return Ok((self.program(device)?, None));
            }
        };
        let upgrade = Upgrade { wanted: self.clone(), is_asked: AtomicBool::new(false) };
        Ok((brief, Some(upgrade)))
    }
}

impl Upgrade {
    /// Has the program made in the background, once. Launches find it then.
    pub(super) fn ask(&self, device: &Device) {
        if self.is_asked.swap(true, Ordering::AcqRel) {
            return;
        }
        let (wanted, here) = (self.wanted.clone(), device.detached());
        device.builder().submit(move |cancel| {
            if cancel.is_set() {
                return;
            }
            match wanted.program(&here) {
                Ok(ready) => {
                    tracing::debug!("{} is compiled, and takes its place", ready.label);
                    here.programs().forget_repeats();
                }
                Err(error) => tracing::warn!("not compiled in the background: {error}"),
            }
        });
    }
}

/// Whether a program's machine code is at hand.
fn has_code(device: &Device, program: &Program, file: &str) -> Result<bool> {
    match device.backend() {
        Backend::Cpu => {
            let _ = (program, file);
            Ok(false)
        }
        #[cfg(feature = "cuda")]
        Backend::Cuda(cuda) => cuda.has_code(program, file),
    }
}

fn make_brief(
    checked: &CheckedKernel,
    file: &str,
    device: &Device,
    binding: &Binding,
    config: &Config,
) -> Result<Ready> {
    let binding = facts::none(binding);
    let mut plain = Config {
        stages: 1,
        unroll_stages: false,
        fragment_buffers: config.fragment_buffers.min(1),
        split_edges: false,
        unrolled_stmts: BRIEF_STMTS,
        ..config.clone()
    };
    let extents = block_extents(checked.kernel(), &config.tiles);
    while let Some(spread) = spread(checked, device, &extents, &plain) {
        plain = spread;
    }
    make_ready(checked, file, device, &binding, &plain)
}

/// The configuration with twice the threads along the axis of which a thread has most items,
/// where a thread has too many for a brief program.
fn spread(
    checked: &CheckedKernel,
    device: &Device,
    extents: &[u32],
    config: &Config,
) -> Option<Config> {
    let items = |(axis, extent): (&AxisItems, &u32)| axis.items_per_thread(*extent);
    let of_axes: Vec<u32> = config.block.iter().zip(extents).map(items).collect();
    if of_axes.iter().copied().fold(1, u32::saturating_mul) <= BRIEF_ITEMS {
        return None;
    }
    let most = (0..of_axes.len()).max_by_key(|&at| of_axes[at])?;
    let mut spread = Config { threads: config.threads.checked_mul(2)?, ..config.clone() };
    // The sums and their operands are in registers.
    let registers = spread.threads.checked_mul(2 * BRIEF_ITEMS)?;
    if registers > device.properties().registers_per_block {
        return None;
    }
    let axis = spread.block.get_mut(most)?;
    axis.threads = axis.threads.checked_mul(2)?;
    axis.run = axis.run.min(extents.get(most)? / axis.threads).max(1);
    check_config(checked.kernel(), &spread, device.properties()).is_ok().then_some(spread)
}
