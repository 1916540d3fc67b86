//! Launches that are searched for while the program runs: their device time is counted,
//! and where it is worth a search the tensors of one of them are copied, on which the
//! device's search thread then measures.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tile_ir::config::Numerics;
use tile_ir::dtype::DType;

use super::bind::Bound;
use super::cache::{KernelAddress, ProgramKey};
use super::owned::OwnedLaunch;
use super::shaped::with_sizes_of_shapes;
use super::tuned::{How, Request};
use crate::device::{Backend, Device};
use crate::error::Result;
use crate::macro_support::EmbeddedKernel;
use crate::options::Options;
use crate::tune::{
    Cancel, Limits, Manners, ShapeClass, Strategy, Surroundings, Usage, is_frozen, unless_frozen,
};

#[cfg(feature = "cuda")]
use crate::cuda::{CudaDevice, CudaQueue, Stopwatch};

/// How long the search thread waits before it looks again whether it may measure.
const PATIENCE: Duration = Duration::from_millis(2);
/// The seed of what a search draws.
const SEED: u64 = 1;
/// The fraction of the roofline that ends a search.
const ENOUGH: f64 = 0.92;

/// Which launches are of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) kernel: KernelAddress,
    pub(super) types: Vec<DType>,
    pub(super) class: ShapeClass,
    pub(super) tiles: Vec<(String, u32)>,
}

/// What a device knows of its launches' kinds.
#[derive(Debug)]
pub(crate) struct Background {
    manners: Mutex<Manners>,
    kinds: Mutex<HashMap<Kind, Arc<Watched>>>,
    /// What searches have spent, in seconds of device time.
    spent: Mutex<f64>,
}

impl Background {
    /// Of a device whose programs take long to compile, or do not.
    pub(crate) fn new(builds: bool) -> Self {
        let manners = Mutex::new(Manners::new(builds));
        Self { manners, kinds: Mutex::default(), spent: Mutex::default() }
    }

    /// The limits of what is done.
    pub(crate) fn manners(&self) -> Manners {
        *self.manners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets them.
    pub(crate) fn set_manners(&self, manners: Manners) {
        *self.manners.lock().unwrap_or_else(PoisonError::into_inner) = manners;
    }

    /// What is known of a kind.
    pub(super) fn watched(&self, kind: Kind) -> Arc<Watched> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.entry(kind).or_default().clone()
    }

    fn spent(&self) -> std::sync::MutexGuard<'_, f64> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The launches of one kind.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    usage: Usage,
    /// A launch whose time is not known yet, by its number.
    #[cfg(feature = "cuda")]
    timed: Mutex<Option<(u64, Stopwatch)>>,
}

/// A launch that is about to run.
pub(super) struct Watching<'a> {
    pub(super) embedded: &'static EmbeddedKernel,
    pub(super) types: &'a [DType],
    pub(super) options: &'a Options,
    pub(super) bound: &'a Bound<'a>,
    pub(super) device: &'a Device,
}

impl Watched {
    /// Runs a launch on the CPU, which is over when `run` returns.
    pub(super) fn run_on_cpu(
        self: &Arc<Self>,
        launch: &Watching<'_>,
        run: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(number) = self.usage.begin().filter(|_| !is_frozen()) else { return run() };
        self.consider(launch);
        let start = Instant::now();
        run()?;
        self.usage.add(number, start.elapsed().as_secs_f64(), launch.device.meter());
        Ok(())
    }

    /// Runs a launch on a queue, unless it is recorded there.
    #[cfg(feature = "cuda")]
    pub(super) fn run_on_cuda(
        self: &Arc<Self>,
        launch: &Watching<'_>,
        queue: &CudaQueue,
        run: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(number) = self.usage.begin().filter(|_| !is_frozen()) else { return run() };
        // Another thread is at it: its launch is as good as this one.
        let Ok(mut timed) = self.timed.try_lock() else { return run() };
        if queue.is_recording() {
            return run();
        }
        if let Some((number, stopwatch)) = &*timed {
            match stopwatch.seconds() {
                Ok(None) => return run(),
                Ok(Some(seconds)) => self.usage.add(*number, seconds, launch.device.meter()),
                // Of a device that has failed, whose next wait tells it.
                Err(_) => {}
            }
            *timed = None;
        }
        self.consider(launch);
        let stopwatch = Stopwatch::start(queue)?;
        run()?;
        stopwatch.stop()?;
        *timed = Some((number, stopwatch));
        Ok(())
    }

    /// Asks for a search if it is time for one.
    fn consider(self: &Arc<Self>, launch: &Watching<'_>) {
        let manners = launch.device.background().manners();
        if !self.usage.asks_for_search(manners.after) {
            return;
        }
        let Ok(checked) = launch.embedded.get() else { return };
        let kernel = checked.kernel().name.as_str();
        let room = launch.device.free_bytes().map(|bytes| bytes as f64 * manners.memory_share);
        let needed = needed_bytes(launch.bound);
        if room.is_some_and(|room| needed as f64 > room) {
            tracing::debug!(kernel, needed, "too large to be searched for in the background");
            return;
        }
        let copy = match OwnedLaunch::copy_of(launch.bound, launch.device) {
            Ok(copy) => copy,
            Err(error) => {
                tracing::debug!(kernel, "not searched for in the background: {error}");
                return;
            }
        };
        let mut search = Search {
            embedded: launch.embedded,
            types: launch.types.to_vec(),
            options: Options {
                stream: None,
                ..with_sizes_of_shapes(checked.kernel(), launch.bound, launch.options).into_owned()
            },
            launch: copy,
            watched: self.clone(),
        };
        tracing::debug!(kernel, "to be searched for in the background");
        let device = launch.device.detached();
        launch.device.searcher().submit(move |cancel| search.run(&device, cancel));
    }
}

/// Bytes of a search's arrays: a copy of every tensor, and of one that is written
/// another to write, and one with what is expected.
fn needed_bytes(bound: &Bound<'_>) -> u64 {
    let copies = |mutable: bool| if mutable { 3 } else { 1 };
    bound.tensors.iter().map(|tensor| tensor.n_bytes() as u64 * copies(tensor.mutable)).sum()
}

/// A search for launches of one kind.
struct Search {
    embedded: &'static EmbeddedKernel,
    types: Vec<DType>,
    options: Options,
    launch: OwnedLaunch,
    watched: Arc<Watched>,
}

impl Search {
    fn run(&mut self, device: &Device, cancel: &Cancel) {
        #[cfg(feature = "cuda")]
        if let Backend::Cuda(cuda) = device.backend() {
            cuda.stay_out_of_recordings();
        }
        let around = Around { device, cancel, start: Instant::now() };
        let Self { embedded, types, options, launch, watched } = self;
        let expected = watched.usage.mean_seconds();
        let outcome = launch.with_bound(device, |bound| {
            let (hash, file) = (embedded.hash(), embedded.file());
            let checked = embedded.get()?;
            let request = Request { checked, hash, file, types, device, bound, options };
            search(&request, embedded, &around, expected)
        });
        match outcome {
            Ok(()) => {}
            Err(error) if around.is_over() => tracing::debug!("{error}"),
            Err(error) => tracing::info!("{error}"),
        }
    }
}

/// Searches, keeps what is found, and lets launches use it.
fn search(
    request: &Request<'_>,
    embedded: &'static EmbeddedKernel,
    around: &Around<'_>,
    expected: f64,
) -> Result<()> {
    let device = around.device;
    let default = request.default_config()?;
    if request.why_not(&default).is_some() || request.numerics() != Numerics::Exact {
        return Ok(());
    }
    let background = device.background();
    let manners = background.manners();
    let limits = Limits { budget: manners.budget, enough: ENOUGH };
    let spent = Cell::new(*background.spent());
    let how = How::Politely { around, share: manners.share, expected, spent: &spent };
    let situation = request.situation();
    let mut plan = Strategy::default().plan(SEED);
    let found = request.measure(&situation, default, plan.as_mut(), limits, how);
    *background.spent() = spent.get();
    let (report, ready) = found?;
    let best = report.best().config.clone();
    tracing::info!(
        kernel = report.kernel,
        device = report.device,
        class = report.class,
        speedup = report.default_seconds() / report.best().seconds,
        best = report.describe(&best),
        "tuned in the background"
    );
    unless_frozen(|| {
        if let Some(ready) = ready {
            let kernel = std::ptr::from_ref(embedded).addr();
            let binding = device.programs().facts().admit(kernel, request.binding());
            let key = ProgramKey { kernel, binding, config: best, is_brief: false, watch: None };
            device.programs().insert(key, ready);
        }
        request.keep(&situation, &report);
    });
    Ok(())
}

/// What a search sees of a device.
struct Around<'a> {
    device: &'a Device,
    cancel: &'a Cancel,
    start: Instant,
}

impl Surroundings for Around<'_> {
    fn user_seconds(&self) -> f64 {
        self.device.meter().seconds()
    }

    fn begun(&self) -> u64 {
        self.device.meter().begun()
    }

    fn is_quiet(&self) -> bool {
        let is_idle = match self.device.backend() {
            Backend::Cpu => true,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => CudaDevice::is_quiet(cuda),
        };
        is_idle && self.device.meter().running() == 0 && !self.device.is_tuning()
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn wait(&self) {
        self.cancel.wait(PATIENCE);
    }

    fn is_over(&self) -> bool {
        self.cancel.is_set() || is_frozen()
    }
}
