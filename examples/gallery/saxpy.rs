//! `y = alpha * x + y`, in place: one read and one write an element, nothing else.
//!
//! ```sh
//! cargo run --release --example gallery -- saxpy 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, floats};

tiled_kernel! {
    /// `y = alpha * x + y`, rounded once where `T` is `f32` or `f64`.
    pub fn saxpy<T: Number>(alpha: T, x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = alpha * x[i] + y[i];
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "saxpy",
    about: "y = alpha x + y, in place",
    sizes: &["elements"],
    small: &[&[1], &[31], &[1000], &[4097]],
    full: &[1 << 28],
    kernels: || vec![saxpy::kernel::<f32>(), saxpy::kernel::<f64>(), saxpy::kernel::<i32>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

const ALPHA: f32 = 1.5;

struct Vectors {
    x: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
    expected: Vec<f32>,
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let (x, y) = (floats(1, n)?, floats(2, n)?);
        let expected = x.iter().zip(&y).map(|(&x, &y)| ALPHA.mul_add(x, y)).collect();
        Ok(Self { x: device.tensor([n], &x)?, y: device.tensor([n], &y)?, expected })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        saxpy::with(options.clone()).launch(ALPHA, &self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("y", &self.y.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 12.0 * n, flops: 2.0 * n }
    }
}
