use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; 2 * TN];
        load s[k] = 0;
        barrier;
        s[tx ^ (tx >> 1)] = a[i];
        barrier;
        c[i] = s[tx];
    }
}

fn main() {}
