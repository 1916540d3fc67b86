//! The numbers of a GPU textbook's exercises, computed from kernels: Hwu, Kirk and El
//! Hajj, "Programming Massively Parallel Processors", 4th edition, 2022, chapters 4 and 5.

use tile_examples::{foo_kernel, matrix_add, naive_matmul, tiled_matmul, vector_add};
use tile_runtime::ir::device::known;
use tile_runtime::ir::explain::Rule;
use tile_runtime::ir::explain::copies::Home;
use tile_runtime::ir::explain::roofline::attainable_flops;
use tile_runtime::{Config, DeviceProperties, Kernel, Options, Report, tiled_kernel};

tiled_kernel! {
    /// Blocks of `W` work-items that use `S` elements of shared memory.
    fn block_of(x: &mut Tensor<f32, [N]>)
    where tile: (W in [64, 256, 512], S in [1, 1024, 2048, 8192]),
        grid: (bx in tiles(N, W)), block: (tx in W),
    {
        shared s: [f32; S];
        if tx == 0 {
            s[0] = 1.0;
            x[bx * W] = s[0];
        }
    }

    /// Exercise 9: seven accesses of 32 bits and 36 operations.
    fn seven_accesses(
        a: &Tensor<f32, [N]>, b: &Tensor<f32, [N]>, c: &Tensor<f32, [N]>, d: &Tensor<f32, [N]>,
        e: &Tensor<f32, [N]>, f: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>,
    )
    where tile: (W = 256), grid: (bx in tiles(N, W)), block: (tx in W),
    {
        let i = bx * W + tx;
        let scale = a[i];
        let shift = b[i];
        let mut sum = scale * shift + c[i] * d[i] + e[i] * f[i] + scale;
        for k in 0..15 {
            sum = sum * scale + shift;
        }
        y[i] = sum;
    }
}

fn device(name: &str) -> DeviceProperties {
    known(name).unwrap_or_else(|| panic!("`{name}` is not known"))
}

#[track_caller]
fn explained(kernel: &Kernel, on: &str, dims: &[usize], tiles: &[(&str, u32)]) -> Report {
    let mut options = Options::new();
    for (name, size) in tiles {
        options = options.tile(*name, *size);
    }
    let report = kernel.explain_with(&options, &device(on), dims, None);
    report.unwrap_or_else(|error| panic!("{error}"))
}

/// With a thread for each work-item, as the textbook has it, and so many registers.
#[track_caller]
fn with_registers(tiles: &[(&str, u32)], on: &str, registers: u32) -> Report {
    let (kernel, device) = (block_of::kernel(), device(on));
    let mut options = Options::new();
    for (name, size) in tiles {
        options = options.tile(*name, *size);
    }
    let dims = [1 << 20];
    let config = kernel.config_with(&options, &device, &dims).expect("it fits");
    let axis = tile_runtime::ir::config::AxisItems::strided(tiles[0].1);
    let config = Config { threads: tiles[0].1, block: vec![axis], min_blocks: 0, ..config };
    let report =
        kernel.explain_with(&Options::new().config(config), &device, &dims, Some(registers));
    report.unwrap_or_else(|error| panic!("{error}"))
}

/// Section 4.7: 65,536 registers and 2048 threads are 32 registers a thread. Blocks of
/// 512 threads with 31 registers fill an SM; two more, and a block less fits.
#[test]
fn registers_and_occupancy() {
    let full = with_registers(&[("W", 512), ("S", 1)], "A100", 31);
    assert_eq!((full.occupancy.blocks, full.occupancy.fraction), (4, 1.0));
    let fewer = with_registers(&[("W", 512), ("S", 1)], "A100", 33);
    assert_eq!((fewer.occupancy.blocks, fewer.occupancy.fraction), (3, 0.75));
    assert_eq!(fewer.occupancy.limiter, "registers");
    // One register over the step.
    assert_eq!(fewer.occupancy.up.map(|step| (step.by, step.blocks)), Some((1, 4)));
}

/// Exercise 12 a: 64 threads, 27 registers, 4 KB of shared memory. Shared memory has room
/// for 24 of the 32 blocks.
#[test]
fn exercise_12_a() {
    let report = with_registers(&[("W", 64), ("S", 1024)], "textbook SM", 27);
    assert_eq!(report.occupancy.shared_bytes, 4096);
    assert_eq!((report.occupancy.blocks, report.occupancy.fraction), (24, 0.75));
    assert_eq!(report.occupancy.limiter, "shared memory");
}

/// Exercise 12 b: 256 threads, 31 registers, 8 KB. All 2048 threads fit.
#[test]
fn exercise_12_b() {
    let report = with_registers(&[("W", 256), ("S", 2048)], "textbook SM", 31);
    assert_eq!(report.occupancy.shared_bytes, 8192);
    assert_eq!((report.occupancy.blocks, report.occupancy.fraction), (8, 1.0));
}

/// Section 5.6: 32 KB and 256 threads a block. Of an A100's 164 KB five blocks can have so
/// much, 1280 of 2048 threads; with what the system keeps of each, four.
#[test]
fn shared_memory_and_occupancy() {
    let tiles = [("W", 256), ("S", 8192)];
    let report = with_registers(&tiles, "textbook A100", 32);
    assert_eq!(report.occupancy.shared_bytes_per_thread, 128.0);
    assert_eq!((report.occupancy.blocks, report.occupancy.fraction), (5, 0.625));
    assert_eq!(report.occupancy.limiter, "shared memory");
    assert_eq!(with_registers(&tiles, "A100", 32).occupancy.blocks, 4);
}

/// Section 5.6: the product's tiles of 16 x 16 take 8 bytes a thread, which never are the
/// limit.
#[test]
fn tiles_of_the_product_are_small() {
    let tiles = [("TM", 16), ("TN", 16), ("TK", 16)];
    let kernel = tiled_matmul::tiled_matmul::kernel::<f32>();
    let device = device("textbook A100");
    let mut options = Options::new();
    for (name, size) in tiles {
        options = options.tile(name, size);
    }
    let config = kernel.config_with(&options, &device, &[1024; 3]).expect("it fits");
    let axis = tile_runtime::ir::config::AxisItems::strided(16);
    let config = Config { threads: 256, block: vec![axis; 2], stages: 1, min_blocks: 0, ..config };
    let report = kernel.explain_with(&Options::new().config(config), &device, &[1024; 3], Some(32));
    let occupancy = report.unwrap_or_else(|error| panic!("{error}")).occupancy;
    assert_eq!((occupancy.shared_bytes, occupancy.shared_bytes_per_thread), (2048, 8.0));
    assert_eq!((occupancy.fraction, occupancy.limiter.as_str()), (1.0, "threads per SM"));
}

/// Exercises 2, 5 and 8: an element is asked for N times without tiles, N / T with them.
#[test]
fn tiles_cut_the_traffic_by_their_width() {
    let kernel = tiled_matmul::tiled_matmul::kernel::<f32>();
    for (width, extent) in [(2, 8), (4, 8), (32, 128)] {
        let tiles = [("TM", width), ("TN", width), ("TK", width)];
        let report = explained(&kernel, "A100", &[extent; 3], &tiles);
        assert_eq!(report.reuse.reduction(), f64::from(width));
        // Of 2 N² elements, each N times without tiles.
        let n = extent as u64;
        assert_eq!(report.reuse.read_bytes_without_tiles, 4 * 2 * n * n * n);
        assert_eq!(report.reuse.read_bytes, 4 * 2 * n * n * n / u64::from(width));
    }
}

/// Exercise 1: an addition reads every element once, through a tile as without.
#[test]
fn addition_gains_nothing() {
    let dims = [1024, 1024];
    let plain = explained(&matrix_add::matrix_add::kernel::<f32>(), "A100", &dims, &[]);
    let tiled = explained(&matrix_add::matrix_add_tiled::kernel::<f32>(), "A100", &dims, &[]);
    assert_eq!(tiled.reuse.reduction(), 1.0);
    assert_eq!(tiled.reuse.read_bytes, plain.reuse.read_bytes);
    let advised: Vec<&str> = tiled
        .findings
        .iter()
        .filter(|finding| finding.rule == Rule::TileWithoutReuse)
        .map(|finding| finding.message.as_str())
        .collect();
    let of = |tile: &str| {
        format!(
            "each element of the tile `{tile}` is read once: it saves no traffic of global memory"
        )
    };
    assert_eq!(advised, [of("a_s"), of("b_s")]);
    assert!(plain.findings.is_empty(), "{:?}", plain.findings);
}

/// Sections 5.1 and 5.4: 0.25 operations a byte bound an A100 to 389 GFLOP/s, the 4 of
/// tiles of 16 x 16 to 6220.
#[test]
fn bounds_of_the_product() {
    let a100 = device("A100");
    let gflops = |intensity: f64| (attainable_flops(&a100, intensity) / 1e9).round();
    let naive = naive_matmul::naive_matmul::kernel::<f32>();
    let naive = explained(&naive, "A100", &[1024; 3], &[]);
    assert_eq!(naive.reuse.intensity(), 0.25);
    assert_eq!(gflops(naive.reuse.intensity()), 389.0);
    let tiles = [("TM", 16), ("TN", 16), ("TK", 16)];
    let kernel = tiled_matmul::tiled_matmul::kernel::<f32>();
    let tiled = explained(&kernel, "A100", &[1024; 3], &tiles);
    assert_eq!(tiled.reuse.intensity_without_tiles(), 0.25);
    assert_eq!(tiled.reuse.intensity(), 4.0);
    assert_eq!(gflops(tiled.reuse.intensity()), 6220.0);
}

/// Exercises 6 and 7: 1000 blocks of 512 threads have 512,000 copies of a local variable
/// and 1000 of a shared one.
#[test]
fn copies_of_variables() {
    let kernel = block_of::kernel();
    let report = explained(&kernel, "A100", &[512_000], &[("W", 512), ("S", 1)]);
    assert_eq!((report.blocks, copies(&report, "s")), (1000, 1000));
    let kernel = vector_add::vector_add::kernel::<f32>();
    let tile = kernel.tiles()[0];
    let report = explained(&kernel, "A100", &[512_000], &[(tile, 512)]);
    assert_eq!((report.blocks, copies(&report, "i")), (1000, 512_000));
}

#[track_caller]
fn copies(report: &Report, name: &str) -> u64 {
    let found = report.variables.iter().find(|variable| variable.name == name);
    found.unwrap_or_else(|| panic!("{:?}", report.variables)).copies
}

/// Exercise 11: of 1024 elements in blocks of 128.
#[test]
fn foo_kernel() {
    let report = explained(&foo_kernel::foo_kernel::kernel(), "A100", &[1024], &[]);
    assert_eq!(copies(&report, "i"), 1024);
    assert_eq!(copies(&report, "x"), 1024);
    assert_eq!(copies(&report, "y_s"), 8);
    assert_eq!(copies(&report, "b_s"), 8);
    let shared = report.variables.iter().filter(|variable| variable.home == Home::Shared);
    assert_eq!(shared.filter_map(|variable| variable.bytes).sum::<u64>(), 516);
    // Each array begins at a multiple of 16 bytes.
    assert_eq!(report.occupancy.shared_bytes, 528);
    assert_eq!((report.work.flops / 1024, report.work.global_bytes / 1024), (10, 24));
}

/// Exercise 9: 36 operations on 28 bytes are bound by memory where a byte comes with two
/// operations, and by arithmetic where with 1.2.
#[test]
fn exercise_9() {
    let n = 1 << 20;
    for (name, is_memory_bound) in [("textbook 200 GFLOPS", true), ("textbook 300 GFLOPS", false)] {
        let report = explained(&seven_accesses::kernel(), name, &[n], &[]);
        assert_eq!(report.work.flops, 36 * n as u64);
        assert_eq!(report.work.global_bytes, 28 * n as u64);
        assert_eq!(report.roofline.is_memory_bound(), is_memory_bound, "{report}");
    }
}
