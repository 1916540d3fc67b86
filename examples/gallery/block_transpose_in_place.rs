//! A matrix cut into squares, each of which is transposed where it lies.
//!
//! The exercise's kernel lacks its barrier, and asks for which widths of the square it is
//! right all the same. Leave the `barrier;` out here: it does not compile, and the message
//! names two work-items and the element that they meet at.
//!
//! ```sh
//! cargo run --release --example gallery -- block_transpose_in_place 1000 2000
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, floats};

tiled_kernel! {
    /// Transposes each square of 32 by 32 elements. Where the edge cuts a square, elements
    /// whose mirror image is cut off stay as they are.
    pub fn block_transpose_in_place<T: Element>(a: &mut Tensor<T, [R, C]>)
    where
        tile: (W = 32),
        grid: (by in tiles(R, W), bx in tiles(C, W)),
        block: (ty in W, tx in W),
    {
        shared s: [T; W, W];
        s[ty, tx] = a[by * W + ty, bx * W + tx];
        barrier;
        if in_bounds(a[by * W + tx, bx * W + ty]) {
            a[by * W + ty, bx * W + tx] = s[tx, ty];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "block_transpose_in_place",
    about: "the squares of a matrix, each transposed where it lies",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 40], &[64, 96], &[70, 33]],
    full: &[16384, 16384],
    kernels: || {
        vec![block_transpose_in_place::kernel::<f32>(), block_transpose_in_place::kernel::<bool>()]
    },
    prepare: |device, sizes| Ok(Box::new(Matrix::new(device, [sizes[0], sizes[1]])?)),
};

/// The kernel's `W`: what it computes depends on it.
const WIDTH: usize = 32;

struct Matrix {
    a: Tensor<f32, 2>,
    before: Vec<f32>,
}

impl Matrix {
    fn new(device: &Device, shape: [usize; 2]) -> Result<Self, Failure> {
        let before = floats(1, shape[0] * shape[1])?;
        Ok(Self { a: device.tensor(shape, &before)?, before })
    }
}

impl Prepared for Matrix {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        block_transpose_in_place::with(options.clone()).launch(&mut self.a)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [rows, cols] = self.a.shape();
        let mut expected = self.before.clone();
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let mirrored = (row / WIDTH * WIDTH + col % WIDTH, col / WIDTH * WIDTH + row % WIDTH);
            if mirrored.0 < rows && mirrored.1 < cols {
                expected[mirrored.0 * cols + mirrored.1] = self.before[row * cols + col];
            }
        }
        equal("a", &self.a.to_vec()?, &expected)
    }

    fn cost(&self) -> Cost {
        Cost { bytes: 8.0 * self.before.len() as f64, flops: 0.0 }
    }
}
