//! A matrix times a vector, along its rows and down its columns: what several of the
//! kernels are made of.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `y = a · x`: a block a row, whose work-items take every `W`th element each.
    pub fn rows_times<T: Float>(
        a: &Tensor<T, [R, C]>,
        x: &Tensor<T, [C]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (W),
        grid: (i in R),
        block: (tx in W),
    {
        let mut sum: T = 0;
        for j in (tx..C).step_by(W) {
            sum += a[i, j] * x[j];
        }
        let of_row = reduce_sum(sum);
        if tx == 0 {
            y[i] = of_row;
        }
    }

    /// `y = aᵀ · x`: a block has `TC` columns, and `TR` work-items for each, whose sums
    /// a tree adds up.
    pub fn columns_times<T: Float>(
        a: &Tensor<T, [R, C]>,
        x: &Tensor<T, [R]>,
        y: &mut Tensor<T, [C]>,
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
            sum += a[i, j] * x[i];
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
            y[j] = sums[0, tx];
        }
    }
}
