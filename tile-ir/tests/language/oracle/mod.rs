//! The verdicts on random kernels against an oracle that runs every work-item and
//! compares every pair of accesses: what is accepted has no race and reads no cell
//! that nobody has written, what is refuted has the fault that is told, and little is
//! left undecided that has none.
//!
//! So it is asked of kernels in which work-items hand on numbers in arrays, and use them as
//! places: there the oracle keeps what is stored.
//!
//! `TILE_RANDOM_KERNELS` says how many kernels are tried, `TILE_RANDOM_SEED` from which
//! seed on.

mod eval;
mod exchange;
mod mutants;
mod run;
mod stored;
mod tally;
mod write;

use std::collections::BTreeMap;

use run::{Launch, Outcome, run};
use tally::{Judged, Tally, show};
use tile_ir::check::check_kernel;
use tile_ir::config::complete_tiles;
use tile_ir::diag::Diagnostic;
use tile_ir::kernel::{ElemType, ExprKind, Kernel, Literal, TileDomain, Type, VarId, VarKind};
use tile_ir::resolve::resolve_kernel;
use write::Of;

/// Kernels that are tried where nothing else is said.
const KERNELS: u64 = 400;

/// What the checker says of the races of a kernel.
enum Verdict {
    Accepted,
    /// With the finding's text.
    Refuted(Vec<Diagnostic>),
    Undecided(String),
    /// Cells are read that nobody has written; with the findings.
    Unwritten(Vec<Diagnostic>),
    /// Another rule speaks.
    Other,
}

fn verdict(kernel: &Kernel) -> Verdict {
    let spans = kernel.spans.clone();
    let Err(diags) = check_kernel(kernel.clone()) else { return Verdict::Accepted };
    let races = ["TK0301", "TK0302", "TK0303"];
    let errors: Vec<Diagnostic> = diags
        .into_iter()
        .filter(|found| found.severity == tile_ir::diag::Severity::Error)
        .collect();
    if errors.iter().all(|found| found.code.text() == "TK0501") {
        return Verdict::Unwritten(errors);
    }
    if errors.iter().any(|found| !found.code.text().starts_with("TK03")) {
        return Verdict::Other;
    }
    let text = errors.iter().map(|found| tile_ir::diag::render(found, &spans)).collect();
    let refuted: Vec<Diagnostic> =
        errors.into_iter().filter(|found| races.contains(&found.code.text())).collect();
    if refuted.is_empty() { Verdict::Undecided(text) } else { Verdict::Refuted(refuted) }
}

/// The sizes that a finding names, by name.
fn witness(found: &Diagnostic) -> BTreeMap<String, i64> {
    let note = found.notes.iter().find_map(|note| {
        note.strip_prefix("for example with ").or_else(|| note.strip_prefix("with "))
    });
    let pairs = note.unwrap_or_default().split(", ").map_while(|pair| pair.split_once(" = "));
    pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
}

/// A launch of a kernel of which some values are given by name.
fn launch(
    kernel: &Kernel,
    given: &BTreeMap<String, i64>,
    rng: &mut fastrand::Rng,
) -> Option<Launch> {
    let mut params = Vec::new();
    for (id, param) in kernel.tile_params.iter() {
        if matches!(param.domain, TileDomain::Equal(_)) {
            continue;
        }
        let values = tile_ir::config::candidate_values(&param.domain);
        let small: Vec<u32> = values.iter().copied().filter(|value| *value <= 6).collect();
        let given = given.get(&param.name).and_then(|value| u32::try_from(*value).ok());
        let chosen = given.or_else(|| rng.choice(small));
        params.push((id, chosen.or_else(|| values.into_iter().min())?));
    }
    let tiles = complete_tiles(kernel, &params).ok()?;
    // More than one piece of any literal length too.
    let mut dims = vec![1, 3, 4, 6, 9, 14, 40];
    let literal = largest_literal(kernel);
    if literal > 20 {
        dims.extend([literal - 1, literal + 1, 2 * literal + 3]);
    }
    let value = |id: VarId, rng: &mut fastrand::Rng| -> Option<i64> {
        let var = &kernel.vars[id];
        let given = given.get(&var.name).copied();
        match var.kind {
            VarKind::TileParam(param) => {
                let at = kernel.tile_params.ids().position(|id| id == param)?;
                tiles.get(at).map(|tile| i64::from(*tile))
            }
            VarKind::Dim => given.or_else(|| rng.choice(dims.iter().copied())),
            VarKind::Scalar(_) => {
                let value = given.or_else(|| rng.choice([-1, 0, 1, 2, 3, 5]))?;
                Some(of_type(value, var.ty))
            }
            VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => None,
        }
    };
    let values = kernel.vars.ids().filter_map(|id| Some((id, value(id, rng)?))).collect();
    Some(Launch { values, seed: rng.u64(..), keeps: false })
}

/// The value of a scalar parameter: of a type without a sign, -1 is its largest one.
fn of_type(value: i64, ty: Type) -> i64 {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return value };
    match dtype.integer_range() {
        Some((0, max)) if value < 0 => i64::try_from(max).unwrap_or(i64::MAX),
        Some(_) | None => value,
    }
}

/// The largest literal of a length.
fn largest_literal(kernel: &Kernel) -> i64 {
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
        _ => None,
    });
    literals.filter(|value| *value <= 512).max().unwrap_or(0)
}

/// What is wrong with some launch, a race before a cell that nobody has written; `None`
/// where none could be run. `keeps` says whether cells hold what was stored in them.
fn fault_where(
    kernel: &Kernel,
    rng: &mut fastrand::Rng,
    (launches, keeps): (u32, bool),
) -> Option<Outcome> {
    let mut seen = None;
    for _ in 0..launches {
        let launch = Launch { keeps, ..launch(kernel, &BTreeMap::new(), rng)? };
        match run(kernel, &launch) {
            fault @ (Outcome::Race(_) | Outcome::Parted) => return Some(fault),
            unwritten @ Outcome::Unwritten(_) => seen = Some(unwritten),
            Outcome::Clean => seen = seen.or(Some(Outcome::Clean)),
            Outcome::Unfit => {}
        }
    }
    seen
}

/// Whether a finding is confirmed at the sizes that it names.
fn is_confirmed(kernel: &Kernel, found: &Diagnostic, rng: &mut fastrand::Rng, keeps: bool) -> bool {
    let given = witness(found);
    // What is not named does not matter, but for loaded data.
    let tries = if found.message.starts_with("possible") { 400 } else { 8 };
    (0..tries).any(|_| {
        let launch = launch(kernel, &given, rng).map(|launch| Launch { keeps, ..launch });
        launch
            .is_some_and(|launch| matches!(run(kernel, &launch), Outcome::Race(_) | Outcome::Unfit))
    })
}

/// Whether a cell is read that nobody has written, at the sizes that a finding names
/// or at others.
fn is_unwritten(kernel: &Kernel, found: &Diagnostic, rng: &mut fastrand::Rng, keeps: bool) -> bool {
    let given = witness(found);
    (0..60).any(|at| {
        let given = if at % 2 == 0 { given.clone() } else { BTreeMap::new() };
        let launch = launch(kernel, &given, rng).map(|launch| Launch { keeps, ..launch });
        launch.is_some_and(|launch| run(kernel, &launch) != Outcome::Clean)
    })
}

/// Judges random kernels, and panics at the first verdict that the oracle contradicts.
fn tally(of: Of) -> Tally {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("TILE_RANDOM_SEED").unwrap_or(0);
    let count = number("TILE_RANDOM_KERNELS").unwrap_or(KERNELS);
    let mut tally = Tally::default();
    for seed in first..first + count {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = write::write(&mut rng, of);
        let item = tile_syntax::parse_kernel_text(&text);
        let item = item.unwrap_or_else(|error| panic!("{error}\n{text}"));
        match resolve_kernel(&item) {
            Ok(kernel) => {
                let (text, keeps) = (format!("seed {seed}: {text}"), of == Of::HandedOn);
                tally.judge(&Judged { kernel: &kernel, text: &text, keeps }, &mut rng);
            }
            Err(_) => tally.other += 1,
        }
    }
    show(&tally.to_string());
    tally
}

#[test]
fn verdicts_on_random_kernels_are_right() {
    let tally = tally(Of::Places);
    let Tally { accepted, refuted, open, unwritten, only_told, other, .. } = tally;
    // The test is of no use where the checker has little to say.
    let told = tally.told();
    assert!(accepted * 10 > told && refuted * 10 > told && other < 2 * told, "{tally}");
    assert!(open * 20 < told, "{tally}");
    assert!(unwritten * 50 > told && only_told * 20 < unwritten, "{tally}");
}

#[test]
fn verdicts_on_numbers_handed_on_in_arrays_are_right() {
    let tally = tally(Of::HandedOn);
    let (told, judged) = (tally.told(), tally.accepted + tally.refuted);
    assert!(tally.accepted * 10 > told && tally.refuted * 10 > told, "{tally}");
    assert!(tally.open * 20 < judged, "{tally}");
}
