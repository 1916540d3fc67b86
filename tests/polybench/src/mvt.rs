//! MVT: `x1 += a · y1`, `x2 += aᵀ · y2`: along the rows, and down the columns.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{close_to_largest, times};

tiled_kernel! {
    /// `x += a · y`: a block a row.
    pub fn mvt_rows<T: Float>(a: &Tensor<T, [R, C]>, y: &Tensor<T, [C]>, x: &mut Tensor<T, [R]>)
    where
        tile: (W),
        grid: (i in R),
        block: (tx in W),
    {
        let mut sum: T = 0;
        for j in (tx..C).step_by(W) {
            sum += a[i, j] * y[j];
        }
        let of_row = reduce_sum(sum);
        if tx == 0 {
            x[i] += of_row;
        }
    }

    /// `x += aᵀ · y`: a block has `TC` columns, and `TR` work-items for each.
    pub fn mvt_columns<T: Float>(
        a: &Tensor<T, [R, C]>,
        y: &Tensor<T, [R]>,
        x: &mut Tensor<T, [C]>,
    )
    where
        tile: (TR in pow2(1..=32), TC),
        grid: (bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared sums: [T; TR, TC];
        let j = bx * TC + tx;
        let mut sum: T = 0;
        for i in (ty..R).step_by(TR) {
            sum += a[i, j] * y[i];
        }
        sums[ty, tx] = sum;
        barrier;
        for d in halving(TR) {
            if ty < d {
                sums[ty, tx] += sums[ty + d, tx];
            }
            barrier;
        }
        if ty == 0 {
            x[j] += sums[0, tx];
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "mvt",
    about: "x1 += a · y1, x2 += aᵀ · y2",
    sizes: &["n"],
    small: &[&[1], &[33], &[130]],
    full: &[16384],
    kernels: || vec![mvt_rows::kernel::<f32>(), mvt_columns::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Vectors::new(device, sizes[0])?)),
};

struct Vectors {
    /// The matrix, `y1`, `y2`, and `x1` and `x2` as they were.
    host: [Vec<f32>; 5],
    a: Tensor<f32, 2>,
    y: [Tensor<f32, 1>; 2],
    x: [Tensor<f32, 1>; 2],
}

impl Vectors {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        let host = [floats(1, n * n)?, floats(2, n)?, floats(3, n)?, floats(4, n)?, floats(5, n)?];
        let vector = |at: usize| device.tensor([n], &host[at]);
        let (y, x) = ([vector(1)?, vector(2)?], [vector(3)?, vector(4)?]);
        Ok(Self { a: device.tensor([n, n], &host[0])?, y, x, host })
    }
}

impl Prepared for Vectors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let ([y1, y2], [x1, x2]) = (&self.y, &mut self.x);
        mvt_rows::with(options.clone()).launch(&self.a, y1, x1)?;
        mvt_columns::with(options.clone()).launch(&self.a, y2, x2)
    }

    fn verify(&self) -> Result<(), Failure> {
        let ([a, y1, y2, x1, x2], n) = (&self.host, self.x[0].shape()[0]);
        let products = [times(a, n, &widened(y1)), row_times(&widened(y2), a, n)];
        for ((found, product), before) in self.x.iter().zip(products).zip([x1, x2]) {
            let expected: Vec<f64> =
                product.iter().zip(before).map(|(sum, &x)| f64::from(x) + sum).collect();
            close_to_largest("x", &found.to_vec()?, &expected, roundings(n))?;
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        let n = self.host[0].len() as f64;
        Cost { bytes: 4.0 * n, flops: 4.0 * n }
    }
}
