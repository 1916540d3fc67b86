use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &mut Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut x = a[i];
        x += 1;
        a[i] = 0;
        c[i] = x;
    }
}

tiled_kernel! {
    /// A constant is read; what is changed is a copy.
    pub fn copied(f: &Constant<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut x = f[i];
        x += 1.0;
        c[i] = x;
    }
}
