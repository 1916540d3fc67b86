//! The list of configurations that are tried beside the default one.

use tile_runtime::Config;

use crate::config_text;

/// What the program brings along.
pub(crate) const LISTED: &str = include_str!("configs.txt");

/// Where a configuration is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// Chosen from the device's properties and the shape, nothing measured.
    Default,
    /// One element per thread, as textbooks run the kernel.
    Textbook,
    /// From the list.
    Listed,
    /// Found by the tuner.
    Tuned,
}

/// A line of the list.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    op: String,
    dtype: String,
    /// All shapes where there is none.
    shape: Option<String>,
    pub(crate) source: Source,
    pub(crate) config: Config,
}

impl Entry {
    /// Whether the line is for this work.
    pub(crate) fn is_for(&self, op: &str, dtype: &str, shape: &[usize]) -> bool {
        self.op == op
            && self.dtype == dtype
            && self.shape.as_ref().is_none_or(|own| *own == shape_text(shape))
    }
}

/// `4096x1024x8192`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// Reads lines of `OP TYPE SHAPE SOURCE CONFIGURATION`; `*` is every shape, `#`
/// starts a comment.
///
/// # Errors
///
/// Names the first line that is wrong.
pub(crate) fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let lines = text.lines().enumerate().map(|(number, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        (number + 1, line)
    });
    let entries = lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| parse_line(line).map_err(|error| format!("line {number}: {error}")));
    entries.collect()
}

fn parse_line(line: &str) -> Result<Entry, String> {
    let mut words = line.splitn(5, char::is_whitespace);
    let mut word = || words.next().filter(|word| !word.is_empty());
    let (Some(op), Some(dtype), Some(shape), Some(source), Some(config)) =
        (word(), word(), word(), word(), word())
    else {
        return Err("it is not OP TYPE SHAPE SOURCE CONFIGURATION".to_owned());
    };
    let source = match source {
        "listed" => Source::Listed,
        "textbook" => Source::Textbook,
        other => return Err(format!("`{other}` is neither `listed` nor `textbook`")),
    };
    let shape = (shape != "*").then(|| shape.to_owned());
    let config = config_text::parse(config)?;
    Ok(Entry { op: op.to_owned(), dtype: dtype.to_owned(), shape, source, config })
}

#[cfg(test)]
mod tests {
    use tile_runtime::ir::device::known;

    use super::*;
    use crate::ops::cases;

    /// Each line is for some work, and is a configuration of its kernel that an
    /// H200 runs; each work has the textbook's configuration.
    #[test]
    fn the_list_fits_the_kernels() {
        let device = known("H200").unwrap();
        let entries = parse(LISTED).unwrap();
        let cases = cases(false);
        let mut used = vec![false; entries.len()];
        for case in &cases {
            let mut has_textbook = false;
            for (entry, used) in entries.iter().zip(&mut used) {
                if !entry.is_for(case.op, case.dtype, &case.shape) {
                    continue;
                }
                (*used, has_textbook) = (true, has_textbook | (entry.source == Source::Textbook));
                let lowered = case.kernel.program(&entry.config, &device, &case.dims());
                if let Err(error) = lowered {
                    panic!("{} {}: {error}", case.op, config_text::print(&entry.config));
                }
            }
            assert!(has_textbook, "{} {} {:?}", case.op, case.dtype, case.shape);
        }
        for (entry, used) in entries.iter().zip(used) {
            assert!(used, "{} {} {:?} is no work", entry.op, entry.dtype, entry.shape);
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        let text = "# a comment\n\nmatmul f32 * listed 1 1 1 : 1 1 : # the smallest\nmatmul f32\n";
        assert!(parse(text).unwrap_err().starts_with("line 4: it is not"));
        let entries = parse(text.rsplit_once("matmul").unwrap().0).unwrap();
        assert!(entries[0].is_for("matmul", "f32", &[3, 4, 5]));
        assert!(!entries[0].is_for("matmul", "f64", &[3, 4, 5]));
    }
}
