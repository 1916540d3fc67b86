//! Runs the candidates of a search on a device.
//!
//! The launch's tensors are only read: those that the kernel may write have copies,
//! which every candidate finds as the launch has them, and writes in their stead.

use std::collections::HashMap;
use std::thread::Scope;
use std::time::{Duration, Instant};

use tile_ir::analyze::sizes::may_depend_on_sizes;
use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, ConfigError, Model, Numerics};
use tile_ir::lower::Binding;

use super::argument::TensorArgument;
use super::bind::Bound;
use super::nearness::are_near;
use super::ready::{Executables, Ready, make_ready};
use super::run::run_on_cpu;
use super::scratch::{Copier, Scratch};
use super::workshop::{Pace, Workshop};
use crate::device::{Backend, Device};
use crate::error::{Error, Result};
use crate::tune::{Clocks, Made, Measure, Reason};

#[cfg(feature = "cuda")]
use crate::cuda::Round;

/// What a search runs its candidates on.
pub(super) struct Trials<'a> {
    checked: &'a CheckedKernel,
    device: &'a Device,
    binding: &'a Binding,
    bound: &'a Bound<'a>,
    copier: Copier,
    /// Of each tensor that the kernel may write, the copy that candidates write.
    scratch: Vec<Option<Scratch>>,
    /// The first candidate that was asked for.
    reference: Option<Config>,
    /// What it has left in those copies.
    expected: Option<Vec<Option<Scratch>>>,
    ready: HashMap<Config, Candidate>,
    workshop: Workshop<Ready>,
    start: Instant,
}

/// A candidate that can run.
struct Candidate {
    ready: Ready,
    /// The launches of a round, recorded, and their number.
    #[cfg(feature = "cuda")]
    round: Option<(usize, Round)>,
}

impl<'a> Trials<'a> {
    /// Candidates of a launch of these arguments, made ready by threads of `scope`, at most
    /// `width` at once.
    ///
    /// # Errors
    ///
    /// Where the device has no memory for the copies, or cannot take times.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        (checked, file): (&'a CheckedKernel, &'a str),
        device: &'a Device,
        binding: &'a Binding,
        bound: &'a Bound<'a>,
        width: usize,
    ) -> Result<Self>
    where
        'a: 'scope,
    {
        let start = Instant::now();
        let copier = match device.backend() {
            Backend::Cpu => Copier::Host,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Copier::Cuda(cuda.bench()?),
        };
        let scratch = bound
            .tensors
            .iter()
            .map(|tensor| tensor.mutable.then(|| Scratch::copy_of(tensor, &copier)).transpose());
        let scratch = scratch.collect::<Result<_>>()?;
        let (ready, expected) = (HashMap::new(), None);
        let make = move |config: &Config| make_ready(checked, file, device, binding, config);
        // What is compiled on the host while the host runs candidates would slow them down;
        // and the thread that launches needs a core, too.
        let pace = if device.is_cpu() { Pace::InStep } else { Pace::Ahead };
        let workshop = Workshop::open(scope, width, pace, make);
        Ok(Self {
            checked,
            device,
            binding,
            bound,
            copier,
            scratch,
            reference: None,
            expected,
            ready,
            workshop,
            start,
        })
    }

    /// A candidate that was made ready, to be run elsewhere.
    pub(super) fn take(&mut self, config: &Config) -> Option<Ready> {
        self.ready.remove(config).map(|candidate| candidate.ready)
    }

    /// Takes in what was made, unless it is the program of one that was there before.
    fn admit(&mut self, config: Config, made: Result<Ready>) -> Result<Made> {
        let made = match made {
            Ok(ready) if self.ready.values().any(|one| one.ready.program == ready.program) => {
                Err(Reason::Same)
            }
            Ok(ready) => {
                let resources = ready.resources();
                let candidate = Candidate {
                    ready,
                    #[cfg(feature = "cuda")]
                    round: None,
                };
                self.ready.insert(config.clone(), candidate);
                Ok(resources)
            }
            Err(error) => Err(reason(error)?),
        };
        Ok((config, made))
    }

    /// Brings the copies back to what the launch has.
    fn restore(&mut self) -> Result<()> {
        for (scratch, tensor) in self.scratch.iter_mut().zip(&self.bound.tensors) {
            if let Some(scratch) = scratch {
                scratch.fill(tensor, &self.copier)?;
            }
        }
        Ok(())
    }

    /// Number of words in which the copies differ from what the first candidate has
    /// left there. Those of the first one are what is expected.
    fn differences(&mut self) -> Result<u64> {
        let Some(expected) = &self.expected else {
            let copies = self.scratch.iter().map(|scratch| {
                scratch.as_ref().map(|scratch| scratch.duplicate(&self.copier)).transpose()
            });
            self.expected = Some(copies.collect::<Result<_>>()?);
            return Ok(0);
        };
        let pairs = self.scratch.iter().flatten().zip(expected.iter().flatten());
        pairs.map(|(found, expected)| found.differences(expected, &self.copier)).sum()
    }

    /// Whether the copies are what is expected but for the order of sums.
    fn are_near(&self) -> Result<bool> {
        let Some(expected) = &self.expected else { return Ok(true) };
        let tensors = self.bound.tensors.iter().zip(&self.scratch).zip(expected);
        for ((tensor, found), expected) in tensors {
            let (Some(found), Some(expected)) = (found, expected) else { continue };
            let n_bytes = tensor.n_bytes();
            if !are_near(tensor.dtype, &found.bytes(n_bytes)?, &expected.bytes(n_bytes)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a candidate some times in a row: seconds of all.
    fn time(&mut self, config: &Config, launches: usize) -> Result<f64> {
        let candidate = self.ready.get_mut(config).ok_or_else(|| {
            Error::internal("a candidate is run that was not made ready", format!("{config:?}"))
        })?;
        let tensors = self.bound.tensors.iter().zip(&mut self.scratch);
        let tensors: Vec<TensorArgument<'_>> = tensors
            .map(|(tensor, scratch)| match scratch {
                Some(scratch) => scratch.stand_in(tensor),
                None => tensor.again(),
            })
            .collect();
        let bound = Bound {
            tensors: tensors.iter().collect(),
            scalars: self.bound.scalars.clone(),
            dims: self.bound.dims.clone(),
        };
        let ready = &candidate.ready;
        match (&ready.kernels, &self.copier) {
            (Executables::Host(compiled), _) => {
                let start = Instant::now();
                for _ in 0..launches {
                    run_on_cpu(ready, compiled, &bound, self.device)?;
                }
                Ok(start.elapsed().as_secs_f64())
            }
            #[cfg(feature = "cuda")]
            (Executables::Cuda(loaded), Copier::Cuda(bench)) => {
                let mut launch = || {
                    super::run_cuda::run_on_cuda(ready, loaded, &bound, self.device, bench.queue())
                };
                if launches == 1 {
                    return bench.time(&mut launch);
                }
                let (recorded, round) = match &mut candidate.round {
                    Some(round) => round,
                    none => none.insert((launches, bench.record(launches, &mut launch)?)),
                };
                // A round has as many launches as it was recorded with.
                let seconds = round.run(&mut launch)? * 1e-3;
                Ok(seconds * launches as f64 / *recorded as f64)
            }
            #[cfg(feature = "cuda")]
            (Executables::Cuda(_), Copier::Host) => {
                Err(Error::internal("a CUDA program is timed by the host's clock", ""))
            }
        }
    }
}

impl Measure for Trials<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        let (properties, dims) = (self.device.properties(), self.bound.dims.values());
        let model = Model::new(self.checked.kernel(), &self.binding.types, properties, dims);
        let jobs = configs.iter().map(|config| (model.cost(config).code_bytes, config.clone()));
        let mut finished = self.workshop.make(jobs);
        if self.reference.is_none()
            && let Some(reference) = configs.first()
        {
            // Before any that has the same program, which would be taken for the one.
            while !finished.iter().any(|(config, _)| config == reference) {
                let more = self.workshop.make([]);
                if more.is_empty() {
                    break;
                }
                finished.extend(more);
            }
            finished.sort_by_key(|(config, _)| config != reference);
            self.reference = Some(reference.clone());
        }
        finished.into_iter().map(|(config, made)| self.admit(config, made)).collect()
    }

    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>> {
        self.restore()?;
        let seconds = self.time(config, 1)?;
        let words = self.differences()?;
        if words == 0 || (config.numerics == Numerics::Reassociated && self.are_near()?) {
            return Ok(Ok(seconds));
        }
        let label = self.ready.remove(config).map(|candidate| candidate.ready.label);
        let label = label.as_deref().unwrap_or_default();
        if self.reference.as_ref().is_some_and(|reference| reference.tiles != config.tiles)
            && may_depend_on_sizes(self.checked.kernel())
        {
            tracing::debug!("{label} gives another result, as its tile sizes are others");
            return Ok(Err(Reason::Sizes { words }));
        }
        tracing::error!(
            ?config,
            "{label} gives another result than the default configuration, in {words} words of 8 \
             bytes: it is not used. This is a defect of tile-runtime; please report it"
        );
        Ok(Err(Reason::Wrong { words }))
    }

    fn round(&mut self, config: &Config, launches: usize) -> Result<f64> {
        self.restore()?;
        Ok(self.time(config, launches)? / launches as f64)
    }

    fn clocks(&self) -> Option<Clocks> {
        self.device.clocks()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn width(&self) -> usize {
        self.workshop.width()
    }
}

/// Lowers and compiles configurations, each in whatever thread is free.
/// Why one configuration cannot run; an error of the machine stays one.
fn reason(error: Error) -> Result<Reason> {
    match error {
        Error::Config(error) => Ok(match *error {
            ConfigError::SharedMemory { needed_bytes, available_bytes, .. } => {
                Reason::SharedMemory { needed_bytes, available_bytes }
            }
            other => Reason::Refused { error: other.to_string() },
        }),
        Error::Internal(error) => {
            tracing::error!("{error}");
            Ok(Reason::Refused { error: error.what.clone() })
        }
        other => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tracing::level_filters::LevelFilter;

    use super::super::made_up::with_made_up;
    use super::*;
    use crate::events::tests::lines_of;
    use crate::options::Options;
    use crate::tiled_kernel;

    tiled_kernel! {
        fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
        }
    }

    tiled_kernel! {
        fn subtract<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
        where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
        {
            c[bx * TN + tx] = a[bx * TN + tx] - b[bx * TN + tx];
        }
    }

    /// A candidate that computes something else: as if lowering had a defect.
    #[test]
    fn a_wrong_candidate_is_named_and_dropped() {
        let (kernel, device) = (add::kernel::<f32>(), Device::cpu());
        let dims = kernel.check_dims(&[1000]).unwrap();
        let outcome =
            with_made_up(&kernel, &device, &dims, (1, &Options::new()), |request, default| {
                let (checked, binding) = (request.checked, request.binding());
                let text = (checked, request.file);
                thread::scope(|scope| {
                    let mut trials = Trials::new(scope, text, &device, &binding, request.bound, 1)?;
                    let other = Config { split_edges: !default.split_edges, ..default.clone() };
                    trials.prepare(std::slice::from_ref(&default))?;
                    let wrong = subtract::kernel::<f32>();
                    let wrong =
                        make_ready(wrong.checked(), request.file, &device, &binding, &other)?;
                    let candidate = Candidate {
                        ready: wrong,
                        #[cfg(feature = "cuda")]
                        round: None,
                    };
                    trials.ready.insert(other.clone(), candidate);
                    trials.first_run(&default)?.expect("it is what others are compared with");
                    let (found, lines) = lines_of(LevelFilter::WARN, || trials.first_run(&other));
                    assert!(matches!(found?, Err(Reason::Wrong { words }) if words > 400));
                    let [line] = &lines[..] else { panic!("{lines:?}") };
                    assert!(line.contains("gives another result than the default"), "{line}");
                    assert!(line.contains("with TN = ") && line.contains("split_edges"), "{line}");
                    assert!(!trials.ready.contains_key(&other), "it is not run again");
                    Err(Error::internal("all was looked at", ""))
                })
            });
        assert!(outcome.unwrap_err().to_string().contains("all was looked at"));
    }

    /// Choices that change nothing in a program of cooperative copies: all but the reference
    /// are twins of it, and most are ready before it.
    #[test]
    fn the_reference_is_no_twin_of_another() {
        let (kernel, device) = (add::kernel::<f32>(), Device::cpu());
        let dims = kernel.check_dims(&[1024]).unwrap();
        let outcome =
            with_made_up(&kernel, &device, &dims, (4, &Options::new()), |request, default| {
                let (text, binding) = ((request.checked, request.file), request.binding());
                thread::scope(|scope| {
                    let mut trials = Trials::new(scope, text, &device, &binding, request.bound, 4)?;
                    let twins =
                        (1..6).map(|n| Config { unrolled_stmts: 4096 * n, ..default.clone() });
                    let all: Vec<Config> = [default.clone()].into_iter().chain(twins).collect();
                    let made = trials.prepare(&all)?;
                    assert_eq!(made[0].0, default);
                    assert!(made[0].1.is_ok(), "{:?}", made[0].1);
                    assert!(made[1..].iter().all(|(_, made)| *made == Err(Reason::Same)));
                    Err(Error::internal("all was looked at", ""))
                })
            });
        assert!(outcome.unwrap_err().to_string().contains("all was looked at"));
    }
}
