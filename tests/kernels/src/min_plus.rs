//! The min-plus product, which adds along paths and takes the shortest.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `c[i, j] = min over k of a[i, k] + b[k, j]`. Outside of their shapes the
    /// factors are infinitely far away.
    pub fn min_plus<T: Float>(
        #[pad = T::INFINITY] a: &Tensor<T, [M, K]>,
        #[pad = T::INFINITY] b: &Tensor<T, [K, N]>,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut best: T = T::INFINITY;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                best = min(best, a_s[ty, k] + b_s[k, tx]);
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = best;
    }
}
