//! Searching and compiling in the background, on the CPU device, through what users
//! call. Each test is a process of its own: what one finds, or freezes, is for all.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tile_runtime::inspect::{BackgroundLimits, count_programs, finish_background, set_background};
use tile_runtime::{Device, Numerics, Options, Tune, tiled_kernel};

tiled_kernel! {
    /// `y = alpha · x + y`, in place.
    fn saxpy<T: Number>(alpha: T, x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = alpha * x[i] + y[i];
    }
}

tiled_kernel! {
    fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

/// No time has to pass, and all of it may be taken: the search ends when it has nothing
/// left to try, or its own time is over.
fn eager(device: &Device) {
    set_background(device, BackgroundLimits { share: f64::INFINITY, ..AT_ONCE });
}

/// Searches for whatever is launched, and has no room for it.
const AT_ONCE: BackgroundLimits = BackgroundLimits {
    after: Duration::ZERO,
    share: 0.0,
    budget: Duration::from_millis(300),
    builds: false,
};

fn values(n: usize) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(n as u64);
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn n_records() -> usize {
    let cache = std::env::var("TILE_CACHE_DIR").unwrap();
    let files = std::fs::read_dir(Path::new(&cache).join("records")).into_iter().flatten();
    files
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "json"))
        .count()
}

const ALONE: &str = "TILE_BACKGROUND_TEST";

/// Runs in a process of its own, with a cache of its own.
fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        body();
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .env("TILE_CACHE_DIR", cache.path())
        .env_remove("TILE_TUNE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{errors}");
}

/// Launches of `saxpy` in place, with a search after the first; what is left.
fn launches(device: &Device, options: &Options, n_launches: usize) -> Vec<u32> {
    let x = device.tensor([999], &values(999)).unwrap();
    let mut y = device.tensor([999], &values(999)).unwrap();
    for number in 0..n_launches {
        saxpy::with(options.clone()).launch(0.75, &x, &mut y).unwrap();
        if number % 4 == 3 {
            finish_background(device);
        }
    }
    bits(&y.to_vec().unwrap())
}

#[test]
fn what_is_found_is_used_and_no_bit_differs() {
    alone("what_is_found_is_used_and_no_bit_differs", || {
        let device = Device::cpu();
        eager(&device);
        let expected = launches(&device, &Options::new().tune(Tune::Off), 12);
        assert_eq!(n_records(), 0);
        let found = launches(&device, &Options::new(), 12);
        assert_eq!(found, expected);
        assert_eq!(n_records(), 1, "it was searched for, and remembered");
        let tuned = saxpy::kernel::<f32>().tuned(&device, &[999]).unwrap();
        assert!(tuned.is_some());
        // Now that something is known, nothing is searched for.
        assert_eq!(launches(&device, &Options::new(), 12), expected);
    });
}

#[test]
fn launches_that_may_differ_in_their_bits_are_left_alone() {
    alone("launches_that_may_differ_in_their_bits_are_left_alone", || {
        let device = Device::cpu();
        eager(&device);
        launches(&device, &Options::new().numerics(Numerics::Reassociated), 12);
        assert_eq!(n_records(), 0);
        // Those that may not are searched for.
        launches(&device, &Options::new().numerics(Numerics::Exact), 12);
        assert_eq!(n_records(), 1);
    });
}

#[test]
fn a_search_waits_for_a_second_of_device_time() {
    alone("a_search_waits_for_a_second_of_device_time", || {
        let device = Device::cpu();
        launches(&device, &Options::new(), 12);
        finish_background(&device);
        assert_eq!(n_records(), 0);
    });
}

#[test]
fn what_is_frozen_stays() {
    alone("what_is_frozen_stays", || {
        let device = Device::cpu();
        eager(&device);
        Tune::freeze();
        launches(&device, &Options::new(), 12);
        finish_background(&device);
        assert_eq!(n_records(), 0);
    });
}

#[test]
fn the_last_handle_ends_the_search() {
    alone("the_last_handle_ends_the_search", || {
        // A share of nothing: the search waits for room until it is told to end.
        let device = Device::cpu();
        set_background(&device, AT_ONCE);
        let x = device.tensor([64], &[1.0f32; 64]).unwrap();
        let mut y = device.tensor([64], &[1.0f32; 64]).unwrap();
        for _ in 0..8 {
            saxpy::launch(0.5, &x, &mut y).unwrap();
        }
        drop(device);
        drop(x);
        // The last tensor holds the last handle; this must return.
        drop(y);
        let device = Device::cpu();
        eager(&device);
        launches(&device, &Options::new().tile("TN", 64), 4);
        assert_eq!(n_records(), 1, "and another one begins");
    });
}

#[test]
fn what_others_launch_meanwhile_is_right() {
    alone("what_others_launch_meanwhile_is_right", || {
        let device = Device::cpu();
        eager(&device);
        let (a, b) =
            (device.tensor([33, 47], &values(33 * 47)), device.tensor([47, 29], &values(47 * 29)));
        let (a, b) = (a.unwrap(), b.unwrap());
        let product = |options: Options| {
            let mut c = device.zeros::<f32, 2>([33, 29]).unwrap();
            matmul::with(options).launch(&a, &b, &mut c).unwrap();
            bits(&c.to_vec().unwrap())
        };
        let expected = product(Options::new().tune(Tune::Off));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        assert_eq!(product(Options::new()), expected);
                    }
                });
            }
        });
        finish_background(&device);
        assert_eq!(product(Options::new()), expected);
    });
}

#[test]
fn the_first_launch_runs_a_brief_program_of_the_same_bits() {
    alone("the_first_launch_runs_a_brief_program_of_the_same_bits", || {
        let device = Device::cpu();
        let after = Duration::from_secs(3600);
        set_background(&device, BackgroundLimits { after, builds: true, ..AT_ONCE });
        // Of other tile sizes than it would choose: made for this alone. What is brief is
        // valid for all shapes, and there already where the sizes are.
        let mut sizes_seen = Vec::new();
        for ([m, n, k], tile) in
            [([33, 29, 47], 48), ([128, 64, 96], 24), ([1, 1, 1], 16), ([40, 130, 64], 48)]
        {
            let n_new = usize::from(!sizes_seen.contains(&tile));
            sizes_seen.push(tile);
            let a = device.tensor([m, k], &values(m * k)).unwrap();
            let b = device.tensor([k, n], &values(k * n)).unwrap();
            let product = |options: &Options| {
                let mut c = device.zeros::<f32, 2>([m, n]).unwrap();
                matmul::with(options.clone()).launch(&a, &b, &mut c).unwrap();
                bits(&c.to_vec().unwrap())
            };
            let options = Options::new().tile("TM", tile).tile("TN", 32).tile("TK", 16);
            let expected = product(&options.clone().tune(Tune::Off));
            let options = options.tile("TK", 8);
            let before = count_programs(&device);
            assert_eq!(product(&options), expected);
            assert_eq!(count_programs(&device), (before.0 + n_new, before.1), "a brief one");
            // One more launch of the kind asks for the one that is meant.
            assert_eq!(product(&options), expected);
            finish_background(&device);
            assert_eq!(count_programs(&device), (before.0 + n_new, before.1 + 1), "the other");
            assert_eq!(product(&options), expected);
        }
    });
}
