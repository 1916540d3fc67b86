//! What a search found, for people.

use std::fmt;
use std::time::Duration;

use tile_ir::config::{Config, Numerics, TilePadding};

use super::record::Clocks;

/// Why a configuration was not measured, or not to the end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// An extent of the launch's tensors depends on the tile sizes, and these ask for
    /// another.
    Tensors,
    /// A block's tiles do not fit its shared memory.
    SharedMemory {
        /// What they take, in bytes.
        needed_bytes: u64,
        /// What a block can have, in bytes.
        available_bytes: u32,
    },
    /// A thread needs more registers than leave room for anything else, by estimate.
    Registers {
        /// Registers of a thread, by estimate.
        registers: u32,
        /// The most that are tried.
        most: u32,
    },
    /// Not one block fits an SM.
    Occupancy {
        /// What there is too little of.
        limiter: &'static str,
    },
    /// The analytical model expects it to be far slower than the best.
    Model {
        /// Its expected time, in seconds.
        seconds: f64,
        /// That of the best, in seconds.
        best_seconds: f64,
    },
    /// It was compiled, and keeps in memory what finds no register.
    Spills {
        /// Stores and loads of spilled registers, in bytes per thread.
        bytes: u32,
        /// Registers of a thread.
        registers: u32,
    },
    /// It cannot be lowered, compiled or launched.
    Refused {
        /// Why.
        error: String,
    },
    /// Its program is that of a configuration which was tried before.
    Same,
    /// Its tile sizes are others than the default configuration's, and its first result
    /// differs: by its text, the kernel's results depend on them.
    Sizes {
        /// Words of 8 bytes in which the results differ.
        words: u64,
    },
    /// Its first result differs from the default configuration's: a defect of this
    /// library, to be reported.
    Wrong {
        /// Words of 8 bytes in which the results differ.
        words: u64,
    },
}

impl Reason {
    /// The reason without its numbers.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Tensors => "tensors of other extents",
            Self::SharedMemory { .. } => "too much shared memory",
            Self::Registers { .. } => "too many registers",
            Self::Occupancy { .. } => "no block fits an SM",
            Self::Model { .. } => "slow by the model",
            Self::Spills { .. } => "spilled registers",
            Self::Refused { .. } => "refused",
            Self::Same => "the same program",
            Self::Sizes { .. } => "another result",
            Self::Wrong { .. } => "a wrong result",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensors => write!(f, "the tensors have other extents than these tiles ask for"),
            Self::SharedMemory { needed_bytes, available_bytes } => {
                write!(f, "{needed_bytes} bytes of shared memory; a block has {available_bytes}")
            }
            Self::Registers { registers, most } => {
                write!(f, "about {registers} registers a thread; at most {most} are tried")
            }
            Self::Occupancy { limiter } => write!(f, "no block fits an SM: {limiter}"),
            Self::Model { seconds, best_seconds } => write!(
                f,
                "the model expects {:.1} times the best's time",
                seconds / best_seconds.max(f64::MIN_POSITIVE)
            ),
            Self::Spills { bytes, registers } => {
                write!(f, "{registers} registers a thread, and {bytes} bytes of them spilled")
            }
            Self::Refused { error } => f.write_str(error.lines().next().unwrap_or_default()),
            Self::Same => f.write_str("the same program as another configuration's"),
            Self::Sizes { words } => {
                write!(f, "another result of other tile sizes, in {words} words of 8 bytes")
            }
            Self::Wrong { words } => write!(f, "a wrong result, in {words} words of 8 bytes"),
        }
    }
}

/// A configuration that was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// The configuration.
    pub config: Config,
    /// Why.
    pub reason: Reason,
}

/// A configuration that was measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The configuration.
    pub config: Config,
    /// Seconds of a launch: the median over the rounds.
    pub seconds: f64,
    /// The distance between the quartiles of the rounds over their median; 0 of
    /// fewer than four rounds.
    pub spread: f64,
    /// Rounds that were measured; 0 where one launch said enough.
    pub rounds: usize,
    /// What the analytical model expected, in seconds.
    pub model_seconds: f64,
    /// Registers of a thread, 0 where nothing says.
    pub registers: u32,
    /// What the device ran at before its first round and after its last; nothing where it
    /// does not tell.
    pub clocks: Option<[Clocks; 2]>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The strategy had nothing more to try.
    Exhausted,
    /// The time was over.
    Budget,
    /// A configuration came close enough to the device's roofline.
    Roofline,
}

/// What a search found.
///
/// Its `Display` is a table for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TuneReport {
    /// The kernel with its types: `matmul<f32>`.
    pub kernel: String,
    /// The device.
    pub device: String,
    /// The class of launches for which the best was remembered.
    pub class: String,
    /// The dimensions that were measured.
    pub dims: Vec<u64>,
    /// The names of the tile parameters, in the order of [`Config::tiles`].
    pub tiles: Vec<String>,
    /// What was measured, the fastest first. Never empty: the default
    /// configuration is among them.
    pub trials: Vec<Trial>,
    /// The configuration that is chosen without measuring.
    pub default: Config,
    /// What was not measured, and why.
    pub pruned: Vec<Pruned>,
    /// No launch takes less than this by the device's peaks, in seconds; 0 where that is
    /// not known.
    pub roofline_seconds: f64,
    /// What the device ran at before and after the measurements; nothing where it does
    /// not tell.
    pub clocks: Option<[Clocks; 2]>,
    /// Wall time of the search.
    pub elapsed: Duration,
    /// Why it ended.
    pub stop: Stop,
}

impl TuneReport {
    /// The fastest configuration.
    pub fn best(&self) -> &Trial {
        &self.trials[0]
    }

    /// What the default configuration took, in seconds.
    pub fn default_seconds(&self) -> f64 {
        let trial = self.trials.iter().find(|trial| trial.config == self.default);
        trial.unwrap_or(&self.trials[0]).seconds
    }

    /// How many configurations were pruned for each reason, the commonest first.
    pub fn pruned_by_reason(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for Pruned { reason, .. } in &self.pruned {
            match counts.iter_mut().find(|(class, _)| *class == reason.class()) {
                Some((_, count)) => *count += 1,
                None => counts.push((reason.class(), 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// A configuration in one line, with the names of its tile sizes.
    pub fn describe(&self, config: &Config) -> String {
        let sizes = self.tiles.iter().zip(&config.tiles);
        let mut parts: Vec<String> = sizes.map(|(name, size)| format!("{name} {size}")).collect();
        let block = config.block.iter().map(|axis| {
            let lanes = if axis.lanes > 1 { format!("/{}", axis.lanes) } else { String::new() };
            let run = if axis.run > 1 { format!("·{}", axis.run) } else { String::new() };
            format!("{}{lanes}{run}", axis.threads)
        });
        let block: Vec<String> = block.collect();
        let of_axes =
            if block.is_empty() { String::new() } else { format!(" = {}", block.join("×")) };
        parts.push(format!("{} threads{of_axes}", config.threads));
        if config.stages > 1 {
            let unrolled = if config.unroll_stages { "" } else { " rolled" };
            parts.push(format!("{} stages{unrolled}", config.stages));
            parts.push(match config.async_bytes {
                0 => "no async".to_owned(),
                bytes => format!("async {bytes}+"),
            });
        }
        parts.push(format!("frag {}", config.fragment_buffers));
        parts.push(format!("copy {}", config.copy_bytes));
        if config.unrolled_stmts > 0 {
            parts.push(format!("unroll {}", config.unrolled_stmts));
        }
        if config.align_bytes > 0 {
            parts.push(format!("align {}", config.align_bytes));
        }
        if config.whole_vectors {
            parts.push("whole vectors".to_owned());
        }
        if !config.split_edges {
            parts.push("one text".to_owned());
        }
        match config.padding {
            TilePadding::Counted => {}
            TilePadding::Elems(elems) => parts.push(format!("pad {elems}")),
            TilePadding::Swizzled => parts.push("swizzled".to_owned()),
        }
        match (config.stream_loads, config.stream_stores) {
            (false, false) => {}
            (true, false) => parts.push("loads streamed".to_owned()),
            (false, true) => parts.push("stores streamed".to_owned()),
            (true, true) => parts.push("streamed".to_owned()),
        }
        if config.raster_rows > 1 {
            parts.push(format!("raster {}", config.raster_rows));
        }
        if config.numerics == Numerics::Reassociated {
            parts.push("reassociated".to_owned());
        }
        parts.join(", ")
    }
}

/// Rows of the table.
const ROWS: usize = 20;

impl fmt::Display for TuneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {:?} on {}, class {}", self.kernel, self.dims, self.device, self.class)?;
        let best = self.best().seconds;
        writeln!(
            f,
            "{:>12} {:>7} {:>7} {:>6} {:>12} {:>5}",
            "time", "of best", "spread", "rounds", "model", "regs"
        )?;
        for (rank, trial) in self.trials.iter().enumerate() {
            let is_default = trial.config == self.default;
            if rank >= ROWS && !is_default {
                continue;
            }
            writeln!(
                f,
                "{:>9.1} us {:>7.3} {:>6.1}% {:>6} {:>9.1} us {:>5}  {}{}",
                trial.seconds * 1e6,
                best / trial.seconds,
                trial.spread * 100.0,
                trial.rounds,
                trial.model_seconds * 1e6,
                trial.registers,
                self.describe(&trial.config),
                if is_default { "  (default)" } else { "" },
            )?;
        }
        if self.trials.len() > ROWS {
            writeln!(f, "… of {} measured", self.trials.len())?;
        }
        for (class, count) in self.pruned_by_reason() {
            writeln!(f, "{count:>7} not measured: {class}")?;
        }
        let stop = match self.stop {
            Stop::Exhausted => "nothing left to try",
            Stop::Budget => "the time was over",
            Stop::Roofline => "close enough to the roofline",
        };
        let gain = self.default_seconds() / best.max(f64::MIN_POSITIVE);
        write!(
            f,
            "{:.2} s: {stop}; {gain:.2} times as fast as the default",
            self.elapsed.as_secs_f64()
        )?;
        if self.roofline_seconds > 0.0 {
            let percent = self.roofline_seconds / best.max(f64::MIN_POSITIVE) * 100.0;
            write!(f, ", {percent:.0}% of the roofline")?;
        }
        writeln!(f)?;
        if let Some([before, after]) = self.clocks {
            writeln!(
                f,
                "clocks {} and {} MHz before, {} and {} after",
                before.sm_mhz, before.memory_mhz, after.sm_mhz, after.memory_mhz
            )?;
        }
        Ok(())
    }
}
