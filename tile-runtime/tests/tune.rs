//! Tuning on the CPU device, through what users call; and several processes at it.

#![expect(clippy::print_stdout, reason = "a child process tells its parent how it went")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tile_runtime::{Device, Options, Strategy, Tune, TuneOptions, tiled_kernel};

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
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

#[track_caller]
fn output(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{errors}");
    out
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
    let [file] = &record_files(cache.path())[..] else { panic!("one kernel has one file") };
    let text = std::fs::read_to_string(file).unwrap();
    Device::cpu().add_records(&text).unwrap();
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
    for cache in [file.join("cache"), std::path::PathBuf::new()] {
        assert!(output(in_role(name, "one", &cache).spawn().unwrap()).contains("measured "));
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
        output(in_role(name, "one", &used).spawn().unwrap());
        allow(0o700);
    }
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
