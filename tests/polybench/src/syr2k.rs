//! SYR2K: `c = alpha · a · bᵀ + alpha · b · aᵀ + beta · c`: four tiles, one sum.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{rows_close, times};

tiled_kernel! {
    /// `c = alpha · (a · bᵀ + b · aᵀ) + beta · c`.
    pub fn syr2k<T: Float>(
        alpha: T,
        beta: T,
        a: &Tensor<T, [N, K]>,
        b: &Tensor<T, [N, K]>,
        c: &mut Tensor<T, [N, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(N, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_down: [T; TM, TK];
        shared b_down: [T; TM, TK];
        shared a_across: [T; TN, TK];
        shared b_across: [T; TN, TK];
        let i = by * TM + ty;
        let j = bx * TN + tx;
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load a_down[r, k] = a[by * TM + r, p * TK + k];
            load b_down[r, k] = b[by * TM + r, p * TK + k];
            load a_across[r, k] = a[bx * TN + r, p * TK + k];
            load b_across[r, k] = b[bx * TN + r, p * TK + k];
            barrier;
            for k in 0..TK {
                acc += a_down[ty, k] * b_across[tx, k];
                acc += b_down[ty, k] * a_across[tx, k];
            }
            barrier;
        }
        c[i, j] = alpha * (acc as T) + beta * c[i, j];
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "syr2k",
    about: "c = alpha a · bᵀ + alpha b · aᵀ + beta c",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 0], &[33, 20], &[66, 50]],
    full: &[4096, 4096],
    kernels: || vec![syr2k::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, [sizes[0], sizes[1]])?)),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;

struct Matrices {
    /// `a`, `b`, and `c` as it was.
    host: [Vec<f32>; 3],
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, shape @ [n, k]: [usize; 2]) -> Result<Self, Failure> {
        let host = [floats(1, n * k)?, floats(2, n * k)?, floats(3, n * n)?];
        Ok(Self {
            a: device.tensor(shape, &host[0])?,
            b: device.tensor(shape, &host[1])?,
            c: device.tensor([n, n], &host[2])?,
            host,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        syr2k::with(options.clone()).launch(ALPHA, BETA, &self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        let ([a, b, before], [n, k]) = (&self.host, self.a.shape());
        rows_close("c", &self.c.to_vec()?, [n, n], roundings(2 * k), |row| {
            let of_row = |matrix: &[f32]| widened(&matrix[row * k..][..k]);
            let [ab, ba] = [times(b, n, &of_row(a)), times(a, n, &of_row(b))];
            let old = &before[row * n..][..n];
            (0..n)
                .map(|col| {
                    let product = ab[col] + ba[col];
                    f64::from(ALPHA) * product + f64::from(BETA) * f64::from(old[col])
                })
                .collect()
        })
    }

    /// Half of the products are the other half's.
    fn cost(&self) -> Cost {
        let [n, k] = self.a.shape().map(|extent| extent as f64);
        Cost { bytes: 4.0 * 2.0 * (n * k + n * n), flops: 2.0 * n * (n + 1.0) * k }
    }
}
