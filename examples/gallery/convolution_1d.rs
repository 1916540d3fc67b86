//! A weighted sum around each element of a vector: the filter is in constant memory, and
//! the block's elements are in a tile that is wider than the block by the filter's arms,
//! the halo.
//!
//! ```sh
//! cargo run --release --example gallery -- convolution_1d 1000003
//! ```

use tile_runtime::{Constant, Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings};

tiled_kernel! {
    const ARM: u32 = 4;

    /// `y[i] = sum over k of filter[k] * x[i + k - ARM]`; 0 outside of `x`.
    pub fn convolution_1d<T: Number>(
        #[pad = 0] x: &Tensor<T, [N]>,
        filter: &Constant<T, [F]>,
        y: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN, R = ARM, F = 2 * R + 1),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [T; TN + 2 * R];
        load s[i] = x[bx * TN + i - R];
        barrier;
        let mut sum: Acc<T> = 0;
        for k in 0..F {
            sum += filter[k] * s[tx + k];
        }
        y[bx * TN + tx] = sum;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "convolution_1d",
    about: "nine elements weighted, the filter in constant memory",
    sizes: &["elements"],
    small: &[&[1], &[8], &[1000], &[4097]],
    full: &[1 << 27],
    kernels: || vec![convolution_1d::kernel::<f32>(), convolution_1d::kernel::<i16>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

/// The filter's elements, of which `ARM` are on either side of the middle.
const TAPS: usize = 9;

struct Vectors {
    x: Tensor<f32, 1>,
    filter: Constant<f32, 1>,
    y: Tensor<f32, 1>,
    expected: Vec<f64>,
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let (x, filter) = (floats(1, n)?, floats(2, TAPS)?);
        let at = |i: usize| {
            let around = filter.iter().enumerate().filter_map(|(k, weight)| {
                let element = x.get((i + k).checked_sub(TAPS / 2)?)?;
                Some(f64::from(*weight) * f64::from(*element))
            });
            around.sum()
        };
        let expected = (0..n).map(at).collect();
        Ok(Self {
            x: device.tensor([n], &x)?,
            filter: device.constant([TAPS], &filter)?,
            y: device.zeros([n])?,
            expected,
        })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        convolution_1d::with(options.clone()).launch(&self.x, &self.filter, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        close("y", &self.y.to_vec()?, &self.expected, roundings(TAPS))
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 2.0 * TAPS as f64 * n }
    }
}
