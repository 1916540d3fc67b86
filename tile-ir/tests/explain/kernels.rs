//! The kernels that the tests here count.

pub(crate) use crate::textbook::{ADD, MATMUL, TRANSPOSE};

pub(crate) const NAIVE: &str = "
pub fn naive<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
where
    tile: (TM, TN),
    grid: (by in tiles(M, TM), bx in tiles(N, TN)),
    block: (ty in TM, tx in TN),
{
    let mut acc: Acc<T> = 0;
    for k in 0..K {
        acc += a[by * TM + ty, k] * b[k, bx * TN + tx];
    }
    c[by * TM + ty, bx * TN + tx] = acc;
}";

/// A tile with a halo on both sides.
pub(crate) const STENCIL: &str = "
pub fn stencil(#[pad = 0] x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
where
    tile: (TN, R = 3),
    grid: (bx in tiles(N, TN)),
    block: (tx in TN),
{
    shared s: [f32; TN + 2 * R];
    load s[i] = x[bx * TN + i - R];
    barrier;
    let mut sum = 0.0;
    for j in 0..2 * R + 1 {
        sum += s[tx + j];
    }
    y[bx * TN + tx] = sum;
}";

/// The textbook's two trees: lanes side by side, and lanes apart.
pub(crate) const TREE: &str = "
pub fn tree(#[pad = 0] x: &Tensor<f32, [N]>, sums: &mut Tensor<f32, [tiles(N, TN)]>)
where
    tile: (TN in pow2(32..=1024)),
    grid: (bx in tiles(N, TN)),
    block: (tx in TN),
{
    shared s: [f32; TN];
    s[tx] = x[bx * TN + tx];
    barrier;
    for d in doubling(TN) {
        if tx % (2 * d) == 0 {
            s[tx] += s[tx + d];
        }
        barrier;
    }
    if tx == 0 {
        sums[bx] = s[0];
    }
}";

pub(crate) const CONVERGENT_TREE: &str = "
pub fn convergent(#[pad = 0] x: &Tensor<f32, [N]>, sums: &mut Tensor<f32, [tiles(N, TN)]>)
where
    tile: (TN in pow2(32..=1024)),
    grid: (bx in tiles(N, TN)),
    block: (tx in TN),
{
    shared s: [f32; TN];
    s[tx] = x[bx * TN + tx];
    barrier;
    for d in halving(TN) {
        if tx < d {
            s[tx] += s[tx + d];
        }
        barrier;
    }
    if tx == 0 {
        sums[bx] = s[0];
    }
}";

/// Each work-item begins a row of its own.
pub(crate) const ROWS: &str = "
pub fn rows(x: &Tensor<f32, [M, N]>, sums: &mut Tensor<f32, [M]>)
where tile: (TM), grid: (by in tiles(M, TM)), block: (ty in TM),
{
    let row = by * TM + ty;
    let mut sum = 0.0;
    for k in 0..N {
        sum += x[row, k];
    }
    sums[row] = sum;
}";

/// Rows of a sparse matrix: how long each is, the data say.
pub(crate) const SPARSE: &str = "
pub fn sparse(
    starts: &Tensor<u32, [M + 1]>, #[pad = 0] columns: &Tensor<u32, [E]>,
    #[pad = 0] values: &Tensor<f32, [E]>, #[pad = 0] x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [M]>,
)
where tile: (TM), grid: (by in tiles(M, TM)), block: (ty in TM),
{
    let row = by * TM + ty;
    let mut sum = 0.0;
    for e in starts[row]..starts[row + 1] {
        sum += values[e] * x[columns[e]];
    }
    y[row] = sum;
}";

/// A triangle: how far a loop runs, the block and the item say.
pub(crate) const TRIANGLE: &str = "
pub fn triangle(a: &Tensor<f32, [N, N]>, sums: &mut Tensor<f32, [N]>)
where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
{
    let col = bx * TN + tx;
    let mut sum = 0.0;
    for row in 0..col + 1 {
        sum += a[row, col];
    }
    sums[col] = sum;
}";

/// The sum of what is at most `radius` away.
pub(crate) const WINDOW: &str = "
pub fn window(radius: u8, twice: bool, x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
where
    tile: (TN),
    grid: (bx in tiles(N, TN)),
    block: (tx in TN),
{
    let at = bx * TN + tx;
    let mut sum = 0.0;
    for i in at - radius..=at + radius {
        if in_bounds(x[i]) {
            sum += x[i];
        }
    }
    if twice {
        sum = sum * 2.0;
    }
    y[at] = sum;
}";
