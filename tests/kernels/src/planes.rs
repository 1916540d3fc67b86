//! Kernels on matrices that go through one shared tile.

use tile_runtime::tiled_kernel;

use crate::number::Reference;

tiled_kernel! {
    /// `b = aᵀ`: read along rows, written along rows.
    pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    /// `b = a` plus its four neighbours; 0 outside.
    pub fn stencil<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + 2, TC + 2];
        load s[i, j] = a[by * TR + i - 1, bx * TC + j - 1];
        barrier;
        let across = s[ty + 1, tx] + s[ty + 1, tx + 2];
        let along = s[ty, tx + 1] + s[ty + 2, tx + 1];
        b[by * TR + ty, bx * TC + tx] = s[ty + 1, tx + 1] + (across + along);
    }
}

tiled_kernel! {
    /// `sums[i] = sum over j of a[i, j]`: the block reads whole rows of a tile,
    /// then each work-item sums one of them.
    pub fn row_sums<T: Number>(a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        shared s: [T; TR, TC];
        let mut sum: T = 0;
        phase p in tiles(C, TC) {
            load s[i, j] = a[by * TR + i, p * TC + j];
            barrier;
            for j in 0..TC {
                sum += s[ty, j];
            }
            barrier;
        }
        sums[by * TR + ty] = sum;
    }
}

/// What the sum of `row` should be: `a` is `[r, c]`.
pub fn row_sum_at<T: Reference>(a: &[T], c: usize, row: usize) -> T::Sum {
    let mut sum = T::Sum::default();
    a[row * c..][..c].iter().for_each(|&value| T::add_product(&mut sum, value, T::one()));
    sum
}
