//! Many small products in one launch: the batch is one more axis of the grid.
//!
//! ```sh
//! cargo run --release --example gallery -- batched_matmul 20 100 50 70
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `c[i] = a[i] · b[i]` for each `i` of the batch.
    pub fn batched_matmul<T: Number>(
        a: &Tensor<T, [B, M, K]>,
        b: &Tensor<T, [B, K, N]>,
        c: &mut Tensor<T, [B, M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (batch in B, by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[batch, by * TM + i, p * TK + k];
            load b_s[k, j] = b[batch, p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[batch, by * TM + ty, bx * TN + tx] = acc;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "batched_matmul",
    about: "c[i] = a[i] · b[i], a batch in one launch",
    sizes: &["batch", "m", "k", "n"],
    small: &[&[1, 1, 1, 1], &[3, 5, 0, 7], &[5, 17, 20, 33], &[2, 64, 65, 66]],
    full: &[256, 512, 512, 512],
    kernels: || vec![batched_matmul::kernel::<f32>(), batched_matmul::kernel::<u32>()],
    prepare: |device, sizes| {
        Ok(Box::new(Matrices::new(device, sizes[0], [sizes[1], sizes[2], sizes[3]])?))
    },
};

struct Matrices {
    products: Vec<Product>,
    a: Tensor<f32, 3>,
    b: Tensor<f32, 3>,
    c: Tensor<f32, 3>,
}

impl Matrices {
    fn new(
        device: &Device,
        batch: usize,
        extents @ [m, k, n]: [usize; 3],
    ) -> Result<Self, Failure> {
        let products: Vec<Product> = (0..batch)
            .map(|i| Product::seeded(2 * i as u64 + 1, extents))
            .collect::<Result<_, _>>()?;
        let a: Vec<f32> = products.iter().flat_map(|product| product.a.iter().copied()).collect();
        let b: Vec<f32> = products.iter().flat_map(|product| product.b.iter().copied()).collect();
        Ok(Self {
            a: device.tensor([batch, m, k], &a)?,
            b: device.tensor([batch, k, n], &b)?,
            c: device.zeros([batch, m, n])?,
            products,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        batched_matmul::with(options.clone()).launch(&self.a, &self.b, &mut self.c)
    }

    fn verify(&self) -> Result<(), Failure> {
        let c = self.c.to_vec()?;
        let [_, m, n] = self.c.shape();
        let mut products = self.products.iter().enumerate();
        products.try_for_each(|(i, product)| product.verify(&c[i * m * n..][..m * n]))
    }

    fn cost(&self) -> Cost {
        let costs = self.products.iter().map(Product::cost);
        costs.fold(Cost::default(), |sum, one| Cost {
            bytes: sum.bytes + one.bytes,
            flops: sum.flops + one.flops,
        })
    }
}
