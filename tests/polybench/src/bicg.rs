//! BICG, the two products of the biconjugate gradient method: `q = a · p`, `s = aᵀ · r`.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor};

use crate::reference::{close_to_largest, times};
use crate::vectors::{columns_times, rows_times};

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "bicg",
    about: "q = a · p, s = aᵀ · r",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 0], &[33, 70], &[130, 65]],
    full: &[16384, 16384],
    kernels: || vec![rows_times::kernel::<f64>(), columns_times::kernel::<f64>()],
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
        rows_times::with(options.clone()).launch(a, p, q)?;
        columns_times::with(options.clone()).launch(a, r, s)
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
