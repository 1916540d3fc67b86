//! SYRK: `c = alpha · a · aᵀ + beta · c`, all of it, as if it were not symmetric.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{rows_close, times};

tiled_kernel! {
    /// `c = alpha · a · aᵀ + beta · c`.
    pub fn syrk<T: Float>(
        alpha: T,
        beta: T,
        a: &Tensor<T, [N, K]>,
        c: &mut Tensor<T, [N, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(N, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared down: [T; TM, TK];
        shared across: [T; TN, TK];
        let i = by * TM + ty;
        let j = bx * TN + tx;
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load down[r, k] = a[by * TM + r, p * TK + k];
            load across[r, k] = a[bx * TN + r, p * TK + k];
            barrier;
            for k in 0..TK {
                acc += down[ty, k] * across[tx, k];
            }
            barrier;
        }
        c[i, j] = alpha * (acc as T) + beta * c[i, j];
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "syrk",
    about: "c = alpha a · aᵀ + beta c",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 0], &[33, 20], &[70, 65]],
    full: &[4096, 4096],
    kernels: || vec![syrk::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, [sizes[0], sizes[1]])?)),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;

struct Matrices {
    host_a: Vec<f32>,
    before: Vec<f32>,
    a: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, shape @ [n, k]: [usize; 2]) -> Result<Self, Failure> {
        let (host_a, before) = (floats(1, n * k)?, floats(2, n * n)?);
        let (a, c) = (device.tensor(shape, &host_a)?, device.tensor([n, n], &before)?);
        Ok(Self { host_a, before, a, c })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        syrk::with(options.clone()).launch(ALPHA, BETA, &self.a, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [n, k] = self.a.shape();
        rows_close("c", &self.c.to_vec()?, [n, n], roundings(k), |row| {
            let products = times(&self.host_a, n, &widened(&self.host_a[row * k..][..k]));
            let old = &self.before[row * n..][..n];
            (0..n)
                .map(|col| f64::from(ALPHA) * products[col] + f64::from(BETA) * f64::from(old[col]))
                .collect()
        })
    }

    /// Half of the products are the other half's.
    fn cost(&self) -> Cost {
        let [n, k] = self.a.shape().map(|extent| extent as f64);
        Cost { bytes: 4.0 * (n * k + 2.0 * n * n), flops: n * (n + 1.0) * k }
    }
}
