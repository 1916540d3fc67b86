//! What is found, one JSON object a line, and the table of it.

use serde::Serialize;
use tile_sink::Told;

use crate::predicted::Quantities;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    /// A kernel.
    Compared(Compared),
    /// One that could not be launched, explained or counted.
    Failed { name: String, error: String },
}

/// What is predicted of one launch, and what it does.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    pub(crate) name: String,
    pub(crate) sizes: Vec<usize>,
    /// Whether the predicted counts are exact.
    pub(crate) is_exact: bool,
    pub(crate) predicted_ms: f64,
    /// What the roofline allows.
    pub(crate) bound_ms: f64,
    pub(crate) measured_ms: f64,
    pub(crate) predicted: Quantities,
    pub(crate) counted: Option<Quantities>,
}

impl Told for Line {
    fn has_failed(&self) -> bool {
        match self {
            Self::Failed { .. } => true,
            Self::Compared(_) => false,
        }
    }
}

/// Each kernel's time and counters, what is 0 in both left out.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        match line {
            Line::Failed { name, error } => text += &format!("{name}: {error}\n"),
            Line::Compared(compared) => text += &rows(compared),
        }
    }
    text
}

fn rows(compared: &Compared) -> String {
    let Compared { name, sizes, is_exact, predicted_ms, bound_ms, measured_ms, .. } = compared;
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let how = if *is_exact { "" } else { ", sampled" };
    let mut text = format!(
        "{name} {}{how}: {measured_ms:.3} ms, predicted {predicted_ms:.3} ({:.2}), \
         no less than {bound_ms:.3}\n",
        sizes.join("×"),
        predicted_ms / measured_ms,
    );
    let Some(counted) = compared.counted else { return text };
    for ((name, predicted), (_, counted)) in compared.predicted.named().iter().zip(counted.named())
    {
        if *predicted != 0.0 || counted != 0.0 {
            let difference = 100.0 * (predicted - counted) / counted.max(1.0);
            text +=
                &format!("    {name:24} {predicted:>16.0} {counted:>16.0} {difference:>+8.1} %\n");
        }
    }
    text
}
