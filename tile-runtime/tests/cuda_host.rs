//! The host side of the CUDA device, on a driver without a device: memory,
//! streams, several devices, what is said of failures. Each case is a process
//! of its own, since a process has one driver.
#![cfg(all(feature = "cuda", target_os = "linux"))]
#![expect(clippy::print_stdout, reason = "the child process answers on its standard output")]

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use tile_runtime::bench::{self, Launch, Sampling};
use tile_runtime::{Device, Error, Options, Result, Tensor, Tune, TuneOptions, tiled_kernel};

tiled_kernel! {
    /// `c = a + b`.
    pub fn add(a: &Tensor<f32, [N]>, b: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + b[i];
    }
}

tiled_kernel! {
    /// A copy of a table.
    pub fn copied(#[pad = 0] table: &Constant<u16, [5]>, c: &mut Tensor<u16, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = table[i];
    }
}

/// The budget of a search.
const SOON: Duration = Duration::from_millis(1500);

/// Tells a child process which case it is.
const CASE: &str = "TILE_CUDA_HOST_CASE";

/// The fake driver, compiled once, as the library that is looked for first.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| compile("driver.c", "fake_driver", "libcuda.so"))
}

/// Compiles a fake library, and gives the folder that it is in.
fn compile(source: &str, folder: &str, library: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver").join(source);
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
    compile.arg(folder.join(library)).arg(source).arg(format!("-Wl,-soname,{library}"));
    assert!(compile.status().expect("rustc links with `cc` too").success());
    folder
}

/// Runs `case` in a process that has the fake driver, and gives what it says.
fn run(case: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]);
    command.env(CASE, case).env("LD_LIBRARY_PATH", driver());
    // Nothing is kept: neither what was compiled nor what was measured.
    command.env("TILE_CACHE_DIR", "");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let (_, rest) = text.split_once("<<").unwrap_or_else(|| panic!("{text}\n{errors}"));
    rest.rsplit_once(">>").unwrap().0.to_owned()
}

/// Not a test of its own: the body of the child processes. Without a case there
/// is nothing to do.
#[test]
fn child() {
    let Some(case) = std::env::var_os(CASE) else { return };
    let outcome = match case.to_str() {
        Some("devices") => devices(),
        Some("round_trip") => round_trip(),
        Some("threads") => threads(),
        Some("memory") => memory(),
        Some("two_devices") => two_devices(),
        Some("other_stream") => other_stream(),
        Some("fault") => fault(),
        Some("graphs") => graphs(),
        Some("tuned") => tuned(),
        #[cfg(feature = "peers")]
        Some("blas") => blas(),
        Some("constants") => constants(),
        Some("no_such_device") => Device::cuda(2).map(|device| device.to_string()),
        other => panic!("unknown case {other:?}"),
    };
    println!("<<{}>>", outcome.unwrap_or_else(|error| format!("error: {error}")));
}

fn devices() -> Result<String> {
    let best = Device::best()?;
    assert!(best == Device::cuda(0)? && best != Device::cuda(1)?);
    let properties = best.properties();
    assert_eq!((properties.sms, properties.architecture().as_str()), (132, "sm_90"));
    assert_eq!(properties.f32_fma_per_clock_per_sm, 128);
    assert_eq!(properties.memory_bytes_per_s, 2.0 * 3.201e9 * 768.0);
    assert_eq!(properties.shared_bytes_per_block_optin, 232_448);
    Ok(format!("{:?}", Device::all()))
}

fn round_trip() -> Result<String> {
    let device = Device::cuda(0)?;
    let values: Vec<f32> = (0..1000u16).map(f32::from).collect();
    let mut tensor = device.tensor([10, 100], &values)?;
    assert_eq!(tensor.to_vec()?, values);
    let doubled: Vec<f32> = values.iter().map(|value| value * 2.0).collect();
    tensor.copy_from(&doubled)?;
    assert_eq!(tensor.to_vec()?, doubled);
    let zeros: Tensor<i64, 3> = device.zeros([2, 3, 4])?;
    assert_eq!(zeros.to_vec()?, [0; 24]);
    let mut empty = device.zeros::<f64, 2>([0, 7])?;
    empty.copy_from(&[])?;
    assert!(empty.to_vec()?.is_empty());
    let flags = device.tensor([3], &[true, false, true])?;
    assert_eq!(flags.to_vec()?, [true, false, true]);
    let stream = device.new_stream()?;
    stream.synchronize()?;
    device.synchronize()?;
    Ok(format!("{tensor:?}"))
}

/// Tensors go to other threads, are used and dropped there: the driver's
/// context must be made current on each.
fn threads() -> Result<String> {
    let devices = [Device::cuda(0)?, Device::cuda(1)?];
    let tensors: Vec<Tensor<u32, 1>> =
        devices.iter().map(|device| device.tensor([4], &[1, 2, 3, 4])).collect::<Result<_>>()?;
    let sums = std::thread::scope(|scope| {
        let spawn = |tensor: Tensor<u32, 1>| {
            scope.spawn(move || tensor.to_vec().map(|values| values.iter().sum::<u32>()))
        };
        let threads: Vec<_> = tensors.into_iter().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<Vec<u32>>>()
    })?;
    let dropped_here = devices[1].tensor([1], &[5u32])?;
    let unused = devices[0].zeros::<u8, 1>([1 << 20])?;
    std::thread::spawn(move || drop(unused)).join().unwrap();
    drop(dropped_here);
    Ok(format!("{sums:?}"))
}

fn memory() -> Result<String> {
    let device = Device::cuda(0)?;
    let half = device.zeros::<u8, 1>([1 << 19])?;
    let too_much = device.zeros::<f32, 2>([1024, 256]).unwrap_err();
    drop(half);
    // What was dropped is there again.
    device.zeros::<f32, 2>([1024, 256])?;
    Ok(too_much.to_string())
}

fn two_devices() -> Result<String> {
    let devices = [Device::cuda(0)?, Device::cuda(1)?, Device::cpu()];
    let [a, b, mut c] = devices.map(|device| device.zeros::<f32, 1>([8]).unwrap());
    let first = add::launch(&a, &b, &mut c).unwrap_err().to_string();
    let second = add::launch(&a, &a, &mut c).unwrap_err().to_string();
    Ok(format!("{first}\n{second}"))
}

fn other_stream() -> Result<String> {
    let device = Device::cuda(0)?;
    let a = device.zeros::<f32, 1>([8])?;
    let mut c = device.zeros::<f32, 1>([8])?;
    let options = Options::new().stream(&Device::cuda(1)?.new_stream()?);
    add::with(options).launch(&a, &a, &mut c).map(|()| String::new())
}

/// A kernel that fails is told of at the next wait, and at all later ones.
fn fault() -> Result<String> {
    let device = Device::cuda(0)?;
    let a = device.zeros::<f32, 1>([8])?;
    let mut c = device.zeros::<f32, 1>([8])?;
    add::with(Options::new().tile("TN", 64)).launch(&a, &a, &mut c)?;
    let first = c.to_vec().unwrap_err();
    assert!(matches!(first, Error::Fault(_)), "{first:?}");
    let second = device.synchronize().unwrap_err();
    assert!(matches!(second, Error::Fault(_)), "{second:?}");
    // Other devices go on.
    add::launch(&on_cpu()?, &on_cpu()?, &mut on_cpu()?)?;
    Ok(format!("{first}\n{second}"))
}

/// Launches on a stream of their own, from tensors that the device's stream has
/// filled: capturing them neither waits nor allocates.
fn graphs() -> Result<String> {
    let device = Device::cuda(0)?;
    let [a, b] = [device.tensor([8], &[1.5f32; 8])?, device.zeros([8])?];
    let [c, d] = [device.zeros([8])?, device.zeros([8])?].map(RefCell::new);
    let stream = device.new_stream()?;
    let mut launches: Vec<Box<Launch<'_>>> = vec![
        Box::new(|s| add::with(Options::new().stream(s)).launch(&a, &b, &mut c.borrow_mut())),
        Box::new(|s| bench::copy(s, &a, &mut d.borrow_mut())),
        // A pair takes twice as long.
        Box::new(|s| {
            add::with(Options::new().stream(s)).launch(&a, &b, &mut c.borrow_mut())?;
            bench::copy(s, &a, &mut d.borrow_mut())
        }),
    ];
    for launch in &mut launches {
        launch(&stream)?;
    }
    let sampling =
        Sampling { rounds: 3, round_ms: 7.0, least_launches: 20, graph_below_ms: f64::INFINITY };
    let timings = bench::time_interleaved(&stream, sampling, &mut launches);
    let timings = timings.into_iter().collect::<Result<Vec<_>>>()?;
    assert!(timings.iter().all(|timing| (timing.launches, timing.rounds) == (7, 3)));
    drop(launches);
    assert_eq!(d.into_inner().to_vec()?, [1.5; 8]);
    let times = timings.iter().map(|timing| format!("{:?} {} ms", timing.method, timing.median_ms));
    Ok(times.collect::<Vec<_>>().join(", "))
}

/// A search on a device whose launches take a millisecond and do nothing: it measures
/// on arrays of its own, and nothing of a capture waits or allocates.
fn tuned() -> Result<String> {
    let device = Device::cuda(0)?;
    let a = device.tensor([1000], &[1.5f32; 1000])?;
    let mut c = device.tensor([1000], &[2.5f32; 1000])?;
    let now = Options::new().tune(Tune::Now(SOON));
    add::with(now).launch(&a, &a, &mut c)?;
    assert_eq!(c.to_vec()?, [2.5; 1000]);
    let tuning = TuneOptions::new(SOON).enough(2.0);
    let report = add::kernel().tune(&device, &[1000], &tuning)?;
    assert!(report.trials.len() > 1, "{report}");
    assert!(report.trials.iter().all(|trial| (trial.seconds - 1e-3).abs() < 1e-9), "{report}");
    assert!(report.trials.iter().any(|trial| trial.rounds > 1 && trial.registers > 0), "{report}");
    Ok(report.device)
}

/// Products by a cuBLAS that multiplies as the real one's documentation says.
#[cfg(feature = "peers")]
fn blas() -> Result<String> {
    let device = Device::cuda(0)?;
    let stream = device.new_stream()?;
    let folder = std::env::var_os("FAKE_BLAS").map(PathBuf::from);
    let blas = bench::Blas::load(&stream, folder.as_deref())?;
    let a: Vec<f32> = (0..12u8).map(f32::from).collect();
    let b: Vec<f32> = (0..20u8).map(|value| f32::from(value % 7) - 3.0).collect();
    let product = |a: &[f32], b: &[f32], [m, n, k]: [usize; 3]| -> Vec<f32> {
        let at = |at: usize| (0..k).map(|k_| a[at / n * k + k_] * b[k_ * n + at % n]).sum();
        (0..m * n).map(at).collect()
    };
    let (one, other) = (device.tensor([3, 4], &a)?, device.tensor([4, 5], &b)?);
    let mut c = device.zeros([3, 5])?;
    blas.matmul(&one, &other, &mut c)?;
    assert_eq!(c.to_vec()?, product(&a, &b, [3, 5, 4]));
    let (one, other) = (one.into_shape([2, 3, 2])?, other.into_shape([2, 2, 5])?);
    let mut c = device.zeros([2, 3, 5])?;
    blas.batched_matmul(&one, &other, &mut c)?;
    let halves = [0, 1].map(|at| product(&a[6 * at..][..6], &b[10 * at..][..10], [3, 5, 2]));
    assert_eq!(c.to_vec()?, halves.concat());
    blas.batched_matmul(&other, &one, &mut c).unwrap_err();
    Ok(blas.version())
}

/// Launches on two streams, each with the one or the other constant in turn.
fn constants() -> Result<String> {
    let device = Device::cuda(0)?;
    let tables = [device.constant([5], &[1u16, 2, 3, 4, 5])?, device.constant([5], &[9u16; 5])?];
    let streams = [device.stream(), device.new_stream()?];
    let mut found = Vec::new();
    for (table, stream) in tables.iter().cycle().zip(streams.iter().cycle()).take(4) {
        let mut c = device.zeros([6])?;
        copied::with(Options::new().stream(stream)).launch(table, &mut c)?;
        found.push(c);
    }
    drop(tables);
    let found: Result<Vec<_>> = found.iter().map(Tensor::to_vec).collect();
    Ok(format!("{:?}", found?))
}

fn on_cpu() -> Result<Tensor<f32, 1>> {
    Device::cpu().zeros([8])
}

#[test]
fn faults_name_the_kernel() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        println!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
        return;
    }
    let text = "Fake GPU 0 (cuda:0) failed: an illegal memory access was encountered \
        (CUDA_ERROR_ILLEGAL_ADDRESS)\n\
        while it ran `add` with TN = 64 on 64 threads per block";
    assert_eq!(run("fault", &[("FAKE_FAULT", "700")]), format!("{text}\n{text}"));
}

#[test]
fn launches_are_captured_as_graphs() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        println!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
        return;
    }
    let all = |method: &str| format!("{method} 1 ms, {method} 1 ms, {method} 2 ms");
    assert_eq!(run("graphs", &[("FAKE_GRAPHS", "1")]), all("Graph"));
    assert_eq!(run("graphs", &[]), all("BackToBack"));
}

#[test]
fn a_search_measures_beside_the_tensors() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        println!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
        return;
    }
    for graphs in ["0", "1"] {
        assert_eq!(run("tuned", &[("FAKE_GRAPHS", graphs)]), "Fake GPU 0 (cuda:0)");
    }
}

#[cfg(feature = "peers")]
#[test]
fn products_by_cublas() {
    let folder = compile("cublas.c", "fake_cublas", "libcublas.so");
    let folder = folder.to_str().unwrap();
    assert_eq!(run("blas", &[("FAKE_BLAS", folder)]), "13.0.2");
    let missing = "error: Fake GPU 0 (cuda:0): cannot load cuBLAS: libcublas.so.13 or .12 and \
        its libcublasLt are not found";
    assert_eq!(
        run("blas", &[("FAKE_BLAS", "/nowhere")]),
        format!("{missing} in /nowhere"),
        "where the system has none"
    );
    assert_eq!(run("blas", &[]), format!("{missing} by the system's loader"));
}

#[test]
fn each_launch_carries_its_own_constants() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        println!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
        return;
    }
    assert_eq!(
        run("constants", &[("FAKE_ECHO", "10")]),
        "[[1, 2, 3, 4, 5, 0], [9, 9, 9, 9, 9, 0], [1, 2, 3, 4, 5, 0], [9, 9, 9, 9, 9, 0]]"
    );
}

#[test]
fn tensors_of_two_devices_are_named() {
    assert_eq!(
        run("two_devices", &[("FAKE_DEVICES", "2")]),
        "a is on Fake GPU 0 (cuda:0), b is on Fake GPU 1 (cuda:1): \
         the tensors of one launch are on one device\n\
         help: make b with `tensor` or `zeros` of the device of a\n\
         a is on Fake GPU 0 (cuda:0), c is on CPU: the tensors of one launch are on one device\n\
         help: make c with `tensor` or `zeros` of the device of a"
    );
}

#[test]
fn streams_of_another_device_are_named() {
    assert_eq!(
        run("other_stream", &[("FAKE_DEVICES", "2")]),
        "error: the stream is of Fake GPU 1 (cuda:1), a is on Fake GPU 0 (cuda:0)\n\
         help: make the stream with `new_stream` of the tensors' device"
    );
}

#[test]
fn devices_are_listed_before_the_cpu() {
    let all = run("devices", &[("FAKE_DEVICES", "2")]);
    assert_eq!(
        all,
        "[Device(\"Fake GPU 0 (cuda:0)\"), Device(\"Fake GPU 1 (cuda:1)\"), Device(\"CPU\")]"
    );
}

#[test]
fn what_goes_in_comes_out() {
    assert_eq!(run("round_trip", &[]), "Tensor<f32, 2> [10, 100] on Fake GPU 0 (cuda:0)");
}

#[test]
fn tensors_go_between_threads() {
    assert_eq!(run("threads", &[("FAKE_DEVICES", "2")]), "[10, 10]");
}

#[test]
fn memory_that_is_not_there() {
    assert_eq!(
        run("memory", &[("FAKE_MEMORY", "1048576")]),
        "Fake GPU 0 (cuda:0) has no memory for 1048576 bytes; 524288 bytes are free"
    );
}

#[test]
fn numbers_beyond_the_devices() {
    let text = "error: there is no CUDA device 2: there are 2, from 0 to 1";
    assert_eq!(run("no_such_device", &[("FAKE_DEVICES", "2")]), text);
}
