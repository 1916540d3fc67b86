//! Sorts an array: runs of 2048 keys first (`block_sort`), then two neighbouring runs
//! are merged into one, again and again, between two arrays. Every work-item makes 8
//! keys of the result. Where in the two runs these begin it finds by bisection: on the
//! *merge path* (Green, McColl and Bader, 2012) the keys before add up to its place.
//!
//! ```sh
//! cargo run --release --example gallery -- array_sort 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use super::block_sort::{RUN, block_sort};
use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// `y` has the runs of `x`, each of `run` keys, merged two by two.
    pub fn merge_runs<T: Integer>(
        run: u32,
        #[pad = T::MAX] x: &Tensor<T, [N]>,
        y: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN, EACH = 8),
        grid: (bx in tiles(N, TN * EACH)),
        block: (tx in TN),
    {
        let length = run as index;
        let first = (bx * TN + tx) * EACH;
        // The left run is start..middle, the right one middle..end.
        let start = first / (2 * length) * (2 * length);
        let middle = min(start + length, N);
        let end = min(middle + length, N);
        // Of the keys that come before, how many are of the left run?
        let before = first - start;
        let mut least = max(before - (end - middle), 0);
        let mut most = min(before, middle - start);
        while least < most {
            let half = (least + most) / 2;
            if x[start + half] <= x[middle + before - 1 - half] {
                least = half + 1;
            } else {
                most = half;
            }
        }
        let mut left = start + least;
        let mut right = middle + before - least;
        for k in 0..EACH {
            let takes_left = left < middle && (right >= end || x[left] <= x[right]);
            y[first + k] = if takes_left { x[left] } else { x[right] };
            if takes_left {
                left += 1;
            } else {
                right += 1;
            }
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "array_sort",
    about: "an array in rising order: runs sorted in blocks, then merged two by two",
    sizes: &["keys"],
    small: &[&[1], &[2049], &[5000], &[20_000]],
    full: &[1 << 26],
    kernels: || {
        let kernels =
            [merge_runs::kernel::<u32>(), merge_runs::kernel::<i64>(), merge_runs::kernel::<u8>()];
        kernels.map(|kernel| kernel.scalar("run", RUN as u32)).to_vec()
    },
    prepare: |device, sizes| Ok(Box::new(Keys::new(device, sizes[0])?)),
};

struct Keys {
    /// The keys, and room for as many; which of the two has the result after a launch.
    arrays: [Tensor<u32, 1>; 2],
    result: usize,
    expected: Vec<u32>,
}

impl Keys {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        if n > 1 << 31 {
            return Err(Failure::Sizes("at most 2^31 keys".to_owned()));
        }
        let mut expected = ints(1, n, u32::MAX)?;
        let arrays = [device.tensor([n], &expected)?, device.zeros([n])?];
        expected.sort_unstable();
        Ok(Self { arrays, result: 0, expected })
    }
}

impl Prepared for Keys {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let n = self.expected.len();
        let [mut from, mut to] = self.arrays.each_mut();
        self.result = 0;
        block_sort::with(options.clone()).launch(from)?;
        let mut run = RUN;
        while run < n {
            merge_runs::with(options.clone()).launch(run as u32, from, to)?;
            std::mem::swap(&mut from, &mut to);
            self.result = 1 - self.result;
            run *= 2;
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("keys", &self.arrays[self.result].to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 0.0 }
    }
}
