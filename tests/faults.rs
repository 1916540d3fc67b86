//! What the compiler finds in the faulty kernels of `ui/`, checked launches find at run
//! time, where the checks are bypassed: each is launched on random data, in its smallest
//! tiles and in others, until something is found.

use std::fs;
use std::path::{Path, PathBuf};

use tile_runtime::inspect::{HostTensor, run_unchecked};
use tile_runtime::ir::check::UncheckedKernel;
use tile_runtime::ir::config::{Config, candidate_values, plain_config};
use tile_runtime::ir::dtype::DType;
use tile_runtime::ir::kernel::{ElemType, Kernel, TileDomain, VarId, VarKind, eval_index};
use tile_runtime::ir::resolve::resolve_kernel;
use tile_runtime::ir::value::ScalarValue;
use tile_runtime::{ArrayKind, CheckReport, Device, Error, Finding, Note};

/// Launches of a kernel, each on other data.
const ATTEMPTS: u64 = 24;
/// The largest extent of a dimension.
const MAX_EXTENT: usize = 40;

/// What a launch has shown.
type Shown = Result<Vec<CheckReport>, Error>;

/// What a launch is expected to show.
type Expected = fn(&Shown) -> bool;

/// A rule, what its cases show, and the cases that show nothing, with the reason.
struct Rule {
    folder: &'static str,
    expected: Expected,
    silent: &'static [(&'static str, &'static str)],
}

/// Whether a launch has shown such a finding.
fn has(shown: &Shown, is_it: fn(&Finding) -> bool) -> bool {
    let reports = shown.iter().flatten();
    reports.flat_map(|report| &report.findings).any(is_it)
}

const RULES: [Rule; 9] = [
    Rule {
        folder: "shared_race",
        expected: |shown| has(shown, |f| matches!(f, Finding::Race { kind: ArrayKind::Tile, .. })),
        silent: &[],
    },
    Rule {
        folder: "global_race",
        expected: |shown| has(shown, |f| f.code() == "TK0302"),
        silent: &[],
    },
    Rule {
        folder: "block_race",
        expected: |shown| has(shown, |f| f.code() == "TK0303"),
        silent: &[],
    },
    Rule {
        folder: "undecided_race",
        expected: |shown| has(shown, |f| matches!(f, Finding::Race { .. })),
        silent: &[
            (
                "flipped_by_double",
                "no two work-items have one number: there is only no proof of it",
            ),
            ("not_linear", "likewise"),
            ("wrapping", "it shows once 2^32 places have been gone through"),
        ],
    },
    Rule {
        folder: "divergence",
        expected: |shown| has(shown, |f| matches!(f, Finding::Divergence { .. })),
        silent: &[
            ("barrier_in_each", "the text means nothing: no kernel is made of it"),
            ("reduction_in_each", "likewise"),
            ("exchange_after_and", "likewise"),
        ],
    },
    Rule {
        folder: "uninitialised",
        expected: |shown| has(shown, |f| f.code() == "TK0501"),
        silent: &[],
    },
    Rule {
        folder: "tile_bounds",
        expected: |shown| has(shown, |f| matches!(f, Finding::Outside { .. })),
        silent: &[],
    },
    Rule {
        folder: "pad_changes_result",
        expected: |shown| {
            let notes = shown.iter().flatten().flat_map(|report| &report.notes);
            notes.into_iter().any(|note| matches!(note, Note::Dropped { .. }))
        },
        silent: &[],
    },
    Rule {
        folder: "bad_assumption",
        expected: |shown| matches!(shown, Err(Error::Assumption(_))),
        silent: &[],
    },
];

#[test]
fn faults_show_at_run_time() {
    let mut quiet = Vec::new();
    for rule in RULES {
        for path in cases(rule.folder) {
            let name = path.file_stem().expect("it is a file").to_string_lossy().into_owned();
            let is_silent = rule.silent.iter().any(|(silent, _)| *silent == name);
            let shown = shows(&path, rule.expected);
            match shown {
                Ok(()) if is_silent => quiet.push(format!("{}/{name} is found", rule.folder)),
                Err(why) if !is_silent => quiet.push(format!("{}/{name}: {why}", rule.folder)),
                Ok(()) | Err(_) => {}
            }
        }
    }
    assert!(quiet.is_empty(), "{} cases:\n{}", quiet.len(), quiet.join("\n"));
}

/// The faulty kernels of a rule.
fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui").join(folder);
    let files =
        fs::read_dir(folder).expect("the rule is there").map(|entry| entry.expect("a file"));
    let mut paths: Vec<PathBuf> = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with("accepted.rs"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// Whether some launch of the kernels in a file shows what is expected.
fn shows(path: &Path, expected: Expected) -> Result<(), String> {
    let text = fs::read_to_string(path).expect("it can be read");
    let mut said = Vec::new();
    for kernel in kernels(&text)? {
        for seed in 0..ATTEMPTS {
            let shown = launch(&kernel, seed);
            if expected(&shown) {
                return Ok(());
            }
            match shown {
                Ok(reports) => said.extend(reports.iter().map(ToString::to_string)),
                Err(error) => said.push(error.to_string()),
            }
        }
    }
    said.sort();
    said.dedup();
    said.truncate(3);
    Err(said.join("\n    "))
}

/// The kernels of a file, each with its constants and functions.
fn kernels(text: &str) -> Result<Vec<UncheckedKernel>, String> {
    let inside = text.split("tiled_kernel! {").skip(1);
    let texts = inside.filter_map(|rest| rest.split("\n}\n").next());
    let resolved = texts.map(|text| {
        let item = tile_syntax::parse_kernel_text(text).map_err(|errors| errors.to_string())?;
        let kernel = resolve_kernel(&item).and_then(UncheckedKernel::new);
        kernel.map_err(|found| format!("{found:?}"))
    });
    resolved.collect()
}

fn launch(unchecked: &UncheckedKernel, seed: u64) -> Shown {
    let kernel = unchecked.kernel();
    let mut rng = fastrand::Rng::with_seed(seed);
    let types: Vec<DType> = kernel
        .type_params
        .values()
        .map(|param| {
            let candidates = [DType::I32, DType::F32];
            candidates.into_iter().find(|&dtype| param.bound.admits(dtype)).expect("one of them")
        })
        .collect();
    let config = config(kernel, &mut rng, seed == 0)?;
    let dims: Vec<usize> = kernel
        .vars
        .values()
        .filter(|var| var.kind == VarKind::Dim)
        .map(|_| match (seed, rng.u8(..6)) {
            (0, _) => MAX_EXTENT,
            (_, 0) => 0,
            (_, _) => rng.usize(1..=MAX_EXTENT),
        })
        .collect();
    let largest = dims.iter().copied().max().unwrap_or(1);
    let is_small = seed % 2 == 1;
    let mut element = |elem: ElemType, largest: usize| {
        let dtype = elem.bind(&types).expect("all types are bound");
        // Also as indices, some of them twice, and seldom outside; or few numbers of each sign.
        let value = match is_small {
            false => rng.usize(0..=largest) as i64 - i64::from(rng.u8(..8) == 0) * 3,
            true if dtype.integer_range().is_some_and(|(least, _)| least == 0) => rng.i64(0..=2),
            true => rng.i64(-1..=2),
        };
        (dtype, bits(dtype, value))
    };
    let mut tensors = Vec::new();
    for tensor in kernel.tensors.values() {
        let extents = tensor.extents.iter().map(|&extent| {
            let value = |var: VarId| value_of(kernel, &config, &dims, var);
            eval_index(kernel, extent, &value).map_or(0, |extent| extent.max(0) as usize)
        });
        let shape: Vec<usize> = extents.collect();
        let mut bytes = Vec::new();
        for _ in 0..shape.iter().product() {
            let (dtype, bits) = element(tensor.elem, largest);
            bytes.extend(&bits.to_le_bytes()[..dtype.size_bytes() as usize]);
        }
        let dtype = tensor.elem.bind(&types).expect("all types are bound");
        tensors.push(HostTensor::new(dtype, &shape, &bytes));
    }
    let scalars = kernel.scalars.values().map(|scalar| {
        let (dtype, bits) = element(scalar.elem, 4);
        ScalarValue { dtype, bits }
    });
    let scalars: Vec<ScalarValue> = scalars.collect();
    run_unchecked(unchecked, &types, &config, &dims, &tensors, &scalars)
}

/// The smallest tiles, or drawn ones.
fn config(kernel: &Kernel, rng: &mut fastrand::Rng, is_smallest: bool) -> Result<Config, Error> {
    let device = Device::cpu();
    for _ in 0..20 {
        let mut given = Vec::new();
        for param in kernel.tile_params.values() {
            let is_tied = matches!(param.domain, TileDomain::Equal(_));
            let values: Vec<u32> = match param.domain {
                TileDomain::Any => (2..=9).chain([24]).collect(),
                _ => candidate_values(&param.domain).into_iter().filter(|&v| v <= 64).collect(),
            };
            if !is_smallest && !is_tied && !values.is_empty() {
                given.push((param.name.as_str(), values[rng.usize(..values.len())]));
            }
        }
        if let Ok(config) = plain_config(kernel, device.properties(), &given) {
            return Ok(config);
        }
    }
    Ok(plain_config(kernel, device.properties(), &[])?)
}

fn value_of(kernel: &Kernel, config: &Config, dims: &[usize], var: VarId) -> Option<i128> {
    match kernel.vars[var].kind {
        VarKind::TileParam(param) => Some(config.tile(param).into()),
        _ => {
            let mut names = kernel.vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
            names.position(|(dim, _)| dim == var).map(|at| dims[at] as i128)
        }
    }
}

fn bits(dtype: DType, value: i64) -> u64 {
    match dtype {
        DType::F32 => (value as f32).to_bits().into(),
        DType::F64 => (value as f64).to_bits(),
        DType::Bool => u64::from(value & 1 == 1),
        _ => value as u64,
    }
}
