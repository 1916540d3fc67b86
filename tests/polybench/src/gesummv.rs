//! GESUMMV: `y = alpha · a · x + beta · b · x`.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{close_to_largest, times};

tiled_kernel! {
    /// `y = alpha · a · x + beta · b · x`: a block a row, two sums at once.
    pub fn gesummv<T: Float>(
        alpha: T,
        beta: T,
        a: &Tensor<T, [N, N]>,
        b: &Tensor<T, [N, N]>,
        x: &Tensor<T, [N]>,
        y: &mut Tensor<T, [N]>,
    )
    where
        tile: (W),
        grid: (i in N),
        block: (tx in W),
    {
        let mut of_a: T = 0;
        let mut of_b: T = 0;
        for j in (tx..N).step_by(W) {
            of_a += a[i, j] * x[j];
            of_b += b[i, j] * x[j];
        }
        let of_row = reduce_sum(alpha * of_a + beta * of_b);
        if tx == 0 {
            y[i] = of_row;
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "gesummv",
    about: "y = alpha a · x + beta b · x",
    sizes: &["n"],
    small: &[&[1], &[33], &[130]],
    full: &[16384],
    kernels: || vec![gesummv::kernel::<f32>(), gesummv::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 1.25;

struct Vectors {
    /// `a`, `b`, `x`.
    host: [Vec<f32>; 3],
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    x: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let host = [floats(1, n * n)?, floats(2, n * n)?, floats(3, n)?];
        Ok(Self {
            a: device.tensor([n, n], &host[0])?,
            b: device.tensor([n, n], &host[1])?,
            x: device.tensor([n], &host[2])?,
            y: device.zeros([n])?,
            host,
        })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, b, x, y, .. } = self;
        gesummv::with(options.clone()).launch(ALPHA, BETA, a, b, x, y)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [a, b, x] = &self.host;
        let sums = [a, b].map(|matrix| times(matrix, x.len(), &widened(x)));
        let expected: Vec<f64> = sums[0]
            .iter()
            .zip(&sums[1])
            .map(|(a, b)| f64::from(ALPHA) * a + f64::from(BETA) * b)
            .collect();
        close_to_largest("y", &self.y.to_vec()?, &expected, roundings(2 * x.len()))
    }

    fn cost(&self) -> Cost {
        let n = self.host[0].len() as f64;
        Cost { bytes: 8.0 * n, flops: 4.0 * n }
    }
}
