//! CORR: the correlation of each two columns of a table: the columns' means and standard
//! deviations, the table without them, and its product with itself.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::rows_close;

tiled_kernel! {
    /// Below this a column is taken to be constant: its deviation is taken to be 1.
    const EPS: f32 = 0.005;

    /// Each column's mean and standard deviation: a block has `TM` columns, and `TN`
    /// work-items for each.
    pub fn column_statistics<T: Float>(
        x: &Tensor<T, [N, M]>,
        mean: &mut Tensor<T, [M]>,
        deviation: &mut Tensor<T, [M]>,
    )
    where
        tile: (TN in pow2(1..=32), TM),
        grid: (bx in tiles(M, TM)),
        block: (ty in TN, tx in TM),
    {
        shared sums: [T; TN, TM];
        shared squares: [T; TN, TM];
        let j = bx * TM + tx;
        let mut sum: T = 0;
        for i in (ty..N).step_by(TN) {
            sum += x[i, j];
        }
        sums[ty, tx] = sum;
        barrier;
        for d in halving(TN) {
            if ty < d {
                sums[ty, tx] += sums[ty + d, tx];
            }
            barrier;
        }
        let mean_of_all = sums[0, tx] / N as T;
        let mut square: T = 0;
        for i in (ty..N).step_by(TN) {
            let difference = x[i, j] - mean_of_all;
            square += difference * difference;
        }
        squares[ty, tx] = square;
        barrier;
        for d in halving(TN) {
            if ty < d {
                squares[ty, tx] += squares[ty + d, tx];
            }
            barrier;
        }
        if ty == 0 {
            let root = sqrt(squares[0, tx] / N as T);
            mean[j] = mean_of_all;
            deviation[j] = if root <= EPS as T { 1 } else { root };
        }
    }

    /// The table with each column's mean at 0 and the sum of its squares at 1.
    pub fn standardise<T: Float>(
        x: &Tensor<T, [N, M]>,
        mean: &Tensor<T, [M]>,
        deviation: &Tensor<T, [M]>,
        y: &mut Tensor<T, [N, M]>,
    )
    where
        tile: (TN, TM),
        grid: (by in tiles(N, TN), bx in tiles(M, TM)),
        block: (ty in TN, tx in TM),
    {
        let i = by * TN + ty;
        let j = bx * TM + tx;
        y[i, j] = (x[i, j] - mean[j]) / (sqrt(N as T) * deviation[j]);
    }

    /// `c = yᵀ · y`, with ones where a column meets itself.
    pub fn correlate<T: Float>(y: &Tensor<T, [N, M]>, c: &mut Tensor<T, [M, M]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(M, TN)),
        block: (ty in TM, tx in TN),
    {
        shared down: [T; TK, TM];
        shared across: [T; TK, TN];
        let i = by * TM + ty;
        let j = bx * TN + tx;
        let mut acc: Acc<T> = 0;
        phase p in tiles(N, TK) {
            load down[k, r] = y[p * TK + k, by * TM + r];
            load across[k, r] = y[p * TK + k, bx * TN + r];
            barrier;
            for k in 0..TK {
                acc += down[k, ty] * across[k, tx];
            }
            barrier;
        }
        c[i, j] = if i == j { 1 } else { acc as T };
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "correlation",
    about: "the correlation of each two columns of a table",
    sizes: &["rows", "columns"],
    small: &[&[2, 1], &[7, 3], &[33, 40], &[100, 66]],
    full: &[4096, 4096],
    kernels: || {
        vec![
            column_statistics::kernel::<f32>(),
            standardise::kernel::<f32>(),
            correlate::kernel::<f32>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Table::new(device, [sizes[0], sizes[1]])?)),
};

struct Table {
    host_x: Vec<f32>,
    x: Tensor<f32, 2>,
    mean: Tensor<f32, 1>,
    deviation: Tensor<f32, 1>,
    y: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Table {
    fn new(device: &Device, shape @ [n, m]: [usize; 2]) -> Result<Self, Failure> {
        let mut host_x = floats(1, n * m)?;
        // One column that says nothing.
        host_x.iter_mut().skip(m / 2).step_by(m.max(1)).for_each(|x| *x = 0.25);
        Ok(Self {
            x: device.tensor(shape, &host_x)?,
            mean: device.zeros([m])?,
            deviation: device.zeros([m])?,
            y: device.zeros(shape)?,
            c: device.zeros([m, m])?,
            host_x,
        })
    }
}

impl Prepared for Table {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { x, mean, deviation, y, c, .. } = self;
        column_statistics::with(options.clone()).launch(x, mean, deviation)?;
        standardise::with(options.clone()).launch(x, mean, deviation, y)?;
        correlate::with(options.clone()).launch(y, c)
    }

    /// By sums of `x`, of its squares and of its products.
    fn verify(&self) -> Result<(), Failure> {
        let [n, m] = self.x.shape();
        let ones = vec![1.0; n];
        let sums = row_times(&ones, &self.host_x, m);
        let column = |j: usize| self.host_x.iter().skip(j).step_by(m).map(|&x| f64::from(x));
        let count = n as f64;
        let deviation = |j: usize| {
            let squares: f64 = column(j).map(|x| x * x).sum();
            let root = (squares / count - (sums[j] / count).powi(2)).max(0.0).sqrt();
            if root <= 0.005 { 1.0 } else { root }
        };
        let deviations: Vec<f64> = (0..m).map(deviation).collect();
        rows_close("c", &self.c.to_vec()?, [m, m], roundings(4 * n), |i| {
            let products = row_times(&column(i).collect::<Vec<_>>(), &self.host_x, m);
            let correlation = |j: usize| {
                let covariance = products[j] / count - sums[i] / count * (sums[j] / count);
                if i == j { 1.0 } else { covariance / (deviations[i] * deviations[j]) }
            };
            (0..m).map(correlation).collect()
        })
    }

    /// Half of the products are the other half's.
    fn cost(&self) -> Cost {
        let [n, m] = self.x.shape().map(|extent| extent as f64);
        Cost { bytes: 4.0 * (n * m + m * m), flops: m * (m + 1.0) * n }
    }
}
