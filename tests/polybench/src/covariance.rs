//! COVAR: the covariance of each two columns of a table: the columns' means, the table
//! without them, and its product with itself.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::rows_close;

tiled_kernel! {
    /// Each column's mean: a block has `TM` columns, and `TN` work-items for each.
    pub fn column_means<T: Float>(x: &Tensor<T, [N, M]>, mean: &mut Tensor<T, [M]>)
    where
        tile: (TN in pow2(1..=32), TM),
        grid: (bx in tiles(M, TM)),
        block: (ty in TN, tx in TM),
    {
        shared sums: [T; TN, TM];
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
        if ty == 0 {
            mean[j] = sums[0, tx] / N as T;
        }
    }

    /// The table with each column's mean at 0, in place.
    pub fn centre<T: Float>(mean: &Tensor<T, [M]>, x: &mut Tensor<T, [N, M]>)
    where
        tile: (TN, TM),
        grid: (by in tiles(N, TN), bx in tiles(M, TM)),
        block: (ty in TN, tx in TM),
    {
        x[by * TN + ty, bx * TM + tx] -= mean[bx * TM + tx];
    }

    /// `c = xᵀ · x / (N - 1)`.
    pub fn covary<T: Float>(x: &Tensor<T, [N, M]>, c: &mut Tensor<T, [M, M]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(M, TN)),
        block: (ty in TM, tx in TN),
    {
        shared down: [T; TK, TM];
        shared across: [T; TK, TN];
        let mut acc: Acc<T> = 0;
        phase p in tiles(N, TK) {
            load down[k, r] = x[p * TK + k, by * TM + r];
            load across[k, r] = x[p * TK + k, bx * TN + r];
            barrier;
            for k in 0..TK {
                acc += down[k, ty] * across[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = (acc as T) / (N - 1) as T;
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "covariance",
    about: "the covariance of each two columns of a table",
    sizes: &["rows", "columns"],
    small: &[&[2, 1], &[7, 3], &[33, 40], &[100, 66]],
    full: &[4096, 4096],
    kernels: || {
        vec![column_means::kernel::<f32>(), centre::kernel::<f32>(), covary::kernel::<f32>()]
    },
    prepare: |device, sizes| Ok(Box::new(Table::new(device, [sizes[0], sizes[1]])?)),
};

struct Table {
    host_x: Vec<f32>,
    x: Tensor<f32, 2>,
    mean: Tensor<f32, 1>,
    c: Tensor<f32, 2>,
}

impl Table {
    fn new(device: &Device, shape @ [n, m]: [usize; 2]) -> Result<Self, Failure> {
        let host_x = floats(1, n * m)?;
        Ok(Self {
            x: device.tensor(shape, &host_x)?,
            mean: device.zeros([m])?,
            c: device.zeros([m, m])?,
            host_x,
        })
    }
}

impl Prepared for Table {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { x, mean, c, .. } = self;
        column_means::with(options.clone()).launch(x, mean)?;
        centre::with(options.clone()).launch(mean, x)?;
        covary::with(options.clone()).launch(x, c)
    }

    /// By sums of `x` and of its products.
    fn verify(&self) -> Result<(), Failure> {
        let [n, m] = self.x.shape();
        let sums = row_times(&vec![1.0; n], &self.host_x, m);
        rows_close("c", &self.c.to_vec()?, [m, m], roundings(n), |i| {
            let column: Vec<f64> =
                self.host_x.iter().skip(i).step_by(m).map(|&x| f64::from(x)).collect();
            let products = row_times(&column, &self.host_x, m);
            let covariance =
                |j: usize| (products[j] - sums[i] * sums[j] / n as f64) / (n as f64 - 1.0);
            (0..m).map(covariance).collect()
        })
    }

    /// Half of the products are the other half's.
    fn cost(&self) -> Cost {
        let [n, m] = self.x.shape().map(|extent| extent as f64);
        Cost { bytes: 4.0 * (n * m + m * m), flops: m * (m + 1.0) * n }
    }
}
