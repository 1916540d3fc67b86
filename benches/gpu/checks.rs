//! The kernels against their references, in the shapes that matter on a GPU.

use std::io;
use std::time::Duration;

use tile_kernels::checks::{
    Setup, Verdict, check_add, check_batched_matmul, check_convolve, check_linear_relu,
    check_matmul, check_min_plus, check_row_sums, check_saxpy, check_scaled_matmul,
    check_seven_point, check_softmax, check_squared_distances, check_stencil, check_transpose,
    check_views,
};
use tile_runtime::inspect::finish_background;
use tile_runtime::{Device, Options, Tune};
use tile_sink::Sink;

use crate::figure::Figure;

/// One element, one less and one more than a warp, no multiple of a tile, powers
/// of two, one less.
const SIZES: [usize; 7] = [1, 31, 33, 1000, 1024, 4095, 4096];

/// Writes one line per kernel, type and shape.
pub(crate) fn run(device: &Device, quick: bool, sink: &mut Sink<Figure>) -> io::Result<()> {
    let setup = Setup::new(device);
    let sizes = if quick { &SIZES[..3] } else { &SIZES[..] };
    let mut check = |kernel: &str, dtype, shape: &[usize], verdict| {
        sink.write(figure(kernel, dtype, shape, verdict))
    };
    for &n in sizes {
        check("matmul", "f32", &[n, n, n], check_matmul::<f32>(&setup, [n, n, n]))?;
        check("transpose", "f32", &[n, n], check_transpose::<f32>(&setup, [n, n]))?;
        check("add", "f32", &[n], check_add::<f32>(&setup, n))?;
        check("add", "f32", &[n * n], check_add::<f32>(&setup, n * n))?;
    }
    // The others, and the other types, where a reference is quick.
    for &n in sizes.iter().filter(|&&n| n <= 1024) {
        let near = [n, n + 7, n / 2 + 1];
        check("matmul", "f64", &near, check_matmul::<f64>(&setup, near))?;
        check("matmul", "i32", &near, check_matmul::<i32>(&setup, near))?;
        check("matmul of views", "f32", &near, check_views::<f32>(&setup, near))?;
        check("matmul of views", "f64", &near, check_views::<f64>(&setup, near))?;
        let small = [n.min(257), n.min(131), n.min(100)];
        check("min_plus", "f32", &small, check_min_plus(&setup, small))?;
        check("scaled_matmul", "f32", &small, check_scaled_matmul::<f32>(&setup, small))?;
        check("linear_relu", "f32", &small, check_linear_relu(&setup, small))?;
        check("squared_distances", "f32", &small, check_squared_distances(&setup, small))?;
        check("seven_point", "f32", &small, check_seven_point(&setup, small))?;
        let [rows, cols, batches] = small;
        let batched = [batches.min(5), rows, cols, 17];
        check("batched_matmul", "f32", &batched, check_batched_matmul::<f32>(&setup, batched))?;
        let plane = [n, n + 7];
        check("transpose", "f64", &plane, check_transpose::<f64>(&setup, plane))?;
        check("transpose", "i32", &plane, check_transpose::<i32>(&setup, plane))?;
        check("stencil", "f32", &plane, check_stencil::<f32>(&setup, plane))?;
        check("convolve", "f32", &plane, check_convolve(&setup, plane))?;
        check("softmax", "f32", &small[..2], check_softmax(&setup, [small[0], small[1]]))?;
        check("row_sums", "f32", &plane, check_row_sums::<f32>(&setup, plane))?;
        check("add", "i32", &[n], check_add::<i32>(&setup, n))?;
        check("saxpy", "f32", &[n], check_saxpy::<f32>(&setup, n))?;
        check("saxpy", "f64", &[n], check_saxpy::<f64>(&setup, n))?;
    }
    // In configurations that are measured at the launch: the tensors are written once,
    // the one that is updated in place among them.
    let budget = Duration::from_secs_f64(if quick { 0.2 } else { 3.0 });
    let tuned = Setup { options: Options::new().tune(Tune::Now(budget)), ..setup.clone() };
    let n = if quick { 1 << 12 } else { 1 << 24 };
    check("saxpy tuned", "f32", &[n], check_saxpy::<f32>(&tuned, n))?;
    let shape = if quick { [33, 40, 31] } else { [1000, 1024, 999] };
    check("matmul tuned", "f32", &shape, check_matmul::<f32>(&tuned, shape))?;
    // As launches are that say nothing: with programs that are replaced when others are
    // compiled.
    let soon = Setup { options: Options::new().tune(Tune::Background), ..setup.clone() };
    for round in ["first", "second", "third"] {
        let shape = if quick { [33, 40, 31] } else { [1000, 1024, 999] };
        check(
            &format!("matmul in the background, {round}"),
            "f32",
            &shape,
            check_matmul::<f32>(&soon, shape),
        )?;
        check(
            &format!("transpose in the background, {round}"),
            "f32",
            &shape[..2],
            check_transpose::<f32>(&soon, [shape[0], shape[1]]),
        )?;
        finish_background(device);
    }
    if !quick {
        let shape = [4096, 1024, 8192];
        check("matmul", "f32", &shape, check_matmul::<f32>(&setup, shape))?;
        check("transpose", "f32", &shape[..2], check_transpose::<f32>(&setup, [4096, 1024]))?;
    }
    Ok(())
}

/// The same for tensors whose elements 32 bits do not count.
pub(crate) fn run_large(device: &Device, sink: &mut Sink<Figure>) -> io::Result<()> {
    let setup = Setup::new(device);
    let n = (1 << 31) + 5;
    sink.write(figure("add", "i8", &[n], check_add::<i8>(&setup, n)))?;
    let plane = [65_537, 32_769];
    sink.write(figure("transpose", "i8", &plane, check_transpose::<i8>(&setup, plane)))?;
    let rows = [1, (1 << 31) + 5];
    sink.write(figure("transpose", "i8", &rows, check_transpose::<i8>(&setup, rows)))?;
    sink.write(figure("row_sums", "i8", &plane, check_row_sums::<i8>(&setup, plane)))
}

fn figure(kernel: &str, dtype: &'static str, shape: &[usize], verdict: Verdict) -> Figure {
    let kernel = kernel.to_owned();
    let error = verdict.err().map(|error| error.to_string());
    let passed = error.is_none();
    Figure::Check { kernel, dtype, shape: shape.to_vec(), passed, error }
}
