//! A weighted sum around each element of an image: a tile with a halo on all sides, a
//! filter in constant memory.
//!
//! ```sh
//! cargo run --release --example gallery -- convolution_2d 600 801
//! ```
//!
//! Write `filter[0, 0] = 1;` into the kernel to see what the compiler says.

use tile_runtime::{Constant, Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings, sample};

tiled_kernel! {
    /// `y` is `x` weighted by `filter` around each element; outside `x` is 0.
    pub fn convolution_2d<T: Number>(
        #[pad = 0] x: &Tensor<T, [R, C]>,
        filter: &Constant<T, [F, F]>,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC, F = 5),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + F - 1, TC + F - 1];
        load s[i, j] = x[by * TR + i - F / 2, bx * TC + j - F / 2];
        barrier;
        let mut sum: Acc<T> = 0;
        for i in 0..F {
            for j in 0..F {
                sum += filter[i, j] * s[ty + i, tx + j];
            }
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "convolution_2d",
    about: "an image weighted by 5 by 5 factors in constant memory",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[2, 3], &[33, 70], &[65, 129]],
    full: &[8192, 8192],
    kernels: || vec![convolution_2d::kernel::<f32>(), convolution_2d::kernel::<u8>()],
    prepare: |device, sizes| Ok(Box::new(Image::new(device, [sizes[0], sizes[1]])?)),
};

/// Rows of the filter, and its columns: the kernel's `F`.
const FILTER: usize = 5;

struct Image {
    host_x: Vec<f32>,
    host_filter: Vec<f32>,
    x: Tensor<f32, 2>,
    filter: Constant<f32, 2>,
    y: Tensor<f32, 2>,
}

impl Image {
    fn new(device: &Device, shape: [usize; 2]) -> Result<Self, Failure> {
        let (host_x, host_filter) = (floats(1, shape[0] * shape[1])?, floats(2, FILTER * FILTER)?);
        Ok(Self {
            x: device.tensor(shape, &host_x)?,
            filter: device.constant([FILTER, FILTER], &host_filter)?,
            y: device.zeros(shape)?,
            host_x,
            host_filter,
        })
    }

    /// The weighted sum around an element.
    fn weighted(&self, row: usize, col: usize) -> f64 {
        let [rows, cols] = self.x.shape();
        let mut sum = 0.0;
        for (i, j) in (0..FILTER).flat_map(|i| (0..FILTER).map(move |j| (i, j))) {
            // Two to the left of the first column is outside, as is past the last.
            let (from_row, from_col) = ((row + i).wrapping_sub(2), (col + j).wrapping_sub(2));
            if from_row < rows && from_col < cols {
                let element = f64::from(self.host_x[from_row * cols + from_col]);
                sum += f64::from(self.host_filter[i * FILTER + j]) * element;
            }
        }
        sum
    }
}

impl Prepared for Image {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        convolution_2d::with(options.clone()).launch(&self.x, &self.filter, &mut self.y)
    }

    /// All rows, or samples of many.
    fn verify(&self) -> Result<(), Failure> {
        let [rows, cols] = self.x.shape();
        let found = self.y.to_vec()?;
        sample(rows).into_iter().try_for_each(|row| {
            let expected: Vec<f64> = (0..cols).map(|col| self.weighted(row, col)).collect();
            close("y", &found[row * cols..][..cols], &expected, roundings(FILTER * FILTER))
        })
    }

    fn cost(&self) -> Cost {
        let n = self.host_x.len() as f64;
        Cost { bytes: 8.0 * n, flops: 2.0 * (FILTER * FILTER) as f64 * n }
    }
}
