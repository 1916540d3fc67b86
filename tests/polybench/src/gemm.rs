//! GEMM: `c = alpha · a · b + beta · c`.

use tile_examples::frame::{
    Cost, Entry, Failure, Prepared, Product, floats, roundings, row_times, widened,
};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::rows_close;

tiled_kernel! {
    /// `c = alpha · a · b + beta · c`, row-major.
    pub fn gemm<T: Float>(
        alpha: T,
        beta: T,
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [K, N]>,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let row = by * TM + ty;
        let col = bx * TN + tx;
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[row, col] = alpha * (acc as T) + beta * c[row, col];
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "gemm",
    about: "c = alpha a · b + beta c",
    sizes: &["m", "k", "n"],
    small: &[&[1, 1, 1], &[4, 0, 5], &[17, 30, 33], &[65, 64, 70]],
    full: &[4096, 4096, 4096],
    kernels: || vec![gemm::kernel::<f32>(), gemm::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, [sizes[0], sizes[1], sizes[2]])?)),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = -0.75;

struct Matrices {
    product: Product,
    before: Vec<f32>,
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, extents @ [m, k, n]: [usize; 3]) -> Result<Self, Failure> {
        let (product, before) = (Product::new(extents)?, floats(3, m * n)?);
        Ok(Self {
            a: device.tensor([m, k], &product.a)?,
            b: device.tensor([k, n], &product.b)?,
            c: device.tensor([m, n], &before)?,
            product,
            before,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        gemm::with(options.clone()).launch(ALPHA, BETA, &self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [m, k, n] = self.product.extents;
        rows_close("c", &self.c.to_vec()?, [m, n], roundings(k), |row| {
            let factors = widened(&self.product.a[row * k..][..k]);
            let mut expected = row_times(&factors, &self.product.b, n);
            expected.iter_mut().zip(&self.before[row * n..]).for_each(|(sum, &old)| {
                *sum = f64::from(ALPHA) * *sum + f64::from(BETA) * f64::from(old);
            });
            expected
        })
    }

    /// `c` is read as well.
    fn cost(&self) -> Cost {
        let cost = self.product.cost();
        let n = self.before.len() as f64;
        Cost { bytes: cost.bytes + 4.0 * n, flops: cost.flops + 3.0 * n }
    }
}
