use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>, alpha: f64)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if a[i] > 0.0 {
            c[i] = a[i] + alpha as f32 + i as f32;
        }
    }
}

tiled_kernel! {
    const EPS: f32 = 1e-5;

    fn scaled(x: f32, by: i32) -> f32 {
        x * by as f32 + EPS
    }

    pub fn functions(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = scaled(a[i], 2);
    }
}
