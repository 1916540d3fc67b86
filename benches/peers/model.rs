//! The analytical model against what was measured: among configurations that have been
//! timed on a device, the one that the model ranks first is nearly the fastest.

use std::collections::BTreeMap;

use tile_runtime::ir::config::estimate;
use tile_runtime::ir::device::known;

use crate::case::Case;
use crate::config_text;
use crate::list::shape_text;
use crate::ops::cases;

const MEASURED: &str = include_str!("measured.txt");

/// Of the fastest time, what the model's first choice reaches at each shape, and in the
/// mean over the shapes.
const LEAST: f64 = 0.75;
const MEAN: f64 = 0.9;

/// A line of the file: milliseconds, and the configuration.
type Timed<'a> = (f64, &'a str);

/// The lines of each operation, type and shape.
fn measured() -> BTreeMap<[&'static str; 3], Vec<Timed<'static>>> {
    let mut found: BTreeMap<_, Vec<Timed<'_>>> = BTreeMap::new();
    for line in MEASURED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [op, dtype, shape, ms, config] = words[..] else { panic!("{line}") };
        let ms: f64 = ms.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        found.entry([op, dtype, shape]).or_default().push((ms, config));
    }
    found
}

/// The part of the fastest time's rate that the model's choice reaches.
fn reached(case: &Case, timed: &[Timed<'_>]) -> (f64, String) {
    let device = known("H200").expect("the device is in the table");
    let dims: Vec<u64> = case.dims().iter().map(|&extent| extent as u64).collect();
    let kernel = &case.kernel;
    let expected = |text: &str| {
        let config = config_text::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        estimate(kernel.checked().kernel(), kernel.types(), &device, &dims, &config).seconds
    };
    let mut first = timed.iter().map(|&(ms, text)| (expected(text), ms, text)).collect::<Vec<_>>();
    first.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fastest = timed.iter().map(|(ms, _)| *ms).fold(f64::INFINITY, f64::min);
    let (_, ms, text) = first[0];
    (fastest / ms, text.to_owned())
}

#[test]
fn the_model_ranks_what_was_measured() {
    let cases = cases(false);
    let mut ratios = Vec::new();
    let mut table = String::new();
    for ([op, dtype, shape], timed) in measured() {
        let case = cases
            .iter()
            .find(|case| case.op == op && case.dtype == dtype && shape_text(&case.shape) == shape)
            .unwrap_or_else(|| panic!("{op} {dtype} {shape} is no work"));
        let (ratio, choice) = reached(case, &timed);
        table.push_str(&format!("{ratio:.3} {op} {dtype} {shape}: {choice}\n"));
        ratios.push(ratio);
    }
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(least >= LEAST && mean >= MEAN, "least {least:.3}, mean {mean:.3}\n{table}");
}
