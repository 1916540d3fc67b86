//! The sum of an array in two launches: `PARTS` blocks sum a part of it each, one
//! block sums those sums. In a block the work-items first sum what is theirs, one
//! element in every `PARTS * TN`, so that neighbours read neighbours; then half of
//! them add what the other half has found, and so on: a tree in a shared tile, whose
//! live half is always the front one (*sequential addressing*).
//!
//! ```sh
//! cargo run --release --example gallery -- tree_reduction 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `sums[b]` is the sum of what block `b` finds in `a`; the sums add up to all of it.
    pub fn tree_reduction<T: Number>(a: &Tensor<T, [N]>, sums: &mut Tensor<T, [PARTS]>)
    where
        tile: (TN in pow2(64..=1024)),
        grid: (b in PARTS),
        block: (tx in TN),
    {
        shared s: [T; TN];
        let mut sum: T = 0;
        for p in tiles(N, PARTS * TN) {
            sum += a[(p * PARTS + b) * TN + tx];
        }
        s[tx] = sum;
        barrier;
        for d in halving(TN) {
            if tx < d {
                s[tx] += s[tx + d];
            }
            barrier;
        }
        if tx == 0 {
            sums[b] = s[0];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "tree_reduction",
    about: "the sum of an array, by trees in shared tiles, in two launches",
    sizes: &["elements"],
    small: &[&[1], &[63], &[4097], &[100_000]],
    full: &[1 << 28],
    kernels: || {
        vec![
            tree_reduction::kernel::<f32>(),
            tree_reduction::kernel::<f64>(),
            tree_reduction::kernel::<i32>(),
            tree_reduction::kernel::<u64>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Numbers::new(device, sizes[0])?)),
};

/// Blocks of the first launch: some for each of a large device's multiprocessors.
const PARTS: usize = 1024;

struct Numbers {
    a: Tensor<f32, 1>,
    sums: Tensor<f32, 1>,
    total: Tensor<f32, 1>,
    expected: f64,
}

impl Numbers {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let a = floats(1, n)?;
        let expected = a.iter().copied().map(f64::from).sum();
        // No more parts than there is work for.
        let parts = PARTS.min(n.div_ceil(64));
        Ok(Self {
            a: device.tensor([n], &a)?,
            sums: device.zeros([parts])?,
            total: device.zeros([1])?,
            expected,
        })
    }
}

impl Prepared for Numbers {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        tree_reduction::with(options.clone()).launch(&self.a, &mut self.sums)?;
        tree_reduction::with(options.clone()).launch(&self.sums, &mut self.total)
    }

    fn verify(&self) -> Result<(), Failure> {
        // A sum of n roundings, relative to a total that grows with the root of n.
        close("total", &self.total.to_vec()?, &[self.expected], 1e-4)
    }

    fn cost(&self) -> Cost {
        let n = self.a.shape()[0] as f64;
        Cost { bytes: 4.0 * n, flops: n }
    }
}
