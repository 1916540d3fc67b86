//! Kernels whose reads outside a tensor give another element of it.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// The element before each, the element after it and itself, by three rules.
    pub fn ends<T: Number>(
        #[edge(clamp)] c: &Tensor<T, [N]>,
        #[edge(wrap)] w: &Tensor<T, [N]>,
        #[edge(reflect)] r: &Tensor<T, [N]>,
        far: i32,
        y: &mut Tensor<T, [3, N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[0, i] = c[i - 1] + c[i] + c[i + far as index];
        y[1, i] = w[i - 1] + w[i] + w[i + far as index];
        y[2, i] = r[i - 1] + r[i] + r[i + far as index];
    }

    /// A box of 3 by 3 through a tile with a halo, mirrored at the edges.
    pub fn mirrored_halo<T: Number>(
        #[edge(reflect)] x: &Tensor<T, [R, C]>,
        y: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + 2, TC + 2];
        load s[i, j] = x[by * TR + i - 1, bx * TC + j - 1];
        barrier;
        let mut sum: Acc<T> = 0;
        for i in 0..3 {
            for j in 0..3 {
                sum += s[ty + i, tx + j];
            }
        }
        y[by * TR + ty, bx * TC + tx] = sum;
    }

    /// One row a block, moved to the left in a ring: each block reads its row, waits,
    /// and writes it.
    pub fn rotated_rows(#[edge(wrap)] x: &mut Tensor<i32, [R, 64]>)
    where
        tile: (W = 64),
        grid: (r in R),
        block: (tx in W),
    {
        let moved = x[r, tx + 1];
        barrier;
        x[r, tx] = moved;
    }
}
