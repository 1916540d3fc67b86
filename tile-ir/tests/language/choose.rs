//! The choice of a configuration against all that there are.

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::config::{Config, Estimate, MAX_REGISTERS, Model, default_config, first_choices};
use tile_ir::device::known;
use tile_ir::dtype::DType;
use tile_ir::kernel::VarKind;
use tile_ir::resolve::resolve_kernel;
use tile_ir::value::ScalarValue;

/// Of the suite's kernels, each so many-th.
const EVERY: usize = 11;
/// Code so long that a choice avoids it where it can, in bytes.
const LONG_CODE: f64 = 49152.0;

fn checked(text: &str) -> Option<CheckedKernel> {
    let item = tile_syntax::parse_kernel_text(text).ok()?;
    Some(check_kernel(resolve_kernel(&item).ok()?).ok()?.kernel)
}

/// Layouts are skipped by what they take at the least: none may be that takes less than
/// what was chosen.
#[test]
fn nothing_that_fits_takes_less_than_what_is_chosen() {
    let fits = |cost: &Estimate| cost.blocks_per_sm > 0 && cost.registers <= MAX_REGISTERS;
    let is_good = |cost: &Estimate| fits(cost) && cost.code_bytes <= LONG_CODE;
    let mut n_compared = 0;
    for placed in crate::suite::all().step_by(EVERY) {
        let at = placed.place();
        let judged = placed.judged().kernel();
        let Some(kernel) = judged.and_then(|it| it.checked.as_ref()) else { continue };
        let types = vec![DType::F32; kernel.kernel().type_params.len()];
        let is_dim = |kind: VarKind| kind == VarKind::Dim;
        let n_dims = kernel.kernel().vars.values().filter(|var| is_dim(var.kind)).count();
        for (device, size) in [("H200", 4096), ("T4", 1000)] {
            let device = known(device).expect("the device is in the table");
            let dims = vec![size; n_dims];
            let Ok(chosen) = default_config(kernel, &types, &device, &dims) else { continue };
            let model = Model::new(kernel.kernel(), &types, &device, &dims);
            let of_chosen = model.cost(&chosen);
            let all = first_choices(kernel, &device, &[]).expect("no name is given");
            n_compared += all.len();
            let costs = all.iter().map(|config| model.cost(config)).filter(is_good);
            let least = costs.map(|cost| cost.seconds).fold(f64::INFINITY, f64::min);
            assert!(of_chosen.seconds <= least * (1.0 + 1e-9), "{at}: {chosen:?} {least}");
        }
    }
    assert!(n_compared > 2_000, "{n_compared}");
}

/// The configuration of a kernel at an H200, and what it costs there.
fn chosen(text: &str, dims: &[u64]) -> (Config, Estimate) {
    let kernel = checked(text).expect("the kernel is right");
    let device = known("H200").expect("the device is in the table");
    let config = default_config(&kernel, &[], &device, dims).expect("it fits");
    let cost = Model::new(kernel.kernel(), &[], &device, dims).cost(&config);
    (config, cost)
}

/// While a thread waits for a comparison, other threads go on, its other items do not.
#[test]
fn work_items_that_wait_for_comparisons_have_threads_of_their_own() {
    let text = |update: &str| {
        format!(
            "fn least(x: &Tensor<f32, [P]>, q: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
            where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
            {{
                let i = bx * TN + tx;
                let mut best: f32 = 1.0e30;
                let mut last: f32 = 0.0;
                for p in 0..P {{
                    let d = (x[p] - q[i]).abs();
                    {update}
                }}
                y[i] = best + last;
            }}"
        )
    };
    // How much longer four items of a thread take than one.
    let price = |update: &str| {
        let kernel = checked(&text(update)).expect("the kernel is right");
        let device = known("H200").expect("the device is in the table");
        let model = Model::new(kernel.kernel(), &[], &device, &[1 << 16, 1 << 15]);
        let all = first_choices(&kernel, &device, &[("TN", 512)]).expect("there is such a size");
        let with = |threads: u32| {
            let config = all.iter().find(|config| config.threads == threads);
            model.cost(config.expect("so many threads are tried")).seconds
        };
        with(128) / with(512)
    };
    let compared = price("if d < best { best = d; last = x[p]; }");
    let computed = price("best = min(best, d); last += x[p];");
    assert!(compared > 1.0 && computed < 1.0, "{compared} {computed}");
}

/// What the points of a block read of each other's neighbours comes from the cache: nine
/// reads of an element are not nine times the traffic.
#[test]
fn neighbours_of_a_stencil_are_read_once() {
    let blur = |sum: &str| {
        format!(
            "fn blur(x: &Tensor<f32, [R, C]>, y: &mut Tensor<f32, [R, C]>)
            where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
                block: (ty in TR, tx in TC),
            {{
                let i = by * TR + ty;
                let j = bx * TC + tx;
                if i > 0 && i < R - 1 && j > 0 && j < C - 1 {{
                    let mut sum: f32 = 0.0;
                    {sum}
                    y[i, j] = sum;
                }}
            }}"
        )
    };
    let looped = "for v in 0..3 { for w in 0..3 { sum += x[i + v - 1, j + w - 1]; } }";
    let written = "sum = x[i - 1, j] + x[i, j - 1] + x[i, j] + x[i, j + 1] + x[i + 1, j];";
    let tensors = 2.0 * 4.0 * 8192.0 * 8192.0;
    for sum in [looped, written] {
        let (_, cost) = chosen(&blur(sum), &[8192, 8192]);
        let times = cost.global_bytes / tensors;
        assert!((1.0..1.6).contains(&times), "{sum}: {times}");
    }
}

/// A loop that begins at a work-item's place goes along a tensor side by side with the others'.
#[test]
fn strided_loops_read_all_that_they_pass() {
    let text = "fn sums(a: &Tensor<f32, [M, N]>, y: &mut Tensor<f32, [N]>)
        where tile: (TM in [64], TN), grid: (bx in tiles(N, TN)), block: (ty in TM, tx in TN),
        {
            shared s: [f32; TM, TN];
            let j = bx * TN + tx;
            let mut sum: f32 = 0.0;
            for i in (ty..M).step_by(TM) { sum += a[i, j]; }
            s[ty, tx] = sum;
            barrier;
            if ty == 0 { y[j] = s[0, tx]; }
        }";
    let (_, cost) = chosen(text, &[8192, 8192]);
    let times = cost.global_bytes / (4.0 * 8192.0 * 8192.0);
    assert!((0.99..1.2).contains(&times), "{times}");
}

/// Loops between bounds that data decide go along a tensor once, all together; and one thread
/// each, their lines do not all fit L1.
#[test]
fn sparse_rows_are_as_long_as_there_are_elements() {
    let text = "fn rows(from: &Tensor<u32, [R + 1]>, value: &Tensor<f32, [E]>,
            y: &mut Tensor<f32, [R]>)
        where tile: (T), grid: (bx in tiles(R, T)), block: (tx in T),
        {
            let row = bx * T + tx;
            let mut sum: f32 = 0.0;
            for e in from[row]..from[row + 1] { sum += value[e]; }
            y[row] = sum;
        }";
    let kernel = checked(text).expect("the kernel is right");
    let device = known("H200").expect("the device is in the table");
    let dims = [1 << 20, 1 << 26];
    let model = Model::new(kernel.kernel(), &[], &device, &dims);
    let all = first_choices(&kernel, &device, &[]).expect("no name is given");
    let of_tile = |tile: u32| {
        let config = all.iter().find(|it| it.tiles == [tile] && it.threads == tile);
        model.cost(config.expect("so many threads are tried"))
    };
    let [few, many] = [32, 256].map(of_tile);
    let additions = few.arithmetic / dims[1] as f64;
    assert!((0.9..1.5).contains(&additions), "{additions}");
    assert!(few.seconds < many.seconds, "{few:?} {many:?}");
}

/// Neighbours that begin anywhere come one by one: a thread with four columns of them asks for
/// each of four lines, one with four rows for one.
#[test]
fn a_stencils_threads_take_rows_where_neighbours_lie_in_columns() {
    let text = "fn cube(x: &Tensor<f32, [D, R, C]>, y: &mut Tensor<f32, [D, R, C]>)
        where tile: (TD, TR, TC),
            grid: (bz in tiles(D, TD), by in tiles(R, TR), bx in tiles(C, TC)),
            block: (tz in TD, ty in TR, tx in TC),
        {
            let i = bz * TD + tz;
            let j = by * TR + ty;
            let k = bx * TC + tx;
            if i > 0 && i < D - 1 && j > 0 && j < R - 1 && k > 0 && k < C - 1 {
                let mut sum: f32 = 0.0;
                for u in 0..3 { for v in 0..3 { for w in 0..3 {
                    sum += x[i + u - 1, j + v - 1, k + w - 1];
                } } }
                y[i, j, k] = sum;
            }
        }";
    let (config, _) = chosen(text, &[256, 512, 512]);
    let runs: Vec<u32> = config.block.iter().map(|axis| axis.run).collect();
    assert!(runs[2] < 4 && runs[0] * runs[1] > 1, "{runs:?}");
}

/// The bytes of a pixel's channels come together, and four pixels are stored at once.
#[test]
fn channels_of_a_pixel_come_together() {
    let text = "fn grey(rgb: &Tensor<u8, [R, C, 3]>, grey: &mut Tensor<u8, [R, C]>)
        where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
            block: (ty in TR, tx in TC),
        {
            let row = by * TR + ty;
            let col = bx * TC + tx;
            let sum = rgb[row, col, 0] as u32 + rgb[row, col, 1] as u32 + rgb[row, col, 2] as u32;
            grey[row, col] = (sum / 3) as u8;
        }";
    let (config, cost) = chosen(text, &[8192, 16384]);
    let times = cost.global_bytes / (4.0 * 8192.0 * 16384.0);
    assert!((0.99..1.2).contains(&times), "{times}");
    assert_eq!(config.block.last().map(|axis| axis.run), Some(4), "{config:?}");
}

/// What a scalar says of a loop's length counts where it is known.
#[test]
fn loops_are_as_long_as_known_scalars_say() {
    let text = "fn means(radius: u8, x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
        where tile: (T), grid: (bx in tiles(N, T)), block: (tx in T),
        {
            let i = bx * T + tx;
            let mut sum: f32 = 0.0;
            for j in i - radius..=i + radius { sum += x[j]; }
            y[i] = sum;
        }";
    let kernel = checked(text).expect("the kernel is right");
    let device = known("H200").expect("the device is in the table");
    let dims = [1 << 24];
    let config = default_config(&kernel, &[], &device, &dims).expect("it fits");
    let (id, _) = kernel.kernel().scalars.iter().next().expect("there is one");
    let additions = |radius: u64| {
        let value = ScalarValue { dtype: DType::U8, bits: radius };
        let model = Model::new(kernel.kernel(), &[], &device, &dims).with_scalars(&[(id, value)]);
        model.cost(&config).arithmetic / dims[0] as f64
    };
    assert_eq!([1, 5].map(additions), [3.0, 11.0]);
}
