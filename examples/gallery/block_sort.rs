//! Sorts each run of 2048 keys in a shared tile, by Batcher's bitonic network (1968).
//! Two sorted halves, one rising and one falling, are a *bitonic* run; comparing all
//! pairs that are d apart, for d of half its length, a quarter, …, 1, sorts it. Which
//! pairs are compared depends on no key, so all work-items walk in step, and keys that
//! are past the end count as the largest ones.
//!
//! ```sh
//! cargo run --release --example gallery -- block_sort 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// Each run of `keys` in rising order, in place; a work-item for each pair.
    pub fn block_sort<T: Integer>(#[pad = T::MAX] keys: &mut Tensor<T, [N]>)
    where
        tile: (HALF = 1024, RUN = 2 * HALF),
        grid: (bx in tiles(N, RUN)),
        block: (tx in HALF),
    {
        shared s: [T; RUN];
        load s[j] = keys[bx * RUN + j];
        barrier;
        // Sorted runs of `half` keys are merged into runs of twice as many.
        for half in doubling(RUN) {
            for d in halving(2 * half) {
                let low = 2 * tx - tx % d;
                let high = low + d;
                let rises = low & (2 * half) == 0;
                if (s[low] > s[high]) == rises {
                    let held = s[low];
                    s[low] = s[high];
                    s[high] = held;
                }
                barrier;
            }
        }
        each j in RUN {
            keys[bx * RUN + j] = s[j];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "block_sort",
    about: "runs of 2048 keys in rising order, by a bitonic network",
    sizes: &["keys"],
    small: &[&[1], &[2047], &[5000]],
    full: &[1 << 26],
    kernels: || {
        vec![
            block_sort::kernel::<u32>(),
            block_sort::kernel::<i32>(),
            block_sort::kernel::<u64>(),
            block_sort::kernel::<u8>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Keys::new(device, sizes[0])?)),
};

/// Keys of a run.
pub(crate) const RUN: usize = 2048;

struct Keys {
    keys: Tensor<u32, 1>,
    expected: Vec<u32>,
}

impl Keys {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let mut expected = ints(1, n, u32::MAX)?;
        let keys = device.tensor([n], &expected)?;
        expected.chunks_mut(RUN).for_each(<[u32]>::sort_unstable);
        Ok(Self { keys, expected })
    }
}

impl Prepared for Keys {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        block_sort::with(options.clone()).launch(&mut self.keys)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("keys", &self.keys.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 0.0 }
    }
}
