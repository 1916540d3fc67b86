//! A matrix times a vector: one work-item a row, as it is written down and through a tile.
//!
//! No element of the matrix is read twice, so there is nothing to share. But neighbouring
//! work-items of `matrix_vector` read elements a whole row apart. In `matrix_vector_tiled`
//! the block reads along the rows, and each work-item finds its own row in the tile.
//!
//! ```sh
//! cargo run --release --example gallery -- matrix_vector 1000 2000
//! cargo run --release --example gallery -- matrix_vector_tiled 1000 2000
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

    /// `y = a · x`, the rows by way of a tile.
    pub fn matrix_vector_tiled<T: Number>(
        a: &Tensor<T, [R, C]>,
        x: &Tensor<T, [C]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        shared a_s: [T; TR, TC];
        shared x_s: [T; TC];
        let mut acc: Acc<T> = 0;
        phase p in tiles(C, TC) {
            load a_s[i, j] = a[by * TR + i, p * TC + j];
            load x_s[j] = x[p * TC + j];
            barrier;
            for j in 0..TC {
                acc += a_s[ty, j] * x_s[j];
            }
            barrier;
        }
        y[by * TR + ty] = acc;
    }
}

/// What the gallery runs: as it is written down.
pub const ENTRY: Entry = Entry {
    name: "matrix_vector",
    about: "y = a · x, one work-item a row",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[5, 0], &[33, 70], &[130, 257]],
    full: &[16384, 16384],
    kernels: || vec![matrix_vector::kernel::<f32>(), matrix_vector::kernel::<i16>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1]], false),
};

/// What the gallery runs: through a tile.
pub const TILED: Entry = Entry {
    name: "matrix_vector_tiled",
    about: "y = a · x, the rows by way of a tile",
    kernels: || vec![matrix_vector_tiled::kernel::<f32>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1]], true),
    ..ENTRY
};

struct Matrices {
    /// Of a matrix of one column.
    product: Product,
    a: Tensor<f32, 2>,
    x: Tensor<f32, 1>,
    y: Tensor<f32, 1>,
    tiled: bool,
}

fn prepare(
    device: &Device,
    [rows, cols]: [usize; 2],
    tiled: bool,
) -> Result<Box<dyn Prepared>, Failure> {
    let product = Product::new([rows, cols, 1])?;
    Ok(Box::new(Matrices {
        a: device.tensor([rows, cols], &product.a)?,
        x: device.tensor([cols], &product.b)?,
        y: device.zeros([rows])?,
        product,
        tiled,
    }))
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, x, y, .. } = self;
        if self.tiled {
            matrix_vector_tiled::with(options.clone()).launch(a, x, y)
        } else {
            matrix_vector::with(options.clone()).launch(a, x, y)
        }
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.y.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
