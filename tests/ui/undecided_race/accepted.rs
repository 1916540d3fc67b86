use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn gather<T: Number>(#[pad = 0] a: &Tensor<T, [M]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[ind[i]];
    }
}

tiled_kernel! {
    /// Not linear, but of few sizes.
    pub fn listed<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in [32, 64, 128]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN + 4];
        load s[k] = 0;
        barrier;
        s[tx ^ 3] = a[i];
        barrier;
        c[i] = s[tx];
    }
}

tiled_kernel! {
    pub fn histogram(#[pad = 0] a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic counts[a[i]] += 1;
        }
    }
}

fn main() {}
