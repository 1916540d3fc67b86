//! Matrix products: plain, batched, scaled with a transposed factor, and
//! min-plus, which adds along paths and takes the shortest.

use tile_runtime::tiled_kernel;

use crate::number::Reference;

tiled_kernel! {
    /// `c = a · b`, row-major, any shape.
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

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
    /// One product per batch: `c[i] = a[i] · b[i]`.
    pub fn batched_matmul<T: Number>(
        a: &Tensor<T, [B, M, K]>,
        b: &Tensor<T, [B, K, N]>,
        c: &mut Tensor<T, [B, M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (bz in B, by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[bz, by * TM + i, p * TK + k];
            load b_s[k, j] = b[bz, p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[bz, by * TM + ty, bx * TN + tx] = acc;
    }
}

tiled_kernel! {
    /// `c = alpha · a · bᵀ + beta · c`: both factors are read along their rows.
    pub fn scaled_matmul<T: Number>(
        alpha: T,
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [N, K]>,
        beta: T,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TN, TK];
        let mut sum: T = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[j, k] = b[bx * TN + j, p * TK + k];
            barrier;
            for k in 0..TK {
                sum += a_s[ty, k] * b_s[tx, k];
            }
            barrier;
        }
        let i = by * TM + ty;
        let j = bx * TN + tx;
        c[i, j] = alpha * sum + beta * c[i, j];
    }
}

tiled_kernel! {
    /// `c = max(alpha · a · bᵀ + beta · c + bias, 0)`, the bias one per column: a
    /// layer of a network.
    pub fn linear_relu<T: Number>(
        alpha: T,
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [N, K]>,
        beta: T,
        bias: &Tensor<T, [N]>,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TN, TK];
        let mut sum: T = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[j, k] = b[bx * TN + j, p * TK + k];
            barrier;
            for k in 0..TK {
                sum += a_s[ty, k] * b_s[tx, k];
            }
            barrier;
        }
        let i = by * TM + ty;
        let j = bx * TN + tx;
        c[i, j] = max(alpha * sum + beta * c[i, j] + bias[j], 0);
    }
}

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

/// What element (`row`, `col`) of `a · b` should be: `a` is `[m, k]`, `b` is `[k, n]`.
pub fn product_at<T: Reference>(
    (a, b): (&[T], &[T]),
    (k, n): (usize, usize),
    (row, col): (usize, usize),
) -> T::Sum {
    let mut sum = T::Sum::default();
    for step in 0..k {
        T::add_product(&mut sum, a[row * k + step], b[step * n + col]);
    }
    sum
}

/// What element (`row`, `col`) of `alpha · a · bᵀ + beta · c + bias` should be
/// before it is cut off at 0, as [`scaled_product_at`].
pub fn linear_relu_at<T: Reference>(
    factors: (&[T], &[T]),
    k: usize,
    place: (usize, usize),
    (alpha, beta, old, bias): (T, T, T, T),
) -> T::Sum {
    let mut sum = scaled_product_at(factors, k, place, (alpha, beta, old));
    T::add_product(&mut sum, bias, T::one());
    sum
}

/// What element (`row`, `col`) of `alpha · a · bᵀ + beta · c` should be: `a` is
/// `[m, k]`, `b` is `[n, k]`, `old` the element's former value.
pub fn scaled_product_at<T: Reference>(
    (a, b): (&[T], &[T]),
    k: usize,
    (row, col): (usize, usize),
    (alpha, beta, old): (T, T, T),
) -> T::Sum {
    let mut sum = T::Sum::default();
    for step in 0..k {
        T::add_product(&mut sum, a[row * k + step], b[col * k + step]);
    }
    T::scale(&mut sum, alpha);
    T::add_product(&mut sum, beta, old);
    sum
}
