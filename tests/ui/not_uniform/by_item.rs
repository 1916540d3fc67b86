//! Each work-item has an element of its own, so the block does not agree.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn scaled(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        s[tx] = x[i];
        barrier;
        let scale = uniform(s[tx]);
        c[i] = x[i] * scale;
    }
}

fn main() {}
