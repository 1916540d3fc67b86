//! The softmax of each row: `exp(x - most) / total`, with the row's largest element
//! taken off first, so that nothing overflows. A block has a row; its work-items walk
//! it three times, side by side, and agree in between: on the largest element, then on
//! the sum, each a collective of the block.
//!
//! ```sh
//! cargo run --release --example gallery -- row_softmax 1000 1003
//! ```

use tile_runtime::{Device, Options, Tensor, bf16, f16, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `y[r]` is the softmax of `x[r]`, computed in the type that sums of `T` are taken in.
    pub fn row_softmax<T: Float>(x: &Tensor<T, [R, C]>, y: &mut Tensor<T, [R, C]>)
    where
        tile: (TC),
        grid: (r in R),
        block: (tx in TC),
    {
        let mut most = Acc<T>::NEG_INFINITY;
        for p in tiles(C, TC) {
            let c = p * TC + tx;
            if c < C {
                most = max(most, x[r, c] as Acc<T>);
            }
        }
        most = reduce_max(most);

        let mut total: Acc<T> = 0;
        for p in tiles(C, TC) {
            let c = p * TC + tx;
            if c < C {
                total += exp(x[r, c] - most);
            }
        }
        // One division a row: of each element it would take longer than the exponential.
        let scale = 1.0 / reduce_sum(total);

        for p in tiles(C, TC) {
            let c = p * TC + tx;
            y[r, c] = exp(x[r, c] as Acc<T> - most) * scale;
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "row_softmax",
    about: "the softmax of each row, by collectives of a block",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 31], &[17, 1000]],
    full: &[1 << 14, 1 << 12],
    kernels: || {
        vec![
            row_softmax::kernel::<f32>(),
            row_softmax::kernel::<f64>(),
            row_softmax::kernel::<f16>(),
            row_softmax::kernel::<bf16>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Rows::new(device, sizes[0], sizes[1])?)),
};

struct Rows {
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
    expected: Vec<f64>,
}

impl Rows {
    fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, Failure> {
        let x: Vec<f32> = floats(1, rows * columns)?.iter().map(|x| 100.0 + 8.0 * x).collect();
        let mut expected = Vec::with_capacity(x.len());
        for row in x.chunks(columns.max(1)) {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f64> = row.iter().map(|x| f64::from(x - most).exp()).collect();
            let total: f64 = powers.iter().sum();
            expected.extend(powers.iter().map(|power| power / total));
        }
        let shape = [rows, columns];
        Ok(Self { x: device.tensor(shape, &x)?, y: device.zeros(shape)?, expected })
    }
}

impl Prepared for Rows {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        row_softmax::with(options.clone()).launch(&self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        close("y", &self.y.to_vec()?, &self.expected, 1e-5)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 4.0 * n }
    }
}
