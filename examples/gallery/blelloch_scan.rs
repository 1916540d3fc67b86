//! An exclusive scan of each run of 512 elements, after Blelloch (1990): up a tree of
//! sums, then down again, each node handing its left child what comes before it, and
//! its right child that and the left one's sum. It does no more additions than a loop
//! would (*work-efficient*), in twice the steps of Hillis and Steele's.
//!
//! ```sh
//! cargo run --release --example gallery -- blelloch_scan 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `y[i]` is the sum of `x[k]` for the `k` from the start of the run up to `i`, without it.
    pub fn blelloch_scan<T: Number>(#[pad = 0] x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (HALF = 256, RUN = 2 * HALF),
        grid: (bx in tiles(N, RUN)),
        block: (tx in HALF),
    {
        shared s: [T; RUN];
        load s[j] = x[bx * RUN + j];
        barrier;
        // Up: the last element of each 2d becomes the sum of them.
        for d in doubling(RUN) {
            let right = (2 * tx + 2) * d - 1;
            if right < RUN {
                s[right] += s[right - d];
            }
            barrier;
        }
        // Nothing comes before the root.
        if tx == 0 {
            s[RUN - 1] = 0;
        }
        barrier;
        // Down: the last element of each 2d holds what comes before them.
        for d in halving(RUN) {
            let right = (2 * tx + 2) * d - 1;
            if right < RUN {
                let sum_of_left = s[right - d];
                s[right - d] = s[right];
                s[right] += sum_of_left;
            }
            barrier;
        }
        each j in RUN {
            y[bx * RUN + j] = s[j];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "blelloch_scan",
    about: "exclusive scans of runs of 512, with few additions",
    sizes: &["elements"],
    small: &[&[1], &[511], &[512], &[5000]],
    full: &[1 << 27],
    kernels: || {
        vec![
            blelloch_scan::kernel::<f32>(),
            blelloch_scan::kernel::<f64>(),
            blelloch_scan::kernel::<i32>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Runs::new(device, sizes[0])?)),
};

const RUN: usize = 512;

struct Runs {
    x: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
    expected: Vec<f64>,
}

impl Runs {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let x = floats(1, n)?;
        let mut expected = Vec::with_capacity(n);
        for run in x.chunks(RUN) {
            let mut sum = 0.0;
            for &x in run {
                expected.push(sum);
                sum += f64::from(x);
            }
        }
        Ok(Self { x: device.tensor([n], &x)?, y: device.zeros([n])?, expected })
    }
}

impl Prepared for Runs {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        blelloch_scan::with(options.clone()).launch(&self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        // At most 18 roundings of sums below 512.
        close("y", &self.y.to_vec()?, &self.expected, 1e-4)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: n }
    }
}
