use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<u8, [N]>, c: &mut Tensor<u8, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + 255;
    }
}
