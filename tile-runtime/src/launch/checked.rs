//! Checked launches: whether one is asked for, and what they tell.

use tile_ir::exchange::Group;
use tile_ir::program::{DomainId, ProgramKernel};
use tile_ir::span::SpanId;

use super::ready::Ready;
use super::switch::Switch;
use crate::checked::{
    AccessCount, ArrayKind, BranchCount, CheckCounts, CheckPlace, CheckReport, Does, Finding, Note,
};
use crate::cpu::{
    Actor, Doing, Found, FoundCase, FoundCounts, FoundGap, FoundOdd, FoundParting, FoundStray,
    Oddity, Site, Watch,
};
use crate::device::{Backend, Device};
use crate::error::{Error, Result};
use crate::options::Options;

/// The environment variable that says what launches do that say nothing themselves.
pub(crate) const VARIABLE: &str = "TILE_CHECKED";
/// What it says.
pub(crate) static SWITCH: Switch = Switch::new(VARIABLE);

/// What is looked at by a launch; nothing where it is not a checked one.
pub(super) fn watch_of(options: &Options, device: &Device) -> Option<Watch> {
    match device.backend() {
        Backend::Cpu => {}
        #[cfg(feature = "cuda")]
        Backend::Cuda(_) => return None,
    }
    let is_checked = options.checked.unwrap_or_else(|| SWITCH.is_on());
    is_checked.then_some(Watch {
        nan_origin: options.nan_origin,
        counts: options.counts,
        unset: false,
    })
}

/// Tells of what launches have shown.
///
/// # Errors
///
/// The first report that has findings.
pub(super) fn tell(reports: Vec<CheckReport>, options: &Options) -> Result<()> {
    let mut first = None;
    for report in reports {
        for note in &report.notes {
            tracing::info!(kernel = report.kernel, "{note}");
        }
        if let Some(log) = &options.check_log {
            log.keep(report.clone());
        }
        if first.is_none() && !report.findings.is_empty() {
            first = Some(report);
        }
    }
    match first {
        Some(report) => Err(Error::Check(Box::new(report))),
        None => Ok(()),
    }
}

/// The report of a kernel of a program.
pub(super) fn report(ready: &Ready, kernel: &ProgramKernel, found: Found) -> CheckReport {
    let telling = Telling { ready, kernel };
    let Found { races, unwritten, outside, dropped, odd, parted, gaps, counts } = found;
    let is_unchecked = ready.watch.is_some_and(|watch| watch.unset);
    // An index that nobody has shown to be inside, and that data need not decide.
    let (strays, dropped): (Vec<_>, Vec<_>) = dropped
        .into_iter()
        .partition(|stray| is_unchecked && telling.kind(stray.site) == ArrayKind::Tile);
    let outside = outside.into_iter().chain(strays);
    let (unset, odd): (Vec<_>, Vec<_>) =
        odd.into_iter().partition(|odd| odd.operation.oddity == Oddity::Unset);
    let unset = unset.into_iter().map(|odd| telling.unset(odd));
    let parted = parted.into_iter().map(|parting| telling.parting(parting));
    let races = races.into_iter().filter_map(|case| telling.race(case));
    let unwritten = unwritten.into_iter().filter_map(|case| telling.unwritten(case));
    let outside = outside.map(|stray| telling.outside(stray));
    let dropped = dropped.into_iter().map(|stray| telling.dropped(stray));
    let odd = odd.into_iter().filter_map(|odd| telling.odd(odd));
    let gaps = gaps.into_iter().map(|FoundGap { array, element, count }| Note::LeftOut {
        array,
        element,
        count,
    });
    CheckReport {
        kernel: kernel.name.clone(),
        file: ready.file.clone(),
        findings: races.chain(unwritten).chain(unset).chain(outside).chain(parted).collect(),
        notes: dropped.chain(odd).chain(gaps).collect(),
        counts: counts.map(|counts| telling.counts(counts)),
    }
}

struct Telling<'a> {
    ready: &'a Ready,
    kernel: &'a ProgramKernel,
}

impl Telling<'_> {
    fn race(&self, case: FoundCase) -> Option<Finding> {
        let [(first, one), (second, other)] = <[_; 2]>::try_from(case.sites).ok()?;
        Some(Finding::Race {
            array: case.array,
            kind: self.kind(first),
            element: case.element,
            first: (does(first.doing), self.place(first.span, &one)),
            second: (does(second.doing), self.place(second.span, &other)),
            count: case.count,
        })
    }

    fn unwritten(&self, case: FoundCase) -> Option<Finding> {
        let (site, actor) = case.sites.first()?;
        let place = self.place(site.span, actor);
        let FoundCase { array, element, count, .. } = case;
        Some(Finding::Uninitialised { array, element, place, count })
    }

    fn outside(&self, stray: FoundStray) -> Finding {
        let FoundStray { site, actor, array, axis, index, extent, .. } = stray;
        Finding::Outside { array, axis, index, extent, place: self.place(site.span, &actor) }
    }

    fn dropped(&self, stray: FoundStray) -> Note {
        let FoundStray { site, actor, array, axis, index, extent, count } = stray;
        let place = self.place(site.span, &actor);
        Note::Dropped { does: does(site.doing), array, axis, index, extent, place, count }
    }

    fn parting(&self, parting: FoundParting) -> Finding {
        let FoundParting { meeting, present, absent } = parting;
        Finding::Divergence {
            present: self.place(meeting.span, &present),
            absent: absent.map(|absent| self.place(meeting.span, &absent)),
            is_of_warp: meeting.group == Group::Warp,
        }
    }

    fn unset(&self, odd: FoundOdd) -> Finding {
        let FoundOdd { operation, actor, count } = odd;
        let (variable, span) = (operation.symbol.into_owned(), operation.span);
        Finding::Unset { variable, place: self.place(span, &actor), count }
    }

    fn odd(&self, odd: FoundOdd) -> Option<Note> {
        let FoundOdd { operation, actor, count } = odd;
        let (operator, dtype) = (operation.symbol, operation.dtype.name());
        let place = self.place(operation.span, &actor);
        match operation.oddity {
            Oddity::Overflow => Some(Note::Overflow { operator, dtype, place, count }),
            Oddity::DivisionByZero => Some(Note::DivisionByZero { operator, place, count }),
            Oddity::NotFinite => Some(Note::NotFinite { operator, dtype, place, count }),
            // That is an error.
            Oddity::Unset => None,
        }
    }

    fn counts(&self, counts: FoundCounts) -> CheckCounts {
        let FoundCounts { accesses, branches, ops, barriers, is_exact } = counts;
        let line = |span: SpanId| self.ready.program.spans.range(span).line;
        let accesses = accesses.into_iter().map(|(site, array, elem_bytes, tally)| AccessCount {
            line: line(site.span),
            array,
            kind: self.kind(site),
            does: does(site.doing),
            requests: tally.requests,
            elems: tally.elems,
            bytes: tally.elems * u64::from(elem_bytes),
            sectors: tally.sectors,
            ideal_sectors: tally.ideal_sectors,
            wavefronts: tally.wavefronts,
            ideal_wavefronts: tally.ideal_wavefronts,
        });
        let branches = branches.into_iter().map(|(span, tally)| BranchCount {
            line: line(span),
            warps: tally.warps,
            split: tally.split,
        });
        CheckCounts {
            accesses: accesses.collect(),
            branches: branches.collect(),
            ops: ops.into_iter().map(|(dtype, n)| (dtype.name(), n)).collect(),
            barriers,
            is_exact,
        }
    }

    fn kind(&self, site: Site) -> ArrayKind {
        if site.array < self.kernel.buffers.len() { ArrayKind::Tensor } else { ArrayKind::Tile }
    }

    fn place(&self, span: SpanId, actor: &Actor) -> CheckPlace {
        let range = self.ready.program.spans.range(span);
        let axes = self.kernel.grid.iter().map(|axis| self.kernel.vars[axis.var].name.clone());
        CheckPlace {
            line: range.line,
            column: range.column,
            block: axes.zip(actor.block.iter().copied()).collect(),
            item: actor.item.map_or_else(Vec::new, |(domain, item)| self.item(domain, item)),
            barriers: actor.interval,
        }
    }

    /// The coordinates of a domain's item, by name.
    fn item(&self, domain: DomainId, mut item: u32) -> Vec<(String, i64)> {
        let axes = self.kernel.domains.get(domain).map_or(&[][..], |domain| &domain.axes);
        let mut coords = Vec::new();
        for axis in axes.iter().rev() {
            let extent = axis.extent.max(1);
            coords.push((axis.name.clone(), i64::from(item % extent)));
            item /= extent;
        }
        coords.reverse();
        coords
    }
}

fn does(doing: Doing) -> Does {
    match doing {
        Doing::Read => Does::Reads,
        Doing::Write => Does::Writes,
        Doing::Update => Does::Updates,
    }
}
