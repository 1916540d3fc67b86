//! The textbook's tiled product of matrices of any shape: a block's work-items bring a
//! tile of each factor to shared memory together, and each reads from there what its
//! element needs. Every element of `a` is read from global memory `N / TN` times, not `N`.
//!
//! ```sh
//! cargo run --release --example gallery -- tiled_matmul 300 200 100
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `c = a · b`, row-major, any shape.
    pub fn tiled_matmul<T: Number>(
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
            barrier;                                    // both tiles are there
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;                                    // all have read them
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "tiled_matmul",
    about: "c = a · b of any shape, through shared tiles",
    sizes: &["m", "k", "n"],
    small: &[&[1, 1, 1], &[13, 0, 5], &[17, 40, 33], &[65, 64, 130]],
    full: &[4096, 4096, 4096],
    kernels: || vec![tiled_matmul::kernel::<f32>(), tiled_matmul::kernel::<u8>()],
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
        tiled_matmul::with(options.clone()).launch(&self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.c.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
