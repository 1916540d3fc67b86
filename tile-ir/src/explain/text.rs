//! The report as text for a terminal, at most 100 columns wide.

use std::fmt;

use super::count::{Space, Touches};
use super::report::{AccessReport, OccupancyReport, Report};
use super::roofline::{Level, Roof};

/// Columns of the text.
const WIDTH: usize = 100;
/// Columns before the text of a section.
const INDENT: &str = "    ";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_head(self, f)?;
        write_roofline(self, f)?;
        write_reuse(self, f)?;
        write_occupancy(self, f)?;
        write_accesses(self, f)?;
        write_branches(self, f)?;
        write_findings(self, f)
    }
}

fn write_head(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let types = match report.types.as_slice() {
        [] => String::new(),
        types => format!("<{}>", types.join(", ")),
    };
    let dims = report.dims.iter().map(|dim| format!("{} = {}", dim.name, dim.value));
    let scalars = report.scalars.iter().map(|known| format!("{} = {}", known.name, known.value));
    let known: Vec<String> = dims.chain(scalars).collect();
    writeln!(f, "{}{types} on {}: {}", report.kernel, report.device, known.join(", "))?;
    let tiles: Vec<String> =
        report.tiles.iter().map(|tile| format!("{} = {}", tile.name, tile.value)).collect();
    let extents: Vec<String> = report.grid.iter().map(u64::to_string).collect();
    let grid = match extents.as_slice() {
        [] | [_] => String::new(),
        extents => format!("{} = ", extents.join(" x ")),
    };
    let launch = format!(
        "{grid}{} of {} threads, {} of the SMs",
        plural(report.blocks, "block"),
        report.threads,
        fillings(report.waves),
    );
    match tiles.as_slice() {
        [] => wrapped(f, INDENT, &launch)?,
        tiles => wrapped(f, INDENT, &format!("{}; {launch}", tiles.join(", ")))?,
    }
    if !report.is_exact {
        wrapped(f, INDENT, "the counts are sampled: not every kind of iteration was gone through")?;
    }
    Ok(())
}

fn fillings(waves: f64) -> String {
    if waves == 1.0 { "1 filling".to_owned() } else { format!("{} fillings", digits(waves)) }
}

fn write_roofline(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let roofline = &report.roofline;
    writeln!(f, "\nroofline")?;
    for roof in &roofline.roofs {
        let (unit, rate) = match roof.level {
            Level::Arithmetic => ("FLOP", "FLOP/s"),
            Level::Dram | Level::L2 | Level::Shared => ("B", "B/s"),
        };
        let intensity = match roof.level {
            Level::Arithmetic => String::new(),
            Level::Dram | Level::L2 | Level::Shared => intensity(report, roof),
        };
        let line = format!(
            "{INDENT}{:<14} {:>12} at {:>13} {:>11}   {intensity}",
            roof.level.text(),
            scaled(roof.amount, unit),
            scaled(roof.per_second, rate),
            time(roof.seconds),
        );
        writeln!(f, "{}", line.trim_end())?;
    }
    if roofline.roof(Level::L2).is_none() {
        let asked = scaled(report.work.sector_bytes as f64, "B");
        writeln!(f, "{INDENT}{:<14} {asked:>12}; its peak is not known", Level::L2.text())?;
    }
    let kind = if roofline.is_memory_bound() { "memory-bound" } else { "compute-bound" };
    let text = format!(
        "{kind}: no faster than {}, by {}; expected {}",
        time(roofline.bound_seconds),
        roofline.bound_by.text(),
        time(roofline.predicted_seconds),
    );
    wrapped(f, INDENT, &text)
}

fn intensity(report: &Report, roof: &Roof) -> String {
    match report.roofline.intensity(roof.level) {
        Some(intensity) => format!("{} FLOP/B", digits(intensity)),
        None => String::new(),
    }
}

fn write_reuse(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let reuse = &report.reuse;
    writeln!(f, "\nglobal memory, as the kernel is written")?;
    for tile in &reuse.tiles {
        let text = format!(
            "the tile {} of {}: {} reads of an element for each that fills it",
            tile.tile,
            tile.sources.join(", "),
            digits(tile.factor()),
        );
        wrapped(f, INDENT, &text)?;
    }
    let asked = format!(
        "work-items write {} and read {}: {} FLOP/B",
        scaled(reuse.written_bytes as f64, "B"),
        scaled(reuse.read_bytes as f64, "B"),
        digits(reuse.intensity()),
    );
    match reuse.tiles.as_slice() {
        [] => wrapped(f, INDENT, &asked),
        _ => {
            let without = format!(
                "; without the tiles {}: {} FLOP/B, {} times as much",
                scaled(reuse.read_bytes_without_tiles as f64, "B"),
                digits(reuse.intensity_without_tiles()),
                digits(reuse.reduction()),
            );
            wrapped(f, INDENT, &format!("{asked}{without}"))
        }
    }
}

fn write_occupancy(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let OccupancyReport { blocks, warps, fraction, limiter, registers, .. } = &report.occupancy;
    let occupancy = &report.occupancy;
    writeln!(f, "\noccupancy")?;
    let estimated = if occupancy.registers_are_estimated { " (estimated)" } else { "" };
    let text = format!(
        "{} and {} of an SM, {} %; limited by {limiter}",
        plural(u64::from(*blocks), "block"),
        plural(u64::from(*warps), "warp"),
        digits(100.0 * fraction),
    );
    wrapped(f, INDENT, &text)?;
    let text = format!(
        "{registers} registers a thread{estimated}, {} bytes of shared memory a block",
        occupancy.shared_bytes,
    );
    wrapped(f, INDENT, &text)?;
    let of = |by: u32, resource: &str, sign: &str| match resource {
        "registers" => format!("{} a thread {sign}", plural(by.into(), "register")),
        _ => format!("{} of shared memory a block {sign}", plural(by.into(), "byte")),
    };
    if let Some(step) = &occupancy.up {
        let text = of(step.by, &step.resource, "fewer");
        wrapped(f, INDENT, &format!("{text}: {}", plural(step.blocks.into(), "block")))?;
    }
    for step in &occupancy.down {
        let text = of(step.by, &step.resource, "more");
        wrapped(f, INDENT, &format!("{text}: {}", plural(step.blocks.into(), "block")))?;
    }
    Ok(())
}

fn write_accesses(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\naccesses                                                    a warp's request takes"
    )?;
    writeln!(
        f,
        "{INDENT}{:>5} {:<24} {:>6} {:>9} {:>10}  {:>16} {:>15}",
        "line", "", "width", "requests", "bytes", "sectors (least)", "wavefr. (least)",
    )?;
    for access in &report.accesses {
        let (sectors, wavefronts) = match access.space {
            Space::Global => (taken(access, access.sectors, access.ideal_sectors), String::new()),
            Space::Shared => {
                (String::new(), taken(access, access.wavefronts, access.ideal_wavefronts))
            }
            Space::Constant => (String::new(), String::new()),
        };
        let does = match access.touches {
            Touches::Reads => "reads",
            Touches::Writes => "writes",
            Touches::Updates => "updates",
        };
        let guard = if access.is_guarded { " if inside" } else { "" };
        let line = format!(
            "{INDENT}{:>5} {:<24} {:>6} {:>9} {:>10}  {:>16} {:>15}",
            access.line,
            cut(&format!("{does} {}{guard}", access.array), 24),
            access.width,
            scaled(access.requests as f64, ""),
            scaled(access.bytes as f64, "B"),
            sectors,
            wavefronts,
        );
        writeln!(f, "{}", line.trim_end())?;
    }
    if report.accesses.iter().any(|access| access.unknown_requests > 0) {
        wrapped(
            f,
            INDENT,
            "? the addresses depend on data: each lane counts as a sector of its own, without conflicts",
        )?;
    }
    Ok(())
}

fn taken(access: &AccessReport, taken: u64, ideal: u64) -> String {
    let per_request = |n: u64| digits(n as f64 / (access.requests as f64).max(1.0));
    let unknown = if access.unknown_requests > 0 { "? " } else { "" };
    format!("{unknown}{} ({})", per_request(taken), per_request(ideal))
}

fn write_branches(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if report.branches.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nbranches")?;
    for branch in &report.branches {
        let part = |n: u64| digits(100.0 * n as f64 / (branch.warps as f64).max(1.0));
        let mut text = format!("{:>5}", branch.line);
        if branch.split > 0 {
            text += &format!(" {} % of {} split", part(branch.split), plural(branch.warps, "warp"));
        }
        if branch.unknown > 0 {
            text += " depends on data: both ways counted, or 16 iterations";
        }
        writeln!(f, "{INDENT}{text}")?;
    }
    Ok(())
}

fn write_findings(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "\nfindings")?;
    if report.findings.is_empty() {
        writeln!(f, "{INDENT}none")?;
    }
    for finding in &report.findings {
        let place = match finding.line {
            0 => "      ".to_owned(),
            line => format!("{line:>5} "),
        };
        let text = format!("{}: {}", finding.rule.name(), finding.message);
        wrapped(f, &format!("{INDENT}{place}"), &text)?;
        wrapped(f, &format!("{INDENT}      "), &format!("{}.", capital(&finding.advice)))?;
    }
    Ok(())
}

/// A sentence begins with a capital, unless it begins with a name.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Breaks a text into lines; further ones stand under the first.
fn wrapped(f: &mut fmt::Formatter<'_>, head: &str, text: &str) -> fmt::Result {
    let indent = " ".repeat(head.chars().count());
    let mut line = head.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(f, "{line}")?;
            line.clone_from(&indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(f, "{line}")
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns - 1).chain(['…']).collect()
}

fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Three digits that count, without zeros at the end.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let places = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `1.07 GB`, `19.5 TFLOP/s`
fn scaled(value: f64, unit: &str) -> String {
    let (factor, prefix) = match value {
        value if value >= 999.5e9 => (1e12, "T"),
        value if value >= 999.5e6 => (1e9, "G"),
        value if value >= 999.5e3 => (1e6, "M"),
        value if value >= 9999.5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{} {prefix}{unit}", digits(value / factor)).trim_end().to_owned()
}

/// `1.23 ms`
fn time(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        seconds if seconds >= 0.9995 => (1.0, "s"),
        seconds if seconds >= 0.9995e-3 => (1e3, "ms"),
        seconds if seconds >= 0.9995e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", digits(seconds * factor))
}
