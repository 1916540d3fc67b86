//! BICG, the two products of the biconjugate gradient method: `q = a · p`, `s = aᵀ · r`.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{close_to_largest, times};

tiled_kernel! {
    /// `q = a · p`: one work-item a row.
    pub fn bicg_q<T: Float>(a: &Tensor<T, [R, C]>, p: &Tensor<T, [C]>, q: &mut Tensor<T, [R]>)
    where
        tile: (TR),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        let i = by * TR + ty;
        let mut sum: Acc<T> = 0;
        for j in 0..C {
            sum += a[i, j] * p[j];
        }
        q[i] = sum;
    }

    /// `s = aᵀ · r`: one work-item a column.
    pub fn bicg_s<T: Float>(a: &Tensor<T, [R, C]>, r: &Tensor<T, [R]>, s: &mut Tensor<T, [C]>)
    where
        tile: (TC),
        grid: (bx in tiles(C, TC)),
        block: (tx in TC),
    {
        let j = bx * TC + tx;
        let mut sum: Acc<T> = 0;
        for i in 0..R {
            sum += r[i] * a[i, j];
        }
        s[j] = sum;
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "bicg",
    about: "q = a · p, s = aᵀ · r",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 0], &[33, 70], &[130, 65]],
    full: &[16384, 16384],
    kernels: || vec![bicg_q::kernel::<f64>(), bicg_s::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, [sizes[0], sizes[1]])?)),
};

struct Vectors {
    /// The matrix, `p` and `r`.
    host: [Vec<f32>; 3],
    a: Tensor<f32, 2>,
    p: Tensor<f32, 1>,
    r: Tensor<f32, 1>,
    q: Tensor<f32, 1>,
    s: Tensor<f32, 1>,
}

impl Vectors {
    fn new(device: &Device, shape @ [rows, cols]: [usize; 2]) -> Result<Self, Failure> {
        let host = [floats(1, rows * cols)?, floats(2, cols)?, floats(3, rows)?];
        Ok(Self {
            a: device.tensor(shape, &host[0])?,
            p: device.tensor([cols], &host[1])?,
            r: device.tensor([rows], &host[2])?,
            q: device.zeros([rows])?,
            s: device.zeros([cols])?,
            host,
        })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, p, r, q, s, .. } = self;
        bicg_q::with(options.clone()).launch(a, p, q)?;
        bicg_s::with(options.clone()).launch(a, r, s)
    }

    fn verify(&self) -> Result<(), Failure> {
        let ([a, p, r], [rows, cols]) = (&self.host, self.a.shape());
        let q = times(a, rows, &widened(p));
        close_to_largest("q", &self.q.to_vec()?, &q, roundings(cols))?;
        let s = row_times(&widened(r), a, cols);
        close_to_largest("s", &self.s.to_vec()?, &s, roundings(rows))
    }

    fn cost(&self) -> Cost {
        let n = self.host[0].len() as f64;
        Cost { bytes: 4.0 * n, flops: 4.0 * n }
    }
}
