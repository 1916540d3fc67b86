//! The sum of two matrices, once as it is and once through shared tiles.
//!
//! The exercise asks what the tiles buy. `explain` answers, and the gallery prints what it
//! says: each element is read once, by the work-item that needs it, so that there is
//! nothing to share. The benchmark has the figures, which are the memory's rate in both
//! cases.
//!
//! ```sh
//! cargo run --release --example gallery -- matrix_add 1000 2000
//! cargo run --release --example gallery -- matrix_add_tiled 1000 2000
//! ```

use tile_runtime::{Device, DeviceProperties, Options, Report, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, floats};

tiled_kernel! {
    /// `c = a + b`.
    pub fn matrix_add<T: Number>(
        a: &Tensor<T, [R, C]>,
        b: &Tensor<T, [R, C]>,
        c: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let row = by * TR + ty;
        let col = bx * TC + tx;
        c[row, col] = a[row, col] + b[row, col];
    }

    /// `c = a + b` through shared tiles, which gain nothing.
    pub fn matrix_add_tiled<T: Number>(
        a: &Tensor<T, [R, C]>,
        b: &Tensor<T, [R, C]>,
        c: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared a_s: [T; TR, TC];
        shared b_s: [T; TR, TC];
        load a_s[i, j] = a[by * TR + i, bx * TC + j];
        load b_s[i, j] = b[by * TR + i, bx * TC + j];
        barrier;                // a `load` may give any work-item any element
        c[by * TR + ty, bx * TC + tx] = a_s[ty, tx] + b_s[ty, tx];
    }
}

/// What the gallery runs: without tiles.
pub const ENTRY: Entry = Entry {
    name: "matrix_add",
    about: "c = a + b of matrices",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 40], &[65, 130]],
    full: &[16384, 16384],
    kernels: || vec![matrix_add::kernel::<f32>(), matrix_add::kernel::<u16>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1]], false),
};

/// What the gallery runs: through tiles.
pub const TILED: Entry = Entry {
    name: "matrix_add_tiled",
    about: "the same through shared tiles, which gain nothing",
    kernels: || vec![matrix_add_tiled::kernel::<f32>(), matrix_add_tiled::kernel::<u16>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1]], true),
    ..ENTRY
};

struct Matrices {
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
    expected: Vec<f32>,
    shape: [usize; 2],
    tiled: bool,
}

fn prepare(device: &Device, shape: [usize; 2], tiled: bool) -> Result<Box<dyn Prepared>, Failure> {
    let n = shape[0] * shape[1];
    let (a, b) = (floats(1, n)?, floats(2, n)?);
    let expected = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let (a, b) = (device.tensor(shape, &a)?, device.tensor(shape, &b)?);
    Ok(Box::new(Matrices { a, b, c: device.zeros(shape)?, expected, shape, tiled }))
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, b, c, .. } = self;
        if self.tiled {
            matrix_add_tiled::with(options.clone()).launch(a, b, c)
        } else {
            matrix_add::with(options.clone()).launch(a, b, c)
        }
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("c", &self.c.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 12.0 * n, flops: n }
    }

    fn reports(&self, device: &DeviceProperties) -> tile_runtime::Result<Vec<Report>> {
        let kernel = match self.tiled {
            true => matrix_add_tiled::kernel::<f32>(),
            false => matrix_add::kernel::<f32>(),
        };
        Ok(vec![kernel.explain(device, &self.shape)?])
    }
}
