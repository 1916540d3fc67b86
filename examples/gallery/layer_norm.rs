//! Normalises each row: takes off its mean, divides by the root of its variance, then
//! scales by `gamma` and shifts by `beta`, one of each for a column. The variance is
//! the mean of squared distances from the mean, which needs the mean first: unlike
//! "mean of squares less square of mean" it loses no digits.
//!
//! ```sh
//! cargo run --release --example gallery -- layer_norm 1000 1003
//! ```

use tile_runtime::{Device, Options, Tensor, bf16, f16, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `y[r, c] = (x[r, c] - mean) / sqrt(variance + eps) * gamma[c] + beta[c]`, row by row.
    pub fn layer_norm<T: Float>(
        x: &Tensor<T, [R, C]>,
        gamma: &Tensor<T, [C]>,
        beta: &Tensor<T, [C]>,
        eps: f32,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TC),
        grid: (r in R),
        block: (tx in TC),
    {
        let mut sum: Acc<T> = 0;
        for p in tiles(C, TC) {
            sum += x[r, p * TC + tx];
        }
        let mean = reduce_sum(sum) / C as Acc<T>;

        let mut squares: Acc<T> = 0;
        for p in tiles(C, TC) {
            let c = p * TC + tx;
            if c < C {
                squares += (x[r, c] - mean) * (x[r, c] - mean);
            }
        }
        let variance = reduce_sum(squares) / C as Acc<T>;

        let scale = rsqrt(variance + eps as Acc<T>);
        for p in tiles(C, TC) {
            let c = p * TC + tx;
            let centred = x[r, c] as Acc<T> - mean;
            y[r, c] = centred * scale * gamma[c] as Acc<T> + beta[c] as Acc<T>;
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "layer_norm",
    about: "rows of mean 0 and variance 1, scaled and shifted",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 31], &[17, 1000]],
    full: &[1 << 14, 1 << 12],
    kernels: || {
        vec![
            layer_norm::kernel::<f32>(),
            layer_norm::kernel::<f64>(),
            layer_norm::kernel::<f16>(),
            layer_norm::kernel::<bf16>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Rows::new(device, sizes[0], sizes[1])?)),
};

const EPS: f32 = 1e-5;

struct Rows {
    x: Tensor<f32, 2>,
    gamma: Tensor<f32, 1>,
    beta: Tensor<f32, 1>,
    y: Tensor<f32, 2>,
    expected: Vec<f64>,
}

impl Rows {
    fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, Failure> {
        let x: Vec<f32> = floats(1, rows * columns)?.iter().map(|x| 3.0 * x + 10.0).collect();
        let (gamma, beta) = (floats(2, columns)?, floats(3, columns)?);
        let mut expected = Vec::with_capacity(x.len());
        for row in x.chunks(columns.max(1)) {
            let n = row.len() as f64;
            let mean = row.iter().copied().map(f64::from).sum::<f64>() / n;
            let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
            let root = (variance + f64::from(EPS)).sqrt();
            for (c, &x) in row.iter().enumerate() {
                let centred = (f64::from(x) - mean) / root;
                expected.push(centred * f64::from(gamma[c]) + f64::from(beta[c]));
            }
        }
        Ok(Self {
            x: device.tensor([rows, columns], &x)?,
            gamma: device.tensor([columns], &gamma)?,
            beta: device.tensor([columns], &beta)?,
            y: device.zeros([rows, columns])?,
            expected,
        })
    }
}

impl Prepared for Rows {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let configured = layer_norm::with(options.clone());
        configured.launch(&self.x, &self.gamma, &self.beta, EPS, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        close("y", &self.y.to_vec()?, &self.expected, 1e-4)
    }

    fn cost(&self) -> Cost {
        let [rows, columns] = self.y.shape().map(|extent| extent as f64);
        let n = rows * columns;
        Cost { bytes: 8.0 * n + 8.0 * columns, flops: 8.0 * n }
    }
}
