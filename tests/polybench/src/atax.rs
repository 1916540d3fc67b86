//! ATAX: `y = aᵀ · (a · x)`: one kernel sums along rows, the other down columns.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor};

use crate::reference::{close_to_largest, times};
use crate::vectors::{columns_times, rows_times};

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "atax",
    about: "y = aᵀ · (a · x)",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[0, 3], &[33, 70], &[130, 65]],
    full: &[16384, 16384],
    kernels: || vec![rows_times::kernel::<f32>(), columns_times::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, [sizes[0], sizes[1]])?)),
};

struct Vectors {
    host_a: Vec<f32>,
    host_x: Vec<f32>,
    a: Tensor<f32, 2>,
    x: Tensor<f32, 1>,
    ax: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
}

impl Vectors {
    fn new(device: &Device, shape @ [rows, cols]: [usize; 2]) -> Result<Self, Failure> {
        let (host_a, host_x) = (floats(1, rows * cols)?, floats(2, cols)?);
        Ok(Self {
            a: device.tensor(shape, &host_a)?,
            x: device.tensor([cols], &host_x)?,
            ax: device.zeros([rows])?,
            y: device.zeros([cols])?,
            host_a,
            host_x,
        })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, x, ax, y, .. } = self;
        rows_times::with(options.clone()).launch(a, x, ax)?;
        columns_times::with(options.clone()).launch(a, ax, y)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [rows, cols] = self.a.shape();
        let ax = times(&self.host_a, rows, &widened(&self.host_x));
        let expected = row_times(&ax, &self.host_a, cols);
        close_to_largest("y", &self.y.to_vec()?, &expected, roundings(rows + cols))
    }

    /// The matrix is read twice: the second kernel needs all of the first one's sums.
    fn cost(&self) -> Cost {
        let n = self.host_a.len() as f64;
        Cost { bytes: 8.0 * n, flops: 4.0 * n }
    }
}
