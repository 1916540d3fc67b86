//! The product of two matrices without a tile: each work-item reads a row of `a` and a
//! column of `b` from global memory, so every element is read again and again.
//!
//! ```sh
//! cargo run --release --example gallery -- naive_matmul 300 200 100
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `c = a · b`, row-major, any shape.
    pub fn naive_matmul<T: Number>(
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [K, N]>,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        let row = by * TM + ty;
        let col = bx * TN + tx;
        let mut acc: Acc<T> = 0;
        for k in 0..K {
            acc += a[row, k] * b[k, col];
        }
        c[row, col] = acc;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "naive_matmul",
    about: "c = a · b without a tile",
    sizes: &["m", "k", "n"],
    small: &[&[1, 1, 1], &[13, 0, 5], &[17, 40, 33], &[65, 64, 70]],
    full: &[4096, 4096, 4096],
    kernels: || vec![naive_matmul::kernel::<f32>(), naive_matmul::kernel::<i32>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, [sizes[0], sizes[1], sizes[2]])?)),
};

struct Matrices {
    product: Product,
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, extents @ [m, k, n]: [usize; 3]) -> Result<Self, Failure> {
        let product = Product::new(extents)?;
        Ok(Self {
            a: device.tensor([m, k], &product.a)?,
            b: device.tensor([k, n], &product.b)?,
            c: device.zeros([m, n])?,
            product,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        naive_matmul::with(options.clone()).launch(&self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.c.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
