//! How reports read.

use std::fmt::{self, Display, Formatter};

use super::{ArrayKind, CheckPlace, CheckReport, Does, Finding, Note};

impl Display for CheckReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { kernel, file, findings, notes, counts: _ } = self;
        let mut is_first = true;
        let mut part = |f: &mut Formatter<'_>, text: String, line: u32| {
            if !std::mem::take(&mut is_first) {
                writeln!(f)?;
            }
            write!(f, "{text}")?;
            if line > 0 {
                write!(f, "\n  in `{kernel}`, {file}:{line}")?;
            }
            Ok(())
        };
        for finding in findings {
            part(f, finding.to_string(), finding.line())?;
        }
        for note in notes {
            part(f, format!("note: {note}"), note.line())?;
        }
        if findings.is_empty() && notes.is_empty() {
            write!(f, "nothing was found in `{kernel}`")?;
        }
        Ok(())
    }
}

impl Display for Does {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Updates => "updates",
        })
    }
}

impl Display for CheckPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item.is_empty() {
            true => f.write_str("the block")?,
            false => write!(f, "work-item ({})", coordinates(&self.item))?,
        }
        if !self.block.is_empty() {
            let of = if self.item.is_empty() { "" } else { " in block" };
            write!(f, "{of} ({})", coordinates(&self.block))?;
        }
        Ok(())
    }
}

fn coordinates(named: &[(String, i64)]) -> String {
    let named: Vec<String> =
        named.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    named.join(", ")
}

/// `s[1, 2]`
fn element_of(array: &str, element: &[i64]) -> String {
    let indices: Vec<String> = element.iter().map(i64::to_string).collect();
    format!("`{array}[{}]`", indices.join(", "))
}

/// `, and 12 times more`
fn more(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", and once more".to_owned(),
        _ => format!(", and {} times more", count - 1),
    }
}

impl Finding {
    /// The code under which [`docs/diagnostics.md`] describes what the compiler says of
    /// it.
    ///
    /// [`docs/diagnostics.md`]: https://github.com/tile-runtime/tile-runtime/blob/main/docs/diagnostics.md
    pub fn code(&self) -> &'static str {
        match self {
            Self::Race { kind: ArrayKind::Tile, .. } => "TK0301",
            Self::Race { first, second, .. } if first.1.block == second.1.block => "TK0302",
            Self::Race { .. } => "TK0303",
            Self::Divergence { .. } => "TK0401",
            Self::Uninitialised { .. } | Self::Unset { .. } => "TK0501",
            Self::Outside { .. } => "TK0201",
        }
    }

    fn line(&self) -> u32 {
        match self {
            Self::Race { second, .. } => second.1.line,
            Self::Uninitialised { place, .. }
            | Self::Outside { place, .. }
            | Self::Unset { place, .. } => place.line,
            Self::Divergence { present, .. } => present.line,
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let code = self.code();
        match self {
            Self::Race { array, kind, element, first, second, count } => {
                let what = match kind {
                    ArrayKind::Tensor => "tensor",
                    ArrayKind::Tile => "tile",
                };
                let is_one_block = first.1.block == second.1.block;
                let (who, help) = match is_one_block {
                    true => (
                        "two work-items",
                        "put `barrier;` between the two, or let one of them do it",
                    ),
                    false => (
                        "two blocks",
                        "give each element one writer, or update it with `atomic`: barriers do not \
                         order blocks",
                    ),
                };
                let does = match (first.0, second.0) {
                    (Does::Writes, Does::Writes) => "write one element",
                    _ => "use one element, and one of them changes it",
                };
                let element = element_of(array, element);
                writeln!(f, "race on the {what} `{array}`: {who} {does} [{code}]")?;
                for (does, place) in [first, second] {
                    let barriers = after(place.barriers);
                    writeln!(f, "  line {}: {place} {does} {element}{barriers}", place.line)?;
                }
                if *count > 1 {
                    writeln!(f, "  these two lines collide in {count} cases")?;
                }
                write!(f, "  help: {help}")
            }
            Self::Uninitialised { array, element, place, count } => {
                let (element, more) = (element_of(array, element), more(*count));
                write!(
                    f,
                    "{element} is read, and nobody in the block has written it [{code}]\n  "
                )?;
                write!(f, "line {}: {place} reads it{}{more}", place.line, after(place.barriers))
            }
            Self::Divergence { present, absent, is_of_warp } => {
                let group = if *is_of_warp { "warp" } else { "block" };
                let Some(absent) = absent else {
                    let line = present.line;
                    writeln!(
                        f,
                        "not every work-item of the {group} need come to line {line} [{code}]"
                    )?;
                    write!(f, "  {present} does{}", after(present.barriers))?;
                    return write!(
                        f,
                        ", and all others, by a condition on which they may disagree"
                    );
                };
                writeln!(
                    f,
                    "not every work-item of the {group} comes to line {} [{code}]",
                    present.line
                )?;
                write!(f, "  {present} does{}", after(present.barriers))?;
                if absent.item == present.item {
                    write!(f, ", a point of a cooperative loop, which runs on one thread")
                } else {
                    write!(f, ", {absent} does not")
                }
            }
            Self::Unset { variable, place, count } => {
                let more = more(*count);
                write!(f, "`{variable}` is read, and has no value [{code}]\n  ")?;
                write!(f, "line {}: {place} reads it{more}", place.line)
            }
            Self::Outside { array, axis, index, extent, place } => {
                writeln!(f, "an index leaves the extents of `{array}` [{code}]")?;
                write!(f, "  line {}: {place} uses {index} on axis {axis}; ", place.line)?;
                write!(f, "the indices are 0 to {}", extent - 1)
            }
        }
    }
}

fn after(barriers: u32) -> String {
    match barriers {
        0 => String::new(),
        1 => " after one barrier".to_owned(),
        _ => format!(" after {barriers} barriers"),
    }
}

impl Note {
    fn line(&self) -> u32 {
        match self {
            Self::Dropped { place, .. }
            | Self::Overflow { place, .. }
            | Self::DivisionByZero { place, .. }
            | Self::NotFinite { place, .. } => place.line,
            Self::LeftOut { .. } => 0,
        }
    }
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { does, array, axis, index, extent, place, count } => {
                let what = match does {
                    Does::Reads => "a read gives the pad value",
                    Does::Writes | Does::Updates => "a write is dropped",
                };
                let more = more(*count);
                write!(f, "{what}: {place} uses {index} on axis {axis} of `{array}`, whose ")?;
                write!(f, "extent is {extent}{more}")
            }
            Self::Overflow { operator, dtype, place, count } => {
                write!(f, "`{operator}` of `{dtype}` wraps: {place}{}", more(*count))
            }
            Self::DivisionByZero { operator, place, count } => {
                write!(f, "`{operator}` by 0 gives 0: {place}{}", more(*count))
            }
            Self::NotFinite { operator, dtype, place, count } => {
                let more = more(*count);
                write!(f, "`{operator}` of finite `{dtype}` is not finite: {place}{more}")
            }
            Self::LeftOut { array, element, count } => {
                let element = element_of(array, element);
                match count {
                    1 => write!(f, "{element} is left as it was: nobody writes it"),
                    _ => write!(
                        f,
                        "{element} and {} more elements of `{array}` are left as they were: nobody writes them",
                        count - 1
                    ),
                }
            }
        }
    }
}
