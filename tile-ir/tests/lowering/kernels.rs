//! The kernels that the tests here lower.

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

pub(crate) const ADD: &str = "
pub fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    let i = bx * TN + tx;
    c[i] = a[i] + b[i];
}";

pub(crate) const FILTERED: &str = "
pub fn filtered<T: Number>(
    #[pad = 0] x: &Tensor<T, [N]>,
    weights: &Constant<T, [2, 4]>,
    #[pad = 0] offsets: &Constant<T, [N]>,
    y: &mut Tensor<T, [N]>,
)
where
    tile: (TN),
    grid: (bx in tiles(N, TN)),
    block: (tx in TN),
{
    shared weights_s: [T; 4];
    let i = bx * TN + tx;
    let mut sum: Acc<T> = 0;
    phase p in 0..2 {
        load weights_s[j] = weights[p, j];
        barrier;
        for j in 0..4 {
            sum += weights_s[j] * x[i + j];
        }
        barrier;
    }
    y[i] = sum as T + offsets[i] * weights[1, 3];
}
";
