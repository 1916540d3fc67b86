use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn scaled(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        s[tx] = x[i];
        barrier;
        let scale = uniform(s[0]);
        c[i] = x[i] * scale;
    }
}

tiled_kernel! {
    /// Nobody writes the element while the block reads it.
    pub fn stopped(#[pad = 0] x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        s[tx] = x[i];
        barrier;
        while uniform(s[0]) > 1.0 {
            barrier;
            s[tx] *= 0.5;
            barrier;
        }
        c[i] = s[TN - 1 - tx];
    }
}
