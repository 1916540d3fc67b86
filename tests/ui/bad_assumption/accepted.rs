use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn by_range(x: &Tensor<f32, [N]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<f32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let k = ind[i];
            assume(k >= 0 && k < 8);
            c[8 * i + k] = x[i];
        }
    }
}

tiled_kernel! {
    pub fn by_stride(stride: i32, x: &Tensor<f32, [N]>, c: &mut Tensor<f32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        assume(stride > 0);
        let i = bx * TN + tx;
        if i < N {
            c[i * stride] = x[i];
        }
    }
}
