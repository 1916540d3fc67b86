//! The kernels that the tests here lower.

pub(crate) use crate::textbook::{ADD, MATMUL, TRANSPOSE};

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
