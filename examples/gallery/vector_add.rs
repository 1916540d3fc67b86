//! `c = a + b`: the first kernel of every textbook. One work-item an element; where the
//! last tile stands over the end, nothing is read or written.
//!
//! ```sh
//! cargo run --release --example gallery -- vector_add 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, floats};

tiled_kernel! {
    /// `c = a + b`.
    pub fn vector_add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + b[i];
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "vector_add",
    about: "c = a + b",
    sizes: &["elements"],
    small: &[&[1], &[31], &[1000], &[4099]],
    full: &[1 << 28],
    kernels: || vec![vector_add::kernel::<f32>(), vector_add::kernel::<i8>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

struct Vectors {
    a: Tensor<f32, 1>,
    b: Tensor<f32, 1>,
    c: Tensor<f32, 1>,
    expected: Vec<f32>,
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let (a, b) = (floats(1, n)?, floats(2, n)?);
        // One IEEE addition an element: the bits are the same everywhere.
        let expected = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        Ok(Self {
            a: device.tensor([n], &a)?,
            b: device.tensor([n], &b)?,
            c: device.zeros([n])?,
            expected,
        })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        vector_add::with(options.clone()).launch(&self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("c", &self.c.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 12.0 * n, flops: n }
    }
}
