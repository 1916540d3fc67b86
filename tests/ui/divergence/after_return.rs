// errors: 2
//! Work-items that return past the last element never come to the barrier.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn reverse(x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        if i >= N {
            return;
        }
        s[tx] = x[i];
        barrier;
        c[i] = s[TN - 1 - tx];
    }
}

fn main() {}
