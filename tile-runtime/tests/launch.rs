//! What a launch says of arguments and options that do not fit, and launches
//! that have nothing to run.

use std::time::Duration;

use tile_runtime::ir::config::{AxisItems, TilePadding};

use tile_runtime::{
    ArgumentError, Config, ConfigError, Device, Error, Numerics, Options, Result, Tensor,
    TuneOptions, tiled_kernel,
};

tiled_kernel! {
    /// `c = a · b`.
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM in pow2(8..=64), TN in pow2(8..=64), TK in [8, 16, 32], TM % TK == 0),
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

tiled_kernel! {
    /// `y = alpha · x + y`.
    pub fn saxpy(alpha: f32, x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = alpha * x[i] + y[i];
    }
}

tiled_kernel! {
    /// Puts numbers so far apart.
    pub fn spread(y: &mut Tensor<i32, [N]>, first: i32, stride: i32)
    where grid: (g in tiles(N, 64)), block: (t in 64),
    {
        let i = (g * 64 + t) as i32;
        if first >= 0 && stride > 0 {
            let at = first + i * stride;
            y[at] = i;
        }
    }
}

tiled_kernel! {
    /// Joins each `x` with one of 64 weights and one element to the right.
    pub fn blend(x: &Tensor<f32, [N + 1]>, #[pad = 0] w: &Tensor<f32, [64]>, y: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = x[i] * w[i % 64] + x[i + 1];
    }
}

tiled_kernel! {
    /// Marks what lies from `bottom` on, by work-items that begin at a whole warp.
    pub fn marked(y: &mut Tensor<i32, [N]>, bottom: i32, top: i32)
    where grid: (b in 1), block: (t in 64),
    {
        let mut i = (bottom & -32) + t as i32;
        if i < bottom {
            i += 64;
        }
        while i < top {
            y[i] = 1;
            i += 64;
        }
    }
}

tiled_kernel! {
    /// Marks the part of each work-item, of parts that are rounded up.
    pub fn parted(y: &mut Tensor<i32, [N]>, #[pad = 0] g: &Tensor<i32, [G]>, n: u32)
    where grid: (b in G), block: (t in 4),
    {
        let id = (b * 4 + t) as u32;
        let part = (n + (G * 4) as u32 - 1) / (G * 4) as u32;
        let first = min(id * part, n);
        for i in first..min((id + 1) * part, n) {
            y[i] = id as i32;
        }
    }
}

tiled_kernel! {
    /// Joins two tables of any length.
    pub fn joined(
        #[pad = 0] first: &Constant<f64, [N]>,
        #[pad = 0] second: &Constant<f32, [M]>,
        y: &mut Tensor<f64, [L]>,
    )
    where tile: (TN), grid: (bx in tiles(L, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = first[i] + second[i] as f64;
    }
}

tiled_kernel! {
    /// `b = aᵀ`, by tiles without their last row.
    pub fn turned(a: &Tensor<f32, [R, C]>, b: &mut Tensor<f32, [C, R]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR - 1), bx in tiles(C, TC)),
    {
        shared s: [f32; TR - 1, TC];
        load s[i, j] = a[by * (TR - 1) + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR - 1) {
            b[bx * TC + j, by * (TR - 1) + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    /// Sixteen by way of a cube.
    pub fn cube(b: &mut Tensor<f32, [N]>)
    where tile: (T), grid: (bx in tiles(N, T)),
    {
        shared s: [f32; T, T, T];
        load s[i, j, k] = 16;
        barrier;
        each (i) in (T) {
            b[bx * T + i] = s[i, 0, T - 1];
        }
    }
}

fn zeros<const R: usize>(shape: [usize; R]) -> Tensor<f32, R> {
    Device::cpu().zeros(shape).unwrap()
}

fn launch_matmul(shapes: [[usize; 2]; 3], options: Options) -> Result<()> {
    let [a, b, c] = shapes;
    matmul::with(options).launch(&zeros(a), &zeros(b), &mut zeros(c))
}

/// What a launch of square matrices says of its options.
fn refusal(options: Options) -> Error {
    launch_matmul([[32, 32]; 3], options).unwrap_err()
}

tiled_kernel! {
    /// Puts numbers as far along as a number with a point says.
    pub fn shifted(y: &mut Tensor<i32, [N]>, by: f64)
    where grid: (g in tiles(N, 64)), block: (t in 64),
    {
        let i = (g * 64 + t) as i32;
        let at = i + by as i32;
        y[at] = i;
    }
}

#[test]
fn shared_dimensions() {
    let error = launch_matmul([[3, 4], [5, 6], [3, 6]], Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "a is [3, 4], b is [5, 6]: K is 4 in a and 5 in b");
    let Error::Argument(cause) = error else { panic!("{error}") };
    assert!(matches!(*cause, ArgumentError::SharedDimension { first_extent: 4, .. }));
    let error = launch_matmul([[3, 4], [4, 6], [6, 3]], Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "a is [3, 4], c is [6, 3]: M is 3 in a and 6 in c");
    let error = saxpy::launch(2.0, &zeros([5]), &mut zeros([6])).unwrap_err();
    assert_eq!(error.to_string(), "x is [5], y is [6]: N is 5 in x and 6 in y");
}

#[test]
fn extents_that_are_numbers_or_sums() {
    let error = blend::launch(&zeros([9]), &zeros([63]), &mut zeros([8])).unwrap_err();
    assert_eq!(error.to_string(), "w is [63]: axis 0 is 63, `blend` declares 64");
    let error = blend::launch(&zeros([8]), &zeros([64]), &mut zeros([8])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x is [8]: axis 0 is 8, `blend` declares `N + 1`, which is 9 for N = 8"
    );
}

#[test]
fn nothing_to_run() {
    for shapes in [[[0, 4], [4, 6], [0, 6]], [[3, 4], [4, 0], [3, 0]], [[0, 0], [0, 0], [0, 0]]] {
        launch_matmul(shapes, Options::new()).unwrap();
    }
    saxpy::launch(1.0, &zeros([0]), &mut zeros([0])).unwrap();
    // What does not fit is told of empty tensors too.
    let error = launch_matmul([[0, 4], [5, 0], [0, 0]], Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "a is [0, 4], b is [5, 0]: K is 4 in a and 5 in b");
}

#[test]
fn tile_sizes_by_name() {
    let error = refusal(Options::new().tile("BM", 32));
    assert_eq!(
        error.to_string(),
        "kernel `matmul` has no tile parameter `BM`; it has `TM`, `TN`, `TK`"
    );
    let Error::Config(cause) = error else { panic!("{error}") };
    assert!(matches!(*cause, ConfigError::UnknownTile { .. }));
    assert_eq!(
        refusal(Options::new().tile("TM", 33)).to_string(),
        "kernel `matmul`: `TM = 33` is not admissible; `TM` is one of pow2(8..=64)"
    );
    assert_eq!(
        refusal(Options::new().tile("TK", 24)).to_string(),
        "kernel `matmul`: `TK = 24` is not admissible; `TK` is one of [8, 16, 32]"
    );
    assert_eq!(
        refusal(Options::new().tile("TM", 8).tile("TK", 16)).to_string(),
        "kernel `matmul`: the tile sizes do not fulfil `TM % TK == 0`"
    );
}

#[test]
fn configurations() {
    let kernel = matmul::kernel::<f32>();
    assert_eq!((kernel.name(), kernel.dims()), ("matmul", vec!["M", "K", "N"]));
    assert_eq!(kernel.tiles(), ["TM", "TN", "TK"]);
    assert_eq!(format!("{kernel:?}"), "Kernel matmul<f32>");
    let device = Device::cpu();
    let good = kernel.config_for(device.properties(), &[32, 32, 32]).unwrap();
    let foreign = Config { tiles: vec![8, 8], ..good.clone() };
    assert_eq!(
        refusal(Options::new().config(foreign)).to_string(),
        "the configuration given is not one of `matmul`: it has 2 tile sizes, the kernel has \
         3\nhelp: take one from `matmul::kernel` and change that"
    );
    let inadmissible = Config { tiles: vec![8, 8, 32], ..good.clone() };
    assert_eq!(
        refusal(Options::new().config(inadmissible)).to_string(),
        "kernel `matmul`: the tile sizes do not fulfil `TM % TK == 0`"
    );
    let configured = good.tiles[0];
    let other = if configured == 8 { 16 } else { 8 };
    assert_eq!(
        refusal(Options::new().config(good).tile("TM", other)).to_string(),
        format!(
            "the options of `matmul` give TM = {other}, their configuration has TM = {configured}\n\
             help: give one of the two"
        )
    );
    assert_eq!(
        kernel.config_for(device.properties(), &[32, 32]).unwrap_err().to_string(),
        "`matmul` has 3 dimensions (M, K, N), 2 values are given"
    );
}

#[test]
fn configurations_that_are_none() {
    let good =
        matmul::kernel::<f32>().config_for(Device::cpu().properties(), &[32, 32, 32]).unwrap();
    let axis = |change: fn(&mut AxisItems)| {
        let mut block = vec![AxisItems::strided(8), AxisItems::strided(8)];
        change(&mut block[1]);
        Config { threads: 128, block, ..good.clone() }
    };
    let cases = [
        (
            Config { threads: 0, ..good.clone() },
            "`threads` of the configuration is 0; it must be 1 to 1024",
        ),
        (
            axis(|x| x.threads = 0),
            "`threads` of an axis of the configuration is 0; it must be 1 to 128",
        ),
        (
            axis(|x| x.lanes = 3),
            "`lanes` of an axis of the configuration is 3; it must be a divisor of 8",
        ),
        (axis(|x| x.run = 0), "`run` of an axis of the configuration is 0; it must be 1 to 1024"),
        (
            axis(|x| x.threads = 64),
            "threads of all axes and slices of the configuration is 512; it must be at most `threads`, 128",
        ),
        (
            Config { padding: TilePadding::Elems(u32::MAX), ..good.clone() },
            "`padding` of the configuration is 4294967295; it must be 0 to 1024",
        ),
        (
            Config { copy_bytes: 3, ..good.clone() },
            "`copy_bytes` of the configuration is 3; it must be 1, 2, 4, 8 or 16",
        ),
        (
            Config { raster_rows: 0, ..good.clone() },
            "`raster_rows` of the configuration is 0; it must be 1 to 4294967295",
        ),
    ];
    for (config, text) in cases {
        let error = refusal(Options::new().config(config));
        assert_eq!(error.to_string(), format!("kernel `matmul`: {text}"));
        assert!(matches!(error, Error::Config(_)), "{error:?}");
    }
}

#[test]
fn configurations_that_the_device_cannot_run() {
    let device = Device::cpu();
    let name = &device.properties().name;
    let most = device.properties().shared_bytes_per_block_optin;
    let launch = |options: Options| {
        turned::with(options).launch(&zeros([9, 9]), &mut zeros([9, 9])).unwrap_err()
    };
    let error = launch(Options::new().tile("TR", 4096).tile("TC", 64));
    assert_eq!(
        error.to_string(),
        format!(
            "kernel `turned`: with TR = 4096, TC = 64 no tile sizes fit `{name}`, which has {most} \
             bytes of shared memory and 1024 threads per block; the smallest tiles take 1048320 bytes"
        )
    );
    let good = turned::kernel().config_for(device.properties(), &[9, 9]).unwrap();
    let large = Config { tiles: vec![4096, 64], ..good.clone() };
    let error = launch(Options::new().config(large));
    assert_eq!(
        error.to_string(),
        format!(
            "kernel `turned`: with TR = 4096, TC = 64, a block needs 1048320 bytes of shared memory; \
             `{name}` has {most}\nhelp: smaller tile sizes, or fewer stages"
        )
    );
    let Error::Config(cause) = error else { panic!("{error}") };
    assert!(matches!(*cause, ConfigError::SharedMemory { needed_bytes: 1_048_320, .. }));
    // The largest sizes.
    let error = launch(Options::new().config(Config { tiles: vec![4096, 4096], ..good.clone() }));
    assert!(error.to_string().contains("a block needs 67092480 bytes"), "{error}");
    let error = cube::with(Options::new().tile("T", 4096)).launch(&mut zeros([9])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `cube`: with T = 4096, the extent `T` of `s` is 4096, which makes it too large"
    );
    let crowded = Config { threads: 2048, ..good.clone() };
    assert_eq!(
        launch(Options::new().config(crowded)).to_string(),
        format!(
            "kernel `turned`: 2048 threads per block; `{name}` runs 1024\n\
             help: fewer `threads`, or fewer threads along the axes of `block`"
        )
    );
    assert_eq!(
        launch(Options::new().config(Config { stages: 0, ..good })).to_string(),
        "kernel `turned`: `stages` of the configuration is 0; it must be 1 to 16"
    );
    let error = launch(Options::new().tile("TR", 1).tile("TC", 64));
    assert_eq!(
        error.to_string(),
        "kernel `turned`: with TR = 1, TC = 64, the extent `TR - 1` of `s` is 0"
    );
}

#[test]
fn options_are_kept_apart() {
    let options = Options::new().tile("TM", 8).tile("TM", 16).numerics(Numerics::Exact);
    let text = format!("{options:?}");
    assert!(text.contains("[(\"TM\", 16)]"), "{text}");
}

#[test]
fn constants_beyond_constant_memory() {
    let device = Device::cpu();
    let first = device.constant([6000], &[0.5f64; 6000]).unwrap();
    let second = device.constant([4384], &[0.25f32; 4384]).unwrap();
    let mut y = device.zeros([6001]).unwrap();
    // 48,000 and 17,536 bytes: all there is.
    joined::launch(&first, &second, &mut y).unwrap();
    let y_found = y.to_vec().unwrap();
    assert_eq!([0, 4383, 4384, 5999, 6000].map(|i| y_found[i]), [0.75, 0.75, 0.5, 0.5, 0.0]);
    let second = device.constant([4385], &[0.25f32; 4385]).unwrap();
    assert_eq!(
        joined::launch(&first, &second, &mut y).unwrap_err().to_string(),
        "the constants of `joined` take 65540 bytes (first: 48000, second: 17540), constant memory \
         holds 65536\nhelp: declare the largest, first, as a `&Tensor<..>`"
    );
}

tiled_kernel! {
    /// Sums and differences of the two halves of each row.
    pub fn halves(x: &mut Tensor<i32, [B, 2 * HALF]>)
    where tile: (HALF in pow2(1..=64)), grid: (b in B), block: (t in HALF),
    {
        let low = x[b, t];
        let high = x[b, t + HALF];
        x[b, t] = low + high;
        x[b, t + HALF] = low - high;
    }
}

#[test]
fn a_tile_size_that_an_extent_says() {
    let device = Device::cpu();
    for half in [1, 4, 64] {
        let values: Vec<i32> = (0..6 * half as i32).collect();
        let mut x = device.tensor([3, 2 * half], &values).unwrap();
        halves::launch(&mut x).unwrap();
        let expected = values.chunks(2 * half).flat_map(|row| {
            let (low, high) = row.split_at(half);
            let sums = low.iter().zip(high).map(|(low, high)| low + high);
            let differences = low.iter().zip(high).map(|(low, high)| low - high);
            sums.chain(differences).collect::<Vec<_>>()
        });
        assert_eq!(x.to_vec().unwrap(), expected.collect::<Vec<_>>());
    }
    let mut odd = device.zeros([3, 7]).unwrap();
    let error = halves::launch(&mut odd).unwrap_err().to_string();
    assert!(error.contains("axis 1 is 7, `halves` declares `2 * HALF`"), "{error}");
    let mut other = device.zeros([3, 6]).unwrap();
    let error = halves::launch(&mut other).unwrap_err().to_string();
    assert!(error.contains("`HALF = 3` is not admissible"), "{error}");
}

#[test]
fn dimensions_that_no_memory_holds() {
    let (device, kernel) = (Device::cpu(), saxpy::kernel());
    let tuning = TuneOptions::new(Duration::from_millis(50));
    for n in [usize::MAX, usize::MAX / 4, 1 << 61] {
        let expected = format!("x of `saxpy` would be [{n}], which takes more than 2^63 bytes");
        let explained = kernel.explain(device.properties(), &[n]).unwrap_err();
        assert_eq!(explained.to_string(), expected);
        let tuned = kernel.tune(&device, &[n], &tuning).unwrap_err();
        assert_eq!(tuned.to_string(), expected);
        let chosen = kernel.config_for(device.properties(), &[n]).unwrap_err();
        assert_eq!(chosen.to_string(), expected);
    }
    // Addressable, and beyond what there is.
    kernel.explain(device.properties(), &[1 << 60]).unwrap();
    let error = kernel.tune(&device, &[1 << 60], &tuning).unwrap_err();
    assert_eq!(error.to_string(), format!("the host has no memory for {} bytes", 1_u64 << 62));
}

tiled_kernel! {
    /// Through a tile of 80 KiB.
    fn through_much(x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
    where tile: (TN = 20480), grid: (bx in tiles(N, TN)),
    {
        shared s: [f32; TN];
        load s[i] = x[bx * TN + i];
        barrier;
        each i in TN {
            y[bx * TN + i] = s[i];
        }
    }
}

/// An SM of a T4 has 64 KiB of shared memory, one of an H100 227.
#[test]
fn the_cpu_has_the_limits_of_the_device_that_it_poses_as() {
    for (name, fits) in [("cpu:T4", false), ("cpu:H100", true)] {
        let device: Device = name.parse().unwrap();
        let x = device.tensor([30_000], &[1.0f32; 30_000]).unwrap();
        let mut y = device.zeros([30_000]).unwrap();
        let launched = through_much::launch(&x, &mut y);
        match fits {
            true => assert_eq!(y.to_vec().unwrap(), [1.0; 30_000]),
            false => assert!(launched.unwrap_err().to_string().contains("Tesla T4")),
        }
    }
}

#[test]
fn numbers_with_a_point_that_would_wrap() -> Result<()> {
    let device = Device::cpu();
    let mut y = device.zeros::<i32, 1>([128])?;
    for _ in 0..2 {
        // Saturated, 3e9 is 2^31 - 1; what is no number is 0.
        for by in [3e9, f64::INFINITY, 2_147_483_600.0] {
            let error = shifted::launch(&mut y, by).unwrap_err();
            let Error::Argument(argument) = &error else { panic!("{error}") };
            assert!(matches!(**argument, ArgumentError::NumberWraps { .. }), "{error}");
        }
        for by in [f64::NAN, 1.9, -1.9, -3e9, f64::NEG_INFINITY] {
            shifted::launch(&mut y, by)?;
        }
    }
    let moved = |by: f64| -> Result<Vec<i32>> {
        let mut y = device.tensor([128], &[-1; 128])?;
        shifted::launch(&mut y, by)?;
        y.to_vec()
    };
    assert_eq!(moved(1.9)?[..3], [-1, 0, 1]);
    assert_eq!(moved(-1.9)?[..2], [1, 2]);
    assert_eq!(moved(f64::NAN)?[..2], [0, 1]);
    Ok(())
}

#[test]
fn what_is_rounded_does_not_wrap() -> Result<()> {
    let device = Device::cpu();
    let mut y = device.zeros::<i32, 1>([64])?;
    let wraps = |launched: Result<()>| {
        let Err(Error::Argument(argument)) = launched else { return false };
        matches!(*argument, ArgumentError::NumberWraps { .. })
    };
    for _ in 0..2 {
        // Rounded down that is 2^31 - 32, and work-item 32 would begin at -2^31.
        assert!(wraps(marked::launch(&mut y, i32::MAX, 0)));
        marked::launch(&mut y, i32::MAX - 191, 0)?;
        marked::launch(&mut y, -1, 0)?;
    }
    let g = device.zeros::<i32, 1>([2])?;
    for _ in 0..2 {
        assert!(wraps(parted::launch(&mut y, &g, u32::MAX - 6)));
        parted::launch(&mut y, &g, 20)?;
    }
    assert_eq!(y.to_vec()?[..20], std::array::from_fn::<i32, 20, _>(|i| i as i32 / 3));
    // Without a block nothing is run, and no part is of a length.
    parted::launch(&mut y, &device.zeros::<i32, 1>([0])?, 0)
}

#[test]
fn numbers_that_would_wrap() -> Result<()> {
    let device = Device::cpu();
    let mut y = device.tensor([128], &[-1; 128])?;
    let mut launch = |first, stride| spread::launch(&mut y, first, stride);
    // The first launch of a kind, and those like it.
    for _ in 0..2 {
        let error = launch(0, 1 << 25).unwrap_err();
        let Error::Argument(argument) = &error else { panic!("{error}") };
        assert!(matches!(**argument, ArgumentError::NumberWraps { .. }), "{error}");
        assert_eq!(
            error.to_string().lines().next(),
            Some(
                "this launch of `spread` may wrap `i * stride` (line 54), which is of `i32`: it \
                 goes from 0 to 4261412864"
            )
        );
        launch(1, 2)?;
        // 127 * 2^24 is in range.
        launch(0, 1 << 24)?;
        assert!(launch(1 << 24, 1 << 24).is_err());
    }
    let values = y.to_vec()?;
    let expected = (0..128).map(|at| {
        if at == 0 {
            0
        } else if at % 2 == 1 {
            at / 2
        } else {
            -1
        }
    });
    assert_eq!(values, expected.collect::<Vec<i32>>());
    Ok(())
}
