//! An inclusive scan of each run of 512 elements, after Hillis and Steele (1986): in
//! step d every element adds the one that stands d before it, so that after 1, 2, 4, …
//! each is the sum of all up to it. That takes few steps and many additions. Every
//! work-item reads what another one is about to overwrite: hence two barriers a step.
//!
//! ```sh
//! cargo run --release --example gallery -- hillis_steele_scan 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// `y[i]` is the sum of `x[k]` for the `k` from the start of the run up to and with `i`.
    pub fn hillis_steele_scan<T: Number>(#[pad = 0] x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (RUN = 512),
        grid: (bx in tiles(N, RUN)),
        block: (tx in RUN),
    {
        shared s: [T; RUN];
        let i = bx * RUN + tx;
        s[tx] = x[i];
        barrier;
        for d in doubling(RUN) {
            let before = if tx >= d { s[tx - d] } else { 0 };
            barrier;
            s[tx] += before;
            barrier;
        }
        y[i] = s[tx];
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "hillis_steele_scan",
    about: "inclusive scans of runs of 512, in few steps",
    sizes: &["elements"],
    small: &[&[1], &[511], &[512], &[5000]],
    full: &[1 << 27],
    kernels: || {
        vec![
            hillis_steele_scan::kernel::<f32>(),
            hillis_steele_scan::kernel::<f64>(),
            hillis_steele_scan::kernel::<i32>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Runs::new(device, sizes[0])?)),
};

const RUN: usize = 512;

struct Runs {
    x: Tensor<i32, 1>,
    y: Tensor<i32, 1>,
    expected: Vec<i32>,
}

impl Runs {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let x: Vec<i32> = ints(1, n, 2000)?.iter().map(|&x| x as i32 - 1000).collect();
        let mut expected = Vec::with_capacity(n);
        for run in x.chunks(RUN) {
            let mut sum = 0;
            for &x in run {
                sum += x;
                expected.push(sum);
            }
        }
        Ok(Self { x: device.tensor([n], &x)?, y: device.zeros([n])?, expected })
    }
}

impl Prepared for Runs {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        hillis_steele_scan::with(options.clone()).launch(&self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("y", &self.y.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 0.0 }
    }
}
