//! What checked launches count is what [`Kernel::explain`] foresees, of every kernel of
//! which it foresees all: whose addresses and conditions do not depend on data.

use std::collections::{BTreeMap, BTreeSet};

use tile_kernels::list::{Listed, all};
use tile_kernels::random::random_inputs;
use tile_runtime::inspect::run_program_counted;
use tile_runtime::ir::config::{Config, plain_config};
use tile_runtime::ir::device::known;
use tile_runtime::ir::explain::count::{KernelCounts, Known, Limits, Touches, count_kernel};
use tile_runtime::ir::kernel::VarKind;
use tile_runtime::{AccessCount, ArrayKind, CheckCounts, DeviceProperties, Does, Kernel, Options};

/// The extent of every dimension: no multiple of most tiles.
const EXTENT: usize = 40;

/// Sums of an array's accesses of a kind: requests, elements, sectors and wavefronts, as
/// they are and at the least.
type Sums = BTreeMap<(String, &'static str), [u64; 6]>;

/// Sums of everything: accesses, branches' warps and splits, operations, barriers.
#[derive(Debug, PartialEq)]
struct Totals {
    accesses: Sums,
    branches: [u64; 2],
    ops: Vec<(&'static str, u64)>,
    barriers: u64,
}

impl Totals {
    /// Whether some operations or elements are fewer, and all else is the same.
    fn is_less(&self, other: &Self) -> bool {
        let sum = |totals: &Self| totals.ops.iter().map(|(_, n)| n).sum::<u64>();
        let elems = self.accesses.iter().all(|(key, own)| {
            other.accesses.get(key).is_some_and(|all| own.iter().zip(all).all(|(a, b)| a <= b))
        });
        sum(self) < sum(other)
            && elems
            && self.accesses.len() == other.accesses.len()
            && (self.branches, self.barriers) == (other.branches, other.barriers)
    }
}

fn add(sums: &mut Sums, key: (String, &'static str), more: [u64; 6]) {
    // What is never made is no access.
    if more[0] > 0 {
        let sum = sums.entry(key).or_default();
        sum.iter_mut().zip(more).for_each(|(own, more)| *own += more);
    }
}

fn foreseen(counts: &KernelCounts) -> Option<Totals> {
    let knows_sites = counts.sites.iter().all(|site| site.unknown_requests == 0);
    let knows_branches = counts.branches.iter().all(|branch| branch.unknown == 0);
    if !counts.is_exact || !knows_sites || !knows_branches {
        return None;
    }
    let mut accesses = Sums::new();
    for site in &counts.sites {
        let does = match site.touches {
            Touches::Reads => "reads",
            Touches::Writes => "writes",
            Touches::Updates => "updates",
        };
        let numbers = [
            site.requests,
            site.elems,
            site.sectors,
            site.ideal_sectors,
            site.wavefronts,
            site.ideal_wavefronts,
        ];
        add(&mut accesses, (site.array.clone(), does), numbers);
    }
    let sum = |of: &dyn Fn(&_) -> u64| counts.branches.iter().map(of).sum();
    Some(Totals {
        accesses,
        branches: [sum(&|branch| branch.warps), sum(&|branch| branch.split)],
        ops: counts.ops.iter().map(|(dtype, n)| (dtype.name(), *n)).collect(),
        barriers: counts.barriers,
    })
}

fn counted(counts: &CheckCounts) -> Totals {
    let mut accesses = Sums::new();
    for access in &counts.accesses {
        let does = match access.does {
            Does::Reads => "reads",
            Does::Writes => "writes",
            _ => "updates",
        };
        let numbers = [
            access.requests,
            access.elems,
            access.sectors,
            access.ideal_sectors,
            access.wavefronts,
            access.ideal_wavefronts,
        ];
        add(&mut accesses, (access.array.clone(), does), numbers);
    }
    let sum = |of: &dyn Fn(&_) -> u64| counts.branches.iter().map(of).sum();
    Totals {
        accesses,
        branches: [sum(&|branch| branch.warps), sum(&|branch| branch.split)],
        ops: counts.ops.clone(),
        barriers: counts.barriers,
    }
}

/// How the numbers of a kernel differ from what was foreseen of the same program, and
/// whether they are those of the report; nothing where not all of them can be foreseen.
fn compare(
    listed: &Listed,
    config: &Config,
    device: &DeviceProperties,
) -> Option<(Option<String>, bool)> {
    let kernel = &listed.kernel;
    let dims = vec![EXTENT; kernel.dims().len()];
    let (_, program) = kernel.program_by_pass(config, device, &dims).ok()?.swap_remove(0);
    let vars = kernel.checked().kernel().vars.iter();
    let named = vars.filter(|(_, var)| var.kind == VarKind::Dim).map(|(id, _)| (id, EXTENT as u64));
    let named: Vec<_> = named.collect();
    let limits = Limits { max_steps: 4_000_000, is_full: false };
    let mut inputs = random_inputs(kernel, config, &dims, 1);
    let (tensors, scalars) = (&mut inputs.tensors, &inputs.scalars);
    let ids = kernel.checked().kernel().scalars.ids();
    let given: Vec<_> = ids.zip(scalars.iter().copied()).collect();
    let known = Known { dims: &named, scalars: &given };
    let expected = foreseen(&count_kernel(&program.kernels[0], known, limits).ok()?)?;
    let reports = run_program_counted(kernel, &program, &dims, tensors, scalars);
    let reports = reports.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
    let counts = reports[0].counts.as_ref().expect("they were asked for");
    if !counts.is_exact {
        return None;
    }
    let found = counted(counts);
    if found != expected && found.is_less(&expected) {
        // Of `if c { a } else { b }` on data both arms are foreseen for all.
        return None;
    }
    let is_explained = is_explained(kernel, config, device, counts);
    let wrong = (found != expected).then(|| format!("foreseen {expected:?}\ncounted {found:?}"));
    Some((wrong, is_explained))
}

/// Whether the report of the launch that has a thread for each work-item, as it is
/// lowered, says the same of the launch as a whole. Where lowering computes something
/// once for several or twice for one, it does not.
fn is_explained(
    kernel: &Kernel,
    config: &Config,
    device: &DeviceProperties,
    counts: &CheckCounts,
) -> bool {
    let options = Options::new().config(config.clone());
    let dims = vec![EXTENT; kernel.dims().len()];
    let Ok(report) = kernel.explain_with(&options, device, &dims, None) else { return false };
    let work = &report.work;
    let ops: Vec<(&str, u64)> = work.ops.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    let sum = |kind: ArrayKind, of: &dyn Fn(&AccessCount) -> u64| -> u64 {
        counts.accesses.iter().filter(|access| access.kind == kind).map(of).sum()
    };
    let [global, shared] = [ArrayKind::Tensor, ArrayKind::Tile].map(|kind| sum(kind, &|a| a.bytes));
    report.is_exact
        && ops == counts.ops
        && work.barriers == counts.barriers
        && (work.global_bytes, work.shared_bytes) == (global, shared)
        && work.sector_bytes == 32 * sum(ArrayKind::Tensor, &|access| access.sectors)
        && work.wavefronts == sum(ArrayKind::Tile, &|access| access.wavefronts)
}

#[test]
fn counts_are_those_that_are_foreseen() {
    let device = known("H200").expect("the device is in the table");
    let (mut n_known, mut n_explained, mut wrong) = (0, 0, Vec::new());
    let mut names = BTreeSet::new();
    // Of each kernel one type tells what all do.
    for listed in all().into_iter().filter(|listed| names.insert(listed.kernel.name())) {
        let kernel = listed.kernel.checked().kernel();
        let tiles = listed.tiles.last().cloned().unwrap_or_default();
        let mut config = plain_config(kernel, &device, &tiles);
        if config.is_err() {
            config = plain_config(kernel, &device, &[]);
        }
        let Ok(config) = config else { continue };
        match compare(&listed, &config, &device) {
            Some((None, is_explained)) => {
                n_known += 1;
                n_explained += u32::from(is_explained);
            }
            Some((Some(how), _)) => wrong.push(format!("{:?}: {how}", listed.kernel)),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{n_known} agree, {} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_known > 30 && n_explained > 15, "of {n_known} kernels {n_explained} are explained");
}
