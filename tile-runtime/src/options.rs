//! How a launch is to be made.

use tile_ir::config::{Config, Numerics};

use crate::checked::CheckLog;
use crate::stream::Stream;
use crate::tune::Tune;

/// How a launch is to be made: on which stream, in which configuration.
///
/// What is left open is chosen: the device's own stream, and the configuration as
/// [`Tune`] says: what was measured, or what the device's properties and the
/// launch's shape suggest ([`tile_ir::config::default_config`]).
///
/// # Examples
///
/// ```
/// use tile_runtime::{Device, Options};
///
/// let stream = Device::cpu().new_stream()?;
/// let options = Options::new().stream(&stream).tile("TM", 64).tile("TN", 64);
/// # let _ = options;
/// # Ok::<(), tile_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) stream: Option<Stream>,
    pub(crate) tiles: Vec<(String, u32)>,
    pub(crate) config: Option<Config>,
    pub(crate) numerics: Option<Numerics>,
    pub(crate) tune: Option<Tune>,
    pub(crate) recheck: Option<bool>,
    pub(crate) shuffled: Option<u64>,
    pub(crate) checked: Option<bool>,
    pub(crate) nan_origin: bool,
    pub(crate) counts: bool,
    pub(crate) check_log: Option<CheckLog>,
}

impl Options {
    /// Everything left open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Launches on `stream`.
    #[must_use]
    pub fn stream(mut self, stream: &Stream) -> Self {
        self.stream = Some(stream.clone());
        self
    }

    /// Gives the tile parameter `name` a value, in elements. One that is not given is
    /// what the arguments' shapes say, where it stands alone as an extent, or is
    /// chosen. A second value of one name replaces the first.
    #[must_use]
    pub fn tile(mut self, name: impl Into<String>, value: u32) -> Self {
        let name = name.into();
        self.tiles.retain(|(known, _)| *known != name);
        self.tiles.push((name, value));
        self
    }

    /// Uses exactly this configuration. Tile sizes given by [`Options::tile`]
    /// must then agree with it.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Where the configuration comes from that is not given; what the device says
    /// ([`crate::Device::set_tune`]) where nothing is said here.
    ///
    /// Give [`Tune::Cached`] or [`Tune::Off`] to launches that are timed: by default,
    /// [`Tune::Background`], two launches of one kind may run different programs, and a
    /// search may measure in between.
    #[must_use]
    pub fn tune(mut self, tune: Tune) -> Self {
        self.tune = Some(tune);
        self
    }

    /// Whether what the kernel is lowered to is re-checked before its first launch:
    /// run once, at a small shape and on made-up data, thread by thread with a shadow
    /// of its memory, which finds a barrier that lowering has lost. A finding is a
    /// defect of this crate, and an error ([`crate::Error::Internal`]).
    ///
    /// Where nothing is said here, the environment variable `TILE_RECHECK` decides,
    /// `on` or `off`; where it says nothing, debug builds do and others do not.
    #[must_use]
    pub fn recheck(mut self, recheck: bool) -> Self {
        self.recheck = Some(recheck);
        self
    }

    /// On the CPU device, runs blocks, and work-items between two barriers, one after
    /// another in an order that depends on `seed`: to see whether a result depends on
    /// it, as sums of floats by atomic updates do. Warps whose work-items get each
    /// other's values stay together. Slow: nothing is computed side by side. On other
    /// devices the order is theirs, and this says nothing.
    #[must_use]
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.shuffled = Some(seed);
        self
    }

    /// On the CPU device, whether the launch is a checked one: the kernel runs as it is
    /// written, one work-item a thread, with a shadow of its memory. Races, reads of
    /// elements of tiles that nobody has written, and indices outside of tiles are errors
    /// ([`crate::Error::Check`]); accesses outside of tensors, integers that wrap, divisions
    /// by 0 and outputs that are not written are notes ([`Options::check_log`]). Results
    /// have the same bits as in fast mode; it takes several times as long, and up to
    /// 72 bytes for each element of a tensor that is written.
    ///
    /// Where nothing is said here, the environment variable `TILE_CHECKED` decides,
    /// `on` or `off`; where it says nothing, debug builds check and others do not. On
    /// other devices this says nothing.
    #[must_use]
    pub fn checked(mut self, checked: bool) -> Self {
        self.checked = Some(checked);
        self
    }

    /// Whether a checked launch also notes operations that make a NaN or an infinity of
    /// finite operands.
    #[must_use]
    pub fn nan_origin(mut self, nan_origin: bool) -> Self {
        self.nan_origin = nan_origin;
        self
    }

    /// Whether a checked launch also counts what its warps do: operations, bytes and
    /// sectors, wavefronts, barriers, divergent branches ([`crate::CheckCounts`]).
    #[must_use]
    pub fn counts(mut self, counts: bool) -> Self {
        self.counts = counts;
        self
    }

    /// Keeps the reports of checked launches, those without findings too.
    #[must_use]
    pub fn check_log(mut self, log: &CheckLog) -> Self {
        self.check_log = Some(log.clone());
        self
    }

    /// Whether results may depend on the configuration; by default they may not. Where
    /// they may, a search ([`Tune::Now`]) also tries to share out sums among groups of
    /// threads, and takes such a configuration if its first result is near the
    /// default's ([`crate::TuneOptions::numerics`] says how near).
    #[must_use]
    pub fn numerics(mut self, numerics: Numerics) -> Self {
        self.numerics = Some(numerics);
        self
    }
}
