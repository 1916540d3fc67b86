//! Tuning on the CPU device, through what users call; and several processes at it.

#![expect(clippy::print_stdout, reason = "a child process tells its parent how it went")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tile_runtime::{Device, Numerics, Options, Strategy, Tune, TuneOptions, tiled_kernel};

tiled_kernel! {
    /// Doubles every element, in place.
    fn double<T: Number>(x: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        x[bx * TN + tx] += x[bx * TN + tx];
    }
}

tiled_kernel! {
    fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    fn product<T: Number>(x: &Tensor<T, [R, I]>, y: &Tensor<T, [I, C]>, z: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC, TI),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared xs: [T; TR, TI];
        shared ys: [T; TI, TC];
        let mut acc: Acc<T> = 0;
        phase p in tiles(I, TI) {
            load xs[i, k] = x[by * TR + i, p * TI + k];
            load ys[k, j] = y[p * TI + k, bx * TC + j];
            barrier;
            for k in 0..TI {
                acc += xs[ty, k] * ys[k, tx];
            }
            barrier;
        }
        z[by * TR + ty, bx * TC + tx] = acc;
    }
}

tiled_kernel! {
    /// One sum per tile: the extent of `sums` depends on the tile size.
    fn tile_sums(x: &Tensor<i32, [N]>, sums: &mut Tensor<i32, [tiles(N, TN)]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let sum = reduce_sum(x[bx * TN + tx]);
        if tx == 0 {
            sums[bx] = sum;
        }
    }
}

tiled_kernel! {
    /// Adds all elements, in whatever order.
    fn total(x: &Tensor<f32, [N]>, sum: &mut Tensor<f32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        atomic sum[0] += x[bx * TN + tx];
    }
}

const SOON: Duration = Duration::from_millis(200);

/// Says in which folder a process keeps what it finds.
const ROLE: &str = "TILE_TUNE_TEST_ROLE";

/// This test program again, to run one of its tests in a role, with its own cache.
fn in_role(test: &str, role: &str, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env("TILE_CACHE_DIR", cache).env_remove("TILE_TUNE");
    command.env("TILE_LOG", "warn").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

#[track_caller]
fn output(child: Child) -> String {
    output_and_warnings(child).0
}

/// What a child prints, and the warnings that `TILE_LOG=warn` makes it print.
#[track_caller]
fn output_and_warnings(child: Child) -> (String, Vec<String>) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{errors}");
    let warnings = errors.lines().filter(|line| line.starts_with("tile-runtime "));
    (out, warnings.map(str::to_owned).collect())
}

/// Runs in a process of its own, so that what it finds stays there.
fn alone(test: &str, body: impl FnOnce()) {
    if role().is_some() {
        body();
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    output(in_role(test, "alone", cache.path()).spawn().unwrap());
}

#[test]
fn tensors_are_written_once_however_much_is_measured() {
    alone("tensors_are_written_once_however_much_is_measured", || {
        let device = Device::cpu();
        let values: Vec<i32> = (0..5000).collect();
        let mut x = device.tensor([5000], &values).unwrap();
        let now = Options::new().tune(Tune::Now(SOON));
        double::with(now.clone()).launch(&mut x).unwrap();
        let doubled: Vec<i32> = values.iter().map(|value| 2 * value).collect();
        assert_eq!(x.to_vec().unwrap(), doubled);
        double::with(now).launch(&mut x).unwrap();
        let again: Vec<i32> = values.iter().map(|value| 4 * value).collect();
        assert_eq!(x.to_vec().unwrap(), again);
    });
}

#[test]
fn a_report_ranks_what_was_measured() {
    alone("a_report_ranks_what_was_measured", || {
        let kernel = transpose::kernel::<f32>();
        for strategy in [Strategy::Halving, Strategy::Random, Strategy::Descent] {
            let tuning = TuneOptions::new(10 * SOON).strategy(strategy).seed(7).enough(2.0);
            let report = kernel.tune(&Device::cpu(), &[100, 70], &tuning).unwrap();
            assert!(report.best().seconds <= report.default_seconds());
            assert!(report.trials.len() > 1, "{report}");
            assert!(report.trials.iter().any(|trial| trial.config == report.default));
            let text = report.to_string();
            assert!(text.contains("transpose<f32> [100, 70] on CPU"), "{text}");
            assert!(text.contains("(default)") && text.contains("TR "), "{text}");
        }
    });
}

#[test]
fn extents_that_depend_on_tile_sizes_keep_to_them() {
    alone("extents_that_depend_on_tile_sizes_keep_to_them", || {
        let device = Device::cpu();
        let x = device.tensor([1000], &[1; 1000]).unwrap();
        let mut sums = device.zeros::<i32, 1>([16]).unwrap();
        let options = Options::new().tile("TN", 64).tune(Tune::Now(SOON));
        tile_sums::with(options).launch(&x, &mut sums).unwrap();
        let mut expected = vec![64; 15];
        expected.push(1000 - 15 * 64);
        assert_eq!(sums.to_vec().unwrap(), expected);
    });
}

#[test]
fn what_depends_on_the_order_is_not_measured() {
    alone("what_depends_on_the_order_is_not_measured", || {
        let device = Device::cpu();
        let x = device.tensor([100], &[1.0f32; 100]).unwrap();
        let mut sum = device.zeros::<f32, 1>([1]).unwrap();
        total::with(Options::new().tune(Tune::Now(SOON))).launch(&x, &mut sum).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [100.0]);
        let refused = total::kernel().tune(&device, &[100], &TuneOptions::new(SOON));
        let text = refused.unwrap_err().to_string();
        assert_eq!(
            text,
            "`total` cannot be tuned: its results depend on the order of its work-items"
        );
        let refused = double::kernel::<f32>().tune(&device, &[0], &TuneOptions::new(SOON));
        assert!(refused.unwrap_err().to_string().contains("its grid has no block"));
    });
}

/// Tunes, and prints how long a second launch of such a shape takes to choose.
fn tune_in_role() {
    let device = Device::cpu();
    let kernel = transpose::kernel::<f32>();
    let report = kernel.tune(&device, &[96, 64], &TuneOptions::new(SOON).enough(2.0)).unwrap();
    println!("measured {}", report.trials.len());
    // A second thing to keep.
    double::kernel::<i32>().tune(&device, &[64], &TuneOptions::new(Duration::ZERO)).unwrap();
    assert!(kernel.tuned(&device, &[96, 64]).unwrap().is_some(), "the process remembers it");
}

fn record_files(cache: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(cache.join("records")).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

#[test]
fn two_processes_at_once() {
    if role().is_some() {
        tune_in_role();
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let both: Vec<Child> = (0..2)
        .map(|_| in_role("two_processes_at_once", "one", cache.path()).spawn().unwrap())
        .collect();
    for child in both {
        assert!(output(child).contains("measured "));
    }
    let files = record_files(cache.path());
    assert_eq!(files.len(), 2, "each kernel has one file");
    for file in files {
        Device::cpu().add_records(&std::fs::read_to_string(file).unwrap()).unwrap();
    }
}

#[test]
fn a_process_that_is_killed_leaves_a_cache_that_works() {
    if let Some(role) = role() {
        if role == "killed" {
            // Over and over, so that it is in the middle of something when it ends.
            loop {
                let kernel = double::kernel::<i32>();
                kernel.tune(&Device::cpu(), &[64], &TuneOptions::new(Duration::ZERO)).unwrap();
                println!("kept");
            }
        }
        tune_in_role();
        return;
    }
    let name = "a_process_that_is_killed_leaves_a_cache_that_works";
    let cache = tempfile::tempdir().unwrap();
    for wait_ms in [0, 3, 7, 11] {
        let mut child = in_role(name, "killed", cache.path()).spawn().unwrap();
        let mut lines =
            std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        assert!(lines.any(|line| line.is_ok_and(|line| line.ends_with("kept"))));
        std::thread::sleep(Duration::from_millis(wait_ms));
        // On Unix that is SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        for file in record_files(cache.path()) {
            Device::cpu().add_records(&std::fs::read_to_string(file).unwrap()).unwrap();
        }
    }
    assert!(output(in_role(name, "after", cache.path()).spawn().unwrap()).contains("measured "));
}

#[test]
fn a_cache_that_cannot_be_used_costs_only_time() {
    if role().is_some() {
        tune_in_role();
        return;
    }
    let name = "a_cache_that_cannot_be_used_costs_only_time";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (cache, expected) in [(file.join("cache"), 1), (std::path::PathBuf::new(), 0)] {
        let (out, warnings) = output_and_warnings(in_role(name, "one", &cache).spawn().unwrap());
        assert!(out.contains("measured "));
        assert_eq!(warnings.len(), expected, "{warnings:?}");
    }
    // One that was used and has become read-only.
    let used = folder.path().join("used");
    output(in_role(name, "one", &used).spawn().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let allow = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&used, permissions).unwrap();
        };
        allow(0o500);
        let (_, warnings) = output_and_warnings(in_role(name, "one", &used).spawn().unwrap());
        // Whoever may write everywhere notices nothing.
        assert!(warnings.len() == 1 || is_root(), "{warnings:?}");
        allow(0o700);
        // No file may grow: as on a disk that is full.
        let mut full = Command::new("sh");
        full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
        let same = in_role(name, "one", &used);
        full.arg(same.get_program()).args(same.get_args());
        full.envs(same.get_envs().filter_map(|(name, value)| Some((name, value?))));
        full.env_remove("TILE_TUNE").stdout(Stdio::piped()).stderr(Stdio::piped());
        let (out, warnings) = output_and_warnings(full.spawn().unwrap());
        assert!(out.contains("measured "));
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains("nothing more is kept in the cache"), "{warning}");
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(folder.path()).unwrap()) == 0
}

#[test]
fn damaged_records_are_told_of_and_measured_anew() {
    let name = "damaged_records_are_told_of_and_measured_anew";
    if let Some(role) = role() {
        if role == "asks" {
            let tuned = transpose::kernel::<f32>().tuned(&Device::cpu(), &[96, 64]).unwrap();
            println!("tuned {}", tuned.is_some());
        } else {
            tune_in_role();
        }
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    output(in_role(name, "tunes", cache.path()).spawn().unwrap());
    let files = record_files(cache.path());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, &text[..text.len() / 2]).unwrap();
    }
    let asks = || output_and_warnings(in_role(name, "asks", cache.path()).spawn().unwrap());
    let (out, warnings) = asks();
    assert!(out.contains("tuned false"), "{out}");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("is not used: this is no tuning record"), "{warning}");
    output(in_role(name, "tunes", cache.path()).spawn().unwrap());
    let (out, warnings) = asks();
    assert!(out.contains("tuned true") && warnings.is_empty(), "{out} {warnings:?}");
}

#[test]
fn a_record_that_is_shipped_is_used_where_it_fits() {
    let name = "a_record_that_is_shipped_is_used_where_it_fits";
    let device = Device::cpu();
    let kernel = transpose::kernel::<f32>();
    match role().as_deref() {
        Some("tunes") => return tune_in_role(),
        Some(record) => {
            assert_eq!(kernel.tuned(&device, &[96, 64]).unwrap(), None);
            device.add_records(&std::fs::read_to_string(record).unwrap()).unwrap();
            let tuned = kernel.tuned(&device, &[96, 64]).unwrap();
            assert!(tuned.is_some());
            assert_eq!(kernel.tuned(&device, &[97, 4096]).unwrap(), None, "another class");
            assert_eq!(transpose::kernel::<f64>().tuned(&device, &[96, 64]).unwrap(), None);
            return;
        }
        None => {}
    }
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    output(in_role(name, "tunes", first.path()).spawn().unwrap());
    let records = record_files(first.path());
    let of_transpose = |path: &&std::path::PathBuf| {
        std::fs::read_to_string(path).unwrap().contains("\"transpose\"")
    };
    let record = records.iter().find(of_transpose).unwrap();
    output(in_role(name, record.to_str().unwrap(), second.path()).spawn().unwrap());
}

/// A record of [`transpose`], made on a CPU device that poses as an H200.
/// `UPDATE_EXPECT=1` makes it anew, where kernels or the lowering are of another version.
const SHIPPED: &str = include_str!("records/transpose.json");

#[test]
fn a_record_within_the_program_is_used() {
    let name = "a_record_within_the_program_is_used";
    let device: Device = "cpu:H200".parse().unwrap();
    let kernel = transpose::kernel::<f32>();
    match role().as_deref() {
        Some("tunes") => {
            let tuning = TuneOptions::new(Duration::ZERO);
            kernel.tune(&device, &[96, 64], &tuning).unwrap();
        }
        Some(_) => {
            device.set_tune(Tune::Cached);
            assert_eq!(kernel.tuned(&device, &[96, 64]).unwrap(), None);
            device.add_records(SHIPPED).unwrap();
            let shipped = kernel.tuned(&device, &[96, 64]).unwrap();
            let shipped = shipped.expect("a record of this version: UPDATE_EXPECT=1 makes it");
            let a = device.tensor([96, 64], &vec![1.0f32; 96 * 64]).unwrap();
            let mut b = device.zeros([64, 96]).unwrap();
            transpose::launch(&a, &mut b).unwrap();
            assert_eq!(b.to_vec().unwrap(), a.to_vec().unwrap());
            assert_eq!(kernel.tuned(&Device::cpu(), &[96, 64]).unwrap(), None, "another device");
            assert!(SHIPPED.contains(&format!("\"threads\":{},", shipped.threads)), "{shipped:?}");
        }
        None if std::env::var_os("UPDATE_EXPECT").is_some() => {
            let cache = tempfile::tempdir().unwrap();
            output(in_role(name, "tunes", cache.path()).spawn().unwrap());
            let [record] = &record_files(cache.path())[..] else { panic!("one record") };
            let home = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/transpose.json");
            std::fs::copy(record, home).unwrap();
        }
        None => {
            let cache = tempfile::tempdir().unwrap();
            output(in_role(name, "asks", cache.path()).spawn().unwrap());
        }
    }
}

#[test]
fn sums_in_another_order_are_searched_for_where_they_are_allowed() {
    alone("sums_in_another_order_are_searched_for_where_they_are_allowed", || {
        let device = Device::cpu();
        let values = |n: usize| -> Vec<f32> { (0..n).map(|i| (i % 13) as f32 - 6.0).collect() };
        let (x, y) =
            (device.tensor([40, 64], &values(2560)), device.tensor([64, 24], &values(1536)));
        let (x, y) = (x.unwrap(), y.unwrap());
        let launch = |options: Options| {
            let mut z = device.zeros::<f32, 2>([40, 24]).unwrap();
            product::with(options).launch(&x, &y, &mut z).unwrap();
            z.to_vec().unwrap()
        };
        let exact = launch(Options::new().tune(Tune::Off));
        let allowed = Options::new().numerics(Numerics::Reassociated);
        let found = launch(allowed.tune(Tune::Now(10 * SOON)));
        // Sums of small integers are the same in any order.
        assert_eq!(found, exact);
        let tuning = TuneOptions::new(10 * SOON).numerics(Numerics::Reassociated).enough(2.0);
        let report = product::kernel::<f32>().tune(&device, &[40, 64, 24], &tuning).unwrap();
        let numerics = |trial: &tile_runtime::Trial| trial.config.numerics;
        assert!(report.trials.iter().any(|trial| numerics(trial) == Numerics::Reassociated));
        assert_eq!(
            report.pruned.iter().filter(|p| p.reason.class() == "a wrong result").count(),
            0
        );
        // It is not for launches that do not allow it.
        let exact_only = product::kernel::<f32>().tuned(&device, &[40, 64, 24]).unwrap();
        assert!(exact_only.is_none_or(|config| config.numerics == Numerics::Exact));
    });
}

#[test]
fn a_tuned_launch_is_remembered_by_the_next_process() {
    let name = "a_tuned_launch_is_remembered_by_the_next_process";
    if let Some(role) = role() {
        let device = Device::cpu();
        let a = device.tensor([96, 64], &vec![1.0f32; 96 * 64]).unwrap();
        let mut b = device.zeros([64, 96]).unwrap();
        let options = Options::new().tune(Tune::Now(SOON));
        transpose::with(options).launch(&a, &mut b).unwrap();
        println!("{role} launched");
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|role| {
        let child = in_role(name, role, cache.path()).spawn().unwrap();
        assert!(output(child).contains("launched"), "{role}");
        let [file] = &record_files(cache.path())[..] else { panic!("one kernel has one file") };
        std::fs::read_to_string(file).unwrap()
    });
    assert_eq!(first, second, "the second measured nothing");
}
