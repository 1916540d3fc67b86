//! Kernels that read constant memory: a filter and tables.

use tile_runtime::tiled_kernel;

use crate::number::Reference;

tiled_kernel! {
    /// Each element's neighbourhood of 5 by 5, weighted by a filter; 0 outside.
    pub fn convolution<T: Number>(
        #[pad = 0] x: &Tensor<T, [R, C]>,
        filter: &Constant<T, [F, F]>,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC, F = 5),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + F - 1, TC + F - 1];
        load s[i, j] = x[by * TR + i - F / 2, bx * TC + j - F / 2];
        barrier;
        let mut sum: Acc<T> = 0;
        for i in 0..F {
            for j in 0..F {
                sum += filter[i, j] * s[ty + i, tx + j];
            }
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }
}

tiled_kernel! {
    /// A filter of any length, over the elements before and at each.
    pub fn running_filter<T: Number>(
        #[pad = 0] x: &Tensor<T, [N]>,
        taps: &Constant<T, [K]>,
        y: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut sum: Acc<T> = 0;
        for k in 0..K {
            sum += taps[k] * x[i - k];
        }
        y[i] = sum;
    }
}

tiled_kernel! {
    /// The rows' sums by weights, which go through a tile of their own.
    pub fn weighted_rows<T: Number>(
        x: &Tensor<T, [R, 100]>,
        weights: &Constant<T, [100]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        shared x_s: [T; TR, TC];
        shared weights_s: [T; TC];
        let mut sum: Acc<T> = 0;
        phase p in tiles(100, TC) {
            load x_s[i, j] = x[by * TR + i, p * TC + j];
            load weights_s[j] = weights[p * TC + j];
            barrier;
            for j in 0..TC {
                sum += weights_s[j] * x_s[ty, j];
            }
            barrier;
        }
        y[by * TR + ty] = sum;
    }
}

tiled_kernel! {
    /// Each byte by two tables, of which a launch has room for the first alone.
    pub fn decoded(
        #[pad = 0] low: &Constant<f64, [256]>,
        #[pad = 0] high: &Constant<f64, [256]>,
        #[pad = false] is_high: &Constant<bool, [16, 16]>,
        a: &Tensor<u8, [N]>,
        c: &mut Tensor<f64, [N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let code = a[i];
        c[i] = if is_high[code / 16, code % 16] { high[code] } else { low[code] };
    }
}

tiled_kernel! {
    /// The sums of the stretches of `x` that `starts` cuts it into, a block each.
    pub fn stretch_sums(
        starts: &Constant<i32, [S + 1]>,
        #[pad = 0] x: &Tensor<i32, [N]>,
        sums: &mut Tensor<i32, [S]>,
    )
    where
        tile: (TN in [32, 64]),
        grid: (b in S),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let mut sum = 0;
        for first in (starts[b]..starts[b + 1]).step_by(TN) {
            s[tx] = if first + tx < starts[b + 1] { x[first + tx] } else { 0 };
            barrier;
            if tx == 0 {
                for k in 0..TN {
                    sum += s[k];
                }
            }
            barrier;
        }
        if tx == 0 {
            sums[b] = sum;
        }
    }
}

/// What `convolution` should store at `[row, col]`: `x` is `[rows, cols]`.
pub fn convolution_at<T: Reference>(
    (x, filter): (&[T], &[T]),
    [rows, cols]: [usize; 2],
    [row, col]: [usize; 2],
) -> T::Sum {
    let mut sum = T::Sum::default();
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let (Some(from_row), Some(from_col)) = ((row + i).checked_sub(2), (col + j).checked_sub(2))
        else {
            continue;
        };
        if from_row < rows && from_col < cols {
            T::add_product(&mut sum, filter[i * 5 + j], x[from_row * cols + from_col]);
        }
    }
    sum
}
