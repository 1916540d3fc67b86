//! The tiled product as the textbook shows it first: square matrices, square tiles, and
//! each work-item brings one element of each tile, the one at its own place.
//!
//! ```sh
//! cargo run --release --example gallery -- square_matmul 500
//! ```
//!
//! The textbook's kernel needs a width that is a multiple of the tile's; here the edges
//! are the language's work, and `tiled_matmul` differs only in its header and its loads.

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `c = a · b`, all of them square.
    pub fn square_matmul<T: Number>(
        a: &Tensor<T, [N, N]>,
        b: &Tensor<T, [N, N]>,
        c: &mut Tensor<T, [N, N]>,
    )
    where
        tile: (W),
        grid: (by in tiles(N, W), bx in tiles(N, W)),
        block: (ty in W, tx in W),
    {
        shared a_s: [T; W, W];
        shared b_s: [T; W, W];
        let row = by * W + ty;
        let col = bx * W + tx;
        let mut acc: Acc<T> = 0;

        phase p in tiles(N, W) {
            a_s[ty, tx] = a[row, p * W + tx];
            b_s[ty, tx] = b[p * W + ty, col];
            barrier;
            for k in 0..W {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[row, col] = acc;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "square_matmul",
    about: "c = a · b of square matrices, one element of a tile a work-item",
    sizes: &["n"],
    small: &[&[1], &[17], &[64], &[100]],
    full: &[4096],
    kernels: || vec![square_matmul::kernel::<f32>(), square_matmul::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, sizes[0])?)),
};

struct Matrices {
    product: Product,
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let product = Product::new([n, n, n])?;
        Ok(Self {
            a: device.tensor([n, n], &product.a)?,
            b: device.tensor([n, n], &product.b)?,
            c: device.zeros([n, n])?,
            product,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        square_matmul::with(options.clone()).launch(&self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.c.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
