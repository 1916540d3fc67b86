//! Kernels with local arrays: of a work-item, of a point of an `each`, of a block
//! without work-items.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Each work-item sorts the four elements that it loads, smallest first.
    pub fn sorted_fours(#[pad = i32::MAX] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, 4 * TN)),
        block: (tx in TN),
    {
        let first = (bx * TN + tx) * 4;
        let mut x: [i32; 4];
        for k in 0..4 {
            x[k] = a[first + k];
        }
        for end in (1..4).rev() {
            for k in 0..end {
                if x[k] > x[k + 1] {
                    let greater = x[k];
                    x[k] = x[k + 1];
                    x[k + 1] = greater;
                }
            }
        }
        for k in 0..4 {
            c[first + k] = x[k];
        }
    }
}

tiled_kernel! {
    /// `c = a · b`, each work-item for a square of `F` by `F` elements whose sums are
    /// in an array of its own.
    pub fn matmul_squares(#[pad = 0.0] a: &Tensor<f32, [M, K]>, #[pad = 0.0] b: &Tensor<f32, [K, N]>, c: &mut Tensor<f32, [M, N]>)
    where
        tile: (TM, TN, TK, F = 2),
        grid: (by in tiles(M, TM * F), bx in tiles(N, TN * F)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [f32; TM * F, TK];
        shared b_s: [f32; TK, TN * F];
        let mut sums: [f32; F, F] = [0.0; F, F];
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM * F + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN * F + j];
            barrier;
            for k in 0..TK {
                let mut row: [f32; F] = [0.0; F];
                for j in 0..F {
                    row[j] = b_s[k, tx * F + j];
                }
                for i in 0..F {
                    let x = a_s[ty * F + i, k];
                    for j in 0..F {
                        sums[i, j] += x * row[j];
                    }
                }
            }
            barrier;
        }
        for i in 0..F {
            for j in 0..F {
                c[(by * TM + ty) * F + i, (bx * TN + tx) * F + j] = sums[i, j];
            }
        }
    }
}

tiled_kernel! {
    /// The digits of each number in base 7, the lowest first: looked up and turned
    /// round in an array of the point.
    pub fn digits(a: &Tensor<u32, [N]>, c: &mut Tensor<u32, [N, 4]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
    {
        each i in TN {
            let weights: [u32; 4] = [343, 49, 7, 1];
            let mut found: [u32; 4] = [0; 4];
            let mut rest: u32 = 0;
            if bx * TN + i < N {
                rest = a[bx * TN + i] % 2401;
            }
            for k in 0..4 {
                found[3 - k] = rest / weights[k];
                rest %= weights[k];
            }
            for k in 0..4 {
                c[bx * TN + i, k] = found[k];
            }
        }
    }
}

tiled_kernel! {
    /// Arnold's cat map: each pair of numbers times a matrix that is written row by row.
    pub fn cat_map(a: &Tensor<u32, [N, 2]>, c: &mut Tensor<u32, [N, 2]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let map: [u32; 2, 2] = [[2, 1], [1, 1]];
        let i = bx * TN + tx;
        for row in 0..2 {
            let mut sum: u32 = 0;
            for k in 0..2 {
                sum += map[row, k] * a[i, k];
            }
            c[i, row] = sum;
        }
    }
}

tiled_kernel! {
    /// How often each of eight values is in each part of `a`, by one worker a block.
    pub fn counted_parts(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [P, 8]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
    {
        let mut counts: [i32; 8] = [0; 8];
        for k in 0..TN {
            if bx * TN + k < N {
                let value = a[bx * TN + k];
                if value >= 0 && value < 8 {
                    counts[value] += 1;
                }
            }
        }
        for k in 0..8 {
            c[bx, k] = counts[k];
        }
    }
}
