//! The sum of an array in two launches, as `tree_reduction` makes it, with the tree of
//! a warp in its registers: its 32 work-items pass each other their sums without
//! memory or barriers. What the warps of a block have found the first warp sums.
//!
//! ```sh
//! cargo run --release --example gallery -- warp_reduction 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// `sums[b]` is the sum of what block `b` finds in `a`; the sums add up to all of it.
    pub fn warp_reduction<T: Number>(a: &Tensor<T, [N]>, sums: &mut Tensor<T, [PARTS]>)
    where
        tile: (WARPS in [4, 8, 16, 32]),
        grid: (b in PARTS),
        block: (w in WARPS, lane in 32),
    {
        shared of_warps: [T; WARPS];
        let mut sum: T = 0;
        for p in tiles(N, PARTS * WARPS * 32) {
            sum += a[((p * PARTS + b) * WARPS + w) * 32 + lane];
        }
        sum = warp_sum(sum);
        if lane == 0 {
            of_warps[w] = sum;
        }
        barrier;
        if w == 0 {
            let total = warp_sum(if lane < WARPS { of_warps[lane] } else { 0 });
            if lane == 0 {
                sums[b] = total;
            }
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "warp_reduction",
    about: "the sum of an array, by sums of warps, in two launches",
    sizes: &["elements"],
    small: &[&[1], &[63], &[4097], &[100_000]],
    full: &[1 << 28],
    kernels: || {
        vec![
            warp_reduction::kernel::<f32>(),
            warp_reduction::kernel::<f64>(),
            warp_reduction::kernel::<i32>(),
            warp_reduction::kernel::<u64>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Numbers::new(device, sizes[0])?)),
};

/// Blocks of the first launch: some for each of a large device's multiprocessors.
const PARTS: usize = 1024;

struct Numbers {
    a: Tensor<i32, 1>,
    sums: Tensor<i32, 1>,
    total: Tensor<i32, 1>,
    expected: i32,
}

impl Numbers {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        // Sums of integers are exact: they wrap, in whatever order.
        let a: Vec<i32> = ints(1, n, u32::MAX)?.iter().map(|&x| x as i32).collect();
        let expected = a.iter().fold(0, |sum: i32, &x| sum.wrapping_add(x));
        // No more parts than there is work for.
        let parts = PARTS.min(n.div_ceil(128));
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
        warp_reduction::with(options.clone()).launch(&self.a, &mut self.sums)?;
        warp_reduction::with(options.clone()).launch(&self.sums, &mut self.total)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("total", &self.total.to_vec()?, &[self.expected])
    }

    fn cost(&self) -> Cost {
        let n = self.a.shape()[0] as f64;
        Cost { bytes: 4.0 * n, flops: 0.0 }
    }
}
