//! A filter that is a column times a row, applied as one after the other: 17 + 17 products
//! an element where the square has 289. Two kernels, two launches; what the first leaves
//! is the second's input, and launches run in order.
//!
//! ```sh
//! cargo run --release --example gallery -- separable_convolution 600 801
//! ```

use tile_runtime::{Constant, Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings, sample};

tiled_kernel! {
    const TAPS: u32 = 17;

    /// Each element's neighbours in its row, weighted; outside `x` is 0.
    pub fn convolve_rows<T: Number>(
        #[pad = 0] x: &Tensor<T, [R, C]>,
        filter: &Constant<T, [F]>,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC, F = TAPS),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR, TC + F - 1];
        load s[i, j] = x[by * TR + i, bx * TC + j - F / 2];
        barrier;
        let mut sum: Acc<T> = 0;
        for k in 0..F {
            sum += filter[k] * s[ty, tx + k];
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }

    /// Each element's neighbours in its column, weighted; outside `x` is 0.
    pub fn convolve_columns<T: Number>(
        #[pad = 0] x: &Tensor<T, [R, C]>,
        filter: &Constant<T, [F]>,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC, F = TAPS),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + F - 1, TC];
        load s[i, j] = x[by * TR + i - F / 2, bx * TC + j];
        barrier;
        let mut sum: Acc<T> = 0;
        for k in 0..F {
            sum += filter[k] * s[ty + k, tx];
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "separable_convolution",
    about: "17 by 17 factors, as a row's and then a column's",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 3], &[33, 70], &[70, 65]],
    full: &[8192, 8192],
    kernels: || vec![convolve_rows::kernel::<f32>(), convolve_columns::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Image::new(device, [sizes[0], sizes[1]])?)),
};

/// The filters' elements, the kernels' `F`.
const TAPS: usize = 17;

struct Image {
    host_x: Vec<f32>,
    host_filter: Vec<f32>,
    x: Tensor<f32, 2>,
    filter: Constant<f32, 1>,
    /// After the rows.
    between: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
}

impl Image {
    fn new(device: &Device, shape: [usize; 2]) -> Result<Self, Failure> {
        let (host_x, host_filter) = (floats(1, shape[0] * shape[1])?, floats(2, TAPS)?);
        Ok(Self {
            x: device.tensor(shape, &host_x)?,
            filter: device.constant([TAPS], &host_filter)?,
            between: device.zeros(shape)?,
            y: device.zeros(shape)?,
            host_x,
            host_filter,
        })
    }

    /// The whole square's weighted sum around an element.
    fn weighted(&self, row: usize, col: usize) -> f64 {
        let [rows, cols] = self.x.shape();
        // Where the square's side begins within 0..extent, and where it ends.
        let inside =
            |at: usize, extent: usize| at.saturating_sub(TAPS / 2)..(at + TAPS / 2 + 1).min(extent);
        let weight = |at: usize, from: usize| f64::from(self.host_filter[from + TAPS / 2 - at]);
        let of_row = |from_row: usize| -> f64 {
            let columns = inside(col, cols);
            let element = |j: usize| f64::from(self.host_x[from_row * cols + j]);
            columns.map(|j| weight(row, from_row) * weight(col, j) * element(j)).sum()
        };
        inside(row, rows).map(of_row).sum()
    }
}

impl Prepared for Image {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { x, filter, between, y, .. } = self;
        convolve_rows::with(options.clone()).launch(x, filter, between)?;
        convolve_columns::with(options.clone()).launch(between, filter, y)
    }

    /// All rows, or samples of many.
    fn verify(&self) -> Result<(), Failure> {
        let [rows, cols] = self.x.shape();
        let found = self.y.to_vec()?;
        sample(rows).into_iter().try_for_each(|row| {
            let expected: Vec<f64> = (0..cols).map(|col| self.weighted(row, col)).collect();
            close("y", &found[row * cols..][..cols], &expected, roundings(TAPS * TAPS))
        })
    }

    /// What lies between the two is written and read as well: two kernels have no other
    /// way to hand it on.
    fn cost(&self) -> Cost {
        let n = self.host_x.len() as f64;
        Cost { bytes: 16.0 * n, flops: 4.0 * TAPS as f64 * n }
    }
}
