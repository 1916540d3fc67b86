//! The sum of each row, tile by tile.

use tile_runtime::tiled_kernel;

use crate::number::Reference;

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
