//! Blurs an image: a shared tile with a halo, and a filter in constant memory.
//!
//! ```sh
//! cargo run --release --example convolution
//! ```
//!
//! prints the device and `[600, 801] blurred, all elements right`. Write
//! `filter[0, 0] = 1.0;` into the kernel to see what the compiler says.

use tile_runtime::{Device, tiled_kernel};

tiled_kernel! {
    /// `y` is `x` weighted by `filter` around each element; outside `x` is 0.
    pub fn convolution(
        #[pad = 0] x: &Tensor<f32, [R, C]>,
        filter: &Constant<f32, [F, F]>,
        y: &mut Tensor<f32, [R, C]>,
    )
    where
        tile: (TR, TC, F = 5),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [f32; TR + F - 1, TC + F - 1];
        load s[i, j] = x[by * TR + i - F / 2, bx * TC + j - F / 2];
        barrier;
        let mut sum: Acc<f32> = 0;
        for i in 0..F {
            for j in 0..F {
                sum += filter[i, j] * s[ty + i, tx + j];
            }
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }
}

/// Rows and columns of the image.
const ROWS: usize = 600;
const COLS: usize = 801;

/// A binomial filter along each axis; the weights of both add up to 256.
const WEIGHTS: [f32; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best()?;
    println!("{}", device.name());

    let mut rng = fastrand::Rng::with_seed(1);
    // Whole numbers and powers of two: all sums are exact.
    let image: Vec<f32> = (0..ROWS * COLS).map(|_| f32::from(rng.u8(..))).collect();
    let filter: Vec<f32> = (0..25).map(|at| WEIGHTS[at / 5] * WEIGHTS[at % 5] / 256.0).collect();

    let x = device.tensor([ROWS, COLS], &image)?;
    let constant = device.constant([5, 5], &filter)?;
    let mut y = device.zeros([ROWS, COLS])?;
    convolution::launch(&x, &constant, &mut y)?;

    let blurred = y.to_vec()?;
    for (at, &value) in blurred.iter().enumerate() {
        let expected = weighted(&image, &filter, at / COLS, at % COLS);
        if value != expected {
            let (row, col) = (at / COLS, at % COLS);
            return Err(format!("element [{row}, {col}] is {value}, not {expected}").into());
        }
    }
    println!("[{ROWS}, {COLS}] blurred, all elements right");
    Ok(())
}

/// The weighted sum around an element.
fn weighted(image: &[f32], filter: &[f32], row: usize, col: usize) -> f32 {
    let mut sum = 0.0;
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        // Two to the left of the first column is outside, as is past the last.
        let (from_row, from_col) = ((row + i).wrapping_sub(2), (col + j).wrapping_sub(2));
        if from_row < ROWS && from_col < COLS {
            sum += filter[i * 5 + j] * image[from_row * COLS + from_col];
        }
    }
    sum
}
