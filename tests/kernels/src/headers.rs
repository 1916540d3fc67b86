//! Kernels whose headers say more than a tile's name: lists, ranges, powers of
//! two, ties, derived sizes, constraints, and blocks and grids of literal extents.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// The sums of the `2 R + 1` elements around each.
    pub fn window_sums(x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (T in [16, 48], R = 2, W = T + 2 * R),
        grid: (bx in tiles(N, T)),
        block: (tx in T),
    {
        shared s: [i32; W];
        load s[j] = x[bx * T + j - R];
        barrier;
        let mut sum = 0;
        for k in 0..2 * R + 1 {
            sum += s[tx + k];
        }
        c[bx * T + tx] = sum;
    }
}

tiled_kernel! {
    /// A product whose tiles are tied to one another.
    pub fn tied_product(a: &Tensor<i32, [M, K]>, b: &Tensor<i32, [K, N]>, c: &mut Tensor<i32, [M, N]>)
    where
        tile: (TM in pow2(4..=16), TK = TM, TN in 8..=24 step 8, TN % TM == 0),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [i32; TM, TK];
        shared b_s: [i32; TK, TN];
        let mut acc = 0;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

tiled_kernel! {
    /// Each box of 2 by 3 by 8 elements mirrored along all of its axes.
    pub fn mirrored_boxes(x: &Tensor<i32, [4, 9, 32]>, c: &mut Tensor<i32, [4, 9, 32]>)
    where
        grid: (bz in 2, by in 3, bx in 4),
        block: (tz in 2, ty in 3, tx in 8),
    {
        shared s: [i32; 2, 3, 8];
        s[tz, ty, tx] = x[2 * bz + tz, 3 * by + ty, 8 * bx + tx];
        barrier;
        c[2 * bz + tz, 3 * by + ty, 8 * bx + tx] = s[1 - tz, 2 - ty, 7 - tx];
    }
}

tiled_kernel! {
    /// The sum of 64 elements for each of 16 rows, by halves.
    pub fn halved_rows(x: &Tensor<i32, [16, 64]>, c: &mut Tensor<i32, [16]>)
    where
        grid: (bx in 16),
        block: (tx in 64),
    {
        shared s: [i32; 64];
        s[tx] = x[bx, tx];
        barrier;
        for h in halving(64) {
            if tx < h {
                s[tx] += s[tx + h];
            }
            barrier;
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

tiled_kernel! {
    /// One block of one row of threads; the other direction is a loop.
    pub fn one_block(x: &Tensor<i32, [R, 8]>, c: &mut Tensor<i32, [R, 8]>)
    where
        block: (tx in 8),
    {
        for row in (0..R).step_by(2) {
            c[row, tx] = x[row, 7 - tx];
        }
    }
}
