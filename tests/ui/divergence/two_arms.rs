// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        let even = tx % 2 == 0;
        if even {
            barrier;
            c[i] = s[0];
        } else {
            barrier;
            c[i] = s[TN - 1];
        }
    }
}

fn main() {}
