//! The configuration of a launch that leaves it open, as its policy says: from what
//! was measured, by measuring, or without.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread;

use tile_ir::analyze::sizes::may_depend_on_sizes;
use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, Numerics};
use tile_ir::dtype::DType;
use tile_ir::lower::Binding;

use super::bind::{Bound, Dims, binding_of, binding_of_elems, check_extents};
use super::choose::choose;
use super::ready::Ready;
use super::trial::Trials;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, type_list};
use crate::options::Options;
use crate::tune::{
    DeviceId, Entry, Group, KernelId, Launch, Limits, Measure as _, Plan, Polite, ShapeClass,
    Shown, Situation, Space, Surroundings, Tune, TuneOptions, TuneReport, kernel_hash, search,
};

/// A launch, as far as its configuration depends on it.
pub(super) struct Request<'a> {
    pub(super) checked: &'a CheckedKernel,
    /// The kernel's hash, once it has been asked for.
    pub(super) hash: &'a OnceLock<String>,
    pub(super) file: &'a str,
    pub(super) types: &'a [DType],
    pub(super) device: &'a Device,
    pub(super) bound: &'a Bound<'a>,
    pub(super) options: &'a Options,
}

/// How a search measures.
pub(super) enum How<'a> {
    /// The launch waits for it.
    AtOnce,
    /// While the user works: within a share of what launches take, those measured being
    /// expected to take so many seconds; `spent` is what was spent before, and after it.
    Politely { around: &'a dyn Surroundings, share: f64, expected: f64, spent: &'a Cell<f64> },
}

impl How<'_> {
    /// Threads that compile: all, or one beside the user's.
    fn width(&self) -> usize {
        match self {
            Self::AtOnce => thread::available_parallelism().map_or(1, NonZeroUsize::get),
            Self::Politely { .. } => 1,
        }
    }
}

impl Request<'_> {
    /// The configuration that `policy` gives.
    pub(super) fn config(&self, policy: Tune) -> Result<Config> {
        let budget = match policy {
            Tune::Off => return self.default_config(),
            Tune::Cached | Tune::Background => None,
            Tune::Now(budget) => Some(budget),
        };
        let situation = self.situation();
        if let Some(config) = self.remembered(&situation) {
            return Ok(config);
        }
        let default = self.default_config()?;
        let Some(budget) = budget else { return Ok(default) };
        if let Some(reason) = self.why_not(&default) {
            tracing::debug!(kernel = self.checked.kernel().name, reason, "not measured");
            return Ok(default);
        }
        // One search at a time, of those that would disturb one another. Whoever has
        // waited may find that the search was its own.
        let _alone = self.device.tuning();
        if let Some(config) = self.remembered(&situation) {
            return Ok(config);
        }
        let report = match self.search(&situation, default.clone(), &TuneOptions::new(budget)) {
            Ok(report) => report,
            // The launch may do without; where it cannot, it says why itself.
            Err(error) => {
                let kernel = &self.checked.kernel().name;
                tracing::warn!(kernel, "not tuned: {error}");
                return Ok(default);
            }
        };
        tracing::info!(
            kernel = report.kernel,
            device = report.device,
            class = report.class,
            speedup = report.default_seconds() / report.best().seconds,
            seconds = report.elapsed.as_secs_f64(),
            best = report.describe(&report.best().config),
            "tuned"
        );
        Ok(report.best().config.clone())
    }

    /// What the device's properties and the shape suggest. Choosing it takes longer
    /// than all else that a launch needs whose kernel is compiled; so it is kept.
    pub(super) fn default_config(&self) -> Result<Config> {
        let (properties, dims) = (self.device.properties(), self.bound.dims.values());
        let choose = || choose(self.checked, self.types, properties, dims, self.options);
        #[cfg(feature = "cuda")]
        if !self.device.is_cpu() {
            let Options { tiles, numerics, .. } = self.options;
            let launch = format!("{:?} {dims:?} {tiles:?} {numerics:?}", self.types);
            let device = format!("{properties:?}");
            let ingredients = [self.hash(), &launch, &device].map(str::as_bytes);
            return crate::cache::computed_once(&ingredients, choose);
        }
        choose()
    }

    /// What the tuner knows the kernel by.
    fn hash(&self) -> &str {
        self.hash.get_or_init(|| kernel_hash(self.checked).to_string())
    }

    /// The best that was measured, where it goes with the launch.
    pub(super) fn remembered(&self, situation: &Situation) -> Option<Config> {
        let shelf = self.device.shelf();
        let kernel = self.checked.kernel();
        let mut config = shelf.best(situation, kernel, self.device.properties())?;
        config.numerics = self.numerics();
        if !self.may_change_sizes() && config.tiles != self.default_config().ok()?.tiles {
            return None;
        }
        self.fits_tensors(&config).then_some(config)
    }

    /// Whether results are the same in other tile sizes than those that are chosen
    /// without measuring, or need not be.
    fn may_change_sizes(&self) -> bool {
        self.numerics() == Numerics::Reassociated || !may_depend_on_sizes(self.checked.kernel())
    }

    pub(super) fn numerics(&self) -> Numerics {
        self.options.numerics.unwrap_or_default()
    }

    fn fits_tensors(&self, config: &Config) -> bool {
        let Bound { tensors, dims, .. } = self.bound;
        check_extents(self.checked.kernel(), tensors, dims, Some(config)).is_ok()
    }

    /// Whether launches of this kind may be searched for in the background: nobody has
    /// measured any, and whatever is found gives the same bits.
    pub(super) fn is_searchable(&self) -> bool {
        self.checked.is_order_independent()
            && self.numerics() == Numerics::Exact
            && self.remembered(&self.situation()).is_none()
    }

    /// Why the launch cannot be measured, where it cannot.
    pub(super) fn why_not(&self, default: &Config) -> Option<&'static str> {
        if !self.checked.is_order_independent() {
            return Some("its results depend on the order of its work-items");
        }
        if super::is_empty_grid(self.checked.kernel(), self.bound, default) {
            return Some("its grid has no block");
        }
        let fits = self.fits_tensors(default);
        (!fits).then_some("its tensors have other extents than the default tile sizes ask for")
    }

    pub(super) fn situation(&self) -> Situation {
        let hash = self.hash().to_owned();
        let (dims, given) = (self.bound.dims.values(), &self.options.tiles);
        let numerics = self.numerics();
        situation((self.checked, hash), self.device, &self.binding(), dims, (given, numerics))
    }

    pub(super) fn binding(&self) -> Binding {
        let elems = self.bound.tensors.iter().map(|tensor| tensor.span_elems() as u128);
        let elems = elems.max().unwrap_or(0);
        binding_of_elems(self.types, &self.bound.dims, elems, self.bound.layouts())
    }

    /// Searches, and keeps what is found. To be called while [`Device::tuning`] is
    /// held.
    pub(super) fn search(
        &self,
        situation: &Situation,
        default: Config,
        options: &TuneOptions,
    ) -> Result<TuneReport> {
        let mut plan = options.strategy.plan(options.seed);
        let limits = Limits { budget: options.budget, enough: options.enough };
        let (report, _) = self.measure(situation, default, plan.as_mut(), limits, How::AtOnce)?;
        self.keep(situation, &report);
        Ok(report)
    }

    /// Measures what `plan` proposes, and keeps nothing; with the report, the best one,
    /// ready to run. To be called while [`Device::tuning`] is held, unless politely.
    pub(super) fn measure(
        &self,
        situation: &Situation,
        default: Config,
        plan: &mut dyn Plan,
        limits: Limits,
        how: How<'_>,
    ) -> Result<(TuneReport, Option<Ready>)> {
        if let How::AtOnce = how {
            // What is queued would run beside the candidates.
            self.device.synchronize()?;
        }
        let binding = self.binding();
        let (text, width) = ((self.checked, self.file), how.width());
        thread::scope(|scope| {
            let trials = Trials::new(scope, text, self.device, &binding, self.bound, width)?;
            self.search_among(trials, (situation, default), plan, limits, how)
        })
    }

    fn search_among(
        &self,
        mut trials: Trials<'_>,
        (situation, default): (&Situation, Config),
        plan: &mut dyn Plan,
        limits: Limits,
        how: How<'_>,
    ) -> Result<(TuneReport, Option<Ready>)> {
        let (kernel, device) = (self.checked.kernel(), self.device);
        let tensor_bytes = self.bound.tensors.iter().map(|tensor| tensor.n_bytes() as u64);
        let fits_tensors = |config: &Config| self.fits_tensors(config);
        // A launch that waits for the search is one that was asked for: all is tried,
        // and compared. Behind the user's back no data must decide whether bits differ.
        let sizes_matter = may_depend_on_sizes(kernel);
        let given = match &how {
            How::Politely { .. } if sizes_matter => {
                let names = kernel.tile_params.values().map(|param| param.name.clone());
                names.zip(default.tiles.iter().copied()).collect()
            }
            How::Politely { .. } | How::AtOnce => self.options.tiles.clone(),
        };
        let space = Space::new(Launch {
            checked: self.checked,
            types: self.types,
            device: device.properties(),
            dims: self.bound.dims.values(),
            given: &given,
            numerics: self.numerics(),
            tensor_bytes: tensor_bytes.sum(),
            fits_tensors: &fits_tensors,
        })?;
        let elsewhere = device.shelf().elsewhere(situation, kernel, device.properties());
        let elsewhere = elsewhere.into_iter().filter(|config| space.judge(config).is_ok());
        let clocks_before = device.clocks();
        let seeds: Vec<Config> = [default.clone()].into_iter().chain(elsewhere).collect();
        let found = match how {
            How::AtOnce => {
                let mut shown = Shown::new(&mut trials, &kernel.name, limits.budget);
                search(&space, &seeds, plan, &mut shown, limits)?
            }
            How::Politely { around, share, expected, spent } => {
                let mut polite = Polite::new(&mut trials, around, share, expected, spent.get());
                let found = search(&space, &seeds, plan, &mut polite, limits);
                spent.set(polite.spent());
                found?
            }
        };
        let elapsed = trials.elapsed();
        let mut pruned = space.pruned().to_vec();
        pruned.extend(found.dropped);
        if let Some(reference) = pruned.iter().find(|pruned| pruned.config == default) {
            let what = format!("the default configuration of `{}` does not run", kernel.name);
            return Err(Error::internal(what, reference.reason.to_string()));
        }
        let ready = found.trials.first().and_then(|best| trials.take(&best.config));
        let report = TuneReport {
            kernel: format!("{}{}", kernel.name, type_list(self.types)),
            device: device.to_string(),
            class: situation.class.clone(),
            dims: self.bound.dims.values().to_vec(),
            tiles: kernel.tile_params.values().map(|param| param.name.clone()).collect(),
            trials: found.trials,
            default,
            pruned,
            roofline_seconds: space.roofline_seconds(),
            clocks: clocks_before.and_then(|before| Some([before, device.clocks()?])),
            elapsed,
            stop: found.stop,
        };
        Ok((report, ready))
    }

    /// Remembers what was measured, for this process and for later ones.
    pub(super) fn keep(&self, situation: &Situation, report: &TuneReport) {
        let measured = report.trials.iter().filter(|trial| trial.rounds > 0);
        let group = Group {
            types: situation.types.clone(),
            class: situation.class.clone(),
            given: situation.given.clone(),
            dims: report.dims.clone(),
            conditions: situation.conditions.clone(),
            clocks: report.clocks,
            entries: measured.map(Entry::of).collect(),
        };
        self.device.shelf().keep(situation, group);
        self.device.programs().forget_choices();
    }
}

/// What a measurement must be of to be used for such launches.
fn situation(
    (checked, hash): (&CheckedKernel, String),
    device: &Device,
    binding: &Binding,
    dims: &[u64],
    (given, numerics): (&[(String, u32)], Numerics),
) -> Situation {
    let properties = device.properties();
    let mut given = given.to_vec();
    given.sort();
    Situation {
        kernel: KernelId { name: checked.kernel().name.clone(), hash },
        device: DeviceId { name: properties.name.clone(), sms: properties.sms },
        types: binding.types.iter().map(|dtype| dtype.name().to_owned()).collect(),
        class: ShapeClass::of(binding, dims).to_string(),
        given,
        numerics,
        conditions: device.conditions(),
    }
}

/// The best that was measured for launches of these dimensions, as far as it goes
/// with any tensors of them.
pub(crate) fn remembered(kernel: &Kernel, device: &Device, dims: &Dims) -> Result<Option<Config>> {
    let (checked, types) = (kernel.checked(), kernel.types());
    let properties = device.properties();
    let default = choose(checked, types, properties, dims.values(), &Options::new())?;
    let binding = binding_of(checked.kernel(), types, dims, &default);
    let hash = kernel_hash(checked).to_string();
    let given = (&[][..], Numerics::Exact);
    let situation = situation((checked, hash), device, &binding, dims.values(), given);
    Ok(device.shelf().best(&situation, checked.kernel(), properties))
}
