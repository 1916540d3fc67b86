//! What was measured, as it is kept: plain JSON, one record per kernel and model of
//! device, in it one group per class of launches, in it one entry per configuration.
//!
//! A record is used where kernel, device and number of SMs are the same; a group
//! where the element types, the class and the given tile sizes are. Driver and NVRTC
//! and the device's peak clocks are kept beside a group: another compiler may compile
//! otherwise, and other clocks favour other configurations, so that the group is then
//! *stale*, which is said, and used all the same.

use serde::{Deserialize, Serialize};
use tile_ir::config::{Config, Numerics, check_config};
use tile_ir::device::DeviceProperties;
use tile_ir::kernel::Kernel;

use super::report::Trial;

/// The layout of a record.
const FORMAT: u32 = 2;

/// Entries of a group that are kept, the fastest.
const MAX_ENTRIES: usize = 64;

/// Why a text is not a tuning record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It is no JSON of this form.
    #[error("this is no tuning record: {reason}")]
    Unreadable {
        /// What is wrong, and where.
        reason: String,
    },
    /// It is a record of another version's form.
    #[error("this tuning record has format {found}; tile-runtime reads {FORMAT}")]
    Format {
        /// What it says.
        found: u32,
    },
    /// It holds what no measurement gives.
    #[error("this tuning record is damaged: {reason}")]
    Damaged {
        /// What it holds.
        reason: String,
    },
}

/// What was measured of one kernel on one model of device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    format: u32,
    pub(crate) kernel: KernelId,
    pub(crate) device: DeviceId,
    pub(crate) groups: Vec<Group>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelId {
    /// For people; it does not count.
    pub(crate) name: String,
    /// See [`super::kernel_hash`].
    pub(crate) hash: String,
}

/// A model of device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceId {
    pub(crate) name: String,
    pub(crate) sms: u32,
}

/// What a measurement depends on, beside the kernel and the model of device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conditions {
    /// The CUDA version that the driver serves; empty where there is none.
    pub(crate) driver: String,
    /// NVRTC's version; empty where there is none.
    pub(crate) nvrtc: String,
    /// The highest clocks that the driver lets the device run at.
    pub(crate) peak_clocks: Option<Clocks>,
}

/// The clocks of a device, in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Clocks {
    /// Of its multiprocessors.
    pub sm_mhz: u32,
    /// Of its memory.
    pub memory_mhz: u32,
}

/// A search of one class of launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// Element types, by type parameter.
    pub(crate) types: Vec<String>,
    /// See [`super::ShapeClass`].
    pub(crate) class: String,
    /// Tile sizes that were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) given: Vec<(String, u32)>,
    /// The dimensions that were measured.
    pub(crate) dims: Vec<u64>,
    #[serde(default)]
    pub(crate) conditions: Conditions,
    /// What the device ran at before and after; nothing where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clocks: Option<[Clocks; 2]>,
    /// The fastest first.
    pub(crate) entries: Vec<Entry>,
}

/// A configuration and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) config: Config,
    /// Seconds of a launch, the median over the rounds.
    pub(crate) seconds: f64,
    /// The distance between the quartiles over the median.
    pub(crate) spread: f64,
    pub(crate) rounds: usize,
    /// What the device ran at before its first round and after its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clocks: Option<[Clocks; 2]>,
}

/// What a record, and a group in it, must be of to be used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Situation {
    pub(crate) kernel: KernelId,
    pub(crate) device: DeviceId,
    pub(crate) types: Vec<String>,
    pub(crate) class: String,
    pub(crate) given: Vec<(String, u32)>,
    /// Whether sums may be in another order.
    pub(crate) numerics: Numerics,
    pub(crate) conditions: Conditions,
}

impl Record {
    pub(crate) fn new(situation: &Situation) -> Self {
        let Situation { kernel, device, .. } = situation.clone();
        Self { format: FORMAT, kernel, device, groups: Vec::new() }
    }

    /// Reads a record.
    pub(crate) fn parse(text: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let unreadable =
            |error: serde_json::Error| RecordError::Unreadable { reason: error.to_string() };
        let Head { format } = serde_json::from_str(text).map_err(unreadable)?;
        if format != FORMAT {
            return Err(RecordError::Format { found: format });
        }
        let record: Self = serde_json::from_str(text).map_err(unreadable)?;
        let mut entries = record.groups.iter().flat_map(|group| &group.entries);
        let is_time = |entry: &Entry| entry.seconds.is_finite() && entry.seconds > 0.0;
        match entries.find(|entry| !is_time(entry)) {
            Some(entry) => {
                let reason = format!("a launch of {} seconds", entry.seconds);
                Err(RecordError::Damaged { reason })
            }
            None => Ok(record),
        }
    }

    /// The record as text, a line per entry.
    pub(crate) fn print(&self) -> String {
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let mut text = format!(
            "{{\n  \"format\": {},\n  \"kernel\": {},\n  \"device\": {},\n  \"groups\": [",
            self.format,
            json(serde_json::to_string(&self.kernel)),
            json(serde_json::to_string(&self.device)),
        );
        for (number, group) in self.groups.iter().enumerate() {
            let entries: Vec<String> = group
                .entries
                .iter()
                .map(|entry| format!("\n      {}", json(serde_json::to_string(entry))))
                .collect();
            let head = Group { entries: Vec::new(), ..group.clone() };
            let head = json(serde_json::to_string(&head));
            let head = head.strip_suffix("]}").unwrap_or(&head);
            let comma = if number == 0 { "" } else { "," };
            text.push_str(&format!("{comma}\n    {head}{}\n    ]}}", entries.join(",")));
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Whether it is of this kernel and this device.
    pub(crate) fn is_of(&self, situation: &Situation) -> bool {
        self.is_of_kernel(situation) && self.device == situation.device
    }

    /// Whether it is of this kernel, on whatever device.
    pub(crate) fn is_of_kernel(&self, situation: &Situation) -> bool {
        self.kernel.hash == situation.kernel.hash
    }

    /// The group of a situation.
    pub(crate) fn group(&self, situation: &Situation) -> Option<&Group> {
        self.groups.iter().find(|group| group.is_of(situation))
    }

    /// Adds what a search has found. Entries of the same dimensions and conditions stay
    /// beside the new ones, unless they are of the same configuration; times of
    /// others cannot be compared with the new ones and go.
    pub(crate) fn add(&mut self, group: Group, situation: &Situation) {
        match self.groups.iter_mut().find(|known| known.is_of(situation)) {
            None => self.groups.push(group),
            Some(known) if known.dims == group.dims && known.conditions == group.conditions => {
                known
                    .entries
                    .retain(|old| group.entries.iter().all(|new| new.config != old.config));
                known.entries.extend(group.entries);
            }
            Some(known) => *known = group,
        }
        for group in &mut self.groups {
            group.entries.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            group.entries.truncate(MAX_ENTRIES);
        }
    }
}

impl Entry {
    pub(crate) fn of(trial: &Trial) -> Self {
        let Trial { config, seconds, spread, rounds, clocks, .. } = trial.clone();
        Self { config, seconds, spread, rounds, clocks }
    }
}

impl Group {
    fn is_of(&self, situation: &Situation) -> bool {
        let Situation { types, class, given, .. } = situation;
        self.types == *types && self.class == *class && self.given == *given
    }

    /// Whether driver, NVRTC or the peak clocks are others now.
    pub(crate) fn is_stale(&self, situation: &Situation) -> bool {
        self.conditions != situation.conditions
    }

    /// The fastest configuration that is legal and of these numerics: one that sums in
    /// another order gives other bits, and where such were not measured nothing says
    /// which is the fastest.
    pub(crate) fn best(
        &self,
        kernel: &Kernel,
        device: &DeviceProperties,
        numerics: Numerics,
    ) -> Option<&Config> {
        let legal = self.entries.iter().filter(|entry| {
            entry.config.numerics == numerics && check_config(kernel, &entry.config, device).is_ok()
        });
        legal.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).map(|entry| &entry.config)
    }
}
