//! A histogram of bytes. Where every work-item adds to the one set of counts, all of
//! them queue for the same few words of memory; so each block counts in a tile of its
//! own, which is *private* to it, and adds its counts to the common ones at the end. A
//! work-item counts several bytes, so that there are few blocks to add up.
//!
//! ```sh
//! cargo run --release --example gallery -- histogram 1000003
//! cargo run --release --example gallery -- plain_histogram 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// Adds to `counts` how often each value is in `data`, one update a byte.
    pub fn plain_histogram(data: &Tensor<u8, [N]>, counts: &mut Tensor<u32, [256]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic counts[data[i]] += 1;
        }
    }

    /// The same, by way of a histogram of each block.
    pub fn histogram(data: &Tensor<u8, [N]>, counts: &mut Tensor<u32, [256]>)
    where
        tile: (TN, EACH in pow2(1..=64)),
        grid: (bx in tiles(N, EACH * TN)),
        block: (tx in TN),
    {
        shared own: [u32; 256];
        each bin in 256 {
            own[bin] = 0;
        }
        barrier;
        for k in 0..EACH {
            let i = (bx * EACH + k) * TN + tx;
            if i < N {
                atomic own[data[i]] += 1;
            }
        }
        barrier;
        each bin in 256 {
            atomic counts[bin] += own[bin];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "histogram",
    about: "how often each byte is in an array; a histogram of each block first",
    sizes: &["bytes"],
    small: &[&[1], &[255], &[4097], &[70_000]],
    full: &[1 << 28],
    kernels: || vec![histogram::kernel()],
    prepare: |device, sizes| {
        Ok(Box::new(Bytes::new(device, sizes[0], |options, data, counts| {
            histogram::with(options.clone()).launch(data, counts)
        })?))
    },
};

/// The plain one, to compare with.
pub const PLAIN: Entry = Entry {
    name: "plain_histogram",
    about: "how often each byte is in an array; all blocks on one set of counts",
    kernels: || vec![plain_histogram::kernel()],
    prepare: |device, sizes| {
        Ok(Box::new(Bytes::new(device, sizes[0], |options, data, counts| {
            plain_histogram::with(options.clone()).launch(data, counts)
        })?))
    },
    ..ENTRY
};

type Launch = fn(&Options, &Tensor<u8, 1>, &mut Tensor<u32, 1>) -> tile_runtime::Result<()>;

struct Bytes {
    launch: Launch,
    data: Tensor<u8, 1>,
    counts: Tensor<u32, 1>,
    expected: Vec<u32>,
}

impl Bytes {
    fn new(device: &Device, n: usize, launch: Launch) -> Result<Self, Failure> {
        // Low values are the more frequent ones, as they are in pictures.
        let data: Vec<u8> = ints(1, n, 1 << 16)?.iter().map(|x| ((x * x) >> 24) as u8).collect();
        let mut expected = vec![0; 256];
        for &byte in &data {
            expected[usize::from(byte)] += 1;
        }
        Ok(Self {
            launch,
            data: device.tensor([n], &data)?,
            counts: device.zeros([256])?,
            expected,
        })
    }
}

impl Prepared for Bytes {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        (self.launch)(options, &self.data, &mut self.counts)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("counts", &self.counts.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n: u32 = self.expected.iter().sum();
        Cost { bytes: f64::from(n), flops: 0.0 }
    }
}
