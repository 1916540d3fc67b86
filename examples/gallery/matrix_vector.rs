//! A matrix times a vector: one work-item a row. The sum over a row is one accumulation,
//! so how many threads share it out is the compiler's choice.
//!
//! ```sh
//! cargo run --release --example gallery -- matrix_vector 1000 2000
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `y = a · x`, row-major.
    pub fn matrix_vector<T: Number>(
        a: &Tensor<T, [R, C]>,
        x: &Tensor<T, [C]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (TR),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        let row = by * TR + ty;
        let mut acc: Acc<T> = 0;
        for j in 0..C {
            acc += a[row, j] * x[j];
        }
        y[row] = acc;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "matrix_vector",
    about: "y = a · x, one work-item a row",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 0], &[33, 70], &[130, 257]],
    full: &[16384, 16384],
    kernels: || vec![matrix_vector::kernel::<f32>(), matrix_vector::kernel::<i16>()],
    prepare: |device, sizes| Ok(Box::new(Matrices::new(device, sizes[0], sizes[1])?)),
};

struct Matrices {
    /// Of a matrix of one column.
    product: Product,
    a: Tensor<f32, 2>,
    x: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
}

impl Matrices {
    fn new(device: &Device, rows: usize, cols: usize) -> tile_runtime::Result<Self> {
        let product = Product::new([rows, cols, 1]);
        Ok(Self {
            a: device.tensor([rows, cols], &product.a)?,
            x: device.tensor([cols], &product.b)?,
            y: device.zeros([rows])?,
            product,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        matrix_vector::with(options.clone()).launch(&self.a, &self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.y.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
