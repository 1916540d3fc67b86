//! The textbook's kernels, as the tests of lowering and of costs use them.

pub(crate) const ADD: &str = "
pub fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    let i = bx * TN + tx;
    c[i] = a[i] + b[i];
}";

pub(crate) const MATMUL: &str = "
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
}";

pub(crate) const TRANSPOSE: &str = "
pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
{
    shared s: [T; TR, TC];
    load s[i, j] = a[by * TR + i, bx * TC + j];
    barrier;
    each (j, i) in (TC, TR) {
        b[bx * TC + j, by * TR + i] = s[i, j];
    }
}";
