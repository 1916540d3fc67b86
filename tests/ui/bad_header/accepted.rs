use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 1] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in 32..=64 step 32), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i];
    }
}
