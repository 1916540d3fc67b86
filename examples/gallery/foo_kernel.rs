//! A kernel that only an exercise would write, for the sake of its questions: how many
//! copies of each variable are there, how much shared memory does a block use, how many
//! operations come on each byte of global memory?
//!
//! Of 1024 elements, in blocks of 128: `x` is a work-item's, so there are 1024; `y_s` and
//! `b_s` are a block's, so there are 8, which take 4 * (1 + 128) = 516 bytes. A work-item
//! reads four elements of `a` and one of `b` and writes one of `b`, 24 bytes, for five
//! multiplications and five additions.
//!
//! ```sh
//! cargo run --release --example gallery -- foo_kernel 1024
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// Each element of `b` becomes a weighted sum of four elements of `a`, as far apart as
    /// there are work-items in the whole grid, of itself, and of the element of its block
    /// three further on, around the end; `b` goes on with zeros.
    pub fn foo_kernel(a: &Tensor<f32, [4 * tiles(N, W) * W]>, #[pad = 0] b: &mut Tensor<f32, [N]>)
    where
        tile: (W = 128),
        grid: (bx in tiles(N, W)),
        block: (tx in W),
    {
        let i = bx * W + tx;
        let all = tiles(N, W) * W;              // blockDim.x * gridDim.x
        let mut x: [f32; 4] = [0; 4];
        shared y_s: [f32; 1];
        shared b_s: [f32; W];
        for j in 0..4 {
            x[j] = a[j * all + i];
        }
        if tx == 0 {
            y_s[0] = 7.4;
        }
        b_s[tx] = b[i];
        barrier;
        b[i] = 2.5 * x[0] + 3.7 * x[1] + 6.3 * x[2] + 8.5 * x[3]
            + y_s[0] * b_s[tx] + b_s[(tx + 3) % W];
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "foo_kernel",
    about: "the exercise on the memory spaces of variables",
    sizes: &["elements"],
    small: &[&[1], &[127], &[1000], &[1024]],
    full: &[1 << 26],
    kernels: || vec![foo_kernel::kernel()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

/// Work-items of a block, the kernel's `W`.
const BLOCK: usize = 128;

struct Vectors {
    a: Tensor<f32, 1>,
    b: Tensor<f32, 1>,
    expected: Vec<f64>,
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let all = n.div_ceil(BLOCK) * BLOCK;
        let (a, b) = (floats(1, 4 * all)?, floats(2, n)?);
        let b_at = |i: usize| b.get(i).copied().map_or(0.0, f64::from);
        let element = |i: usize| {
            let around = i / BLOCK * BLOCK + (i % BLOCK + 3) % BLOCK;
            let weighted = [2.5, 3.7, 6.3, 8.5].iter().enumerate();
            let of_a: f64 = weighted.map(|(j, weight)| weight * f64::from(a[j * all + i])).sum();
            of_a + 7.4 * b_at(i) + b_at(around)
        };
        let expected = (0..n).map(element).collect();
        Ok(Self { a: device.tensor([4 * all], &a)?, b: device.tensor([n], &b)?, expected })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        foo_kernel::with(options.clone()).launch(&self.a, &mut self.b)
    }

    fn verify(&self) -> Result<(), Failure> {
        // Five products and sums of numbers up to 28, each rounded once.
        close("b", &self.b.to_vec()?, &self.expected, 2e-5)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 24.0 * n, flops: 10.0 * n }
    }
}
