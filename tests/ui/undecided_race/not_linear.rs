use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN * TN)), block: (ty in TN, tx in TN),
    {
        let n = ty * TN + tx;
        let i = bx * TN * TN + n;
        shared s: [T; 4 * TN * TN];
        load s[k] = 0;
        barrier;
        s[n ^ (2 * n)] = a[i];
        barrier;
        c[i] = s[n];
    }
}

fn main() {}
