//! 2DCONV: an image's inner elements, each replaced by a weighted sum over the square of
//! three by three around it. The border stays 0.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::places;

tiled_kernel! {
    /// `y` is `x` weighted around each inner element.
    pub fn conv2d<T: Float>(x: &Tensor<T, [R, C]>, y: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let i = by * TR + ty;
        let j = bx * TC + tx;
        if i > 0 && i < R - 1 && j > 0 && j < C - 1 {
            y[i, j] = 0.2 * x[i - 1, j - 1] + 0.5 * x[i - 1, j] - 0.8 * x[i - 1, j + 1]
                - 0.3 * x[i, j - 1] + 0.6 * x[i, j] - 0.9 * x[i, j + 1]
                + 0.4 * x[i + 1, j - 1] + 0.7 * x[i + 1, j] + 0.1 * x[i + 1, j + 1];
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "2dconv",
    about: "an image weighted by three by three factors",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 3], &[2, 70], &[37, 66]],
    full: &[8192, 8192],
    kernels: || vec![conv2d::kernel::<f32>(), conv2d::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Image::new(device, [sizes[0], sizes[1]])?)),
};

/// The weights, row by row.
const WEIGHTS: [f64; 9] = [0.2, 0.5, -0.8, -0.3, 0.6, -0.9, 0.4, 0.7, 0.1];

struct Image {
    host_x: Vec<f32>,
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
}

impl Image {
    fn new(device: &Device, shape: [usize; 2]) -> Result<Self, Failure> {
        let host_x = floats(1, shape[0] * shape[1])?;
        Ok(Self { x: device.tensor(shape, &host_x)?, y: device.zeros(shape)?, host_x })
    }
}

impl Prepared for Image {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        conv2d::with(options.clone()).launch(&self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        let shape @ [rows, cols] = self.x.shape();
        let weighted = |(row, col): (usize, usize)| {
            let is_inner = (1..rows).contains(&row)
                && row + 1 < rows
                && (1..cols).contains(&col)
                && col + 1 < cols;
            let around = WEIGHTS.iter().enumerate().filter(|_| is_inner);
            let terms = around.map(|(at, weight)| {
                weight * f64::from(self.host_x[(row + at / 3 - 1) * cols + col + at % 3 - 1])
            });
            terms.sum()
        };
        let expected: Vec<f64> = places(shape).map(weighted).collect();
        close("y", &self.y.to_vec()?, &expected, roundings(9))
    }

    fn cost(&self) -> Cost {
        let n = self.host_x.len() as f64;
        Cost { bytes: 8.0 * n, flops: 17.0 * n }
    }
}
