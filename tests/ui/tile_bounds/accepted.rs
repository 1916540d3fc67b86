use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN + 1];
        s[tx] = a[i];
        if tx == 0 {
            s[TN] = a[i + TN];
        }
        barrier;
        c[i] = s[tx + 1];
    }
}

fn main() {}
