use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        load s[i] = a[bx * TN + i];
        barrier;
        c[bx * TN + tx] = s[tx];
    }
}

tiled_kernel! {
    fn doubled(x: f32) -> f32 {
        x + x
    }

    pub fn functions_of_values(c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = doubled(c[bx * TN + tx]) + reduce_sum(doubled(1.0));
    }
}

tiled_kernel! {
    pub fn named_places(#[pad = 0] a: &Tensor<f32, [M, N]>, at: &Tensor<i32, [M]>, c: &mut Tensor<f32, [M, N]>)
    where tile: (TN), grid: (by in M, bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let row = uniform(at[by]);
        let first = bx * TN;
        load s[i] = a[row, first + i];
        barrier;
        c[by, first + tx] = s[tx];
    }
}
