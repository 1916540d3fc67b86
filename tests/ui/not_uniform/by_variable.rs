//! The variable was read where some work-items did not come by.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn stopped(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        s[tx] = x[i];
        barrier;
        let mut first = 1.0;
        if x[i] > 0.0 {
            first = s[0];
        }
        if uniform(first) > 0.0 {
            barrier;
            s[tx] = -x[i];
            barrier;
        }
        c[i] = s[TN - 1 - tx];
    }
}

fn main() {}
