//! 3MM: `g = (a · b) · (c · d)`: one kernel, launched three times.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::rows_close;

tiled_kernel! {
    /// `c = a · b`, row-major.
    pub fn product<T: Number>(
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
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "3mm",
    about: "g = (a · b) · (c · d)",
    sizes: &["n"],
    small: &[&[1], &[17], &[66]],
    full: &[2048],
    kernels: || vec![product::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, sizes[0])?)),
};

struct Matrices {
    n: usize,
    /// `a`, `b`, `c`, `d`.
    host: [Vec<f32>; 4],
    inputs: [Tensor<f32, 2>; 4],
    ab: Tensor<f32, 2>,
    cd: Tensor<f32, 2>,
    g: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let host = [floats(1, n * n)?, floats(2, n * n)?, floats(3, n * n)?, floats(4, n * n)?];
        let input = |at: usize| device.tensor([n, n], &host[at]);
        let zeros = || device.zeros([n, n]);
        let inputs = [input(0)?, input(1)?, input(2)?, input(3)?];
        Ok(Self { n, inputs, ab: zeros()?, cd: zeros()?, g: zeros()?, host })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let [a, b, c, d] = &self.inputs;
        let product = product::with(options.clone());
        product.launch(a, b, &mut self.ab)?;
        product.launch(c, d, &mut self.cd)?;
        product.launch(&self.ab, &self.cd, &mut self.g)
    }

    fn verify(&self) -> Result<(), Failure> {
        let ([a, b, c, d], n) = (&self.host, self.n);
        rows_close("g", &self.g.to_vec()?, [n, n], roundings(2 * n), |row| {
            let mut product = widened(&a[row * n..][..n]);
            for factor in [b, c, d] {
                product = row_times(&product, factor, n);
            }
            product
        })
    }

    fn cost(&self) -> Cost {
        let n = self.n as f64;
        Cost { bytes: 4.0 * 5.0 * n * n, flops: 6.0 * n * n * n }
    }
}
