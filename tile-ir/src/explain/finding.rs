//! What the numbers say should be changed: each finding has its evidence.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::count::{Detail, KernelCounts, Known, Limits, Space};
use super::padding::{Padding, best_padding};
use super::report::{AccessReport, BranchReport, OccupancyReport};
use super::reuse::Reuse;
use crate::device::DeviceProperties;
use crate::program::{ProgramKernel, Target, TileId};
use crate::span::{SpanId, SpanTable};

/// A request is badly coalesced from so many times the sectors on that it needs, ...
const SECTORS_OVER: u64 = 2;
/// ... if these are at least so many more.
const SECTORS_MORE: u64 = 2;
/// Below this part of an SM's warps occupancy is low.
const LOW_OCCUPANCY: f64 = 0.5;
/// A branch is divergent if more than this part of the warps splits.
const DIVERGENT: f64 = 0.5;
/// Reads of a tile for each element of it up to which it saves nothing.
const NO_REUSE: f64 = 1.0;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Lanes of a warp meet in a bank of shared memory.
    BankConflicts,
    /// A warp's access to global memory moves far more sectors than it needs.
    Uncoalesced,
    /// What a tile holds is read once.
    TileWithoutReuse,
    /// Few of the warps that an SM could hold.
    LowOccupancy,
    /// Warps split at a branch.
    DivergentWarps,
    /// There are fewer blocks than SMs.
    IdleSms,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 6] = [
        Self::BankConflicts,
        Self::Uncoalesced,
        Self::TileWithoutReuse,
        Self::LowOccupancy,
        Self::DivergentWarps,
        Self::IdleSms,
    ];

    /// Its name, as in `#[deny(bank_conflicts, …)]`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BankConflicts => "bank_conflicts",
            Self::Uncoalesced => "uncoalesced",
            Self::TileWithoutReuse => "tile_without_reuse",
            Self::LowOccupancy => "low_occupancy",
            Self::DivergentWarps => "divergent_warps",
            Self::IdleSms => "idle_sms",
        }
    }

    /// The rule of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// One thing that should be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub rule: Rule,
    /// The line, 1-based; 0 for the kernel as a whole.
    pub line: u32,
    /// What is so; lower case, no final stop.
    pub message: String,
    /// What to do, and what comes of it; likewise.
    pub advice: String,
    /// The place.
    #[serde(skip)]
    pub span: Option<SpanId>,
}

/// What findings are made from.
pub(super) struct Evidence<'a> {
    pub(super) device: &'a DeviceProperties,
    pub(super) kernel: &'a ProgramKernel,
    pub(super) known: Known<'a>,
    pub(super) accesses: &'a [AccessReport],
    pub(super) branches: &'a [BranchReport],
    /// The kernel as it is written, one work-item a thread.
    pub(super) written: &'a KernelCounts,
    pub(super) reuse: &'a Reuse,
    pub(super) occupancy: &'a OccupancyReport,
    pub(super) blocks: u64,
    pub(super) spans: &'a SpanTable,
    pub(super) limits: Limits,
    /// What is asked for.
    pub(super) rules: &'a [Rule],
}

impl Evidence<'_> {
    fn finding(
        &self,
        rule: Rule,
        span: Option<SpanId>,
        message: String,
        advice: String,
    ) -> Finding {
        let line = span.map_or(0, |span| self.spans.range(span).line);
        Finding { rule, line, message, advice, span }
    }

    /// Whether neighbouring work-items of the text access elements that are no
    /// neighbours. Else it is lowering that gives threads several in a row, for other
    /// gains, and nothing for the author to change.
    fn is_written_apart(&self, access: &AccessReport) -> bool {
        self.written.sites.iter().any(|site| {
            site.span == access.span
                && (site.target, site.touches) == (access.target, access.touches)
                && site.lane_stride.is_none_or(|stride| stride.abs() > 1)
        })
    }
}

/// What the findings that are asked for need of the launch's accesses.
pub(super) fn detail_of_launch(rules: &[Rule]) -> Detail {
    let asked = |rule| rules.contains(&rule);
    match (asked(Rule::BankConflicts), asked(Rule::Uncoalesced)) {
        (true, true) => Detail::All,
        (true, false) => Detail::In(Space::Shared),
        (false, true) => Detail::In(Space::Global),
        (false, false) => Detail::NoAccesses,
    }
}

/// What the findings that are asked for need of the text as it is written: what is read of
/// its tiles, or only how far apart work-items are, where an access takes more than it
/// would need to.
pub(super) fn detail_as_written(rules: &[Rule], accesses: &[AccessReport]) -> Option<Detail> {
    let asked = |rule| rules.contains(&rule);
    let takes_more = |access: &AccessReport| {
        asked(Rule::BankConflicts) && access.wavefronts > access.ideal_wavefronts
            || asked(Rule::Uncoalesced) && access.sectors > access.ideal_sectors
    };
    if asked(Rule::TileWithoutReuse) {
        return Some(Detail::Elems);
    }
    accesses.iter().any(takes_more).then_some(Detail::Strides)
}

/// All findings that are asked for, in the order of the rules.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let asked = Rule::ALL.into_iter().filter(|rule| evidence.rules.contains(rule));
    asked.flat_map(|rule| find_of(evidence, rule)).collect()
}

fn find_of(evidence: &Evidence<'_>, rule: Rule) -> Vec<Finding> {
    let Evidence { accesses, branches, .. } = evidence;
    match rule {
        Rule::BankConflicts => bank_conflicts(evidence),
        Rule::Uncoalesced => {
            accesses.iter().filter_map(|access| uncoalesced(evidence, access)).collect()
        }
        Rule::TileWithoutReuse => tiles_without_reuse(evidence),
        Rule::LowOccupancy => low_occupancy(evidence).into_iter().collect(),
        Rule::DivergentWarps => {
            branches.iter().filter_map(|branch| divergent(evidence, branch)).collect()
        }
        Rule::IdleSms => idle_sms(evidence).into_iter().collect(),
    }
}

fn bank_conflicts(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Evidence { kernel, known, limits, .. } = *evidence;
    let conflicting = evidence.accesses.iter().filter(|access| {
        access.space == Space::Shared
            && access.unknown_requests < access.requests
            && access.wavefronts > access.ideal_wavefronts
            && evidence.is_written_apart(access)
    });
    // What updates an element reads and writes it at one place.
    let mut places = BTreeSet::new();
    let conflicting = conflicting.filter(|access| places.insert((access.span, access.target)));
    let mut paddings: BTreeMap<TileId, Option<Padding>> = BTreeMap::new();
    let mut of = |access: &AccessReport| {
        let Target::Tile(tile) = access.target else { return None };
        let name = &access.array;
        let ways = ways_of(access.wavefronts, access.ideal_wavefronts);
        let info = &kernel.tiles[tile];
        let words = |elems: u32| f64::from(elems * info.dtype.size_bytes()) / 4.0;
        let all = |of: fn(&AccessReport) -> u64| -> u64 {
            let sites = evidence.accesses.iter().filter(|other| other.target == access.target);
            sites.map(of).sum()
        };
        let (taken, ideal) = (all(|row| row.wavefronts), all(|row| row.ideal_wavefronts));
        let padding =
            *paddings.entry(tile).or_insert_with(|| best_padding(kernel, tile, known, limits));
        let (message, advice) = match padding {
            Some(padding) => (
                format!(
                    "the rows of `{name}` are {} words apart: {ways} wavefronts for each that is \
                     needed",
                    words(padding.row_elems)
                ),
                format!(
                    "rows padded by {}: all accesses to `{name}` then take {} wavefronts for \
                     each that is needed, not {}",
                    elems(padding.elems),
                    ways_of(padding.wavefronts, ideal),
                    ways_of(taken, ideal),
                ),
            ),
            None => (
                format!("this access to `{name}` takes {ways} wavefronts for each that is needed"),
                match info.extents.len() {
                    0 | 1 => "neighbouring work-items should access words of different banks",
                    _ => {
                        "neighbouring work-items should access words of different banks; \
                         padding the rows does not help here"
                    }
                }
                .to_owned(),
            ),
        };
        Some(evidence.finding(Rule::BankConflicts, Some(access.span), message, advice))
    };
    conflicting.filter_map(&mut of).collect()
}

/// `32` or `1.5`
fn ways_of(taken: u64, ideal: u64) -> String {
    let ratio = taken as f64 / (ideal as f64).max(1.0);
    let rounded = (ratio * 10.0).round() / 10.0;
    format!("{rounded}")
}

fn elems(n: u32) -> String {
    if n == 1 { "1 element".to_owned() } else { format!("{n} elements") }
}

fn uncoalesced(evidence: &Evidence<'_>, access: &AccessReport) -> Option<Finding> {
    let AccessReport { requests, sectors, ideal_sectors, .. } = *access;
    let is_known = access.space == Space::Global && access.unknown_requests == 0;
    let is_bad = sectors >= SECTORS_OVER * ideal_sectors
        && sectors - ideal_sectors >= SECTORS_MORE * requests;
    if !is_known || !is_bad || !evidence.is_written_apart(access) {
        return None;
    }
    let per_request = |n: u64| (n as f64 / requests as f64 * 10.0).round() / 10.0;
    let message = format!(
        "a warp's access to `{}` moves {} sectors of 32 bytes, where {} would do: {:.0} % of \
         their bytes are used",
        access.array,
        per_request(sectors),
        per_request(ideal_sectors),
        100.0 * access.efficiency(),
    );
    let advice = "neighbouring work-items should access neighbouring elements: exchange the axes, \
                  or go through a shared tile"
        .to_owned();
    Some(evidence.finding(Rule::Uncoalesced, Some(access.span), message, advice))
}

fn tiles_without_reuse(evidence: &Evidence<'_>) -> Vec<Finding> {
    let idle =
        evidence.reuse.tiles.iter().filter(|tile| tile.factor() <= NO_REUSE && !tile.is_turned);
    idle.map(|tile| {
        let message = format!(
            "each element of the tile `{}` is read {}: it saves no traffic of global memory",
            tile.tile,
            if tile.factor() < NO_REUSE { "at most once" } else { "once" },
        );
        let advice = format!(
            "read `{}` where it is used: {} operations a byte with the tiles, {} without",
            tile.sources.join("`, `"),
            short(evidence.reuse.intensity()),
            short(evidence.reuse.intensity_without_tiles()),
        );
        evidence.finding(Rule::TileWithoutReuse, Some(tile.span), message, advice)
    })
    .collect()
}

/// Three digits.
fn short(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}

fn low_occupancy(evidence: &Evidence<'_>) -> Option<Finding> {
    let occupancy = evidence.occupancy;
    let up = occupancy.up.as_ref().filter(|_| occupancy.fraction < LOW_OCCUPANCY)?;
    let message = format!(
        "an SM holds {} warps, {:.1} % of what it could; no more because of its {}",
        occupancy.warps,
        100.0 * occupancy.fraction,
        occupancy.limiter,
    );
    let what = match up.resource.as_str() {
        "registers" => format!("{} registers a thread", up.by),
        _ => format!("{} bytes of shared memory a block", up.by),
    };
    let estimated = if occupancy.registers_are_estimated { " (estimated)" } else { "" };
    let advice = format!(
        "{what} over the next step: with {} registers a thread{estimated} and {} bytes a block \
         an SM holds {}, with so much less {}",
        occupancy.registers,
        occupancy.shared_bytes,
        blocks(occupancy.blocks),
        blocks(up.blocks),
    );
    Some(evidence.finding(Rule::LowOccupancy, None, message, advice))
}

fn blocks(n: u32) -> String {
    if n == 1 { "1 block".to_owned() } else { format!("{n} blocks") }
}

fn divergent(evidence: &Evidence<'_>, branch: &BranchReport) -> Option<Finding> {
    let part = branch.split as f64 / (branch.warps as f64).max(1.0);
    if part <= DIVERGENT {
        return None;
    }
    let message = format!("{:.0} % of the warps that come here split", 100.0 * part);
    let advice = "let conditions hold for whole warps, 32 neighbouring work-items".to_owned();
    Some(evidence.finding(Rule::DivergentWarps, Some(branch.span), message, advice))
}

fn idle_sms(evidence: &Evidence<'_>) -> Option<Finding> {
    let sms = u64::from(evidence.device.sms);
    if evidence.blocks >= sms {
        return None;
    }
    let blocks = evidence.blocks;
    let message = format!("{blocks} block{} for {sms} SMs", if blocks == 1 { "" } else { "s" });
    let advice = "smaller tiles make more blocks, or this shape is too small for the device";
    Some(evidence.finding(Rule::IdleSms, None, message, advice.to_owned()))
}
